//! Iteration numbers and guards of counted loops, as expressions; how many iterations there are says [`trips`](super::trips).
//!
//! The counter of thread `t` is `first + t * step` (dense indexing). The grid is rounded up to whole blocks, so that the
//! counters of the excess threads can leave the range of a 32-bit type: [`excess`] says when, and what to do about it.
//! Ranges of 64-bit counters are not an issue: the launcher asks that none ends near there ([`far`](crate::analysis::far)).

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, ForLoop, Function, Origin, Scalar, Type, UnaryOp,
};

use crate::facts::Multiples;

/// The type of a loop's counter.
pub fn counter_type(function: &Function, l: &ForLoop) -> Scalar {
    function.var(l.var).ty.scalar().unwrap_or(Scalar::I32)
}

/// Whether the counter grows. A loop that compares with `!=` has a constant step; the rewrites saw to it.
pub fn counts_up(l: &ForLoop) -> bool {
    match l.compare {
        BinaryOp::Lt | BinaryOp::Le => true,
        BinaryOp::Gt | BinaryOp::Ge => false,
        _ => l.step.as_const().is_none_or(|s| s.as_i64() > 0),
    }
}

/// The comparison under which an iteration exists; `!=` says the same as `<` or `>` in the loop's direction.
pub fn comparison(l: &ForLoop) -> BinaryOp {
    match l.compare {
        BinaryOp::Ne if counts_up(l) => BinaryOp::Lt,
        BinaryOp::Ne => BinaryOp::Gt,
        other => other,
    }
}

/// `counter compare limit`.
pub fn inside(l: &ForLoop, counter: Expr) -> Expr {
    Expr::binary(comparison(l), counter, l.limit.clone())
}

/// The opposite of [`inside`].
pub fn outside(l: &ForLoop, counter: Expr) -> Expr {
    let op = match comparison(l) {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        _ => BinaryOp::Lt,
    };
    Expr::binary(op, counter, l.limit.clone())
}

/// `limit` of a loop that counts up by one, exclusive.
pub fn end_of(l: &ForLoop, ty: Scalar) -> Expr {
    match l.compare {
        BinaryOp::Le => Expr::binary(BinaryOp::Add, l.limit.clone(), Expr::int(ty, 1)),
        _ => l.limit.clone(),
    }
}

/// What can become of the counters of threads past the end of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// They stay in the range of the type.
    InRange,
    /// They may pass the end of the range once and come out before the first iteration, where a comparison finds them.
    Wraps,
    /// They may land anywhere: the guard must be computed in 64 bits.
    Anywhere,
}

/// Steps up to this size cannot carry the threads of a block, at most 1024, once around the range of 32 bits.
const SHORT_STEP: u64 = 1 << 20;

/// For a loop with one thread an iteration, in blocks of `block` threads.
pub fn excess(function: &Function, l: &ForLoop, block: u32) -> Excess {
    let ty = counter_type(function, l);
    if ty.bytes() == 8 {
        return Excess::InRange;
    }
    let Some(step) = l.step.as_const().map(|v| v.as_i64()) else { return Excess::Anywhere };
    // A power of two divides the range: rounding up cannot pass its end.
    if is_const(&l.first, 0) && step == 1 && block.is_power_of_two() {
        return Excess::InRange;
    }
    if step.unsigned_abs() > SHORT_STEP {
        return Excess::Anywhere;
    }
    if let Some(limit) = l.limit.as_const().map(|v| v.as_i64()) {
        let (least, greatest) = match ty.is_signed() {
            true => (i64::from(i32::MIN), i64::from(i32::MAX)),
            false => (0, i64::from(u32::MAX)),
        };
        let last = limit + step * i64::from(block);
        if (least..=greatest).contains(&last) {
            return Excess::InRange;
        }
    }
    // What wraps lands at the other end of the range: before the first iteration, if that is not there as well.
    let starts_inside = match l.first.as_const().map(|v| v.as_i64()) {
        Some(first) => ty.is_signed() && first.unsigned_abs() <= 1 << 30,
        None => ty.is_signed(),
    };
    let one_by_one = step == 1 && block.is_power_of_two();
    if starts_inside || (one_by_one && !is_const(&l.first, 0)) {
        Excess::Wraps
    } else {
        Excess::Anywhere
    }
}

/// The counter lies before the first iteration.
pub fn before(l: &ForLoop, counter: Expr) -> Expr {
    let op = if counts_up(l) { BinaryOp::Lt } else { BinaryOp::Gt };
    Expr::binary(op, counter, l.first.clone())
}

/// The loop with bounds and step in 64 bits.
pub fn wide(l: &ForLoop) -> ForLoop {
    let cast = |e: &Expr| match e.as_const() {
        Some(v) => Expr::int(Scalar::I64, v.as_i64()),
        None => e.clone().cast(Type::I64),
    };
    ForLoop { first: cast(&l.first), limit: cast(&l.limit), step: cast(&l.step), ..l.clone() }
}

/// The type of the first iterations of strips. That behind the last one may lie beyond the counter's type where the loop
/// does not begin at a constant: from a constant on nobody counts that far.
pub fn strips_type(l: &ForLoop, counter: Scalar) -> Scalar {
    if counter.bytes() < 8 && l.first.as_const().is_none() { Scalar::I64 } else { counter }
}

/// Whether the number of iterations is sure to fit the counter's type.
pub fn count_fits(function: &Function, l: &ForLoop) -> bool {
    let ty = counter_type(function, l);
    let low = if counts_up(l) { &l.first } else { &l.limit };
    let from_zero = low.as_const().is_some_and(|v| v.as_i64() >= 0);
    ty.bytes() == 8 || !ty.is_signed() || from_zero
}

/// The last iteration of the loop: `counter + step` would be outside.
pub fn is_last(l: &ForLoop, counter: Expr) -> Expr {
    outside(l, Expr::binary(BinaryOp::Add, counter, l.step.clone()))
}

/// The number of the thread along an axis of the grid, in type `ty`.
pub fn thread_number(axis: Axis, ty: Scalar) -> Expr {
    let (block, width, thread) =
        (Builtin::BlockIdx(axis), Builtin::BlockDim(axis), Builtin::ThreadIdx(axis));
    wide_sum(block, width, Some(thread), ty)
}

/// The number of threads of the grid along an axis, in type `ty`.
pub fn grid_width(axis: Axis, ty: Scalar) -> Expr {
    wide_sum(Builtin::GridDim(axis), Builtin::BlockDim(axis), None, ty)
}

fn wide_sum(a: Builtin, b: Builtin, c: Option<Builtin>, ty: Scalar) -> Expr {
    // The hardware's numbers have 32 bits; a 64-bit counter needs the product in 64.
    let term = |x: Builtin| {
        let e = Expr::builtin(x);
        if ty.bytes() == 8 { e.cast(Type::Scalar(ty)) } else { e }
    };
    let product = Expr::binary(BinaryOp::Mul, term(a), term(b));
    let sum = match c {
        Some(c) => Expr::binary(BinaryOp::Add, product, term(c)),
        None => product,
    };
    sum.cast(Type::Scalar(ty))
}

/// `first + number * step`, without the parts that do nothing.
pub fn counter_of(l: &ForLoop, number: Expr) -> Expr {
    let scaled = times(number, &l.step);
    let negative = |e: &Expr| matches!(&*e.kind, ExprKind::Unary(UnaryOp::Neg, _));
    match (&l.first, scaled) {
        (first, scaled) if is_const(first, 0) => scaled,
        (first, scaled) if negative(&scaled) => match *scaled.kind {
            ExprKind::Unary(_, inner) => Expr::binary(BinaryOp::Sub, first.clone(), inner),
            _ => first.clone(),
        },
        (first, scaled) => Expr::binary(BinaryOp::Add, first.clone(), scaled),
    }
}

/// The same of a number in 64 bits, in the counter's type.
pub fn counter_of_wide(function: &Function, l: &ForLoop, number: Expr) -> Expr {
    let ty = Type::Scalar(counter_type(function, l));
    match count_fits(function, l) {
        true => counter_of(l, number.cast(ty)),
        false => counter_of(&wide(l), number).cast(ty),
    }
}

/// `number * step`; a negative constant step gives the negation of a product.
pub fn times(number: Expr, step: &Expr) -> Expr {
    let ty = number.ty.clone();
    let Some(value) = step.as_const().map(|v| v.as_i64()) else {
        return Expr::binary(BinaryOp::Mul, number, step.clone());
    };
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let magnitude = i64::try_from(value.unsigned_abs()).unwrap_or(i64::MAX);
    let product = match magnitude {
        1 => number,
        m => Expr::binary(BinaryOp::Mul, number, Expr::int(scalar, m)),
    };
    match value < 0 {
        true => Expr::new(ExprKind::Unary(UnaryOp::Neg, product), ty, Origin::default()),
        false => product,
    }
}

/// Whether an expression is this number.
pub fn is_const(e: &Expr, value: i64) -> bool {
    e.as_const().is_some_and(|v| !v.ty.is_float() && v.as_i64() == value)
}

/// The last multiple of `width`, a power of two, at or before the loop's first iteration.
pub fn aligned_first(l: &ForLoop, width: u32, multiples: &Multiples) -> Expr {
    let ty = l.first.ty.scalar().unwrap_or(Scalar::I32);
    let known = multiples.past_multiple(&l.first, width);
    match (l.first.as_const().map(|c| c.as_i64()), known) {
        (Some(first), Some(past)) => Expr::int(ty, first - i64::from(past)),
        (_, Some(past)) => Expr::binary(BinaryOp::Sub, l.first.clone(), Expr::int(ty, past.into())),
        _ => {
            let down = Expr::int(ty, -i64::from(width)).cast(Type::Scalar(ty));
            Expr::binary(BinaryOp::BitAnd, l.first.clone(), down)
        }
    }
}

/// The positions in a box that its elements, numbered row by row, have; as many as it has extents, the last of which
/// varies fastest.
pub fn digits(number: Expr, extents: &[Expr]) -> Vec<Expr> {
    let mut found = vec![];
    let mut rest = number;
    for extent in extents.iter().skip(1).rev() {
        found.push(Expr::binary(BinaryOp::Rem, rest.clone(), extent.clone()));
        rest = Expr::binary(BinaryOp::Div, rest, extent.clone());
    }
    found.push(rest);
    found.reverse();
    found
}

/// The same value, sums collected.
pub fn tidy(function: &Function, e: Expr, ty: Scalar) -> Expr {
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    match Poly::from_expr(&e) {
        Some(poly) => poly.to_expr(ty, &var_type),
        None => e,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use warpsmith_ir::{Block, FunctionKind, LoopKind, Var, VarKind};

    use super::*;

    /// A loop over `i` from `first` to a parameter `n`.
    pub fn loop_to_n(first: i64, compare: BinaryOp, step: i64) -> (Function, ForLoop) {
        let mut function = Function::new("f", FunctionKind::Host);
        let n = function.add_param(Var::new("n", Type::I32, VarKind::Param));
        let i = function.add_var(Var::new("i", Type::I32, VarKind::Local));
        let l = ForLoop {
            id: function.fresh_loop(),
            var: i,
            declares: true,
            first: Expr::int(Scalar::I32, first),
            compare,
            limit: Expr::var(n, Type::I32),
            step: Expr::int(Scalar::I32, step),
            kind: LoopKind::Serial,
            body: Block::default(),
        };
        (function, l)
    }

    #[test]
    fn excess_threads_are_recognised() {
        let of = |first, step, block| {
            let (function, l) = loop_to_n(first, BinaryOp::Lt, step);
            excess(&function, &l, block)
        };
        assert_eq!(of(0, 1, 256), Excess::InRange);
        // 2^31 is no multiple of 96.
        assert_eq!(of(0, 1, 96), Excess::Wraps);
        assert_eq!(of(1, 1, 256), Excess::Wraps);
        assert_eq!(of(0, 3, 256), Excess::Wraps);
        assert_eq!(of(0, 1 << 21, 256), Excess::Anywhere);
        let (function, l) = loop_to_n(0, BinaryOp::Lt, -1);
        let down = ForLoop {
            first: l.limit.clone(),
            limit: Expr::int(Scalar::I32, 0),
            compare: BinaryOp::Ge,
            ..l
        };
        assert_eq!(excess(&function, &down, 256), Excess::InRange);
    }
}
