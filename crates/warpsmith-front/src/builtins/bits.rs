//! The same bits as another type: `__float_as_int`, `__hiloint2double` …

use warpsmith_ir::{BinaryOp, Expr, Scalar, Type};

use super::call::{Call, Lowered};

const TABLE: &[(&str, Scalar, Scalar)] = &[
    ("__float_as_int", Scalar::F32, Scalar::I32),
    ("__float_as_uint", Scalar::F32, Scalar::U32),
    ("__int_as_float", Scalar::I32, Scalar::F32),
    ("__uint_as_float", Scalar::U32, Scalar::F32),
    ("__double_as_longlong", Scalar::F64, Scalar::I64),
    ("__longlong_as_double", Scalar::I64, Scalar::F64),
    ("__half_as_short", Scalar::F16, Scalar::I16),
    ("__half_as_ushort", Scalar::F16, Scalar::U16),
    ("__short_as_half", Scalar::I16, Scalar::F16),
    ("__ushort_as_half", Scalar::U16, Scalar::F16),
    ("__bfloat16_as_short", Scalar::BF16, Scalar::I16),
    ("__bfloat16_as_ushort", Scalar::BF16, Scalar::U16),
    ("__short_as_bfloat16", Scalar::I16, Scalar::BF16),
    ("__ushort_as_bfloat16", Scalar::U16, Scalar::BF16),
];

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(n, ..)| *n).chain(["__double2hiint", "__double2loint", "__hiloint2double"])
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    if let Some((_, from, to)) = TABLE.iter().find(|(n, ..)| *n == c.name) {
        return Some(cast(c, *from, *to));
    }
    match c.name {
        "__double2hiint" => Some(half_of_double(c, 32)),
        "__double2loint" => Some(half_of_double(c, 0)),
        "__hiloint2double" => Some(double_of_halves(c)),
        "bit_cast" if c.is_std => Some(bit_cast(c)),
        _ => None,
    }
}

fn cast(c: &mut Call<'_>, from: Scalar, to: Scalar) -> Lowered {
    c.arity(1)?;
    let value = c.scalar_arg(0, from)?;
    Ok(Some(c.bitcast(value, Type::Scalar(to))))
}

fn half_of_double(c: &mut Call<'_>, shift: i32) -> Lowered {
    c.arity(1)?;
    let value = c.scalar_arg(0, Scalar::F64)?;
    let bits = c.bitcast(value, Type::U64);
    Ok(Some(c.binary(BinaryOp::Shr, bits, Expr::i32(shift)).cast(Type::I32)))
}

fn double_of_halves(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let high = c.scalar_arg(0, Scalar::U32)?.cast(Type::U64);
    let low = c.scalar_arg(1, Scalar::U32)?.cast(Type::U64);
    let high = c.binary(BinaryOp::Shl, high, Expr::i32(32));
    let bits = c.binary(BinaryOp::BitOr, high, low);
    Ok(Some(c.bitcast(bits, Type::F64)))
}

fn bit_cast(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    match super::stdlib::type_arg(c.template_args) {
        Some(to) if c.scalar_of(0)?.bytes() == to.bytes() => {
            let value = c.args[0].clone();
            Ok(Some(c.bitcast(value, Type::Scalar(to))))
        }
        _ => Err(c.wrong_type(0, "a number as large as the result")),
    }
}
