//! Which bound loops the variables of a body depend on.

use std::collections::BTreeMap;

use warpsmith_ir::{Block, Expr, ExprKind, Place, Stmt, StmtKind, VarId};

use crate::walk;

/// A set of bound loops, one bit each.
pub type Axes = u8;

/// The bound loops that a value depends on.
pub fn mask_of(e: &Expr, depends: &BTreeMap<VarId, Axes>) -> Axes {
    let mut axes = 0;
    walk::each_var(e, &mut |v| axes |= depends.get(&v).copied().unwrap_or(0));
    axes
}

/// Adds the variables that depend on those given, and on which bound loops: through values, subscripts and conditions.
pub fn spread(block: &Block, depends: &mut BTreeMap<VarId, Axes>) {
    loop {
        let before = depends.clone();
        spread_once(block, 0, depends);
        if before == *depends {
            return;
        }
    }
}

fn spread_once(block: &Block, around: Axes, depends: &mut BTreeMap<VarId, Axes>) {
    for stmt in &block.stmts {
        let o = walk::operands(stmt);
        let mut axes = o.reads.iter().fold(around, |m, e| m | mask_of(e, depends));
        if let Some(place) = o.writes {
            walk::each_expr_of_place(place, &mut |e| {
                if let ExprKind::Read(p) = &*e.kind {
                    axes |= p.root_var().and_then(|v| depends.get(&v)).copied().unwrap_or(0);
                }
            });
        }
        let written = o.writes.and_then(Place::root_var);
        for v in o.results.iter().copied().chain(written) {
            if axes != 0 {
                *depends.entry(v).or_default() |= axes;
            }
        }
        let inner = match &stmt.kind {
            StmtKind::Scope(_) => around,
            _ if runs_as_a_whole(stmt, depends) => axes | mentioned(stmt, depends),
            _ => axes,
        };
        walk::blocks(stmt).into_iter().for_each(|b| spread_once(b, inner, depends));
    }
}

/// A statement that each iteration runs by itself, once for each: what it writes then differs between iterations that
/// differ in anything it mentions, be it only in the jump that ended it.
fn runs_as_a_whole(stmt: &Stmt, depends: &BTreeMap<VarId, Axes>) -> bool {
    match &stmt.kind {
        StmtKind::Loop { .. } | StmtKind::Switch { .. } => true,
        StmtKind::For(l) => {
            let bounds = [&l.first, &l.limit, &l.step];
            let differ = bounds.into_iter().any(|e| mask_of(e, depends) != 0);
            differ || walk::leaves(&l.body).is_some() || walk::continues(&l.body).is_some()
        }
        StmtKind::If { cond, .. } => mask_of(cond, depends) != 0 || walk::reads_memory(cond),
        _ => false,
    }
}

/// The bound loops that anything in a statement depends on, statements inside it included.
pub fn mentioned(stmt: &Stmt, depends: &BTreeMap<VarId, Axes>) -> Axes {
    let mut axes = 0;
    walk::each_var_of_block(&Block::new(vec![stmt.clone()]), &mut |v| {
        axes |= depends.get(&v).copied().unwrap_or(0);
    });
    axes
}
