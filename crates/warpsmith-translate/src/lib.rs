//! From a marked C loop nest to a verified CUDA kernel.
//!
//! [`tune::tune`] answers a [`tune::TuneRequest`]: it reads a C function, chooses a schedule – by the device model, or by
//! measuring schedules – and gives files only after their text has computed what the function computes. What all commands
//! need for this is here, too: [`search`] measures anything that implements its `Workload` on GPUs, in the emulator, or
//! from recorded results, [`data`] reads the data that users give, [`status`] says how something ended.
//!
//! Nothing here knows of a command line or prints to standard output.

#![deny(missing_docs)]

pub mod data;
pub mod diff;
pub mod elements;
pub mod files;
pub mod interrupt;
pub mod launches;
pub mod output;
pub mod probe;
pub mod profile;
pub mod progress;
pub mod search;
pub mod status;
pub mod tune;
pub mod units;

pub use warpsmith_ir as ir;
