//! Access to memory: indexing, members, addresses, decay of arrays.

use warpsmith_ir::{Axis, Expr, ExprKind, Place, PlaceKind, Scalar, Space, Span, Type, VarKind};

use super::Sema;
use super::assign::shaped_place;
use super::convert::is_zero;
use super::expr::{functions, index_component, pointer_volatile};
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    pub(crate) fn index(
        &mut self,
        base: &'a ast::Expr,
        index: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let b = self.expr(base)?;
        let mark = self.mark();
        let i = self.expr(index)?;
        if self.operand_type(&b).is_some_and(|t| self.is_class(&t.ty).is_some()) {
            let pair = [b.clone(), i.clone()];
            if let Some(result) = self.try_operator("[]", &pair, span) {
                return result;
            }
        }
        let i = self.rvalue_of(i, index.span)?;
        let i = self.index_value(i, index.span)?;
        match b {
            Operand::Shaped { pointer, index: mut list, shape, is_const }
                if list.len() < shape.len() =>
            {
                list.push(i);
                Ok(if list.len() == shape.len() {
                    Operand::Place { place: shaped_place(pointer, list, &shape, span), is_const }
                } else {
                    Operand::Shaped { pointer, index: list, shape, is_const }
                })
            }
            Operand::Place { place, is_const } if matches!(place.ty, Type::Array(..)) => {
                let Type::Array(element, _) = place.ty.clone() else {
                    return Err(Failure::Reported);
                };
                let inner = Place::new(PlaceKind::Index(place, i), (*element).clone(), span);
                Ok(Operand::Place { place: inner, is_const })
            }
            other => {
                let value = self.rvalue_of(other, base.span)?;
                let value = self.settle(value, mark, base.span);
                self.index_pointer(value, i, span)
            }
        }
    }

    fn index_value(&mut self, i: Expr, span: Span) -> Res<Expr> {
        match i.ty {
            Type::Scalar(Scalar::Bool) => Ok(super::convert::cast_scalar(i, Scalar::I32, span)),
            Type::Scalar(s) if s.is_integer() => Ok(i),
            // `2[a]` is legal C; nobody writes it.
            _ if self.is_class(&i.ty).is_some() => self.convert_to(i, &Type::I64, span),
            _ => {
                let text = self.type_text(&i.ty);
                fail("W062", span, format!("an index is an integer, this is `{text}`"))
            }
        }
    }

    fn index_pointer(&mut self, pointer: Expr, i: Expr, span: Span) -> Res<Operand<'a>> {
        let mut pointer = pointer;
        if let Some(class) = self.is_class(&pointer.ty) {
            // A class that converts to a pointer (`SharedMemory<T>`).
            let conversions = self.class(class).conversions.clone();
            if let [only] = conversions.as_slice() {
                let object = Operand::Value(pointer.clone());
                let result = self.call_method(*only, object, vec![], span)?;
                pointer = self.rvalue_of(result, span)?;
            }
        }
        let Type::Pointer { pointee, readonly, .. } = pointer.ty.clone() else {
            let text = self.type_text(&pointer.ty);
            return fail(
                "W062",
                span,
                format!("`[]` needs an array or a pointer, this is `{text}`"),
            );
        };
        if *pointee == Type::Void {
            return fail("W062", span, "a pointer to void has no elements");
        }
        let kind = PlaceKind::Elem { pointer, index: vec![i], dims: vec![] };
        let place = Place::new(kind, (*pointee).clone(), span);
        Ok(Operand::Place { place, is_const: readonly })
    }

    /// `a.b`, `p->b`, `a.template b<…>`.
    pub(crate) fn member(
        &mut self,
        base: &'a ast::Expr,
        arrow: bool,
        class: Option<&'a ast::Path>,
        member: &'a ast::PathSegment,
        span: Span,
    ) -> Res<Operand<'a>> {
        let mut object = self.expr(base)?;
        if arrow {
            let is_class =
                self.operand_type(&object).is_some_and(|t| self.is_class(&t.ty).is_some());
            if is_class && let Some(result) = self.try_operator("->", &[object.clone()], span) {
                object = result?;
            }
            let pointer = self.rvalue_of(object, base.span)?;
            let Type::Pointer { readonly, .. } = pointer.ty else {
                let text = self.type_text(&pointer.ty);
                let d = error("W062", span, format!("`->` needs a pointer, this is `{text}`"));
                return Err(d.help("use `.`").into());
            };
            let place = self.place_of_pointer(pointer, span);
            object = Operand::Place { place, is_const: readonly };
        }
        if let Operand::Index3(which) = object {
            return match component_index(&member.name, 3) {
                Some(i) => {
                    Ok(Operand::Value(index_component(which, Axis::ALL[usize::from(i)], span)))
                }
                None => fail("W051", span, format!("there is no component `{}`", member.name)),
            };
        }
        let Some(q) = self.operand_type(&object) else {
            // The message for what is no value says more than ours.
            self.rvalue_of(object, base.span)?;
            return fail("W062", span, "`.` needs an object");
        };
        match &q.ty {
            Type::Vector(s, n) => self.component(object, *s, *n, &member.name, span),
            Type::Struct(id) => match self.object_of_struct(*id) {
                Some(o) => {
                    let args = match &member.args {
                        Some(list) => self.resolve_args(self.f_scope(), list)?,
                        None => vec![],
                    };
                    let receiver = self.rvalue_of(object, span)?;
                    let name = member.name.clone();
                    Ok(Operand::ForeignMethod { object: o, receiver, name, args })
                }
                None => match class {
                    Some(path) => self.member_of_base(object, *id, path, member, span),
                    None => self.class_member(object, *id, member, span),
                },
            },
            Type::Pointer { .. } if !arrow => {
                let d = error("W062", span, format!("`.{}` is used on a pointer", member.name));
                Err(d.help(format!("use `->{}`", member.name)).into())
            }
            other => {
                let text = self.type_text(other);
                fail("W051", span, format!("`{text}` has no member `{}`", member.name))
            }
        }
    }

    /// `a.Base::b`
    fn member_of_base(
        &mut self,
        object: Operand<'a>,
        class: warpsmith_ir::StructId,
        path: &'a ast::Path,
        member: &'a ast::PathSegment,
        span: Span,
    ) -> Res<Operand<'a>> {
        let named = self.named_type(self.f_scope(), path)?;
        let base = self.is_class(&named.ty);
        let Some((base, way)) = base.and_then(|b| Some((b, self.base_path(class, b)?))) else {
            return self.class_member(object, class, member, span);
        };
        let (place, is_const) = match object {
            Operand::Place { place, is_const } => (place, is_const),
            other => {
                let value = self.rvalue_of(other, span)?;
                (self.materialise(value, span), false)
            }
        };
        let place = self.base_place(place, &way, &named.ty, span);
        self.class_member(Operand::Place { place, is_const }, base, member, span)
    }

    fn component(
        &mut self,
        object: Operand<'a>,
        s: Scalar,
        n: u8,
        name: &str,
        span: Span,
    ) -> Res<Operand<'a>> {
        let Some(i) = component_index(name, n) else {
            let text = self.type_text(&Type::Vector(s, n));
            return fail("W051", span, format!("`{text}` has no component `{name}`"));
        };
        Ok(match object {
            Operand::Place { place, is_const } => {
                let place = Place::new(PlaceKind::Component(place, i), Type::Scalar(s), span);
                Operand::Place { place, is_const }
            }
            other => {
                let value = self.rvalue_of(other, span)?;
                if let ExprKind::Make(parts) = &*value.kind
                    && let Some(part) = parts.get(usize::from(i))
                {
                    return Ok(Operand::Value(part.clone()));
                }
                Operand::Value(Expr::new(ExprKind::Member(value, i.into()), Type::Scalar(s), span))
            }
        })
    }

    fn class_member(
        &mut self,
        object: Operand<'a>,
        class: warpsmith_ir::StructId,
        member: &'a ast::PathSegment,
        span: Span,
    ) -> Res<Operand<'a>> {
        if self.is_hidden_here(class, &member.name) {
            return fail("W051", span, format!("`{}` is private", member.name));
        }
        let scope = self.class(class).scope;
        let found = self.lookup_in(scope, &member.name);
        match found.first() {
            Some(Entity::Field { path, .. }) => {
                let path = path.clone();
                if let Operand::Value(v) = &object
                    && let [index] = path.as_slice()
                    && let Some((_, ty)) =
                        warpsmith_ir::layout::field_of(&self.module, class, *index)
                    && self.field_info(class, &path).is_some_and(|f| !f.ty.is_reference())
                    && !matches!(ty, Type::Array(..))
                {
                    let ty = ty.clone();
                    return Ok(Operand::Value(Expr::new(
                        ExprKind::Member(v.clone(), *index),
                        ty,
                        span,
                    )));
                }
                let (place, is_const) = match object {
                    Operand::Place { place, is_const } => (place, is_const),
                    other => {
                        let value = self.rvalue_of(other, span)?;
                        (self.materialise(value, span), false)
                    }
                };
                Ok(self.field_operand(place, class, &path, is_const, span))
            }
            Some(Entity::Function(_)) => {
                let fns = functions(&found);
                let args = match &member.args {
                    Some(list) => Some(self.resolve_args(self.f_scope(), list)?),
                    None => None,
                };
                let name = member.name.clone();
                Ok(Operand::Functions { name, fns, args, object: Some(Box::new(object)) })
            }
            Some(Entity::Lazy { decl, item, scope }) => {
                let entity = self.global_entity(decl, item, *scope)?;
                match entity {
                    Entity::Const(e) => Ok(Operand::Value(e.with_origin(span))),
                    Entity::Global { place, is_const } => Ok(Operand::Place { place, is_const }),
                    _ => Err(Failure::Reported),
                }
            }
            Some(Entity::Enumerator { decl, index, scope }) => {
                let v = self.enumerator_value(decl, *index, *scope)?;
                Ok(Operand::Value(Expr::constant(v).with_origin(span)))
            }
            Some(Entity::Const(e)) => Ok(Operand::Value(e.clone().with_origin(span))),
            _ if member.name.starts_with("operator") => {
                self.operator_member(object, class, &member.name, span)
            }
            _ => {
                let text = self.class(class).name.clone();
                let names = self.member_names(class);
                let d = error("W051", span, format!("`{text}` has no member `{}`", member.name));
                match crate::spelling::nearest(&member.name, names.iter().map(String::as_str)) {
                    Some(near) => Err(d.help(format!("did you mean `{near}`?")).into()),
                    None => Err(d.into()),
                }
            }
        }
    }

    /// `f.operator()(x)`, as some write it.
    fn operator_member(
        &mut self,
        object: Operand<'a>,
        class: warpsmith_ir::StructId,
        name: &str,
        span: Span,
    ) -> Res<Operand<'a>> {
        let compact: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        let scope = self.class(class).scope;
        let fns = functions(&self.lookup_in(scope, &compact));
        if fns.is_empty() {
            return fail("W051", span, format!("there is no `{compact}` here"));
        }
        Ok(Operand::Functions { name: compact, fns, args: None, object: Some(Box::new(object)) })
    }

    /// `&e`
    pub(crate) fn address(&mut self, e: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        if let Some(pointer) = self.member_address(e, span)? {
            return Ok(pointer);
        }
        let operand = match &*e.kind {
            ast::ExprKind::Conditional { .. } | ast::ExprKind::Assign { .. } => {
                let (place, is_const) = self.lvalue(e)?;
                Operand::Place { place, is_const }
            }
            _ => self.named_constant(e)?,
        };
        match operand {
            Operand::Shaped { pointer, index, shape, .. } if index.len() < shape.len() => {
                Ok(Operand::Value(self.shaped_value(pointer, index, shape, span)))
            }
            // `&f` is the function, as `f` is.
            Operand::Functions { object: None, .. } => Ok(operand),
            Operand::Foreign { .. } if self.function_of_library(&operand).is_some() => {
                Ok(self.as_value(operand))
            }
            // `&C::f` within `C`, too: its object is given with the call.
            Operand::Functions { name, fns, args, .. } if is_qualified(e) => {
                Ok(Operand::Functions { name, fns, args, object: None })
            }
            Operand::Functions { name, .. } => {
                let d = error(
                    "W053",
                    span,
                    format!("the address of the function `{name}` cannot be taken"),
                );
                Err(d.help("pass a functor or a lambda as a template argument").into())
            }
            other => {
                let (place, is_const) = self.place_of(other, span)?;
                Ok(Operand::Value(self.address_of(place, is_const, span)))
            }
        }
    }

    /// A pointer to a place; for an array, a pointer to the whole array.
    pub(crate) fn address_of(&mut self, place: Place, is_const: bool, span: Span) -> Expr {
        if let Some(v) = place.root_var() {
            self.f().address_taken.insert(v);
        }
        let (space, volatile) = self.memory_of(&place);
        let ty =
            Type::Pointer { pointee: place.ty.clone().into(), space, volatile, readonly: is_const };
        match *place.kind {
            PlaceKind::Deref(p) => super::functions::raw_pointer_cast(p, ty, span),
            PlaceKind::Elem { pointer, index, dims } if dims.is_empty() && index.len() == 1 => {
                let Some(i) = index.into_iter().next() else { return pointer };
                let offset = if is_zero(&i) {
                    pointer
                } else {
                    let pty = pointer.ty.clone();
                    Expr::new(ExprKind::PtrOffset(pointer, i), pty, span)
                };
                super::functions::raw_pointer_cast(offset, ty, span)
            }
            kind => {
                let place = Place { kind: Box::new(kind), ty: place.ty, origin: place.origin };
                if let Type::Array(element, _) = &place.ty {
                    let element = (**element).clone();
                    let zero = Expr::i32(0).with_origin(span);
                    let first = Place::new(PlaceKind::Index(place, zero), element, span);
                    let pointer = self.address_of(first, is_const, span);
                    return super::functions::raw_pointer_cast(pointer, ty, span);
                }
                Expr::new(ExprKind::AddressOf(place), ty, span)
            }
        }
    }

    /// An array as a pointer to its first element.
    pub(crate) fn decay(&mut self, place: Place, is_const: bool, span: Span) -> Expr {
        let Type::Array(element, _) = place.ty.clone() else {
            return self.address_of(place, is_const, span);
        };
        let zero = Expr::i32(0).with_origin(span);
        let first = Place::new(PlaceKind::Index(place, zero), (*element).clone(), span);
        self.address_of(first, is_const, span)
    }

    /// `*pointer`, without going through an address that was just taken.
    pub(crate) fn place_of_pointer(&mut self, pointer: Expr, span: Span) -> Place {
        let pointee = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
        match *pointer.kind {
            ExprKind::AddressOf(place) if place.ty == pointee => place,
            ExprKind::PtrOffset(base, i) => {
                let kind = PlaceKind::Elem { pointer: base, index: vec![i], dims: vec![] };
                Place::new(kind, pointee, span)
            }
            kind => {
                let pointer = Expr { kind: Box::new(kind), ty: pointer.ty, origin: pointer.origin };
                Place::new(PlaceKind::Deref(pointer), pointee, span)
            }
        }
    }

    /// Where a place lives, and whether it is reached as volatile.
    fn memory_of(&mut self, place: &Place) -> (Space, bool) {
        match &*place.kind {
            PlaceKind::Var(v) => match self.f().func.var(*v).kind {
                VarKind::Shared | VarKind::DynamicShared => (Space::Shared, false),
                VarKind::Local | VarKind::Param => (Space::Local, false),
            },
            PlaceKind::Global(id) => {
                let global = self.module.globals.get(id.0 as usize);
                (global.map_or(Space::Generic, |g| g.space), false)
            }
            PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => {
                (super::convert::pointer_space(&p.ty), pointer_volatile(place))
            }
            PlaceKind::Index(b, _) | PlaceKind::Field(b, _) | PlaceKind::Component(b, _) => {
                self.memory_of(b)
            }
        }
    }

    /// An array parameter with declared extents, or a row of it, as a value.
    pub(crate) fn shaped_value(
        &mut self,
        pointer: Expr,
        index: Vec<Expr>,
        shape: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if index.is_empty() {
            return pointer;
        }
        if index.len() == shape.len() {
            return Expr::read(shaped_place(pointer, index, &shape, span)).with_origin(span);
        }
        // A row decays to a pointer to its first element.
        let mut full = index;
        while full.len() < shape.len() {
            full.push(Expr::i32(0).with_origin(span));
        }
        let ty = pointer.ty.clone();
        let place = shaped_place(pointer, full, &shape, span);
        Expr::new(ExprKind::AddressOf(place), ty, span)
    }
}

/// `x y z w` of a vector with `n` components.
fn component_index(name: &str, n: u8) -> Option<u8> {
    let i = ["x", "y", "z", "w"].iter().position(|c| *c == name)? as u8;
    (i < n).then_some(i)
}

/// `C::f`, not `f` alone.
fn is_qualified(e: &ast::Expr) -> bool {
    matches!(&*e.kind, ast::ExprKind::Path(path) if path.segments.len() > 1)
}
