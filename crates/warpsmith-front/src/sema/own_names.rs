//! Variables whose values name them: their scope begins before the value.

use warpsmith_ir::{Place, PlaceKind, Span, Type};

use super::model::Entity;
use super::{Sema, walk};
use crate::ast::{self, ExprKind, Initializer, TypeKind};

/// What of an expression is looked at: told what to call for each part.
type Within = dyn Fn(&ast::Expr, &mut dyn FnMut(&ast::Expr));

/// The expressions of a value that is no list.
pub(super) fn expressions(init: &Initializer) -> &[ast::Expr] {
    match init {
        Initializer::Expr(e) => std::slice::from_ref(e),
        Initializer::Call(args, _) => args,
        Initializer::List(..) => &[],
    }
}

/// Whether the value of a variable names that variable within some of its expressions.
fn names_itself(value: &[ast::Expr], name: &str, within: &Within) -> bool {
    let mut found = false;
    let mut look = |e: &ast::Expr| {
        within(e, &mut |e| {
            found |= matches!(&*e.kind, ExprKind::Path(p) if p.as_name() == Some(name));
        });
    };
    value.iter().for_each(|e| walk::expr(e, &mut look));
    found
}

/// Whether a lambda in the value of a variable names that variable.
pub(super) fn in_own_lambda(value: &[ast::Expr], name: &str) -> bool {
    names_itself(value, name, &|e, see| {
        if let ExprKind::Lambda(l) = &*e.kind {
            walk::block(&l.body, see);
        }
    })
}

/// Whether the value asks for the type or the size of its variable: `float *p = (float *)malloc(n * sizeof(*p))`,
/// `int (*t)[8] = reinterpret_cast<decltype(t)>(p)`.
fn asks_for_own_type(value: &[ast::Expr], name: &str) -> bool {
    names_itself(value, name, &|e, see| match &*e.kind {
        ExprKind::SizeofExpr(inner) => walk::expr(inner, see),
        ExprKind::Cast { ty, .. } | ExprKind::SizeofType(ty) | ExprKind::Construct { ty, .. } => {
            in_type(ty, see);
        }
        _ => {}
    })
}

impl Sema<'_> {
    /// Lowers the value of a variable; where it asks for the variable's type, with another one that stands in for it.
    pub(super) fn with_own_type<R>(
        &mut self,
        (name, ty, span): (&str, &Type, Span),
        value: &[ast::Expr],
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if !asks_for_own_type(value, name) {
            return lower(self);
        }
        let (scope, owner) = (self.f_scope(), self.f().serial);
        let id = self.fresh_var(name, ty.clone(), span);
        let place = Place::new(PlaceKind::Var(id), ty.clone(), span);
        self.declare(scope, name, Entity::Place { owner, place, is_const: false, shape: None });
        let lowered = lower(self);
        self.scope_mut(scope).names.remove(name);
        lowered
    }
}

/// The expressions that a type takes the type of.
fn in_type(ty: &ast::TypeName, see: &mut dyn FnMut(&ast::Expr)) {
    match &ty.kind {
        TypeKind::Decltype(e) => walk::expr(e, see),
        TypeKind::Pointer { to, .. } | TypeKind::Reference { to, .. } => in_type(to, see),
        _ => {}
    }
}
