//! Chooses what happens at the ends of loops that blocks do not divide.
//!
//! ```text
//!     if (i < left) S(i)                                  guard: every thread asks, the default
//!       ==> bounds peel
//!     if (left >= TILE) { S(i) } else { if (i < left) S(i) }        the block asks once
//!       ==> bounds pad
//!     S(i)                                                nobody asks: arrays are padded with zeros, see `pad`
//! ```
//!
//! Peeling makes the kernel twice as long: blocks inside run the first copy, those at the edge the second. Legal for
//! nests that are computed in tiles; padding has conditions of its own.

mod pad;

use std::fmt;
use warpsmith_ir::{LoopId, SourceMap};

use super::Rewritten;
use super::step::grammar::wanted;
use super::step::{About, Law, Rewrite, StepError};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use winnow::ModalResult;
use winnow::Parser;
use winnow::combinator::alt;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// What is done at the edges.
    pub edges: Edges,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.edges.name())
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "bounds",
        example: "bounds peel",
        does: "lets blocks whose iterations all exist run without guards (`peel`), pads arrays with zeros to whole tiles so that nobody asks (`pad`: copies in the workspace), or lets every thread ask (`guard`, the default)",
        legal: "a nest is computed in tiles: take it after `register_tile` and `stage`; to pad, subscripts must be counters plus something, under no condition, and what is written past the end must lie behind the arrays",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nregister_tile i by 4\nbounds peel",
            after: "\
void scale(int n, float *x) {
    // a thread computes 4 iterations of `i`
    // blocks whose iterations all exist run without conditions
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let all = [Edges::Guard, Edges::Peel, Edges::Pad];
        let edges = alt(all.map(|e| e.name().value(e)))
            .context(wanted("`peel`, `pad` or `guard` is wanted here"))
            .parse_next(input)?;
        Ok(Args { edges })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, self.edges)?))
    }
}

/// How a kernel treats iterations that do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Every iteration asks whether it exists.
    Guard,
    /// Blocks that are whole have a copy without guards.
    Peel,
    /// Arrays are made longer, so that no guard is wanted.
    Pad,
}

impl Edges {
    /// The word in a schedule.
    pub fn name(self) -> &'static str {
        match self {
            Edges::Guard => "guard",
            Edges::Peel => "peel",
            Edges::Pad => "pad",
        }
    }
}

/// The verdict on a `bounds`, which alone allows it.
pub struct LegalBounds<'k> {
    kernel: &'k Kernel,
    roots: Vec<LoopId>,
    peel: bool,
    /// The kernel on padded arrays.
    padded: Option<Kernel>,
}

/// Asks whether the edges of the tiled nests can be treated so.
///
/// # Errors
/// [`Refusal::NothingTiled`], when no nest has tiles, or [`Refusal::CannotPad`].
pub fn check(kernel: &Kernel, edges: Edges) -> Result<LegalBounds<'_>, Refusal> {
    let tiled = kernel.nests.iter().filter(|(_, n)| n.is_tiled());
    let roots: Vec<LoopId> = tiled.map(|(root, _)| *root).collect();
    if roots.is_empty() {
        return Err(Refusal::NothingTiled);
    }
    let padded = match edges {
        Edges::Pad => Some(pad::padded(kernel)?),
        _ => None,
    };
    Ok(LegalBounds { kernel, roots, peel: edges == Edges::Peel, padded })
}

/// Notes the choice, to be acted on when the nests are lowered; padded arrays are there at once.
pub fn apply(legal: LegalBounds<'_>) -> Rewritten {
    if let Some(padded) = legal.padded {
        return Rewritten::same_loops(padded);
    }
    let mut kernel = legal.kernel.clone();
    for root in &legal.roots {
        if let Some(nest) = kernel.nests.get_mut(root) {
            nest.peel = legal.peel;
        }
    }
    Rewritten::same_loops(kernel)
}
