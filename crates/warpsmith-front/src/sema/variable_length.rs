//! Arrays of the host whose length is known when the program runs: memory behind a pointer.

use warpsmith_ir::{
    BinaryOp, Expr, Place, PlaceKind, Runtime, Scalar, Space, Span, StmtKind, Type, Var, VarId,
    VarKind,
};

use super::Sema;
use super::model::*;
use crate::ast;

/// Bytes of such an array of the function under construction, by its number and the variable.
pub(crate) type Length = ((u32, VarId), Expr);

impl<'a> Sema<'a> {
    /// `float a[n];` in host code of a program; `None` where it is none of these.
    pub(crate) fn variable_length(&mut self, d: &'a ast::Declarator) -> Option<Res<()>> {
        let ast::TypeKind::Array { element, extent: Some(extent) } = &d.ty.kind else {
            return None;
        };
        if d.init.is_some() || !self.tolerates() {
            return None;
        }
        match self.const_value(self.f_scope(), extent) {
            Ok(_) => None,
            Err(_) => Some(self.array_by_pointer(d, element, extent)),
        }
    }

    fn array_by_pointer(
        &mut self,
        d: &'a ast::Declarator,
        element: &'a ast::TypeName,
        extent: &'a ast::Expr,
    ) -> Res<()> {
        let scope = self.f_scope();
        let q = self.resolve_type(scope, element)?;
        let count = self.rvalue(extent)?;
        let count = self.convert_to(count, &Type::U64, extent.span)?;
        let size = warpsmith_ir::layout::layout_of(&self.module, &q.ty).size;
        let size = Expr::int(Scalar::U64, size as i64).with_origin(d.span);
        let bytes = super::convert::binary_folded(BinaryOp::Mul, count, size, d.span);
        let bytes = self.hold_now(bytes, d.span);
        let ty = Type::pointer(q.ty, Space::Generic);
        let mut var = Var::new(&d.name, ty.clone(), VarKind::Local);
        var.origin = d.span.into();
        let id = self.f().func.add_var(var);
        let owner = self.f().serial;
        self.emit(StmtKind::Decl { var: id, init: None }, d.span);
        let pointer = Place::new(PlaceKind::Var(id), ty, d.span);
        let (place, length) = (pointer.clone(), bytes.clone());
        let call = Runtime::AllocateHost { pointer, bytes, shared: false };
        self.emit(StmtKind::Runtime(call), d.span);
        self.lengths.push(((owner, id), length));
        self.declare(scope, &d.name, Entity::Place { owner, place, is_const: false, shape: None });
        Ok(())
    }

    /// What `sizeof` says of such an array.
    pub(crate) fn variable_size(&mut self, e: &'a ast::Expr, span: Span) -> Option<Expr> {
        let inner = match &*e.kind {
            ast::ExprKind::Paren(inner) => inner,
            _ => e,
        };
        let ast::ExprKind::Path(path) = &*inner.kind else { return None };
        let name = path.as_name().filter(|_| !self.lengths.is_empty())?;
        let scope = self.f_scope();
        let found = self.lookup(scope, name).into_iter().next();
        let Some(Entity::Place { owner, place, .. }) = found else { return None };
        let PlaceKind::Var(id) = *place.kind else { return None };
        let known = self.lengths.iter().find(|(key, _)| *key == (owner, id));
        known.map(|(_, bytes)| bytes.clone().with_origin(span))
    }
}
