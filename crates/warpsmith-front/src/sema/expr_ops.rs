//! Operators: unary, binary, logical, conditional.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, Place, PlaceKind, Scalar, Span, StmtKind, Type, UnaryOp,
};

use super::Sema;
use super::convert::{
    binary_folded, bool_const, cast_scalar, common_type, is_null, is_zero, null_pointer, promoted,
    unary_folded,
};
use super::model::*;
use crate::ast;

/// The operator of the IR for a spelling; comma and assignments are not among them.
pub(crate) fn binary_op(text: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    const ALL: [BinaryOp; 18] = [
        Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor, Lt, Le, Gt, Ge, Eq, Ne,
        LogicalAnd, LogicalOr,
    ];
    ALL.into_iter().find(|op| op.symbol() == text)
}

impl<'a> Sema<'a> {
    pub(crate) fn unary(
        &mut self,
        op: &str,
        operand: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        if op == "&" {
            return self.address(operand, span);
        }
        let inner = self.expr(operand)?;
        if self.may_be_overloaded(&inner)
            && let Some(result) = self.try_operator(op, std::slice::from_ref(&inner), span)
        {
            return result;
        }
        if op == "*" {
            return self.dereference(inner, span);
        }
        let value = self.rvalue_of(inner, span)?;
        if op == "!" {
            let truth = self.as_condition(value, span)?;
            return Ok(Operand::Value(negated(truth, span)));
        }
        if let Type::Vector(s @ (Scalar::F16 | Scalar::BF16), n) = value.ty
            && op == "-"
        {
            let held = self.hold_value(value, span);
            let parts = (0..n).map(|i| {
                let part =
                    Expr::new(ExprKind::Member(held.clone(), i.into()), Type::Scalar(s), span);
                unary_folded(UnaryOp::Neg, part, span)
            });
            return Ok(Operand::Value(Expr::new(
                ExprKind::Make(parts.collect()),
                held.ty.clone(),
                span,
            )));
        }
        if op == "+" && value.ty.is_pointer() {
            return Ok(Operand::Value(value));
        }
        let value = self.class_to_scalar(value, span)?;
        let Type::Scalar(s) = value.ty else {
            return self.bad_operand(op, &value.ty, span);
        };
        let value = cast_scalar(value, promoted(s), span);
        match op {
            "+" => Ok(Operand::Value(value)),
            "-" => Ok(Operand::Value(unary_folded(UnaryOp::Neg, value, span))),
            "~" if s.is_integer() => Ok(Operand::Value(unary_folded(UnaryOp::BitNot, value, span))),
            _ => self.bad_operand(op, &Type::Scalar(s), span),
        }
    }

    fn bad_operand<T>(&self, op: &str, ty: &Type, span: Span) -> Res<T> {
        let text = self.type_text(ty);
        fail("W062", span, format!("`{op}` has no meaning for `{text}`"))
    }

    fn dereference(&mut self, operand: Operand<'a>, span: Span) -> Res<Operand<'a>> {
        // `*f` of a function is the function.
        if matches!(operand, Operand::Functions { object: None, .. })
            || self.is_function_pointer(&operand)
        {
            return Ok(operand);
        }
        if let Operand::Shaped { pointer, mut index, shape, is_const } = operand {
            if index.len() >= shape.len() {
                return fail("W062", span, "`*` needs a pointer");
            }
            index.push(Expr::i32(0).with_origin(span));
            return Ok(Operand::Shaped { pointer, index, shape, is_const });
        }
        if let Operand::Place { place, is_const } = &operand
            && let Type::Array(element, _) = &place.ty
        {
            let zero = Expr::i32(0).with_origin(span);
            let inner =
                Place::new(PlaceKind::Index(place.clone(), zero), (**element).clone(), span);
            return Ok(Operand::Place { place: inner, is_const: *is_const });
        }
        let pointer = self.rvalue_of(operand, span)?;
        let Type::Pointer { pointee, readonly, .. } = pointer.ty.clone() else {
            let text = self.type_text(&pointer.ty);
            return fail("W062", span, format!("`*` needs a pointer, this is `{text}`"));
        };
        if *pointee == Type::Void {
            return fail("W062", span, "a pointer to void cannot be followed");
        }
        Ok(Operand::Place { place: self.place_of_pointer(pointer, span), is_const: readonly })
    }

    pub(crate) fn binary(
        &mut self,
        op: &str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        if op == "<=>" {
            return self.three_way(left, right, span);
        }
        let Some(ir_op) = binary_op(op) else {
            return Err(super::instead::unsupported_operator(op, span));
        };
        if ir_op.is_logical() {
            return self.logical(ir_op, left, right, span);
        }
        let mut l = self.expr(left)?;
        let between = self.mark();
        let mut r = self.expr(right)?;
        if self.may_be_overloaded(&l) || self.may_be_overloaded(&r) {
            if op == "<<" {
                self.printed_by_stream(&l, &r, right.span)?;
            }
            let pair = [l, r];
            if let Some(result) = self.by_three_way(ir_op, &pair, span) {
                return result;
            }
            if let Some(result) = self.try_operator(op, &pair, span) {
                return result;
            }
            [l, r] = pair;
        }
        let lv = self.rvalue_of(l, left.span)?;
        let lv = self.settle(lv, between, left.span);
        let rv = self.rvalue_of(r, right.span)?;
        self.binary_values(ir_op, lv, rv, span).map(Operand::Value)
    }

    /// `a op b` on values, with the usual conversions.
    pub(crate) fn binary_values(
        &mut self,
        op: BinaryOp,
        a: Expr,
        b: Expr,
        span: Span,
    ) -> Res<Expr> {
        if let (Type::Vector(x, n), Type::Vector(..)) = (&a.ty, &b.ty)
            && a.ty == b.ty
            && matches!(x, Scalar::F16 | Scalar::BF16)
        {
            let (x, n) = (*x, *n);
            return Ok(self.half_vector_op(op, a, b, x, n, span));
        }
        let (a, b) = self.numbers_of_pointers(a, b, span)?;
        let a = self.class_to_scalar(a, span)?;
        let b = self.class_to_scalar(b, span)?;
        match (a.ty.clone(), b.ty.clone()) {
            (Type::Scalar(x), Type::Scalar(y)) => self.scalar_op(op, a, b, x, y, span),
            (Type::Pointer { .. }, _) | (_, Type::Pointer { .. }) => {
                self.pointer_op(op, a, b, span)
            }
            (x, y) => {
                let (x, y) = (self.type_text(&x), self.type_text(&y));
                let d = error(
                    "W062",
                    span,
                    format!("`{}` has no meaning for `{x}` and `{y}`", op.symbol()),
                );
                Err(d.help(format!("define `operator{}` for them", op.symbol())).into())
            }
        }
    }

    fn scalar_op(
        &mut self,
        op: BinaryOp,
        a: Expr,
        b: Expr,
        x: Scalar,
        y: Scalar,
        span: Span,
    ) -> Res<Expr> {
        use BinaryOp::*;
        let integers_only = matches!(op, Rem | Shl | Shr | BitAnd | BitOr | BitXor);
        if integers_only && (x.is_float() || y.is_float()) {
            let bad = if x.is_float() { x } else { y };
            let d = error(
                "W062",
                span,
                format!(
                    "`{}` needs integers, this is `{}`",
                    op.symbol(),
                    self.type_text(&Type::Scalar(bad))
                ),
            );
            return Err(match op {
                Rem => d.help("use `fmodf` or `fmod`").into(),
                _ => d.into(),
            });
        }
        if matches!(op, Shl | Shr) {
            let a = cast_scalar(a, promoted(x), span);
            let b = cast_scalar(b, promoted(y), span);
            return Ok(binary_folded(op, a, b, span));
        }
        let common = common_type(x, y);
        let a = cast_scalar(a, common, span);
        let b = cast_scalar(b, common, span);
        if matches!(op, Div | Rem) && is_zero(&b) && common.is_integer() {
            self.warn("W078", span, "integer division by zero");
        }
        Ok(binary_folded(op, a, b, span))
    }

    /// Element by element, as CUDA defines it for pairs of half-precision numbers.
    fn half_vector_op(
        &mut self,
        op: BinaryOp,
        a: Expr,
        b: Expr,
        s: Scalar,
        n: u8,
        span: Span,
    ) -> Expr {
        let a = self.hold_value(a, span);
        let b = self.hold_value(b, span);
        let ty = a.ty.clone();
        let part = |e: &Expr, i: u8| {
            Expr::new(ExprKind::Member(e.clone(), i.into()), Type::Scalar(s), span)
        };
        let parts = (0..n).map(|i| binary_folded(op, part(&a, i), part(&b, i), span));
        if op.is_comparison() {
            let all = parts.reduce(|x, y| binary_folded(BinaryOp::LogicalAnd, x, y, span));
            return all.unwrap_or_else(|| bool_const(true, span));
        }
        Expr::new(ExprKind::Make(parts.collect()), ty, span)
    }

    fn pointer_op(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Res<Expr> {
        use BinaryOp::*;
        match (op, a.ty.clone(), b.ty.clone()) {
            (Add, Type::Pointer { .. }, Type::Scalar(s)) if s.is_integer() => {
                self.offset(a, b, span)
            }
            (Add, Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() => {
                self.offset(b, a, span)
            }
            (Sub, Type::Pointer { .. }, Type::Scalar(s)) if s.is_integer() => {
                // The negation happens in a width that holds it.
                let wide =
                    if s == Scalar::U32 || s.bytes() == 8 { Scalar::I64 } else { promoted(s) };
                let b = unary_folded(UnaryOp::Neg, cast_scalar(b, wide, span), span);
                self.offset(a, b, span)
            }
            (Sub, Type::Pointer { pointee, .. }, Type::Pointer { .. }) => {
                if *pointee == Type::Void {
                    return fail("W062", span, "pointers to void have no difference");
                }
                let b = self.same_pointer(b, &a.ty, span)?;
                Ok(Expr::new(ExprKind::PtrDiff(a, b), Type::I64, span))
            }
            (Lt | Le | Gt | Ge | Eq | Ne, x, y) => {
                let (a, b) = match (x.is_pointer() && !is_null(&a), y.is_pointer() && !is_null(&b))
                {
                    (true, false) if is_zero(&b) || is_null(&b) => {
                        let null = null_pointer(&a.ty, span);
                        (a, null)
                    }
                    (false, true) if is_zero(&a) || is_null(&a) => (null_pointer(&b.ty, span), b),
                    (true, true) | (false, false) if x.is_pointer() && y.is_pointer() => {
                        let b = self.same_pointer(b, &a.ty, span)?;
                        (a, b)
                    }
                    _ => return fail("W062", span, "a pointer is compared with a number"),
                };
                Ok(Expr::binary(op, a, b).with_origin(span))
            }
            (_, x, y) => {
                let (x, y) = (self.type_text(&x), self.type_text(&y));
                fail("W062", span, format!("`{}` has no meaning for `{x}` and `{y}`", op.symbol()))
            }
        }
    }

    /// The second of two pointers that are compared or subtracted, in the type of the first.
    fn same_pointer(&mut self, b: Expr, ty: &Type, span: Span) -> Res<Expr> {
        if b.ty == *ty {
            return Ok(b);
        }
        Ok(Expr::new(ExprKind::Cast(b), ty.clone(), span))
    }

    fn offset(&mut self, pointer: Expr, index: Expr, span: Span) -> Res<Expr> {
        if is_zero(&index) {
            return Ok(pointer);
        }
        let ty = pointer.ty.clone();
        let index = match index.ty {
            Type::Scalar(Scalar::Bool) => cast_scalar(index, Scalar::I32, span),
            _ => index,
        };
        Ok(Expr::new(ExprKind::PtrOffset(pointer, index), ty, span))
    }

    /// A class value where a number or pointer is needed: through its conversion operator, if it has one.
    fn class_to_scalar(&mut self, value: Expr, span: Span) -> Res<Expr> {
        let Some(class) = self.is_class(&value.ty) else { return Ok(value) };
        let conversions = self.class(class).conversions.clone();
        let [only] = conversions.as_slice() else { return Ok(value) };
        let place = self.materialise(value, span);
        let result =
            self.call_method(*only, Operand::Place { place, is_const: false }, vec![], span)?;
        self.rvalue_of(result, span)
    }

    fn logical(
        &mut self,
        op: BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let l = self.truth_of(left)?;
        let stops_on = op == BinaryOp::LogicalOr;
        if let Some(v) = l.as_const() {
            if v.is_true() == stops_on {
                return Ok(Operand::Value(bool_const(stops_on, span)));
            }
            return self.truth_of(right).map(Operand::Value);
        }
        let (r, block) = self.in_block(|s| s.truth_of(right));
        let r = r?;
        if block.stmts.is_empty() {
            return Ok(Operand::Value(binary_folded(op, l, r, span)));
        }
        let temp = self.fresh_var("both", Type::BOOL, span);
        self.emit(StmtKind::Decl { var: temp, init: Some(l) }, span);
        let place = Place::new(PlaceKind::Var(temp), Type::BOOL, span);
        let mut then = block;
        then.stmts.push(warpsmith_ir::Stmt::new(
            StmtKind::Assign { place: place.clone(), value: r },
            right.span,
        ));
        let held = Expr::read(place);
        let cond = if stops_on { negated(held.clone(), span) } else { held.clone() };
        self.emit(StmtKind::If { cond, then, otherwise: Default::default() }, span);
        Ok(Operand::Value(held))
    }

    /// An expression as a condition; a string literal, as in `assert(x && "why")`, is true.
    pub(crate) fn truth_of(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        match self.expr(e)? {
            Operand::Str(_) => Ok(bool_const(true, e.span)),
            other => {
                let value = self.rvalue_of(other, e.span)?;
                self.as_condition(value, e.span)
            }
        }
    }

    pub(crate) fn conditional(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let c = self.rvalue(cond)?;
        let c = self.as_condition(c, cond.span)?;
        let (a, a_block) = self.in_block(|s| s.arm(then));
        let (b, b_block) = self.in_block(|s| s.arm(otherwise));
        let (a, b) = (a?, b?);
        let (Some(a), Some(b)) = (a, b) else {
            self.emit(StmtKind::If { cond: c, then: a_block, otherwise: b_block }, span);
            return Ok(Operand::Void);
        };
        self.chosen(c, (a, a_block, then.span), (b, b_block, otherwise.span), span)
    }

    /// `a ?: b`
    pub(crate) fn value_or(
        &mut self,
        value: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let first = self.rvalue(value)?;
        let first = self.hold_value(first, value.span);
        let c = self.as_condition(first.clone(), value.span)?;
        let (second, block) = self.in_block(|s| s.rvalue(otherwise));
        let first = (first, Block::default(), value.span);
        self.chosen(c, first, (second?, block, otherwise.span), span)
    }

    /// One of two values, each with the statements that it comes from.
    fn chosen(
        &mut self,
        c: Expr,
        (a, mut a_block, a_span): (Expr, Block, Span),
        (b, mut b_block, b_span): (Expr, Block, Span),
        span: Span,
    ) -> Res<Operand<'a>> {
        let ty = self.arm_type(&a, &b, span)?;
        self.f().blocks.push(std::mem::take(&mut a_block.stmts));
        let a = self.convert_to(a, &ty, a_span);
        a_block.stmts = self.f().blocks.pop().unwrap_or_default();
        self.f().blocks.push(std::mem::take(&mut b_block.stmts));
        let b = self.convert_to(b, &ty, b_span);
        b_block.stmts = self.f().blocks.pop().unwrap_or_default();
        let (a, b) = (a?, b?);
        if let Some(v) = c.as_const() {
            let (value, block) = if v.is_true() { (a, a_block) } else { (b, b_block) };
            if let Some(open) = self.f().blocks.last_mut() {
                open.extend(block.stmts);
            }
            return Ok(Operand::Value(value));
        }
        if a_block.stmts.is_empty() && b_block.stmts.is_empty() {
            return Ok(Operand::Value(Expr::new(ExprKind::Select(c, a, b), ty, span)));
        }
        let temp = self.fresh_var("chosen", ty.clone(), span);
        self.emit(StmtKind::Decl { var: temp, init: None }, span);
        let place = Place::new(PlaceKind::Var(temp), ty, span);
        for (block, value) in [(&mut a_block, a), (&mut b_block, b)] {
            let assign = StmtKind::Assign { place: place.clone(), value };
            block.stmts.push(warpsmith_ir::Stmt::new(assign, span));
        }
        self.emit(StmtKind::If { cond: c, then: a_block, otherwise: b_block }, span);
        Ok(Operand::Value(Expr::read(place)))
    }

    /// One arm of a conditional; `None` when it has no value.
    fn arm(&mut self, e: &'a ast::Expr) -> Res<Option<Expr>> {
        match self.expr(e)? {
            Operand::Void => Ok(None),
            other => self.rvalue_of(other, e.span).map(Some),
        }
    }

    fn arm_type(&mut self, a: &Expr, b: &Expr, span: Span) -> Res<Type> {
        match (&a.ty, &b.ty) {
            (x, y) if x == y => Ok(x.clone()),
            (Type::Scalar(x), Type::Scalar(y)) => Ok(Type::Scalar(common_type(*x, *y))),
            (Type::Pointer { .. }, Type::Scalar(_)) => Ok(a.ty.clone()),
            (Type::Scalar(_), Type::Pointer { .. }) => Ok(b.ty.clone()),
            (
                Type::Pointer { pointee: p, readonly: r1, volatile: v1, space: s1 },
                Type::Pointer { pointee: q, readonly: r2, volatile: v2, space: s2 },
            ) => {
                let other = is_null(a) || matches!(**q, Type::Void);
                let pointee = if other && !is_null(b) { q.clone() } else { p.clone() };
                let space = if s1 == s2 { *s1 } else { warpsmith_ir::Space::Generic };
                Ok(Type::Pointer { pointee, space, readonly: *r1 || *r2, volatile: *v1 || *v2 })
            }
            (Type::Struct(_), Type::Struct(_)) => {
                if let Some(pointer) = self.common_pointer(&a.ty, &b.ty, span)? {
                    return Ok(pointer);
                }
                if let (Some(x), Some(y)) = (self.is_class(&a.ty), self.is_class(&b.ty)) {
                    if self.base_path(x, y).is_some() {
                        return Ok(b.ty.clone());
                    }
                    if self.base_path(y, x).is_some() {
                        return Ok(a.ty.clone());
                    }
                }
                self.arms_differ(a, b, span)
            }
            (Type::Struct(_), _) if self.can_construct_arm(&a.ty, &b.ty) => Ok(a.ty.clone()),
            (Type::Struct(_), _) => Ok(b.ty.clone()),
            (_, Type::Struct(_)) if self.can_construct_arm(&b.ty, &a.ty) => Ok(b.ty.clone()),
            (_, Type::Struct(_)) => Ok(a.ty.clone()),
            _ => self.arms_differ(a, b, span),
        }
    }

    fn can_construct_arm(&mut self, class: &Type, from: &Type) -> bool {
        self.is_class(class).is_some_and(|c| self.can_construct_from(c, from, false))
    }

    fn arms_differ(&self, a: &Expr, b: &Expr, span: Span) -> Res<Type> {
        let (x, y) = (self.type_text(&a.ty), self.type_text(&b.ty));
        fail("W062", span, format!("the arms of `?:` have different types, `{x}` and `{y}`"))
    }

    /// Whether operators on this operand may be the user's.
    pub(crate) fn may_be_overloaded(&mut self, operand: &Operand<'a>) -> bool {
        self.operand_type(operand)
            .is_some_and(|t| matches!(t.ty, Type::Struct(_) | Type::Vector(..)))
    }

    /// The user's operator for operands, if there is one that could be meant.
    pub(crate) fn try_operator(
        &mut self,
        op: &str,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let name = format!("operator{op}");
        let (first, rest) = operands.split_first()?;
        let mut failure = None;
        let mut free = self.lookup_all_functions(self.f_scope(), &name);
        for operand in operands {
            let ty = self.operand_type(operand).map(|t| t.ty);
            let Some(class) = ty.as_ref().and_then(|t| self.is_class(t)) else { continue };
            let scope = self.class(class).scope;
            let around = self.lookup_all_functions(scope, &name);
            let friends = self.lookup_in(scope, &name);
            for f in around.into_iter().chain(super::expr::functions(&friends)) {
                if f.class.is_none() && !free.iter().any(|k| k.key() == f.key()) {
                    free.push(f);
                }
            }
        }
        if let Some(class) = self.operand_type(first).and_then(|t| self.is_class(&t.ty)) {
            let scope = self.class(class).scope;
            let methods: Vec<FnDecl<'a>> = super::expr::functions(&self.lookup_in(scope, &name))
                .into_iter()
                .filter(|f| f.class.is_some())
                .collect();
            if !methods.is_empty() {
                let is_const = matches!(first, Operand::Place { is_const: true, .. });
                match self.resolve_overload(
                    &name,
                    &methods,
                    None,
                    Some((class, is_const)),
                    rest,
                    span,
                ) {
                    Ok(chosen) => {
                        return Some(self.call_chosen(
                            chosen,
                            Some(first.clone()),
                            rest.to_vec(),
                            span,
                        ));
                    }
                    Err(e) => failure = Some(e),
                }
            }
        }
        if free.is_empty() {
            return failure.map(Err);
        }
        match self.resolve_overload(&name, &free, None, None, operands, span) {
            Ok(chosen) => Some(self.call_chosen(chosen, None, operands.to_vec(), span)),
            // Operators for other types in scope say nothing about these operands.
            Err(_) => failure.map(Err),
        }
    }
}

/// `!e`; a comparison of integers turns round instead.
pub(crate) fn negated(e: Expr, span: Span) -> Expr {
    match &*e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => inner.clone(),
        _ => unary_folded(UnaryOp::Not, e, span),
    }
}
