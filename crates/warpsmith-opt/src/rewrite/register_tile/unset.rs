//! Variables that hold nothing in excess threads, because what sets them is under a condition.
//!
//! Nothing is computed from them there: a program that does so is undefined, and nvcc 13.0 has been seen to spoil the sums of
//! iterations that exist with those of iterations that do not.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{Block, Expr, Place, StmtKind, VarId};

use crate::analysis::axes::Axes;
use crate::walk;

/// What is known of the variables of a nest where the walk through its body stands.
pub(crate) struct Unset {
    /// The nest's body, as the user wrote it.
    body: Block,
    /// Variables that are declared in the body without a value.
    open: BTreeSet<VarId>,
    /// The variables, with the loops whose excess iterations do not set them.
    vars: BTreeMap<VarId, Axes>,
    /// Variables that every thread has set.
    set: BTreeSet<VarId>,
}

impl Unset {
    pub fn new(body: Block) -> Unset {
        let mut open = BTreeSet::new();
        walk::each_stmt(&body, &mut |s| {
            if let StmtKind::Decl { var, init: None } = s.kind {
                open.insert(var);
            }
        });
        Unset { body, open, vars: BTreeMap::new(), set: BTreeSet::new() }
    }

    /// The variable comes into being, once more perhaps, without a value.
    pub fn declared(&mut self, var: VarId) {
        self.set.remove(&var);
        self.vars.remove(&var);
    }

    /// Variables that a group declares come into being.
    pub fn enter(&mut self, group: &Block) {
        for stmt in &group.stmts {
            if let StmtKind::Decl { var, .. } = stmt.kind {
                self.declared(var);
            }
        }
    }

    /// Every thread sets the variable.
    pub fn set_by_all(&mut self, var: VarId) {
        self.vars.remove(&var);
        self.set.insert(var);
    }

    /// Looks at what a group sets, under a condition over these loops.
    pub fn note(&mut self, group: &Block, under: Axes) {
        let set = set_by(group);
        if under == 0 {
            self.set.extend(set);
            return;
        }
        for v in set.into_iter().filter(|v| !self.set.contains(v)) {
            *self.vars.entry(v).or_default() |= under;
        }
    }

    /// The nest's body, as the user wrote it.
    pub fn body(&self) -> &Block {
        &self.body
    }

    /// The loops in whose excess iterations an expression of a group reads what holds nothing: what the group does not set, and
    /// no group before it but perhaps the iteration before of a loop around, is none of theirs.
    pub(crate) fn of(&self, e: &Expr, set_here: &BTreeSet<VarId>) -> Axes {
        let mut axes = 0;
        walk::each_var(e, &mut |v| {
            let later =
                || self.open.contains(&v) && !set_here.contains(&v) && !self.set.contains(&v);
            axes |= match self.vars.get(&v) {
                Some(under) => *under,
                None if later() => Axes::MAX,
                None => 0,
            };
        });
        axes
    }
}

/// The variables that the statements of a group set.
pub(crate) fn set_by(group: &Block) -> BTreeSet<VarId> {
    let mut set = BTreeSet::new();
    walk::each_stmt(group, &mut |s| {
        if !matches!(s.kind, StmtKind::Decl { init: None, .. }) {
            let o = walk::operands(s);
            set.extend(o.results);
            set.extend(o.writes.and_then(Place::root_var));
        }
    });
    set
}
