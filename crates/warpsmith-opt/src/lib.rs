//! Analyses, rewrites and schedules: from a lowered C function to CUDA kernels and their launcher.
//!
//! [`schedule::derive`] makes the schedule of the direct translation, [`schedule::replay`] applies a schedule step by
//! step, [`lower::lower`] turns the scheduled function into a [`Program`]; [`translate`] does all three. Every step asks
//! first (`check`) and edits second (`apply`), and the verifier looks at every result.

#![deny(missing_docs)]

pub mod analysis;
pub mod annotate;
pub mod assumption;
pub mod build;
mod facts;
pub mod inline;
pub mod kernel;
mod legalise;
pub mod lower;
mod names;
mod of_gpu;
pub mod refusal;
pub mod requirement;
pub mod rewrite;
pub mod schedule;
pub mod show;
mod sizes;
pub mod walk;

pub use assumption::Assumption;
pub use kernel::{Kernel, Nest, Reduce};
pub use legalise::{Program, Slot, Workspace};
pub use refusal::Refusal;
pub use schedule::{Schedule, Step};

use warpsmith_ir::{Diagnostic, FuncId, Module, SourceMap};

/// The direct translation: checks the marks, derives the schedule, replays it and lowers the result.
///
/// # Errors
/// All diagnostics of wrongly marked loops, or the one step or statement that cannot be translated.
pub fn translate(
    module: &Module,
    function: FuncId,
    sources: &SourceMap,
) -> Result<(Program, Schedule), Vec<Diagnostic>> {
    let kernel = Kernel::new(module.clone(), function);
    let schedule = schedule::derive(&kernel, sources)?;
    let kernel = schedule::replay(&kernel, &schedule, sources)?;
    let program = lower::lower(&kernel, sources)?;
    Ok((program, schedule))
}
