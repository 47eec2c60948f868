//! Splits the sums of the tiles that are left over when blocks run in waves (stream-k).
//!
//! ```text
//!     parallel for i in I { parallel for j in J { s = a; for k in K { s += e(i, j, k) }; C[i][j] = s } }
//!       ==> stream_k k by 4 tile 64x128 of 528
//!     parallel for i in I, before i_whole { parallel for j in J { … } }                whole waves of tiles
//!     parallel for i in I, from i_whole on { parallel for j in J { … } }               split_k k#2 by 4
//! ```
//!
//! Of the tiles of a product, 528 run at a time. Where the last of these waves has a few tiles only, most of the device waits
//! for them: the rows of tiles that whole waves do not reach have their sums split, so that there are tiles enough for all.
//! The launcher counts, so that every size is right, and sizes whose parts would take as long as a wave are not split.
//! The parts are added in their order: every run gives the same bits.
//!
//! The extents of a tile are those that later steps give to blocks (threads times iterations a thread), outermost loop first;
//! where they are others, what is computed is the same. The first nest keeps the names of the loops, that of the parts
//! has `k_part`, `i#2`, `j#2`, `k#2`, and the one that adds them `i#3`, `j#3`.
//!
//! Legal where `split_k` is, and nothing reads the counter of the outermost loop after the nest.

use std::fmt;

use warpsmith_ir::{BinaryOp, Expr, ForLoop, LoopId, Scalar, SourceMap, Stmt, StmtKind, Type};

use super::edit::copy;
use super::edit::copy::general_copy;
use super::step::grammar::{by_x, counted, name, number, wanted};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, split_k};
use crate::analysis::scalars;
use crate::build::conditions::select;
use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{preceded, separated};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A serial loop that sums up.
    pub target: String,
    /// Parts of the sums that are split.
    pub parts: u32,
    /// Iterations of each parallel loop that a block computes, outermost first.
    pub tile: Vec<u32>,
    /// Tiles that run at the same time.
    pub wave: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Args { target, parts, tile, wave } = self;
        write!(f, "{target} by {parts} tile {} of {wave}", by_x(tile))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "stream_k",
        example: "stream_k k by 4 tile 64x128 of 528",
        does: "splits the sums of the tiles that whole waves of so many tiles leave over (stream-k): a nest over `i`, `j` computes whole waves, one over `k_part`, `i#2`, `j#2` parts of the rest, and one over `i#3`, `j#3` adds them in order",
        legal: "`split_k` is, and nothing reads the counter of the nest's first loop after it; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void product(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
}
",
            steps: "stream_k k by 4 tile 8x16 of 6",
            after: "\
void product(int n, const float *A, const float *B, float *C, long long i_tiles, long long j_tiles,
             long long tiles_left, int i_whole, float *__restrict__ C_parts, int k_length) {
    // parallel
    for (int i = 0; i < i_whole; ++i) {
        // parallel
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < n; ++k) {
                C[(size_t)i * n + j] += A[(size_t)i * n + k] * B[(size_t)k * n + j];
            }
        }
    }

    // parallel
    for (int k_part = 0; k_part < 4; ++k_part) {
        // parallel
        for (int i = i_whole; i < n; ++i) {
            // parallel
            for (int j = 0; j < n; ++j) {
                C_parts[((size_t)k_part * (n - i_whole) + i - i_whole) * n + j] = 0.0f;
                for (int k = k_part * k_length;
                     k < (k_part == 3 || (k_part + 1) * k_length > n ? n : (k_part + 1) * k_length);
                     ++k) {
                    C_parts[((size_t)k_part * (n - i_whole) + i - i_whole) * n + j] +=
                        A[(size_t)i * n + k] * B[(size_t)k * n + j];
                }
            }
        }
    }

    // parallel
    for (int i = i_whole; i < n; ++i) {
        // parallel
        for (int j = 0; j < n; ++j) {
            for (int k_part = 0; k_part < 4; ++k_part) {
                C[(size_t)i * n + j] += C_parts[((size_t)k_part * (n - i_whole) + i - i_whole) * n +
                                                j];
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let parts =
            counted("by", "`by` and the number of parts are wanted here").parse_next(input)?;
        let tile = preceded((space1, "tile", space1), separated(1..=3, number, 'x'))
            .context(wanted("`tile` and the iterations of a block are wanted here"))
            .parse_next(input)?;
        let wave = counted("of", "`of` and the tiles that run at a time are wanted here")
            .parse_next(input)?;
        Ok(Args { target, parts, tile, wave })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let target = loop_named(kernel, &self.target)?;
        Ok(apply(check(kernel, target, self.parts, (&self.tile, self.wave))?))
    }
}

/// Most iterations of a block along a loop, and most tiles of a wave.
const MOST_ITERATIONS: u32 = 4096;
const MOST_TILES: u32 = 1 << 20;

/// The verdict on a `stream_k`, which alone allows it.
pub struct LegalStreamK {
    /// The nest apart in two, of which the second has the rows whose sums are split.
    apart: Kernel,
    target: LoopId,
    parts: u32,
}

/// Asks whether the sum of the loop can be split into `parts` for the tiles that are left over, where `wave` tiles of these
/// extents run at a time.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    target: LoopId,
    parts: u32,
    (tile, wave): (&[u32], u32),
) -> Result<LegalStreamK, Refusal> {
    let refuse = |why: String| {
        let verb = "split the sum of the last tiles of";
        Err(Refusal::of_loop(verb, target, why))
    };
    let group = split_k::check(kernel, target, parts)?.loops().to_vec();
    if group.len() != tile.len() {
        let (loops, extents) = (group.len(), tile.len());
        return refuse(format!("its nest has {loops} parallel loops, not {extents}"));
    }
    if let Some(n) = tile.iter().find(|n| !(1..=MOST_ITERATIONS).contains(*n)) {
        return refuse(format!(
            "a block has from 1 to {MOST_ITERATIONS} iterations of a loop, not {n}"
        ));
    }
    if !(1..=MOST_TILES).contains(&wave) {
        return refuse(format!("from 1 to {MOST_TILES} tiles run at a time, not {wave}"));
    }
    let outermost = group.first().and_then(|id| kernel.find_loop(*id));
    let Some(outermost) = outermost else { return refuse("it is gone".into()) };
    if scalars::counter_outlives(kernel.func(), outermost) {
        let name = kernel.loop_name(outermost.id);
        return refuse(format!("the counter of `{name}` is read after the nest"));
    }
    let apart = apart(kernel, &group, parts, (tile, wave));
    // Nothing that the step asks for depends on where the rows begin, but who knows.
    split_k::check(&apart, target, parts)?;
    Ok(LegalStreamK { apart, target, parts })
}

/// Splits the sums of the second nest.
pub fn apply(legal: LegalStreamK) -> Rewritten {
    match split_k::check(&legal.apart, legal.target, legal.parts) {
        Ok(split) => split_k::apply(split),
        Err(_) => Rewritten::same_loops(legal.apart.clone()),
    }
}

/// The nest twice: rows of tiles that whole waves reach, and the other rows.
fn apart(kernel: &Kernel, group: &[LoopId], parts: u32, tiles: (&[u32], u32)) -> Kernel {
    let mut kernel = kernel.clone();
    let loops: Vec<ForLoop> =
        group.iter().filter_map(|id| kernel.find_loop(*id).cloned()).collect();
    let Some(outermost) = loops.first() else { return kernel };
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, outermost.id).cloned() else {
        return kernel;
    };
    let end = whole_rows(&mut kernel, &loops, parts, tiles);
    let (mut first, ..) = general_copy(&mut kernel, &stmt);
    first.origin = stmt.origin.by("stream_k");
    if let StmtKind::For(l) = &mut first.kind {
        (l.compare, l.limit) = (BinaryOp::Lt, end.clone());
    }
    copy::put_around(&mut kernel, outermost.id, vec![first], vec![]);
    walk::with_loop(&mut kernel.func_mut().body, outermost.id, &mut |stmt: &mut Stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.first = end.clone();
        }
    });
    kernel
}

/// The first iteration of the outermost loop that whole waves of tiles do not reach, as a number of the launcher.
///
/// With `t` tiles along the outermost loop, `u` tiles in each row of them, and `w` at a time, `left = t u mod w` tiles are
/// left. In parts they take `left parts / w` times a part of a wave, which must be fewer than all parts. The number of tiles is
/// a constant of its own: whatever it is, what is computed is the same.
fn whole_rows(
    kernel: &mut Kernel,
    loops: &[ForLoop],
    parts: u32,
    (tile, wave): (&[u32], u32),
) -> Expr {
    let both = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone());
    let number = |n: i64| Expr::int(Scalar::I64, n);
    let mut counts: Vec<Expr> = vec![];
    for (at, (l, extent)) in loops.iter().zip(tile).enumerate() {
        let name = kernel.name_of(l.var).to_string();
        let count = trips::wide_count(kernel.func(), l);
        let tiles = trips::blocks(kernel.func(), count, number((*extent).into()));
        // A row without tiles is no number to divide by.
        let none = number(i64::from(at > 0));
        let tiles = select(trips::runs(kernel.func(), l), tiles, none);
        let comment = format!("tiles along `{name}`, of {extent} iterations each");
        let var = kernel.add_length(&format!("{name}_tiles"), tiles, comment);
        counts.push(Expr::var(var, Type::I64));
    }
    let (Some(rows), Some(outermost)) = (counts.first().cloned(), loops.first()) else {
        return number(0);
    };
    let row = counts[1..].iter().cloned().reduce(|a, b| both(BinaryOp::Mul, &a, &b));
    let row = row.unwrap_or_else(|| number(1));
    let all = both(BinaryOp::Mul, &rows, &row);
    let comment = "tiles that run at the same time";
    let size = kernel.constant("WAVE", wave, comment).cast(Type::I64);
    let left = both(BinaryOp::Rem, &all, &size);
    let left = kernel.add_length("tiles_left", left, "tiles that whole waves leave over".into());
    let left = Expr::var(left, Type::I64);
    let none = both(BinaryOp::Eq, &left, &number(0));
    let parts_of = |n: u32, of: &Expr| both(BinaryOp::Mul, of, &number(n.into()));
    let many = both(BinaryOp::Gt, &parts_of(parts, &left), &parts_of(parts - 1, &size));
    let whole = both(BinaryOp::LogicalOr, &none, &many);
    let reached = both(BinaryOp::Div, &both(BinaryOp::Sub, &all, &left), &row);
    let name = kernel.name_of(outermost.var).to_string();
    let ty = kernel.func().var(outermost.var).ty.clone();
    let before = both(BinaryOp::Mul, &reached, &number(tile[0].into()));
    let before = counters::counter_of_wide(kernel.func(), outermost, before);
    let end = counters::end_of(outermost, ty.scalar().unwrap_or(Scalar::I32));
    let value = select(whole, end, before);
    let comment = format!("from here on, sums are split into {parts} parts");
    let var = kernel.add_length(&format!("{name}_whole"), value, comment);
    if counters::count_fits(kernel.func(), outermost) {
        kernel.left_off.insert(var);
    }
    Expr::var(var, ty)
}
