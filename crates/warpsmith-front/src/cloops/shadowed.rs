//! Reductions of variables that every iteration sets before it uses them: `sum = 0;` first, under `reduction(+: sum)`.
//!
//! What such a variable combines to means nothing, and where nobody looks at it afterwards it is a private one.

use warpsmith_ir::{Block, ForLoop, Function, LoopKind, PlaceKind, Stmt, StmtKind, VarId, visit};

/// Makes such variables private to their loops.
pub fn keep_private(function: &mut Function) {
    let mut found = vec![];
    visit::for_each_stmt(&function.body, &mut |s| {
        let StmtKind::For(l) = &s.kind else { return };
        let LoopKind::Parallel(p) = &l.kind else { return };
        for r in &p.reductions {
            if is_set_first(l, r.var) && is_used_here_only(&function.body, s, r.var) {
                found.push((l.id, r.var));
            }
        }
    });
    visit::map_stmts(&mut function.body, &mut |s| {
        let StmtKind::For(l) = &mut s.kind else { return };
        let LoopKind::Parallel(p) = &mut l.kind else { return };
        for (_, var) in found.iter().filter(|(id, _)| *id == l.id) {
            p.reductions.retain(|r| r.var != *var);
            p.private.push(*var);
        }
    });
}

/// Whether the first statement of the body that mentions the variable sets it.
fn is_set_first(l: &ForLoop, var: VarId) -> bool {
    let first = l.body.stmts.iter().find(|s| mentions(s, var) > 0);
    first.is_some_and(|s| match &s.kind {
        StmtKind::Assign { place, value } => {
            *place.kind == PlaceKind::Var(var) && !visit::vars_of_expr(value).contains(&var)
        }
        _ => false,
    })
}

/// Whether nothing but the loop and a declaration mentions the variable.
fn is_used_here_only(body: &Block, of: &Stmt, var: VarId) -> bool {
    let mut declared = 0;
    visit::for_each_stmt(body, &mut |s| {
        declared += usize::from(matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var));
    });
    let all: usize = body.stmts.iter().map(|s| mentions(s, var)).sum();
    all == mentions(of, var) + declared
}

fn mentions(stmt: &Stmt, var: VarId) -> usize {
    let mut count = 0;
    visit::rename_vars(&mut Block::new(vec![stmt.clone()]), &mut |v| {
        count += usize::from(v == var);
        v
    });
    count
}
