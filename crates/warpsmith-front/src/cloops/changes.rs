//! Expressions that change something: assignments and steps.

use warpsmith_ir::{BinaryOp, Block, Expr, Place, Scalar, Span, StmtKind};

use super::cx::{Cx, Low};
use super::expr::binary_op;
use super::types;
use crate::ast;

impl<'u> Cx<'u> {
    /// Evaluates an expression for its side effects.
    pub fn effects(&mut self, e: &ast::Expr) -> Low<()> {
        use ast::ExprKind as A;
        match &*e.kind {
            A::Paren(inner) => self.effects(inner),
            A::Comma(a, b) => {
                self.effects(a)?;
                self.effects(b)
            }
            A::Assign { op, target, value } => self.assign(op, target, value, e.span).map(|_| ()),
            A::IncDec { op, operand, .. } => self.step(op, operand, e.span).map(|_| ()),
            A::Cast { ty, operand, .. } if matches!(ty.kind, ast::TypeKind::Void) => {
                self.effects(operand)
            }
            A::Conditional { cond, then, otherwise } => {
                let cond = self.condition(cond)?;
                let (a, then) = self.collect(|cx| cx.effects(then));
                let (b, otherwise) = self.collect(|cx| cx.effects(otherwise));
                a.and(b)?;
                self.push(
                    StmtKind::If { cond, then: Block::new(then), otherwise: Block::new(otherwise) },
                    e.span,
                );
                Ok(())
            }
            // `(void)A;` and the like: nothing to compute.
            A::Path(path) if path.as_name().is_some() => {
                self.lookup(path.as_name().unwrap_or_default(), path.span).map(|_| ())
            }
            _ => self.value(e).map(|_| ()),
        }
    }

    /// `target op= value`; gives the place that was assigned.
    pub fn assign(
        &mut self,
        op: &str,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Low<Place> {
        if let Some(moved) = self.move_pointer(op, target, Some(value), span)? {
            return Ok(moved);
        }
        if op == "=" {
            let place = self.target(target)?;
            if let Some(done) = self.call_into(&place, value)? {
                return Ok(done);
            }
            if place.ty.scalar().is_none() {
                let value = self.value_as(value, &place.ty)?;
                self.push(StmtKind::Assign { place: place.clone(), value }, span);
                return Ok(place);
            }
            let value = self.scalar(value)?;
            self.store(place.clone(), value, span);
            return Ok(place);
        }
        let Some(op) = op.strip_suffix('=').and_then(binary_op) else {
            return Err(self.unsupported("this operator", span));
        };
        let place = self.target(target)?;
        let b = self.operand(value)?;
        let old = Expr::read(place.clone());
        if self.is_complex(&place.ty) || self.is_complex(&b.ty) {
            let value = self.complex_binary(op, old, b, span)?;
            let value = self.value_to(value, &place.ty, span)?;
            self.push(StmtKind::Assign { place: place.clone(), value }, span);
            return Ok(place);
        }
        self.check_number(&place, target.span)?;
        let promoted = types::promote(old.ty.scalar().unwrap_or(Scalar::I32));
        let a = self.convert(old, promoted);
        let value = self.combine(op, a, b, span)?;
        self.store(place.clone(), value, span);
        Ok(place)
    }

    /// `++x`, `x--` as a statement.
    pub(super) fn step(&mut self, op: &str, operand: &ast::Expr, span: Span) -> Low<Place> {
        if let Some(moved) = self.move_pointer(op, operand, None, span)? {
            return Ok(moved);
        }
        let place = self.target(operand)?;
        let op = if op == "++" { BinaryOp::Add } else { BinaryOp::Sub };
        let old = Expr::read(place.clone());
        if self.is_complex(&place.ty) {
            let value = self.complex_binary(op, old, Expr::i32(1), span)?;
            self.push(StmtKind::Assign { place: place.clone(), value }, span);
            return Ok(place);
        }
        self.check_number(&place, operand.span)?;
        let promoted = types::promote(old.ty.scalar().unwrap_or(Scalar::I32));
        let a = self.convert(old, promoted);
        let value = self.combine(op, a, Expr::i32(1), span)?;
        self.store(place.clone(), value, span);
        Ok(place)
    }

    pub(super) fn inc_dec(
        &mut self,
        op: &str,
        prefix: bool,
        operand: &ast::Expr,
        span: Span,
    ) -> Low<Expr> {
        if prefix {
            return self.step(op, operand, span).map(Expr::read);
        }
        let place = self.target(operand)?;
        let old = self.temp("old", place.ty.clone(), Some(Expr::read(place)), span);
        self.step(op, operand, span)?;
        Ok(old)
    }
}
