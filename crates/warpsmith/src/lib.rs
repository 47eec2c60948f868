//! warpsmith turns C loop nests and CUDA kernels into fast, readable, verified CUDA C.
//!
//! This crate is the command and the library facade over the parts: [`check`] runs CUDA kernels in
//! the emulator and reports what is wrong with them ([`check::CheckRequest`]), [`tune`] turns a C loop nest into a verified
//! CUDA kernel ([`tune::TuneRequest`]), [`fuse`] makes kernels of sequences of elementary functions, [`doctor`] says what
//! the machine has. The parts themselves are re-exported under their short names.

pub mod allocator;
pub mod check;
pub mod clean;
pub mod cli;
pub mod doctor;
pub mod fuse;
pub mod ladder;
pub mod problem;
pub mod report;
pub mod results;
pub mod stage;
pub mod terminal;
pub mod tune;
pub mod worker;
mod wrong_file;

pub use warpsmith_translate::{data, output, profile, search, status};
use warpsmith_translate::{diff, interrupt, progress};

pub use warpsmith_device as device;
pub use warpsmith_emit as emit;
pub use warpsmith_emu as emu;
pub use warpsmith_front as front;
pub use warpsmith_fuse as fusion;
pub use warpsmith_gpu as gpu;
pub use warpsmith_ir as ir;
pub use warpsmith_opt as opt;

/// The page about the library, whose example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
