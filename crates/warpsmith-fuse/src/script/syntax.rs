//! The script as written.

use warpsmith_ir::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
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
    /// How elements lie in memory.
    pub layout: Layout,
    /// The type of the elements.
    pub ty: Name,
    /// What is declared.
    pub names: Vec<Name>,
}

/// A whole script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Declarations of variables.
    pub declarations: Vec<Declaration>,
    /// What the caller gives.
    pub inputs: Vec<Name>,
    /// Statements, in order.
    pub body: Vec<Statement>,
    /// What the caller gets.
    pub outputs: Vec<Name>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `y = f(x, …);`
    Call(CallStatement),
    /// A loop over a range.
    For(ForStatement),
}

/// `target = function(arguments);`
#[derive(Clone, Debug, PartialEq)]
pub struct CallStatement {
    /// What is assigned.
    pub target: Name,
    /// What is called.
    pub function: Name,
    /// What it is given.
    pub arguments: Vec<Name>,
    /// Where the statement stands.
    pub span: Span,
}

/// `for (counter = first; counter < limit; counter++) { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct ForStatement {
    /// What counts.
    pub counter: Name,
    /// Where it begins.
    pub first: Bound,
    /// The first number that is not reached.
    pub limit: Bound,
    /// What is repeated.
    pub body: Vec<Statement>,
    /// From `for` to the closing parenthesis.
    pub span: Span,
}

/// The limit of a loop: numbers and counters of outer loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A number.
    Number(i64, Span),
    /// The counter of a loop around.
    Counter(Name),
    /// `a + b`
    Sum(Box<Bound>, Box<Bound>),
    /// `a - b`
    Difference(Box<Bound>, Box<Bound>),
    /// `a * b`
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
