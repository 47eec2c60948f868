//! Expressions of constraints, sizes and value lists: the part of Python that tuning files use, computed safely.
//!
//! Other tools hand these strings to Python's `eval`; here they are parsed, and what is not in the grammar is refused
//! with its place. Numbers are 64-bit integers and doubles; a result that does not fit is an error, not a wrap.

mod eval;
mod parse;

use std::ops::Range;

use warpsmith_ir::{Diagnostic, FileId, Span};

pub use eval::EvalError;

use crate::value::Value;

/// A parsed expression with its place in the text.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: Kind,
    /// Bytes of the text it was parsed from.
    pub span: Range<usize>,
}

/// What an expression computes, with the meaning that it has in Python.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A literal.
    Const(Value),
    /// A name that is not bound yet.
    Name(String),
    /// The variable of a comprehension around it.
    Local(String),
    /// A name that was bound to a position in the array of values.
    Slot(usize),
    /// `[a, b]`, and tuples.
    List(Vec<Expr>),
    /// An operation on one value.
    Unary(Unary, Box<Expr>),
    /// An operation on two values.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a and b`: the first operand that is false, else the last.
    And(Vec<Expr>),
    /// `a or b`: the first operand that is true, else the last.
    Or(Vec<Expr>),
    /// `a < b <= c`: each operand is computed once.
    Compare(Box<Expr>, Vec<(Compare, Expr)>),
    /// `then if condition else other`.
    If {
        /// Decides.
        condition: Box<Expr>,
        /// The value where the condition is true.
        then: Box<Expr>,
        /// The value where it is false.
        other: Box<Expr>,
    },
    /// A call of one of the known functions.
    Call(Function, Vec<Expr>),
    /// `list[position]`; negative positions count from the end.
    Index(Box<Expr>, Box<Expr>),
    /// `[element for variable in source if filter]`
    Each {
        /// Computed for each value that passes the filter.
        element: Box<Expr>,
        /// Name of the variable.
        variable: String,
        /// The list that the variable goes through.
        source: Box<Expr>,
        /// A condition; `None`: all values pass.
        filter: Option<Box<Expr>>,
    },
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-a`.
    Minus,
    /// `+a`.
    Plus,
    /// `~a`.
    Invert,
    /// `not a`.
    Not,
}

/// Operations on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, a real.
    Div,
    /// `a // b`, rounded down.
    FloorDiv,
    /// `a % b`, with the sign of `b`.
    Mod,
    /// `a ** b`.
    Pow,
    /// `a & b`.
    BitAnd,
    /// `a | b`.
    BitOr,
    /// `a ^ b`.
    BitXor,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a in list`.
    In,
    /// `a not in list`.
    NotIn,
}

/// Functions that can be called, with their names; `math.` before those of that module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `min`.
    Min,
    /// `max`.
    Max,
    /// `abs`.
    Abs,
    /// `len`.
    Len,
    /// `sum`.
    Sum,
    /// `any`.
    Any,
    /// `all`.
    All,
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `bool`.
    Bool,
    /// `round`.
    Round,
    /// `pow`.
    Pow,
    /// `math.ceil`, `ceil`.
    Ceil,
    /// `math.floor`, `floor`.
    Floor,
    /// `math.sqrt`, `sqrt`.
    Sqrt,
    /// `math.log2`, `log2`.
    Log2,
    /// `range`.
    Range,
    /// `list`, `tuple`.
    List,
}

impl Function {
    const NAMES: [(&'static str, Function); 23] = [
        ("min", Function::Min),
        ("max", Function::Max),
        ("abs", Function::Abs),
        ("len", Function::Len),
        ("sum", Function::Sum),
        ("any", Function::Any),
        ("all", Function::All),
        ("int", Function::Int),
        ("float", Function::Float),
        ("bool", Function::Bool),
        ("round", Function::Round),
        ("pow", Function::Pow),
        ("range", Function::Range),
        ("list", Function::List),
        ("tuple", Function::List),
        ("math.ceil", Function::Ceil),
        ("math.floor", Function::Floor),
        ("math.sqrt", Function::Sqrt),
        ("math.log2", Function::Log2),
        ("ceil", Function::Ceil),
        ("floor", Function::Floor),
        ("sqrt", Function::Sqrt),
        ("log2", Function::Log2),
    ];

    fn named(name: &str) -> Option<Function> {
        Function::NAMES.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }
}

/// What a name stands for.
pub enum Meaning {
    /// The value at this position of the array given to [`Expr::eval`].
    Slot(usize),
    /// This value, whatever the configuration.
    Const(Value),
}

/// Why a text is no expression that can be computed, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprError {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
}

impl ExprError {
    /// As a message about a file in which the expression starts at byte `start`.
    pub fn diagnostic(&self, file: FileId, start: u32) -> Diagnostic {
        let offset = |x: usize| start.saturating_add(u32::try_from(x).unwrap_or(u32::MAX));
        let span = Span { file, start: offset(self.span.start), end: offset(self.span.end) };
        let d = Diagnostic::error("W400", "this expression is not understood")
            .label(span, self.message.as_str());
        match &self.help {
            Some(help) => d.help(help.as_str()),
            None => d,
        }
    }
}

impl Expr {
    /// Parses a text.
    ///
    /// # Errors
    /// The first place that is not in the grammar.
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        parse::parse(text)
    }

    /// Names that stand for values, each once, in order of appearance.
    pub fn names(&self) -> Vec<&str> {
        fn collect<'a>(expr: &'a Expr, names: &mut Vec<&'a str>) {
            if let Kind::Name(name) = &expr.kind
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
            expr.children(&mut |child| collect(child, names));
        }
        let mut names = vec![];
        collect(self, &mut names);
        names
    }

    /// Positions of values that it reads, each once, ascending.
    pub fn slots(&self) -> Vec<usize> {
        fn collect(expr: &Expr, slots: &mut Vec<usize>) {
            if let Kind::Slot(slot) = expr.kind {
                slots.push(slot);
            }
            expr.children(&mut |child| collect(child, slots));
        }
        let mut slots = vec![];
        collect(self, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Replaces names by what they stand for.
    ///
    /// # Errors
    /// The first name without a meaning.
    pub fn bind(mut self, meaning: &dyn Fn(&str) -> Option<Meaning>) -> Result<Expr, ExprError> {
        let mut unknown = None;
        self.rewrite(&mut |expr| {
            let Kind::Name(name) = &expr.kind else { return };
            match meaning(name) {
                Some(Meaning::Slot(slot)) => expr.kind = Kind::Slot(slot),
                Some(Meaning::Const(value)) => expr.kind = Kind::Const(value),
                None => {
                    let message = format!("`{name}` is no parameter");
                    let error = ExprError { span: expr.span.clone(), message, help: None };
                    unknown.get_or_insert(error);
                }
            }
        });
        unknown.map_or(Ok(self), Err)
    }

    /// The parts of a condition that must all hold: operands of `and` and links of chained comparisons.
    pub fn conjuncts(&self) -> Vec<Expr> {
        match &self.kind {
            Kind::And(items) => items.iter().flat_map(Expr::conjuncts).collect(),
            Kind::Compare(first, rest) => {
                let mut left = first.as_ref();
                let mut links = vec![];
                for (op, right) in rest {
                    let span = left.span.start..right.span.end;
                    let kind = Kind::Compare(Box::new(left.clone()), vec![(*op, right.clone())]);
                    links.push(Expr { kind, span });
                    left = right;
                }
                links
            }
            _ => vec![self.clone()],
        }
    }

    /// Visits the operands.
    fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            Kind::Const(_) | Kind::Name(_) | Kind::Local(_) | Kind::Slot(_) => {}
            Kind::List(items) | Kind::And(items) | Kind::Or(items) | Kind::Call(_, items) => {
                items.iter().for_each(visit);
            }
            Kind::Unary(_, x) => visit(x),
            Kind::Binary(_, x, y) | Kind::Index(x, y) => [x, y].into_iter().for_each(|e| visit(e)),
            Kind::Compare(first, rest) => {
                visit(first);
                rest.iter().for_each(|(_, x)| visit(x));
            }
            Kind::If { condition, then, other } => {
                [condition, then, other].into_iter().for_each(|e| visit(e));
            }
            Kind::Each { element, source, filter, .. } => {
                [source, element].into_iter().chain(filter).for_each(|e| visit(e));
            }
        }
    }

    /// Visits the expression and all its parts, from the outside in, to change them.
    fn rewrite(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        match &mut self.kind {
            Kind::Const(_) | Kind::Name(_) | Kind::Local(_) | Kind::Slot(_) => {}
            Kind::List(items) | Kind::And(items) | Kind::Or(items) | Kind::Call(_, items) => {
                items.iter_mut().for_each(|x| x.rewrite(visit));
            }
            Kind::Unary(_, x) => x.rewrite(visit),
            Kind::Binary(_, x, y) | Kind::Index(x, y) => {
                [x, y].into_iter().for_each(|e| e.rewrite(visit));
            }
            Kind::Compare(first, rest) => {
                first.rewrite(visit);
                rest.iter_mut().for_each(|(_, x)| x.rewrite(visit));
            }
            Kind::If { condition, then, other } => {
                [condition, then, other].into_iter().for_each(|e| e.rewrite(visit));
            }
            Kind::Each { element, source, filter, .. } => {
                [source, element].into_iter().chain(filter).for_each(|e| e.rewrite(visit));
            }
        }
    }
}

#[cfg(test)]
mod tests;
