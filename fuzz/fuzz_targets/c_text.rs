//! See `warpsmith_fuzz::targets::c_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpsmith_fuzz::targets::c_text::run(bytes));
