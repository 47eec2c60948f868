//! Strip loops around where a walk through a nest stands.

use std::collections::BTreeMap;

use warpsmith_ir::{Expr, LoopId, Stmt, VarId};

/// What is known of the strip loops around.
#[derive(Default)]
pub(crate) struct Strips {
    /// The variable that counts from the start of the strip.
    pub starts: BTreeMap<LoopId, VarId>,
    /// The iteration of the strip that reads are for, where it is not that of the counter.
    pub offsets: BTreeMap<LoopId, Expr>,
    /// Which strip is meant, where several of them are in shared memory.
    pub slots: BTreeMap<LoopId, Expr>,
    /// The strip loop whose body the walk stands in, where it reads one iteration ahead.
    pub ahead: Option<Ahead>,
}

/// A strip loop that reads from shared memory one iteration ahead.
pub(crate) struct Ahead {
    pub id: LoopId,
    /// Its counter in the strip, and the iterations of a strip.
    pub counter: Expr,
    pub length: Expr,
    /// What is to be done before the loop.
    pub first: Vec<Stmt>,
}
