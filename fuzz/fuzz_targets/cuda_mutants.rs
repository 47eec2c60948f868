//! See `warpsmith_fuzz::targets::cuda_mutants`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpsmith_fuzz::targets::cuda_mutants::run(bytes));
