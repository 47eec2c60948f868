//! Conditions around an access: yes or no at a given iteration.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, UnaryOp, VarId};

/// The value of an integer expression (a condition gives 0 or 1) where `var` gives the variables; `None` where it
/// depends on memory or anything else that is not known.
pub fn eval(expr: &Expr, var: &dyn Fn(VarId) -> Option<i128>) -> Option<i128> {
    let truth = |b: bool| Some(i128::from(b));
    match &*expr.kind {
        ExprKind::Const(v) if v.ty.is_integer() => Some(v.as_i64().into()),
        ExprKind::Read(p) => match &*p.kind {
            warpsmith_ir::PlaceKind::Var(v) if p.ty.is_integer() => var(*v),
            _ => None,
        },
        ExprKind::Cast(a) if expr.ty.is_integer() && a.ty.is_integer() => {
            let value = eval(a, var)?;
            if expr.ty == warpsmith_ir::Type::BOOL { truth(value != 0) } else { Some(value) }
        }
        ExprKind::Unary(op, a) => {
            let value = eval(a, var)?;
            match op {
                UnaryOp::Neg => value.checked_neg(),
                UnaryOp::Not => truth(value == 0),
                UnaryOp::BitNot => Some(!value),
            }
        }
        ExprKind::Select(c, a, b) => {
            if eval(c, var)? != 0 {
                eval(a, var)
            } else {
                eval(b, var)
            }
        }
        ExprKind::Call(f, args) if expr.ty.is_integer() => {
            let values: Option<Vec<i128>> = args.iter().map(|a| eval(a, var)).collect();
            match (f, values?.as_slice()) {
                (warpsmith_ir::MathFn::Min, [a, b]) => Some(*a.min(b)),
                (warpsmith_ir::MathFn::Max, [a, b]) => Some(*a.max(b)),
                (warpsmith_ir::MathFn::Abs, [a]) => a.checked_abs(),
                _ => None,
            }
        }
        ExprKind::Binary(op, a, b) => eval_binary(*op, a, b, var),
        _ => None,
    }
}

fn eval_binary(
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    var: &dyn Fn(VarId) -> Option<i128>,
) -> Option<i128> {
    use BinaryOp::*;
    let left = eval(a, var);
    match (op, left) {
        (LogicalAnd, Some(0)) => return Some(0),
        (LogicalOr, Some(x)) if x != 0 => return Some(1),
        _ => {}
    }
    let (x, y) = (left?, eval(b, var)?);
    let shift = u32::try_from(y).ok().filter(|s| *s < 64);
    match op {
        Add => x.checked_add(y),
        Sub => x.checked_sub(y),
        Mul => x.checked_mul(y),
        Div => x.checked_div(y),
        Rem => x.checked_rem(y),
        Shl => x.checked_mul(1i128 << shift?),
        Shr => Some(x >> shift?),
        BitAnd => Some(x & y),
        BitOr => Some(x | y),
        BitXor => Some(x ^ y),
        Lt => Some((x < y).into()),
        Le => Some((x <= y).into()),
        Gt => Some((x > y).into()),
        Ge => Some((x >= y).into()),
        Eq => Some((x == y).into()),
        Ne => Some((x != y).into()),
        LogicalAnd => Some((x != 0 && y != 0).into()),
        LogicalOr => Some((x != 0 || y != 0).into()),
    }
}
