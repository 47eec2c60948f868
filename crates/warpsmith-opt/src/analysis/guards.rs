//! Conditions around an access: as facts for proofs, and as yes or no at a given iteration.

use warpsmith_ir::poly::{Facts, Poly};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, UnaryOp, VarId};

use super::access::{Guard, Scope};

/// Adds to `facts` what a condition says about polynomials, variables renamed by `rename`.
pub fn add_facts(
    scope: &Scope<'_>,
    guard: Guard<'_>,
    rename: &dyn Fn(Poly) -> Poly,
    facts: &mut Facts,
) {
    conditions(scope, guard.cond, guard.negated, &mut |p| facts.assume_nonnegative(rename(p)));
}

fn conditions(scope: &Scope<'_>, cond: &Expr, negated: bool, add: &mut dyn FnMut(Poly)) {
    match &*cond.kind {
        ExprKind::Unary(UnaryOp::Not, a) => conditions(scope, a, !negated, add),
        ExprKind::Binary(BinaryOp::LogicalAnd, a, b) if !negated => {
            conditions(scope, a, false, add);
            conditions(scope, b, false, add);
        }
        ExprKind::Binary(BinaryOp::LogicalOr, a, b) if negated => {
            conditions(scope, a, true, add);
            conditions(scope, b, true, add);
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => {
            let (Ok(a), Ok(b)) = (scope.normalise(a), scope.normalise(b)) else { return };
            for (low, high, gap) in nonnegative_forms(*op, negated, &a, &b) {
                let difference = high.sub(low).and_then(|d| d.sub(&Poly::constant(gap)));
                difference.into_iter().for_each(&mut *add);
            }
        }
        _ => {}
    }
}

/// `(low, high, gap)` for each `low + gap <= high` that a comparison states.
fn nonnegative_forms<'p>(
    op: BinaryOp,
    negated: bool,
    a: &'p Poly,
    b: &'p Poly,
) -> Vec<(&'p Poly, &'p Poly, i128)> {
    use BinaryOp::*;
    match (op, negated) {
        (Lt, false) | (Ge, true) => vec![(a, b, 1)],
        (Le, false) | (Gt, true) => vec![(a, b, 0)],
        (Gt, false) | (Le, true) => vec![(b, a, 1)],
        (Ge, false) | (Lt, true) => vec![(b, a, 0)],
        (Eq, false) | (Ne, true) => vec![(a, b, 0), (b, a, 0)],
        _ => vec![],
    }
}

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
