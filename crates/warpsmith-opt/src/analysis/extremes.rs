//! Minima and maxima that are written as a choice.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, MathFn, PlaceKind, ReduceOp, Stmt, StmtKind, VarId,
};

use super::scalars::reads;

/// A variable that keeps the least or greatest of several values.
pub struct Extreme {
    pub var: VarId,
    pub op: ReduceOp,
    /// The value that it is compared with.
    pub value: Expr,
}

/// `if (e > m) m = e;` and `m = e > m ? e : m`, with any of the four comparisons, either way round.
pub fn extreme(stmt: &Stmt) -> Option<Extreme> {
    match &stmt.kind {
        StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
            let (var, value) = only_assignment(then)?;
            let op = kept(cond, value, var)?;
            Some(Extreme { var, op, value: value.clone() })
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
            Some(Extreme { var: *var, op, value: value.clone() })
        }
        _ => None,
    }
}

fn only_assignment(block: &Block) -> Option<(VarId, &Expr)> {
    let [only] = block.stmts.as_slice() else { return None };
    match &only.kind {
        StmtKind::Assign { place, value } => match *place.kind {
            PlaceKind::Var(v) => Some((v, value)),
            _ => None,
        },
        StmtKind::Scope(inner) => only_assignment(inner),
        _ => None,
    }
}

/// What a variable becomes that takes the value where the condition holds.
fn kept(cond: &Expr, value: &Expr, var: VarId) -> Option<ReduceOp> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return None };
    let greater = match op {
        BinaryOp::Gt | BinaryOp::Ge => true,
        BinaryOp::Lt | BinaryOp::Le => false,
        _ => return None,
    };
    let mut reads_var = false;
    crate::walk::each_var(value, &mut |v| reads_var |= v == var);
    // A cast on either side would make it another value.
    let greater = match (a == value && reads(b, var), b == value && reads(a, var)) {
        (true, _) => greater,
        (_, true) => !greater,
        _ => return None,
    };
    let op = if greater { ReduceOp::Max } else { ReduceOp::Min };
    (!reads_var).then_some(op)
}

fn other(op: ReduceOp) -> ReduceOp {
    if op == ReduceOp::Max { ReduceOp::Min } else { ReduceOp::Max }
}

/// The block with calls of `fmin` and `fmax` in place of choices, as far as what is combined matters: of a NaN, and of
/// zeros of two signs, a choice may keep the other.
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
