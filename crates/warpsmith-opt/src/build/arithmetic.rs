//! Sums and products without what changes nothing.

use warpsmith_ir::{BinaryOp, Expr, Scalar};

use super::counters::is_const;

/// `a + b`
pub fn plus(a: Expr, b: Expr) -> Expr {
    match is_const(&b, 0) {
        true => a,
        false => Expr::binary(BinaryOp::Add, a, b),
    }
}

/// `a * b`
pub fn times(a: Expr, b: Expr) -> Expr {
    match (is_const(&a, 1), is_const(&b, 1)) {
        (true, _) => b,
        (_, true) => a,
        _ => Expr::binary(BinaryOp::Mul, a, b),
    }
}

/// `e + n`, or `e - |n|`.
pub fn offset(e: Expr, n: i64) -> Expr {
    let ty = e.ty.scalar().unwrap_or(Scalar::I32);
    match n {
        0 => e,
        n if n < 0 => Expr::binary(BinaryOp::Sub, e, Expr::int(ty, n.saturating_neg())),
        n => Expr::binary(BinaryOp::Add, e, Expr::int(ty, n)),
    }
}

/// The product of constants; 1 for none.
pub fn product(factors: &[Expr]) -> Expr {
    let all = factors.iter().filter(|e| !is_const(e, 1)).cloned();
    all.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b)).unwrap_or_else(|| Expr::i32(1))
}
