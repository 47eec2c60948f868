//! Operators of cooperative groups that code calls itself: `cg::plus<int>{}(a, b)`, as scans of the library do.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Span};

use super::Sema;
use super::convert::binary_folded;
use super::model::*;

impl<'a> Sema<'a> {
    /// The name of an operator of cooperative groups, `cg::plus<int>{}`.
    pub(crate) fn group_operator(&mut self, object: &Operand<'a>) -> Option<String> {
        let q = self.operand_type(object)?;
        Some(self.type_text(&q.ty).strip_prefix("cooperative_groups::")?.to_string())
    }

    /// What an operator of cooperative groups makes of two numbers.
    pub(crate) fn combined_by(
        &mut self,
        operator: &str,
        list: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let values = list.into_iter().map(|o| self.rvalue_of(o, span));
        let values = values.collect::<Res<Vec<_>>>()?;
        let Ok([a, b]) = <[Expr; 2]>::try_from(values) else {
            return fail("W063", span, format!("`{operator}` takes two numbers"));
        };
        let b = self.convert_to(b, &a.ty.clone(), span)?;
        let (a, b) = (self.hold_value(a, span), self.hold_value(b, span));
        let op = match operator {
            "less" | "greater" => {
                let (x, y) = if operator == "less" { (&b, &a) } else { (&a, &b) };
                let cond = binary_folded(BinaryOp::Lt, x.clone(), y.clone(), span);
                let ty = a.ty.clone();
                let kind = ExprKind::Select(cond, b, a);
                return Ok(Operand::Value(Expr::new(kind, ty, span)));
            }
            "bit_and" => BinaryOp::BitAnd,
            "bit_or" => BinaryOp::BitOr,
            "bit_xor" => BinaryOp::BitXor,
            "plus" => BinaryOp::Add,
            _ => {
                return fail(
                    "W081",
                    span,
                    format!("`cooperative_groups::{operator}` cannot be called"),
                );
            }
        };
        Ok(Operand::Value(binary_folded(op, a, b, span)))
    }
}
