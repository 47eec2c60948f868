//! Data under which rounding errors grow beyond what can be compared, as in a triangular solve whose matrix is random:
//! its results explode with the size, and sums in another order then end in other numbers, or in none.
//!
//! The C function says so itself: where it makes something else of inputs that differ in their last bits, beyond the bound
//! within which results are compared, a difference of the kernel says nothing. Small elements beside large diagonals are
//! tried instead. Only sums in another order and math functions are excused so; what must agree bit for bit must.

use warpsmith_ir::interp::Bound;
use warpsmith_ir::{Scalar, Type};

use super::against::Against;
use super::compare::first_difference;
use super::host_c::ArgBytes;
use super::points;
use super::{Failed, Verified, Verifier, uses_inexact_functions};
use crate::tune::extents;
use crate::tune::sizes::Point;

/// Compares with some data.
type Compare<'c, T> = &'c mut dyn FnMut(&[ArgBytes], &mut Verified) -> Result<T, Failed>;

/// So much of the last place is added to numbers to see whether it matters.
const PLACES: u64 = 4;

impl Verifier<'_> {
    /// Compares, once more with tamer data where the first are ill-conditioned; `None` where those are so as well.
    /// Once that has cost as much as a point may, sizes none of which is below those of such a point are left out:
    /// errors that grow with the sizes have grown further there.
    ///
    /// # Errors
    /// Those of the comparison.
    pub(in crate::tune) fn comparable<T>(
        &self,
        point: &Point,
        inputs: Vec<ArgBytes>,
        verified: &mut Verified,
        compare: Compare<'_, T>,
    ) -> Result<Option<T>, Failed> {
        if verified.steps_in_vain > self.point_steps() && verified.is_beyond_ill_conditioned(point)
        {
            return Ok(None);
        }
        let differs = |f: &Failed| matches!(f, Failed::Differs { .. } | Failed::References { .. });
        match compare(&inputs, verified) {
            Err(failed) if differs(&failed) && self.is_ill_conditioned(&inputs, verified) => {}
            other => return other.map(Some),
        }
        if let Some(tame) = self.tamed(point, &inputs) {
            match compare(&tame, verified) {
                Err(failed) if differs(&failed) && self.is_ill_conditioned(&tame, verified) => {}
                other => {
                    verified.tamed.push(points::name(point));
                    return other.map(Some);
                }
            }
        }
        verified.ill_conditioned.push(point.clone());
        Ok(None)
    }

    /// Whether last bits of the inputs decide about more of the outputs than rounding errors may.
    fn is_ill_conditioned(&self, inputs: &[ArgBytes], verified: &mut Verified) -> bool {
        let steps = self.total_steps;
        let (Ok(exact), Ok(moved)) =
            (self.interpret(inputs, steps), self.interpret(&self.shaken(inputs), steps))
        else {
            return false;
        };
        verified.steps_in_vain += exact.steps + moved.steps;
        let inexact = uses_inexact_functions(self.module());
        let function = self.function();
        let arrays = function.params.iter().enumerate();
        let arrays = arrays.filter(|(_, p)| function.var(**p).ty.is_pointer()).enumerate();
        arrays.into_iter().any(|(buffer, (param, p))| {
            let reassociated = self.reassociated.get(param).is_some_and(|r| *r);
            let scalar = function.var(*p).ty.pointee().and_then(Type::scalar);
            let Some(scalar) = scalar.filter(|s| s.is_float() && (reassociated || inexact)) else {
                return false;
            };
            let (Some(a), Some(b)) =
                (exact.memory.buffers.get(buffer), moved.memory.buffers.get(buffer))
            else {
                return false;
            };
            let against = if reassociated { Against::Kernel } else { Against::Host };
            let allowed = |i: u64| {
                let bound = exact.memory.bound(buffer, i * u64::from(scalar.bytes()), scalar);
                let allowed = bound.map_or(0.0, |b| against.allowed(scalar, b, reassociated));
                // What is compared bit for bit is none of this.
                if allowed > 0.0 { allowed } else { f64::INFINITY }
            };
            let bound = |i: u64| exact.memory.bound(buffer, i * u64::from(scalar.bytes()), scalar);
            first_difference(scalar, a, b, &allowed).is_some()
                || explodes(scalar, a)
                || (reassociated && is_boundless(scalar, a, &bound))
        })
    }

    /// The same with other last bits.
    fn shaken(&self, inputs: &[ArgBytes]) -> Vec<ArgBytes> {
        let function = self.function();
        let shake = |(input, param): (&ArgBytes, &warpsmith_ir::VarId)| {
            let scalar = function.var(*param).ty.pointee().and_then(Type::scalar);
            match (input, scalar) {
                (ArgBytes::Array(bytes), Some(scalar @ (Scalar::F32 | Scalar::F64))) => {
                    let mut bytes = bytes.clone();
                    for (k, bits) in bytes.chunks_exact_mut(scalar.bytes() as usize).enumerate() {
                        shake(bits, k % 2 == 0);
                    }
                    ArgBytes::Array(bytes)
                }
                _ => input.clone(),
            }
        };
        inputs.iter().zip(&function.params).map(shake).collect()
    }

    /// The same with small elements beside large diagonals, in arrays that nobody gave; `None` where there are none.
    fn tamed(&self, point: &Point, inputs: &[ArgBytes]) -> Option<Vec<ArgBytes>> {
        let function = self.function();
        let all = self.sources.numbers(point);
        let mut any = false;
        let mut tame = |(input, param): (&ArgBytes, &warpsmith_ir::VarId)| {
            let var = function.var(*param);
            let given = self.sources.specs.iter().any(|s| s.name == var.name);
            let shape = extents::extents(self.module(), function, var, &all);
            let rows = match shape.ok().flatten().as_deref() {
                Some([.., rows, columns]) if rows == columns && !given => *rows as usize,
                _ => return input.clone(),
            };
            match (input, var.ty.pointee().and_then(Type::scalar)) {
                (ArgBytes::Array(bytes), Some(Scalar::F32)) => {
                    any = true;
                    ArgBytes::Array(dominant(bytes, rows, f32::from_le_bytes, f32::to_le_bytes))
                }
                (ArgBytes::Array(bytes), Some(Scalar::F64)) => {
                    any = true;
                    ArgBytes::Array(dominant(bytes, rows, f64::from_le_bytes, f64::to_le_bytes))
                }
                _ => input.clone(),
            }
        };
        let tamed = inputs.iter().zip(&function.params).map(&mut tame).collect();
        any.then_some(tamed)
    }
}

/// Whether numbers are too large, or none.
fn explodes(scalar: Scalar, bytes: &[u8]) -> bool {
    let width = scalar.bytes() as usize;
    let value = |b: &[u8]| crate::data::scalar_from_bytes(scalar, b).as_f64();
    bytes.chunks_exact(width).any(|b| !value(b).is_finite())
}

/// Whether rounding errors of some number have no bound any more, as after many iterations each of which begins with
/// the sums of the one before: nothing is said of it then.
fn is_boundless(scalar: Scalar, bytes: &[u8], bound: &dyn Fn(u64) -> Option<Bound>) -> bool {
    let count = (bytes.len() / scalar.bytes() as usize) as u64;
    let finite = |b: Bound| (b.magnitude * b.length() as f64).is_finite();
    (0..count).any(|i| bound(i).is_some_and(|b| !finite(b)))
}

/// Moves a number by a few of its last places, away from zero or towards it; zero and what is no number stay.
fn shake(bytes: &mut [u8], away: bool) {
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(number);
    let sign = 1 << (8 * bytes.len() - 1);
    let size = bits & (sign - 1);
    let infinite = if bytes.len() == 4 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 };
    if size > PLACES && size < infinite - PLACES {
        let moved = if away { bits + PLACES } else { bits - PLACES };
        let width = bytes.len();
        bytes.copy_from_slice(&moved.to_le_bytes()[..width]);
    }
}

/// Square matrices, one after another, whose diagonals are at least 1 and larger than all else of their rows together.
fn dominant<T: Copy + Into<f64> + Narrow, const W: usize>(
    bytes: &[u8],
    rows: usize,
    read: fn([u8; W]) -> T,
    write: fn(T) -> [u8; W],
) -> Vec<u8> {
    let elements = bytes.chunks_exact(W).enumerate();
    let tame = |(at, element): (usize, &[u8])| {
        let mut own = [0; W];
        own.copy_from_slice(element);
        let value: f64 = read(own).into();
        let diagonal = at / rows % rows == at % rows;
        let value = if diagonal { 1.0 + value.abs() } else { value / (2 * rows) as f64 };
        write(T::narrow(value))
    };
    elements.flat_map(tame).collect()
}

/// A real type that others are rounded to.
trait Narrow {
    fn narrow(value: f64) -> Self;
}

impl Narrow for f32 {
    fn narrow(value: f64) -> f32 {
        value as f32
    }
}

impl Narrow for f64 {
    fn narrow(value: f64) -> f64 {
        value
    }
}
