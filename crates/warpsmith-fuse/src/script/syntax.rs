//! The script as written.

use warpsmith_ir::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// Where the floats of an element lie in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One after the other: an array of structures.
    #[default]
    Aos,
    /// As many floats apart as there are elements: a structure of arrays.
    Soa,
}

/// `TYPE a, b;` or `soa TYPE a, b;`
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    pub layout: Layout,
    pub ty: Name,
    pub names: Vec<Name>,
}

/// A whole script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub declarations: Vec<Declaration>,
    pub inputs: Vec<Name>,
    pub body: Vec<Statement>,
    pub outputs: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Call(CallStatement),
    For(ForStatement),
}

/// `target = function(arguments);`
#[derive(Clone, Debug, PartialEq)]
pub struct CallStatement {
    pub target: Name,
    pub function: Name,
    pub arguments: Vec<Name>,
    pub span: Span,
}

/// `for (counter = first; counter < limit; counter++) { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct ForStatement {
    pub counter: Name,
    pub first: Bound,
    pub limit: Bound,
    pub body: Vec<Statement>,
    /// From `for` to the closing parenthesis.
    pub span: Span,
}

/// The limit of a loop: numbers and counters of outer loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    Number(i64, Span),
    Counter(Name),
    Sum(Box<Bound>, Box<Bound>),
    Difference(Box<Bound>, Box<Bound>),
    Product(Box<Bound>, Box<Bound>),
}

impl Bound {
    /// All that it is written with.
    pub fn span(&self) -> Span {
        match self {
            Bound::Number(_, span) => *span,
            Bound::Counter(name) => name.span,
            Bound::Sum(a, b) | Bound::Difference(a, b) | Bound::Product(a, b) => {
                a.span().to(b.span())
            }
        }
    }
}
