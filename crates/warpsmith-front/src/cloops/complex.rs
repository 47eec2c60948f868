//! Complex numbers: arithmetic on structures of two reals.
//!
//! Products and quotients are the usual formulas, as C computes them under `#pragma STDC CX_LIMITED_RANGE ON`; a real
//! operand stays real where C keeps it so.

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, MathFn, Place, PlaceKind, Scalar, Span, Type, UnaryOp,
};

use super::cx::{Cx, Low};
use super::types;
use crate::ast;

/// Real and imaginary part.
type Parts = (Expr, Expr);

impl<'u> Cx<'u> {
    pub fn is_complex(&self, ty: &Type) -> bool {
        self.part_of(ty).is_some()
    }

    fn part_of(&self, ty: &Type) -> Option<Scalar> {
        match ty {
            Type::Struct(id) => self.unit.complex_part(*id),
            _ => None,
        }
    }

    pub fn complex_type(&mut self, part: Scalar) -> Type {
        let id = self.unit.complex(part);
        self.take_structs();
        Type::Struct(id)
    }

    /// The complex type that arithmetic of two numbers is done in.
    pub fn common_complex(&mut self, a: &Type, b: &Type) -> Type {
        let part = |ty: &Type| self.part_of(ty).or(ty.scalar()).unwrap_or(Scalar::F64);
        let common = types::usual(part(a), part(b));
        // With an integer the other operand decides.
        self.complex_type(if common == Scalar::F64 { Scalar::F64 } else { Scalar::F32 })
    }

    fn make(&self, (re, im): Parts, ty: &Type, span: Span) -> Expr {
        Expr::new(ExprKind::Make(vec![re, im]), ty.clone(), span)
    }

    /// Both parts of a complex value, each as often as wanted: what takes computing is put into variables first.
    pub fn complex_parts(&mut self, value: Expr, span: Span) -> Parts {
        let part = self.part_of(&value.ty).unwrap_or(Scalar::F64);
        let ty = Type::Scalar(part);
        match &*value.kind {
            ExprKind::Make(parts) => {
                let mut held = |e: &Expr, name: &str| {
                    if is_plain(e) {
                        e.clone()
                    } else {
                        self.temp(name, e.ty.clone(), Some(e.clone()), span)
                    }
                };
                match parts.as_slice() {
                    [re, im] => (held(re, "re"), held(im, "im")),
                    _ => (Expr::int(part, 0), Expr::int(part, 0)),
                }
            }
            ExprKind::Read(place) => {
                let field = |at| {
                    let kind = PlaceKind::Field(place.clone(), at);
                    Expr::read(Place::new(kind, ty.clone(), span))
                };
                (field(0), field(1))
            }
            _ => {
                let held = self.temp("z", value.ty.clone(), Some(value), span);
                self.complex_parts(held, span)
            }
        }
    }

    /// A number as a complex one.
    pub fn complex_of(&mut self, value: Expr, ty: &Type, span: Span) -> Expr {
        let part = self.part_of(ty).unwrap_or(Scalar::F64);
        if value.ty.scalar().is_some() {
            let re = self.convert(value, part);
            return self.make((re, Expr::int(part, 0)), ty, span);
        }
        let (re, im) = self.complex_parts(value, span);
        let parts = (self.convert(re, part), self.convert(im, part));
        self.make(parts, ty, span)
    }

    pub fn complex_truth(&mut self, value: Expr, span: Span) -> Expr {
        let (re, im) = self.complex_parts(value, span);
        let (re, im) = (self.convert(re, Scalar::Bool), self.convert(im, Scalar::Bool));
        Expr::binary(BinaryOp::LogicalOr, re, im).with_origin(span)
    }

    pub fn complex_unary(&mut self, op: &str, value: Expr, span: Span) -> Low<Expr> {
        let ty = value.ty.clone();
        let (re, im) = self.complex_parts(value, span);
        Ok(match op {
            "+" => self.make((re, im), &ty, span),
            "-" => self.make((negated(re), negated(im)), &ty, span),
            // A compiler's extension: the conjugate.
            _ => self.make((re, negated(im)), &ty, span),
        })
    }

    /// `a op b`, at least one of them complex.
    pub fn complex_binary(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Low<Expr> {
        use BinaryOp::*;
        let ty = self.common_complex(&a.ty, &b.ty);
        let part = self.part_of(&ty).unwrap_or(Scalar::F64);
        match op {
            Eq | Ne => {
                let ((a, b), (c, d)) = (self.pair(a, part, span), self.pair(b, part, span));
                let both = if op == Eq { LogicalAnd } else { LogicalOr };
                return Ok(Expr::binary(both, Expr::binary(op, a, c), Expr::binary(op, b, d)));
            }
            Add | Sub | Mul | Div => {}
            _ => {
                let d = Diagnostic::error("W148", format!("`{}` on complex numbers", op.symbol()));
                let d = d.label(span, "a complex operand");
                return Err(self.fail(d.help("compare or combine `creal`, `cimag` or `cabs`")));
            }
        }
        let (left_real, right_real) = (a.ty.scalar().is_some(), b.ty.scalar().is_some());
        let on = |op, x: &Expr, y: &Expr| Expr::binary(op, x.clone(), y.clone()).with_origin(span);
        let parts = if right_real {
            let (re, im) = self.pair(a, part, span);
            let r = self.held(b, part, span);
            match op {
                Add | Sub => (on(op, &re, &r), im),
                _ => (on(op, &re, &r), on(op, &im, &r)),
            }
        } else if left_real && op != Div {
            let r = self.held(a, part, span);
            let (re, im) = self.pair(b, part, span);
            match op {
                Add => (on(Add, &r, &re), im),
                Sub => (on(Sub, &r, &re), negated(im)),
                _ => (on(Mul, &r, &re), on(Mul, &r, &im)),
            }
        } else {
            let ((a, b), (c, d)) = (self.pair(a, part, span), self.pair(b, part, span));
            match op {
                Add | Sub => (on(op, &a, &c), on(op, &b, &d)),
                Mul => (
                    on(Sub, &on(Mul, &a, &c), &on(Mul, &b, &d)),
                    on(Add, &on(Mul, &a, &d), &on(Mul, &b, &c)),
                ),
                _ => {
                    let norm = on(Add, &on(Mul, &c, &c), &on(Mul, &d, &d));
                    let norm = self.temp("norm", norm.ty.clone(), Some(norm), span);
                    let re = on(Add, &on(Mul, &a, &c), &on(Mul, &b, &d));
                    let im = on(Sub, &on(Mul, &b, &c), &on(Mul, &a, &d));
                    (on(Div, &re, &norm), on(Div, &im, &norm))
                }
            }
        };
        Ok(self.make(parts, &ty, span))
    }

    /// The parts of a number, in this type.
    fn pair(&mut self, value: Expr, part: Scalar, span: Span) -> Parts {
        if value.ty.scalar().is_some() {
            return (self.held(value, part, span), Expr::int(part, 0));
        }
        let (re, im) = self.complex_parts(value, span);
        (self.convert(re, part), self.convert(im, part))
    }

    /// A real operand that may be written twice.
    fn held(&mut self, value: Expr, part: Scalar, span: Span) -> Expr {
        let value = self.convert(value, part);
        if is_plain(&value) {
            value
        } else {
            self.temp("factor", value.ty.clone(), Some(value), span)
        }
    }

    /// A function of `<complex.h>`; `None` for another name.
    pub fn complex_call(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        span: Span,
    ) -> Low<Option<Expr>> {
        let (plain, part) = match (name, name.strip_suffix(['f', 'F'])) {
            (_, Some(plain)) if FUNCTIONS.contains(&plain) => (plain, Scalar::F32),
            (plain, _) if FUNCTIONS.contains(&plain) => (plain, Scalar::F64),
            _ => return Ok(None),
        };
        let wanted = if plain == "CMPLX" { 2 } else { 1 };
        if args.len() != wanted {
            return Err(self.wrong_count(name, wanted, args.len(), span));
        }
        let (ty, real) = (self.complex_type(part), Type::Scalar(part));
        if plain == "CMPLX" {
            let (re, im) = (self.value_as(&args[0], &real)?, self.value_as(&args[1], &real)?);
            return Ok(Some(self.make((re, im), &ty, span)));
        }
        let z = self.value_as(&args[0], &ty)?;
        let (re, im) = self.complex_parts(z, span);
        let call = |f, args| Expr::new(ExprKind::Call(f, args), real.clone(), span);
        Ok(Some(match plain {
            "creal" => re,
            "cimag" => im,
            "conj" => self.make((re, negated(im)), &ty, span),
            "cabs" => call(MathFn::Hypot, vec![re, im]),
            "carg" => call(MathFn::Atan2, vec![im, re]),
            _ => {
                let size = call(MathFn::Exp, vec![re]);
                let size = self.temp("size", real.clone(), Some(size), span);
                let on = |f| Expr::binary(BinaryOp::Mul, size.clone(), call(f, vec![im.clone()]));
                self.make((on(MathFn::Cos), on(MathFn::Sin)), &ty, span)
            }
        }))
    }

    /// `I`.
    pub fn imaginary_unit(&mut self, span: Span) -> Expr {
        let ty = self.complex_type(Scalar::F32);
        self.make((Expr::int(Scalar::F32, 0), one()), &ty, span)
    }
}

const FUNCTIONS: [&str; 7] = ["creal", "cimag", "conj", "cabs", "carg", "cexp", "CMPLX"];

fn one() -> Expr {
    Expr::constant(warpsmith_ir::Value::float(Scalar::F32, 1.0))
}

fn negated(e: Expr) -> Expr {
    let (ty, origin) = (e.ty.clone(), e.origin.clone());
    Expr::new(ExprKind::Unary(UnaryOp::Neg, e), ty, origin)
}

/// May it be written twice without computing anything twice?
fn is_plain(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Read(_) => true,
        ExprKind::Unary(UnaryOp::Neg, a) => is_plain(a),
        _ => false,
    }
}
