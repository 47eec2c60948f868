//! Keeps what several loops of an iteration read and write in registers: softmax, norms of rows.
//!
//! ```text
//!     parallel for i in I { for j in 0..m { s op= x[i][j] }; for j in 0..m { y[i][j] = f(x[i][j], s) } }
//!       ==> keep_rows i by 256 each 4
//!     if m <= 1024 {
//!         for each block, an iteration i, thread by thread {
//!             row[k] = x[i][thread + 256 k], for k in 0..4 where that exists
//!             for k in 0..4 { s op= row[k] };  s = the s of all threads together
//!             for k in 0..4 { y[i][thread + 256 k] = f(row[k], s) }
//!         }
//!     } else { parallel for i … as before }
//! ```
//!
//! Each element is read once and written once, whatever the number of loops. With `vector 4` a thread has groups of four
//! neighbours, and the nest as before also takes what is not aligned; with `rows 4` a block has four iterations at a
//! time, for short rows. The nest that is left has the names of the old one, so that later steps bind it, and `keep_rows`
//! can be taken again for longer rows.
//!
//! Legal for a nest of marked loops that is not bound yet, whose iterations are independent, and in whose innermost body
//! loops over one range that the launcher knows stand beside each other. Their iterations are independent but for sums that
//! the threads combine, as for [`share`](super::share). An array that they write is accessed at one place only, counted
//! by the loop, and nowhere else. What stands outside of them is computed by all threads alike, or, where it stores, by one.
//! A loop may begin later than the others (`max = x[0]; for j in 1..m`): it leaves out the elements before. Before a loop after
//! which the threads wait for each other, an array may be read that only later loops write.

mod groups;
mod kept;
mod launch;
mod prefix;
mod range;
mod recurrence;
mod slice;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, ReduceOp, Scalar, SourceMap, StmtKind, VarId,
};

use super::edit::runs::{scalar_of, vector};
use super::privatise::has_only_private;
use super::question::independence;
use super::question::independence::Findings;
use super::step::grammar::{counted, counted_or_one, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, bind, reduce, share};
use crate::analysis::loops::unit_step;
use crate::analysis::{appends, scalars};
use crate::build::{threads, trips};
use crate::kernel::{Kernel, Sum, is_marked};
use crate::refusal::Refusal;
use crate::walk;
pub(super) use kept::{Row, accessed, check_statements, own_element};
pub(super) use launch::aligned;
pub(super) use prefix::{check as check_running, contributions};
use range::{check_length, knows_ends};
pub(super) use recurrence::{carried, with_slopes};
pub(super) use text::elements;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The outermost marked loop of the nest.
    pub target: String,
    /// How threads share a row.
    pub shape: Shape,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.shape)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "keep_rows",
        example: "keep_rows i by 256 each 8 vector 4",
        does: "gives each row of a nest to threads that keep its elements in registers from one loop over it to the next (softmax, norms of rows): each is read once and written once; with `rows 4` a block has four rows at a time; rows that are longer than threads times elements, or not aligned for vectors, are left to the nest as it was, which later steps bind",
        legal: "the nest is marked, not bound yet, and the launcher knows its bounds and those of the loops over a row, which stand beside each other in it; their iterations are independent but for variables that each combines something with by one operation; what they write is accessed at one place only; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void scale_rows(int n, int m, float A[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j < m; j++)
            s += A[i][j];
        for (int j = 0; j < m; j++)
            A[i][j] = A[i][j] / s;
    }
}
",
            steps: "keep_rows i by 32 each 4",
            after: "\
constexpr int ROW_THREADS = 32;  // threads that have a row among themselves

void scale_rows(int n, int m, float *A, int rows) {
    // rows that the threads of a block keep; the others
    if (m <= 128) {
        // blocks along x
        for (int block = 0; block < rows; ++block) {
            // threads of the block along x
            for (int thread = 0; thread < ROW_THREADS; ++thread) {
                const int i = block;
                const long long A_first = (long long)m * i;
                float s = 0.0f;
                float A_row[4];

                // the thread's elements of the row
                #pragma unroll
                for (int group = 0; group < 4; ++group) {
                    const int element = group * ROW_THREADS + thread;
                    if (element < m) {
                        A_row[group] = A[A_first + element];
                    }
                }
                #pragma unroll
                for (int group = 0; group < 4; ++group) {
                    const int element = group * ROW_THREADS + thread;
                    if (element < m) {
                        s += A_row[group];
                    }
                }

                // `s` of all threads along x: combined by `+`
                #pragma unroll
                for (int group = 0; group < 4; ++group) {
                    const int element = group * ROW_THREADS + thread;
                    if (element < m) {
                        A_row[group] /= s;
                        A[A_first + element] = A_row[group];
                    }
                }
            }
        }
    } else {
        // parallel
        for (int i = 0; i < n; ++i) {
            float s = 0.0f;
            for (int j = 0; j < m; ++j) {
                s += A[(size_t)i * m + j];
            }
            for (int j = 0; j < m; ++j) {
                A[(size_t)i * m + j] /= s;
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let text = "`by` and the threads that have a row are wanted here";
        let threads = counted("by", text).parse_next(input)?;
        let text = "`each` and the elements that a thread keeps are wanted here";
        let each = counted("each", text).parse_next(input)?;
        let vector = counted_or_one("vector").parse_next(input)?;
        let rows = counted_or_one("rows").parse_next(input)?;
        Ok(Args { target, shape: Shape { threads, each, vector, rows } })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.shape)?, sources))
    }
}

/// Most elements of a row that a thread keeps: they stand in registers.
const MOST_KEPT: u32 = 64;

/// A loop that begins this many elements after the others still has their range.
const MOST_LEFT_OUT: u32 = 8;

/// How a block computes its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Threads that have a row among themselves; a power of two.
    pub threads: u32,
    /// Elements of a row that a thread has.
    pub each: u32,
    /// Neighbouring ones of these, accessed together.
    pub vector: u32,
    /// Rows that a block computes at a time.
    pub rows: u32,
}

/// As a schedule has it.
impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "by {} each {}", self.threads, self.each)?;
        if self.vector > 1 {
            write!(f, " vector {}", self.vector)?;
        }
        if self.rows > 1 {
            write!(f, " rows {}", self.rows)?;
        }
        Ok(())
    }
}

impl Shape {
    /// The longest row.
    pub fn longest(&self) -> u32 {
        self.threads * self.each
    }
}

/// A loop over the elements of a row.
struct RowLoop {
    id: LoopId,
    sums: Vec<Sum>,
    /// Those whose values so far iterations use.
    running: Vec<Sum>,
    /// Of these, what is carried on linearly.
    carried: BTreeSet<VarId>,
    /// Elements before its first one.
    left_out: u32,
}

impl RowLoop {
    fn scans(&self) -> bool {
        !self.running.is_empty()
    }
}

/// The verdict on a `keep_rows`, which alone allows it.
pub struct LegalKeepRows<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    /// The marked loops of the nest, outermost first.
    nest: Vec<LoopId>,
    shape: Shape,
    /// Rows of any length, strip by strip, of which nothing is kept.
    strips: bool,
    /// One of the loops over a row, which all have one range.
    range: &'k ForLoop,
    loops: Vec<RowLoop>,
    rows: Vec<Row>,
    private: Vec<VarId>,
    /// What the launcher must find to be multiples of a number.
    aligned: Vec<Aligned>,
    /// The loop after which all threads of a block wait.
    ordered_after: Option<usize>,
    findings: Vec<(LoopId, Findings)>,
}

impl LegalKeepRows<'_> {
    /// The step that asked.
    fn step(&self) -> &'static str {
        if self.strips { "scan" } else { "keep_rows" }
    }

    /// Whether iterations of a loop use what its sums are so far.
    pub(super) fn scans(&self, id: LoopId) -> bool {
        self.loops.iter().any(|l| l.id == id && l.scans())
    }

    /// Whether the nest stays as it was for some rows.
    pub(crate) fn leaves_any(&self) -> bool {
        launch::fits(self.kernel, self).is_some()
    }

    /// Whether vectors are aligned where arrays are, as allocations give them; without vectors, whether any number of rows will do:
    /// more than can be counted are never run, so that nothing is known of what is done with them. Nor are arrays of the workspace ever
    /// anything but aligned.
    pub(crate) fn is_natural(&self) -> bool {
        let scratch = |a: &Aligned| self.kernel.scratch.iter().any(|s| Some(s.var) == a.array);
        let whole = |a: &Aligned| a.offset.constant_term() % i128::from(a.by) == 0 && !scratch(a);
        let mut arrays = self.aligned.iter().filter(|a| a.array.is_some());
        arrays.all(whole) && (!self.aligned.is_empty() || !self.leaves_any())
    }
}

/// Something that the vectors of a row need.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aligned {
    /// Its address is added, and the offset counted in bytes.
    array: Option<VarId>,
    offset: Poly,
    by: u32,
}

impl Aligned {
    /// It does not hold whatever the sizes are.
    fn is_never(&self) -> bool {
        let number = self.offset.as_constant().filter(|_| self.array.is_none());
        number.is_some_and(|n| n % i128::from(self.by) != 0)
    }
}

/// Asks whether the rows of the nest of `root` can be kept by blocks of this shape.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, root: LoopId, shape: Shape) -> Result<LegalKeepRows<'_>, Refusal> {
    check_rows(kernel, root, shape, None)
}

/// The same for rows of any length, which go by in strips, each as long as the threads have elements: those of the range of one loop.
pub(super) fn check_strips(
    kernel: &Kernel,
    root: LoopId,
    shape: Shape,
    target: LoopId,
) -> Result<LegalKeepRows<'_>, Refusal> {
    check_rows(kernel, root, shape, Some(target))
}

fn check_rows(
    kernel: &Kernel,
    root: LoopId,
    shape: Shape,
    target: Option<LoopId>,
) -> Result<LegalKeepRows<'_>, Refusal> {
    let strips = target.is_some();
    let refused = |why: String| Refusal::of_loop(VERB, root, why);
    check_shape(shape).map_err(|why| refused(why.into()))?;
    bind::check_block([shape.threads, shape.rows, 1])?;
    let (nest, private, findings) = check_nest(kernel, root)?;
    let innermost = nest.last().and_then(|id| kernel.find_loop(*id));
    let Some(body) = innermost.map(|l| &l.body) else { return Err(refused("it is gone".into())) };
    let early = walk::leaves(body).or(walk::continues(body)).or(walk::returns(body));
    if early.is_some() {
        return Err(refused("an iteration may end early".into()));
    }
    let loops = row_loops(kernel, body, target);
    let Some(range) = earliest(&loops) else {
        return Err(refused("no loop in it has a range that the launcher knows".into()));
    };
    check_length(kernel, range, shape, strips).map_err(|why| refused(why.into()))?;
    let mut with_sums = vec![];
    for l in &loops {
        with_sums.push(check_loop(kernel, l, left_out(range, l).unwrap_or(0))?);
    }
    let wait = |at: usize| with_sums.get(at).is_some_and(|l| !l.sums.is_empty() && !l.scans());
    let rows = match strips {
        true => kept::accessed(kernel, root, body, &loops, &wait),
        false => kept::rows(kernel, root, body, &loops, &wait),
    };
    let rows = rows.map_err(refused)?;
    if strips && rows.iter().any(Row::is_held) {
        return Err(refused("several loops over its rows access the same elements".into()));
    }
    let aligned = match shape.vector {
        1 => vec![],
        width => alignment(kernel, range, &rows, width).map_err(refused)?,
    };
    let ordered_after = kept::ordered_after(body, &loops, &wait);
    let loops = with_sums;
    Ok(LegalKeepRows {
        kernel,
        root,
        nest,
        shape,
        strips,
        range,
        loops,
        rows,
        private,
        aligned,
        ordered_after,
        findings,
    })
}

pub(super) const VERB: &str = "keep the rows of";

fn check_shape(shape: Shape) -> Result<(), &'static str> {
    let Shape { threads, each, vector, rows } = shape;
    if !threads.is_power_of_two() || !(2..=1024).contains(&threads) {
        return Err("the threads must be a power of two, 2 to 1024");
    }
    if !(1..=MOST_KEPT).contains(&each) {
        return Err("a thread keeps 1 to 64 elements of a row");
    }
    if !matches!(vector, 1 | 2 | 4 | 8 | 16) || !each.is_multiple_of(vector) {
        return Err("a thread's elements must be whole vectors of 2, 4, 8 or 16");
    }
    match rows == 0 || !rows.saturating_mul(threads).is_multiple_of(threads::WARP) {
        true => Err("the threads of a block must be whole warps"),
        false => Ok(()),
    }
}

type Nest = (Vec<LoopId>, Vec<VarId>, Vec<(LoopId, Findings)>);

/// The marked loops, private variables, and what was found about the marks.
fn check_nest(kernel: &Kernel, root: LoopId) -> Result<Nest, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop(VERB, root, why));
    if !kernel.find_loop(root).is_some_and(is_marked) {
        return refuse("it is not marked, or bound already");
    }
    if bind::check_outermost(kernel, Some(root))? != root {
        return refuse("it is not the outermost marked loop of its nest");
    }
    let (nest, clauses) = independence::group_of(kernel, root);
    if reduce::rectangular_prefix(kernel, &nest) != nest {
        return refuse("bounds of a loop of its nest depend on the counter of another");
    }
    let mut findings = vec![];
    for id in &nest {
        bind::check_step(kernel, *id)?;
        findings.push((*id, independence::check(kernel, *id, &nest, &clauses)?));
    }
    if !has_only_private(&clauses) {
        return refuse("its clauses reduce or carry values");
    }
    let marked = nest.iter().filter_map(|id| kernel.find_loop(*id));
    if !marked.flat_map(|l| [&l.first, &l.limit, &l.step]).all(|e| kernel.known_at_start(e)) {
        return refuse("the launcher does not know the bounds of its nest when it starts");
    }
    Ok((nest, clauses.private, findings))
}

/// The loops beside each other over the range that `target` has, or most of those that the launcher knows, and those that begin
/// a few elements later or earlier.
fn row_loops<'k>(kernel: &Kernel, body: &'k Block, target: Option<LoopId>) -> Vec<&'k ForLoop> {
    let loops: Vec<&ForLoop> = body
        .stmts
        .iter()
        .filter_map(|s| match &s.kind {
            StmtKind::For(l) => Some(l),
            _ => None,
        })
        .filter(|l| unit_step(l))
        .filter(|l| knows_ends(kernel, l) || target == Some(l.id) && ends_by_row(kernel, l))
        .collect();
    let range = |l: &ForLoop| (l.compare, l.limit.clone(), kernel.func().var(l.var).ty.clone());
    let beside = |l: &ForLoop, o: &ForLoop| {
        range(o) == range(l) && (left_out(l, o).is_some() || left_out(o, l).is_some())
    };
    let over = |l: &ForLoop| loops.iter().filter(|o| beside(l, o)).count();
    let most = loops.iter().map(|l| over(l)).max();
    let wanted = |l: &&ForLoop| target.map_or(Some(over(l)) == most, |id| l.id == id);
    let Some(found) = loops.iter().copied().find(wanted) else { return vec![] };
    loops.into_iter().filter(|l| beside(found, l)).collect()
}

/// Whether where a loop begins and ends follows from its row: from what the launcher knows and the counters of marked loops around.
fn ends_by_row(kernel: &Kernel, l: &ForLoop) -> bool {
    let around = kernel.loops_around(l.id);
    let counts = |v: VarId| around.iter().any(|o| is_marked(o) && o.var == v);
    let follows = |e: &&Expr| {
        let mut known = !walk::reads_memory(e);
        walk::each_var(e, &mut |v| {
            let alone = Expr::var(v, kernel.func().var(v).ty.clone());
            known &= counts(v) || kernel.known_at_start(&alone);
        });
        known
    };
    [&l.first, &l.limit].iter().all(follows)
}

/// Elements at the start of a range that another loop of the same end leaves out; `None`: it begins before, or far behind.
pub(super) fn left_out(range: &ForLoop, l: &ForLoop) -> Option<u32> {
    if l.first == range.first {
        return Some(0);
    }
    let first = |l: &ForLoop| l.first.as_const().map(|v| v.as_i64());
    let later = first(l)?.checked_sub(first(range)?)?;
    u32::try_from(later).ok().filter(|n| *n <= MOST_LEFT_OUT)
}

/// The loop that leaves out nothing that another one of the row has.
pub(super) fn earliest<'k>(loops: &[&'k ForLoop]) -> Option<&'k ForLoop> {
    loops.iter().copied().find(|l| loops.iter().all(|o| left_out(l, o).is_some()))
}

/// A loop over a row, whose iterations are independent but for sums.
fn check_loop(kernel: &Kernel, l: &ForLoop, left_out: u32) -> Result<RowLoop, Refusal> {
    let refused = |why: &str| Refusal::of_loop(VERB, l.id, why);
    if walk::leaves(&l.body).is_some() {
        return Err(refused("it may end early"));
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return Err(refused("its counter is read after it"));
    }
    let carried = recurrence::carried(kernel, l);
    let of_this = |why: Refusal| why.instead_of(share::VERB, VERB);
    let sums = share::accumulated(kernel, l, Some(&carried)).map_err(of_this)?;
    let (mut running, sums) = prefix::apart(l, sums);
    if !running.is_empty() || !carried.is_empty() {
        prefix::check(kernel, l, (&running, &carried)).map_err(|why| refused(&why))?;
    }
    running.extend(carried.iter().map(|var| Sum { var: *var, op: ReduceOp::Add, at: None }));
    let all = [&running[..], &sums].concat();
    // Where iterations use a sum so far it is what the serial loop has then.
    let apart = appends::appended(kernel.func(), l);
    share::check_others(kernel, l, &all, &apart).map_err(of_this)?;
    share::check_truth(kernel, l.id, l.id, &all).map_err(of_this)?;
    Ok(RowLoop { id: l.id, sums, running, carried, left_out })
}

/// What must be multiples of a number for the vectors of rows: addresses of their first elements, how far one row is from
/// the next, and the length of a row.
pub(super) fn alignment(
    kernel: &Kernel,
    l: &ForLoop,
    rows: &[Row],
    width: u32,
) -> Result<Vec<Aligned>, String> {
    let unclear = || "the launcher cannot tell whether vectors would be aligned".to_string();
    let known = |atom: &Atom| {
        let e = Poly::atom(atom.clone()).to_expr(Scalar::I64, &|v| scalar_of(kernel, v));
        kernel.known_at_start(&e)
    };
    let first = Poly::from_expr(&l.first).ok_or_else(unclear)?;
    let mut found: Vec<Aligned> = vec![];
    let mut note = |new: Aligned| {
        if !found.contains(&new) {
            found.push(new);
        }
    };
    for number in whole_vectors(l).ok_or_else(unclear)? {
        let parts = by_unknown(&number, &known).ok_or_else(unclear)?;
        parts.into_values().for_each(|offset| note(Aligned { array: None, offset, by: width }));
    }
    for row in rows {
        let Some((_, own)) = vector(row.element, width) else { continue };
        let start = match row.back {
            true => {
                row.rest.sub(&first).and_then(|p| p.sub(&Poly::constant(i128::from(width) - 1)))
            }
            false => row.rest.add(&first),
        };
        let start = start.ok_or_else(unclear)?;
        for (unknown, offset) in by_unknown(&start, &known).ok_or_else(unclear)? {
            note(match unknown.is_empty() {
                true => {
                    let bytes = offset.scale(row.element.bytes().into()).ok_or_else(unclear)?;
                    let by = own * row.element.bytes();
                    Aligned { array: Some(row.array), offset: bytes, by }
                }
                false => Aligned { array: None, offset, by: own },
            });
        }
    }
    match found.iter().any(Aligned::is_never) {
        true => Err(format!("its rows are no whole vectors of {width} elements")),
        false => Ok(found),
    }
}

/// Terms by the factors that the launcher does not know: a row's number and the like.
fn by_unknown(sum: &Poly, known: &dyn Fn(&Atom) -> bool) -> Option<BTreeMap<Vec<Atom>, Poly>> {
    let mut found: BTreeMap<Vec<Atom>, Poly> = BTreeMap::from([(vec![], Poly::zero())]);
    for (atoms, factor) in sum.terms() {
        let (known, unknown): (Vec<Atom>, Vec<Atom>) = atoms.iter().cloned().partition(known);
        let mut factors = known.into_iter();
        let term = factors.try_fold(Poly::constant(factor), |p, a| p.mul(&Poly::atom(a)))?;
        let part = found.entry(unknown).or_default();
        *part = part.add(&term)?;
    }
    Some(found)
}

/// What must be multiples of a width for rows of whole vectors: the number of elements; of a row that ends at one of two places where it
/// begins and both ends.
fn whole_vectors(l: &ForLoop) -> Option<Vec<Poly>> {
    let ExprKind::Select(_, a, b) = &*l.limit.kind else {
        return Some(vec![trips::sum_if_it_runs(l)?]);
    };
    let from_zero = ForLoop { first: Expr::i32(0), ..l.clone() };
    let end = |limit: &Expr| {
        trips::sum_if_it_runs(&ForLoop { limit: limit.clone(), ..from_zero.clone() })
    };
    Some(vec![Poly::from_expr(&l.first)?, end(a)?, end(b)?])
}

/// Makes the nest of blocks and threads, beside the nest as it was for rows that it does not take.
pub fn apply(legal: LegalKeepRows<'_>, sources: &SourceMap) -> Rewritten {
    text::apply(&legal, sources)
}
