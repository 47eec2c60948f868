//! Results as rows of the store, and as objects with the same texts in files of other tuners.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Value as Json, json};

use super::outcome_json;
use crate::outcome::{Record, Status};
use crate::space::Configuration;
use crate::value::Value;

/// A row of the store that no result can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Its `id`.
    pub row: i64,
    /// The first column that does not hold what it should.
    pub column: &'static str,
}

/// A configuration as a list of pairs, in the order of its parameters: one text for one configuration.
pub(super) fn configuration_text(configuration: &Configuration) -> String {
    configuration_json(configuration).to_string()
}

fn configuration_json(configuration: &Configuration) -> Json {
    let pairs = configuration.values.iter().map(|(name, value)| json!([name, value.to_json()]));
    Json::Array(pairs.collect())
}

fn configuration(text: &str) -> Option<Configuration> {
    let pairs: Vec<(String, Json)> = serde_json::from_str(text).ok()?;
    let pair = |(name, json): (String, Json)| Some((name, Value::from_json(&json)?));
    Some(Configuration { values: pairs.into_iter().map(pair).collect::<Option<_>>()? })
}

/// A result from the columns `configuration`, `status`, `samples_ms` and `details`, which come first; else the name of
/// the column that is damaged.
pub(super) fn record(row: &Row) -> Result<Record, &'static str> {
    let column = |at: usize, name: &'static str| row.get::<_, String>(at).map_err(|_| name);
    let configuration = configuration(&column(0, "configuration")?).ok_or("configuration")?;
    let status = Status::named(&column(1, "status")?).ok_or("status")?;
    let (samples, details) = (column(2, "samples_ms")?, column(3, "details")?);
    let outcome = outcome_json::read(status, &samples, &details)?;
    Ok(Record { configuration, outcome })
}

/// A text for people, also from a column that holds something else.
pub(super) fn text(row: &Row, at: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(x) => x.to_string(),
        ValueRef::Real(x) => x.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
    })
}

/// All of a result, exactly, as an object for files whose formats have no words for it.
pub fn record_to_json(record: &Record) -> Json {
    let outcome = &record.outcome;
    let parsed = |text: String| serde_json::from_str::<Json>(&text).unwrap_or_default();
    json!({
        "configuration": configuration_json(&record.configuration), "status": outcome.status.name(),
        "samples_ms": parsed(outcome_json::samples(outcome)), "details": parsed(outcome_json::details(outcome)),
    })
}

/// A result of an object that [`record_to_json`] made.
pub fn record_from_json(json: &Json) -> Option<Record> {
    let status = Status::named(json.get("status")?.as_str()?)?;
    let text = |name: &str| json.get(name).map(Json::to_string);
    let outcome = outcome_json::read(status, &text("samples_ms")?, &text("details")?).ok()?;
    Some(Record { configuration: configuration(&text("configuration")?)?, outcome })
}
