//! See `warpsmith_fuzz::targets::c_mutants`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: warpsmith_fuzz::without_host_compiler(), |bytes: &[u8]| warpsmith_fuzz::targets::c_mutants::run(bytes));
