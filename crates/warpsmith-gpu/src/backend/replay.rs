//! Recorded results in place of a device: for tests of crashes, resumption and clusters, and for trying strategies.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Backend, Fault, Result};
use crate::error::GpuError;
use crate::protocol::{
    Candidate, Compile, Hello, Invalid, KernelInfo, Limits, Measured, Policy, Problem, Reason,
    Reference, VERSION,
};

/// A recorded run, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The device that took the times, by its name.
    pub device: String,
    /// Its architecture, such as `sm_90`.
    pub arch: String,
    /// By [`Candidate::key`].
    pub results: BTreeMap<String, Measured>,
    /// Milliseconds that each answer takes.
    #[serde(default)]
    pub delay_ms: u64,
}

/// Answers from a recording; runs nothing.
pub struct ReplayBackend {
    recording: Recording,
}

impl ReplayBackend {
    /// Answers from this recording.
    pub fn new(recording: Recording) -> ReplayBackend {
        ReplayBackend { recording }
    }

    fn look_up(&self, candidate: &Candidate) -> Measured {
        std::thread::sleep(Duration::from_millis(self.recording.delay_ms));
        let found = self.recording.results.get(&candidate.key).cloned();
        found.unwrap_or_else(|| {
            let detail = format!("`{}` was not recorded", candidate.key);
            Measured::Invalid(Invalid::new(Reason::Runtime, detail))
        })
    }
}

fn not_recorded<T>(what: &str) -> Result<T> {
    let detail = format!("a replay has no {what}");
    Err(Fault::Invalid(Invalid::new(Reason::Runtime, detail)))
}

impl Backend for ReplayBackend {
    fn hello(&mut self) -> std::result::Result<Hello, GpuError> {
        Ok(Hello {
            version: VERSION,
            backend: "replay".into(),
            device: self.recording.device.clone(),
            arch: self.recording.arch.clone(),
            driver: "recorded".into(),
            compiler: String::new(),
        })
    }

    /// The text stands for the binary: nothing looks at it.
    fn compile(&mut self, request: &Compile) -> Result<(Vec<KernelInfo>, String, Vec<u8>)> {
        let kernels = request.kernels.iter().map(|name| KernelInfo {
            name: name.clone(),
            symbol: name.clone(),
            registers: 0,
            shared: 0,
            local: 0,
            spills: 0,
        });
        Ok((kernels.collect(), String::new(), request.source.clone().into_bytes()))
    }

    fn prepare(&mut self, _: Problem, _: Vec<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    fn reference(&mut self, _: &Reference, _: &[u8]) -> Result<Vec<Vec<u8>>> {
        not_recorded("outputs")
    }

    fn measure(&mut self, candidate: &Candidate, _: &[u8], _: &Policy) -> Result<Vec<f64>> {
        match self.look_up(candidate) {
            Measured::Times(times) => Ok(times),
            Measured::Invalid(invalid) => Err(Fault::Invalid(invalid)),
        }
    }

    fn race(
        &mut self,
        candidates: &[Candidate],
        _: &[Vec<u8>],
        _: u32,
        _: &Policy,
    ) -> Result<Vec<Measured>> {
        Ok(candidates.iter().map(|c| self.look_up(c)).collect())
    }

    fn limits(&mut self, _: u64) -> Result<Limits> {
        not_recorded("limits")
    }

    fn occupancy(&mut self, _: &[u8], _: &str, _: &[(u32, u32)]) -> Result<Vec<u32>> {
        not_recorded("occupancy")
    }
}
