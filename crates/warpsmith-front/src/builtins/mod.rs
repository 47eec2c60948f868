//! Functions, types and values that CUDA and the standard library predefine.
//!
//! Each file lowers one group of names. A group's `lower` gives `None` for names that are not its own; the first
//! group that knows a name has it.
//!
//! | code | says |
//! |---|---|
//! | W100 | a name that looks like an intrinsic and is none |
//! | W101, W102, W103 | wrong count, wrong type, an argument that must be constant |
//! | W104 | a warp function without `_sync` |
//! | W106 | a rounding mode that is not supported |
//! | W107 | a function that CUDA has and warpsmith does not support |
//! | W108 | a block copy that is too large |
//! | W109 | inline PTX that is not supported |

pub mod asm;
mod async_copy;
mod atomic;
mod barrier;
mod bits;
mod block_copy;
pub mod c_math;
mod call;
mod convert;
pub(crate) mod groups;
mod half;
mod integer;
mod known;
mod math;
pub mod memory;
mod misc;
mod ordered_atomic;
pub mod overloads;
mod shuffle;
mod stdlib;
mod vector;

use warpsmith_ir::{Expr, Span, Value};

use call::Call;

use crate::sema::builtin_api::{
    BuiltinContext, BuiltinResult, BuiltinTemplateArg, BuiltinType, NamedType,
};

/// Lowers a call of the predefined function `name`.
pub fn call(
    name: &str,
    template_args: &[BuiltinTemplateArg],
    args: Vec<Expr>,
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> BuiltinResult {
    let plain = strip_std(name);
    let mut c = Call {
        path: name,
        name: plain,
        is_std: plain.len() < name.len(),
        template_args,
        args,
        span,
        cx,
    };
    const GROUPS: &[fn(&mut Call<'_>) -> Option<call::Lowered>] = &[
        stdlib::lower,
        math::lower,
        integer::lower,
        convert::lower,
        bits::lower,
        half::lower,
        vector::lower,
        atomic::lower,
        ordered_atomic::lower,
        shuffle::lower,
        barrier::lower,
        memory::lower,
        async_copy::lower,
        misc::lower,
        groups::lower,
    ];
    GROUPS.iter().find_map(|group| group(&mut c)).or_else(|| known::refuse(&c))
}

/// Whether the function is predefined in namespace `std` only.
pub fn is_of_standard_library(name: &str) -> bool {
    stdlib::names().any(|n| n == name)
}

/// The name without `std::`, `cuda::std::` or a leading `::`.
fn strip_std(name: &str) -> &str {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.strip_prefix("cuda::std::").or_else(|| name.strip_prefix("std::")).unwrap_or(name)
}

/// Lowers `receiver.name(args)` for an object of a library type.
pub fn method(
    object: &BuiltinType,
    receiver: Expr,
    name: &str,
    template_args: &[BuiltinTemplateArg],
    args: Vec<Expr>,
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> BuiltinResult {
    let path = format!("{}::{name}", object.name);
    let mut c = Call { path: &path, name, is_std: false, template_args, args, span, cx };
    groups::method(&mut c, object, receiver)
}

/// The library type of that name.
pub fn type_named(path: &str, template_args: &[BuiltinTemplateArg]) -> Option<NamedType> {
    groups::type_named(path, template_args).map(NamedType::Object)
}

/// A predefined value that is no macro of the source, for example `INFINITY`.
pub fn constant(path: &str, template_args: &[BuiltinTemplateArg]) -> Option<Value> {
    stdlib::constant(strip_std(path), template_args)
}
