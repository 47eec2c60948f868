//! The desk of a search: trials go out, outcomes come in.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use warpsmith_gpu::stop::Stop;
use warpsmith_tune::outcome::{Outcome, Record};
use warpsmith_tune::space::ConfigId;
use warpsmith_tune::tuner::{Ask, Finished, Trial, Tuner};

use super::{Found, Job, LOOK, News, Plan, SearchError, Shared};
use crate::search::outcome::each_task;

/// The thread that asks the tuner and hears of outcomes.
pub(super) struct Desk<'d, 'p> {
    pub(super) tuner: Tuner,
    pub(super) plan: Plan<'p>,
    pub(super) shared: &'d Shared,
    /// Configurations that may be out at a time.
    pub(super) ahead: usize,
    pub(super) out: usize,
    /// Stations that still work.
    pub(super) stations: usize,
    pub(super) stop: Stop,
    pub(super) recalled: Vec<(ConfigId, f64)>,
    pub(super) ranking: Vec<(ConfigId, f64)>,
    pub(super) notes: Vec<String>,
}

impl Desk<'_, '_> {
    pub(super) fn work(&mut self, inbox: &Receiver<News>) -> Result<Finished, SearchError> {
        loop {
            if self.stop.is_due() {
                self.tuner.stop();
            }
            if self.tuner.is_over() {
                self.call_back();
            }
            while self.out < self.ahead {
                match self.tuner.ask() {
                    Ask::Try(trial) => {
                        self.out += 1;
                        self.shared.trials.push(trial);
                    }
                    Ask::Wait => break,
                    Ask::Finished(why) => return Ok(why),
                }
            }
            (self.plan.show)(&self.tuner.progress());
            match inbox.recv_timeout(LOOK) {
                Ok(news) => self.hear(news)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(SearchError::Device("all workers have ended".into()));
                }
            }
        }
    }

    /// Takes back what nobody has begun to measure: the search is over.
    fn call_back(&mut self) {
        self.shared.abandon.store(true, Ordering::Relaxed);
        let jobs = self.shared.jobs.drain().into_iter().map(|job| job.trial);
        let waiting: Vec<Trial> = self.shared.trials.drain().into_iter().chain(jobs).collect();
        for trial in waiting {
            self.out -= 1;
            self.tuner.give_back(trial.id);
        }
    }

    fn hear(&mut self, news: News) -> Result<(), SearchError> {
        match news {
            News::Compiled(trial, compiled) => self.shared.jobs.push(Job { trial, compiled }),
            News::GivenUp(trial) => {
                self.out -= 1;
                self.tuner.give_back(trial.id);
            }
            News::Done(trial, outcome) => self.done(trial, *outcome)?,
            News::Lost(job, why) => {
                self.stations -= 1;
                if self.stations == 0 {
                    return Err(SearchError::Device(why));
                }
                self.notes.push(format!("a worker was lost: {why}"));
                self.shared.jobs.push_back_in(job);
            }
        }
        Ok(())
    }

    fn done(&mut self, trial: Trial, mut outcome: Outcome) -> Result<(), SearchError> {
        self.out -= 1;
        outcome.timestamp = None;
        let cost = outcome.cost();
        let record = Record { configuration: trial.configuration, outcome };
        (self.plan.record)(&record).map_err(|d| SearchError::Store(Box::new(d)))?;
        if cost.is_finite() {
            let better = self.ranking.iter().all(|(_, other)| cost < *other);
            if better {
                let mut best = self.shared.best.lock().unwrap_or_else(PoisonError::into_inner);
                *best = each_task(&record.outcome);
            }
            self.ranking.push((trial.id, cost));
        }
        self.tuner.tell_cost(trial.id, cost);
        Ok(())
    }

    pub(super) fn found(mut self, finished: Finished) -> Found {
        let progress = self.tuner.progress();
        self.ranking.extend(self.recalled.iter().filter(|(_, ms)| ms.is_finite()));
        self.ranking.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        self.ranking.dedup_by_key(|(id, _)| *id);
        Found {
            finished,
            ranking: self.ranking,
            evaluated: progress.evaluated,
            failed: progress.failed,
            elapsed: progress.elapsed,
        }
    }
}
