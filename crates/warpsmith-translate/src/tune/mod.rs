//! From a C loop nest to a verified CUDA kernel.

pub mod arch;
mod beyond;
mod by_data;
pub mod choice;
mod choices;
pub mod compare;
pub mod compiled;
mod condition;
pub mod counted;
mod coverage;
mod culprit;
pub mod device;
mod estimates;
pub mod extents;
pub mod faults;
mod given;
pub mod host_c;
pub mod inputs;
mod large;
mod lowered;
mod made;
pub mod measure;
mod part;
pub mod pipeline;
pub mod points;
pub mod profile;
mod reach;
pub mod recompute;
pub mod request;
pub mod result;
mod sampled;
pub mod search;
pub mod sizes;
mod space;
mod steps;
mod suited;
mod variant;
pub mod verify;
pub mod witness;
pub mod work;

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
