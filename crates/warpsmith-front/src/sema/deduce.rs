//! Deduction of template arguments, and matching of specialisations.

use warpsmith_ir::{Scalar, Type, Value};

use super::Sema;
use super::model::*;
use super::templates::{Bindings, despaced, flat, names_in_expr, same_arg};
use crate::ast::{self, TemplateArg, TemplateParamKind, TypeKind};

impl<'a> Sema<'a> {
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
        let Some(signature) = self.signature_named(&actual.ty) else {
            // Of several functions of one name the other arguments choose.
            return self.function_of(&actual.ty).is_some();
        };
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
        // Nothing follows from `T (&a)[ROWS * COLUMNS]`: whether it fits shows once other arguments have given the numbers.
        extent.is_none_or(|e| {
            is_computed(e, params) || self.deduce_value(e, length, params, scope, found)
        })
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

/// Whether a value is made of parameters, and is not one of them alone.
fn is_computed(e: &ast::Expr, params: &[ast::TemplateParam]) -> bool {
    let is_param = |n: &String| params.iter().any(|p| p.name.as_ref() == Some(n));
    !matches!(&*e.kind, ast::ExprKind::Path(_)) && names_in_expr(e).iter().any(is_param)
}

fn from_builtin(arg: &super::builtin_api::BuiltinTemplateArg) -> TArg {
    match arg {
        super::builtin_api::BuiltinTemplateArg::Type(t) => TArg::Type(QualType::plain(t.clone())),
        super::builtin_api::BuiltinTemplateArg::Value(v) => TArg::Value(*v),
    }
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

pub(crate) fn same_value(a: Value, b: Value) -> bool {
    if a.ty.is_float() || b.ty.is_float() { a == b } else { a.as_i64() == b.as_i64() }
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
        TemplateArg::Each(..) => None,
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
        TypeKind::Function { ret, params: list } => {
            mentions(ret, params) || list.iter().any(|p| mentions(&p.ty, params))
        }
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
        TemplateArg::Each(inner, _) => arg_mentions(inner, params),
        TemplateArg::Value(e) => match &*e.kind {
            ast::ExprKind::Path(path) => path_mentions(path, params),
            ast::ExprKind::PackExpansion(inner) => {
                matches!(&*inner.kind, ast::ExprKind::Path(p) if path_mentions(p, params))
            }
            _ => false,
        },
    }
}
