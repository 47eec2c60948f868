//! The choice of a schedule without a GPU: the device model ranks what the templates offer.

use std::collections::BTreeMap;
use std::time::Instant;

use warpsmith_device::Gpu;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::schedule::fusions::{self, Start};
use warpsmith_opt::schedule::template::{alternatives, schedule_of};
use warpsmith_opt::schedule::{Step, StepKind};
use warpsmith_opt::{Kernel, Program, Schedule, schedule};

use super::barred::Barred;
use super::compiled::{Compiler, NoUsage, Usage, Used};
use super::estimates::{Estimates, on_all_cores};
use super::sizes::Point;
use crate::status::{Failure, Status};

pub use super::estimates::{Predicted, launches, predictions, seconds};

/// A schedule with more steps must promise at least this much less time to be taken instead of a simpler one: the
/// model is right about the order of two kernels only when they are this far apart.
const WORTH: f64 = 0.85;

/// The same for a schedule that moves vectors where the simpler one moves elements: near the memory's limit, where the model
/// sees little difference, fewer and wider requests are faster. Measured on an H200: of a x plus y for 4 to 67 million
/// floats, 16 bytes a thread take 0.59 to 0.86 times as long as 4, whatever the block.
const WORTH_OF_VECTORS: f64 = 0.99;

/// The same for a function in which sums are scattered before and each row updates each column: measured on an H200, both
/// products of BiCGK, two products of a matrix and a vector, and GEMVER then take 1.6, 1.75 and 2.3 times the predicted time,
/// other schedules of these 0.9 to 1.2 times.
const WORTH_OF_UPDATES: f64 = 0.5;

/// Two sweeps of a loop in time in one kernel, against each in its own: measured on an H200, these take 1.5 times as long as
/// predicted, since each plane waits for the one before.
const WORTH_OF_TURNS: f64 = 0.66;

/// Rows in registers against schedules that read them again: the model takes second reads of a row for free. On an H100,
/// layer norm, log softmax, RMS norm, cross entropy and a softmax in place take 1.5 to 2.6 times as long as predicted where
/// threads share each loop, and 0.8 to 1.0 times where rows are kept.
const WORTH_OF_ROWS: f64 = 0.55;

pub(super) fn keeps_sums(steps: &[Step]) -> bool {
    steps.iter().any(|s| matches!(s.kind, StepKind::KeepSums { .. }))
}

/// Whether what begins with these steps, and goes on with those, promises enough to be taken instead of what there is.
pub(super) fn worth_starting(start: &Start, steps: &[Step], seconds: &[f64], best: &[f64]) -> bool {
    let worth = if start.waits_for_planes() {
        WORTH_OF_TURNS
    } else if start.scatters() && !keeps_sums(steps) {
        WORTH_OF_UPDATES
    } else {
        WORTH
    };
    !seconds.is_empty() && ratio(seconds, best) < worth
}

/// What of a schedule decides how much it must promise.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Effort {
    steps: usize,
    vectors: bool,
    rows: bool,
}

impl Effort {
    fn of(steps: &[StepKind]) -> Effort {
        let vectors = steps.iter().any(|s| matches!(s, StepKind::Vectorise(_)));
        let rows = steps.iter().any(|s| matches!(s, StepKind::KeepRows(_)));
        // These leave out work, whatever the model says of the rest.
        let more = |s: &&StepKind| !matches!(s, StepKind::Wrap(_) | StepKind::Residue(_));
        let steps = steps.iter().filter(more).count();
        Effort { steps, vectors, rows }
    }

    /// The share of another schedule's time that this one's must be below.
    fn worth(self, other: Effort) -> f64 {
        let worth = match (self.steps > other.steps, self.vectors && !other.vectors) {
            (false, _) => 1.0,
            (true, true) => WORTH_OF_VECTORS,
            (true, false) => WORTH,
        };
        match (self.rows, other.rows) {
            (true, false) => 1.0 / WORTH_OF_ROWS,
            (false, true) => worth * WORTH_OF_ROWS,
            _ => worth,
        }
    }
}

/// A schedule with its predicted times, one for each size.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The steps that make the chosen kernels.
    pub schedule: Schedule,
    /// Predicted seconds of all launches together, one number for each size.
    pub seconds: Vec<f64>,
    /// The same for the direct translation.
    pub direct: Vec<f64>,
    /// Schedules that were compared.
    pub compared: usize,
    /// How the values of parameters were chosen, for a schedule that has some.
    pub explored: Option<Explored>,
    /// The registers that the times rest on.
    pub registers: Registers,
}

/// Registers of the chosen kernels, and where the figures come from.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// The compiler; `None`: an estimate.
    pub compiler: Option<String>,
    /// By the kernels' names, in the order of their launches.
    pub kernels: Vec<(String, Used)>,
    /// What the compiler says of the schedules that it refuses, none of which is chosen.
    pub refused: Vec<String>,
    /// Schedules that were compiled, and the seconds that it took.
    pub compiled: usize,
    /// Seconds spent in the compiler.
    pub seconds: f64,
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

/// What a choice is made from.
#[derive(Clone, Copy)]
pub(in crate::tune) struct Model<'a> {
    pub kernel: &'a Kernel,
    pub gpu: &'a Gpu,
    pub sizes: &'a [Point],
    pub sources: &'a SourceMap,
    /// Says how many registers the best candidates take.
    pub compiler: Option<&'a Compiler>,
    /// What was chosen before, and failed.
    pub barred: &'a Barred,
    pub stop: &'a Stop,
    /// From when on the best that was found so far is taken: time is left for its verification.
    pub enough: &'a Stop,
}

/// For messages.
pub(in crate::tune) const CHOOSING: &str = "while a schedule was chosen";
pub(in crate::tune) const PREDICTING: &str = "predicting times of schedules";

/// The schedule of least predicted time, nest by nest; over several sizes, of least geometric mean. Nests that can be made
/// one are so where that is predicted to pay.
///
/// # Errors
/// What is wrong with the marks of the loops, or that there was no time.
pub(in crate::tune) fn choose(model: &Model<'_>) -> Result<Choice, Failure> {
    let Model { kernel, sources, stop, enough, .. } = *model;
    let mut best = choose_from(model, &Start::of(kernel))?;
    let starts = if enough.is_due() { vec![] } else { fusions::starts(kernel, sources) };
    for start in starts {
        if enough.is_due() {
            break;
        }
        // What is fused may be more than any step takes.
        let Ok(other) = choose_from(model, &start) else { continue };
        best.compared += other.compared;
        if worth_starting(&start, &other.schedule.steps, &other.seconds, &best.seconds) {
            best = Choice { direct: best.direct, compared: best.compared, ..other };
        }
    }
    Failure::stopped(stop, CHOOSING).map_or(Ok(best), Err)
}

/// The best schedule that begins with some steps.
fn choose_from(model: &Model<'_>, start: &Start) -> Result<Choice, Failure> {
    let mut bench = Bench::new(model);
    let parts = start.direct(model.sources).map_err(Failure::no)?;
    let direct = schedule_of(&parts);
    let base = bench.times(std::slice::from_ref(&direct)).pop().flatten();
    let mut settled = Settled { parts, seconds: base.clone(), compared: 1 };
    let mut hidden = vec![];
    for at in 1..settled.parts.len() {
        if !model.enough.is_due() && settled.nest(at, &mut bench, start)? {
            hidden.push(at);
        }
    }
    // Nests before one that took a thousand times as long as they: its time is another one now.
    let last = settled.parts.len() - 1;
    for at in hidden.into_iter().filter(|at| *at < last) {
        settled.nest(at, &mut bench, start)?;
    }
    bench.go_on()?;
    let schedule = schedule_of(&settled.parts);
    Ok(Choice {
        registers: bench.registers_of(&schedule)?,
        schedule,
        seconds: settled.seconds.unwrap_or_default(),
        direct: base.unwrap_or_default(),
        compared: settled.compared,
        explored: None,
    })
}

/// Schedules of nests, some of them chosen.
struct Settled {
    /// The steps of the start, and those of each nest.
    parts: Vec<Vec<StepKind>>,
    /// Predicted, of all of them at each size; `None` where they cannot run.
    seconds: Option<Vec<f64>>,
    compared: usize,
}

impl Settled {
    /// Chooses the schedule of one nest, beside those that the others have; whether its time is too small a part of theirs for a
    /// good choice.
    fn nest(&mut self, at: usize, bench: &mut Bench<'_>, start: &Start) -> Result<bool, Failure> {
        let sources = bench.model.sources;
        let mut before = self.parts[1..at].iter().flatten();
        let state = before.try_fold(start.kernel.clone(), |state, step| {
            schedule::take(&state, step, sources).map(|next| next.kernel)
        });
        let Ok(state) = state else { return Ok(false) };
        let Some(root) = state.open_roots().first().copied() else { return Ok(false) };
        let mut offered = alternatives(&state, root, sources);
        offered.retain(|steps| bench.model.barred.allows(steps));
        let with =
            |steps: &Vec<StepKind>| schedule::with_part(start, &self.parts, (at, steps), sources);
        let offered_parts: Vec<Vec<Vec<StepKind>>> = offered.iter().map(with).collect();
        let schedules: Vec<Schedule> = offered_parts.iter().map(|p| schedule_of(p)).collect();
        let known = schedule_of(&self.parts);
        let alone = self.parts.len() == 2;
        if !alone {
            bench.estimates.beside(&known);
        }
        let exact = !bench.estimates.reorders_integers(&known);
        let enough = bench.model.enough;
        let asked = |s: &Schedule| match enough.is_due() {
            true => None,
            false => bench.estimates.times_if(s, exact),
        };
        let times = on_all_cores(PREDICTING, &schedules, asked);
        bench.go_on()?;
        self.compared += times.iter().flatten().count();
        let efforts = efforts(&offered, &times);
        let others = fastest(&times).filter(|_| !alone);
        let others = others.map(|k| bench.estimates.unchanged(&known, &schedules[k]));
        let before = Before {
            effort: Effort::of(&self.parts[at]),
            seconds: self.seconds.clone(),
            others: others.unwrap_or_default(),
        };
        let decide = |times: &[Option<Vec<f64>>]| worth_it(&before, &efforts, times);
        let chosen = bench.settle(times, |k| schedules[k].clone(), decide);
        bench.go_on()?;
        if let Some((k, seconds)) = chosen {
            (self.parts, self.seconds) = (offered_parts[k].clone(), Some(seconds));
        }
        Ok(self.seconds.as_ref().is_some_and(|s| before.hides(s)))
    }
}

/// Of the candidates for a nest so many are compiled together, and so often at most, until one of them is chosen.
const COMPILED: usize = 4;
const ROUNDS: usize = 3;

/// A nest has at least this part of a function's time: estimates and a compiler's figures may differ for the same kernels of
/// other nests.
const LEAST_PART: f64 = 1e-3;

/// What the candidates for a nest have. Rows that are too long for their threads at these sizes are left to the other steps: such a
/// candidate takes as long as the one without that step, and keeps nothing.
fn efforts(offered: &[Vec<StepKind>], times: &[Option<Vec<f64>>]) -> Vec<Effort> {
    let effort = |(steps, time): (&Vec<StepKind>, &Option<Vec<f64>>)| {
        let own = Effort::of(steps);
        let rest = || steps.iter().filter(|s| !matches!(s, StepKind::KeepRows(_)));
        let same = |(other, t): (&Vec<StepKind>, _)| {
            time.is_some() && time == t && other.iter().eq(rest())
        };
        let rows = own.rows && !offered.iter().zip(times).any(same);
        Effort { rows, ..own }
    };
    offered.iter().zip(times).map(effort).collect()
}

/// What candidates for a nest are compared with.
struct Before {
    effort: Effort,
    /// Of the whole function, at each size; `None` where it cannot run.
    seconds: Option<Vec<f64>>,
    /// The part of them that other nests take; empty: there are none.
    others: Vec<f64>,
}

impl Before {
    /// What is left for the nest itself. A nest beside one that takes much longer is worth as much effort as it would be
    /// alone: its neighbour's turn comes, too.
    fn own(&self, seconds: &[f64]) -> Vec<f64> {
        let others = self.others.iter().copied().chain(std::iter::repeat(0.0));
        seconds.iter().zip(others).map(|(s, o)| (s - o).max(s * LEAST_PART)).collect()
    }

    /// Whether the nest has so small a part of these times at some size that it cannot be told.
    fn hides(&self, seconds: &[f64]) -> bool {
        self.own(seconds).iter().zip(seconds).any(|(own, s)| *own <= s * LEAST_PART)
    }
}

/// The candidate that is taken instead of what there is, if any is.
fn worth_it(start: &Before, efforts: &[Effort], times: &[Option<Vec<f64>>]) -> Option<usize> {
    let (mut effort, mut best, mut found) = (start.effort, start.seconds.as_ref(), None);
    for (k, seconds) in times.iter().enumerate() {
        let (Some(s), Some(b)) = (seconds, best) else { continue };
        if ratio(&start.own(s), &start.own(b)) < efforts[k].worth(effort) {
            (effort, best, found) = (efforts[k], Some(s), Some(k));
        }
    }
    found
}

/// The candidate of least time, whatever its steps.
fn fastest(times: &[Option<Vec<f64>>]) -> Option<usize> {
    let known = times.iter().enumerate().filter_map(|(k, t)| Some((k, t.as_ref()?)));
    let sum = |seconds: &[f64]| seconds.iter().map(|s| s.ln()).sum::<f64>();
    known.min_by(|a, b| sum(a.1).total_cmp(&sum(b.1))).map(|(k, _)| k)
}

/// Estimates, compiles, and keeps account of it.
pub(super) struct Bench<'a> {
    pub estimates: Estimates<'a>,
    model: &'a Model<'a>,
    registers: Registers,
    /// By the schedule's text: the kernels that the sizes launch.
    launched: BTreeMap<String, Usage>,
}

impl<'a> Bench<'a> {
    pub fn new(model: &'a Model<'a>) -> Bench<'a> {
        let Model { kernel, gpu, sizes, sources, stop, .. } = *model;
        let estimates = Estimates::new(kernel, gpu, sizes, sources, stop);
        Bench { estimates, model, registers: Registers::default(), launched: BTreeMap::new() }
    }

    /// # Errors
    /// Nobody waits for the choice any more: what is not known counts for nothing.
    pub fn go_on(&self) -> Result<(), Failure> {
        Failure::stopped(self.model.stop, CHOOSING).map_or(Ok(()), Err)
    }

    /// Whether there is a compiler.
    pub fn compiles(&self) -> bool {
        self.model.compiler.is_some()
    }

    /// Predicted seconds at each size, with the registers that the compiler counts where there is one; `None` where the
    /// schedule is not legal, is refused by the compiler, or a launch cannot run.
    pub fn times(&mut self, schedules: &[Schedule]) -> Vec<Option<Vec<f64>>> {
        let Some(compiler) = self.model.compiler else {
            return schedules.iter().map(|s| self.estimates.times(s)).collect();
        };
        let start = Instant::now();
        let (estimates, arch, stop) = (&self.estimates, self.model.gpu.arch, self.model.stop);
        let answers = on_all_cores("compiling the best schedules", schedules, |s| {
            let program = estimates.program(s).ok_or(NoUsage::Unknown)?;
            let launched = estimates.launched(&program);
            let usage = compiler.usage(&program, |name| launched.contains(name), arch, stop)?;
            let times = estimates.times_of(&program, Some(&usage)).ok_or(NoUsage::Unknown)?;
            Ok((usage, times))
        });
        self.registers.compiled += schedules.len();
        self.registers.seconds += start.elapsed().as_secs_f64();
        let mut times = vec![];
        for (schedule, answer) in schedules.iter().zip(answers) {
            times.push(match answer {
                Ok((usage, times)) => {
                    self.launched.insert(schedule.print(), usage);
                    Some(times)
                }
                Err(NoUsage::Refused(why)) => {
                    self.registers.refused.push(why);
                    None
                }
                Err(NoUsage::Unknown) => None,
            });
        }
        times
    }

    /// The choice of `decide` among candidates with estimated times. Where there is a compiler, the best are compiled
    /// first, and what is chosen in the end is compiled in any case.
    pub fn settle(
        &mut self,
        mut times: Vec<Option<Vec<f64>>>,
        schedule: impl Fn(usize) -> Schedule,
        decide: impl Fn(&[Option<Vec<f64>>]) -> Option<usize>,
    ) -> Option<(usize, Vec<f64>)> {
        let mut known = vec![self.model.compiler.is_none(); times.len()];
        for _ in 0..ROUNDS {
            match decide(&times) {
                Some(k) if !known[k] => self.compile_best(&mut times, &mut known, &schedule),
                chosen => return chosen.and_then(|k| Some((k, times[k].take()?))),
            }
        }
        times.iter_mut().zip(&known).filter(|(_, known)| !**known).for_each(|(t, _)| *t = None);
        decide(&times).and_then(|k| Some((k, times[k].take()?)))
    }

    /// Replaces the times of the best candidates that have not been compiled yet.
    fn compile_best(
        &mut self,
        times: &mut [Option<Vec<f64>>],
        known: &mut [bool],
        schedule: impl Fn(usize) -> Schedule,
    ) {
        let one = vec![1.0; self.model.sizes.len()];
        let mut ranked: Vec<(usize, f64)> = times
            .iter()
            .enumerate()
            .filter(|(k, _)| !known[*k])
            .filter_map(|(k, t)| Some((k, ratio(t.as_ref()?, &one))))
            .collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.truncate(COMPILED);
        let schedules: Vec<Schedule> = ranked.iter().map(|(k, _)| schedule(*k)).collect();
        for ((k, _), seconds) in ranked.into_iter().zip(self.times(&schedules)) {
            (times[k], known[k]) = (seconds, true);
        }
    }

    /// The registers of a schedule's kernels, at the first size.
    ///
    /// # Errors
    /// The compiler refuses them.
    pub fn registers_of(self, schedule: &Schedule) -> Result<Registers, Failure> {
        let mut registers = self.registers;
        let Some(program) = self.estimates.program(schedule) else { return Ok(registers) };
        let Model { compiler, gpu, stop, .. } = *self.model;
        // Kernels for other sizes were not compiled yet, and must be right, too.
        let known = self.launched.get(&schedule.print()).cloned().unwrap_or_default();
        let rest = |c| compiles(c, &program, |name| !known.contains_key(name), gpu.arch, stop);
        let usage = compiler.and_then(|c| rest(c).transpose()).transpose()?;
        let usage = usage.map(|u| u.into_iter().chain(known).collect::<Usage>());
        let Some(point) = self.model.sizes.first() else { return Ok(registers) };
        for launched in self.estimates.profiles(&program, point, usage.as_ref()) {
            let p = &launched.profile;
            let used = Used { registers: p.registers, spill_bytes: p.spill_bytes };
            let name = program.module.function(launched.kernel).name.clone();
            if registers.kernels.iter().all(|(n, _)| *n != name) {
                registers.kernels.push((name, used));
            }
        }
        registers.compiler = usage.and(self.model.compiler).map(Compiler::name);
        Ok(registers)
    }
}

/// What those kernels take that are to be handed out; `None` where it is not known.
///
/// # Errors
/// W339: the compiler refuses them, which is a bug of ours.
pub(super) fn compiles(
    compiler: &Compiler,
    program: &Program,
    kernels: impl Fn(&str) -> bool,
    arch: &str,
    stop: &Stop,
) -> Result<Option<Usage>, Failure> {
    match compiler.usage(program, kernels, arch, stop) {
        Ok(usage) => Ok(Some(usage)),
        Err(NoUsage::Unknown) => Ok(None),
        Err(NoUsage::Refused(why)) => {
            let text = format!("{} refuses the kernel that was made", compiler.name());
            let d = Diagnostic::error("W339", text);
            let d = why.lines().take(5).fold(d, |d, line| d.note(line.to_string()));
            Err(Failure::from(d).with_status(Status::Bug))
        }
    }
}

/// Geometric mean of `a / b`.
pub(super) fn ratio(a: &[f64], b: &[f64]) -> f64 {
    let logs = a.iter().zip(b).map(|(a, b)| (a / b).ln());
    (logs.sum::<f64>() / a.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use warpsmith_front::cloops;
    use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};

    use super::*;

    const PLAIN: Effort = Effort { steps: 1, vectors: false, rows: false };
    const TILED: Effort = Effort { steps: 2, vectors: false, rows: false };
    const WIDE: Effort = Effort { steps: 4, vectors: true, rows: false };

    fn taken(seconds: &[(Effort, f64)]) -> Option<usize> {
        let efforts: Vec<Effort> = seconds.iter().map(|(e, _)| *e).collect();
        let times: Vec<Option<Vec<f64>>> = seconds.iter().map(|(_, s)| Some(vec![*s])).collect();
        let start = Before { effort: PLAIN, seconds: Some(vec![1.0]), others: vec![] };
        worth_it(&start, &efforts, &times)
    }

    #[test]
    fn a_nest_beside_a_slower_one_is_worth_the_same_effort() {
        let mut start = Before { effort: PLAIN, seconds: Some(vec![100.0]), others: vec![] };
        let times = [Some(vec![99.1])];
        assert_eq!(worth_it(&start, &[TILED], &times), None);
        start.others = vec![99.0];
        assert_eq!(worth_it(&start, &[TILED], &times), Some(0));
        start.others = vec![90.0];
        assert_eq!(worth_it(&start, &[TILED], &times), None, "nine of ten is too little");
    }

    #[test]
    fn more_steps_must_promise_more_unless_they_widen_accesses() {
        assert_eq!(taken(&[(TILED, 0.9)]), None);
        assert_eq!(taken(&[(TILED, 0.8)]), Some(0));
        assert_eq!(taken(&[(WIDE, 0.9)]), Some(0));
        assert_eq!(taken(&[(TILED, 0.8), (WIDE, 0.77)]), Some(1));
        assert_eq!(taken(&[(TILED, 0.8), (WIDE, 0.8)]), Some(0), "not for nothing");
        assert_eq!(taken(&[(WIDE, 0.8), (TILED, 0.79)]), Some(1), "fewer steps for less time");
        let kept = Effort { steps: 4, vectors: false, rows: true };
        assert_eq!(taken(&[(WIDE, 0.5), (kept, 0.8)]), Some(1), "rows are read once");
        assert_eq!(taken(&[(kept, 0.8), (WIDE, 0.5)]), Some(0));
        assert_eq!(taken(&[(WIDE, 0.3), (kept, 0.8)]), Some(0));
    }

    /// The best that there was so far, which is the direct translation as long as nothing was compared with it.
    #[test]
    fn a_choice_that_has_no_more_time_is_what_was_found() {
        let source = "
void columns(int n, const float x[n][n], float s[n]) {
    #pragma omp parallel for
    for (int j = 0; j < n; j++) {
        s[j] = 0.0f;
        for (int i = 0; i < n; i++) s[j] += x[i][j];
    }
}
";
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::C);
        let parsed = parse("a.c", source.as_bytes(), &options, &DiskLoader, &mut sources).unwrap();
        let input = cloops::lower_c(&parsed.unit, None).unwrap();
        let arch = crate::tune::arch::find("sm_90").unwrap();
        let (kernel, barred) = (&arch.kernel(input.module, input.function), &Barred::default());
        let sizes = &[Point::from([("n".to_string(), 4096)])][..];
        let (never, now) = (Stop::default(), Stop::when(Arc::new(AtomicBool::new(true))));
        let chosen = |enough: &Stop| {
            let (gpu, sources, compiler) = (arch.gpu(), &sources, None);
            let stop = &never;
            choose(&Model { kernel, gpu, sizes, sources, compiler, barred, stop, enough })
        };
        let (first, best) = (chosen(&now).unwrap(), chosen(&never).unwrap());
        let direct = schedule::derive(kernel, &sources).unwrap();
        assert_eq!((first.schedule.print(), first.compared), (direct.print(), 1));
        assert!(best.seconds[0] < first.seconds[0] && best.compared > 1);
    }
}
