//! `warpsmith results` on stores that cannot be written, are damaged or hold what a terminal would obey; and results that
//! leave a store and come back.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{command, copy_program};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use warpsmith_tune::outcome::{Measurement, Outcome, Record, Status};
use warpsmith_tune::space::Configuration;
use warpsmith_tune::store::{Filter, ProblemKey, Store};
use warpsmith_tune::value::Value;

/// stdout and stderr of a command that ends with a status.
fn said(output: &Output, status: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    (out, err)
}

fn run(folder: &Path, args: &[&str]) -> (String, String) {
    said(&command(folder, args).output().unwrap(), 0)
}

fn configuration(values: &[(&str, Value)]) -> Configuration {
    Configuration { values: values.iter().map(|(n, v)| (n.to_string(), v.clone())).collect() }
}

fn key(kernel: &str) -> ProblemKey {
    ProblemKey {
        kernel: kernel.into(),
        source_hash: "0123".into(),
        schedule_hash: "4567".into(),
        arguments: "{\"sizes\":[{\"n\":1024}]}".into(),
        device: "Some GPU".into(),
        driver: "13.0".into(),
        compiler: "13.0.88".into(),
    }
}

/// Results of every kind, with values of every type.
fn records() -> Vec<Record> {
    let mut all = vec![];
    for (at, status) in Status::ALL.into_iter().enumerate() {
        let mut outcome = match status {
            Status::Correct => Outcome::correct(vec![0.25, 0.5, 0.125]),
            _ => Outcome::failed(status, format!("planted: {}", status.name())),
        };
        outcome.timestamp = Some("2026-01-01T00:00:00Z".into());
        outcome.phases.compile_ms = Some(12.5);
        outcome.compilation.insert("registers".into(), json!(40));
        outcome.extra.insert("objectives".into(), json!(["time", "energy"]));
        outcome.measurements.push(Measurement {
            name: "energy".into(),
            value: json!(2.5),
            unit: Some("J".into()),
            kind: None,
        });
        let values = [
            ("x", Value::Int(at as i64)),
            ("mode", Value::from(if at % 2 == 0 { "1,2" } else { "row" })),
            ("fast", Value::Bool(at % 2 == 0)),
            ("scale", Value::Float(at as f64)),
        ];
        all.push(Record { configuration: configuration(&values), outcome });
    }
    // Correct and without a time; and one whose key in a cache is that of the first.
    let odd = [("x", Value::from("0")), ("mode", Value::from("1,2"))];
    let more = [("fast", Value::from("True")), ("scale", Value::from("0.0"))];
    let mut untimed = Outcome::of(Status::Correct);
    untimed.timestamp = Some("t".into());
    all.push(Record { configuration: configuration(&[odd, more].concat()), outcome: untimed });
    all
}

fn store(folder: &Path, key: &ProblemKey, records: &[Record]) {
    let mut store = Store::open(&folder.join("results.sqlite")).unwrap();
    let problem = store.problem(key).unwrap();
    store.record_all(problem, records).unwrap();
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), &key("blur"), &records());
    folder
}

#[test]
fn every_format_gives_back_all_results_and_their_problem() {
    let folder = folder();
    let folder = folder.path();
    for (format, file) in [("t4", "a.json"), ("t4=ktt", "b.json"), ("kt-cache", "c.json")] {
        run(folder, &["results", "--export", format, "--out", file]);
        // Into another store, and as nothing new into the own one.
        let other = format!("{file}.sqlite");
        run(folder, &["results", "--store", &other, "--import", file]);
        let read = Store::open(&folder.join(&other)).unwrap();
        let problems = read.problems().unwrap();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].key, key("blur"), "{format}");
        assert_eq!(read.results(problems[0].id, Filter::default()).unwrap(), records(), "{format}");
        let (out, _) = run(folder, &["results", "--import", file]);
        assert!(
            out.contains(": 0 results of `blur` on Some GPU, now problem 1; 7 were there"),
            "{out}"
        );
    }
}

#[test]
fn a_file_about_something_else_does_not_go_to_the_problem_it_was_written_from() {
    let folder = folder();
    let folder = folder.path();
    run(folder, &["results", "--export", "kt-cache", "--out", "c.json"]);
    let text = std::fs::read_to_string(folder.join("c.json")).unwrap();
    let changed =
        text.replacen("\"device_name\": \"Some GPU\"", "\"device_name\": \"Other GPU\"", 1);
    std::fs::write(folder.join("c.json"), changed).unwrap();
    let (out, _) = run(folder, &["results", "--import", "c.json"]);
    assert!(out.contains("7 results of `blur` on Other GPU, now problem 2"), "{out}");
}

#[test]
fn an_export_can_be_reported_as_json() {
    let folder = folder();
    let folder = folder.path();
    let export = ["results", "--export", "kt-cache", "--format", "json"];
    let (out, _) = run(folder, &[&export[..], &["--out", "c.json"]].concat());
    let report: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(report["outputs"], json!(["c.json"]));
    assert_eq!(report["exported"], json!({"problem": 1, "results": 7, "format": "kt-cache"}));
    let (_, err) = said(&command(folder, &export).output().unwrap(), 2);
    assert!(
        err.contains("error[W435]: stdout cannot hold the exported file and a report"),
        "{err}"
    );
}

/// Runs as somebody who may write neither the store nor its folder: the superuser may write everything.
fn as_a_stranger(folder: &Path, args: &[&str]) -> Output {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        mode(&entry.unwrap().path(), 0o444);
    }
    mode(folder, 0o555);
    let usual = command(folder, args);
    // Our own program may lie where a stranger cannot reach it.
    let program = tempfile::tempdir().unwrap();
    mode(program.path(), 0o755);
    let copy = program.path().join("warpsmith");
    copy_program(Path::new(env!("CARGO_BIN_EXE_warpsmith")), &copy);
    let mut stranger = Command::new(&copy);
    stranger
        .args(args)
        .current_dir(folder)
        .envs(usual.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| {
        use std::os::unix::fs::MetadataExt;
        m.uid() == 0
    });
    if is_root {
        stranger.uid(65534).gid(65534);
    }
    let output = stranger.output();
    mode(folder, 0o755);
    output.unwrap()
}

#[test]
fn a_store_that_cannot_be_written_is_listed_and_exported() {
    let folder = folder();
    let path = folder.path();
    // As after a crash: the last rows are in the log alone.
    let mut writer = Store::open(&path.join("results.sqlite")).unwrap();
    let problem = writer.problem(&key("late")).unwrap();
    writer.record_all(problem, &records()).unwrap();
    let crashed = tempfile::tempdir().unwrap();
    for name in ["results.sqlite", "results.sqlite-wal"] {
        std::fs::copy(path.join(name), crashed.path().join(name)).unwrap();
    }
    assert!(std::fs::metadata(crashed.path().join("results.sqlite-wal")).unwrap().len() > 0);
    for args in [&["results"][..], &["results", "--problem", "late"]] {
        let (out, _) = said(&as_a_stranger(crashed.path(), args), 0);
        assert!(out.contains("late"), "{out}");
    }
    let args = ["results", "--problem", "late", "--export", "kt-cache"];
    let (out, _) = said(&as_a_stranger(crashed.path(), &args), 0);
    assert!(out.contains("CompilationFailedConfig"), "{out}");
    // What wants to write says that it cannot.
    std::fs::write(crashed.path().join("c.json"), out).unwrap();
    let import = ["results", "--import", "c.json"];
    let (_, err) = said(&as_a_stranger(crashed.path(), &import), 2);
    assert!(err.contains("error[W42"), "{err}");
}

/// Changes the database behind the store's back.
fn change(folder: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(folder.join("results.sqlite")).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn damaged_rows_are_named_and_the_others_listed() {
    let folder = folder();
    let folder = folder.path();
    let list = ["results", "--problem", "1", "--format", "json"];
    for (sql, row, column) in [
        ("UPDATE result SET details = '{\"time_ms\": ' WHERE id = 3", 3, "details"),
        ("UPDATE result SET configuration = 'x=1' WHERE id = 3", 3, "configuration"),
        ("UPDATE result SET status = 'fine', time_ms = 'soon' WHERE id = 5", 3, "configuration"),
        ("UPDATE result SET samples_ms = x'00ff' WHERE id = 6", 3, "configuration"),
    ] {
        change(folder, sql);
        let (out, err) = run(folder, &list);
        let report: Json = serde_json::from_str(&out).unwrap();
        assert_eq!(report["damaged"][0], json!({"row": row, "column": column}), "{sql}");
        assert!(
            err.contains("warning[W422]") && err.contains(&format!("{row} (column `{column}`)")),
            "{err}"
        );
    }
    let report: Json = serde_json::from_str(&run(folder, &list).0).unwrap();
    assert_eq!(report["results"].as_array().unwrap().len(), 4);
    assert_eq!(report["damaged"].as_array().unwrap().len(), 3);
    let (out, err) = run(folder, &["results", "--export", "kt-cache"]);
    assert_eq!(serde_json::from_str::<Json>(&out).unwrap()["cache"].as_object().unwrap().len(), 4);
    assert!(err.contains("3 results of the store are damaged"), "{err}");
    // A problem's own columns, too.
    change(folder, "UPDATE problem SET kernel = x'ff62', device = 7, space = x'00' WHERE id = 1");
    let (out, _) = run(folder, &["results"]);
    assert!(out.contains("\u{fffd}b"), "{out}");
    run(folder, &["results", "--export", "t1"]);
    // What is damaged is measured again, and then it is whole.
    let mut store = Store::open(&folder.join("results.sqlite")).unwrap();
    let problem = store.problems().unwrap()[0].id;
    for record in &records() {
        store.record(problem, record).unwrap();
    }
    let damaged: Vec<i64> = store.damaged(problem).unwrap().iter().map(|d| d.row).collect();
    assert_eq!(damaged, [3], "its configuration is not known any more");
}

#[test]
fn nothing_that_is_stored_acts_on_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let evil = "k\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\r\nend";
    let mut outcome = Outcome::failed(Status::Runtime, evil);
    outcome.timestamp = Some(evil.into());
    let record = Record { configuration: configuration(&[(evil, Value::from(evil))]), outcome };
    let key = ProblemKey { device: evil.into(), arguments: evil.into(), ..key(evil) };
    store(folder, &key, &[record]);
    let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    for args in [
        &["results"][..],
        &["results", "--problem", "1"],
        &["results", "--problem", evil],
        &["results", "--format", "json"],
        &["results", "--problem", "1", "--format", "json"],
        &["results", "--export", "t4"],
        &["results", "--export", "kt-cache"],
        &["results", "--export", "t1"],
    ] {
        let (out, err) = run(folder, args);
        for text in [&out, &err] {
            assert!(!text.contains(acts), "{args:?}: {text:?}");
        }
        assert!(out.contains("end"), "{args:?}: {out}");
    }
    let (_, err) =
        said(&command(folder, &["results", "--problem", "\u{1b}[31m"]).output().unwrap(), 2);
    assert!(!err.contains(acts), "{err:?}");
    // A table has a line for each of its rows, whatever names hold.
    assert_eq!(run(folder, &["results"]).0.lines().count(), 3);
    // And the names are as they were in what is written.
    run(folder, &["results", "--export", "kt-cache", "--out", "c.json"]);
    run(folder, &["results", "--store", "other.sqlite", "--import", "c.json"]);
    let other = Store::open(&folder.join("other.sqlite")).unwrap();
    assert_eq!(other.problems().unwrap()[0].key, key);
}

const KERNEL: &str = r#"
extern "C" __global__ void fill(float *y)
{
    const int i = blockIdx.x * block + threadIdx.x;
    if (i < 64) y[i] = 1.0f;
}
"#;

/// A cache that Kernel Tuner might have written for the problem below on the emulated GPU.
fn cache(device: &str, size: i64, parameter: &str) -> String {
    let entry = |block: i64, ms: f64| {
        json!({parameter: block, "time": ms, "times": [ms], "compile_time": 1.0, "verification_time": 0,
               "benchmark_time": 1.0, "strategy_time": 0, "framework_time": 1.0, "timestamp": "t"})
    };
    json!({
        "device_name": device, "kernel_name": "fill", "problem_size": [size, 1], "tune_params_keys": [parameter],
        "tune_params": {parameter: [32, 64, 128]}, "objective": "time",
        "cache": {"32": entry(32, 0.5), "64": entry(64, 0.25)},
    })
    .to_string()
}

/// A search goes on from what another tuner has measured, where that is about the same.
#[test]
fn a_resumed_search_finds_imported_results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("fill.cu"), KERNEL).unwrap();
    let problem = json!({
        "ConfigurationSpace": {"TuningParameters": [{"Name": "block", "Type": "int", "Values": "[32, 64, 128]"}]},
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "fill", "KernelFile": "fill.cu", "ProblemSize": [64],
            "GridDivX": ["block"], "LocalSize": {"X": "block"},
            "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 64}],
        },
    });
    std::fs::write(folder.join("p.json"), problem.to_string()).unwrap();
    let tune = |more: &[&str]| -> Json {
        let usual = [
            "tune",
            "p.json",
            "--device",
            "emulator",
            "--strategy",
            "brute_force",
            "--format",
            "json",
        ];
        serde_json::from_str(&run(folder, &[&usual, more].concat()).0).unwrap()
    };
    let device = tune(&["--dry-run"])["device"]["name"].as_str().unwrap().to_string();
    for (name, text) in [
        ("size.json", cache(&device, 128, "block")),
        ("device.json", cache("Other GPU", 64, "block")),
        ("parameters.json", cache(&device, 64, "width")),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
        run(folder, &["results", "--import", name]);
    }
    assert_eq!(tune(&["--resume", "--dry-run"])["search"]["recalled"], 0);
    std::fs::write(folder.join("right.json"), cache(&device, 64, "block")).unwrap();
    run(folder, &["results", "--import", "right.json"]);
    let report = tune(&["--resume"]);
    assert_eq!(
        (&report["search"]["recalled"], &report["search"]["evaluated"]),
        (&json!(2), &json!(3))
    );
    assert!(report["notes"].to_string().contains("2 results are taken from problem 4"), "{report}");
    // Without --resume all is measured, and what was exported of that is found again, whatever store it was in.
    assert_eq!(tune(&[])["search"]["recalled"], 0);
    let stores = Store::open(&folder.join("results.sqlite")).unwrap();
    let own =
        stores.problems().unwrap().into_iter().find(|p| !p.key.source_hash.is_empty()).unwrap();
    let number = own.id.number().to_string();
    run(folder, &["results", "--problem", &number, "--export", "kt-cache", "--out", "own.json"]);
    std::fs::remove_file(folder.join("results.sqlite")).unwrap();
    for log in ["results.sqlite-wal", "results.sqlite-shm"] {
        let _ = std::fs::remove_file(folder.join(log));
    }
    drop(stores);
    run(folder, &["results", "--import", "own.json"]);
    assert_eq!(tune(&["--resume"])["search"]["recalled"], 3);
}
