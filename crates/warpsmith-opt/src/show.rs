//! Expressions as the user would write them, for messages and assumptions.

use warpsmith_ir::{Expr, ExprKind, Function, Module, Place, PlaceKind, UnaryOp};

/// An expression in C, without casts.
pub fn expr(module: &Module, function: &Function, e: &Expr) -> String {
    Shower { module, function }.expr(e, 0)
}

/// A place in C.
pub fn place(module: &Module, function: &Function, p: &Place) -> String {
    Shower { module, function }.place(p)
}

struct Shower<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Shower<'_> {
    /// `tightness` is the precedence of what stands around; a weaker operator gets parentheses.
    fn expr(&self, e: &Expr, tightness: u8) -> String {
        match &*e.kind {
            ExprKind::Const(v) if v.ty.is_float() => v.as_f64().to_string(),
            ExprKind::Const(v) => v.as_i64().to_string(),
            ExprKind::Named(id) => {
                self.module.constants.get(id.0 as usize).map_or("?", |c| &c.name).to_string()
            }
            ExprKind::Builtin(b) => format!("{b:?}"),
            ExprKind::Read(p) => self.place(p),
            ExprKind::AddressOf(p) => format!("&{}", self.place(p)),
            ExprKind::Unary(op, a) => {
                let symbol = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                format!("{symbol}{}", self.expr(a, 11))
            }
            _ => self.compound(e, tightness),
        }
    }

    fn compound(&self, e: &Expr, tightness: u8) -> String {
        let list =
            |args: &[Expr]| args.iter().map(|a| self.expr(a, 0)).collect::<Vec<_>>().join(", ");
        match &*e.kind {
            ExprKind::Binary(op, a, b) => {
                let own = precedence(op.symbol());
                let text =
                    format!("{} {} {}", self.expr(a, own), op.symbol(), self.expr(b, own + 1));
                if own < tightness { format!("({text})") } else { text }
            }
            ExprKind::PtrOffset(a, b) => format!("{} + {}", self.expr(a, 9), self.expr(b, 10)),
            ExprKind::PtrDiff(a, b) => format!("{} - {}", self.expr(a, 9), self.expr(b, 10)),
            ExprKind::Cast(a) | ExprKind::Bitcast(a) => self.expr(a, tightness),
            ExprKind::Select(c, a, b) => {
                format!("({} ? {} : {})", self.expr(c, 1), self.expr(a, 1), self.expr(b, 1))
            }
            ExprKind::Call(f, args) => format!("{}({})", f.name(), list(args)),
            ExprKind::Make(parts) => format!("{{{}}}", list(parts)),
            ExprKind::Member(a, field) => format!("{}.{field}", self.expr(a, 12)),
            _ => String::new(),
        }
    }

    fn place(&self, p: &Place) -> String {
        let name = |v: &warpsmith_ir::VarId| {
            self.function.vars.get(v.0 as usize).map_or("?", |v| &v.name).to_string()
        };
        match &*p.kind {
            PlaceKind::Var(v) => name(v),
            PlaceKind::Global(g) => {
                self.module.globals.get(g.0 as usize).map_or("?", |g| &g.name).to_string()
            }
            PlaceKind::Deref(e) => format!("*{}", self.expr(e, 11)),
            PlaceKind::Elem { pointer, index, .. } => {
                let mut text = self.expr(pointer, 12);
                for i in index {
                    text.push_str(&format!("[{}]", self.expr(i, 0)));
                }
                text
            }
            PlaceKind::Index(p, i) => format!("{}[{}]", self.place(p), self.expr(i, 0)),
            PlaceKind::Field(p, f) => {
                let field = match &p.ty {
                    warpsmith_ir::Type::Struct(id) => self
                        .module
                        .structs
                        .get(id.0 as usize)
                        .and_then(|s| s.fields.get(*f as usize))
                        .map(|f| f.name.clone()),
                    _ => None,
                };
                format!("{}.{}", self.place(p), field.unwrap_or_else(|| f.to_string()))
            }
            PlaceKind::Component(p, c) => {
                let component = ["x", "y", "z", "w"].get(*c as usize).unwrap_or(&"?");
                format!("{}.{component}", self.place(p))
            }
        }
    }
}

/// C's precedence of a binary operator; more binds tighter.
fn precedence(symbol: &str) -> u8 {
    match symbol {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | "<=" | ">" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        _ => 1,
    }
}
