//! The loop around a search: hands configurations out, takes outcomes in, keeps them.

mod desk;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use warpsmith_gpu::bench;
use warpsmith_gpu::cache::Cache;
use warpsmith_gpu::client::{Greeted, Start};
use warpsmith_gpu::protocol::{Hello, Invalid, Limits, Measured, Policy, Product};
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::Diagnostic;
use warpsmith_tune::outcome::{Outcome, Record, median};
use warpsmith_tune::space::{ConfigId, Configuration, SharedSpace};
use warpsmith_tune::tuner::{self, Finished, Trial, Tuner};

use desk::Desk;

use super::compile::{Compiled, Maker, milliseconds, was_stopped};
use super::outcome::{self, failed, geometric_mean};
use super::queue::Queue;
use super::station::{Allowed, Lost, Prepared, References, Station};
use super::{Draft, Workload};
use crate::progress::Phase;

/// A candidate whose first run takes so many times the best's time is not run again.
const GIVE_UP: f64 = 3.0;
/// A candidate whose runs together take so many times the best's time is ended: it is run three times before it is given up.
const HOPELESS: f64 = 1000.0;
/// Time for what a candidate does beside running: its binary is loaded, its outputs are compared.
const SLACK: Duration = Duration::from_secs(3);
/// Compiled candidates that wait at each station, so that it never waits for the compiler.
const AHEAD: usize = 2;
/// How often Ctrl-C, the time for everything and the budget are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Where and how candidates are compiled and run.
#[derive(Clone, Debug)]
pub struct Options {
    /// One for each device.
    pub stations: Vec<Start>,
    /// A worker of the first one that runs already.
    pub first: Greeted,
    /// Starts a process that compiles.
    pub compiler: Start,
    /// Compiling processes at a time.
    pub threads: usize,
    /// Keeps compiled texts between runs; `None`: everything is compiled anew.
    pub cache: Option<Cache>,
    /// Time for checking and timing one candidate.
    pub limit: Duration,
    /// Time for compiling one.
    pub compile_limit: Duration,
    /// How often a candidate is run and how its samples are taken.
    pub policy: Policy,
    /// What takes much longer than the best is run once: only the fastest are of interest.
    pub gives_up: bool,
    /// Ends everything: Ctrl-C, and the time for all of it.
    pub stop: Stop,
}

/// Why something was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Ctrl-C.
    Interrupted,
    /// The deadline of [`Stop`] has passed.
    TimedOut,
}

impl Halt {
    /// What has become due, if anything has.
    pub fn of(stop: &Stop) -> Option<Halt> {
        match (stop.is_flagged(), stop.is_late()) {
            (true, _) => Some(Halt::Interrupted),
            (false, true) => Some(Halt::TimedOut),
            (false, false) => None,
        }
    }
}

/// Why nothing can be searched.
#[derive(Debug)]
pub enum SearchError {
    /// The device or its worker.
    Device(String),
    /// The run that gives the right outputs fails.
    Reference(Invalid),
    /// It was ended from outside.
    Halted(Halt),
    /// The store cannot take a result.
    Store(Box<Diagnostic>),
    /// The space is empty, or the strategy cannot be started.
    Search(Box<Diagnostic>),
}

/// What a search has found.
#[derive(Debug)]
pub struct Found {
    /// Why the search ended.
    pub finished: Finished,
    /// Configurations that can be used with their times in milliseconds, fastest first.
    pub ranking: Vec<(ConfigId, f64)>,
    /// Configurations that were evaluated, those known from earlier runs among them.
    pub evaluated: u64,
    /// Of these, the ones that cannot be used.
    pub failed: u64,
    /// Wall-clock time of the search.
    pub elapsed: Duration,
}

/// A configuration in the final comparison.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Samples in milliseconds for each task; empty where it failed.
    pub samples: Vec<Vec<f64>>,
}

impl Placed {
    /// Median milliseconds for each task; `None` where it failed.
    pub fn medians(&self) -> Option<Vec<f64>> {
        let medians: Option<Vec<f64>> = self.samples.iter().map(|s| median(s)).collect();
        medians.filter(|m| !m.is_empty())
    }

    /// The geometric mean of the tasks' medians.
    pub fn ms(&self) -> Option<f64> {
        self.medians().map(|medians| geometric_mean(&medians))
    }
}

/// The final comparison.
#[derive(Clone, Debug)]
pub struct Raced {
    /// The reference, where every task has one.
    pub reference: Option<Placed>,
    /// The configurations, in the order in which they were given.
    pub entrants: Vec<Placed>,
    /// The other texts, in the order in which they were given.
    pub others: Vec<Placed>,
}

/// How to search, and who hears of it.
pub struct Plan<'p> {
    /// The configurations to choose from.
    pub space: SharedSpace,
    /// The number of workers is filled in.
    pub options: tuner::Options,
    /// Keeps an outcome before the search goes on.
    pub record: &'p mut dyn FnMut(&Record) -> Result<(), Diagnostic>,
    /// Is told how far the search is, now and then.
    pub show: &'p mut dyn FnMut(&tuner::Progress),
}

/// Stations that are ready, and what compiles for them.
pub struct Engine {
    workload: Arc<dyn Workload>,
    options: Options,
    references: Arc<References>,
    stations: Vec<Station>,
    /// Stations that could not be used, and why.
    pub notes: Vec<String>,
}

impl Engine {
    /// Starts the stations and makes the right outputs.
    ///
    /// # Errors
    /// No station can be used, or the reference does not run.
    pub fn start(workload: Arc<dyn Workload>, options: Options) -> Result<Engine, SearchError> {
        let _phase = Phase::new("starting the device");
        let references: Arc<References> =
            Arc::new(workload.tasks().iter().map(|_| Mutex::new(None)).collect());
        let mut notes = vec![];
        let mut stations: Vec<Station> = vec![];
        for started in start_all(&workload, &options, &references) {
            match (started, stations.first()) {
                (Err(Lost(why)), _) => notes.push(why),
                (Ok(station), Some(first)) if !alike(first.device(), station.device()) => {
                    notes.push(format!(
                        "`{}` is left out: the others are of the kind `{}`",
                        station.device().device,
                        first.device().device
                    ));
                }
                (Ok(station), _) => stations.push(station),
            }
        }
        if stations.is_empty() {
            let lost = SearchError::Device(notes.join("; "));
            return Err(Halt::of(&options.stop).map_or(lost, SearchError::Halted));
        }
        let mut engine = Engine { workload, options, references, stations, notes };
        match engine.make_references() {
            Ok(()) => Ok(engine),
            Err(error) => Err(engine.halt().map_or(error, SearchError::Halted)),
        }
    }

    /// Whether everything is to end, and why.
    pub fn halt(&self) -> Option<Halt> {
        Halt::of(&self.options.stop)
    }

    /// The device, as the first station sees it.
    pub fn device(&self) -> &Hello {
        self.stations[0].device()
    }

    /// Devices in use.
    pub fn count(&self) -> usize {
        self.stations.len()
    }

    fn maker(&self, stop: Stop) -> Maker {
        let hello = self.device();
        let options = bench::Options {
            start: self.options.compiler.clone(),
            limit: self.options.compile_limit,
            // What stands in for a GPU does not compile either.
            cache: self.options.cache.clone().filter(|_| hello.backend == "gpu"),
            compiler: hello.compiler.clone(),
        };
        Maker::new(self.workload.clone(), options, &hello.arch, stop)
    }

    /// Compiles the references and runs them on the first station.
    fn make_references(&mut self) -> Result<(), SearchError> {
        let _phase = Phase::new("computing the outputs that others are compared with");
        let workload = self.workload.clone();
        let mut maker = self.maker(self.options.stop.clone());
        let mut last: Option<(Arc<dyn Draft>, Vec<Prepared>)> = None;
        for (at, task) in workload.tasks().iter().enumerate() {
            let Some(draft) = &task.reference else { continue };
            let known = last.take().filter(|(of, _)| Arc::ptr_eq(of, draft));
            let entrants = match known {
                Some((_, entrants)) => entrants,
                None => maker.compile(draft).map_err(SearchError::Reference)?,
            };
            let own = entrants.get(at).cloned();
            *self.references[at].lock().unwrap_or_else(PoisonError::into_inner) = own;
            last = Some((draft.clone(), entrants));
        }
        self.stations[0].confirm().map_err(SearchError::Reference)
    }

    /// Time for one candidate: one that never ends must not take all of a short search.
    fn limit(&self, budget: Option<Duration>) -> Duration {
        let share = budget.map_or(Duration::MAX, |budget| budget / 4);
        self.options.limit.min(share.max(SLACK))
    }

    /// Searches until the space, the budget or the user's patience is at its end.
    ///
    /// # Errors
    /// All stations were lost, or the store failed.
    pub fn search(&mut self, mut plan: Plan<'_>) -> Result<Found, SearchError> {
        let threads = self.options.threads.max(1);
        plan.options.workers = threads + AHEAD * self.stations.len();
        let ahead = plan.options.workers;
        let recalled: Vec<(ConfigId, f64)> = plan.options.known.clone();
        let tuner = Tuner::new(plan.space.clone(), plan.options.clone());
        let tuner = tuner.map_err(|d| SearchError::Search(Box::new(d)))?;
        let abandon = Arc::new(AtomicBool::new(false));
        let stop = || Stop::when(abandon.clone());
        let makers: Vec<Maker> = (0..threads).map(|_| self.maker(stop())).collect();
        let (news, inbox) = channel();
        let shared = Shared {
            trials: Queue::new(),
            jobs: Queue::new(),
            abandon: abandon.clone(),
            best: Mutex::new(vec![]),
            policy: self.options.policy,
            gives_up: self.options.gives_up,
            limit: self.limit(plan.options.budget.time),
            judges_by_time: self.device().backend == "gpu",
            workload: self.workload.clone(),
        };
        let mut desk = Desk {
            tuner,
            plan,
            shared: &shared,
            ahead,
            out: 0,
            stations: self.stations.len(),
            stop: self.options.stop.clone(),
            recalled,
            ranking: vec![],
            notes: vec![],
        };
        let outcome = std::thread::scope(|scope| {
            for maker in makers {
                let (shared, news) = (&shared, news.clone());
                scope.spawn(move || shared.compile(maker, &news));
            }
            for station in &mut self.stations {
                let (shared, news) = (&shared, news.clone());
                scope.spawn(move || shared.measure(station, &news));
            }
            drop(news);
            let outcome = desk.work(&inbox);
            abandon.store(true, Ordering::Relaxed);
            shared.trials.drain();
            shared.jobs.drain();
            shared.trials.close();
            shared.jobs.close();
            outcome
        });
        self.notes.append(&mut desk.notes);
        let finished = outcome?;
        Ok(desk.found(finished))
    }

    /// Times configurations and other texts in turns at every task, with the reference where there is one.
    ///
    /// # Errors
    /// The device is lost.
    pub fn race(
        &mut self,
        entrants: &[Configuration],
        others: &[Arc<dyn Draft>],
        rounds: u32,
    ) -> Result<Raced, SearchError> {
        let _phase = Phase::new("comparing the fastest in turns");
        let mut maker = self.maker(self.options.stop.clone());
        let own = entrants.iter().map(|c| self.workload.draft(c).ok());
        let drafts: Vec<Option<Arc<dyn Draft>>> =
            own.chain(others.iter().map(|d| Some(d.clone()))).collect();
        let compiled: Vec<Option<Vec<Prepared>>> =
            drafts.iter().map(|d| maker.compile(d.as_ref()?).ok()).collect();
        let tasks = self.workload.tasks().len();
        let mut placed = vec![Placed { samples: vec![] }; compiled.len()];
        let mut reference = Placed { samples: vec![] };
        for task in 0..tasks {
            let known = self.references[task].lock().unwrap_or_else(PoisonError::into_inner);
            let own = known.clone().filter(|_| self.workload.tasks()[task].reference.is_some());
            drop(known);
            let running: Vec<usize> =
                (0..compiled.len()).filter(|k| compiled[*k].is_some()).collect();
            let mut field: Vec<Prepared> = own.iter().cloned().collect();
            field.extend(running.iter().filter_map(|k| compiled[*k].as_ref()?.get(task).cloned()));
            let policy = self.options.policy;
            let results = self.stations[0].race(task, &field, rounds, &policy);
            let results = results.map_err(|Lost(why)| {
                self.halt().map_or(SearchError::Device(why), SearchError::Halted)
            })?;
            let mut results = results.into_iter().map(|r| match r {
                Measured::Times(times) => times,
                Measured::Invalid(_) => vec![],
            });
            if own.is_some() {
                reference.samples.extend(results.next());
            }
            for (k, times) in running.into_iter().zip(results) {
                placed[k].samples.push(times);
            }
        }
        let others = placed.split_off(entrants.len());
        let reference = Some(reference).filter(|r| r.samples.len() == tasks);
        Ok(Raced { reference, entrants: placed, others })
    }

    /// Elements of the outputs that a configuration leaves behind at a task, by flat index, one list for each output.
    ///
    /// # Errors
    /// A sentence: it cannot be compiled or run.
    pub fn outputs(
        &mut self,
        configuration: &Configuration,
        task: usize,
        elements: Vec<Vec<u64>>,
    ) -> Result<Vec<Vec<u8>>, String> {
        let draft = self.workload.draft(configuration).map_err(|e| e.to_string())?;
        let mut maker = self.maker(self.options.stop.clone());
        let entrants = maker.compile(&draft).map_err(|e| e.to_string())?;
        let entrant = entrants.get(task).ok_or("there is no such size")?;
        self.stations[0].outputs(task, entrant, elements).map_err(|e| e.to_string())
    }

    /// Outputs that no candidate was compared in: rounding errors in the arguments change them beyond recognition.
    pub fn uncompared(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.stations.iter().flat_map(Station::uncompared).collect();
        all.into_iter().cloned().collect()
    }

    /// What the device reaches at most, measured now.
    pub fn limits(&mut self, bytes: u64) -> Option<Limits> {
        let _phase = Phase::new("measuring the limits of the device");
        self.stations[0].limits(bytes)
    }

    /// What the vendor's library takes for a product, in milliseconds; `None` where there is none.
    pub fn product(&mut self, product: &Product) -> Option<f64> {
        let _phase = Phase::new("timing the vendor's library");
        self.stations[0].product(product)
    }
}

/// All stations at the same time: each may wait for a cluster's scheduler.
fn start_all(
    workload: &Arc<dyn Workload>,
    options: &Options,
    references: &Arc<References>,
) -> Vec<Result<Station, Lost>> {
    std::thread::scope(|scope| {
        let started: Vec<_> = options
            .stations
            .iter()
            .enumerate()
            .map(|(at, start)| {
                scope.spawn(move || {
                    let greeted = if at == 0 { options.first.take() } else { None };
                    let (start, workload) = (start.clone(), workload.clone());
                    let (references, stop) = (references.clone(), options.stop.clone());
                    Station::start(start, greeted, options.limit, workload, references, stop)
                })
            })
            .collect();
        let joined = started.into_iter().map(|s| s.join());
        joined.map(|s| s.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Times of both may be compared.
fn alike(a: &Hello, b: &Hello) -> bool {
    a.device == b.device && a.driver == b.driver && a.arch == b.arch
}

/// What the threads tell the desk.
enum News {
    Compiled(Trial, Compiled),
    Done(Trial, Box<Outcome>),
    /// Nobody waited for it any more.
    GivenUp(Trial),
    /// A station is gone, and the candidate it had goes to another one.
    Lost(Job, String),
}

/// A candidate on its way to a station.
struct Job {
    trial: Trial,
    compiled: Compiled,
}

/// What the desk and the threads have in common.
struct Shared {
    trials: Queue<Trial>,
    jobs: Queue<Job>,
    /// Compilations under way are no longer wanted.
    abandon: Arc<AtomicBool>,
    /// The best configuration's milliseconds for each task.
    best: Mutex<Vec<f64>>,
    policy: Policy,
    gives_up: bool,
    /// Time for a candidate at a task as long as nothing has run.
    limit: Duration,
    /// The times that come back are those that runs take.
    judges_by_time: bool,
    workload: Arc<dyn Workload>,
}

impl Shared {
    fn compile(&self, mut maker: Maker, news: &Sender<News>) {
        let stop = Stop::when(self.abandon.clone());
        while let Some(trial) = self.trials.take() {
            let message = match maker.make(&trial) {
                Ok(compiled) => News::Compiled(trial, compiled),
                Err((invalid, _)) if was_stopped(&invalid, &stop) => News::GivenUp(trial),
                Err((invalid, phases)) => News::Done(trial, Box::new(failed(&invalid, phases))),
            };
            if news.send(message).is_err() {
                return;
            }
        }
    }

    fn measure(&self, station: &mut Station, news: &Sender<News>) {
        while let Some(job) = self.jobs.take() {
            let begun = Instant::now();
            let allowed = self.allowed();
            let measured = station.measure(&job.compiled.entrants, &allowed);
            let message = match measured {
                // What was ended in the middle is no outcome.
                _ if station.was_halted() => News::GivenUp(job.trial),
                Ok(results) => {
                    let mut phases = job.compiled.phases.clone();
                    phases.benchmark_ms = Some(milliseconds(begun));
                    let tasks = self.workload.tasks();
                    let binary = &job.compiled.entrants[0].binary;
                    let outcome = outcome::measured(&results, tasks, binary, phases);
                    News::Done(job.trial, Box::new(outcome))
                }
                Err(Lost(why)) => {
                    let _ = news.send(News::Lost(job, why));
                    return;
                }
            };
            if news.send(message).is_err() {
                return;
            }
        }
    }

    /// How long a candidate may take and is measured at each task, by the best so far.
    fn allowed(&self) -> Vec<Allowed> {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = |at: usize| {
            let best = best.get(at);
            let hopeless = best.filter(|_| self.judges_by_time).map(|ms| {
                let most = HOPELESS * ms / 1e3;
                Duration::try_from_secs_f64(most).unwrap_or(Duration::MAX).saturating_add(SLACK)
            });
            Allowed {
                limit: hopeless.map_or(self.limit, |limit| limit.min(self.limit)),
                policy: Policy {
                    give_up_over_ms: best.filter(|_| self.gives_up).map(|ms| GIVE_UP * ms),
                    ..self.policy
                },
            }
        };
        (0..self.workload.tasks().len()).map(allowed).collect()
    }
}
