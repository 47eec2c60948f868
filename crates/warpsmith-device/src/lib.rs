//! What a GPU can do: limits of the architectures, occupancy as the vendor computes it, and a predicted time.
//!
//! * [`Architecture`] and [`Gpu`]: limits and rates, each with its source.
//! * [`occupancy()`]: how many blocks of a kernel share a multiprocessor, and what stops the next one.
//! * [`predict()`]: the time of one launch from a [`KernelProfile`], a plain struct of counts.
//! * [`ptxas`]: registers, spills and shared memory from the assembler's log.
//!
//! The crate knows nothing of how a kernel was made: it depends on no other crate, and whoever has counts – from
//! access views or from the emulator's counters – can ask it for a time.

#![deny(missing_docs)]

mod architecture;
mod gpu;
pub mod occupancy;
pub mod predict;
mod profile;
pub mod ptxas;

pub use architecture::{ARCHITECTURES, Architecture, Latencies, Rates};
pub use gpu::{GPUS, Gpu};
pub use occupancy::{BlockShape, Carveout, Limiter, Occupancy, occupancy};
pub use predict::{Bound, CannotLaunch, Part, Prediction, predict};
pub use profile::{
    BankUse, GlobalTraffic, KernelProfile, Parallelism, SharedTraffic, TrafficKind, Work,
    l1_wavefronts, shared_wavefronts,
};
