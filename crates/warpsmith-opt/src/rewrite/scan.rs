//! Running sums, products, minima and maxima of rows, and linear recurrences: threads of a block go through each row together,
//! strip by strip.
//!
//! ```text
//!     parallel for i in I { s = s0; for j in 0..m { s op= f(i, j); y[i][j] = g(s, i, j) } }
//!       ==> scan j by 256
//!     for each block, an iteration i, thread by thread {
//!         s = s0
//!         for strips of 256 iterations j {
//!             part = f(i, j of this thread);   before = the parts of the threads before;   part = that of all
//!             y[i][j] = g(s op before op f(i, j), i, j);   s = s op part
//!         }
//!     }
//! ```
//!
//! Each element is read once and written once. With `vector 4` a thread has four neighbours of a strip, and the nest as before
//! takes what is not aligned; with `rows 4` a block has four rows at a time, for short rows. For `s = a(i, j) * s + f(i, j)` a part is
//! the map `x -> slope * x + part`, and `before` what those of the threads before make of `s`.
//!
//! Legal for a nest of marked loops that is not bound yet, in whose innermost body the loop stands, alone in accessing what its
//! iterations write; the launcher knows its bounds. Its iterations are independent but for variables that each combines something with by one
//! operation, where what is combined does not depend on what they are so far, or carries on linearly; what nothing uses before the
//! loop's end may depend on the others. Sums of reals are added in another order.
//!
//! Threads, lanes and warps as in Harris, Sengupta, Owens, *Parallel prefix sum (scan) with CUDA*, GPU Gems 3, chapter 39.

use std::fmt;

use warpsmith_ir::{LoopId, SourceMap};
use winnow::ModalResult;
use winnow::Parser;

use super::Rewritten;
use super::keep_rows::{self, LegalKeepRows, Shape};
use super::step::grammar::{counted, counted_or_one, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The loop over a row.
    pub target: String,
    /// Threads that go through a row together.
    pub threads: u32,
    /// Neighbouring elements of a strip that a thread has.
    pub vector: u32,
    /// Rows that a block goes through at a time.
    pub rows: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.target, self.threads)?;
        if self.vector > 1 {
            write!(f, " vector {}", self.vector)?;
        }
        match self.rows {
            1 => Ok(()),
            rows => write!(f, " rows {rows}"),
        }
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "scan",
        example: "scan j by 256 vector 4",
        does: "lets the threads of a block go through each row together, strip by strip, where iterations use what sums, products, minima or maxima are so far (cumulative sums), or carry a value on linearly (`s = a * s + x`): each thread begins with what the threads before it have; with `vector 4` it has four neighbours at a time, with `rows 4` a block four rows; rows that are not aligned for vectors are left to the nest as it was, which later steps bind",
        legal: "the nest is marked, not bound yet, and the launcher knows its bounds and those of the loop; iterations of the loop are independent but for variables that each combines something with by one operation; where iterations use what such a variable is so far, what is combined with it does not depend on that, or carries it on linearly; what the loop writes is accessed at one place only; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void running(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j < m; j++) {
            s += x[i][j];
            y[i][j] = s;
        }
    }
}
",
            steps: "scan j by 32",
            after: "\
constexpr int ROW_THREADS = 32;  // threads that have a row among themselves

void running(int n, int m, const float *x, float *y, int rows) {
    // blocks along x
    for (int block = 0; block < rows; ++block) {
        // threads of the block along x
        for (int thread = 0; thread < ROW_THREADS; ++thread) {
            const int i = block;
            const long long x_first = (long long)m * i;
            const long long y_first = (long long)m * i;
            float s = 0.0f;
            for (long long strip = 0; strip < m; strip += ROW_THREADS) {
                const long long element = strip + thread;
                float x_row[1];
                float y_row[1];
                float s_part = 0.0f;
                if (element < m) {
                    x_row[0] = x[x_first + element];
                    s_part += x_row[0];
                }
                const float s_before = 0.0f;

                // `s_before`: the values of the threads along x before combined by `+`; `s_part`:
                // those of all
                float s_here = s + s_before;
                if (element < m) {
                    s_here += x_row[0];
                    y_row[0] = s_here;
                    y[y_first + element] = y_row[0];
                }
                s += s_part;
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let text = "`by` and the threads that go through a row are wanted here";
        let threads = counted("by", text).parse_next(input)?;
        let vector = counted_or_one("vector").parse_next(input)?;
        let rows = counted_or_one("rows").parse_next(input)?;
        Ok(Args { target, threads, vector, rows })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        let target = loop_named(kernel, &self.target)?;
        let shape = Shape {
            threads: self.threads,
            each: self.vector,
            vector: self.vector,
            rows: self.rows,
        };
        Ok(keep_rows::apply(check(kernel, target, shape)?, sources))
    }
}

/// Asks whether threads can go through the rows of a loop together; `shape.each` are the elements of a strip that a thread has.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, shape: Shape) -> Result<LegalKeepRows<'_>, Refusal> {
    let refused = |why: &str| Refusal::of_loop("scan", target, why);
    let around = kernel.loops_around(target);
    let Some(root) = around.iter().find(|l| is_marked(l)).map(|l| l.id) else {
        return Err(refused("no loop around it is marked, or the nest is bound already"));
    };
    let legal = keep_rows::check_strips(kernel, root, shape, target)
        .map_err(|why| why.instead_of(keep_rows::VERB, "scan"))?;
    match legal.scans(target) {
        true => Ok(legal),
        false => Err(refused("its iterations do not use what a sum is so far")),
    }
}
