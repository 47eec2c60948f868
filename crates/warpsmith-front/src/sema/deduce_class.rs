//! Class templates named without arguments: `Pair p(1, 2.0f)` is a `Pair<int, float>`.
//!
//! Arguments come from the constructor that fits, or from the members of an aggregate. Deduction guides of the user
//! are not needed for these forms.

use warpsmith_ir::{Scalar, Type, Value};

use super::Sema;
use super::model::*;
use super::templates::{Bindings, despaced, param_name};
use super::types::Found;
use crate::ast::{self, FunctionName, Initializer, Member, TypeKind};

/// A class template and where it is declared.
type Template<'a> = (&'a ast::StructDecl, ScopeId, Vec<Entity<'a>>);

impl<'a> Sema<'a> {
    /// The type of a declared variable, when it is a template whose arguments the initialiser gives.
    pub(crate) fn deduced_variable(
        &mut self,
        scope: ScopeId,
        d: &'a ast::Declarator,
    ) -> Res<Option<QualType>> {
        let TypeKind::Named(path) = &d.ty.kind else { return Ok(None) };
        let (Some(template), Some(init)) = (self.bare_template(scope, path), &d.init) else {
            return Ok(None);
        };
        let types = match self.initializer_types(init) {
            Some(types) => types,
            None => return Ok(None),
        };
        let mut q = match init {
            Initializer::List(..) => self.instance_of_list(&template, &types, path.span)?,
            _ => None,
        };
        if q.is_none() {
            q = self.instance_for(&template, &types, path.span)?;
        }
        if let Some(q) = &mut q {
            q.is_const |= d.ty.is_const;
        }
        Ok(q)
    }

    /// The type that a call of a class template's name makes.
    pub(crate) fn deduced_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
    ) -> Res<Option<QualType>> {
        let ast::ExprKind::Path(path) = &*callee.kind else { return Ok(None) };
        let scope = self.f_scope();
        let Some(template) = self.bare_template(scope, path) else { return Ok(None) };
        let Some(types) = self.types_of(args.iter()) else { return Ok(None) };
        self.instance_for(&template, &types, path.span)
    }

    /// The type of `Pair{1, 2.0f}`.
    pub(crate) fn deduced_construct(
        &mut self,
        ty: &'a ast::TypeName,
        args: &'a [Initializer],
    ) -> Res<Option<QualType>> {
        let TypeKind::Named(path) = &ty.kind else { return Ok(None) };
        let scope = self.f_scope();
        let Some(template) = self.bare_template(scope, path) else { return Ok(None) };
        let exprs: Option<Vec<&'a ast::Expr>> = args
            .iter()
            .map(|a| if let Initializer::Expr(e) = a { Some(e) } else { None })
            .collect();
        let Some(types) = exprs.and_then(|list| self.types_of(list.into_iter())) else {
            return Ok(None);
        };
        match self.instance_of_list(&template, &types, path.span)? {
            Some(q) => Ok(Some(q)),
            None => self.instance_for(&template, &types, path.span),
        }
    }

    /// The class template that a path without arguments names.
    fn bare_template(&mut self, scope: ScopeId, path: &'a ast::Path) -> Option<Template<'a>> {
        if path.segments.last()?.args.is_some() {
            return None;
        }
        // Only templates are asked for; other names are resolved where they are used.
        let name = &path.segments.last()?.name;
        if path.segments.len() == 1 && !self.names_template(scope, name) {
            return None;
        }
        let Ok(Found::Entities(entities, None)) = self.resolve_path(scope, path) else {
            return None;
        };
        let (decl, at) = entities.iter().find_map(primary)?;
        Some((decl, at, entities))
    }

    fn names_template(&self, scope: ScopeId, name: &str) -> bool {
        self.lookup(scope, name).iter().any(|e| primary(e).is_some())
    }

    fn initializer_types(&mut self, init: &'a Initializer) -> Option<Vec<QualType>> {
        match init {
            Initializer::Expr(e) => self.types_of(std::iter::once(e)),
            Initializer::Call(args, _) => self.types_of(args.iter()),
            Initializer::List(items, _) => {
                let exprs: Option<Vec<&'a ast::Expr>> = items
                    .iter()
                    .map(|i| match (&i.designator, &i.value) {
                        (None, Initializer::Expr(e)) => Some(e),
                        _ => None,
                    })
                    .collect();
                self.types_of(exprs?.into_iter())
            }
        }
    }

    fn types_of(&mut self, list: impl Iterator<Item = &'a ast::Expr>) -> Option<Vec<QualType>> {
        let scope = self.f_scope();
        let mut types = vec![];
        for e in list {
            let q = despaced(self.type_of_expr(scope, e).ok()?);
            let q = self.decayed(q);
            types.push(QualType { is_const: false, is_volatile: false, ..q });
        }
        Some(types)
    }

    /// The type that a list of values of one type makes: of a class that takes a list, or whose one member is an array.
    fn instance_of_list(
        &mut self,
        template: &Template<'a>,
        types: &[QualType],
        span: warpsmith_ir::Span,
    ) -> Res<Option<QualType>> {
        let (decl, _, entities) = template;
        let (Some(first), Some(header)) = (types.first(), &decl.template) else { return Ok(None) };
        if types.iter().any(|t| t.ty != first.ty) {
            return Ok(None);
        }
        let Some((element, count)) = list_parameters(decl) else { return Ok(None) };
        let mut args = vec![];
        for param in &header.params {
            let name = param.name.as_deref();
            if name == Some(element) {
                args.push(TArg::Type(first.clone()));
            } else if name.is_some() && name == count {
                let count = Value::int(Scalar::U64, types.len() as i64);
                args.push(TArg::Value(count));
            } else {
                break;
            }
        }
        let id = self.class_from_entities(entities, Some(args), span)?;
        Ok(Some(QualType::plain(Type::Struct(id))))
    }

    fn instance_for(
        &mut self,
        template: &Template<'a>,
        types: &[QualType],
        span: warpsmith_ir::Span,
    ) -> Res<Option<QualType>> {
        let (decl, scope, entities) = template;
        let Some(header) = &decl.template else { return Ok(None) };
        // A copy of an instance.
        if let [only] = types
            && let Some(class) = self.is_class(&only.ty)
            && self.class(class).decl.is_some_and(|d| std::ptr::eq(d, *decl))
        {
            return Ok(Some(QualType::plain(only.ty.clone())));
        }
        if let Some(pack) = pack_of_bases(decl) {
            let list = types.iter().cloned().map(TArg::Type).collect();
            let index =
                header.params.iter().position(|p| p.pack && p.name.as_deref() == Some(pack));
            if index == Some(0) {
                let id = self.class_from_entities(entities, Some(list), span)?;
                return Ok(Some(QualType::plain(Type::Struct(id))));
            }
        }
        for pattern in patterns(decl, types.len()) {
            let mut found = Bindings::new();
            let fits = pattern
                .iter()
                .zip(types)
                .all(|(p, t)| self.deduce_type(p, t, &header.params, *scope, false, &mut found));
            if !fits {
                continue;
            }
            let mut args = vec![];
            for param in &header.params {
                match found.remove(&param_name(param)) {
                    Some(arg) => args.push(arg),
                    None => break,
                }
            }
            // Parameters that nothing names take their defaults, or are reported as missing.
            let id = self.class_from_entities(entities, Some(args), span)?;
            return Ok(Some(QualType::plain(Type::Struct(id))));
        }
        Ok(None)
    }
}

fn primary<'a>(entity: &Entity<'a>) -> Option<(&'a ast::StructDecl, ScopeId)> {
    match entity {
        Entity::Class { decl, scope }
            if decl.specialisation.is_none()
                && decl.members.is_some()
                && decl.template.as_ref().is_some_and(|t| !t.params.is_empty()) =>
        {
            Some((decl, *scope))
        }
        _ => None,
    }
}

/// The parameters that a list of values gives an argument: the type of its elements, and their number.
fn list_parameters(decl: &ast::StructDecl) -> Option<(&str, Option<&str>)> {
    let members = decl.members.as_deref().unwrap_or_default();
    let takes_list = members.iter().find_map(|m| match m {
        Member::Method(f) if f.name == FunctionName::Constructor => {
            let [only] = f.params.as_slice() else { return None };
            let mut ty = &only.ty;
            while let TypeKind::Reference { to, .. } = &ty.kind {
                ty = to;
            }
            let TypeKind::Named(path) = &ty.kind else { return None };
            let last = path.segments.last().filter(|s| s.name == "initializer_list")?;
            match last.args.as_deref()? {
                [ast::TemplateArg::Name(element)] => element.as_name(),
                _ => None,
            }
        }
        _ => None,
    });
    if let Some(element) = takes_list {
        return Some((element, None));
    }
    let mut fields = members.iter().filter_map(|m| match m {
        Member::Field(v) if !v.attrs.is_static => Some(&v.declarators),
        _ => None,
    });
    let constructs =
        |m: &Member| matches!(m, Member::Method(f) if f.name == FunctionName::Constructor);
    let ([only], None, false) =
        (fields.next()?.as_slice(), fields.next(), members.iter().any(constructs))
    else {
        return None;
    };
    let TypeKind::Array { element, extent } = &only.ty.kind else { return None };
    let (TypeKind::Named(element), Some(extent)) = (&element.kind, extent) else { return None };
    let ast::ExprKind::Path(count) = &*extent.kind else { return None };
    Some((element.as_name()?, count.as_name()))
}

/// The pack whose elements are all that an aggregate consists of: `struct Overloaded : Ts...`.
fn pack_of_bases(decl: &ast::StructDecl) -> Option<&str> {
    let [base] = decl.bases.as_slice() else { return None };
    let TypeKind::Named(path) = &base.ty.kind else { return None };
    let holds = |m: &Member| match m {
        Member::Field(v) => !v.attrs.is_static,
        Member::Method(f) => f.name == FunctionName::Constructor,
        _ => false,
    };
    let alone = base.expands && !decl.members.iter().flatten().any(holds);
    path.as_name().filter(|_| alone)
}

/// The lists of types that a number of arguments could be matched with.
fn patterns(decl: &ast::StructDecl, count: usize) -> Vec<Vec<&ast::TypeName>> {
    let members = decl.members.as_deref().unwrap_or_default();
    let mut lists: Vec<Vec<&ast::TypeName>> = members
        .iter()
        .filter_map(|m| match m {
            Member::Method(f) if f.name == FunctionName::Constructor => Some(f),
            _ => None,
        })
        .filter(|f| {
            let required = f.params.iter().filter(|p| p.default.is_none()).count();
            (required..=f.params.len()).contains(&count) && count > 0
        })
        .map(|f| f.params.iter().map(|p| &p.ty).collect())
        .collect();
    if lists.is_empty() && count > 0 {
        let fields = members.iter().filter_map(|m| match m {
            Member::Field(v) if !v.attrs.is_static => Some(&v.declarators),
            _ => None,
        });
        let bases = decl.bases.iter().map(|base| &base.ty);
        lists.push(bases.chain(fields.flatten().map(|d| &d.ty)).collect());
    }
    lists
}
