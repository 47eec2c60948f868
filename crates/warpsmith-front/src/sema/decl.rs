//! Local declarations.

use warpsmith_ir::{
    Expr, ExprKind, Place, PlaceKind, Scalar, Space, Span, StmtKind, Type, Var, VarKind,
};

use super::Sema;
use super::construct::type_is_dim3;
use super::convert::{pointer_space, with_space};
use super::functions::is_auto;
use super::model::*;
use super::own_names::{expressions, in_own_lambda};
use crate::ast::{self, Initializer};

/// The member of `std::tuple` in the prelude that holds all parts but the first.
const OTHER_PARTS: &str = "others";

impl<'a> Sema<'a> {
    pub(crate) fn local_vars(&mut self, vars: &'a ast::VarDecl) -> Res<()> {
        let scope = self.f_scope();
        self.declare_inline_type(scope, vars);
        for d in &vars.declarators {
            if vars.attrs.is_extern && !vars.attrs.shared && self.outer_variable(d) {
                continue;
            }
            if let Err(failure) = self.local_var(vars, d) {
                // Uses of the name would only repeat the error.
                self.declare(scope, &d.name, Entity::Poisoned);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// `extern T x;` in a block: `x` is the variable of that name around all functions, if there is one.
    fn outer_variable(&mut self, d: &ast::Declarator) -> bool {
        let scope = self.f_scope();
        let found = self.lookup(self.file_around(scope), &d.name).into_iter().next();
        let Some(entity) = found.filter(|e| !matches!(e, Entity::Function(_))) else {
            return false;
        };
        self.declare(scope, &d.name, entity);
        true
    }

    pub(crate) fn local_var(&mut self, vars: &'a ast::VarDecl, d: &'a ast::Declarator) -> Res<()> {
        if d.name.is_empty() {
            return Ok(());
        }
        if vars.attrs.shared {
            return self.shared_var(vars, d);
        }
        if let ast::TypeKind::Function { ret, params } = &d.ty.kind {
            return self.misread_function(&d.name, d.span, ret, params);
        }
        if is_auto(&d.ty) {
            self.auto_var(vars, d)?;
            return self.bind_parts(d);
        }
        if let Some(declared) = self.variable_length(d) {
            return declared;
        }
        let scope = self.f_scope();
        let mut q = match self.deduced_variable(scope, d)? {
            Some(q) => q,
            None => self.resolve_type(scope, &d.ty)?,
        };
        q.is_const |= vars.attrs.is_constexpr;
        if q.is_reference() {
            return self.reference_var(&q, d);
        }
        if q.ty == Type::Void {
            return fail("W052", d.span, format!("`{}` cannot be of type void", d.name));
        }
        self.complete_length(&mut q, d)?;
        let made_later = self.tolerates() && vars.attrs.is_static && self.is_made(&q.ty);
        if q.is_const && self.is_table(vars, &q) && !made_later {
            let entity = self.constant_table(vars, d, scope)?;
            self.declare(scope, &d.name, entity);
            return Ok(());
        }
        if vars.attrs.is_static && self.tolerates() {
            let entity = self.host_static(vars, d, scope)?;
            self.declare(scope, &d.name, entity);
            return Ok(());
        }
        if vars.attrs.is_static && self.f().func.kind != warpsmith_ir::FunctionKind::Host {
            // One for all threads, as a variable of the device is.
            let entity = self.device_static(vars, d, scope)?;
            self.declare(scope, &d.name, entity);
            return Ok(());
        }
        if vars.attrs.is_static {
            let e = error(
                "W090",
                d.span,
                format!(
                    "the static variable `{}` keeps its value between calls: not supported",
                    d.name
                ),
            );
            return Err(e
                .help("make it a `__device__` variable, or `const` with a constant value")
                .into());
        }
        self.plain_var(vars, d, q)
    }

    /// `T a[] = { … }` takes its length from the list.
    pub(crate) fn complete_length(&mut self, q: &mut QualType, d: &'a ast::Declarator) -> Res<()> {
        if let (Type::Array(element, 0), ast::TypeKind::Array { extent: None, .. }) =
            (&q.ty, &d.ty.kind)
        {
            let Some(init) = &d.init else {
                return fail("W054", d.span, format!("the array `{}` needs a length", d.name));
            };
            let n = self.list_length(init)?;
            q.ty = Type::array((**element).clone(), n);
        }
        Ok(())
    }

    /// Whether a constant is stored once instead of being a variable of each thread.
    fn is_table(&self, vars: &ast::VarDecl, q: &QualType) -> bool {
        let folded = vars.attrs.is_static || vars.attrs.is_constexpr;
        folded && (q.ty.is_aggregate()) && !matches!(q.ty, Type::Vector(..))
    }

    fn plain_var(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        q: QualType,
    ) -> Res<()> {
        let ends = self.ends(&q.ty);
        self.variable_of_block(vars, d, q)?;
        if ends { self.ends_with_scope(&d.name, d.span) } else { Ok(()) }
    }

    fn variable_of_block(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        q: QualType,
    ) -> Res<()> {
        let scope = self.f_scope();
        let ones = type_is_dim3(&d.ty);
        let Some(init) = &d.init else {
            return self.uninitialised(vars, d, q, ones);
        };
        if in_own_lambda(expressions(init), &d.name) {
            return self.declared_first(vars, d, QualType { is_const: false, ..q }, init);
        }
        let own = (d.name.as_str(), &q.ty, d.span);
        let value = self.with_own_type(own, expressions(init), |s| {
            s.declared_value(&q.ty, init, ones, d.span)
        })?;
        if vars.attrs.is_constexpr || q.is_const {
            if let Some(v) = value.as_const()
                && (vars.attrs.is_constexpr || v.ty.is_integer())
            {
                self.declare(scope, &d.name, Entity::Const(Expr::constant(v)));
                return Ok(());
            }
            if vars.attrs.is_constexpr && q.ty.scalar().is_some() {
                let v = self.const_init(scope, &q.ty, init, d.span)?;
                self.declare(scope, &d.name, Entity::Const(Expr::constant(v)));
                return Ok(());
            }
        }
        let mut q = q;
        let value = self.keep_space(&mut q, value, init, &d.name)?;
        self.finish_var(vars, d, q, Some(value))
    }

    /// `std::function<int(int)> f = [&](int n) { … f(n - 1) … };`: the lambda refers to the variable that it becomes the value of.
    fn declared_first(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        q: QualType,
        init: &'a Initializer,
    ) -> Res<()> {
        let scope = self.f_scope();
        let ty = q.ty.clone();
        self.uninitialised(vars, d, q, false)?;
        let value = self.declared_value(&ty, init, false, d.span)?;
        let declared = self.lookup_in(scope, &d.name).into_iter().next_back();
        if let Some(Entity::Place { place, .. }) = declared {
            self.emit(StmtKind::Assign { place, value }, d.span);
        }
        Ok(())
    }

    /// `Point p(1, 2)`, `Point p = {…}` of a class with constructors; others are left to the caller.
    pub(crate) fn class_init(
        &mut self,
        ty: &Type,
        init: &'a Initializer,
        span: Span,
    ) -> Res<Option<Expr>> {
        let Some(class) = self.is_class(ty) else { return Ok(None) };
        match init {
            Initializer::Call(args, at) => {
                let list = self.arguments(args)?;
                self.construct_class(class, list, *at).map(Some)
            }
            Initializer::Expr(e) => {
                let operand = self.expr(e)?;
                if let Operand::List(items) = operand {
                    return self.list_value(ty, items, self.f_scope(), e.span).map(Some);
                }
                let copy = self.copied(operand, e.span)?;
                let value = self.rvalue_of(copy, e.span)?;
                self.convert_to(value, ty, span).map(Some)
            }
            Initializer::List(..) => Ok(None),
        }
    }

    /// A pointer that is never assigned again points where its first value points.
    fn keep_space(
        &mut self,
        q: &mut QualType,
        value: Expr,
        init: &'a Initializer,
        name: &str,
    ) -> Res<Expr> {
        if !q.ty.is_pointer() || !q.is_const && self.f().assigned.contains(name) {
            return Ok(value);
        }
        let space = value_space(&value);
        let _ = init;
        if space == Space::Generic || space == Space::Local {
            return Ok(value);
        }
        q.ty = with_space(&q.ty, space);
        let ty = q.ty.clone();
        // The conversion to the declared type only forgot the space.
        if let ExprKind::Cast(inner) = &*value.kind
            && inner.ty == ty
        {
            return Ok(inner.clone());
        }
        Ok(Expr { ty, ..value })
    }

    fn uninitialised(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        q: QualType,
        ones: bool,
    ) -> Res<()> {
        if q.is_const && !self.needs_init(&q.ty) {
            return fail("W092", d.span, format!("the constant `{}` has no value", d.name));
        }
        if let Type::Array(_, 0) = q.ty {
            return fail("W054", d.span, format!("the array `{}` has no elements", d.name));
        }
        if ones {
            let value = self.construct(&q.ty, vec![], true, d.span)?;
            return self.finish_var(vars, d, q, Some(value));
        }
        let ty = q.ty.clone();
        self.finish_var(vars, d, q, None)?;
        if self.needs_init(&ty) {
            let scope = self.f_scope();
            if let Some(Entity::Place { place, .. }) =
                self.scope(scope).names.get(&d.name).and_then(|l| l.last()).cloned()
            {
                self.default_init(place, d.span)?;
            }
        }
        Ok(())
    }

    /// Declares the variable in the function, the statements and the scope.
    pub(crate) fn finish_var(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        q: QualType,
        init: Option<Expr>,
    ) -> Res<()> {
        let scope = self.f_scope();
        let mut var = Var::new(&d.name, q.ty.clone(), VarKind::Local);
        var.constant = q.is_const;
        var.restrict = matches!(d.ty.kind, ast::TypeKind::Pointer { restrict: true, .. });
        var.align = self.alignment(vars, scope)?;
        var.origin = d.span.into();
        let id = self.f().func.add_var(var);
        let owner = self.f().serial;
        self.emit(StmtKind::Decl { var: id, init }, d.span);
        let place = Place::new(PlaceKind::Var(id), q.ty, d.span);
        self.declare(
            scope,
            &d.name,
            Entity::Place { owner, place, is_const: q.is_const, shape: None },
        );
        Ok(())
    }

    fn alignment(&mut self, vars: &'a ast::VarDecl, scope: ScopeId) -> Res<u32> {
        let Some(e) = &vars.attrs.align else { return Ok(0) };
        let n = self.alignment_value(scope, e)?;
        match u32::try_from(n).ok().filter(|n| n.is_power_of_two() && *n <= 1 << 16) {
            Some(n) => Ok(n),
            None => fail("W093", e.span, format!("an alignment is a power of two, not {n}")),
        }
    }

    fn auto_var(&mut self, vars: &'a ast::VarDecl, d: &'a ast::Declarator) -> Res<()> {
        let (operand, at) = match &d.init {
            Some(Initializer::Expr(e)) => (self.expr(e)?, e.span),
            Some(Initializer::Call(args, at)) => match args.as_slice() {
                [only] => (self.expr(only)?, *at),
                _ => return fail("W052", *at, "`auto` needs one value"),
            },
            Some(Initializer::List(items, at)) => match items.as_slice() {
                [ast::InitItem { designator: None, value: Initializer::Expr(e) }] => {
                    (self.expr(e)?, *at)
                }
                _ => return fail("W052", *at, "`auto` needs one value"),
            },
            None => return fail("W052", d.span, "`auto` needs a value to take its type from"),
        };
        let Some(actual) = self.operand_type(&operand) else {
            let value = self.rvalue_of(operand, at)?;
            return fail("W052", at, format!("`auto` cannot be `{}`", self.type_text(&value.ty)));
        };
        if actual.ty == Type::Void {
            return fail("W061", at, "this call gives no value (`void`)");
        }
        let mut q = self.auto_type(&d.ty, &actual)?;
        q.is_const |= vars.attrs.is_constexpr;
        if q.is_reference() {
            return self.bind_reference(&q, operand, &d.name, d.span);
        }
        let copy = self.copied(operand, at)?;
        let value = self.rvalue_of(copy, at)?;
        let scope = self.f_scope();
        if let Some(v) = value.as_const()
            && (vars.attrs.is_constexpr || q.is_const && v.ty.is_integer())
        {
            self.declare(scope, &d.name, Entity::Const(Expr::constant(v)));
            return Ok(());
        }
        if q.ty.is_pointer() {
            let keeps = q.is_const || !self.f().assigned.contains(&d.name);
            let space = value_space(&value);
            let space = if keeps && space != Space::Local { space } else { Space::Generic };
            q.ty = with_space(&q.ty, space);
        }
        let value = super::functions::raw_pointer_cast_if(value, &q.ty, at);
        self.finish_var(vars, d, q, Some(value))
    }

    /// Gives the parts of a structured binding their names.
    pub(crate) fn bind_parts(&mut self, d: &'a ast::Declarator) -> Res<()> {
        if d.parts.is_empty() {
            return Ok(());
        }
        let scope = self.f_scope();
        let whole = self.lookup_in(scope, &d.name).into_iter().next();
        let Some(Entity::Place { owner, place, is_const, .. }) = whole else {
            return fail("W052", d.span, "only variables with parts can be bound part by part");
        };
        let parts = self.parts_of(&place);
        if parts.len() != d.parts.len() {
            let (text, n) = (self.type_text(&place.ty), d.parts.len());
            let message = format!("`{text}` has {} parts, and {n} names are bound", parts.len());
            return fail("W052", d.span, message);
        }
        for (name, place) in d.parts.iter().zip(parts) {
            self.declare(scope, name, Entity::Place { owner, place, is_const, shape: None });
        }
        Ok(())
    }

    /// The fields, components or elements of a place.
    fn parts_of(&self, place: &Place) -> Vec<Place> {
        let at = |kind, ty: &Type| Place::new(kind, ty.clone(), place.origin.clone());
        match &place.ty {
            Type::Struct(id) if self.classes.contains_key(id) => self.parts_of_object(place, *id),
            Type::Struct(id) => {
                let fields = self.module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
                let part = |(i, f): (usize, &warpsmith_ir::StructField)| {
                    at(PlaceKind::Field(place.clone(), i as u32), &f.ty)
                };
                fields.iter().enumerate().map(part).collect()
            }
            Type::Vector(scalar, n) => (0..*n)
                .map(|i| at(PlaceKind::Component(place.clone(), i), &Type::Scalar(*scalar)))
                .collect(),
            Type::Array(element, n) => (0..*n as i32)
                .map(|i| at(PlaceKind::Index(place.clone(), Expr::i32(i)), element))
                .collect(),
            _ => vec![],
        }
    }

    /// What the members of an object are or refer to; a tuple of the prelude holds its first part and a tuple of the others.
    fn parts_of_object(&self, object: &Place, id: warpsmith_ir::StructId) -> Vec<Place> {
        let mut parts = vec![];
        for field in &self.class(id).fields {
            let part = self.field_place(object.clone(), &[field.index], field.span);
            let of_prelude = Some(field.span.file) == self.prelude_file();
            if of_prelude && field.name == OTHER_PARTS {
                parts.extend(self.parts_of(&part));
            } else if field.ty.is_reference() {
                let pointer = Expr::read(part).with_origin(field.span);
                let kind = PlaceKind::Deref(pointer);
                parts.push(Place::new(kind, field.ty.ty.clone(), field.span));
            } else {
                parts.push(part);
            }
        }
        parts
    }

    fn reference_var(&mut self, q: &QualType, d: &'a ast::Declarator) -> Res<()> {
        let operand = match &d.init {
            Some(Initializer::Expr(e)) => match &*e.kind {
                ast::ExprKind::Conditional { .. } if !q.is_const => {
                    let (place, is_const) = self.lvalue(e)?;
                    Operand::Place { place, is_const }
                }
                _ => self.expr(e)?,
            },
            Some(Initializer::Call(args, _)) if args.len() == 1 => match args.first() {
                Some(only) => self.expr(only)?,
                None => return Err(Failure::Reported),
            },
            Some(Initializer::List(items, _)) => match items.as_slice() {
                [ast::InitItem { designator: None, value: Initializer::Expr(e) }] => {
                    self.expr(e)?
                }
                _ => Operand::List(items),
            },
            _ => {
                return fail(
                    "W073",
                    d.span,
                    format!("the reference `{}` needs something to refer to", d.name),
                );
            }
        };
        self.bind_reference(q, operand, &d.name, d.span)
    }

    /// A local reference is another name for a place whose operands are evaluated now.
    pub(super) fn bind_reference(
        &mut self,
        q: &QualType,
        operand: Operand<'a>,
        name: &str,
        span: Span,
    ) -> Res<()> {
        let (place, is_const) = self.bind_place(operand, q, span)?;
        let place = self.hold_place(place, span);
        let owner = self.f().serial;
        let scope = self.f_scope();
        let is_const = is_const || q.is_const;
        self.declare(scope, name, Entity::Place { owner, place, is_const, shape: None });
        Ok(())
    }

    /// `__shared__`, static or dynamic.
    pub(crate) fn shared_var(&mut self, vars: &'a ast::VarDecl, d: &'a ast::Declarator) -> Res<()> {
        let scope = self.f_scope();
        let q = self.resolve_type(scope, &d.ty)?;
        let align = self.alignment(vars, scope)?;
        let entity = self.shared_entity(vars, d, &d.name, q, align)?;
        self.declare(scope, &d.name, entity);
        Ok(())
    }

    /// `name` is that of the variable in the IR: a variable of the file begins with `::`.
    pub(crate) fn shared_entity(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        name: &str,
        q: QualType,
        align: u32,
    ) -> Res<Entity<'a>> {
        if self.f().func.kind == warpsmith_ir::FunctionKind::Host {
            return fail("W094", d.span, "host code has no shared memory");
        }
        if d.init.is_some() {
            let e = error("W094", d.span, "a shared variable cannot have an initialiser");
            return Err(e.help("let one thread assign it, then `__syncthreads()`").into());
        }
        if q.is_reference() {
            return fail("W094", d.span, "a shared variable cannot be a reference");
        }
        let is_dynamic = vars.attrs.is_extern;
        let ty = match (&q.ty, is_dynamic) {
            (Type::Array(element, _), true) => Type::array((**element).clone(), 0),
            (other, true) => Type::array(other.clone(), 0),
            (Type::Array(_, 0), false) => {
                let e =
                    error("W054", d.span, format!("the shared array `{}` needs a length", d.name));
                return Err(e.help("for dynamic shared memory: `extern __shared__`").into());
            }
            (other, false) => other.clone(),
        };
        let kind = if is_dynamic { VarKind::DynamicShared } else { VarKind::Shared };
        let f = self.f();
        // Each function has one variable for a declaration, however often its name is looked up.
        let same = |v: &Var| v.kind == kind && v.name == name && v.origin.span == Some(d.span);
        let id = match f.func.vars.iter().position(same) {
            Some(i) => warpsmith_ir::VarId(i as u32),
            None => {
                let mut var = Var::new(name, ty.clone(), kind);
                var.align = align;
                var.origin = d.span.into();
                f.func.add_var(var)
            }
        };
        let owner = f.serial;
        let place = Place::new(PlaceKind::Var(id), ty.clone(), d.span);
        let place = if is_dynamic && !matches!(q.ty, Type::Array(..)) {
            // `extern __shared__ T x;`: the first element of the block.
            let zero = Expr::int(Scalar::I32, 0).with_origin(d.span);
            Place::new(PlaceKind::Index(place, zero), q.ty.clone(), d.span)
        } else {
            place
        };
        let place = if q.is_volatile || vars.attrs.is_volatile {
            self.volatile_view(place, d.span)
        } else {
            place
        };
        Ok(Entity::Place { owner, place, is_const: q.is_const, shape: None })
    }

    /// The place seen through a pointer to volatile.
    fn volatile_view(&mut self, place: Place, span: Span) -> Place {
        let ty = place.ty.clone();
        let pointer = self.address_of(place, false, span);
        let space = pointer_space(&pointer.ty);
        let target =
            Type::Pointer { pointee: ty.clone().into(), space, volatile: true, readonly: false };
        let cast = Expr::new(ExprKind::Cast(pointer), target, span);
        Place::new(PlaceKind::Deref(cast), ty, span)
    }
}

/// The memory a pointer value is known to point into, looking through casts.
fn value_space(value: &Expr) -> Space {
    match (&value.ty, &*value.kind) {
        (Type::Pointer { space: Space::Generic, .. }, ExprKind::Cast(inner)) => value_space(inner),
        (Type::Pointer { space, .. }, _) => *space,
        _ => Space::Generic,
    }
}
