//! Constructs that kernels may not use here, each with what to write instead. `docs/refused.md` lists them, with an example
//! of each in `tests/corpus/refused`.

use warpsmith_ir::{Diagnostic, Span};

use super::model::{Res, error};

/// A construct that is refused, wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Of the diagnostic.
    pub code: &'static str,
    /// The whole message; `{}` stands for what was written.
    pub says: &'static str,
    /// What to write instead; `{}` as in the message.
    pub instead: &'static str,
}

impl Refusal {
    /// The diagnostic at a place that has the name `label`, about what was written there.
    pub(crate) fn of(&self, written: &str, span: Span, label: &str) -> Diagnostic {
        Diagnostic::error(self.code, self.says.replace("{}", written))
            .label(span, label)
            .help(self.instead.replace("{}", written))
    }
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
pub(crate) const MEMBER_POINTER: Refusal = Refusal {
    code: "W053",
    says: "this pointer to a member is not supported",
    instead: "pointers to data members are; name a function: in a function object that is passed, or in a `switch` over numbers",
};
pub(crate) const WIDE: Refusal = Refusal {
    code: "W053",
    says: "integers of 128 bits are not supported",
    instead: "hold the halves in two `unsigned long long`: `a * b` and `__umul64hi(a, b)` are those of a product, `low < a` is \
              the carry of `low = a + b`",
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

pub(crate) const PTX: Refusal = Refusal {
    code: "W109",
    says: "this PTX is not supported: `{}`",
    instead: "supported are special registers, integer and float arithmetic, ld, st, atom, red, cp.async, mma.sync, \
              mbarrier, barriers, fences, votes and shuffles",
};
pub(crate) const PTX_OF_MATRICES: Refusal = Refusal {
    instead: "of the matrix instructions, ldmatrix and mma.sync of f16, bf16, tf32, s8, u8 and f64 are known, without sparsity",
    ..PTX
};
pub(crate) const PTX_OF_TENSOR_MAPS: Refusal = Refusal {
    instead: "copies by tensor maps are not emulated; `cp.async.bulk` of a range of bytes is",
    ..PTX
};
pub(crate) const WARP_WITHOUT_MASK: Refusal = Refusal {
    code: "W104",
    says: "`{}` was removed from CUDA: it does not say which lanes take part",
    instead: "use `{}_sync`, whose first argument is the mask, 0xffffffff for a whole warp",
};
pub(crate) const UNKNOWN_LIBRARY: Refusal = Refusal {
    code: "W107",
    says: "`{}` is not supported",
    instead: "write it with the functions that are, or take it out of the kernel",
};
pub(crate) const SPACE_OF_ANY_POINTER: Refusal = Refusal {
    code: "W107",
    says: "`{}` of a pointer that may point anywhere is not supported",
    instead: "ask for the pointer's origin where it is made",
};
pub(crate) const PARTITION: Refusal = Refusal {
    code: "W107",
    says: "this partition is not supported",
    instead: "tiles of 1, 2, 4, 8, 16 or 32 threads of a block or a larger tile are",
};
pub(crate) const REDUCTION_OF_BLOCKS: Refusal = Refusal {
    code: "W107",
    says: "`reduce` is supported for tiles of a warp and coalesced groups",
    instead: "make a tile: `tiled_partition<32>(block)`",
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
    PTX,
    PTX_OF_MATRICES,
    PTX_OF_TENSOR_MAPS,
    WARP_WITHOUT_MASK,
    UNKNOWN_LIBRARY,
    MEMBER_POINTER,
    WIDE,
    SPACE_OF_ANY_POINTER,
    PARTITION,
    REDUCTION_OF_BLOCKS,
];

pub(crate) fn refuse<T>(refusal: Refusal, span: Span) -> Res<T> {
    Err(error(refusal.code, span, refusal.says).help(refusal.instead).into())
}
