//! Nests of host functions that are bound to the machine: the blocks one after the other, the threads of a block together.
//!
//! A statement is run by all threads that come to it before the next one, so that barriers and collective statements find
//! all of them; what holds neither is run by one thread after the other. What one thread may not know of another is not
//! hidden by that order: every access is noted in [`Races`].

use super::InterpErrorKind;
use super::bounds::Track;
use super::eval::number;
use super::exec::{Flow, Interp, Run, Slot};
use super::races::Races;
use crate::collective::Collective;
use crate::eval;
use crate::expr::{Axis, BinaryOp, BindLevel};
use crate::module::{VarId, VarKind};
use crate::span::Origin;
use crate::stmt::{BarrierKind, Binding, Block, ForLoop, LoopCondition, LoopKind, Stmt, StmtKind};
use crate::value::Value;
use crate::visit;

/// The threads of a block, and where each stands.
pub(crate) struct Team<T: Track> {
    /// The variables of each thread; of the one that runs they are in the frame.
    pub slots: Vec<Vec<Slot<T>>>,
    /// The values of the bound counters of each thread, by level and axis.
    pub positions: Vec<Vec<(BindLevel, Axis, u32)>>,
    /// Lane of its warp.
    pub lanes: Vec<u32>,
    /// Which threads have returned: nothing waits for them.
    pub gone: Vec<bool>,
}

/// Threads by what a block of statements did to them; all in order.
#[derive(Default)]
struct Left {
    next: Vec<usize>,
    broke: Vec<usize>,
    continued: Vec<usize>,
}

/// Threads of a block, or lanes of a thread, that are made; a GPU has 1024 threads in a block.
const MOST_THREADS: u64 = 1 << 16;

impl<T: Track> Interp<'_, '_, T> {
    pub fn bound_loop(&mut self, l: &ForLoop, binding: &Binding, origin: &Origin) -> Run<Flow> {
        if self.team.is_some() {
            return self.unsupported("a nest inside the text of a thread", origin);
        }
        let outermost = self.races.is_none() && self.limits.watch_races;
        if outermost {
            self.races = Some(Races::default().into());
        }
        match binding.level {
            BindLevel::Grid => self.blocks(l, &self.shared_in(&l.body), origin)?,
            BindLevel::Thread => self.blocks(l, &declared_in(&l.body), origin)?,
            _ => self.block_of_threads(l, origin)?,
        }
        if outermost {
            self.races = None;
        }
        Ok(Flow::Next)
    }

    /// Every iteration is a block, or a thread of its own where the loop is bound to all threads of the grid; each has
    /// memory of its own for some variables.
    fn blocks(&mut self, l: &ForLoop, own: &[VarId], origin: &Origin) -> Run<()> {
        let mut at = self.decisive(&l.first)?;
        let (limit, step) = (self.decisive(&l.limit)?, self.decisive(&l.step)?);
        while eval::binary(l.compare, at, limit).is_true() {
            self.set_var(l.var, number::<T>(at), origin)?;
            self.tick(origin)?;
            if let Some(races) = &self.races {
                let mut races = races.borrow_mut();
                (races.who.block, races.who.epoch, races.who.thread) = (races.who.block + 1, 0, 0);
            }
            for var in own {
                self.renew(*var);
            }
            self.block(&l.body)?;
            at = eval::binary(BinaryOp::Add, at, step);
        }
        self.unset(l.var);
        Ok(())
    }

    /// Shared variables that are declared directly in a block of statements.
    fn shared_in(&self, block: &Block) -> Vec<VarId> {
        let declared = block.stmts.iter().filter_map(|s| match &s.kind {
            StmtKind::Decl { var, .. } => Some(*var),
            _ => None,
        });
        declared.filter(|v| self.kind_of(*v) == Some(VarKind::Shared)).collect()
    }

    fn kind_of(&self, var: VarId) -> Option<VarKind> {
        self.function().and_then(|f| f.vars.get(var.0 as usize)).map(|v| v.kind)
    }

    /// Another block has memory of its own for a shared variable.
    fn renew(&mut self, var: VarId) {
        if let (Some(Slot::Object(id)), Some(races)) = (self.slot(var), &self.races) {
            races.borrow_mut().forget(*id);
        }
        self.unset(var);
    }

    /// Runs the threads that a perfect nest of loops below the grid makes.
    fn block_of_threads(&mut self, l: &ForLoop, origin: &Origin) -> Run<()> {
        let mut loops = vec![l];
        let mut body = &l.body;
        while let [Stmt { kind: StmtKind::For(inner), .. }] = body.stmts.as_slice()
            && matches!(inner.kind, LoopKind::Bound(_))
        {
            loops.push(inner);
            body = &inner.body;
        }
        let objects = self.objects.len();
        let team = self.make_team(&loops, body, origin)?;
        let all: Vec<usize> = (0..team.slots.len()).collect();
        self.team = Some(team);
        self.together(body, all)?;
        self.team = None;
        self.release(objects);
        if let Some(races) = &self.races {
            races.borrow_mut().forget_from(super::memory::OWN + objects as u32);
        }
        Ok(())
    }

    fn make_team(&mut self, loops: &[&ForLoop], body: &Block, origin: &Origin) -> Run<Team<T>> {
        let mut positions: Vec<Vec<(BindLevel, Axis, u32)>> = vec![vec![]];
        let mut counters: Vec<(VarId, BindLevel, Axis)> = vec![];
        for l in loops {
            let LoopKind::Bound(b) = &l.kind else { continue };
            let extent = self.extent(l, positions.len(), origin)?;
            counters.push((l.var, b.level, b.axis));
            let longer = positions.iter().flat_map(|p| {
                (0..extent).map(|i| {
                    let mut p = p.clone();
                    p.push((b.level, b.axis, i));
                    p
                })
            });
            positions = longer.collect();
        }
        let extent = |level: BindLevel, axis: Axis| {
            let own = loops.iter().filter_map(|l| match &l.kind {
                LoopKind::Bound(b) if (b.level, b.axis) == (level, axis) => b.extent,
                _ => None,
            });
            own.max().unwrap_or(1)
        };
        let flat = |p: &[(BindLevel, Axis, u32)], level: BindLevel| {
            let at = |axis| p.iter().find(|(l, a, _)| (*l, *a) == (level, axis)).map_or(0, |x| x.2);
            let along = |n: u32, a: &Axis| n.wrapping_mul(extent(level, *a)).wrapping_add(at(*a));
            Axis::ALL.iter().rev().fold(0, along)
        };
        let by_lanes = counters.iter().any(|(_, l, _)| *l == BindLevel::Lane);
        let lane = |p: &Vec<_>| match by_lanes {
            true => flat(p, BindLevel::Lane),
            false => flat(p, BindLevel::Block) % 32,
        };
        let lanes = positions.iter().map(lane).collect();
        let own = declared_in(body);
        let mut slots = vec![];
        for position in &positions {
            slots.push(self.thread_slots(&counters, position, &own, origin)?);
        }
        let gone = vec![false; slots.len()];
        Ok(Team { slots, positions, lanes, gone })
    }

    /// How many iterations a loop has whose iterations are made all at once, in each of `outer` places; each is a step.
    fn extent(&mut self, l: &ForLoop, outer: usize, origin: &Origin) -> Run<u32> {
        let extent = self.integer(&l.limit)?.max(0) as u64;
        let all = extent.saturating_mul(outer as u64);
        if all.max(extent) > MOST_THREADS {
            return self.unsupported("this many threads", origin);
        }
        self.ticks(all, origin)?;
        Ok(extent as u32)
    }

    /// What a thread begins with: the variables around the nest, its counters, and arrays of its own.
    fn thread_slots(
        &mut self,
        counters: &[(VarId, BindLevel, Axis)],
        position: &[(BindLevel, Axis, u32)],
        own: &[VarId],
        origin: &Origin,
    ) -> Run<Vec<Slot<T>>> {
        let mut slots = self.frame_slots();
        for ((var, ..), (_, _, i)) in counters.iter().zip(position) {
            let ty = self.var_of(*var).and_then(|v| v.ty.scalar());
            let value = Value::int(ty.unwrap_or(crate::Scalar::I32), (*i).into());
            slots[var.0 as usize] = Slot::Value(number::<T>(value));
        }
        for var in own {
            if !matches!(slots.get(var.0 as usize), Some(Slot::Object(_))) {
                continue;
            }
            let Some((name, ty)) = self.var_of(*var).map(|v| (v.name.as_str(), v.ty.clone()))
            else {
                continue;
            };
            slots[var.0 as usize] = Slot::Object(self.allocate(name, &ty, false, origin)?);
        }
        Ok(slots)
    }

    /// Runs something as one thread of the team.
    pub fn as_thread<X>(&mut self, thread: usize, f: impl FnOnce(&mut Self) -> Run<X>) -> Run<X> {
        self.switch_to(thread);
        let result = f(self);
        self.switch_to(thread);
        result
    }

    /// Exchanges the variables of the frame with those of a thread.
    fn switch_to(&mut self, thread: usize) {
        if let Some(races) = &self.races {
            races.borrow_mut().who.thread = thread as u32;
        }
        if let Some(mut team) = self.team.take() {
            self.exchange_slots(&mut team.slots[thread]);
            self.team = Some(team);
        }
    }

    /// Threads that have not returned.
    fn size_of_team(&self) -> usize {
        self.team.as_ref().map_or(1, |t| t.gone.iter().filter(|g| !**g).count())
    }

    /// Those that have not returned.
    fn staying(&self, threads: Vec<usize>) -> Vec<usize> {
        let gone = |t: usize| self.team.as_ref().is_some_and(|team| team.gone[t]);
        threads.into_iter().filter(|t| !gone(*t)).collect()
    }

    /// Runs statements by several threads.
    fn together(&mut self, block: &Block, mut active: Vec<usize>) -> Run<Left> {
        let mut left = Left::default();
        for stmt in &block.stmts {
            if active.is_empty() {
                break;
            }
            let after = self.stmt_together(stmt, active)?;
            left.broke.extend(after.broke);
            left.continued.extend(after.continued);
            active = after.next;
        }
        left.next = active;
        left.broke.sort_unstable();
        left.continued.sort_unstable();
        Ok(left)
    }

    fn stmt_together(&mut self, stmt: &Stmt, active: Vec<usize>) -> Run<Left> {
        let origin = &stmt.origin;
        if !is_joint(stmt) {
            return self.one_by_one(stmt, active);
        }
        self.tick(origin)?;
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                let (mut yes, mut no) = (vec![], vec![]);
                for t in active {
                    let held = self.as_thread(t, |this| this.truth(cond))?;
                    self.memory.note_way(origin.span, held);
                    if held { yes.push(t) } else { no.push(t) }
                }
                let (a, b) = (self.together(then, yes)?, self.together(otherwise, no)?);
                let merged = |x: Vec<usize>, y: Vec<usize>| {
                    let mut all = [x, y].concat();
                    all.sort_unstable();
                    all
                };
                Ok(Left {
                    next: merged(a.next, b.next),
                    broke: merged(a.broke, b.broke),
                    continued: merged(a.continued, b.continued),
                })
            }
            StmtKind::For(l) => self.loop_together(l, active, origin),
            StmtKind::Loop { condition, body, step, .. } => {
                self.any_loop_together(condition.as_ref(), body, step, active)
            }
            StmtKind::Scope(inner) => self.together(inner, active),
            StmtKind::Switch { .. } => self.unsupported("a barrier inside a `switch`", origin),
            _ => {
                self.joint(stmt, &active)?;
                Ok(Left { next: active, ..Left::default() })
            }
        }
    }

    fn one_by_one(&mut self, stmt: &Stmt, active: Vec<usize>) -> Run<Left> {
        let mut left = Left::default();
        for t in active {
            match self.as_thread(t, |this| this.stmt(stmt))? {
                Flow::Next => left.next.push(t),
                Flow::Break => left.broke.push(t),
                Flow::Continue => left.continued.push(t),
                Flow::Return => self.team.iter_mut().for_each(|team| team.gone[t] = true),
            }
        }
        Ok(left)
    }

    fn loop_together(&mut self, l: &ForLoop, active: Vec<usize>, origin: &Origin) -> Run<Left> {
        if matches!(l.kind, LoopKind::Bound(_) | LoopKind::Vector) {
            return self.unsupported("this loop with a barrier inside", origin);
        }
        let mut at = vec![];
        for t in &active {
            let bounds = self.as_thread(*t, |this| {
                Ok((this.decisive(&l.first)?, this.decisive(&l.limit)?, this.decisive(&l.step)?))
            })?;
            at.push((*t, bounds));
        }
        let mut running = active.clone();
        loop {
            let mut inside = vec![];
            for (t, (value, limit, _)) in &at {
                if !running.contains(t) {
                    continue;
                }
                self.as_thread(*t, |this| this.set_var(l.var, number::<T>(*value), origin))?;
                let goes_on = eval::binary(l.compare, *value, *limit).is_true();
                self.memory.note_way(origin.span, goes_on);
                if goes_on {
                    inside.push(*t);
                }
            }
            if inside.is_empty() {
                break;
            }
            self.tick(origin)?;
            let left = self.together(&l.body, inside)?;
            running = [left.next, left.continued].concat();
            for (t, (value, _, step)) in &mut at {
                if running.contains(t) {
                    *value = eval::binary(BinaryOp::Add, *value, *step);
                }
            }
        }
        if l.declares {
            for t in &active {
                self.as_thread(*t, |this| {
                    this.unset(l.var);
                    Ok(())
                })?;
            }
        }
        Ok(Left { next: self.staying(active), ..Left::default() })
    }

    fn any_loop_together(
        &mut self,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        active: Vec<usize>,
    ) -> Run<Left> {
        let mut running = active.clone();
        while !running.is_empty() {
            if let Some(c) = condition.filter(|c| !c.at_end) {
                running = self.going_on(c, running)?;
            }
            let left = self.together(body, running)?;
            let mut on = [left.next, left.continued].concat();
            on.sort_unstable();
            running = self.together(step, on)?.next;
            if let Some(c) = condition.filter(|c| c.at_end) {
                running = self.going_on(c, running)?;
            }
        }
        Ok(Left { next: self.staying(active), ..Left::default() })
    }

    fn going_on(&mut self, c: &LoopCondition, running: Vec<usize>) -> Run<Vec<usize>> {
        let left = self.together(&c.before, running)?;
        let mut on = vec![];
        for t in left.next {
            if self.as_thread(t, |this| this.truth(&c.expr))? {
                on.push(t);
            }
        }
        Ok(on)
    }

    /// What threads do together.
    fn joint(&mut self, stmt: &Stmt, active: &[usize]) -> Run<()> {
        let origin = &stmt.origin;
        match &stmt.kind {
            StmtKind::Warp { op, args, result, .. } => {
                return self.warp(*op, args, *result, active, origin);
            }
            StmtKind::Barrier { kind: BarrierKind::Warp, .. } => return Ok(()),
            _ => {}
        }
        if active.len() != self.size_of_team() {
            let kind = InterpErrorKind::Divergent { of: self.size_of_team(), come: active.len() };
            return Err(self.error(kind, origin));
        }
        let races = |this: &Self, f: &dyn Fn(&mut Races)| {
            this.races.iter().for_each(|r| f(&mut r.borrow_mut()));
        };
        match &stmt.kind {
            StmtKind::Barrier { kind: BarrierKind::Block, .. } => {
                races(self, &|r| r.who.epoch += 1)
            }
            StmtKind::AsyncCommit => races(self, &|r| r.group += 1),
            StmtKind::AsyncWait(n) => races(self, &|r| r.wait(*n)),
            StmtKind::Collective(Collective::Fill(fill)) => self.fill_box(fill, active, origin)?,
            StmtKind::Collective(Collective::Combine(combine)) => self.combine(combine, origin)?,
            _ => return self.unsupported("this barrier", origin),
        }
        Ok(())
    }

    /// Lanes of one thread, statement by statement.
    pub fn vector_loop(&mut self, l: &ForLoop, origin: &Origin) -> Run<Flow> {
        let extent = self.extent(l, 1, origin)?;
        let mut own: Vec<VarId> = vec![l.var];
        own.extend(declared_in(&l.body));
        let ty = self.var_of(l.var).and_then(|v| v.ty.scalar()).unwrap_or(crate::Scalar::I32);
        let first = |i: u32| {
            let counter = Slot::Value(number::<T>(Value::int(ty, i.into())));
            [counter].into_iter().chain((1..own.len()).map(|_| Slot::Unset)).collect()
        };
        let mut lanes: Vec<Vec<Slot<T>>> = (0..extent).map(first).collect();
        for stmt in &l.body.stmts {
            for lane in &mut lanes {
                for (var, slot) in own.iter().zip(lane.iter_mut()) {
                    self.exchange_slot(*var, slot);
                }
                let flow = self.stmt(stmt)?;
                for (var, slot) in own.iter().zip(lane.iter_mut()) {
                    self.exchange_slot(*var, slot);
                }
                if flow != Flow::Next {
                    return self.unsupported("a jump out of a vector loop", origin);
                }
            }
        }
        Ok(Flow::Next)
    }
}

/// Whether a statement, or one inside it, is for several threads together.
fn is_joint(stmt: &Stmt) -> bool {
    let mut joint = false;
    visit::for_each_stmt_of(stmt, &mut |s| {
        joint |= matches!(
            s.kind,
            StmtKind::Barrier { .. }
                | StmtKind::Warp { .. }
                | StmtKind::Collective(_)
                | StmtKind::AsyncCommit
                | StmtKind::AsyncWait(_)
        );
    });
    joint
}

/// Variables that the text of a thread declares.
fn declared_in(body: &Block) -> Vec<VarId> {
    let mut found = vec![];
    visit::for_each_stmt(body, &mut |s| {
        if let StmtKind::Decl { var, .. } = &s.kind {
            found.push(*var);
        }
    });
    found
}
