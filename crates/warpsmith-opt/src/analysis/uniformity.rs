//! Which expressions have one value for all threads of a block.

use std::collections::BTreeSet;

use warpsmith_ir::{Axis, Block, Builtin, Expr, ExprKind, StmtKind, VarId};

use crate::walk;

/// Variables of a kernel that may differ between the threads of a block: everything computed from a thread index or
/// from memory, or set under a condition that differs. Parameters do not differ.
pub fn varying(body: &Block) -> BTreeSet<VarId> {
    let mut varying = BTreeSet::new();
    loop {
        let before = varying.len();
        spread(body, false, &mut varying);
        if varying.len() == before {
            return varying;
        }
    }
}

/// Whether all threads of a block compute the same value.
pub fn is_uniform(expr: &Expr, varying: &BTreeSet<VarId>) -> bool {
    let mut uniform = !walk::reads_memory(expr);
    walk::each_expr(expr, &mut |e| match &*e.kind {
        ExprKind::Builtin(b) => uniform &= builtin_is_uniform(*b),
        ExprKind::Read(p) => uniform &= p.root_var().is_none_or(|v| !varying.contains(&v)),
        _ => {}
    });
    uniform
}

fn builtin_is_uniform(builtin: Builtin) -> bool {
    use Builtin::*;
    match builtin {
        ThreadIdx(Axis::X | Axis::Y | Axis::Z) | LaneId | ActiveMask | Clock | Clock64 => false,
        BlockIdx(_) | BlockDim(_) | GridDim(_) | ClusterDim(_) | WarpSize | DynamicSharedBytes => {
            true
        }
    }
}

fn spread(block: &Block, divergent: bool, varying: &mut BTreeSet<VarId>) {
    for stmt in &block.stmts {
        let o = walk::operands(stmt);
        let differs = divergent || o.reads.iter().any(|e| !is_uniform(e, varying));
        let plain = matches!(stmt.kind, StmtKind::Decl { .. } | StmtKind::Assign { .. });
        let sets = o.results.iter().copied().chain(o.writes.and_then(|p| p.root_var()));
        if differs || !(plain || matches!(stmt.kind, StmtKind::For(_))) {
            varying.extend(sets);
        }
        for inner in walk::blocks(stmt) {
            spread(inner, differs, varying);
        }
    }
}
