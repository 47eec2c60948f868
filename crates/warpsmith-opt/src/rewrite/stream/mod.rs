//! Streams what a serial loop reads through registers: rows that several of a thread's iterations share are read once.
//!
//! ```text
//!     for ty in 0..TY { for dy in 0..3 { sum[ty] += f[dy] * u_shared[y_thread + ty + dy] } }
//!       ==> stream dy along y
//!     for row in 0..TY + 2 {
//!         u_row = u_shared[y_thread + row]
//!         for ty in 0..TY { dy = row - ty;   if (0 <= dy < 3) { sum[ty] += f[dy] * u_row } }
//!     }
//! ```
//!
//! A thread's iterations of the bound loop become neighbours, so that iteration `ty` reads at `dy` what iteration
//! `ty + 1` reads at `dy - 1`. Going through the rows (`a·ty + b·dy` where a subscript is `a·y + b·dy`) instead of
//! through `dy` brings these reads together. Everything is unrolled: the condition costs nothing, and what a row holds
//! of a staged array is read into registers first, in vectors where they are aligned. This is how direct convolutions
//! and long stencils come to be limited by arithmetic.
//!
//! Legal where a thread has several iterations of the bound loop; the serial loop counts up by one through a constant
//! range, is run by all threads alike and is not cut into strips; something in it is read at a constant multiple of both
//! counters; and what it writes belongs to one iteration of the bound loop. Each iteration still goes through the serial
//! loop in order, so that sums are the same to the last bit.

pub(crate) mod streamed;
pub(crate) mod window;

use std::fmt;

use warpsmith_ir::{LoopId, SourceMap};

use super::Rewritten;
use super::question::conditions;
use super::question::conditions::{bound_nest, check_tiles};
use super::step::grammar::{name, wanted};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::preceded;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A serial loop.
    pub inner: String,
    /// A bound loop of which a thread has several iterations.
    pub along: String,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} along {}", self.inner, self.along)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "stream",
        example: "stream dy along y",
        does: "goes through what a serial loop reads row by row, so that a row that several of a thread's iterations share is read once, into registers where its array is staged",
        legal: "a thread has several iterations of the bound loop; the serial loop has a constant range, is run by all threads alike and not cut into strips, something in it is read at a sum of both counters, and what it sets belongs to one iteration",
        law: Law {
            before: "\
void column(int n, int m, const float u[n + 2][m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            float s = 0.0f;
            for (int dy = 0; dy < 3; dy++)
                s += u[y + dy][x];
            v[y][x] = s;
        }
}
",
            steps: "bind y, x -> y, x block 32x4\nregister_tile y by 4\nstream dy along y",
            after: "\
void column(int n, int m, const float *u, float *v) {
    // a thread computes 4 iterations of `y`
    // 4 neighbours of `y` together
    // rows of `dy` stay in registers along `y`
    // threads of the grid along y, 4 a block
    for (int y = 0; y < n; ++y) {
        // threads of the grid along x, 32 a block
        for (int x = 0; x < m; ++x) {
            float s = 0.0f;
            for (int dy = 0; dy < 3; ++dy) {
                s += u[(size_t)(y + dy) * m + x];
            }
            v[(size_t)y * m + x] = s;
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let inner = name.parse_next(input)?;
        let along = preceded((space1, "along", space1), name)
            .context(wanted("`along` and a bound loop are wanted here"))
            .parse_next(input)?;
        Ok(Args { inner, along })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let (inner, along) = (loop_named(kernel, &self.inner)?, loop_named(kernel, &self.along)?);
        Ok(apply(check(kernel, inner, along)?))
    }
}

/// The verdict on a `stream`, which alone allows it.
pub struct LegalStream<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    inner: LoopId,
    along: LoopId,
    factor: u32,
}

/// Asks whether the serial loop `inner` can be streamed along a thread's iterations of the bound loop `along`.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, inner: LoopId, along: LoopId) -> Result<LegalStream<'_>, Refusal> {
    let (root, nest) = bound_nest(kernel, along)?;
    check_tiles(kernel, root, nest)?;
    let factor = nest.tiles.get(&along).copied().unwrap_or(1);
    let mut streamed = nest.clone();
    streamed.vectors.insert(along, factor);
    streamed.streams.insert(inner, along);
    conditions::check(kernel, root, &streamed)?;
    Ok(LegalStream { kernel, root, inner, along, factor })
}

/// Notes the stream; the nest is written out when it is lowered.
pub fn apply(legal: LegalStream<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.vectors.insert(legal.along, legal.factor);
        nest.streams.insert(legal.inner, legal.along);
    }
    Rewritten::same_loops(kernel)
}
