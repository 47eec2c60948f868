//! Objects and values that are made: constructors, `T(a, b)`, `T{a, b}`.

use warpsmith_ir::{Expr, ExprKind, Place, PlaceKind, Scalar, Span, StmtKind, StructId, Type};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// `T(a, b)`, `T{a, b}`.
    pub(crate) fn construct_expr(
        &mut self,
        ty: &'a ast::TypeName,
        args: &'a [ast::Initializer],
        braces: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let q = match self.deduced_construct(ty, args)? {
            Some(q) => q,
            None => self.resolve_type(self.f_scope(), ty)?,
        };
        let ones = type_is_dim3(ty);
        if q.ty == Type::Void && args.is_empty() {
            return Ok(Operand::Void);
        }
        let mut list = vec![];
        for arg in args {
            list.push(match arg {
                ast::Initializer::Expr(e) => {
                    if let ast::ExprKind::PackExpansion(pattern) = &*e.kind {
                        list.extend(self.expand_operands(pattern, e.span)?);
                        continue;
                    }
                    self.expr(e)?
                }
                ast::Initializer::List(items, _) => Operand::List(items),
                ast::Initializer::Call(..) => {
                    return fail("W075", span, "arguments are not understood here");
                }
            });
        }
        let list = match self.is_class(&q.ty).filter(|_| braces) {
            Some(class) => self.list_arguments(class, list, span)?,
            None => list,
        };
        self.construct(&q.ty, list, ones, span).map(Operand::Value)
    }

    /// A value of a type from arguments; without any, zeros. With `ones`, missing components are 1 (`dim3`).
    pub(crate) fn construct(
        &mut self,
        ty: &Type,
        args: Vec<Operand<'a>>,
        ones: bool,
        span: Span,
    ) -> Res<Expr> {
        match ty {
            Type::Struct(id) if self.classes.contains_key(id) => {
                self.construct_class(*id, args, span)
            }
            Type::Vector(s, n) => {
                let only =
                    if let [only] = args.as_slice() { self.operand_type(only) } else { None };
                if only.is_some_and(|q| self.is_class(&q.ty).is_some())
                    && let Some(object) = args.first().cloned()
                {
                    let value = self.rvalue_of(object, span)?;
                    return self.convert_to(value, ty, span);
                }
                self.construct_vector(ty, *s, *n, args, ones, span)
            }
            Type::Array(..) => self.aggregate_from(ty, args, span),
            _ => {
                let mut list = args.into_iter();
                match (list.next(), list.next()) {
                    (None, _) => self.zero_value(ty, span),
                    (Some(Operand::List(items)), None) => {
                        self.list_value(ty, items, self.f_scope(), span)
                    }
                    (Some(one), None) => {
                        let value = self.rvalue_of(one, span)?;
                        self.convert_explicitly(value, ty, "c", span)
                    }
                    _ => {
                        let text = self.type_text(ty);
                        fail("W063", span, format!("`{text}` is made from one value"))
                    }
                }
            }
        }
    }

    fn construct_vector(
        &mut self,
        ty: &Type,
        s: Scalar,
        n: u8,
        args: Vec<Operand<'a>>,
        ones: bool,
        span: Span,
    ) -> Res<Expr> {
        if args.len() > usize::from(n) {
            let text = self.type_text(ty);
            return fail(
                "W063",
                span,
                format!("`{text}` has {n} components, {} given", args.len()),
            );
        }
        let mut parts = vec![];
        let count = args.len();
        for arg in args {
            let value = self.rvalue_of(arg, span)?;
            if count == 1 && value.ty == *ty {
                return Ok(value);
            }
            parts.push(self.convert_to(value, &Type::Scalar(s), span)?);
        }
        while parts.len() < usize::from(n) {
            parts.push(Expr::int(s, i64::from(ones)).with_origin(span));
        }
        Ok(Expr::new(ExprKind::Make(parts), ty.clone(), span))
    }

    /// An object of a class: by its constructors, or member by member.
    pub(crate) fn construct_class(
        &mut self,
        class: StructId,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let ty = Type::Struct(class);
        if let [only] = args.as_slice()
            && self.copies(class, &args)
        {
            let copy = self.copied(only.clone(), span)?;
            let value = self.rvalue_of(copy, span)?;
            return self.convert_to(value, &ty, span);
        }
        if args.is_empty() && self.is_polymorphic(class) && !self.has_user_ctor(class, 0) {
            let place = self.new_object_place(&ty, span);
            self.default_init(place.clone(), span)?;
            return Ok(Expr::read(place));
        }
        if !self.has_constructor_for(class, args.len()) {
            return self.aggregate_from(&ty, args, span);
        }
        let place = self.new_object_place(&ty, span);
        self.run_constructor(place.clone(), class, args, span)?;
        Ok(Expr::read(place))
    }

    /// Whether a constructor with a body makes an object of so many arguments, or members get values one by one.
    fn has_constructor_for(&self, class: StructId, arity: usize) -> bool {
        let ctors = &self.class(class).ctors;
        let defaulted = ctors.iter().any(|c| c.decl.params.is_empty() && !self.has_body(class, c));
        !ctors.is_empty() && (arity != 0 || !defaulted || self.has_user_ctor(class, 0))
    }

    fn run_constructor(
        &mut self,
        place: Place,
        class: StructId,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<()> {
        let name = self.class(class).name.clone();
        let ctors = self.class(class).ctors.clone();
        let chosen =
            self.resolve_overload(&name, &ctors, None, Some((class, false)), &args, span)?;
        let object = Operand::Place { place, is_const: false };
        self.call_chosen(chosen, Some(object), args, span).map(drop)
    }

    /// Makes an object where it is to be. A constructor runs there, so that members it leaves alone are not stored.
    pub(crate) fn construct_at(
        &mut self,
        place: Place,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<()> {
        if let Type::Struct(class) = place.ty
            && self.classes.contains_key(&class)
            && self.has_constructor_for(class, args.len())
            && !self.copies(class, &args)
        {
            return self.run_constructor(place, class, args, span);
        }
        let value = self.construct(&place.ty.clone(), args, false, span)?;
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(())
    }

    /// Whether the arguments are one object of the class or of one derived from it.
    fn copies(&mut self, class: StructId, args: &[Operand<'a>]) -> bool {
        let [only] = args else { return false };
        let ty = self.operand_type(only);
        let from = ty.and_then(|q| self.is_class(&q.ty));
        from.is_some_and(|from| self.base_path(from, class).is_some())
    }

    /// Whether a constructor has a body, in its class or outside; others are `= default`.
    pub(crate) fn has_body(&self, class: StructId, ctor: &FnDecl<'a>) -> bool {
        let name = self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default();
        let outside = self.out_of_line.get(&(name.clone(), name));
        let mut outside = outside.into_iter().flatten();
        ctor.decl.body.is_some()
            || outside
                .any(|f| f.decl.body.is_some() && f.decl.params.len() == ctor.decl.params.len())
    }

    /// A variable for an object that is being made.
    pub(crate) fn new_object_place(&mut self, ty: &Type, span: Span) -> Place {
        let var = self.fresh_var("object", ty.clone(), span);
        self.emit(StmtKind::Decl { var, init: None }, span);
        Place::new(PlaceKind::Var(var), ty.clone(), span)
    }

    fn has_user_ctor(&self, class: StructId, arity: usize) -> bool {
        self.class(class).ctors.iter().any(|c| {
            self.has_body(class, c)
                && c.decl.params.iter().filter(|p| p.default.is_none()).count() <= arity
        })
    }
}

pub(crate) fn type_is_dim3(ty: &ast::TypeName) -> bool {
    matches!(&ty.kind, ast::TypeKind::Named(p) if p.segments.last().is_some_and(|s| s.name == "dim3"))
        || matches!(&ty.kind, ast::TypeKind::Builtin(w) if w.iter().any(|x| x == "dim3"))
}
