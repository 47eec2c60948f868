//! Integer intrinsics.

use warpsmith_ir::{BinaryOp, Expr, MathFn, Scalar, Type};

use super::call::{Call, Lowered};

/// Functions with one operand type and, except for the counts, the same result.
const TABLE: &[(&str, MathFn, Scalar)] = &[
    ("__popc", MathFn::Popc, Scalar::U32),
    ("__popcll", MathFn::Popc, Scalar::U64),
    ("__builtin_popcount", MathFn::Popc, Scalar::U32),
    ("__builtin_popcountll", MathFn::Popc, Scalar::U64),
    ("popc", MathFn::Popc, Scalar::U32),
    ("__clz", MathFn::Clz, Scalar::I32),
    ("__clzll", MathFn::Clz, Scalar::I64),
    ("__builtin_clz", MathFn::Clz, Scalar::U32),
    ("__builtin_clzll", MathFn::Clz, Scalar::U64),
    ("__ffs", MathFn::Ffs, Scalar::I32),
    ("__ffsll", MathFn::Ffs, Scalar::I64),
    ("__builtin_ffs", MathFn::Ffs, Scalar::I32),
    ("__builtin_ffsll", MathFn::Ffs, Scalar::I64),
    ("__brev", MathFn::Brev, Scalar::U32),
    ("__brevll", MathFn::Brev, Scalar::U64),
    ("__mulhi", MathFn::MulHi, Scalar::I32),
    ("__umulhi", MathFn::MulHi, Scalar::U32),
    ("__mul64hi", MathFn::MulHi, Scalar::I64),
    ("__umul64hi", MathFn::MulHi, Scalar::U64),
    ("__mul24", MathFn::Mul24, Scalar::I32),
    ("__umul24", MathFn::Mul24, Scalar::U32),
    ("__byte_perm", MathFn::BytePerm, Scalar::U32),
    ("__funnelshift_l", MathFn::FunnelShiftLeft, Scalar::U32),
    ("__funnelshift_r", MathFn::FunnelShiftRight, Scalar::U32),
    ("__usad", MathFn::Sad, Scalar::U32),
];

const SPECIAL: &[&str] = &[
    "__sad",
    "__dp4a",
    "__hadd",
    "__uhadd",
    "__rhadd",
    "__urhadd",
    "__funnelshift_lc",
    "__funnelshift_rc",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(n, ..)| *n).chain(SPECIAL.iter().copied())
}

/// The type of an intrinsic's operands, and how many there are.
pub fn parameter(name: &str) -> Option<(Scalar, usize)> {
    TABLE.iter().find(|(n, ..)| *n == name).map(|(_, f, ty)| (*ty, f.arity()))
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    if let Some((_, f, ty)) = TABLE.iter().find(|(n, ..)| *n == c.name) {
        return Some(plain(c, *f, *ty));
    }
    match c.name {
        "__sad" => Some(sad(c)),
        "__dp4a" => Some(dp4a(c)),
        "__uhadd" => Some(average(c, Scalar::U32, false)),
        "__rhadd" => Some(average(c, Scalar::I32, true)),
        "__urhadd" => Some(average(c, Scalar::U32, true)),
        // `__hadd` of integers; of half it is in the group of half arithmetic.
        "__hadd" if c.args.iter().all(|a| a.ty.is_integer()) => {
            Some(average(c, Scalar::I32, false))
        }
        "__funnelshift_lc" => Some(clamped(c, MathFn::FunnelShiftLeft)),
        "__funnelshift_rc" => Some(clamped(c, MathFn::FunnelShiftRight)),
        _ => None,
    }
}

fn plain(c: &mut Call<'_>, f: MathFn, ty: Scalar) -> Lowered {
    c.arity(f.arity())?;
    let args = c.all(ty)?;
    let result =
        if matches!(f, MathFn::Popc | MathFn::Clz | MathFn::Ffs) { Scalar::I32 } else { ty };
    Ok(Some(c.math(f, args, Type::Scalar(result))))
}

/// |x − y| + z: the sum is unsigned, the difference of signed numbers.
fn sad(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    let x = c.scalar_arg(0, Scalar::I32)?;
    let y = c.scalar_arg(1, Scalar::I32)?;
    let z = c.scalar_arg(2, Scalar::U32)?.cast(Type::I32);
    Ok(Some(c.math(MathFn::Sad, vec![x, y, z], Type::I32).cast(Type::U32)))
}

/// Signed unless all words are unsigned.
fn dp4a(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    for i in 0..2 {
        if matches!(c.args[i].ty, Type::Vector(Scalar::I8 | Scalar::U8, 4)) {
            let word = if matches!(c.args[i].ty, Type::Vector(Scalar::I8, _)) {
                Type::I32
            } else {
                Type::U32
            };
            c.args[i] = c.bitcast(c.args[i].clone(), word);
        }
    }
    let unsigned = (0..3).all(|i| c.args[i].ty == Type::U32);
    let args = c.all(if unsigned { Scalar::U32 } else { Scalar::I32 })?;
    Ok(Some(c.same(MathFn::Dp4a, args)))
}

/// The mean of two integers without overflow, rounded down, or up with `up`.
fn average(c: &mut Call<'_>, ty: Scalar, up: bool) -> Lowered {
    c.arity(2)?;
    let a = c.scalar_arg(0, ty)?.cast(Type::I64);
    let b = c.scalar_arg(1, ty)?.cast(Type::I64);
    let mut sum = c.binary(BinaryOp::Add, a, b);
    if up {
        sum = c.binary(BinaryOp::Add, sum, Expr::int(Scalar::I64, 1));
    }
    Ok(Some(c.binary(BinaryOp::Shr, sum, Expr::i32(1)).cast(Type::Scalar(ty))))
}

/// A funnel shift whose count stops at 32 instead of wrapping: then one word is the result.
fn clamped(c: &mut Call<'_>, f: MathFn) -> Lowered {
    c.arity(3)?;
    let args = c.all(Scalar::U32)?;
    let count = c.held(args[2].clone());
    let full = c.binary(BinaryOp::Ge, count.clone(), c.u32(32));
    let whole = args[if f == MathFn::FunnelShiftLeft { 0 } else { 1 }].clone();
    let shifted = c.same(f, vec![args[0].clone(), args[1].clone(), count]);
    Ok(Some(c.select(full, whole, shifted)))
}
