//! What the operators and functions of the IR compute on constants.
//!
//! Constant folding, the reference interpreter and tests share these definitions; the emulator has
//! its own, so that the two check each other. All functions are total: operands that the verifier
//! would refuse give some value of the right type, never a panic.
//!
//! * Integers wrap. `x / 0` is all ones, `x % 0` is `x`, `MIN / -1` is `MIN`, as on the device.
//! * A shift by the width or more gives 0, or the sign's fill for an arithmetic right shift. A
//!   negative count is a large one.
//! * `f16` and `bf16` are computed in `f32` and rounded once.

mod math;

pub use math::{math, math_result};

use crate::expr::{BinaryOp, UnaryOp};
use crate::types::Scalar;
use crate::value::{Value, mask};

/// `op a`, of the type of `a`.
pub fn unary(op: UnaryOp, a: Value) -> Value {
    let ty = a.ty;
    match op {
        UnaryOp::Not => Value::bool(!a.is_true()),
        UnaryOp::Neg if ty.is_float() => Value { ty, bits: a.bits ^ sign_bit(ty) },
        UnaryOp::Neg => Value::int(ty, a.as_i64().wrapping_neg()),
        UnaryOp::BitNot if ty == Scalar::Bool => Value::bool(a.bits == 0),
        UnaryOp::BitNot => Value { ty, bits: !a.bits & mask(ty) },
    }
}

/// `a op b`: `bool` for comparisons and logical operators, else of the type of `a`.
#[inline]
pub fn binary(op: BinaryOp, a: Value, b: Value) -> Value {
    match op {
        BinaryOp::Shl | BinaryOp::Shr => shift(op, a, b),
        BinaryOp::LogicalAnd => Value::bool(a.is_true() && b.is_true()),
        BinaryOp::LogicalOr => Value::bool(a.is_true() || b.is_true()),
        _ if op.is_comparison() => Value::bool(compare(op, a, b)),
        _ => match a.ty {
            Scalar::F32 => f32_value(arithmetic_f32(op, as_f32(a), as_f32(b))),
            Scalar::F64 => f64_value(arithmetic_f64(op, a.as_f64(), b.as_f64())),
            Scalar::F16 | Scalar::BF16 => {
                let exact = arithmetic_f32(op, as_f32(a), as_f32(b));
                Value::float(a.ty, exact.into())
            }
            _ => arithmetic_int(op, a, b),
        },
    }
}

/// Whether an integer type holds the whole part of a real, where a real is converted to one.
pub fn fits(a: Value, to: Scalar) -> bool {
    if !a.ty.is_float() || !to.is_integer() || to == Scalar::Bool {
        return true;
    }
    let bits = 8 * to.bytes() as i32 - i32::from(to.is_signed());
    let (whole, beyond) = (a.as_f64().trunc(), 2f64.powi(bits));
    let least = if to.is_signed() { -beyond } else { 0.0 };
    whole >= least && whole < beyond
}

/// The value converted as C converts it: reals to integers truncate and saturate, NaN gives 0;
/// integers to reals round to nearest; anything nonzero gives `true`.
#[inline]
pub fn cast(a: Value, to: Scalar) -> Value {
    match (a.ty.is_float(), to.is_float()) {
        _ if a.ty == to => a,
        _ if to == Scalar::Bool => Value::bool(a.is_true()),
        (false, false) => Value { ty: to, bits: a.as_i64() as u64 & mask(to) },
        (false, true) => int_to_float(a, to),
        (true, false) => float_to_int(a.as_f64(), to),
        (true, true) => Value::float(to, a.as_f64()),
    }
}

/// The same bits as another type. Bits beyond the narrower of the two types are zero.
pub fn bitcast(a: Value, to: Scalar) -> Value {
    if to == Scalar::Bool {
        return Value::bool(a.bits & 0xff != 0);
    }
    Value { ty: to, bits: a.bits & mask(to) }
}

/// The scalar stored at the start of `bytes`, little-endian; `None` when they are too few.
pub fn from_bytes(ty: Scalar, bytes: &[u8]) -> Option<Value> {
    let width = ty.bytes() as usize;
    let mut wide = [0u8; 8];
    wide[..width].copy_from_slice(bytes.get(..width)?);
    let bits = u64::from_le_bytes(wide);
    Some(if ty == Scalar::Bool { Value::bool(bits != 0) } else { Value { ty, bits } })
}

/// The bytes of the scalar in memory, little-endian: the first `ty.bytes()` of the array.
pub fn to_bytes(a: Value) -> [u8; 8] {
    a.bits.to_le_bytes()
}

/// The value of a real type as `f32`; exact for all but `f64` and wide integers.
pub(crate) fn as_f32(a: Value) -> f32 {
    match a.ty {
        Scalar::F32 => f32::from_bits(a.bits as u32),
        _ => a.as_f64() as f32,
    }
}

pub(crate) fn f32_value(x: f32) -> Value {
    Value { ty: Scalar::F32, bits: x.to_bits().into() }
}

pub(crate) fn f64_value(x: f64) -> Value {
    Value { ty: Scalar::F64, bits: x.to_bits() }
}

/// The topmost bit of a type.
fn sign_bit(ty: Scalar) -> u64 {
    1 << (8 * ty.bytes() - 1)
}

fn arithmetic_f32(op: BinaryOp, a: f32, b: f32) -> f32 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        _ => f32::NAN,
    }
}

fn arithmetic_f64(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        _ => f64::NAN,
    }
}

#[inline]
fn arithmetic_int(op: BinaryOp, a: Value, b: Value) -> Value {
    let ty = a.ty;
    let (x, y) = (a.as_i64(), b.as_i64());
    let result = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div if y == 0 => -1,
        BinaryOp::Rem if y == 0 => x,
        BinaryOp::Div if ty.is_signed() => x.wrapping_div(y),
        BinaryOp::Rem if ty.is_signed() => x.wrapping_rem(y),
        BinaryOp::Div => (a.bits / b.bits.max(1)) as i64,
        BinaryOp::Rem => (a.bits % b.bits.max(1)) as i64,
        BinaryOp::BitAnd => x & y,
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        _ => 0,
    };
    Value::int(ty, result)
}

fn shift(op: BinaryOp, a: Value, b: Value) -> Value {
    let ty = a.ty;
    let width = u64::from(8 * ty.bytes());
    let count = b.as_i64() as u64;
    let bits = match op {
        BinaryOp::Shl if count >= width => 0,
        BinaryOp::Shl => a.bits << count,
        _ if ty.is_signed() => (a.as_i64() >> count.min(63)) as u64,
        _ if count >= width => 0,
        _ => a.bits >> count,
    };
    Value { ty, bits: bits & mask(ty) }
}

#[inline]
fn compare(op: BinaryOp, a: Value, b: Value) -> bool {
    if a.ty.is_float() {
        let (x, y) = (a.as_f64(), b.as_f64());
        ordered(op, x.partial_cmp(&y))
    } else if a.ty.is_signed() {
        ordered(op, Some(a.as_i64().cmp(&b.as_i64())))
    } else {
        ordered(op, Some(a.bits.cmp(&b.bits)))
    }
}

/// A comparison from the order of its operands; `None` is unordered (a NaN), for which only `!=` holds.
#[inline]
fn ordered(op: BinaryOp, order: Option<std::cmp::Ordering>) -> bool {
    let Some(order) = order else {
        return op == BinaryOp::Ne;
    };
    match op {
        BinaryOp::Lt => order.is_lt(),
        BinaryOp::Le => order.is_le(),
        BinaryOp::Gt => order.is_gt(),
        BinaryOp::Ge => order.is_ge(),
        BinaryOp::Eq => order.is_eq(),
        _ => order.is_ne(),
    }
}

fn int_to_float(a: Value, to: Scalar) -> Value {
    match (to, a.ty) {
        (Scalar::F32, Scalar::U64) => f32_value(a.bits as f32),
        (Scalar::F32, _) => f32_value(a.as_i64() as f32),
        (_, Scalar::U64) if to == Scalar::BF16 => odd_to_bf16(a.bits.into()),
        _ if to == Scalar::BF16 => odd_to_bf16(a.as_i64().into()),
        // f16 is infinite long before an integer stops being exact as f64.
        _ => Value::float(to, a.as_f64()),
    }
}

/// An integer rounded to `bf16` once: the bits that an `f64` cannot hold are kept as its last bit.
fn odd_to_bf16(x: i128) -> Value {
    let nearest = x as f64;
    let back = nearest as i128;
    let bits = nearest.to_bits();
    let odd = match back.unsigned_abs().cmp(&x.unsigned_abs()) {
        std::cmp::Ordering::Equal => bits,
        _ if bits & 1 == 1 => bits,
        std::cmp::Ordering::Less => bits + 1,
        std::cmp::Ordering::Greater => bits - 1,
    };
    Value::float(Scalar::BF16, f64::from_bits(odd))
}

fn float_to_int(x: f64, to: Scalar) -> Value {
    // `as` truncates, saturates and sends NaN to 0. Narrow types get the low bits of the conversion to 32, as compilers do.
    let bits = match to {
        Scalar::I8 | Scalar::I16 => x as i32 as u64,
        Scalar::U8 | Scalar::U16 => (x as u32).into(),
        Scalar::I32 => x as i32 as u64,
        Scalar::U32 => (x as u32).into(),
        Scalar::I64 => x as i64 as u64,
        _ => x as u64,
    };
    Value { ty: to, bits: bits & mask(to) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(ty: Scalar, x: i64) -> Value {
        Value::int(ty, x)
    }

    #[test]
    fn reals_beyond_a_narrow_type_lose_their_high_bits() {
        let cast = |x: f64, to| cast(Value::float(Scalar::F32, x), to).as_i64();
        assert_eq!(cast(128.0, Scalar::I8), -128);
        assert_eq!(cast(300.7, Scalar::U8), 44);
        assert_eq!(cast(-1.5, Scalar::U8), 0);
        assert_eq!(cast(70_000.0, Scalar::I16), 4464);
        assert_eq!(cast(-7.9, Scalar::I8), -7);
        assert_eq!(cast(3e9, Scalar::I32), i64::from(i32::MAX));
    }

    #[test]
    fn reals_fit_types_that_hold_their_whole_part() {
        let all = |to| {
            [-129.0, -128.9, -1.0, -0.9, 127.9, 128.0, 255.9, 256.0, f64::NAN]
                .map(|x| fits(Value::float(Scalar::F64, x), to))
        };
        let signed = [false, true, true, true, true, false, false, false, false];
        assert_eq!(all(Scalar::I8), signed);
        assert_eq!(all(Scalar::U8), [false, false, false, true, true, true, true, false, false]);
        assert!(fits(Value::float(Scalar::F64, 1e19), Scalar::U64));
        assert!(!fits(Value::float(Scalar::F64, 9.3e18), Scalar::I64));
        assert!(
            fits(int(Scalar::I32, 300), Scalar::U8)
                && fits(Value::float(Scalar::F32, 9.0), Scalar::Bool)
        );
    }

    #[test]
    fn integers_wrap_and_divide_as_on_the_device() {
        use BinaryOp::*;
        let i = |x| int(Scalar::I32, x);
        assert_eq!(binary(Add, i(i32::MAX.into()), i(1)), i(i32::MIN.into()));
        assert_eq!(binary(Div, i(i32::MIN.into()), i(-1)), i(i32::MIN.into()));
        assert_eq!(binary(Rem, i(i32::MIN.into()), i(-1)), i(0));
        assert_eq!(binary(Div, i(7), i(0)), i(-1));
        assert_eq!(binary(Rem, i(7), i(0)), i(7));
        assert_eq!(binary(Div, i(-7), i(2)), i(-3));
        let u = |x| int(Scalar::U32, x);
        assert_eq!(binary(Div, u(-1), u(2)), u(0x7fff_ffff));
        assert_eq!(binary(Div, u(5), u(0)), u(-1));
        let long = |x| int(Scalar::I64, x);
        assert_eq!(binary(Div, long(i64::MIN), long(-1)), long(i64::MIN));
        assert_eq!(binary(Lt, u(-1), u(1)), Value::bool(false));
        assert_eq!(binary(Lt, i(-1), i(1)), Value::bool(true));
        assert_eq!(unary(UnaryOp::Neg, i(i32::MIN.into())), i(i32::MIN.into()));
        assert_eq!(unary(UnaryOp::BitNot, int(Scalar::U8, 0x0f)), int(Scalar::U8, 0xf0));
    }

    #[test]
    fn shifts_saturate() {
        use BinaryOp::*;
        let i = |x| int(Scalar::I32, x);
        assert_eq!(binary(Shl, i(1), i(31)), i(i32::MIN.into()));
        assert_eq!(binary(Shl, i(1), i(32)), i(0));
        assert_eq!(binary(Shr, i(-8), i(1)), i(-4));
        assert_eq!(binary(Shr, i(-8), i(40)), i(-1));
        assert_eq!(binary(Shr, i(-8), i(-1)), i(-1));
        assert_eq!(binary(Shr, int(Scalar::U32, -8), i(40)), int(Scalar::U32, 0));
        assert_eq!(binary(Shr, int(Scalar::I64, i64::MIN), i(64)), int(Scalar::I64, -1));
    }

    #[test]
    fn conversions_saturate_and_round_once() {
        let f = |x: f64| Value::float(Scalar::F32, x);
        assert_eq!(cast(f(3e9), Scalar::I32), int(Scalar::I32, i32::MAX.into()));
        assert_eq!(cast(f(-3.9), Scalar::I32), int(Scalar::I32, -3));
        assert_eq!(cast(f(f64::NAN), Scalar::I64), int(Scalar::I64, 0));
        assert_eq!(cast(f(-1.0), Scalar::U32), int(Scalar::U32, 0));
        assert_eq!(cast(int(Scalar::U64, -1), Scalar::F32), f(2f64.powi(64)));
        assert_eq!(cast(int(Scalar::I8, -1), Scalar::U32), int(Scalar::U32, 0xffff_ffff));
        assert_eq!(cast(int(Scalar::U32, -1), Scalar::I64), int(Scalar::I64, 0xffff_ffff));
        // Just above half a unit in the last place: rounding by way of f64 or f32 would go down.
        let sticky = (1i64 << 62) + (1 << 54) + 1;
        assert_eq!(
            cast(int(Scalar::I64, sticky), Scalar::BF16).as_f64(),
            (1i64 << 62) as f64 * (1.0 + 1.0 / 128.0)
        );
        let just_above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(cast(f64_value(just_above), Scalar::F16).as_f64(), 1.0 + 2f64.powi(-10));
        assert_eq!(cast(f64_value(1.0 + 2f64.powi(-11)), Scalar::F16).as_f64(), 1.0);
    }

    #[test]
    fn small_floats_round_once() {
        let h = |x: f64| Value::float(Scalar::F16, x);
        assert_eq!(binary(BinaryOp::Add, h(2048.0), h(1.0)), h(2048.0));
        assert_eq!(binary(BinaryOp::Add, h(2048.0), h(3.0)), h(2052.0));
        assert_eq!(binary(BinaryOp::Mul, h(65504.0), h(2.0)), h(f64::INFINITY));
        assert_eq!(unary(UnaryOp::Neg, h(0.0)).bits, 0x8000);
    }

    #[test]
    fn nan_is_unordered() {
        let nan = Value::float(Scalar::F64, f64::NAN);
        for op in [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Eq] {
            assert_eq!(binary(op, nan, nan), Value::bool(false));
        }
        assert_eq!(binary(BinaryOp::Ne, nan, nan), Value::bool(true));
    }

    #[test]
    fn bytes_round_trip() {
        for ty in Scalar::ALL {
            let v = Value::int(ty, 1);
            let bytes = to_bytes(v);
            assert_eq!(from_bytes(ty, &bytes[..ty.bytes() as usize]), Some(v));
            assert_eq!(from_bytes(ty, &bytes[..ty.bytes() as usize - 1]), None);
        }
        assert_eq!(from_bytes(Scalar::I16, &[0xfe, 0xff]), Some(int(Scalar::I16, -2)));
        assert_eq!(
            bitcast(Value::float(Scalar::F32, 1.0), Scalar::I32),
            int(Scalar::I32, 0x3f80_0000)
        );
    }
}
