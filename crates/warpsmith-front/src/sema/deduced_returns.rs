//! Return types that follow from what is returned and may be references: `auto &f()`, `decltype(auto) f()`.

use warpsmith_ir::PlaceKind;

use super::Sema;
use super::model::*;
use crate::ast::{self, TypeKind};

/// What is declared of a return type that is deduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Deduced {
    /// `auto`: what is returned is copied.
    #[default]
    Copy,
    /// `auto &`, `const auto &`.
    Reference { is_const: bool },
    /// `auto &&`: a reference to what can be assigned, and else a copy.
    Forwarded,
    /// `decltype(auto)`: as `decltype` of what is returned.
    AsWritten,
}

impl Deduced {
    pub fn of(written: &ast::TypeName) -> Deduced {
        match &written.kind {
            TypeKind::DecltypeAuto => Deduced::AsWritten,
            TypeKind::Reference { rvalue: true, .. } => Deduced::Forwarded,
            TypeKind::Reference { to, .. } => Deduced::Reference { is_const: to.is_const },
            _ => Deduced::Copy,
        }
    }
}

impl<'a> Sema<'a> {
    /// Takes the return type from the first value that is returned, where that is a reference.
    pub(super) fn deduce_reference(&mut self, value: &'a ast::Expr) -> Res<()> {
        if self.f().ret.is_some() {
            return Ok(());
        }
        let (scope, returns) = (self.f_scope(), self.f().returns);
        let (refers, is_const) = match returns {
            Deduced::Copy => (false, false),
            Deduced::Reference { is_const } => (true, is_const),
            Deduced::Forwarded => (self.is_assignable(scope, value), false),
            Deduced::AsWritten => (self.is_reference_to(scope, value), false),
        };
        if refers {
            let q = self.type_of_expr(scope, value)?;
            let is_const = is_const || q.is_const;
            let q = QualType { reference: RefKind::Lvalue, is_const, ..q };
            self.f().ret = Some(super::templates::despaced(q));
        }
        Ok(())
    }

    /// Whether `decltype` of an expression is a reference: it can be assigned, and is more than the name of a variable or
    /// member. A parameter that is a reference is one by its name, too.
    fn is_reference_to(&mut self, scope: ScopeId, value: &'a ast::Expr) -> bool {
        let place = match self.unevaluated(scope, value).0 {
            Ok(Operand::Place { place, .. }) => place,
            Ok(Operand::Shaped { .. }) => return true,
            _ => return false,
        };
        match &*value.kind {
            ast::ExprKind::Path(_) => matches!(&*place.kind, PlaceKind::Deref(_)),
            ast::ExprKind::Member { .. } => false,
            _ => true,
        }
    }
}
