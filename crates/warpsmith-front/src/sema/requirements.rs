//! `requires (T t) { t.size(); typename T::type; { t + 1 } -> std::same_as<int>; }`: whether all of it means something.

use warpsmith_ir::{FunctionKind, Span, StructId};

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
        self.f().asks_access = true;
        let (operand, _) = self.in_block(|s| s.expr(e));
        self.f().asks_access = false;
        self.f().unevaluated -= 1;
        match operand {
            Ok(Operand::Foreign { .. } | Operand::ForeignMethod { .. }) | Err(_) => false,
            Ok(_) => true,
        }
    }

    /// Whether a member of that name is private or protected, and what is looked at stands outside of its class.
    pub(crate) fn is_hidden_here(&mut self, class: StructId, name: &str) -> bool {
        if !self.f().asks_access {
            return false;
        }
        let Some((class, hidden)) = self.access_of(class, name) else { return false };
        let (mut here, inside) = (Some(self.f_scope()), self.class(class).scope);
        while let Some(scope) = here {
            if scope == inside {
                return false;
            }
            here = self.scope(scope).parent;
        }
        hidden
    }

    /// The class, or a base of it, that declares such a member, and whether all of them are hidden there.
    fn access_of(&self, class: StructId, name: &str) -> Option<(StructId, bool)> {
        let info = self.class(class);
        let members = info.decl.and_then(|d| d.members.as_deref()).unwrap_or_default();
        let named: Vec<bool> = members
            .iter()
            .filter_map(|m| match m {
                ast::Member::Field(v) => {
                    v.declarators.iter().any(|d| d.name == name).then_some(v.attrs.is_hidden)
                }
                ast::Member::Method(f) => match &f.name {
                    ast::FunctionName::Plain(p) => {
                        let last = p.segments.last().filter(|s| s.name == name);
                        last.map(|_| f.attrs.is_hidden)
                    }
                    _ => None,
                },
                _ => None,
            })
            .collect();
        match named.is_empty() {
            true => info.bases.iter().find_map(|b| self.access_of(b.class, name)),
            false => Some((class, named.into_iter().all(|hidden| hidden))),
        }
    }
}
