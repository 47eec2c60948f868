//! Front ends of warpsmith: CUDA C++ and C99 loop nests to IR.

pub mod ast;
pub mod builtins;
pub mod cloops;
pub mod parse;
pub mod pp;
pub mod sema;
mod spelling;
