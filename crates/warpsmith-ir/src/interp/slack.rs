//! How far another math library may take a value from the one computed here.
//!
//! `expf` and its like are not correctly rounded: two libraries agree only to a few units in the last place. The
//! *slack* of a value is the greatest absolute difference that follows from that, by running error analysis. It is 0,
//! and comparison exact, as long as no such function took part. An integer (or truth value) has no slack or an
//! infinite one: either it is the same in every library, or it is in doubt.

use crate::eval::{self, math};
use crate::expr::{BinaryOp, MathFn};
use crate::types::Scalar;
use crate::value::Value;

/// What a call may be off (specification, Arithmetic).
const ULPS_OF_A_CALL: f64 = 4.0;

/// The slack of `a op b`.
pub(crate) fn binary(op: BinaryOp, a: (Value, f64), b: (Value, f64), result: Value) -> f64 {
    let ((x, p), (y, q)) = (a, b);
    if p == 0.0 && q == 0.0 {
        return 0.0;
    }
    if !x.ty.is_float() || !y.ty.is_float() {
        return f64::INFINITY;
    }
    let (x, y) = (x.as_f64(), y.as_f64());
    if !result.ty.is_float() {
        // A comparison of two values that are further apart than both can move is the same everywhere.
        return doubt((x - y).abs() <= 2.0 * (p + q) || !(p + q).is_finite());
    }
    let moved = match op {
        BinaryOp::Add | BinaryOp::Sub => p + q,
        BinaryOp::Mul => x.abs() * q + y.abs() * p + p * q,
        BinaryOp::Div if y.abs() > q => (p + (x / y).abs() * q) / (y.abs() - q),
        _ => f64::INFINITY,
    };
    known(moved + ulp(result))
}

/// The slack of a call: what the arguments bring, and the function's own.
pub(crate) fn call(function: MathFn, args: &[(Value, f64)], result: Value) -> f64 {
    let own = match function.is_exact() {
        true => 0.0,
        // Near its zeros the error of the logarithm of gamma is that of its terms.
        false if function == MathFn::Lgamma => {
            ULPS_OF_A_CALL * (ulp(result) + ulp(Value::float(result.ty, 1.0)))
        }
        false => ULPS_OF_A_CALL * ulp(result),
    };
    if args.iter().all(|(_, p)| *p == 0.0) {
        return own;
    }
    let values: Vec<Value> = args.iter().map(|(v, _)| *v).collect();
    let moved = args.iter().enumerate().filter(|(_, (_, p))| *p > 0.0).map(|(i, (v, p))| {
        if !v.ty.is_float() || !p.is_finite() {
            return f64::INFINITY;
        }
        let distance = |by: f64| {
            let mut moved = values.clone();
            moved[i] = Value::float(v.ty, v.as_f64() + by);
            let other = math(function, &moved);
            match result.ty.is_float() {
                true => (other.as_f64() - result.as_f64()).abs(),
                false => doubt(other != result),
            }
        };
        known(distance(*p).max(distance(-*p)))
    });
    let moved: f64 = moved.sum();
    match result.ty.is_float() {
        true => known(moved + own + ulp(result)),
        false => moved,
    }
}

/// The slack of a conversion.
pub(crate) fn cast(from: (Value, f64), result: Value) -> f64 {
    let (v, p) = from;
    match (v.ty.is_float(), result.ty.is_float()) {
        _ if p == 0.0 => 0.0,
        (true, true) => known(p + ulp(result)),
        (true, false) => {
            let same =
                |by: f64| eval::cast(Value::float(v.ty, v.as_f64() + by), result.ty) == result;
            doubt(!(p.is_finite() && same(p) && same(-p)))
        }
        (false, _) => p,
    }
}

fn doubt(yes: bool) -> f64 {
    if yes { f64::INFINITY } else { 0.0 }
}

/// An estimate that is no number says nothing about the value.
fn known(slack: f64) -> f64 {
    if slack.is_nan() { f64::INFINITY } else { slack }
}

/// A unit in the last place of a real, at least the smallest one of its type.
pub(crate) fn ulp(v: Value) -> f64 {
    let (relative, least) = match v.ty {
        Scalar::F64 => (f64::EPSILON, f64::from_bits(1)),
        Scalar::F32 => (f32::EPSILON.into(), f32::from_bits(1).into()),
        Scalar::BF16 => (2f64.powi(-7), 2f64.powi(-133)),
        _ => (2f64.powi(-10), 2f64.powi(-24)),
    };
    (v.as_f64().abs() * relative).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32(x: f64) -> Value {
        Value::float(Scalar::F32, x)
    }

    #[test]
    fn only_inexact_functions_bring_slack() {
        assert_eq!(call(MathFn::Sqrt, &[(f32(2.0), 0.0)], f32(2f64.sqrt())), 0.0);
        let e = call(MathFn::Exp, &[(f32(0.0), 0.0)], f32(1.0));
        assert_eq!(e, 4.0 * f64::from(f32::EPSILON));
        assert_eq!(binary(BinaryOp::Mul, (f32(3.0), 0.0), (f32(2.0), 0.0), f32(6.0)), 0.0);
        let product = binary(BinaryOp::Mul, (f32(3.0), 0.0), (f32(1.0), e), f32(3.0));
        assert!(product > 3.0 * e && product < 4.0 * e, "{product:e}");
    }

    #[test]
    fn a_decision_is_in_doubt_only_near_its_threshold() {
        let less =
            |x: f64| binary(BinaryOp::Lt, (f32(x), 1e-6), (f32(1.0), 0.0), Value::bool(x < 1.0));
        assert_eq!(less(0.9), 0.0);
        assert_eq!(less(0.999_999), f64::INFINITY);
        let to_int = |x: f64| cast((f32(x), 1e-6), Value::i32(x as i32));
        assert_eq!(to_int(2.5), 0.0);
        assert_eq!(to_int(3.0), f64::INFINITY);
    }
}
