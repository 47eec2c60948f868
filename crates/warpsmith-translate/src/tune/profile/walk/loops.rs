//! How often loops run, and what going through them costs.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, LoopCondition, LoopId, LoopKind, Module,
    Scalar, StmtKind, Value, visit,
};
use warpsmith_opt::walk as tree;

use super::{Level, Walk};
use crate::tune::profile::pointers::POINTER;
use crate::tune::profile::rows;
use crate::tune::profile::values::{Dual, Extents, MAX_LOOPS, Number, Thread};

/// How often a loop runs whose ends depend on data.
pub(super) const FEW: f64 = 8.0;

/// The compiler makes so many copies of the body of an innermost loop.
const COPIES: f64 = 4.0;

/// Bodies with more accesses are not copied. Counted in the compiler's text: stencils along three axes of radius 1 and 2, with 11 and 18
/// accesses, are, those of radius 3 and 4, with 25 and 32, are not.
const MOST_COPIED: usize = 20;

/// Instructions before an innermost loop in strides that are known at run time only: to make copies of its body the
/// compiler divides for the number of iterations, in 64 bits, and multiplies for the way of each pointer. Counted: the
/// direct translation of a seven-point stencil takes 616 instructions, of which a thread with one cell runs 130 more than
/// of the same kernel with the loop left alone; on an H200 it takes 1.6 times as long.
const STRIDED: f64 = 130.0;

/// The same for constant strides, as of copies to shared memory: no division, but the number of iterations, the branches to
/// what is left over, and a row and a column for each copy. Fitted: products by strips of 8, 16 and 32, of half of which the
/// error is least with 60 to 90.
const KNOWN_STEP: f64 = 80.0;

/// How often a loop runs in a thread.
pub fn trips(module: &Module, at: Extents, thread: &Thread<Value>, l: &ForLoop) -> Option<f64> {
    let value = |e: &Expr| thread.eval(module, at, e);
    trips_between(l.compare, [value(&l.first)?, value(&l.limit)?, value(&l.step)?])
}

/// How often a loop runs with these ends and this step.
pub(super) fn trips_between(compare: BinaryOp, ends: [Value; 3]) -> Option<f64> {
    let [first, limit, step] = ends.map(|v| v.as_i64() as f64);
    let distance = match compare {
        BinaryOp::Lt | BinaryOp::Ne => limit - first,
        BinaryOp::Le => limit - first + step.signum(),
        BinaryOp::Gt => limit - first,
        _ => limit - first + step.signum(),
    };
    if step == 0.0 {
        return None;
    }
    Some((distance / step).ceil().max(0.0))
}

impl Walk<'_> {
    pub(super) fn enter(&mut self, level: Level) {
        self.entered += 1;
        if !level.unrolled && self.serial_loops() == 0 {
            self.rounds = self.rounds.max(level.trips);
        }
        if !level.unrolled {
            self.ahead.iteration();
        }
        self.loops.push(level);
    }

    /// Of a loop over rows, how much longer than the mean the longest row of a warp is, and the longest of the block.
    fn longest_rows(&self, l: &ForLoop) -> Option<[f64; 2]> {
        let end = self.lanes.eval(self.module, self.at, self.rows.ends.get(&l.id)?)?;
        let active = |lanes: std::ops::Range<usize>| {
            let lanes = lanes.filter(|lane| self.active.get(*lane) == Some(&true));
            let ends: BTreeSet<i64> = lanes.filter_map(|k| Some(end.of(k)?.as_i64())).collect();
            rows::longest(ends.len())
        };
        let threads = self.active.len();
        let warps: Vec<f64> =
            (0..threads).step_by(32).map(|w| active(w..threads.min(w + 32))).collect();
        Some([warps.iter().sum::<f64>() / warps.len() as f64, active(0..threads)])
    }

    pub(super) fn leave(&mut self) {
        self.loops.pop();
        let depth = self.loops.len();
        self.known.retain(|(_, d)| *d <= depth);
        self.divided.retain(|(.., d)| *d <= depth);
        self.pointers.leave(depth);
        let mask = self.all_loops();
        self.depends.iter_mut().for_each(|m| *m &= mask);
        for d in self.first.vars.iter_mut() {
            if let Some(c) = d.change.get_mut(depth) {
                *c = 0;
            }
            d.strides &= !(1 << depth.min(31));
        }
    }

    /// How often a loop runs in a thread, if its ends depend on data: all threads together go once through the array that
    /// it counts in, or it is a few times.
    fn mean_trips(&self, l: &ForLoop) -> f64 {
        let threads: f64 =
            self.at.grid.iter().chain(&self.at.block).map(|n| f64::from(*n)).product();
        let entered = threads * self.times(self.all_loops());
        let value = |e: &Expr| Some(self.first.eval(self.module, self.at, e)?.value);
        rows::gone_through((l.var, &l.body), &self.rows.elements, &value)
            .map_or(FEW, |all| (all / entered).max(1.0))
    }

    /// A loop whose condition depends on data: it goes on until one of some rows is at its end, in a warp until that is so of all lanes;
    /// or it runs a few times.
    pub(super) fn conditional(
        &mut self,
        id: LoopId,
        condition: Option<&LoopCondition>,
        body: [&Block; 2],
    ) {
        self.depends_on_data = true;
        let rows = self.rows.merged.get(&id);
        let lanes = (32.0 * self.lanes_left()).round() as usize;
        let longest = if rows.is_some() { rows::longest(lanes) } else { 1.0 };
        let trips = rows.map_or(FEW, |rows| rows.elements.max(1.0)) * longest;
        let counters = rows.map(|rows| rows.counters.clone()).unwrap_or_default();
        let (number, lanes) = (self.entered, 1.0 / longest);
        self.enter(Level { number, trips, busy: 1.0, lanes, unrolled: false, counters });
        if let Some(c) = condition {
            self.block(&c.before);
            self.expr(&c.expr);
        }
        body.into_iter().for_each(|b| self.block(b));
        self.leave();
    }

    /// How many iterations more than the first time a loop has on average, where its ends move with the loops around it.
    fn later_trips(&self, l: &ForLoop) -> f64 {
        let value = |e: &Expr| self.first.eval(self.module, self.at, e);
        let (Some(first), Some(limit), Some(step)) =
            (value(&l.first), value(&l.limit), value(&l.step))
        else {
            return 0.0;
        };
        let step = step.value.as_i64() as f64;
        let distance = Dual::binary(BinaryOp::Sub, limit, first);
        if step == 0.0 { 0.0 } else { self.later(&distance) / step }
    }

    /// What is added to a number on average over the iterations of the loops around.
    pub(super) fn later(&self, of: &Dual) -> f64 {
        self.moved(of, 0.5)
    }

    /// What is added to a number after a part of the iterations of each of the loops around.
    pub(super) fn moved(&self, of: &Dual, part: f64) -> f64 {
        let moved = |(level, change): (&Level, &i64)| *change as f64 * (level.trips - 1.0) * part;
        self.loops.iter().zip(&of.change).map(moved).sum()
    }

    /// How often a loop runs in each active thread, where its ends do not depend on data: on average, where a condition in its limit
    /// turns on the way through loops around.
    fn active_trips(&self, l: &ForLoop) -> Vec<Option<f64>> {
        if let ExprKind::Select(cond, then, otherwise) = &*l.limit.without_casts().kind
            && let Some(share) = self.share_of_iterations(cond)
        {
            let [then, otherwise] = [then, otherwise].map(|limit| self.trips_to(l, limit));
            let mean = |(a, b): (Option<f64>, Option<f64>)| Some(a? * share + b? * (1.0 - share));
            return then.into_iter().zip(otherwise).map(mean).collect();
        }
        self.trips_to(l, &l.limit)
    }

    /// How often a loop runs in each active thread that ends at a limit.
    fn trips_to(&self, l: &ForLoop, limit: &Expr) -> Vec<Option<f64>> {
        let ends = [&l.first, limit, &l.step];
        let ends = ends.map(|e| self.lanes.eval(self.module, self.at, e));
        let lane = |lane: usize| {
            let [first, limit, step] = ends.each_ref().map(|e| e.as_ref()?.of(lane));
            trips_between(l.compare, [first?, limit?, step?])
        };
        let active = self.active.iter().enumerate().filter(|(_, a)| **a);
        active.map(|(k, _)| lane(k)).collect()
    }

    /// Lets the counter begin, in all lanes and with its changes.
    fn set_counter(&mut self, l: &ForLoop, depth: usize) {
        let (module, at) = (self.module, self.at);
        let ty = self.kernel.var(l.var).ty.scalar().unwrap_or(Scalar::I32);
        self.lanes.vars.set(l.var, self.lanes.eval(module, at, &l.first));
        let [first, step] = [&l.first, &l.step].map(|e| self.first.eval(module, at, e));
        let mut counter = first.unwrap_or(Dual::constant(Value::int(ty, 0)));
        if let (Some(c), Some(step)) = (counter.change.get_mut(depth), step) {
            *c = step.value.as_i64();
        }
        counter.strides |= u32::from(in_strides_of_grid(&l.step)) << depth.min(31);
        self.first.vars.set(l.var, Some(counter));
    }

    pub(super) fn counted(&mut self, l: &ForLoop) {
        let more = self.later_trips(l);
        let known = self.active_trips(l);
        self.depends_on_data |= known.contains(&None);
        let trips = |known: &Option<f64>| match known {
            Some(first) => (first + more).max(0.0),
            None => self.mean_trips(l),
        };
        let counts: Vec<f64> = known.iter().map(trips).collect();
        if counts.is_empty() {
            return;
        }
        // A warp runs as long as its longest lane.
        let per_warp: Vec<f64> =
            counts.chunks(32).map(|w| w.iter().copied().fold(0.0, f64::max)).collect();
        let mean = per_warp.iter().sum::<f64>() / per_warp.len() as f64;
        if mean == 0.0 {
            return;
        }
        let most = per_warp.iter().copied().fold(0.0, f64::max);
        let unrolled = is_unrolled(l, mean);
        let factor = match l.kind {
            LoopKind::Unrolled(Some(n)) => f64::from(n).min(mean).max(1.0),
            _ => COPIES,
        };
        let depth = self.loops.len();
        self.set_counter(l, depth);
        let [warp, block] = self.longest_rows(l).unwrap_or([1.0; 2]);
        let busy = mean / most * warp / block;
        let (number, lanes) = (self.entered, 1.0 / warp);
        let trips = mean * warp;
        self.enter(Level { number, trips, busy, lanes, unrolled, counters: vec![] });
        if depth < MAX_LOOPS {
            // The compiler keeps no rows whose starts it has to read.
            let rows = if tree::reads_memory(&l.first) { self.loops_of(&l.first) } else { 0 };
            self.depends[l.var.0 as usize] = rows | 1 << depth;
        }
        if !unrolled {
            let rounds = self.warps() * self.times(self.serial_loops());
            self.work.control += rounds / factor;
            self.work.int += rounds * 2.0 / factor;
        }
        let made = self.pointers.made();
        let (pointers, sites) = (self.pointers.count(), self.sites.len());
        self.block(&l.body);
        if !unrolled && holds_rows_only(l) {
            let rows = self.pointers.made() - made;
            self.strided = self.strided.max(POINTER * rows as f64);
        }
        if !unrolled && is_copied(l) && self.sites.len() - sites <= MOST_COPIED {
            let new = (self.pointers.count().saturating_sub(pointers)).max(1) as f64;
            self.strided = self.strided.max(COPIES * POINTER * new);
            let entries = self.warps() * self.times(self.serial_loops()) / mean;
            self.work.int += entries * if visit::is_fixed(&l.step) { KNOWN_STEP } else { STRIDED };
        }
        self.leave();
    }
}

/// Whether the compiler unrolls a loop entirely.
fn is_unrolled(l: &ForLoop, trips: f64) -> bool {
    match l.kind {
        LoopKind::Unrolled(None) => true,
        // What is less than a round at run time goes through the iterations that are left over, one by one.
        LoopKind::Unrolled(Some(n)) => {
            let known = [&l.first, &l.limit, &l.step].into_iter().all(visit::is_fixed);
            f64::from(n) >= trips && known
        }
        _ => {
            let constant = l.limit.as_const().is_some() && l.first.as_const().is_some();
            trips <= 4.0 && constant || is_unrolled_unasked(l, trips)
        }
    }
}

/// Whether the compiler unrolls a loop that nobody asked it to: the machine code of tiles of 32 terms is the same with
/// `#pragma unroll` and without. Known of short innermost loops whose ends are constants.
fn is_unrolled_unasked(l: &ForLoop, trips: f64) -> bool {
    const MOST_TRIPS: f64 = 32.0;
    const MOST_STATEMENTS: usize = 2;
    let simple =
        |s: &warpsmith_ir::Stmt| matches!(s.kind, StmtKind::Assign { .. } | StmtKind::Decl { .. });
    matches!(l.kind, LoopKind::Serial)
        && trips <= MOST_TRIPS
        && [&l.first, &l.limit, &l.step].into_iter().all(visit::is_fixed)
        && l.body.stmts.len() <= MOST_STATEMENTS
        && l.body.stmts.iter().all(simple)
}

/// Whether the compiler copies the body of a loop, and first computes how often it runs: nothing in it is a loop or a
/// barrier, and its ends are not both constants.
fn is_copied(l: &ForLoop) -> bool {
    let plain = !matches!(l.kind, LoopKind::Unrolled(_)) && is_innermost(l);
    let one = l.step.as_const().is_some_and(|v| v.as_i64().abs() == 1);
    plain && !one && !(visit::is_fixed(&l.first) && visit::is_fixed(&l.limit))
}

/// Whether nothing in a loop is a loop or a barrier.
fn is_innermost(l: &ForLoop) -> bool {
    holds_only(l, |_| false)
}

/// Whether all loops in a loop stand written out in the code, as rows side by side: it moves the pointers of all of them on.
fn holds_rows_only(l: &ForLoop) -> bool {
    !is_innermost(l) && holds_only(l, |inner| matches!(inner.kind, LoopKind::Unrolled(None)))
}

/// Whether a loop has no barrier, and such loops only.
fn holds_only(l: &ForLoop, such: impl Fn(&ForLoop) -> bool) -> bool {
    let mut only = true;
    tree::each_stmt(&l.body, &mut |s| {
        only &= match &s.kind {
            StmtKind::For(inner) => such(inner),
            StmtKind::Loop { .. } | StmtKind::Barrier { .. } | StmtKind::Warp { .. } => false,
            _ => true,
        };
    });
    only
}

/// Whether a step is the number of blocks, or a multiple.
fn in_strides_of_grid(step: &Expr) -> bool {
    let mut found = false;
    tree::each_expr(step, &mut |e| {
        found |= matches!(&*e.kind, ExprKind::Builtin(Builtin::GridDim(_)));
    });
    found
}
