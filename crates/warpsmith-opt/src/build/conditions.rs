//! Conditions together, and what hangs on one.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Origin};

/// `a && b && …`; `None` for none.
pub fn all_of(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b))
}

/// `cond ? yes : no`, of the type of `yes`.
pub fn select(cond: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty.clone();
    Expr::new(ExprKind::Select(cond, yes, no), ty, Origin::default())
}
