//! Powers of two that are set before a loop: `int half = 1 << s;`.

use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, Function, LoopId, PlaceKind, StmtKind, VarId};

use crate::walk;

/// Variables that hold `1 << k` of one `k` throughout the loop: with their values.
///
/// Only what stands in the blocks around the loop counts, so that it is known there; what the exponent is made of are
/// parameters and counters of loops around, which nothing else sets.
pub fn before(function: &Function, root: LoopId) -> Vec<(VarId, &Expr)> {
    let once = |v: VarId, allowed: usize| walk::times_set(&function.body, v) <= allowed;
    let params = function.params.iter().copied();
    let mut fixed: Vec<VarId> = params.filter(|p| once(*p, 0)).collect();
    let mut found = vec![];
    let mut block = Some(&function.body);
    while let Some(b) = block.take() {
        for stmt in &b.stmts {
            if let StmtKind::Decl { var, init: Some(init) } = &stmt.kind
                && exponent(init).is_some_and(|k| fixed.contains(&k))
                && once(*var, 1)
            {
                found.push((*var, init));
            }
            if matches!(&stmt.kind, StmtKind::For(l) if l.id == root) {
                return found;
            }
            let inside = walk::blocks(stmt).into_iter().find(|b| holds(b, root));
            if inside.is_some() {
                if let StmtKind::For(l) = &stmt.kind
                    && l.declares
                    && once(l.var, 1)
                {
                    fixed.push(l.var);
                }
                block = inside;
                break;
            }
        }
    }
    vec![]
}

/// The variable that one is shifted by.
fn exponent(e: &Expr) -> Option<VarId> {
    let ExprKind::Binary(BinaryOp::Shl, one, k) = &*stripped(e).kind else { return None };
    let one = stripped(one).as_const().filter(|v| v.ty.is_integer())?;
    let ExprKind::Read(place) = &*stripped(k).kind else { return None };
    match &*place.kind {
        PlaceKind::Var(v) if one.as_i64() == 1 => Some(*v),
        _ => None,
    }
}

fn stripped(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) if inner.ty.is_integer() => stripped(inner),
        _ => e,
    }
}

fn holds(block: &Block, id: LoopId) -> bool {
    walk::loop_stmt(block, id).is_some()
}
