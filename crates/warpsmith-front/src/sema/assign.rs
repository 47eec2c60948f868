//! Assignments, increments, discarded expressions, and expressions that name a place.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Place, PlaceKind, Scalar, Span, StmtKind, Type};

use super::Sema;
use super::bit_fields::Bits;
use super::convert::{cast_scalar, promoted};
use super::expr_ops::binary_op;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// The place an expression names, and whether it is constant.
    pub(crate) fn lvalue(&mut self, e: &'a ast::Expr) -> Res<(Place, bool)> {
        match &*e.kind {
            ast::ExprKind::Paren(inner) => return self.lvalue(inner),
            ast::ExprKind::Assign { op, target, value } => {
                let operand = self.assign_place(op, target, value, e.span)?;
                return self.place_of(operand, e.span);
            }
            ast::ExprKind::Conditional { cond, then, otherwise } => {
                return self.conditional_place(cond, then, otherwise, e.span);
            }
            _ => {}
        }
        let operand = self.named_constant(e)?;
        self.place_of(operand, e.span)
    }

    /// What an expression denotes; a constant with a name has an address where one asks for it.
    pub(crate) fn named_constant(&mut self, e: &'a ast::Expr) -> Res<Operand<'a>> {
        match (self.expr(e)?, &*e.kind) {
            (Operand::Value(value), ast::ExprKind::Path(_)) if value.as_const().is_some() => {
                let place = self.materialise(value, e.span);
                Ok(Operand::Place { place, is_const: true })
            }
            (operand, _) => Ok(operand),
        }
    }

    pub(crate) fn place_of(&mut self, operand: Operand<'a>, span: Span) -> Res<(Place, bool)> {
        match operand {
            Operand::Place { place, is_const } => Ok((place, is_const)),
            Operand::Shaped { pointer, index, shape, is_const } if index.len() == shape.len() => {
                Ok((shaped_place(pointer, index, &shape, span), is_const))
            }
            Operand::Shaped { .. } => fail("W079", span, "a row of an array is no variable"),
            Operand::Index3(_) => {
                fail("W080", span, "the hardware's index variables cannot be changed")
            }
            Operand::Bits { .. } => {
                let d = error("W079", span, "a bit-field has no address");
                Err(d.help("copy it to a variable").into())
            }
            other => {
                // The message for operands without a value is better than ours.
                let value = self.rvalue_of(other, span)?;
                let d = error("W079", span, "this is a value, not a variable");
                if value.as_const().is_some() {
                    Err(d.help("it is constant").into())
                } else {
                    Err(d.into())
                }
            }
        }
    }

    /// `(c ? a : b) = …`: through the address of the one that is chosen.
    fn conditional_place(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Res<(Place, bool)> {
        let c = self.rvalue(cond)?;
        let c = self.as_condition(c, cond.span)?;
        let (a, a_const) = self.lvalue(then)?;
        let (b, b_const) = self.lvalue(otherwise)?;
        if a.ty != b.ty {
            return fail("W062", span, "the arms of `?:` name variables of different types");
        }
        let ty = a.ty.clone();
        let is_const = a_const || b_const;
        let pa = self.address_of(a, is_const, span);
        let pb = self.address_of(b, is_const, span);
        let target = super::convert::with_space(&pa.ty, warpsmith_ir::Space::Generic);
        let (pa, pb) = (
            super::functions::raw_pointer_cast(pa, target.clone(), span),
            super::functions::raw_pointer_cast(pb, target.clone(), span),
        );
        let pointer = Expr::new(ExprKind::Select(c, pa, pb), target, span);
        let pointer = self.hold_value(pointer, span);
        Ok((Place::new(PlaceKind::Deref(pointer), ty, span), is_const))
    }

    /// `target op value` as an expression: the assigned value.
    pub(crate) fn assign(
        &mut self,
        op: &str,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let operand = self.assign_place(op, target, value, span)?;
        let Operand::Place { place, is_const } = operand else { return Ok(operand) };
        if matches!(&*place.kind, PlaceKind::Var(_)) || place.ty.is_aggregate() {
            return Ok(Operand::Place { place, is_const });
        }
        // The value is what was written, not what is read back: another thread may write in between.
        let f = self.f();
        if let Some(block) = f.blocks.last_mut()
            && let Some(last) = block.pop()
        {
            if let StmtKind::Assign { place, value } = last.kind {
                let held = self.hold_value(value, span);
                self.emit(StmtKind::Assign { place, value: held.clone() }, span);
                return Ok(Operand::Value(held));
            }
            block.push(last);
        }
        Ok(Operand::Place { place, is_const })
    }

    /// Performs the assignment; the result is the target, or what a user's operator gives.
    fn assign_place(
        &mut self,
        op: &str,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let v = self.expr(value)?;
        let mark = self.mark();
        // A struct or an overloaded operator needs the operand itself.
        let target_operand = match &*target.kind {
            ast::ExprKind::Conditional { .. }
            | ast::ExprKind::Paren(_)
            | ast::ExprKind::Assign { .. } => {
                let (place, is_const) = self.lvalue(target)?;
                Operand::Place { place, is_const }
            }
            _ => self.expr(target)?,
        };
        if let Operand::Bits { word, bits, is_const } = target_operand {
            self.check_assignable(&word, is_const, target, span)?;
            let value = match v {
                Operand::List(items) => {
                    let ty = Type::Scalar(bits.ty);
                    self.list_value(&ty, items, self.f_scope(), value.span)?
                }
                other => {
                    let read = self.rvalue_of(other, value.span)?;
                    self.settle(read, mark, value.span)
                }
            };
            return self.assign_bits(op, word, bits, value, span);
        }
        let plain = op == "=" && self.assigns_as_any_class(&target_operand, &v);
        if !plain && self.may_be_overloaded(&target_operand) {
            let pair = [target_operand.clone(), v.clone()];
            if let Some(result) = self.try_operator(op, &pair, span) {
                return result;
            }
        }
        if let (Operand::Value(_), ast::ExprKind::Path(_)) = (&target_operand, &*target.kind) {
            let text = super::text::expr_text(target);
            return fail("W080", span, format!("`{text}` is constant, it cannot be assigned"));
        }
        let (place, is_const) = self.place_of(target_operand, target.span)?;
        self.check_assignable(&place, is_const, target, span)?;
        if op == "=" {
            let value = match v {
                Operand::List(items) => {
                    self.list_value(&place.ty, items, self.f_scope(), value.span)?
                }
                other => {
                    let read = self.rvalue_of(other, value.span)?;
                    let read = self.settle(read, mark, value.span);
                    self.convert_to(read, &place.ty, value.span)?
                }
            };
            self.emit(StmtKind::Assign { place: place.clone(), value }, span);
            return Ok(Operand::Place { place, is_const });
        }
        let Some(ir_op) = op.strip_suffix('=').and_then(binary_op) else {
            return Err(super::instead::unsupported_operator(op, span));
        };
        let v = self.rvalue_of(v, value.span)?;
        let v = self.settle(v, mark, value.span);
        let result = self.compound_value(ir_op, &place, v, span)?;
        self.emit(StmtKind::Assign { place: place.clone(), value: result }, span);
        Ok(Operand::Place { place, is_const })
    }

    /// `object.bits op value`
    fn assign_bits(
        &mut self,
        op: &str,
        word: Place,
        bits: Bits,
        value: Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let value = match op.strip_suffix('=') {
            Some("") => value,
            with => {
                let Some(ir_op) = with.and_then(binary_op) else {
                    return Err(super::instead::unsupported_operator(op, span));
                };
                let old = self.read_bits(word.clone(), bits, span)?;
                self.binary_values(ir_op, old, value, span)?
            }
        };
        let value = self.convert_to(value, &Type::Scalar(bits.ty), span)?;
        self.write_bits(word.clone(), bits, value, span)?;
        Ok(Operand::Bits { word, bits, is_const: false })
    }

    /// `place op value`, converted to the type of the place.
    fn compound_value(
        &mut self,
        op: BinaryOp,
        place: &Place,
        value: Expr,
        span: Span,
    ) -> Res<Expr> {
        let old = self.read_place(place.clone(), false, span);
        let result = self.binary_values(op, old, value, span)?;
        match (&result.ty, &place.ty) {
            (Type::Pointer { .. }, Type::Pointer { .. }) => {
                Ok(super::functions::raw_pointer_cast(result, place.ty.clone(), span))
            }
            _ => self.convert_to(result, &place.ty, span),
        }
    }

    fn check_assignable(
        &mut self,
        place: &Place,
        is_const: bool,
        target: &'a ast::Expr,
        span: Span,
    ) -> Res<()> {
        if matches!(place.ty, Type::Array(..)) {
            let d = error("W079", span, "an array cannot be assigned");
            return Err(d.help("copy its elements in a loop").into());
        }
        if is_const {
            let text = super::text::expr_text(target);
            return fail("W080", span, format!("`{text}` is constant, it cannot be assigned"));
        }
        Ok(())
    }

    pub(crate) fn assign_list(
        &mut self,
        target: &'a ast::Expr,
        items: &'a [ast::InitItem],
        span: Span,
    ) -> Res<Operand<'a>> {
        let (place, is_const) = self.lvalue(target)?;
        self.check_assignable(&place, is_const, target, span)?;
        let value = self.list_value(&place.ty, items, self.f_scope(), span)?;
        self.emit(StmtKind::Assign { place: place.clone(), value }, span);
        Ok(Operand::Place { place, is_const })
    }

    /// `++x`, `x++`; with `used`, the result is the value C++ gives it.
    pub(crate) fn inc_dec(
        &mut self,
        op: &str,
        prefix: bool,
        operand: &'a ast::Expr,
        span: Span,
        used: bool,
    ) -> Res<Operand<'a>> {
        let inner = self.expr(operand)?;
        if self.may_be_overloaded(&inner) {
            // The postfix form has an `int` that nobody names.
            let dummy = Operand::Value(Expr::i32(0).with_origin(span));
            let list = if prefix { vec![inner.clone()] } else { vec![inner.clone(), dummy] };
            if let Some(result) = self.try_operator(op, &list, span) {
                return result;
            }
        }
        if let Operand::Bits { word, bits, is_const } = inner {
            self.check_assignable(&word, is_const, operand, span)?;
            let old = self.read_bits(word.clone(), bits, span)?;
            let old = if used && !prefix { self.hold_old(old, span) } else { old };
            let one = Expr::i32(1).with_origin(span);
            let op = if op == "++" { "+=" } else { "-=" };
            let new = self.assign_bits(op, word, bits, one, span)?;
            return Ok(if prefix { new } else { Operand::Value(old) });
        }
        let (place, is_const) = self.place_of(inner, operand.span)?;
        self.check_assignable(&place, is_const, operand, span)?;
        let old = self.read_place(place.clone(), false, span);
        let old = if used && !prefix { self.hold_old(old, span) } else { old };
        let ir_op = if op == "++" { BinaryOp::Add } else { BinaryOp::Sub };
        let new = match &place.ty {
            Type::Scalar(s) => {
                let one = cast_scalar(Expr::i32(1).with_origin(span), promoted(*s), span);
                let sum = self.binary_values(ir_op, old.clone(), one, span)?;
                cast_scalar(sum, *s, span)
            }
            Type::Pointer { .. } => {
                let step = if op == "++" { 1 } else { -1 };
                let step = Expr::i32(step).with_origin(span);
                Expr::new(ExprKind::PtrOffset(old.clone(), step), place.ty.clone(), span)
            }
            other => {
                let text = self.type_text(other);
                return fail("W062", span, format!("`{op}` has no meaning for `{text}`"));
            }
        };
        let in_register = matches!(&*place.kind, PlaceKind::Var(_));
        let new = if used && prefix && !in_register { self.hold_value(new, span) } else { new };
        self.emit(StmtKind::Assign { place: place.clone(), value: new.clone() }, span);
        match (prefix, in_register) {
            (false, _) => Ok(Operand::Value(old)),
            (true, true) => Ok(Operand::Place { place, is_const }),
            (true, false) => Ok(Operand::Value(new)),
        }
    }

    /// Evaluates into a temporary even if nothing is known to change the value.
    fn hold_old(&mut self, e: Expr, span: Span) -> Expr {
        let ty = e.ty.clone();
        let name = "old";
        let var = self.fresh_var(name, ty.clone(), span);
        self.f().stable.insert(var);
        self.emit(StmtKind::Decl { var, init: Some(e) }, span);
        Expr::var(var, ty).with_origin(span)
    }

    /// Evaluates an expression for its effects only.
    pub(crate) fn discard(&mut self, e: &'a ast::Expr) -> Res<()> {
        if let Some(declared) = self.misread_declaration(e) {
            return declared;
        }
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.discard(inner),
            ast::ExprKind::Comma(a, b) => {
                self.discard(a)?;
                self.discard(b)
            }
            ast::ExprKind::Assign { op, target, value } => {
                self.assign_place(op, target, value, e.span).map(drop)
            }
            ast::ExprKind::IncDec { op, prefix, operand } => {
                self.inc_dec(op, *prefix, operand, e.span, false).map(drop)
            }
            ast::ExprKind::Cast { ty, operand, .. } if matches!(ty.kind, ast::TypeKind::Void) => {
                self.discard(operand)
            }
            _ => match self.expr(e)? {
                // A name alone has no effect, but it has to mean something.
                other @ (Operand::Foreign { .. } | Operand::ForeignMethod { .. }) => {
                    self.rvalue_of(other, e.span).map(drop)
                }
                _ => Ok(()),
            },
        }
    }

    pub(crate) fn cast(
        &mut self,
        style: &str,
        ty: &'a ast::TypeName,
        operand: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let q = self.resolve_type(self.f_scope(), ty)?;
        if q.ty == Type::Void && !q.is_reference() {
            self.discard(operand)?;
            return Ok(Operand::Void);
        }
        let inner = self.expr(operand)?;
        if q.is_reference() {
            return self.cast_reference(inner, &q, style, span);
        }
        if let Operand::List(items) = inner {
            return self.list_value(&q.ty, items, self.f_scope(), span).map(Operand::Value);
        }
        if let Some(address) = self.address_as_number(&inner, &q.ty, span) {
            return address.map(Operand::Value);
        }
        let value = self.rvalue_of(inner, span)?;
        if let Some(class) = self.is_class(&q.ty)
            && value.ty != q.ty
            && self.is_class(&value.ty).is_none_or(|from| self.base_path(from, class).is_none())
        {
            return self
                .construct_class(class, vec![Operand::Value(value)], span)
                .map(Operand::Value);
        }
        self.convert_explicitly(value, &q.ty, style, span).map(Operand::Value)
    }

    /// `reinterpret_cast<float4 &>(x)`, `static_cast<T &&>(x)`.
    fn cast_reference(
        &mut self,
        inner: Operand<'a>,
        q: &QualType,
        style: &str,
        span: Span,
    ) -> Res<Operand<'a>> {
        let (place, is_const) = match inner {
            Operand::Place { .. } | Operand::Shaped { .. } => self.place_of(inner, span)?,
            other => {
                let value = self.rvalue_of(other, span)?;
                (self.materialise(value, span), false)
            }
        };
        let keeps = !matches!(style, "const" | "c");
        if place.ty == q.ty {
            return Ok(Operand::Place { place, is_const: q.is_const || is_const && keeps });
        }
        let pointer = self.address_of(place, is_const, span);
        let target = super::structs::stored_type(q);
        let target =
            super::convert::with_space(&target, super::convert::pointer_space(&pointer.ty));
        let pointer = super::functions::raw_pointer_cast(pointer, target, span);
        let place = Place::new(PlaceKind::Deref(pointer), q.ty.clone(), span);
        Ok(Operand::Place { place, is_const: q.is_const || is_const && keeps })
    }
}

/// The element of an array parameter with declared extents; the outermost extent is not needed.
pub(crate) fn shaped_place(pointer: Expr, index: Vec<Expr>, shape: &[Expr], span: Span) -> Place {
    let element = pointer.ty.pointee().cloned().unwrap_or(Type::Scalar(Scalar::I8));
    let dims = shape.iter().skip(1).cloned().collect();
    Place::new(PlaceKind::Elem { pointer, index, dims }, element, span)
}
