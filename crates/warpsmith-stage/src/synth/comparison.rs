//! Comparisons of two terms, and how they are written.

use super::term::{INT, LONG, Op, Term, is_difference, unsigned};
use crate::plan::{Symbol, SymbolKind};

/// `left op right`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    pub left: Term,
    pub op: Compare,
    pub right: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }

    pub(super) fn negated(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
            Compare::Ge => Compare::Lt,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }
}

impl Comparison {
    pub(super) fn text(&self, symbols: &[Symbol]) -> String {
        if let Term::Symbol(s) = self.left
            && symbols[s].kind == SymbolKind::Guard
        {
            let text = &symbols[s].text;
            return match self.op {
                Compare::Ne => text.clone(),
                _ if text.chars().all(|c| c.is_alphanumeric() || c == '_') => format!("!{text}"),
                _ => format!("!({text})"),
            };
        }
        // A position in blocks is not below zero.
        if let Term::Binary(Op::Div, ..) = self.left {
            let sides = [&self.left, &self.right].map(|t| t.side(symbols));
            return format!("{} {} {}", sides[0], self.op.symbol(), sides[1]);
        }
        if let Some(text) = self.without_difference(symbols) {
            return text;
        }
        // Thread indices are unsigned: a sum or difference that may be below zero would wrap around.
        let apart = is_difference(&self.right);
        let to = if self.left.is_long(symbols) || self.right.is_long(symbols) { LONG } else { INT };
        let left = match &self.left {
            Term::Binary(Op::Add, a, b) if matches!(**a, Term::Symbol(_)) => {
                format!("({to}){} + {}", a.side(symbols), b.side(symbols))
            }
            Term::Binary(..) => format!("({to})({})", self.left.side(symbols)),
            Term::Symbol(s) if symbols[*s].int => self.left.side(symbols),
            other if apart => format!("({to}){}", other.factor(symbols)),
            other => other.side(symbols),
        };
        let right = self.right.side(symbols);
        let sum = apart || matches!(self.left, Term::Binary(..));
        let right = match (sum && unsigned(&self.right, symbols), &self.right) {
            (false, _) => right,
            (true, Term::Symbol(_)) => format!("({to}){right}"),
            (true, _) => format!("({to})({right})"),
        };
        format!("{left} {} {right}", self.op.symbol())
    }

    /// `threadIdx.x + 4 < BX` for `threadIdx.x <= BX - 5`, whose difference is below zero for a small constant.
    fn without_difference(&self, symbols: &[Symbol]) -> Option<String> {
        let (Term::Symbol(left), Term::Binary(Op::Sub, base, number)) = (&self.left, &self.right)
        else {
            return None;
        };
        let (Term::Symbol(right), Term::Number(n @ 2..)) = (&**base, &**number) else {
            return None;
        };
        let is_extent = matches!(symbols[*right].kind, SymbolKind::Block(_) | SymbolKind::Grid(_));
        let one_word = symbols[*left].kind != SymbolKind::Subscript;
        if symbols[*left].int || is_extent || !one_word {
            return None;
        }
        let (n, op) = match self.op {
            Compare::Lt | Compare::Ge => (*n, self.op),
            Compare::Le => (n - 1, Compare::Lt),
            Compare::Gt => (n - 1, Compare::Ge),
            Compare::Eq | Compare::Ne => return None,
        };
        let [left, right] = [left, right].map(|s| &symbols[*s].text);
        Some(format!("{left} + {n} {} {right}", op.symbol()))
    }

    pub(super) fn negated(&self) -> Comparison {
        Comparison { op: self.op.negated(), ..self.clone() }
    }

    pub(super) fn holds(&self, values: &[i64]) -> Option<bool> {
        Some(self.op.holds(self.left.value(values)?, self.right.value(values)?))
    }

    /// The number of a block is compared with anything but a number, or what goes along one axis with what goes along others.
    pub(super) fn is_far_fetched(&self, symbols: &[Symbol]) -> bool {
        let is_block = |s: usize| matches!(symbols[s].kind, SymbolKind::Grid(_));
        let block = [&self.left, &self.right].iter().any(|t| t.symbols().into_iter().any(is_block));
        let number = matches!(self.right, Term::Number(_));
        block && !number || are_apart(&self.left, &self.right, symbols)
    }
}

/// What two terms go along is known, and is nothing in common: they are likely alike by accident.
pub(super) fn are_apart(left: &Term, right: &Term, symbols: &[Symbol]) -> bool {
    let along = |t: &Term| {
        let mut all = [false; 4];
        for s in t.symbols().into_iter().map(|s| &symbols[s]) {
            match s.along {
                Some(own) => all.iter_mut().zip(own).for_each(|(a, o)| *a |= o),
                None if s.kind.is_number() => {}
                None => return None,
            }
        }
        Some(all).filter(|all| all.contains(&true))
    };
    match (along(left), along(right)) {
        (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| !a || !b),
        _ => false,
    }
}
