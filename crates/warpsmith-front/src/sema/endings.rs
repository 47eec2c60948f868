//! Destructors in code of the device: of local objects where their block is left, and of what `delete` is given.
//!
//! On the host nothing that a kernel can see hangs on the end of an object, so destructors do not run there.

use warpsmith_ir::{
    BinaryOp, Expr, FunctionKind, Place, PlaceKind, Scalar, Span, StmtKind, StructId, Type,
};

use super::Sema;
use super::model::*;
use super::refused::{DELETED_ARRAY, refuse};
use crate::ast;

/// Arrays of objects with destructors have at most that many elements.
const MAX_ELEMENTS: u64 = 64;

impl<'a> Sema<'a> {
    /// Whether anything happens where an object of that type ends.
    pub(crate) fn ends(&self, ty: &Type) -> bool {
        if self.fns.last().is_none_or(|f| f.func.kind == FunctionKind::Host || f.is_const_eval) {
            return false;
        }
        self.has_destructor(ty)
    }

    fn has_destructor(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(element, _) => self.has_destructor(element),
            _ => self.is_class(ty).is_some_and(|class| {
                let info = self.class(class);
                info.destructor.is_some()
                    || info
                        .fields
                        .iter()
                        .any(|f| !f.ty.is_reference() && self.has_destructor(&f.ty.ty))
                    || info.bases.iter().any(|b| self.has_destructor(&Type::Struct(b.class)))
            }),
        }
    }

    /// The variable just declared ends where its block does.
    pub(crate) fn ends_with_scope(&mut self, name: &str, span: Span) -> Res<()> {
        let scope = self.f_scope();
        let entity = self.scope(scope).names.get(name).and_then(|l| l.last()).cloned();
        if let Some(Entity::Place { place, .. }) = entity {
            self.f().ending.push(Ending { name: name.to_string(), place, span });
        }
        Ok(())
    }

    pub(crate) fn enter_loop(&mut self) {
        let f = self.f();
        f.loops += 1;
        f.ending_at_loops.push(f.ending.len());
        f.ending_at_breaks.push(f.ending.len());
    }

    pub(crate) fn leave_loop(&mut self) {
        let f = self.f();
        f.loops -= 1;
        f.ending_at_loops.pop();
        f.ending_at_breaks.pop();
    }

    pub(crate) fn enter_switch(&mut self) {
        let f = self.f();
        f.switches += 1;
        f.ending_at_breaks.push(f.ending.len());
    }

    pub(crate) fn leave_switch(&mut self) {
        let f = self.f();
        f.switches -= 1;
        f.ending_at_breaks.pop();
    }

    pub(crate) fn end_objects_of_break(&mut self) -> Res<()> {
        let since = self.f().ending_at_breaks.last().copied().unwrap_or_default();
        self.end_objects(since, None)
    }

    pub(crate) fn end_objects_of_continue(&mut self) -> Res<()> {
        let since = self.f().ending_at_loops.last().copied().unwrap_or_default();
        self.end_objects(since, None)
    }

    /// Runs the destructors of objects from the last one back to a number of them; they stay known, since other ways may
    /// lead on. `but` is handed over to the caller instead.
    pub(crate) fn end_objects(&mut self, since: usize, but: Option<&str>) -> Res<()> {
        let ending: Vec<Ending> = self.f().ending.iter().skip(since).rev().cloned().collect();
        for e in ending.into_iter().filter(|e| but != Some(e.name.as_str())) {
            self.end_object(e.place, e.span)?;
        }
        Ok(())
    }

    /// The end of a block: its objects end, if this is reached.
    pub(crate) fn leave_scope(&mut self, since: usize) {
        if self.f().ending.len() == since {
            return;
        }
        let left = self.f().blocks.last().and_then(|b| b.last()).is_some_and(|s| {
            matches!(s.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue)
        });
        if !left && let Err(Failure::New(d)) = self.end_objects(since, None) {
            self.report(*d);
        }
        self.f().ending.truncate(since);
    }

    /// Calls what runs at the end of an object whose class is exactly the place's type.
    fn end_object(&mut self, place: Place, span: Span) -> Res<()> {
        match place.ty.clone() {
            Type::Array(element, n) => {
                if n > MAX_ELEMENTS {
                    let d =
                        error("W091", span, format!("an array of {n} objects with a destructor"));
                    return Err(d.help("give the array's owner a method that ends them").into());
                }
                for i in (0..n).rev() {
                    let at = Expr::i32(i as i32).with_origin(span);
                    let kind = PlaceKind::Index(place.clone(), at);
                    self.end_object(Place::new(kind, (*element).clone(), span), span)?;
                }
                Ok(())
            }
            Type::Struct(class) if self.has_destructor(&place.ty) => {
                let destructor = self.class(class).destructor;
                if let Some(f) = destructor {
                    self.names_its_class = true;
                    let object = Operand::Place { place: place.clone(), is_const: false };
                    let result = self.call_method(f, object, vec![], span);
                    self.names_its_class = false;
                    result?;
                }
                self.end_parts(place, class, span)
            }
            _ => Ok(()),
        }
    }

    /// Members in the order opposite to that of their declaration, and bases.
    fn end_parts(&mut self, object: Place, class: StructId, span: Span) -> Res<()> {
        let fields = self.class(class).fields.clone();
        for field in fields.iter().rev().filter(|f| !f.ty.is_reference()) {
            let place = self.field_place(object.clone(), &[field.index], span);
            self.end_object(place, span)?;
        }
        for base in self.class(class).bases.clone().into_iter().rev() {
            let path: Vec<u32> = base.index.into_iter().collect();
            let place = self.base_place(object.clone(), &path, &Type::Struct(base.class), span);
            self.end_object(place, span)?;
        }
        Ok(())
    }

    /// `object.~T()`, `pointer->~T()`; `None` when the call is no such thing.
    pub(crate) fn destructor_call(
        &mut self,
        callee: &'a ast::Expr,
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let ast::ExprKind::Member { base, arrow, member, .. } = &*callee.kind else { return None };
        if !member.name.starts_with('~') {
            return None;
        }
        Some(self.destroy(base, *arrow, span).map(|()| Operand::Void))
    }

    /// The object ends where code of the device says so.
    fn destroy(&mut self, base: &'a ast::Expr, arrow: bool, span: Span) -> Res<()> {
        if self.f().func.kind == FunctionKind::Host {
            return self.discard(base);
        }
        if arrow {
            let pointer = self.rvalue(base)?;
            return self.end_pointee(pointer, false, span);
        }
        match self.expr(base)? {
            Operand::Place { place, .. } if self.ends(&place.ty) => self.end_object(place, span),
            _ => Ok(()),
        }
    }

    /// `delete p`: the object ends.
    pub(crate) fn end_pointee(&mut self, pointer: Expr, array: bool, span: Span) -> Res<()> {
        let Some(ty) = pointer.ty.pointee().cloned() else { return Ok(()) };
        let through_class = !array && self.has_virtual_destructor(&ty);
        if !through_class && !self.has_destructor(&ty) {
            return Ok(());
        }
        if array {
            return refuse(DELETED_ARRAY, span);
        }
        let pointer = self.hold_value(pointer, span);
        let address = Expr::new(warpsmith_ir::ExprKind::Cast(pointer.clone()), Type::U64, span);
        let null = Expr::int(Scalar::U64, 0).with_origin(span);
        let cond = Expr::binary(BinaryOp::Ne, address, null);
        let (result, then) = self.in_block(|me| match me.is_class(&ty).filter(|_| through_class) {
            Some(class) => me.call_virtual_destructor(class, pointer, span),
            None => me.end_object(Place::new(PlaceKind::Deref(pointer), ty, span), span),
        });
        result?;
        let otherwise = warpsmith_ir::Block::default();
        self.emit(StmtKind::If { cond, then, otherwise }, span);
        Ok(())
    }

    /// A function that ends an object of that class, for calls through its base.
    pub(crate) fn ending_function(
        &mut self,
        class: StructId,
        span: Span,
    ) -> Res<warpsmith_ir::FuncId> {
        let name = format!("{}::end", self.class(class).name);
        self.push_fn(&name, FunctionKind::Device, self.root, span);
        self.declare_this(class, false, span);
        let place = self.this_place(class, span);
        let result = match place {
            Some((place, _)) => self.end_object(place, span),
            None => Ok(()),
        };
        let state = self.pop_fn();
        result?;
        Ok(self.finish_function(state, vec![], None).id)
    }
}
