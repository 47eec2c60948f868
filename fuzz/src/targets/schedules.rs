//! The schedule of an example with small damage: refused, or a right kernel.

use std::sync::LazyLock;

use crate::{pick, read_c, texts, tuned};
use warpsmith_ir::SourceMap;
use warpsmith_opt::{Kernel, schedule};
use warpsmith_testgen::mutate_source;

/// Examples and their schedules.
static EXAMPLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let with_steps = |source: String| {
        let mut sources = SourceMap::new();
        let input = read_c(source.as_bytes(), &mut sources)?;
        let kernel = Kernel::new(input.module, input.function);
        let steps = schedule::derive(&kernel, &sources).ok()?;
        Some((source, steps.print()))
    };
    texts(&["examples"], "c").into_iter().filter_map(with_steps).collect()
});
static SCHEDULES: LazyLock<Vec<String>> =
    LazyLock::new(|| EXAMPLES.iter().map(|(_, steps)| steps.clone()).collect());

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let Some((steps, donor, rest)) = pick(&SCHEDULES, bytes) else { return };
    let (source, _) = &EXAMPLES[usize::from(bytes[0]) % EXAMPLES.len()];
    let damaged = mutate_source(steps, donor, rest);
    tuned(source.as_bytes(), Some(&damaged), &[]);
}
