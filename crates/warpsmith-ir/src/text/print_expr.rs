//! Printing of expressions and places.

use super::names::quote;
use super::print::Context;
use super::words::{CAST, POSTFIX, PREFIX, builtin_name, precedence};
use crate::eval::as_f32;
use crate::expr::{Expr, ExprKind, Place, PlaceKind, UnaryOp};
use crate::types::{Scalar, Type};
use crate::value::Value;

/// A text and how tightly its outermost operator binds.
struct Piece(String, u8);

impl Piece {
    fn at_least(self, level: u8) -> String {
        if self.1 < level { format!("({})", self.0) } else { self.0 }
    }
}

impl Context<'_> {
    /// The expression, in parentheses if it binds less tightly than `level`.
    pub fn expr(&self, e: &Expr, level: u8) -> String {
        let piece = self.bare(e);
        let stated =
            matches!(&*e.kind, ExprKind::Cast(_) | ExprKind::Bitcast(_) | ExprKind::Make(_));
        if stated || self.env.expr(&e.kind).unwrap_or(Type::Void) == e.ty {
            return piece.at_least(level);
        }
        format!("({} : {})", piece.0, self.ty(&e.ty))
    }

    pub fn exprs(&self, list: &[Expr]) -> String {
        let texts: Vec<String> = list.iter().map(|e| self.expr(e, 0)).collect();
        texts.join(", ")
    }

    fn bare(&self, e: &Expr) -> Piece {
        let call = |name: &str, args: &[&Expr]| {
            let args: Vec<String> = args.iter().map(|a| self.expr(a, 0)).collect();
            Piece(format!("{name}({})", args.join(", ")), POSTFIX)
        };
        match &*e.kind {
            ExprKind::Const(v) => {
                let text = literal(*v);
                let level = if text.starts_with('-') { PREFIX } else { POSTFIX };
                Piece(text, level)
            }
            ExprKind::Named(id) => Piece(format!("${}", self.constants.get(id.0)), POSTFIX),
            ExprKind::Read(place) => self.place_piece(place),
            ExprKind::AddressOf(place) => Piece(format!("&{}", self.place(place, PREFIX)), PREFIX),
            ExprKind::Unary(op, a) => {
                let symbol = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                let operand = self.expr(a, PREFIX);
                // `-5` is a literal and `--` would be hard to read.
                let apart = operand.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                Piece(
                    if apart {
                        format!("{symbol}({operand})")
                    } else {
                        symbol.to_string() + &operand
                    },
                    PREFIX,
                )
            }
            ExprKind::Binary(op, a, b) => {
                let level = precedence(*op);
                let (a, b) = (self.expr(a, level), self.expr(b, level + 1));
                Piece(format!("{a} {} {b}", op.symbol()), level)
            }
            ExprKind::PtrOffset(p, i) => call("offset", &[p, i]),
            ExprKind::PtrDiff(p, q) => call("diff", &[p, q]),
            ExprKind::Select(c, a, b) => call("select", &[c, a, b]),
            ExprKind::Cast(a) => {
                Piece(format!("{} as {}", self.expr(a, CAST), self.ty(&e.ty)), CAST)
            }
            ExprKind::Bitcast(a) => call(&format!("bitcast<{}>", self.ty(&e.ty)), &[a]),
            ExprKind::Call(function, args) => {
                call(function.name(), &args.iter().collect::<Vec<_>>())
            }
            ExprKind::Builtin(b) => Piece(builtin_name(*b), POSTFIX),
            ExprKind::Make(parts) => {
                Piece(format!("make {} {{ {} }}", self.ty(&e.ty), self.exprs(parts)), POSTFIX)
            }
            ExprKind::Member(a, n) => {
                Piece(format!("member({}, {})", self.expr(a, 0), self.part(&a.ty, *n)), POSTFIX)
            }
        }
    }

    /// The place, in parentheses if it binds less tightly than `level`.
    pub fn place(&self, place: &Place, level: u8) -> String {
        self.place_piece(place).at_least(level)
    }

    fn place_piece(&self, place: &Place) -> Piece {
        let piece = self.bare_place(place);
        if self.env.place(&place.kind).unwrap_or(Type::Void) == place.ty {
            return piece;
        }
        Piece(format!("({} :: {})", piece.0, self.ty(&place.ty)), POSTFIX)
    }

    fn bare_place(&self, place: &Place) -> Piece {
        let text = match &*place.kind {
            PlaceKind::Var(id) => self.vars.get(id.0),
            PlaceKind::Global(id) => format!("@{}", self.globals.get(id.0)),
            PlaceKind::Deref(p) => return Piece(format!("*{}", self.expr(p, PREFIX)), PREFIX),
            PlaceKind::Elem { pointer, index, dims } => {
                let base = self.expr(pointer, POSTFIX);
                let dims =
                    if dims.is_empty() { String::new() } else { format!("; {}", self.exprs(dims)) };
                format!("{base}[{}{dims}]", self.exprs(index))
            }
            PlaceKind::Index(inner, i) => {
                format!("{}[{}]", self.place(inner, POSTFIX), self.expr(i, 0))
            }
            PlaceKind::Field(inner, n) => {
                format!("{}.{}", self.place(inner, POSTFIX), self.part(&inner.ty, *n))
            }
            PlaceKind::Component(inner, n) => {
                format!("{}.{}", self.place(inner, POSTFIX), self.part(&inner.ty, (*n).into()))
            }
        };
        Piece(text, POSTFIX)
    }

    /// The name of a component or field; its number where the name would not find it.
    fn part(&self, ty: &Type, n: u32) -> String {
        match ty {
            Type::Vector(..) if n < 4 => ["x", "y", "z", "w"][n as usize].into(),
            Type::Struct(id) => {
                let fields = self.env.module.structs.get(id.0 as usize).map(|s| &s.fields);
                let name = fields.and_then(|f| f.get(n as usize)).map(|f| &f.name);
                match (name, fields) {
                    (Some(name), Some(fields))
                        if fields.iter().position(|f| f.name == *name) == Some(n as usize) =>
                    {
                        quote(name)
                    }
                    _ => format!("#{n}"),
                }
            }
            _ => format!("#{n}"),
        }
    }
}

/// A constant, exactly.
pub(crate) fn literal(v: Value) -> String {
    let odd = || format!("bits({}, \"{:x}\")", v.ty, v.bits);
    match v.ty {
        Scalar::Bool if v.bits <= 1 => if v.bits == 1 { "true" } else { "false" }.into(),
        _ if Value { ty: v.ty, bits: v.bits & crate::value::mask(v.ty) } != v => odd(),
        Scalar::Bool => odd(),
        Scalar::I32 => v.as_i64().to_string(),
        Scalar::U64 => format!("{}u64", v.bits),
        t if t.is_integer() => format!("{}{t}", v.as_i64()),
        _ if !v.as_f64().is_finite() => odd(),
        Scalar::F64 => format!("{:?}", v.as_f64()),
        Scalar::F32 => format!("{:?}f32", as_f32(v)),
        t => format!("{:?}{t}", shortest(v)),
    }
}

/// The number with the fewest digits that rounds to a value of 16 bits.
fn shortest(v: Value) -> f32 {
    let x = as_f32(v);
    (0..9)
        .filter_map(|digits| format!("{x:.digits$e}").parse().ok())
        .find(|short: &f32| Value::float(v.ty, (*short).into()) == v)
        .unwrap_or(x)
}
