//! Reads from shared memory for the next iteration of a strip before the current one is computed.
//!
//! ```text
//!     for k in 0..16 { read a, b at k;   acc += a * b }
//!       ==> double_buffer k
//!     read a[0], b[0] at 0
//!     for k in 0..16 { read a[(k + 1) % 2], b[(k + 1) % 2] at k + 1;   acc += a[k % 2] * b[k % 2] }
//! ```
//!
//! The values arrive while the arithmetic of the iteration before goes on; the first ones are read before the copies of the
//! next strip are started.
//!
//! Legal where strips of the loop are staged and the loop is unrolled, entirely or by an even number: registers have no
//! addresses, so that the compiler must know which of the two is meant.

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::loops::is_even;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop in whose strips arrays are staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "double_buffer",
        example: "double_buffer k",
        does: "reads from shared memory what the next iteration of a strip needs before the current one is computed",
        legal: "strips of the loop are staged, and it is unrolled entirely or by an even number",
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
            steps: "bind i, j -> y, x block 16x16\nregister_tile i by 4\nstage A at k tile 16\nstage B at k tile 16\nunroll k\ndouble_buffer k",
            after: "\
void product(int n, const float *A, const float *B, float *C) {
    // a thread computes 4 iterations of `i`
    // `A` goes through shared memory in strips of 16 iterations of `k`
    // `B` goes through shared memory in strips of 16 iterations of `k`
    // `k` reads ahead into registers
    // threads of the grid along y, 16 a block
    for (int i = 0; i < n; ++i) {
        // threads of the grid along x, 16 a block
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            #pragma unroll
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

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `double_buffer`, which alone allows it.
pub struct LegalDoubleBuffer<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
}

/// Asks whether what the iterations of the loop read can be read one iteration ahead.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalDoubleBuffer<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("double-buffer", target, why));
    let cut = |n: &Nest| n.staged_at(target).next().is_some();
    let Some((root, _)) = kernel.nests.iter().find(|(_, n)| cut(n)) else {
        return refuse("no array is staged in strips of it: take `stage` first");
    };
    if kernel.nests.get(root).is_some_and(|nest| conditions::writes_back(kernel, *root, nest)) {
        return refuse("what its strips write goes back to memory");
    }
    if kernel.nests.values().any(|n| n.shared_loop(target).is_some()) {
        return refuse("threads share its strips, one iteration at a time");
    }
    match kernel.find_loop(target) {
        // What is read ahead in an iteration is what the next one has.
        Some(l) if walk::continues(&l.body).is_some() => refuse(
            "an iteration may end before it has read what the next one needs: take `guard` first",
        ),
        Some(l) if is_even(&l.kind) => Ok(LegalDoubleBuffer { kernel, root: *root, target }),
        _ => refuse("it is not unrolled by an even number: take `unroll` first"),
    }
}

/// Notes the loop; the nest is written out when it is lowered.
pub fn apply(legal: LegalDoubleBuffer<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        let cut = nest.stages.iter_mut().filter(|s| s.is_cut_at(legal.target));
        cut.for_each(|s| s.ahead = true);
    }
    Rewritten::same_loops(kernel)
}
