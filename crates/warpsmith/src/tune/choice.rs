//! The choice of a schedule without a GPU: the device model ranks what the templates offer.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use warpsmith_device::{Gpu, KernelProfile, predict};
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::schedule::StepKind;
use warpsmith_opt::schedule::template::{alternatives, schedule_of};
use warpsmith_opt::{Kernel, Program, Schedule, lower, schedule};

use super::profile;
use super::sizes::Point;

/// A schedule with more steps must promise at least this much less time to be taken instead of a simpler one: the
/// model is right about the order of two kernels only when they are this far apart.
const WORTH: f64 = 0.85;

/// A schedule with its predicted times, one for each size.
#[derive(Clone, Debug)]
pub struct Choice {
    pub schedule: Schedule,
    pub seconds: Vec<f64>,
    /// The same for the direct translation.
    pub direct: Vec<f64>,
    /// Schedules that were compared.
    pub compared: usize,
    /// How the values of parameters were chosen, for a schedule that has some.
    pub explored: Option<Explored>,
}

/// The space of a schedule with parameters, and what was found there.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The chosen values, as text.
    pub values: String,
    /// Combinations of values, before the constraints.
    pub combinations: u128,
    /// Those that the constraints allow, as many as were listed.
    pub allowed: usize,
    /// All that are allowed were listed.
    pub complete: bool,
    /// Those that are legal and can run, of the compared ones.
    pub legal: usize,
}

/// The schedule of least predicted time, nest by nest; over several sizes, of least geometric mean.
///
/// # Errors
/// What is wrong with the marks of the loops.
pub fn choose(
    kernel: &Kernel,
    gpu: &Gpu,
    sizes: &[Point],
    sources: &SourceMap,
) -> Result<Choice, Vec<Diagnostic>> {
    let direct = schedule::derive(kernel, sources)?;
    let mut parts: Vec<Vec<StepKind>> = direct.steps.iter().map(|s| vec![s.kind.clone()]).collect();
    let base = times(kernel, &direct, gpu, sizes, sources);
    let mut best = base.clone();
    let mut compared = 1;
    let mut state = kernel.clone();
    for at in 0..parts.len() {
        let Some(root) = state.marked_roots().first().copied() else { break };
        let mut found = parts[at].clone();
        let offered = alternatives(&state, root, sources);
        let asked = |steps: &Vec<StepKind>| {
            let mut all = parts.clone();
            all[at] = steps.clone();
            times(kernel, &schedule_of(&all), gpu, sizes, sources)
        };
        for (steps, seconds) in offered.iter().zip(on_all_cores(&offered, asked)) {
            compared += usize::from(seconds.is_some());
            let gain = match (&seconds, &best) {
                (Some(s), Some(b)) => {
                    ratio(s, b) < if found.len() < steps.len() { WORTH } else { 1.0 }
                }
                _ => false,
            };
            if gain {
                (found, best) = (steps.clone(), seconds);
            }
        }
        parts[at] = found;
        for step in &parts[at] {
            match schedule::take(&state, step, sources) {
                Ok(next) => state = next.kernel,
                Err(_) => {
                    return Ok(Choice {
                        schedule: direct,
                        seconds: vec![],
                        direct: vec![],
                        compared,
                        explored: None,
                    });
                }
            }
        }
    }
    let schedule = schedule_of(&parts);
    Ok(Choice {
        schedule,
        seconds: best.unwrap_or_default(),
        direct: base.unwrap_or_default(),
        compared,
        explored: None,
    })
}

/// What a function says of each item, asked on all cores; the order is that of the items.
pub(super) fn on_all_cores<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = vec![];
        while let Some((at, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            answers.push((at, ask(item)));
        }
        answers
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers.min(items.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(answers) => all.extend(answers),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, answer)| answer).collect()
}

/// Geometric mean of `a / b`.
pub(super) fn ratio(a: &[f64], b: &[f64]) -> f64 {
    let logs = a.iter().zip(b).map(|(a, b)| (a / b).ln());
    (logs.sum::<f64>() / a.len().max(1) as f64).exp()
}

/// Predicted seconds at each size; `None` where the schedule is not legal or a launch cannot run.
pub(super) fn times(
    kernel: &Kernel,
    schedule: &Schedule,
    gpu: &Gpu,
    sizes: &[Point],
    sources: &SourceMap,
) -> Option<Vec<f64>> {
    let kernel = schedule::replay(kernel, schedule, sources).ok()?;
    let program = lower::lower(&kernel, sources).ok()?;
    sizes.iter().map(|point| seconds(&program, gpu, point)).collect()
}

/// What the launches of a program ask of a GPU, each with how often it happens: the model's input.
pub fn launches(program: &Program, point: &Point) -> Vec<(f64, KernelProfile)> {
    profile::profiles(&program.module, program.launcher, point)
}

/// Predicted seconds of all launches of a program.
pub fn seconds(program: &Program, gpu: &Gpu, point: &Point) -> Option<f64> {
    let profiles = launches(program, point);
    let mut sum = 0.0;
    for (count, p) in &profiles {
        sum += count * predict(gpu, p).ok()?.time_s;
    }
    (sum > 0.0).then_some(sum)
}
