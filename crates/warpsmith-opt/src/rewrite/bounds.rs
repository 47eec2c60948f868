//! Chooses what happens at the ends of loops that blocks do not divide.
//!
//! ```text
//!     if (i < left) S(i)                                  guard: every thread asks, the default
//!       ==> bounds peel
//!     if (left >= TILE) { S(i) } else { if (i < left) S(i) }        the block asks once
//! ```
//!
//! Peeling makes the kernel twice as long: blocks inside run the first copy, those at the edge the second. Legal for
//! nests that are computed in tiles.

use warpsmith_ir::LoopId;

use super::Rewritten;
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The verdict on a `bounds`, which alone allows it.
pub struct LegalBounds<'k> {
    kernel: &'k Kernel,
    roots: Vec<LoopId>,
    peel: bool,
}

/// Asks whether the edges of the tiled nests can be treated so.
///
/// # Errors
/// [`Refusal::NothingTiled`], when no nest has tiles.
pub fn check(kernel: &Kernel, peel: bool) -> Result<LegalBounds<'_>, Refusal> {
    let tiled = kernel.nests.iter().filter(|(_, n)| n.is_tiled());
    let roots: Vec<LoopId> = tiled.map(|(root, _)| *root).collect();
    match roots.is_empty() {
        true => Err(Refusal::NothingTiled),
        false => Ok(LegalBounds { kernel, roots, peel }),
    }
}

/// Notes the choice; the copies are made when the nests are lowered.
pub fn apply(legal: LegalBounds<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    for root in &legal.roots {
        if let Some(nest) = kernel.nests.get_mut(root) {
            nest.peel = legal.peel;
        }
    }
    Rewritten::same_loops(kernel)
}
