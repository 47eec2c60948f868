//! Variables of an iteration that one statement stores, and later ones could read in memory.

use std::collections::BTreeSet;

use warpsmith_ir::{Block, Expr, ExprKind, Place, PlaceKind, Stmt, StmtKind, VarId, visit};

use crate::analysis::access::base_of;
use crate::analysis::loops::written_bases;
use crate::rewrite::question::swap::can_swap;
use crate::walk;

/// The statements with each store of a variable that is their `own` right behind what sets it last, and the element read in place of
/// the variable from there on.
pub(super) fn read_back(mut stmts: Vec<Stmt>, own: &BTreeSet<VarId>) -> Vec<Stmt> {
    for at in 0..stmts.len() {
        let Some((var, place)) = stored(&stmts[at]).filter(|(v, _)| own.contains(v)) else {
            continue;
        };
        let sets = |s: &Stmt| walk::times_set(&Block::new(vec![s.clone()]), var) > 0;
        let Some(set) = stmts[..at].iter().rposition(sets) else { continue };
        let passed = stmts[set + 1..at].iter().all(|s| can_swap(s, &stmts[at]));
        let others = [&stmts[set + 1..at], &stmts[at + 1..]].concat();
        let later = Block::new(others);
        if passed && stays(&later, var, &place) && walk::times_mentioned(&later, var) > 0 {
            stmts[set + 1..=at].rotate_right(1);
            let mut later = Block::new(stmts.split_off(set + 2));
            visit::map_exprs(&mut later, &mut |e| {
                if matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var)) {
                    *e = Expr::read(place.clone());
                }
            });
            stmts.append(&mut later.stmts);
        }
    }
    stmts
}

/// The variable that a statement stores in an element of its type.
fn stored(stmt: &Stmt) -> Option<(VarId, Place)> {
    let StmtKind::Assign { place, value } = &stmt.kind else { return None };
    let ExprKind::Read(from) = &*value.kind else { return None };
    let PlaceKind::Var(var) = *from.kind else { return None };
    let element = matches!(&*place.kind, PlaceKind::Elem { .. }) && place.root_var().is_none();
    (element && place.ty == from.ty && place.ty.scalar().is_some()).then(|| (var, place.clone()))
}

/// Whether statements change neither the variable nor the element, nor where that is.
fn stays(later: &Block, var: VarId, place: &Place) -> bool {
    let mut vars = BTreeSet::from([var]);
    walk::each_var(&Expr::read(place.clone()), &mut |v| _ = vars.insert(v));
    let set = walk::times_set_each(later);
    let in_memory = walk::subscripts(place).into_iter().any(walk::reads_memory);
    !in_memory
        && vars.iter().all(|v| !set.contains_key(v))
        && !written_bases(later).contains(&base_of(place))
}
