//! `std::initializer_list`: a list in braces as an object that constructors and functions take.

use warpsmith_ir::{Expr, ExprKind, Span, StructId, Type};

use super::Sema;
use super::model::*;
use super::templates::{Bindings, despaced};
use crate::ast::{self, TypeKind};

impl<'a> Sema<'a> {
    /// What the elements of a `std::initializer_list` are; `None` for other types.
    pub(crate) fn listed_type(&self, ty: &Type) -> Option<Type> {
        let class = self.is_class(ty)?;
        match &self.class(class).template {
            Some((name, args)) if name == "initializer_list" => match args.first()? {
                TArg::Type(q) => Some(q.ty.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Matches the `T` of a parameter `std::initializer_list<T>` against all elements of a list.
    pub(crate) fn deduce_list(
        &mut self,
        pattern: &'a ast::TypeName,
        items: &'a [ast::InitItem],
        params: &'a [ast::TemplateParam],
        scope: ScopeId,
        found: &mut Bindings,
    ) -> Result<(), String> {
        let pattern = match &pattern.kind {
            TypeKind::Reference { to, .. } => to,
            _ => pattern,
        };
        let TypeKind::Named(path) = &pattern.kind else { return Ok(()) };
        let Some(last) = path.segments.last() else { return Ok(()) };
        let (Some(args), "initializer_list") = (&last.args, &*last.name) else { return Ok(()) };
        for item in items {
            let ast::Initializer::Expr(e) = &item.value else { continue };
            let Ok(actual) = self.type_of_expr(self.f_scope(), e) else {
                return Err("an element of the list has no type".into());
            };
            let actual = QualType::plain(self.decayed(despaced(actual)).ty);
            if !self.deduce_args(args, &[TArg::Type(actual)], params, scope, found) {
                return Err("the elements of the list have several types".into());
            }
        }
        Ok(())
    }

    /// Whether each element of a list becomes one of that type.
    pub(crate) fn list_fits(&mut self, list: &[Operand<'a>], element: &Type) -> bool {
        let element = QualType::plain(element.clone());
        list.iter().all(|one| self.rank(one, &element).is_some())
    }

    /// The arguments of a constructor that a list in braces means: all of them as one list where there is a constructor for
    /// that, which goes before all others (C++ standard, over.match.list).
    pub(crate) fn list_arguments(
        &mut self,
        class: StructId,
        list: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Vec<Operand<'a>>> {
        if list.is_empty() {
            return Ok(list);
        }
        for f in self.class(class).ctors.clone() {
            let takes_one = f.decl.params.iter().skip(1).all(|p| p.default.is_some());
            if f.decl.params.is_empty() || f.decl.template.is_some() || !takes_one {
                continue;
            }
            let Ok(params) = self.param_types(f, f.scope) else { continue };
            let Some(ty) = params.first().map(|q| q.ty.clone()) else { continue };
            let Some(element) = self.listed_type(&ty) else { continue };
            if self.list_fits(&list, &element) {
                let value = self.listed(&ty, &element, list, span)?;
                return Ok(vec![Operand::Value(value)]);
            }
        }
        Ok(list)
    }

    /// A `std::initializer_list` of some values: an array of its own, and where it lies.
    pub(crate) fn listed(
        &mut self,
        ty: &Type,
        element: &Type,
        list: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let size = list.len() as u64;
        let values: Res<Vec<Expr>> =
            list.into_iter().map(|one| self.operand_value(element, one, span)).collect();
        let values = values?;
        let field = match ty {
            Type::Struct(id) => warpsmith_ir::layout::field_of(&self.module, *id, 0),
            _ => None,
        };
        let pointer = field.map_or(Type::Void, |(_, t)| t.clone());
        let first = if values.is_empty() {
            super::convert::null_pointer(&pointer, span)
        } else {
            let array = Type::array(element.clone(), size);
            let place = self.materialise(Expr::new(ExprKind::Make(values), array, span), span);
            let first = self.decay(place, true, span);
            self.convert_to(first, &pointer, span)?
        };
        let parts = vec![first, self.size_value(size, span)];
        Ok(Expr::new(ExprKind::Make(parts), ty.clone(), span))
    }
}
