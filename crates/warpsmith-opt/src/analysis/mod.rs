//! What is known about a loop nest: which elements it touches, and which iterations depend on each other.

pub mod access;
pub mod atomics;
pub mod calls;
pub mod conflict;
pub mod contributions;
pub mod dependence;
pub mod extents;
pub mod extremes;
pub mod guards;
mod integer;
mod powers;
pub mod scalars;
pub mod transfers;
pub mod uniformity;
pub mod values;
mod witness;
