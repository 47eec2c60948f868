//! `new` and `delete`, of the host and on the device: memory, and the constructors of what is in it.

use warpsmith_ir::{
    BinaryOp, Expr, FunctionKind, Place, PlaceKind, Runtime, Scalar, Space, Span, StmtKind, Type,
};

use super::Sema;
use super::functions::raw_pointer_cast;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// `new T`, `new T[n]`, `new (p) T[n]`
    pub(crate) fn new_object(&mut self, new: &'a ast::NewObject, span: Span) -> Res<Operand<'a>> {
        let on_host = self.f().func.kind == FunctionKind::Host;
        if on_host && !self.tolerates() {
            return fail("W053", span, "`new`: not supported here");
        }
        let q = self.resolve_type(self.f_scope(), &new.ty)?;
        let elements = match &new.count {
            Some(e) => {
                let n = self.rvalue(e)?;
                let n = self.convert_to(n, &Type::U64, e.span)?;
                Some(self.hold_value(n, e.span))
            }
            None => None,
        };
        // Who gives the memory may give any: zeros are stored one by one, as on the device.
        let filled = new.zeroed && !self.needs_init(&q.ty);
        let at_once = filled && on_host && new.place.is_none();
        let memory = match &new.place {
            Some(place) => {
                let place = self.a_pointer(place)?;
                self.hold_value(place, span)
            }
            None => self.memory_of_new(&q.ty, elements.as_ref(), at_once, span)?,
        };
        let pointer = raw_pointer_cast(memory, Type::pointer(q.ty.clone(), Space::Generic), span);
        let one_by_one = filled && !at_once;
        let Some(n) = elements else {
            let place = Place::new(PlaceKind::Deref(pointer.clone()), q.ty, span);
            self.init_object(place, &new.args, one_by_one, span)?;
            return Ok(Operand::Value(pointer));
        };
        if !self.needs_init(&q.ty) && !one_by_one {
            return Ok(Operand::Value(pointer));
        }
        let pointer = self.hold_value(pointer, span);
        self.init_elements(&pointer, &q.ty, n, filled, span)?;
        Ok(Operand::Value(pointer))
    }

    /// The functions that a class or its bases have for memory of its objects: `operator new`, `operator delete`.
    fn of_memory(&mut self, ty: &Type, which: &str, array: bool) -> Vec<FnDecl<'a>> {
        let Some(class) = self.is_class(ty) else { return vec![] };
        let name = format!("operator{which}{}", if array { "[]" } else { "" });
        let scope = self.class(class).scope;
        super::expr::functions(&self.lookup_in(scope, &name))
    }

    fn call_of_memory(
        &mut self,
        which: &str,
        fns: &[FnDecl<'a>],
        argument: Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let list = vec![Operand::Value(argument)];
        let name = format!("operator {which}");
        let chosen = self.resolve_overload(&name, fns, None, None, &list, span)?;
        self.call_chosen(chosen, None, list, span)
    }

    /// Memory for so many elements, or for one; with zeros in it.
    fn memory_of_new(
        &mut self,
        ty: &Type,
        elements: Option<&Expr>,
        zeros: bool,
        span: Span,
    ) -> Res<Expr> {
        let size = warpsmith_ir::layout::layout_of(&self.module, ty).size;
        let size = Expr::int(Scalar::U64, size as i64).with_origin(span);
        let bytes = match elements {
            Some(n) => super::convert::binary_folded(BinaryOp::Mul, n.clone(), size, span),
            None => size,
        };
        let own = self.of_memory(ty, "new", elements.is_some());
        if !own.is_empty() {
            let memory = self.call_of_memory("new", &own, bytes, span)?;
            return self.rvalue_of(memory, span);
        }
        if self.f().func.kind != FunctionKind::Host {
            return self.heap(bytes, span);
        }
        if !zeros {
            return Ok(self.allocate_host(bytes, false, span));
        }
        let bytes = self.hold_value(bytes, span);
        let pointer = self.allocate_host(bytes.clone(), false, span);
        self.zero_bytes(pointer.clone(), bytes, span);
        Ok(pointer)
    }

    /// The constructor of one object, or zeros.
    fn init_object(
        &mut self,
        place: Place,
        args: &'a [ast::Expr],
        zeroed: bool,
        span: Span,
    ) -> Res<()> {
        if !args.is_empty() {
            let list = self.arguments(args)?;
            return self.construct_at(place, list, span);
        }
        if self.needs_init(&place.ty) {
            return self.default_init(place, span);
        }
        if zeroed {
            let value = self.zero_value(&place.ty.clone(), span)?;
            self.emit(StmtKind::Assign { place, value }, span);
        }
        Ok(())
    }

    /// The constructors of `new T[n]`, or zeros.
    fn init_elements(
        &mut self,
        pointer: &Expr,
        ty: &Type,
        n: Expr,
        zeroed: bool,
        span: Span,
    ) -> Res<()> {
        let id = self.f().func.fresh_loop();
        let at = self.fresh_var("element", Type::U64, span);
        let index = vec![Expr::var(at, Type::U64).with_origin(span)];
        let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
        let place = Place::new(kind, ty.clone(), span);
        self.enter_loop();
        let (result, body) = self.in_block(|me| {
            if !zeroed {
                return me.default_init(place, span);
            }
            let value = me.zero_value(&place.ty.clone(), span)?;
            me.emit(StmtKind::Assign { place, value }, span);
            Ok(())
        });
        self.leave_loop();
        result?;
        let number = |n: i64| Expr::int(Scalar::U64, n).with_origin(span);
        let l = warpsmith_ir::ForLoop {
            id,
            var: at,
            declares: true,
            first: number(0),
            compare: BinaryOp::Lt,
            limit: n,
            step: number(1),
            kind: warpsmith_ir::LoopKind::Serial,
            body,
        };
        self.emit(StmtKind::For(l), span);
        Ok(())
    }

    /// `delete p`, `delete[] p`
    pub(crate) fn delete_object(
        &mut self,
        e: &'a ast::Expr,
        array: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let on_device = self.f().func.kind != FunctionKind::Host;
        let pointee = self.type_of_expr(self.f_scope(), e)?.ty.pointee().cloned();
        let own = pointee.map(|ty| self.of_memory(&ty, "delete", array)).unwrap_or_default();
        if !own.is_empty() {
            let pointer = self.rvalue(e)?;
            let pointer = self.hold_value(pointer, span);
            if on_device {
                self.end_pointee(pointer.clone(), array, span)?;
            }
            self.call_of_memory("delete", &own, pointer, span)?;
            return Ok(Operand::Void);
        }
        if on_device {
            let pointer = self.rvalue(e)?;
            let pointer = self.hold_value(pointer, span);
            self.end_pointee(pointer.clone(), array, span)?;
            self.emit(StmtKind::Runtime(Runtime::Free { pointer }), span);
            return Ok(Operand::Void);
        }
        if !self.tolerates() {
            return fail("W053", span, "`delete`: not supported here");
        }
        self.free(e, span)?;
        Ok(Operand::Void)
    }
}

/// Whether a member is `operator new` or `operator delete`, which have no object.
pub(super) fn is_of_memory(name: &ast::FunctionName) -> bool {
    let ast::FunctionName::Operator(op) = name else { return false };
    matches!(op.as_str(), "new" | "new[]" | "delete" | "delete[]")
}
