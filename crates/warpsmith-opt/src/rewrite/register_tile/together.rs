//! Atomic updates of a thread's iterations that come together in a variable.

use std::collections::BTreeSet;

use warpsmith_ir::VarId;

/// What a nest updates atomically.
pub(crate) struct Together {
    /// It does so at all.
    pub any: bool,
    /// Variables in which a thread's updates of an element come together.
    pub parts: BTreeSet<VarId>,
}
