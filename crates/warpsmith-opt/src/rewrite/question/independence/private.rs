//! Variables from outside of a loop that each iteration has for itself.

use warpsmith_ir::{Block, ForLoop, Function, PlaceKind, Stmt, StmtKind, VarId};

use crate::walk;

/// Whether iterations of the loop alone use the variable, and each sets it first.
pub(super) fn is_of_each_iteration(function: &Function, l: &ForLoop, var: VarId) -> bool {
    let mut others = walk::times_mentioned(&function.body, var);
    walk::each_stmt(&function.body, &mut |s| {
        others -= usize::from(matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var));
    });
    others == walk::times_mentioned(&l.body, var) && is_set_first(&l.body, var)
}

/// Whether the block sets the variable before anything else is done with it, each time that it runs: in its own statements,
/// or in those of the one statement that has all that there is of it.
fn is_set_first(block: &Block, var: VarId) -> bool {
    let itself = |stmt: &Stmt| {
        let mut found = false;
        walk::each_var_of_stmt(stmt, &mut |v| found |= v == var);
        found
    };
    let inside = |b: &&Block| walk::times_mentioned(b, var) > 0;
    let mentions = |s: &&Stmt| itself(s) || walk::blocks(s).iter().any(inside);
    let mut mentioning = block.stmts.iter().filter(mentions);
    let Some(first) = mentioning.next() else { return true };
    match &first.kind {
        StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => {
            !walk::mentions(value, var)
        }
        // Control comes into the middle of it.
        StmtKind::Switch { .. } => false,
        _ => {
            let blocks = walk::blocks(first);
            !itself(first)
                && mentioning.next().is_none()
                && blocks.iter().all(|b| is_set_first(b, var))
        }
    }
}
