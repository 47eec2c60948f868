//! Search of configurations: spaces with constraints, strategies, the store of results, and the files of other tuners.
//!
//! The crate knows nothing of CUDA. What a configuration is worth, a [`Runner`](outcome::Runner) says; the
//! [`Tuner`](tuner::Tuner) decides which one to try next.

#![deny(missing_docs)]

pub mod exchange;
pub mod expr;
pub mod model;
pub mod outcome;
pub mod replay;
pub mod rng;
pub mod space;
pub mod store;
pub mod strategy;
pub mod tuner;
pub mod value;
