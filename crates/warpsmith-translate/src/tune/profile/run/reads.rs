//! What expressions read, by the threads that read it.

use warpsmith_device::TrafficKind;
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, Place, PlaceKind, Span, Type, VarKind, layout::layout_of,
};
use warpsmith_opt::analysis::access::{Base, base_of, base_of_pointer};
use warpsmith_opt::walk as tree;

use super::{Request, Run, Watch};
use crate::tune::profile::address::{Address, Object};
use crate::tune::profile::values::{Single, Thread};

impl<N: Single, W: Watch<N>> Run<'_, N, W> {
    /// The reads of an expression, by the threads that make them.
    pub(super) fn reads(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
            ExprKind::Read(p) => {
                self.reads_of_place(p);
                self.access(p, TrafficKind::Load, p.origin.span.or(e.origin.span));
            }
            ExprKind::AddressOf(p) => self.reads_of_place(p),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                self.reads(a);
                let wanted = *op == BinaryOp::LogicalAnd;
                self.reads_where(a, wanted, b);
            }
            ExprKind::Select(c, a, b) => {
                self.reads(c);
                self.reads_where(c, true, a);
                self.reads_where(c, false, b);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Bitcast(a)
            | ExprKind::Member(a, _) => self.reads(a),
            ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
                self.reads(a);
                self.reads(b);
            }
            ExprKind::Call(_, args) | ExprKind::Make(args) => {
                args.iter().for_each(|a| self.reads(a));
            }
        }
    }

    /// The reads of an expression that is evaluated where a condition is so.
    fn reads_where(&mut self, cond: &Expr, is: bool, e: &Expr) {
        if !tree::reads_memory(e) {
            return;
        }
        let Ok(values) = self.each(cond) else {
            self.perhaps(|run| run.reads(e));
            return;
        };
        self.watch.decision(&values, cond.origin.span.or(self.span));
        let those =
            values.into_iter().map(|v| v.is_some_and(|v| v.value().is_true() == is)).collect();
        let before = std::mem::replace(&mut self.masks.active, those);
        self.reads(e);
        self.masks.active = before;
    }

    pub(super) fn reads_of_place(&mut self, place: &Place) {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => {}
            PlaceKind::Deref(e) => self.reads(e),
            PlaceKind::Elem { pointer, index, dims } => {
                self.reads(pointer);
                index.iter().chain(dims).for_each(|e| self.reads(e));
            }
            PlaceKind::Index(p, e) => {
                self.reads_of_place(p);
                self.reads(e);
            }
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => self.reads_of_place(p),
        }
    }

    pub(super) fn access(&mut self, place: &Place, kind: TrafficKind, span: Option<Span>) {
        if matches!(place.ty, Type::Array(..) | Type::Struct(_)) {
            return;
        }
        let base = object_of(base_of(place));
        // Most are variables in registers; a pointer is one as well, whatever it points to.
        if let Some(Object::Var(v)) = base {
            let (var, itself) = (self.function.var(v), matches!(&*place.kind, PlaceKind::Var(_)));
            let shared = matches!(var.kind, VarKind::Shared | VarKind::DynamicShared);
            if !shared && (itself || !var.ty.is_pointer()) {
                return;
            }
        }
        let bytes = layout_of(self.module, &place.ty).size;
        let (module, at) = (self.module, self.at);
        self.request(base, bytes, kind, span, |lane| lane.address(module, at, place));
    }

    pub(super) fn through_pointer(&mut self, pointer: &Expr, bytes: u64, kind: TrafficKind) {
        let (module, at) = (self.module, self.at);
        let base = object_of(base_of_pointer(pointer));
        self.request(base, bytes, kind, None, |lane| lane.pointer(module, at, pointer));
    }

    fn request(
        &mut self,
        base: Option<Object>,
        bytes: u64,
        kind: TrafficKind,
        span: Option<Span>,
        address: impl Fn(&Thread<N>) -> Option<Address<N>>,
    ) {
        let lanes = self.lanes.iter().zip(&self.masks.active);
        let lanes: Vec<Option<Option<Address<N>>>> =
            lanes.map(|(lane, active)| active.then(|| address(lane))).collect();
        let request = Request {
            module: self.module,
            function: self.function,
            lanes: &lanes,
            base,
            bytes,
            kind,
            span: span.or(self.span),
            unsure: self.is_unknown(),
        };
        self.watch.request(&request);
    }
}

/// The object that an access to the place goes to, as far as the place itself tells.
fn object_of(base: Base) -> Option<Object> {
    match base {
        Base::Var(v) => Some(Object::Var(v)),
        Base::Global(g) => Some(Object::Global(g)),
        Base::Anything => None,
    }
}
