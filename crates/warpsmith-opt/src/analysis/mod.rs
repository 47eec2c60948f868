//! What is known about a loop nest: which elements it touches, and which iterations depend on each other.

pub mod access;
pub mod conflict;
pub mod dependence;
pub mod extremes;
pub mod guards;
mod integer;
pub mod scalars;
pub mod transfers;
pub mod uniformity;
mod witness;
