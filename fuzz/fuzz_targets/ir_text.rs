//! See `warpsmith_fuzz::targets::ir_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpsmith_fuzz::targets::ir_text::run(bytes));
