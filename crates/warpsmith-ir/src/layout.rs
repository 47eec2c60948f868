//! Sizes, alignments and field offsets, as the CUDA ABI on a 64-bit host defines them.

use crate::module::{Module, StructId};
use crate::types::Type;

/// Size and alignment of a piece of memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes that it takes, a multiple of `align`.
    pub size: u64,
    /// Its address is a multiple of this power of two.
    pub align: u64,
}

/// The layout of a type. `Void` has size 1, so that pointer arithmetic on `void*` counts bytes.
pub fn layout_of(module: &Module, ty: &Type) -> Layout {
    match ty {
        Type::Void => Layout { size: 1, align: 1 },
        Type::Scalar(s) => Layout { size: s.bytes().into(), align: s.bytes().into() },
        Type::Vector(s, n) => {
            let component = u64::from(s.bytes());
            let size = component * u64::from(*n);
            let align = if n.is_power_of_two() { size.min(16) } else { component };
            Layout { size, align }
        }
        Type::Pointer { .. } => Layout { size: 8, align: 8 },
        Type::Array(element, length) => {
            let e = layout_of(module, element);
            Layout { size: e.size.saturating_mul(*length), align: e.align }
        }
        Type::Struct(id) => module
            .structs
            .get(id.0 as usize)
            .map_or(Layout { size: 0, align: 1 }, |s| Layout { size: s.size, align: s.align }),
    }
}

/// Lays fields out one after the other, each at the next multiple of its alignment.
///
/// Returns their offsets and the layout of the whole; `min_align` is what `__align__(n)` asked
/// for (1 if nothing). An empty struct takes one byte, as in C++.
pub fn lay_out(module: &Module, fields: &[Type], min_align: u64) -> (Vec<u64>, Layout) {
    let mut end = 0u64;
    let mut align = min_align.max(1);
    let mut offsets = vec![];
    for field in fields {
        let l = layout_of(module, field);
        align = align.max(l.align);
        let at = end.next_multiple_of(l.align.max(1));
        offsets.push(at);
        end = at.saturating_add(l.size);
    }
    let size = end.max(1).checked_next_multiple_of(align).unwrap_or(end);
    (offsets, Layout { size, align })
}

/// Byte offset and type of a struct's field; `None` when there is no such field.
pub fn field_of(module: &Module, id: StructId, field: u32) -> Option<(u64, &Type)> {
    let f = module.structs.get(id.0 as usize)?.fields.get(field as usize)?;
    Some((f.offset, &f.ty))
}
