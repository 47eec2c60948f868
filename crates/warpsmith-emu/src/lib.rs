//! The GPU emulator of warpsmith: runs kernels without a GPU and finds what is wrong with them.
//!
//! A kernel is compiled for one launch to linear register code (`compile`) and executed a block
//! at a time over lane vectors (`engine`).

#![deny(missing_docs)]

pub mod api;
mod compile;
pub mod counters;
mod engine;
mod memory;

pub use api::*;
pub use compile::reachable;
pub use engine::{Emulator, sampled_blocks};
pub use memory::device_pointer;
