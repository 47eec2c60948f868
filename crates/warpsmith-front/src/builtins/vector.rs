//! Makers of vectors: `make_float4(x, y, z, w)`.

use warpsmith_ir::{Scalar, Type};

use super::call::{Call, Lowered};

/// Element words of CUDA's vector types.
const ELEMENTS: &[(&str, Scalar)] = &[
    ("char", Scalar::I8),
    ("uchar", Scalar::U8),
    ("short", Scalar::I16),
    ("ushort", Scalar::U16),
    ("int", Scalar::I32),
    ("uint", Scalar::U32),
    ("long", Scalar::I64),
    ("ulong", Scalar::U64),
    ("longlong", Scalar::I64),
    ("ulonglong", Scalar::U64),
    ("float", Scalar::F32),
    ("double", Scalar::F64),
];

/// The vector type that a maker makes.
fn made(name: &str) -> Option<(Scalar, u8)> {
    let ty = name.strip_prefix("make_")?;
    match ty {
        "half2" => return Some((Scalar::F16, 2)),
        "bfloat162" => return Some((Scalar::BF16, 2)),
        _ => {}
    }
    let count = ty.chars().last()?.to_digit(10).filter(|n| (1..=4).contains(n))?;
    let element = &ty[..ty.len() - 1];
    let scalar = ELEMENTS.iter().find(|(n, _)| *n == element)?.1;
    Some((scalar, count as u8))
}

pub fn names() -> impl Iterator<Item = &'static str> {
    [
        "make_float2",
        "make_float3",
        "make_float4",
        "make_int2",
        "make_int4",
        "make_uint4",
        "make_double2",
        "make_uchar4",
        "make_half2",
    ]
    .into_iter()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let (scalar, count) = made(c.name)?;
    Some(make(c, scalar, count))
}

fn make(c: &mut Call<'_>, scalar: Scalar, count: u8) -> Lowered {
    c.arity(count.into())?;
    let parts = c.all(scalar)?;
    Ok(Some(c.make(parts, Type::Vector(scalar, count))))
}
