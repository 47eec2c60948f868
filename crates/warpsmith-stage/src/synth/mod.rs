//! Finding the expressions: subscripts that name a place, and conditions that say where there is one.
//!
//! Everything is decided on the rows of a profile. A candidate is a vector of its values on them, a condition is a set of
//! bits; candidates with equal vectors are one, the simplest.

pub mod bits;
pub mod comparison;
pub mod condition;
pub mod copies;
pub mod cover;
pub mod index;
mod pieces;
pub mod positions;
pub mod reads;
pub mod sides;
pub mod spots;
pub mod sums;
pub mod table;
pub mod term;
