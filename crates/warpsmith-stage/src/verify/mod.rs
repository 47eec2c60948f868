//! What is right about a rewritten text: emulation at launches that no search has seen, and barriers.

pub mod barriers;
pub mod check;
pub mod proof;
