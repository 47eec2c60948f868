//! T4, the community's format of results, version 1.1.0.
//!
//! Two dialects are read: the schema and KTT say `times.compilation_time`, Kernel Tuner and the benchmark hub
//! `times.compilation` (and `benchmark`). Both names are written. KTT's reader wants more: see [`Dialect::Ktt`].

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use warpsmith_ir::{Diagnostic, FileId};

use super::{Object, Recording, as_number, first_line, number, parameters_of, parse, span};
use crate::outcome::{Measurement, Outcome, Record, Status};
use crate::space::Configuration;
use crate::value::Value;

/// The version that is written.
pub const VERSION: &str = "1.1.0";

/// Our own fields, for what the schema has no place for.
const COMPILATION: &str = "warpsmith_compilation";
const MEASUREMENTS: &str = "warpsmith_measurements";
const RUNTIMES: &str = "warpsmith_runtimes";

/// What the schema wants in `compilation_data` where there is one.
const COMPILATION_DATA: [&str; 7] = [
    "max_work_group_size",
    "local_memory_size",
    "private_memory_size",
    "constant_memory_size",
    "registers",
    "global_size",
    "local_size",
];

/// Types of measurements that the schema knows.
const TYPES: [&str; 6] =
    ["Int", "UnsignedInt", "Double", "Percent", "Throughput", "UtilizationLevel"];

/// Whose reader the file is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Schema,
    /// Values of configurations are strings, the first measurement is the time, and every other one has a type.
    Ktt,
}

impl Dialect {
    /// By the name after `--export t4=`.
    pub fn named(name: &str) -> Option<Dialect> {
        match name {
            "" | "schema" => Some(Dialect::Schema),
            "ktt" => Some(Dialect::Ktt),
            _ => None,
        }
    }
}

/// A file of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// `compute_api`, `platform`, `device`, `autotuner`, `autotuner_version`, `timestamp`; the unit of times is ours.
    pub metadata: Object,
    pub records: Vec<Record>,
    /// Other fields of the file.
    pub extra: Object,
}

impl Results {
    pub fn into_recording(self) -> Recording {
        let text = |name: &str| self.metadata.get(name).and_then(Json::as_str).map(str::to_string);
        Recording {
            device: text("device"),
            kernel: text("kernel"),
            parameters: parameters_of(self.records.iter().map(|r| &r.configuration)),
            records: self.records,
        }
    }

    /// Writes the file, a result at a time.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, out: &mut dyn Write, dialect: Dialect) -> io::Result<()> {
        let mut metadata = self.metadata.clone();
        metadata.insert("timeunit".into(), "milliseconds".into());
        writeln!(out, "{{")?;
        writeln!(out, "\"schema_version\": \"{VERSION}\",")?;
        writeln!(out, "\"metadata\": {},", Json::Object(metadata))?;
        for (name, value) in &self.extra {
            writeln!(out, "{}: {value},", Json::from(name.as_str()))?;
        }
        write!(out, "\"results\": [")?;
        for (i, record) in self.records.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(out, "{comma}\n{}", result(record, dialect))?;
        }
        writeln!(out, "\n]\n}}")
    }
}

fn result(record: &Record, dialect: Dialect) -> Json {
    let outcome = &record.outcome;
    let mut made = Object::new();
    if let Some(timestamp) = &outcome.timestamp {
        made.insert("timestamp".into(), timestamp.as_str().into());
    }
    let value = |value: &Value| match dialect {
        Dialect::Schema => value.to_json(),
        Dialect::Ktt => value.to_string().into(),
    };
    let configuration = record.configuration.values.iter().map(|(n, v)| (n.clone(), value(v)));
    made.insert("configuration".into(), Json::Object(configuration.collect()));
    made.insert("objectives".into(), json!(["time"]));
    made.insert("times".into(), times(outcome).into());
    made.insert("invalidity".into(), outcome.status.name().into());
    made.insert("correctness".into(), u8::from(outcome.status == Status::Correct).into());
    let (plain, odd): (Vec<&Measurement>, Vec<&Measurement>) =
        outcome.measurements.iter().partition(|m| is_plain(m));
    made.insert("measurements".into(), measurements(outcome, &plain, dialect));
    if !odd.is_empty() {
        let full = |m: &&Measurement| json!({"name": m.name, "value": m.value, "unit": m.unit, "type": m.kind});
        made.insert(MEASUREMENTS.into(), odd.iter().map(full).collect());
    }
    if !outcome.compilation.is_empty() {
        let complete = COMPILATION_DATA.iter().all(|name| outcome.compilation.contains_key(*name));
        let name = if complete { "compilation_data" } else { COMPILATION };
        made.insert(name.into(), outcome.compilation.clone().into());
    }
    if outcome.runtimes_ms.iter().any(|t| !t.is_finite()) {
        made.insert(RUNTIMES.into(), outcome.runtimes_ms.iter().map(|t| number(*t)).collect());
    }
    if let Some(message) = &outcome.message {
        made.insert("message".into(), message.as_str().into());
    }
    for (name, value) in outcome.extra.iter().filter(|(name, _)| *name != "times") {
        made.insert(name.clone(), value.clone());
    }
    Json::Object(made)
}

fn times(outcome: &Outcome) -> Object {
    let mut times = Object::new();
    let phases = &outcome.phases;
    for (name, phase) in [
        ("compilation_time", phases.compile_ms),
        ("compilation", phases.compile_ms),
        ("benchmark", phases.benchmark_ms),
        ("framework", phases.framework_ms),
        ("search_algorithm", phases.search_ms),
        ("validation", phases.verification_ms),
    ] {
        if let Some(phase) = phase.filter(|p| p.is_finite()) {
            times.insert(name.into(), number(phase));
        }
    }
    let samples = outcome.runtimes_ms.iter().filter(|t| t.is_finite()).map(|t| number(*t));
    times.insert("runtimes".into(), samples.collect());
    if let Some(Json::Object(more)) = outcome.extra.get("times") {
        times.extend(more.clone());
    }
    times
}

/// Whether the schema has a place for all of a measurement.
fn is_plain(m: &Measurement) -> bool {
    let value = m.value.is_number() || m.value.is_string() || m.value.is_array();
    value && m.kind.as_deref().is_none_or(|kind| TYPES.contains(&kind))
}

fn measurements(outcome: &Outcome, others: &[&Measurement], dialect: Dialect) -> Json {
    let time = outcome.time_ms.map(|t| json!({"name": "time", "value": number(t), "unit": "ms"}));
    let others = others.iter().filter_map(|m| {
        let kind = match (&m.kind, dialect) {
            (Some(kind), _) => Some(kind.as_str()),
            // KTT's reader has no type for texts and lists.
            (None, Dialect::Ktt) => Some(ktt_type(&m.value)?),
            (None, Dialect::Schema) => None,
        };
        let mut made = Object::new();
        made.insert("name".into(), m.name.as_str().into());
        made.insert("value".into(), m.value.clone());
        made.insert("unit".into(), m.unit.as_deref().unwrap_or_default().into());
        if let Some(kind) = kind {
            made.insert("type".into(), kind.into());
        }
        Some(Json::Object(made))
    });
    time.into_iter().chain(others).collect()
}

fn ktt_type(value: &Json) -> Option<&'static str> {
    Some(match value {
        Json::Number(x) if x.is_u64() => "UnsignedInt",
        Json::Number(x) if x.is_i64() => "Int",
        Json::Number(_) => "Double",
        _ => return None,
    })
}

/// Reads a file of either dialect.
///
/// # Errors
/// One diagnostic at the first place that is not what it should be.
pub fn read(text: &str, file: FileId) -> Result<Results, Diagnostic> {
    let mut object: Object = parse(&super::without_bare_nan(text), file)?;
    let head = span(file, 0, first_line(text));
    let Some(Json::Array(results)) = object.shift_remove("results") else {
        return Err(Diagnostic::error("W411", "this is no T4 file: `results` is missing")
            .label(head, "a list `results` is wanted in this object"));
    };
    if let Some(version) = object.shift_remove("schema_version").as_ref().and_then(Json::as_str)
        && !version.starts_with("1.")
    {
        return Err(Diagnostic::error("W411", format!("T4 of version {version} is not known"))
            .label(head, "versions 1.0 and 1.1 are"));
    }
    let mut metadata = match object.shift_remove("metadata") {
        Some(Json::Object(metadata)) => metadata,
        _ => Object::new(),
    };
    let unit = metadata.shift_remove("timeunit");
    let scale = scale(unit.as_ref().and_then(Json::as_str)).map_err(|unit| {
        let at = super::place_of(text, &unit).unwrap_or(0);
        Diagnostic::error("W411", "this unit of time is not known").label(
            span(file, at, at + unit.len()),
            "nano-, micro-, milliseconds or seconds is wanted",
        )
    })?;
    let mut records = Vec::with_capacity(results.len());
    for (index, result) in results.into_iter().enumerate() {
        let refuse = |why: String| {
            let text = format!("result {} of this file is not what it should be", index + 1);
            Diagnostic::error("W411", text).label(head, why)
        };
        let Json::Object(result) = result else { return Err(refuse("it is no object".into())) };
        records.push(record(result, scale).map_err(refuse)?);
    }
    untangle_strings(&mut records);
    Ok(Results { metadata, records, extra: object })
}

/// Milliseconds in a unit; the misspelling is common.
fn scale(unit: Option<&str>) -> Result<f64, String> {
    match unit.map(str::to_lowercase).as_deref() {
        None | Some("" | "milliseconds" | "miliseconds" | "millisecond" | "ms") => Ok(1.0),
        Some("seconds" | "second" | "s") => Ok(1e3),
        Some("microseconds" | "microsecond" | "us") => Ok(1e-3),
        Some("nanoseconds" | "nanosecond" | "ns") => Ok(1e-6),
        Some(_) => Err(unit.unwrap_or_default().to_string()),
    }
}

fn record(mut result: Object, scale: f64) -> Result<Record, String> {
    let Some(Json::Object(configuration)) = result.shift_remove("configuration") else {
        return Err("it has no object `configuration`".into());
    };
    let mut values = vec![];
    for (name, json) in configuration {
        let value = Value::from_json(&json).ok_or_else(|| format!("`{name}` is no value"))?;
        values.push((name, value));
    }
    let status = match result.shift_remove("invalidity") {
        Some(Json::String(name)) => {
            Status::named(&name).ok_or_else(|| format!("`{name}` is no invalidity"))?
        }
        _ => return Err("it has no `invalidity`".into()),
    };
    let mut outcome = Outcome::of(status);
    let expected = u8::from(status == Status::Correct);
    if result.get("correctness").and_then(as_number) == Some(f64::from(expected)) {
        result.shift_remove("correctness");
    }
    let objective = match result.get("objectives").and_then(Json::as_array).map(Vec::as_slice) {
        Some([Json::String(name), ..]) => name.clone(),
        _ => "time".to_string(),
    };
    if result.get("objectives") == Some(&json!(["time"])) {
        result.shift_remove("objectives");
    }
    let Some(Json::Object(times)) = result.shift_remove("times") else {
        return Err("it has no object `times`".into());
    };
    read_times(times, scale, &mut outcome, &mut result)?;
    read_measurements(&mut result, &objective, scale, &mut outcome)?;
    for name in ["compilation_data", COMPILATION] {
        if let Some(Json::Object(compilation)) = result.shift_remove(name) {
            outcome.compilation = compilation;
        }
    }
    if let Some(Json::Array(list)) = result.shift_remove(MEASUREMENTS) {
        for m in list {
            let field = |name: &str| m.get(name).and_then(Json::as_str).map(str::to_string);
            outcome.measurements.push(Measurement {
                name: field("name").ok_or("a measurement has no name")?,
                value: m.get("value").cloned().unwrap_or_default(),
                unit: field("unit"),
                kind: field("type"),
            });
        }
    }
    if let Some(Json::Array(list)) = result.shift_remove(RUNTIMES) {
        let samples: Option<Vec<f64>> = list.iter().map(as_number).collect();
        // Ours alone writes it, in milliseconds.
        outcome.runtimes_ms = samples.ok_or("`warpsmith_runtimes` is no list of numbers")?;
    }
    outcome.timestamp = text(&mut result, "timestamp");
    outcome.message = text(&mut result, "message");
    outcome.extra = result;
    Ok(Record { configuration: Configuration { values }, outcome })
}

fn text(result: &mut Object, name: &str) -> Option<String> {
    let known = result.get(name).and_then(Json::as_str).map(str::to_string);
    if known.is_some() {
        result.shift_remove(name);
    }
    known
}

fn read_times(
    mut times: Object,
    scale: f64,
    outcome: &mut Outcome,
    result: &mut Object,
) -> Result<(), String> {
    if let Some(Json::Array(runtimes)) = times.shift_remove("runtimes") {
        let samples: Option<Vec<f64>> = runtimes.iter().map(as_number).collect();
        let samples = samples.ok_or("`runtimes` is no list of numbers")?;
        outcome.runtimes_ms = samples.into_iter().map(|t| t * scale).collect();
    }
    let mut phase = |name: &str| {
        let known = times.get(name).and_then(as_number)?;
        times.shift_remove(name);
        Some(known * scale)
    };
    let (schema, hub) = (phase("compilation_time"), phase("compilation"));
    outcome.phases.compile_ms = schema.or(hub);
    outcome.phases.benchmark_ms = phase("benchmark");
    outcome.phases.framework_ms = phase("framework");
    outcome.phases.search_ms = phase("search_algorithm");
    outcome.phases.verification_ms = phase("validation");
    if !times.is_empty() {
        result.insert("times".into(), times.into());
    }
    Ok(())
}

/// The measurement that is the objective becomes the time; KTT's first one is the time whatever its name.
fn read_measurements(
    result: &mut Object,
    objective: &str,
    scale: f64,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let list = match result.shift_remove("measurements") {
        Some(Json::Array(list)) => list,
        _ => vec![],
    };
    let named = |m: &Json| m.get("name").and_then(Json::as_str) == Some(objective);
    let usable = outcome.status == Status::Correct;
    let first = list.first().filter(|m| usable && m.get("type").is_none()).map(|_| 0);
    let time = list.iter().position(named).or(first);
    for (index, m) in list.into_iter().enumerate() {
        let field = |name: &str| m.get(name).and_then(Json::as_str).map(str::to_string);
        let value = m.get("value").cloned().unwrap_or_default();
        if Some(index) == time
            && let Some(number) = as_number(&value)
        {
            outcome.time_ms = Some(number * scale);
            if field("name").as_deref() == Some("time") {
                continue;
            }
        }
        let name = field("name").ok_or("a measurement has no name")?;
        let unit = field("unit").filter(|unit| !unit.is_empty());
        outcome.measurements.push(Measurement { name, value, unit, kind: field("type") });
    }
    if outcome.time_ms.is_none() && outcome.status == Status::Correct {
        outcome.time_ms = crate::outcome::median(&outcome.runtimes_ms);
    }
    Ok(())
}

/// Where all values of all configurations are strings, as KTT writes them, those that spell numbers become numbers.
fn untangle_strings(records: &mut [Record]) {
    let mut values = records.iter().flat_map(|r| r.configuration.values.iter());
    if !values.all(|(_, value)| matches!(value, Value::Str(_))) {
        return;
    }
    for (_, value) in records.iter_mut().flat_map(|r| r.configuration.values.iter_mut()) {
        let Value::Str(text) = &*value else { continue };
        let int = text.parse::<i64>().ok().map(Value::Int);
        let float = || text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Value::Float);
        let word = || match text.as_str() {
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            _ => None,
        };
        // Only what would be spelled the same again: "016" stays a string.
        let made =
            int.or_else(float).or_else(word).filter(|v| v.to_string().eq_ignore_ascii_case(text));
        if let Some(made) = made {
            *value = made;
        }
    }
}
