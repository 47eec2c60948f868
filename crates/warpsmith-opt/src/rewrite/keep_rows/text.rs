//! The nest of blocks and threads that keeps rows.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, BindLevel, Block, Collective, Combine, Expr, ForLoop, LoopId,
    Origin, Place, PlaceKind, Scalar, SourceMap, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::kept::Row;
use super::{LegalKeepRows, kept, launch};
use crate::analysis::access::Scope;
use crate::build::arithmetic::offset;
use crate::build::conditions::{all_of, select};
use crate::build::stmts::{element_of, undefined};
use crate::build::vectors::WIDEST;
use crate::build::{counters, stmts, trips};
use crate::kernel::{Kernel, Sum};
use crate::rewrite::edit::copy::general_copy;
use crate::rewrite::edit::runs;
use crate::rewrite::{Rewritten, bind, share};
use crate::walk;
use crate::walk::with_loop;

pub(super) fn apply(legal: &LegalKeepRows<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.root).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    bind::record(&mut kernel, legal.findings.clone(), sources);
    note_order(&mut kernel, legal);
    kernel.numbers.push(legal.shape.longest());
    let maker = Maker::new(&mut kernel, legal);
    let own = Stmt { kind: StmtKind::For(maker.nest()), ..stmt.clone() };
    let fits = launch::fits(&kernel, legal);
    let origin = stmt.origin.by(legal.step());
    let choice = match fits {
        None => own,
        Some(cond) => {
            let (then, otherwise) = (Block::new(vec![own]), Block::new(vec![stmt]));
            let kind = StmtKind::If { cond, then, otherwise };
            let comment = match legal.strips {
                true => "rows that the threads of a block go through together; the others",
                false => "rows that the threads of a block keep; the others",
            };
            Stmt::new(kind, origin).comment(comment)
        }
    };
    with_loop(&mut kernel.func_mut().body, legal.root, &mut |s| *s = choice.clone());
    Rewritten::same_loops(kernel)
}

/// Notes which arrays depend on the order in which threads add reals.
fn note_order(kernel: &mut Kernel, legal: &LegalKeepRows<'_>) {
    let innermost = legal.nest.last().and_then(|id| legal.kernel.find_loop(*id));
    for sum in legal.loops.iter().flat_map(|l| l.sums.iter().chain(&l.running)) {
        let found = innermost.map(|l| share::reassociated(kernel, &l.body, sum));
        kernel.reassociated.extend(found.into_iter().flatten());
    }
}

/// Where a thread has the elements of a row.
struct Home {
    row: Row,
    var: VarId,
    /// The number of the row's first element.
    first: VarId,
}

/// A loop over a row, in the copy of the nest that is made into one of threads.
pub(super) struct OwnLoop {
    id: LoopId,
    /// Counters of groups of a thread's elements, and of elements in a group.
    pub(super) group: VarId,
    lane: VarId,
    sums: Vec<Sum>,
    pub(super) running: Vec<Sum>,
    pub(super) carried: BTreeSet<VarId>,
    left_out: u32,
}

pub(super) struct Maker<'k, 'l> {
    pub(super) kernel: &'k mut Kernel,
    pub(super) legal: &'l LegalKeepRows<'l>,
    homes: Vec<Home>,
    pub(super) loops: Vec<OwnLoop>,
    /// The copy of the nest, reads and writes of rows replaced.
    nest: Stmt,
    /// The loop over a row, with the counters of that copy.
    pub(super) range: ForLoop,
    /// The elements of a row whose ends the launcher does not know.
    pub(super) length: Option<VarId>,
    private: Vec<VarId>,
    /// Counters of the bound loops, and the number of a thread's row.
    block: VarId,
    row: VarId,
    pub(super) thread: VarId,
    position: VarId,
    pub(super) threads: Expr,
    /// Rows of the nest, and blocks.
    rows: Expr,
    blocks: Expr,
    /// Names of variables of the source in the copy.
    names: BTreeMap<VarId, VarId>,
}

impl<'k, 'l> Maker<'k, 'l> {
    fn new(kernel: &'k mut Kernel, legal: &'l LegalKeepRows<'l>) -> Self {
        let mut local = |name: &str, ty: Type| local(kernel, name, ty);
        let [block, row, thread, position] =
            ["block", "row_of_block", "thread", "row"].map(|name| local(name, Type::I32));
        let threads = kernel.constant(
            "ROW_THREADS",
            legal.shape.threads,
            "threads that have a row among themselves",
        );
        let (rows, blocks) = launch::counts(kernel, legal);
        let homes = homes(kernel, legal);
        let mut counters: Vec<(VarId, VarId)> = vec![];
        for _ in &legal.loops {
            let group = match legal.strips {
                true => self::local(kernel, "strip", Type::I64),
                false => local_i32(kernel, "group"),
            };
            counters.push((group, local_i32(kernel, "lane")));
        }
        let sums = in_parts(kernel, legal, &homes, &counters);
        let changed = walk::loop_stmt(&kernel.func().body, legal.root).cloned();
        let changed = changed.unwrap_or_else(|| Stmt::new(StmtKind::Break, Origin::default()));
        let (mut nest, ids, mut names) = general_copy(kernel, &changed);
        let private = own_private(kernel, legal, &mut nest, &mut names);
        let new = |v: VarId| names.get(&v).copied().unwrap_or(v);
        let own = |(l, ((group, lane), sums)): (&super::RowLoop, ((VarId, VarId), Vec<Sum>))| {
            let id = ids.get(&l.id).copied().unwrap_or(l.id);
            let own = |s: &Sum| Sum { var: new(s.var), at: s.at.map(new), ..*s };
            let (sums, running) = (sums.iter().map(own), l.running.iter().map(own));
            let (sums, running) = (sums.collect(), running.collect());
            let carried = l.carried.iter().map(|v| new(*v)).collect();
            OwnLoop { id, group, lane, sums, running, carried, left_out: l.left_out }
        };
        let loops = legal.loops.iter().zip(counters.into_iter().zip(sums)).map(own).collect();
        let range = with_counters(legal.range, &names);
        let of_row = !super::knows_ends(kernel, &range);
        let length = of_row.then(|| self::local(kernel, "row_length", Type::I64));
        Maker {
            kernel,
            legal,
            homes,
            loops,
            nest,
            range,
            length,
            private,
            block,
            row,
            thread,
            position,
            threads,
            rows,
            blocks,
            names,
        }
    }

    /// The loops over blocks, rows of a block, and threads of a row.
    fn nest(mut self) -> ForLoop {
        let shape = self.legal.shape;
        let text = self.text();
        let (x, threads) = ((BindLevel::Block, Axis::X), self.threads.clone());
        let mut nest = stmts::bound(
            self.kernel.func_mut(),
            self.thread,
            x,
            Some(shape.threads),
            threads,
            text,
        );
        if shape.rows > 1 {
            let (y, rows) = ((BindLevel::Block, Axis::Y), self.rows_of_block());
            nest = stmts::bound(
                self.kernel.func_mut(),
                self.row,
                y,
                Some(shape.rows),
                rows,
                one(nest),
            );
        }
        let blocks = self.blocks.clone();
        stmts::bound(
            self.kernel.func_mut(),
            self.block,
            (BindLevel::Grid, Axis::X),
            None,
            blocks,
            one(nest),
        )
    }

    /// What a thread does.
    fn text(&mut self) -> Vec<Stmt> {
        let nest = self.marked();
        let mut text = self.row_number(&nest);
        text.extend(self.private.iter().map(|v| undefined(*v)));
        for home in &self.homes {
            text.push(stmts::declare(home.first, self.first_of(&home.row)));
        }
        text.extend(self.length.map(|v| stmts::declare(v, self.row_end().1)));
        let body = nest.last().map(|l| l.body.clone()).unwrap_or_default();
        for stmt in body.stmts {
            let of_row = match &stmt.kind {
                StmtKind::For(l) => self.loops.iter().position(|own| own.id == l.id),
                _ => None,
            };
            match of_row {
                Some(at) => {
                    text.extend(self.row_loop(at, &stmt));
                    text.extend((self.legal.ordered_after == Some(at)).then(all_wait));
                }
                None if kept::stores(&stmt) => text.push(self.by_one(stmt)),
                None => text.push(stmt),
            }
        }
        text
    }

    /// The marked loops of the copy.
    fn marked(&self) -> Vec<ForLoop> {
        let block = Block::new(vec![self.nest.clone()]);
        walk::for_loops(&block).into_iter().take(self.legal.nest.len()).cloned().collect()
    }

    fn rows_of_block(&mut self) -> Expr {
        self.kernel.constant("ROWS", self.legal.shape.rows, "rows of a block")
    }

    /// Which row is the thread's, and the counters that follow from it. Past the last one they are the last one's, whose
    /// elements are left to its own threads.
    fn row_number(&mut self, loops: &[ForLoop]) -> Vec<Stmt> {
        let mut number = Expr::var(self.block, Type::I32);
        let mut stmts = vec![];
        if self.legal.shape.rows > 1 {
            let first = Expr::binary(BinaryOp::Mul, number.clone(), self.rows_of_block());
            let own = Expr::binary(BinaryOp::Add, first, Expr::var(self.row, Type::I32));
            stmts.push(stmts::declare(self.position, own));
            number = Expr::var(self.position, Type::I32);
        }
        if let Some(exists) = self.exists() {
            let last = Expr::binary(BinaryOp::Sub, self.rows.clone(), Expr::i32(1));
            number = select(exists, number, last);
        }
        let function = self.kernel.func();
        let counts: Vec<Expr> =
            loops.iter().map(|l| trips::count(function, l).cast(Type::I32)).collect();
        for (l, at) in loops.iter().zip(counters::digits(number, &counts)) {
            let ty = function.var(l.var).ty.clone();
            stmts.push(stmts::declare(l.var, counters::counter_of(l, at.cast(ty))));
        }
        stmts
    }

    /// The row of this thread is one of the nest's; `None` where it always is.
    pub(super) fn exists(&self) -> Option<Expr> {
        let several = self.legal.shape.rows > 1 && !launch::fills_blocks(self.legal);
        let row = || Expr::var(self.position, Type::I32);
        several.then(|| Expr::binary(BinaryOp::Lt, row(), self.rows.clone()))
    }

    /// The number of a row's first element.
    fn first_of(&self, row: &Row) -> Expr {
        let rest = row.rest.rename(&|v| self.names.get(&v).copied().unwrap_or(v));
        let first = Poly::from_expr(&self.range.first);
        let first = first.and_then(|f| if row.back { rest.sub(&f) } else { rest.add(&f) });
        let scalar = |v: VarId| runs::scalar_of(self.kernel, v);
        first.unwrap_or(rest).to_expr(Scalar::I64, &scalar)
    }

    /// What one thread of the row does alone.
    fn by_one(&self, stmt: Stmt) -> Stmt {
        let first = Expr::binary(BinaryOp::Eq, Expr::var(self.thread, Type::I32), Expr::i32(0));
        when([first].into_iter().chain(self.exists()), vec![stmt])
    }

    /// The thread's part of a loop over a row, and what its sums come to in all threads.
    fn row_loop(&mut self, at: usize, stmt: &Stmt) -> Vec<Stmt> {
        let StmtKind::For(l) = &stmt.kind else { return vec![] };
        let begins: Vec<usize> = self.of_loop(|h| h.row.first == at);
        let mut stmts = vec![];
        for home in begins.iter().map(|k| &self.homes[*k]).filter(|h| h.row.is_held()) {
            stmts.push(undefined(home.var));
        }
        let held = |h: &Home| h.row.first == at && h.row.loaded && h.row.is_held();
        let loads = self.of_loop(held);
        if !loads.is_empty() {
            let group = local_i32(self.kernel, "group");
            let body = |own: &mut Self, element: &Expr| {
                loads.iter().flat_map(|k| own.moved(&own.homes[*k], group, element, true)).collect()
            };
            stmts.push(self.groups(group, body).comment("the thread's elements of the row"));
        }
        let group = self.loops[at].group;
        let body = |own: &mut Self, element: &Expr| {
            let mut body: Vec<Stmt> = own.of_group(at).map(undefined).collect();
            body.extend(own.loads(at, group, element));
            body.extend(own.elements(l, at, element));
            body.extend(own.stores(at, group, element));
            body
        };
        let looped = match self.loops[at].running.is_empty() {
            true => self.groups(group, body),
            false => self.running(l, at),
        };
        stmts.push(Stmt {
            origin: stmt.origin.by(self.legal.step()),
            comment: stmt.comment.clone(),
            ..looped
        });
        let over = vec![(BindLevel::Block, Axis::X)];
        for Sum { var: value, op, at } in self.loops[at].sums.iter().copied() {
            let over = over.clone();
            let combine = Combine { op, value, at, before: None, slope: None, over };
            let kind = StmtKind::Collective(Collective::Combine(combine));
            stmts.push(Stmt::new(kind, Origin::default()));
        }
        stmts
    }

    fn of_loop(&self, wanted: impl Fn(&Home) -> bool) -> Vec<usize> {
        (0..self.homes.len()).filter(|k| wanted(&self.homes[*k])).collect()
    }

    /// What holds elements of a group of the loop only.
    pub(super) fn of_group(&self, at: usize) -> impl Iterator<Item = VarId> + use<> {
        let found = self.of_loop(|h| h.row.first == at && !h.row.is_held());
        found.into_iter().map(|k| self.homes[k].var).collect::<Vec<_>>().into_iter()
    }

    /// Loads what holds elements of a group only.
    pub(super) fn loads(&self, at: usize, group: VarId, element: &Expr) -> Vec<Stmt> {
        let loaded = self.of_loop(|h| h.row.first == at && !h.row.is_held() && h.row.loaded);
        loaded.iter().flat_map(|k| self.moved(&self.homes[*k], group, element, true)).collect()
    }

    /// Stores what the loop is the last to write.
    pub(super) fn stores(&self, at: usize, group: VarId, element: &Expr) -> Vec<Stmt> {
        let stored = self.of_loop(|h| h.row.stored == Some(at));
        stored.iter().flat_map(|k| self.moved(&self.homes[*k], group, element, false)).collect()
    }

    /// A group's elements, one after the other, but those that the loop leaves out.
    pub(super) fn elements(&mut self, l: &ForLoop, at: usize, element: &Expr) -> Vec<Stmt> {
        let OwnLoop { lane, left_out, .. } = self.loops[at];
        let ty = self.kernel.func().var(l.var).ty.clone();
        let counter =
            Var { ty: ty.clone(), kind: VarKind::Local, ..self.kernel.func().var(l.var).clone() };
        let counter = self.kernel.func_mut().add_var(counter);
        let mut body = l.body.clone();
        visit::rename_vars(&mut body, &mut |v| if v == l.var { counter } else { v });
        let width = self.legal.shape.vector;
        let mut number = element.clone();
        if width > 1 {
            let lane = Expr::var(lane, Type::I32).cast(number.ty.clone());
            number = Expr::binary(BinaryOp::Add, number, lane);
        }
        let value = counters::counter_of(&self.range, number.clone().cast(ty));
        body.stmts.insert(0, stmts::declare(counter, value));
        runs::drop_unread(&mut body);
        if left_out > 0 {
            let first =
                Expr::i32(i32::try_from(left_out).unwrap_or(i32::MAX)).cast(number.ty.clone());
            let own = Expr::binary(BinaryOp::Ge, number, first);
            body = Block::new(vec![when([own], body.stmts)]);
        }
        // What follows is done for iterations that go on early, too.
        match width == 1 && walk::continues(&body).is_none() {
            true => body.stmts,
            false => vec![stmts::unrolled(self.kernel.func_mut(), lane, width, body.stmts)],
        }
    }

    /// Loads or stores a group's elements of a row.
    fn moved(&self, home: &Home, group: VarId, element: &Expr, load: bool) -> Vec<Stmt> {
        let width = self.legal.shape.vector;
        let base = match home.row.is_held() && self.legal.shape.each > width {
            true => counters::times(Expr::var(group, Type::I32), &Expr::i32(width as i32)),
            false => Expr::i32(0),
        };
        let array = home.row.array;
        let pointer = Expr::var(array, self.kernel.func().var(array).ty.clone());
        let memory = |k: u32| {
            let first = Expr::var(home.first, Type::I64);
            let (op, number) = match home.row.back {
                true => (BinaryOp::Sub, offset(element.clone(), i64::from(width - 1 - k))),
                false => (BinaryOp::Add, offset(element.clone(), k.into())),
            };
            let index = vec![Expr::binary(op, first, number.cast(Type::I64))];
            let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
            Place::new(kind, Type::Scalar(home.row.element), Origin::default())
        };
        let own = |k: u32| {
            let slot = match base.as_const() {
                Some(_) => Expr::i32(k as i32),
                None => offset(base.clone(), k.into()),
            };
            element_of(self.kernel.func(), home.var, slot)
        };
        let constant = load && home.row.stored.is_none();
        runs::moved((home.row.element, width), (load, constant), memory, own)
    }
}

/// The variables that hold rows: what more than one loop accesses, what is stored, and what is loaded in vectors.
fn homes(kernel: &mut Kernel, legal: &LegalKeepRows<'_>) -> Vec<Home> {
    let shape = legal.shape;
    let mut homes = vec![];
    for row in &legal.rows {
        let scans = legal.loops.get(row.first).is_some_and(super::RowLoop::scans);
        if !row.is_held() && row.stored.is_none() && shape.vector == 1 && !scans {
            continue;
        }
        let count = if row.is_held() { shape.each } else { shape.vector };
        let name = kernel.name_of(row.array).to_string();
        let var = elements(kernel, (format!("{name}_row"), row.element), count, shape.vector);
        let first = local(kernel, &format!("{name}_first"), Type::I64);
        homes.push(Home { row: row.clone(), var, first });
    }
    homes
}

/// An array of so many elements for each thread, which vectors fill.
pub(in crate::rewrite) fn elements(
    kernel: &mut Kernel,
    (name, element): (String, Scalar),
    count: u32,
    vector: u32,
) -> VarId {
    let ty = Type::array(Type::Scalar(element), count.into());
    let mut var = Var::new(name, ty, VarKind::Local);
    if vector > 1 {
        var.align = WIDEST;
    }
    kernel.func_mut().add_var(var)
}

/// Puts the elements that a thread holds in place of those of arrays, and gives each thread sums of its own.
fn in_parts(
    kernel: &mut Kernel,
    legal: &LegalKeepRows<'_>,
    homes: &[Home],
    counters: &[(VarId, VarId)],
) -> Vec<Vec<Sum>> {
    let source = legal.kernel;
    let Some(root) = source.find_loop(legal.root) else { return vec![] };
    let scope = Scope::new(&source.module, source.func(), source.loops_around(root.id), root);
    for (at, (l, (group, lane))) in legal.loops.iter().zip(counters).enumerate() {
        let Some(counter) = source.find_loop(l.id).map(|l| l.var) else { continue };
        let function = kernel.func().clone();
        let mut to_home = ToHome {
            scope: &scope,
            function,
            legal,
            homes,
            at,
            counter,
            group: *group,
            lane: *lane,
        };
        with_loop(&mut kernel.func_mut().body, l.id, &mut |s| {
            if let StmtKind::For(l) = &mut s.kind {
                to_home.block(&mut l.body);
            }
        });
    }
    let own = |l: &super::RowLoop, kernel: &mut Kernel| -> Vec<Sum> {
        l.sums.iter().map(|sum| share::own_part(kernel, l.id, *sum)).collect()
    };
    legal.loops.iter().map(|l| own(l, kernel)).collect()
}

struct ToHome<'a> {
    scope: &'a Scope<'a>,
    /// With the variables of homes.
    function: warpsmith_ir::Function,
    legal: &'a LegalKeepRows<'a>,
    homes: &'a [Home],
    at: usize,
    counter: VarId,
    group: VarId,
    lane: VarId,
}

impl ToHome<'_> {
    fn home(&self, place: &Place) -> Option<&Home> {
        let own = kept::own_element(self.scope, place, self.counter)?;
        self.homes.iter().find(|h| {
            let here = (h.row.first..=h.row.last).contains(&self.at);
            here && h.row.array == own.array && h.row.is_at(&own.rest, own.back)
        })
    }

    /// Which of the home's elements it is.
    fn slot(&self, home: &Home) -> Expr {
        let shape = self.legal.shape;
        let group = home.row.is_held() && shape.each > shape.vector;
        let group = group.then(|| {
            let group = Expr::var(self.group, Type::I32);
            counters::times(group, &Expr::i32(shape.vector as i32))
        });
        let lane = (shape.vector > 1).then(|| {
            let lane = Expr::var(self.lane, Type::I32);
            // As in memory, so that vectors can be moved as they are.
            let last = || Expr::i32(shape.vector as i32 - 1);
            if home.row.back { Expr::binary(BinaryOp::Sub, last(), lane) } else { lane }
        });
        let sum = group.into_iter().chain(lane);
        sum.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b)).unwrap_or_else(|| Expr::i32(0))
    }
}

impl Rewriter for ToHome<'_> {
    fn place(&mut self, place: &mut Place) {
        match self.home(place) {
            Some(home) => *place = element_of(&self.function, home.var, self.slot(home)),
            None => visit::rewrite_place(self, place),
        }
    }
}

/// New variables in place of those that each iteration has for itself.
fn own_private(
    kernel: &mut Kernel,
    legal: &LegalKeepRows<'_>,
    nest: &mut Stmt,
    names: &mut BTreeMap<VarId, VarId>,
) -> Vec<VarId> {
    let mut block = Block::new(vec![nest.clone()]);
    let counters: Vec<VarId> = walk::for_loops(&block).iter().map(|l| l.var).collect();
    let mut private = vec![];
    for v in legal.private.iter().filter(|v| !names.contains_key(v)).copied().collect::<Vec<_>>() {
        let var = kernel.func().var(v).clone();
        let own = kernel.func_mut().add_var(var);
        visit::rename_vars(&mut block, &mut |w| if w == v { own } else { w });
        names.insert(v, own);
        if !counters.contains(&v) {
            private.push(own);
        }
    }
    *nest = block.stmts.remove(0);
    private
}

/// The range of a loop, by other names.
fn with_counters(l: &ForLoop, names: &BTreeMap<VarId, VarId>) -> ForLoop {
    let mut block =
        Block::new(vec![stmts::looped(ForLoop { body: Block::default(), ..l.clone() })]);
    visit::rename_vars(&mut block, &mut |v| names.get(&v).copied().unwrap_or(v));
    match block.stmts.remove(0).kind {
        StmtKind::For(l) => l,
        _ => l.clone(),
    }
}

pub(super) fn local(kernel: &mut Kernel, name: &str, ty: Type) -> VarId {
    let mut var = Var::new(name, ty, VarKind::Local);
    var.constant = true;
    kernel.func_mut().add_var(var)
}

fn local_i32(kernel: &mut Kernel, name: &str) -> VarId {
    stmts::local(kernel.func_mut(), name, Type::I32)
}

/// All threads of a block have read what is written from here on.
fn all_wait() -> Stmt {
    let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
    Stmt::new(kind, Origin::default()).comment("everyone has read what is written from here on")
}

fn one(l: ForLoop) -> Vec<Stmt> {
    vec![stmts::looped(l)]
}

/// `if (all conditions) stmts`
pub(super) fn when(conditions: impl IntoIterator<Item = Expr>, stmts: Vec<Stmt>) -> Stmt {
    let cond = all_of(conditions);
    let then = Block::new(stmts);
    let kind = match cond {
        Some(cond) => StmtKind::If { cond, then, otherwise: Block::default() },
        None => StmtKind::Scope(then),
    };
    Stmt::new(kind, Origin::default())
}
