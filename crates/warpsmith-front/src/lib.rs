//! Front ends of warpsmith: CUDA C++ and C99 loop nests to IR.

#![deny(missing_docs)]

mod arith;
pub mod ast;
mod builtins;
pub mod cloops;
pub mod deep;
mod header_constants;
pub mod join;
mod machine;
pub mod parse;
pub mod pp;
pub mod prelude;
pub mod sema;
pub mod spelling;
