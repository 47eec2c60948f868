//! A search whose process is killed at random moments loses nothing that was recorded, and measures none of it again.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use warpsmith_tune::outcome::{Outcome, Record, Status};
use warpsmith_tune::rng::Rng;
use warpsmith_tune::space::{Configuration, Parameter, SharedSpace, Space};
use warpsmith_tune::store::{Filter, ProblemKey, Store};
use warpsmith_tune::tuner::{Budget, Finished, Options, Tuner, run};
use warpsmith_tune::value::Value;

/// Set for the process that is to be killed: where it works.
const DIRECTORY: &str = "WARPSMITH_TUNE_KILLED_IN";
const EVALUATIONS: u64 = 400;

fn space() -> SharedSpace {
    let ints = |name: &str, n: i64| Parameter::new(name, (0..n).map(Value::Int));
    Arc::new(Space::new(vec![ints("x", 40), ints("y", 40)], &["x != y".to_string()]).unwrap())
}

fn key() -> ProblemKey {
    ProblemKey { kernel: "fake".into(), ..ProblemKey::default() }
}

fn log(directory: &Path, name: &str, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(directory.join(name)).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn lines(directory: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(directory.join(name)).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

/// The tuner under test: says what it measures before, and what it has recorded after.
fn tune(directory: &Path) -> Finished {
    let space = space();
    let mut store = Store::open(&directory.join("store")).unwrap();
    let problem = store.problem(&key()).unwrap();
    let known = store.known(problem, &space).unwrap();
    let budget = Budget { evaluations: Some(EVALUATIONS), time: None };
    let strategy = warpsmith_tune::strategy::StrategyKind::GeneticAlgorithm;
    let options = Options { strategy, known, budget, seed: 3, ..Options::default() };
    let mut tuner = Tuner::new(space, options).unwrap();
    let mut runner = |configuration: &Configuration| {
        log(directory, "measured", &configuration.key());
        std::thread::sleep(Duration::from_micros(300));
        let number = |name: &str| configuration.get(name).and_then(Value::number).unwrap_or(0.0);
        if number("x") == 7.0 {
            return Outcome::failed(Status::Runtime, "planted");
        }
        Outcome::correct(vec![1.0 + (number("x") - 20.0).abs() + number("y")])
    };
    run(&mut tuner, &mut runner, |trial, outcome| {
        let record =
            Record { configuration: trial.configuration.clone(), outcome: outcome.clone() };
        store.record(problem, &record).unwrap();
        log(directory, "recorded", &trial.configuration.key());
        true
    })
}

/// Not a test of its own: the body of the process that the other test kills.
#[test]
fn the_process_that_is_killed() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let end = tune(&PathBuf::from(&directory));
        log(Path::new(&directory), "finished", &format!("{end:?}"));
    }
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn stored(directory: &Path) -> HashSet<String> {
    let mut store = Store::open(&directory.join("store")).unwrap();
    store.check().unwrap();
    let problem = store.problem(&key()).unwrap();
    let records = store.results(problem, Filter::default()).unwrap();
    records.into_iter().map(|r| r.configuration.key()).collect()
}

#[test]
fn twenty_kills_lose_nothing_and_repeat_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path();
    let mut rng = Rng::new(std::process::id().into());
    let mut kills = 0;
    while kills < 20 {
        let before = stored(directory);
        let measured = lines(directory, "measured").len();
        let mut child = start(directory);
        std::thread::sleep(Duration::from_micros(rng.below(25_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let after = stored(directory);
        assert!(before.is_subset(&after), "kill {kills}: recorded rows are gone");
        for key in lines(directory, "recorded") {
            assert!(after.contains(&key), "kill {kills}: {key} was reported as recorded");
        }
        for key in &lines(directory, "measured")[measured..] {
            assert!(!before.contains(key), "kill {kills}: {key} was measured again");
        }
    }
    let before = stored(directory);
    let measured = lines(directory, "measured").len();
    assert!(start(directory).wait().unwrap().success());
    if before.len() < EVALUATIONS as usize {
        assert_eq!(lines(directory, "finished").last().map(String::as_str), Some("Evaluations"));
    }
    for key in &lines(directory, "measured")[measured..] {
        assert!(!before.contains(key), "{key} was measured again");
    }
    assert_eq!(stored(directory).len() as u64, EVALUATIONS);
    // The same search without interruption tries the same configurations.
    let whole = tempfile::tempdir().unwrap();
    tune(whole.path());
    assert_eq!(stored(whole.path()), stored(directory));
}
