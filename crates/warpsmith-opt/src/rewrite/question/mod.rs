//! What several steps ask.

pub(super) mod conditions;
pub mod independence;
pub(super) mod swap;
