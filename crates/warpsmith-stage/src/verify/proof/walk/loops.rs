//! Loops of both kernels: few iterations one by one, otherwise one that stands for all.

use std::collections::HashMap;

use warpsmith_ir::visit::for_each_stmt;
use warpsmith_ir::{BinaryOp, Block, ExprKind, ForLoop, PlaceKind, Stmt, StmtKind, Type, VarKind};

use super::carried::Carrying;
use super::statements::{
    for_each_expr_of, has_barrier, has_jump, has_return, root, set_by, sets_once,
};
use super::written::variable;
use super::{Refused, Turns, Walker, is_own};
use crate::verify::proof::eval::{self, Held};
use crate::verify::proof::formula::{Sum, Truth};
use crate::verify::proof::poly::Poly;

/// Iterations of a loop that are looked at one by one, at most.
const MAX_UNROLLED: i64 = 80;

impl<'a> Walker<'a> {
    pub(super) fn counted(&mut self, old: &'a ForLoop, new: &'a ForLoop) -> Result<(), Refused> {
        let (first, limit, step) = (
            self.eval.whole(&old.first),
            self.eval.whole(&old.limit),
            self.eval.whole(&old.step).constant(),
        );
        let Some(step) = step.filter(|s| *s != 0) else {
            let step = self.eval.whole(&old.step);
            return self.anywhere(old, new, &[&first, &limit, &step]);
        };
        if let Some(count) = self.unrolled(old, new, &first, &limit, step) {
            return self.one_by_one(old, new, &first, &limit, step, count);
        }
        let barred = has_barrier(self.new, &new.body);
        if barred && (is_own(&first.sum()) || is_own(&limit.sum()) || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        let fresh = self.eval.fresh;
        self.eval.fresh += 1;
        let name = format!("{}_n{}", if barred { "u" } else { "t" }, self.eval.fresh);
        let n = Poly::of(Sum::name(&name));
        let before = self.eval.frame.vars.clone();
        self.forget(&[&old.body]);
        self.inductive(&old.body, None, &before, &n);
        let counter = first.plus(&n, step);
        self.eval.frame.vars.insert(old.var.0, Held::Whole(counter.clone()));
        let parts = [(&old.body, &new.body)];
        self.carry(&Carrying { before: &before, name: &name, barred, parts: &parts, fresh });
        let goes = self.goes_on(old.compare, &counter, &limit);
        self.turn(barred.then_some(name), goes, &parts)?;
        self.forget(&[&old.body]);
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    /// A loop in steps that are not constant, of the grid, say: its counter may be anything, the same for all threads where
    /// they go through barriers together.
    pub(super) fn anywhere(
        &mut self,
        old: &'a ForLoop,
        new: &'a ForLoop,
        made_from: &[&Poly],
    ) -> Result<(), Refused> {
        let barred = has_barrier(self.new, &new.body);
        if barred && (made_from.iter().any(|p| is_own(&p.sum())) || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.eval.fresh += 1;
        let name = format!("{}_v{}", if barred { "u" } else { "t" }, self.eval.fresh);
        self.forget(&[&old.body]);
        let counter = Poly::of(Sum::name(&name));
        self.eval.frame.vars.insert(old.var.0, Held::Whole(counter.clone()));
        let goes = self.goes_on(old.compare, &counter, made_from[1]);
        self.turn(barred.then_some(name), goes, &[(&old.body, &new.body)])?;
        self.forget(&[&old.body]);
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    pub(super) fn goes_on(&self, compare: BinaryOp, counter: &Poly, limit: &Poly) -> Truth {
        let (a, b) = (counter.sum(), limit.sum());
        match compare {
            BinaryOp::Lt => Truth::below(&a, &b),
            BinaryOp::Le => Truth::at_most(&a, &b),
            BinaryOp::Gt => Truth::below(&b, &a),
            BinaryOp::Ge => Truth::at_most(&b, &a),
            _ => Truth::equal(&a, &b).negated(),
        }
    }

    /// Variables to which the same is added in every iteration.
    pub(super) fn inductive(
        &mut self,
        body: &'a Block,
        step: Option<&'a Block>,
        before: &HashMap<u32, Held>,
        n: &Poly,
    ) {
        let blocks: Vec<&Block> = std::iter::once(body).chain(step).collect();
        let set = set_by(&blocks);
        for s in blocks.iter().flat_map(|b| &b.stmts) {
            let StmtKind::Assign { place, value } = &s.kind else { continue };
            let PlaceKind::Var(v) = &*place.kind else { continue };
            let Some(Held::Whole(start)) = before.get(&v.0) else { continue };
            let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &*value.kind else {
                continue;
            };
            let by = match (variable(a), variable(b)) {
                (Some(x), _) if x == *v => b,
                (_, Some(x)) if x == *v && *op == BinaryOp::Add => a,
                _ => continue,
            };
            let mut fixed = sets_once(&blocks, *v) && !has_jump(body);
            for_each_expr_of(by, &mut |e| {
                fixed &= match &*e.kind {
                    ExprKind::Read(p) => match &*p.kind {
                        PlaceKind::Var(x) => !set.contains(&x.0),
                        _ => false,
                    },
                    _ => true,
                };
            });
            if fixed {
                let by = self.eval.whole(by);
                let sign = if *op == BinaryOp::Add { 1 } else { -1 };
                let held = Held::Whole(start.plus(&n.times(&by), sign));
                self.eval.frame.vars.insert(v.0, held);
            }
        }
    }

    /// One iteration that stands for all.
    pub(super) fn turn(
        &mut self,
        counter: Option<String>,
        goes: Truth,
        parts: &[(&'a Block, &'a Block)],
    ) -> Result<(), Refused> {
        let barred = counter.is_some();
        let jumps = parts.iter().any(|(b, _)| has_jump(b));
        let leaves = parts.iter().any(|(b, _)| has_return(b));
        let stores = parts.iter().any(|(_, b)| self.stores_shared(b));
        if (barred || stores) && (jumps || leaves) {
            return Err("a loop with shared memory in it is left in the middle".into());
        }
        let before = self.eval.path.clone();
        let first = self.out.events.len();
        let number = self.out.loops.len();
        if let Some(counter) = counter {
            self.out.loops.push(Turns { first, end: first, counter });
            self.turns.push(number);
        }
        let (depth, unbarred) = (self.depth, self.unbarred);
        if !barred {
            self.depth += 1;
            self.eval.fresh += 1;
            self.unbarred = unbarred.or(Some(self.eval.fresh));
        }
        self.eval.path = before.and(&goes);
        for (a, b) in parts {
            self.block(&a.stmts, &b.stmts)?;
        }
        (self.depth, self.unbarred) = (depth, unbarred);
        if barred {
            self.turns.pop();
            self.out.loops[number].end = self.out.events.len();
        }
        self.eval.path = match leaves {
            true => {
                let any = self.eval.unknown_of(&Type::BOOL);
                match any {
                    Held::Truth(t) => before.and(&t),
                    _ => before,
                }
            }
            false => before,
        };
        Ok(())
    }

    pub(super) fn stores_shared(&self, b: &Block) -> bool {
        let mut any = false;
        for_each_stmt(b, &mut |s| {
            if let StmtKind::Assign { place, .. } = &s.kind {
                let local = root(place).is_some_and(|v| {
                    self.old.functions[self.eval.frame.function]
                        .vars
                        .get(v.0 as usize)
                        .is_some_and(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared))
                });
                any |= local;
            }
            any |= self.has_shared() && matches!(s.kind, StmtKind::Call { .. });
        });
        any
    }

    /// Whether the kernel has shared arrays: where it has none, no function stores to one.
    fn has_shared(&self) -> bool {
        let mut vars = self.old.functions.iter().flat_map(|f| &f.vars);
        vars.any(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared))
    }

    /// How many iterations a loop has at most, when they are to be looked at one by one: few, with stores to shared memory.
    pub(super) fn unrolled(
        &self,
        old: &ForLoop,
        new: &ForLoop,
        first: &Poly,
        limit: &Poly,
        step: i64,
    ) -> Option<i64> {
        let stores = self.stores_shared(&new.body) || self.stores_shared(&old.body);
        let upwards = step > 0 && matches!(old.compare, BinaryOp::Lt | BinaryOp::Le);
        if !stores || !upwards || has_barrier(self.new, &new.body) || has_jump(&old.body) {
            return None;
        }
        let limit = limit.constant()? + i64::from(old.compare == BinaryOp::Le);
        let sum = first.sum();
        let mut known = true;
        sum.names(&mut |n| known &= ["t_x", "t_y", "t_z"].contains(&n));
        if !known {
            return None;
        }
        // The sum is least where no thread index is above zero, if all count up.
        eval::natural(&sum).then_some(())?;
        let least = sum.value(&|_| 0);
        let count = (limit - least + step - 1).div_euclid(step).max(0);
        (count <= MAX_UNROLLED).then_some(count)
    }

    pub(super) fn one_by_one(
        &mut self,
        old: &'a ForLoop,
        new: &'a ForLoop,
        first: &Poly,
        limit: &Poly,
        step: i64,
        count: i64,
    ) -> Result<(), Refused> {
        let before = self.eval.path.clone();
        self.depth += 1;
        for n in 0..count {
            let counter = first.plus(&Poly::number(n * step), 1);
            let goes = self.goes_on(old.compare, &counter, limit);
            let vars = self.eval.frame.vars.clone();
            self.eval.frame.vars.insert(old.var.0, Held::Whole(counter));
            self.eval.path = before.and(&goes);
            self.block(&old.body.stmts, &new.body.stmts)?;
            let after = std::mem::replace(&mut self.eval.frame.vars, vars);
            self.merge(&goes, after);
        }
        self.depth -= 1;
        self.eval.path = before;
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    pub(super) fn other_loop(&mut self, old: &'a Stmt, new: &'a Stmt) -> Result<(), Refused> {
        let StmtKind::Loop { condition, body, step, .. } = &old.kind else { return Ok(()) };
        let StmtKind::Loop { condition: c, body: b, step: s, .. } = &new.kind else {
            return Ok(());
        };
        let barred = has_barrier(self.new, b) || has_barrier(self.new, s);
        let at_head = condition.as_ref().filter(|c| !c.at_end && c.before.stmts.is_empty());
        if barred && (at_head.is_none() || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        let fresh = self.eval.fresh;
        self.eval.fresh += 1;
        let name = format!("{}_n{}", if barred { "u" } else { "t" }, self.eval.fresh);
        let n = Poly::of(Sum::name(&name));
        let before = self.eval.frame.vars.clone();
        let mut blocks = vec![body, step];
        blocks.extend(condition.iter().map(|c| &c.before));
        self.forget(&blocks);
        self.inductive(body, Some(step), &before, &n);
        let parts = [(body, b), (step, s)];
        if at_head.is_some() {
            self.carry(&Carrying { before: &before, name: &name, barred, parts: &parts, fresh });
        }
        let mut goes = Truth::Always;
        let stores = self.stores_shared(b) || self.stores_shared(s);
        if let (Some(a), Some(b)) = (condition, c) {
            if a.expr != b.expr && (barred || stores) {
                return Err("a marked read stands in the condition of a loop".into());
            }
            self.compared(&a.expr, &b.expr);
            if at_head.is_some() {
                goes = self.eval.truth(&a.expr);
            } else {
                self.eval.note(&a.expr);
            }
        }
        let mut own = false;
        goes.names(&mut |n| own |= n.starts_with("t_"));
        if barred && own {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.turn(barred.then_some(name), goes, &parts)?;
        self.forget(&blocks);
        Ok(())
    }
}
