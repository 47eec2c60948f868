//! Parsing of expressions, places and literals.

use super::lex::Tok;
use super::parse::{Parsed, Parser};
use super::words::{axis_builtin, operator, plain_builtin, precedence};
use crate::expr::{Axis, Builtin, Expr, ExprKind, MathFn, Place, PlaceKind, UnaryOp};
use crate::module::{ConstId, GlobalId, VarId};
use crate::types::{Scalar, Type};
use crate::value::{Value, mask};

/// What has been read may still turn out to be a place that is written to.
enum Operand {
    Expr(Expr),
    Place(Place),
}

impl Parser {
    pub fn expr(&mut self) -> Parsed<Expr> {
        self.binary(1)
    }

    /// A place that is assigned.
    pub fn place(&mut self) -> Parsed<Place> {
        let start = self.here();
        match self.unary()? {
            Operand::Place(place) => Ok(place),
            Operand::Expr(_) => self.fail(self.span(start), "this is a value, not a place"),
        }
    }

    fn make(&self, kind: ExprKind, start: u32) -> Expr {
        let ty = self.env().expr(&kind).unwrap_or(Type::Void);
        Expr::new(kind, ty, self.span(start))
    }

    fn make_place(&self, kind: PlaceKind, start: u32) -> Operand {
        let ty = self.env().place(&kind).unwrap_or(Type::Void);
        Operand::Place(Place::new(kind, ty, self.span(start)))
    }

    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        self.nested(|p| {
            let start = p.here();
            let mut left = p.cast()?;
            while let Some(op) = p.symbol_as(|s| operator(s).filter(|op| precedence(*op) >= level))
            {
                let right = p.binary(precedence(op) + 1)?;
                left = p.make(ExprKind::Binary(op, left, right), start);
            }
            Ok(left)
        })
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let mut e = self.unary()?.value();
        while self.eat_word("as") {
            let ty = self.ty()?;
            e = Expr::new(ExprKind::Cast(e), ty, self.span(start));
        }
        Ok(e)
    }

    fn unary(&mut self) -> Parsed<Operand> {
        self.nested(|p| p.unary_inner())
    }

    fn unary_inner(&mut self) -> Parsed<Operand> {
        let start = self.here();
        if self.is_symbol("-") && matches!(self.peek_at(1), Tok::Number { .. }) {
            let value = self.literal()?;
            return Ok(Operand::Expr(self.make(ExprKind::Const(value), start)));
        }
        let op = self.symbol_as(|s| match s {
            "-" => Some(UnaryOp::Neg),
            "!" => Some(UnaryOp::Not),
            "~" => Some(UnaryOp::BitNot),
            _ => None,
        });
        if let Some(op) = op {
            let operand = self.unary()?.value();
            return Ok(Operand::Expr(self.make(ExprKind::Unary(op, operand), start)));
        }
        if self.eat_symbol("&") {
            return match self.unary()? {
                Operand::Place(p) => Ok(Operand::Expr(self.make(ExprKind::AddressOf(p), start))),
                Operand::Expr(_) => self.fail(self.span(start), "a value has no address"),
            };
        }
        if self.eat_symbol("*") {
            let pointer = self.unary()?.value();
            return Ok(self.make_place(PlaceKind::Deref(pointer), start));
        }
        let mut operand = self.primary()?;
        loop {
            if self.eat_symbol("[") {
                operand = self.subscript(operand, start)?;
            } else if self.eat_symbol(".") {
                operand = self.member_place(operand, start)?;
            } else {
                return Ok(operand);
            }
        }
    }

    fn subscript(&mut self, base: Operand, start: u32) -> Parsed<Operand> {
        let (mut index, mut dims) = (vec![], vec![]);
        while !self.is_symbol("]") && !self.is_symbol(";") {
            index.push(self.expr()?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        if self.eat_symbol(";") {
            dims = self.list("]", |p| p.expr())?;
        } else {
            self.symbol("]")?;
        }
        let kind = match base {
            Operand::Place(place)
                if matches!(place.ty, Type::Array(..)) && dims.is_empty() && index.len() == 1 =>
            {
                PlaceKind::Index(place, index.remove(0))
            }
            base => PlaceKind::Elem { pointer: base.value(), index, dims },
        };
        Ok(self.make_place(kind, start))
    }

    fn member_place(&mut self, base: Operand, start: u32) -> Parsed<Operand> {
        let Operand::Place(place) = base else {
            return self.expected("a place before `.`; write `member(…)` for a value");
        };
        let n = self.part(&place.ty)?;
        let kind = match place.ty {
            Type::Vector(..) => PlaceKind::Component(place, n.min(255) as u8),
            _ => PlaceKind::Field(place, n),
        };
        Ok(self.make_place(kind, start))
    }

    /// A component or field of a type.
    fn part(&mut self, ty: &Type) -> Parsed<u32> {
        if self.eat_symbol("#") {
            return self.integer();
        }
        let start = self.here();
        let (name, _) = self.name()?;
        let n = match ty {
            Type::Vector(..) => ["x", "y", "z", "w"].iter().position(|c| *c == name),
            Type::Struct(id) => {
                let s = self.module.structs.get(id.0 as usize);
                s.and_then(|s| s.fields.iter().position(|f| f.name == name))
            }
            _ => None,
        };
        match n {
            Some(n) => Ok(n as u32),
            None => self.fail(self.span(start), format!("there is no part `{name}`")),
        }
    }

    fn primary(&mut self) -> Parsed<Operand> {
        let start = self.here();
        match self.peek().clone() {
            Tok::Number { .. } => {
                let value = self.literal()?;
                Ok(Operand::Expr(self.make(ExprKind::Const(value), start)))
            }
            Tok::Symbol("(") => {
                self.skip();
                self.parenthesised(start)
            }
            Tok::Symbol("$") => {
                self.skip();
                let id = self.look_up(|p| &p.constants, "constant")?;
                Ok(Operand::Expr(self.make(ExprKind::Named(ConstId(id)), start)))
            }
            Tok::Symbol("@") => {
                self.skip();
                let id = self.look_up(|p| &p.globals, "static")?;
                Ok(self.make_place(PlaceKind::Global(GlobalId(id)), start))
            }
            Tok::Name { name, suffix: 0, quoted: false } => self.word_operand(&name, start),
            Tok::Name { .. } => self.variable(start),
            _ => self.expected("an expression"),
        }
    }

    fn variable(&mut self, start: u32) -> Parsed<Operand> {
        let id = self.look_up(|p| &p.var_labels, "variable")?;
        Ok(self.make_place(PlaceKind::Var(VarId(id)), start))
    }

    /// `(e)`, `(e : type)` or `(place :: type)`; the parenthesis is open.
    fn parenthesised(&mut self, start: u32) -> Parsed<Operand> {
        let inner = self.whole_operand()?;
        let inner = match inner {
            Operand::Place(mut place) if self.eat_symbol("::") => {
                place.ty = self.ty()?;
                Operand::Place(place)
            }
            inner if self.eat_symbol(":") => {
                let mut e = inner.value();
                e.ty = self.ty()?;
                Operand::Expr(e)
            }
            inner => inner,
        };
        if !self.is_symbol(")") {
            return self.fail(self.span(start), "expected `)` after this");
        }
        self.skip();
        Ok(inner)
    }

    /// An expression that stays a place when it is nothing else.
    fn whole_operand(&mut self) -> Parsed<Operand> {
        let e = self.expr()?;
        Ok(match *e.kind {
            ExprKind::Read(place) if place.ty == e.ty => Operand::Place(place),
            kind => Operand::Expr(Expr { kind: Box::new(kind), ..e }),
        })
    }

    fn word_operand(&mut self, word: &str, start: u32) -> Parsed<Operand> {
        let called = matches!(self.peek_at(1), Tok::Symbol("("));
        let kind = match word {
            "true" | "false" | "bits" if called || word != "bits" => {
                ExprKind::Const(self.literal()?)
            }
            "make" => {
                self.skip();
                let ty = self.ty()?;
                self.symbol("{")?;
                let parts = self.list("}", |p| p.expr())?;
                return Ok(Operand::Expr(Expr::new(ExprKind::Make(parts), ty, self.span(start))));
            }
            "bitcast" => {
                self.skip();
                self.symbol("<")?;
                let ty = self.ty()?;
                self.symbol(">")?;
                let [a] = self.args()?;
                return Ok(Operand::Expr(Expr::new(ExprKind::Bitcast(a), ty, self.span(start))));
            }
            _ if called => self.call(word)?,
            _ => match self.builtin(word)? {
                Some(b) => ExprKind::Builtin(b),
                None => return self.variable(start),
            },
        };
        Ok(Operand::Expr(self.make(kind, start)))
    }

    /// Exactly so many arguments in parentheses.
    fn args<const N: usize>(&mut self) -> Parsed<[Expr; N]> {
        let start = self.here();
        self.symbol("(")?;
        let list = self.list(")", |p| p.expr())?;
        match list.try_into() {
            Ok(args) => Ok(args),
            Err(_) => self.fail(self.span(start), format!("expected {N} arguments")),
        }
    }

    /// `word(…)`; the word has not been taken yet.
    fn call(&mut self, word: &str) -> Parsed<ExprKind> {
        let start = self.here();
        self.skip();
        Ok(match word {
            "select" => {
                let [c, a, b] = self.args()?;
                ExprKind::Select(c, a, b)
            }
            "offset" => {
                let [p, i] = self.args()?;
                ExprKind::PtrOffset(p, i)
            }
            "diff" => {
                let [p, q] = self.args()?;
                ExprKind::PtrDiff(p, q)
            }
            "member" => {
                self.symbol("(")?;
                let a = self.expr()?;
                self.symbol(",")?;
                let n = self.part(&a.ty.clone())?;
                self.symbol(")")?;
                ExprKind::Member(a, n)
            }
            _ => {
                let Some(function) = MathFn::from_name(word) else {
                    return self.fail(self.span(start), format!("there is no function `{word}`"));
                };
                self.symbol("(")?;
                ExprKind::Call(function, self.list(")", |p| p.expr())?)
            }
        })
    }

    /// A hardware value; takes nothing when the word is none.
    fn builtin(&mut self, word: &str) -> Parsed<Option<Builtin>> {
        if let Some(b) = plain_builtin(word) {
            self.skip();
            return Ok(Some(b));
        }
        if axis_builtin(word, Axis::X).is_none() {
            return Ok(None);
        }
        self.skip();
        self.symbol(".")?;
        let axis: Axis = self.word_of("`x`, `y` or `z`")?;
        Ok(axis_builtin(word, axis))
    }

    pub fn literal(&mut self) -> Parsed<Value> {
        let start = self.here();
        if self.eat_word("true") {
            return Ok(Value::bool(true));
        }
        if self.eat_word("false") {
            return Ok(Value::bool(false));
        }
        if self.eat_word("bits") {
            return self.bits();
        }
        let negative = self.eat_symbol("-");
        let Tok::Number { digits, suffix } = self.peek().clone() else {
            return self.expected("a literal");
        };
        self.skip();
        match number(negative, &digits, &suffix) {
            Some(value) => Ok(value),
            None => self.fail(self.span(start), "this is no value of its type"),
        }
    }

    fn scalar(&mut self) -> Parsed<Scalar> {
        let found = self.word_at(0).and_then(|w| Scalar::ALL.into_iter().find(|s| s.name() == w));
        match found {
            Some(s) => {
                self.skip();
                Ok(s)
            }
            None => self.expected("a scalar type"),
        }
    }

    fn bits(&mut self) -> Parsed<Value> {
        let start = self.here();
        self.symbol("(")?;
        let ty = self.scalar()?;
        self.symbol(",")?;
        let hex = self.string()?;
        self.symbol(")")?;
        match u64::from_str_radix(&hex, 16) {
            Ok(bits) => Ok(Value { ty, bits }),
            Err(_) => self.fail(self.span(start), "expected up to 16 hexadecimal digits"),
        }
    }
}

impl Operand {
    fn value(self) -> Expr {
        match self {
            Operand::Expr(e) => e,
            Operand::Place(p) => Expr::read(p),
        }
    }
}

/// The value of a number; `None` when it does not fit its type.
fn number(negative: bool, digits: &str, suffix: &str) -> Option<Value> {
    let real = digits.contains(['.', 'e', 'E']);
    let ty = match suffix {
        "" if real => Scalar::F64,
        "" => Scalar::I32,
        name => Scalar::ALL.into_iter().find(|s| s.name() == name && *s != Scalar::Bool)?,
    };
    let text = if negative { format!("-{digits}") } else { digits.to_string() };
    match ty {
        Scalar::F64 => text.parse().ok().map(|x| Value::float(ty, x)),
        _ if ty.is_float() => text.parse::<f32>().ok().map(|x| Value::float(ty, x.into())),
        _ => {
            let n: i128 = text.parse().ok()?;
            let value = Value { ty, bits: n as u64 & mask(ty) };
            let back =
                if ty == Scalar::U64 { value.bits.into() } else { i128::from(value.as_i64()) };
            (back == n).then_some(value)
        }
    }
}
