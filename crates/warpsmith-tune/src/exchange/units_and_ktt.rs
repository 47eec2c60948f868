//! Units of time in T4 files, and the files that KTT writes.

use serde_json::json;

use super::*;
use crate::outcome::{Outcome, Status};

fn recording(text: &str) -> Result<Recording, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("results.json", text);
    read_recording(&sources, file).map(|(read, _)| read).map_err(|d| d.render(&sources, false))
}

/// A T4 file with one result, whose time is 1.5 ms where all is right.
fn t4(unit: Option<&str>, own: &str, time: f64, sample: f64) -> String {
    let metadata = match unit {
        Some(unit) => json!({"timeunit": unit}),
        None => json!({}),
    };
    json!({
        "schema_version": "1.1.0", "metadata": metadata,
        "results": [{
            "configuration": {"x": 1}, "invalidity": "correct", "correctness": 1, "objectives": ["time"],
            "times": {"compilation_time": sample, "runtimes": [sample], "data": sample},
            "measurements": [{"name": "time", "value": time, "unit": own}],
        }],
    })
    .to_string()
}

#[test]
fn every_unit_becomes_milliseconds() {
    for (unit, own, time, sample) in [
        (None, "", 1.5, 1.5),
        (Some("miliseconds"), "ms", 1.5, 1.5),
        (Some("seconds"), "", 0.0015, 0.0015),
        (Some("microseconds"), "us", 1500.0, 1500.0),
        (Some("microseconds"), "µs", 1500.0, 1500.0),
        (Some("nanoseconds"), "", 1.5e6, 1.5e6),
        // A measurement's own unit is that of its value alone.
        (Some("microseconds"), "ms", 1.5, 1500.0),
        (Some("milliseconds"), "s", 0.0015, 1.5),
        // Where the file says none, its samples have the time's.
        (None, "us", 1500.0, 1500.0),
    ] {
        let read = recording(&t4(unit, own, time, sample)).unwrap();
        let outcome = &read.records[0].outcome;
        let near = |ms: f64| (ms - 1.5).abs() < 1e-12;
        assert!(near(outcome.time_ms.unwrap()), "{unit:?} {own}: {outcome:?}");
        assert!(
            near(outcome.runtimes_ms[0]) && near(outcome.phases.compile_ms.unwrap()),
            "{unit:?}"
        );
        assert!(near(outcome.extra["times"]["data"].as_f64().unwrap()), "{outcome:?}");
    }
}

#[test]
fn units_that_contradict_each_other_are_refused() {
    let message = recording(&t4(Some("milliseconds"), "us", 1500.0, 1500.0)).unwrap_err();
    assert!(
        message.contains("error[W411]: result 1 of this file is not what it should be"),
        "{message}"
    );
    let words = "its time is 1500 us and its runtimes are 1500 ms: one of the units is wrong";
    assert!(message.contains(words), "{message}");
    let message = recording(&t4(None, "parsecs", 1.5, 1.5)).unwrap_err();
    assert!(message.contains("its time is in `parsecs`; nano-, micro-"), "{message}");
}

#[test]
fn an_objective_that_is_no_time_is_not_taken_for_one() {
    let file = |objectives: Json, measurements: Json| {
        json!({"schema_version": "1.1.0", "metadata": {"timeunit": "microseconds"}, "results": [{
            "configuration": {"x": 1}, "invalidity": "correct", "correctness": 1, "objectives": objectives,
            "times": {"runtimes": [2000, 3000, 4000]}, "measurements": measurements,
        }]})
        .to_string()
    };
    let time = |text: &str| recording(text).unwrap().records[0].outcome.time_ms;
    let speed = json!({"name": "GFLOP/s", "value": 900.0, "unit": ""});
    let energy = json!({"name": "energy", "value": 40.0, "unit": "J"});
    assert_eq!(time(&file(json!(["GFLOP/s"]), json!([speed]))), Some(3.0));
    let own = json!({"name": "time", "value": 2500, "unit": ""});
    assert_eq!(time(&file(json!(["energy", "time"]), json!([energy, speed, own]))), Some(2.5));
    let duration = json!({"name": "total", "value": 2600, "unit": "us"});
    let text = file(json!(["total", "energy"]), json!([energy, duration]));
    assert_eq!(time(&text), Some(2.6));
    // Written again, the objectives are still there and the unit is still that of the value.
    let results = {
        let mut sources = SourceMap::new();
        let id = sources.add("results.json", text.as_str());
        t4::read(&text, id).unwrap()
    };
    let mut bytes = vec![];
    results.write(&mut bytes, t4::Dialect::Schema).unwrap();
    let again: Json = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(again["results"][0]["objectives"], json!(["total", "energy"]));
    let read = recording(&again.to_string()).unwrap();
    assert_eq!(read.records[0].outcome, results.records[0].outcome);
}

#[test]
fn kinds_are_told_by_the_outermost_names() {
    let parameter =
        json!({"metadata": {"tune_params_keys": 1, "ConfigurationSpace": 2}, "results": []});
    assert_eq!(kind(&parameter.to_string()), Some(Kind::T4));
    assert_eq!(kind("{\"Metadata\": {}, \"Results\": ["), Some(Kind::Ktt));
    assert_eq!(
        kind("{\"device_name\": \"a\", \"tune_params_keys\": [\"res"),
        Some(Kind::KernelTunerCache)
    );
    assert_eq!(kind("[\"results\"]"), None);
}

/// What KTT's T4 says of doubles, truth values and failures.
#[test]
fn ktts_t4_is_read() {
    let text = json!({"schema_version": "1.0.0", "metadata": {
        "compute_api": "CUDA", "platform": "NVIDIA CUDA", "device": "H200", "autotuner": "KTT", "autotuner_version": "2.2",
        "timestamp": "t", "timeunit": "nanoseconds",
    }, "results": [
        {"timestamp": "t", "configuration": {"W": "32", "F": "0.500000", "G": "-1.000000", "KIND": "row"}, "correctness": 1,
         "times": {"compilation_time": 2e6, "data": 5e5, "framework": 7e5, "search_algorithm": 1e6, "validation": 0,
                   "runtimes": [1.5e6]},
         "invalidity": "correct", "objectives": ["time"],
         "measurements": [{"name": "time", "value": 1.5e6, "unit": ""}, {"name": "warps", "type": "Int", "unit": "", "value": 4}]},
    ]});
    let read = recording(&text.to_string()).unwrap();
    let record = &read.records[0];
    assert_eq!(record.configuration.to_string(), "W=32 F=0.5 G=-1.0 KIND='row'");
    assert_eq!((record.outcome.time_ms, record.outcome.phases.search_ms), (Some(1.5), Some(1.0)));
    assert_eq!(record.outcome.extra["times"]["data"], json!(0.5));
    assert_eq!(record.outcome.measurements[0].kind.as_deref(), Some("Int"));
}

/// KTT's reader refuses a file that lacks any of these.
#[test]
fn every_result_for_ktt_has_what_its_reader_wants() {
    let records = Status::ALL.map(|status| Record {
        configuration: Configuration {
            values: vec![("x".into(), Value::Bool(true)), ("f".into(), Value::Float(2.0))],
        },
        outcome: Outcome::of(status),
    });
    let results = t4::Results { records: records.to_vec(), ..t4::Results::default() };
    let mut bytes = vec![];
    results.write(&mut bytes, t4::Dialect::Ktt).unwrap();
    let file: Json = serde_json::from_slice(&bytes).unwrap();
    for result in file["results"].as_array().unwrap() {
        assert_eq!(result["configuration"], json!({"x": "true", "f": "2.0"}));
        assert!(result["times"]["runtimes"][0].is_number());
        for name in ["compilation_time", "framework", "validation"] {
            assert!(result["times"][name].is_number(), "{name}");
        }
        assert_eq!(result["measurements"][0]["name"], "time");
        let known = ["correct", "runtime", "correctness", "compile"];
        assert!(known.contains(&result["invalidity"].as_str().unwrap()), "{result}");
    }
}

/// A file of KTT 2.1 with one kernel, two computations and every status.
fn ktt() -> Json {
    let result = |status: &str, x: i64, duration: f64| {
        json!({
            "KernelName": "reduce", "Status": status, "TotalDuration": duration, "TotalOverhead": 250.0,
            "ExtraDuration": 500.0, "ExtraOverhead": 0.0,
            "Configuration": [
                {"Name": "X", "IsDouble": false, "Value": x},
                {"Name": "F", "IsDouble": true, "Value": 2},
            ],
            "ComputationResults": [],
        })
    };
    let mut results = vec![
        result("Ok", 32, 1500.0),
        result("ComputationFailed", 64, 18446744073709551.615),
        result("ValidationFailed", 128, 1600.0),
        result("CompilationFailed", 256, 18446744073709551.615),
        result("DeviceLimitsExceeded", 512, 18446744073709551.615),
    ];
    let computation = |name: &str, duration: f64| {
        json!({
            "KernelFunction": name, "Duration": duration, "Overhead": 1.0,
            "GlobalSize": {"X": 1024, "Y": 1, "Z": 1}, "LocalSize": {"X": 32, "Y": 1, "Z": 1},
            "CompilationData": {"MaxWorkGroupSize": 1024, "LocalMemorySize": 0, "PrivateMemorySize": 8,
                                "ConstantMemorySize": 0, "RegistersCount": 40},
            "ProfilingData": {"RemainingProfilingRuns": 0, "Counters": [
                {"Name": "sm__warps_active", "Type": "Percent", "Value": 62.5},
            ]},
        })
    };
    results[0]["ComputationResults"] =
        json!([computation("first", 900.0), computation("second", 100.0)]);
    json!({
        "Metadata": {"ComputeApi": "CUDA", "GlobalSizeType": "CUDA", "Platform": "NVIDIA CUDA", "Device": "H200",
                     "KttVersion": "2.1.0", "Timestamp": "2026-01-01 00:00:00", "TimeUnit": "Microseconds"},
        "Results": results,
    })
}

#[test]
fn ktts_own_results_are_read() {
    let read = recording(&ktt().to_string()).unwrap();
    assert_eq!((read.device.as_deref(), read.kernel.as_deref()), (Some("H200"), Some("reduce")));
    let statuses: Vec<Status> = read.records.iter().map(|r| r.outcome.status).collect();
    use Status::{Compile, Constraints, Correct, Correctness, Runtime};
    assert_eq!(statuses, [Correct, Runtime, Correctness, Compile, Constraints]);
    let first = &read.records[0];
    assert_eq!(first.configuration.to_string(), "X=32 F=2.0");
    let outcome = &first.outcome;
    assert_eq!((outcome.time_ms, &outcome.runtimes_ms[..]), (Some(1.5), &[1.5][..]));
    assert_eq!(outcome.phases.framework_ms, Some(0.25));
    let named: Vec<(&str, &Json)> =
        outcome.measurements.iter().map(|m| (m.name.as_str(), &m.value)).collect();
    assert_eq!(named[0], ("ExtraDuration", &json!(0.5)));
    assert_eq!((named[1].0, named[2]), ("first duration", ("sm__warps_active", &json!(62.5))));
    assert_eq!(outcome.compilation["registers"], json!(40));
    assert_eq!(outcome.compilation["global_size"], json!({"x": 1024, "y": 1, "z": 1}));
    // What never ran took no time.
    assert_eq!(read.records[1].outcome.time_ms, None);
    assert_eq!(read.parameters[0].values.len(), 5);
}

#[test]
fn newer_and_older_files_of_ktt_are_read() {
    let mut file = ktt();
    file["Metadata"] = json!({"ComputeApi": "CUDA", "Device": "H200"});
    file["Results"].as_array_mut().unwrap().truncate(1);
    file["Results"][0]["Configuration"] = json!([
        {"Name": "B", "ValueType": "Bool", "Value": true},
        {"Name": "S", "ValueType": "String", "Value": "16"},
        {"Name": "I", "ValueType": "Int", "Value": -4},
        {"Name": "D", "ValueType": "Double", "Value": 3.0},
    ]);
    let read = recording(&file.to_string()).unwrap();
    assert_eq!(read.records[0].configuration.to_string(), "B=True S='16' I=-4 D=3.0");
    assert_eq!(read.records[0].outcome.time_ms, Some(1500.0));
}

#[test]
fn files_of_ktt_that_cannot_be_used_are_refused() {
    let refused = |edit: &dyn Fn(&mut Json)| {
        let mut file = ktt();
        edit(&mut file);
        recording(&file.to_string()).unwrap_err()
    };
    let message = refused(&|f| f["Metadata"]["TimeUnit"] = json!("Fortnights"));
    assert!(message.contains("this unit of time is not known"), "{message}");
    let message = refused(&|f| f["Results"][1]["Status"] = json!("Tired"));
    assert!(message.contains("result 2 of this file") && message.contains("`Tired` is no status"));
    let message = refused(&|f| f["Results"][4]["KernelName"] = json!("scan"));
    assert!(
        message.contains("several kernels") && message.contains("`reduce`, `scan`"),
        "{message}"
    );
    let message = refused(&|f| f["Results"][0]["TotalDuration"] = json!(null));
    assert!(message.contains("it has no `TotalDuration`"), "{message}");
    assert!(refused(&|f| f["Results"] = json!(3)).contains("`Results` is missing"));
}
