use proptest::prelude::*;
use serde_json::json;

use super::t4::{Dialect, Results};
use super::*;
use crate::outcome::{Measurement, Outcome, Phases, Status};

/// What a file says, or the message about it as shown to the user.
fn told<T>(
    name: &str,
    text: &str,
    read: impl Fn(&str, FileId) -> Result<T, Diagnostic>,
) -> Result<T, String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    read(text, file).map_err(|d| d.render(&sources, false))
}

const CACHE: &str = r#"{
"device_name": "NVIDIA A100",
"kernel_name": "convolution_kernel",
"problem_size": [
4096,
4096
],
"tune_params_keys": [
"block_size_x",
"layout"
],
"tune_params": {
"block_size_x": [
16,
32,
64
],
"layout": [
"row"
]
},
"objective": "time",
"cache": {
"16,row": {"block_size_x": 16, "layout": "row", "time": 3.875, "times": [3.976, 3.878], "compile_time": 918.6, "verification_time": 0, "benchmark_time": 126.4, "GFLOP/s": 1948.2, "strategy_time": 0, "framework_time": 105.2, "timestamp": "2023-12-22 09:54:05.502007+00:00"},
"32,row": {"block_size_x": 32, "layout": "row", "time": "RuntimeFailedConfig", "compile_time": 8.9, "verification_time": 0, "benchmark_time": 0.4, "strategy_time": 0, "framework_time": 2.0, "timestamp": "2023-12-22 09:54:06"},
"64,row": {"block_size_x": 64, "layout": "row", "__error__": "CompilationFailedConfig", "compile_time": 8.9, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0, "framework_time": 2.0, "timestamp": "2023-12-22 09:54:07"}}
}"#;

fn read_cache(text: &str) -> Result<(kernel_tuner::Cache, Vec<Diagnostic>), String> {
    told("cache.json", text, kernel_tuner::read)
}

fn written(cache: &kernel_tuner::Cache, closed: bool) -> String {
    let mut bytes = vec![];
    cache.write(&mut bytes, closed).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_cache_is_read_with_failures_of_both_ages() {
    let (cache, warnings) = read_cache(CACHE).unwrap();
    assert!(warnings.is_empty());
    assert_eq!((cache.device(), cache.kernel()), (Some("NVIDIA A100"), Some("convolution_kernel")));
    assert_eq!(cache.parameters[0].values, [16, 32, 64].map(Value::Int));
    let statuses: Vec<Status> = cache.records.iter().map(|r| r.outcome.status).collect();
    assert_eq!(statuses, [Status::Correct, Status::Runtime, Status::Compile]);
    let first = &cache.records[0];
    assert_eq!((first.outcome.time_ms, first.outcome.runtimes_ms.len()), (Some(3.875), 2));
    assert_eq!(first.configuration.key(), "16,row");
    assert_eq!(first.outcome.measurements[0].name, "GFLOP/s");
    assert_eq!(first.outcome.phases.compile_ms, Some(918.6));
}

/// A text as JSON in which all numbers are floats: 2 and 2.0 are the same number.
fn json_of(text: &str) -> Json {
    fn floats(json: Json) -> Json {
        match json {
            Json::Number(x) => json!(x.as_f64()),
            Json::Array(list) => list.into_iter().map(floats).collect(),
            Json::Object(map) => map.into_iter().map(|(k, v)| (k, floats(v))).collect(),
            other => other,
        }
    }
    floats(serde_json::from_str(text).unwrap())
}

#[test]
fn a_cache_written_again_says_the_same() {
    let (cache, _) = read_cache(CACHE).unwrap();
    assert_eq!(json_of(&written(&cache, true)), json_of(CACHE));
    let open = written(&cache, false);
    assert!(open.ends_with("}},") || open.ends_with("},"), "{open}");
    assert_eq!(read_cache(&open).unwrap().0, cache);
    // What Kernel Tuner looks at to tell closed from open.
    assert!(written(&cache, true).ends_with("}\n}"));
}

#[test]
fn entries_can_be_appended_to_an_open_cache() {
    let (whole, _) = read_cache(CACHE).unwrap();
    let start = kernel_tuner::Cache { records: vec![], ..whole.clone() };
    let mut bytes = written(&start, false).into_bytes();
    for record in &whole.records {
        kernel_tuner::append(&mut bytes, record, &whole.parameters).unwrap();
    }
    assert_eq!(read_cache(&String::from_utf8(bytes).unwrap()).unwrap().0, whole);
}

#[test]
fn a_cache_that_was_cut_short_keeps_its_whole_entries() {
    let whole = written(&read_cache(CACHE).unwrap().0, false);
    let cut = whole.find("\"64,row\"").unwrap() + 40;
    let (cache, warnings) = read_cache(&whole[..cut]).unwrap();
    assert_eq!(cache.records.len(), 2);
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].message, "the end of this cache is missing");
    // Wherever it is cut after the header, it is read or refused in one message, and never more is lost than an entry.
    let header = whole.find("\"cache\"").unwrap() + 10;
    for end in (header..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        let (cache, _) = read_cache(&whole[..end]).unwrap();
        let complete = whole[..end].matches("\"timestamp\": ").count();
        let complete = complete.max(whole[..end].matches("\"timestamp\":").count());
        assert!(
            cache.records.len() + 1 >= complete,
            "{end}: {} of {complete}",
            cache.records.len()
        );
    }
}

#[test]
fn a_cache_that_is_none_is_refused_with_its_place() {
    let refused = |from: &str, to: &str| read_cache(&CACHE.replacen(from, to, 1)).unwrap_err();
    expect_test::expect![[r#"
        error[W412]: this file is not what it should be
          --> cache.json:24:27
           |
        24 | "16,row": {"block_size_x" 16, "layout": "row", "time": 3.875, "times": [3.976, 3.878], "compile_time": 918.6, "verification_time": 0...
           |                           ^ expected `:`"#]]
    .assert_eq(&refused("_size_x\": 16,", "_size_x\" 16,"));
    assert!(
        refused("\"layout\": \"row\", \"time\": 3", "\"time\": 3").contains("it has no `layout`")
    );
    assert!(refused("\"time\": 3.875, ", "").contains("it has neither a time nor an error"));
    assert!(refused("tune_params_keys", "keys").contains("`tune_params_keys` is missing"));
    assert!(refused("\"cache\"", "\"cash\"").contains("`cache` is missing"));
    assert!(read_cache("").unwrap_err().contains("W412"));
    assert!(read_cache("[]").unwrap_err().contains("W412"));
}

#[test]
fn a_cache_of_something_else_is_not_continued() {
    let (cache, _) = read_cache(CACHE).unwrap();
    let parameters = &cache.parameters;
    assert!(cache.check_matches("NVIDIA A100", "convolution_kernel", parameters).is_ok());
    let message = |device: &str, kernel: &str, parameters: &[Parameter]| {
        cache.check_matches(device, kernel, parameters).unwrap_err().message
    };
    assert_eq!(
        message("NVIDIA H200", "convolution_kernel", parameters),
        "the cache is for another device: `NVIDIA A100`, and this is `NVIDIA H200`"
    );
    assert!(message("NVIDIA A100", "gemm", parameters).contains("another kernel"));
    assert!(
        message("NVIDIA A100", "convolution_kernel", &parameters[..1])
            .contains("set of parameters")
    );
}

#[test]
fn numbers_that_json_lacks_are_read() {
    let text = CACHE.replacen("3.875", "NaN", 1).replacen("1948.2", "-Infinity", 1);
    let (cache, _) = read_cache(&text).unwrap();
    assert!(cache.records[0].outcome.time_ms.unwrap().is_nan());
    assert_eq!(cache.records[0].outcome.cost(), f64::INFINITY);
}

const HUB: &str = r#"{"metadata": {"timeunit": "miliseconds", "device": "A100"}, "results": [
 {"timestamp": "t0", "configuration": {"x": 16, "f": 0.5},
  "times": {"compilation": 918.5, "framework": 105.2, "search_algorithm": 0, "validation": 0, "runtimes": [3.9, 3.8]},
  "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 3.875, "unit": ""}],
  "objectives": ["time"]},
 {"timestamp": "t1", "configuration": {"x": 8, "f": 1.0},
  "times": {"compilation": 8.5, "framework": 2, "search_algorithm": 0, "validation": 0},
  "invalidity": "runtime", "correctness": 0, "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}],
  "objectives": ["time"]}], "schema_version": "1.0.0"}"#;

fn read_t4(text: &str) -> Result<Results, String> {
    told("results.json", text, t4::read)
}

fn t4_text(results: &Results, dialect: Dialect) -> String {
    let mut bytes = vec![];
    results.write(&mut bytes, dialect).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn t4_of_the_hub_is_read() {
    let results = read_t4(HUB).unwrap();
    let first = &results.records[0].outcome;
    assert_eq!((first.time_ms, first.phases.compile_ms), (Some(3.875), Some(918.5)));
    assert_eq!(results.records[1].outcome.status, Status::Runtime);
    assert_eq!(results.records[1].outcome.cost(), f64::INFINITY);
    let recording = results.into_recording();
    assert_eq!(recording.device.as_deref(), Some("A100"));
    assert_eq!(recording.parameters[0].values, [8, 16].map(Value::Int));
}

#[test]
fn both_dialects_of_t4_are_read_and_written() {
    let ktt = r#"{"schema_version": "1.1.0", "metadata": {"timeunit": "microseconds"}, "results": [
        {"configuration": {"MWG": "32", "KIND": "row"}, "times": {"compilation_time": 2000, "runtimes": [1500]},
         "invalidity": "correct", "correctness": 1,
         "measurements": [{"name": "time", "value": 1500, "unit": "us"}, {"name": "warps", "value": 4, "unit": "", "type": "UnsignedInt"}]}]}"#;
    let results = read_t4(ktt).unwrap();
    let record = &results.records[0];
    assert_eq!(record.configuration.to_string(), "MWG=32 KIND='row'");
    assert_eq!((record.outcome.time_ms, record.outcome.phases.compile_ms), (Some(1.5), Some(2.0)));
    assert_eq!(read_t4(&t4_text(&results, Dialect::Ktt)).unwrap(), results);
    assert_eq!(read_t4(&t4_text(&results, Dialect::Schema)).unwrap(), results);
    let json: Json = serde_json::from_str(&t4_text(&results, Dialect::Ktt)).unwrap();
    let written = &json["results"][0];
    assert_eq!(written["configuration"]["MWG"], "32");
    assert_eq!(written["measurements"][0]["name"], "time");
    assert_eq!(written["measurements"][1]["type"], "UnsignedInt");
    assert_eq!(
        (&written["times"]["compilation"], &written["times"]["compilation_time"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn t4_that_is_none_is_refused() {
    let refused = |from: &str, to: &str| read_t4(&HUB.replacen(from, to, 1)).unwrap_err();
    assert!(refused("results", "result").contains("`results` is missing"));
    assert!(refused("\"correct\"", "\"fine\"").contains("`fine` is no invalidity"));
    assert!(refused("\"times\"", "\"tims\"").contains("it has no object `times`"));
    assert!(refused("miliseconds", "fortnights").contains("this unit of time is not known"));
    assert!(refused("1.0.0", "2.0.0").contains("version 2.0.0 is not known"));
    assert!(refused("}], \"sch", "}, \"sch").contains("W412"));
}

/// The rules of the schema for T4 1.1.0: which fields are required, and what they hold.
fn assert_valid_t4(json: &Json) {
    let version = json["schema_version"].as_str().unwrap();
    assert!(
        version.split('.').count() == 3 && version.split('.').all(|n| n.parse::<u32>().is_ok())
    );
    assert!(json["metadata"].is_object() && json["metadata"]["timeunit"] == "milliseconds");
    for result in json["results"].as_array().unwrap() {
        assert!(result["configuration"].is_object());
        assert!(result.get("timestamp").is_none_or(Json::is_string));
        assert!(result["objectives"].as_array().unwrap().iter().all(Json::is_string));
        let times = result["times"].as_object().unwrap();
        for name in ["compilation_time", "framework", "search_algorithm", "validation"] {
            assert!(times.get(name).is_none_or(Json::is_number), "{name}");
        }
        assert!(times["runtimes"].as_array().unwrap().iter().all(Json::is_number));
        assert!(Status::named(result["invalidity"].as_str().unwrap()).is_some());
        assert!(result["correctness"].is_number());
        for m in result["measurements"].as_array().unwrap() {
            assert!(m["name"].is_string() && m["unit"].is_string());
            assert!(m["value"].is_number() || m["value"].is_string() || m["value"].is_array());
            let types =
                ["Int", "UnsignedInt", "Double", "Percent", "Throughput", "UtilizationLevel"];
            assert!(m.get("type").is_none_or(|t| types.contains(&t.as_str().unwrap())));
        }
        if let Some(data) = result.get("compilation_data") {
            for name in ["max_work_group_size", "registers", "global_size", "local_size"] {
                assert!(data.get(name).is_some(), "{name}");
            }
        }
    }
}

#[test]
fn t4_holds_what_the_schema_has_no_place_for() {
    let mut outcome = Outcome::of(Status::Runtime);
    outcome.runtimes_ms = vec![1.5, f64::INFINITY];
    outcome.phases.compile_ms = Some(f64::NAN);
    outcome.compilation.insert("registers".into(), json!(64));
    let values = vec![("x".to_string(), Value::Int(1))];
    let record = Record { configuration: Configuration { values }, outcome };
    let results = Results { records: vec![record], ..Results::default() };
    let text = t4_text(&results, Dialect::Schema);
    let json: Json = serde_json::from_str(&text).unwrap();
    assert_valid_t4(&json);
    let read = &read_t4(&text).unwrap().records[0].outcome;
    assert_eq!(read.runtimes_ms, [1.5, f64::INFINITY]);
    assert_eq!(read.compilation["registers"], json!(64));
    let mut complete = results.clone();
    for name in ["max_work_group_size", "local_memory_size", "private_memory_size"] {
        complete.records[0].outcome.compilation.insert(name.into(), json!(1));
    }
    let sizes = json!({"x": 1, "y": 1, "z": 1});
    for (name, value) in
        [("constant_memory_size", json!(0)), ("global_size", sizes.clone()), ("local_size", sizes)]
    {
        complete.records[0].outcome.compilation.insert(name.into(), value);
    }
    let json: Json = serde_json::from_str(&t4_text(&complete, Dialect::Schema)).unwrap();
    assert_eq!(json["results"][0]["compilation_data"]["registers"], json!(64));
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9i64..5000).prop_map(Value::Int),
        (0.001f64..1e6).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Bool),
        "[a-z]{1,6}".prop_map(Value::Str),
    ]
}

fn phase() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(0.0f64..1e5)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let phases = (phase(), phase(), phase(), phase(), phase()).prop_map(|(a, b, c, d, e)| Phases {
        compile_ms: a,
        verification_ms: b,
        benchmark_ms: c,
        search_ms: d,
        framework_ms: e,
    });
    let samples = proptest::collection::vec(1e-4f64..1e4, 1..5);
    let measurement = (0usize..5).prop_map(|n| {
        let all = [
            ("GFLOP/s", json!(12.5), None, None),
            ("power", json!(12.5), Some("W"), Some("Double")),
            ("board", json!("a"), None, Some("Text")),
            ("sensor", json!(null), None, None),
        ];
        type Given = (&'static str, Json, Option<&'static str>, Option<&'static str>);
        let measurement = |(name, value, unit, kind): &Given| Measurement {
            name: name.to_string(),
            value: value.clone(),
            unit: unit.map(str::to_string),
            kind: kind.map(str::to_string),
        };
        all[..n].iter().map(measurement).collect::<Vec<_>>()
    });
    let text = proptest::option::of("[ -~é\n]{1,20}");
    (0usize..6, samples, phases, measurement, text, any::<bool>()).prop_map(
        |(status, runtimes_ms, phases, measurements, message, compiled)| {
            let status = Status::ALL[status];
            let mut outcome = match status {
                Status::Correct => Outcome::correct(runtimes_ms),
                _ => Outcome::of(status),
            };
            outcome.phases = phases;
            outcome.measurements = measurements;
            outcome.message = message;
            outcome.timestamp = Some("2026-01-01T00:00:00Z".into());
            if compiled {
                outcome.compilation.insert("registers".into(), json!(64));
            }
            outcome
        },
    )
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let record = (value(), value(), outcome()).prop_map(|(x, y, outcome)| {
        let values = vec![("x".to_string(), x), ("mode y".to_string(), y)];
        Record { configuration: Configuration { values }, outcome }
    });
    proptest::collection::vec(record, 1..6).prop_map(|mut records| {
        let mut keys = std::collections::HashSet::new();
        records.retain(|r| keys.insert(r.configuration.key()));
        records
    })
}

/// A cache has a zero where a phase was not measured.
fn with_zeros(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        let p = &mut record.outcome.phases;
        for phase in [
            &mut p.compile_ms,
            &mut p.verification_ms,
            &mut p.benchmark_ms,
            &mut p.search_ms,
            &mut p.framework_ms,
        ] {
            phase.get_or_insert(0.0);
        }
    }
    records
}

proptest! {
    #[test]
    fn t4_loses_nothing(records in records()) {
        let results = Results { records, ..Results::default() };
        let text = t4_text(&results, Dialect::Schema);
        assert_valid_t4(&serde_json::from_str(&text).unwrap());
        // Nothing but strings could be KTT's, whose numbers are strings.
        let strings = |r: &Record| r.configuration.values.iter().all(|(_, v)| matches!(v, Value::Str(_)));
        if !results.records.iter().all(strings) {
            prop_assert_eq!(&read_t4(&text).unwrap(), &results);
        }
        assert_valid_t4(&serde_json::from_str(&t4_text(&results, Dialect::Ktt)).unwrap());
    }

    #[test]
    fn caches_lose_nothing(records in records(), closed in any::<bool>()) {
        let parameters = parameters_of(records.iter().map(|r| &r.configuration));
        let cache = kernel_tuner::Cache::new("H200", "k", vec![64, 64], parameters, with_zeros(records));
        let (read, warnings) = read_cache(&written(&cache, closed)).unwrap();
        prop_assert!(warnings.is_empty());
        prop_assert_eq!(read, cache);
    }

    #[test]
    fn no_text_of_a_file_panics(at in 0usize..2000, what in "[\"{}\\[\\]:,a0.]{0,3}") {
        for text in [CACHE, HUB, T1] {
            let bytes = text.as_bytes();
            let cut = at.min(bytes.len());
            let rest = &bytes[(cut + 2).min(bytes.len())..];
            let damaged = [&bytes[..cut], what.as_bytes(), rest].concat();
            let damaged = String::from_utf8_lossy(&damaged);
            let _ = read_cache(&damaged);
            let _ = read_t4(&damaged);
            let _ = told("t1.json", &damaged, t1::Problem::read);
            let _ = kind(&damaged);
        }
    }
}

const T1: &str = r#"{
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[16 * i for i in range(1, 17)]", "Default": 16},
            {"Name": "use_padding", "Type": "int", "Values": "[0, 1]"},
            {"Name": "scale", "Type": "float", "Values": "[1, 0.5]"},
            {"Name": "filter_width", "Type": "int", "Values": "[15]"}
        ],
        "Conditions": [
            {"Expression": "use_padding==0 or block_size_x % 32 != 0", "Parameters": ["use_padding", "block_size_x"]}
        ]
    },
    "KernelSpecification": {
        "Language": "CUDA", "CompilerOptions": ["-std=c++11"], "KernelName": "conv", "KernelFile": "conv.cu",
        "GlobalSizeType": "CUDA", "LocalSize": {"X": "block_size_x"},
        "GlobalSize": {"X": "(ProblemSize[0] + block_size_x - 1) // block_size_x", "Y": "2"},
        "GridDivX": ["block_size_x"], "ProblemSize": [4096, 4096], "SharedMemory": 0, "Stream": null,
        "Arguments": [
            {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant",
             "Size": "(ProblemSize[0]+max(filter_width)-1) * ProblemSize[1]", "FillValue": 0.0}
        ],
        "ReferenceArguments": [{"TargetName": "out", "ValidationMethod": "AbsoluteDifference", "ValidationThreshold": 0.001}]
    },
    "Search": {"Name": "genetic_algorithm"},
    "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 100}],
    "General": {"TimeUnit": "Milliseconds"}
}
"#;

fn read_t1(text: &str) -> Result<t1::Problem, String> {
    told("problem.json", text, t1::Problem::read)
}

#[test]
fn a_problem_is_read_with_its_sizes() {
    let problem = read_t1(T1).unwrap();
    assert_eq!(problem.parameters[0].values.len(), 16);
    assert_eq!(problem.parameters[2].values, [Value::Float(1.0), Value::Float(0.5)]);
    assert_eq!(problem.defaults[0], Some(Value::Int(16)));
    let mut sources = SourceMap::new();
    let file = sources.add("problem.json", T1);
    let space = problem.space(T1, file).unwrap();
    assert_eq!(space.count(), (16 + 8) * 2);
    let configuration = space.configuration(space.ids().next().unwrap());
    let grid = problem.size(&problem.kernel.global_size[0], &configuration).unwrap();
    assert_eq!(grid, Value::Int(256));
    let elements = problem.argument_size(problem.kernel.arguments[0].size.as_ref().unwrap());
    assert_eq!(elements.unwrap(), Value::Int(4110 * 4096));
    assert_eq!(problem.kernel.global_size[1..], ["2".to_string(), "1".to_string()]);
    assert_eq!(problem.kernel.references[0].threshold, Some(0.001));
    assert_eq!(problem.strategy.as_deref(), Some("genetic_algorithm"));
    assert_eq!(problem.budgets, [t1::BudgetLimit::ConfigurationCount(100)]);
    let single = T1.replace(
        "[{\"Type\": \"ConfigurationCount\", \"BudgetValue\": 100}]",
        "{\"Type\": \"ConfigurationCount\", \"BudgetValue\": 100}",
    );
    assert_ne!(single, T1);
    assert_eq!(read_t1(&single).unwrap().budgets, problem.budgets);
}

#[test]
fn a_problem_written_again_says_the_same() {
    assert_eq!(json_of(&read_t1(T1).unwrap().write()), json_of(T1));
    let parameters = vec![
        Parameter::new("x", [1, 2].map(Value::Int)),
        Parameter::new("mode", ["a b", "it's"].map(Value::from)),
    ];
    let ours =
        t1::Problem::new("gemm", "gemm.cu", parameters, vec!["x > 1 or mode == 'a b'".into()]);
    let again = read_t1(&ours.write()).unwrap();
    assert_eq!((&again.parameters, &again.constraints), (&ours.parameters, &ours.constraints));
}

#[test]
fn mistakes_in_a_problem_are_shown_where_they_are() {
    let refused = |from: &str, to: &str| read_t1(&T1.replacen(from, to, 1)).unwrap_err();
    expect_test::expect![[r#"
        error[W400]: this expression is not understood
         --> problem.json:4:90
          |
        4 |             {"Name": "block_size_x", "Type": "int", "Values": "[16 * i for i in range(1, n)]", "Default": 16},
          |                                                                                          ^ a name without a value"#]]
    .assert_eq(&refused("1, 17", "1, n"));
    expect_test::expect![[r#"
        error[W400]: this expression is not understood
          --> problem.json:15:68
           |
        15 |         "GlobalSizeType": "CUDA", "LocalSize": {"X": "block_size_x && 2"},
           |                                                                    ^ an operator or the end is wanted here
           |
           = help: write `and`"#]]
    .assert_eq(&refused("\"block_size_x\"},", "\"block_size_x && 2\"},"));
    assert!(refused("\"KernelName\": \"conv\",", "").contains("a text `KernelName` is wanted"));
    assert!(refused("[1, 0.5]", "['a']").contains("`float` is wanted"));
    assert!(refused("ConfigurationCount", "Eternity").contains("this kind of budget is not known"));
    let text = T1.replacen("block_size_x % 32", "block_size_z % 32", 1);
    let mut sources = SourceMap::new();
    let file = sources.add("problem.json", text.as_str());
    let error = t1::Problem::read(&text, file).unwrap().space(&text, file).unwrap_err();
    expect_test::expect![[r#"
        error[W400]: this expression is not understood
          --> problem.json:10:47
           |
        10 |             {"Expression": "use_padding==0 or block_size_z % 32 != 0", "Parameters": ["use_padding", "block_size_x"]}
           |                                               ^^^^^^^^^^^^ `block_size_z` is no parameter
           |
           = help: the parameters are `block_size_x`, `use_padding`, `scale`, `filter_width`"#]]
    .assert_eq(&error.render(&sources, false));
}

#[test]
fn kinds_of_files_are_told_apart() {
    assert_eq!(
        [CACHE, HUB, T1].map(kind),
        [Some(Kind::KernelTunerCache), Some(Kind::T4), Some(Kind::T1)]
    );
    assert_eq!(kind("{}"), None);
    let refused = told("x.json", "{\"a\": 1}", |text, file| {
        let mut sources = SourceMap::new();
        sources.add("x.json", text);
        read_recording(&sources, file)
    });
    assert!(refused.unwrap_err().contains("these are no recorded results"));
}

#[test]
fn compressed_files_are_unpacked_and_damaged_ones_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cache.json.gz");
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, CACHE.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(&path, &packed).unwrap();
    let mut sources = SourceMap::new();
    let file = open(&path, &mut sources).unwrap();
    let (recording, _) = read_recording(&sources, file).unwrap();
    assert_eq!(recording.records.len(), 3);
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    assert!(open(&path, &mut sources).unwrap_err().message.contains("damaged gzip data"));
    let absent = open(&directory.path().join("absent"), &mut sources).unwrap_err();
    assert_eq!(absent.code, "W410");
}

#[test]
fn a_recording_is_replayed() {
    let (cache, _) = read_cache(CACHE).unwrap();
    let mut replay = crate::replay::Replay::new(cache.into_recording()).unwrap();
    let space = replay.space();
    assert_eq!((space.count(), replay.best_ms()), (3, 3.875));
    let costs: Vec<f64> = space
        .ids()
        .map(|id| crate::outcome::Runner::evaluate(&mut replay, &space.configuration(id)).cost())
        .collect();
    assert_eq!(costs, [3.875, f64::INFINITY, f64::INFINITY]);
    let nothing = crate::replay::Replay::new(Recording::default()).unwrap_err();
    assert_eq!(nothing.message, "cannot replay this: nothing is recorded");
}
