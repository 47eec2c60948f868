//! Functions, types and values that CUDA and the standard library predefine.

pub mod c_math;

use warpsmith_ir::{Expr, Span, Value};

use crate::sema::builtin_api::{
    BuiltinContext, BuiltinResult, BuiltinTemplateArg, BuiltinType, NamedType,
};

/// Lowers a call of the predefined function `name`.
pub fn call(
    _name: &str,
    _template_args: &[BuiltinTemplateArg],
    _args: Vec<Expr>,
    _span: Span,
    _cx: &mut dyn BuiltinContext,
) -> BuiltinResult {
    None
}

/// Lowers `receiver.name(args)` for an object of a library type.
pub fn method(
    _object: &BuiltinType,
    _receiver: Expr,
    _name: &str,
    _template_args: &[BuiltinTemplateArg],
    _args: Vec<Expr>,
    _span: Span,
    _cx: &mut dyn BuiltinContext,
) -> BuiltinResult {
    None
}

/// The library type of that name.
pub fn type_named(_path: &str, _template_args: &[BuiltinTemplateArg]) -> Option<NamedType> {
    None
}

/// A predefined value that is no macro of the source, for example `INFINITY`.
pub fn constant(_path: &str, _template_args: &[BuiltinTemplateArg]) -> Option<Value> {
    None
}
