//! Timing: events around a candidate's actions, caches emptied before, single runs kept.

use crate::driver::{Buffer, Event, Gpu};
use crate::error::GpuError;
use crate::protocol::Policy;

type Result<T> = std::result::Result<T, GpuError>;

/// A pair of events, and memory to empty the caches with.
pub struct Clock {
    start: Event,
    end: Event,
    scratch: Buffer,
}

impl Clock {
    /// `l2` is the size of the largest cache in bytes.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(gpu: &Gpu, l2: u64) -> Result<Clock> {
        // Twice the cache, so that nothing of it survives whatever is replaced first; also enough work for the device
        // that the run behind it has been handed over when it begins.
        let scratch = gpu.allocate((2 * l2).max(64 << 20))?;
        Ok(Clock { start: gpu.event()?, end: gpu.event()?, scratch })
    }

    /// Milliseconds of one run.
    ///
    /// # Errors
    /// The driver's, or the run's.
    pub fn time(&self, flush: bool, run: impl FnOnce() -> Result<()>) -> Result<f64> {
        if flush {
            self.scratch.fill(0, self.scratch.len(), 0)?;
        }
        self.start.record()?;
        run()?;
        self.end.record()?;
        self.end.wait()?;
        self.end.since(&self.start)
    }

    /// Single runs as a policy wants them. `before` is done ahead of each, outside the measured time.
    ///
    /// # Errors
    /// The driver's, or the run's.
    pub fn samples(
        &self,
        policy: &Policy,
        before: impl Fn() -> Result<()>,
        run: impl Fn() -> Result<()>,
    ) -> Result<Vec<f64>> {
        let one = || {
            before()?;
            self.time(policy.flush, &run)
        };
        let first = one()?;
        if policy.give_up_over_ms.is_some_and(|limit| first > limit) {
            return Ok(vec![first]);
        }
        for _ in 0..policy.warmup {
            one()?;
        }
        let (mut samples, mut spent) = (vec![], 0.0);
        while samples.len() < policy.max_runs.max(1) as usize {
            if samples.len() >= policy.min_runs as usize && spent >= policy.budget_ms {
                break;
            }
            let time = one()?;
            spent += time;
            samples.push(time);
        }
        Ok(samples)
    }
}
