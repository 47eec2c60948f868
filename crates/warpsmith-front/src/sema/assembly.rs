//! Inline PTX: the operands of an `asm` statement.

use warpsmith_ir::{Expr, Place, PlaceKind, Span, Stmt, StmtKind, Type, VarId};

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
        let before = self.f().carry;
        let carry = before.map(|var| Expr::var(var, Type::U32).with_origin(span));
        let left = asm::lower(template, list, carry, span, self)?;
        if let Some(value) = left.filter(|_| template.contains(".cc")) {
            let var = self.carry_flag(span);
            let place = Place::new(PlaceKind::Var(var), Type::U32, span);
            self.emit(StmtKind::Assign { place, value }, span);
        }
        Ok(())
    }

    /// The variable of the function that keeps the carry from one statement to the next.
    fn carry_flag(&mut self, span: Span) -> VarId {
        if let Some(var) = self.f().carry {
            return var;
        }
        let var = self.fresh_var("carry", Type::U32, span);
        let declared = Stmt::new(StmtKind::Decl { var, init: None }, span);
        let f = self.f();
        f.carry = Some(var);
        if let Some(outermost) = f.blocks.first_mut() {
            outermost.insert(0, declared);
        }
        var
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
