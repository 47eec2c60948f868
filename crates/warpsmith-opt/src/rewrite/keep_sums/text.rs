//! The nests of blocks and threads that keep sums.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use warpsmith_ir::visit;
use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, BindLevel, Block, Expr, ExprKind, ForLoop, LoopKind, Origin,
    Place, ReduceOp, Scalar, SourceMap, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::homes::{Home, homes};
use super::launch::Counts;
use super::parts::RowSum;
use super::{LegalKeepSums, launch};
use crate::analysis::access::{Base, base_of};
use crate::build::arithmetic::{plus, times};
use crate::build::stmts::{element_of, set, undefined, when};
use crate::build::threads;
use crate::build::{counters, operators, stmts};
use crate::kernel::Kernel;
use crate::rewrite::edit::copy::general_copy;
use crate::rewrite::edit::{copy, runs};
use crate::rewrite::{Rewritten, bind};
use crate::walk;
use crate::walk::with_loop;

pub(super) fn apply(legal: &LegalKeepSums<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.root).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    bind::record(&mut kernel, legal.findings.clone(), sources);
    note_order(&mut kernel, legal);
    kernel.numbers.extend([legal.shape.columns(), legal.shape.rows]);
    let fits = launch::fits(&kernel, legal);
    let counts = launch::counts(&mut kernel, legal, &fits);
    let mut maker = Maker::new(&mut kernel, legal, &stmt, counts);
    let mut nests = vec![];
    if legal.parts.sums.iter().any(|s| s.first.is_some()) {
        nests.push(maker.around(true).comment("what the sums of rows begin with"));
    }
    nests.push(Stmt { comment: stmt.comment.clone(), ..maker.sums() });
    if legal.parts.sums.iter().any(|s| s.value.is_some()) {
        nests.push(maker.around(false).comment("what is made of the sums of rows"));
    }
    let (then, otherwise) = (Block::new(nests), Block::new(vec![stmt.clone()]));
    let kind = StmtKind::If { cond: fits, then, otherwise };
    let choice = Stmt::new(kind, stmt.origin.by("keep_sums"))
        .comment("blocks that keep sums in registers; what they cannot take");
    with_loop(&mut kernel.func_mut().body, legal.root, &mut |s| *s = choice.clone());
    Rewritten::same_loops(kernel)
}

/// Notes which arrays depend on the order in which threads add reals.
fn note_order(kernel: &mut Kernel, legal: &LegalKeepSums<'_>) {
    let homes = legal.parts.sums.iter().map(|s| &s.home);
    for place in homes.chain(legal.parts.columns.iter().map(|c| &c.place)) {
        if let (true, Base::Var(array)) = (place.ty.is_float(), base_of(place)) {
            kernel.reassociated.insert(array);
        }
    }
}

/// One iteration of the outer loop, with loops and variables of its own.
pub(super) struct Iteration {
    pub outer: ForLoop,
    pub inner: ForLoop,
    pub sums: Vec<RowSum>,
    pub before: Vec<Stmt>,
    pub names: BTreeMap<VarId, VarId>,
}

/// The counters of loops.
pub(super) struct Counters {
    /// Of the rows of a group, and of a thread's columns.
    pub(super) at: VarId,
    pub(super) lane_column: VarId,
    pub(super) group: VarId,
    pub(super) block: VarId,
    pub(super) warp: VarId,
    pub(super) lane: VarId,
}

pub(super) struct Maker<'k, 'l> {
    pub(super) kernel: &'k mut Kernel,
    pub(super) legal: &'l LegalKeepSums<'l>,
    /// The nest as it was, and with sums and elements of the thread's own.
    pub(super) old: Stmt,
    pub(super) changed: Stmt,
    pub(super) counts: Counts,
    pub(super) homes: Vec<Home>,
    /// A thread's sums of columns and of rows, and what the warps of a block have of its rows.
    pub(super) columns: Vec<VarId>,
    pub(super) sums: Vec<VarId>,
    pub(super) warps: Vec<VarId>,
    pub(super) counters: Counters,
    /// The thread's number in its block, its first column, and the block's first row.
    pub(super) thread: VarId,
    pub(super) column: VarId,
    pub(super) first_row: VarId,
}

impl<'k, 'l> Maker<'k, 'l> {
    fn new(
        kernel: &'k mut Kernel,
        legal: &'l LegalKeepSums<'l>,
        old: &Stmt,
        counts: Counts,
    ) -> Self {
        let shape = legal.shape;
        let homes = homes(kernel, legal);
        let name = |kernel: &Kernel, v: VarId| kernel.name_of(v).to_string();
        let mut own = |name: String, scalar: Scalar, count: u32, kind: VarKind| {
            let ty = Type::array(Type::Scalar(scalar), count.into());
            kernel.func_mut().add_var(Var::new(name, ty, kind))
        };
        let source = legal.kernel;
        let mut columns = vec![];
        for c in &legal.parts.columns {
            if let Base::Var(v) = base_of(&c.place) {
                let name = format!("{}_own", name(source, v));
                columns.push(own(name, c.scalar, shape.vector, VarKind::Local));
            }
        }
        let (mut sums, mut warps) = (vec![], vec![]);
        for s in &legal.parts.sums {
            let name = name(source, s.var);
            sums.push(own(format!("{name}_own"), s.scalar, shape.group, VarKind::Local));
            let count = shape.rows * shape.warps();
            warps.push(own(format!("{name}_warp"), s.scalar, count, VarKind::Shared));
        }
        let mut number = |name: &str| local(kernel, name);
        let [at, lane_column, group] = ["at", "k", "group"].map(&mut number);
        let [block, warp, lane] = ["block", "warp", "lane"].map(&mut number);
        let [thread, column, first_row] = ["thread", "column", "first_row"].map(&mut number);
        let mut maker = Maker {
            kernel,
            legal,
            old: old.clone(),
            changed: old.clone(),
            counts,
            homes,
            columns,
            sums,
            warps,
            counters: Counters { at, lane_column, group, block, warp, lane },
            thread,
            column,
            first_row,
        };
        maker.changed = maker.with_own();
        maker
    }

    pub(super) fn number(&self, v: VarId) -> Expr {
        Expr::var(v, Type::I32)
    }

    /// Which of a thread's columns it is.
    pub(super) fn lane_number(&self) -> Expr {
        match self.legal.shape.vector {
            1 => Expr::i32(0),
            _ => self.number(self.counters.lane_column),
        }
    }

    /// An iteration of the nest, or of the nest with the thread's own sums, to be put where its counters are set.
    pub(super) fn iteration(&mut self, stmt: &Stmt) -> Option<Iteration> {
        let (copied, ids, mut names) = general_copy(self.kernel, stmt);
        let mut block = Block::new(vec![copied]);
        for v in [self.legal.outer.var, self.legal.inner.var] {
            if let Entry::Vacant(free) = names.entry(v) {
                let var = Var { kind: VarKind::Local, ..self.kernel.func().var(v).clone() };
                let own = self.kernel.func_mut().add_var(var);
                visit::rename_vars(&mut block, &mut |w| if w == v { own } else { w });
                free.insert(own);
            }
        }
        let id = |l| ids.get(&l).copied().unwrap_or(l);
        let outer = walk::find_loop(&block, id(self.legal.root))?.clone();
        let inner = walk::find_loop(&block, id(self.legal.inner.id))?.clone();
        let new = |v: VarId| names.get(&v).copied().unwrap_or(v);
        let renamed = |e: &Expr| {
            let kind = StmtKind::Return(Some(e.clone()));
            let mut block = Block::new(vec![Stmt::new(kind, Origin::default())]);
            visit::rename_vars(&mut block, &mut |v| new(v));
            match block.stmts.remove(0).kind {
                StmtKind::Return(Some(e)) => e,
                _ => e.clone(),
            }
        };
        let of_home = |place: &Place| match *renamed(&Expr::read(place.clone())).kind {
            ExprKind::Read(place) => place,
            _ => place.clone(),
        };
        let sum = |s: &RowSum| RowSum {
            var: new(s.var),
            scalar: s.scalar,
            home: of_home(&s.home),
            accesses: s.accesses,
            first: s.first.as_ref().map(renamed),
            value: s.value.as_ref().map(renamed),
        };
        let sums: Vec<RowSum> = self.legal.parts.sums.iter().map(sum).collect();
        let is_sum = |s: &Stmt| matches!(s.kind, StmtKind::Decl { var, .. } if sums.iter().any(|k| k.var == var));
        let declared = outer.body.stmts.iter().filter(|s| matches!(s.kind, StmtKind::Decl { .. }));
        let before = declared.filter(|s| !is_sum(s)).cloned().collect();
        Some(Iteration { outer, inner, sums, before, names })
    }

    /// A nest over the rows, thread by thread: what their sums begin with, or what is made of them.
    fn around(&mut self, begin: bool) -> Stmt {
        let old = self.old.clone();
        let Some(own) = self.iteration(&old) else { return old };
        let names = ["block", "thread", "row"];
        let [block, thread, row] = names.map(|name| local(self.kernel, name));
        let mut stmts = counted_from(&own.outer, self.number(row), self.kernel);
        stmts.extend(own.before.iter().cloned());
        for sum in &own.sums {
            let value = if begin { sum.first.clone() } else { sum.value.clone() };
            let Some(mut value) = value else { continue };
            if !begin {
                value = with_sum(value, sum);
            }
            stmts.push(set(sum.home.clone(), value));
        }
        let mut inside = Block::new(stmts);
        runs::drop_unread(&mut inside);
        let number =
            plus(times(self.number(block), self.counts.threads.clone()), self.number(thread));
        let text = vec![stmts::declare(row, number), when(self.exists(row), inside.stmts)];
        let threads = Some(self.legal.shape.threads);
        let limit = self.counts.threads.clone();
        let nest = self.bound(thread, (BindLevel::Block, Axis::X), threads, limit, text);
        let limit = self.counts.row_blocks.clone();
        let nest = self.bound(block, (BindLevel::Grid, Axis::X), None, limit, vec![nest]);
        Stmt { origin: self.old.origin.by("keep_sums"), ..nest }
    }

    /// The nest that reads the matrix.
    fn sums(&mut self) -> Stmt {
        let text = self.text();
        let shape = self.legal.shape;
        let lanes = self.counts.lanes.clone();
        let nest = self.bound(
            self.counters.lane,
            (BindLevel::Block, Axis::X),
            Some(threads::WARP),
            lanes,
            text,
        );
        let warps = self.counts.warps.clone();
        let axis = (BindLevel::Block, Axis::Y);
        let nest = self.bound(self.counters.warp, axis, Some(shape.warps()), warps, vec![nest]);
        let mut body: Vec<Stmt> = self.warps.iter().map(|v| undefined(*v)).collect();
        if let Some(first) = body.first_mut() {
            first.comment = vec!["what the warps have of the block's rows".into()];
        }
        body.push(nest);
        let blocks = self.counts.blocks.clone();
        let nest = self.bound(self.counters.block, (BindLevel::Grid, Axis::X), None, blocks, body);
        Stmt { origin: self.old.origin.by("keep_sums"), ..nest }
    }

    /// What a thread does.
    fn text(&mut self) -> Vec<Stmt> {
        let mut text = self.numbers();
        for v in self.columns.clone() {
            text.push(undefined(v));
            text.push(self.cleared(v, self.counters.lane_column, self.legal.shape.vector));
        }
        text.extend(self.steady());
        let groups = self.legal.shape.rows / self.legal.shape.group;
        let (body, limit) = (self.of_group(), Expr::i32(groups as i32));
        let function = self.kernel.func_mut();
        let l = stmts::counted(function, self.counters.group, limit, LoopKind::Serial, body);
        text.push(stmts::looped(l));
        text.extend(self.columns_added());
        if !self.sums.is_empty() {
            let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
            text.push(
                Stmt::new(kind, Origin::default()).comment("all warps have their part of the rows"),
            );
            text.extend(self.rows_added());
        }
        text
    }

    /// The thread's number, its first column and the block's first row.
    fn numbers(&self) -> Vec<Stmt> {
        let shape = self.legal.shape;
        let of_block = counters::digits(
            self.number(self.counters.block),
            &[Expr::i32(1), self.counts.column_blocks.clone()],
        );
        let warp = times(self.number(self.counters.warp), self.counts.lanes.clone());
        let columns = times(of_block[1].clone(), self.counts.threads.clone());
        let mut column = plus(columns, self.number(self.thread));
        if shape.vector > 1 {
            column = times(column, Expr::i32(shape.vector as i32));
        }
        vec![
            stmts::declare(self.thread, plus(warp, self.number(self.counters.lane))),
            stmts::declare(self.column, column),
            stmts::declare(
                self.first_row,
                times(of_block[0].clone(), self.counts.rows_each.clone()),
            ),
        ]
    }

    fn cleared(&mut self, var: VarId, counter: VarId, count: u32) -> Stmt {
        let at = if count == 1 { Expr::i32(0) } else { self.number(counter) };
        let place = element_of(self.kernel.func(), var, at);
        let zero = Expr::constant(operators::identity(
            ReduceOp::Add,
            place.ty.scalar().unwrap_or(Scalar::I32),
        ));
        let stmt = set(place, zero);
        match count {
            1 => stmt,
            _ => self.unrolled(counter, count, vec![stmt]),
        }
    }

    /// Elements that are the same for all rows.
    fn steady(&mut self) -> Vec<Stmt> {
        let mut stmts = vec![];
        let mut loads = vec![];
        for home in self.homes.iter().filter(|h| h.steady) {
            stmts.push(undefined(home.var));
            stmts.push(stmts::declare(home.first, self.first_of(home, &BTreeMap::new())));
            loads.extend(self.moved(home, true));
        }
        if !loads.is_empty() {
            stmts.push(when(self.column_exists(), loads).comment("the same for all rows"));
        }
        stmts
    }

    /// A group of rows: all loads, then what is computed, then what the warp's threads have together.
    fn of_group(&mut self) -> Vec<Stmt> {
        let group = self.legal.shape.group;
        let mut stmts: Vec<Stmt> =
            self.homes.iter().filter(|h| !h.steady).map(|h| undefined(h.var)).collect();
        if self.homes.iter().any(|h| !h.steady && h.row.loaded) {
            let loads = self.of_row(|own, _| {
                let homes = own.homes.iter().filter(|h| !h.steady && h.row.loaded);
                homes.flat_map(|h| own.moved(h, true)).collect()
            });
            stmts.push(loads.comment("elements of all rows of the group"));
        }
        for v in self.sums.clone() {
            stmts.push(undefined(v));
            stmts.push(self.cleared(v, self.counters.at, group));
        }
        stmts.push(self.of_row(|own, iteration| {
            let mut stmts = own.elements(iteration);
            let stored = own.homes.iter().filter(|h| h.row.stored.is_some());
            let stores: Vec<Stmt> = stored.flat_map(|h| own.moved(h, false)).collect();
            stmts.extend(stores);
            stmts
        }));
        stmts.extend(self.combined());
        stmts
    }

    /// `for each row of the group, if it and the thread's columns exist { body }`
    fn of_row(&mut self, body: impl FnOnce(&mut Self, &Iteration) -> Vec<Stmt>) -> Stmt {
        let changed = self.changed.clone();
        let Some(own) = self.iteration(&changed) else { return changed };
        let row = local(self.kernel, "row");
        let mut inside = counted_from(&own.outer, self.number(row), self.kernel);
        inside.extend(own.before.iter().cloned());
        for home in self.homes.iter().filter(|h| !h.steady) {
            inside.push(stmts::declare(home.first, self.first_of(home, &own.names)));
        }
        inside.extend(body(self, &own));
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let number = plus(self.number(self.first_row), self.of_block());
        let exists = Expr::binary(BinaryOp::LogicalAnd, self.exists(row), self.column_exists());
        let stmts = vec![stmts::declare(row, number), when(exists, inside.stmts)];
        match self.legal.shape.group {
            1 => Stmt::new(StmtKind::Scope(Block::new(stmts)), Origin::default()),
            n => self.unrolled(self.counters.at, n, stmts),
        }
    }

    /// Which of the block's rows it is.
    pub(super) fn of_block(&self) -> Expr {
        match self.legal.shape.group {
            1 => self.number(self.counters.group),
            n => plus(
                times(self.number(self.counters.group), Expr::i32(n as i32)),
                self.number(self.counters.at),
            ),
        }
    }

    /// Which of the group's rows it is.
    pub(super) fn of_group_number(&self) -> Expr {
        match self.legal.shape.group {
            1 => Expr::i32(0),
            _ => self.number(self.counters.at),
        }
    }

    /// The iterations of the thread's columns.
    fn elements(&mut self, own: &Iteration) -> Vec<Stmt> {
        let width = self.legal.shape.vector;
        let ty = self.kernel.func().var(own.inner.var).ty.clone();
        let mut number = self.number(self.column);
        if width > 1 {
            number = plus(number, self.number(self.counters.lane_column));
        }
        let mut body = own.inner.body.clone();
        let counter = counters::counter_of(&own.inner, number.cast(ty));
        body.stmts.insert(0, stmts::declare(own.inner.var, counter));
        runs::drop_unread(&mut body);
        match width {
            1 => body.stmts,
            _ => vec![self.unrolled(self.counters.lane_column, width, body.stmts)],
        }
    }

    pub(super) fn exists(&self, row: VarId) -> Expr {
        Expr::binary(BinaryOp::Lt, self.number(row), self.counts.rows.clone())
    }

    pub(super) fn column_exists(&self) -> Expr {
        Expr::binary(BinaryOp::Lt, self.number(self.column), self.counts.columns.clone())
    }

    pub(super) fn unrolled(&mut self, var: VarId, count: u32, body: Vec<Stmt>) -> Stmt {
        stmts::unrolled(self.kernel.func_mut(), var, count, body)
    }

    fn bound(
        &mut self,
        var: VarId,
        at: (BindLevel, Axis),
        extent: Option<u32>,
        limit: Expr,
        body: Vec<Stmt>,
    ) -> Stmt {
        stmts::looped(stmts::bound(self.kernel.func_mut(), var, at, extent, limit, body))
    }
}

/// The counter of the iteration of this number.
pub(super) fn counted_from(l: &ForLoop, number: Expr, kernel: &Kernel) -> Vec<Stmt> {
    let ty = kernel.func().var(l.var).ty.clone();
    vec![stmts::declare(l.var, counters::counter_of(l, number.cast(ty)))]
}

/// What is stored, where the sum is in its home already.
fn with_sum(value: Expr, sum: &RowSum) -> Expr {
    let mut block = Block::new(vec![set(sum.home.clone(), value.clone())]);
    let var = Place::var(sum.var, Type::Scalar(sum.scalar));
    copy::replace_place(&mut block, &var, &sum.home);
    match block.stmts.remove(0).kind {
        StmtKind::Assign { value, .. } => value,
        _ => value,
    }
}

pub(super) fn local(kernel: &mut Kernel, name: &str) -> VarId {
    stmts::local(kernel.func_mut(), name, Type::I32)
}
