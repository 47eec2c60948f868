//! Sizes that given data determine: with `--arg rp=@rp.npy` the array has as many elements as the file.

use std::collections::BTreeMap;
use std::path::Path;

use warpsmith_ir::{Diagnostic, Function, Module, Var};

use super::extents;
use super::sizes::{self, Point};
use crate::data::{self, ArgSpec, Init, NamedSpec};
use crate::status::Failure;

/// What files say about sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Sizes by name, from arrays of any type.
    pub sizes: Point,
    /// Those that arrays of integers determine: data that select elements are right at their own size alone.
    pub fixed: Point,
}

/// Solves the extents of arrays for the sizes at which they hold what their files hold.
///
/// # Errors
/// W306 for a file that cannot be read, W311 where two files want different sizes.
pub fn sizes(
    module: &Module,
    function: &Function,
    specs: &[NamedSpec],
    known: &Point,
) -> Result<Given, Failure> {
    let mut found = Given::default();
    let mut by: BTreeMap<String, String> = BTreeMap::new();
    // One array may need what another one says: `x[n]` beside `a[n][m]`.
    for _ in 0..2 {
        for (var, shape) in files(function, specs)? {
            let integers = var.ty.pointee().is_some_and(warpsmith_ir::Type::is_integer);
            let mut all = known.clone();
            all.extend(found.sizes.clone());
            for (name, size) in solved(module, function, var, &shape, &all) {
                let clash = found.fixed.get(&name).filter(|old| integers && **old != size);
                if let Some(old) = clash {
                    let other = by.get(&name).map_or("", String::as_str);
                    let message = format!(
                        "`{other}` makes `{name}` {old}, and `{}` makes it {size}",
                        var.name
                    );
                    return Err(Diagnostic::error("W311", message)
                        .help("give arrays of one problem")
                        .into());
                }
                if integers {
                    found.fixed.insert(name.clone(), size);
                    found.sizes.insert(name.clone(), size);
                    by.insert(name, var.name.clone());
                } else {
                    found.sizes.entry(name).or_insert(size);
                }
            }
        }
    }
    Ok(found)
}

/// The arrays that come from files, with the shapes of those.
fn files<'f>(
    function: &'f Function,
    specs: &[NamedSpec],
) -> Result<Vec<(&'f Var, Vec<u64>)>, Failure> {
    let mut found = vec![];
    for param in &function.params {
        let var = function.var(*param);
        let spec = specs.iter().find(|s| s.name == var.name);
        let Some(ArgSpec::Init(Init::File(path)) | ArgSpec::Array { init: Init::File(path), .. }) =
            spec.map(|s| &s.spec)
        else {
            continue;
        };
        let array = data::read_npy(Path::new(path)).map_err(|e| Failure::input("W306", e))?;
        found.push((var, array.shape));
    }
    Ok(found)
}

/// The sizes at which an array has a shape: extent by extent, or, where the file has another number of axes, by the
/// number of its elements.
fn solved(
    module: &Module,
    function: &Function,
    var: &Var,
    shape: &[u64],
    known: &Point,
) -> Vec<(String, i64)> {
    let params: Vec<String> = sizes::size_params(module, function)
        .into_iter()
        .map(|(_, name, _)| name)
        .filter(|name| !known.contains_key(name))
        .collect();
    let extents_at = |point: &Point| extents::extents(module, function, var, point).ok().flatten();
    let mut found = vec![];
    for param in params {
        let at = |size: i64| {
            let mut point = known.clone();
            for (_, name, _) in sizes::size_params(module, function) {
                point.entry(name).or_insert(BASE);
            }
            point.insert(param.clone(), size);
            extents_at(&point)
        };
        let (Some(low), Some(high)) = (at(BASE), at(BASE + 1)) else { continue };
        let changing: Vec<usize> = (0..low.len()).filter(|k| low[*k] != high[*k]).collect();
        let ([axis], true) = (changing.as_slice(), shape.len() == low.len()) else { continue };
        let (start, slope) = (low[*axis] as i64, high[*axis] as i64 - low[*axis] as i64);
        let Ok(wanted) = i64::try_from(shape[*axis]) else { continue };
        let distance = wanted - start;
        if slope != 0 && distance % slope == 0 {
            let size = BASE + distance / slope;
            // An extent that depends on several sizes says nothing about one of them.
            let exact = at(size).is_some_and(|e| e[*axis] == shape[*axis]);
            let alone = {
                let mut other = Point::new();
                for (_, name, _) in sizes::size_params(module, function) {
                    other.insert(name, BASE + 7);
                }
                other.extend(known.clone());
                other.insert(param.clone(), size);
                extents_at(&other).is_some_and(|e| e[*axis] == shape[*axis])
            };
            if size >= 0 && exact && alone {
                found.push((param, size));
            }
        }
    }
    found
}

/// A size at which extents are looked at: far from where they are cut off at zero.
const BASE: i64 = 1 << 10;
