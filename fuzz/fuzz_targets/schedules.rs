//! See `warpsmith_fuzz::targets::schedules`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: warpsmith_fuzz::without_host_compiler(), |bytes: &[u8]| warpsmith_fuzz::targets::schedules::run(bytes));
