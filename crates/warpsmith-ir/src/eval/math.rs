//! The math library: every [`MathFn`] in every type it is defined for.
//!
//! `f32` functions are the platform's single-precision ones where Rust exposes them, so that results
//! equal a C compiler's reference; what the platform has no access to comes from the `libm` crate.
//! Integer operands of a real function are computed in `f64` and converted back.

use super::{as_f32, cast, f32_value, f64_value, sign_bit};
use crate::expr::MathFn;
use crate::types::Scalar;
use crate::value::{Value, mask};

/// The result type of a function whose first operand has type `operand`.
pub fn math_result(function: MathFn, operand: Scalar) -> Scalar {
    use MathFn::*;
    match function {
        Popc | Clz | Ffs => Scalar::I32,
        IsNan | IsInf | IsFinite | SignBit => Scalar::Bool,
        _ => operand,
    }
}

/// The function's value. A missing operand counts as zero; surplus ones are ignored.
pub fn math(function: MathFn, args: &[Value]) -> Value {
    let Some(&first) = args.first() else {
        return Value::i32(0);
    };
    let at = |i: usize| args.get(i).copied().unwrap_or(Value { ty: first.ty, bits: 0 });
    let args = [first, at(1), at(2)];
    if let Some(value) = on_bits(function, args) {
        return value;
    }
    let value = match first.ty {
        Scalar::F32 => f32_value(real32(function, args)),
        Scalar::F64 => f64_value(real64(function, args.map(Value::as_f64))),
        Scalar::F16 | Scalar::BF16 => small(function, args),
        ty => integer(function, args)
            .unwrap_or_else(|| cast(f64_value(real64(function, args.map(Value::as_f64))), ty)),
    };
    // Types differ only for operands that the verifier refuses (`popc` of a real).
    cast(value, math_result(function, first.ty))
}

/// Functions of a real's representation, the same for all real types.
fn on_bits(function: MathFn, [a, b, _]: [Value; 3]) -> Option<Value> {
    if !a.ty.is_float() {
        return None;
    }
    let (ty, sign) = (a.ty, sign_bit(a.ty));
    let x = a.as_f64();
    Some(match function {
        MathFn::IsNan => Value::bool(x.is_nan()),
        MathFn::IsInf => Value::bool(x.is_infinite()),
        MathFn::IsFinite => Value::bool(x.is_finite()),
        MathFn::SignBit => Value::bool(a.bits & sign != 0),
        MathFn::Abs => Value { ty, bits: a.bits & !sign },
        MathFn::Copysign => Value { ty, bits: (a.bits & !sign) | (b.bits & sign) },
        MathFn::Nextafter => next_after(a, b),
        MathFn::Min | MathFn::Max => extremum(function == MathFn::Max, a, b),
        _ => return None,
    })
}

/// C's `fmin` and `fmax`: the operand that is a number; −0 is less than +0.
fn extremum(max: bool, a: Value, b: Value) -> Value {
    let (x, y) = (a.as_f64(), b.as_f64());
    if x.is_nan() {
        return b;
    }
    if y.is_nan() {
        return a;
    }
    let a_is_less = if x == y { x.is_sign_negative() } else { x < y };
    if a_is_less != max { a } else { b }
}

/// The neighbour of `a` towards `b`.
fn next_after(a: Value, b: Value) -> Value {
    let (x, y) = (a.as_f64(), b.as_f64());
    if x.is_nan() || y.is_nan() {
        return Value::float(a.ty, f64::NAN);
    }
    if x == y {
        return b;
    }
    if x == 0.0 {
        let sign = if y < 0.0 { sign_bit(a.ty) } else { 0 };
        return Value { ty: a.ty, bits: sign | 1 };
    }
    let away_from_zero = (y > x) == (x > 0.0);
    Value { ty: a.ty, bits: if away_from_zero { a.bits + 1 } else { a.bits - 1 } }
}

/// `f16` and `bf16`: computed in `f32`, rounded once.
fn small(function: MathFn, args: [Value; 3]) -> Value {
    let ty = args[0].ty;
    if function == MathFn::Fma {
        let [a, b, c] = args.map(Value::as_f64);
        // The product is exact in f64; the sum may not be, hence rounding to odd before the last.
        return Value::float(ty, add_to_odd(a * b, c));
    }
    let second = if function == MathFn::Ldexp { args[1] } else { widen(args[1]) };
    Value::float(ty, real32(function, [widen(args[0]), second, widen(args[2])]).into())
}

fn widen(a: Value) -> Value {
    f32_value(as_f32(a))
}

/// `a + b` rounded to odd: inexact sums have their last bit set.
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    if error == 0.0 || bits & 1 == 1 {
        return sum;
    }
    let outward = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if outward { bits + 1 } else { bits - 1 })
}

fn exponent(a: Value) -> i32 {
    a.as_i64().clamp(-5000, 5000) as i32
}

/// Real functions in single precision.
fn real32(function: MathFn, args: [Value; 3]) -> f32 {
    use MathFn::*;
    let [a, b, c] = args.map(as_f32);
    match function {
        Sqrt => a.sqrt(),
        Cbrt => a.cbrt(),
        Rcp => 1.0 / a,
        Exp => a.exp(),
        Exp2 => a.exp2(),
        Exp10 => libm::exp10f(a),
        Expm1 => a.exp_m1(),
        Log => a.ln(),
        Log2 => a.log2(),
        Log10 => a.log10(),
        Log1p => a.ln_1p(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tan => a.tan(),
        Asin => a.asin(),
        Acos => a.acos(),
        Atan => a.atan(),
        Atan2 => a.atan2(b),
        Sinh => a.sinh(),
        Cosh => a.cosh(),
        Tanh => a.tanh(),
        Asinh => libm::asinhf(a),
        Acosh => libm::acoshf(a),
        Atanh => libm::atanhf(a),
        Pow => a.powf(b),
        Fmod => a % b,
        Remainder => libm::remainderf(a, b),
        Hypot => a.hypot(b),
        Ldexp => libm::ldexpf(a, exponent(args[1])),
        Erf => libm::erff(a),
        Erfc => libm::erfcf(a),
        Tgamma => libm::tgammaf(a),
        Lgamma => libm::lgammaf(a),
        Floor => a.floor(),
        Ceil => a.ceil(),
        Trunc => a.trunc(),
        Round => a.round(),
        Rint => a.round_ties_even(),
        Fma => a.mul_add(b, c),
        Fdim => libm::fdimf(a, b),
        Saturate => saturate(a.into()) as f32,
        // Not in C's library: the double-precision value, rounded.
        _ => real64(function, [a.into(), b.into(), c.into()]) as f32,
    }
}

/// Real functions in double precision.
fn real64(function: MathFn, [a, b, c]: [f64; 3]) -> f64 {
    use MathFn::*;
    match function {
        Sqrt => a.sqrt(),
        Rsqrt => 1.0 / a.sqrt(),
        Cbrt => a.cbrt(),
        Rcbrt => 1.0 / a.cbrt(),
        Rcp => 1.0 / a,
        Exp => a.exp(),
        Exp2 => a.exp2(),
        Exp10 => libm::exp10(a),
        Expm1 => a.exp_m1(),
        Log => a.ln(),
        Log2 => a.log2(),
        Log10 => a.log10(),
        Log1p => a.ln_1p(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tan => a.tan(),
        Sinpi => sin_pi(a),
        Cospi => cos_pi(a),
        Asin => a.asin(),
        Acos => a.acos(),
        Atan => a.atan(),
        Atan2 => a.atan2(b),
        Sinh => a.sinh(),
        Cosh => a.cosh(),
        Tanh => a.tanh(),
        Asinh => libm::asinh(a),
        Acosh => libm::acosh(a),
        Atanh => libm::atanh(a),
        Pow => a.powf(b),
        Fmod => a % b,
        Remainder => libm::remainder(a, b),
        Hypot => a.hypot(b),
        Ldexp => libm::ldexp(a, b.clamp(-5000.0, 5000.0) as i32),
        Erf => libm::erf(a),
        Erfc => libm::erfc(a),
        Tgamma => libm::tgamma(a),
        Lgamma => libm::lgamma(a),
        Normcdf => 0.5 * libm::erfc(-a * std::f64::consts::FRAC_1_SQRT_2),
        Floor => a.floor(),
        Ceil => a.ceil(),
        Trunc => a.trunc(),
        Round => a.round(),
        Rint => a.round_ties_even(),
        Fma => a.mul_add(b, c),
        Fdim => libm::fdim(a, b),
        Saturate => saturate(a),
        // Defined on representations or on integers; dispatched before.
        Abs | Min | Max | Copysign | Nextafter | IsNan | IsInf | IsFinite | SignBit | Popc
        | Clz | Ffs | Brev | MulHi | Mul24 | Sad | BytePerm | FunnelShiftLeft
        | FunnelShiftRight | Dp4a | Settled | MapShared | SharedRank => f64::NAN,
    }
}

/// Clamped to [0, 1]; NaN gives 0.
fn saturate(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// sin(πx): exact at multiples of ½.
fn sin_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    if x == x.trunc() {
        return 0f64.copysign(x);
    }
    let r = x % 2.0;
    // Reflected into [-½, ½], where the series is best; the subtractions are exact.
    let near = if r > 0.5 && r <= 1.5 {
        1.0 - r
    } else if r > 1.5 {
        r - 2.0
    } else if (-1.5..-0.5).contains(&r) {
        -1.0 - r
    } else if r < -1.5 {
        r + 2.0
    } else {
        r
    };
    (std::f64::consts::PI * near).sin()
}

/// cos(πx): exact at multiples of ½.
fn cos_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let r = (x % 2.0).abs();
    let r = if r > 1.0 { 2.0 - r } else { r };
    if r == 0.5 {
        return 0.0;
    }
    // Away from 0 the sine of the complement keeps more bits.
    if r > 0.25 {
        (std::f64::consts::PI * (0.5 - r)).sin()
    } else {
        (std::f64::consts::PI * r).cos()
    }
}

/// Integer functions; `None` for a real function.
fn integer(function: MathFn, [a, b, c]: [Value; 3]) -> Option<Value> {
    use MathFn::*;
    let ty = a.ty;
    let width = 8 * ty.bytes();
    let (x, y, z) = (a.as_i64(), b.as_i64(), c.as_i64());
    let wrapped = |bits: u64| {
        let bits = if ty == Scalar::Bool { u64::from(bits != 0) } else { bits & mask(ty) };
        Some(Value { ty, bits })
    };
    let less = if ty.is_signed() { x < y } else { a.bits < b.bits };
    match function {
        Abs if ty.is_signed() => wrapped(x.unsigned_abs()),
        Abs => Some(a),
        Min => Some(if less { a } else { b }),
        Max => Some(if less { b } else { a }),
        Popc => Some(Value::i32(a.bits.count_ones() as i32)),
        Clz => Some(Value::i32(a.bits.leading_zeros() as i32 - (64 - width as i32))),
        Ffs if a.bits == 0 => Some(Value::i32(0)),
        Ffs => Some(Value::i32(a.bits.trailing_zeros() as i32 + 1)),
        Brev => wrapped(a.bits.reverse_bits() >> (64 - width)),
        MulHi if ty.is_signed() => wrapped(((i128::from(x) * i128::from(y)) >> width) as u64),
        MulHi => wrapped(((u128::from(a.bits) * u128::from(b.bits)) >> width) as u64),
        Mul24 if ty.is_signed() => {
            let low = |v: i64| v << 40 >> 40;
            wrapped(low(x).wrapping_mul(low(y)) as u64)
        }
        Mul24 => wrapped((a.bits & 0xff_ffff) * (b.bits & 0xff_ffff)),
        // Without clusters every block is the first of its own.
        MapShared => wrapped(a.bits),
        SharedRank => wrapped(0),
        Sad => {
            let difference = if less { y.wrapping_sub(x) } else { x.wrapping_sub(y) };
            wrapped(difference.wrapping_add(z) as u64)
        }
        Fma => wrapped(x.wrapping_mul(y).wrapping_add(z) as u64),
        BytePerm => wrapped(byte_perm(a.bits as u32, b.bits as u32, c.bits as u32).into()),
        FunnelShiftLeft => {
            let both = (b.bits << 32) | (a.bits & 0xffff_ffff);
            wrapped((both << (c.bits & 31)) >> 32)
        }
        FunnelShiftRight => {
            let both = (b.bits << 32) | (a.bits & 0xffff_ffff);
            wrapped((both >> (c.bits & 31)) & 0xffff_ffff)
        }
        Dp4a => wrapped(dp4a(ty.is_signed(), a.bits as u32, b.bits as u32).wrapping_add(z) as u64),
        Floor | Ceil | Trunc | Round | Rint | Settled => Some(a),
        IsNan | IsInf => Some(Value::bool(false)),
        IsFinite => Some(Value::bool(true)),
        SignBit => Some(Value::bool(ty.is_signed() && x < 0)),
        _ => None,
    }
}

/// `__byte_perm`: nibble i of the selector picks byte i of the result from the eight bytes of `y:x`;
/// its top bit replicates the sign of that byte instead, as PTX's `prmt` does.
fn byte_perm(x: u32, y: u32, selector: u32) -> u32 {
    let source = u64::from(x) | (u64::from(y) << 32);
    (0..4).fold(0, |result, i| {
        let nibble = (selector >> (4 * i)) & 0xf;
        let byte = (source >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | (u32::from(byte) << (8 * i))
    })
}

/// Sum of the products of corresponding bytes.
fn dp4a(signed: bool, a: u32, b: u32) -> i64 {
    let byte = |bits: u8| if signed { i64::from(bits as i8) } else { i64::from(bits) };
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(p, q)| byte(p) * byte(q)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: f32) -> Value {
        f32_value(x)
    }

    fn d(x: f64) -> Value {
        f64_value(x)
    }

    fn u(x: u32) -> Value {
        Value::int(Scalar::U32, x.into())
    }

    #[test]
    fn every_function_is_total_and_typed() {
        for &function in MathFn::ALL {
            for ty in Scalar::ALL {
                for x in [-3, 0, 1, 100] {
                    let v = Value::int(ty, x);
                    assert_eq!(
                        math(function, &[v, v, v]).ty,
                        math_result(function, ty),
                        "{function:?} {ty}"
                    );
                    assert_eq!(math(function, &[v]).ty, math_result(function, ty));
                }
            }
        }
    }

    #[test]
    fn real_functions_have_known_values() {
        let known = [
            (MathFn::Rsqrt, 4.0, 0.5),
            (MathFn::Exp10, 3.0, 1000.0),
            (MathFn::Erf, 0.5, 0.520_499_877_813_046_5),
            (MathFn::Erfc, 0.5, 0.479_500_122_186_953_5),
            (MathFn::Tgamma, 5.0, 24.0),
            (MathFn::Lgamma, 10.0, 12.801_827_480_081_469),
            (MathFn::Normcdf, 1.0, 0.841_344_746_068_542_9),
            (MathFn::Sinpi, 0.25, std::f64::consts::FRAC_1_SQRT_2),
            (MathFn::Sinpi, 1.5, -1.0),
            (MathFn::Sinpi, -1.75, std::f64::consts::FRAC_1_SQRT_2),
            (MathFn::Cospi, 1.0, -1.0),
            (MathFn::Cospi, 0.5, 0.0),
            (MathFn::Round, 2.5, 3.0),
            (MathFn::Rint, 2.5, 2.0),
            (MathFn::Saturate, 1.5, 1.0),
            (MathFn::Saturate, f64::NAN, 0.0),
        ];
        for (function, x, expected) in known {
            let got = math(function, &[d(x)]).as_f64();
            assert!((got - expected).abs() <= 4e-16 * expected.abs(), "{function:?}({x}) = {got}");
            let got = math(function, &[f(x as f32)]).as_f64();
            assert!((got - expected).abs() <= 3e-7 * expected.abs(), "{function:?}f({x}) = {got}");
        }
    }

    #[test]
    fn single_precision_is_the_platforms() {
        for x in [0.1f32, 0.7, 1.3, 20.0] {
            assert_eq!(math(MathFn::Exp, &[f(x)]), f(x.exp()));
            assert_eq!(math(MathFn::Pow, &[f(x), f(1.7)]), f(x.powf(1.7)));
        }
    }

    #[test]
    fn fma_rounds_once_in_every_type() {
        let x = 1.0 + 2f64.powi(-10);
        for (ty, x) in [(Scalar::F16, x), (Scalar::BF16, 1.0 + 2f64.powi(-7))] {
            let v = |r| Value::float(ty, r);
            // x*x - (2x - 1) = (x-1)^2 is lost when the product is rounded first.
            let got = math(MathFn::Fma, &[v(x), v(x), v(1.0 - 2.0 * x)]);
            assert_eq!(got, v((x - 1.0) * (x - 1.0)));
        }
        let x = 1.0 + 2f32.powi(-23);
        assert_eq!(math(MathFn::Fma, &[f(x), f(x), f(1.0 - 2.0 * x)]), f(2f32.powi(-46)));
        // 1.5 ulp(bf16) plus a little more than f64 can hold beside it.
        let h = |r| Value::float(Scalar::BF16, r);
        let tiny = h(2f64.powi(-100));
        let tie = math(MathFn::Fma, &[h(1.0 + 2f64.powi(-7)), h(1.0 + 2f64.powi(-1)), tiny]);
        assert_eq!(tie.as_f64(), 1.5 + 2f64.powi(-6));
    }

    #[test]
    fn extremes_prefer_numbers() {
        assert_eq!(math(MathFn::Min, &[f(f32::NAN), f(2.0)]), f(2.0));
        assert_eq!(math(MathFn::Max, &[f(2.0), f(f32::NAN)]), f(2.0));
        assert_eq!(math(MathFn::Min, &[f(0.0), f(-0.0)]), f(-0.0));
        assert_eq!(math(MathFn::Max, &[f(-0.0), f(0.0)]), f(0.0));
        let i = |x| Value::i32(x);
        assert_eq!(math(MathFn::Min, &[i(-1), i(1)]), i(-1));
        assert_eq!(math(MathFn::Max, &[u(u32::MAX), u(1)]), u(u32::MAX));
    }

    #[test]
    fn neighbours() {
        assert_eq!(math(MathFn::Nextafter, &[f(1.0), f(2.0)]), f(1.0f32.next_up()));
        assert_eq!(math(MathFn::Nextafter, &[f(-1.0), f(2.0)]), f((-1.0f32).next_up()));
        assert_eq!(math(MathFn::Nextafter, &[f(0.0), f(-2.0)]), f((0.0f32).next_down()));
        let one = Value::float(Scalar::F16, 1.0);
        let up = math(MathFn::Nextafter, &[one, Value::float(Scalar::F16, 5.0)]);
        assert_eq!(up.as_f64(), 1.0 + 2f64.powi(-10));
    }

    #[test]
    fn integer_functions() {
        let i = |x: i32| Value::i32(x);
        assert_eq!(math(MathFn::Clz, &[u(1)]), i(31));
        assert_eq!(math(MathFn::Clz, &[Value::int(Scalar::U64, 1)]), i(63));
        assert_eq!(math(MathFn::Clz, &[u(0)]), i(32));
        assert_eq!(math(MathFn::Popc, &[i(-1)]), i(32));
        assert_eq!(math(MathFn::Ffs, &[u(8)]), i(4));
        assert_eq!(math(MathFn::Ffs, &[u(0)]), i(0));
        assert_eq!(math(MathFn::Brev, &[u(1)]), u(0x8000_0000));
        assert_eq!(math(MathFn::MulHi, &[i(-1), i(1)]), i(-1));
        assert_eq!(math(MathFn::MulHi, &[u(u32::MAX), u(u32::MAX)]), u(u32::MAX - 1));
        assert_eq!(math(MathFn::Mul24, &[i(0x00ff_ffff), i(3)]), i(-3));
        assert_eq!(math(MathFn::Sad, &[i(3), i(10), i(5)]), i(12));
        assert_eq!(
            math(MathFn::BytePerm, &[u(0x3322_1100), u(0x7766_5544), u(0x7340)]),
            u(0x7733_4400)
        );
        assert_eq!(math(MathFn::FunnelShiftLeft, &[u(0x8000_0000), u(1), u(1)]), u(3));
        assert_eq!(math(MathFn::FunnelShiftRight, &[u(2), u(1), u(1)]), u(0x8000_0001));
        assert_eq!(math(MathFn::Dp4a, &[i(-1), i(0x0101_0101), i(10)]), i(6));
        assert_eq!(math(MathFn::Dp4a, &[u(u32::MAX), u(0x0101_0101), u(10)]), u(1030));
        assert_eq!(math(MathFn::Abs, &[i(i32::MIN)]), i(i32::MIN));
    }
}
