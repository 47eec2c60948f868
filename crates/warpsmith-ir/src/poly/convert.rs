//! Expressions to polynomials and back.

use std::fmt::Write;

use crate::expr::{BinaryOp, Expr, ExprKind, Place, PlaceKind, UnaryOp};
use crate::module::VarId;
use crate::span::Origin;
use crate::types::{Scalar, Type};

use super::{Atom, Poly, Symbol};

impl Poly {
    /// The normal form of an integer expression under the no-wrap assumption.
    ///
    /// Parts that are no ring operation become symbols. `None` for an expression that is not an integer,
    /// for coefficients beyond 128 bits, and for conversions that may change the value (to a narrower type,
    /// from a real, from or to `bool`): those are not even symbols, since an index that went through one
    /// cannot be reasoned about. Conversions between signed and unsigned of the same or a larger width are
    /// taken to keep the value.
    pub fn from_expr(expr: &Expr) -> Option<Poly> {
        let ty = integer_type(expr)?;
        match &*expr.kind {
            ExprKind::Const(v) if ty == Scalar::U64 => Some(Poly::constant(v.bits.into())),
            ExprKind::Const(v) => Some(Poly::constant(v.as_i64().into())),
            ExprKind::Read(place) => match &*place.kind {
                PlaceKind::Var(v) => Some(Poly::var(*v)),
                _ => Some(symbol(expr)),
            },
            ExprKind::Unary(UnaryOp::Neg, a) => Poly::from_expr(a)?.scale(-1),
            ExprKind::Binary(op, a, b) => from_binary(expr, *op, a, b, ty),
            ExprKind::Cast(a) => {
                let from = integer_type(a)?;
                let widens = from.bytes() <= ty.bytes() && ty.bytes() >= 4;
                if widens { Poly::from_expr(a) } else { None }
            }
            _ => Some(symbol(expr)),
        }
    }

    /// An expression of type `ty` with this value. `var_type` gives the type of each variable, an integer.
    pub fn to_expr(&self, ty: Scalar, var_type: &dyn Fn(VarId) -> Scalar) -> Expr {
        let mut sum: Option<Expr> = None;
        for (monomial, coefficient) in ordered_terms(self) {
            let magnitude = i64::try_from(coefficient.unsigned_abs()).unwrap_or(i64::MAX);
            let product = product_expr(monomial, magnitude, ty, var_type);
            sum = Some(match (sum, coefficient < 0) {
                (None, false) => product,
                (None, true) => Expr::new(
                    ExprKind::Unary(UnaryOp::Neg, product),
                    Type::Scalar(ty),
                    Origin::default(),
                ),
                (Some(s), false) => Expr::binary(BinaryOp::Add, s, product),
                (Some(s), true) => Expr::binary(BinaryOp::Sub, s, product),
            });
        }
        sum.unwrap_or_else(|| Expr::int(ty, 0))
    }
}

fn integer_type(expr: &Expr) -> Option<Scalar> {
    expr.ty.scalar().filter(|s| s.is_integer() && *s != Scalar::Bool)
}

fn symbol(expr: &Expr) -> Poly {
    Poly::atom(Atom::Symbol(Symbol::new(expr.clone())))
}

fn from_binary(whole: &Expr, op: BinaryOp, a: &Expr, b: &Expr, ty: Scalar) -> Option<Poly> {
    let constant = |e: &Expr| Poly::from_expr(e).and_then(|p| p.as_constant());
    let small = |e: &Expr| constant(e).and_then(|c| i64::try_from(c).ok());
    match op {
        BinaryOp::Add => Poly::from_expr(a)?.add(&Poly::from_expr(b)?),
        BinaryOp::Sub => Poly::from_expr(a)?.sub(&Poly::from_expr(b)?),
        BinaryOp::Mul => Poly::from_expr(a)?.mul(&Poly::from_expr(b)?),
        BinaryOp::Shl => match constant(b) {
            Some(k @ 0..=62) => Poly::from_expr(a)?.scale(1 << k),
            _ => Some(symbol(whole)),
        },
        BinaryOp::Div => match small(b) {
            Some(d) if d > 0 => Poly::from_expr(a)?.div(d),
            _ => Some(symbol(whole)),
        },
        BinaryOp::Rem => match small(b) {
            Some(d) if d > 0 => Poly::from_expr(a)?.rem(d),
            _ => Some(symbol(whole)),
        },
        // Only for unsigned operands is a shift a quotient, and a mask a remainder.
        BinaryOp::Shr if !ty.is_signed() => match constant(b) {
            Some(k @ 0..=62) => Poly::from_expr(a)?.div(1 << k),
            _ => Some(symbol(whole)),
        },
        BinaryOp::BitAnd if !ty.is_signed() => match small(b) {
            Some(m) if m > 0 && m < i64::MAX && (m + 1) & m == 0 => Poly::from_expr(a)?.rem(m + 1),
            _ => Some(symbol(whole)),
        },
        _ => Some(symbol(whole)),
    }
}

/// Terms in reading order: a positive one first, higher degree before lower, the constant last.
fn ordered_terms(poly: &Poly) -> Vec<(&[Atom], i128)> {
    let mut terms: Vec<_> = poly.terms().collect();
    terms.sort_by_key(|(m, _)| std::cmp::Reverse(m.len()));
    if let Some(first) = terms.iter().position(|(_, c)| *c > 0) {
        terms[..=first].rotate_right(1);
    }
    terms
}

fn product_expr(
    monomial: &[Atom],
    magnitude: i64,
    ty: Scalar,
    var_type: &dyn Fn(VarId) -> Scalar,
) -> Expr {
    let mut product = (magnitude != 1 || monomial.is_empty()).then(|| Expr::int(ty, magnitude));
    for atom in monomial {
        let factor = atom_expr(atom, ty, var_type).cast(Type::Scalar(ty));
        product = Some(match product {
            None => factor,
            Some(p) => Expr::binary(BinaryOp::Mul, p, factor),
        });
    }
    product.unwrap_or_else(|| Expr::int(ty, 1))
}

fn atom_expr(atom: &Atom, ty: Scalar, var_type: &dyn Fn(VarId) -> Scalar) -> Expr {
    match atom {
        Atom::Var(v) => Expr::var(*v, Type::Scalar(var_type(*v))),
        Atom::Symbol(s) => s.expr().clone(),
        Atom::Div(p, d) => Expr::binary(BinaryOp::Div, p.to_expr(ty, var_type), Expr::int(ty, *d)),
        Atom::Rem(p, d) => Expr::binary(BinaryOp::Rem, p.to_expr(ty, var_type), Expr::int(ty, *d)),
    }
}

/// See [`Poly::display`].
pub(super) fn display(poly: &Poly, name: &dyn Fn(VarId) -> String) -> String {
    let mut text = String::new();
    for (monomial, coefficient) in ordered_terms(poly) {
        match (text.is_empty(), coefficient < 0) {
            (true, false) => {}
            (true, true) => text.push('-'),
            (false, false) => text.push_str(" + "),
            (false, true) => text.push_str(" - "),
        }
        let magnitude = coefficient.unsigned_abs();
        let mut factors: Vec<String> = vec![];
        if magnitude != 1 || monomial.is_empty() {
            factors.push(magnitude.to_string());
        }
        factors.extend(monomial.iter().map(|atom| display_atom(atom, name)));
        text.push_str(&factors.join(" * "));
    }
    if text.is_empty() { "0".to_string() } else { text }
}

fn display_atom(atom: &Atom, name: &dyn Fn(VarId) -> String) -> String {
    let inside = |p: &Poly| {
        let text = display(p, name);
        if text.contains(' ') { format!("({text})") } else { text }
    };
    match atom {
        Atom::Var(v) => name(*v),
        Atom::Div(p, d) => format!("{} / {d}", inside(p)),
        Atom::Rem(p, d) => format!("{} % {d}", inside(p)),
        Atom::Symbol(s) => {
            let mut out = String::new();
            write_key(s.expr(), &mut out, name);
            out
        }
    }
}

/// A text that two expressions share exactly when they are written alike.
pub(super) fn key_of(expr: &Expr) -> String {
    let mut out = String::new();
    write_key(expr, &mut out, &|v| format!("v{}", v.0));
    out
}

fn write_key(expr: &Expr, out: &mut String, name: &dyn Fn(VarId) -> String) {
    let list = |out: &mut String, head: &str, parts: &[&Expr]| {
        out.push_str(head);
        out.push('(');
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            write_key(part, out, name);
        }
        out.push(')');
    };
    match &*expr.kind {
        ExprKind::Const(v) if v.ty.is_float() => _ = write!(out, "{}:{}", v.as_f64(), v.ty),
        ExprKind::Const(v) => _ = write!(out, "{}", v.as_i64()),
        ExprKind::Named(id) => _ = write!(out, "const{}", id.0),
        ExprKind::Builtin(b) => _ = write!(out, "{b:?}"),
        ExprKind::Read(place) => write_place(place, out, name),
        ExprKind::AddressOf(place) => {
            out.push('&');
            write_place(place, out, name);
        }
        ExprKind::Unary(op, a) => {
            let symbol = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
                UnaryOp::BitNot => "~",
            };
            list(out, symbol, &[a]);
        }
        ExprKind::Binary(op, a, b) => {
            out.push('(');
            write_key(a, out, name);
            _ = write!(out, " {} ", op.symbol());
            write_key(b, out, name);
            out.push(')');
        }
        ExprKind::PtrOffset(a, b) => list(out, "offset", &[a, b]),
        ExprKind::PtrDiff(a, b) => list(out, "difference", &[a, b]),
        ExprKind::Cast(a) => match expr.ty.scalar() {
            Some(s) => list(out, s.name(), &[a]),
            None => list(out, "pointer", &[a]),
        },
        ExprKind::Bitcast(a) => list(out, "bits", &[a]),
        ExprKind::Select(c, a, b) => list(out, "select", &[c, a, b]),
        ExprKind::Call(f, args) => list(out, f.name(), &args.iter().collect::<Vec<_>>()),
        ExprKind::Make(parts) => list(out, "make", &parts.iter().collect::<Vec<_>>()),
        ExprKind::Member(a, field) => {
            write_key(a, out, name);
            _ = write!(out, ".{field}");
        }
    }
}

fn write_place(place: &Place, out: &mut String, name: &dyn Fn(VarId) -> String) {
    match &*place.kind {
        PlaceKind::Var(v) => out.push_str(&name(*v)),
        PlaceKind::Global(g) => _ = write!(out, "global{}", g.0),
        PlaceKind::Deref(p) => {
            out.push('*');
            write_key(p, out, name);
        }
        PlaceKind::Elem { pointer, index, dims: _ } => {
            write_key(pointer, out, name);
            for i in index {
                out.push('[');
                write_key(i, out, name);
                out.push(']');
            }
        }
        PlaceKind::Index(p, i) => {
            write_place(p, out, name);
            out.push('[');
            write_key(i, out, name);
            out.push(']');
        }
        PlaceKind::Field(p, f) => {
            write_place(p, out, name);
            _ = write!(out, ".{f}");
        }
        PlaceKind::Component(p, c) => {
            write_place(p, out, name);
            _ = write!(out, ".{c}");
        }
    }
}

/// Whether the expression reads or addresses the variable anywhere.
pub(super) fn expr_mentions(expr: &Expr, var: VarId) -> bool {
    let mut found = false;
    rewrite_vars(&mut expr.clone(), &mut |v| {
        found |= *v == var;
    });
    found
}

/// The expression with other variables.
pub(super) fn rename_expr(expr: &Expr, to: &dyn Fn(VarId) -> VarId) -> Expr {
    let mut renamed = expr.clone();
    rewrite_vars(&mut renamed, &mut |v| *v = to(*v));
    renamed
}

fn rewrite_vars(expr: &mut Expr, f: &mut dyn FnMut(&mut VarId)) {
    match &mut *expr.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(p) | ExprKind::AddressOf(p) => rewrite_place_vars(p, f),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => rewrite_vars(a, f),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            rewrite_vars(a, f);
            rewrite_vars(b, f);
        }
        ExprKind::Select(c, a, b) => {
            rewrite_vars(c, f);
            rewrite_vars(a, f);
            rewrite_vars(b, f);
        }
        ExprKind::Call(_, args) | ExprKind::Make(args) => {
            args.iter_mut().for_each(|a| rewrite_vars(a, f));
        }
    }
}

fn rewrite_place_vars(place: &mut Place, f: &mut dyn FnMut(&mut VarId)) {
    match &mut *place.kind {
        PlaceKind::Var(v) => f(v),
        PlaceKind::Global(_) => {}
        PlaceKind::Deref(e) => rewrite_vars(e, f),
        PlaceKind::Elem { pointer, index, dims } => {
            rewrite_vars(pointer, f);
            index.iter_mut().chain(dims).for_each(|e| rewrite_vars(e, f));
        }
        PlaceKind::Index(p, e) => {
            rewrite_place_vars(p, f);
            rewrite_vars(e, f);
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => rewrite_place_vars(p, f),
    }
}
