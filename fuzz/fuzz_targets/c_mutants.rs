//! An example with small damage through all of `tune`, without a host compiler: refused, or a right kernel.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use warpsmith_fuzz::{pick, texts, tuned, without_host_compiler};
use warpsmith_testgen::mutate_source;

static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| texts(&["examples"], "c"));

fuzz_target!(init: without_host_compiler(), |bytes: &[u8]| {
    let Some((example, donor, rest)) = pick(&EXAMPLES, bytes) else { return };
    tuned(&mutate_source(example, donor, rest), None, &[]);
});
