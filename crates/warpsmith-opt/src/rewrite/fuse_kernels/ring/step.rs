//! What both nests are made of in a step.

use warpsmith_ir::VarId;

use super::Ring;
use super::around::Planes;
use super::parts::Parts;

/// What stands for both nests.
pub(super) struct Step<'l> {
    pub ring: &'l Ring,
    /// What the first nest reads, and what it computes.
    pub input: Planes,
    pub between: Planes,
    pub source: Source,
    /// What the first nest does not compute of what the second one reads.
    pub left: Option<Left>,
    /// The elements that a nest may be run for; `None`: for all, since it only calculates.
    pub computes: Option<Parts>,
    pub finishes_freely: bool,
    /// The elements of both nests that the thread stores.
    pub keeps: Option<Parts>,
    pub stores: Parts,
    pub results: Option<Results>,
}

/// Where a thread's part of each plane comes from.
pub(super) struct Source {
    /// The column, and the numbers of its rows' first elements.
    pub column: VarId,
    pub rows: Option<VarId>,
}

/// Elements that the second nest reads and the first one does not compute.
pub(super) struct Left {
    /// A bit for each element of the thread: in planes that the first nest has iterations in, and in others.
    pub beside: VarId,
    pub all: VarId,
    /// Of the plane at hand.
    pub now: VarId,
}

/// Where the second nest stores one element at its end: results are collected, and stored row by row.
pub(super) struct Results {
    pub var: VarId,
    /// Stores of whole vectors lie at multiples of their length.
    pub vectors: bool,
    /// The thread's vectors of rows are whole.
    pub whole: VarId,
    /// Elements in no iteration are those of the input, plane by plane: the second nest writes there and back.
    pub kept: Option<Parts>,
}
