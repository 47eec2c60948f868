//! Kernel Tuner's cache files: a header, then a line for each configuration that was tried.
//!
//! While a run is on, the file is *open*: it ends with a comma and lacks its last brackets, so that a run that was cut
//! short can be continued. Failures stand in `__error__`, in older files in the place of the time.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use warpsmith_ir::{Diagnostic, FileId};

use super::{
    EXACT, Object, Origin, Recording, as_number, damaged, first_line, number, parameters_of, span,
};
use crate::outcome::{Measurement, Outcome, Record, Status};
use crate::space::{Configuration, Parameter};
use crate::store::{record_from_json, record_to_json};
use crate::value::Value;

/// Our own fields, for what Kernel Tuner has no word for. It carries them along unread.
const STATUS: &str = "warpsmith_status";
const MESSAGE: &str = "warpsmith_message";
const COMPILATION: &str = "warpsmith_compilation";
const MEASUREMENTS: &str = "warpsmith_measurements";
/// Names of the phases that nobody measured, where the format wants a number all the same.
const UNMEASURED: &str = "warpsmith_unmeasured";

/// A cache file.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Everything before the entries, in its order.
    pub header: Object,
    /// The tuned parameters, with the values that the file lists.
    pub parameters: Vec<Parameter>,
    /// The entries, in the order of the file.
    pub records: Vec<Record>,
}

impl Cache {
    /// A cache of our own results.
    pub fn new(
        device: &str,
        kernel: &str,
        problem_size: Vec<i64>,
        parameters: Vec<Parameter>,
        records: Vec<Record>,
    ) -> Cache {
        let mut header = Object::new();
        header.insert("device_name".into(), device.into());
        header.insert("kernel_name".into(), kernel.into());
        header.insert("problem_size".into(), problem_size.into());
        let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        header.insert("tune_params_keys".into(), json!(names));
        let values = |p: &Parameter| p.values.iter().map(Value::to_json).collect::<Json>();
        let lists = parameters.iter().map(|p| (p.name.clone(), values(p)));
        header.insert("tune_params".into(), Json::Object(lists.collect()));
        header.insert("objective".into(), "time".into());
        Cache { header, parameters, records }
    }

    /// `device_name` of the header.
    pub fn device(&self) -> Option<&str> {
        self.header.get("device_name").and_then(Json::as_str)
    }

    /// `kernel_name` of the header.
    pub fn kernel(&self) -> Option<&str> {
        self.header.get("kernel_name").and_then(Json::as_str)
    }

    /// Whether results may be added: the same device, kernel and parameters, as Kernel Tuner asks.
    ///
    /// # Errors
    /// The first difference.
    pub fn check_matches(
        &self,
        device: &str,
        kernel: &str,
        parameters: &[Parameter],
    ) -> Result<(), Diagnostic> {
        let differ = |what: &str, ours: &str, theirs: &str| {
            let text = format!("the cache is for another {what}: `{theirs}`, and this is `{ours}`");
            Err(Diagnostic::error("W414", text).help("choose another cache file"))
        };
        if self.device().is_some_and(|name| name != device) {
            return differ("device", device, self.device().unwrap_or_default());
        }
        if self.kernel().is_some_and(|name| name != kernel) {
            return differ("kernel", kernel, self.kernel().unwrap_or_default());
        }
        let names = |list: &[Parameter]| {
            list.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (ours, theirs) = (names(parameters), names(&self.parameters));
        if ours != theirs {
            return differ("set of parameters", &ours, &theirs);
        }
        Ok(())
    }

    /// The results without what only this format has.
    pub fn into_recording(self) -> Recording {
        let origin = Origin::read(&self.header);
        Recording {
            device: self.device().map(str::to_string),
            kernel: self.kernel().map(str::to_string),
            origin,
            parameters: self.parameters,
            records: self.records,
        }
    }

    /// Writes the file: closed as after a run, or open, so that entries can be appended.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, out: &mut dyn Write, closed: bool) -> io::Result<()> {
        writeln!(out, "{{")?;
        for (name, value) in &self.header {
            writeln!(out, "{}: {value},", Json::from(name.as_str()))?;
        }
        write!(out, "\"cache\": {{")?;
        let names = names(&self.parameters);
        let mut keys = HashSet::new();
        for (i, record) in self.records.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let key = key(record, &self.parameters);
            // `1` and `'1'` have one key, and of two entries with one key a reader keeps the last.
            let numbered = (2..).map(|n| format!("{key}#{n}"));
            let own = std::iter::once(key.clone()).chain(numbered).find(|k| !keys.contains(k));
            let key = own.unwrap_or(key);
            write!(out, "{comma}\n{}: {}", Json::from(key.as_str()), entry(record, &names))?;
            keys.insert(key);
        }
        match (closed, self.records.is_empty()) {
            (true, _) => write!(out, "}}\n}}"),
            (false, true) => Ok(()),
            (false, false) => write!(out, ","),
        }
    }
}

/// Adds an entry to an open file.
///
/// # Errors
/// What the writer reports.
pub fn append(out: &mut dyn Write, record: &Record, parameters: &[Parameter]) -> io::Result<()> {
    let key = Json::from(key(record, parameters));
    write!(out, "\n{key}: {},", entry(record, &names(parameters)))
}

fn names(parameters: &[Parameter]) -> Vec<String> {
    parameters.iter().map(|p| p.name.clone()).collect()
}

/// The values in the order of the parameters, joined by commas.
fn key(record: &Record, parameters: &[Parameter]) -> String {
    in_order(&record.configuration, parameters).key()
}

/// `{...}` of one configuration, on one line. What a reader would not make the same result of says it once more, exactly.
fn entry(record: &Record, names: &[String]) -> Json {
    let mut fields = words(record, names);
    // Exactly: 1 and True are equal, and not the same.
    let exactly = record_to_json(record);
    let read = self::record(fields.clone(), names).ok();
    if read.as_ref().map(record_to_json).as_ref() != Some(&exactly) {
        fields.insert(EXACT.into(), exactly);
    }
    Json::Object(fields)
}

/// A result in Kernel Tuner's words, and ours for what it has none for.
fn words(record: &Record, names: &[String]) -> Object {
    let configuration = &record.configuration;
    let outcome = &record.outcome;
    let mut fields = Object::new();
    for (name, value) in names.iter().filter_map(|n| Some((n, configuration.get(n)?))) {
        if !RESERVED.contains(&name.as_str()) {
            fields.insert(name.clone(), value.to_json());
        }
    }
    let mut put = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            fields.insert(name.to_string(), value);
        }
    };
    put("time", outcome.time_ms.map(|t| Value::Float(t).to_json()));
    let samples = || outcome.runtimes_ms.iter().map(|t| Value::Float(*t).to_json()).collect();
    put("times", (!outcome.runtimes_ms.is_empty()).then(samples));
    let told = outcome.extra.contains_key("time") || outcome.extra.contains_key("__error__");
    let error = match outcome.status {
        // Without a time it is no result that Kernel Tuner could go on from.
        Status::Correct if outcome.time_ms.is_none() => Some("RuntimeFailedConfig"),
        Status::Correct => None,
        Status::Constraints => Some("InvalidConfig"),
        Status::Compile => Some("CompilationFailedConfig"),
        Status::Runtime | Status::Correctness | Status::Timeout => Some("RuntimeFailedConfig"),
    };
    put("__error__", error.filter(|_| !told).map(Json::from));
    let ours = match outcome.status {
        Status::Correctness | Status::Timeout => true,
        Status::Correct => outcome.time_ms.is_none(),
        _ => false,
    };
    put(STATUS, ours.then(|| outcome.status.name().into()));
    put(MESSAGE, outcome.message.as_deref().map(Json::from));
    let phases = &outcome.phases;
    // Kernel Tuner's reader of timings wants these five in every entry.
    put("compile_time", Some(number(phases.compile_ms.unwrap_or(0.0))));
    put("verification_time", Some(number(phases.verification_ms.unwrap_or(0.0))));
    put("benchmark_time", Some(number(phases.benchmark_ms.unwrap_or(0.0))));
    let (plain, odd): (Vec<&Measurement>, Vec<&Measurement>) =
        outcome.measurements.iter().partition(|m| is_plain(m, configuration));
    for m in plain {
        put(&m.name, Some(m.value.clone()));
    }
    put(MEASUREMENTS, (!odd.is_empty()).then(|| odd.iter().map(|m| full(m)).collect()));
    put(COMPILATION, (!outcome.compilation.is_empty()).then(|| outcome.compilation.clone().into()));
    // Failures of older files stand in the place of the time.
    let is_error = |name: &str| name == "time" || name == "__error__";
    let free = |name: &String| !names.contains(name) && !RESERVED.contains(&name.as_str());
    for (name, value) in &outcome.extra {
        let told = is_error(name) && value.is_string() && outcome.time_ms.is_none();
        put(name, (told || free(name)).then(|| value.clone()));
    }
    put("strategy_time", Some(number(phases.search_ms.unwrap_or(0.0))));
    put("framework_time", Some(number(phases.framework_ms.unwrap_or(0.0))));
    put("timestamp", outcome.timestamp.as_deref().map(Json::from));
    let unmeasured = unmeasured(outcome);
    put(UNMEASURED, (!unmeasured.is_empty()).then(|| json!(unmeasured)));
    fields
}

/// Names of the phases without a time.
fn unmeasured(outcome: &Outcome) -> Vec<&'static str> {
    let phases = &outcome.phases;
    let all = [
        ("compile_time", phases.compile_ms),
        ("verification_time", phases.verification_ms),
        ("benchmark_time", phases.benchmark_ms),
        ("strategy_time", phases.search_ms),
        ("framework_time", phases.framework_ms),
    ];
    all.into_iter().filter(|(_, ms)| ms.is_none()).map(|(name, _)| name).collect()
}

/// The configuration with its values in the order of the parameters, which is the order of the key.
fn in_order(configuration: &Configuration, parameters: &[Parameter]) -> Configuration {
    let values = parameters
        .iter()
        .filter_map(|p| configuration.get(&p.name).map(|value| (p.name.clone(), value.clone())));
    Configuration { values: values.collect() }
}

/// Fields of an entry with a meaning of their own.
const RESERVED: [&str; 15] = [
    "time",
    "times",
    "__error__",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
    "timestamp",
    STATUS,
    MESSAGE,
    COMPILATION,
    MEASUREMENTS,
    UNMEASURED,
    EXACT,
];

/// Whether a measurement is fully told by a field with its name and a number.
fn is_plain(m: &Measurement, configuration: &Configuration) -> bool {
    m.value.is_number()
        && m.unit.is_none()
        && m.kind.is_none()
        && !RESERVED.contains(&m.name.as_str())
        && configuration.get(&m.name).is_none()
}

fn full(m: &Measurement) -> Json {
    json!({"name": m.name, "value": m.value, "unit": m.unit, "type": m.kind})
}

/// Reads a file, open or closed. What is after the last whole entry of a file that was cut short is left out with a
/// warning.
///
/// # Errors
/// One diagnostic at the first place that is not what it should be.
pub fn read(text: &str, file: FileId) -> Result<(Cache, Vec<Diagnostic>), Diagnostic> {
    let text = &super::without_bare_nan(text);
    let (object, warnings) = read_object(text, file)?;
    let mut header = object;
    let entries = match header.shift_remove("cache") {
        Some(Json::Object(entries)) => entries,
        _ => return Err(lacks(text, file, "cache", "an object with an entry a configuration")),
    };
    let names: Vec<String> = header
        .get("tune_params_keys")
        .and_then(Json::as_array)
        .and_then(|keys| keys.iter().map(|k| k.as_str().map(str::to_string)).collect())
        .ok_or_else(|| lacks(text, file, "tune_params_keys", "a list of parameter names"))?;
    let mut records = Vec::with_capacity(entries.len());
    for (key, fields) in entries {
        let Json::Object(fields) = fields else {
            return Err(bad_entry(text, file, &key, "an object is wanted for this configuration"));
        };
        let record = record(fields, &names).map_err(|why| bad_entry(text, file, &key, &why))?;
        records.push(record);
    }
    let parameters = parameters(&header, &names, &records);
    Ok((Cache { header, parameters, records }, warnings))
}

/// The file's object; brackets that an open file lacks are added.
fn read_object(text: &str, file: FileId) -> Result<(Object, Vec<Diagnostic>), Diagnostic> {
    let first = match serde_json::from_str::<Object>(text) {
        Ok(object) => return Ok((object, vec![])),
        Err(error) => error,
    };
    let open = text.trim_end();
    let closed = format!("{}}}}}", open.strip_suffix(',').unwrap_or(open));
    if let Ok(object) = serde_json::from_str::<Object>(&closed) {
        return Ok((object, vec![]));
    }
    if !first.is_eof() {
        return Err(damaged(text, file, &first));
    }
    // Cut short inside an entry: each entry ends with its line, and the bracket of the list may be the last whole thing.
    let body = open.find("\"cache\"").and_then(|at| open[at..].find('{').map(|brace| at + brace));
    let Some(body) = body else { return Err(damaged(text, file, &first)) };
    let ends = open[body..].rmatch_indices("},\n").map(|(at, _)| body + at).take(8);
    for end in ends.chain([body]) {
        let whole = &open[..=end];
        if let Ok(object) = serde_json::from_str::<Object>(&format!("{whole}}}}}")) {
            let lost = open.len() - whole.len();
            let warning = Diagnostic::warning("W413", "the end of this cache is missing")
                .label(
                    span(file, whole.len(), open.len()),
                    format!("{lost} bytes of an entry that was not finished"),
                )
                .note("the configurations before it are read");
            return Ok((object, vec![warning]));
        }
    }
    Err(damaged(text, file, &first))
}

fn lacks(text: &str, file: FileId, field: &str, what: &str) -> Diagnostic {
    Diagnostic::error("W411", format!("this is no Kernel Tuner cache: `{field}` is missing")).label(
        span(file, 0, first_line(text)),
        format!("`{field}`, {what}, is wanted in this object"),
    )
}

fn bad_entry(text: &str, file: FileId, key: &str, why: &str) -> Diagnostic {
    let at = super::place_of(text, key).unwrap_or(0);
    Diagnostic::error("W411", "an entry of this cache is not what it should be")
        .label(span(file, at, at + key.len()), why.to_string())
}

fn record(mut fields: Object, names: &[String]) -> Result<Record, String> {
    if let Some(exact) = fields.shift_remove(EXACT).as_ref().and_then(record_from_json) {
        return Ok(exact);
    }
    let mut configuration = Configuration::default();
    for name in names {
        let json = fields.shift_remove(name).ok_or_else(|| format!("it has no `{name}`"))?;
        let value = Value::from_json(&json).ok_or_else(|| format!("`{name}` is no value"))?;
        configuration.values.push((name.clone(), value));
    }
    let mut outcome = Outcome::of(Status::Correct);
    let time = fields.get("time").and_then(as_number);
    let error =
        fields.get("__error__").or(fields.get("time").filter(|t| t.is_string() && time.is_none()));
    if let Some(error) = error.and_then(Json::as_str) {
        outcome.status = match error {
            "InvalidConfig" => Status::Constraints,
            "CompilationFailedConfig" => Status::Compile,
            _ => Status::Runtime,
        };
        let newer = fields.contains_key("__error__");
        let known =
            ["InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"].contains(&error);
        // The usual spelling is made again from the status; any other is kept.
        if newer && known && !fields.get("time").is_some_and(Json::is_string) {
            fields.shift_remove("__error__");
        }
    }
    let stated = fields.shift_remove(STATUS);
    if let Some(status) = stated.as_ref().and_then(Json::as_str) {
        outcome.status = Status::named(status).ok_or_else(|| format!("`{status}` is no status"))?;
    }
    if time.is_some() {
        fields.shift_remove("time");
        outcome.time_ms = time;
    } else if outcome.status == Status::Correct && stated.is_none() {
        return Err("it has neither a time nor an error".into());
    }
    figures(&mut fields, &mut outcome)?;
    outcome.extra = fields;
    Ok(Record { configuration, outcome })
}

/// Takes what has a place in an outcome out of the fields.
fn figures(fields: &mut Object, outcome: &mut Outcome) -> Result<(), String> {
    if let Some(Json::Array(times)) = fields.get("times") {
        let times: Option<Vec<f64>> = times.iter().map(as_number).collect();
        outcome.runtimes_ms = times.ok_or("`times` is no list of numbers")?;
        fields.shift_remove("times");
    }
    let unmeasured = fields.shift_remove(UNMEASURED).unwrap_or_default();
    let was_measured = |name: &str| {
        !unmeasured.as_array().is_some_and(|list| list.iter().any(|other| other == name))
    };
    let phases = &mut outcome.phases;
    for (name, phase) in [
        ("compile_time", &mut phases.compile_ms),
        ("verification_time", &mut phases.verification_ms),
        ("benchmark_time", &mut phases.benchmark_ms),
        ("strategy_time", &mut phases.search_ms),
        ("framework_time", &mut phases.framework_ms),
    ] {
        if let Some(number) = fields.get(name).and_then(as_number) {
            *phase = Some(number).filter(|_| was_measured(name));
            fields.shift_remove(name);
        }
    }
    let mut text = |name: &str| match fields.get(name) {
        Some(Json::String(_)) => {
            fields.shift_remove(name).and_then(|t| t.as_str().map(str::to_string))
        }
        _ => None,
    };
    outcome.timestamp = text("timestamp");
    outcome.message = text(MESSAGE);
    if let Some(Json::Object(compilation)) = fields.shift_remove(COMPILATION) {
        outcome.compilation = compilation;
    }
    let plain: Vec<String> = fields
        .iter()
        .filter(|(name, value)| value.is_number() && !RESERVED.contains(&name.as_str()))
        .map(|(name, _)| name.clone())
        .collect();
    for name in plain {
        if let Some(value) = fields.shift_remove(&name) {
            outcome.measurements.push(Measurement { name, value, unit: None, kind: None });
        }
    }
    if let Some(Json::Array(list)) = fields.shift_remove(MEASUREMENTS) {
        for m in list {
            let text = |field: &str| m.get(field).and_then(Json::as_str).map(str::to_string);
            outcome.measurements.push(Measurement {
                name: text("name").unwrap_or_default(),
                value: m.get("value").cloned().unwrap_or_default(),
                unit: text("unit"),
                kind: text("type"),
            });
        }
    }
    Ok(())
}

/// The parameters with the values the header lists, and those that entries have beside them.
fn parameters(header: &Object, names: &[String], records: &[Record]) -> Vec<Parameter> {
    let lists = header.get("tune_params").and_then(Json::as_object);
    let mut occurring = parameters_of(records.iter().map(|r| &r.configuration));
    let parameter = |name: &String| {
        let listed = lists.and_then(|lists| lists.get(name)).and_then(Json::as_array);
        let mut values: Vec<Value> = vec![];
        let given = listed.into_iter().flatten().filter_map(Value::from_json);
        let also = occurring.iter_mut().find(|p| p.name == *name);
        for value in given.chain(also.into_iter().flat_map(|p| p.values.drain(..))) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Parameter { name: name.clone(), values }
    };
    names.iter().map(parameter).collect()
}
