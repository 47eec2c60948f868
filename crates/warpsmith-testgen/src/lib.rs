//! Random programs from bytes, shared by the property tests and the fuzz targets.
//!
//! Every generator is a function of a byte string: a fuzzer can steer it, a property test feeds it random
//! bytes, and a failure is reproduced from the bytes alone.

mod c_nest;
mod choice;
mod mutate;

pub use c_nest::c_program;
pub use mutate::mutate_source;
