//! Objects as their classes begin them: default initialisation, and member initialisers of constructors.

use warpsmith_ir::{Expr, Place, Span, StmtKind, StructId, Type};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// Runs a class's default initialisation on a place: constructor, default members; plain data stays unset.
    pub(crate) fn default_init(&mut self, place: Place, span: Span) -> Res<()> {
        let ty = place.ty.clone();
        if let Type::Array(element, n) = &ty {
            if !self.needs_init(element) {
                return Ok(());
            }
            for i in 0..self.element_count(&ty, span).map(|c| c.min(*n))? {
                let at = Expr::i32(i as i32).with_origin(span);
                let kind = warpsmith_ir::PlaceKind::Index(place.clone(), at);
                self.default_init(Place::new(kind, (**element).clone(), span), span)?;
            }
            return Ok(());
        }
        let Some(class) = self.is_class(&ty) else { return Ok(()) };
        let ctors = self.class(class).ctors.clone();
        let callable = ctors
            .iter()
            .any(|c| c.decl.params.iter().all(|p| p.default.is_some()) && self.has_body(class, c));
        if callable {
            let name = self.class(class).name.clone();
            let chosen =
                self.resolve_overload(&name, &ctors, None, Some((class, false)), &[], span)?;
            let object = Operand::Place { place, is_const: false };
            self.call_chosen(chosen, Some(object), vec![], span)?;
            return Ok(());
        }
        if !ctors.is_empty() && !ctors.iter().any(|c| c.decl.params.is_empty()) {
            let name = self.class(class).name.clone();
            let d = error("W063", span, format!("`{name}` has no constructor without arguments"));
            return Err(d.help("give the constructor's arguments").into());
        }
        self.init_members(place, class, &[], span)
    }

    /// Whether default initialisation of a type does anything.
    pub(crate) fn needs_init(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(element, _) => self.needs_init(element),
            _ => self.is_class(ty).is_some_and(|class| {
                let info = self.class(class);
                !info.ctors.is_empty()
                    || self.is_polymorphic(class)
                    || info.fields.iter().any(|f| f.init.is_some() || self.needs_init(&f.ty.ty))
                    || info.bases.iter().any(|b| self.needs_init(&Type::Struct(b.class)))
            }),
        }
    }

    /// Member initialisers of a constructor, in the order of declaration.
    pub(crate) fn lower_member_inits(&mut self, f: FnDecl<'a>, class: StructId) -> Res<()> {
        let span = f.decl.head_span;
        let Some((place, _)) = self.this_place(class, span) else { return Ok(()) };
        let own_name = self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default();
        if let Some((_, args, at)) = f.decl.inits.iter().find(|(n, ..)| *n == own_name) {
            let list = self.arguments(args)?;
            let ctors = self.class(class).ctors.clone();
            let chosen =
                self.resolve_overload(&own_name, &ctors, None, Some((class, false)), &list, *at)?;
            let object = Operand::Place { place, is_const: false };
            return self.call_chosen(chosen, Some(object), list, *at).map(drop);
        }
        for (name, _, at) in &f.decl.inits {
            if !self.has_member_or_base(class, name) {
                return fail("W051", *at, format!("`{own_name}` has no member or base `{name}`"));
            }
        }
        self.init_members(place, class, &f.decl.inits, span)
    }

    fn has_member_or_base(&self, class: StructId, name: &str) -> bool {
        let info = self.class(class);
        info.bases.iter().any(|b| self.base_name(b.class) == name)
            || matches!(
                self.scope(info.scope).names.get(name).and_then(|l| l.first()),
                Some(Entity::Field { .. })
            )
    }

    pub(crate) fn base_name(&self, class: StructId) -> String {
        self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default()
    }

    fn init_members(
        &mut self,
        object: Place,
        class: StructId,
        inits: &'a [(String, Vec<ast::Expr>, Span)],
        span: Span,
    ) -> Res<()> {
        let bases = self.class(class).bases.clone();
        for base in bases {
            let path: Vec<u32> = base.index.into_iter().collect();
            let ty = Type::Struct(base.class);
            let name = self.base_name(base.class);
            let given = inits.iter().find(|(n, ..)| *n == name);
            if given.is_none() && !self.needs_init(&ty) {
                continue;
            }
            let place = self.base_place(object.clone(), &path, &ty, span);
            match given {
                Some((_, args, at)) => {
                    let list = self.arguments(args)?;
                    let value = self.construct_class(base.class, list, *at)?;
                    self.emit(StmtKind::Assign { place, value }, *at);
                }
                None => self.default_init(place, span)?,
            }
        }
        self.set_class_number(&object, class, span);
        let fields = self.class(class).fields.clone();
        for field in fields {
            let place = self.field_place(object.clone(), &[field.index], span);
            if let Some(bits) = field.bits {
                let given = inits.iter().find(|(n, ..)| *n == field.name && !n.is_empty());
                let value = match given {
                    Some((_, args, at)) => {
                        let list = self.arguments(args)?;
                        Some(self.construct(&Type::Scalar(bits.ty), list, false, *at)?)
                    }
                    None => self.default_bits(class, &field, span)?,
                };
                if let Some(value) = value {
                    self.write_bits(place, bits, value, span)?;
                }
                continue;
            }
            if let Some((_, args, at)) = inits.iter().find(|(n, ..)| *n == field.name) {
                self.init_field(&field, place, args, *at)?;
            } else if let Some(init) = field.init {
                let scope = self.class(class).scope;
                let value = self.init_in_scope(&place.ty.clone(), init, scope, field.span)?;
                self.emit(StmtKind::Assign { place, value }, field.span);
            } else if self.needs_init(&field.ty.ty) && !field.ty.is_reference() {
                self.default_init(place, span)?;
            }
        }
        Ok(())
    }

    fn init_field(
        &mut self,
        field: &FieldInfo<'a>,
        place: Place,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<()> {
        let mut list = self.arguments(args)?;
        if field.ty.is_reference() {
            let pointer = self.bound(field, list.pop(), span)?;
            self.emit(StmtKind::Assign { place, value: pointer }, span);
            return Ok(());
        }
        let ty = place.ty.clone();
        let value = match list.as_slice() {
            [Operand::List(items)] => self.list_value(&ty, items, self.f_scope(), span)?,
            _ => self.construct(&ty, list, false, span)?,
        };
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(())
    }
}
