//! What a thread does in each step.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopKind, MathFn, Origin, Place, PlaceKind, Scalar,
    Space, Stmt, StmtKind, Type, Value, Var, VarId, VarKind,
};

use super::super::elements;
use super::super::pair::{self, Sweep, Window};
use super::super::text::{ITSELF, Maker, Nests, long, with_type};
use super::around::Planes;
use super::{Ring, behind};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::conditions::all_of;
use crate::build::stmts::{self, barrier, declare, element_at, looped, set, undefined, when};
use crate::build::vectors::{self, WIDEST};
use crate::rewrite::edit::{copy, runs};
use crate::walk;

/// Loops over a thread's elements of a plane, or over its rows.
pub(super) struct Counters {
    /// Outermost first.
    pub at: Vec<Expr>,
    loops: Vec<(VarId, u32)>,
}

impl Counters {
    /// Over all elements.
    pub fn new(maker: &mut Maker<'_, '_>) -> Counters {
        let axes = 0..maker.across.len();
        Counters::of(maker, axes.rev().collect())
    }

    /// Over rows.
    pub fn of_rows(maker: &mut Maker<'_, '_>) -> Counters {
        let axes = 1..maker.across.len();
        Counters::of(maker, axes.rev().collect())
    }

    /// Over elements of a row.
    pub fn of_row(maker: &mut Maker<'_, '_>) -> Counters {
        Counters::of(maker, vec![0])
    }

    fn of(maker: &mut Maker<'_, '_>, axes: Vec<usize>) -> Counters {
        let names = ["c", "r"];
        let var = |axis: usize| {
            let name = names[axis.min(1)];
            (stmts::local(maker.kernel.func_mut(), name, Type::I32), maker.legal.shape.each(axis))
        };
        let loops: Vec<(VarId, u32)> = axes.into_iter().map(var).collect();
        let at = loops.iter().map(|(var, n)| match n {
            1 => Expr::i32(0),
            _ => Expr::var(*var, Type::I32),
        });
        Counters { at: at.collect(), loops }
    }

    /// The statements for each of them.
    pub fn around(self, maker: &mut Maker<'_, '_>, body: Vec<Stmt>) -> Vec<Stmt> {
        self.loops.into_iter().rev().filter(|(_, n)| *n != 1).fold(body, |body, (var, n)| {
            vec![stmts::unrolled(maker.kernel.func_mut(), var, n, body)]
        })
    }
}

/// What stands for both nests.
struct Step<'l> {
    ring: &'l Ring,
    /// What the first nest reads, and what it computes.
    input: Planes,
    between: Planes,
    /// All vectors lie at multiples of their length.
    aligned: Option<VarId>,
    /// The first element of a vector that the thread copies of each row, and the numbers of its rows' first elements.
    column: VarId,
    rows: Option<VarId>,
    /// What the second nest stores, where that is one element at its end.
    result: Option<VarId>,
}

fn call(f: MathFn, a: Expr, b: Expr) -> Expr {
    Expr::new(ExprKind::Call(f, vec![a, b]), Type::I64, Origin::default())
}

/// A number moved into a range from 0 on.
fn clamped(e: Expr, last: Expr) -> Expr {
    call(MathFn::Min, call(MathFn::Max, e, long(0)), last)
}

fn wide(e: &Expr) -> Expr {
    e.clone().cast(Type::I64)
}

impl<'l> Maker<'_, 'l> {
    /// The text of a thread.
    pub(in crate::rewrite::fuse_kernels) fn ring(
        &mut self,
        ring: &'l Ring,
        nests: Nests,
    ) -> Vec<Stmt> {
        let array = match nests.copy {
            Some([from, to]) if from == ring.array => to,
            _ => ring.array,
        };
        let mut text = self.positions();
        let step = self.step_of(ring, array, &nests, &mut text);
        let own = [(step.input.own, step.input.own_planes), (self.own, step.between.own_planes)];
        for (var, planes) in own {
            text.push(undefined(var));
            text.extend(self.zeros(var, planes));
        }
        let pair = &self.legal.pair;
        let (input, between) = (ring.reads.along(0), pair.along(0));
        let both = i64::from(input.width()) + i64::from(between.width());
        let computes = [input.high, input.width().into(), both];
        let late = input.high + behind(pair);
        let least = late - between.low - input.low;
        let (first, second) = (&pair.first.loops[0], &pair.second.loops[0]);
        let computes = self.steps_of(("computes", None), first, computes);
        let finishes = self.steps_of(("finishes", None), second, [late, least, least]);
        text.extend(computes.1);
        text.extend(finishes.1);
        for plane in 0..ring.each.ahead {
            let plane = self.steps(plane.into());
            text.extend(self.arriving(&step, plane, both));
        }
        if let Some(first) = text.iter_mut().rev().nth(2 * ring.each.ahead as usize - 1) {
            first.comment.push("planes on their way".into());
        }
        let body = self.step(&step, nests, [computes.0, finishes.0], both);
        let limit = offset(self.grid.planes.clone(), least);
        let ty = self.grid.planes.ty.clone();
        let (counter, function) = (self.step, self.kernel.func_mut());
        let l = stmts::counted(function, counter, limit, LoopKind::Serial, body);
        text.push(looped(with_type(l, &ty)));
        text
    }

    fn step_of(
        &mut self,
        ring: &'l Ring,
        array: VarId,
        nests: &Nests,
        text: &mut Vec<Stmt>,
    ) -> Step<'l> {
        let name = self.kernel.name_of(array).to_string();
        let plane = |this: &Self, extent: &dyn Fn(usize) -> u32| {
            let axes = 0..this.across.len();
            let element = Type::Scalar(ring.element);
            axes.fold(element, |ty, axis| Type::array(ty, extent(axis).into()))
        };
        let legal = self.legal;
        let ty = plane(self, &|axis| legal.shape.each(axis));
        let own = Type::array(ty, ring.own_planes().into());
        let own = self.row_variable(&format!("{name}_own"), own);
        let ty = plane(self, &|axis| legal.extent(axis));
        let mut shared = Var::new(
            format!("{name}_planes"),
            Type::array(ty, ring.slots().into()),
            VarKind::Shared,
        );
        shared.align = WIDEST;
        let shared = self.kernel.func_mut().add_var(shared);
        self.shared.push(shared);
        for var in [Some(self.own), self.planes].into_iter().flatten() {
            self.kernel.func_mut().vars[var.0 as usize].align = WIDEST;
        }
        let input = Planes {
            array,
            reads: ring.reads.clone(),
            element: ring.element,
            own,
            own_planes: ring.own_planes(),
            newest: ring.reads.along(0).high,
            shared: Some((shared, ring.slots())),
            boxes: Default::default(),
        };
        let pair = &self.legal.pair;
        let between = Planes {
            array: pair.array,
            reads: pair.reads.clone(),
            element: pair.element,
            own: self.own,
            own_planes: (behind(pair) - pair.along(0).low) as u32 + 1,
            newest: behind(pair),
            shared: self.planes.map(|planes| (planes, super::slots(pair))),
            boxes: Default::default(),
        };
        let (input, between) = (input.with_boxes(self), between.with_boxes(self));
        let stored = self.stored_last(&nests.second);
        let aligned = self.alignment(array, stored.as_ref(), text);
        let (column, rows) = self.copied_from(array, text);
        let result = stored.map(|place| self.result_of(&place));
        Step { ring, input, between, aligned, column, rows, result }
    }

    fn result_of(&mut self, place: &Place) -> VarId {
        let axes = 0..self.across.len();
        let ty = axes.fold(place.ty.clone(), |ty, axis| {
            Type::array(ty, self.legal.shape.each(axis).into())
        });
        self.row_variable("result", ty)
    }

    /// The element of an array that the second nest stores to as its last statement, at its counters but for constants.
    fn stored_last(&self, second: &Stmt) -> Option<Place> {
        let sweep = &self.legal.pair.second;
        let mut loops = vec![];
        let mut stmt = second;
        while let StmtKind::For(l) = &stmt.kind
            && loops.len() < sweep.loops.len()
        {
            loops.push(l);
            stmt = l.body.stmts.last()?;
        }
        let StmtKind::Assign { place, .. } = &stmt.kind else { return None };
        let mut stores = 0;
        walk::each_stmt(&loops.last()?.body, &mut |s| {
            stores += usize::from(walk::changed(s).is_some_and(|p| p.root_var().is_none()));
        });
        let scope = pair::scope(self.legal.kernel, sweep);
        let distances = pair::distances(&scope, place, &sweep.loops)?;
        let whole = distances.len() == sweep.loops.len() && place.ty.scalar().is_some();
        (stores == 1 && whole && place.root_var().is_none()).then(|| place.clone())
    }

    /// Whether vectors of both arrays lie at multiples of their length.
    fn alignment(
        &mut self,
        array: VarId,
        stored: Option<&Place>,
        text: &mut Vec<Stmt>,
    ) -> Option<VarId> {
        let width = self.legal.shape.each(0);
        if width == 1 {
            return None;
        }
        let mut conditions = vec![];
        let divides = |e: Expr, by: u32| {
            let ty = e.ty.scalar().unwrap_or(Scalar::I64);
            let past = Expr::binary(BinaryOp::Rem, e, Expr::int(ty, by.into()));
            Expr::binary(BinaryOp::Eq, past, Expr::int(ty, 0))
        };
        let mut of_array = |this: &Self, pointer: Expr, rows: Option<Expr>| {
            let element = pointer.ty.pointee().and_then(|ty| ty.scalar()).unwrap_or(Scalar::F32);
            conditions.push(divides(pointer.cast(Type::U64), element.bytes() * width));
            let _ = this;
            if let Some(rows) = rows
                && rows.as_const().is_none_or(|n| n.as_i64() % i64::from(width) != 0)
            {
                let rows = divides(rows, width);
                if !conditions.contains(&rows) {
                    conditions.push(rows);
                }
            }
        };
        let var = self.kernel.func().var(array);
        let rows = var.shape.as_ref().and_then(|s| s.last().cloned());
        of_array(self, Expr::var(array, var.ty.clone()), rows);
        if let Some(PlaceKind::Elem { pointer, dims, .. }) = stored.map(|p| &*p.kind) {
            of_array(self, pointer.clone(), dims.last().cloned());
        }
        // Tiles begin at a multiple where the loop begins at a constant.
        let begin = self.grid.first.last().cloned();
        if begin.is_some_and(|e| e.as_const().is_none()) {
            conditions.push(divides(self.number(self.across[0].at), width));
        }
        let mut var = Var::new("aligned", Type::BOOL, VarKind::Local);
        var.constant = true;
        let var = self.kernel.func_mut().add_var(var);
        let all = all_of(conditions).unwrap_or_else(|| Expr::constant(Value::bool(true)));
        text.push(declare(var, all).comment("vectors lie at multiples of their length"));
        Some(var)
    }

    fn extents(&self, array: VarId) -> Vec<Expr> {
        self.kernel.func().var(array).shape.clone().unwrap_or_default()
    }

    /// Where a thread's vectors of the array come from: the column, and the rows where there are some. What lies outside of
    /// the array is in the place of nothing that is used.
    fn copied_from(&mut self, array: VarId, text: &mut Vec<Stmt>) -> (VarId, Option<VarId>) {
        let extents = self.extents(array);
        let width = i64::from(self.legal.shape.each(0));
        let columns = wide(&extents[extents.len() - 1]);
        let mut constant = |name: &str| {
            let mut var = Var::new(name, Type::I64, VarKind::Local);
            var.constant = true;
            self.kernel.func_mut().add_var(var)
        };
        let column = constant("from_column");
        let x = self.number(self.across[0].at);
        text.push(declare(column, clamped(x, offset(columns.clone(), -width))));
        if self.across.len() < 2 {
            return (column, None);
        }
        let count = self.legal.shape.each(1);
        let ty = Type::array(Type::I64, count.into());
        let rows = stmts::local(self.kernel.func_mut(), "from_row", ty);
        text.push(undefined(rows));
        let counters = Counters::of_rows(self);
        let y = plus(self.number(self.across[1].at), wide(&counters.at[0]));
        let row = times(clamped(y, offset(wide(&extents[extents.len() - 2]), -1)), columns);
        let place = stmts::element_of(self.kernel.func(), rows, counters.at[0].clone());
        text.extend(counters.around(self, vec![set(place, row)]));
        (column, Some(rows))
    }

    /// Sets a thread's elements of all planes to zero.
    fn zeros(&mut self, var: VarId, planes: u32) -> Vec<Stmt> {
        let element = self.kernel.func().var(var).ty.innermost().scalar().unwrap_or(Scalar::F32);
        let counters = Counters::new(self);
        let zero = |k: u32| {
            let index = [Expr::i32(k as i32)].into_iter().chain(counters.at.iter().cloned());
            let place = element_at(self.kernel.func(), var, index);
            set(place, Expr::constant(Value::int(element, 0)))
        };
        let body = (0..planes).map(zero).collect();
        counters.around(self, body)
    }

    /// Lets the thread's part of the plane of a step be copied; `most` steps more than the block has planes need one.
    fn arriving(&mut self, step: &Step<'_>, of: Expr, most: i64) -> Vec<Stmt> {
        let extents = self.extents(step.input.array);
        let (array, ty) = {
            let var = self.kernel.func().var(step.input.array);
            (step.input.array, var.ty.clone())
        };
        let element = Type::Scalar(step.ring.element);
        let mut next = Var::new("next", Type::I64, VarKind::Local);
        next.constant = true;
        let next = self.kernel.func_mut().add_var(next);
        let plane = plus(self.number(self.begin), wide(&of));
        let elements = extents[1..].iter().map(wide).reduce(times).unwrap_or_else(|| long(1));
        let first = times(clamped(plane, offset(wide(&extents[0]), -1)), elements);
        let rows = Counters::of_rows(self);
        let row = match step.rows {
            Some(var) => {
                let place = stmts::element_of(self.kernel.func(), var, rows.at[0].clone());
                plus(self.number(next), Expr::read(place))
            }
            None => self.number(next),
        };
        let source = |column: Expr| {
            let index = vec![plus(row.clone(), column)];
            let pointer = Expr::var(array, ty.clone());
            let kind = PlaceKind::Elem { pointer, index, dims: vec![] };
            Place::new(kind, element.clone(), Origin::default())
        };
        let (planes, slots) = step.input.shared.unwrap_or((step.input.own, 1));
        let slot = Expr::binary(BinaryOp::Rem, of.clone(), self.steps(slots.into()));
        let target = |this: &Self, column: Expr| {
            let of_tile = rows.at.iter().map(|r| this.of_tile(1, r.clone()));
            let index = [slot.clone()].into_iter().chain(of_tile);
            let index = index.chain([this.of_tile(0, column)]);
            element_at(this.kernel.func(), planes, index)
        };
        let bytes = step.ring.element.bytes();
        let copied = |to: Place, from: Place, elements: u32| {
            let kind = StmtKind::AsyncCopy {
                destination: vectors::address(to, Space::Shared, false),
                source: vectors::address(from, Space::Global, true),
                bytes: Expr::i32((elements * bytes) as i32),
                zero_fill: None,
            };
            Stmt::new(kind, Origin::default())
        };
        let width = self.legal.shape.each(0);
        let whole = source(self.number(step.column));
        let mut body = vec![copied(target(self, Expr::i32(0)), whole, width)];
        if let Some(aligned) = step.aligned {
            let of_row = Counters::of_row(self);
            let x = plus(self.number(self.across[0].at), wide(&of_row.at[0]));
            let last = offset(wide(&extents[extents.len() - 1]), -1);
            let to = target(self, of_row.at[0].clone());
            let each = of_row.around(self, vec![copied(to, source(clamped(x, last)), 1)]);
            let cond = Expr::var(aligned, Type::BOOL);
            let (then, otherwise) = (Block::new(body), Block::new(each));
            let kind = StmtKind::If { cond, then, otherwise };
            body = vec![Stmt::new(kind, Origin::default())];
        }
        let mut copies = vec![declare(next, first)];
        copies.extend(rows.around(self, body));
        // A block has a plane at least.
        let always = of.as_const().is_some_and(|n| n.as_i64() <= most);
        let needed = Expr::binary(BinaryOp::Lt, of, offset(self.grid.planes.clone(), most));
        let copies = if always { Stmt::new(StmtKind::Scope(Block::new(copies)), Origin::default()) } else { when(needed, copies) };
        vec![copies, Stmt::new(StmtKind::AsyncCommit, Origin::default())]
    }

    /// What is done for a plane.
    fn step(
        &mut self,
        step: &Step<'_>,
        nests: Nests,
        [computes, finishes]: [[VarId; 2]; 2],
        most: i64,
    ) -> Vec<Stmt> {
        let ahead = step.ring.each.ahead;
        let wait = Stmt::new(StmtKind::AsyncWait(ahead - 1), Origin::default());
        let mut stmts = vec![wait, barrier("a plane has arrived, and the one before is computed")];
        let next = offset(self.number(self.step), ahead.into());
        stmts.extend(self.arriving(step, next, most));
        let now = plus(self.number(self.begin), wide(&self.number(self.step)));
        stmts.push(declare(self.plane, now));
        stmts.extend(self.shifted(step));
        stmts.extend(self.computed(step, &nests.first, computes));
        stmts.extend(self.finished(step, nests.second, finishes));
        stmts
    }

    /// The thread's planes move on, and the newest of the input is read.
    fn shifted(&mut self, step: &Step<'_>) -> Vec<Stmt> {
        let mut stmts = vec![];
        for planes in [&step.input, &step.between] {
            let counters = Counters::new(self);
            let at = |this: &Self, k: u32| {
                let index = [Expr::i32(k as i32)].into_iter().chain(counters.at.iter().cloned());
                element_at(this.kernel.func(), planes.own, index)
            };
            let moved = (1..planes.own_planes).map(|k| set(at(self, k - 1), Expr::read(at(self, k))));
            let moved: Vec<Stmt> = moved.collect();
            if !moved.is_empty() {
                stmts.extend(counters.around(self, moved));
            }
        }
        let rows = Counters::of_rows(self);
        let tile = rows.at.iter().map(|r| self.of_tile(1, r.clone()));
        let tile = tile.chain([self.of_tile(0, Expr::i32(0))]).collect();
        let newest = step.input.newest;
        if let Some(from) = step.input.shared_at(self, newest, tile) {
            let at = [rows.at.clone(), vec![Expr::i32(0)]].concat();
            let to = step.input.own_at(self, newest, &at);
            let load = self.row_moved((to, Space::Local), (from, Space::Shared));
            stmts.extend(rows.around(self, vec![load]));
        }
        stmts
    }

    /// Declarations of a nest's counters at an element of the thread.
    fn counters_at(&self, loops: &[ForLoop], plane: Expr, at: &[Expr]) -> Vec<Stmt> {
        let across = self.across.iter().rev().zip(at);
        let across = across.map(|(of, i)| plus(self.number(of.at), wide(i)));
        let positions = [plane].into_iter().chain(across);
        let counter = |(l, at): (&ForLoop, Expr)| {
            declare(l.var, at.cast(self.kernel.func().var(l.var).ty.clone()))
        };
        loops.iter().zip(positions).map(counter).collect()
    }

    /// A block at an element of the thread.
    fn at_element(
        &mut self,
        loops: &[ForLoop],
        mut body: Block,
        plane: Expr,
        at: &[Expr],
    ) -> Vec<Stmt> {
        let mut stmts = self.counters_at(loops, plane, at);
        stmts.extend(elements::by_distance(self.kernel, loops, &mut body));
        stmts.extend(body.stmts);
        let mut block = Block::new(stmts);
        runs::drop_unread(&mut block);
        block.stmts
    }

    /// An element of the thread lies in a nest's range, made larger by windows, along the axes but the outermost.
    fn element_in(&self, sweep: &Sweep, at: &[Expr], window: &dyn Fn(usize) -> Window) -> Vec<Expr> {
        let rank = self.legal.pair.rank();
        let mut conditions = vec![];
        for (axis, of) in self.across.iter().enumerate() {
            let position = plus(self.number(of.at), wide(&at[at.len() - 1 - axis]));
            let depth = rank - 1 - axis;
            conditions.extend(self.within(&sweep.loops[depth], position, window(depth)));
        }
        conditions
    }

    /// An element of the thread is none of the tile's border.
    fn element_inside(&self, at: &[Expr], border: &dyn Fn(usize) -> Window) -> Vec<Expr> {
        let mut conditions = vec![];
        for axis in 0..self.across.len() {
            let window = border(axis);
            let place = self.of_tile(axis, at[at.len() - 1 - axis].clone());
            let last = i64::from(self.legal.extent(axis)) - window.high;
            let low = Expr::i32(-window.low as i32);
            let first = Expr::binary(BinaryOp::Ge, place.clone(), low);
            let last = Expr::binary(BinaryOp::Lt, place, Expr::i32(last as i32));
            let wanted = [(window.low != 0, first), (window.high != 0, last)];
            conditions.extend(wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, e)| e));
        }
        conditions
    }

    /// A plane of what the first nest computes, or what the array has where it has no iteration.
    fn computed(&mut self, step: &Step<'_>, nest: &Stmt, computes: [VarId; 2]) -> Vec<Stmt> {
        let plane = offset(self.number(self.plane), -step.input.newest);
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let mut nest = nest.clone();
        step.input.replace(self, &mut nest, &at);
        let loops = self.loops_of(&nest);
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let newest = step.between.own_at(self, step.between.newest, &at);
        let harmless = only_calculates(&body, &step.input);
        for stmt in std::mem::take(&mut body.stmts) {
            match stmt.kind {
                StmtKind::Assign { place, value } if place.root_var().is_none() => {
                    body.stmts.push(Stmt { origin: stmt.origin, ..set(newest.clone(), value) });
                    if self.legal.stores() {
                        body.stmts.push(self.kept(step, place, &newest, &at));
                    }
                }
                _ => body.stmts.push(stmt),
            }
        }
        let mut iteration = self.at_element(&loops, body, plane.clone(), &at);
        if !harmless {
            let first = &self.legal.pair.first;
            let ring = step.ring;
            let border = |axis| ring.reads.along(self.legal.pair.rank() - 1 - axis);
            let inside = self.element_inside(&at, &border);
            let inside = inside.into_iter().chain(self.element_in(first, &at, &|_| ITSELF));
            iteration = match all_of(inside) {
                Some(cond) => vec![when(cond, iteration)],
                None => iteration,
            };
        }
        let mut stmts = step.input.fill(self);
        stmts.extend(counters.around(self, iteration));
        let mut all = vec![when(self.is_at(computes), stmts).comment("the first nest")];
        if !self.covers() {
            all.push(self.left(step, computes, plane));
        }
        all.extend(self.shared_row(step));
        all
    }

    /// What the thread has computed of the newest plane goes to shared memory.
    fn shared_row(&mut self, step: &Step<'_>) -> Vec<Stmt> {
        let rows = Counters::of_rows(self);
        let tile = rows.at.iter().map(|r| self.of_tile(1, r.clone()));
        let tile = tile.chain([self.of_tile(0, Expr::i32(0))]).collect();
        let newest = step.between.newest;
        let Some(to) = step.between.shared_at(self, newest, tile) else { return vec![] };
        let at = [rows.at.clone(), vec![Expr::i32(0)]].concat();
        let from = step.between.own_at(self, newest, &at);
        let store = self.row_moved((to, Space::Shared), (from, Space::Local));
        rows.around(self, vec![store])
    }

    /// The store of the first nest by the thread whose element it is.
    fn kept(&self, step: &Step<'_>, place: Place, newest: &Place, at: &[Expr]) -> Stmt {
        let pair = &self.legal.pair;
        let input = step.ring.reads.along(0);
        let first = i64::from(input.width()) - pair.along(0).low;
        let number = || self.number(self.step);
        let planes = offset(self.grid.planes.clone(), first);
        let mut conditions = vec![
            Expr::binary(BinaryOp::Ge, number(), self.steps(first)),
            Expr::binary(BinaryOp::Lt, number(), planes),
        ];
        conditions.extend(self.element_inside(at, &|axis| step.ring.border(pair, axis)));
        conditions.extend(self.element_in(&pair.first, at, &|_| ITSELF));
        let store = set(place, Expr::read(newest.clone()));
        match all_of(conditions) {
            Some(cond) => when(cond, vec![store]),
            None => store,
        }
    }

    /// What the array has where the second nest reads and the first one has no iteration.
    fn left(&mut self, step: &Step<'_>, computes: [VarId; 2], plane: Expr) -> Stmt {
        let pair = &self.legal.pair;
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let newest = step.between.own_at(self, step.between.newest, &at);
        let mut own = vec![self.is_at(computes)];
        own.extend(self.element_in(&pair.first, &at, &|_| ITSELF));
        let none = all_of(own).map(not);
        let read = |depth: usize| pair.reads.read_along(depth);
        let mut conditions: Vec<Expr> = none.into_iter().collect();
        conditions.extend(self.within(&pair.second.loops[0], plane.clone(), read(0)));
        conditions.extend(self.element_in(&pair.second, &at, &read));
        let across = self.across.iter().rev().zip(&at);
        let across = across.map(|(of, i)| plus(self.number(of.at), wide(i)));
        let index = [plane].into_iter().chain(across).zip(&pair.stored_at);
        let index = index.map(|(e, n)| offset(e, *n)).collect();
        let element = copy::element(self.kernel.func(), pair.array, index);
        let load = set(newest, Expr::read(element));
        let load = match all_of(conditions) {
            Some(cond) => when(cond, vec![load]),
            None => load,
        };
        let loads = counters.around(self, vec![load]);
        // Most threads have all of their elements inside.
        let mut whole = vec![self.is_at(computes)];
        for end in [0, 1] {
            let axes = (0..self.across.len()).rev();
            let at: Vec<Expr> = axes
                .map(|axis| Expr::i32(end * (self.legal.shape.each(axis) as i32 - 1)))
                .collect();
            let within = self.element_in(&pair.first, &at, &|_| ITSELF);
            whole.extend(within.into_iter().skip(end as usize).step_by(2));
        }
        let cond = all_of(whole).map(not);
        let cond = cond.unwrap_or_else(|| Expr::constant(Value::bool(true)));
        when(cond, loads).comment("where it has no iteration")
    }

    /// The second nest's iterations, planes behind.
    fn finished(&mut self, step: &Step<'_>, nest: Stmt, finishes: [VarId; 2]) -> Vec<Stmt> {
        let pair = &self.legal.pair;
        let plane = offset(self.number(self.plane), -step.input.newest - behind(pair));
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let mut nest = nest;
        step.between.replace(self, &mut nest, &at);
        let loops = self.loops_of(&nest);
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let harmless = step.result.is_some() && only_calculates(&body, &step.between);
        let mut stored = None;
        if let Some(result) = step.result
            && let Some(Stmt { kind: StmtKind::Assign { place, .. }, .. }) = body.stmts.last_mut()
        {
            let own = element_at(self.kernel.func(), result, at.iter().cloned());
            stored = Some((result, std::mem::replace(place, own)));
        }
        let inside = |this: &Self, at: &[Expr]| {
            let border = |axis| step.ring.border(&this.legal.pair, axis);
            let inside = this.element_inside(at, &border).into_iter();
            inside.chain(this.element_in(&this.legal.pair.second, at, &|_| ITSELF))
        }
        .collect::<Vec<Expr>>();
        let mut iteration = self.at_element(&loops, body, plane.clone(), &at);
        if !harmless && let Some(cond) = all_of(inside(self, &at)) {
            iteration = vec![when(cond, iteration)];
        }
        let mut stmts: Vec<Stmt> = step.result.map(undefined).into_iter().collect();
        stmts.extend(step.between.fill(self));
        stmts.extend(counters.around(self, iteration));
        if let Some((result, place)) = stored {
            let rows = Counters::of_rows(self);
            let row = self.stored_row(step, &loops, (result, place), &rows.at, plane);
            stmts.extend(rows.around(self, row));
        }
        vec![when(self.is_at(finishes), stmts).comment("the second nest")]
    }

    /// Stores a row of results: as a vector where all of its elements are the tile's.
    fn stored_row(
        &mut self,
        step: &Step<'_>,
        loops: &[ForLoop],
        (result, place): (VarId, Place),
        row: &[Expr],
        plane: Expr,
    ) -> Vec<Stmt> {
        let width = self.legal.shape.each(0);
        let sweep = &self.legal.pair.second;
        let border = |axis: usize| step.ring.border(&self.legal.pair, axis);
        let conditions = |this: &Self, at: &[Expr]| {
            let all = this.element_inside(at, &border);
            all.into_iter().chain(this.element_in(sweep, at, &|_| ITSELF)).collect::<Vec<_>>()
        };
        let own = |this: &Self, at: &[Expr]| {
            element_at(this.kernel.func(), result, at.iter().cloned())
        };
        let counters = Counters::of_row(self);
        let at = [row.to_vec(), counters.at.clone()].concat();
        let store = Block::new(vec![set(place.clone(), Expr::read(own(self, &at)))]);
        let store = self.at_element(loops, store, plane.clone(), &at);
        let store = match all_of(conditions(self, &at)) {
            Some(cond) => vec![when(cond, store)],
            None => store,
        };
        let each = counters.around(self, store);
        let past = match &*place.kind {
            PlaceKind::Elem { index, .. } => index.last().and_then(|e| self.past(loops, e)),
            _ => None,
        };
        let (Some(aligned), Some(0)) = (step.aligned, past.map(|n| n.rem_euclid(width.into())))
        else {
            return each;
        };
        let ends = [0, width as i32 - 1].map(|c| [row.to_vec(), vec![Expr::i32(c)]].concat());
        let mut whole = vec![Expr::var(aligned, Type::BOOL)];
        for cond in ends.iter().flat_map(|end| conditions(self, end)) {
            if !whole.contains(&cond) {
                whole.push(cond);
            }
        }
        let vector = self.row_moved(
            (place, Space::Global),
            (own(self, &ends[0]), Space::Local),
        );
        let vector = self.at_element(loops, Block::new(vec![vector]), plane, &ends[0]);
        let cond = all_of(whole).unwrap_or_else(|| Expr::constant(Value::bool(true)));
        let (then, otherwise) = (Block::new(vector), Block::new(each));
        vec![Stmt::new(StmtKind::If { cond, then, otherwise }, Origin::default())]
    }

    /// How far a subscript is from the innermost loop's counter.
    fn past(&self, loops: &[ForLoop], subscript: &Expr) -> Option<i64> {
        let counter = loops.last()?.var;
        let ty = self.kernel.func().var(counter).ty.clone();
        let far = super::super::launch::apart(&Expr::var(counter, ty), subscript)?;
        i64::try_from(far).ok()
    }
}

fn not(e: Expr) -> Expr {
    let ty = Type::BOOL;
    Expr::new(ExprKind::Unary(warpsmith_ir::UnaryOp::Not, e), ty, Origin::default())
}

/// Statements compute from variables and what threads hold alone, and divide no integers: they may run where there is no
/// iteration.
fn only_calculates(block: &Block, held: &Planes) -> bool {
    let mut plain = true;
    walk::each_stmt(block, &mut |s| {
        plain &= match &s.kind {
            StmtKind::Assign { place, .. } => matches!(&*place.kind, PlaceKind::Var(_)) || place.root_var().is_none(),
            StmtKind::Decl { .. } | StmtKind::If { .. } | StmtKind::Scope(_) => true,
            _ => false,
        };
        for e in walk::operands(s).reads {
            walk::each_expr(e, &mut |e| {
                plain &= match &*e.kind {
                    ExprKind::Read(p) => {
                        matches!(&*p.kind, PlaceKind::Var(_)) || held.holds(p.root_var())
                    }
                    ExprKind::Binary(op, a, _) => {
                        !matches!(op, BinaryOp::Div | BinaryOp::Rem)
                            || a.ty.scalar().is_some_and(|s| s.is_float())
                    }
                    _ => true,
                };
            });
        }
    });
    plain
}
