//! How close to the best of a recorded space strategies get: medians over seeds, as comma-separated values.
//!
//! `replay FILE… [--strategies a,b] [--seeds N] [--budgets 50,200] [--jobs N]`

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use warpsmith_ir::SourceMap;
use warpsmith_tune::exchange;
use warpsmith_tune::replay::Replay;
use warpsmith_tune::strategy::StrategyKind;
use warpsmith_tune::tuner::{Ask, Budget, Options, Tuner};

struct Arguments {
    files: Vec<String>,
    strategies: Vec<StrategyKind>,
    seeds: u64,
    budgets: Vec<u64>,
    jobs: usize,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = Arguments {
        files: vec![],
        strategies: vec![StrategyKind::default()],
        seeds: 100,
        budgets: vec![50, 200],
        jobs: 2,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match word.as_str() {
            "--strategies" => {
                let named = |n: &str| StrategyKind::named(n).ok_or(format!("no strategy `{n}`"));
                given.strategies = value()?.split(',').map(named).collect::<Result<_, _>>()?;
            }
            "--seeds" => given.seeds = number(value()?)?,
            "--jobs" => given.jobs = number(value()?)? as usize,
            "--budgets" => {
                let list = value()?;
                given.budgets =
                    list.split(',').map(|n| number(n.to_string())).collect::<Result<_, _>>()?;
            }
            _ => given.files.push(word),
        }
    }
    Ok(given)
}

/// The best cost after each budget, when the search knows of that budget.
fn best(replay: &Replay, strategy: StrategyKind, seed: u64, evaluations: u64) -> f64 {
    let budget = Budget { evaluations: Some(evaluations), time: None };
    let options = Options { strategy, seed, budget, workers: 1, ..Options::default() };
    let Ok(mut tuner) = Tuner::new(replay.space(), options) else { return f64::INFINITY };
    while let Ask::Try(trial) = tuner.ask() {
        let cost = replay.outcome(trial.id).map_or(f64::INFINITY, |o| o.cost());
        tuner.tell_cost(trial.id, cost);
    }
    tuner.best().map_or(f64::INFINITY, |(_, cost)| cost)
}

/// Results for all seeds, computed on `jobs` threads.
fn all(replay: &Replay, strategy: StrategyKind, evaluations: u64, given: &Arguments) -> Vec<f64> {
    let next = AtomicU64::new(0);
    let found = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..given.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= given.seeds {
                        return;
                    }
                    let cost = best(replay, strategy, seed, evaluations);
                    if let Ok(mut found) = found.lock() {
                        found.push(cost);
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by(f64::total_cmp);
    found
}

fn main() -> ExitCode {
    let given = match arguments() {
        Ok(given) => given,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    println!(
        "file,strategy,evaluations,seeds,median_ms,quarter_ms,three_quarters_ms,at_best,best_ms,seconds,mean_ms"
    );
    for file in &given.files {
        let mut sources = SourceMap::new();
        let replay = exchange::open(Path::new(file), &mut sources)
            .and_then(|id| exchange::read_recording(&sources, id))
            .and_then(|(recording, _)| Replay::new(recording));
        let replay = match replay {
            Ok(replay) => replay,
            Err(diagnostic) => {
                eprintln!("{}", diagnostic.render(&sources, false));
                return ExitCode::from(2);
            }
        };
        let name = Path::new(file).file_name().map_or(file.clone(), |n| n.to_string_lossy().into());
        let name = name.split(".json").next().unwrap_or_default().to_string();
        for &strategy in &given.strategies {
            for &evaluations in &given.budgets {
                let start = Instant::now();
                let costs = all(&replay, strategy, evaluations, &given);
                let at = |share: f64| costs[((costs.len() - 1) as f64 * share).round() as usize];
                let middle = (at(0.499) + at(0.501)) / 2.0;
                let hits = costs.iter().filter(|c| **c <= replay.best_ms()).count();
                println!(
                    "{name},{},{evaluations},{},{middle},{},{},{hits},{},{:.1},{}",
                    strategy.name(),
                    costs.len(),
                    at(0.25),
                    at(0.75),
                    replay.best_ms(),
                    start.elapsed().as_secs_f64(),
                    costs.iter().sum::<f64>() / costs.len() as f64,
                );
            }
        }
    }
    ExitCode::SUCCESS
}
