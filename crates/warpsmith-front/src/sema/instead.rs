//! What to write instead of names and constructs that are not understood.

use warpsmith_ir::Span;

use super::model::{Failure, error};

/// Beginnings of names, after the namespaces that are often opened, with the advice.
const ADVICE: &[(&str, &str)] = &[
    (
        "cub::",
        "include <cub/cub.cuh>; of it, the primitives of blocks and warps and the common algorithms of devices are known",
    ),
    ("nvcuda::", "write the product with loops over tiles in shared memory"),
    ("wmma::", "include <mma.h>; of it, fragments, loads, stores and `mma_sync` are known"),
    ("`throw`", "report the error through memory, or call `__trap()`"),
    ("__nv_fp8", "include <cuda_fp8.h>"),
];

/// Advice for a name as it is written.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(start, _)| name.starts_with(start)).map(|(_, advice)| *advice)
}

/// The error about a construct that the grammar reads and nothing else here does.
pub(crate) fn unsupported(what: &str, span: Span) -> Failure {
    let d = error("W053", span, format!("{what}: not supported here"));
    match instead(what) {
        Some(advice) => d.help(advice).into(),
        None => d.into(),
    }
}
