//! Lets the copies of strips run ahead of the computation, without waiting for each.
//!
//! ```text
//!     for k_block in K step 16 { copy strip; barrier; use strip; barrier }
//!       ==> pipeline k stages 2
//!     start the copy of the first strip
//!     for k_block in K step 16 {
//!         wait for the strip; barrier
//!         start the copy of the next strip, to where the last one was
//!         use strip
//!     }
//! ```
//!
//! The copies are `cp.async`, which go to shared memory past the registers; on devices before sm_80 the same primitives
//! copy at once. One barrier a strip is enough: it says that the strip is there, and that everyone is done with the one
//! whose place the next copy takes.
//!
//! Legal where strips of the loop are staged, each thread copies 4, 8 or 16 bytes at a time (what the hardware can), and
//! all strips in flight fit in shared memory.

pub(crate) mod strips;

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions;
use super::step::{About, CountArgs, Law, OfCount};
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;

/// The step, which names the loop in whose strips arrays are staged and strips in shared memory at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "pipeline",
        example: "pipeline k stages 2",
        does: "starts the copies of the next strips before the current one is used, by `cp.async`",
        legal: "arrays are staged in strips of the loop, each copy has 4, 8 or 16 bytes, and all strips in flight fit in shared memory",
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
            steps: "bind i, j -> y, x block 16x16\nstage A at k tile 16\nstage B at k tile 16\npipeline k stages 2",
            after: "\
void product(int n, const float *A, const float *B, float *C) {
    // `A` goes through shared memory in strips of 16 iterations of `k`
    // `B` goes through shared memory in strips of 16 iterations of `k`
    // 2 strips of `k` in shared memory
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
    const COUNT: [&str; 2] = ["stages", "`stages` and the strips in flight are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// More strips in flight than this do not hide anything any more.
const MOST: u32 = 8;

/// The verdict on a `pipeline`, which alone allows it.
pub struct LegalPipeline<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
    stages: u32,
}

/// Asks whether `stages` strips of the loop can be in shared memory at a time.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, stages: u32) -> Result<LegalPipeline<'_>, Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop("pipeline", target, why));
    if !(2..=MOST).contains(&stages) {
        return refuse(format!("{stages} strips in flight make no sense, 2 to {MOST} do"));
    }
    let cut = |n: &Nest| n.staged_at(target).next().is_some();
    let Some((root, nest)) = kernel.nests.iter().find(|(_, n)| cut(n)) else {
        return refuse("no array is staged in strips of it: take `stage` first".into());
    };
    let mut piped = nest.clone();
    run_ahead(&mut piped, target, stages);
    conditions::check(kernel, *root, &piped)?;
    Ok(LegalPipeline { kernel, root: *root, target, stages })
}

/// Notes the strips in flight; the nest is written out when it is lowered.
pub fn apply(legal: LegalPipeline<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        run_ahead(nest, legal.target, legal.stages);
    }
    Rewritten::same_loops(kernel)
}

/// Lets what is copied for strips of a loop have room for so many.
fn run_ahead(nest: &mut Nest, target: LoopId, slots: u32) {
    nest.stages.iter_mut().filter(|s| s.is_cut_at(target)).for_each(|s| s.slots = slots);
}
