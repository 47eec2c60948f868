//! Launches as many blocks as run at the same time, each of which goes over several tiles.
//!
//! ```text
//!     tile = blockIdx.x; S(tile);                                          a block for each tile
//!       ==> persist i by 264
//!     for (tile = blockIdx.x; tile < tiles; tile += gridDim.x) S(tile);    264 blocks at most
//! ```
//!
//! The blocks stay on their multiprocessors, so that starting them is paid for once. The launcher starts as many as there
//! are tiles, 264 at most: the grid is right for every size, and which block computes which tile does not depend on time.
//!
//! Legal for a loop that is bound, in a nest whose blocks can compute tiles: no iteration ends early. Where tiles go through
//! shared memory a barrier at the end of each keeps the copies of the next one from what is still read.

pub(crate) mod strides;

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions::{bound_nest, check_tiles_or_updates};
use super::step::{About, CountArgs, Law, OfCount};
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The step, which names a bound loop of the nest and most blocks of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "persist",
        example: "persist i by 264",
        does: "launches as many blocks as run at the same time, each of which goes over several tiles in strides of the grid",
        legal: "the loop is bound, and no iteration ends early",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nregister_tile i by 4\npersist i by 264",
            after: "\
void scale(int n, float *x) {
    // a thread computes 4 iterations of `i`
    // 264 blocks at most, each of which goes over several tiles in strides of the grid
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the most blocks of a launch are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// Fewer blocks leave a device idle; more are no limit that a test can reach.
const BLOCKS: std::ops::RangeInclusive<u32> = 16..=65535;

/// The verdict on a `persist`, which alone allows it.
pub struct LegalPersist<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    blocks: u32,
}

/// Asks whether `blocks` blocks can go over all tiles of the nest in which the loop is bound.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, blocks: u32) -> Result<LegalPersist<'_>, Refusal> {
    let refuse =
        |why: String| Err(Refusal::of_loop("let blocks go over the tiles of", target, why));
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles_or_updates(kernel, root, nest)?;
    if !BLOCKS.contains(&blocks) {
        let (least, most) = (BLOCKS.start(), BLOCKS.end());
        return refuse(format!("a launch has from {least} to {most} of them, not {blocks}"));
    }
    match nest.resident {
        Some(known) => refuse(format!("{known} blocks go over them already")),
        None => Ok(LegalPersist { kernel, root, blocks }),
    }
}

/// Notes the blocks; the nest is written out when it is lowered.
pub fn apply(legal: LegalPersist<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.resident = Some(legal.blocks);
    }
    Rewritten::same_loops(kernel)
}
