//! From a C loop nest to a verified CUDA kernel.

pub mod arch;
pub mod barred;
pub mod choice;
pub mod compiled;
pub mod counters;
pub mod device;
mod estimates;
mod explained;
pub mod extents;
pub mod faults;
mod fitting;
mod given;
mod job;
mod kept;
pub mod measure;
pub mod pipeline;
pub mod profile;
pub mod recompute;
pub mod request;
pub mod result;
pub mod search;
pub mod sizes;
mod space;
mod steps;
pub mod verified_files;
pub mod verify;

pub use self::pipeline::{Tuned, kernel, plan, tune, tune_as};
pub use self::request::{RegisterSource, SearchBudget, Strategy, TuneRequest};
pub use self::search::Measured;

use crate::status::Failure;

/// The GPU that stands for an architecture.
///
/// # Errors
/// W310 with the list of known names.
pub fn gpu(arch: &str) -> Result<&'static warpsmith_device::Gpu, Failure> {
    Ok(arch::find(arch)?.gpu())
}
