//! Numbers computed from the parameters of a schedule: C's integer operators on names and literals.

use super::space::Values;

/// Place in a line from and to, and what is wrong there.
type Wrong = (usize, usize, String);

/// Deepest nesting of parentheses.
const DEEPEST: u32 = 64;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Number(i64),
    /// A parameter, with its place in the line.
    Name(usize, String),
    Binary(Op, Box<Term>, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Or,
    And,
    Eq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Operators by how tightly they bind, loosest first; longer spellings before their beginnings.
const LEVELS: [&[(&str, Op)]; 6] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[("==", Op::Eq), ("!=", Op::Ne)],
    &[("<=", Op::Le), (">=", Op::Ge), ("<", Op::Lt), (">", Op::Gt)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("*", Op::Mul), ("/", Op::Div), ("%", Op::Rem)],
];

impl Term {
    /// The parameters with their places.
    pub fn names(&self) -> Vec<(usize, &str)> {
        match self {
            Term::Number(_) => vec![],
            Term::Name(at, name) => vec![(*at, name)],
            Term::Binary(_, a, b) => a.names().into_iter().chain(b.names()).collect(),
        }
    }

    /// The value; truth is 1 or 0. `None` for a division by zero, an overflow, or a parameter without a value.
    pub fn value(&self, values: &Values) -> Option<i64> {
        let (op, a, b) = match self {
            Term::Number(n) => return Some(*n),
            Term::Name(_, name) => return values.get(name).copied(),
            Term::Binary(op, a, b) => (op, a.value(values), b),
        };
        // As in C, the right side is not looked at where the left one decides.
        match (op, a) {
            (Op::Or, Some(x)) if x != 0 => return Some(1),
            (Op::And, Some(0)) => return Some(0),
            _ => {}
        }
        let (a, b) = (a?, b.value(values)?);
        match op {
            Op::Or => Some(i64::from(a != 0 || b != 0)),
            Op::And => Some(i64::from(a != 0 && b != 0)),
            Op::Eq => Some(i64::from(a == b)),
            Op::Ne => Some(i64::from(a != b)),
            Op::Le => Some(i64::from(a <= b)),
            Op::Ge => Some(i64::from(a >= b)),
            Op::Lt => Some(i64::from(a < b)),
            Op::Gt => Some(i64::from(a > b)),
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div => a.checked_div(b),
            Op::Rem => a.checked_rem(b),
        }
    }
}

/// Reads a part of a line.
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    depth: u32,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str, at: usize, end: usize) -> Reader<'t> {
        Reader { text, at, end, depth: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Where the next word begins.
    pub fn position(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    fn wrong<T>(&mut self, why: &str) -> Result<T, Wrong> {
        let at = self.position();
        let to = self.text[..self.end].trim_end().len();
        Err((at.min(to), to.max(at), why.to_string()))
    }

    /// Takes `symbol` if it comes next.
    pub fn try_symbol(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// Takes a word if it comes next.
    pub fn try_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = self.word_here() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn word_here(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    }

    /// A word that must come next.
    ///
    /// # Errors
    /// `why`, where it does not.
    pub fn word(&mut self, word: &str, why: &str) -> Result<(), Wrong> {
        if self.try_word(word) { Ok(()) } else { self.wrong(why) }
    }

    /// A name, with its place.
    ///
    /// # Errors
    /// `why`, where none comes next.
    pub fn name(&mut self, why: &str) -> Result<(usize, String), Wrong> {
        self.skip_space();
        let word = self.word_here();
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return self.wrong(why);
        }
        let at = self.at;
        self.at += word.len();
        Ok((at, word.to_string()))
    }

    /// A number without a sign.
    ///
    /// # Errors
    /// `why`, where none comes next, or that it is too large.
    pub fn number(&mut self, why: &str) -> Result<i64, Wrong> {
        self.skip_space();
        let word = self.word_here();
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.wrong(why);
        }
        match word.parse() {
            Ok(n) => {
                self.at += word.len();
                Ok(n)
            }
            Err(_) => self.wrong("this is no number that can be used here"),
        }
    }

    /// Nothing may follow.
    ///
    /// # Errors
    /// `why`, where something does.
    pub fn end(&mut self, why: &str) -> Result<(), Wrong> {
        self.skip_space();
        if self.at == self.end { Ok(()) } else { self.wrong(why) }
    }

    /// An expression.
    ///
    /// # Errors
    /// Where it cannot be read, and what is wanted there.
    pub fn term(&mut self) -> Result<Term, Wrong> {
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Result<Term, Wrong> {
        let Some(operators) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        while let Some((_, op)) = operators.iter().find(|(text, _)| self.try_symbol(text)) {
            let right = self.level(level + 1)?;
            left = Term::Binary(*op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Term, Wrong> {
        const WANTED: &str = "a number, a parameter or `(` is wanted here";
        if self.position() < self.end && self.rest().starts_with('(') {
            if self.depth == DEEPEST {
                return self.wrong("too many parentheses");
            }
            self.at += 1;
            self.depth += 1;
            let inner = self.term()?;
            self.depth -= 1;
            return match self.try_symbol(")") {
                true => Ok(inner),
                false => self.wrong("`)` is wanted here"),
            };
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(WANTED).map(Term::Number);
        }
        self.name(WANTED).map(|(at, name)| Term::Name(at, name))
    }
}
