//! Random programs of the loop language through all of `tune`, without a host compiler: all are translated, and the
//! emulated kernels agree with the interpreter. The comparison with C is the property test `random_programs` of the
//! command's crate.

use crate::tuned;
use warpsmith_testgen::c_program;

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let source = c_program(bytes);
    let sizes = [("n", 17), ("m", 9)];
    assert!(tuned(source.as_bytes(), None, &sizes).is_some(), "refused:\n{source}");
}
