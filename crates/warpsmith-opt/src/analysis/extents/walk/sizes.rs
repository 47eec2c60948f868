//! Variables of the analysed function that stand for sizes.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Function, PlaceKind, StmtKind, VarId};

use crate::walk as tree;

/// Variables that hold a size from the start to the end that is no sum of products of parameters: fields of parameters,
/// and what is computed of sizes by divisions and shifts, `(h + 2 * pad - k) / stride + 1`. And all that they are made of.
pub(super) fn sizes(function: &Function) -> (BTreeSet<VarId>, BTreeMap<VarId, &Expr>) {
    let kept = |p: &VarId| !tree::writes_var(&function.body, *p);
    let mut known: BTreeSet<VarId> = function.params.iter().copied().filter(kept).collect();
    let (mut found, mut made) = (BTreeSet::new(), BTreeMap::new());
    for s in &function.body.stmts {
        let StmtKind::Decl { var, init: Some(init) } = &s.kind else { continue };
        let whole = function.var(*var).ty.scalar().is_some_and(|s| s.is_integer());
        let mut pure = whole && init.ty == function.var(*var).ty && !tree::reads_memory(init);
        tree::each_var(init, &mut |v| pure &= known.contains(&v));
        if !pure || tree::times_set(&function.body, *var) != 1 {
            continue;
        }
        known.insert(*var);
        made.insert(*var, init);
        if is_field(init) || divides(init) {
            found.insert(*var);
        }
    }
    (found, made)
}

fn is_field(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Field(..)))
}

/// Whether a value has quotients or shifts of which its polynomial would know nothing.
fn divides(e: &Expr) -> bool {
    let (mut divides, mut falls) = (false, false);
    tree::each_expr(e, &mut |e| {
        if let ExprKind::Binary(op, _, by) = &*e.kind {
            let constant = by.as_const().is_some();
            falls |= *op == BinaryOp::Sub;
            divides |= matches!(op, BinaryOp::Div | BinaryOp::Shl) && !constant;
        }
    });
    let mut halves = false;
    tree::each_expr(e, &mut |e| {
        halves |= matches!(&*e.kind, ExprKind::Binary(BinaryOp::Div, ..));
    });
    divides || (halves && falls)
}
