//! `--dump` and `--expect`: buffers after a launch, to files and against files.

use warpsmith_ir::{Scalar, Type};

use super::args::{Expect, LaunchArgs};
use super::memory::Buffers;
use crate::data::{self, Array};
use crate::output::write_file;
use crate::status::Failure;

/// A buffer that differs from its file.
#[derive(Debug)]
pub struct Difference {
    pub name: String,
    /// One sentence.
    pub message: String,
    /// Flat index of the first difference.
    pub index: u64,
    /// Elements that differ.
    pub count: u64,
}

/// Writes what `--dump` asks for.
///
/// # Errors
/// W306 for a name that is no buffer, or one of mixed types; W302 when a file cannot be written.
pub fn dump(args: &LaunchArgs, buffers: &Buffers) -> Result<Vec<String>, Failure> {
    let mut written = vec![];
    for (name, path) in &args.dump {
        let array = array_of(buffers, name)?;
        let content = data::write_npy(&array).map_err(|e| Failure::input("W306", e))?;
        write_file(path, &content)?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

/// Compares what `--expect` asks for.
///
/// # Errors
/// W306 for a name that is no buffer, a file that cannot be read, or other types or sizes.
pub fn compare(args: &LaunchArgs, buffers: &Buffers) -> Result<Vec<Difference>, Failure> {
    let mut differences = vec![];
    for expect in &args.expect {
        let actual = array_of(buffers, &expect.name)?;
        let wanted = data::read_npy(&expect.path).map_err(|e| Failure::input("W306", e))?;
        if wanted.ty != actual.ty || wanted.bytes.len() != actual.bytes.len() {
            let message = format!(
                "`{}` holds {} × {}, but `{}` holds {} × {}",
                expect.name,
                actual.bytes.len() / actual.ty.bytes() as usize,
                actual.ty,
                expect.path.display(),
                wanted.bytes.len() / wanted.ty.bytes() as usize,
                wanted.ty
            );
            return Err(Failure::input("W306", message));
        }
        differences.extend(first_difference(expect, &actual, &wanted));
    }
    Ok(differences)
}

fn first_difference(expect: &Expect, actual: &Array, wanted: &Array) -> Option<Difference> {
    let width = actual.ty.bytes() as usize;
    let pairs = actual.bytes.chunks_exact(width).zip(wanted.bytes.chunks_exact(width));
    let mut wrong = pairs
        .map(|(a, w)| {
            (data::scalar_from_bytes(actual.ty, a), data::scalar_from_bytes(actual.ty, w))
        })
        .enumerate()
        .filter(|(_, (a, w))| !close(*a, *w, expect.tolerance));
    let (index, (a, w)) = wrong.next()?;
    let count = 1 + wrong.count() as u64;
    let show = |v: warpsmith_ir::Value| {
        if v.ty.is_float() { v.as_f64().to_string() } else { v.as_i64().to_string() }
    };
    let message = format!("`{}[{index}]` is {}, not {} as expected", expect.name, show(a), show(w));
    Some(Difference { name: expect.name.clone(), message, index: index as u64, count })
}

/// NaN equals NaN.
fn close(a: warpsmith_ir::Value, w: warpsmith_ir::Value, tolerance: f64) -> bool {
    if !a.ty.is_float() {
        let wide = |v: warpsmith_ir::Value| match v.ty {
            Scalar::U64 => i128::from(v.bits),
            _ => i128::from(v.as_i64()),
        };
        let (a, w) = (wide(a), wide(w));
        return a == w || (a - w).abs() as f64 <= tolerance * (1.0 + w.abs() as f64);
    }
    let (a, w) = (a.as_f64(), w.as_f64());
    a == w || (a.is_nan() && w.is_nan()) || (a - w).abs() <= tolerance * (1.0 + w.abs())
}

/// A buffer of one scalar type; vectors get a last dimension.
fn array_of(buffers: &Buffers, name: &str) -> Result<Array, Failure> {
    let buffer = buffers
        .find(name)
        .ok_or_else(|| Failure::input("W306", format!("`{name}` is not a buffer of the launch")))?;
    let (ty, parts) = match &buffer.element {
        Some(Type::Scalar(s)) => (*s, 1),
        Some(Type::Vector(s, n)) => (*s, u64::from(*n)),
        _ => (Scalar::U8, 1),
    };
    let bytes = buffer.bytes.clone();
    let mut shape = buffer.shape.clone();
    if shape.is_empty() || !matches!(buffer.element, Some(Type::Scalar(_) | Type::Vector(..))) {
        shape = vec![bytes.len() as u64 / u64::from(ty.bytes()) / parts];
    }
    if parts > 1 {
        shape.push(parts);
    }
    Ok(Array { ty, shape, bytes })
}
