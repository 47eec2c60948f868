//! A kernel of the corpus with small damage: what still has a meaning prints, and is read again.

use std::sync::LazyLock;

use crate::{is_read_again, kernels, pick, read_cuda};
use warpsmith_testgen::mutate_source;

static KERNELS: LazyLock<Vec<String>> = LazyLock::new(kernels);

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let Some((kernel, donor, rest)) = pick(&KERNELS, bytes) else { return };
    let source = mutate_source(kernel, donor, rest);
    if let Some(module) = read_cuda(&source) {
        is_read_again(&module);
    }
}
