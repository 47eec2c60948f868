//! Comparing results: bit for bit, or within the bound of a reassociated sum.

use warpsmith_ir::interp::Bound;
use warpsmith_ir::{Scalar, Value};

use crate::data::{scalar_bytes, scalar_from_bytes};
use crate::elements::roundoff;

/// The first element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Flat index.
    pub index: u64,
    /// The right value.
    pub expected: f64,
    /// The value to be judged.
    pub actual: f64,
    /// The difference that would have been accepted; 0 for exact comparison.
    pub allowed: f64,
    /// How many elements differ.
    pub count: u64,
}

/// Compares two arrays of scalars. `allowed` gives the difference that an element may have: 0 compares exactly, an
/// infinite one not at all. NaN equals NaN.
pub fn first_difference(
    ty: Scalar,
    expected: &[u8],
    actual: &[u8],
    allowed: &dyn Fn(u64) -> f64,
) -> Option<Difference> {
    let width = ty.bytes() as usize;
    let mut first: Option<Difference> = None;
    for (i, (e, a)) in expected.chunks_exact(width).zip(actual.chunks_exact(width)).enumerate() {
        if e == a {
            continue;
        }
        let (e, a) = (scalar_from_bytes(ty, e), scalar_from_bytes(ty, a));
        let (expected, actual) = (e.as_f64(), a.as_f64());
        if ty.is_float()
            && (expected == actual || (expected.is_nan() && actual.is_nan()))
            && !signs_differ(expected, actual)
        {
            continue;
        }
        let allowed = allowed(i as u64);
        let close = ty.is_float() && allowed > 0.0 && (expected - actual).abs() <= allowed;
        if close || allowed == f64::INFINITY {
            continue;
        }
        match &mut first {
            Some(d) => d.count += 1,
            None => {
                first = Some(Difference { index: i as u64, expected, actual, allowed, count: 1 })
            }
        }
    }
    if first.is_none() && expected.len() != actual.len() {
        let index = (expected.len().min(actual.len()) / width) as u64;
        first = Some(Difference {
            index,
            expected: f64::NAN,
            actual: f64::NAN,
            allowed: 0.0,
            count: 1,
        });
    }
    first
}

/// Zero and minus zero are different bits; exact comparison tells them apart.
fn signs_differ(a: f64, b: f64) -> bool {
    a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative()
}

/// 4·L·u·Σ|terms| (specification 0, Arithmetic); of a product of L factors, 4·L·u times itself.
pub fn of_a_sum(ty: Scalar, bound: Bound) -> f64 {
    let allowed = 4.0 * bound.length() as f64 * roundoff(ty) * bound.magnitude;
    // A sum whose terms are infinite is compared exactly: infinities and NaN do not depend on the order.
    if allowed.is_finite() { allowed } else { 0.0 }
}

/// What the rounding errors of the less precise of two types explain; inputs and literals are rounded, too.
pub fn of_precision(a: Scalar, b: Scalar, bound: Bound) -> f64 {
    let more = Bound { terms: bound.terms.saturating_add(2), ..bound };
    of_a_sum(a, more).max(of_a_sum(b, more))
}

/// Scalars of one type as those of another.
pub fn converted(from: Scalar, to: Scalar, bytes: &[u8]) -> Vec<u8> {
    if from == to {
        return bytes.to_vec();
    }
    let values = bytes.chunks_exact(from.bytes() as usize);
    let one = |b: &[u8]| scalar_bytes(Value::float(to, scalar_from_bytes(from, b).as_f64()));
    values.flat_map(one).collect()
}

/// What two math libraries may differ by. The analysis is of first order: twice its result covers what it leaves out.
pub fn of_math_functions(bound: Bound) -> f64 {
    2.0 * bound.slack
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn exact_comparison_sees_one_bit() {
        let (a, b) = (bytes(&[1.0, 2.0, 3.0]), bytes(&[1.0, 2.0000002, 3.0]));
        let d = first_difference(Scalar::F32, &a, &b, &|_| 0.0).unwrap();
        assert_eq!((d.index, d.count), (1, 1));
        assert_eq!(first_difference(Scalar::F32, &a, &a, &|_| 0.0), None);
    }

    #[test]
    fn nan_equals_nan_and_nothing_else() {
        let (a, b) = (bytes(&[f32::NAN]), bytes(&[-f32::NAN]));
        assert_eq!(first_difference(Scalar::F32, &a, &b, &|_| 0.0), None);
        let generous = |_| 1e9;
        assert!(first_difference(Scalar::F32, &a, &bytes(&[1.0]), &generous).is_some());
    }

    #[test]
    fn what_is_in_doubt_is_not_compared() {
        let (a, b) = (bytes(&[1.0, f32::NAN, 3.0]), bytes(&[1.0, 2.0, 4.0]));
        let doubt = |i| if i == 1 { f64::INFINITY } else { 0.0 };
        let d = first_difference(Scalar::F32, &a, &b, &doubt).unwrap();
        assert_eq!((d.index, d.count), (2, 1));
    }

    #[test]
    fn another_precision_has_the_bound_of_the_worse() {
        let bound = Bound { magnitude: 1.0, terms: 2, factors: 1, slack: 0.0 };
        let half = of_precision(Scalar::F64, Scalar::F16, bound);
        assert_eq!(half, of_precision(Scalar::F16, Scalar::F32, bound));
        assert!(half > of_precision(Scalar::F64, Scalar::F32, bound) && half < 0.01);
        let there = converted(Scalar::F32, Scalar::F16, &bytes(&[1.5, -2.0]));
        assert_eq!(converted(Scalar::F16, Scalar::F32, &there), bytes(&[1.5, -2.0]));
    }

    #[test]
    fn a_reassociated_sum_has_its_bound() {
        let bound = |_| {
            of_a_sum(Scalar::F32, Bound { magnitude: 100.0, terms: 10, factors: 1, slack: 0.0 })
        };
        let (a, b) = (bytes(&[10.0]), bytes(&[10.00001]));
        assert_eq!(first_difference(Scalar::F32, &a, &b, &bound), None);
        assert!(first_difference(Scalar::F32, &a, &bytes(&[10.01]), &bound).is_some());
    }
}
