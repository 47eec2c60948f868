//! The results that KTT writes in its own format: `Metadata` and `Results`, with the status of each result, its
//! configuration as a list, and what every kernel of it took.
//!
//! Its fields are those of KTT 2.1 and 2.2 (`Source/Output/JsonConverters.cpp`); durations are in `Metadata.TimeUnit`.

use serde_json::Value as Json;
use warpsmith_ir::{Diagnostic, FileId};

use super::{Object, Recording, as_number, first_line, number, parameters_of, parse, span, units};
use crate::outcome::{Measurement, Outcome, Record, Status};
use crate::space::Configuration;
use crate::value::Value;

/// KTT's duration of what did not run is the largest number of nanoseconds; whatever is near it is none.
const NO_DURATION_MS: f64 = 1e12;

/// Reads a file; the second part of the result warns of what was left out.
///
/// # Errors
/// One diagnostic at the first place that is not what it should be.
pub fn read(text: &str, file: FileId) -> Result<(Recording, Vec<Diagnostic>), Diagnostic> {
    let object: Object = parse(&super::without_bare_nan(text), file)?;
    let head = span(file, 0, first_line(text));
    let wrong = |what: String, why: String| Diagnostic::error("W411", what).label(head, why);
    let Some(Json::Array(results)) = object.get("Results") else {
        let what = "these are no results of KTT: `Results` is missing".to_string();
        return Err(wrong(what, "a list `Results` is wanted in this object".into()));
    };
    let metadata = object.get("Metadata").and_then(Json::as_object).cloned().unwrap_or_default();
    let text_of = |name: &str| metadata.get(name).and_then(Json::as_str);
    // Milliseconds are what KTT writes unless it is told otherwise.
    let unit = text_of("TimeUnit").unwrap_or("Milliseconds");
    let Some((scale, _)) = units::of_time(unit) else {
        let at = super::place_of(text, unit).unwrap_or(0);
        return Err(Diagnostic::error("W411", "this unit of time is not known")
            .label(span(file, at, at + unit.len()), units::KNOWN));
    };
    let mut records = Vec::with_capacity(results.len());
    let mut kernels: Vec<String> = vec![];
    for (index, result) in results.iter().enumerate() {
        let refuse = |why: String| {
            wrong(format!("result {} of this file is not what it should be", index + 1), why)
        };
        let kernel = result.get("KernelName").and_then(Json::as_str).unwrap_or_default();
        if !kernels.iter().any(|k| k == kernel) {
            kernels.push(kernel.to_string());
        }
        records.push(record(result, scale).map_err(refuse)?);
    }
    if kernels.len() > 1 {
        let what = "this file has results of several kernels".to_string();
        let why = format!("they are `{}`", kernels.join("`, `"));
        return Err(wrong(what, why).help("save the results of each kernel in a file of its own"));
    }
    let mut warnings = vec![];
    if object.contains_key("UserData") {
        let what = "`UserData` of this file has no place in the store, and is left out";
        warnings.push(Diagnostic::warning("W413", what));
    }
    let recording = Recording {
        device: text_of("Device").map(str::to_string),
        kernel: kernels.pop().filter(|k| !k.is_empty()),
        parameters: parameters_of(records.iter().map(|r: &Record| &r.configuration)),
        records,
        origin: None,
    };
    Ok((recording, warnings))
}

fn record(result: &Json, scale: f64) -> Result<Record, String> {
    let status = match result.get("Status").and_then(Json::as_str) {
        Some("Ok") => Status::Correct,
        Some("ComputationFailed") => Status::Runtime,
        Some("ValidationFailed") => Status::Correctness,
        Some("CompilationFailed") => Status::Compile,
        Some("DeviceLimitsExceeded") => Status::Constraints,
        Some(other) => return Err(format!("`{other}` is no status")),
        None => return Err("it has no `Status`".into()),
    };
    let pairs = result.get("Configuration").and_then(Json::as_array);
    let pairs = pairs.ok_or("it has no list `Configuration`")?;
    let values = pairs.iter().map(pair).collect::<Result<_, _>>()?;
    let mut outcome = Outcome::of(status);
    let ms = |of: &Json, name: &str| {
        let duration = of.get(name).and_then(as_number).map(|t| t * scale);
        duration.filter(|t| t.abs() < NO_DURATION_MS)
    };
    outcome.time_ms = ms(result, "TotalDuration");
    if status == Status::Correct && outcome.time_ms.is_none() {
        return Err("it has no `TotalDuration`".into());
    }
    outcome.runtimes_ms = outcome.time_ms.into_iter().collect();
    let phases = &mut outcome.phases;
    phases.compile_ms = ms(result, "CompilationOverhead");
    phases.search_ms = ms(result, "SearcherOverhead");
    phases.verification_ms = ms(result, "ValidationOverhead");
    phases.framework_ms = ms(result, "TotalOverhead");
    outcome.timestamp = result.get("Timestamp").and_then(Json::as_str).map(str::to_string);
    for name in ["ExtraDuration", "ExtraOverhead"] {
        outcome.measurements.extend(ms(result, name).filter(|t| *t != 0.0).map(|t| timed(name, t)));
    }
    let computations = result.get("ComputationResults").and_then(Json::as_array);
    let computations = computations.map_or(&[][..], Vec::as_slice);
    for computation in computations {
        let function = computation.get("KernelFunction").and_then(Json::as_str).unwrap_or("kernel");
        // Of a single kernel it is the time.
        let duration = ms(computation, "Duration").filter(|_| computations.len() > 1);
        outcome.measurements.extend(duration.map(|t| timed(&format!("{function} duration"), t)));
        counters(computation, &mut outcome);
        if outcome.compilation.is_empty() {
            outcome.compilation = compilation(computation);
        }
    }
    Ok(Record { configuration: Configuration { values }, outcome })
}

fn timed(name: &str, ms: f64) -> Measurement {
    Measurement { name: name.into(), value: number(ms), unit: Some("ms".into()), kind: None }
}

/// A parameter; what its value is says `IsDouble`, in newer files `ValueType`.
fn pair(pair: &Json) -> Result<(String, Value), String> {
    let name = pair.get("Name").and_then(Json::as_str).ok_or("a parameter has no `Name`")?;
    let value = pair.get("Value").and_then(Value::from_json);
    let value = value.ok_or_else(|| format!("`{name}` has no `Value`"))?;
    let is_double = pair.get("IsDouble").and_then(Json::as_bool) == Some(true);
    let kind = pair.get("ValueType").and_then(Json::as_str).unwrap_or_default();
    let value = match (kind, value) {
        ("Double" | "Float", Value::Int(x)) => Value::Float(x as f64),
        (_, Value::Int(x)) if is_double => Value::Float(x as f64),
        ("Bool", Value::Int(x)) => Value::Bool(x != 0),
        (_, value) => value,
    };
    Ok((name.to_string(), value))
}

fn counters(computation: &Json, outcome: &mut Outcome) {
    let counters = computation.get("ProfilingData").and_then(|p| p.get("Counters"));
    for counter in counters.and_then(Json::as_array).into_iter().flatten() {
        let text = |name: &str| counter.get(name).and_then(Json::as_str).map(str::to_string);
        outcome.measurements.extend(text("Name").map(|name| Measurement {
            name,
            value: counter.get("Value").cloned().unwrap_or_default(),
            unit: None,
            kind: text("Type"),
        }));
    }
}

/// By the names of T4.
fn compilation(computation: &Json) -> Object {
    let mut made = Object::new();
    let Some(data) = computation.get("CompilationData").and_then(Json::as_object) else {
        return made;
    };
    for (theirs, name) in [
        ("MaxWorkGroupSize", "max_work_group_size"),
        ("LocalMemorySize", "local_memory_size"),
        ("PrivateMemorySize", "private_memory_size"),
        ("ConstantMemorySize", "constant_memory_size"),
        ("RegistersCount", "registers"),
    ] {
        made.extend(data.get(theirs).map(|value| (name.to_string(), value.clone())));
    }
    for (theirs, name) in [("GlobalSize", "global_size"), ("LocalSize", "local_size")] {
        let axes = computation.get(theirs).and_then(Json::as_object);
        let lower = |axes: &Object| -> Object {
            axes.iter().map(|(axis, size)| (axis.to_lowercase(), size.clone())).collect()
        };
        made.extend(axes.map(|axes| (name.to_string(), Json::Object(lower(axes)))));
    }
    made
}
