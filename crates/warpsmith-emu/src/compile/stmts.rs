//! Statements: control flow and effects.

use warpsmith_ir::{
    AtomicOp, BarrierKind, BinaryOp, Block, Case, Expr, Place, PlaceKind, Runtime, Scalar, Scope,
    Span, Stmt, StmtKind, VarId, WarpOp,
};

use super::lir::*;
use super::lower::{Exit, Lower, Result, Slot};
use super::places::PlaceRef;
use super::values::Piece;
use super::walk::{self, Node};

impl Lower<'_> {
    pub fn block(&mut self, b: &Block) -> Result<()> {
        b.stmts.iter().try_for_each(|s| self.stmt(s))
    }

    /// The scope of the variables that a block declares ends. Only what has an address can be read afterwards.
    pub fn ended(&mut self, b: &Block) -> Result<()> {
        for s in &b.stmts {
            let StmtKind::Decl { var, .. } = &s.kind else { continue };
            let frame = self.frame();
            let facts = self.facts.get(frame.id);
            let escapes = facts.and_then(|f| f.escapes.get(var.0 as usize)).is_some_and(|e| *e);
            if let Some(Slot::Memory(pointer)) = frame.slots.get(var)
                && escapes
            {
                let object = (pointer >> super::places::OFFSET_BITS) as u32;
                let local = self.out.objects.get(object as usize);
                if local.is_some_and(|o| matches!(o.home, super::lir::Home::Local { .. })) {
                    self.emit(Op::EndLocal { object })?;
                }
            }
        }
        Ok(())
    }

    fn stmt(&mut self, s: &Stmt) -> Result<()> {
        self.at(s.origin.span);
        match &s.kind {
            StmtKind::Decl { var, init } => self.decl(*var, init.as_ref()),
            StmtKind::Assign { place, value } => self.assignment(place, value),
            StmtKind::If { cond, then, otherwise } => {
                self.if_(s.origin.span, cond, then, otherwise)
            }
            StmtKind::For(l) => self.for_(s.origin.span, l),
            StmtKind::Loop { condition, body, step, .. } => {
                self.loop_(s, condition.as_ref(), body, step, &[])
            }
            StmtKind::Switch { selector, cases } => self.switch(s.origin.span, selector, cases),
            StmtKind::Break => self.break_(),
            StmtKind::Continue => self.continue_(),
            StmtKind::Return(value) => self.return_(value.as_ref()),
            StmtKind::Scope(b) => {
                self.scope(b)?;
                self.ended(b)
            }
            StmtKind::Call { function, args, result } => {
                self.call(*function, args, result.as_ref())
            }
            StmtKind::Launch(_) => self.unsupported("a kernel launch inside of a kernel"),
            _ => self.effect(s),
        }
    }

    /// Variables of a scope that ends with a loop are gone after it: they belong to the loop, in which
    /// threads that are still running agree on them even if they leave it one by one.
    fn scope(&mut self, b: &Block) -> Result<()> {
        let Some((last, rest)) = b.stmts.split_last() else { return Ok(()) };
        rest.iter().try_for_each(|s| self.stmt(s))?;
        if let StmtKind::Loop { condition, body, step, .. } = &last.kind {
            let vars = rest.iter().filter_map(|s| match &s.kind {
                StmtKind::Decl { var, .. } => Some(*var),
                _ => None,
            });
            let owned: Vec<VarId> = vars.collect();
            self.at(last.origin.span);
            return self.loop_(last, condition.as_ref(), body, step, &owned);
        }
        self.stmt(last)
    }

    pub(super) fn own_registers(&mut self, region: RegionId, registers: Option<u32>) {
        if let Some(r) = registers {
            self.registers[r as usize].region = region;
        }
    }

    pub(super) fn own(&mut self, region: RegionId, vars: &[VarId]) {
        for v in vars {
            if let Some(Slot::Registers(list)) = self.frame().slots.get(v) {
                for r in list.clone() {
                    if let Opd::R(r) = r {
                        self.registers[r as usize].region = region;
                    }
                }
            }
        }
    }

    fn effect(&mut self, s: &Stmt) -> Result<()> {
        match &s.kind {
            StmtKind::Atomic { op, pointer, value, compare, result, scope } => {
                self.atomic(*op, pointer, value, compare.as_ref(), *result, *scope)
            }
            StmtKind::Warp { op, mask, args, result } => self.warp(*op, mask, args, *result),
            StmtKind::Barrier { kind, operand, result } => {
                self.barrier(*kind, operand.as_ref(), *result)
            }
            StmtKind::Fence(scope) => {
                self.out.has_fences = true;
                self.emit(Op::Fence(*scope))
            }
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                self.async_copy(destination, source, bytes, zero_fill.as_ref())
            }
            StmtKind::AsyncCommit => self.emit(Op::AsyncCommit),
            StmtKind::AsyncWait(n) => self.emit(Op::AsyncWait(*n)),
            StmtKind::Printf { format, args } => self.printf(format, args),
            StmtKind::Assert { cond, text } => {
                let cond = self.scalar(cond)?;
                let text = self.name(text.as_str());
                self.emit(Op::Assert { cond, text })
            }
            StmtKind::Assume { cond, text } => {
                let cond = self.scalar(cond)?;
                let text = self.name(text.as_str());
                self.emit(Op::Assume { cond, text })
            }
            StmtKind::Trap => self.emit(Op::Trap),
            StmtKind::Runtime(Runtime::AllocateHost { pointer, bytes, .. }) => {
                self.allocate(pointer, bytes)
            }
            StmtKind::Runtime(Runtime::Free { pointer }) => {
                let pointer = self.scalar(pointer)?;
                self.emit(Op::HeapFree { pointer })
            }
            _ => self.unsupported("a statement of this kind"),
        }
    }

    fn decl(&mut self, var: VarId, init: Option<&Expr>) -> Result<()> {
        let Some(v) = self.frame().function.vars.get(var.0 as usize) else {
            return self.unsupported("a variable that its function does not have");
        };
        let (ty, name) = (v.ty.clone(), v.name.clone());
        if matches!(v.kind, warpsmith_ir::VarKind::Shared | warpsmith_ir::VarKind::DynamicShared) {
            return Ok(());
        }
        let value = init.map(|e| self.value(e)).transpose()?;
        match self.slot(var)? {
            Slot::Registers(registers) => match value {
                Some(v) => self.write(&PlaceRef::Registers(registers), &ty, &v),
                None => {
                    let name = self.name(name);
                    let leaves = self.leaves(&ty).unwrap_or_default();
                    for (dst, l) in registers.into_iter().zip(leaves) {
                        self.changed(dst);
                        self.emit(Op::Undef { ty: l.ty, dst, name })?;
                    }
                    Ok(())
                }
            },
            Slot::Memory(pointer) => {
                let object = (pointer >> super::places::OFFSET_BITS) as u32;
                self.emit(Op::UndefLocal { object })?;
                let addr = super::places::Addr::constant(pointer, warpsmith_ir::Space::Local);
                match value {
                    Some(v) => self.write(&PlaceRef::Memory(addr), &ty, &v),
                    None => Ok(()),
                }
            }
            Slot::Value(_) | Slot::Alias(_) => self.unsupported("a parameter declared again"),
        }
    }

    fn assignment(&mut self, place: &warpsmith_ir::Place, value: &Expr) -> Result<()> {
        let to = self.place(place)?;
        let v = self.value(value)?;
        self.at(place.origin.span);
        self.write(&to, &place.ty, &v)
    }

    fn if_(
        &mut self,
        span: Option<Span>,
        cond: &Expr,
        then: &Block,
        otherwise: &Block,
    ) -> Result<()> {
        let cond = self.scalar(cond)?;
        self.decide(span, cond)?;
        if let Opd::K(k) = cond {
            // Both arms keep their regions, so that their variables do.
            return self.block(if k != 0 { then } else { otherwise });
        }
        self.branches += 1;
        let branch = self.branches;
        let (else_label, end) = (self.label(), self.label());
        self.emit(Op::BranchFalse { cond, label: else_label })?;
        self.enter(vec![cond], branch);
        self.block(then)?;
        self.ended(then)?;
        if !otherwise.stmts.is_empty() {
            self.emit(Op::Jump(end))?;
        }
        self.leave();
        self.emit(Op::Label(else_label))?;
        if !otherwise.stmts.is_empty() {
            self.enter(vec![cond], branch);
            self.block(otherwise)?;
            self.ended(otherwise)?;
            self.leave();
            self.emit(Op::Label(end))?;
        }
        Ok(())
    }

    /// Falls through from case to case: a chain of tests selects the first.
    fn switch(&mut self, span: Option<Span>, selector: &Expr, cases: &[Case]) -> Result<()> {
        let ty = selector.ty.scalar().unwrap_or(Scalar::I32);
        let value = self.scalar(selector)?;
        let value = self.keep(ty, value)?;
        let region = self.enter(vec![value], 0);
        let end = self.label();
        let labels: Vec<Label> = cases.iter().map(|_| self.label()).collect();
        for (case, &label) in cases.iter().zip(&labels) {
            for &v in &case.values {
                let k = super::lower::constant(warpsmith_ir::Value::int(ty, v));
                let cond = self.bin(BinaryOp::Eq, ty, value, k)?;
                match cond {
                    Opd::K(0) => {}
                    Opd::K(_) => self.emit(Op::Jump(label))?,
                    _ => self.emit(Op::BranchTrue { cond, label })?,
                }
            }
        }
        let default = cases.iter().position(|c| c.is_default).map(|i| labels[i]);
        if default.is_none() {
            self.comes_to(span)?;
        }
        self.emit(Op::Jump(default.unwrap_or(end)))?;
        self.exits.push(Exit { region, break_label: end, body: None });
        for (case, label) in cases.iter().zip(labels) {
            self.emit(Op::Label(label))?;
            self.enter(vec![value], 0);
            self.comes_to(case.span())?;
            self.block(&case.body)?;
            self.leave();
        }
        self.exits.pop();
        self.leave();
        self.emit(Op::Label(end))
    }

    fn return_(&mut self, value: Option<&Expr>) -> Result<()> {
        if self.frame().is_kernel {
            return self.emit(Op::Exit { explicit: true });
        }
        let values = value.map(|e| self.value(e)).transpose()?.unwrap_or_default();
        let frame = self.frame();
        let (region, end, returns) = (frame.region, frame.end, frame.returns.clone());
        let ty = frame.function.ret.clone();
        self.write(&PlaceRef::Registers(returns), &ty, &values)?;
        self.escape(region);
        self.emit(Op::Jump(end))
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        pointer: &Expr,
        value: &Expr,
        compare: Option<&Expr>,
        result: Option<VarId>,
        scope: Scope,
    ) -> Result<()> {
        let addr = self.pointer(pointer)?;
        let Some(elem) = pointer.ty.pointee().and_then(register_type) else {
            return self.unsupported("an atomic operation on this type");
        };
        let value = self.scalar(value)?;
        let compare = compare.map(|c| self.scalar(c)).transpose()?.unwrap_or(Opd::K(0));
        let piece = Piece { offset: 0, ty: elem, count: 1 };
        let access = self.access(&addr, &piece, vec![], false);
        let out = result.map(|_| self.register(elem));
        self.emit(Op::Atomic { op, access, value, compare, result: out, scope })?;
        self.result(result, out)
    }

    /// Gives an effect's result to its variable.
    fn result(&mut self, var: Option<VarId>, value: Option<Opd>) -> Result<()> {
        let (Some(var), Some(value)) = (var, value) else { return Ok(()) };
        let ty = match self.frame().function.vars.get(var.0 as usize) {
            Some(v) => v.ty.clone(),
            None => return self.unsupported("a variable that its function does not have"),
        };
        let place = match self.slot(var)? {
            Slot::Registers(r) => PlaceRef::Registers(r),
            Slot::Memory(p) => {
                PlaceRef::Memory(super::places::Addr::constant(p, warpsmith_ir::Space::Local))
            }
            _ => return self.unsupported("a result in a constant parameter"),
        };
        self.write(&place, &ty, &[value])
    }

    fn warp(
        &mut self,
        op: WarpOp,
        mask: &Expr,
        args: &[Expr],
        result: Option<VarId>,
    ) -> Result<()> {
        let Some(ty) = args.first().and_then(|a| register_type(&a.ty)) else {
            return self.unsupported("a warp operation on this type");
        };
        let mask = self.scalar(mask)?;
        let mut operands = [Opd::K(0), Opd::K(0), Opd::K(32)];
        for (slot, a) in operands.iter_mut().zip(args) {
            *slot = self.scalar(a)?;
        }
        let out_ty = match op {
            WarpOp::Ballot | WarpOp::MatchAny | WarpOp::MatchAll => Scalar::U32,
            WarpOp::All | WarpOp::Any => Scalar::Bool,
            _ => ty,
        };
        let out = result.map(|_| self.register(out_ty));
        self.emit(Op::Warp { op, ty, mask, args: operands, result: out })?;
        self.result(result, out)
    }

    fn barrier(
        &mut self,
        kind: BarrierKind,
        operand: Option<&Expr>,
        result: Option<VarId>,
    ) -> Result<()> {
        let all = Opd::K(u32::MAX.into());
        let operand = operand.map(|e| self.scalar(e)).transpose()?.unwrap_or(all);
        let out = result.map(|_| self.register(Scalar::I32));
        self.emit(Op::Barrier { kind, operand, result: out })?;
        self.result(result, out)
    }

    fn async_copy(
        &mut self,
        destination: &Expr,
        source: &Expr,
        bytes: &Expr,
        zero_fill: Option<&Expr>,
    ) -> Result<()> {
        self.out.has_async = true;
        let (to, from) = (self.pointer(destination)?, self.pointer(source)?);
        let bytes_ty = bytes.ty.scalar().unwrap_or(Scalar::I64);
        let bytes = self.scalar(bytes)?;
        let bytes = self.cast(bytes_ty, Scalar::I64, bytes)?;
        let zero_fill = match zero_fill {
            Some(z) => {
                let v = self.scalar(z)?;
                self.cast(z.ty.scalar().unwrap_or(Scalar::I64), Scalar::I64, v)?
            }
            None => Opd::K(0),
        };
        let piece = Piece { offset: 0, ty: Scalar::U8, count: 1 };
        let destination = self.access(&to, &piece, vec![], true);
        let source = self.access(&from, &piece, vec![], false);
        self.emit(Op::AsyncCopy { destination, source, bytes, zero_fill })
    }

    /// Memory of the heap.
    fn allocate(&mut self, pointer: &Place, bytes: &Expr) -> Result<()> {
        let size = self.scalar(bytes)?;
        let bytes = self.cast(bytes.ty.scalar().unwrap_or(Scalar::U64), Scalar::U64, size)?;
        let to = self.place(pointer)?;
        let result = self.register(Scalar::U64);
        self.emit(Op::HeapAllocate { bytes, result })?;
        self.write(&to, &pointer.ty, &[result])
    }

    fn printf(&mut self, format: &str, args: &[Expr]) -> Result<()> {
        let mut values = vec![];
        for a in args {
            let Some(ty) = register_type(&a.ty) else {
                return self.unsupported("printf of something that is neither number nor pointer");
            };
            values.push((self.scalar(a)?, ty));
        }
        let format = self.name(format);
        self.emit(Op::Printf { format, args: values })
    }

    /// Registers of the variables that a piece of code may change.
    pub(super) fn assigned(&mut self, b: &Block) -> Vec<u32> {
        let mut vars = vec![];
        walk::block(b, &mut |n| match n {
            Node::Stmt(s) => match &s.kind {
                StmtKind::Decl { var, .. } => vars.push(*var),
                StmtKind::For(l) => vars.push(l.var),
                StmtKind::Atomic { result, .. }
                | StmtKind::Warp { result, .. }
                | StmtKind::Barrier { result, .. } => vars.extend(*result),
                StmtKind::Call { args, .. } => {
                    vars.extend(args.iter().filter_map(super::places::variable_read));
                }
                _ => {}
            },
            Node::Place(p, true) => match &*p.kind {
                PlaceKind::Var(v) => vars.push(*v),
                PlaceKind::Deref(e) => vars.extend(super::places::variable_read(e)),
                _ => {}
            },
            Node::Expr(e) => {
                if let warpsmith_ir::ExprKind::AddressOf(p) = &*e.kind {
                    vars.extend(p.root_var());
                    if let PlaceKind::Deref(inner) = &*root(p).kind {
                        vars.extend(super::places::variable_read(inner));
                    }
                }
            }
            Node::Place(..) => {}
        });
        let mut out = vec![];
        for v in vars {
            let registers = match self.frame().slots.get(&v) {
                Some(Slot::Registers(r)) | Some(Slot::Alias(PlaceRef::Registers(r))) => r,
                _ => continue,
            };
            out.extend(registers.iter().filter_map(|r| match r {
                Opd::R(r) => Some(*r),
                _ => None,
            }));
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// The innermost place that is no part of another one.
fn root(p: &warpsmith_ir::Place) -> &warpsmith_ir::Place {
    match &*p.kind {
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => root(p),
        _ => p,
    }
}
