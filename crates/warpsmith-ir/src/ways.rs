//! The ways that control takes where it divides: which of them a run has gone.

use crate::span::Span;

/// One way out of a place where control divides: an `if`, a loop, a conditional expression, a `switch`.
///
/// The place is named by its span, so that the copies of a function that is called from several places count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Way {
    /// The place where control divides, or the first statement of a `case`.
    pub span: Span,
    /// The way that was taken.
    pub turn: Turn,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// The condition held: the first arm, or a loop's body.
    Yes,
    /// It did not: the other arm, or past the loop.
    No,
    /// It held once more, in a loop that goes on in strides of the whole grid.
    Again,
    /// A case of a `switch`, named by its first statement; named by the `switch`: past all of them.
    Case,
}
