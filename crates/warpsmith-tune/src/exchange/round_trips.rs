//! Whatever a store can hold is written to every format and read again without a loss, alone and among others.

use proptest::prelude::*;
use serde_json::json;

use super::kernel_tuner::Cache;
use super::t4::{Dialect, Results};
use super::*;
use crate::outcome::{Measurement, Outcome, Phases, Status};

/// Names that formats use themselves, and some that none does.
const NAMES: [&str; 12] = [
    "x",
    "time",
    "times",
    "__error__",
    "timestamp",
    "compile_time",
    "message",
    "warpsmith_result",
    "tune_params_keys",
    "ConfigurationSpace",
    "block size",
    "GFLOP/s",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(&NAMES[..]).prop_map(str::to_string), "[a-z]{1,3}",]
}

fn value() -> impl Strategy<Value = Value> {
    let plain = || {
        prop_oneof![
            (-3i64..5).prop_map(Value::Int),
            any::<i64>().prop_map(Value::Int),
            proptest::sample::select(&[0.5, 1.0, -0.0, 1e-9, 1e300, 0.1][..])
                .prop_map(Value::Float),
            any::<bool>().prop_map(Value::Bool),
            proptest::sample::select(
                &["1", "1,2", "2", "0.500000", "true", "True", "row", "", "\u{1b}[31m", "é\"\\"][..]
            )
            .prop_map(Value::from),
        ]
    };
    prop_oneof![4 => plain(), 1 => proptest::collection::vec(plain(), 0..3).prop_map(Value::List)]
}

fn json() -> impl Strategy<Value = Json> {
    proptest::sample::select(vec![
        json!(3),
        json!(2.5),
        json!("RuntimeFailedConfig"),
        json!(null),
        json!(true),
        json!([1, 2.5]),
        json!({"a": [1]}),
        json!(["time"]),
        json!(["time", "energy"]),
    ])
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let ms = || proptest::option::of(proptest::sample::select(&[0.0, 1.0, 0.125, 1e-7, 3e5][..]));
    let phases = (ms(), ms(), ms(), ms(), ms()).prop_map(|(a, b, c, d, e)| Phases {
        compile_ms: a,
        verification_ms: b,
        benchmark_ms: c,
        search_ms: d,
        framework_ms: e,
    });
    let unit = proptest::option::of(proptest::sample::select(&["ms", "us", "W", ""][..]));
    let kind = proptest::option::of(proptest::sample::select(&["Double", "Text", "Int"][..]));
    let measurement = (name(), json(), unit, kind).prop_map(|(name, value, unit, kind)| {
        Measurement { name, value, unit: unit.map(str::to_string), kind: kind.map(str::to_string) }
    });
    let measurements = proptest::collection::vec(measurement, 0..4);
    let objects = || proptest::collection::vec((name(), json()), 0..3);
    let samples = proptest::collection::vec(prop_oneof![Just(0.25), Just(f64::INFINITY)], 0..3);
    let text = || proptest::option::of("[ -~é\n\u{7}]{0,8}");
    let parts = (0usize..6, ms(), samples, phases, measurements, objects(), objects());
    (parts, text(), text()).prop_map(|(parts, message, timestamp)| {
        let (status, time_ms, runtimes_ms, phases, measurements, extra, compilation) = parts;
        Outcome {
            status: Status::ALL[status],
            message,
            time_ms,
            runtimes_ms,
            phases,
            compilation: compilation.into_iter().collect(),
            measurements,
            timestamp,
            extra: extra.into_iter().collect(),
        }
    })
}

/// Results of one problem, whose configurations need not have the same parameters.
fn records() -> impl Strategy<Value = Vec<Record>> {
    let pairs = proptest::collection::vec((name(), value()), 1..4);
    let record = (pairs, outcome()).prop_map(|(pairs, outcome)| {
        let mut values: Vec<(String, Value)> = vec![];
        for (name, value) in pairs {
            if values.iter().all(|(n, _)| *n != name) {
                values.push((name, value));
            }
        }
        Record { configuration: Configuration { values }, outcome }
    });
    proptest::collection::vec(record, 0..6)
}

/// As the store keeps them: Python's equality does not tell 1 from True.
fn exactly(records: &[Record]) -> Vec<Json> {
    records.iter().map(crate::store::record_to_json).collect()
}

fn read(text: &str) -> Vec<Record> {
    let mut sources = SourceMap::new();
    let file = sources.add("file.json", text);
    let read = read_recording(&sources, file).map_err(|d| d.render(&sources, false));
    let (recording, warnings) = read.unwrap_or_else(|message| panic!("{message}\n{text}"));
    assert!(warnings.is_empty());
    recording.records
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_format_loses_anything(records in records()) {
        for dialect in [Dialect::Schema, Dialect::Ktt] {
            let mut bytes = vec![];
            let results = Results { records: records.clone(), ..Results::default() };
            results.write(&mut bytes, dialect).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(exactly(&read(&text)), exactly(&records), "{:?}: {}", dialect, text);
        }
        let parameters = parameters_of(records.iter().map(|r| &r.configuration));
        let cache = Cache::new("GPU", "k", vec![], parameters, records.clone());
        for closed in [true, false] {
            let mut bytes = vec![];
            cache.write(&mut bytes, closed).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(exactly(&read(&text)), exactly(&records), "{}", text);
        }
    }
}
