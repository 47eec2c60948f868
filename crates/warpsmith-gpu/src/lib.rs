//! GPUs at run time: the driver and NVRTC are loaded when they are needed, and work on a device happens in worker
//! processes, so that a kernel that faults or hangs costs one candidate.
//!
//! This crate gets texts, launch shapes and buffers; how a kernel was made it does not know.

#![deny(missing_docs)]

pub mod backend;
pub mod bench;
pub mod cache;
pub mod client;
pub mod cubin;
mod cublas;
pub mod driver;
pub mod error;
pub mod nvrtc;
pub mod places;
pub mod protocol;
mod std_headers;
pub mod stop;
pub mod worker;

pub use error::GpuError;
