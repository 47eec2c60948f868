//! How well the device model orders what was measured: for every problem of a store whose schedule file is given, the
//! rank correlation, where the fastest stands in the model's order, and with `--list` every configuration; with
//! `--registers` the model is told the compiler's count of registers.
//!
//! ```text
//! cargo run --release --example model -- results.sqlite nest.c nest.sched [--list] [--registers]
//! ```

use std::path::Path;

use serde_json::Value as Json;
use warpsmith::device::{Gpu, KernelProfile, predict};
use warpsmith::ir::SourceMap;
use warpsmith::opt::kernel::OfGpu;
use warpsmith::opt::{Kernel, Schedule, lower, schedule};
use warpsmith::tune;
use warpsmith::tune::TuneRequest;
use warpsmith::tune::sizes::Point;
use warpsmith_tune::outcome::Record;
use warpsmith_tune::store::{Filter, Store};
use warpsmith_tune::value::Value;

/// As many are looked at of each problem, in the order they were recorded.
const MOST: usize = 200;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [store, source, space, rest @ ..] = args.as_slice() else {
        eprintln!("model STORE NEST.c NEST.sched [--list] [--registers]");
        std::process::exit(2);
    };
    let list = rest.iter().any(|a| a == "--list");
    let compiled = rest.iter().any(|a| a == "--registers");
    let mut sources = SourceMap::new();
    let kernel = tune::kernel(&TuneRequest::new(source), &mut sources).expect("a C function");
    let text = std::fs::read_to_string(space).expect("a schedule file");
    let file = sources.add(space.clone(), text);
    let space = schedule::space::parse(&sources, file).expect("a schedule");
    let store = Store::open(Path::new(store)).expect("a store");
    for problem in store.problems().expect("problems") {
        if problem.key.kernel != kernel.func().name {
            continue;
        }
        let arguments: Json = serde_json::from_str(&problem.key.arguments).expect("arguments");
        let point: Point = serde_json::from_value(arguments["sizes"][0].clone()).expect("a size");
        let records = store.results(problem.id, Filter::default()).expect("results");
        let name = problem.key.device.trim_start_matches("NVIDIA ");
        let gpu = Gpu::find(name).expect("a GPU of the model");
        let shared = gpu.architecture().shared_per_block_optin;
        let of_gpu = OfGpu { shared, multiprocessors: gpu.sms };
        let kernel = Kernel { gpu: of_gpu, ..kernel.clone() };
        let of = |r: &Record| {
            let steps = steps(&space, r)?;
            Some(Row::of(&kernel, &steps, r, gpu, &point, &sources, compiled))
        };
        let ran = records.iter().filter(|r| r.outcome.cost().is_finite());
        let mut rows: Vec<Row> = ran.filter_map(of).take(MOST).collect();
        if rows.len() > 9 {
            report(&problem.key.kernel, &point, &mut rows, list);
        }
    }
}

fn steps(space: &schedule::space::Space, record: &Record) -> Option<Schedule> {
    let values = record.configuration.values.iter().map(|(name, value)| match value {
        Value::Int(n) => Some((name.clone(), *n)),
        _ => None,
    });
    space.schedule(&values.collect::<Option<_>>()?).ok()
}

/// A configuration with its times in milliseconds.
struct Row {
    name: String,
    measured: f64,
    predicted: f64,
    /// The units that take longest, and what the model and the compiler say of registers.
    why: String,
}

impl Row {
    fn of(
        kernel: &Kernel,
        steps: &Schedule,
        record: &Record,
        gpu: &Gpu,
        point: &Point,
        sources: &SourceMap,
        compiled: bool,
    ) -> Row {
        let replayed = schedule::replay(kernel, steps, sources).expect("it was legal");
        let program = lower::lower(&replayed, sources).expect("it was legal");
        let (mut ms, mut why) = (0.0, vec![]);
        for (times, mut profile) in tune::choice::launches(&program, point) {
            if compiled {
                let known = |name: &str| record.outcome.compilation.get(name)?.as_u64();
                let u32_of = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
                profile.registers = known("registers").map_or(profile.registers, u32_of);
                profile.spill_bytes = known("spills").map_or(0, u32_of);
            }
            let Ok(p) = predict(gpu, &profile) else { continue };
            ms += times * p.time_s * 1e3;
            let parts = p.parts.iter().take(4);
            let parts = parts.map(|p| format!("{:?} {:.3}", p.bound, p.seconds * 1e3));
            why.push(format!(
                "{} w{} {}",
                registers(&profile, record),
                p.occupancy.warps,
                parts.collect::<Vec<_>>().join(" ")
            ));
        }
        let name = record.configuration.key();
        Row { name, measured: record.outcome.cost(), predicted: ms, why: why.join("; ") }
    }
}

fn registers(profile: &KernelProfile, record: &Record) -> String {
    let compiled = &record.outcome.compilation;
    format!("r{}/{} s{}", profile.registers, compiled["registers"], compiled["spills"])
}

fn report(kernel: &str, point: &Point, rows: &mut [Row], list: bool) {
    let (measured, predicted): (Vec<f64>, Vec<f64>) =
        rows.iter().map(|r| (r.measured, r.predicted)).unzip();
    rows.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let least = measured.iter().copied().fold(f64::INFINITY, f64::min);
    let place = rows.iter().position(|r| r.measured == least).unwrap_or(0) + 1;
    let ten = rows.iter().take(10).map(|r| r.measured).fold(f64::INFINITY, f64::min);
    println!(
        "{kernel} {point:?}: {} configurations, Spearman {:.3}, the fastest is number {place} of the model, the best of its first ten takes {:.3} of the least",
        rows.len(),
        correlation(&ranks(&measured), &ranks(&predicted)),
        ten / least
    );
    if list {
        for r in rows {
            println!(
                "{:9.4} {:9.4}  {:5.2} {} | {}",
                r.predicted,
                r.measured,
                r.predicted / r.measured,
                r.name,
                r.why
            );
        }
    }
}

/// Places in the ascending order, equal values sharing theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = values.iter().filter(|v| *v < x).count();
        let equal = values.iter().filter(|v| *v == x).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
