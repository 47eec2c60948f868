//! Random programs from bytes, shared by the property tests and the fuzz targets.
//!
//! Every generator is a function of a byte string: a fuzzer can steer it, a property test feeds it random
//! bytes, and a failure is reproduced from the bytes alone.

mod c_nest;
mod choice;
mod cores;
mod cuda;
mod looped;
mod mutate;
mod sampled;
mod steps;
mod tunable;

pub use c_nest::c_program;
pub use cores::on_all_cores;
pub use cuda::{CudaKernel, PARAMS, THREADS, c_prelude, cuda_kernel, cuda_threads};
pub use looped::{LoopedScript, looped_script};
pub use mutate::mutate_source;
pub use sampled::sampled;
pub use steps::{Schedulable, StepExample, StepLoop, StepNames, random_schedule};
pub use tunable::{TUNABLE_SIZES, TunableProgram};

/// Bytes that look random, from a number.
#[cfg(test)]
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}
