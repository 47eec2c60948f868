//! C's arithmetic conversions.

use warpsmith_ir::Scalar;

/// The common type of two operands.
pub fn usual(a: Scalar, b: Scalar) -> Scalar {
    if a.is_float() || b.is_float() {
        return if real_rank(a) >= real_rank(b) { a } else { b };
    }
    let (a, b) = (promote(a), promote(b));
    let (wide, narrow) = if a.bytes() >= b.bytes() { (a, b) } else { (b, a) };
    // Of equal width the unsigned one wins; a wider signed type holds every narrower value.
    if wide.bytes() == narrow.bytes() && !narrow.is_signed() { narrow } else { wide }
}

fn real_rank(s: Scalar) -> u8 {
    match s {
        Scalar::F64 => 4,
        Scalar::F32 => 3,
        Scalar::BF16 => 2,
        Scalar::F16 => 1,
        _ => 0,
    }
}

/// Integers narrower than `int` become `int`.
pub fn promote(s: Scalar) -> Scalar {
    match s {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Scalar::I32,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_conversions_follow_c() {
        use Scalar::*;
        for (a, b, common) in [
            (I8, U16, I32),
            (I32, U32, U32),
            (U32, I64, I64),
            (I64, U64, U64),
            (I32, F16, F16),
            (F32, F64, F64),
            (U64, F32, F32),
            (Bool, Bool, I32),
        ] {
            assert_eq!(usual(a, b), common, "{a} {b}");
            assert_eq!(usual(b, a), common, "{b} {a}");
        }
    }
}
