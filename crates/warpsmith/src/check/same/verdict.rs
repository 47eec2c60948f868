//! The first element that differs, and who wrote it.

use warpsmith_ir::interp::Memory;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Scalar, Type};

use crate::data;
use warpsmith_translate::tune::verify::compare::{self, Difference};

/// The bound of the element of an array: type and byte offset.
pub type Allowed<'a> = dyn Fn(u64, Scalar) -> f64 + 'a;

/// A difference with the place of its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Differs {
    pub difference: Difference,
    /// Of the number that differs.
    pub byte: u64,
    pub ty: Scalar,
}

/// Compares two arrays of an element type.
pub fn differs(
    module: &Module,
    element: &Type,
    (expected, actual): (&[u8], &[u8]),
    allowed: &Allowed<'_>,
) -> Option<Differs> {
    let slots = data::scalars_of(module, element, 0);
    let (_, first) = *slots.first()?;
    if slots.iter().all(|(_, s)| *s == first)
        && first.bytes() as usize * slots.len() == layout_of(module, element).size as usize
    {
        let width = u64::from(first.bytes());
        let of = |i: u64| allowed(i * width, first);
        let found = compare::first_difference(first, expected, actual, &of)?;
        return Some(Differs { byte: found.index * width, difference: found, ty: first });
    }
    let size = layout_of(module, element).size.max(1);
    let parts = slots.into_iter().filter_map(|(offset, ty)| {
        let range = offset as usize..(offset + u64::from(ty.bytes())) as usize;
        let of = |bytes: &[u8]| -> Vec<u8> {
            bytes.chunks_exact(size as usize).flat_map(|e| e[range.clone()].to_vec()).collect()
        };
        let allowed = |i: u64| allowed(i * size + offset, ty);
        let found = compare::first_difference(ty, &of(expected), &of(actual), &allowed)?;
        Some(Differs { byte: found.index * size + offset, difference: found, ty })
    });
    parts.min_by_key(|d| d.byte)
}

/// Differences that rounding could explain, where nobody knows how much there is.
pub fn is_small(d: &Difference, ty: Scalar) -> bool {
    let scale = d.expected.abs().max(1.0);
    ty.is_float() && (d.expected - d.actual).abs() <= 1e-3 * scale
}

/// What a sum may differ by.
pub fn allowed_by(memory: &Memory, buffer: usize, byte: u64, ty: Scalar) -> f64 {
    memory.bound(buffer, byte, ty).map_or(0.0, |b| compare::of_a_sum(ty, b))
}

/// A number as C prints it, with all its digits.
pub fn text(ty: Scalar, value: f64) -> String {
    match ty {
        Scalar::F32 => format!("{}", value as f32),
        _ => format!("{value}"),
    }
}
