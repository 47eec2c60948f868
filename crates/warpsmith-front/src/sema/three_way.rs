//! Comparisons that the compiler writes: `a <=> b`, and what a class has of it.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Scalar, Span, StructId, Type};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// `a <=> b`: below, at or above zero.
    pub(crate) fn three_way(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let (l, r) = (self.expr(left)?, self.expr(right)?);
        let pair = [l, r];
        if let Some(order) = self.order_of(&pair, span) {
            return order;
        }
        let [l, r] = pair;
        let (l, r) = (self.rvalue_of(l, left.span)?, self.rvalue_of(r, right.span)?);
        let (l, r) = (self.hold_value(l, span), self.hold_value(r, span));
        self.sign(l, r, Expr::i32(0).with_origin(span), span).map(Operand::Value)
    }

    /// Comparisons of classes that have `operator<=>`, and those that are compared member by member; `None`: the class has an
    /// operator of its own, or none.
    pub(crate) fn by_three_way(
        &mut self,
        op: BinaryOp,
        pair: &[Operand<'a>; 2],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let class = self.class_of(&pair[0])?;
        let order = match op {
            Eq | Ne => {
                let by_members = self.is_defaulted(class, "operator==")
                    || self.own_operator(class, "operator==").is_none()
                        && self.is_defaulted(class, "operator<=>");
                if !by_members {
                    return None;
                }
                self.order_of_members(pair, span)?.map(Operand::Value)
            }
            Lt | Le | Gt | Ge => {
                let name = match op {
                    Lt => "operator<",
                    Le => "operator<=",
                    Gt => "operator>",
                    _ => "operator>=",
                };
                if self.own_operator(class, name).is_some() {
                    return None;
                }
                self.order_of(pair, span)?
            }
            _ => return None,
        };
        Some(order.and_then(|order| {
            let order = self.rvalue_of(order, span)?;
            let zero = Expr::i32(0).with_origin(span);
            self.binary_values(op, order, zero, span).map(Operand::Value)
        }))
    }

    /// What `operator<=>` of a class says of two objects.
    fn order_of(&mut self, pair: &[Operand<'a>; 2], span: Span) -> Option<Res<Operand<'a>>> {
        let class = self.class_of(&pair[0])?;
        match self.is_defaulted(class, "operator<=>") {
            true => Some(self.order_of_members(pair, span)?.map(Operand::Value)),
            false => self.try_operator("<=>", pair, span),
        }
    }

    fn class_of(&mut self, operand: &Operand<'a>) -> Option<StructId> {
        let ty = self.operand_type(operand)?.ty;
        self.is_class(&ty)
    }

    fn own_operator(&mut self, class: StructId, name: &str) -> Option<FnDecl<'a>> {
        let scope = self.class(class).scope;
        let found = self.lookup_in(scope, name);
        super::expr::functions(&found).into_iter().find(|f| f.class.is_some())
    }

    /// Declared in the class, for another object of it, and without a body anywhere.
    fn is_defaulted(&mut self, class: StructId, name: &str) -> bool {
        let Some(f) = self.own_operator(class, name) else { return false };
        let of = self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default();
        let outside = self.out_of_line.get(&(of, name.to_string()));
        let written = outside.into_iter().flatten().any(|f| f.decl.body.is_some());
        f.decl.body.is_none() && !written
    }

    /// The order of two objects by their members, first to last; `None`: they are of two types, or have members that are no numbers.
    fn order_of_members(&mut self, pair: &[Operand<'a>; 2], span: Span) -> Option<Res<Expr>> {
        let [a, b] = [0, 1].map(|i| self.rvalue_of(pair[i].clone(), span));
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) if a.ty == b.ty => (a, b),
            (Err(failure), _) | (_, Err(failure)) => return Some(Err(failure)),
            _ => return None,
        };
        let (a, b) = (self.hold_value(a, span), self.hold_value(b, span));
        let mut members = vec![];
        self.members(&a, &b, &mut members, span)?;
        let mut order = Ok(Expr::i32(0).with_origin(span));
        for (a, b) in members.into_iter().rev() {
            order = order.and_then(|rest| self.sign(a, b, rest, span));
        }
        Some(order)
    }

    /// The numbers that two objects are made of.
    fn members(&self, a: &Expr, b: &Expr, to: &mut Vec<(Expr, Expr)>, span: Span) -> Option<()> {
        match &a.ty {
            Type::Scalar(_) => to.push((a.clone(), b.clone())),
            Type::Struct(id) => {
                let fields = self.module.structs.get(id.0 as usize)?.fields.clone();
                for (i, field) in fields.iter().enumerate() {
                    let part = |e: &Expr| {
                        Expr::new(ExprKind::Member(e.clone(), i as u32), field.ty.clone(), span)
                    };
                    self.members(&part(a), &part(b), to, span)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// -1 where `a` is less, 1 where it is greater, else `rest`.
    fn sign(&mut self, a: Expr, b: Expr, rest: Expr, span: Span) -> Res<Expr> {
        let less = self.binary_values(BinaryOp::Lt, a.clone(), b.clone(), span)?;
        let greater = self.binary_values(BinaryOp::Gt, a, b, span)?;
        let int = Type::Scalar(Scalar::I32);
        let one = |n: i32| Expr::i32(n).with_origin(span);
        let above = Expr::new(ExprKind::Select(greater, one(1), rest), int.clone(), span);
        Ok(Expr::new(ExprKind::Select(less, one(-1), above), int, span))
    }
}
