use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::outcome::Status;
use crate::space::{Parameter, Space};
use crate::strategy::StrategyKind;
use crate::value::Value;

fn space() -> SharedSpace {
    let ints = |name: &str, n: i64| Parameter::new(name, (0..n).map(Value::Int));
    Arc::new(Space::new(vec![ints("x", 20), ints("y", 20)], &["x != y".to_string()]).unwrap())
}

fn time(configuration: &Configuration) -> f64 {
    let at = |name: &str| configuration.get(name).and_then(Value::number).unwrap_or(0.0);
    1.0 + (at("x") - 4.0).abs() + 2.0 * (at("y") - 15.0).abs()
}

fn options(strategy: StrategyKind, evaluations: u64, workers: usize) -> Options {
    let budget = Budget { evaluations: Some(evaluations), time: None };
    Options { strategy, budget, workers, seed: 5, ..Options::default() }
}

#[test]
fn several_may_be_out_and_come_back_in_any_order() {
    for (kind, name, _) in StrategyKind::ALL {
        let mut tuner = Tuner::new(space(), options(kind, 80, 4)).unwrap();
        let mut out: Vec<Trial> = vec![];
        let mut seen = HashSet::new();
        let end = loop {
            match tuner.ask() {
                Ask::Try(trial) if out.len() < 4 => {
                    assert!(seen.insert(trial.id), "{name} asks twice");
                    out.push(trial);
                }
                Ask::Try(trial) => {
                    tuner.give_back(trial.id);
                    let done = out.swap_remove(1);
                    tuner.tell(done.id, &Outcome::correct(vec![time(&done.configuration)]));
                }
                Ask::Wait => {
                    let done = out.pop().expect("something is out when the tuner waits");
                    tuner.tell(done.id, &Outcome::correct(vec![time(&done.configuration)]));
                }
                Ask::Finished(why) => break why,
            }
        };
        assert_eq!((end, seen.len()), (Finished::Evaluations, 80), "{name}");
    }
}

#[test]
fn runners_work_side_by_side() {
    let calls = AtomicU64::new(0);
    let runner = || {
        |configuration: &Configuration| {
            calls.fetch_add(1, Ordering::Relaxed);
            Outcome::correct(vec![time(configuration)])
        }
    };
    let mut tuner = Tuner::new(space(), options(StrategyKind::ModelGuided, 60, 3)).unwrap();
    let mut observed = 0;
    let end = run_on_all(&mut tuner, vec![runner(), runner(), runner()], |_, _| {
        observed += 1;
        true
    });
    assert_eq!((end, observed, calls.load(Ordering::Relaxed)), (Finished::Evaluations, 60, 60));
    assert_eq!(tuner.progress().in_flight, 0);
    assert!(tuner.best().unwrap().1 <= 2.0, "{:?}", tuner.progress().best);
}

/// Predicts what the space of these tests costs, times ten away from the best.
#[derive(Debug)]
struct Knows;

impl PriorModel for Knows {
    fn predict(&self, configuration: &Configuration) -> f64 {
        10f64.powf(time(configuration))
    }
}

#[test]
fn what_a_model_thinks_hopeless_is_not_tried_before_anything_has_come_back() {
    let prior: Option<Prior> = Some(Arc::new(Knows));
    let options = Options { prior, ..options(StrategyKind::ModelGuided, 100, 12) };
    let mut tuner = Tuner::new(space(), options).unwrap();
    for _ in 0..12 {
        let Ask::Try(trial) = tuner.ask() else { panic!("there is room for more") };
        // Fourteen of the 380 cost less than 5.
        assert!(time(&trial.configuration) < 5.0, "{}", trial.configuration);
    }
}

#[test]
fn a_resumed_search_takes_the_same_way_and_measures_nothing_twice() {
    for (kind, name, _) in StrategyKind::ALL {
        let whole = {
            let mut order = vec![];
            let mut tuner = Tuner::new(space(), options(kind, 60, 1)).unwrap();
            let mut runner = |c: &Configuration| Outcome::correct(vec![time(c)]);
            run(&mut tuner, &mut runner, |trial, _| {
                order.push(trial.id);
                true
            });
            order
        };
        let space = space();
        let cost = |id: &ConfigId| time(&space.configuration(*id));
        let known = whole[..25].iter().map(|id| (*id, cost(id))).collect();
        let options = Options { known, ..options(kind, 60, 1) };
        let mut tuner = Tuner::new(space.clone(), options).unwrap();
        let mut order = vec![];
        let mut runner = |c: &Configuration| Outcome::correct(vec![time(c)]);
        run(&mut tuner, &mut runner, |trial, _| {
            order.push(trial.id);
            true
        });
        assert_eq!(order, whole[25..], "{name}");
    }
}

#[test]
fn a_search_ends_when_it_is_told_and_when_time_is_up() {
    let mut tuner = Tuner::new(space(), options(StrategyKind::RandomSample, 300, 1)).unwrap();
    let mut runner = |c: &Configuration| Outcome::correct(vec![time(c)]);
    let mut count = 0;
    let end = run(&mut tuner, &mut runner, |_, _| {
        count += 1;
        count < 7
    });
    assert_eq!((end, count), (Finished::Stopped, 7));
    let budget = Budget { evaluations: None, time: Some(Duration::ZERO) };
    let mut tuner = Tuner::new(space(), Options { budget, ..Options::default() }).unwrap();
    assert_eq!(tuner.ask(), Ask::Finished(Finished::Time));
}

#[test]
fn progress_tells_the_best_and_the_failures() {
    let mut tuner = Tuner::new(space(), options(StrategyKind::BruteForce, 10, 1)).unwrap();
    let mut runner = |c: &Configuration| match c.get("y").and_then(Value::number) {
        Some(3.0) => Outcome::failed(Status::Correctness, "wrong"),
        _ => Outcome::correct(vec![time(c)]),
    };
    run(&mut tuner, &mut runner, |_, _| true);
    let progress = tuner.progress();
    assert_eq!((progress.evaluated, progress.failed, progress.limit), (10, 1, 10));
    let (best, cost) = progress.best.unwrap();
    assert_eq!((best.to_string().as_str(), cost), ("x=0 y=10", 15.0));
}

#[test]
fn a_space_without_configurations_is_refused() {
    let x = Parameter::new("x", [Value::Int(1)]);
    let empty = Arc::new(Space::new(vec![x], &["x > 1".to_string()]).unwrap());
    let error = Tuner::new(empty, Options::default()).err().unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        ("W404", "no configuration satisfies the constraints")
    );
}
