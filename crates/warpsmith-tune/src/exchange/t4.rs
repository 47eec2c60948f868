//! T4, the community's format of results, version 1.1.0.
//!
//! Two dialects are read: the schema and KTT say `times.compilation_time`, Kernel Tuner and the benchmark hub
//! `times.compilation` (and `benchmark`). Both names are written. KTT's reader wants more: see [`Dialect::Ktt`].

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use warpsmith_ir::{Diagnostic, FileId};

use super::{
    EXACT, Object, Origin, Recording, as_number, first_line, number, parameters_of, parse, span,
    units,
};
use crate::outcome::{Measurement, Outcome, Record, Status, median};
use crate::space::Configuration;
use crate::store::{record_from_json, record_to_json};
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
    /// As the published schema says.
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
    /// The results, in the order of the file.
    pub records: Vec<Record>,
    /// Other fields of the file.
    pub extra: Object,
}

impl Results {
    /// The results without what only this format has.
    pub fn into_recording(self) -> Recording {
        let text = |name: &str| self.metadata.get(name).and_then(Json::as_str).map(str::to_string);
        Recording {
            device: text("device"),
            kernel: text("kernel"),
            origin: Origin::read(&self.metadata),
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

/// A result; what a reader would not make the same of says it once more, exactly.
fn result(record: &Record, dialect: Dialect) -> Json {
    let mut made = words(record, dialect);
    let mut read = [self::record(made.clone(), MILLISECONDS).unwrap_or_else(|_| Read::nothing())];
    // As if it were alone in its file: then all its values may be strings.
    untangle_strings(&mut read);
    // Exactly: 1 and True are equal, and not the same.
    let exactly = record_to_json(record);
    if record_to_json(&read[0].record) != exactly {
        made.insert(EXACT.into(), exactly);
    }
    Json::Object(made)
}

/// A result in the words of the schema, and ours for what it has none for.
fn words(record: &Record, dialect: Dialect) -> Object {
    let outcome = &record.outcome;
    let mut made = Object::new();
    if let Some(timestamp) = &outcome.timestamp {
        made.insert("timestamp".into(), timestamp.as_str().into());
    }
    let value = |value: &Value| match dialect {
        Dialect::Schema => value.to_json(),
        Dialect::Ktt => match value {
            Value::Bool(x) => x.to_string().into(),
            value => value.to_string().into(),
        },
    };
    let configuration = record.configuration.values.iter().map(|(n, v)| (n.clone(), value(v)));
    made.insert("configuration".into(), Json::Object(configuration.collect()));
    made.insert("objectives".into(), json!(["time"]));
    made.insert("times".into(), times(outcome, dialect).into());
    let invalidity = match (outcome.status, dialect) {
        // KTT knows neither, and has these in their places.
        (Status::Timeout, Dialect::Ktt) => Status::Runtime,
        (Status::Constraints, Dialect::Ktt) => Status::Compile,
        (status, _) => status,
    };
    made.insert("invalidity".into(), invalidity.name().into());
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
    for (name, value) in &outcome.extra {
        let free = match name.as_str() {
            "objectives" => value.is_array(),
            "correctness" => value.is_number(),
            // Stands among the others.
            "times" => false,
            name => !made.contains_key(name),
        };
        if free {
            made.insert(name.clone(), value.clone());
        }
    }
    made
}

/// KTT's reader wants a sample, and three of the phases, of everything.
fn times(outcome: &Outcome, dialect: Dialect) -> Object {
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
        for (name, time) in more {
            times.entry(name).or_insert_with(|| time.clone());
        }
    }
    if dialect == Dialect::Ktt {
        for name in ["compilation_time", "framework", "validation"] {
            times.entry(name).or_insert_with(|| 0.into());
        }
        if times["runtimes"].as_array().is_none_or(Vec::is_empty) {
            times.insert("runtimes".into(), json!([0]));
        }
    }
    times
}

/// Whether the schema has a place for all of a measurement.
fn is_plain(m: &Measurement) -> bool {
    let value = m.value.is_number() || m.value.is_string() || m.value.is_array();
    // The time has a measurement of its own.
    let is_time = m.name == "time" && as_number(&m.value).is_some();
    value && !is_time && m.kind.as_deref().is_none_or(|kind| TYPES.contains(&kind))
}

fn measurements(outcome: &Outcome, others: &[&Measurement], dialect: Dialect) -> Json {
    // KTT's reader takes the first one for the time, whatever it is.
    let stated = outcome.time_ms.or((dialect == Dialect::Ktt).then_some(0.0));
    let time = stated.map(|t| json!({"name": "time", "value": number(t), "unit": "ms"}));
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
    let unit = file_unit(metadata.shift_remove("timeunit").as_ref()).map_err(|unit| {
        let at = super::place_of(text, &unit).unwrap_or(0);
        Diagnostic::error("W411", "this unit of time is not known")
            .label(span(file, at, at + unit.len()), units::KNOWN)
    })?;
    let mut records = Vec::with_capacity(results.len());
    for (index, result) in results.into_iter().enumerate() {
        let refuse = |why: String| {
            let text = format!("result {} of this file is not what it should be", index + 1);
            Diagnostic::error("W411", text).label(head, why)
        };
        let Json::Object(result) = result else { return Err(refuse("it is no object".into())) };
        records.push(record(result, unit).map_err(refuse)?);
    }
    untangle_strings(&mut records);
    let records = records.into_iter().map(|read| read.record).collect();
    Ok(Results { metadata, records, extra: object })
}

/// A result that was read.
struct Read {
    record: Record,
    /// It said itself what exactly its values are.
    exact: bool,
}

impl Read {
    /// In the place of what cannot be read.
    fn nothing() -> Read {
        let record = Record {
            configuration: Configuration::default(),
            outcome: Outcome::of(Status::Constraints),
        };
        Read { record, exact: false }
    }
}

/// The unit of a file's times.
#[derive(Clone, Copy)]
struct Unit {
    /// Milliseconds of one.
    scale: f64,
    name: &'static str,
    /// The file says it.
    stated: bool,
}

/// As we write them.
const MILLISECONDS: Unit = Unit { scale: 1.0, name: "ms", stated: true };

/// What a file says its times are in; milliseconds where it says nothing.
fn file_unit(stated: Option<&Json>) -> Result<Unit, String> {
    match stated.and_then(Json::as_str) {
        None | Some("") => Ok(Unit { stated: false, ..MILLISECONDS }),
        Some(text) => {
            let (scale, name) = units::of_time(text).ok_or_else(|| text.to_string())?;
            Ok(Unit { scale, name, stated: true })
        }
    }
}

fn record(mut result: Object, unit: Unit) -> Result<Read, String> {
    if let Some(record) = result.shift_remove(EXACT).as_ref().and_then(record_from_json) {
        return Ok(Read { record, exact: true });
    }
    let Some(Json::Object(configuration)) = result.shift_remove("configuration") else {
        return Err("it has no object `configuration`".into());
    };
    let named = |(name, json): (String, Json)| match Value::from_json(&json) {
        Some(value) => Ok((name, value)),
        None => Err(format!("`{name}` is no value")),
    };
    let values = configuration.into_iter().map(named).collect::<Result<_, _>>()?;
    let status = status(&mut result)?;
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
    let list = match result.shift_remove("measurements") {
        Some(Json::Array(list)) => list,
        _ => vec![],
    };
    let time = time_among(&list, &objective, unit)?;
    // A file without a unit has that of its time, where that has one.
    let samples = time.filter(|_| !unit.stated).map_or(unit, |time| time.unit);
    read_times(times, samples, &mut outcome, &mut result)?;
    read_measurements(list, time, &mut outcome)?;
    agree(time, samples, &outcome)?;
    for name in ["compilation_data", COMPILATION] {
        if let Some(Json::Object(compilation)) = result.shift_remove(name) {
            outcome.compilation = compilation;
        }
    }
    if let Some(Json::Array(list)) = result.shift_remove(MEASUREMENTS) {
        let more: Result<Vec<Measurement>, String> = list.iter().map(measurement).collect();
        outcome.measurements.extend(more?);
    }
    if let Some(Json::Array(list)) = result.shift_remove(RUNTIMES) {
        let samples: Option<Vec<f64>> = list.iter().map(as_number).collect();
        // Ours alone writes it, in milliseconds.
        outcome.runtimes_ms = samples.ok_or("`warpsmith_runtimes` is no list of numbers")?;
    }
    outcome.timestamp = text(&mut result, "timestamp");
    outcome.message = text(&mut result, "message");
    outcome.extra = result;
    let record = Record { configuration: Configuration { values }, outcome };
    Ok(Read { record, exact: false })
}

fn status(result: &mut Object) -> Result<Status, String> {
    match result.shift_remove("invalidity") {
        Some(Json::String(name)) => {
            Status::named(&name).ok_or_else(|| format!("`{name}` is no invalidity"))
        }
        _ => Err("it has no `invalidity`".into()),
    }
}

fn measurement(m: &Json) -> Result<Measurement, String> {
    let field = |name: &str| m.get(name).and_then(Json::as_str).map(str::to_string);
    Ok(Measurement {
        name: field("name").ok_or("a measurement has no name")?,
        value: m.get("value").cloned().unwrap_or_default(),
        unit: field("unit"),
        kind: field("type"),
    })
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
    unit: Unit,
    outcome: &mut Outcome,
    result: &mut Object,
) -> Result<(), String> {
    if let Some(Json::Array(runtimes)) = times.shift_remove("runtimes") {
        let samples: Option<Vec<f64>> = runtimes.iter().map(as_number).collect();
        let samples = samples.ok_or("`runtimes` is no list of numbers")?;
        outcome.runtimes_ms = samples.into_iter().map(|t| t * unit.scale).collect();
    }
    let mut phase = |name: &str| {
        let known = times.get(name).and_then(as_number)?;
        times.shift_remove(name);
        Some(known * unit.scale)
    };
    let (schema, hub) = (phase("compilation_time"), phase("compilation"));
    outcome.phases.compile_ms = schema.or(hub);
    outcome.phases.benchmark_ms = phase("benchmark");
    outcome.phases.framework_ms = phase("framework");
    outcome.phases.search_ms = phase("search_algorithm");
    outcome.phases.verification_ms = phase("validation");
    // Others are kept in milliseconds, too: that is what the file says in which they are written again.
    for time in times.values_mut().filter(|_| unit.scale != 1.0) {
        if let Some(number) = as_number(time) {
            *time = self::number(number * unit.scale);
        }
    }
    if !times.is_empty() {
        result.insert("times".into(), times.into());
    }
    Ok(())
}

/// The measurement that is the time.
#[derive(Clone, Copy)]
struct Time {
    /// Position among the measurements.
    at: usize,
    ms: f64,
    /// Its own, or the file's.
    unit: Unit,
}

/// The measurement `time`, or the objective where that is a time, by its unit or its name. What else is optimised, such as
/// GFLOP/s or energy, is a figure beside the time.
fn time_among(list: &[Json], objective: &str, file: Unit) -> Result<Option<Time>, String> {
    let field = |m: &Json, name: &str| m.get(name).and_then(Json::as_str).map(str::to_string);
    let is_number = |m: &Json| m.get("value").and_then(as_number).is_some();
    let named = |wanted: &str| {
        list.iter().position(|m| field(m, "name").as_deref() == Some(wanted) && is_number(m))
    };
    let is_time = |at: &usize| match field(&list[*at], "unit").filter(|u| !u.is_empty()) {
        Some(unit) => units::of_time(&unit).is_some(),
        None => ["time", "duration"].iter().any(|word| objective.to_lowercase().contains(word)),
    };
    let Some(at) = named("time").or_else(|| named(objective).filter(is_time)) else {
        return Ok(None);
    };
    let unit = match field(&list[at], "unit").filter(|unit| !unit.is_empty()) {
        None => file,
        Some(unit) => match units::of_time(&unit) {
            Some((scale, name)) => Unit { scale, name, stated: true },
            None => return Err(format!("its time is in `{unit}`; {}", units::KNOWN)),
        },
    };
    let value = list[at].get("value").and_then(as_number).unwrap_or(f64::NAN);
    Ok(Some(Time { at, ms: value * unit.scale, unit }))
}

fn read_measurements(
    list: Vec<Json>,
    time: Option<Time>,
    outcome: &mut Outcome,
) -> Result<(), String> {
    outcome.time_ms = time.map(|time| time.ms);
    for (index, m) in list.into_iter().enumerate() {
        let field = |name: &str| m.get(name).and_then(Json::as_str).map(str::to_string);
        let name = field("name").ok_or("a measurement has no name")?;
        let own = field("unit").filter(|unit| !unit.is_empty());
        let unit = match time.filter(|time| time.at == index) {
            Some(_) if name == "time" => continue,
            // What the file says for all times is said no more when it is written again.
            Some(time) => own.or_else(|| Some(time.unit.name.to_string())),
            None => own,
        };
        let value = m.get("value").cloned().unwrap_or_default();
        outcome.measurements.push(Measurement { name, value, unit, kind: field("type") });
    }
    if outcome.time_ms.is_none() && outcome.status == Status::Correct {
        outcome.time_ms = median(&outcome.runtimes_ms);
    }
    Ok(())
}

/// A time that is far from its own samples is in another unit than they are.
fn agree(time: Option<Time>, samples: Unit, outcome: &Outcome) -> Result<(), String> {
    let (Some(time), Some(sample)) = (time, median(&outcome.runtimes_ms)) else { return Ok(()) };
    let apart = time.ms / sample;
    if time.unit.name == samples.name || !apart.is_finite() || (0.01..=100.0).contains(&apart) {
        return Ok(());
    }
    Err(format!(
        "its time is {} {} and its runtimes are {} {}: one of the units is wrong",
        time.ms / time.unit.scale,
        time.unit.name,
        sample / samples.scale,
        samples.name
    ))
}

/// Where all values of all configurations are strings, as KTT writes them, those that spell numbers become numbers.
fn untangle_strings(records: &mut [Read]) {
    let of = |r: &Read| !r.exact;
    let mut values =
        records.iter().filter(|r| of(r)).flat_map(|r| r.record.configuration.values.iter());
    if !values.all(|(_, value)| matches!(value, Value::Str(_))) {
        return;
    }
    let open = records.iter_mut().filter(|r| of(r));
    for (_, value) in open.flat_map(|r| r.record.configuration.values.iter_mut()) {
        if let Value::Str(text) = &*value
            && let Some(made) = untangled(text)
        {
            *value = made;
        }
    }
}

/// The number or truth value that a text spells. Only what would be spelled the same again, or what C++ makes of a double
/// (`0.500000`): "016" stays a string.
fn untangled(text: &str) -> Option<Value> {
    let int = text.parse::<i64>().ok().map(Value::Int);
    let float = || text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Value::Float);
    let word = || match text {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        _ => None,
    };
    let six_places = text.split_once('.').is_some_and(|(whole, places)| {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        places.len() == 6 && digits(places) && digits(whole.strip_prefix('-').unwrap_or(whole))
    });
    let made = int.or_else(float).or_else(word)?;
    (six_places || made.to_string().eq_ignore_ascii_case(text)).then_some(made)
}
