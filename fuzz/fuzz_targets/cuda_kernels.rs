//! See `warpsmith_fuzz::targets::cuda_kernels`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpsmith_fuzz::targets::cuda_kernels::run(bytes));
