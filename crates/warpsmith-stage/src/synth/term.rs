//! Whole-number expressions over symbols: how they are evaluated, written, and how simple they are.

use crate::plan::{Symbol, SymbolKind};

/// An expression over the symbols of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Number(i64),
    /// A symbol by its number.
    Symbol(usize),
    Binary(Op, Box<Term>, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
}

impl Op {
    #[inline]
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            // Of negative numbers C's division is one that nobody means in a subscript.
            Op::Div if a >= 0 && b > 0 => Some(a / b),
            Op::Rem if a >= 0 && b > 0 => Some(a % b),
            Op::Div | Op::Rem => None,
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
        }
    }
}

/// What unsigned numbers are converted to.
pub(super) const INT: &str = "int";
pub(super) const LONG: &str = "long long";

/// What binds a term to its neighbours, the loosest first.
const ALONE: u8 = 0;
const COMPARED: u8 = 1;
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const FACTOR: u8 = 4;

impl Term {
    /// What an operation gives, without nothing added and products with one and nothing.
    pub fn op(op: Op, a: Term, b: Term) -> Term {
        match (op, &a, &b) {
            (Op::Add, Term::Number(0), _) | (Op::Mul, Term::Number(1), _) => b,
            (Op::Add | Op::Sub, _, Term::Number(0)) | (Op::Mul, _, Term::Number(1)) => a,
            (Op::Mul, Term::Number(0), _) | (Op::Mul, _, Term::Number(0)) => Term::Number(0),
            _ => Term::Binary(op, Box::new(a), Box::new(b)),
        }
    }

    /// `self + offset`, written as a difference where the offset is negative.
    pub fn plus(self, offset: i64) -> Term {
        let own = self.offset();
        let base = match self {
            Term::Binary(_, a, _) if own != 0 => *a,
            other => other,
        };
        match own + offset {
            0 => base,
            n @ 1.. => Term::op(Op::Add, base, Term::Number(n)),
            n => Term::op(Op::Sub, base, Term::Number(-n)),
        }
    }

    /// The number that is added last.
    fn offset(&self) -> i64 {
        match self {
            Term::Binary(op, _, b) => match (op, &**b) {
                (Op::Add, Term::Number(n)) => *n,
                (Op::Sub, Term::Number(n)) => -n,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// What [`Term::plus`] would cost, without making it.
    pub fn cost_plus(&self, offset: i64, symbols: &[Symbol]) -> u32 {
        let own = self.offset();
        let base = match self {
            Term::Binary(_, a, _) if own != 0 => a,
            other => other,
        };
        match own + offset {
            0 => base.cost(symbols),
            n if n > 0 && *base == Term::Number(0) => Term::Number(n).cost(symbols),
            n => 1 + base.cost(symbols) + Term::Number(n.abs()).cost(symbols),
        }
    }

    /// The value on a row; `None` where it has none.
    #[inline]
    pub fn value(&self, values: &[i64]) -> Option<i64> {
        match self {
            Term::Number(n) => Some(*n),
            Term::Symbol(s) => values.get(*s).copied(),
            Term::Binary(op, a, b) => op.apply(a.value(values)?, b.value(values)?),
        }
    }

    /// The symbols in it, by their numbers.
    pub fn symbols(&self) -> Vec<usize> {
        match self {
            Term::Number(_) => vec![],
            Term::Symbol(s) => vec![*s],
            Term::Binary(_, a, b) => [a.symbols(), b.symbols()].concat(),
        }
    }

    /// As it is written in CUDA C. Symbols of several words get parentheses where their neighbours bind tighter.
    pub fn text(&self, symbols: &[Symbol]) -> String {
        self.spelled(symbols, ALONE)
    }

    /// As a side of a comparison.
    pub fn side(&self, symbols: &[Symbol]) -> String {
        self.spelled(symbols, COMPARED)
    }

    /// As what a cast stands before.
    pub fn factor(&self, symbols: &[Symbol]) -> String {
        self.spelled(symbols, FACTOR)
    }

    fn spelled(&self, symbols: &[Symbol], outer: u8) -> String {
        match self {
            Term::Number(n) => n.to_string(),
            Term::Symbol(s) => {
                let symbol = &symbols[*s];
                let plain = !matches!(symbol.kind, SymbolKind::Subscript | SymbolKind::Constant)
                    || symbol.text.chars().all(|c| c.is_alphanumeric() || "_.[]".contains(c));
                let loose = symbol.text.contains(['?', '<', '>', '=', '&', '|', '^']);
                let product = symbol.text.contains('%');
                match plain
                    || outer == ALONE
                    || !loose && outer <= if product { COMPARED } else { SUM }
                {
                    true => symbol.text.clone(),
                    false => format!("({})", symbol.text),
                }
            }
            Term::Binary(op @ (Op::Min | Op::Max), a, b) => {
                let name = if *op == Op::Min { "min" } else { "max" };
                let to = if a.is_long(symbols) || b.is_long(symbols) { LONG } else { INT };
                format!("{name}({}, {})", a.whole(to, symbols), b.whole(to, symbols))
            }
            Term::Binary(op, a, b) => {
                let (sign, level, right) = match op {
                    Op::Add => ("+", SUM, SUM),
                    Op::Sub => ("-", SUM, SUM + 1),
                    Op::Mul => ("*", PRODUCT, FACTOR),
                    Op::Div => ("/", PRODUCT, FACTOR),
                    _ => ("%", PRODUCT, FACTOR),
                };
                let text =
                    format!("{} {sign} {}", a.spelled(symbols, level), b.spelled(symbols, right));
                if outer > level { format!("({text})") } else { text }
            }
        }
    }

    /// An argument of `min`, whose two have to have one type.
    fn whole(&self, to: &str, symbols: &[Symbol]) -> String {
        match self {
            _ if to == INT && self.is_int(symbols) => self.text(symbols),
            Term::Symbol(_) => format!("({to}){}", self.factor(symbols)),
            _ => format!("({to})({})", self.text(symbols)),
        }
    }

    /// Whether the term may need 64 bits.
    pub fn is_long(&self, symbols: &[Symbol]) -> bool {
        match self {
            Term::Number(_) => false,
            Term::Symbol(s) => symbols[*s].long,
            Term::Binary(_, a, b) => a.is_long(symbols) || b.is_long(symbols),
        }
    }

    /// Whether the type of the term is certainly `int`.
    fn is_int(&self, symbols: &[Symbol]) -> bool {
        match self {
            Term::Number(_) => true,
            Term::Symbol(s) => symbols[*s].int,
            Term::Binary(_, a, b) => a.is_int(symbols) && b.is_int(symbols),
        }
    }

    /// Smaller is simpler.
    pub fn cost(&self, symbols: &[Symbol]) -> u32 {
        match self {
            Term::Number(0) => 0,
            Term::Number(n) => 1 + u32::from(*n > 2),
            Term::Symbol(s) => match symbols[*s].kind {
                SymbolKind::Subscript => 3,
                SymbolKind::Variable if symbols[*s].text.contains('(') => 5,
                SymbolKind::Variable => 2,
                SymbolKind::Thread(_) => 3,
                SymbolKind::Constant
                | SymbolKind::Divisor
                | SymbolKind::Limit
                | SymbolKind::Guard => 2,
                SymbolKind::Block(_) => 3,
                SymbolKind::Grid(_) => 8,
            },
            Term::Binary(op, a, b) => {
                let own = match op {
                    Op::Add | Op::Sub => 1,
                    Op::Mul => 2,
                    _ => 4,
                };
                own + a.cost(symbols) + b.cost(symbols)
            }
        }
    }
}

/// Whether a term is one name less another, and perhaps a number.
pub fn is_difference(term: &Term) -> bool {
    match term {
        Term::Binary(_, a, b) if matches!(**b, Term::Number(_)) => is_difference(a),
        Term::Binary(op, ..) => *op == Op::Sub,
        _ => false,
    }
}

/// Whether a term has the type of `blockDim`.
pub fn unsigned(term: &Term, symbols: &[Symbol]) -> bool {
    match term {
        Term::Number(_) => false,
        Term::Symbol(s) => matches!(symbols[*s].kind, SymbolKind::Block(_) | SymbolKind::Grid(_)),
        Term::Binary(_, a, b) => unsigned(a, symbols) || unsigned(b, symbols),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_written_as_people_do() {
        let symbol = Symbol::new;
        let symbols = [
            symbol("s", SymbolKind::Variable),
            symbol("tx + ty * BX", SymbolKind::Subscript),
            symbol("BX", SymbolKind::Constant),
        ];
        let (s, sub, bx) = (Term::Symbol(0), Term::Symbol(1), Term::Symbol(2));
        assert_eq!(s.clone().plus(-1).text(&symbols), "s - 1");
        assert_eq!(s.clone().plus(-1).plus(-2).text(&symbols), "s - 3");
        assert_eq!(s.clone().plus(3).plus(-3).text(&symbols), "s");
        for term in [s.clone(), Term::Number(0), s.clone().plus(2), s.clone().plus(-3)] {
            for n in -4..=4 {
                let made = term.clone().plus(n).cost(&symbols);
                assert_eq!(term.cost_plus(n, &symbols), made, "{term:?} + {n}");
            }
        }
        assert_eq!(Term::op(Op::Sub, sub.clone(), bx.clone()).text(&symbols), "tx + ty * BX - BX");
        let width = bx.plus(2);
        let product = Term::op(Op::Mul, Term::op(Op::Rem, s.clone(), width.clone()), width);
        assert_eq!(product.text(&symbols), "s % (BX + 2) * (BX + 2)");
        assert_eq!(Term::op(Op::Mul, sub, s).text(&symbols), "(tx + ty * BX) * s");
        let symbols = [
            symbol("(z / step) & 1", SymbolKind::Subscript),
            symbol("B + M", SymbolKind::Constant),
            symbol("z % 2", SymbolKind::Subscript),
        ];
        let [bit, extent, rest] = [0, 1, 2].map(Term::Symbol);
        assert_eq!(bit.text(&symbols), "(z / step) & 1");
        assert_eq!(bit.side(&symbols), "((z / step) & 1)");
        assert_eq!(bit.plus(1).text(&symbols), "((z / step) & 1) + 1");
        assert_eq!(extent.side(&symbols), "B + M");
        assert_eq!(Term::op(Op::Mul, Term::Number(2), extent).text(&symbols), "2 * (B + M)");
        assert_eq!(rest.side(&symbols), "z % 2");
        assert_eq!(product.value(&[17, 0, 3]), Some(10));
    }
}
