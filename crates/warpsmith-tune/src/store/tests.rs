use serde_json::json;

use super::*;
use crate::outcome::{Measurement, Phases};
use crate::space::Parameter;
use crate::value::Value;

fn key(kernel: &str) -> ProblemKey {
    ProblemKey {
        kernel: kernel.into(),
        source_hash: fingerprint("__global__ void k() {}"),
        device: "H200".into(),
        ..ProblemKey::default()
    }
}

fn configuration(x: i64, mode: &str) -> Configuration {
    Configuration { values: vec![("x".into(), Value::Int(x)), ("mode".into(), Value::from(mode))] }
}

fn full_outcome() -> Outcome {
    let mut outcome = Outcome::correct(vec![0.1 + 0.2, 1.0 / 3.0, 7.0]);
    outcome.phases = Phases { compile_ms: Some(12.5), ..Phases::default() };
    outcome.compilation.insert("registers".into(), json!(96));
    outcome.measurements.push(Measurement {
        name: "GFLOP/s".into(),
        value: json!(1234.5),
        unit: None,
        kind: Some("Double".into()),
    });
    outcome.timestamp = Some("2026-01-01T00:00:00Z".into());
    outcome.extra.insert("note".into(), json!({"a": [1, null]}));
    outcome
}

#[test]
fn what_is_recorded_is_there_after_opening_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.sqlite");
    let records = vec![
        Record { configuration: configuration(1, "row"), outcome: full_outcome() },
        Record {
            configuration: configuration(2, "it's"),
            outcome: Outcome::failed(Status::Correctness, "element 3 differs"),
        },
    ];
    {
        let mut store = Store::open(&path).unwrap();
        let problem = store.problem(&key("k")).unwrap();
        for record in &records {
            assert!(store.record(problem, record).unwrap());
        }
    }
    let mut store = Store::open(&path).unwrap();
    store.check().unwrap();
    let problem = store.problem(&key("k")).unwrap();
    assert_eq!(store.results(problem, Filter::default()).unwrap(), records);
    let found = store.find(problem, &configuration(1, "row")).unwrap();
    assert_eq!(found, Some(full_outcome()));
    assert_eq!(store.find(problem, &configuration(3, "row")).unwrap(), None);
}

#[test]
fn the_first_outcome_of_a_configuration_stays() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("s")).unwrap();
    let problem = store.problem(&key("k")).unwrap();
    let record = |time| Record {
        configuration: configuration(1, "row"),
        outcome: Outcome::correct(vec![time]),
    };
    assert!(store.record(problem, &record(2.0)).unwrap());
    assert!(!store.record(problem, &record(1.0)).unwrap());
    let other = store.problem(&key("other")).unwrap();
    assert!(store.record(other, &record(1.0)).unwrap());
    let best: Vec<Option<f64>> = store.problems().unwrap().iter().map(|s| s.best_ms).collect();
    assert_eq!(best, [Some(2.0), Some(1.0)]);
}

#[test]
fn each_part_of_the_key_makes_another_problem() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("s")).unwrap();
    let first = store.problem(&key("k")).unwrap();
    assert_eq!(store.problem(&key("k")).unwrap(), first);
    let changes: [fn(&mut ProblemKey); 6] = [
        |k| k.source_hash = fingerprint("other"),
        |k| k.schedule_hash = "s".into(),
        |k| k.arguments = "n=1024".into(),
        |k| k.device = "A100".into(),
        |k| k.driver = "580".into(),
        |k| k.compiler = "13.0".into(),
    ];
    for change in changes {
        let mut changed = key("k");
        change(&mut changed);
        assert_ne!(store.problem(&changed).unwrap(), first, "{changed:?}");
    }
    assert_eq!(store.problems().unwrap().len(), 7);
}

#[test]
fn results_can_be_filtered_and_become_known_costs() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("s")).unwrap();
    let problem = store.problem(&key("k")).unwrap();
    for (x, time) in [(1, 3.0), (2, 1.0), (4, 2.0)] {
        let outcome = Outcome::correct(vec![time]);
        store.record(problem, &Record { configuration: configuration(x, "row"), outcome }).unwrap();
    }
    let outcome = Outcome::failed(Status::Timeout, "10 s");
    store.record(problem, &Record { configuration: configuration(8, "row"), outcome }).unwrap();
    let times = |filter| -> Vec<Option<f64>> {
        store.results(problem, filter).unwrap().iter().map(|r| r.outcome.time_ms).collect()
    };
    assert_eq!(times(Filter { fastest: Some(2), status: None }), [Some(1.0), Some(2.0)]);
    assert_eq!(times(Filter { fastest: None, status: Some(Status::Timeout) }), [None]);
    let parameters = vec![
        Parameter::new("x", [1, 2, 8].map(Value::Int)),
        Parameter::new("mode", ["row", "col"].map(Value::from)),
    ];
    let space = Space::new(parameters, &[]).unwrap();
    let known = store.known(problem, &space).unwrap();
    let costs: Vec<f64> = known.iter().map(|(_, cost)| *cost).collect();
    assert_eq!(costs, [3.0, 1.0, f64::INFINITY]);
    let summary = &store.problems().unwrap()[0];
    assert_eq!((summary.results, summary.failed, summary.best_ms), (4, 1, Some(1.0)));
}

#[test]
fn a_store_of_the_first_layout_is_taken_over_with_its_results() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    {
        let mut store = Store::open(&path).unwrap();
        let problem = store.problem(&key("k")).unwrap();
        let outcome = full_outcome();
        store.record(problem, &Record { configuration: configuration(1, "row"), outcome }).unwrap();
    }
    // What the first layout lacked.
    let old = "ALTER TABLE problem DROP COLUMN space; PRAGMA user_version = 1";
    Connection::open(&path).unwrap().execute_batch(old).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| Store::open(&path).unwrap());
        }
    });
    let mut store = Store::open(&path).unwrap();
    let problem = store.problem(&key("k")).unwrap();
    assert_eq!(store.results(problem, Filter::default()).unwrap()[0].outcome, full_outcome());
    assert_eq!(store.space(problem).unwrap(), None);
    store.set_space(problem, "{}").unwrap();
    assert_eq!(Store::open(&path).unwrap().space(problem).unwrap().as_deref(), Some("{}"));
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    let text = "not a database, and longer than a header of one: ".repeat(40);
    std::fs::write(&path, &text).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.code, "W420");
    assert!(error.message.contains("file is not a database"), "{}", error.message);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let other = directory.path().join("other.sqlite");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE bills (sum REAL)").unwrap();
    let error = Store::open(&other).unwrap_err();
    assert!(error.message.ends_with("it is a database of something else"), "{}", error.message);
    let newer = directory.path().join("newer.sqlite");
    drop(Store::open(&newer).unwrap());
    Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    let error = Store::open(&newer).unwrap_err();
    assert!(error.message.contains("newer version (layout 9"), "{}", error.message);
    assert!(Store::open(&directory.path().join("no/such/folder/s")).is_err());
}

#[test]
fn several_writers_share_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    std::thread::scope(|scope| {
        for worker in 0..4i64 {
            let path = &path;
            scope.spawn(move || {
                let mut store = Store::open(path).unwrap();
                let problem = store.problem(&key("k")).unwrap();
                for x in 0..25 {
                    let outcome = Outcome::correct(vec![1.0]);
                    let configuration = configuration(worker * 100 + x, "row");
                    assert!(store.record(problem, &Record { configuration, outcome }).unwrap());
                }
            });
        }
    });
    let mut store = Store::open(&path).unwrap();
    let problem = store.problem(&key("k")).unwrap();
    assert_eq!(store.results(problem, Filter::default()).unwrap().len(), 100);
}

#[test]
fn several_processes_make_a_store() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = directory.path().join(round.to_string());
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    Store::open(&path).unwrap();
                });
            }
        });
    }
}

#[test]
fn fingerprints_are_those_of_the_published_hash() {
    // Fowler, Noll and Vo's 128-bit offset basis, and their test vector for "foobar".
    assert_eq!(fingerprint(""), "6c62272e07bb014262b821756295c58d");
    assert_eq!(fingerprint("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

#[test]
fn a_newer_outcome_takes_the_place_of_its_own_configuration_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("s")).unwrap();
    let problem = store.problem(&key("k")).unwrap();
    let record = |x, outcome| Record { configuration: configuration(x, "row"), outcome };
    store.record(problem, &record(1, Outcome::correct(vec![2.0]))).unwrap();
    store.record(problem, &record(2, Outcome::correct(vec![3.0]))).unwrap();
    store.replace(problem, &record(1, Outcome::failed(Status::Runtime, "no"))).unwrap();
    store.replace(problem, &record(4, Outcome::correct(vec![5.0]))).unwrap();
    let rows = store.results(problem, Filter::default()).unwrap();
    let shown: Vec<(Status, Option<f64>)> =
        rows.iter().map(|r| (r.outcome.status, r.outcome.time_ms)).collect();
    let expected =
        [(Status::Runtime, None), (Status::Correct, Some(3.0)), (Status::Correct, Some(5.0))];
    assert_eq!(shown, expected);
    assert_eq!(store.problems().unwrap()[0].failed, 1);
}

#[test]
fn looking_makes_no_store_and_changes_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    assert!(Store::open_to_read(&path).unwrap().is_none());
    assert!(!path.exists());
    let record =
        Record { configuration: configuration(1, "row"), outcome: Outcome::correct(vec![2.0]) };
    {
        let mut store = Store::open(&path).unwrap();
        let problem = store.problem(&key("k")).unwrap();
        store.record(problem, &record).unwrap();
    }
    let mut store = Store::open_to_read(&path).unwrap().unwrap();
    let problem = store.known_problem(&key("k")).unwrap().unwrap();
    assert_eq!(store.known_problem(&key("other")).unwrap(), None);
    assert_eq!(store.results(problem, Filter::default()).unwrap(), std::slice::from_ref(&record));
    assert!(store.replace(problem, &record).is_err());
    std::fs::write(&path, "no database at all, and longer than a header. ".repeat(9)).unwrap();
    assert_eq!(Store::open_to_read(&path).unwrap_err().code, "W420");
}
