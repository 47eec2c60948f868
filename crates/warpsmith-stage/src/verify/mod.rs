//! What is right about a rewritten text: emulation at launches that no search has seen, and barriers.

pub(crate) mod barriers;
mod blocks;
pub(crate) mod check;
pub(crate) mod further;
pub(crate) mod passed;
pub mod proof;
mod tiny;
pub(crate) mod unmet;
mod ways;
