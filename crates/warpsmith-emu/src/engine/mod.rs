//! Execution of a compiled kernel: blocks, groups of threads, and what they do.

mod access;
mod arithmetic;
mod atomics;
mod barriers;
mod block;
mod clusters;
mod copies;
mod counting;
mod emulator;
pub mod heap;
mod lanes;
mod launch;
mod named_barriers;
mod order;
mod overflow;
mod parallel;
mod plans;
mod poison;
mod print;
mod races;
mod report;
mod sample;
mod schedule;
mod state;
mod step;
mod targets;
mod undefined;
mod warp;
mod word_loads;

pub use emulator::Emulator;
pub use sample::blocks as sampled_blocks;
