//! The workspace: device memory that the caller lends to the launcher, for values that only the device has and for
//! arrays that rewrites made.

use std::collections::BTreeMap;

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, Origin, PlaceKind, Scalar, Space, Stmt, StmtKind, Type, Var, VarId,
    VarKind, visit,
};

use super::scope::{Fixed, SLOT_ALIGN};
use super::{Lowering, Slot, Workspace};
use crate::build::counters;

fn bytes(n: u64) -> Expr {
    Expr::int(Scalar::U64, i64::try_from(n).unwrap_or(i64::MAX))
}

/// The next multiple of the alignment.
fn aligned(e: Expr) -> Expr {
    let align = || bytes(SLOT_ALIGN);
    let up = Expr::binary(BinaryOp::Add, e, bytes(SLOT_ALIGN - 1));
    Expr::binary(BinaryOp::Mul, Expr::binary(BinaryOp::Div, up, align()), align())
}

fn sum(a: Expr, b: Expr) -> Expr {
    if counters::is_const(&a, 0) { b } else { Expr::binary(BinaryOp::Add, a, b) }
}

impl Lowering<'_> {
    /// `const int length = …;` for the numbers that rewrites introduced.
    pub(super) fn lengths(&self) -> Vec<Stmt> {
        let declare = |l: &crate::kernel::Length| {
            let kind = StmtKind::Decl { var: l.var, init: Some(l.value.clone()) };
            Stmt::new(kind, Origin::default()).comment(l.comment.clone())
        };
        self.source.lengths.iter().map(declare).collect()
    }

    /// Whether a number is made of those alone that rewrites introduced.
    fn is_introduced(&self, e: &Expr) -> bool {
        let own = |v: &VarId| self.source.lengths.iter().any(|l| l.var == *v);
        visit::vars_of_expr(e).iter().all(own)
    }

    /// Slots of constant size, then the arrays that rewrites made.
    pub(super) fn all_slots(&self) -> Vec<Slot> {
        let fixed =
            |s: &Fixed| Slot { pointer: s.pointer, offset: bytes(s.offset), bytes: bytes(s.bytes) };
        let mut slots: Vec<Slot> = self.scope.slots.iter().map(fixed).collect();
        let end = self.scope.slots.last().map_or(0, |s| s.offset + s.bytes);
        let mut offset = bytes(end.next_multiple_of(SLOT_ALIGN));
        for s in &self.source.scratch {
            let var = self.source.func().var(s.var);
            let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
            let size = bytes(warpsmith_ir::layout::layout_of(&self.scope.module, &element).size);
            let extents = var.shape.iter().flatten().map(|e| match e.as_const() {
                Some(v) => Expr::int(Scalar::U64, v.as_i64()),
                // Numbers that rewrites introduced are none below zero.
                None if self.is_introduced(e) => e.clone().cast(Type::U64),
                None => self.count(e),
            });
            let extents = extents.filter(|e| !counters::is_const(e, 1)).chain([size]);
            let all = extents.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
            let all = all.unwrap_or_else(|| bytes(0));
            slots.push(Slot { pointer: s.var, offset: offset.clone(), bytes: all.clone() });
            offset = sum(offset, aligned(all));
        }
        slots
    }

    /// `float *s = (float *)((char *)workspace + 256);` for every slot, and the parameter itself.
    pub(super) fn slot_declarations(&mut self, slots: &[Slot]) -> Vec<Stmt> {
        if slots.is_empty() {
            return vec![];
        }
        let name = self.scope.fresh_name("workspace");
        let void = Type::pointer(Type::Void, Space::Global);
        let workspace = self.scope.host.add_param(Var::new(name, void.clone(), VarKind::Param));
        self.workspace = Some(workspace);
        let byte = Type::pointer(Type::Scalar(Scalar::I8), Space::Global);
        let mut stmts = vec![];
        // Where the slot before ended, by the name of a variable.
        let mut before: Option<(Expr, Expr)> = None;
        for slot in slots {
            let mut base = Expr::var(workspace, void.clone());
            if !counters::is_const(&slot.offset, 0) {
                let offset = match slot.offset.as_const() {
                    Some(v) => Expr::int(Scalar::I64, v.as_i64()),
                    None => self.named_offset(slot, &mut before, &mut stmts),
                };
                let kind = ExprKind::PtrOffset(base.cast(byte.clone()), offset);
                base = Expr::new(kind, byte.clone(), Origin::default());
            }
            let value = base.cast(self.scope.host.var(slot.pointer).ty.clone());
            let kind = StmtKind::Decl { var: slot.pointer, init: Some(value) };
            let mut declare = Stmt::new(kind, Origin::default());
            if let Some(s) = self.source.scratch.iter().find(|s| s.var == slot.pointer) {
                declare.comment.push(s.comment.clone());
            }
            stmts.push(declare);
            self.scope.host.vars[slot.pointer.0 as usize].constant = false;
        }
        if !self.scope.slots.is_empty()
            && let Some(first) = stmts.first_mut()
        {
            first.comment.push("values that only the device knows live in the workspace".into());
        }
        stmts
    }

    /// A variable for an offset that depends on the sizes.
    fn named_offset(
        &mut self,
        slot: &Slot,
        before: &mut Option<(Expr, Expr)>,
        stmts: &mut Vec<Stmt>,
    ) -> Expr {
        let wanted = format!("{}_at", self.scope.host.var(slot.pointer).name);
        let name = self.scope.fresh_name(&wanted);
        let var = self.scope.local(&name, Type::U64);
        self.scope.host.vars[var.0 as usize].constant = true;
        let value = match (&*slot.offset.kind, before.as_ref()) {
            (ExprKind::Binary(BinaryOp::Add, a, b), Some((offset, known))) if a == offset => {
                Expr::binary(BinaryOp::Add, known.clone(), b.clone())
            }
            _ => slot.offset.clone(),
        };
        let kind = StmtKind::Decl { var, init: Some(value) };
        stmts.push(Stmt::new(kind, Origin::default()));
        let own = Expr::var(var, Type::U64);
        *before = Some((slot.offset.clone(), own.clone()));
        own
    }

    /// What the caller is told; `map` says where the launcher's variables went.
    pub(super) fn workspace_of(
        &self,
        param: VarId,
        slots: Vec<Slot>,
        map: &BTreeMap<VarId, VarId>,
    ) -> Workspace {
        let mut to = |v: VarId| map.get(&v).copied().unwrap_or(v);
        let over_parameters = |e: &Expr, to: &mut dyn FnMut(VarId) -> VarId| {
            let mut e = self.without_lengths(e);
            visit::rename_vars_in_expr(&mut e, to);
            e
        };
        let end = slots.last().map(|s| sum(s.offset.clone(), s.bytes.clone()));
        let end = end.unwrap_or_else(|| bytes(0));
        let total = match slots.last().map(|s| (s.offset.as_const(), s.bytes.as_const())) {
            Some((Some(a), Some(b))) => bytes(a.bits.saturating_add(b.bits)),
            _ => end,
        };
        let slots = slots.into_iter().map(|s| Slot {
            pointer: to(s.pointer),
            offset: over_parameters(&s.offset, &mut to),
            bytes: over_parameters(&s.bytes, &mut to),
        });
        let slots = slots.collect();
        Workspace { param: to(param), bytes: over_parameters(&total, &mut to), slots }
    }

    /// The expression with what the numbers of rewrites stand for in their place.
    fn without_lengths(&self, e: &Expr) -> Expr {
        let lengths = &self.source.lengths;
        struct Expand<'a>(&'a [crate::kernel::Length]);
        impl visit::Rewriter for Expand<'_> {
            fn expr(&mut self, e: &mut Expr) {
                if let ExprKind::Read(p) = &*e.kind
                    && let PlaceKind::Var(v) = *p.kind
                    && let Some(l) = self.0.iter().find(|l| l.var == v)
                {
                    *e = l.value.clone();
                }
                visit::rewrite_expr(self, e);
            }
        }
        let mut e = e.clone();
        visit::Rewriter::expr(&mut Expand(lengths), &mut e);
        e
    }
}
