//! Which way threads go where a condition parts them.

use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, PlaceKind, StmtKind, Value};
use warpsmith_opt::walk as tree;

use super::Walk;
use crate::tune::profile::lanes::Lanes;
use crate::tune::profile::values::Number;

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
        let truth = self.truth(cond, otherwise);
        let known = truth.iter().zip(&self.active).all(|(t, a)| !*a || t.is_some());
        let before = self.active.clone();
        let apart = self.apart;
        if stores(then) {
            self.apart |= self.loops_of(cond);
        }
        if !known {
            self.depends_on_data = true;
            let share = self.share;
            self.share = share / if otherwise.stmts.is_empty() { 1.0 } else { 2.0 };
            self.block(then);
            self.block(otherwise);
            self.share = share;
            self.apart = apart;
            return;
        }
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
        self.apart = apart;
        if gone {
            for (active, t) in self.active.iter_mut().zip(&truth) {
                *active &= *t != Some(true);
            }
        }
    }

    /// Of each thread whether a condition holds. Where it follows loops around, as at the edges of a window, that of the iteration
    /// in which it holds for most: the first, the middle or the last one.
    fn truth(&self, cond: &Expr, otherwise: &Block) -> Vec<Option<bool>> {
        let holds = self.lanes.eval(self.module, self.at, cond);
        let of = |lane| holds.as_ref()?.of(lane).map(Value::is_true);
        let first: Vec<Option<bool>> = (0..self.active.len()).map(of).collect();
        if holds.as_ref().is_some_and(|h| h.same().is_some())
            && let Some(mostly) = self.mostly(cond, otherwise)
        {
            return vec![Some(mostly); first.len()];
        }
        if !otherwise.stmts.is_empty() {
            return first;
        }
        let hold = |truth: &[Option<bool>]| {
            let both = truth.iter().zip(&self.active);
            both.filter(|(t, active)| **active && **t == Some(true)).count()
        };
        let Some(orders) = self.orders_that_turn(cond) else { return first };
        let later = [0.5, 1.0].map(|part| self.truth_later(&orders, part));
        // Of equals the first.
        later
            .into_iter()
            .fold(first, |best, other| if hold(&other) > hold(&best) { other } else { best })
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

    /// Which of two paths most iterations take, where a condition that is the same for all threads turns on the way through a
    /// loop, as between the strips at the diagonal of a triangle and all others: what the middle one does.
    fn mostly(&self, cond: &Expr, otherwise: &Block) -> Option<bool> {
        if otherwise.stmts.is_empty() || self.loops_of(cond) & self.serial_loops() == 0 {
            return None;
        }
        let in_middle = |e: &Expr| {
            let value = self.first.eval(self.module, self.at, e)?;
            Some(value.value.as_i64() as f64 + self.later(&value))
        };
        let mut all = true;
        for e in tree::conjuncts(cond) {
            let ExprKind::Binary(op, a, b) = &*e.kind else { return None };
            let (a, b) = (in_middle(a)?, in_middle(b)?);
            all &= compared(*op, a, b)?;
        }
        Some(all)
    }
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
