//! A kernel of the corpus with small damage in the emulator: an end within the limits, and findings and printed text
//! that do not depend on the number of workers.

use std::sync::LazyLock;

use crate::{emulate, kernels, pick};
use warpsmith_emu::{Finding, Options};
use warpsmith_testgen::mutate_source;

static KERNELS: LazyLock<Vec<String>> = LazyLock::new(kernels);

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let Some((kernel, donor, rest)) = pick(&KERNELS, bytes) else { return };
    let source = mutate_source(kernel, donor, rest);
    let one = results(&source, 1);
    let two = results(&source, 2);
    assert_eq!(one, two, "{}", String::from_utf8_lossy(&source));
}

/// Findings and what was printed; `None` when a launch reached a limit, which ends workers at different places.
fn results(source: &[u8], jobs: usize) -> Option<Vec<(Vec<Finding>, String)>> {
    let options = Options { jobs, parallel_from: 0, ..Options::default() };
    let outcomes = emulate(source, &options).ok()?;
    let whole = |o: warpsmith_emu::Outcome| o.limit.is_none().then_some((o.findings, o.printed));
    outcomes.into_iter().map(whole).collect()
}
