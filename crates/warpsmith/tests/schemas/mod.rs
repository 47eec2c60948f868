//! As much of JSON Schema as the files in `docs/schema` use.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

/// Documents by their file names.
pub struct Schemas(BTreeMap<String, Json>);

impl Schemas {
    pub fn read(folder: &Path) -> Schemas {
        let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        let read = |path: std::path::PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap();
            let document =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (path.file_name().unwrap().to_string_lossy().into_owned(), document)
        };
        Schemas(files.map(read).collect())
    }

    /// The schema that a reference in a file leads to, and that file.
    fn find(&self, file: &str, reference: &str) -> (&str, &Json) {
        let (other, pointer) = reference.split_once('#').expect("a reference has a fragment");
        let name = if other.is_empty() { file } else { other };
        let (name, document) = self.0.get_key_value(name).expect("the file is there");
        (name, document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere")))
    }
}

/// What a command's object has otherwise than its schema says.
pub fn faults(schemas: &Schemas, command: &str, value: &Json) -> Vec<String> {
    let file = format!("{command}.json");
    let schema = schemas.0.get(&file).unwrap_or_else(|| panic!("there is no {file}"));
    check(schemas, &file, schema, value, "")
}

fn check(all: &Schemas, file: &str, schema: &Json, value: &Json, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let (file, schema) = all.find(file, reference);
        return check(all, file, schema, value, at);
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        let found = kinds.iter().map(|k| check(all, file, k, value, at));
        // Of several the one that fits best is what was meant.
        return found.min_by_key(Vec::len).unwrap_or_default();
    }
    let mut faults = vec![];
    if let Some(wanted) = schema.get("const").filter(|w| *w != value) {
        faults.push(format!("{at}: {value} in place of {wanted}"));
    }
    if let Some(list) = schema["enum"].as_array().filter(|l| !l.contains(value)) {
        faults.push(format!("{at}: {value} is none of {list:?}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => vec![],
    };
    if !types.is_empty() && !types.iter().any(|t| is(t, value)) {
        faults.push(format!("{at}: {value} is no {types:?}"));
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        for (k, item) in list.iter().enumerate() {
            faults.extend(check(all, file, items, item, &format!("{at}[{k}]")));
        }
    }
    if let Some(object) = value.as_object() {
        faults.extend(fields(all, file, schema, object, at));
    }
    faults
}

fn fields(
    all: &Schemas,
    file: &str,
    schema: &Json,
    object: &serde_json::Map<String, Json>,
    at: &str,
) -> Vec<String> {
    let mut faults = vec![];
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !object.contains_key(name) {
            faults.push(format!("{at}.{name}: missing"));
        }
    }
    for (name, value) in object {
        let at = format!("{at}.{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(schema), _) => faults.extend(check(all, file, schema, value, &at)),
            (None, Some(Json::Bool(false))) => faults.push(format!("{at}: not described")),
            (None, Some(schema @ Json::Object(_))) => {
                faults.extend(check(all, file, schema, value, &at));
            }
            _ => {}
        }
    }
    faults
}

fn is(name: &str, value: &Json) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("`{other}` is no type of JSON"),
    }
}

/// The checker itself must be able to say no.
#[test]
fn what_does_not_keep_to_a_schema_is_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}}}
    });
    let schemas = Schemas(BTreeMap::from([("t.json".to_string(), schema)]));
    let of = |text: &str| faults(&schemas, "t", &serde_json::from_str(text).unwrap());
    assert!(of(r#"{"a": 1, "b": ["x"]}"#).is_empty());
    assert!(of(r#"{"a": null}"#).is_empty());
    assert_eq!(of("{}"), [".a: missing"]);
    assert_eq!(of(r#"{"a": 1, "c": 2}"#), [".c: not described"]);
    assert_eq!(of(r#"{"a": 1, "b": ["x", "y"]}"#).len(), 1);
    assert_eq!(of(r#"{"a": "1"}"#).len(), 1);
}
