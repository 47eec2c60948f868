//! Constants: one scalar of a known type.

use half::{bf16, f16};

use crate::types::Scalar;

/// A scalar constant. The bits are those of the type, zero-extended to 64 (signed integers are
/// sign-extended from their width when read by [`Value::as_i64`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The type.
    pub ty: Scalar,
    /// The bits, as described above; those beyond the type's width are 0.
    pub bits: u64,
}

impl Value {
    /// An integer wrapped to the width of `ty`; converted when `ty` is floating.
    pub fn int(ty: Scalar, value: i64) -> Value {
        if ty.is_float() {
            return Value::float(ty, value as f64);
        }
        let bits = match ty {
            Scalar::Bool => u64::from(value != 0),
            _ => (value as u64) & mask(ty),
        };
        Value { ty, bits }
    }

    /// A real rounded to the nearest value of `ty`; truncated toward zero when `ty` is an integer.
    pub fn float(ty: Scalar, value: f64) -> Value {
        let bits = match ty {
            Scalar::F16 => f16::from_f32(round_to_odd(value)).to_bits().into(),
            Scalar::BF16 => bf16::from_f32(round_to_odd(value)).to_bits().into(),
            Scalar::F32 => (value as f32).to_bits().into(),
            Scalar::F64 => value.to_bits(),
            Scalar::Bool => u64::from(value != 0.0),
            Scalar::U64 => value as u64,
            _ => (value as i64 as u64) & mask(ty),
        };
        Value { ty, bits }
    }

    /// A value of type `Bool`.
    pub fn bool(value: bool) -> Value {
        Value { ty: Scalar::Bool, bits: value.into() }
    }

    /// A value of type `I32`.
    pub fn i32(value: i32) -> Value {
        Value::int(Scalar::I32, value.into())
    }

    /// The value as a signed integer; reals are truncated, `u64` beyond the range wraps.
    pub fn as_i64(self) -> i64 {
        match self.ty {
            Scalar::I8 => self.bits as i8 as i64,
            Scalar::I16 => self.bits as i16 as i64,
            Scalar::I32 => self.bits as i32 as i64,
            t if t.is_float() => self.as_f64() as i64,
            _ => self.bits as i64,
        }
    }

    /// The value as a real.
    pub fn as_f64(self) -> f64 {
        match self.ty {
            Scalar::F16 => f16::from_bits(self.bits as u16).to_f64(),
            Scalar::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            Scalar::F32 => f64::from(f32::from_bits(self.bits as u32)),
            Scalar::F64 => f64::from_bits(self.bits),
            Scalar::U64 => self.bits as f64,
            _ => self.as_i64() as f64,
        }
    }

    /// The constant in another type, where the conversion is exact or defined by rounding; `None`: leave it to run time.
    pub fn convert(self, to: Scalar) -> Option<Value> {
        let huge = self.ty == Scalar::U64 && self.bits > i64::MAX as u64;
        match (self.ty.is_float(), to.is_float()) {
            (true, true) => Some(Value::float(to, self.as_f64())),
            (false, true) if !huge => {
                Some(Value::float(to, self.as_i64() as f64)).filter(|_| exact(self.as_i64(), to))
            }
            (false, false) => Some(Value::int(to, self.as_i64())),
            _ => None,
        }
    }

    /// Whether it is not 0, as C decides conditions; a NaN is true.
    pub fn is_true(self) -> bool {
        if self.ty.is_float() { self.as_f64() != 0.0 } else { self.bits != 0 }
    }
}

/// Does the integer survive the conversion? Otherwise two roundings could differ from one.
fn exact(v: i64, to: Scalar) -> bool {
    let bits = match to {
        Scalar::F64 => 53,
        Scalar::F32 => 24,
        Scalar::F16 => 11,
        _ => 8,
    };
    v.unsigned_abs() <= 1 << bits
}

/// `value` as `f32`, such that rounding the result again to a type of at most 22 bits gives what
/// rounding `value` itself would: an inexact result has its last bit set (rounding to odd).
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || nearest.is_nan() {
        return nearest;
    }
    if nearest.is_infinite() {
        return f32::MAX.copysign(nearest);
    }
    let bits = nearest.to_bits();
    if bits & 1 == 1 {
        return nearest;
    }
    let outward = value.abs() > f64::from(nearest.abs());
    f32::from_bits(if outward { bits + 1 } else { bits - 1 })
}

/// The bits an integer type has.
pub(crate) fn mask(ty: Scalar) -> u64 {
    u64::MAX >> (64 - 8 * ty.bytes())
}
