use std::sync::Arc;

use super::*;
use crate::outcome::{Outcome, Status};
use crate::space::{Configuration, Parameter, Space};
use crate::tuner::{Ask, Budget, Finished, Options, Tuner, run};
use crate::value::Value;

fn space() -> SharedSpace {
    let ints = |name: &str, n: i64| Parameter::new(name, (0..n).map(Value::Int));
    let parameters = vec![ints("x", 12), ints("y", 12), ints("z", 6), ints("w", 2)];
    Arc::new(Space::new(parameters, &["x + y < 20".to_string()]).unwrap())
}

/// A bowl with its bottom at x=7, y=3, z=4, w=1; some configurations fail.
fn bowl(configuration: &Configuration) -> Outcome {
    let at = |name: &str| configuration.get(name).and_then(Value::number).unwrap_or(0.0);
    if at("x") == 2.0 && at("w") == 1.0 {
        return Outcome::failed(Status::Compile, "planted");
    }
    let square = (at("x") - 7.0).powi(2) + (at("y") - 3.0).powi(2) + 2.0 * (at("z") - 4.0).powi(2);
    Outcome::correct(vec![1.0 + square / 10.0 + (1.0 - at("w"))])
}

fn search(kind: StrategyKind, seed: u64, evaluations: u64) -> (Vec<ConfigId>, f64, Finished) {
    let budget = Budget { evaluations: Some(evaluations), time: None };
    let options = Options { strategy: kind, seed, budget, workers: 1, ..Options::default() };
    let mut tuner = Tuner::new(space(), options).unwrap();
    let mut asked = vec![];
    let end = run(&mut tuner, &mut bowl, |trial, _| {
        asked.push(trial.id);
        true
    });
    (asked, tuner.best().map_or(f64::INFINITY, |(_, cost)| cost), end)
}

#[test]
fn each_strategy_tries_each_configuration_once_and_repeats_itself_for_a_seed() {
    for (kind, name, _) in StrategyKind::ALL {
        let (asked, _, end) = search(kind, 11, 60);
        assert_eq!((asked.len(), end), (60, Finished::Evaluations), "{name}");
        let mut distinct = asked.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 60, "{name}");
        assert_eq!(search(kind, 11, 60).0, asked, "{name}");
        if kind != StrategyKind::BruteForce {
            assert_ne!(search(kind, 12, 60).0, asked, "{name}");
        }
    }
}

#[test]
fn strategies_that_learn_beat_chance() {
    let median = |kind| {
        let mut costs: Vec<f64> = (0..7).map(|seed| search(kind, seed, 100).1).collect();
        costs.sort_by(f64::total_cmp);
        costs[3]
    };
    let chance = median(StrategyKind::RandomSample);
    for (kind, name, _) in StrategyKind::ALL {
        if !matches!(kind, StrategyKind::BruteForce | StrategyKind::RandomSample) {
            let reached = median(kind);
            assert!(reached <= chance, "{name}: {reached} against {chance}");
        }
    }
    assert_eq!(median(StrategyKind::ModelGuided), 1.0);
}

#[test]
fn every_strategy_can_try_the_whole_of_a_small_space() {
    let ints = |name: &str, n: i64| Parameter::new(name, (0..n).map(Value::Int));
    let small =
        Arc::new(Space::new(vec![ints("x", 6), ints("y", 5)], &["x != y".to_string()]).unwrap());
    for (kind, name, _) in StrategyKind::ALL {
        let options = Options { strategy: kind, workers: 3, ..Options::default() };
        let mut tuner = Tuner::new(small.clone(), options).unwrap();
        let mut fails = |_: &Configuration| Outcome::failed(Status::Runtime, "always");
        let end = run(&mut tuner, &mut fails, |_, _| true);
        assert_eq!((end, tuner.progress().evaluated), (Finished::Exhausted, 25), "{name}");
        assert_eq!((tuner.progress().failed, tuner.best()), (25, None), "{name}");
    }
}

#[test]
fn names_are_not_mapped_to_other_strategies() {
    for (kind, name, _) in StrategyKind::ALL {
        assert_eq!((StrategyKind::named(name), kind.name()), (Some(kind), name));
    }
    assert_eq!(StrategyKind::named("skopt"), None);
    assert_eq!(StrategyKind::named("exhaustive"), Some(StrategyKind::BruteForce));
}

#[test]
fn a_strategy_ends_with_its_tuner() {
    let mut tuner = Tuner::new(space(), Options::default()).unwrap();
    assert!(matches!(tuner.ask(), Ask::Try(_)));
    drop(tuner);
}

#[test]
fn strategies_are_known_by_plain_words_however_they_are_written() {
    for (name, meant) in [
        ("exhaustive", StrategyKind::BruteForce),
        ("Deterministic", StrategyKind::BruteForce),
        ("random", StrategyKind::RandomSample),
        ("local_search", StrategyKind::GreedyIls),
        ("local search", StrategyKind::GreedyIls),
        ("annealing", StrategyKind::SimulatedAnnealing),
        ("Simulated annealing", StrategyKind::SimulatedAnnealing),
        ("Mcmc", StrategyKind::SimulatedAnnealing),
        ("ProfileBased", StrategyKind::ModelGuided),
        ("genetic", StrategyKind::GeneticAlgorithm),
        ("model-guided", StrategyKind::ModelGuided),
        ("bayesian optimization", StrategyKind::BayesianOptimisation),
    ] {
        assert_eq!(StrategyKind::named(name), Some(meant), "{name}");
    }
    for (kind, name, _) in StrategyKind::ALL {
        assert_eq!(StrategyKind::named(name), Some(kind));
        assert_eq!(StrategyKind::named(&name.replace('_', " ").to_uppercase()), Some(kind));
    }
    assert_eq!(StrategyKind::named("luck"), None);
}
