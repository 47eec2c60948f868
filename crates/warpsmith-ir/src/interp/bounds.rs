//! How far a real may be from the exact result: first-order error bounds.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::slack;
use crate::eval::{cast, math};
use crate::expr::{BinaryOp, MathFn};
use crate::types::Scalar;
use crate::value::Value;

/// Two evaluations of the same sum in different orders differ by at most
/// `4 * length * u * magnitude`, u the unit roundoff of the type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Sum of the absolute values of the terms, computed in double precision.
    pub magnitude: f64,
    /// Length of the sum; a call of a math function counts as one more term (4 ulp). Of a product of sums, the lengths
    /// of all: the relative errors of its factors add up.
    pub terms: u64,
    /// Factors of the longest product among the terms: each multiplication but the first of a term rounds once more.
    pub factors: u64,
    /// How far another math library may take the value from this one, absolute; 0 where no inexact function took part.
    /// Infinite for what is in doubt: an integer that depends on which side of a threshold a real falls.
    pub slack: f64,
}

impl Bound {
    /// The bound of a value that is given, not computed.
    pub fn input(value: Value) -> Bound {
        Bound { magnitude: value.as_f64().abs(), terms: 1, factors: 1, slack: 0.0 }
    }

    /// Roundings between the inputs and the value, and what the tolerance grows with: a sum of L terms, each a product of
    /// two, has L; a product of L factors, L as well.
    pub fn length(&self) -> u64 {
        self.terms.saturating_add(self.factors.saturating_sub(2)).max(self.terms)
    }

    fn and(self, other: Bound, magnitude: f64) -> Bound {
        let (terms, factors) = (self.terms.max(other.terms), self.factors.max(other.factors));
        Bound { magnitude, terms, factors, slack: 0.0 }
    }

    fn plus(self, other: Bound) -> Bound {
        let magnitude = self.magnitude + other.magnitude;
        Bound { terms: self.terms.saturating_add(other.terms), ..self.and(other, magnitude) }
    }

    fn times(self, other: Bound) -> Bound {
        Bound {
            magnitude: self.magnitude * other.magnitude,
            terms: self.terms.saturating_add(other.terms).saturating_sub(1),
            factors: self.factors.saturating_add(other.factors),
            slack: 0.0,
        }
    }
}

/// The bounds of the reals in a piece of memory, by offset. Nearly all maps are empty, and one is made for every variable:
/// making one costs nothing.
pub(crate) type Bounds = HashMap<u64, Bound, BuildHasherDefault<DefaultHasher>>;

/// Whether and how bounds are kept; the interpreter is compiled once for each answer.
pub(crate) trait Track {
    type Bound: Copy;
    /// There are no bounds: values are all that there is.
    const PLAIN: bool = false;
    fn input(value: Value) -> Self::Bound;
    fn binary(
        op: BinaryOp,
        a: (Value, Self::Bound),
        b: (Value, Self::Bound),
        result: Value,
    ) -> Self::Bound;
    fn call(function: MathFn, args: &[(Value, Self::Bound)], result: Value) -> Self::Bound;
    /// The bound of a conversion; kept between reals.
    fn cast(from: (Value, Self::Bound), result: Value) -> Self::Bound;
    fn store(map: &mut Bounds, offset: u64, value: (Value, Self::Bound));
    fn load(map: Option<&Bounds>, offset: u64, value: Value) -> Self::Bound;
    fn export(bound: Self::Bound) -> Option<Bound>;
    /// The term of an update, of which C would have rounded the sum with the old value only: what the conversion to the
    /// type of the element does is slack.
    fn narrowed(value: Value, narrows: bool, bound: Self::Bound) -> Self::Bound;
    /// Whether the value is an integer that another math library may make another one.
    fn in_doubt(value: Value, bound: Self::Bound) -> bool;
}

/// No bounds: costs nothing.
pub(crate) struct Untracked;

impl Track for Untracked {
    type Bound = ();
    const PLAIN: bool = true;
    fn input(_: Value) {}
    fn binary(_: BinaryOp, _: (Value, ()), _: (Value, ()), _: Value) {}
    fn call(_: MathFn, _: &[(Value, ())], _: Value) {}
    fn cast(_: (Value, ()), _: Value) {}
    fn store(_: &mut Bounds, _: u64, _: (Value, ())) {}
    fn load(_: Option<&Bounds>, _: u64, _: Value) {}
    fn export(_: ()) -> Option<Bound> {
        None
    }
    fn narrowed(_: Value, _: bool, _: ()) {}
    fn in_doubt(_: Value, _: ()) -> bool {
        false
    }
}

pub(crate) struct Tracked;

impl Track for Tracked {
    type Bound = Bound;

    fn input(value: Value) -> Bound {
        Bound::input(value)
    }

    fn binary(op: BinaryOp, a: (Value, Bound), b: (Value, Bound), result: Value) -> Bound {
        let slack = slack::binary(op, (a.0, a.1.slack), (b.0, b.1.slack), result);
        Bound { slack, ..sum(op, a, b, result) }
    }

    fn call(function: MathFn, args: &[(Value, Bound)], result: Value) -> Bound {
        let slacks: Vec<(Value, f64)> = args.iter().map(|(v, b)| (*v, b.slack)).collect();
        let slack = slack::call(function, &slacks, result);
        if !result.ty.is_float() {
            return Bound { slack, ..Bound::input(result) };
        }
        // What is infinite is so exactly: the least or greatest of it and a number is that number.
        let counts = |v: Value| !v.ty.is_float() || v.as_f64().is_finite();
        let finite = result.as_f64().is_finite();
        let joined = args
            .iter()
            .filter(|(v, _)| !finite || counts(*v))
            .fold(Bound { magnitude: 0.0, terms: 0, factors: 1, slack: 0.0 }, |all, (_, b)| {
                all.and(*b, all.magnitude.max(b.magnitude))
            });
        use MathFn::*;
        let bound = match function {
            Abs | Min | Max | Copysign | Saturate | Floor | Ceil | Trunc | Round | Rint => joined,
            Fma => match args {
                [(_, a), (_, b), (_, c)] => a.times(*b).plus(*c),
                _ => joined,
            },
            _ => more(Bound { magnitude: first_order(function, args, result), ..joined }),
        };
        Bound { slack, ..bound }
    }

    fn cast(from: (Value, Bound), result: Value) -> Bound {
        let real = from.0.ty.is_float() && result.ty.is_float();
        let slack = slack::cast((from.0, from.1.slack), result);
        Bound { slack, ..if real { from.1 } else { Bound::input(result) } }
    }

    fn store(map: &mut Bounds, offset: u64, (value, bound): (Value, Bound)) {
        if value.ty.is_float() || bound.slack > 0.0 {
            map.insert(offset, bound);
        } else if !map.is_empty() {
            map.remove(&offset);
        }
    }

    fn load(map: Option<&Bounds>, offset: u64, value: Value) -> Bound {
        let stored = map.and_then(|map| map.get(&offset)).copied();
        match stored {
            Some(bound) if value.ty.is_float() => bound,
            // The bits of a real that may differ, read as an integer.
            Some(bound) if bound.slack > 0.0 => {
                Bound { slack: f64::INFINITY, ..Bound::input(value) }
            }
            _ => Bound::input(value),
        }
    }

    fn export(bound: Bound) -> Option<Bound> {
        Some(bound)
    }

    fn narrowed(value: Value, narrows: bool, bound: Bound) -> Bound {
        let moved = if narrows { slack::ulp(value) } else { 0.0 };
        Bound { slack: bound.slack + moved, ..bound }
    }

    fn in_doubt(value: Value, bound: Bound) -> bool {
        bound.slack > 0.0 && !value.ty.is_float()
    }
}

/// Magnitude and terms of `a op b`.
fn sum(op: BinaryOp, a: (Value, Bound), b: (Value, Bound), result: Value) -> Bound {
    if !result.ty.is_float() {
        return Bound::input(result);
    }
    let ((x, p), (y, q)) = (a, b);
    match op {
        BinaryOp::Add | BinaryOp::Sub => p.plus(q),
        BinaryOp::Mul => p.times(q),
        BinaryOp::Div => {
            let (x, y) = (x.as_f64().abs(), y.as_f64().abs());
            let magnitude = p.magnitude / y + x * q.magnitude / (y * y);
            more(p.and(q, finite_or(magnitude, result)))
        }
        _ => more(p.and(q, result.as_f64().abs())),
    }
}

fn more(b: Bound) -> Bound {
    Bound { terms: b.terms.saturating_add(1), ..b }
}

/// The magnitude, or that of the result where the estimate is no number (division by zero).
fn finite_or(magnitude: f64, result: Value) -> f64 {
    if magnitude.is_nan() { result.as_f64().abs() } else { magnitude }
}

/// |f| + Σ |∂f/∂xᵢ| · magnitude(xᵢ): what a relative change of the operands does to the result. The
/// derivatives are differences in double precision, one-sided the way that stays in the domain.
fn first_order(function: MathFn, args: &[(Value, Bound)], result: Value) -> f64 {
    let wide: Vec<Value> = args.iter().map(|(v, _)| widen(*v)).collect();
    let here = math(function, &wide).as_f64();
    let own = result.as_f64().abs();
    let sum = args.iter().enumerate().filter(|(_, (v, _))| v.ty.is_float()).fold(
        own,
        |sum, (i, (v, b))| {
            let x = v.as_f64();
            let h = (x.abs() * 1e-6).max(1e-30);
            let slope = [h, -h].into_iter().filter_map(|h| {
                let mut moved = wide.clone();
                moved[i] = Value::float(Scalar::F64, x + h);
                let slope = ((math(function, &moved).as_f64() - here) / h).abs();
                slope.is_finite().then_some(slope)
            });
            sum + slope.fold(0.0, f64::max) * b.magnitude
        },
    );
    finite_or(sum, result)
}

/// The operand in double precision; integers (`ldexp`'s second) stay.
fn widen(v: Value) -> Value {
    if v.ty.is_float() { cast(v, Scalar::F64) } else { v }
}
