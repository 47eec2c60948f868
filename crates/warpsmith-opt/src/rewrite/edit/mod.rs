//! What several steps edit with.

pub(super) mod copy;
pub(crate) mod draft;
pub(super) mod implied;
pub(super) mod part_ranges;
pub(super) mod runs;
pub(super) mod slots;
