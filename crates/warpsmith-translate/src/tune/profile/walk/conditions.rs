//! Which way threads go where a condition parts them.

use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, PlaceKind, Scalar, StmtKind, Value};
use warpsmith_opt::walk as tree;

use super::Walk;
use crate::tune::profile::lanes::Lanes;
use crate::tune::profile::values::{Dual, MAX_LOOPS, Number};

/// Iterations in which a condition with remainders is asked, at most.
const MOST_TRIED: i64 = 36;

/// Instructions of a condition with a division that each iteration of a tile asks for itself, beside those that the text has: the
/// comparisons that it is made of, joined. A transposed convolution by 32 of a thread takes 2.8 ms, where its loads and sums
/// alone are 0.5.
const ASKED_AGAIN: f64 = 3.0;

/// Parts of the way through loops at which a condition is asked that parts the iterations in two.
const ASKED: u32 = 8;

/// The share of the iterations that is left out where most go the other way.
const LITTLE: f64 = 0.2;

/// A side of a comparison.
struct Side {
    /// At the first iteration of all loops around.
    lanes: Lanes,
    /// How far it is at the last one.
    goes: f64,
}

impl Side {
    fn at(&self, lane: usize, part: f64) -> Option<f64> {
        Some(self.lanes.of(lane)?.as_i64() as f64 + self.goes * part)
    }
}

impl Walk<'_> {
    pub(super) fn condition(&mut self, cond: &Expr, then: &Block, otherwise: &Block) {
        self.expr(cond);
        let of = self.loops_of(cond) | self.serial_loops();
        self.work.control += self.warps() * self.times(of);
        let (truth, share) = self.truth(cond, otherwise);
        let known = !compares_reals(cond)
            && truth.iter().zip(&self.active).all(|(t, a)| !*a || t.is_some());
        let before = self.active.clone();
        let (apart, guarded, all) = (self.apart, self.guarded, self.share);
        if stores(then) {
            self.apart |= self.loops_of(cond);
            if self.loops_of(cond) & self.beside() != 0 && divides(cond) {
                self.apart |= self.beside();
                self.guarded |= self.beside();
                self.work.control += self.warps() * self.times(self.all_loops()) * ASKED_AGAIN;
            }
        }
        if !known {
            self.depends_on_data = true;
            self.share = all / if otherwise.stmts.is_empty() { 1.0 } else { 2.0 };
            self.block(then);
            self.block(otherwise);
            (self.share, self.apart, self.guarded) = (all, apart, guarded);
            return;
        }
        let alike = truth.windows(2).all(|pair| pair[0] == pair[1]);
        let turns = self
            .share_of_first(cond, otherwise)
            .filter(|first| alike && first.min(1.0 - first) > LITTLE);
        if let Some(first) = turns {
            for (block, part) in [(then, first), (otherwise, 1.0 - first)] {
                self.share = all * part;
                self.block(block);
            }
            (self.share, self.apart, self.guarded) = (all, apart, guarded);
            return;
        }
        self.share = all * share;
        // Threads that leave here do not come back.
        let gone = matches!(then.stmts.last().map(|s| &s.kind), Some(StmtKind::Return(_)));
        for (block, value) in [(then, true), (otherwise, false)] {
            for ((active, was), t) in self.active.iter_mut().zip(&before).zip(&truth) {
                *active = *was && *t == Some(value);
            }
            if self.active.contains(&true) {
                self.block(block);
            }
        }
        self.active = before;
        (self.share, self.apart, self.guarded) = (all, apart, guarded);
        if gone {
            for (active, t) in self.active.iter_mut().zip(&truth) {
                *active &= *t != Some(true);
            }
        }
    }

    /// Of each thread whether a condition holds, and in which share of the iterations anybody goes on. Where it follows loops around,
    /// as at the edges of a window, that of the iteration in which it holds for most: of those with remainders of what moves all that
    /// are tried, else the first, the middle or the last one.
    fn truth(&self, cond: &Expr, otherwise: &Block) -> (Vec<Option<bool>>, f64) {
        let holds = self.lanes.eval(self.module, self.at, cond);
        let of = |lane| holds.as_ref()?.of(lane).map(Value::is_true);
        let first: Vec<Option<bool>> = (0..self.active.len()).map(of).collect();
        if holds.as_ref().is_some_and(|h| h.same().is_some())
            && let Some(share) = self.share_of_first(cond, otherwise)
        {
            return (vec![Some(share > 0.5); first.len()], 1.0);
        }
        if !otherwise.stmts.is_empty() {
            return (first, 1.0);
        }
        if let Some(tried) = self.remainders_that_turn(cond) {
            let some = tried.iter().filter(|truth| self.hold(truth) > 0).count();
            let share = some as f64 / tried.len() as f64;
            return (self.most(tried, first), if some == 0 { 1.0 } else { share });
        }
        let Some(orders) = self.orders_that_turn(cond) else { return (first, 1.0) };
        let later = [0.5, 1.0].map(|part| self.truth_later(&orders, part));
        (self.most(later.into(), first), 1.0)
    }

    /// How many threads that come here go on.
    fn hold(&self, truth: &[Option<bool>]) -> usize {
        let both = truth.iter().zip(&self.active);
        both.filter(|(t, active)| **active && **t == Some(true)).count()
    }

    /// Where most go on; of equals the first.
    fn most(&self, others: Vec<Vec<Option<bool>>>, first: Vec<Option<bool>>) -> Vec<Option<bool>> {
        let more = |best: Vec<_>, other: Vec<_>| {
            if self.hold(&other) > self.hold(&best) { other } else { best }
        };
        others.into_iter().fold(first, more)
    }

    /// The truth of a condition with a remainder or a quotient of something that loops around move, in some of their iterations;
    /// `None` where there is none.
    fn remainders_that_turn(&self, cond: &Expr) -> Option<Vec<Vec<Option<bool>>>> {
        let mut moving = 0;
        each_divided(cond, &mut |a| moving |= self.loops_of(a));
        let all = self.loops.iter().enumerate().take(MAX_LOOPS);
        let loops: Vec<(usize, i64)> =
            all.filter(|(k, _)| moving >> k & 1 == 1).map(|(k, l)| (k, l.trips as i64)).collect();
        if loops.is_empty() {
            return None;
        }
        let each = (MOST_TRIED as f64).powf(1.0 / loops.len() as f64).floor().max(2.0) as i64;
        let mut iterations: Vec<Vec<(usize, i64)>> = vec![vec![]];
        for (k, trips) in loops {
            // Odd, so that remainders of powers of two turn.
            let apart = ((trips / each).max(1) - 1) | 1;
            let then = |before: &Vec<(usize, i64)>, n| [&before[..], &[(k, n * apart)]].concat();
            let tried = 0..trips.clamp(1, each);
            let next = iterations.iter().flat_map(|i| tried.clone().map(move |n| then(i, n)));
            iterations = next.collect();
        }
        Some(iterations.iter().map(|at| self.truth_in(cond, at)).collect())
    }

    /// Of each thread whether a condition holds in an iteration of loops around.
    fn truth_in(&self, cond: &Expr, iteration: &[(usize, i64)]) -> Vec<Option<bool>> {
        let mut thread = self.lanes.clone();
        let later = |value: Lanes, first: Dual| {
            let moved = iteration.iter().map(|(k, n)| first.change[*k].wrapping_mul(*n));
            let by = moved.fold(0, i64::wrapping_add);
            Lanes::binary(BinaryOp::Add, value, Lanes::int(first.value.ty, by))
        };
        tree::each_var(cond, &mut |v| {
            if let (Some(value), Some(first)) = (self.lanes.vars.get(v), self.first.vars.get(v)) {
                thread.vars.set(v, Some(later(value, first)));
            }
        });
        for (place, value) in &mut thread.cells {
            if let Some(first) = self.first.cells.get(place) {
                *value = later(value.clone(), *first);
            }
        }
        let holds = thread.eval(self.module, self.at, cond);
        let of = |lane| holds.as_ref()?.of(lane).map(Value::is_true);
        (0..self.active.len()).map(of).collect()
    }

    /// The comparisons of integers that a condition is made of, where loops around move the sides of one from each other; `None` also
    /// where nobody knows.
    fn orders_that_turn(&self, cond: &Expr) -> Option<Vec<(BinaryOp, [Side; 2])>> {
        let side = |e: &Expr| {
            let first = self.first.eval(self.module, self.at, e)?;
            let lanes = self.lanes.eval(self.module, self.at, e)?;
            first.value.ty.is_integer().then(|| Side { lanes, goes: self.moved(&first, 1.0) })
        };
        let order = |e: &Expr| match &*e.kind {
            ExprKind::Binary(op, a, b) => Some((*op, [side(a)?, side(b)?])),
            _ => None,
        };
        let orders: Vec<_> = tree::conjuncts(cond).into_iter().map(order).collect::<Option<_>>()?;
        orders.iter().any(|(_, [a, b])| a.goes != b.goes).then_some(orders)
    }

    /// Of each thread whether they all hold after a part of the iterations of all loops around.
    fn truth_later(&self, orders: &[(BinaryOp, [Side; 2])], part: f64) -> Vec<Option<bool>> {
        let holds = |lane: usize| {
            orders.iter().try_fold(true, |all, (op, [a, b])| {
                Some(all & compared(*op, a.at(lane, part)?, b.at(lane, part)?)?)
            })
        };
        (0..self.active.len()).map(holds).collect()
    }

    /// Of two paths, the share of the iterations that take the first one, where a condition that is the same for all threads turns on
    /// the way through a loop, as between the strips at the diagonal of a triangle and all others.
    fn share_of_first(&self, cond: &Expr, otherwise: &Block) -> Option<f64> {
        if otherwise.stmts.is_empty() { None } else { self.share_of_iterations(cond) }
    }

    /// The share of the iterations in which a condition holds that turns on the way through a loop.
    pub(super) fn share_of_iterations(&self, cond: &Expr) -> Option<f64> {
        if self.loops_of(cond) & self.serial_loops() == 0 {
            return None;
        }
        let orders = self.orders_that_turn(cond)?;
        let in_part = |k: u32| {
            let part = (f64::from(k) + 0.5) / f64::from(ASKED);
            self.hold(&self.truth_later(&orders, part))
        };
        let held: usize = (0..ASKED).map(in_part).sum();
        let active = self.active.iter().filter(|a| **a).count();
        Some(held as f64 / (active as f64 * f64::from(ASKED)))
    }
}

/// What a condition divides by something, or takes the remainder of.
fn each_divided<'e>(cond: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
    tree::each_expr(cond, &mut |e| {
        if let ExprKind::Binary(BinaryOp::Rem | BinaryOp::Div | BinaryOp::BitAnd, a, _) = &*e.kind {
            f(a);
        }
    });
}

/// Whether the compiler will ask a condition again in each iteration: it divides.
fn divides(cond: &Expr) -> bool {
    let mut found = false;
    each_divided(cond, &mut |_| found = true);
    found
}

/// Whether a condition asks for reals: what they are in the first iteration says nothing about others.
fn compares_reals(cond: &Expr) -> bool {
    let mut found = false;
    tree::each_expr(cond, &mut |e| {
        found |=
            matches!(&*e.kind, ExprKind::Read(_)) && e.ty.scalar().is_some_and(Scalar::is_float);
    });
    found
}

/// What an order says of two numbers.
fn compared(op: BinaryOp, a: f64, b: f64) -> Option<bool> {
    match op {
        BinaryOp::Le => Some(a <= b),
        BinaryOp::Lt => Some(a < b),
        BinaryOp::Ge => Some(a >= b),
        BinaryOp::Gt => Some(a > b),
        _ => None,
    }
}

/// Whether something is written that is no variable.
fn stores(block: &Block) -> bool {
    let mut found = false;
    tree::each_stmt(block, &mut |s| {
        let place = tree::operands(s).writes;
        found |= place.is_some_and(|p| !matches!(&*p.kind, PlaceKind::Var(_)));
    });
    found
}
