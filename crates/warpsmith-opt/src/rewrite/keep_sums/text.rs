//! The nests of blocks and threads that keep sums.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    AtomicOp, Axis, BarrierKind, BinaryOp, BindLevel, Binding, Block, Collective, Combine, Expr,
    ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind, ReduceOp, Scalar, Scope as MemoryScope,
    SourceMap, Space, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::launch::{self, Counts};
use super::parts::{self, RowSum};
use super::{LegalKeepSums, Row};
use crate::analysis::access::{Base, Scope, base_of};
use crate::kernel::Kernel;
use crate::lower;
use crate::rewrite::specialise::general_copy;
use crate::rewrite::vectorise::WIDEST;
use crate::rewrite::{Rewritten, bind, copy, element_of, keep_rows, runs, share, with_loop};
use crate::walk;

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

/// Where a thread has elements side by side.
struct Home {
    row: Row,
    var: VarId,
    /// The number of the first element of all threads.
    first: VarId,
    /// It is the same for all rows.
    steady: bool,
}

/// One iteration of the outer loop, with loops and variables of its own.
struct Iteration {
    outer: ForLoop,
    inner: ForLoop,
    sums: Vec<RowSum>,
    before: Vec<Stmt>,
    names: BTreeMap<VarId, VarId>,
}

struct Maker<'k, 'l> {
    kernel: &'k mut Kernel,
    legal: &'l LegalKeepSums<'l>,
    /// The nest as it was, and with sums and elements of the thread's own.
    old: Stmt,
    changed: Stmt,
    counts: Counts,
    homes: Vec<Home>,
    /// A thread's sums of columns and of rows, and what the warps of a block have of its rows.
    columns: Vec<VarId>,
    sums: Vec<VarId>,
    warps: Vec<VarId>,
    /// Counters: of the rows of a group, of a thread's columns, of groups, blocks, warps and lanes.
    at: VarId,
    lane_column: VarId,
    group: VarId,
    block: VarId,
    warp: VarId,
    lane: VarId,
    /// The thread's number in its block, its first column, and the block's first row.
    thread: VarId,
    column: VarId,
    first_row: VarId,
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
            at,
            lane_column,
            group,
            block,
            warp,
            lane,
            thread,
            column,
            first_row,
        };
        maker.changed = maker.with_own();
        maker
    }

    /// The nest with the thread's own sums and elements in the inner loop.
    fn with_own(&self) -> Stmt {
        let source = self.legal.kernel;
        let function = self.kernel.func();
        let mut block = Block::new(vec![self.old.clone()]);
        let place = |v: VarId, at: Expr| element_of(function, v, at);
        let columns: Vec<Place> =
            self.columns.iter().map(|v| place(*v, self.lane_number())).collect();
        let scope = Scope::new(
            &source.module,
            source.func(),
            source.loops_around(self.legal.root),
            self.legal.outer,
        );
        let mut to_home = ToHome { scope: &scope, maker: self };
        with_loop(&mut block, self.legal.inner.id, &mut |s| {
            if let StmtKind::For(l) = &mut s.kind {
                to_home.block(&mut l.body);
                parts::add_to(&mut l.body, &self.legal.parts.columns, &columns);
                for (sum, own) in self.legal.parts.sums.iter().zip(&self.sums) {
                    let var = Place::var(sum.var, Type::Scalar(sum.scalar));
                    let own = place(*own, self.of_group_number());
                    copy::replace_place(&mut l.body, &var, &own);
                }
            }
        });
        block.stmts.remove(0)
    }

    fn number(&self, v: VarId) -> Expr {
        Expr::var(v, Type::I32)
    }

    /// Which of a thread's columns it is.
    fn lane_number(&self) -> Expr {
        match self.legal.shape.vector {
            1 => Expr::i32(0),
            _ => self.number(self.lane_column),
        }
    }

    /// An iteration of the nest, or of the nest with the thread's own sums, to be put where its counters are set.
    fn iteration(&mut self, stmt: &Stmt) -> Option<Iteration> {
        let (copied, ids, mut names) = general_copy(self.kernel, stmt);
        let mut block = Block::new(vec![copied]);
        for v in [self.legal.outer.var, self.legal.inner.var] {
            if !names.contains_key(&v) {
                let var = Var { kind: VarKind::Local, ..self.kernel.func().var(v).clone() };
                let own = self.kernel.func_mut().add_var(var);
                visit::rename_vars(&mut block, &mut |w| if w == v { own } else { w });
                names.insert(v, own);
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
        let text = vec![lower::declare(row, number), when(self.exists(row), inside.stmts)];
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
        let nest =
            self.bound(self.lane, (BindLevel::Block, Axis::X), Some(share::WARP), lanes, text);
        let warps = self.counts.warps.clone();
        let axis = (BindLevel::Block, Axis::Y);
        let nest = self.bound(self.warp, axis, Some(shape.warps()), warps, vec![nest]);
        let mut body: Vec<Stmt> = self.warps.iter().map(|v| undefined(*v)).collect();
        if let Some(first) = body.first_mut() {
            first.comment = vec!["what the warps have of the block's rows".into()];
        }
        body.push(nest);
        let blocks = self.counts.blocks.clone();
        let nest = self.bound(self.block, (BindLevel::Grid, Axis::X), None, blocks, body);
        Stmt { origin: self.old.origin.by("keep_sums"), ..nest }
    }

    /// What a thread does.
    fn text(&mut self) -> Vec<Stmt> {
        let mut text = self.numbers();
        for v in self.columns.clone() {
            text.push(undefined(v));
            text.push(self.cleared(v, self.lane_column, self.legal.shape.vector));
        }
        text.extend(self.steady());
        let groups = self.legal.shape.rows / self.legal.shape.group;
        let body = Block::new(self.of_group());
        let kind = LoopKind::Serial;
        let l = counted(self.kernel, self.group, Expr::i32(groups as i32), kind, body);
        text.push(Stmt::new(StmtKind::For(l), Origin::default()));
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
        let of_block = lower::digits(
            self.number(self.block),
            &[Expr::i32(1), self.counts.column_blocks.clone()],
        );
        let warp = times(self.number(self.warp), self.counts.lanes.clone());
        let columns = times(of_block[1].clone(), self.counts.threads.clone());
        let mut column = plus(columns, self.number(self.thread));
        if shape.vector > 1 {
            column = times(column, Expr::i32(shape.vector as i32));
        }
        vec![
            lower::declare(self.thread, plus(warp, self.number(self.lane))),
            lower::declare(self.column, column),
            lower::declare(
                self.first_row,
                times(of_block[0].clone(), self.counts.rows_each.clone()),
            ),
        ]
    }

    fn cleared(&mut self, var: VarId, counter: VarId, count: u32) -> Stmt {
        let at = if count == 1 { Expr::i32(0) } else { self.number(counter) };
        let place = element_of(self.kernel.func(), var, at);
        let zero = Expr::constant(lower::identity(
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
            stmts.push(lower::declare(home.first, self.first_of(home, &BTreeMap::new())));
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
            stmts.push(self.cleared(v, self.at, group));
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
            inside.push(lower::declare(home.first, self.first_of(home, &own.names)));
        }
        inside.extend(body(self, &own));
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let number = plus(self.number(self.first_row), self.of_block());
        let exists = Expr::binary(BinaryOp::LogicalAnd, self.exists(row), self.column_exists());
        let stmts = vec![lower::declare(row, number), when(exists, inside.stmts)];
        match self.legal.shape.group {
            1 => Stmt::new(StmtKind::Scope(Block::new(stmts)), Origin::default()),
            n => self.unrolled(self.at, n, stmts),
        }
    }

    /// Which of the block's rows it is.
    fn of_block(&self) -> Expr {
        match self.legal.shape.group {
            1 => self.number(self.group),
            n => plus(times(self.number(self.group), Expr::i32(n as i32)), self.number(self.at)),
        }
    }

    /// Which of the group's rows it is.
    fn of_group_number(&self) -> Expr {
        match self.legal.shape.group {
            1 => Expr::i32(0),
            _ => self.number(self.at),
        }
    }

    /// The iterations of the thread's columns.
    fn elements(&mut self, own: &Iteration) -> Vec<Stmt> {
        let width = self.legal.shape.vector;
        let ty = self.kernel.func().var(own.inner.var).ty.clone();
        let mut number = self.number(self.column);
        if width > 1 {
            number = plus(number, self.number(self.lane_column));
        }
        let mut body = own.inner.body.clone();
        let counter = lower::counter_of(&own.inner, number.cast(ty));
        body.stmts.insert(0, lower::declare(own.inner.var, counter));
        runs::drop_unread(&mut body);
        match width {
            1 => body.stmts,
            _ => vec![self.unrolled(self.lane_column, width, body.stmts)],
        }
    }

    /// What the threads of a warp have of each row of the group goes to shared memory.
    fn combined(&mut self) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (at, (own, warps)) in self.sums.clone().into_iter().zip(self.warps.clone()).enumerate()
        {
            let scalar = self.legal.parts.sums[at].scalar;
            let name = format!("{}_part", self.legal.kernel.name_of(self.legal.parts.sums[at].var));
            let part = Var::new(name, Type::Scalar(scalar), VarKind::Local);
            let part = self.kernel.func_mut().add_var(part);
            let value = Expr::read(element_of(self.kernel.func(), own, self.of_group_number()));
            let combine = Combine {
                op: ReduceOp::Add,
                value: part,
                at: None,
                over: vec![(BindLevel::Block, Axis::X)],
            };
            let kind = StmtKind::Collective(Collective::Combine(combine));
            let slot = self.slot(self.of_block(), self.number(self.warp));
            let store = set(
                element_of(self.kernel.func(), warps, slot),
                Expr::var(part, Type::Scalar(scalar)),
            );
            let first = Expr::binary(BinaryOp::Eq, self.number(self.lane), Expr::i32(0));
            let body = vec![
                lower::declare(part, value),
                Stmt::new(kind, Origin::default()),
                when(first, vec![store]),
            ];
            stmts.push(match self.legal.shape.group {
                1 => Stmt::new(StmtKind::Scope(Block::new(body)), Origin::default()),
                n => self.unrolled(self.at, n, body),
            });
        }
        stmts
    }

    /// Where a warp has its part of a row.
    fn slot(&self, row: Expr, warp: Expr) -> Expr {
        plus(times(row, self.counts.warps.clone()), warp)
    }

    /// The thread's sums of columns go to memory.
    fn columns_added(&mut self) -> Vec<Stmt> {
        let changed = self.changed.clone();
        let Some(own) = self.iteration(&changed) else { return vec![] };
        let width = self.legal.shape.vector;
        let ty = self.kernel.func().var(own.inner.var).ty.clone();
        let mut number = self.number(self.column);
        if width > 1 {
            number = plus(number, self.number(self.lane_column));
        }
        let mut stmts =
            vec![lower::declare(own.inner.var, lower::counter_of(&own.inner, number.cast(ty)))];
        for (column, sum) in self.legal.parts.columns.iter().zip(&self.columns) {
            let mut place = Block::new(vec![set(column.place.clone(), Expr::i32(0))]);
            let (from, to) = (self.legal.inner.var, own.inner.var);
            visit::rename_vars(&mut place, &mut |v| if v == from { to } else { v });
            if let StmtKind::Assign { place, .. } = &place.stmts[0].kind {
                let value = Expr::read(element_of(self.kernel.func(), *sum, self.lane_number()));
                stmts.push(self.update(place, value));
            }
        }
        let body = match width {
            1 => stmts,
            _ => vec![self.unrolled(self.lane_column, width, stmts)],
        };
        vec![when(self.column_exists(), body).comment("the sums of the thread's columns")]
    }

    /// What all warps have of each row goes to memory, thread by thread.
    fn rows_added(&mut self) -> Vec<Stmt> {
        let old = self.old.clone();
        let Some(own) = self.iteration(&old) else { return vec![] };
        let names = ["own_row", "row", "part"];
        let [at, row, part] = names.map(|name| local(self.kernel, name));
        let mut inside = counted_from(&own.outer, self.number(row), self.kernel);
        inside.extend(own.before.iter().cloned());
        let mut updates = vec![];
        for (sum, warps) in own.sums.iter().zip(self.warps.clone()) {
            let of = |own: &Self, warp: Expr| {
                let slot = own.slot(own.number(at), warp);
                Expr::read(element_of(own.kernel.func(), warps, slot))
            };
            let ty = Type::Scalar(sum.scalar);
            inside.push(lower::declare(sum.var, of(self, Expr::i32(0))));
            let total = Place::var(sum.var, ty.clone());
            if self.legal.shape.warps() > 1 {
                let more = Expr::binary(
                    BinaryOp::Add,
                    Expr::read(total.clone()),
                    of(self, self.number(part)),
                );
                let limit = self.counts.warps.clone();
                let body = Block::new(vec![set(total.clone(), more)]);
                let mut l = counted(self.kernel, part, limit, LoopKind::Serial, body);
                l.first = Expr::i32(1);
                inside.push(Stmt::new(StmtKind::For(l), Origin::default()));
            }
            updates.push(self.update(&sum.home, Expr::read(total)));
        }
        inside.extend(updates);
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let number = plus(self.number(self.first_row), self.number(at));
        let body = vec![lower::declare(row, number), when(self.exists(row), inside.stmts)];
        let limit = self.counts.rows_each.clone();
        let mut l = counted(self.kernel, at, limit, LoopKind::Serial, Block::new(body));
        (l.first, l.step) = (self.number(self.thread), self.counts.threads.clone());
        vec![Stmt::new(StmtKind::For(l), Origin::default()).comment("the sums of the block's rows")]
    }

    fn update(&self, place: &Place, value: Expr) -> Stmt {
        let pointer = match &*place.kind {
            PlaceKind::Elem { pointer, .. } => pointer.ty.clone(),
            _ => Type::Void,
        };
        let pointer = Expr::new(ExprKind::AddressOf(place.clone()), pointer, place.origin.clone());
        let (op, compare, result) = (AtomicOp::Add, None, None);
        let kind =
            StmtKind::Atomic { op, pointer, value, compare, result, scope: MemoryScope::Device };
        Stmt::new(kind, self.old.origin.by("keep_sums"))
    }

    fn exists(&self, row: VarId) -> Expr {
        Expr::binary(BinaryOp::Lt, self.number(row), self.counts.rows.clone())
    }

    fn column_exists(&self) -> Expr {
        Expr::binary(BinaryOp::Lt, self.number(self.column), self.counts.columns.clone())
    }

    /// The number of the element of the first column.
    fn first_of(&self, home: &Home, names: &BTreeMap<VarId, VarId>) -> Expr {
        let rest = home.row.rest.rename(&|v| names.get(&v).copied().unwrap_or(v));
        let first = Poly::from_expr(&self.legal.inner.first).and_then(|f| f.add(&rest));
        let scalar = |v: VarId| runs::scalar_of(self.kernel, v);
        first.unwrap_or(rest).to_expr(Scalar::I64, &scalar)
    }

    /// Loads or stores the elements of a thread's columns.
    fn moved(&self, home: &Home, load: bool) -> Vec<Stmt> {
        let width = self.legal.shape.vector;
        let (wide, own) = match runs::vector(home.row.element, width) {
            Some((ty, own)) => (Some(ty), own),
            None => (None, 1),
        };
        let array = home.row.array;
        let pointer = Expr::var(array, self.kernel.func().var(array).ty.clone());
        let mut stmts = vec![];
        for k in (0..width).step_by(own as usize) {
            let mut index =
                plus(Expr::var(home.first, Type::I64), self.number(self.column).cast(Type::I64));
            if k > 0 {
                index = plus(index, Expr::int(Scalar::I64, k.into()));
            }
            let kind =
                PlaceKind::Elem { pointer: pointer.clone(), index: vec![index], dims: vec![] };
            let memory = Place::new(kind, Type::Scalar(home.row.element), Origin::default());
            let slot = self.slot_of(home, Expr::i32(k as i32));
            let own = element_of(self.kernel.func(), home.var, slot);
            let constant = load && home.row.stored.is_none();
            let (memory, own) = match &wide {
                Some(ty) => (
                    lower::wide_as(memory, ty.clone(), Space::Global, constant),
                    lower::wide_as(own, ty.clone(), Space::Local, !load),
                ),
                None => (memory, own),
            };
            let (place, value) = if load { (own, memory) } else { (memory, own) };
            stmts.push(set(place, Expr::read(value)));
        }
        stmts
    }

    /// Where a thread has the element of one of its columns, in the row that it is at.
    fn slot_of(&self, home: &Home, column: Expr) -> Expr {
        if home.steady || self.legal.shape.group == 1 {
            return column;
        }
        let row = times(self.number(self.at), Expr::i32(self.legal.shape.vector as i32));
        plus(row, column)
    }

    fn unrolled(&mut self, var: VarId, count: u32, body: Vec<Stmt>) -> Stmt {
        let limit = Expr::i32(count as i32);
        let l = counted(self.kernel, var, limit, LoopKind::Unrolled(None), Block::new(body));
        Stmt::new(StmtKind::For(l), Origin::default())
    }

    fn bound(
        &mut self,
        var: VarId,
        (level, axis): (BindLevel, Axis),
        extent: Option<u32>,
        limit: Expr,
        body: Vec<Stmt>,
    ) -> Stmt {
        let kind = LoopKind::Bound(Binding { level, axis, extent });
        let l = counted(self.kernel, var, limit, kind, Block::new(body));
        Stmt::new(StmtKind::For(l), Origin::default())
    }
}

/// Puts the thread's elements in place of those of arrays.
struct ToHome<'a> {
    scope: &'a Scope<'a>,
    maker: &'a Maker<'a, 'a>,
}

impl Rewriter for ToHome<'_> {
    fn place(&mut self, place: &mut Place) {
        let maker = self.maker;
        let own = keep_rows::own_element(self.scope, place, maker.legal.inner.var);
        let home = own.and_then(|(array, rest)| {
            maker.homes.iter().find(|h| h.row.array == array && h.row.rest == rest)
        });
        match home {
            Some(home) => {
                let slot = maker.slot_of(home, maker.lane_number());
                *place = element_of(maker.kernel.func(), home.var, slot);
            }
            None => visit::rewrite_place(self, place),
        }
    }
}

/// The variables that hold what a thread's columns read and write.
fn homes(kernel: &mut Kernel, legal: &LegalKeepSums<'_>) -> Vec<Home> {
    let shape = legal.shape;
    let mut homes = vec![];
    for row in &legal.rows {
        let at_start = row.rest.to_expr(Scalar::I64, &|v| runs::scalar_of(legal.kernel, v));
        let steady = row.stored.is_none() && legal.kernel.known_at_start(&at_start);
        let count = if steady { shape.vector } else { shape.vector * shape.group };
        let name = kernel.name_of(row.array).to_string();
        let ty = Type::array(Type::Scalar(row.element), count.into());
        let mut var = Var::new(format!("{name}_own"), ty, VarKind::Local);
        if shape.vector > 1 {
            var.align = WIDEST;
        }
        let var = kernel.func_mut().add_var(var);
        let mut first = Var::new(format!("{name}_first"), Type::I64, VarKind::Local);
        first.constant = true;
        let first = kernel.func_mut().add_var(first);
        homes.push(Home { row: row.clone(), var, first, steady });
    }
    homes
}

/// The counter of the iteration of this number.
fn counted_from(l: &ForLoop, number: Expr, kernel: &Kernel) -> Vec<Stmt> {
    let ty = kernel.func().var(l.var).ty.clone();
    vec![lower::declare(l.var, lower::counter_of(l, number.cast(ty)))]
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

fn local(kernel: &mut Kernel, name: &str) -> VarId {
    kernel.func_mut().add_var(Var::new(name, Type::I32, VarKind::Local))
}

fn undefined(var: VarId) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init: None }, Origin::default())
}

fn set(place: Place, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Assign { place, value }, Origin::default())
}

fn when(cond: Expr, stmts: Vec<Stmt>) -> Stmt {
    let kind = StmtKind::If { cond, then: Block::new(stmts), otherwise: Block::default() };
    Stmt::new(kind, Origin::default())
}

fn plus(a: Expr, b: Expr) -> Expr {
    match b.as_const().map(|v| v.as_i64()) {
        Some(0) => a,
        _ => Expr::binary(BinaryOp::Add, a, b),
    }
}

fn times(a: Expr, b: Expr) -> Expr {
    match b.as_const().map(|v| v.as_i64()) {
        Some(1) => a,
        _ => Expr::binary(BinaryOp::Mul, a, b),
    }
}

/// A loop that counts from 0 by one.
fn counted(kernel: &mut Kernel, var: VarId, limit: Expr, kind: LoopKind, body: Block) -> ForLoop {
    let id = kernel.func_mut().fresh_loop();
    let (first, step) = (Expr::i32(0), Expr::i32(1));
    ForLoop { id, var, declares: true, first, compare: BinaryOp::Lt, limit, step, kind, body }
}
