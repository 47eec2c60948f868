//! How many iterations a loop has that counts up by one and may not run at all.

use warpsmith_ir::{BinaryOp, Expr, ForLoop, Function, Scalar, Type};

use super::conditions::select;
use super::counters::{count_fits, counter_type, end_of, runs, tidy};

/// The type of [`length`]: the counter's, or 64 bits where that does not hold the number.
pub fn length_type(function: &Function, l: &ForLoop) -> Scalar {
    match count_fits(function, l) {
        true => counter_type(function, l),
        false => Scalar::I64,
    }
}

/// A number in a type that holds it.
pub fn in_type(e: Expr, ty: &Type) -> Expr {
    match (e.as_const(), ty.scalar()) {
        (Some(value), Some(scalar)) => Expr::int(scalar, value.as_i64()),
        _ => e.cast(ty.clone()),
    }
}

/// The number of iterations, zero for a loop that does not run. Its bounds are compared, as the difference of unsigned ones wraps, and one of
/// others may be below zero.
pub fn length(function: &Function, l: &ForLoop) -> Expr {
    let ty = length_type(function, l);
    let wide = |e: Expr| in_type(e, &Type::Scalar(ty));
    let to = wide(end_of(l, counter_type(function, l)));
    let many = tidy(function, Expr::binary(BinaryOp::Sub, to, wide(l.first.clone())), ty);
    select(runs(function, l), many, Expr::int(ty, 0))
}

/// The distance between the bounds, in the counter's type: the number of iterations of a loop that begins at zero, where its limit is no less,
/// or that is known to run.
pub fn distance(function: &Function, l: &ForLoop) -> Expr {
    let ty = counter_type(function, l);
    let to = end_of(l, ty);
    let from_zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
    let e = if from_zero { to } else { Expr::binary(BinaryOp::Sub, to, l.first.clone()) };
    tidy(function, e, ty)
}
