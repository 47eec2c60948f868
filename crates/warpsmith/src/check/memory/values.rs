//! Numbers of a launch: scalars, vectors and structures that are passed by value.

use std::collections::HashMap;

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Scalar, Type, Value, Var};

use super::ArgContext;
use crate::data::{self, ArgSpec};
use crate::status::Failure;

/// Values of the integer arguments, for extents such as `float[n][n]`.
pub(super) fn scalar_arguments(cx: &ArgContext<'_>) -> Result<HashMap<String, i128>, Failure> {
    let function = cx.module.function(cx.kernel);
    let mut values = HashMap::new();
    for param in &function.params {
        let var = function.var(*param);
        let Some(scalar) = var.ty.scalar().filter(|s| s.is_integer()) else { continue };
        let text = match (cx.args.spec(&var.name), tried(cx, scalar)) {
            (Some(ArgSpec::Number(text)), _) => text.as_str(),
            (None, Some(text)) => text,
            _ => continue,
        };
        let value = data::parse_scalar(text, scalar).map_err(|why| {
            cx.error(format!("argument `{}`: {why}", var.name)).help(number_help(scalar))
        })?;
        let wide =
            if scalar == Scalar::U64 { i128::from(value.bits) } else { i128::from(value.as_i64()) };
        values.insert(var.name.clone(), wide);
    }
    Ok(values)
}

/// Every number that a launch needs and nobody gives, named at once.
pub(super) fn all_given(cx: &ArgContext<'_>) -> Result<(), Failure> {
    let function = cx.module.function(cx.kernel);
    let vars = function.params.iter().map(|p| function.var(*p));
    let missing: Vec<&str> = vars
        .filter(|v| v.ty.scalar().is_some() || matches!(v.ty, Type::Vector(..)))
        .filter(|v| cx.args.spec(&v.name).is_none() && cx.tried.scalar.is_none())
        .filter(|v| cx.texture(&v.name).is_none())
        .map(|v| v.name.as_str())
        .collect();
    let names: Vec<String> = missing.iter().map(|n| format!("`{n}`")).collect();
    let message = match names.as_slice() {
        [] => return Ok(()),
        [only] => format!("scalar argument {only} has no value"),
        several => format!("scalar arguments {} have no value", several.join(", ")),
    };
    let options: Vec<String> = missing.iter().map(|n| format!("--arg {n}=256")).collect();
    let help = format!("add {}, or --scalars 1,255,256", options.join(" "));
    Err(cx.error(message).help(help).into())
}

/// The value that `--scalars` tries for a parameter; where it does not fit the type, the first one that does, or `true`.
fn tried<'t>(cx: &'t ArgContext<'_>, ty: Scalar) -> Option<&'t str> {
    let wanted = cx.tried.scalar?;
    if data::parse_scalar(wanted, Scalar::F64).is_err() {
        // No number at all: that is said where it is read.
        return Some(wanted);
    }
    let fits = |text: &&str| data::parse_scalar(text, ty).is_ok();
    let others = cx.args.scalars.iter().map(String::as_str);
    // As in C++, a number that is not 0 is true.
    let otherwise = if ty == Scalar::Bool { "true" } else { wanted };
    std::iter::once(wanted).chain(others).find(fits).or(Some(otherwise))
}

/// What is tried for a parameter, of a vector or structure for each of its numbers.
fn tried_parts(cx: &ArgContext<'_>, ty: &Type) -> Option<ArgSpec> {
    if points_to_functions(cx.module, ty) {
        return None;
    }
    let numbers = data::scalars_of(cx.module, ty, 0).into_iter();
    let parts = numbers.map(|(_, s)| Some(ArgSpec::Number(tried(cx, s)?.to_string())));
    parts.collect::<Option<_>>().map(ArgSpec::Parts)
}

/// Whether it is a pointer to functions, or a structure with one: a number does not name a function.
fn points_to_functions(module: &Module, ty: &Type) -> bool {
    let Type::Struct(id) = ty else { return false };
    module.structs.get(id.0 as usize).is_some_and(|s| {
        s.name.contains("(*)") || s.fields.iter().any(|f| points_to_functions(module, &f.ty))
    })
}

/// The bytes of a parameter passed by value.
pub(super) fn by_value(cx: &ArgContext<'_>, var: &Var, ty: &Type) -> Result<Vec<u8>, Failure> {
    let spec = match (cx.args.spec(&var.name), tried_parts(cx, ty)) {
        (Some(spec), _) => spec.clone(),
        (None, Some(parts)) => parts,
        _ => {
            let error = cx.error(format!("scalar argument `{}` has no value", var.name));
            return Err(error
                .help(format!("add --arg {}=256, or --scalars 1,255,256", var.name))
                .into());
        }
    };
    value_bytes(cx, &var.name, ty, &spec)
}

/// The bytes of a value that is given as numbers.
pub(super) fn value_bytes(
    cx: &ArgContext<'_>,
    name: &str,
    ty: &Type,
    spec: &ArgSpec,
) -> Result<Vec<u8>, Failure> {
    let wrong = |why: String| cx.error(format!("argument `{name}`: {why}"));
    let mut bytes = vec![0u8; layout_of(cx.module, ty).size as usize];
    let slots = data::scalars_of(cx.module, ty, 0);
    let mut numbers = vec![];
    flatten(spec, &mut numbers).map_err(|why| {
        let example = if slots.len() == 1 { "1".to_string() } else { "{1, 2.5, 3}".to_string() };
        wrong(why).help(format!("write {name}={example}"))
    })?;
    if numbers.len() != slots.len() {
        let message =
            format!("argument `{name}` has {} values, not {}", slots.len(), numbers.len());
        return Err(cx
            .error(message)
            .help("write the parts of a struct or vector as {1, 2.5, 3}")
            .into());
    }
    for ((offset, scalar), text) in slots.into_iter().zip(numbers) {
        let value: Value = data::parse_scalar(&text, scalar)
            .map_err(|why| wrong(why).help(number_help(scalar)))?;
        let at = offset as usize;
        bytes[at..at + scalar.bytes() as usize].copy_from_slice(&data::scalar_bytes(value));
    }
    Ok(bytes)
}

/// How a number of that type is written.
fn number_help(scalar: Scalar) -> String {
    let example = match scalar {
        Scalar::Bool => "true or false",
        s if s.is_float() => "a number such as 1.5 or 2e-3",
        _ => "a whole number such as 256 or 0xff",
    };
    format!("its type is {scalar}: write {example}")
}

fn flatten(spec: &ArgSpec, into: &mut Vec<String>) -> Result<(), String> {
    match spec {
        ArgSpec::Number(text) => into.push(text.clone()),
        ArgSpec::Parts(parts) => {
            for part in parts {
                flatten(part, into)?;
            }
        }
        ArgSpec::Function(_) => return Err("it is no pointer to a function".to_string()),
        ArgSpec::Array { .. } | ArgSpec::Init(_) => {
            return Err("it is passed by value; give a number".to_string());
        }
    }
    Ok(())
}
