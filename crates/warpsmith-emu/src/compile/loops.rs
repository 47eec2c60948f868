//! Loops, and what leaves them.

use warpsmith_ir::{
    BinaryOp, BindLevel, Binding, Block, ForLoop, LoopCondition, LoopKind, Scalar, Span, Stmt,
    VarId,
};

use super::lir::*;
use super::lower::{Exit, Lower, Result, Slot};
use super::ways::{self, Strides};

impl Lower<'_> {
    pub(super) fn for_(&mut self, span: Option<Span>, l: &ForLoop) -> Result<()> {
        let Some(ty) = self.frame().function.vars.get(l.var.0 as usize).and_then(|v| v.ty.scalar())
        else {
            return self.unsupported("a loop over something that is no integer");
        };
        if let LoopKind::Bound(binding) = &l.kind {
            return self.bound_loop(l, binding, ty);
        }
        let first = self.scalar(&l.first)?;
        let limit = self.scalar(&l.limit)?;
        let step = self.scalar(&l.step)?;
        let (limit, step) = (self.keep(ty, limit)?, self.keep(ty, step)?);
        let i = self.loop_variable(l.var)?;
        if let (Opd::R(r), BinaryOp::Lt | BinaryOp::Le) = (i, l.compare) {
            self.counters.insert(r, (first, limit, step, ty));
        }
        self.assign(ty, i, first)?;
        let site = self.site;
        let strides = self.strides(span, ways::goes_by_the_grid(&l.step))?;
        let mut assigned = self.assigned(&l.body);
        assigned.extend(strides.register());
        if let Opd::R(r) = i {
            assigned.push(r);
        }
        let region = self.enter_loop(assigned);
        if l.declares {
            self.own(region, &[l.var]);
        }
        self.own_registers(region, strides.register());
        let (head, next, end) = (self.label(), self.label(), self.label());
        self.emit(Op::Label(head))?;
        let go_on = self.bin(l.compare, ty, i, limit)?;
        self.decide(span, go_on)?;
        self.decide_again(strides, go_on)?;
        self.loop_exit(region, go_on, end)?;
        self.body(region, &l.body, next, end)?;
        self.site = site;
        self.stride_ends(strides)?;
        let stepped = self.bin(BinaryOp::Add, ty, i, step)?;
        self.assign(ty, i, stepped)?;
        self.back(head, site)?;
        self.leave_loop();
        self.emit(Op::Label(end))
    }

    /// A value that must outlive changes of the variable it was read from.
    pub(super) fn keep(&mut self, ty: Scalar, value: Opd) -> Result<Opd> {
        if matches!(value, Opd::K(_)) {
            return Ok(value);
        }
        let dst = self.register(ty);
        self.emit(Op::Mov { ty, dst, a: value })?;
        Ok(dst)
    }

    pub(super) fn loop_variable(&mut self, var: VarId) -> Result<Opd> {
        match self.slot(var)? {
            Slot::Registers(r) if r.len() == 1 => Ok(r[0]),
            _ => self.unsupported("a loop variable that is not in a register"),
        }
    }

    pub(super) fn bound_loop(&mut self, l: &ForLoop, binding: &Binding, ty: Scalar) -> Result<()> {
        let a = binding.axis;
        let u32_ = Scalar::U32;
        let member = match binding.level {
            BindLevel::Grid => self.special(Special::BlockIdx(a), u32_)?,
            BindLevel::Block => self.special(Special::ThreadIdx(a), u32_)?,
            BindLevel::Lane => self.special(Special::Lane, u32_)?,
            BindLevel::Warp => {
                let flat = self.special(Special::FlatThread, u32_)?;
                self.bin(BinaryOp::Shr, u32_, flat, Opd::K(5))?
            }
            BindLevel::Thread => {
                let block = self.special(Special::BlockIdx(a), u32_)?;
                let width = Opd::K(self.launch.block[a.index()].into());
                let start = self.bin(BinaryOp::Mul, u32_, block, width)?;
                let thread = self.special(Special::ThreadIdx(a), u32_)?;
                self.bin(BinaryOp::Add, u32_, start, thread)?
            }
        };
        let member = self.cast(u32_, ty, member)?;
        let (first, limit, step) =
            (self.scalar(&l.first)?, self.scalar(&l.limit)?, self.scalar(&l.step)?);
        let offset = self.bin(BinaryOp::Mul, ty, member, step)?;
        let value = self.bin(BinaryOp::Add, ty, first, offset)?;
        let i = self.loop_variable(l.var)?;
        self.assign(ty, i, value)?;
        let inside = self.bin(l.compare, ty, i, limit)?;
        let end = self.label();
        self.emit(Op::BranchFalse { cond: inside, label: end })?;
        let region = self.enter(vec![inside], 0);
        self.exits.push(Exit { region, break_label: end, body: Some((region, end)) });
        self.block(&l.body)?;
        self.exits.pop();
        self.leave();
        self.emit(Op::Label(end))
    }

    /// Threads for which the condition fails leave the loop.
    pub(super) fn loop_exit(&mut self, region: RegionId, go_on: Opd, end: Label) -> Result<()> {
        if let Opd::K(k) = go_on {
            return if k == 0 { self.emit(Op::Jump(end)) } else { Ok(()) };
        }
        self.out.regions[region as usize].conditions.push(go_on);
        self.emit(Op::BranchFalse { cond: go_on, label: end })
    }

    /// The body of a loop with the targets of `continue` and `break`.
    pub(super) fn body(
        &mut self,
        region: RegionId,
        body: &Block,
        next: Label,
        end: Label,
    ) -> Result<()> {
        let inner = self.enter(vec![], 0);
        self.exits.push(Exit { region, break_label: end, body: Some((inner, next)) });
        self.block(body)?;
        self.exits.pop();
        self.leave();
        self.emit(Op::Label(next))?;
        self.ended(body)
    }

    pub(super) fn back(&mut self, head: Label, site: u32) -> Result<()> {
        self.out.loops.push(site);
        let loop_id = self.out.loops.len() as u32 - 1;
        self.emit(Op::LoopBack { label: head, loop_id })
    }

    pub(super) fn loop_(
        &mut self,
        s: &Stmt,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        owned: &[VarId],
    ) -> Result<()> {
        let site = self.site;
        let strides = self.strides(s.origin.span, ways::steps_by_the_grid(step))?;
        let mut assigned = self.assigned(&Block::new(vec![s.clone()]));
        assigned.extend(strides.register());
        let region = self.enter_loop(assigned);
        self.own(region, owned);
        self.own_registers(region, strides.register());
        let (head, next, end) = (self.label(), self.label(), self.label());
        self.emit(Op::Label(head))?;
        if let Some(c) = condition.filter(|c| !c.at_end) {
            self.condition(region, c, end, strides)?;
        }
        self.body(region, body, next, end)?;
        self.block(step)?;
        self.stride_ends(strides)?;
        if let Some(c) = condition.filter(|c| c.at_end) {
            self.condition(region, c, end, strides)?;
        }
        self.back(head, site)?;
        self.leave_loop();
        self.emit(Op::Label(end))
    }

    pub(super) fn condition(
        &mut self,
        region: RegionId,
        c: &LoopCondition,
        end: Label,
        strides: Strides,
    ) -> Result<()> {
        self.block(&c.before)?;
        let go_on = self.scalar(&c.expr)?;
        self.decide(strides.span, go_on)?;
        self.decide_again(strides, go_on)?;
        self.loop_exit(region, go_on, end)
    }

    pub(super) fn break_(&mut self) -> Result<()> {
        let Some(exit) = self.exits.last() else {
            return self.unsupported("break outside of a loop");
        };
        let (region, label) = (exit.region, exit.break_label);
        self.escape(region);
        self.emit(Op::Jump(label))
    }

    pub(super) fn continue_(&mut self) -> Result<()> {
        let Some((region, label)) = self.exits.iter().rev().find_map(|e| e.body) else {
            return self.unsupported("continue outside of a loop");
        };
        self.escape(region);
        self.emit(Op::Jump(label))
    }
}
