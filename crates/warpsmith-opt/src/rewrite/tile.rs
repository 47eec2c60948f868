//! Computes two nested serial loops tile by tile.
//!
//! ```text
//!     for i in 0..n { for j in 0..m { S(i, j) } }
//!       ==> tile i, j by 32x8
//!     for i_block in 0..n step 32 { for j_block in 0..m step 8 {
//!         for i in i_block..min(i_block + 32, n) { for j in j_block..min(j_block + 8, m) { S(i, j) } }
//!     } }
//! ```
//!
//! It is `split` of both loops and `interchange` of the two in the middle, and legal where these are: nothing but the
//! inner loop is in the outer one, and no two iterations that change places conflict.

use std::fmt;
use warpsmith_ir::{LoopId, SourceMap};

use super::step::grammar::{comma, name, number, wanted};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, interchange, split};
use crate::kernel::{Kernel, only_loop};
use crate::refusal::Refusal;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::preceded;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The outer and the inner loop.
    pub loops: [String; 2],
    /// Iterations of a tile along the two loops.
    pub sizes: [u32; 2],
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Args { loops: [outer, inner], sizes: [rows, columns] } = self;
        write!(f, "{outer}, {inner} by {rows}x{columns}")
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "tile",
        example: "tile k, l by 32x8",
        does: "computes two nested serial loops tile by tile",
        legal: "both loops can be split, and the loops in the middle interchanged",
        law: Law {
            before: "\
void planes(int n, const float u[n][8][8], float v[n][8][8]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            for (int l = 0; l < 8; l++)
                v[i][l][k] = u[i][k][l];
}
",
            steps: "tile k, l by 4x2",
            after: "\
void planes(int n, const float *u, float *v) {
    // parallel
    for (int i = 0; i < n; ++i) {
        for (int k_block = 0; k_block < 8; k_block += 4) {
            for (int l_block = 0; l_block < 8; l_block += 2) {
                for (int k = k_block; k < (8 - k_block > 4 ? k_block + 4 : 8); ++k) {
                    for (int l = l_block; l < (8 - l_block > 2 ? l_block + 2 : 8); ++l) {
                        v[((size_t)i * 8 + l) * 8 + k] = u[((size_t)i * 8 + k) * 8 + l];
                    }
                }
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let outer = name.parse_next(input)?;
        let inner = preceded(comma(), name)
            .context(wanted("a comma and the loop directly inside are wanted here"))
            .parse_next(input)?;
        let (rows, columns) = preceded((space1, "by", space1), (number, preceded('x', number)))
            .context(wanted("`by` and two numbers, `32x8`, are wanted here"))
            .parse_next(input)?;
        Ok(Args { loops: [outer, inner], sizes: [rows, columns] })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let [outer, inner] = &self.loops;
        let loops = [loop_named(kernel, outer)?, loop_named(kernel, inner)?];
        Ok(apply(check(kernel, loops, self.sizes)?))
    }
}

/// The verdict on a `tile`, which alone allows it.
pub struct LegalTile {
    /// Both loops cut.
    kernel: Kernel,
    outer: LoopId,
}

/// Asks whether the nested loops can be computed in tiles of the given numbers of iterations.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    [outer, inner]: [LoopId; 2],
    [rows, columns]: [u32; 2],
) -> Result<LegalTile, Refusal> {
    let inside = kernel.find_loop(outer).and_then(|l| only_loop(&l.body));
    if inside.is_none_or(|l| l.id != inner) {
        return Err(Refusal::NotNested { outer, inner });
    }
    // Of the uncut loops, so that the message is about what the user wrote.
    interchange::check(kernel, outer)?;
    let kernel = split::apply(split::check(kernel, outer, rows)?).kernel;
    let kernel = split::apply(split::check(&kernel, inner, columns)?).kernel;
    interchange::check(&kernel, outer)?;
    Ok(LegalTile { kernel, outer })
}

/// Brings the loop over the outer loop's strip inside that over the inner loop's strips.
pub fn apply(legal: LegalTile) -> Rewritten {
    match interchange::check(&legal.kernel, legal.outer) {
        Ok(swap) => interchange::apply(swap),
        // The check looked at this kernel.
        Err(_) => Rewritten::same_loops(legal.kernel.clone()),
    }
}
