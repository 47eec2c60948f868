//! Variables that hold nothing in excess threads, because what sets them is under a condition.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{Block, Expr, Place, StmtKind, VarId};

use crate::analysis::axes::{Axes, spread};
use crate::walk;

/// Variables that hold nothing in excess threads, because what sets them is under the condition.
pub(crate) struct Unset {
    /// The nest's body, as the user wrote it.
    body: Block,
    /// The variables, with the loops whose excess iterations do not set them.
    vars: BTreeMap<VarId, Axes>,
    /// Variables that every thread has set.
    set: BTreeSet<VarId>,
}

impl Unset {
    pub fn new(body: Block) -> Unset {
        Unset { body, vars: BTreeMap::new(), set: BTreeSet::new() }
    }

    /// Looks at what a group sets, under a condition over these loops; and at all that is computed from it later, in
    /// whatever order loops run through it.
    pub fn note(&mut self, group: &Block, under: Axes) {
        let mut set = BTreeSet::new();
        walk::each_stmt(group, &mut |s| {
            if !matches!(s.kind, StmtKind::Decl { init: None, .. }) {
                let o = walk::operands(s);
                set.extend(o.results);
                set.extend(o.writes.and_then(Place::root_var));
            }
        });
        if under == 0 {
            self.set.extend(set);
            return;
        }
        let fresh: Vec<VarId> = set.into_iter().filter(|v| !self.set.contains(v)).collect();
        if !fresh.is_empty() {
            fresh.into_iter().for_each(|v| *self.vars.entry(v).or_default() |= under);
            spread(&self.body, &mut self.vars);
        }
    }

    /// The nest's body, as the user wrote it.
    pub fn body(&self) -> &Block {
        &self.body
    }

    pub(crate) fn of(&self, e: &Expr) -> Axes {
        let mut axes = 0;
        walk::each_var(e, &mut |v| axes |= self.vars.get(&v).copied().unwrap_or(0));
        axes
    }
}
