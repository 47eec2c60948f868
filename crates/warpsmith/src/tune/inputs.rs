//! Data for one verification point: a value for every scalar, content for every array.

use std::path::Path;

use warpsmith_ir::{Function, Module, Type, Var};

use super::extents;
use super::host_c::ArgBytes;
use super::sizes::Point;
use crate::data::{self, ArgSpec, Init, NamedSpec};

/// Where the content of arguments comes from.
pub struct Sources<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    /// `--arg`.
    pub specs: &'a [NamedSpec],
    pub seed: u64,
    pub max_memory: u64,
}

/// The arguments of the C function at a point.
///
/// Sizes come from the point, other scalars from `--arg` or at random; arrays are random unless `--arg` says otherwise.
///
/// # Errors
/// A sentence: an array without extents, data that does not fit, more memory than allowed.
pub fn arguments(sources: &Sources<'_>, point: &Point) -> Result<Vec<ArgBytes>, String> {
    let mut left = sources.max_memory;
    let function = sources.function;
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.map(|var| match &var.ty {
        Type::Pointer { pointee, .. } => {
            let bytes = array(sources, var, pointee, point, left)?;
            left -= (bytes.len() as u64).min(left);
            Ok(ArgBytes::Array(bytes))
        }
        ty => scalar(sources, var, ty, point).map(ArgBytes::Value),
    })
    .collect()
}

fn scalar(sources: &Sources<'_>, var: &Var, ty: &Type, point: &Point) -> Result<Vec<u8>, String> {
    let scalar = ty.scalar().ok_or_else(|| format!("parameter `{}` is no number", var.name))?;
    let spec = sources.specs.iter().find(|s| s.name == var.name).map(|s| &s.spec);
    if let Some(value) = point.get(&var.name) {
        return Ok(data::scalar_bytes(warpsmith_ir::Value::int(scalar, *value)));
    }
    match spec {
        Some(ArgSpec::Number(text)) => {
            let value =
                data::parse_scalar(text, scalar).map_err(|e| format!("`{}`: {e}", var.name))?;
            Ok(data::scalar_bytes(value))
        }
        Some(ArgSpec::Init(init)) => {
            Ok(data::fill(sources.module, ty, 1, init, sources.seed ^ data::name_hash(&var.name)))
        }
        Some(_) => Err(format!("`{}` is a number; write --arg {}=1.5", var.name, var.name)),
        None => {
            let seed = sources.seed ^ data::name_hash(&var.name);
            Ok(data::fill(sources.module, ty, 1, &Init::Random(None), seed))
        }
    }
}

fn array(
    sources: &Sources<'_>,
    var: &Var,
    element: &Type,
    point: &Point,
    left: u64,
) -> Result<Vec<u8>, String> {
    let count = extents::elements(sources.module, sources.function, var, point)?
        .ok_or_else(|| format!("the extent of array `{}` is not known", var.name))?;
    let size = warpsmith_ir::layout::layout_of(sources.module, element).size;
    let bytes = count.checked_mul(size).filter(|b| *b <= left);
    let Some(bytes) = bytes else {
        return Err(format!("array `{}` does not fit the memory limit", var.name));
    };
    let spec = sources.specs.iter().find(|s| s.name == var.name).map(|s| &s.spec);
    let init = match spec {
        None => Init::Random(None),
        Some(ArgSpec::Init(init) | ArgSpec::Array { init, .. }) => init.clone(),
        Some(_) => {
            return Err(format!(
                "`{}` is an array; use random, iota, zeros or @file.npy",
                var.name
            ));
        }
    };
    if let Init::File(path) = &init {
        return from_file(path, element, bytes);
    }
    Ok(data::fill(sources.module, element, count, &init, sources.seed ^ data::name_hash(&var.name)))
}

/// The first `bytes` bytes of a file's data, repeated if it has fewer: representative values at any size.
fn from_file(path: &str, element: &Type, bytes: u64) -> Result<Vec<u8>, String> {
    let array = data::read_npy(Path::new(path))?;
    if element.scalar() != Some(array.ty) {
        return Err(format!("`{path}` holds {}, not the array's type", array.ty));
    }
    if array.bytes.is_empty() {
        return Err(format!("`{path}` is empty"));
    }
    Ok(array.bytes.iter().copied().cycle().take(bytes as usize).collect())
}
