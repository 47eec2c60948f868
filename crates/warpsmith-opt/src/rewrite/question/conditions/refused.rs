//! How a copy that cannot be is refused.

use crate::kernel::{Kernel, Stage};
use crate::refusal::Refusal;

/// A copy that cannot be.
pub(super) fn refused<T>(kernel: &Kernel, stage: &Stage, why: String) -> Result<T, Refusal> {
    let name = kernel.name_of(stage.array).to_string();
    Err(Refusal::CannotStage { name, why, at: Box::default() })
}
