//! Minima and maxima that are written as a choice.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, MathFn, PlaceKind, ReduceOp, Stmt, StmtKind, VarId,
};

use super::scalars::reads;
use crate::walk::mentions;

/// A variable that keeps the least or greatest of several values.
pub struct Extreme {
    /// The variable that keeps the value.
    pub var: VarId,
    /// `Min` or `Max`.
    pub op: ReduceOp,
    /// The value that it is compared with.
    pub value: Expr,
    /// The variable that is set together with it, and to what.
    pub with: Option<(VarId, Expr)>,
}

/// `if (e > m) m = e;` and `m = e > m ? e : m`, with any of the four comparisons, either way round; also
/// `if (e > m) { m = e; p = q; }`, where the comparison leaves equal values alone.
pub fn extreme(stmt: &Stmt) -> Option<Extreme> {
    match &stmt.kind {
        StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
            let set = assignments(then)?;
            let found = |(var, value): &(VarId, &Expr)| Some((*var, kept(cond, value, *var)?));
            let (var, op) = set.iter().find_map(found)?;
            let (own, others): (Vec<_>, Vec<_>) = set.into_iter().partition(|(v, _)| *v == var);
            let ([(_, value)], [] | [_]) = (&own[..], &others[..]) else { return None };
            let with = others.first().map(|(v, e)| (*v, (*e).clone()));
            if with.as_ref().is_some_and(|(_, e)| !is_strict(cond) || mentions(e, var)) {
                return None;
            }
            Some(Extreme { var, op, value: (*value).clone(), with })
        }
        StmtKind::Assign { place, value } => {
            let (PlaceKind::Var(var), ExprKind::Select(cond, a, b)) = (&*place.kind, &*value.kind)
            else {
                return None;
            };
            // The value is chosen where the condition holds, or where it does not.
            let (op, value) = match (reads(a, *var), reads(b, *var)) {
                (false, true) => (kept(cond, a, *var)?, a),
                (true, false) => (other(kept(cond, b, *var)?), b),
                _ => return None,
            };
            Some(Extreme { var: *var, op, value: value.clone(), with: None })
        }
        _ => None,
    }
}

/// What a block assigns to variables, where it does nothing else.
fn assignments(block: &Block) -> Option<Vec<(VarId, &Expr)>> {
    let mut found = vec![];
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Assign { place, value } => match *place.kind {
                PlaceKind::Var(v) => found.push((v, value)),
                _ => return None,
            },
            StmtKind::Scope(inner) => found.extend(assignments(inner)?),
            _ => return None,
        }
    }
    Some(found)
}

fn is_strict(cond: &Expr) -> bool {
    matches!(&*cond.kind, ExprKind::Binary(BinaryOp::Lt | BinaryOp::Gt, ..))
}

/// What a variable becomes that takes the value where the condition holds.
fn kept(cond: &Expr, value: &Expr, var: VarId) -> Option<ReduceOp> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return None };
    let greater = match op {
        BinaryOp::Gt | BinaryOp::Ge => true,
        BinaryOp::Lt | BinaryOp::Le => false,
        _ => return None,
    };
    // A cast on either side would make it another value.
    let greater = match (a == value && reads(b, var), b == value && reads(a, var)) {
        (true, _) => greater,
        (_, true) => !greater,
        _ => return None,
    };
    let op = if greater { ReduceOp::Max } else { ReduceOp::Min };
    (!mentions(value, var)).then_some(op)
}

fn other(op: ReduceOp) -> ReduceOp {
    if op == ReduceOp::Max { ReduceOp::Min } else { ReduceOp::Max }
}

/// The block with calls of `fmin` and `fmax` in place of choices, as far as what is combined matters: of a NaN, and of
/// zeros of two signs, a choice may keep the other. What is set together with a choice is left out.
pub fn as_calls(block: &Block) -> Block {
    let mut block = block.clone();
    replace(&mut block);
    block
}

fn replace(block: &mut Block) {
    for stmt in &mut block.stmts {
        if let Some(found) = extreme(stmt) {
            let ty = found.value.ty.clone();
            let f = if found.op == ReduceOp::Max { MathFn::Max } else { MathFn::Min };
            let place = warpsmith_ir::Place::var(found.var, ty.clone());
            let args = vec![Expr::read(place.clone()), found.value];
            let value = Expr::new(ExprKind::Call(f, args), ty, stmt.origin.clone());
            stmt.kind = StmtKind::Assign { place, value };
            continue;
        }
        crate::walk::blocks_mut(stmt).into_iter().for_each(replace);
    }
}

/// Whether a variable is one that some statement chooses.
pub fn is_chosen(block: &Block, var: VarId) -> bool {
    let mut found = false;
    crate::walk::each_stmt(block, &mut |s| found |= extreme(s).is_some_and(|e| e.var == var));
    found
}

/// Variables of reals that C gives the other value where one is NaN: `m = m < e ? m : e` is the least value after the last NaN, which depends on
/// the order that it is looked for in.
pub fn lost_at_nan(block: &Block) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    crate::walk::each_stmt(block, &mut |s| {
        let StmtKind::Assign { value, .. } = &s.kind else { return };
        let (Some(e), ExprKind::Select(_, a, _)) = (extreme(s), &*value.kind) else { return };
        if e.value.ty.scalar().is_some_and(warpsmith_ir::Scalar::is_float) && reads(a, e.var) {
            found.insert(e.var);
        }
    });
    found
}

/// Where the least and greatest values of a block are found: each with the variable that is set together with it, and to
/// what.
pub fn positions(block: &Block) -> Vec<(VarId, VarId, Expr)> {
    let mut found = vec![];
    crate::walk::each_stmt(block, &mut |s| {
        if let Some(Extreme { var, with: Some((at, value)), .. }) = extreme(s) {
            found.push((var, at, value));
        }
    });
    found
}
