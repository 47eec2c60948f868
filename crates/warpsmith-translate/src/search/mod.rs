//! Searching by measurement: the engine that tries configurations on devices.
//!
//! [`warpsmith_tune`] says which configuration comes next; a [`Workload`] makes its text; threads compile ahead on all
//! cores; stations, one for each device, check and time what is compiled; the store keeps every outcome as it
//! arrives. The engine knows neither schedules nor other people's kernels: both come as workloads.

mod arithmetic;
mod compile;
mod engine;
pub mod outcome;
mod progress;
mod queue;
mod station;
pub mod store;
mod told;

use std::sync::Arc;

use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{
    Action, Candidate, Compile, Element, Invalid, Problem, Reason, Tolerance,
};
use warpsmith_tune::space::Configuration;

pub use arithmetic::Arithmetic;
pub use engine::{Engine, Found, Halt, Options, Placed, Plan, Raced, SearchError};
pub use progress::Progress;
pub use station::{Prepared, expected};
pub use told::{FASTER_THAN_A_COPY, Told, failures};

/// What a search tries: the texts of configurations, and the memory on which they work.
pub trait Workload: Send + Sync {
    /// What the compiler gets for a configuration.
    ///
    /// # Errors
    /// What is wrong with the configuration; it is recorded as its outcome.
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid>;

    /// What is measured: one problem for each size. Never empty.
    fn tasks(&self) -> &[Task];
}

/// A text on its way to the compiler.
pub trait Draft: Send + Sync {
    /// The engine fills in the architecture.
    fn request(&self) -> Compile;

    /// The launches of the compiled text for the task at this position. Where the host goes on by values that the device
    /// computes, `device` is asked for them.
    ///
    /// # Errors
    /// The text cannot be launched there, or the device gives no value.
    fn candidate(
        &self,
        binary: &Binary,
        task: usize,
        device: &mut dyn Device,
    ) -> Result<Candidate, Invalid>;
}

/// A device that a launcher waits for.
pub trait Device {
    /// Runs what was asked for since the value before, and gives what the last of these actions reads.
    ///
    /// # Errors
    /// It does not run.
    fn value(&mut self, actions: &[Action]) -> Result<Vec<u8>, Invalid>;
}

/// Where there is no device: notes whether one is needed.
#[derive(Debug, Default)]
pub struct NoDevice {
    /// A value was asked for.
    pub was_asked: bool,
}

impl Device for NoDevice {
    fn value(&mut self, _: &[Action]) -> Result<Vec<u8>, Invalid> {
        self.was_asked = true;
        let why = "how its host goes on depends on values that only a device has";
        Err(Invalid::new(Reason::Runtime, why))
    }
}

/// Memory at one size, and what the right outputs are.
pub struct Task {
    /// The size, for people: `n=1024`.
    pub label: String,
    /// With `expected` where the right outputs are known beforehand.
    pub problem: Problem,
    /// Contents of buffers that `problem` refers to by number.
    pub blobs: Vec<Vec<u8>>,
    /// The same contents with a rounding error in every other real. Not empty where outputs may be made of rounding errors:
    /// then they are compared as far as such errors in the arguments leave them alone.
    pub nearby: Vec<Vec<u8>>,
    /// What is compared where the right outputs come from a run: those of `reference`, or without one those of the first
    /// configuration that runs.
    pub outputs: Vec<Compared>,
    /// The text whose outputs are the right ones; `None`: those of the first configuration that runs, or `expected`.
    pub reference: Option<Arc<dyn Draft>>,
}

/// An output and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Position among the problem's buffers.
    pub buffer: usize,
    /// Type of the buffer's elements.
    pub element: Element,
    /// The difference that is accepted, before `of_largest` is added.
    pub tolerance: Tolerance,
    /// Added to the absolute tolerance: this share of the largest magnitude in the output. For sums, whose rounding
    /// errors follow their terms and not the single result.
    pub of_largest: f64,
}
