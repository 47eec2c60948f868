//! See `warpsmith_fuzz::targets::random_schedules`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: warpsmith_fuzz::without_host_compiler(), |bytes: &[u8]| warpsmith_fuzz::targets::random_schedules::run(bytes));
