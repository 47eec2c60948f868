//! The range that the tiles of both nests cover, and how many blocks there are.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, Expr, ExprKind, ForLoop, Function, Scalar, Type};

use super::LegalFuseKernels;
use crate::build::conditions::select;
use crate::build::{counters, trips};
use crate::kernel::Kernel;

/// What the kernels need of the launcher.
pub(super) struct Grid {
    /// Blocks beside each other along the innermost loop, and along the one around it.
    pub across: Vec<Expr>,
    pub blocks: Expr,
    /// Iterations of the outermost loop that a block goes along.
    pub planes: Expr,
    /// The first iteration of all tiles along each loop, outermost first, in 64 bits.
    pub first: Vec<Expr>,
}

/// The first number of a loop that counts up by one, and the first past it, in 64 bits.
pub(super) fn range(function: &Function, l: &ForLoop) -> (Expr, Expr) {
    let wide = counters::wide(l);
    let end = counters::end_of(&wide, Scalar::I64);
    (wide.first, counters::tidy(function, end, Scalar::I64))
}

/// `b - a`, where that is a number.
pub(super) fn apart(a: &Expr, b: &Expr) -> Option<i128> {
    Poly::from_expr(b)?.sub(&Poly::from_expr(a)?)?.as_constant()
}

/// The lesser of two numbers, or with `Gt` the greater one.
fn extreme(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    match apart(&a, &b) {
        Some(distance) => {
            if (distance >= 0) == (op == BinaryOp::Lt) {
                a
            } else {
                b
            }
        }
        None => select(Expr::binary(op, a.clone(), b.clone()), a, b),
    }
}

/// What the tiles cover along a loop: all that the second nest runs, and all that the first one stores.
fn covered(kernel: &Kernel, legal: &LegalFuseKernels<'_>, depth: usize) -> (Expr, Expr) {
    let function = kernel.func();
    let (a, b) = (&legal.pair.first.loops[depth], &legal.pair.second.loops[depth]);
    let ((low, high), (first, last)) = (range(function, a), range(function, b));
    let (low, high) = match legal.stores() {
        false => (first, last),
        true => (extreme(BinaryOp::Lt, low, first), extreme(BinaryOp::Gt, high, last)),
    };
    // Vectors begin at multiples of their length.
    match low.as_const().filter(|_| depth + 1 == legal.pair.rank()) {
        Some(n) => {
            let past = n.as_i64().rem_euclid(legal.shape.each(0).into());
            (Expr::int(Scalar::I64, n.as_i64() - past), high)
        }
        None => (low, high),
    }
}

/// The numbers of the grid, as parameters that the launcher computes.
pub(super) fn grid(kernel: &mut Kernel, legal: &LegalFuseKernels<'_>) -> Grid {
    let rank = legal.pair.rank();
    let mut first = vec![];
    let mut counts = vec![];
    for depth in 0..rank {
        let (low, high) = covered(kernel, legal, depth);
        let count = Expr::binary(BinaryOp::Sub, high, low.clone());
        let count = counters::tidy(kernel.func(), count, Scalar::I64);
        let part = if depth == 0 { legal.shape.slices } else { legal.inner(rank - 1 - depth) };
        let parts = Expr::int(Scalar::I64, part.into());
        let blocks = trips::blocks(kernel.func(), count.clone(), parts);
        let some = Expr::binary(BinaryOp::Gt, count, Expr::int(Scalar::I64, 0));
        counts.push(select(some, blocks, Expr::int(Scalar::I64, 0)));
        first.push(match matches!(&*low.kind, ExprKind::Select(..)) {
            true => {
                let names = ["first_plane", "first_row", "first_column"];
                let name = names[if depth == 0 { 0 } else { depth + 3 - rank }];
                let comment = "where tiles begin along a loop".to_string();
                Expr::var(kernel.add_length(name, low, comment), Type::I64)
            }
            false => low,
        });
    }
    // A grid counts in 32 bits, unless the loops count in 64.
    let loops = legal.pair.first.loops.iter().chain(&legal.pair.second.loops);
    let is_long = loops.into_iter().any(|l| counters::counter_type(kernel.func(), l).bytes() > 4);
    let ty = if is_long { Type::I64 } else { Type::I32 };
    let mut number = |name: &str, value: Expr, comment: &str| {
        let ty = value.ty.clone();
        Expr::var(kernel.add_length(name, value, comment.to_string()), ty)
    };
    let names = ["tile_columns", "tile_rows"];
    let mut across: Vec<Expr> = vec![];
    for (axis, name) in names.into_iter().enumerate().take(rank - 1) {
        let count = counts[rank - 1 - axis].clone().cast(ty.clone());
        across.push(number(name, count, "tiles beside each other"));
    }
    let outermost = counts[0].clone();
    let planes = outermost.clone().cast(ty);
    let planes = number("planes", planes, "outermost iterations of a block");
    let slices = Expr::int(Scalar::I64, legal.shape.slices.into());
    let of_slice = counts.into_iter().skip(1).reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
    let all = Expr::binary(BinaryOp::Mul, of_slice.unwrap_or(slices.clone()), slices);
    // Where threads have several elements, blocks begin with copies, for which there has to be a plane.
    let some = Expr::binary(BinaryOp::Gt, outermost, Expr::int(Scalar::I64, 0));
    let all = match legal.ring {
        Some(_) => select(some, all, Expr::int(Scalar::I64, 0)),
        None => all,
    };
    let blocks = number("tiles", all, "all tiles");
    Grid { across, blocks, planes, first }
}
