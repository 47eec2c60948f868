//! Inline PTX: the operands of an `asm` statement.

use warpsmith_ir::{Expr, Span, StmtKind};

use super::Sema;
use super::model::*;
use crate::ast;
use crate::builtins::{asm, memory};

impl<'a> Sema<'a> {
    /// Evaluates the operands in order and lowers the template with them.
    pub(crate) fn assembly(
        &mut self,
        template: &str,
        operands: &'a [ast::AsmOperand],
        span: Span,
    ) -> Res<()> {
        let writes = operands.iter().any(|o| o.constraint.starts_with(['=', '+']));
        let mut list = vec![];
        for o in operands {
            if o.constraint.starts_with(['=', '+']) {
                let (place, is_const) = self.lvalue(&o.expr)?;
                if is_const {
                    let d = error("W080", o.expr.span, "inline assembly cannot write a constant");
                    return Err(d.help("give the output a variable of its own").into());
                }
                let place = self.hold_place(place, o.expr.span);
                let before = o.constraint.starts_with('+').then(|| Expr::read(place.clone()));
                let value = before.map(|v| self.hold_value(v, o.expr.span));
                list.push(asm::Operand { value, place: Some(place) });
                continue;
            }
            let value = self.rvalue(&o.expr)?;
            let mut value = self.traced(value);
            // An output may be the variable that an input was read from.
            if writes && memory::underlying_pointer(&value).is_none() {
                value = self.hold_value(value, o.expr.span);
            }
            list.push(asm::Operand { value: Some(value), place: None });
        }
        asm::lower(template, list, span, self)?;
        Ok(())
    }

    /// The value a constant variable was declared with, where its declaration is in view: it says which
    /// pointer an address came from.
    fn traced(&mut self, value: Expr) -> Expr {
        let warpsmith_ir::ExprKind::Read(place) = &*value.kind else { return value };
        let warpsmith_ir::PlaceKind::Var(v) = *place.kind else { return value };
        let f = self.f();
        let var = f.func.var(v);
        if !var.constant && f.changed.contains(&var.name) {
            return value;
        }
        let stmts = f.blocks.iter().flatten();
        let mut init = stmts.filter_map(|s| match &s.kind {
            StmtKind::Decl { var, init: Some(init) } if *var == v => Some(init.clone()),
            _ => None,
        });
        init.next_back().filter(|i| i.ty == value.ty).unwrap_or(value)
    }
}
