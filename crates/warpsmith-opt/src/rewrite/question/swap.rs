//! Whether statements may change places.

use std::collections::BTreeSet;

use warpsmith_ir::{Block, Place, Stmt, StmtKind, VarId};

use crate::analysis::access::Base;
use crate::analysis::loops;
use crate::walk;

/// Whether two statements one after the other may change places: they touch nothing in common that one of them changes.
pub(in crate::rewrite) fn can_swap(a: &Stmt, b: &Stmt) -> bool {
    let (a, b) = (Touched::by(a), Touched::by(b));
    a.moves && b.moves && a.keeps(&b) && b.keeps(&a)
}

/// The variable of a declaration that may be repeated anywhere in the body it stands in: nothing sets the variable again, or changes
/// what its value is made of but variables that are `known` to be repeated, too.
pub(in crate::rewrite) fn repeatable(
    stmt: &Stmt,
    body: &Block,
    known: &BTreeSet<VarId>,
) -> Option<VarId> {
    let StmtKind::Decl { var, init: Some(_) } = stmt.kind else { return None };
    (walk::times_set(body, var) == 1 && is_undisturbed(stmt, body, known)).then_some(var)
}

/// Whether a block changes nothing that a statement of it needs but `known` variables.
fn is_undisturbed(stmt: &Stmt, by: &Block, known: &BTreeSet<VarId>) -> bool {
    let (own, other) = (Touched::by(stmt), Touched::by_all(by));
    let mut changed = other.set.intersection(&own.vars);
    own.moves
        && other.stores_only
        && other.written.is_disjoint(&own.memory)
        && changed.all(|v| known.contains(v) || own.set.contains(v))
}

/// What statements use and change.
#[derive(Default)]
struct Touched {
    vars: BTreeSet<VarId>,
    set: BTreeSet<VarId>,
    memory: BTreeSet<Base>,
    written: BTreeSet<Base>,
    /// It does nothing but compute and store.
    moves: bool,
    /// The same but for going on with the next iteration of a loop: values stay what they are.
    stores_only: bool,
}

impl Touched {
    fn by(stmt: &Stmt) -> Touched {
        Touched::by_all(&Block::new(vec![stmt.clone()]))
    }

    fn by_all(block: &Block) -> Touched {
        let mut found = Touched { moves: true, stores_only: true, ..Touched::default() };
        walk::each_var_of_block(block, &mut |v| _ = found.vars.insert(v));
        found.memory = loops::touched_bases(block);
        walk::each_stmt(block, &mut |s| {
            let o = walk::operands(s);
            found.set.extend(o.results);
            found.set.extend(o.writes.and_then(Place::root_var));
            let stores = matches!(
                s.kind,
                StmtKind::Decl { .. }
                    | StmtKind::Assign { .. }
                    | StmtKind::If { .. }
                    | StmtKind::For(_)
                    | StmtKind::Scope(_)
                    | StmtKind::Atomic { .. }
            );
            found.moves &= stores;
            found.stores_only &= stores || matches!(s.kind, StmtKind::Continue);
        });
        found.written = loops::written_bases(block);
        let named = !found.memory.contains(&Base::Anything);
        found.moves &= named;
        found.stores_only &= named;
        found
    }

    /// It changes nothing that the other one touches.
    fn keeps(&self, other: &Touched) -> bool {
        self.set.is_disjoint(&other.vars) && self.written.is_disjoint(&other.memory)
    }
}
