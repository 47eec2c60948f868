//! Conversions between number types: `__float2int_rn`, `__int2float_rz`, `__half2float` …

use warpsmith_ir::{MathFn, Scalar, Type};

use super::call::{Call, Lowered};

/// The type words in the names of conversions.
const WORDS: &[(&str, Scalar)] = &[
    ("float", Scalar::F32),
    ("double", Scalar::F64),
    ("half", Scalar::F16),
    ("bfloat16", Scalar::BF16),
    ("int", Scalar::I32),
    ("uint", Scalar::U32),
    ("ll", Scalar::I64),
    ("ull", Scalar::U64),
    ("short", Scalar::I16),
    ("ushort", Scalar::U16),
];

fn word(name: &str) -> Option<Scalar> {
    WORDS.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)
}

/// `__float2int_rn` taken apart: source, destination, rounding.
fn parse(name: &str) -> Option<(Scalar, Scalar, &str)> {
    let (from, rest) = name.strip_prefix("__")?.split_once('2')?;
    let (to, mode) = match rest.rsplit_once('_') {
        Some((to, mode @ ("rn" | "rz" | "rd" | "ru"))) => (to, mode),
        _ => (rest, ""),
    };
    Some((word(from)?, word(to)?, mode))
}

/// A few names, for suggestions; the rest follow the same pattern.
pub fn names() -> impl Iterator<Item = &'static str> {
    [
        "__float2int_rn",
        "__float2int_rz",
        "__int2float_rn",
        "__float2half",
        "__float2half_rn",
        "__half2float",
        "__double2int_rz",
    ]
    .into_iter()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let (from, to, mode) = parse(c.name)?;
    Some(convert(c, from, to, mode))
}

fn convert(c: &mut Call<'_>, from: Scalar, to: Scalar, mode: &str) -> Lowered {
    c.arity(1)?;
    let value = c.scalar_arg(0, from)?;
    let target = Type::Scalar(to);
    if from.is_float() && to.is_integer() {
        let rounded = match mode {
            "rn" => c.same(MathFn::Rint, vec![value]),
            "rd" => c.same(MathFn::Floor, vec![value]),
            "ru" => c.same(MathFn::Ceil, vec![value]),
            _ => value,
        };
        return Ok(Some(rounded.cast(target)));
    }
    if matches!(mode, "" | "rn") || is_exact(from, to) {
        return Ok(Some(value.cast(target)));
    }
    let nearest = format!("{}_rn", c.path.trim_end_matches(mode).trim_end_matches('_'));
    Err(super::math::rounding(c, &nearest))
}

/// Every value of one type has its like in the other, so that rounding has nothing to do.
fn is_exact(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (Scalar::F32 | Scalar::F16 | Scalar::BF16, Scalar::F64)
        | (Scalar::F16 | Scalar::BF16, Scalar::F32) => true,
        (_, Scalar::F64) => from.is_integer() && from.bytes() <= 4,
        (_, Scalar::F32) => from.is_integer() && from.bytes() <= 2,
        _ => false,
    }
}
