//! Semantic lowering: the syntax tree of CUDA C++ or C to the IR.

pub mod builtin_api;
