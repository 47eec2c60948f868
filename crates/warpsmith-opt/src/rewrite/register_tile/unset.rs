//! Variables that hold nothing in excess threads, because what sets them is under a condition.
//!
//! Nothing is computed from them there: a program that does so is undefined, and nvcc 13.0 has been seen to spoil the sums of
//! iterations that exist with those of iterations that do not.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{Block, Expr, Place, PlaceKind, Stmt, StmtKind, VarId};

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
    /// Those that every thread has set where it came to, or of which it has set elements.
    maybe: BTreeSet<VarId>,
}

impl Unset {
    pub fn new(body: Block) -> Unset {
        let mut open = BTreeSet::new();
        walk::each_stmt(&body, &mut |s| {
            if let StmtKind::Decl { var, init: None } = s.kind {
                open.insert(var);
            }
        });
        let (set, maybe) = (BTreeSet::new(), BTreeSet::new());
        Unset { body, open, vars: BTreeMap::new(), set, maybe }
    }

    /// The variable comes into being, once more perhaps, without a value.
    pub fn declared(&mut self, var: VarId) {
        self.set.remove(&var);
        self.maybe.remove(&var);
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
        if under == 0 {
            self.maybe.extend(set_by(group));
            self.set.extend(group.stmts.iter().filter_map(whole));
            return;
        }
        for v in set_by(group).into_iter().filter(|v| !self.set.contains(v)) {
            *self.vars.entry(v).or_default() |= under;
        }
    }

    /// The nest's body, as the user wrote it.
    pub fn body(&self) -> &Block {
        &self.body
    }

    /// The loops in whose excess iterations an expression of a group reads what holds nothing. What the group reads `first` and no
    /// group before it sets comes from the iteration before of a loop around, and is none of theirs.
    pub(crate) fn of(&self, e: &Expr, first: &BTreeSet<VarId>) -> Axes {
        let mut axes = 0;
        walk::each_var(e, &mut |v| {
            let known = || self.set.contains(&v) || self.maybe.contains(&v);
            axes |= match self.vars.get(&v) {
                Some(under) => *under,
                None if self.open.contains(&v) && first.contains(&v) && !known() => Axes::MAX,
                None => 0,
            };
        });
        axes
    }
}

/// The variable that a statement sets as a whole.
fn whole(stmt: &Stmt) -> Option<VarId> {
    match &stmt.kind {
        StmtKind::Decl { var, init: Some(_) } => Some(*var),
        StmtKind::Assign { place, .. } => match *place.kind {
            PlaceKind::Var(v) => Some(v),
            _ => None,
        },
        _ => walk::operands(stmt).results.first().copied(),
    }
}

/// The variables that the statements of a group set.
fn set_by(group: &Block) -> BTreeSet<VarId> {
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

/// The variables that a group reads before it sets them.
pub(crate) fn read_first(group: &Block) -> BTreeSet<VarId> {
    let mut first = BTreeSet::new();
    in_order(group, &mut BTreeSet::new(), &mut first);
    first
}

fn in_order(block: &Block, set: &mut BTreeSet<VarId>, first: &mut BTreeSet<VarId>) {
    for stmt in &block.stmts {
        let o = walk::operands(stmt);
        let subscripts = o.writes.into_iter().flat_map(walk::subscripts);
        for e in o.reads.iter().copied().chain(subscripts) {
            walk::each_var(e, &mut |v| {
                if !set.contains(&v) {
                    first.insert(v);
                }
            });
        }
        let may_not_come = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Switch { .. });
        for inner in walk::blocks(stmt) {
            match may_not_come {
                true => in_order(inner, &mut set.clone(), first),
                false => in_order(inner, set, first),
            }
        }
        set.extend(whole(stmt));
    }
}
