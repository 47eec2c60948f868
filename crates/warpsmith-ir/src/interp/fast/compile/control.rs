//! Loops, conditions and cases as operations that jump.

use super::{Compiler, Fit, Label, Unfit, declared_in, returns};
use crate::expr::{BinaryOp, Expr};
use crate::interp::fast::code::{Op, Work};
use crate::interp::fast::expr::scalar_of;
use crate::interp::fast::scalar;
use crate::interp::fast::strips::Head;
use crate::stmt::{Block, Case, ForLoop, LoopCondition, LoopKind, Stmt};
use crate::types::Scalar;

impl<'m> Compiler<'m, '_> {
    pub(super) fn choice(&mut self, cond: &'m Expr, [then, otherwise]: [&'m Block; 2]) -> Fit<()> {
        let (no, end) = (self.label(), self.label());
        self.branch(cond, false, no)?;
        let before = self.known.clone();
        self.block(then);
        let after = std::mem::replace(&mut self.known, before);
        if !otherwise.stmts.is_empty() {
            self.emit(Op::Jump { to: end });
        }
        self.bind(no);
        self.block(otherwise);
        self.bind(end);
        self.known.retain(|reg| after.contains(reg));
        Ok(())
    }

    pub(super) fn switch(&mut self, selector: &'m Expr, cases: &'m [Case]) -> Fit<()> {
        let ty = scalar_of(&selector.ty)?;
        let value = self.expr_to(selector, None)?;
        let end = self.label();
        let labels: Vec<Label> = cases.iter().map(|_| self.label()).collect();
        let equal = scalar::binary(BinaryOp::Eq, Scalar::I64).ok_or(Unfit)?;
        let value = self.emit_to(None, Op::Cast { from: ty, ty: Scalar::I64, to: 0, a: value });
        for (case, label) in cases.iter().zip(&labels) {
            for v in &case.values {
                let b = self.constant(*v as u64);
                self.emit(Op::Branch { f: equal, a: value, b, when: true, to: *label });
            }
        }
        let default = cases.iter().position(|c| c.is_default).map_or(end, |i| labels[i]);
        self.emit(Op::Jump { to: default });
        let around = std::mem::replace(&mut self.breaks, end);
        let before = self.known.clone();
        for (case, label) in cases.iter().zip(labels) {
            self.known.clone_from(&before);
            self.bind(label);
            self.block(&case.body);
        }
        self.known = before;
        self.breaks = around;
        self.bind(end);
        Ok(())
    }

    /// Variables that a loop declares without a value hold nothing when its next iteration begins.
    pub(super) fn at_head(&mut self, blocks: &[&'m Block]) {
        for var in blocks.iter().flat_map(|b| &b.stmts).flat_map(declared_in) {
            if let Some(reg) = self.register(var) {
                self.known.remove(&reg);
            }
        }
    }

    pub(super) fn for_loop(&mut self, l: &'m ForLoop) -> Fit<()> {
        if !matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_)) {
            return Err(Unfit);
        }
        let ty = scalar_of(&l.first.ty)?;
        let counter = self.register(l.var).ok_or(Unfit)?;
        let [at, limit, by] = [&l.first, &l.limit, &l.step].map(|e| {
            let to = self.temporary();
            self.expr_to(e, Some(to)).map(|_| to)
        });
        let (at, limit, by) = (at?, limit?, by?);
        let goes_on = scalar::binary(l.compare, ty).ok_or(Unfit)?;
        let add = scalar::binary(BinaryOp::Add, ty).ok_or(Unfit)?;
        self.at_head(&[&l.body]);
        let [head, step, end] = [(); 3].map(|()| self.label());
        self.bind(head);
        self.emit(Op::Copy { to: counter, a: at });
        self.known.insert(counter);
        self.emit(Op::Branch { f: goes_on, a: at, b: limit, when: false, to: end });
        self.emit(Op::Tick { steps: 1 });
        let before = self.known.clone();
        self.iteration(&l.body, [end, step]);
        self.known = before;
        self.bind(step);
        self.emit(Op::Binary { f: add, to: at, a: at, b: by });
        self.again(head);
        self.bind(end);
        if l.declares {
            self.emit(Op::Unset { first: counter, end: counter + 1 });
            self.known.remove(&counter);
        }
        Ok(())
    }

    pub(super) fn again(&mut self, to: Label) {
        self.code.heads.push(Head::default());
        let head = self.code.heads.len() as u32 - 1;
        self.emit(Op::Again { to, head });
    }

    /// The body of a loop, with what `break` and `continue` mean in it.
    pub(super) fn iteration(&mut self, body: &'m Block, [breaks, continues]: [Label; 2]) {
        let around = (self.breaks, self.continues);
        (self.breaks, self.continues) = (breaks, continues);
        self.block(body);
        (self.breaks, self.continues) = around;
    }

    pub(super) fn any_loop(
        &mut self,
        stmt: &'m Stmt,
        condition: Option<&'m LoopCondition>,
        [body, step]: [&'m Block; 2],
    ) -> Fit<()> {
        // That nothing leaves from before a condition is for the interpreter to say.
        if condition.is_some_and(|c| returns(&c.before)) {
            return Err(Unfit);
        }
        let mut blocks = vec![body, step];
        blocks.extend(condition.map(|c| &c.before));
        self.at_head(&blocks);
        let [head, to_step, stepped, end] = [(); 4].map(|()| self.label());
        let at_head = self.known.clone();
        self.bind(head);
        self.emit(Op::Tick { steps: 1 });
        if let Some(c) = condition.filter(|c| !c.at_end) {
            self.condition(stmt, c, end);
        }
        self.iteration(body, [end, to_step]);
        self.known.clone_from(&at_head);
        self.bind(to_step);
        self.iteration(step, [end, stepped]);
        self.bind(stepped);
        if let Some(c) = condition.filter(|c| c.at_end) {
            self.condition(stmt, c, end);
        }
        self.again(head);
        self.bind(end);
        self.known = at_head;
        Ok(())
    }

    /// Goes on while the condition holds; where it cannot be evaluated the loop is left out, as far as it is not run yet.
    pub(super) fn condition(&mut self, stmt: &'m Stmt, c: &'m LoopCondition, end: Label) {
        let [asked, holds] = [(); 2].map(|()| self.label());
        self.iteration(&c.before, [asked; 2]);
        self.bind(asked);
        let around = self.site;
        self.site = self.new_site(Work::Condition { of: stmt, expr: &c.expr, holds, fails: end });
        self.note_known(self.site);
        let begin = self.code.ops.len();
        if self.branch(&c.expr, false, end).is_err() {
            self.code.ops.truncate(begin);
            self.code.at.truncate(begin);
            self.emit(Op::Interpret);
        }
        self.bind(holds);
        self.bind(self.code.sites[self.site as usize].next);
        self.site = around;
    }
}
