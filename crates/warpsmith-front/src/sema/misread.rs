//! Declarations that the grammar takes for expressions: `ns::tile<32> t = e;` reads as `ns::tile < 32 > (t = e)`.

use warpsmith_ir::{Place, PlaceKind, Span, StmtKind, Type, Var, VarKind};

use super::Sema;
use super::model::*;
use super::types::Found;
use crate::ast;

impl<'a> Sema<'a> {
    /// Lowers an expression statement as the declaration it is, if the path before `<` names a type.
    pub(crate) fn misread_declaration(&mut self, e: &'a ast::Expr) -> Option<Res<()>> {
        let ast::ExprKind::Binary { op, left, right } = &*e.kind else { return None };
        let ast::ExprKind::Binary { op: open, left: template, right: arg } = &*left.kind else {
            return None;
        };
        let ast::ExprKind::Assign { op: assign, target, value } = &*right.kind else { return None };
        if op != ">" || open != "<" || assign != "=" {
            return None;
        }
        let ast::ExprKind::Path(path) = &*template.kind else { return None };
        let ast::ExprKind::Path(name) = &*target.kind else { return None };
        let name = name.as_name()?;
        let scope = self.f_scope();
        let ty = match self.resolve_path(scope, path).ok()? {
            Found::Foreign(names, _) => {
                let v = self.const_value(scope, arg).ok()?;
                self.foreign_type(&names, &[TArg::Value(v)])?
            }
            Found::Entities(entities, None)
                if matches!(entities.first(), Some(Entity::Class { .. })) =>
            {
                let v = self.const_value(scope, arg).ok()?;
                Type::Struct(
                    self.class_from_entities(&entities, Some(vec![TArg::Value(v)]), e.span).ok()?,
                )
            }
            Found::Entities(..) => return None,
        };
        Some(self.declare_misread(name, ty, value, e.span))
    }

    fn declare_misread(
        &mut self,
        name: &str,
        ty: Type,
        value: &'a ast::Expr,
        span: Span,
    ) -> Res<()> {
        let scope = self.f_scope();
        let init = self.rvalue(value).and_then(|v| self.convert_to(v, &ty, value.span));
        let init = match init {
            Ok(init) => init,
            Err(failure) => {
                self.declare(scope, name, Entity::Poisoned);
                return Err(failure);
            }
        };
        let mut var = Var::new(name, ty.clone(), VarKind::Local);
        var.origin = span.into();
        let id = self.f().func.add_var(var);
        let owner = self.f().serial;
        self.emit(StmtKind::Decl { var: id, init: Some(init) }, span);
        let place = Place::new(PlaceKind::Var(id), ty, span);
        self.declare(scope, name, Entity::Place { owner, place, is_const: false, shape: None });
        Ok(())
    }
}
