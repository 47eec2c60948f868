//! What the launcher computes: how many rows, columns and blocks there are, and whether blocks can take the nest.

use warpsmith_ir::{BinaryOp, Expr, ForLoop, Scalar, Type};

use super::LegalKeepSums;
use crate::build::conditions::{all_of, select};
use crate::build::threads;
use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::rewrite::keep_rows;

/// Rows, columns and blocks are counted in 32 bits, those that fill the last block included.
const MOST: i64 = 1 << 30;

/// Numbers of the launcher, and named constants.
pub(super) struct Counts {
    pub rows: Expr,
    pub columns: Expr,
    /// Blocks beside each other along the columns, and all of them.
    pub column_blocks: Expr,
    pub blocks: Expr,
    /// Blocks with a row for each thread.
    pub row_blocks: Expr,
    pub threads: Expr,
    pub warps: Expr,
    pub lanes: Expr,
    /// Rows of a block.
    pub rows_each: Expr,
}

fn both(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b)
}

/// Iterations of a loop that runs.
fn count(kernel: &Kernel, l: &ForLoop) -> Expr {
    trips::wide_count(kernel.func(), l)
}

/// Blocks with so many iterations of a loop each.
fn blocks(kernel: &Kernel, l: &ForLoop, each: u32) -> Expr {
    trips::blocks(kernel.func(), count(kernel, l), Expr::int(Scalar::I64, each.into()))
}

fn all_blocks(kernel: &Kernel, legal: &LegalKeepSums<'_>) -> Expr {
    let rows = blocks(kernel, legal.outer, legal.shape.rows);
    both(BinaryOp::Mul, rows, blocks(kernel, legal.inner, legal.shape.columns()))
}

/// The condition under which blocks can take the nest.
pub(super) fn fits(kernel: &Kernel, legal: &LegalKeepSums<'_>) -> Expr {
    let most = |e: Expr| both(BinaryOp::Le, e, Expr::int(Scalar::I64, MOST));
    let counts =
        [count(kernel, legal.outer), count(kernel, legal.inner), all_blocks(kernel, legal)];
    let aligned = legal.aligned.iter().filter_map(|a| keep_rows::aligned(kernel, a));
    let all = counts.map(most).into_iter().chain(aligned);
    let all = all_of(all);
    all.unwrap_or_else(|| Expr::constant(warpsmith_ir::Value::bool(true)))
}

/// The numbers that the kernels need, each as far as it is one of 32 bits.
pub(super) fn counts(kernel: &mut Kernel, legal: &LegalKeepSums<'_>, fits: &Expr) -> Counts {
    let (outer, inner) = (legal.outer, legal.inner);
    let narrow = |l: &ForLoop| counters::counter_type(kernel.func(), l).bytes() <= 4;
    let wide = (![outer, inner].into_iter().all(narrow)).then(|| fits.clone());
    let few = both(BinaryOp::Le, all_blocks(kernel, legal), Expr::int(Scalar::I64, MOST));
    let where_run = |loops: &[&ForLoop], few: Option<Expr>, e: Expr| {
        let runs = trips::all_run(kernel.func(), loops.iter().copied());
        let all = runs.into_iter().chain(wide.clone().or(few));
        match all_of(all) {
            Some(cond) => select(cond, e.cast(Type::I32), Expr::i32(0)),
            None => e.cast(Type::I32),
        }
    };
    let shape = legal.shape;
    let columns = blocks(kernel, inner, shape.columns());
    let rows = blocks(kernel, outer, shape.threads);
    let all = all_blocks(kernel, legal);
    let values = [
        ("rows", where_run(&[outer], None, count(kernel, outer)), "rows whose sums are kept"),
        ("columns", where_run(&[inner], None, count(kernel, inner)), "columns of these"),
        (
            "column_blocks",
            where_run(&[inner], None, columns),
            "blocks beside each other along the columns",
        ),
        ("sum_blocks", where_run(&[outer, inner], Some(few), all), "all blocks"),
        ("row_blocks", where_run(&[outer], None, rows), "blocks with a row for each thread"),
    ];
    let mut number = |(name, value, comment): (&str, Expr, &str)| {
        Expr::var(kernel.add_length(name, value, comment.into()), Type::I32)
    };
    let [rows, columns, column_blocks, blocks, row_blocks] = values.map(&mut number);
    let warps = shape.threads / threads::WARP;
    Counts {
        rows,
        columns,
        column_blocks,
        blocks,
        row_blocks,
        threads: kernel.constant("SUM_THREADS", shape.threads, "threads that keep sums of columns"),
        warps: kernel.constant("SUM_WARPS", warps, "warps of these"),
        lanes: kernel.constant("WARP", threads::WARP, "threads of a warp"),
        rows_each: kernel.constant("SUM_ROWS", shape.rows, "rows that go by a block"),
    }
}
