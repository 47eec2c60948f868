//! Constructs that kernels may not use here, each with what to write instead. `docs/refused.md` lists them, with an example
//! of each in `tests/corpus/refused`.

use warpsmith_ir::Span;

use super::model::{Res, error};

/// A construct that is refused, wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Of the diagnostic.
    pub code: &'static str,
    /// The whole message.
    pub says: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

pub(crate) const JUMP_PAST_OBJECTS: Refusal = Refusal {
    code: "W091",
    says: "a jump past objects with a destructor is not supported",
    instead: "leave the block by `break`, `continue` or `return`",
};
pub(crate) const DELETED_ARRAY: Refusal = Refusal {
    code: "W091",
    says: "`delete[]` of objects with a destructor is not supported",
    instead: "end the objects one by one by a method",
};
pub(crate) const ELLIPSIS: Refusal = Refusal {
    code: "W053",
    says: "functions with `...` arguments are not supported",
    instead: "write a template with a parameter pack, `template <typename... A> void f(A... a)`",
};
pub(crate) const GLOBAL_REFERENCE: Refusal = Refusal {
    code: "W095",
    says: "global references are not supported",
    instead: "use the variable itself, or a `__device__` pointer to it",
};
pub(crate) const LAMBDA_IN_ITSELF: Refusal = Refusal {
    code: "W066",
    says: "a lambda calls itself",
    instead: "write a function with a name and its return type",
};
pub(crate) const REFERENCE_FOR_KERNEL: Refusal = Refusal {
    code: "W070",
    says: "a kernel's parameters cannot be references",
    instead: "pass a pointer or a value",
};
pub(crate) const WAITING_FOR_GRIDS: Refusal = Refusal {
    code: "W098",
    says: "a kernel cannot wait for the grids that it launches",
    instead: "CUDA 12 has no such call: launch what needs their results after them, into `cudaStreamTailLaunch`",
};

/// All of them.
pub const REFUSALS: &[Refusal] = &[
    JUMP_PAST_OBJECTS,
    DELETED_ARRAY,
    ELLIPSIS,
    GLOBAL_REFERENCE,
    LAMBDA_IN_ITSELF,
    REFERENCE_FOR_KERNEL,
    WAITING_FOR_GRIDS,
];

pub(crate) fn refuse<T>(refusal: Refusal, span: Span) -> Res<T> {
    Err(error(refusal.code, span, refusal.says).help(refusal.instead).into())
}
