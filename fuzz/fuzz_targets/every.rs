//! All targets in one program, for a machine that has nothing but it: `WARPSMITH_FUZZ_TARGET` names the one to run, and
//! `WARPSMITH_ROOT` a folder with the repository's `examples` and `tests`.
#![no_main]

use std::sync::LazyLock;

use warpsmith_fuzz::targets::{ALL, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("WARPSMITH_FUZZ_TARGET").unwrap_or_default();
    let found = ALL.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("WARPSMITH_FUZZ_TARGET=`{name}` names no target")).1
});

libfuzzer_sys::fuzz_target!(init: warpsmith_fuzz::without_host_compiler(), |bytes: &[u8]| TARGET(bytes));
