//! Parameter packs: expansion, folds, lengths.

use warpsmith_ir::{Expr, Span};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// One scope per element of the packs that a pattern names.
    pub(crate) fn expand_pack(&mut self, pattern: &'a ast::Expr, span: Span) -> Res<Vec<ScopeId>> {
        let names = super::templates::names_in_expr(pattern);
        self.pack_scopes(self.f_scope(), &names, span)
    }

    /// One scope per element of the packs among some names, inside of `here`.
    pub(crate) fn pack_scopes(
        &mut self,
        here: ScopeId,
        names: &[String],
        span: Span,
    ) -> Res<Vec<ScopeId>> {
        let packs = self.packs_among(here, names);
        let Some(count) = packs.iter().map(|(_, l)| l.len()).max() else {
            return fail("W055", span, "there is no pack to expand here");
        };
        let mut scopes = vec![];
        for i in 0..count {
            let scope = self.new_scope(Some(here), ScopeKind::Block);
            for (name, list) in &packs {
                let Some(element) = list.get(i) else {
                    return fail("W055", span, "the packs have different lengths");
                };
                self.declare(scope, name, element.clone());
            }
            scopes.push(scope);
        }
        Ok(scopes)
    }

    /// What a pattern gives for each element of its packs.
    pub(crate) fn expand_operands(
        &mut self,
        pattern: &'a ast::Expr,
        span: Span,
    ) -> Res<Vec<Operand<'a>>> {
        let mut list = vec![];
        for scope in self.expand_pack(pattern, span)? {
            list.push(self.expr_in(scope, pattern)?);
        }
        Ok(list)
    }

    /// An expression, with the names of a scope.
    fn expr_in(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<Operand<'a>> {
        let saved = std::mem::replace(&mut self.f().scope, scope);
        let operand = self.expr(e);
        self.f().scope = saved;
        operand
    }

    /// As [`Self::expand_operands`], for the elements of a list, which have their values one after the other.
    pub(crate) fn expand_in_turn(
        &mut self,
        pattern: &'a ast::Expr,
        span: Span,
    ) -> Res<Vec<Operand<'a>>> {
        let mut list = vec![];
        for scope in self.expand_pack(pattern, span)? {
            let before = self.mark();
            let operand = self.expr_in(scope, pattern)?;
            let scalar = self.operand_type(&operand).is_some_and(|q| q.ty.scalar().is_some());
            list.push(match scalar && self.mark() > before {
                true => {
                    let value = self.rvalue_of(operand, span)?;
                    Operand::Value(self.hold_value(value, span))
                }
                false => operand,
            });
        }
        Ok(list)
    }

    /// `(args op ...)` over a pack.
    pub(crate) fn fold_pack(
        &mut self,
        op: &str,
        operand: &'a ast::Expr,
        right: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let values = self.pack_values(op, operand, span)?;
        if op == "," {
            return Ok(Operand::Void);
        }
        match self.fold_values(op, values, right, span)? {
            Some(value) => Ok(Operand::Value(value)),
            None if op == "&&" => Ok(Operand::Value(super::convert::bool_const(true, span))),
            None if op == "||" => Ok(Operand::Value(super::convert::bool_const(false, span))),
            None => fail("W055", span, "the pack is empty"),
        }
    }

    /// `(args op ... op init)`, or `(init op ... op args)`
    pub(crate) fn fold_from(
        &mut self,
        op: &str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let pack_first = !self.packs_of(left).is_empty();
        let (pack, init) = if pack_first { (left, right) } else { (right, left) };
        let mut values = self.pack_values(op, pack, span)?;
        let at = if pack_first { values.len() } else { 0 };
        values.insert(at, self.rvalue(init)?);
        match self.fold_values(op, values, pack_first, span)? {
            Some(value) => Ok(Operand::Value(value)),
            None => fail("W055", span, "the pack is empty"),
        }
    }

    /// The operands of a fold; none for `,`, which only evaluates them.
    fn pack_values(&mut self, op: &str, operand: &'a ast::Expr, span: Span) -> Res<Vec<Expr>> {
        let scopes = self.expand_pack(operand, span)?;
        let mut values = vec![];
        for scope in scopes {
            let saved = std::mem::replace(&mut self.f().scope, scope);
            let value = if op == "," {
                self.discard(operand).map(|()| None)
            } else {
                self.rvalue(operand).map(Some)
            };
            self.f().scope = saved;
            values.extend(value?);
        }
        Ok(values)
    }

    fn fold_values(
        &mut self,
        op: &str,
        mut values: Vec<Expr>,
        right: bool,
        span: Span,
    ) -> Res<Option<Expr>> {
        let Some(ir_op) = super::expr_ops::binary_op(op) else {
            let d = error("W053", span, format!("folding with `{op}` is not supported"));
            return Err(d.help("call a function of the first element and of the rest").into());
        };
        if ir_op.is_logical() {
            for v in &mut values {
                *v = self.as_condition(v.clone(), span)?;
            }
        }
        if right {
            values.reverse();
        }
        let mut list = values.into_iter();
        let Some(mut acc) = list.next() else { return Ok(None) };
        for v in list {
            let (a, b) = if right { (v, acc) } else { (acc, v) };
            acc = if ir_op.is_logical() {
                super::convert::binary_folded(ir_op, a, b, span)
            } else {
                self.binary_values(ir_op, a, b, span)?
            };
        }
        Ok(Some(acc))
    }

    /// The packs that a pattern names, with their elements.
    fn packs_of(&self, pattern: &'a ast::Expr) -> Vec<(String, Vec<Entity<'a>>)> {
        self.packs_among(self.f_scope(), &super::templates::names_in_expr(pattern))
    }

    fn packs_among(&self, here: ScopeId, names: &[String]) -> Vec<(String, Vec<Entity<'a>>)> {
        let mut packs: Vec<(String, Vec<Entity<'a>>)> = vec![];
        for name in names {
            let known = packs.iter().any(|(n, _)| n == name);
            if let Some(Entity::Pack(list)) = self.lookup(here, name).first().filter(|_| !known) {
                packs.push((name.clone(), list.clone()));
            }
        }
        packs
    }

    /// `sizeof...(pack)`
    pub(crate) fn pack_length(&mut self, pack: &'a ast::Expr, span: Span) -> Res<usize> {
        match self.packs_of(pack).first() {
            Some((_, list)) => Ok(list.len()),
            None => fail("W055", span, "`sizeof...` needs a pack"),
        }
    }
}
