//! What statements and expressions read and write.

use std::collections::BTreeSet;

use super::{Access, Visitor, walk_place, walk_stmt};
use crate::collective::Collective;
use crate::expr::{Expr, Place, PlaceKind};
use crate::module::VarId;
use crate::stmt::{Block, LoopKind, Stmt, StmtKind};

/// What a block does to variables and memory. Sets name variables of the function, whatever their kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Read in whole or in part.
    pub reads: BTreeSet<VarId>,
    /// Set in whole or in part: assignments, declarations, counters, results of atomics, warp
    /// operations, barriers and calls, and the clauses of parallel loops.
    pub writes: BTreeSet<VarId>,
    /// Declared inside (and so gone after it).
    pub declares: BTreeSet<VarId>,
    /// Their address is taken: they may be read and written through pointers.
    pub addressed: BTreeSet<VarId>,
    /// Something is read through a pointer or from a global variable.
    pub reads_memory: bool,
    /// Something is written through a pointer or to a global variable.
    pub writes_memory: bool,
    /// Calls or launches a function; its effects are counted as reading and writing memory.
    pub calls: bool,
    /// Barriers, warp operations, fences, asynchronous copies: what orders or joins threads.
    pub synchronizes: bool,
    /// `printf`, assertions, assumptions, traps.
    pub observable: bool,
    /// Ends the function.
    pub returns: bool,
}

impl Effects {
    /// Variables of the surroundings that the block uses in any way.
    pub fn free(&self) -> BTreeSet<VarId> {
        let used = self.reads.iter().chain(&self.writes).chain(&self.addressed);
        used.filter(|v| !self.declares.contains(v)).copied().collect()
    }
}

/// What a block does.
pub fn effects(block: &Block) -> Effects {
    let mut e = Effects::default();
    e.block(block);
    e
}

/// What a statement does.
pub fn stmt_effects(stmt: &Stmt) -> Effects {
    let mut e = Effects::default();
    e.stmt(stmt);
    e
}

/// What evaluating an expression reads.
pub fn expr_effects(expr: &Expr) -> Effects {
    let mut e = Effects::default();
    e.expr(expr);
    e
}

/// Variables that an expression mentions.
pub fn vars_of_expr(expr: &Expr) -> BTreeSet<VarId> {
    expr_effects(expr).free()
}

/// Variables that a block uses and does not declare.
pub fn free_vars(block: &Block) -> BTreeSet<VarId> {
    effects(block).free()
}

impl Visitor for Effects {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Decl { var, .. } => {
                self.declares.insert(*var);
            }
            StmtKind::For(l) => {
                if l.declares {
                    self.declares.insert(l.var);
                }
                self.reads.insert(l.var);
                self.clauses(&l.kind);
            }
            StmtKind::CopyToGlobal { .. } | StmtKind::Runtime(_) => {
                (self.reads_memory, self.writes_memory) = (true, true);
            }
            StmtKind::Call { .. } | StmtKind::Launch(_) => {
                self.calls = true;
                (self.reads_memory, self.writes_memory) = (true, true);
            }
            StmtKind::Atomic { .. } | StmtKind::AsyncCopy { .. } => {
                (self.reads_memory, self.writes_memory) = (true, true);
                self.synchronizes |= matches!(stmt.kind, StmtKind::AsyncCopy { .. });
            }
            StmtKind::Collective(c) => {
                self.synchronizes = true;
                if let Collective::Fill(fill) = c {
                    self.declares.extend(fill.counters.iter().map(|(var, _)| *var));
                    self.reads_memory = true;
                }
                if let Collective::Combine(c) = c {
                    self.reads.extend(c.vars());
                }
            }
            StmtKind::Warp { .. }
            | StmtKind::Barrier { .. }
            | StmtKind::Fence(_)
            | StmtKind::AsyncCommit
            | StmtKind::AsyncWait(_) => self.synchronizes = true,
            StmtKind::Printf { .. }
            | StmtKind::Assert { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Trap => self.observable = true,
            StmtKind::Return(_) => self.returns = true,
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: Access) {
        match &*place.kind {
            PlaceKind::Var(var) => {
                let set = match access {
                    Access::Read => &mut self.reads,
                    Access::Write => &mut self.writes,
                    Access::Address => &mut self.addressed,
                };
                set.insert(*var);
            }
            PlaceKind::Global(_) | PlaceKind::Deref(_) | PlaceKind::Elem { .. } => match access {
                Access::Read => self.reads_memory = true,
                Access::Write => self.writes_memory = true,
                Access::Address => {}
            },
            _ => {}
        }
        walk_place(self, place, access);
    }

    fn sets(&mut self, var: VarId) {
        self.writes.insert(var);
    }
}

impl Effects {
    fn clauses(&mut self, kind: &LoopKind) {
        let LoopKind::Parallel(p) = kind else {
            return;
        };
        for reduction in &p.reductions {
            self.reads.insert(reduction.var);
            self.writes.insert(reduction.var);
        }
        self.writes.extend(p.private.iter().chain(&p.last_private));
        self.reads.extend(&p.first_private);
        self.writes.extend(&p.first_private);
    }
}
