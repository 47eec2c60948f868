//! Template arguments: resolving, defaults, what parameters take.

use std::collections::HashMap;

use warpsmith_ir::{Expr, Space, Span, Type};

use super::Sema;
use super::deduce::same_value;
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
                    _ => self.resolve_each(scope, &names_in_expr(inner), e.span, |s, one| {
                        Ok(TArg::Value(s.const_value(one, inner)?))
                    }),
                },
                // `&C::f` is the function, as `f` is.
                ast::ExprKind::Unary { op, operand } if op == "&" => match &*operand.kind {
                    ast::ExprKind::Path(path) => self.resolve_name_arg(scope, path),
                    _ => Ok(TArg::Value(self.const_value(scope, e)?)),
                },
                _ => Ok(TArg::Value(self.const_value(scope, e)?)),
            },
            TemplateArg::Name(path) => self.resolve_name_arg(scope, path),
            TemplateArg::Each(pattern, span) => {
                let names = names_in_arg(pattern);
                self.resolve_each(scope, &names, *span, |s, one| s.resolve_arg(one, pattern))
            }
        }
    }

    /// A pattern for each element of the packs that it names.
    fn resolve_each(
        &mut self,
        scope: ScopeId,
        names: &[String],
        span: Span,
        mut resolve: impl FnMut(&mut Self, ScopeId) -> Res<TArg>,
    ) -> Res<TArg> {
        let scopes = self.pack_scopes(scope, names, span)?;
        let list = scopes.into_iter().map(|one| resolve(self, one));
        Ok(TArg::Pack(list.collect::<Res<Vec<_>>>()?))
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
                if args.is_empty()
                    && let Some((name, fns)) = self.library_value(scope, &names)
                {
                    if fns.len() > 1 {
                        let text = format!(
                            "which `{}` is meant as a template argument is not looked at",
                            names[0]
                        );
                        let d = error("W056", path.span, text);
                        return Err(d
                            .help("pass a function of one type, `sqrtf`, or a functor")
                            .into());
                    }
                    let id = self.function_type(&name, &fns, None);
                    return Ok(TArg::Type(QualType::plain(Type::Struct(id))));
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

    pub(crate) fn template_number(&mut self, entities: &[Entity<'a>]) -> u32 {
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
            // A function for a parameter of function pointer type; of methods, the class and what they take have to be right.
            (TemplateParamKind::Value { ty, .. }, TArg::Type(t))
                if let Some(f) = self.function_of(&t.ty) =>
            {
                if f.fns.iter().any(FnDecl::needs_object) {
                    let wanted = self.resolve_type(scope, ty)?.ty;
                    self.function_address(&f, &wanted, span)?;
                }
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

    /// The declaration of a variable, and where its initialiser is looked at: for a template, where its parameters have
    /// arguments, or that of the specialisation with the fewest free parameters that matches.
    pub(crate) fn variable_instance(
        &mut self,
        (decl, item, declared): Variable<'a>,
        given: Option<Vec<TArg>>,
        span: Span,
    ) -> Res<Variable<'a>> {
        let Some(header) = &decl.template else { return Ok((decl, item, declared)) };
        let (bound, args) = self.bind_params(header, given.unwrap_or_default(), declared, span)?;
        let mut best: Option<(usize, Variable<'a>, Bindings)> = None;
        for entity in self.lookup_in(declared, &item.name) {
            let Entity::Lazy { decl, item, scope } = entity else { continue };
            let Some(patterns) = &item.specialisation else { continue };
            let params = decl.template.as_ref().map_or(&[][..], |t| &t.params[..]);
            let mut found = Bindings::new();
            if self.deduce_args(patterns, &args, params, scope, &mut found)
                && best.as_ref().is_none_or(|(n, ..)| params.len() < *n)
            {
                best = Some((params.len(), (decl, item, scope), found));
            }
        }
        let (decl, item, bound) = match best {
            None => (decl, item, bound),
            Some((_, (decl, item, scope), found)) => match &decl.template {
                Some(header) => (decl, item, self.bind_found(header, found, scope, span)?.0),
                None => (decl, item, scope),
            },
        };
        let key = (std::ptr::from_ref(item) as usize, args);
        Ok((decl, item, *self.variable_templates.entry(key).or_insert(bound)))
    }
}

/// A variable that is declared outside of functions, and the scope it is declared in.
pub(crate) type Variable<'a> = (&'a ast::VarDecl, &'a ast::Declarator, ScopeId);

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

pub(crate) fn flat(arg: TArg) -> Vec<TArg> {
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

pub(crate) fn same_arg(a: &TArg, b: &TArg) -> bool {
    match (a, b) {
        (TArg::Value(a), TArg::Value(b)) => same_value(*a, *b),
        _ => a == b,
    }
}

/// The names that a pattern of template arguments is made of.
fn names_in_arg(arg: &TemplateArg) -> Vec<String> {
    match arg {
        TemplateArg::Type(t) => names_in_type(t),
        TemplateArg::Value(e) => names_in_expr(e),
        TemplateArg::Name(path) => names_in_path(path),
        TemplateArg::Each(inner, _) => names_in_arg(inner),
    }
}

pub(crate) fn names_in_type(ty: &ast::TypeName) -> Vec<String> {
    match &ty.kind {
        TypeKind::Named(path) => names_in_path(path),
        TypeKind::Pointer { to, .. } | TypeKind::Reference { to, .. } => names_in_type(to),
        TypeKind::Array { element, .. } => names_in_type(element),
        TypeKind::Decltype(e) => names_in_expr(e),
        _ => vec![],
    }
}

fn names_in_path(path: &ast::Path) -> Vec<String> {
    let inner = |s: &ast::PathSegment| s.args.iter().flatten().flat_map(names_in_arg).collect();
    let each = path.segments.iter().map(|s| {
        let mut names: Vec<String> = inner(s);
        names.push(s.name.clone());
        names
    });
    each.flatten().collect()
}

/// The plain names in an expression, and those in types that it constructs.
pub(crate) fn names_in_expr(e: &ast::Expr) -> Vec<String> {
    let mut names = vec![];
    super::walk::expr(e, &mut |e| match &*e.kind {
        ast::ExprKind::Path(p) => names.extend(names_in_path(p)),
        ast::ExprKind::Cast { ty, .. }
        | ast::ExprKind::Construct { ty, .. }
        | ast::ExprKind::SizeofType(ty) => names.extend(names_in_type(ty)),
        _ => {}
    });
    names
}
