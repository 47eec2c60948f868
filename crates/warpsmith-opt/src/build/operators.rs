//! Operations of reductions, as expressions.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, Origin, ReduceOp, Scalar, Type, Value};

/// The value that changes nothing.
pub fn identity(op: ReduceOp, ty: Scalar) -> Value {
    let float = ty.is_float();
    match op {
        ReduceOp::Add | ReduceOp::BitOr | ReduceOp::BitXor | ReduceOp::LogicalOr => {
            Value::int(ty, 0)
        }
        ReduceOp::Mul | ReduceOp::LogicalAnd => Value::int(ty, 1),
        ReduceOp::BitAnd => Value::int(ty, -1),
        ReduceOp::Min if float => Value::float(ty, f64::INFINITY),
        ReduceOp::Max if float => Value::float(ty, f64::NEG_INFINITY),
        ReduceOp::Min | ReduceOp::Max => {
            let bits = 8 * ty.bytes();
            let greatest = if ty.is_signed() { i64::MAX >> (64 - bits) } else { -1 };
            let least = if ty.is_signed() { i64::MIN >> (64 - bits) } else { 0 };
            Value::int(ty, if op == ReduceOp::Min { greatest } else { least })
        }
    }
}

/// How a value compares with a minimum or maximum that it takes the place of.
pub fn better(op: ReduceOp) -> BinaryOp {
    if op == ReduceOp::Max { BinaryOp::Gt } else { BinaryOp::Lt }
}

/// `a op b`.
pub fn combine(op: ReduceOp, scalar: Scalar, a: Expr, b: Expr) -> Expr {
    let ty = Type::Scalar(scalar);
    let arithmetic = |op| {
        // C computes narrow integers as `int`.
        let wide = if scalar.is_integer() && scalar.bytes() < 4 { Type::I32 } else { ty.clone() };
        Expr::binary(op, a.clone().cast(wide.clone()), b.clone().cast(wide)).cast(ty.clone())
    };
    let call =
        |f| Expr::new(ExprKind::Call(f, vec![a.clone(), b.clone()]), ty.clone(), Origin::default());
    let truth = |e: &Expr| {
        let zero = Expr::constant(Value::int(scalar, 0));
        if scalar == Scalar::Bool { e.clone() } else { Expr::binary(BinaryOp::Ne, e.clone(), zero) }
    };
    let logical = |op| Expr::binary(op, truth(&a), truth(&b)).cast(ty.clone());
    match op {
        ReduceOp::Add => arithmetic(BinaryOp::Add),
        ReduceOp::Mul => arithmetic(BinaryOp::Mul),
        ReduceOp::BitAnd => arithmetic(BinaryOp::BitAnd),
        ReduceOp::BitOr => arithmetic(BinaryOp::BitOr),
        ReduceOp::BitXor => arithmetic(BinaryOp::BitXor),
        ReduceOp::Min => call(MathFn::Min),
        ReduceOp::Max => call(MathFn::Max),
        ReduceOp::LogicalAnd => logical(BinaryOp::LogicalAnd),
        ReduceOp::LogicalOr => logical(BinaryOp::LogicalOr),
    }
}
