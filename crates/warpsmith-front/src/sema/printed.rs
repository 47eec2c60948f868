//! What host code prints.

use warpsmith_ir::{Expr, ExprKind, MathFn, Scalar, Span, StmtKind, Type};

use super::Sema;
use super::host_memory::zero;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// What is printed does not matter. What is called for it may, and that elements are looked at.
    pub(crate) fn printed(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        for arg in args {
            let (mut acts, mut looks) = (false, false);
            super::walk::expr(arg, &mut |e| match &*e.kind {
                ast::ExprKind::Call { .. }
                | ast::ExprKind::Assign { .. }
                | ast::ExprKind::IncDec { .. } => acts = true,
                ast::ExprKind::Index { .. } | ast::ExprKind::Member { .. } => looks = true,
                ast::ExprKind::Unary { op, .. } => looks |= op == "*",
                _ => {}
            });
            let before = self.before_statement();
            let done = match (acts, looks) {
                (true, _) => self.expr(arg).map(|_| ()),
                (false, true) => self.look_at(arg),
                (false, false) => Ok(()),
            };
            if done.is_err() {
                self.rewind(&before);
            }
        }
        Ok(zero(span))
    }

    /// A number in memory is read, if it holds anything: what is under way may write it.
    fn look_at(&mut self, e: &'a ast::Expr) -> Res<()> {
        let value = self.rvalue(e)?;
        self.look_at_value(value, e.span);
        Ok(())
    }

    /// What goes to a stream of the library is taken by reference, and no text is made of it; but it is looked at.
    pub(crate) fn printed_by_stream(
        &mut self,
        stream: &Operand<'a>,
        printed: &Operand<'a>,
        span: Span,
    ) -> Res<()> {
        let to = self.operand_type(stream).map(|q| q.ty);
        let text = to.filter(|ty| matches!(ty, Type::Struct(_))).map(|ty| self.type_text(&ty));
        if self.tolerates()
            && text.is_some_and(|name| name.ends_with("stream"))
            && let Operand::Place { place, .. } = printed
            && place.ty.scalar().is_some()
        {
            let value = self.rvalue_of(printed.clone(), span)?;
            self.look_at_value(value, span);
        }
        Ok(())
    }

    fn look_at_value(&mut self, value: Expr, span: Span) {
        let bits = match value.ty.scalar() {
            None | Some(Scalar::Bool) => return,
            Some(scalar) => Type::Scalar(match scalar.bytes() {
                1 => Scalar::U8,
                2 => Scalar::U16,
                4 => Scalar::U32,
                _ => Scalar::U64,
            }),
        };
        let value = Expr::new(ExprKind::Bitcast(value), bits.clone(), span);
        let value = Expr::new(ExprKind::Call(MathFn::Settled, vec![value]), bits.clone(), span);
        let var = self.new_temp(bits, span);
        self.emit(StmtKind::Decl { var, init: Some(value) }, span);
    }
}
