//! An example with small damage through all of `tune`, without a host compiler: refused, or a right kernel.

use std::sync::LazyLock;

use crate::{pick, texts, tuned};
use warpsmith_testgen::mutate_source;

static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| texts(&["examples"], "c"));

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let Some((example, donor, rest)) = pick(&EXAMPLES, bytes) else { return };
    tuned(&mutate_source(example, donor, rest), None, &[]);
}
