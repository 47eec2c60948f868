//! Threads that make and compile texts ahead of the measurements.

use std::sync::Arc;
use std::time::Instant;

use warpsmith_gpu::bench::{Bench, Options};
use warpsmith_gpu::protocol::{Invalid, Reason};
use warpsmith_gpu::stop::Stop;
use warpsmith_tune::outcome::Phases;
use warpsmith_tune::tuner::Trial;

use super::station::Launches;
use super::{Draft, NoDevice, Prepared, Workload};

/// A configuration that can be measured.
pub struct Compiled {
    pub entrants: Vec<Prepared>,
    pub phases: Phases,
}

/// Makes candidates of configurations.
pub struct Maker {
    workload: Arc<dyn Workload>,
    bench: Bench,
    arch: String,
}

impl Maker {
    /// `stop` ends a compilation under way.
    pub fn new(workload: Arc<dyn Workload>, options: Options, arch: &str, stop: Stop) -> Maker {
        let mut bench = Bench::new(options);
        bench.stop_when(stop);
        Maker { workload, bench, arch: arch.to_string() }
    }

    /// Text, binary and launches of a configuration.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn make(&mut self, trial: &Trial) -> Result<Compiled, (Invalid, Phases)> {
        let begun = Instant::now();
        let mut phases = Phases::default();
        let draft = self.workload.draft(&trial.configuration);
        phases.framework_ms = Some(milliseconds(begun));
        let draft = draft.map_err(|invalid| (invalid, phases.clone()))?;
        let begun = Instant::now();
        let made = self.compile(&draft);
        phases.compile_ms = Some(milliseconds(begun));
        match made {
            Ok(entrants) => Ok(Compiled { entrants, phases }),
            Err(invalid) => Err((invalid, phases)),
        }
    }

    /// A draft's binary with its launches for every task.
    ///
    /// # Errors
    /// It cannot be compiled or launched.
    pub fn compile(&mut self, draft: &Arc<dyn Draft>) -> Result<Vec<Prepared>, Invalid> {
        let mut request = draft.request();
        request.arch.clone_from(&self.arch);
        let binary = Arc::new(self.bench.compile(&request)?);
        let entrants = (0..self.workload.tasks().len()).map(|task| {
            let mut device = NoDevice::default();
            let launches = match draft.candidate(&binary, task, &mut device) {
                Err(_) if device.was_asked => Launches::ByValues(draft.clone()),
                found => Launches::Known(found?),
            };
            Ok(Prepared { launches, binary: binary.clone() })
        });
        entrants.collect()
    }
}

/// Since a moment, in milliseconds.
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The end of a compilation that nobody waits for any more is no outcome.
pub fn was_stopped(invalid: &Invalid, stop: &Stop) -> bool {
    stop.is_due() && invalid.reason == Reason::Compile
}
