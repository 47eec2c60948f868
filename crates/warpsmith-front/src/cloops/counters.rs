//! Counters in the manner of older C: `int i, j;` at the top and `for (i = 0; …)` below.
//!
//! A variable that nothing uses outside the loops that count with it belongs to those loops. Declared by each of them,
//! it is private to every iteration of a marked loop around, which is what the author means.

use warpsmith_ir::{Block, Function, LoopKind, Stmt, StmtKind, VarId, VarKind, visit};

/// Lets loops declare the counters that only they use.
pub fn localise(function: &mut Function) {
    let candidates: Vec<VarId> = (0..function.vars.len() as u32)
        .map(VarId)
        .filter(|v| {
            let var = function.var(*v);
            var.kind == VarKind::Local && var.ty.is_integer()
        })
        .collect();
    for var in candidates {
        if belongs_to_loops(&function.body, var) {
            give_to_loops(function, var);
        }
    }
}

/// Is every mention of `var` in its declaration, in a list of private variables, or in a loop that counts with it?
fn belongs_to_loops(body: &Block, var: VarId) -> bool {
    let (mut declarations, mut private, mut inside) = (0, 0, 0);
    let mut loops = 0;
    visit::for_each_stmt(body, &mut |stmt| match &stmt.kind {
        StmtKind::Decl { var: v, init: None } if *v == var => declarations += 1,
        StmtKind::For(l) => {
            if let LoopKind::Parallel(p) = &l.kind {
                let lists = p.private.iter().chain(&p.first_private);
                // Inside a loop that counts with it the list is counted there.
                private += lists.filter(|v| **v == var).count();
            }
            if l.var == var && !l.declares {
                let before = mentions_in_block(&Block::new(vec![assign_first(stmt)]), var);
                loops += if before == 0 { 1 } else { usize::MAX / 2 };
                inside += mentions_in_block(&Block::new(vec![stmt.clone()]), var);
            }
        }
        _ => {}
    });
    if declarations != 1 || loops == 0 || loops >= usize::MAX / 2 {
        return false;
    }
    mentions_in_block(body, var) == declarations + private + inside
}

/// The evaluation of the first value alone.
fn assign_first(stmt: &Stmt) -> Stmt {
    match &stmt.kind {
        StmtKind::For(l) => Stmt::new(StmtKind::Return(Some(l.first.clone())), stmt.origin.clone()),
        _ => Stmt::new(StmtKind::Break, stmt.origin.clone()),
    }
}

fn mentions_in_block(block: &Block, var: VarId) -> usize {
    let mut count = 0;
    visit::rename_vars(&mut block.clone(), &mut |v| {
        count += usize::from(v == var);
        v
    });
    count
}

fn give_to_loops(function: &mut Function, var: VarId) {
    let mut body = std::mem::take(&mut function.body);
    edit(function, &mut body, var);
    function.body = body;
}

fn edit(function: &mut Function, block: &mut Block, var: VarId) {
    block.stmts.retain(|s| !matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var));
    for stmt in &mut block.stmts {
        match &mut stmt.kind {
            StmtKind::For(l) => {
                if let LoopKind::Parallel(p) = &mut l.kind {
                    for list in [&mut p.private, &mut p.first_private] {
                        list.retain(|v| *v != var);
                    }
                }
                if l.var == var {
                    let copy = function.var(var).clone();
                    let own = function.add_var(copy);
                    l.var = own;
                    l.declares = true;
                    visit::rename_vars(&mut l.body, &mut |v| if v == var { own } else { v });
                } else {
                    edit(function, &mut l.body, var);
                }
            }
            StmtKind::If { then, otherwise, .. } => {
                edit(function, then, var);
                edit(function, otherwise, var);
            }
            StmtKind::Loop { body, step, condition, .. } => {
                edit(function, body, var);
                edit(function, step, var);
                if let Some(c) = condition {
                    edit(function, &mut c.before, var);
                }
            }
            StmtKind::Switch { cases, .. } => {
                cases.iter_mut().for_each(|c| edit(function, &mut c.body, var))
            }
            StmtKind::Scope(b) => edit(function, b, var),
            _ => {}
        }
    }
}
