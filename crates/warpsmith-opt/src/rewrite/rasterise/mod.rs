//! Changes the order of the blocks, so that those that run at the same time read the same data.
//!
//! ```text
//!     blocks (0,0) (0,1) (0,2) … (1,0) (1,1) …          along j first
//!       ==> rasterise i by 8
//!     blocks (0,0) (1,0) … (7,0) (0,1) (1,1) …          groups of 8 along i, and along j in the group
//! ```
//!
//! The blocks that the device runs together then form a square rather than a row: what they read fits in the L2 cache.
//!
//! Legal for the bound loop right outside the innermost one, in a nest of tiles with counters of 32 bits; a group must
//! not be longer than a block is wide, so that the blocks of a group can be counted in 32 bits.

pub(crate) mod blocks;

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions::{bound_nest, check_tiles};
use super::step::{About, CountArgs, Law, OfCount};
use crate::kernel::{Kernel, Order};
use crate::refusal::Refusal;

/// The step, which names the loop bound right outside the innermost one and blocks of a group along the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "rasterise",
        example: "rasterise i by 8",
        does: "runs the blocks in groups along a loop, so that those that run together share what they read",
        legal: "the loop is bound right outside the innermost one",
        law: Law {
            before: "\
void product(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
}
",
            steps: "bind i, j -> y, x block 16x16\nstage A at k tile 16\nrasterise i by 8",
            after: "\
void product(int n, const float *A, const float *B, float *C) {
    // `A` goes through shared memory in strips of 16 iterations of `k`
    // blocks run in groups of 8 rows
    // threads of the grid along y, 16 a block
    for (int i = 0; i < n; ++i) {
        // threads of the grid along x, 16 a block
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k) {
                sum += A[(size_t)i * n + k] * B[(size_t)k * n + j];
            }
            C[(size_t)i * n + j] = sum;
        }
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the blocks of a group are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// The verdict on a `rasterise`, which alone allows it.
pub struct LegalRasterise<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    blocks: u32,
}

/// Asks whether the blocks can run in groups of `blocks` along the loop.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, blocks: u32) -> Result<LegalRasterise<'_>, Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop("group the blocks of", target, why));
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles(kernel, root, nest)?;
    let inner = match nest.axes.as_slice() {
        [.., (outer, _), (inner, _)] if *outer == target => *inner,
        _ => return refuse("it is not the bound loop right outside the innermost one".into()),
    };
    let width = nest.block_extent(inner).unwrap_or(1);
    if !(2..=width.min(64)).contains(&blocks) {
        return refuse(format!("a group has from 2 to {} blocks, not {blocks}", width.min(64)));
    }
    let wide = nest
        .axes
        .iter()
        .filter_map(|(id, _)| kernel.find_loop(*id))
        .any(|l| kernel.func().var(l.var).ty.scalar().is_none_or(|s| s.bytes() == 8));
    match wide {
        true => refuse("the nest counts in 64 bits".into()),
        false => Ok(LegalRasterise { kernel, root, blocks }),
    }
}

/// Notes the group; the nest is written out when it is lowered.
pub fn apply(legal: LegalRasterise<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.order = Order::Groups(legal.blocks);
    }
    Rewritten::same_loops(kernel)
}
