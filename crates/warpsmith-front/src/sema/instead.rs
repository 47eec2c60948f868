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
    ("`try`", "write its body alone: nothing is thrown in kernels"),
    ("`alignof` of an expression", "write `alignof(decltype(e))`"),
    ("an index with several parts", "write `operator()`, which takes several before C++23"),
    ("the user-defined literal", "write the number, and call what makes the type of it"),
    ("`new` with values in braces", "assign them after `new`"),
    ("a jump out of an expression", "write an `inline` function and return from it"),
    ("the operator", "write it with the operators of C++20 that have a meaning for numbers"),
    ("deep nesting", "give the inner parts names"),
];

/// Where nothing better is known.
const ANYTHING: &str = "write it another way, or take it out of what kernels use";

/// Advice for a name as it is written.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(start, _)| name.starts_with(start)).map(|(_, advice)| *advice)
}

/// The error about a construct that the grammar reads and nothing else here does.
pub(crate) fn unsupported(what: &str, span: Span) -> Failure {
    let d = error("W053", span, format!("{what}: not supported here"));
    d.help(instead(what).unwrap_or(ANYTHING)).into()
}

/// The error about an operator without a meaning here.
pub(crate) fn unsupported_operator(op: &str, span: Span) -> Failure {
    let what = format!("the operator `{op}`");
    let d = error("W053", span, format!("{what} is not supported"));
    d.help(instead(&what).unwrap_or(ANYTHING)).into()
}
