//! Data for one verification point: a value for every scalar, content for every array.

use std::path::Path;

use warpsmith_ir::interp::{Arg, Memory};
use warpsmith_ir::{
    Diagnostic, ExprKind, Function, MathFn, Module, Scalar, StmtKind, Type, Value, Var, VarId,
    visit,
};
use warpsmith_opt::analysis::values;
use warpsmith_opt::walk;

use super::host_c::ArgBytes;
use super::suited;
use crate::data::{self, ArgSpec, Init, NamedSpec};
use crate::status::{Failure, Status};
use crate::tune::extents;
use crate::tune::sizes::{self, Point};

/// Where the content of arguments comes from.
pub struct Sources<'a> {
    /// The module that has the function.
    pub module: &'a Module,
    /// The function that gets the arguments.
    pub function: &'a Function,
    /// `--arg`.
    pub specs: &'a [NamedSpec],
    /// Seed of random content for which no seed was written.
    pub seed: u64,
    /// Most bytes of all arrays together: `--max-memory`.
    pub max_memory: u64,
}

impl Sources<'_> {
    /// A point with all numbers that are given.
    pub fn numbers(&self, point: &Point) -> Point {
        sizes::with_numbers(self.module, self.function, self.specs, point)
    }

    /// The elements of all arrays together; `None` when an extent has no value or the sum overflows.
    pub fn total_elements(&self, point: &Point) -> Option<u64> {
        extents::total_elements(self.module, self.function, &self.numbers(point))
    }
}

/// Why there are no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoData {
    /// An array takes more bytes than `--max-memory` leaves for it.
    Memory {
        /// Name of the array.
        array: String,
        /// Bytes that it takes.
        bytes: u64,
        /// Bytes that are left for it.
        most: u64,
    },
    /// A sentence: what was asked for cannot be had.
    Bad(String),
}

impl From<String> for NoData {
    fn from(why: String) -> NoData {
        NoData::Bad(why)
    }
}

impl NoData {
    /// In the user's words: a limit that was reached, or bad input.
    pub fn failure(self) -> Failure {
        match self {
            NoData::Bad(why) => Failure::input("W306", why),
            NoData::Memory { array, bytes, most } => {
                let d = Diagnostic::error("W471", "the memory limit was reached (--max-memory)");
                let note = format!(
                    "with `{array}` of {bytes} bytes the arrays take more than {most} bytes"
                );
                let d = d.note(note).help("raise --max-memory, or choose smaller sizes");
                Failure::from(d).with_status(Status::Limit)
            }
        }
    }
}

/// The arguments of the C function at a point.
///
/// Sizes come from the point, other scalars from `--arg` or at random; arrays are random unless `--arg` says otherwise.
///
/// # Errors
/// An array without extents, data that does not fit, more memory than allowed.
pub fn arguments(sources: &Sources<'_>, point: &Point) -> Result<Vec<ArgBytes>, NoData> {
    let mut left = sources.max_memory;
    let function = sources.function;
    let point = &sources.numbers(point);
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.map(|var| match &var.ty {
        Type::Pointer { pointee, .. } => {
            let bytes = array(sources, var, pointee, point, left)?;
            left -= (bytes.len() as u64).min(left);
            Ok(ArgBytes::Array(bytes))
        }
        ty => Ok(scalar(sources, var, ty, point).map(ArgBytes::Value)?),
    })
    .collect()
}

/// Arguments as the interpreter takes them, with the memory that arrays lie in.
pub fn bound(function: &Function, inputs: &[ArgBytes]) -> (Memory, Vec<Arg>) {
    let mut memory = Memory::default();
    let bind = |(input, param): (&ArgBytes, &VarId)| match input {
        ArgBytes::Array(bytes) => {
            memory.buffers.push(bytes.clone());
            Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 }
        }
        ArgBytes::Value(bytes) => match function.var(*param).ty.scalar() {
            Some(scalar) => Arg::Value(data::scalar_from_bytes(scalar, bytes)),
            None => Arg::Bytes(bytes.clone()),
        },
    };
    let args = inputs.iter().zip(&function.params).map(bind).collect();
    (memory, args)
}

/// As [`arguments`], but arrays hold zeros, and those of more than `most` bytes nothing: what a launcher needs that does
/// not look into them. `None`: an extent or a number is missing.
pub fn without_contents(
    sources: &Sources<'_>,
    point: &Point,
    most: usize,
) -> Option<Vec<ArgBytes>> {
    let function = sources.function;
    let point = &sources.numbers(point);
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.map(|var| match &var.ty {
        Type::Pointer { pointee, .. } => {
            let count = extents::elements(sources.module, function, var, point).ok()??;
            let size = warpsmith_ir::layout::layout_of(sources.module, pointee).size;
            let bytes = usize::try_from(count.checked_mul(size)?).ok()?;
            Some(ArgBytes::Array(vec![0; if bytes <= most { bytes } else { 0 }]))
        }
        ty => scalar(sources, var, ty, point).ok().map(ArgBytes::Value),
    })
    .collect()
}

/// The number that is passed for a scalar parameter.
pub fn number(sources: &Sources<'_>, var: &Var, point: &Point) -> Option<Value> {
    let bytes = scalar(sources, var, &var.ty, point).ok()?;
    Some(data::scalar_from_bytes(var.ty.scalar()?, &bytes))
}

fn scalar(sources: &Sources<'_>, var: &Var, ty: &Type, point: &Point) -> Result<Vec<u8>, String> {
    let Some(scalar) = ty.scalar() else { return structure(sources, var, ty, point) };
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
        None if scalar.is_float() && ends_loops(sources.function, var) => {
            Ok(data::scalar_bytes(Value::float(scalar, TOLERANCE)))
        }
        None => {
            let seed = sources.seed ^ data::name_hash(&var.name);
            Ok(data::fill(sources.module, ty, 1, &Init::Random(None), seed))
        }
    }
}

/// A structure passed by value: random numbers, but for the sizes and what `--arg grid.dt=0.5` says.
fn structure(
    sources: &Sources<'_>,
    var: &Var,
    ty: &Type,
    point: &Point,
) -> Result<Vec<u8>, String> {
    if !matches!(ty, Type::Struct(_)) {
        return Err(format!("parameter `{}` is no number", var.name));
    }
    let seed = sources.seed ^ data::name_hash(&var.name);
    let mut bytes = data::fill(sources.module, ty, 1, &Init::Random(None), seed);
    for field in sizes::fields(sources.module, &var.name, ty, 0) {
        let spec = sources.specs.iter().find(|s| s.name == field.name).map(|s| &s.spec);
        let value = match (point.get(&field.name), spec) {
            (Some(value), _) => Value::int(field.ty, *value),
            (None, Some(ArgSpec::Number(text))) => {
                data::parse_scalar(text, field.ty).map_err(|e| format!("`{}`: {e}", field.name))?
            }
            (None, Some(_)) => {
                return Err(format!("`{0}` is a number; write --arg {0}=1.5", field.name));
            }
            (None, None) => continue,
        };
        let at = field.offset as usize;
        bytes[at..at + field.ty.bytes() as usize].copy_from_slice(&data::scalar_bytes(value));
    }
    Ok(bytes)
}

/// What a real number is that ends a loop, where nobody says it: with one at random, every other loop would never end.
const TOLERANCE: f64 = 1.0 / 64.0;

/// Whether a parameter decides when a loop of unknown length ends.
fn ends_loops(function: &Function, var: &Var) -> bool {
    let Some(id) = function.params.iter().find(|p| function.var(**p).name == var.name) else {
        return false;
    };
    let mut ends = false;
    visit::for_each_stmt(&function.body, &mut |s| match &s.kind {
        StmtKind::Loop { condition: Some(c), .. } => ends |= walk::mentions(&c.expr, *id),
        StmtKind::If { cond, then, .. } => {
            ends |= walk::leaves(then).is_some() && walk::mentions(cond, *id);
        }
        _ => {}
    });
    ends
}

fn array(
    sources: &Sources<'_>,
    var: &Var,
    element: &Type,
    point: &Point,
    left: u64,
) -> Result<Vec<u8>, NoData> {
    let count = extents::elements(sources.module, sources.function, var, point)?
        .ok_or_else(|| format!("the extent of array `{}` is not known", var.name))?;
    let size = warpsmith_ir::layout::layout_of(sources.module, element).size;
    let bytes = count.saturating_mul(size);
    if bytes > left {
        let (array, most) = (var.name.clone(), sources.max_memory);
        return Err(NoData::Memory { array, bytes, most });
    }
    let spec = sources.specs.iter().find(|s| s.name == var.name).map(|s| &s.spec);
    let init = match spec {
        None => Init::Random(None),
        Some(ArgSpec::Init(init) | ArgSpec::Array { init, .. }) => init.clone(),
        Some(_) => {
            return Err(NoData::Bad(format!(
                "`{}` is an array; use random, iota, zeros or @file.npy",
                var.name
            )));
        }
    };
    if let Init::File(path) = &init {
        return Ok(from_file(path, element, bytes)?);
    }
    let seed = sources.seed ^ data::name_hash(&var.name);
    let mut bytes = data::fill(sources.module, element, count, &init, seed);
    let param = sources.function.params.iter().find(|p| sources.function.var(**p).name == var.name);
    if spec.is_some() {
        return Ok(bytes);
    }
    let asked = values::of_arrays(sources.module, sources.function);
    let mut own = asked.iter().filter(|((array, _), _)| param == Some(array)).peekable();
    let scalar = element.scalar().filter(|_| own.peek().is_none());
    for (n, ((_, fields), values)) in own.enumerate() {
        if let Some((scalar, places)) = suited::places(sources.module, element, fields, count) {
            let seed = seed.wrapping_add(n as u64);
            suited::suit(sources, values, (scalar, &places), point, &mut bytes, seed);
        }
    }
    if let Some(scalar) = scalar {
        with_extremes(scalar, &mut bytes, seed);
        if scalar.is_float() && count % 4 == 1 && compares_reals(sources.function) {
            stretched(scalar, &mut bytes);
        }
    }
    Ok(bytes)
}

/// Whether decisions or minima are made of reals.
fn compares_reals(function: &Function) -> bool {
    let mut found = false;
    visit::for_each_expr(&function.body, &mut |e| {
        found |= match &*e.kind {
            ExprKind::Binary(op, a, _) => op.is_comparison() && a.ty.is_float(),
            ExprKind::Call(f, _) => matches!(f, MathFn::Min | MathFn::Max) && e.ty.is_float(),
            _ => false,
        };
    });
    found
}

/// Random reals lie in [−1, 1): those of a maximum that begins at −2, say, would never be below that.
fn stretched(scalar: Scalar, bytes: &mut [u8]) {
    for element in bytes.chunks_exact_mut(scalar.bytes() as usize) {
        let value = data::scalar_from_bytes(scalar, element).as_f64() * 3.0;
        element.copy_from_slice(&data::scalar_bytes(Value::float(scalar, value)));
    }
}

/// Random integers are few, so that the least and the greatest stand in many places and none of them matters. At
/// three sizes of four they are moved together, and one is put beyond them at each end, somewhere: a minimum that looks
/// anywhere but there is wrong.
fn with_extremes(scalar: Scalar, bytes: &mut [u8], place: u64) {
    let size = scalar.bytes() as usize;
    let count = bytes.len() / size;
    if !scalar.is_integer() || scalar == Scalar::Bool || count < 2 || count % 4 == 3 {
        return;
    }
    for element in bytes.chunks_exact_mut(size) {
        let inner = data::scalar_from_bytes(scalar, element).as_i64() * 4 / 5 + 10;
        element.copy_from_slice(&data::scalar_bytes(Value::int(scalar, inner)));
    }
    // What is seen first is lost in other ways than what is seen last: one near the start, the other near the end.
    let near_start = place as usize % (count / 3 + 1);
    let near_end = count - 1 - near_start;
    let (least, greatest) =
        if count.is_multiple_of(2) { (near_start, near_end) } else { (near_end, near_start) };
    for (at, value) in [(greatest, 97), (least, 3)] {
        let at = at * size;
        bytes[at..at + size].copy_from_slice(&data::scalar_bytes(Value::int(scalar, value)));
    }
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
