//! Nests bound to the machine in host functions, what their threads do together, and vector loops: rules 25 and 26.

use super::Checker;
use crate::collective::{Collective, Combine, Fill};
use crate::expr::{BinaryOp, BindLevel, Expr, ExprKind, ReduceOp};
use crate::module::{Module, VarId, VarKind};
use crate::span::Origin;
use crate::stmt::{Binding, Block, ForLoop, LoopKind, Stmt, StmtKind};
use crate::types::Type;

/// What was around a loop.
pub(super) struct Outside {
    bound: usize,
    bound_at: usize,
    thread_scope: usize,
    vector: bool,
}

/// The largest block, in threads.
const MAX_BLOCK: u64 = 1024;
const WARP: u64 = 32;

fn rank(level: BindLevel) -> u8 {
    match level {
        BindLevel::Grid => 0,
        BindLevel::Block | BindLevel::Thread => 1,
        BindLevel::Warp => 2,
        BindLevel::Lane => 3,
    }
}

impl Checker<'_> {
    /// Inside loops that are bound to the grid.
    pub(super) fn in_grid(&self) -> bool {
        !self.is_device() && !self.bound.is_empty()
    }

    /// In the text of a thread of a host function.
    pub(super) fn in_threads(&self) -> bool {
        self.in_grid() && self.bound.iter().any(|b| b.level != BindLevel::Grid)
    }

    /// Checks the kind of a loop, and notes it for what is inside.
    pub(super) fn enter_kind(&mut self, l: &ForLoop, origin: &Origin) -> Outside {
        let outside = Outside {
            bound: self.bound.len(),
            bound_at: self.bound_at,
            thread_scope: self.thread_scope,
            vector: self.vector,
        };
        self.require(!self.vector, 26, origin, "a loop inside a vector loop");
        match &l.kind {
            LoopKind::Serial | LoopKind::Unrolled(_) => {}
            LoopKind::Parallel(p) => self.clauses(p, origin),
            LoopKind::Vector => {
                self.require(
                    counts_from_zero(self.module, l).is_some_and(|n| n > 0),
                    26,
                    origin,
                    "a vector loop has a constant number of iterations, from 0 by 1",
                );
                self.vector = true;
            }
            LoopKind::Bound(binding) => {
                if !self.is_device() {
                    self.bound_loop(l, binding, origin);
                }
                if binding.level != BindLevel::Grid && !self.in_threads() {
                    self.thread_scope = self.scopes.len();
                }
                self.bound.push(binding.clone());
                self.bound_at = self.around.len();
            }
        }
        outside
    }

    pub(super) fn leave_kind(&mut self, outside: Outside) {
        self.bound.truncate(outside.bound);
        self.bound_at = outside.bound_at;
        (self.thread_scope, self.vector) = (outside.thread_scope, outside.vector);
    }

    fn bound_loop(&mut self, l: &ForLoop, binding: &Binding, origin: &Origin) {
        let (level, axis) = (binding.level, binding.axis);
        let outside = self.bound.last().is_none_or(|b| rank(b.level) <= rank(level));
        self.require(outside, 25, origin, "bound loops go from the grid to the lanes");
        use BindLevel::{Block, Grid, Thread};
        let mixed = self.bound.iter().any(|b| match (b.level, level) {
            (Thread, Block) | (Block, Thread) => true,
            (Grid, Thread) => b.axis == axis,
            _ => false,
        });
        self.require(!mixed, 25, origin, "an axis of the grid has two loops");
        // The iterations of several loops may be numbered together and given to the threads of the grid.
        let twice =
            level != Thread && self.bound.iter().any(|b| (b.level, b.axis) == (level, axis));
        self.require(!twice, 25, origin, "two loops are bound to one axis");
        if level == BindLevel::Grid {
            let beside = inner_nests(&l.body);
            let only = beside <= 1 && l.body.stmts.iter().all(may_stand_beside);
            self.require(only, 25, origin, "something stands beside the nest in its grid loop");
            return;
        }
        if level == BindLevel::Thread {
            return;
        }
        let extent = binding.extent.map(u64::from).filter(|n| *n > 0);
        let counts = counts_from_zero(self.module, l);
        self.require(
            counts.is_some() && counts == extent,
            25,
            origin,
            "a loop below the grid counts from 0 to its extent by 1",
        );
        let product = |of: &dyn Fn(BindLevel) -> bool| {
            let all = self.bound.iter().chain([binding]).filter(|b| of(b.level));
            all.fold(1u64, |n, b| n.saturating_mul(b.extent.unwrap_or(1).into()))
        };
        let threads = product(&|l| l != BindLevel::Grid);
        let lanes = product(&|l| l == BindLevel::Lane);
        self.require(threads <= MAX_BLOCK, 25, origin, "a block of more than 1024 threads");
        self.require(lanes <= WARP, 25, origin, "a warp of more than 32 lanes");
        let alone = inner_nests(&l.body) == 0 || l.body.stmts.len() == 1;
        self.require(alone, 25, origin, "loops of a block stand one directly inside the other");
    }

    /// A variable that a thread sets is its own.
    pub(super) fn own_in_threads(&mut self, var: VarId, origin: &Origin) {
        let shared_text =
            self.in_threads() && self.bound.iter().all(|b| b.level != BindLevel::Thread);
        let Some(v) = self.function.vars.get(var.0 as usize).filter(|_| shared_text) else {
            return;
        };
        let own = v.kind == VarKind::Local && self.declared_by_thread(var);
        let message = format!("`{}` is set by a thread and declared outside its text", v.name);
        self.require(own || v.kind == VarKind::Shared, 26, origin, message);
    }

    /// Whether a variable came into scope inside the innermost bound loop.
    fn declared_by_thread(&self, var: VarId) -> bool {
        // A loop has a scope for its counter and one for its body.
        self.scopes.iter().skip(self.thread_scope).any(|s| s.contains(&var))
    }

    pub(super) fn collective(&mut self, collective: &Collective, origin: &Origin) {
        let here = self.in_threads() && !self.vector;
        self.require(here, 26, origin, "a collective statement outside the text of threads");
        match collective {
            Collective::Fill(fill) => self.fill(fill, origin),
            Collective::Combine(combine) => self.combine(combine, origin),
        }
    }

    fn fill(&mut self, fill: &Fill, origin: &Origin) {
        self.scopes.push(Default::default());
        for (var, extent) in &fill.counters {
            self.declare(*var, origin);
            let integer = self.var_type(*var, origin).is_some_and(Type::is_integer);
            self.require(
                integer && *extent > 0,
                26,
                origin,
                "a counter is an integer below 1 or more",
            );
        }
        self.written(&fill.destination);
        self.expr(&fill.source);
        self.fits(&fill.source, &fill.destination.ty, 6, "the place");
        if let Some(cond) = &fill.within {
            self.condition(cond);
        }
        self.scopes.pop();
        let innermost = fill.counters.last().map_or(1, |(_, n)| *n);
        let whole = fill.vector.is_power_of_two() && innermost.is_multiple_of(fill.vector);
        self.require(
            whole,
            26,
            origin,
            "a vector is a power of two that divides the innermost extent",
        );
    }

    fn combine(&mut self, combine: &Combine, origin: &Origin) {
        for var in combine.vars() {
            self.use_var(var, origin);
            self.own_in_threads(var, origin);
        }
        let scalar = self.var_type(combine.value, origin).and_then(Type::scalar);
        let bits = matches!(combine.op, ReduceOp::BitAnd | ReduceOp::BitOr | ReduceOp::BitXor);
        let right = scalar.is_some_and(|s| !bits || s.is_integer());
        self.require(right, 26, origin, "the value that is combined is no number of its operation");
        if let Some(at) = combine.at {
            let integer = self.var_type(at, origin).is_some_and(Type::is_integer);
            let extreme = matches!(combine.op, ReduceOp::Min | ReduceOp::Max);
            self.require(integer && extreme, 26, origin, "a place belongs to a minimum or maximum");
        }
        for other in [combine.before, combine.slope].into_iter().flatten() {
            let same = self.var_type(other, origin) == self.var_type(combine.value, origin);
            let right = same && other != combine.value && combine.at.is_none();
            let message = "what comes with values in the order of their threads is another variable of their type, and no place";
            self.require(right, 26, origin, message);
            self.require(
                combine.over.len() == 1,
                26,
                origin,
                "threads along one axis come before each other",
            );
        }
        if combine.slope.is_some() {
            let ordered = combine.before.is_some() && combine.slope != combine.before;
            let message =
                "maps with a slope are sums that are combined with those of the threads before";
            self.require(ordered && combine.op == ReduceOp::Add, 26, origin, message);
        }
        let around = |o: &(BindLevel, _)| self.bound.iter().any(|b| (b.level, b.axis) == *o);
        let known = !combine.over.is_empty() && combine.over.iter().all(around);
        self.require(known, 26, origin, "no loop around is bound to the axis");
    }
}

/// The iterations of a loop from 0 by 1 to a constant.
fn counts_from_zero(module: &Module, l: &ForLoop) -> Option<u64> {
    let constant = |e: &Expr| {
        let named = match &*e.kind {
            ExprKind::Named(id) => module.constants.get(id.0 as usize).map(|c| c.value),
            _ => None,
        };
        e.as_const().or(named).map(|v| v.as_i64())
    };
    let from_zero = constant(&l.first) == Some(0) && constant(&l.step) == Some(1);
    let limit = constant(&l.limit).filter(|_| from_zero && l.compare == BinaryOp::Lt)?;
    u64::try_from(limit).ok()
}

fn is_bound(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::For(ForLoop { kind: LoopKind::Bound(_), .. }))
}

fn inner_nests(block: &Block) -> usize {
    block.stmts.iter().filter(|s| is_bound(s)).count()
}

fn may_stand_beside(stmt: &Stmt) -> bool {
    is_bound(stmt) || matches!(stmt.kind, StmtKind::Decl { .. })
}
