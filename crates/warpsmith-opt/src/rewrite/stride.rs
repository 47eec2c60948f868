//! Lets the threads along x go through their loop in strides of the grid, as those along y and z do.
//!
//! ```text
//!     j = blockIdx.x * blockDim.x + threadIdx.x; if (j < m) S(j);
//!       ==> stride j
//!     for (j = blockIdx.x * blockDim.x + threadIdx.x; j < m; j += gridDim.x * blockDim.x) S(j);
//! ```
//!
//! A grid of any width is then right; the launcher starts as many blocks as along the other axes at most.
//!
//! Legal for the loop that is bound to x, in a nest whose blocks compute no tiles and whose threads share no loop.

use warpsmith_ir::{Axis, LoopId};

use super::Rewritten;
use super::question::conditions::bound_nest;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::kernel::{Kernel, Order};
use crate::refusal::Refusal;

/// The step, which names one loop: the loop that is bound to x.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "stride",
        example: "stride j",
        does: "lets the threads along x go through their loop in strides of the grid, as those along y and z do",
        legal: "the loop is bound to x, and its blocks compute no tiles",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nstride i",
            after: "\
void scale(int n, float *x) {
    // threads along x go on in strides of the grid
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `stride`, which alone allows it.
pub struct LegalStride<'k> {
    kernel: &'k Kernel,
    root: LoopId,
}

/// Asks whether the loop can run in strides of the grid.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalStride<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("stride", target, why));
    let (root, nest) = bound_nest(kernel, target)?;
    let axis = nest.axes.iter().find(|(id, _)| *id == target).map(|(_, axis)| *axis);
    match axis {
        Some(Axis::X) if nest.is_tiled() => refuse("its blocks compute tiles, one each"),
        Some(Axis::X) => Ok(LegalStride { kernel, root }),
        _ => refuse("it is not bound to x: loops along y and z run in strides anyway"),
    }
}

/// Notes the strides; the nest is written out when it is lowered.
pub fn apply(legal: LegalStride<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.order = Order::Strides;
    }
    Rewritten::same_loops(kernel)
}
