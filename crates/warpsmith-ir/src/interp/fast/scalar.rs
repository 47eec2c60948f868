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
                fn f(a: u64, b: u64) -> u64 {
                    let value = |bits| Value { ty: Scalar::$t, bits };
                    eval::binary(BinaryOp::$o, value(a), value(b)).bits
                }
                Some(f as Binary)
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
