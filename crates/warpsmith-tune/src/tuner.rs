//! The search from the outside: it is asked for configurations and told their outcomes.
//!
//! Any number of configurations may be out at a time, on workers, cores or machines; outcomes may come back in any
//! order. With one at a time the same seed gives the same search. A stopped search goes on by giving a new tuner of the
//! same space, strategy and seed what was recorded: it then takes the same way, without measuring again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use warpsmith_ir::Diagnostic;

use crate::outcome::{Outcome, Runner};
use crate::space::{ConfigId, Configuration, SharedSpace};
use crate::strategy::{Known, Plan, Request, StrategyKind};

/// When a search ends, apart from having tried everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// Distinct configurations, failed ones and those known from an earlier run included.
    pub evaluations: Option<u64>,
    /// Since the tuner was made; what is out when it has passed is still waited for.
    pub time: Option<Duration>,
}

/// How to search.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Of all random numbers that the strategy draws.
    pub seed: u64,
    /// When the search ends.
    pub budget: Budget,
    /// Predicted times of configurations in any unit; infinite or NaN where it is expected to fail. Only the
    /// model-guided strategy looks at it.
    pub prior: Option<Prior>,
    /// Outcomes of earlier runs.
    pub known: Vec<(ConfigId, f64)>,
    /// How many configurations will be out at a time; at least 1.
    pub workers: usize,
}

impl Options {
    /// Every configuration, one at a time.
    pub fn every() -> Options {
        Options { strategy: StrategyKind::BruteForce, workers: 1, ..Options::default() }
    }
}

/// Predicts the time of a configuration.
pub type Prior = std::sync::Arc<dyn PriorModel>;

/// A model of what configurations cost, from elsewhere.
pub trait PriorModel: Send + Sync + std::fmt::Debug {
    /// Predicted time in any unit, smaller is better; not finite where it cannot run or nothing is known.
    fn predict(&self, configuration: &Configuration) -> f64;
}

/// A configuration to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The configuration's number in the space.
    pub id: ConfigId,
    /// Its names and values.
    pub configuration: Configuration,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Measure this one, and tell what came of it.
    Try(Trial),
    /// The strategy wants outcomes of what is out first.
    Wait,
    /// There is nothing more to try, and why.
    Finished(Finished),
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Every configuration was tried.
    Exhausted,
    /// As many configurations as the budget allows were tried.
    Evaluations,
    /// The time of the budget has passed.
    Time,
    /// The caller stopped it.
    Stopped,
    /// The strategy has nothing further to propose.
    Converged,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Distinct configurations whose outcome is known to the strategy.
    pub evaluated: u64,
    /// Those of them that cannot be used.
    pub failed: u64,
    /// Configurations that were handed out and not yet answered.
    pub in_flight: usize,
    /// The fastest so far, with its time.
    pub best: Option<(Configuration, f64)>,
    /// What the budget or the space allows at most.
    pub limit: u64,
    /// Time since the tuner was made.
    pub elapsed: Duration,
}

/// A search under way.
pub struct Tuner {
    space: SharedSpace,
    budget: Budget,
    start: Instant,
    channel: Channel,
    /// Asked for by the strategy and not yet handed out.
    queue: VecDeque<ConfigId>,
    in_flight: HashSet<ConfigId>,
    /// Outcomes of an earlier run that the strategy has not asked for.
    recalled: HashMap<ConfigId, f64>,
    costs: HashMap<ConfigId, f64>,
    failed: u64,
    best: Option<(ConfigId, f64)>,
    stopped: bool,
}

/// The strategy runs as a coroutine on a thread of its own: it speaks only when it is spoken to.
struct Channel {
    requests: mpsc::Receiver<Request>,
    answers: mpsc::Sender<Known>,
    undelivered: VecDeque<Known>,
    /// It waits for an answer.
    waiting: bool,
    done: bool,
}

impl Tuner {
    /// Starts a search.
    ///
    /// # Errors
    /// A space without configurations.
    pub fn new(space: SharedSpace, options: Options) -> Result<Tuner, Diagnostic> {
        if space.count() == 0 {
            return Err(Diagnostic::error("W404", "no configuration satisfies the constraints")
                .help("relax a constraint, or give a parameter more values"));
        }
        let (to_tuner, requests) = mpsc::channel();
        let (answers, from_tuner) = mpsc::channel();
        let plan = Plan {
            space: space.clone(),
            seed: options.seed,
            prior: options.prior,
            workers: options.workers.max(1),
            budget: options.budget.evaluations.unwrap_or(u64::MAX).min(space.count()),
        };
        crate::strategy::start(options.strategy, plan, to_tuner, from_tuner).map_err(|error| {
            Diagnostic::error("W405", format!("cannot start the search: {error}"))
        })?;
        let undelivered = VecDeque::new();
        Ok(Tuner {
            space,
            budget: options.budget,
            start: Instant::now(),
            channel: Channel { requests, answers, undelivered, waiting: false, done: false },
            queue: VecDeque::new(),
            in_flight: HashSet::new(),
            recalled: options.known.into_iter().collect(),
            costs: HashMap::new(),
            failed: 0,
            best: None,
            stopped: false,
        })
    }

    /// The next thing to do.
    pub fn ask(&mut self) -> Ask {
        loop {
            let over = self.over();
            if over.is_some() && self.in_flight.is_empty() {
                return Ask::Finished(over.unwrap_or(Finished::Stopped));
            }
            if over.is_some() || self.budget_is_out() {
                return Ask::Wait;
            }
            self.channel.pump(&mut self.queue);
            match self.queue.pop_front() {
                Some(id) => {
                    if let Some(cost) = self.recalled.remove(&id) {
                        self.learn(id, cost);
                    } else if let Some(&cost) = self.costs.get(&id) {
                        self.channel.undelivered.push_back(Known { id, cost });
                    } else if self.in_flight.insert(id) {
                        return Ask::Try(Trial { id, configuration: self.space.configuration(id) });
                    }
                }
                None if !self.channel.undelivered.is_empty() => {}
                None if !self.in_flight.is_empty() => return Ask::Wait,
                None => return Ask::Finished(Finished::Converged),
            }
        }
    }

    /// Reports the outcome of a trial. What was not asked for counts all the same.
    pub fn tell(&mut self, id: ConfigId, outcome: &Outcome) {
        self.tell_cost(id, outcome.cost());
    }

    /// Reports a cost alone: a time, or infinity for what cannot be used.
    pub fn tell_cost(&mut self, id: ConfigId, cost: f64) {
        self.in_flight.remove(&id);
        self.learn(id, cost);
    }

    /// Gives a trial back that could not be finished, because its worker was lost: it will be asked for again.
    pub fn give_back(&mut self, id: ConfigId) {
        if self.in_flight.remove(&id) {
            self.queue.push_front(id);
        }
    }

    /// Ends the search; what is out is still waited for.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether nothing more will be asked for; what is out may be given back.
    pub fn is_over(&self) -> bool {
        self.over().is_some()
    }

    /// The best configuration so far, with its time.
    pub fn best(&self) -> Option<(ConfigId, f64)> {
        self.best
    }

    /// How far the search is.
    pub fn progress(&self) -> Progress {
        Progress {
            evaluated: self.costs.len() as u64,
            failed: self.failed,
            in_flight: self.in_flight.len(),
            best: self.best.map(|(id, cost)| (self.space.configuration(id), cost)),
            limit: self.budget.evaluations.unwrap_or(u64::MAX).min(self.space.count()),
            elapsed: self.start.elapsed(),
        }
    }

    fn learn(&mut self, id: ConfigId, cost: f64) {
        let cost = if cost.is_nan() { f64::INFINITY } else { cost };
        if self.costs.insert(id, cost).is_some() {
            return;
        }
        self.recalled.remove(&id);
        self.failed += u64::from(cost.is_infinite());
        if cost.is_finite() && self.best.is_none_or(|(_, best)| cost < best) {
            self.best = Some((id, cost));
        }
        self.channel.undelivered.push_back(Known { id, cost });
    }

    fn over(&self) -> Option<Finished> {
        let evaluated = self.costs.len() as u64;
        if self.stopped {
            Some(Finished::Stopped)
        } else if evaluated >= self.space.count() {
            Some(Finished::Exhausted)
        } else if self.budget.evaluations.is_some_and(|n| evaluated >= n) {
            Some(Finished::Evaluations)
        } else if self.budget.time.is_some_and(|time| self.start.elapsed() >= time) {
            Some(Finished::Time)
        } else {
            None
        }
    }

    /// Whether what is out already uses the budget up.
    fn budget_is_out(&self) -> bool {
        let asked = (self.costs.len() + self.in_flight.len()) as u64;
        !self.in_flight.is_empty() && self.budget.evaluations.is_some_and(|n| asked >= n)
    }
}

impl Channel {
    /// Lets the strategy run until it wants an answer that is not there.
    fn pump(&mut self, queue: &mut VecDeque<ConfigId>) {
        while !self.done {
            if self.waiting {
                let Some(known) = self.undelivered.pop_front() else { return };
                self.waiting = false;
                if self.answers.send(known).is_err() {
                    self.done = true;
                }
            } else {
                match self.requests.recv() {
                    Ok(Request::Evaluate(id)) => queue.push_back(id),
                    Ok(Request::Wait) => self.waiting = true,
                    Err(mpsc::RecvError) => self.done = true,
                }
            }
        }
        self.undelivered.clear();
    }
}

/// Runs a search on one runner to its end. `observe` sees every outcome as it arrives, and stops the search by
/// returning false.
pub fn run(
    tuner: &mut Tuner,
    runner: &mut dyn Runner,
    mut observe: impl FnMut(&Trial, &Outcome) -> bool,
) -> Finished {
    loop {
        match tuner.ask() {
            Ask::Try(trial) => {
                let outcome = runner.evaluate(&trial.configuration);
                if !observe(&trial, &outcome) {
                    tuner.stop();
                }
                tuner.tell(trial.id, &outcome);
            }
            // Nothing can be out: this loop tells what it is given at once.
            Ask::Wait => return Finished::Stopped,
            Ask::Finished(why) => return why,
        }
    }
}

/// Runs a search on several runners at once, each on a thread of its own. `observe` as in [`run`], on this thread.
pub fn run_on_all<R: Runner + Send>(
    tuner: &mut Tuner,
    runners: Vec<R>,
    mut observe: impl FnMut(&Trial, &Outcome) -> bool,
) -> Finished {
    std::thread::scope(|scope| {
        let (done, outcomes) = mpsc::channel::<(usize, Trial, Outcome)>();
        let mut workers = vec![];
        for (index, mut runner) in runners.into_iter().enumerate() {
            let (hand, trials) = mpsc::channel::<Trial>();
            let done = done.clone();
            workers.push(hand);
            scope.spawn(move || {
                for trial in trials {
                    let outcome = runner.evaluate(&trial.configuration);
                    if done.send((index, trial, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut idle: Vec<usize> = (0..workers.len()).rev().collect();
        loop {
            let next = if idle.is_empty() { Ask::Wait } else { tuner.ask() };
            match next {
                Ask::Try(trial) => {
                    let Some(worker) = idle.pop() else { continue };
                    let id = trial.id;
                    // A runner that panicked takes no more work; its thread's panic surfaces at the end of the scope.
                    if workers[worker].send(trial).is_err() {
                        tuner.give_back(id);
                    }
                }
                Ask::Wait => {
                    let Ok((worker, trial, outcome)) = outcomes.recv() else {
                        return Finished::Stopped;
                    };
                    if !observe(&trial, &outcome) {
                        tuner.stop();
                    }
                    tuner.tell(trial.id, &outcome);
                    idle.push(worker);
                }
                Ask::Finished(why) => return why,
            }
        }
    })
}

#[cfg(test)]
mod tests;
