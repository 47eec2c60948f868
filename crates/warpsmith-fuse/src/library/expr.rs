//! Expressions of access patterns: integers, names, `+ - * / %` and parentheses.

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, cut_err, delimited, eof, opt, preceded, repeat, terminated};
use winnow::prelude::*;
use winnow::token::{one_of, take_while};

/// Arithmetic of whole numbers in a library's comments and subscripts.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// A name that stands for a number.
    Name(String),
    /// The same with the other sign.
    Negative(Box<Expr>),
    /// `+`, `-`, `*`, `/` or `%` of two.
    Binary(char, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Reads an expression. `None`: it is none.
    pub fn parse(text: &str) -> Option<Expr> {
        // Nesting is bounded, since the parser calls itself.
        let depth = text.bytes().filter(|b| *b == b'(' || *b == b'-').count();
        if depth > 200 {
            return None;
        }
        terminated(sum, (multispace0, eof)).parse(text).ok()
    }

    /// Its value, names looked up. `None`: an unknown name, a division by zero, an overflow.
    pub fn value(&self, names: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Expr::Number(n) => Some(*n),
            Expr::Name(name) => names(name),
            Expr::Negative(e) => e.value(names)?.checked_neg(),
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.value(names)?, b.value(names)?);
                match op {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    _ => a.checked_rem(b),
                }
            }
        }
    }

    /// The expression with other ones in place of names.
    pub fn with(&self, known: &dyn Fn(&str) -> Option<Expr>) -> Expr {
        match self {
            Expr::Number(n) => Expr::Number(*n),
            Expr::Name(name) => known(name).unwrap_or_else(|| self.clone()),
            Expr::Negative(e) => Expr::Negative(Box::new(e.with(known))),
            Expr::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(a.with(known)), Box::new(b.with(known)))
            }
        }
    }

    /// Calls `see` with each name.
    pub fn names(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Expr::Number(_) => {}
            Expr::Name(name) => see(name),
            Expr::Negative(e) => e.names(see),
            Expr::Binary(_, a, b) => {
                a.names(see);
                b.names(see);
            }
        }
    }
}

fn sum(input: &mut &str) -> ModalResult<Expr> {
    chain(product, &['+', '-']).parse_next(input)
}

fn product(input: &mut &str) -> ModalResult<Expr> {
    chain(factor, &['*', '/', '%']).parse_next(input)
}

/// Operands of one precedence, grouped from the left.
fn chain<'a>(
    mut operand: impl FnMut(&mut &'a str) -> ModalResult<Expr>,
    operators: &'static [char],
) -> impl FnMut(&mut &'a str) -> ModalResult<Expr> {
    move |input| {
        let mut left = operand(input)?;
        while let Some(op) = opt(preceded(multispace0, one_of(operators))).parse_next(input)? {
            let right = operand(input)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }
}

fn factor(input: &mut &str) -> ModalResult<Expr> {
    let number = digit1.try_map(|n: &str| n.parse::<i64>()).map(Expr::Number);
    let name = (one_of(|c: char| c.is_ascii_alphabetic() || c == '_'), part).take();
    let name = name.map(|n: &str| Expr::Name(n.to_string()));
    let inner = delimited('(', sum, cut_err((multispace0, ')')));
    let negative = preceded('-', factor).map(|e| Expr::Negative(Box::new(e)));
    preceded(multispace0, alt((number, name, inner, negative))).parse_next(input)
}

fn part(input: &mut &str) -> ModalResult<()> {
    repeat(0.., take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_').void())
        .parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i64> {
        Expr::parse(text)?.value(&|name| (name == "tx").then_some(5))
    }

    #[test]
    fn expressions_have_cs_precedence() {
        assert_eq!(value("tx*9 + 2 * (3 - 1)"), Some(49));
        assert_eq!(value("7 - 2 - 1"), Some(4));
        assert_eq!(value("17 / tx % 2"), Some(1));
        assert_eq!(value("-tx + 6"), Some(1));
    }

    #[test]
    fn what_is_no_expression_has_no_value() {
        for text in ["", "tx*", "(tx", "tx ty", "1/0", "ty", "99999999999999999999", "tx[3]"] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(Expr::parse(&"(".repeat(100_000)), None);
    }
}
