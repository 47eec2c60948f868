//! Random race-free kernels: nothing is found in them, and something is without one of their barriers.
//! The comparison with C is the property test `random_kernels` of the command's crate.

use crate::emulate;
use warpsmith_emu::Options;
use warpsmith_testgen::cuda_kernel;

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let kernel = cuda_kernel(bytes, "reference");
    let found = findings(&kernel.cuda);
    assert!(found.is_empty(), "{found:?}\n{}", kernel.cuda);
    let barriers = kernel.barriers();
    if barriers > 0 {
        let racy = kernel.without_barrier(bytes.len() % barriers);
        assert!(!findings(&racy).is_empty(), "nothing found in\n{racy}");
    }
}

/// The messages of all findings but notes; none when a limit stops the run before its end.
fn findings(text: &str) -> Vec<String> {
    let options = Options { jobs: 1, ..Options::default() };
    let outcomes = emulate(text.as_bytes(), &options)
        .unwrap_or_else(|e| panic!("{:?}\n{text}", e.diagnostics));
    let found = outcomes.iter().flat_map(|o| &o.findings);
    found.filter(|f| !f.rule.is_note()).map(|f| f.message.clone()).collect()
}
