//! What a thread does in each step.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind, Space, Stmt,
    StmtKind, Type, Value, Var, VarId, VarKind,
};

use super::super::elements;
use super::super::text::{Maker, Nests, with_type};
use super::Ring;
use super::around::Planes;
use super::counters::Counters;
use super::finish::stored_last;
use super::step::Step;
use crate::build::arithmetic::{offset, plus};
use crate::build::stmts::{self, barrier, declare, element_at, looped, set, undefined};
use crate::build::vectors::WIDEST;
use crate::rewrite::edit::runs;
use crate::walk;

impl<'l> Maker<'_, 'l> {
    /// The text of a thread.
    pub(in crate::rewrite::fuse_kernels) fn ring(
        &mut self,
        ring: &'l Ring,
        nests: Nests,
    ) -> Vec<Stmt> {
        let array = ring.array_of(&nests);
        let mut text = self.positions();
        let step = self.step_of(ring, array, &nests, &mut text);
        for planes in [&step.input, &step.between] {
            text.push(undefined(planes.own));
            text.extend(self.zeros(planes));
        }
        let pair = &self.legal.pair;
        let (input, between) = (ring.reads.along(0), pair.along(0));
        let both = i64::from(input.width()) + i64::from(between.width());
        let late = input.high + pair.behind();
        let least = late - between.low - input.low;
        let (first, second) = (&pair.first.loops[0], &pair.second.loops[0]);
        let computes = [input.high, input.width().into(), both];
        let computes = self.steps_of(("computes", None), first, computes);
        let finishes = self.steps_of(("finishes", None), second, [late, least, least]);
        text.extend(computes.1);
        text.extend(finishes.1);
        let mut comment = Some("planes on their way".to_string());
        for plane in 0..ring.each.ahead {
            let plane = self.steps(plane.into());
            let mut arriving = self.arriving(&step, plane, both);
            arriving[0].comment.extend(comment.take());
            text.extend(arriving);
        }
        let body = self.step(&step, nests, [computes.0, finishes.0], both);
        let limit = offset(self.grid.planes.clone(), least);
        let ty = self.grid.planes.ty.clone();
        // Once more written out, a step has no registers to spare.
        let kind = LoopKind::Unrolled(Some(1));
        let (counter, function) = (self.step, self.kernel.func_mut());
        let l = stmts::counted(function, counter, limit, kind, body);
        text.push(looped(with_type(l, &ty)));
        without_unread(text)
    }

    fn step_of(
        &mut self,
        ring: &'l Ring,
        array: VarId,
        nests: &Nests,
        text: &mut Vec<Stmt>,
    ) -> Step<'l> {
        let (input, between) = (self.input(ring, array), self.between());
        let stored = stored_last(self.legal, &nests.second);
        let source = self.source(array, text);
        let left = self.left(text);
        let stores = self.storing(text);
        let keeps = self.keeping(text);
        let body = |nest: &Stmt, planes: &Planes, maker: &mut Self| {
            let mut nest = nest.clone();
            let at = Counters::new(maker).at;
            planes.replace(maker, &mut nest, &at);
            let loops = std::iter::successors(Some(&nest), |s| match &s.kind {
                StmtKind::For(l) => l.body.stmts.first(),
                _ => None,
            });
            let innermost = loops.take(maker.legal.pair.rank()).last();
            match innermost.map(|s| &s.kind) {
                Some(StmtKind::For(l)) => only_calculates(&l.body, planes),
                _ => false,
            }
        };
        let freely = body(&nests.first, &input, self);
        let finishes_freely = stored.is_some() && body(&nests.second, &between, self);
        let results = self.results(stored, (&stores, finishes_freely), ring, text);
        let mut step = Step {
            ring,
            input,
            between,
            source,
            left,
            computes: None,
            finishes_freely,
            keeps,
            stores,
            results,
        };
        if !freely {
            step.computes = Some(self.computing(&step, text));
        }
        step
    }

    /// Planes of what the first nest reads.
    fn input(&mut self, ring: &Ring, array: VarId) -> Planes {
        let name = self.kernel.name_of(array).to_string();
        let legal = self.legal;
        let plane = |extent: &dyn Fn(usize) -> u32| {
            let axes = 0..legal.pair.rank() - 1;
            let element = Type::Scalar(ring.element);
            axes.fold(element, |ty, axis| Type::array(ty, extent(axis).into()))
        };
        let own = plane(&|axis| legal.shape.each(axis));
        let own = Type::array(own, ring.own_planes().into());
        let own = self.row_variable(&format!("{name}_own"), own);
        let shared = plane(&|axis| legal.extent(axis) + ring.more(legal, axis));
        let shared = Type::array(shared, ring.slots().into());
        let mut shared = Var::new(format!("{name}_planes"), shared, VarKind::Shared);
        shared.align = WIDEST;
        let shared = self.kernel.func_mut().add_var(shared);
        self.shared.push(shared);
        let planes = Planes {
            array,
            reads: ring.reads.clone(),
            element: ring.element,
            own,
            own_planes: ring.own_planes(),
            newest: ring.reads.along(0).high,
            shared: Some((shared, ring.slots())),
            shift: ring.shift(legal, &self.grid.first),
            boxes: Default::default(),
        };
        planes.with_boxes(self)
    }

    /// Planes of what it computes.
    fn between(&mut self) -> Planes {
        for var in [Some(self.own), self.planes].into_iter().flatten() {
            self.kernel.func_mut().vars[var.0 as usize].align = WIDEST;
        }
        let pair = &self.legal.pair;
        let planes = Planes {
            array: pair.array,
            reads: pair.reads.clone(),
            element: pair.element,
            own: self.own,
            own_planes: (pair.behind() - pair.along(0).low) as u32 + 1,
            newest: pair.behind(),
            shared: self.planes.map(|planes| (planes, pair.ring_slots())),
            shift: 0,
            boxes: Default::default(),
        };
        planes.with_boxes(self)
    }

    /// Sets a thread's elements of all planes to zero.
    fn zeros(&mut self, planes: &Planes) -> Vec<Stmt> {
        let counters = Counters::new(self);
        let zero = |k: u32| {
            let index = [Expr::i32(k as i32)].into_iter().chain(counters.at.iter().cloned());
            let place = element_at(self.kernel.func(), planes.own, index);
            set(place, Expr::constant(Value::int(planes.element, 0)))
        };
        let body = (0..planes.own_planes).map(zero).collect();
        counters.around(self, body)
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
        let now = self.number(self.step).cast(Type::I64);
        let mut stmts = vec![declare(self.plane, plus(self.number(self.begin), now))];
        stmts.extend(self.shifted(&step.between));
        self.loaded(step, computes, &mut stmts);
        stmts.push(Stmt::new(StmtKind::AsyncWait(ahead - 1), Origin::default()));
        stmts.push(barrier("a plane has arrived, and the one before is computed"));
        let next = offset(self.number(self.step), ahead.into());
        stmts.extend(self.arriving(step, next, most));
        stmts.extend(self.shifted(&step.input));
        stmts.extend(self.arrived(step));
        stmts.extend(self.computed(step, &nests.first, computes));
        stmts.extend(self.finished(step, nests.second, finishes));
        stmts
    }

    /// The thread's planes move on.
    fn shifted(&mut self, planes: &Planes) -> Vec<Stmt> {
        let counters = Counters::new(self);
        let at = |k: u32| {
            let index = [Expr::i32(k as i32)].into_iter().chain(counters.at.iter().cloned());
            element_at(self.kernel.func(), planes.own, index)
        };
        let moved = (1..planes.own_planes).map(|k| set(at(k - 1), Expr::read(at(k))));
        let moved: Vec<Stmt> = moved.collect();
        if moved.is_empty() { moved } else { counters.around(self, moved) }
    }

    /// The thread's elements of the plane that has arrived.
    fn arrived(&mut self, step: &Step<'_>) -> Vec<Stmt> {
        let rows = Counters::of_rows(self);
        let tile = rows.at.iter().map(|r| self.of_tile(1, r.clone()));
        let tile = tile.chain([self.of_tile(0, Expr::i32(0))]).collect();
        let newest = step.input.newest;
        let Some(from) = step.input.shared_at(self, newest, tile) else { return vec![] };
        let at = [rows.at.clone(), vec![Expr::i32(0)]].concat();
        let to = step.input.own_at(self, newest, &at);
        let load = self.row_moved((to, Space::Local), (from, Space::Shared));
        rows.around(self, vec![load])
    }

    /// A nest's statements at an element of the thread.
    pub(super) fn at_element(
        &mut self,
        loops: &[ForLoop],
        mut body: Block,
        plane: Expr,
        at: &[Expr],
    ) -> Vec<Stmt> {
        let axes = (0..self.across.len()).rev().zip(at);
        let across = axes.map(|(axis, at)| self.position(axis, at.clone()));
        let positions = [plane].into_iter().chain(across);
        let counter = |(l, at): (&ForLoop, Expr)| {
            declare(l.var, at.cast(self.kernel.func().var(l.var).ty.clone()))
        };
        let mut stmts: Vec<Stmt> = loops.iter().zip(positions).map(counter).collect();
        stmts.extend(elements::by_distance(self.kernel, loops, &mut body));
        stmts.extend(body.stmts);
        let mut block = Block::new(stmts);
        runs::drop_unread(&mut block);
        block.stmts
    }
}

/// Statements without arrays that are set and not read, and the loops that set them.
fn without_unread(text: Vec<Stmt>) -> Vec<Stmt> {
    let mut block = Block::new(text);
    let mut read = BTreeSet::new();
    visit::for_each_place(&block, &mut |place, access| {
        if access != Access::Write {
            read.extend(place.root_var());
        }
    });
    let array = |s: &Stmt| match &s.kind {
        StmtKind::Decl { var, init: None } => Some(*var),
        StmtKind::For(l) => match l.body.stmts.as_slice() {
            [only] => walk::changed(only).and_then(|place| place.root_var()),
            _ => None,
        },
        _ => None,
    };
    block.stmts.retain(|s| array(s).is_none_or(|var| read.contains(&var)));
    block.stmts
}

/// Statements compute from variables and what threads hold alone, and divide no integers: they may run where there is no
/// iteration.
fn only_calculates(block: &Block, held: &Planes) -> bool {
    let mut plain = true;
    walk::each_stmt(block, &mut |s| {
        plain &= match &s.kind {
            StmtKind::Assign { place, .. } => is_variable(place) || place.root_var().is_none(),
            StmtKind::Decl { .. } | StmtKind::If { .. } | StmtKind::Scope(_) => true,
            _ => false,
        };
        for e in walk::operands(s).reads {
            walk::each_expr(e, &mut |e| {
                plain &= match &*e.kind {
                    ExprKind::Read(p) => is_variable(p) || held.holds(p.root_var()),
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

fn is_variable(place: &Place) -> bool {
    matches!(&*place.kind, PlaceKind::Var(_))
}
