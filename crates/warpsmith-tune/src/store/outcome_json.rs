//! Outcomes as texts in columns of the store.

use serde_json::{Map, Value as Json};

use crate::exchange::as_number;
use crate::outcome::{Measurement, Outcome, Phases, Status};
use crate::value::Value;

/// A float exactly; what JSON cannot hold becomes its Python spelling in a string.
fn float(x: f64) -> Json {
    Value::Float(x).to_json()
}

pub(super) fn samples(outcome: &Outcome) -> String {
    outcome.runtimes_ms.iter().map(|t| float(*t)).collect::<Json>().to_string()
}

pub(super) fn details(outcome: &Outcome) -> String {
    let mut made = Map::new();
    let mut put = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            made.insert(name.to_string(), value);
        }
    };
    put("message", outcome.message.as_deref().map(Json::from));
    put("time_ms", outcome.time_ms.map(float));
    let phases = &outcome.phases;
    put("compile_ms", phases.compile_ms.map(float));
    put("verification_ms", phases.verification_ms.map(float));
    put("benchmark_ms", phases.benchmark_ms.map(float));
    put("search_ms", phases.search_ms.map(float));
    put("framework_ms", phases.framework_ms.map(float));
    put("timestamp", outcome.timestamp.as_deref().map(Json::from));
    let object = |map: &Map<String, Json>| (!map.is_empty()).then(|| Json::Object(map.clone()));
    put("compilation", object(&outcome.compilation));
    put("extra", object(&outcome.extra));
    let measurements = outcome.measurements.iter().map(|m| {
        Json::Array(vec![
            m.name.as_str().into(),
            m.value.clone(),
            m.unit.as_deref().map_or(Json::Null, Json::from),
            m.kind.as_deref().map_or(Json::Null, Json::from),
        ])
    });
    put("measurements", (!outcome.measurements.is_empty()).then(|| measurements.collect()));
    Json::Object(made).to_string()
}

/// An outcome of the texts in its columns; else the name of the column that is damaged.
pub(super) fn read(status: Status, samples: &str, details: &str) -> Result<Outcome, &'static str> {
    let samples: Vec<Json> = serde_json::from_str(samples).map_err(|_| "samples_ms")?;
    let runtimes: Option<Vec<f64>> = samples.iter().map(as_number).collect();
    let details: Map<String, Json> = serde_json::from_str(details).map_err(|_| "details")?;
    let number = |name: &str| details.get(name).and_then(as_number);
    let text = |name: &str| details.get(name).and_then(Json::as_str).map(str::to_string);
    let object =
        |name: &str| details.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    let measurement = |m: &Json| {
        let part = |i: usize| m.get(i).and_then(Json::as_str).map(str::to_string);
        Some(Measurement { name: part(0)?, value: m.get(1)?.clone(), unit: part(2), kind: part(3) })
    };
    let measurements = details.get("measurements").and_then(Json::as_array);
    let measurements: Option<Vec<Measurement>> =
        measurements.into_iter().flatten().map(measurement).collect();
    Ok(Outcome {
        status,
        message: text("message"),
        time_ms: number("time_ms"),
        runtimes_ms: runtimes.ok_or("samples_ms")?,
        phases: Phases {
            compile_ms: number("compile_ms"),
            verification_ms: number("verification_ms"),
            benchmark_ms: number("benchmark_ms"),
            search_ms: number("search_ms"),
            framework_ms: number("framework_ms"),
        },
        compilation: object("compilation"),
        measurements: measurements.ok_or("details")?,
        timestamp: text("timestamp"),
        extra: object("extra"),
    })
}
