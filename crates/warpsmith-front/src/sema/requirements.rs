//! `requires (T t) { t.size(); typename T::type; { t + 1 } -> std::same_as<int>; }`: whether all of it means something.

use warpsmith_ir::{FunctionKind, Span};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    pub(crate) fn requirements(
        &mut self,
        asked: &'a ast::Requirements,
        span: Span,
    ) -> Res<Operand<'a>> {
        let kind = match self.f().func.kind {
            FunctionKind::Host => FunctionKind::Host,
            _ => FunctionKind::Device,
        };
        let outer = self.f_scope();
        let scope = self.new_scope(Some(outer), ScopeKind::Block);
        self.push_fn("(requires)", kind, scope, span);
        let met = self.are_met(asked, scope);
        self.pop_fn();
        Ok(Operand::Value(super::convert::bool_const(met, span)))
    }

    fn are_met(&mut self, asked: &'a ast::Requirements, scope: ScopeId) -> bool {
        self.declare_uncalled(&asked.params, scope).is_ok()
            && asked.types.iter().all(|ty| self.resolve_type(scope, ty).is_ok())
            && asked.valid.iter().all(|e| self.has_meaning(e))
            && asked.holds.iter().all(|e| self.const_value(scope, e).is_ok_and(|v| v.is_true()))
    }

    fn has_meaning(&mut self, e: &'a ast::Expr) -> bool {
        self.f().unevaluated += 1;
        let (operand, _) = self.in_block(|s| s.expr(e));
        self.f().unevaluated -= 1;
        match operand {
            Ok(Operand::Foreign { .. } | Operand::ForeignMethod { .. }) | Err(_) => false,
            Ok(_) => true,
        }
    }
}
