//! Data for arrays of which nobody says what they hold.

use std::sync::Arc;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_ir::interp::Unknown;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Type, Value};

use crate::data;

/// What a buffer that grows holds, again and again.
pub fn pattern(module: &Module, element: &Type, seed: u64) -> (Arc<[u8]>, bool) {
    let size = layout_of(module, element).size.max(1) as usize;
    let mut bytes = vec![0; size * PATTERN];
    let wanted = Unknown::new(bytes.len());
    let integers = invent(module, element, &mut bytes, &wanted, seed);
    (bytes.into(), integers)
}

/// Elements after which data in a buffer that grows begin again: a prime, so that no stride of a kernel meets equal ones.
const PATTERN: usize = 4093;

/// Writes values over every scalar of the elements of which some byte is wanted. Reals are random; integers are 0 or
/// 1, which is in range wherever they are used as subscripts of anything but the smallest arrays.
///
/// Returns whether integers are among them: what a kernel does may then hang on them.
pub fn invent(
    module: &Module,
    element: &Type,
    bytes: &mut [u8],
    wanted: &Unknown,
    seed: u64,
) -> bool {
    let size = layout_of(module, element).size.max(1) as usize;
    let scalars = data::scalars_of(module, element, 0);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut integers = false;
    for (i, piece) in bytes.chunks_exact_mut(size).enumerate() {
        let is_wanted = |from: usize, n: usize| !wanted.knows(i * size + from..i * size + from + n);
        if !is_wanted(0, size) {
            continue;
        }
        for (offset, ty) in &scalars {
            let bits = rng.next_u64() >> 11;
            // What the host has set beside it stays.
            if !is_wanted(*offset as usize, ty.bytes() as usize) {
                continue;
            }
            integers |= ty.is_integer();
            let value = match ty.is_float() {
                true => Value::float(*ty, bits as f64 / (1u64 << 52) as f64 - 1.0),
                false => Value::int(*ty, (bits & 1) as i64),
            };
            let at = *offset as usize;
            piece[at..at + ty.bytes() as usize].copy_from_slice(&data::scalar_bytes(value));
        }
        if scalars.is_empty() {
            let unset = piece.iter_mut().enumerate().filter(|(at, _)| is_wanted(*at, 1));
            unset.for_each(|(_, byte)| *byte = 0);
        }
    }
    integers
}

/// Whether a pointer is among the bytes that nobody gave: where it leads cannot be invented.
pub fn has_pointers(module: &Module, element: &Type, nobodys: &Unknown) -> bool {
    let mut offsets = vec![];
    pointers_in(module, element, 0, &mut offsets);
    let size = layout_of(module, element).size.max(1) as usize;
    let unknown = |at: usize| !nobodys.knows(at..at + 8);
    let elements = (0..nobodys.len()).step_by(size);
    !offsets.is_empty()
        && elements.into_iter().any(|i| offsets.iter().any(|at| unknown(i + *at as usize)))
}

/// Whether objects of a type hold pointers, as far as the type says itself.
pub fn holds_pointers(module: &Module, ty: &Type) -> bool {
    let mut offsets = vec![];
    pointers_in(module, ty, 0, &mut offsets);
    !offsets.is_empty()
}

fn pointers_in(module: &Module, ty: &Type, at: u64, offsets: &mut Vec<u64>) {
    match ty {
        Type::Pointer { .. } => offsets.push(at),
        Type::Array(element, n) if !matches!(**element, Type::Scalar(_)) => {
            let size = layout_of(module, element).size;
            (0..*n).for_each(|i| pointers_in(module, element, at + i * size, offsets));
        }
        Type::Struct(id) => {
            let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
            fields.iter().for_each(|f| pointers_in(module, &f.ty, at + f.offset, offsets));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_ir::{Origin, Scalar, StructDef, StructField};

    #[test]
    fn members_that_the_host_has_set_stay() {
        let mut module = Module::default();
        let field = |name: &str, ty, offset| {
            let name = name.to_string();
            StructField { name, ty: Type::Scalar(ty), offset }
        };
        module.structs.push(StructDef {
            name: "pair".into(),
            fields: vec![field("offset", Scalar::I64, 0), field("weight", Scalar::F64, 8)],
            size: 16,
            align: 8,
            origin: Origin::default(),
        });
        let element = Type::Struct(warpsmith_ir::StructId(0));
        let mut bytes = [7u8; 32];
        let wanted: Vec<bool> = (0..32).map(|i| i % 16 >= 8).collect();
        let wanted = Unknown::from(wanted);
        assert!(!invent(&module, &element, &mut bytes, &wanted, 1), "no integer was invented");
        assert_eq!(bytes[..8], [7; 8]);
        assert_ne!(bytes[8..16], [7; 8]);
        assert_eq!(bytes[16..24], [7; 8]);
    }
}
