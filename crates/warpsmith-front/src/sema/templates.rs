//! Template arguments: resolving, defaults, deduction, matching of specialisations.

use std::collections::HashMap;

use warpsmith_ir::{Expr, Scalar, Space, Span, Type, Value};

use super::Sema;
use super::model::*;
use super::types::Found;
use crate::ast::{self, TemplateArg, TemplateParamKind, TypeKind};

/// What deduction has found so far, by parameter name.
pub(crate) type Bindings = HashMap<String, TArg>;

impl<'a> Sema<'a> {
    /// Explicit template arguments, in order.
    pub(crate) fn resolve_args(
        &mut self,
        scope: ScopeId,
        list: &'a [TemplateArg],
    ) -> Res<Vec<TArg>> {
        let mut all = vec![];
        for arg in list {
            match self.resolve_arg(scope, arg)? {
                TArg::Pack(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        Ok(all)
    }

    pub(crate) fn resolve_arg(&mut self, scope: ScopeId, arg: &'a TemplateArg) -> Res<TArg> {
        match arg {
            TemplateArg::Type(t) => {
                // A name that the grammar took for a type may be a constant.
                if let TypeKind::Named(path) = &t.kind
                    && !t.is_const
                {
                    return self.resolve_name_arg(scope, path);
                }
                let q = self.resolve_type(scope, t)?;
                Ok(TArg::Type(despaced(q)))
            }
            TemplateArg::Value(e) => match &*e.kind {
                ast::ExprKind::Path(path) => self.resolve_name_arg(scope, path),
                ast::ExprKind::PackExpansion(inner) => match &*inner.kind {
                    ast::ExprKind::Path(path) => self.resolve_name_arg(scope, path),
                    _ => fail("W055", e.span, "only plain packs can be expanded here"),
                },
                _ => Ok(TArg::Value(self.const_value(scope, e)?)),
            },
            TemplateArg::Name(path) => self.resolve_name_arg(scope, path),
        }
    }

    fn resolve_name_arg(&mut self, scope: ScopeId, path: &'a ast::Path) -> Res<TArg> {
        match self.resolve_path(scope, path)? {
            Found::Entities(entities, args) => {
                if let Some(Entity::Pack(inner)) = entities.first() {
                    return pack_arg(inner, path.span);
                }
                if let Some(template) = self.template_arg(&entities, args.is_some(), path) {
                    return Ok(template);
                }
                if let Some(t) = self.entity_type(scope, &entities, args, path.span)? {
                    return Ok(TArg::Type(despaced(t)));
                }
                let fns = super::expr::functions(&entities);
                if !fns.is_empty() {
                    let name = path.segments.last().map(|s| s.name.clone()).unwrap_or_default();
                    let args = args.map(|list| self.resolve_args(scope, list)).transpose()?;
                    let id = self.function_type(&name, &fns, args.as_deref());
                    return Ok(TArg::Type(QualType::plain(Type::Struct(id))));
                }
            }
            Found::Foreign(names, args) => {
                if let Some(t) = self.foreign_type(&names, &args) {
                    return Ok(TArg::Type(QualType::plain(t)));
                }
            }
        }
        Ok(TArg::Value(self.const_path(scope, path)?))
    }

    /// A class template as an argument; `None` where its name stands for something else.
    fn template_arg(
        &mut self,
        entities: &[Entity<'a>],
        has_args: bool,
        path: &'a ast::Path,
    ) -> Option<TArg> {
        let is_template = |e: &Entity<'a>| match e {
            Entity::Class { decl, .. } => {
                decl.template.as_ref().is_some_and(|t| !t.params.is_empty())
            }
            Entity::Alias { decl, .. } => decl.template.is_some(),
            _ => false,
        };
        if has_args || !entities.iter().any(is_template) {
            return None;
        }
        let name = path.segments.last()?.name.clone();
        Some(TArg::Template(self.template_number(entities), name))
    }

    fn template_number(&mut self, entities: &[Entity<'a>]) -> u32 {
        let same = |known: &Vec<Entity<'a>>| match (known.first(), entities.first()) {
            (Some(Entity::Class { decl: a, .. }), Some(Entity::Class { decl: b, .. })) => {
                std::ptr::eq(*a, *b)
            }
            (Some(Entity::Alias { decl: a, .. }), Some(Entity::Alias { decl: b, .. })) => {
                std::ptr::eq(*a, *b)
            }
            _ => false,
        };
        let known = self.template_args.iter().position(same);
        known.unwrap_or_else(|| {
            self.template_args.push(entities.to_vec());
            self.template_args.len() - 1
        }) as u32
    }

    /// Makes the name of a template parameter stand for its argument.
    fn declare_arg(&mut self, scope: ScopeId, name: &str, arg: &TArg) {
        match arg {
            TArg::Template(number, _) => {
                let entities = self.template_args.get(*number as usize).cloned();
                for entity in entities.unwrap_or_default() {
                    self.declare(scope, name, entity);
                }
            }
            _ => self.declare(scope, name, arg_entity(arg)),
        }
    }

    /// Binds template parameters to arguments and defaults in a new scope inside `parent`.
    ///
    /// Returns the scope and the complete, normalised arguments.
    pub(crate) fn bind_params(
        &mut self,
        header: &'a ast::TemplateHeader,
        given: Vec<TArg>,
        parent: ScopeId,
        span: Span,
    ) -> Res<(ScopeId, Vec<TArg>)> {
        let count = header.params.len();
        let has_pack = header.params.iter().any(|p| p.pack);
        if given.len() > count && !has_pack {
            let message = format!("{} template arguments given, {count} expected", given.len());
            return fail("W056", span, message);
        }
        let mut given = given.into_iter();
        let mut bindings = Bindings::new();
        for param in &header.params {
            if param.pack {
                let rest: Vec<TArg> = given.by_ref().flat_map(flat).collect();
                bindings.insert(param_name(param), TArg::Pack(rest));
            } else if let Some(arg) = given.next() {
                bindings.insert(param_name(param), arg);
            }
        }
        self.bind_found(header, bindings, parent, span)
    }

    /// The same from arguments by name, as deduction finds them.
    pub(crate) fn bind_found(
        &mut self,
        header: &'a ast::TemplateHeader,
        mut found: Bindings,
        parent: ScopeId,
        span: Span,
    ) -> Res<(ScopeId, Vec<TArg>)> {
        let scope = self.new_scope(Some(parent), ScopeKind::Template);
        let mut complete = vec![];
        for param in &header.params {
            let name = param_name(param);
            let arg = match found.remove(&name) {
                Some(arg) => arg,
                None if param.pack => TArg::Pack(vec![]),
                None => self.default_arg(param, scope, span)?,
            };
            let arg = self.checked_arg(param, arg, scope, span)?;
            self.declare_arg(scope, &name, &arg);
            complete.push(arg);
        }
        Ok((scope, complete))
    }

    fn default_arg(
        &mut self,
        param: &'a ast::TemplateParam,
        scope: ScopeId,
        span: Span,
    ) -> Res<TArg> {
        match &param.kind {
            TemplateParamKind::Type { default: Some(t) } => {
                Ok(TArg::Type(despaced(self.resolve_type(scope, t)?)))
            }
            TemplateParamKind::Value { default: Some(e), .. } => {
                Ok(TArg::Value(self.const_value(scope, e)?))
            }
            TemplateParamKind::Template { default: Some(path) } => {
                self.resolve_name_arg(scope, path)
            }
            _ => {
                let name = param.name.as_deref().unwrap_or("(unnamed)");
                let d = error("W057", span, format!("no template argument for `{name}`"));
                Err(d.label(param.span, "declared here").into())
            }
        }
    }

    /// The argument in the parameter's own type, or why it does not fit.
    fn checked_arg(
        &mut self,
        param: &'a ast::TemplateParam,
        arg: TArg,
        scope: ScopeId,
        span: Span,
    ) -> Res<TArg> {
        let name = param.name.as_deref().unwrap_or("(unnamed)");
        match (&param.kind, arg) {
            (_, TArg::Pack(inner)) if param.pack => {
                let list = inner.into_iter().map(|a| self.checked_arg(param, a, scope, span));
                Ok(TArg::Pack(list.collect::<Res<Vec<_>>>()?))
            }
            (TemplateParamKind::Type { .. }, TArg::Type(t)) => Ok(TArg::Type(t)),
            (TemplateParamKind::Value { ty, .. }, TArg::Value(v)) => {
                if matches!(ty.kind, TypeKind::Auto) {
                    return Ok(TArg::Value(v));
                }
                match self.resolve_type(scope, ty)?.ty {
                    Type::Scalar(s) => Ok(TArg::Value(warpsmith_ir::eval::cast(v, s))),
                    _ => fail("W056", ty.span, "template values are numbers"),
                }
            }
            // A function for a parameter of function pointer type.
            (TemplateParamKind::Value { .. }, TArg::Type(t))
                if self.function_of(&t.ty).is_some() =>
            {
                Ok(TArg::Type(t))
            }
            (TemplateParamKind::Type { .. }, _) => fail(
                "W056",
                span,
                format!("template parameter `{name}` is a type, a value was given"),
            ),
            (TemplateParamKind::Value { .. }, _) => fail(
                "W056",
                span,
                format!("template parameter `{name}` is a value, a type was given"),
            ),
            (TemplateParamKind::Template { .. }, TArg::Template(number, name)) => {
                Ok(TArg::Template(number, name))
            }
            (TemplateParamKind::Template { .. }, _) => fail(
                "W056",
                span,
                format!(
                    "template parameter `{name}` is a class template, another argument was given"
                ),
            ),
        }
    }

    /// Where the initialiser of a variable is looked at: for a template, where its parameters have arguments.
    pub(crate) fn variable_scope(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        declared: ScopeId,
        scope: ScopeId,
        args: Option<&'a [ast::TemplateArg]>,
        span: Span,
    ) -> Res<ScopeId> {
        let Some(header) = &decl.template else { return Ok(declared) };
        let given = match args {
            Some(list) => self.resolve_args(scope, list)?,
            None => vec![],
        };
        let (bound, args) = self.bind_params(header, given, declared, span)?;
        let key = (std::ptr::from_ref(item) as usize, args);
        Ok(*self.variable_templates.entry(key).or_insert(bound))
    }

    /// Matches a parameter's type against an argument's; false when they cannot agree.
    ///
    /// With `exact`, parts that do not depend on a parameter must be equal (specialisations); without, they are
    /// left to conversion (calls).
    pub(crate) fn deduce_type(
        &mut self,
        pattern: &'a ast::TypeName,
        actual: &QualType,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        exact: bool,
        found: &mut Bindings,
    ) -> bool {
        match &pattern.kind {
            TypeKind::Named(path) => {
                if let Some(name) = path.as_name()
                    && params.iter().any(|p| p.name.as_deref() == Some(name))
                {
                    let mut bound = despaced(actual.clone());
                    bound.is_const &= !pattern.is_const;
                    bound.is_volatile &= !pattern.is_volatile;
                    return bind(found, name, TArg::Type(bound));
                }
                let last = path.segments.last();
                match last.and_then(|s| s.args.as_ref()) {
                    Some(args) if args.iter().any(|a| arg_mentions(a, params)) => {
                        self.deduce_class(path, args, actual, params, scope, found)
                    }
                    _ => !exact || self.same_type(scope, pattern, actual),
                }
            }
            TypeKind::Pointer { to, .. } if matches!(to.kind, TypeKind::Function { .. }) => {
                self.deduce_type(to, actual, params, scope, exact, found)
            }
            TypeKind::Function { ret, params: list } => {
                self.deduce_signature(ret, list, actual, params, scope, found)
            }
            TypeKind::Pointer { to, .. } if mentions(to, params) => {
                let Type::Pointer { pointee, volatile, readonly, .. } = &actual.ty else {
                    return false;
                };
                let inner = QualType {
                    ty: (**pointee).clone(),
                    is_const: *readonly,
                    is_volatile: *volatile,
                    reference: RefKind::No,
                };
                self.deduce_type(to, &inner, params, scope, true, found)
            }
            TypeKind::Reference { to, rvalue } if mentions(to, params) => {
                if exact && !actual.is_reference() {
                    return false;
                }
                // A forwarding reference to a variable is bound to a reference, which collapses with `&&`.
                let forwards = *rvalue
                    && !exact
                    && !to.is_const
                    && matches!(to.kind, TypeKind::Named(_))
                    && actual.reference == RefKind::Lvalue;
                let reference = if forwards { RefKind::Lvalue } else { RefKind::No };
                let inner = QualType { reference, ..actual.clone() };
                self.deduce_type(to, &inner, params, scope, exact, found)
            }
            TypeKind::Array { element, extent }
                if type_or_extent_mentions(element, extent, params) =>
            {
                self.deduce_array(element, extent.as_deref(), actual, params, scope, found)
            }
            _ => !exact || self.same_type(scope, pattern, actual),
        }
    }

    /// `R (*)(A...)` against a pointer to a function.
    fn deduce_signature(
        &mut self,
        ret: &'a ast::TypeName,
        list: &'a [ast::Param],
        actual: &QualType,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        let Some((_, signature)) = self.signature_of(&actual.ty) else { return false };
        if !self.deduce_type(ret, &signature.ret, params, scope, true, found) {
            return false;
        }
        for (i, p) in list.iter().enumerate() {
            if let TypeKind::Named(path) = &p.ty.kind
                && let Some(name) = path.as_name()
                && params.iter().any(|t| t.pack && t.name.as_deref() == Some(name))
            {
                let rest = signature.params.iter().skip(i).cloned().map(TArg::Type);
                return bind(found, name, TArg::Pack(rest.collect()));
            }
            let Some(a) = signature.params.get(i) else { return false };
            if !self.deduce_type(&p.ty, a, params, scope, true, found) {
                return false;
            }
        }
        list.len() == signature.params.len()
    }

    fn deduce_array(
        &mut self,
        element: &'a ast::TypeName,
        extent: Option<&'a ast::Expr>,
        actual: &QualType,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        // A parameter `T a[]` is a pointer.
        if let Type::Pointer { pointee, readonly, .. } = &actual.ty {
            let inner = QualType { is_const: *readonly, ..QualType::plain((**pointee).clone()) };
            return self.deduce_type(element, &inner, params, scope, true, found);
        }
        let Type::Array(inner, length) = &actual.ty else { return false };
        let mut inner = QualType { ty: (**inner).clone(), ..actual.clone() };
        // A reference to an array of constants binds to an array of variables.
        inner.is_const |= element.is_const;
        if !self.deduce_type(element, &inner, params, scope, true, found) {
            return false;
        }
        let length = Value::int(Scalar::U64, *length as i64);
        extent.is_none_or(|e| self.deduce_value(e, length, params, scope, found))
    }

    fn deduce_value(
        &mut self,
        pattern: &'a ast::Expr,
        actual: Value,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        if let ast::ExprKind::Path(path) = &*pattern.kind
            && let Some(name) = path.as_name()
            && params.iter().any(|p| p.name.as_deref() == Some(name))
        {
            return bind(found, name, TArg::Value(actual));
        }
        self.const_value(scope, pattern).is_ok_and(|v| same_value(v, actual))
    }

    /// `S<T, N>` against an instance of `S`, or a library type against its like.
    fn deduce_class(
        &mut self,
        path: &'a ast::Path,
        args: &'a [TemplateArg],
        actual: &QualType,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        let Type::Struct(id) = actual.ty else { return false };
        let Some(last) = path.segments.last() else { return false };
        if params.iter().any(|p| p.name.as_deref() == Some(&last.name)) {
            return self.deduce_template(&last.name, args, id, params, scope, found);
        }
        let actual_args = match self.classes.get(&id) {
            Some(info) => match &info.template {
                Some((name, list)) if *name == last.name => {
                    let (list, inside) = (list.clone(), info.scope);
                    self.without_defaults(list, args.len(), &last.name, inside)
                }
                _ => {
                    let bases: Vec<_> = info.bases.iter().map(|b| b.class).collect();
                    return bases.into_iter().any(|b| {
                        let base = QualType::plain(Type::Struct(b));
                        self.deduce_class(path, args, &base, params, scope, found)
                    });
                }
            },
            None => match self.object_of_struct(id) {
                Some(o) if o.name.rsplit("::").next() == Some(last.name.as_str()) => {
                    o.args.iter().map(from_builtin).collect()
                }
                _ => return false,
            },
        };
        self.deduce_args(args, &actual_args, params, scope, found)
    }

    /// `C<T>` against an instance, where the template `C` is a parameter itself.
    fn deduce_template(
        &mut self,
        name: &str,
        args: &'a [TemplateArg],
        actual: warpsmith_ir::StructId,
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        let Some(info) = self.classes.get(&actual) else { return false };
        let Some((template, list)) = info.template.clone() else { return false };
        let inside = info.scope;
        let mut around = self.scope(inside).parent;
        let entities = loop {
            let Some(at) = around else { return false };
            let here: Vec<Entity<'a>> = self.lookup_in(at, &template);
            if here.iter().any(|e| matches!(e, Entity::Class { .. })) {
                break here;
            }
            around = self.scope(at).parent;
        };
        let list = self.without_defaults(list, args.len(), &template, inside);
        let number = self.template_number(&entities);
        bind(found, name, TArg::Template(number, template))
            && self.deduce_args(args, &list, params, scope, found)
    }

    /// The first arguments of an instance, where the others are what the template `name` has by default: a pattern may
    /// leave these out. `inside`: the scope of the instance.
    fn without_defaults(
        &mut self,
        mut list: Vec<TArg>,
        given: usize,
        name: &str,
        inside: ScopeId,
    ) -> Vec<TArg> {
        let Some(outside) = self.scope(inside).parent.filter(|_| given < list.len()) else {
            return list;
        };
        let found = self.lookup(outside, name).into_iter().find_map(|e| match e {
            Entity::Class { decl, scope } if decl.specialisation.is_none() => {
                Some((&decl.template.as_ref()?.params, scope))
            }
            _ => None,
        });
        let Some((params, scope)) = found.filter(|(p, _)| p.iter().all(|p| !p.pack)) else {
            return list;
        };
        let by_default = params.iter().zip(&list).skip(given).all(|(param, actual)| {
            match &param.kind {
                // One that depends on other arguments has to be written out.
                TemplateParamKind::Type { default: Some(t) } if !mentions(t, params) => {
                    let resolved = self.resolve_type(scope, t).map(|q| TArg::Type(despaced(q)));
                    resolved.is_ok_and(|r| same_arg(&r, actual))
                }
                TemplateParamKind::Value { default: Some(e), .. } => {
                    let value = self.const_value(scope, e).map(TArg::Value);
                    value.is_ok_and(|v| same_arg(&v, actual))
                }
                _ => false,
            }
        });
        if by_default {
            list.truncate(given);
        }
        list
    }

    /// Matches a list of template arguments against actual ones; all parts must agree.
    pub(crate) fn deduce_args(
        &mut self,
        patterns: &'a [TemplateArg],
        actual: &[TArg],
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> bool {
        let flat_actual: Vec<TArg> = actual.iter().cloned().flat_map(flat).collect();
        for (i, pattern) in patterns.iter().enumerate() {
            if let Some(name) = pack_pattern(pattern, params) {
                let rest = flat_actual.get(i..).unwrap_or_default().to_vec();
                return bind(found, &name, TArg::Pack(rest));
            }
            let Some(arg) = flat_actual.get(i) else { return false };
            let agrees = match (pattern, arg) {
                (TemplateArg::Type(t), TArg::Type(a)) => {
                    self.deduce_type(t, a, params, scope, true, found)
                }
                (TemplateArg::Value(e), TArg::Value(v)) => {
                    self.deduce_value(e, *v, params, scope, found)
                }
                _ => match name_of(pattern) {
                    Some(name) if params.iter().any(|p| p.name.as_deref() == Some(name)) => {
                        bind(found, name, arg.clone())
                    }
                    _ => self.resolve_arg(scope, pattern).is_ok_and(|r| same_arg(&r, arg)),
                },
            };
            if !agrees {
                return false;
            }
        }
        flat_actual.len() == patterns.len()
    }

    fn same_type(&mut self, scope: ScopeId, pattern: &'a ast::TypeName, actual: &QualType) -> bool {
        let Ok(q) = self.resolve_type(scope, pattern) else { return false };
        let (a, b) = (despaced(q), despaced(actual.clone()));
        a.ty == b.ty && a.is_const == b.is_const && a.reference == b.reference
    }
}

/// The type without what is known of the memory its pointers point into.
pub(crate) fn despaced(q: QualType) -> QualType {
    QualType { ty: despaced_type(&q.ty), ..q }
}

pub(crate) fn despaced_type(ty: &Type) -> Type {
    match ty {
        Type::Pointer { pointee, volatile, readonly, .. } => Type::Pointer {
            pointee: despaced_type(pointee).into(),
            space: Space::Generic,
            volatile: *volatile,
            readonly: *readonly,
        },
        Type::Array(element, n) => Type::array(despaced_type(element), *n),
        other => other.clone(),
    }
}

fn from_builtin(arg: &super::builtin_api::BuiltinTemplateArg) -> TArg {
    match arg {
        super::builtin_api::BuiltinTemplateArg::Type(t) => TArg::Type(QualType::plain(t.clone())),
        super::builtin_api::BuiltinTemplateArg::Value(v) => TArg::Value(*v),
    }
}

fn flat(arg: TArg) -> Vec<TArg> {
    match arg {
        TArg::Pack(inner) => inner.into_iter().flat_map(flat).collect(),
        other => vec![other],
    }
}

/// The name to bind; an unnamed parameter gets one that no source can spell.
pub(crate) fn param_name(param: &ast::TemplateParam) -> String {
    param.name.clone().unwrap_or_else(|| format!("<unnamed {}>", param.span.start))
}

pub(crate) fn arg_entity<'a>(arg: &TArg) -> Entity<'a> {
    match arg {
        TArg::Type(t) => Entity::Type(t.clone()),
        TArg::Value(v) => Entity::Const(Expr::constant(*v)),
        // Declared by `declare_arg`.
        TArg::Template(..) => Entity::Poisoned,
        TArg::Pack(inner) => Entity::Pack(inner.iter().map(arg_entity).collect()),
    }
}

fn pack_arg(inner: &[Entity<'_>], span: Span) -> Res<TArg> {
    let list = inner.iter().map(|e| match e {
        Entity::Type(t) => Ok(TArg::Type(t.clone())),
        Entity::Const(c) => match c.as_const() {
            Some(v) => Ok(TArg::Value(v)),
            None => fail("W055", span, "this pack is no list of template arguments"),
        },
        _ => fail("W055", span, "this pack is no list of template arguments"),
    });
    Ok(TArg::Pack(list.collect::<Res<Vec<_>>>()?))
}

fn bind(found: &mut Bindings, name: &str, arg: TArg) -> bool {
    match found.get(name) {
        Some(known) => same_arg(known, &arg),
        None => {
            found.insert(name.to_string(), arg);
            true
        }
    }
}

fn same_value(a: Value, b: Value) -> bool {
    if a.ty.is_float() || b.ty.is_float() { a == b } else { a.as_i64() == b.as_i64() }
}

pub(crate) fn same_arg(a: &TArg, b: &TArg) -> bool {
    match (a, b) {
        (TArg::Value(a), TArg::Value(b)) => same_value(*a, *b),
        _ => a == b,
    }
}

fn name_of(arg: &TemplateArg) -> Option<&str> {
    match arg {
        TemplateArg::Name(path) => path.as_name(),
        TemplateArg::Type(t) => match &t.kind {
            TypeKind::Named(path) if !t.is_const => path.as_name(),
            _ => None,
        },
        TemplateArg::Value(e) => match &*e.kind {
            ast::ExprKind::Path(path) => path.as_name(),
            _ => None,
        },
    }
}

/// The pack parameter that `Rest...` in a list of template arguments names.
fn pack_pattern(arg: &TemplateArg, params: &[ast::TemplateParam]) -> Option<String> {
    let name = match arg {
        TemplateArg::Value(e) => match &*e.kind {
            ast::ExprKind::PackExpansion(inner) => match &*inner.kind {
                ast::ExprKind::Path(path) => path.as_name(),
                _ => None,
            },
            _ => name_of(arg),
        },
        _ => name_of(arg),
    }?;
    params.iter().any(|p| p.pack && p.name.as_deref() == Some(name)).then(|| name.to_string())
}

fn type_or_extent_mentions(
    element: &ast::TypeName,
    extent: &Option<Box<ast::Expr>>,
    params: &[ast::TemplateParam],
) -> bool {
    mentions(element, params)
        || extent.as_ref().is_some_and(|e| {
            matches!(&*e.kind, ast::ExprKind::Path(p)
                if p.as_name().is_some_and(|n| params.iter().any(|q| q.name.as_deref() == Some(n))))
        })
}

/// Whether a type depends on one of the parameters.
pub(crate) fn mentions(ty: &ast::TypeName, params: &[ast::TemplateParam]) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path_mentions(path, params),
        TypeKind::Pointer { to, .. } | TypeKind::Reference { to, .. } => mentions(to, params),
        TypeKind::Array { element, extent } => type_or_extent_mentions(element, extent, params),
        _ => false,
    }
}

fn path_mentions(path: &ast::Path, params: &[ast::TemplateParam]) -> bool {
    path.segments.iter().any(|s| {
        params.iter().any(|p| p.name.as_deref() == Some(&s.name))
            || s.args.iter().flatten().any(|a| arg_mentions(a, params))
    })
}

fn arg_mentions(arg: &TemplateArg, params: &[ast::TemplateParam]) -> bool {
    match arg {
        TemplateArg::Type(t) => mentions(t, params),
        TemplateArg::Name(path) => path_mentions(path, params),
        TemplateArg::Value(e) => match &*e.kind {
            ast::ExprKind::Path(path) => path_mentions(path, params),
            ast::ExprKind::PackExpansion(inner) => {
                matches!(&*inner.kind, ast::ExprKind::Path(p) if path_mentions(p, params))
            }
            _ => false,
        },
    }
}
