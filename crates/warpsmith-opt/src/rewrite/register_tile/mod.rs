//! Gives each thread several iterations of a bound loop (AutoGPU's *unrolling of parallel loops*).
//!
//! ```text
//!     i = i_block + threadIdx.y;                    S(i)
//!       ==> register_tile i by 4
//!     for ti in 0..4 { i = i_block + threadIdx.y + ti * BY;    S(i) }
//! ```
//!
//! A block then computes four times as many iterations, which lie a block's width apart, so that neighbouring threads
//! still have neighbouring elements. The loop over `ti` goes around every statement that depends on `i`, inside of the
//! serial loops, and is unrolled; every variable that depends on `i` becomes an array with one element for each `ti`,
//! which the compiler keeps in registers.
//!
//! Legal where the loop is bound with step 1, nothing leaves an iteration early (the iterations are independent, so that
//! their statements may be interleaved), and what the larger block copies still fits in shared memory.

pub(crate) mod elements;
pub(crate) mod excess;
pub(crate) mod expansion;
pub(crate) mod fragments;
pub(crate) mod tile;
pub(crate) mod tiled;
pub(crate) mod together;
pub(crate) mod unset;
pub(crate) mod updates;

use warpsmith_ir::LoopId;

use super::Rewritten;
use super::question::conditions;
use super::question::conditions::{bound_nest, check_tiles_or_updates};
use super::step::{About, CountArgs, Law, OfCount};
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The step, which names a bound loop and iterations of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "register_tile",
        example: "register_tile i by 4",
        does: "gives each thread several iterations of a bound loop",
        legal: "the loop counts up by one and nothing leaves an iteration early",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nregister_tile i by 4",
            after: "\
void scale(int n, float *x) {
    // a thread computes 4 iterations of `i`
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the iterations of a thread are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// More iterations than this a thread cannot keep in registers.
const MOST: u32 = 64;

/// The verdict on a `register_tile`, which alone allows it.
pub struct LegalRegisterTile<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
    factor: u32,
}

/// Asks whether each thread can compute `factor` iterations of the loop.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    target: LoopId,
    factor: u32,
) -> Result<LegalRegisterTile<'_>, Refusal> {
    if !(2..=MOST).contains(&factor) {
        return Err(Refusal::TileFactor { loop_id: target, factor, most: MOST });
    }
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles_or_updates(kernel, root, nest)?;
    let others = nest.tiles.iter().filter(|(id, _)| **id != target);
    let all = others.fold(u64::from(factor), |n, (_, f)| n * u64::from(*f));
    if all > 256 {
        let factor = u32::try_from(all).unwrap_or(u32::MAX);
        return Err(Refusal::TileFactor { loop_id: target, factor, most: 256 });
    }
    if let Some(width) = nest.vectors.get(&target).filter(|w| !factor.is_multiple_of(**w)) {
        let why =
            format!("its iterations come in groups of {width}, of which {factor} is no multiple");
        return Err(Refusal::of_loop("tile", target, why));
    }
    let mut tiled = nest.clone();
    tiled.tiles.insert(target, factor);
    conditions::check(kernel, root, &tiled)?;
    conditions::check_tile(kernel, target, &tiled)?;
    Ok(LegalRegisterTile { kernel, root, target, factor })
}

/// Notes the tile; the nest is written out when it is lowered.
pub fn apply(legal: LegalRegisterTile<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.tiles.insert(legal.target, legal.factor);
    }
    Rewritten::same_loops(kernel)
}
