//! The part of an iteration that variables at its end follow from.

use std::collections::BTreeSet;

use warpsmith_ir::{Block, StmtKind, VarId};

use crate::analysis::access::{Base, base_of};
use crate::walk;

/// The statements that set what is wanted at the end, with those around them and those that leave loops; loops inside that nothing
/// counts whole. What they mention is wanted before them.
pub(super) fn slice(body: &Block, wanted: &mut BTreeSet<VarId>) -> Block {
    let mut found = vec![];
    for stmt in body.stmts.iter().rev() {
        let mut stmt = stmt.clone();
        let kept = match &mut stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                (*otherwise, *then) = (slice(otherwise, wanted), slice(then, wanted));
                !then.stmts.is_empty() || !otherwise.stmts.is_empty()
            }
            StmtKind::Scope(inner) => {
                *inner = slice(inner, wanted);
                !inner.stmts.is_empty()
            }
            StmtKind::For(l) if sets_any(&l.body, wanted) => {
                l.body = slice_again(&l.body, wanted);
                true
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => true,
            _ => sets_any(&Block::new(vec![stmt.clone()]), wanted),
        };
        if kept {
            found.push(stmt);
            walk::each_var_of_block(&Block::new(found[found.len() - 1..].to_vec()), &mut |v| {
                wanted.insert(v);
            });
        }
    }
    found.reverse();
    Block::new(found)
}

/// The same of a body that runs several times: what an iteration mentions, those before it set.
fn slice_again(body: &Block, wanted: &mut BTreeSet<VarId>) -> Block {
    loop {
        let known = wanted.len();
        let part = slice(body, wanted);
        if wanted.len() == known {
            return part;
        }
    }
}

/// Whether a block sets one of these variables, or an element of one of these arrays.
fn sets_any(block: &Block, wanted: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    walk::each_stmt(block, &mut |s| {
        let o = walk::operands(s);
        let target = o.writes.and_then(|p| match (p.root_var(), base_of(p)) {
            (None, Base::Var(array)) => Some(array),
            (own, _) => own,
        });
        found |= o.results.into_iter().chain(target).any(|v| wanted.contains(&v));
    });
    found
}
