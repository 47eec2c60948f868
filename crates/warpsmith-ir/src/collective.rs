//! What all threads of a block do together, as one statement, until it is written out for each of them.
//!
//! Collective statements stand inside loops bound to the block, and all its threads come to them: never under a condition
//! that some fail. They see each other's earlier stores after a barrier only, and others see theirs after the next one.

use crate::expr::{Axis, BindLevel, Expr, Place, ReduceOp};
use crate::module::VarId;

/// A statement that the threads of a block carry out together.
#[derive(Clone, Debug, PartialEq)]
pub enum Collective {
    /// Sets a box of elements.
    Fill(Fill),
    /// Combines the values of threads.
    Combine(Combine),
}

/// Sets a box of elements: `destination = within ? source : 0` for all values of the counters, in any order and by any
/// thread. Operands have the same values in all threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// Counters and how many values each takes, from 0, outermost first. The statement declares them.
    pub counters: Vec<(VarId, u32)>,
    /// The element to set, a place over the counters.
    pub destination: Place,
    /// Its value, of the element's type.
    pub source: Expr,
    /// Where it does not hold the source is not read.
    pub within: Option<Expr>,
    /// Values of the innermost counter that a thread moves by one access; a power of two.
    pub vector: u32,
    /// The elements arrive when the group that the next `AsyncCommit` closes has been waited for.
    pub asynchronous: bool,
}

/// Gives `value` in every thread what the operation makes of the values of all threads that differ in their position
/// along the given axes only.
#[derive(Clone, Debug, PartialEq)]
pub struct Combine {
    /// The operation, over all those values in any order.
    pub op: ReduceOp,
    /// A scalar variable of each thread: its own value before, the combined one after.
    pub value: VarId,
    /// For a minimum or maximum: a variable that comes along from the thread whose value is taken; of equal values from
    /// the one where it is least.
    pub at: Option<VarId>,
    /// A variable of the same type that is combined with the values of the threads before, in their order: the exclusive
    /// prefix, where it begins at the identity.
    pub before: Option<VarId>,
    /// For sums: a variable of the same type, with which each thread has the map `x -> slope * x + value` for its value. Maps are
    /// applied one after the other, in the order of the threads; `before` is what those of the threads before make of it.
    pub slope: Option<VarId>,
    /// Levels and axes along which threads are combined.
    pub over: Vec<(BindLevel, Axis)>,
}

impl Collective {
    /// The expressions, in order; places aside.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Collective::Fill(fill) => [&fill.source].into_iter().chain(&fill.within).collect(),
            Collective::Combine(_) => vec![],
        }
    }

    /// As [`Collective::operands`], to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Collective::Fill(fill) => {
                [&mut fill.source].into_iter().chain(&mut fill.within).collect()
            }
            Collective::Combine(_) => vec![],
        }
    }

    /// The place that is written through subscripts.
    pub fn written(&self) -> Option<&Place> {
        match self {
            Collective::Fill(fill) => Some(&fill.destination),
            Collective::Combine(_) => None,
        }
    }

    /// Variables that are set: counters, and what is combined.
    pub fn results(&self) -> Vec<VarId> {
        match self {
            Collective::Fill(fill) => fill.counters.iter().map(|(v, _)| *v).collect(),
            Collective::Combine(c) => c.vars().collect(),
        }
    }
}

impl Combine {
    /// The variables of each thread that it reads and sets.
    pub fn vars(&self) -> impl Iterator<Item = VarId> + use<> {
        [self.value].into_iter().chain(self.at).chain(self.before).chain(self.slope)
    }
}
