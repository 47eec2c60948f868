//! Declarations of a part that go into its loop.

use std::collections::BTreeSet;

use warpsmith_ir::{Block, ForLoop, Stmt, StmtKind, VarId};

use crate::rewrite::question::swap::repeatable;
use crate::walk;

/// Moves declarations in front of the only loop of a block into it, as far as there are loops inside of it: a loop with nothing beside
/// it can have an axis.
pub(super) fn into_loops(block: &mut Block) {
    let Some(vars) = movable(block) else { return };
    let at = block.stmts.len() - 1;
    let declarations: Vec<Stmt> = block.stmts.drain(..at).collect();
    if let Some(StmtKind::For(l)) = block.stmts.first_mut().map(|s| &mut s.kind) {
        debug_assert!(!vars.contains(&l.var));
        l.body.stmts.splice(0..0, declarations);
        into_loops(&mut l.body);
    }
}

/// The variables that are declared in front of the only loop of a block, if every iteration can have its own.
fn movable(block: &Block) -> Option<BTreeSet<VarId>> {
    let (last, before) = block.stmts.split_last()?;
    let StmtKind::For(l) = &last.kind else { return None };
    if before.is_empty() || walk::for_loops(&l.body).is_empty() {
        return None;
    }
    let mut known = BTreeSet::new();
    for stmt in before {
        let var = repeatable(stmt, block, &known)?;
        known.insert(var);
    }
    let at_ends = |l: &ForLoop, v: &VarId| {
        [&l.first, &l.limit, &l.step].into_iter().any(|e| walk::mentions(e, *v))
    };
    (!known.iter().any(|v| at_ends(l, v))).then_some(known)
}
