//! The operators, each compiled for the types that loops of the host are full of.

use super::code::Binary;
use crate::eval;
use crate::expr::BinaryOp;
use crate::types::Scalar;
use crate::value::Value;

/// Writes a function of an operator and a type out, and picks it.
macro_rules! table {
    ($op:expr, $ty:expr, [$($o:ident)*], $types:tt) => {
        match $op {
            $(BinaryOp::$o => table!(@types $o, $ty, $types),)*
            _ => None,
        }
    };
    (@types $o:ident, $ty:expr, [$($t:ident)*]) => {
        match $ty {
            $(Scalar::$t => {
                #[inline]
                fn f(a: u64, b: u64) -> u64 {
                    let value = |bits| Value { ty: Scalar::$t, bits };
                    eval::binary(BinaryOp::$o, value(a), value(b)).bits
                }
                fn many(a: &[u64], b: &[u64], to: &mut [u64]) {
                    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                        *to = f(*a, *b);
                    }
                }
                Some(Binary { one: f, many, op: BinaryOp::$o, ty: Scalar::$t })
            })*
            _ => None,
        }
    };
}

/// The operator on two operands of one type; `None` where it is not written out.
pub(super) fn binary(op: BinaryOp, ty: Scalar) -> Option<Binary> {
    table!(
        op,
        ty,
        [Add Sub Mul Div Rem BitAnd BitOr BitXor Lt Le Gt Ge Eq Ne],
        [I32 U32 I64 U64 F32 F64]
    )
}

/// Writes a conversion out for pairs of types, and runs it.
macro_rules! casts {
    ($from:expr, $to:expr, $a:expr, $out:expr, [$($f:ident $t:ident),*]) => {
        match ($from, $to) {
            $((Scalar::$f, Scalar::$t) => {
                for (out, a) in $out.iter_mut().zip($a) {
                    *out = eval::cast(Value { ty: Scalar::$f, bits: *a }, Scalar::$t).bits;
                }
            })*
            (from, to) => {
                for (out, a) in $out.iter_mut().zip($a) {
                    *out = eval::cast(Value { ty: from, bits: *a }, to).bits;
                }
            }
        }
    };
}

/// Values as another type.
pub(super) fn cast(from: Scalar, to: Scalar, a: &[u64], out: &mut [u64]) {
    casts!(
        from,
        to,
        a,
        out,
        [
            I32 F32, I32 F64, U32 F32, U32 F64, F32 F64, F64 F32, F32 I32, F64 I32, I32 I64, I64 I32,
            I32 U32, U32 I32, I32 U64, U64 I32, U32 U64, U32 I64, U64 U32, U64 I64, I64 U64
        ]
    );
}

/// The bit of a real's sign.
pub(super) fn sign(ty: Scalar) -> Option<u64> {
    match ty {
        Scalar::F32 => Some(1 << 31),
        Scalar::F64 => Some(1 << 63),
        _ => None,
    }
}
