//! What rewrites and lowering put together: iteration numbers, guards, vector accesses and operations.

pub mod arithmetic;
pub mod conditions;
pub mod counters;
pub mod operators;
pub mod pairs;
pub mod stmts;
pub mod threads;
pub mod trips;
pub mod vectors;
