//! Keeps the sums of columns in registers while rows go by, and adds up rows on the way: both products of BiCGK, sums by columns.
//!
//! ```text
//!     parallel for i in I { s = a(i); for j in 0..m { s += f(i, j); atomically y[j] += g(i, j) }; q[i] = h(s) }
//!       ==> keep_sums i by 256 vector 4 rows 128 group 8
//!     parallel for i in I { q[i] = a(i) }
//!     for each block of 1024 columns and 128 rows, thread by thread, with four columns j of its own {
//!         y_own = 0
//!         for rows i of the block, in groups of eight whose elements are loaded together {
//!             s_own = 0; for its j { s_own += f(i, j); y_own[j] += g(i, j) }
//!             s_warp[i] = the s_own of the warp's threads together
//!         }
//!         atomically y[j] += y_own[j], for its j;  for rows i, thread by thread { atomically q[i] += the s_warp[i] of all warps }
//!     }
//!     parallel for i in I { q[i] = h(q[i]) }
//! ```
//!
//! Each element of the matrix is read once, in vectors, and each column is updated once for all rows of a block. Where vectors
//! are not aligned, the nest runs as it was; later steps bind it under its old names.
//!
//! Legal for one marked loop that is not bound yet around one serial loop, whose bounds the launcher knows, both counting up by
//! one, with independent iterations. The serial loop updates elements atomically by `+`, of which at least one moves with its
//! counter only and none is otherwise used in the nest; before it stand declarations, and behind it one store for each variable
//! that it adds to. Sums are added in another order.

mod homes;
mod launch;
mod parts;
mod results;
mod text;

use std::fmt;
use warpsmith_ir::{ForLoop, LoopId, SourceMap, Stmt, StmtKind, VarId};

use super::keep_rows::{Aligned, Row};
use super::question::independence;
use super::question::independence::Findings;
use super::step::grammar::{counted, counted_or_one, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, bind, keep_rows, privatise, share};
use crate::analysis::loops::unit_step;
use crate::build::threads;
use crate::kernel::{Kernel, STATIC_SHARED, is_marked};
use crate::refusal::Refusal;
use crate::walk;
use parts::{Parts, RowSum};
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The marked loop of the nest.
    pub target: String,
    /// How threads share the sums.
    pub shape: Shape,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.shape)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "keep_sums",
        example: "keep_sums i by 256 vector 4 rows 128 group 8",
        does: "lets blocks go down the rows of a matrix with the sums of its columns in registers, and adds up its rows on the way (both products of BiCGK, sums by columns): each element is read once, and each column updated once for the rows of a block; rows are loaded in groups; what is not aligned for vectors is left to the nest as it was, which later steps bind",
        legal: "the nest is one marked loop, not bound yet, around one serial loop that updates elements atomically by `+`; the launcher knows the bounds of both; what is updated moves with the serial loop's counter only; before that loop stand declarations, behind it one store for each variable that it adds to; nothing else in the nest touches what is added to",
        law: Law {
            before: "\
void both(int n, int m, const float A[n][m], const float r[n], float s[m]) {
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[j] += r[i] * A[i][j];
}
",
            steps: "keep_sums i by 32 rows 16 group 4",
            after: "\
constexpr int SUM_THREADS = 32;  // threads that keep sums of columns
constexpr int SUM_WARPS = 1;     // warps of these
constexpr int WARP = 32;         // threads of a warp
constexpr int SUM_ROWS = 16;     // rows that go by a block

void both(int n, int m, const float *A, const float *r, float *s, int rows, int columns,
          int column_blocks, int sum_blocks, int row_blocks) {
    // blocks that keep sums in registers; what they cannot take
    if (n <= 1073741824ll && m <= 1073741824ll &&
        ((n - 1ll) / 16 + 1) * ((m - 1ll) / 32 + 1) <= 1073741824) {
        // blocks along x
        for (int block = 0; block < sum_blocks; ++block) {
            // threads of the block along y
            for (int warp = 0; warp < SUM_WARPS; ++warp) {
                // threads of the block along x
                for (int lane = 0; lane < WARP; ++lane) {
                    const int thread = warp * WARP + lane;
                    const int column = block % column_blocks * SUM_THREADS + thread;
                    const int first_row = block / column_blocks * SUM_ROWS;
                    float s_own[1];
                    s_own[0] = 0.0f;
                    for (int group = 0; group < 4; ++group) {
                        float A_own[4];

                        // elements of all rows of the group
                        #pragma unroll
                        for (int at = 0; at < 4; ++at) {
                            const int row = first_row + (group * 4 + at);
                            if (row < rows && column < columns) {
                                const int i = row;
                                const long long A_first = (long long)m * i;
                                A_own[at] = A[A_first + column];
                            }
                        }
                        #pragma unroll
                        for (int at = 0; at < 4; ++at) {
                            const int row = first_row + (group * 4 + at);
                            if (row < rows && column < columns) {
                                const int i = row;
                                s_own[0] += r[i] * A_own[at];
                            }
                        }
                    }

                    // the sums of the thread's columns
                    if (column < columns) {
                        const int j = column;
                        atomicAdd(&s[j], s_own[0]);
                    }
                }
            }
        }
    } else {
        // parallel
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < m; ++j) {
                atomicAdd(&s[j], r[i] * A[(size_t)i * m + j]);
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let text = "`by` and the threads of a block are wanted here";
        let threads = counted("by", text).parse_next(input)?;
        let vector = counted_or_one("vector").parse_next(input)?;
        let text = "`rows` and the rows of a block are wanted here";
        let rows = counted("rows", text).parse_next(input)?;
        let group = counted_or_one("group").parse_next(input)?;
        Ok(Args { target, shape: Shape { threads, vector, rows, group } })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.shape)?, sources))
    }
}

/// Most elements of rows that a thread loads at a time: they stand in registers.
const MOST_LOADED: u32 = 64;

/// How blocks share the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Threads of a block; whole warps.
    pub threads: u32,
    /// Neighbouring columns of a thread.
    pub vector: u32,
    /// Rows of a block.
    pub rows: u32,
    /// Rows that are loaded together.
    pub group: u32,
}

/// As a schedule has it.
impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "by {}", self.threads)?;
        if self.vector > 1 {
            write!(f, " vector {}", self.vector)?;
        }
        write!(f, " rows {}", self.rows)?;
        if self.group > 1 {
            write!(f, " group {}", self.group)?;
        }
        Ok(())
    }
}

impl Shape {
    /// Columns of a block.
    pub fn columns(&self) -> u32 {
        self.threads * self.vector
    }

    fn warps(&self) -> u32 {
        self.threads / threads::WARP
    }
}

/// The verdict on a `keep_sums`, which alone allows it.
pub struct LegalKeepSums<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    shape: Shape,
    outer: &'k ForLoop,
    inner: &'k ForLoop,
    parts: Parts,
    /// Elements of arrays side by side, of which each iteration of the inner loop has its own.
    rows: Vec<Row>,
    aligned: Vec<Aligned>,
    findings: Vec<(LoopId, Findings)>,
}

const VERB: &str = "keep the sums of";

fn refused<T>(loop_id: LoopId, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::of_loop(VERB, loop_id, why))
}

/// Asks whether blocks of this shape can keep the sums of the nest of `root`.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, root: LoopId, shape: Shape) -> Result<LegalKeepSums<'_>, Refusal> {
    check_shape(root, shape)?;
    bind::check_block([shape.threads, 1, 1])?;
    let Some(outer) = kernel.find_loop(root).filter(|l| is_marked(l)) else {
        return refused(root, "it is not marked, or bound already");
    };
    let inner = inner_loop(outer)?;
    let findings = check_nest(kernel, outer, inner)?;
    let sums = share::sums_of(kernel, inner)?;
    share::check_iterations(kernel, inner, &sums)?;
    let parts = parts::parts(kernel, outer, inner, &sums)?;
    check_room(root, shape, &parts.sums)?;
    let rows = parts::rows(kernel, outer, inner, &parts).or_else(|why| refused(root, why))?;
    let aligned = match shape.vector {
        1 => vec![],
        width => {
            let found = keep_rows::alignment(kernel, inner, &rows, width);
            found.or_else(|why| refused(root, why))?
        }
    };
    Ok(LegalKeepSums { kernel, root, shape, outer, inner, parts, rows, aligned, findings })
}

fn check_shape(root: LoopId, shape: Shape) -> Result<(), Refusal> {
    let Shape { threads, vector, rows, group } = shape;
    if threads == 0 || !threads.is_multiple_of(threads::WARP) || threads > 1024 {
        return refused(root, "the threads of a block must be whole warps, at most 1024");
    }
    if !matches!(vector, 1 | 2 | 4 | 8) {
        return refused(root, "a thread has 1, 2, 4 or 8 neighbouring columns");
    }
    if group == 0 || group.saturating_mul(vector) > MOST_LOADED {
        return refused(root, "a thread loads 1 to 64 elements of each array at a time");
    }
    match rows == 0 || rows > 1 << 16 || !rows.is_multiple_of(group) {
        true => refused(root, "the rows of a block must be whole groups, at most 65536"),
        false => Ok(()),
    }
}

/// The one loop in the body of the marked one.
fn inner_loop(outer: &ForLoop) -> Result<&ForLoop, Refusal> {
    let own = |s: &'_ Stmt| matches!(s.kind, StmtKind::For(_));
    let mut loops = outer.body.stmts.iter().filter(|s| own(s));
    match (loops.next().map(|s| &s.kind), loops.next()) {
        (Some(StmtKind::For(inner)), None) => Ok(inner),
        (None, _) => refused(outer.id, "no loop is directly in it"),
        _ => refused(outer.id, "more than one loop is directly in it"),
    }
}

/// The nest is one of two loops that can be cut into blocks.
fn check_nest(
    kernel: &Kernel,
    outer: &ForLoop,
    inner: &ForLoop,
) -> Result<Vec<(LoopId, Findings)>, Refusal> {
    let root = outer.id;
    if bind::check_outermost(kernel, Some(root))? != root {
        return refused(root, "it is not the outermost marked loop of its nest");
    }
    let (nest, clauses) = independence::group_of(kernel, root);
    if nest != [root] {
        return refused(root, "the loop in it is marked, too");
    }
    let counters = [outer.var, inner.var];
    let used = |v: &VarId| walk::times_mentioned(&outer.body, *v) > 0;
    let own = clauses.private.iter().all(|v| counters.contains(v) || !used(v));
    if !privatise::has_only_private(&clauses) || !own {
        return refused(root, "its clauses carry values");
    }
    for l in [outer, inner] {
        if !unit_step(l) {
            return refused(l.id, "it does not count up by one");
        }
        if ![&l.first, &l.limit].iter().all(|e| kernel.known_at_start(e)) {
            return refused(l.id, "the launcher does not know its bounds when it starts");
        }
    }
    let body = &outer.body;
    if walk::leaves(body).or(walk::continues(body)).or(walk::returns(body)).is_some() {
        return refused(root, "an iteration may end early");
    }
    Ok(vec![(root, independence::check(kernel, root, &nest, &clauses)?)])
}

/// What the warps have of the rows of a block fits in shared memory.
fn check_room(root: LoopId, shape: Shape, sums: &[RowSum]) -> Result<(), Refusal> {
    let each = u64::from(shape.rows) * u64::from(shape.warps());
    let bytes: u64 = sums.iter().map(|s| each * u64::from(s.scalar.bytes())).sum();
    match bytes > STATIC_SHARED.into() {
        true => refused(root, "what the warps have of its rows does not fit in shared memory"),
        false => Ok(()),
    }
}

/// Makes the nests of blocks and threads, beside the nest as it was for what is not aligned.
pub fn apply(legal: LegalKeepSums<'_>, sources: &SourceMap) -> Rewritten {
    text::apply(&legal, sources)
}
