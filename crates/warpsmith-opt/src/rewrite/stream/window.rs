//! A row of a staged array in registers.

use warpsmith_ir::{Place, VarId};

use crate::analysis::footprint::Counter;

/// What a row holds of a staged array, in registers.
pub(crate) struct Window {
    /// The read as the user wrote it.
    pub(crate) place: Place,
    /// Variable: an array with the elements, or the only one.
    pub(crate) var: VarId,
    /// Its counters along the row, with their factors and first values.
    pub(crate) terms: Vec<(Counter, i128)>,
}
