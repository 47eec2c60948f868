//! Pointers to members: `float Point::*m`, `&Point::x`, `p.*m`, `(p.*method)(x)`.
//!
//! Such a pointer is a structure of one number, the member's distance from the start of its class; its type is an instance of
//! a template that the text has in its place, see `parse/member_pointers.rs`. One to a method is a pointer to a function
//! whose first argument is the object.

use warpsmith_ir::layout::field_of;
use warpsmith_ir::{Expr, ExprKind, Place, PlaceKind, Scalar, Space, Span, StructId, Type};

use super::Sema;
use super::functions::raw_pointer_cast;
use super::model::*;
use super::refused::{MEMBER_POINTER, refuse};
use super::types::Found;
use crate::ast;
use crate::parse::{MEMBER_OF, THROUGH_MEMBER};

/// What stands on the two sides of `->*` or `.*`.
struct Through<'a> {
    base: &'a ast::Expr,
    arrow: bool,
    pointer: &'a ast::Expr,
}

impl<'a> Through<'a> {
    /// `None`: another call.
    fn of(callee: &'a ast::Expr, args: &'a [ast::Expr]) -> Option<Through<'a>> {
        let ast::ExprKind::Member { base, arrow, member, .. } = &*callee.kind else { return None };
        let [pointer] = args else { return None };
        (member.name == THROUGH_MEMBER).then_some(Through { base, arrow: *arrow, pointer })
    }
}

impl<'a> Sema<'a> {
    /// `&C::x`; `None`: something else.
    pub(crate) fn member_address(
        &mut self,
        e: &'a ast::Expr,
        span: Span,
    ) -> Res<Option<Operand<'a>>> {
        let ast::ExprKind::Path(path) = &*e.kind else { return Ok(None) };
        if path.segments.len() < 2 {
            return Ok(None);
        }
        let Found::Entities(entities, _) = self.resolve_path(self.f_scope(), path)? else {
            return Ok(None);
        };
        let Some(Entity::Field { class, path: fields }) = entities.first() else { return Ok(None) };
        let Some(declared) = self.field_info(*class, fields) else { return Ok(None) };
        if declared.bits.is_some() || declared.ty.is_reference() {
            return refuse(MEMBER_POINTER, span);
        }
        let of = declared.ty.clone();
        let Some(offset) = self.distance(*class, fields) else { return Ok(None) };
        let args = vec![TArg::Type(of), TArg::Type(QualType::plain(Type::Struct(*class)))];
        let template = self.lookup(self.root, MEMBER_OF);
        let id = self.class_from_entities(&template, Some(args), span)?;
        let parts = vec![Expr::int(Scalar::I64, offset).with_origin(span)];
        Ok(Some(Operand::Value(Expr::new(ExprKind::Make(parts), Type::Struct(id), span))))
    }

    /// How far behind the start of an object a member is.
    pub(crate) fn distance(&self, class: StructId, fields: &[u32]) -> Option<i64> {
        let (mut at, mut offset) = (Type::Struct(class), 0);
        for index in fields {
            let Type::Struct(id) = at else { return None };
            let (more, ty) = field_of(&self.module, id, *index)?;
            (at, offset) = (ty.clone(), offset + more);
        }
        Some(offset as i64)
    }

    /// `offsetof(T, member)`
    pub(crate) fn offset_of(
        &mut self,
        ty: &'a ast::TypeName,
        member: &'a str,
        span: Span,
    ) -> Res<Operand<'a>> {
        let q = self.resolve_type(self.f_scope(), ty)?;
        let text = self.type_text(&q.ty);
        let Some(id) = self.is_class(&q.ty) else {
            return fail("W062", span, format!("`offsetof` needs a structure, this is `{text}`"));
        };
        let scope = self.class(id).scope;
        match self.lookup_in(scope, member).first().cloned() {
            Some(Entity::Field { class, path }) if class == id => {
                let declared = self.field_info(id, &path);
                let plain = declared.is_some_and(|f| f.bits.is_none() && !f.ty.is_reference());
                match self.distance(id, &path).filter(|_| plain) {
                    Some(offset) => Ok(Operand::Value(self.size_value(offset as u64, span))),
                    None => fail("W079", span, format!("`{member}` has no address in `{text}`")),
                }
            }
            _ => fail("W051", span, format!("`{text}` has no member `{member}` of its own")),
        }
    }

    /// `p->*m` and `o.*m`, which the text has as calls of a method; `None`: another call.
    pub(crate) fn through_member(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let through = Through::of(callee, args)?;
        Some(self.operands_of(&through, span).and_then(|(o, p)| self.member_at(o, p, span)))
    }

    /// `(p->*method)(x)`; `None`: another call.
    pub(crate) fn call_of_method(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let ast::ExprKind::Paren(inner) = &*callee.kind else { return None };
        let ast::ExprKind::Call { callee, args: pointer } = &*inner.kind else { return None };
        let through = Through::of(callee, pointer)?;
        Some(self.method_at(&through, args, span))
    }

    fn method_at(
        &mut self,
        through: &Through<'a>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        if let Some(f) = self.method_argument(through.pointer)? {
            let object = self.object_address(through.base, through.arrow, span)?;
            return self.call_named_method(&f, object, args, span);
        }
        let (object, pointer) = self.operands_of(through, span)?;
        if self.signature_of(&pointer.ty).is_none() {
            // A member that can be called itself.
            let member = self.member_at(object, pointer, span)?;
            let list = self.arguments(args)?;
            return self.call_object_with(member, list, span);
        }
        let mut list = vec![Operand::Value(object.0)];
        list.extend(self.arguments(args)?);
        self.call_pointer(pointer, list, span)
    }

    /// The method that a name stands for that is an argument of a template.
    fn method_argument(&mut self, pointer: &'a ast::Expr) -> Res<Option<FunctionValue<'a>>> {
        let ast::ExprKind::Path(path) = &*pointer.kind else { return Ok(None) };
        match self.path_operand(self.f_scope(), path)? {
            Operand::Type(q) => Ok(self.function_of(&q.ty)),
            _ => Ok(None),
        }
    }

    /// Calls the method that a template argument names.
    fn call_named_method(
        &mut self,
        f: &FunctionValue<'a>,
        (object, is_const): (Expr, bool),
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let class = object.ty.pointee().and_then(|ty| self.is_class(ty));
        // Of several the type of the parameter tells which one is meant, and it is not kept.
        let one = f.fns.len() == 1 && f.fns.iter().all(FnDecl::needs_object);
        let Some(class) = class.filter(|_| one) else {
            return refuse(MEMBER_POINTER, span);
        };
        let list = self.arguments(args)?;
        let object_of = Some((class, is_const));
        let chosen =
            self.resolve_overload(&f.name, &f.fns, f.args.as_deref(), object_of, &list, span)?;
        let place = Place::new(PlaceKind::Deref(object), Type::Struct(class), span);
        self.call_chosen(chosen, Some(Operand::Place { place, is_const }), list, span)
    }

    /// The address of the object, whether that is constant, and the pointer to the member; the object comes first.
    fn operands_of(&mut self, through: &Through<'a>, span: Span) -> Res<((Expr, bool), Expr)> {
        let object = self.object_address(through.base, through.arrow, span)?;
        Ok((object, self.rvalue(through.pointer)?))
    }

    /// The address of the object in front of `->*` or `.*`, and whether it is constant.
    fn object_address(
        &mut self,
        base: &'a ast::Expr,
        arrow: bool,
        span: Span,
    ) -> Res<(Expr, bool)> {
        match arrow {
            true => {
                let object = self.rvalue(base)?;
                let readonly = matches!(object.ty, Type::Pointer { readonly: true, .. });
                Ok((object, readonly))
            }
            false => {
                let (place, is_const) = self.lvalue(base)?;
                Ok((self.address_of(place, is_const, span), is_const))
            }
        }
    }

    fn member_at(
        &mut self,
        (object, is_const): (Expr, bool),
        pointer: Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let Some(of) = self.member_type(&pointer.ty) else { return refuse(MEMBER_POINTER, span) };
        if !object.ty.is_pointer() {
            return refuse(MEMBER_POINTER, span);
        }
        let bytes =
            raw_pointer_cast(object, Type::pointer(Type::Scalar(Scalar::U8), Space::Generic), span);
        let offset = Expr::new(ExprKind::Member(pointer, 0), Type::Scalar(Scalar::I64), span);
        let ty = bytes.ty.clone();
        let there = Expr::new(ExprKind::PtrOffset(bytes, offset), ty, span);
        let there = raw_pointer_cast(there, Type::pointer(of.ty.clone(), Space::Generic), span);
        let place = Place::new(PlaceKind::Deref(there), of.ty, span);
        Ok(Operand::Place { place, is_const: is_const || of.is_const })
    }

    /// What such a pointer points to.
    fn member_type(&self, ty: &Type) -> Option<QualType> {
        let Type::Struct(id) = ty else { return None };
        let (name, args) = self.template_arguments(*id)?;
        match (name == MEMBER_OF, args.first()) {
            (true, Some(TArg::Type(of))) => Some(of.clone()),
            _ => None,
        }
    }

    fn template_arguments(&self, id: StructId) -> Option<(&str, &[TArg])> {
        let (name, args) = self.class(self.is_class(&Type::Struct(id))?).template.as_ref()?;
        Some((name, args))
    }
}
