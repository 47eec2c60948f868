//! Predicted times of many schedules of one function, from which one is to be chosen.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use warpsmith_device::{Gpu, KernelProfile, Prediction, predict};
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{SourceMap, Type, VarId};
use warpsmith_opt::schedule::Replays;
use warpsmith_opt::{Kernel, Program, Schedule, lower};

use super::compiled::Usage;
use super::profile::{self, Known, Launched};
use super::sizes::Point;
use crate::progress::Phase;

/// Asks the device model. What schedules have in common is done once: the steps that neighbours begin with, and the
/// nests of [`Estimates::beside`].
pub struct Estimates<'a> {
    pub gpu: &'a Gpu,
    pub sizes: &'a [Point],
    replays: Replays<'a>,
    sources: &'a SourceMap,
    known: Known,
    /// When nobody waits for an answer any more.
    stop: &'a Stop,
}

impl<'a> Estimates<'a> {
    pub fn new(
        kernel: &'a Kernel,
        gpu: &'a Gpu,
        sizes: &'a [Point],
        sources: &'a SourceMap,
        stop: &'a Stop,
    ) -> Estimates<'a> {
        let replays = Replays::new(kernel, sources);
        Estimates { gpu, sizes, replays, sources, known: Known::default(), stop }
    }

    /// The next schedules differ from this one in one nest: the kernels of the others are known then.
    pub fn beside(&mut self, schedule: &Schedule) {
        let known = |p: &Program| profile::known(&p.module, p.launcher, self.sizes);
        self.known = self.program(schedule).as_ref().map(known).unwrap_or_default();
    }

    pub fn program(&self, schedule: &Schedule) -> Option<Program> {
        self.replays.of(schedule, |kernel| lower::lower(kernel, self.sources).ok())?
    }

    /// Predicted seconds at each size, by estimated registers; `None` where the schedule is not legal, a launch cannot
    /// run, or nobody waits any more.
    pub fn times(&self, schedule: &Schedule) -> Option<Vec<f64>> {
        self.times_if(schedule, false)
    }

    /// The same; `None`, too, where only `exact` ones are wanted and integers depend on the order in which reals are added: there is no
    /// tolerance for which of two nearly equal distances is the shorter one.
    pub fn times_if(&self, schedule: &Schedule, exact: bool) -> Option<Vec<f64>> {
        if self.stop.is_due() {
            return None;
        }
        let program = self.program(schedule).filter(|p| !exact || !reorders_integers(p))?;
        self.times_of(&program, None)
    }

    /// Whether integers depend on the order in which a schedule adds reals.
    pub fn reorders_integers(&self, schedule: &Schedule) -> bool {
        self.program(schedule).is_some_and(|p| reorders_integers(&p))
    }

    /// The same of a program, perhaps with what a compiler says of its kernels.
    pub fn times_of(&self, program: &Program, usage: Option<&Usage>) -> Option<Vec<f64>> {
        let profiles = |point| self.profiles(program, point, usage);
        self.sizes.iter().map(|point| sum(self.gpu, &profiles(point))).collect()
    }

    pub fn profiles(
        &self,
        program: &Program,
        point: &Point,
        usage: Option<&Usage>,
    ) -> Vec<Launched> {
        let (module, launcher) = (&program.module, program.launcher);
        let launches = profile::profiles_beside(module, launcher, point, &self.known);
        compiled(program, launches, usage)
    }

    /// The names of the kernels that are launched at any of the sizes.
    pub fn launched(&self, program: &Program) -> BTreeSet<String> {
        let at = |point| self.profiles(program, point, None);
        let name = |l: Launched| program.module.function(l.kernel).name.clone();
        self.sizes.iter().flat_map(at).map(name).collect()
    }

    /// The time at each size of the launches that two schedules have in common, as those of nests in which they agree.
    pub fn unchanged(&self, a: &Schedule, b: &Schedule) -> Vec<f64> {
        let (Some(a), Some(b)) = (self.program(a), self.program(b)) else { return vec![] };
        let launches = |program: &Program, point: &Point| -> Option<Vec<f64>> {
            let found = self.profiles(program, point, None);
            let time = |l: &Launched| Some(l.times * predict(self.gpu, &l.profile).ok()?.time_s);
            found.iter().map(time).collect()
        };
        let at = |point: &Point| {
            let mut left = launches(&b, point)?;
            let mut both = 0.0;
            for time in launches(&a, point)? {
                if let Some(k) = left.iter().position(|t| *t == time) {
                    both += left.swap_remove(k);
                }
            }
            Some(both)
        };
        self.sizes.iter().map(at).collect::<Option<Vec<f64>>>().unwrap_or_default()
    }
}

fn reorders_integers(program: &Program) -> bool {
    let launcher = program.module.function(program.launcher);
    let element = |v: &VarId| launcher.var(*v).ty.pointee().and_then(Type::scalar);
    program.reassociated.iter().filter_map(element).any(|scalar| !scalar.is_float())
}

/// What the launches of a program ask of a GPU, each with how often it happens: the model's input.
pub fn launches(program: &Program, point: &Point) -> Vec<(f64, KernelProfile)> {
    let found = profile::profiles(&program.module, program.launcher, point);
    found.into_iter().map(|launched| (launched.times, launched.profile)).collect()
}

/// What the model says of a launch.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The kernel's name in the text.
    pub kernel: String,
    /// How often it happens.
    pub times: f64,
    /// The counts that the prediction rests on.
    pub profile: KernelProfile,
    /// Predicted time of one launch, and what limits it.
    pub prediction: Prediction,
}

/// The predictions of all launches of a program, by estimated registers; `None` where one cannot run.
pub fn predictions(program: &Program, gpu: &Gpu, point: &Point) -> Option<Vec<Predicted>> {
    let launches = profile::profiles(&program.module, program.launcher, point).into_iter();
    let predicted = |l: Launched| {
        let prediction = predict(gpu, &l.profile).ok()?;
        let kernel = program.module.function(l.kernel).name.clone();
        Some(Predicted { kernel, times: l.times, profile: l.profile, prediction })
    };
    launches.map(predicted).collect()
}

/// Predicted seconds of all launches of a program, by estimated registers.
pub fn seconds(program: &Program, gpu: &Gpu, point: &Point) -> Option<f64> {
    sum(gpu, &profile::profiles(&program.module, program.launcher, point))
}

fn sum(gpu: &Gpu, launches: &[Launched]) -> Option<f64> {
    let mut sum = 0.0;
    for launched in launches {
        sum += launched.times * predict(gpu, &launched.profile).ok()?.time_s;
    }
    (sum > 0.0).then_some(sum)
}

/// The launches with the registers of the compiler where it named them.
fn compiled(
    program: &Program,
    mut launches: Vec<Launched>,
    usage: Option<&Usage>,
) -> Vec<Launched> {
    for launched in &mut launches {
        let name = &program.module.function(launched.kernel).name;
        if let Some(used) = usage.and_then(|u| u.get(name)) {
            launched.profile.registers = used.registers;
            launched.profile.spill_bytes = used.spill_bytes;
            launched.profile.spill_executions = launched.rounds;
        }
    }
    launches
}

/// What a function says of each item, asked on all cores; the order is that of the items. `what` names the work.
pub fn on_all_cores<T: Sync, R: Send>(
    what: &str,
    items: &[T],
    ask: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let phase = Phase::new(what);
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = vec![];
        while let Some((at, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            phase.say(format!("{}/{}", at + 1, items.len()));
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
