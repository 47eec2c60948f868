//! Whether a loop runs, and how many iterations it has, whatever way it counts.
//!
//! All are made of the distance between the bounds, [`distance`]. What differs is where the number is wanted: of a loop that runs ([`count`], and
//! [`wide_count`] in 64 bits), of one that may not ([`length`]), or before there are sizes, as a sum ([`sum`]) or a constant ([`constant_count`]).

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, Expr, ForLoop, Function, Scalar, Type};

use super::conditions::{all_of, select};
use super::counters::{
    comparison, count_fits, counter_type, counts_up, is_const, tidy, times, wide,
};

/// The greater and the lesser bound of a loop that runs, and 1 where the limit is an iteration, too.
fn bounds(l: &ForLoop) -> (&Expr, &Expr, i64) {
    let inclusive = matches!(l.compare, BinaryOp::Le | BinaryOp::Ge);
    match counts_up(l) {
        true => (&l.limit, &l.first, inclusive.into()),
        false => (&l.first, &l.limit, inclusive.into()),
    }
}

/// Whether the loop runs at all, with the constant on the right.
pub fn runs(function: &Function, l: &ForLoop) -> Expr {
    let op = comparison(l);
    if let Some(simple) = runs_by_distance(function, l, op) {
        return simple;
    }
    if l.first.as_const().is_none() {
        return Expr::binary(op, l.first.clone(), l.limit.clone());
    }
    let flipped = match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        _ => BinaryOp::Le,
    };
    Expr::binary(flipped, l.limit.clone(), l.first.clone())
}

/// Whether all loops run at all; `None`: all do, whatever the sizes are.
pub fn all_run<'l>(
    function: &Function,
    loops: impl IntoIterator<Item = &'l ForLoop>,
) -> Option<Expr> {
    let mut conditions: Vec<Expr> = vec![];
    let open = loops.into_iter().filter(|l| constant_count(function, l).is_none_or(|n| n == 0));
    for cond in open.map(|l| runs(function, l)) {
        if !conditions.contains(&cond) {
            conditions.push(cond);
        }
    }
    all_of(conditions)
}

/// `n > 2` for a loop from 1 to `n - 1`. Unsigned differences may wrap and are left as they are.
fn runs_by_distance(function: &Function, l: &ForLoop, op: BinaryOp) -> Option<Expr> {
    let ty = counter_type(function, l);
    if !ty.is_signed() {
        return None;
    }
    let (high, low) = match op {
        BinaryOp::Lt | BinaryOp::Le => (&l.limit, &l.first),
        _ => (&l.first, &l.limit),
    };
    let distance = Poly::from_expr(high)?.sub(&Poly::from_expr(low)?)?;
    let least = -distance.constant_term();
    let rest = distance.add(&Poly::constant(least))?;
    rest.as_atom()?;
    let inclusive = matches!(op, BinaryOp::Le | BinaryOp::Ge);
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    let least = Expr::int(ty, i64::try_from(least).ok()?);
    let op = if inclusive { BinaryOp::Ge } else { BinaryOp::Gt };
    Some(Expr::binary(op, rest.to_expr(ty, &var_type), least))
}

/// The distance between the bounds, in the counter's type: of a loop that counts one by one and runs, or begins at zero and has no limit below
/// it, the number of iterations.
pub fn distance(function: &Function, l: &ForLoop) -> Expr {
    distance_in(function, l, counter_type(function, l))
}

fn distance_in(function: &Function, l: &ForLoop, ty: Scalar) -> Expr {
    let (high, low, more) = bounds(l);
    let between = match is_const(low, 0) {
        true => high.clone(),
        false => Expr::binary(BinaryOp::Sub, high.clone(), low.clone()),
    };
    let all = match more {
        0 => between,
        n => Expr::binary(BinaryOp::Add, between, Expr::int(ty, n)),
    };
    tidy(function, all, ty)
}

/// The number of iterations of a loop that runs, in the counter's type.
pub fn count(function: &Function, l: &ForLoop) -> Expr {
    count_in(function, l, counter_type(function, l))
}

fn count_in(function: &Function, l: &ForLoop, ty: Scalar) -> Expr {
    let step = match counts_up(l) {
        true => l.step.clone(),
        false => times(l.step.clone(), &Expr::int(ty, -1)),
    };
    let distance = distance_in(function, l, ty);
    tidy(function, blocks(function, distance, tidy(function, step, ty)), ty)
}

/// [`count`] in 64 bits, which hold what the counter's type may not.
pub fn wide_count(function: &Function, l: &ForLoop) -> Expr {
    match count_fits(function, l) {
        true => count(function, l).cast(Type::I64),
        false => count_in(function, &wide(l), Scalar::I64),
    }
}

/// The number of iterations of a loop that may not run, in [`length_type`]: the difference of unsigned bounds wraps there, and one of others may
/// be below zero.
pub fn length(function: &Function, l: &ForLoop) -> Expr {
    let ty = length_type(function, l);
    let many = match count_fits(function, l) {
        true => count_in(function, l, ty),
        false => count_in(function, &wide(l), ty),
    };
    select(runs(function, l), many, Expr::int(ty, 0))
}

/// The counter's type, or 64 bits where that does not hold the number of iterations.
pub fn length_type(function: &Function, l: &ForLoop) -> Scalar {
    match count_fits(function, l) {
        true => counter_type(function, l),
        false => Scalar::I64,
    }
}

/// The number of iterations of a loop that counts up by one and runs, as a sum of what its bounds are made of.
pub fn sum_if_it_runs(l: &ForLoop) -> Option<Poly> {
    let (high, low, more) = bounds(l);
    Poly::from_expr(high)?.sub(&Poly::from_expr(low)?)?.add(&Poly::constant(more.into()))
}

/// The same of one that may not run, where the sum is not above zero then: differences of unsigned numbers may wrap, which a sum does not show.
pub fn sum(l: &ForLoop, ty: Scalar) -> Option<Poly> {
    let exact = ty.is_signed() || is_const(&l.first, 0);
    if exact { sum_if_it_runs(l) } else { None }
}

/// The number of iterations of a loop, where no size decides it.
pub fn constant_count(function: &Function, l: &ForLoop) -> Option<u64> {
    let (high, low, more) = bounds(l);
    let [high, low, step] = [high, low, &l.step].map(|e| e.as_const().map(|v| v.as_i64()));
    let distance = high?.checked_sub(low?)?.checked_add(more)?;
    let (distance, step) = (u64::try_from(distance).ok()?, step?.unsigned_abs().max(1));
    counter_type(function, l).is_integer().then(|| distance.div_ceil(step))
}

/// Whether the distance between the bounds is a number of the counter's type; `None`: it is, whatever they are.
pub fn range_fits(function: &Function, l: &ForLoop) -> Option<Expr> {
    if count_fits(function, l) {
        return None;
    }
    let l = wide(l);
    let (high, low, more) = bounds(&l);
    let between = Expr::binary(BinaryOp::Sub, high.clone(), low.clone());
    let between = tidy(function, between, Scalar::I64);
    let most = Expr::int(Scalar::I64, i64::from(i32::MAX) - more);
    Some(Expr::binary(BinaryOp::Le, between, most))
}

/// A number in a type that holds it.
pub fn in_type(e: Expr, ty: &Type) -> Expr {
    match (e.as_const(), ty.scalar()) {
        (Some(value), Some(scalar)) => Expr::int(scalar, value.as_i64()),
        _ => e.cast(ty.clone()),
    }
}

/// `ceil(count / size)` for a count of at least 1, as `(count - 1) / size + 1`: it cannot overflow.
pub fn blocks(function: &Function, count: Expr, size: Expr) -> Expr {
    if is_const(&size, 1) {
        return count;
    }
    let ty = count.ty.scalar().unwrap_or(Scalar::I32);
    let size = size.cast(Type::Scalar(ty));
    let last = Expr::binary(BinaryOp::Sub, count, Expr::int(ty, 1));
    let full = Expr::binary(BinaryOp::Div, tidy(function, last, ty), size);
    Expr::binary(BinaryOp::Add, full, Expr::int(ty, 1))
}

#[cfg(test)]
mod tests {
    use warpsmith_ir::ExprKind;

    use super::super::counters::tests::loop_to_n;
    use super::*;
    use crate::analysis::guards;

    /// The value for `n`, when neither it nor a part of it leaves the range of `int`.
    fn value(e: &Expr, n: i64) -> Option<i128> {
        if let ExprKind::Binary(_, a, b) = &*e.kind {
            value(a, n)?;
            value(b, n)?;
        }
        let v = guards::eval(e, &|_| Some(n.into()))?;
        i32::try_from(v).ok().map(i128::from)
    }

    #[test]
    fn counts_and_blocks_are_exact_up_to_the_greatest_int() {
        for (first, compare, step) in [
            (0, BinaryOp::Lt, 1),
            (0, BinaryOp::Lt, 3),
            (2, BinaryOp::Lt, 1),
            (5, BinaryOp::Lt, 4),
            (1, BinaryOp::Le, 1),
            (1, BinaryOp::Le, 7),
        ] {
            let (function, l) = loop_to_n(first, compare, step);
            let iterations = count(&function, &l);
            let grid = blocks(&function, iterations.clone(), Expr::int(Scalar::I32, 256));
            for n in [6, 7, 8, 255, 256, 257, 1000, i64::from(i32::MAX) - 1, i32::MAX.into()] {
                let distance = n - first + i64::from(compare == BinaryOp::Le);
                let expected = (distance + step - 1) / step;
                assert_eq!(value(&iterations, n), Some(expected.into()), "count for n = {n}");
                let expected = (expected + 255) / 256;
                assert_eq!(value(&grid, n), Some(expected.into()), "blocks for n = {n}");
            }
        }
    }
}
