//! What statements are, set and hold.

use std::collections::BTreeSet;

use warpsmith_ir::visit::for_each_stmt;
use warpsmith_ir::{Block, Expr, ExprKind, Module, Place, PlaceKind, Stmt, StmtKind, VarId};

use crate::verify::proof::differ;

/// Statements that do the same but for what they read.
pub(super) fn alike(old: &Stmt, new: &Stmt) -> bool {
    match (&old.kind, &new.kind) {
        (StmtKind::Decl { var: a, init: x }, StmtKind::Decl { var: b, init: y }) => {
            a == b && x.is_some() == y.is_some()
        }
        (StmtKind::Assign { place: a, .. }, StmtKind::Assign { place: b, .. }) => a == b,
        (
            StmtKind::If { cond: a, otherwise: x, .. },
            StmtKind::If { cond: b, otherwise: y, .. },
        ) => {
            // Other conditions are those of copies.
            let reads = |pair: &differ::Pair<'_>| !std::ptr::eq(pair.old, a) && reads(pair.old);
            differ::exprs(a, b).iter().all(reads) && x.stmts.is_empty() == y.stmts.is_empty()
        }
        (StmtKind::For(a), StmtKind::For(b)) => {
            (a.var, &a.first, a.compare, &a.limit, &a.step)
                == (b.var, &b.first, b.compare, &b.limit, &b.step)
        }
        (StmtKind::Loop { .. }, StmtKind::Loop { .. })
        | (StmtKind::Scope(_), StmtKind::Scope(_))
        | (StmtKind::Break, StmtKind::Break)
        | (StmtKind::Continue, StmtKind::Continue) => true,
        (StmtKind::Return(a), StmtKind::Return(b)) => a.is_some() == b.is_some(),
        (
            StmtKind::Call { function: f, result: r, .. },
            StmtKind::Call { function: g, result: s, .. },
        ) => f == g && r == s,
        (a, b) => a == b,
    }
}

/// Whether an expression reads memory, itself or in a function.
fn reads(e: &Expr) -> bool {
    let mut any = false;
    for_each_expr_of(e, &mut |e| {
        any |= match &*e.kind {
            ExprKind::Read(place) => is_element(place),
            ExprKind::Call(..) => true,
            _ => false,
        };
    });
    any
}

fn is_element(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Var(_) => false,
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => is_element(p),
        _ => true,
    }
}

/// The variable that a place is a part of.
pub(super) fn root(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Var(v) => Some(*v),
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => root(p),
        _ => None,
    }
}

pub(super) fn set_by(blocks: &[&Block]) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    for b in blocks {
        for_each_stmt(b, &mut |s| match &s.kind {
            StmtKind::Assign { place, .. } => set.extend(root(place).map(|v| v.0)),
            StmtKind::Decl { var, .. } => _ = set.insert(var.0),
            StmtKind::For(f) => _ = set.insert(f.var.0),
            StmtKind::Call { result: Some(p), .. } => set.extend(root(p).map(|v| v.0)),
            _ => {}
        });
    }
    set
}

pub(super) fn sets_once(blocks: &[&Block], v: VarId) -> bool {
    let mut count = 0;
    for b in blocks {
        for_each_stmt(b, &mut |s| {
            count += match &s.kind {
                StmtKind::Assign { place, .. } => u32::from(root(place) == Some(v)),
                StmtKind::Decl { var, .. } => 2 * u32::from(*var == v),
                StmtKind::For(f) => 2 * u32::from(f.var == v),
                StmtKind::Call { result: Some(p), .. } => 2 * u32::from(root(p) == Some(v)),
                _ => 0,
            };
        });
    }
    count == 1
}

pub(super) fn has_barrier(module: &Module, b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| match &s.kind {
        StmtKind::Barrier { .. } => any = true,
        StmtKind::Call { function, .. } => {
            any |= has_barrier(module, &module.function(*function).body)
        }
        _ => {}
    });
    any
}

/// `break` and `continue`, of whatever loop.
pub(super) fn has_jump(b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| any |= matches!(s.kind, StmtKind::Break | StmtKind::Continue));
    any
}

pub(super) fn has_return(b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| any |= matches!(s.kind, StmtKind::Return(_)));
    any
}

pub(super) fn for_each_expr_of(e: &Expr, see: &mut dyn FnMut(&Expr)) {
    warpsmith_ir::visit::for_each_subexpr(e, see);
}
