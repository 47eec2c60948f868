//! C's arithmetic conversions: which type an expression has once it is written down.

use warpsmith_ir::Scalar;

/// The integer promotions: what a small integer becomes as an operand.
pub(crate) fn promote(s: Scalar) -> Scalar {
    match s {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Scalar::I32,
        other => other,
    }
}

/// The usual arithmetic conversions: the type in which `a op b` is computed. `None` where C++ has no
/// unambiguous answer (half precision mixed with another type).
pub(crate) fn common(a: Scalar, b: Scalar) -> Option<Scalar> {
    use Scalar::*;
    let half = |s| matches!(s, F16 | BF16);
    if half(a) || half(b) {
        return (a == b).then_some(a);
    }
    if a == F64 || b == F64 {
        return Some(F64);
    }
    if a == F32 || b == F32 {
        return Some(F32);
    }
    let (a, b) = (promote(a), promote(b));
    Some(match (a, b) {
        (U64, _) | (_, U64) => U64,
        (I64, _) | (_, I64) => I64,
        (U32, _) | (_, U32) => U32,
        _ => I32,
    })
}

/// Whether every value of `from` is a value of `to`.
pub(crate) fn lossless(from: Scalar, to: Scalar) -> bool {
    use Scalar::*;
    if from == to || from == Bool {
        return true;
    }
    let bits = |s: Scalar| 8 * s.bytes();
    match (from.is_float(), to.is_float()) {
        (true, true) => bits(from) < bits(to),
        (true, false) => false,
        (false, true) => {
            let mantissa = match to {
                F64 => 53,
                F32 => 24,
                F16 => 11,
                _ => 8,
            };
            bits(from) - u32::from(from.is_signed()) <= mantissa
        }
        (false, false) if to == Bool => false,
        (false, false) => match (from.is_signed(), to.is_signed()) {
            (true, true) | (false, false) => bits(from) <= bits(to),
            (false, true) => bits(from) < bits(to),
            (true, false) => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scalar::*;

    #[test]
    fn conversions_follow_the_c_standard() {
        assert_eq!(common(I16, U8), Some(I32));
        assert_eq!(common(I32, U32), Some(U32));
        assert_eq!(common(U32, I64), Some(I64));
        assert_eq!(common(I64, U64), Some(U64));
        assert_eq!(common(I64, F32), Some(F32));
        assert_eq!(common(F32, F64), Some(F64));
        assert_eq!(common(F16, F16), Some(F16));
        assert_eq!(common(F16, F32), None);
    }

    #[test]
    fn lossless_conversions_keep_every_value() {
        assert!(lossless(I32, I64) && lossless(U32, I64) && lossless(U8, I16));
        assert!(!lossless(I32, U64) && !lossless(U32, I32) && !lossless(I64, I32));
        assert!(lossless(I16, F32) && !lossless(I32, F32) && lossless(U32, F64));
        assert!(lossless(F32, F64) && !lossless(F64, F32) && lossless(Bool, U8));
        assert!(!lossless(I8, Bool) && !lossless(F32, I64));
    }
}
