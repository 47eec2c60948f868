//! See `warpsmith_fuzz::targets::data_specs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpsmith_fuzz::targets::data_specs::run(bytes));
