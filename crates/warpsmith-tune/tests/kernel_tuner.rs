//! Kernel Tuner continues from our cache files, and we from its. Needs the Python package `kernel_tuner` and a C++
//! compiler; the interpreter is `WARPSMITH_KERNEL_TUNER_PYTHON`, else `python3`.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use warpsmith_ir::SourceMap;
use warpsmith_tune::exchange::{self, Origin, kernel_tuner};
use warpsmith_tune::outcome::{Outcome, Phases, Record, Status};
use warpsmith_tune::replay::Replay;
use warpsmith_tune::space::{Configuration, Parameter};
use warpsmith_tune::store::ProblemKey;
use warpsmith_tune::tuner::{Options, Tuner, run};
use warpsmith_tune::value::Value;

/// The interpreter, where it has the package; else `None`, with the reason on the terminal.
fn python() -> Option<String> {
    let python = std::env::var("WARPSMITH_KERNEL_TUNER_PYTHON").unwrap_or("python3".into());
    let asked = Command::new(&python).args(["-c", "import kernel_tuner"]).output();
    let present = asked.is_ok_and(|answer| answer.status.success());
    if !present {
        eprintln!("skipped: {python} has no package `kernel_tuner`");
    }
    present.then_some(python)
}

/// Lets Kernel Tuner continue a cache: what it measured, and all times at its end.
fn resume(python: &str, cache: &Path) -> Json {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/search/kernel-tuner-resume");
    let directory = cache.parent().unwrap();
    let done =
        Command::new(python).arg(&script).arg(cache).current_dir(directory).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}{err}");
    serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap()
}

fn parameters() -> Vec<Parameter> {
    let ints =
        |name: &str, values: &[i64]| Parameter::new(name, values.iter().copied().map(Value::Int));
    vec![ints("x", &[1, 2, 4, 8]), ints("mode", &[0, 1])]
}

fn configurations() -> Vec<(i64, i64)> {
    [1, 2, 4, 8].into_iter().flat_map(|x| [(x, 0), (x, 1)]).collect()
}

fn record(x: i64, mode: i64) -> Record {
    let values = vec![("x".to_string(), Value::Int(x)), ("mode".to_string(), Value::Int(mode))];
    let mut outcome = match (x, mode) {
        (8, 1) => Outcome::failed(Status::Correctness, "element 0 differs"),
        (8, 0) => Outcome::failed(Status::Compile, "planted"),
        _ => Outcome::correct(vec![(x + 10 * mode) as f64]),
    };
    outcome.phases = Phases { compile_ms: Some(3.0), ..Phases::default() };
    outcome.timestamp = Some("2026-01-01 00:00:00+00:00".into());
    Record { configuration: Configuration { values }, outcome }
}

fn read(path: &Path) -> kernel_tuner::Cache {
    let mut sources = SourceMap::new();
    let file = exchange::open(path, &mut sources).unwrap();
    let text = sources.get(file).unwrap().text.clone();
    let (cache, warnings) = kernel_tuner::read(&text, file).unwrap();
    assert!(warnings.is_empty());
    cache
}

#[test]
fn kernel_tuner_continues_our_caches() {
    let Some(python) = python() else { return };
    for closed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cache.json");
        let known = configurations().into_iter().filter(|c| *c != (4, 1));
        let records: Vec<Record> = known.map(|(x, mode)| record(x, mode)).collect();
        let mut cache =
            kernel_tuner::Cache::new("", "timed", vec![], parameters(), records.clone());
        // Kernel Tuner keeps a size that was given as a number.
        cache.header.insert("problem_size".into(), 64.into());
        // Fields of ours that it does not know.
        let space = Some("{\"ConfigurationSpace\": {}}".to_string());
        let key = ProblemKey { kernel: "timed".into(), ..ProblemKey::default() };
        let origin = Origin { key, space };
        origin.write(&mut cache.header);
        let mut bytes = vec![];
        cache.write(&mut bytes, closed).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let told = resume(&python, &path);
        assert_eq!(told["measured"], serde_json::json!(["4,1"]));
        assert_eq!(told["times"]["4,1"], 14.0);
        assert_eq!(told["times"]["2,0"], 2.0);
        // And back: ours is unchanged, with what was added.
        let again = read(&path);
        assert_eq!(again.records.len(), 8);
        assert_eq!(Origin::read(&again.header), Some(origin));
        for record in &records {
            let same = again.records.iter().find(|r| r.configuration == record.configuration);
            let (ours, theirs) = (&record.outcome, &same.unwrap().outcome);
            assert_eq!((ours.status, &ours.message), (theirs.status, &theirs.message));
            assert_eq!(ours.runtimes_ms, theirs.runtimes_ms);
        }
    }
}

#[test]
fn we_continue_kernel_tuners_caches() {
    let Some(python) = python() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cache.json");
    assert_eq!(resume(&python, &path)["measured"].as_array().unwrap().len(), 8);
    let cache = read(&path);
    cache.check_matches("", "timed", &parameters()).unwrap();
    let replay = Replay::new(cache.into_recording()).unwrap();
    let space = replay.space();
    assert_eq!((space.count(), replay.best_ms()), (8, 1.0));
    let cost = |id| replay.outcome(id).map_or(f64::INFINITY, Outcome::cost);
    let known = space.ids().map(|id| (id, cost(id))).collect();
    let mut tuner = Tuner::new(space, Options { known, ..Options::default() }).unwrap();
    let mut never = |c: &Configuration| -> Outcome { panic!("{c} was measured again") };
    run(&mut tuner, &mut never, |_, _| true);
    assert_eq!(tuner.progress().evaluated, 8);
}
