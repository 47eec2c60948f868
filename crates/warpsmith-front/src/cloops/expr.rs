//! Expressions of C to pure expressions of the IR; side effects become statements before.

use warpsmith_ir::{
    BinaryOp, Block, Diagnostic, Expr, ExprKind, Scalar, Span, StmtKind, Type, UnaryOp, Value,
};

use super::access::Designated;
use super::cx::{Cx, Low, fold_binary};
use super::{literal, scan, types};
use crate::ast;

impl<'u> Cx<'u> {
    /// The value of an expression, a number.
    ///
    /// # Errors
    /// Reports what is no number, and everything outside the loop language.
    pub fn scalar(&mut self, e: &ast::Expr) -> Low<Expr> {
        let value = self.value(e)?;
        match value {
            Some(v) if v.ty.scalar().is_some() => Ok(v),
            Some(v) if self.is_complex(&v.ty) => Ok(self.complex_parts(v, e.span).0),
            Some(v) if matches!(v.ty, Type::Struct(_)) => {
                let d = Diagnostic::error("W148", "a structure is used as a number")
                    .label(e.span, "not a number");
                Err(self.fail(d.help("select a field, as in `p.x` or `p->x`")))
            }
            Some(_) => {
                let d = Diagnostic::error("W148", "a pointer or array is used as a number")
                    .label(e.span, "not a number");
                Err(self.fail(d.help("select an element, as in `A[i]` or `*p`")))
            }
            None => {
                Err(self.error("W148", "this call gives no value", e.span, "a `void` function"))
            }
        }
    }

    /// The value of an expression; `None` for a call of a `void` function.
    pub fn value(&mut self, e: &ast::Expr) -> Low<Option<Expr>> {
        use ast::ExprKind as A;
        let value = match &*e.kind {
            A::Number(text) => match literal::parse_number(text) {
                Ok(v) => Expr::constant(v).with_origin(e.span),
                Err(why) => return Err(self.error("W144", why, e.span, "this number")),
            },
            A::Bool(b) => Expr::i32(i32::from(*b)).with_origin(e.span),
            A::Char(c) => Expr::int(Scalar::I32, *c).with_origin(e.span),
            A::Paren(inner) => return self.value(inner),
            A::Path(_) | A::Index { .. } => self.read(e)?,
            A::Unary { op, operand } => self.unary(op, operand, e)?,
            A::IncDec { op, prefix, operand } => self.inc_dec(op, *prefix, operand, e.span)?,
            A::Binary { op, left, right } => self.binary(op, left, right, e)?,
            A::Assign { op, target, value } => Expr::read(self.assign(op, target, value, e.span)?),
            A::Conditional { cond, then, otherwise } => {
                self.conditional(cond, then, otherwise, e.span)?
            }
            A::Comma(first, second) => {
                self.effects(first)?;
                return self.value(second);
            }
            A::Call { callee, args } => {
                match (self.named_in_parentheses(callee), args.as_slice()) {
                    (Some(Type::Scalar(to)), [operand]) => {
                        let value = self.scalar(operand)?;
                        self.convert(value, to).with_origin(e.span)
                    }
                    (Some(complex), [operand]) => self.value_as(operand, &complex)?,
                    _ => return self.call(callee, args, e.span),
                }
            }
            A::Cast { ty, operand, .. } => self.cast(ty, operand, e)?,
            A::Construct { ty, args, .. } => match args.as_slice() {
                [ast::Initializer::Expr(operand)] => self.cast(ty, operand, e)?,
                _ => return Err(self.unsupported("this initialiser", e.span)),
            },
            A::SizeofType(ty) => self.size_of(ty, e.span)?,
            A::SizeofExpr(inner) => self.size_of_value(inner, e.span)?,
            A::Member { .. } => self.member_value(e)?,
            A::Str(_) => return Err(self.unsupported("a string", e.span)),
            A::New(..) => return Err(self.unsupported("`new`", e.span)),
            A::Delete { .. } => return Err(self.unsupported("`delete`", e.span)),
            A::Launch { .. }
            | A::Lambda(_)
            | A::This
            | A::NullPtr
            | A::Fold { .. }
            | A::PackLength(_)
            | A::Requires(_)
            | A::PackExpansion(_) => {
                return Err(self.unsupported("this is not C, and it", e.span));
            }
            A::CompoundLiteral { ty, items } => self.compound_literal(ty, items, e.span)?,
            A::AssignList { .. }
            | A::InitList(_)
            | A::AlignofType(_)
            | A::Offset { .. }
            | A::Otherwise { .. } => {
                return Err(self.unsupported("this expression", e.span));
            }
            A::Unsupported { what } => {
                let what = what.clone();
                return Err(self.unsupported(&what, e.span));
            }
        };
        Ok(Some(value))
    }

    pub fn unsupported(&mut self, what: &str, span: Span) -> super::cx::Reported {
        let message = format!("{what} is not part of the loop language");
        self.error("W146", message, span, "not supported")
    }

    fn read(&mut self, e: &ast::Expr) -> Low<Expr> {
        if let ast::ExprKind::Path(path) = &*e.kind
            && let Some(name) = path.as_name()
        {
            if name == crate::parse::IMAGINARY {
                return Ok(self.imaginary_unit(e.span));
            }
            if let Some(value) =
                crate::header_constants::constant(name).filter(|_| !self.knows(name))
            {
                return Ok(Expr::constant(value).with_origin(e.span));
            }
            if let Some(super::cx::Binding::Const(id)) = self.lookup_quietly(name)? {
                return Ok(self.constant(id).with_origin(e.span));
            }
        }
        match self.designated(e)? {
            Some(Designated::Place(place)) if matches!(place.ty, Type::Array(..)) => {
                self.pointer_value(e)
            }
            Some(Designated::Place(place)) => Ok(Expr::read(place)),
            Some(Designated::Pointer(p)) => Ok(p.into_expr(e.span)),
            None => Err(self.unsupported("this expression", e.span)),
        }
    }

    fn pointer_value(&mut self, e: &ast::Expr) -> Low<Expr> {
        match self.decayed(e)? {
            Some(p) => Ok(p.into_expr(e.span)),
            None => Err(self.unknown_base(e.span)),
        }
    }

    fn unary(&mut self, op: &str, operand: &ast::Expr, e: &ast::Expr) -> Low<Expr> {
        match op {
            "*" => self.read(e),
            "&" => self.pointer_value(e),
            "!" => {
                let value = self.condition(operand)?;
                Ok(Expr::new(ExprKind::Unary(UnaryOp::Not, value), Type::BOOL, e.span))
            }
            "+" | "-" | "~" => {
                let value = self.operand(operand)?;
                if self.is_complex(&value.ty) {
                    return self.complex_unary(op, value, e.span);
                }
                let ty = value.ty.scalar().unwrap_or(Scalar::I32);
                if op == "~" && ty.is_float() {
                    return Err(self.error(
                        "W148",
                        "`~` needs an integer",
                        operand.span,
                        "a real number",
                    ));
                }
                Ok(match op {
                    "+" => value,
                    "-" => match value.as_const() {
                        Some(v) if ty.is_integer() => {
                            Expr::int(ty, v.as_i64().wrapping_neg()).with_origin(e.span)
                        }
                        _ => Expr::new(
                            ExprKind::Unary(UnaryOp::Neg, value),
                            Type::Scalar(ty),
                            e.span,
                        ),
                    },
                    _ => {
                        Expr::new(ExprKind::Unary(UnaryOp::BitNot, value), Type::Scalar(ty), e.span)
                    }
                })
            }
            _ => Err(self.unsupported("this operator", e.span)),
        }
    }

    /// A number after integer promotion.
    fn arithmetic(&mut self, e: &ast::Expr) -> Low<Expr> {
        let value = self.scalar(e)?;
        let ty = value.ty.scalar().unwrap_or(Scalar::I32);
        Ok(self.convert(value, types::promote(ty)))
    }

    /// As [`Cx::arithmetic`], but complex numbers stay complex.
    pub(super) fn operand(&mut self, e: &ast::Expr) -> Low<Expr> {
        match self.value(e)? {
            Some(v) if self.is_complex(&v.ty) => Ok(v),
            Some(v) if v.ty.scalar().is_some() => {
                let ty = v.ty.scalar().unwrap_or(Scalar::I32);
                Ok(self.convert(v, types::promote(ty)))
            }
            // Says what it is instead.
            _ => self.arithmetic(e),
        }
    }

    /// A truth value.
    pub fn condition(&mut self, e: &ast::Expr) -> Low<Expr> {
        if let Some(given) = self.is_given(e)? {
            return Ok(given);
        }
        match self.value(e)? {
            Some(v) if self.is_complex(&v.ty) => Ok(self.complex_truth(v, e.span)),
            Some(v) if v.ty.scalar().is_some() => Ok(self.convert(v, Scalar::Bool)),
            _ => self.scalar(e),
        }
    }

    /// Whether a pointer is not null: a parameter never is, which the result says, and what leads into an array is none.
    fn is_given(&mut self, e: &ast::Expr) -> Low<Option<Expr>> {
        use ast::ExprKind as A;
        let answer = |given: bool| Some(Expr::constant(Value::bool(given)).with_origin(e.span));
        let (pointer, given) = match &*e.kind {
            A::Paren(inner) => return self.is_given(inner),
            A::Unary { op, operand } if op == "!" => {
                let inner = self.is_given(operand)?;
                return Ok(inner.and_then(|v| answer(!v.as_const()?.is_true())));
            }
            A::Binary { op, left, right } if op == "==" || op == "!=" => {
                let pointer = if scan::is_null(right) { left } else { right };
                (pointer, (scan::is_null(left) || scan::is_null(right)) && op == "!=")
            }
            A::Path(_) => (e, true),
            _ => return Ok(None),
        };
        let compared = !matches!(&*e.kind, A::Binary { left, right, .. } if !scan::is_null(left) && !scan::is_null(right));
        let A::Path(path) = &*pointer.kind else { return Ok(None) };
        if !compared || !self.is_pointer(pointer) {
            return Ok(None);
        }
        self.never_null.extend(path.as_name().map(str::to_string));
        Ok(answer(given))
    }

    fn binary(
        &mut self,
        op: &str,
        left: &ast::Expr,
        right: &ast::Expr,
        e: &ast::Expr,
    ) -> Low<Expr> {
        if let Some(given) = self.is_given(e)? {
            return Ok(self.convert(given, Scalar::I32));
        }
        if op == "&&" || op == "||" {
            return self.logical(op, left, right, e.span);
        }
        if let Some(given) = self.is_given(e)? {
            return Ok(given);
        }
        if self.is_pointer(left) || self.is_pointer(right) {
            let compared = binary_op(op).filter(|op| op.is_comparison() || *op == BinaryOp::Sub);
            if let Some(op) = compared
                && self.is_pointer(left)
                && self.is_pointer(right)
                && let Some((a, b)) = self.offsets_of(left, right)?
            {
                return self.combine(op, a, b, e.span);
            }
            if op == "+" || op == "-" {
                return self.pointer_value(e);
            }
            let d = Diagnostic::error("W143", "pointers cannot be compared or combined here")
                .label(e.span, "on pointers");
            return Err(self.fail(d.help("compare the indices instead")));
        }
        let Some(op) = binary_op(op) else { return Err(self.unsupported("this operator", e.span)) };
        let a = self.operand(left)?;
        let b = self.operand(right)?;
        if self.is_complex(&a.ty) || self.is_complex(&b.ty) {
            return self.complex_binary(op, a, b, e.span);
        }
        self.combine(op, a, b, e.span)
    }

    /// `a op b` after the usual conversions.
    pub fn combine(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Low<Expr> {
        use BinaryOp::*;
        let (ta, tb) = (a.ty.scalar().unwrap_or(Scalar::I32), b.ty.scalar().unwrap_or(Scalar::I32));
        if matches!(op, Rem | Shl | Shr | BitAnd | BitOr | BitXor)
            && (ta.is_float() || tb.is_float())
        {
            let d = Diagnostic::error("W148", format!("`{}` needs integers", op.symbol()))
                .label(span, "a real operand");
            let d = if op == Rem { d.help("use `fmod` or `fmodf` for real numbers") } else { d };
            return Err(self.fail(d));
        }
        let (a, b) = if matches!(op, Shl | Shr) {
            (self.convert(a, types::promote(ta)), self.convert(b, types::promote(tb)))
        } else {
            let common = types::usual(ta, tb);
            (self.convert(a, common), self.convert(b, common))
        };
        if let (Some(x), Some(y)) = (a.as_const(), b.as_const())
            && let Some(v) = fold_binary(op, x, y)
        {
            return Ok(Expr::constant(v).with_origin(span));
        }
        Ok(Expr::binary(op, a, b).with_origin(span))
    }

    /// The right side is evaluated only when the left side does not decide, its side effects too.
    fn logical(&mut self, op: &str, left: &ast::Expr, right: &ast::Expr, span: Span) -> Low<Expr> {
        let is_and = op == "&&";
        let a = self.condition(left)?;
        let (b, before) = self.collect(|cx| cx.condition(right));
        let b = b?;
        if before.is_empty() {
            let op = if is_and { BinaryOp::LogicalAnd } else { BinaryOp::LogicalOr };
            return Ok(Expr::binary(op, a, b).with_origin(span));
        }
        let (result, place) = self.temp_place("truth", Type::BOOL, Some(a), span);
        let mut stmts = before;
        stmts.push(warpsmith_ir::Stmt::new(StmtKind::Assign { place, value: b }, span));
        let cond = if is_and {
            result.clone()
        } else {
            Expr::new(ExprKind::Unary(UnaryOp::Not, result.clone()), Type::BOOL, span)
        };
        self.push(
            StmtKind::If { cond, then: Block::new(stmts), otherwise: Block::default() },
            span,
        );
        Ok(result)
    }

    fn conditional(
        &mut self,
        cond: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Low<Expr> {
        let cond = self.condition(cond)?;
        let (a, mut before_a) = self.collect(|cx| cx.arm(then));
        let (b, mut before_b) = self.collect(|cx| cx.arm(otherwise));
        let (a, b) = (a?, b?);
        if a.ty.scalar().is_none() || b.ty.scalar().is_none() {
            return self.struct_conditional(cond, (a, before_a), (b, before_b), span);
        }
        let common = types::usual(
            a.ty.scalar().unwrap_or(Scalar::I32),
            b.ty.scalar().unwrap_or(Scalar::I32),
        );
        let (a, b) = (self.convert(a, common), self.convert(b, common));
        let ty = Type::Scalar(common);
        if before_a.is_empty() && before_b.is_empty() {
            return Ok(Expr::new(ExprKind::Select(cond, a, b), ty, span));
        }
        let (result, place) = self.temp_place("choice", ty, None, span);
        let set =
            |value| warpsmith_ir::Stmt::new(StmtKind::Assign { place: place.clone(), value }, span);
        before_a.push(set(a));
        before_b.push(set(b));
        self.push(
            StmtKind::If { cond, then: Block::new(before_a), otherwise: Block::new(before_b) },
            span,
        );
        Ok(result)
    }

    /// One of the values of `?:`, a number or a structure.
    fn arm(&mut self, e: &ast::Expr) -> Low<Expr> {
        match self.value(e)? {
            Some(v) if matches!(v.ty, Type::Struct(_)) => Ok(v),
            Some(v) if v.ty.scalar().is_some() => {
                let ty = v.ty.scalar().unwrap_or(Scalar::I32);
                Ok(self.convert(v, types::promote(ty)))
            }
            _ => self.arithmetic(e),
        }
    }

    fn cast(&mut self, ty: &ast::TypeName, operand: &ast::Expr, e: &ast::Expr) -> Low<Expr> {
        if self.is_pointer(operand) {
            return self.pointer_value(e);
        }
        let target = self.read_type(ty, false)?;
        match target {
            types::CType::Scalar(to) => {
                let value = self.scalar(operand)?;
                Ok(self.convert(value, to).with_origin(e.span))
            }
            types::CType::Struct(id) if self.unit.complex_part(id).is_some() => {
                self.value_as(operand, &Type::Struct(id))
            }
            types::CType::Struct(_) => {
                let d = Diagnostic::error("W148", "C has no casts to structures")
                    .label(e.span, "this cast");
                Err(self.fail(d.help("write the value as `(struct P){ … }`")))
            }
            types::CType::Void => Err(self.unsupported("a value cast to `void` and used", e.span)),
            _ => {
                let d = Diagnostic::error("W143", "a number cannot become a pointer")
                    .label(e.span, "this cast");
                Err(self.fail(d))
            }
        }
    }

    fn size_of(&mut self, ty: &ast::TypeName, span: Span) -> Low<Expr> {
        let bytes = match self.read_type(ty, false)? {
            types::CType::Scalar(s) => u64::from(s.bytes()),
            types::CType::Struct(id) => self.bytes_of(&Type::Struct(id)),
            types::CType::Pointer { .. } => 8,
            types::CType::Void => 1,
            types::CType::Array { element, extents, .. } => {
                let mut bytes = self.bytes_of(&element);
                for extent in extents {
                    let Some(e) = extent else {
                        return Err(self.unsupported("the size of an open array", span));
                    };
                    bytes = bytes.saturating_mul(self.array_length(e)?);
                }
                bytes
            }
        };
        Ok(Expr::int(Scalar::U64, i64::try_from(bytes).unwrap_or(i64::MAX)).with_origin(span))
    }

    fn bytes_of(&self, ty: &Type) -> u64 {
        warpsmith_ir::layout::layout_of(self.module, ty).size
    }

    fn size_of_value(&mut self, e: &ast::Expr, span: Span) -> Low<Expr> {
        // `sizeof` evaluates nothing, so the statements its operand would need are dropped.
        let (ty, _) = self.collect(|cx| -> Low<Type> {
            match cx.designated(e)? {
                Some(Designated::Place(p)) => Ok(p.ty),
                Some(Designated::Pointer(p)) => Ok(p.base.ty),
                None => Ok(match cx.value(e)? {
                    Some(v) => v.ty,
                    None => cx.scalar(e)?.ty,
                }),
            }
        });
        let layout = warpsmith_ir::layout::layout_of(self.module, &ty?);
        Ok(Expr::int(Scalar::U64, i64::try_from(layout.size).unwrap_or(i64::MAX)).with_origin(span))
    }

    /// A constant array extent.
    pub fn array_length(&mut self, e: &ast::Expr) -> Low<u64> {
        let value = self.index_value(e)?;
        match self.fold(&value).map(|v| v.as_i64()) {
            Some(n) if n > 0 => Ok(n as u64),
            Some(_) => Err(self.error(
                "W149",
                "an array needs at least one element",
                e.span,
                "this extent",
            )),
            None => {
                let d = Diagnostic::error("W149", "the extent of a local array must be a constant")
                    .label(e.span, "known only at run time");
                Err(self.fail(d.help("pass the array as a parameter, as in `float tmp[n][m]`")))
            }
        }
    }

    /// `(_Float16)` before a parenthesis is a cast, which a grammar without this type reads as a call.
    fn named_in_parentheses(&mut self, callee: &ast::Expr) -> Option<Type> {
        let ast::ExprKind::Paren(inner) = &*callee.kind else { return None };
        let ast::ExprKind::Path(path) = &*inner.kind else { return None };
        let name = path.as_name().filter(|n| !self.knows(n))?;
        if let Some(part) = types::complex_part(name) {
            return Some(self.complex_type(part));
        }
        types::library_type(name).map(Type::Scalar)
    }
}

pub fn binary_op(op: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match op {
        "+" => Add,
        "-" => Sub,
        "*" => Mul,
        "/" => Div,
        "%" => Rem,
        "<<" => Shl,
        ">>" => Shr,
        "&" => BitAnd,
        "|" => BitOr,
        "^" => BitXor,
        "<" => Lt,
        "<=" => Le,
        ">" => Gt,
        ">=" => Ge,
        "==" => Eq,
        "!=" => Ne,
        _ => return None,
    })
}
