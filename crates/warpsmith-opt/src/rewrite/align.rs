//! Lets the blocks of a bound loop begin at a multiple of a vector although the loop does not.
//!
//! ```text
//!     for i in 1..n - 1 { S(i) }                 thread t: i = 1 + 4 * t …
//!       ==> align i by 4
//!     for i in 0..n - 1 { if (i >= 1) S(i) }     thread t: i = 4 * t …
//! ```
//!
//! Stencils leave out the first element of each row: the groups of neighbours that a thread has together then lie
//! across two vectors of memory, and no access to them is aligned. With the step, blocks are laid out from the last
//! multiple at or before the first iteration. With `vectorise`, a group reads whole vectors, and stores one where all of
//! its iterations exist; at the ends of a row it stores element by element.
//!
//! Legal for every bound loop that counts up by one: the iterations before the first and after the last do nothing, as
//! those of excess threads. What a group reads although an iteration of it does not exist is an aligned vector that
//! holds an element which another iteration of the group reads, in an array of whole vectors: it is inside of the array.
//! Copies to shared memory begin where the loop does, so that no array may be staged; nor may arrays be padded to whole
//! tiles.

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions;
use super::question::conditions::{bound_nest, check_tiles};
use super::step::{About, CountArgs, Law, OfCount};
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The step, which names a bound loop and elements of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "align",
        example: "align i by 4",
        does: "lets blocks begin at a multiple of a vector although the loop begins at 1: groups of `vectorise i by 4` are then aligned, read whole vectors, and store element by element at the ends of rows only",
        legal: "the loop is bound, counts up by one, and does not begin at a multiple already; no array is staged",
        law: Law {
            before: "\
void line(int n, const float u[n], float v[n]) {
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        v[i] = u[i - 1] + u[i + 1];
}
",
            steps: "bind i -> x block 256\nregister_tile i by 4\nalign i by 4",
            after: "\
void line(int n, const float *u, float *v) {
    // a thread computes 4 iterations of `i`
    // blocks of `i` begin at multiples of 4
    // threads of the grid along x, 256 a block
    for (int i = 1; i < n - 1; ++i) {
        v[i] = u[i - 1] + u[i + 1];
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the elements of a vector are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// The verdict on an `align`, which alone allows it.
pub struct LegalAlign<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
    width: u32,
}

/// Asks whether the blocks of the loop can begin at a multiple of `width`.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, width: u32) -> Result<LegalAlign<'_>, Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop("align", target, why));
    if !matches!(width, 2 | 4) {
        return refuse(format!("vectors have 2 or 4 elements, not {width}"));
    }
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles(kernel, root, nest)?;
    let Some(l) = kernel.find_loop(target) else { return refuse("it is gone".into()) };
    if nest.multiples.past_multiple(&l.first, width) == Some(0) {
        return refuse(format!("it begins at a multiple of {width} as it is"));
    }
    let mut aligned = nest.clone();
    aligned.aligned.insert(target, width);
    conditions::check(kernel, root, &aligned)?;
    Ok(LegalAlign { kernel, root, target, width })
}

/// Notes the width; the nest is written out when it is lowered.
pub fn apply(legal: LegalAlign<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.aligned.insert(legal.target, legal.width);
    }
    Rewritten::same_loops(kernel)
}
