//! Contents of arrays that suit what the function does with them: indices inside of what they index, and the like.
//!
//! The verifier's own data and the test program's come from the same analysis, [`warpsmith_opt::analysis::values`].

use warpsmith_emit::Fill;
use warpsmith_ir::layout::{field_of, layout_of};
use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Expr, ExprKind, Function, MathFn, Module, Scalar, Type, Value, VarId};
use warpsmith_opt::analysis::values::{Order, Slot, Values};
use warpsmith_tune::rng::Rng;

use super::inputs::{self, Sources};
use crate::data::{scalar_bytes, scalar_from_bytes};
use crate::tune::sizes::Point;

/// Values above the least, where nothing says how many there may be.
const SOME: i64 = 99;
/// The largest fraction: in every type the one below 1.
const NEARLY_ONE: f64 = 0.999;

/// Where the numbers of an array lie that a field of its structures, or the whole element, holds: the scalar type, and
/// each number's place in bytes.
pub fn places(
    module: &Module,
    element: &Type,
    fields: &[u32],
    count: u64,
) -> Option<(Scalar, Vec<usize>)> {
    let (mut ty, mut offsets) = (element, vec![0u64]);
    for field in fields {
        offsets = spread(module, &mut ty, &offsets);
        let Type::Struct(id) = ty else { return None };
        let (offset, inner) = field_of(module, *id, *field)?;
        offsets.iter_mut().for_each(|at| *at += offset);
        ty = inner;
    }
    let offsets = spread(module, &mut ty, &offsets);
    let scalar = ty.scalar()?;
    let size = layout_of(module, element).size;
    let all = (0..count).flat_map(|i| offsets.iter().map(move |at| (i * size + at) as usize));
    Some((scalar, all.collect()))
}

/// The places of the elements of arrays at these places; the type becomes that of one.
fn spread(module: &Module, ty: &mut &Type, offsets: &[u64]) -> Vec<u64> {
    let mut offsets = offsets.to_vec();
    while let Type::Array(element, n) = *ty {
        let size = layout_of(module, element).size;
        offsets = offsets.iter().flat_map(|at| (0..*n).map(move |k| at + k * size)).collect();
        *ty = element;
    }
    offsets
}

/// Changes random numbers at these places into suited ones.
pub fn suit(
    sources: &Sources<'_>,
    values: &Values,
    (scalar, places): (Scalar, &[usize]),
    point: &Point,
    bytes: &mut [u8],
    seed: u64,
) {
    let width = scalar.bytes() as usize;
    if scalar.is_float() {
        for at in places.iter().filter(|_| values.fraction) {
            let element = &mut bytes[*at..at + width];
            let value = (scalar_from_bytes(scalar, element).as_f64() + 1.0) / 2.0;
            let value = Value::float(scalar, value.clamp(0.0, NEARLY_ONE));
            element.copy_from_slice(&scalar_bytes(value));
        }
        return;
    }
    let (low, high) = ends(sources, values, point);
    let numbers = numbers(values.order, low, high, places.len(), &mut Rng::new(seed));
    for (at, n) in places.iter().zip(numbers) {
        bytes[*at..at + width].copy_from_slice(&scalar_bytes(Value::int(scalar, n)));
    }
}

/// The least and the greatest value at a point.
fn ends(sources: &Sources<'_>, values: &Values, point: &Point) -> (i64, i64) {
    let value = |p: &Poly| {
        let number = p.eval(&|atom| match atom {
            Atom::Var(v) => {
                let value = inputs::number(sources, sources.function.var(*v), point)?;
                Some(i128::from(value.as_i64()))
            }
            Atom::Symbol(s) => match &*s.expr().kind {
                ExprKind::Named(id) => {
                    let constant = sources.module.constants.get(id.0 as usize)?;
                    Some(i128::from(constant.value.as_i64()))
                }
                _ => None,
            },
            _ => None,
        });
        number.and_then(|n| i64::try_from(n).ok())
    };
    let high = values.at_most.iter().filter_map(value).min();
    let low = values.at_least.iter().filter_map(value).max();
    let low = low.unwrap_or_else(|| high.map_or(0, |h| h.min(0)));
    (low, high.unwrap_or(low.saturating_add(SOME)).max(low))
}

fn numbers(order: Order, low: i64, high: i64, count: usize, rng: &mut Rng) -> Vec<i64> {
    let room = high.abs_diff(low).saturating_add(1);
    let within = |rng: &mut Rng| low.saturating_add_unsigned(rng.below(room));
    match order {
        Order::Distinct if count as u64 <= room => {
            let mut all: Vec<i64> =
                (0..count as u64).map(|k| low.saturating_add_unsigned(k)).collect();
            for k in (1..all.len()).rev() {
                all.swap(k, rng.below(k as u64 + 1) as usize);
            }
            all
        }
        Order::Rising => {
            let mut all: Vec<i64> = (0..count).map(|_| within(rng)).collect();
            all.sort_unstable();
            if let [first, .., last] = all.as_mut_slice() {
                (*first, *last) = (low, high);
            }
            all
        }
        _ => (0..count).map(|_| within(rng)).collect(),
    }
}

/// The same for the test program.
pub fn fill(
    module: &Module,
    function: &Function,
    (array, fields): &Slot,
    values: &Values,
) -> Option<Fill> {
    let (scalar, _) = places(module, function.var(*array).ty.pointee()?, fields, 0)?;
    if scalar.is_float() {
        return values.fraction.then_some(Fill::Between(0.0, NEARLY_ONE));
    }
    let low = end(function, &values.at_least, MathFn::Max);
    if values.order == Order::Distinct {
        return Some(Fill::Shuffled(low.unwrap_or_else(|| Expr::int(Scalar::I32, 0))));
    }
    let high = end(function, &values.at_most, MathFn::Min);
    let some = |by: i64, e: &Expr| {
        let by = Expr::int(e.ty.scalar().unwrap_or(Scalar::I64), by);
        Expr::binary(warpsmith_ir::BinaryOp::Add, e.clone(), by)
    };
    match (low, high) {
        (_, Some(high)) if values.order == Order::Rising => Some(Fill::Offsets(high)),
        (Some(low), Some(high)) => Some(Fill::Within(low, high)),
        (Some(low), None) if low.as_const().is_some() => {
            let least = low.as_const().map_or(0, Value::as_i64);
            Some(Fill::Within(Expr::int(Scalar::I32, least), Expr::int(Scalar::I32, least + SOME)))
        }
        (Some(low), None) => Some(Fill::Within(low.clone(), some(SOME, &low))),
        (None, Some(high)) => {
            let least = Expr::int(high.ty.scalar().unwrap_or(Scalar::I64), 0);
            Some(Fill::Within(least, high))
        }
        (None, None) => None,
    }
}

/// The greatest of lower bounds, or the least of upper ones, as an expression.
fn end(function: &Function, bounds: &[Poly], choice: MathFn) -> Option<Expr> {
    let of_var = |v: VarId| function.var(v).ty.scalar().unwrap_or(Scalar::I64);
    let wide = bounds.iter().any(|p| {
        let atoms = |a: &Atom| matches!(a, Atom::Var(v) if of_var(*v) == Scalar::I32);
        !p.terms().all(|(factors, _)| factors.len() <= 1 && factors.iter().all(atoms))
    });
    let ty = if wide { Scalar::I64 } else { Scalar::I32 };
    let exprs = bounds.iter().map(|p| p.to_expr(ty, &of_var));
    exprs.reduce(|a, b| {
        let kind = ExprKind::Call(choice, vec![a, b]);
        Expr::new(kind, Type::Scalar(ty), warpsmith_ir::Origin::default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_each_other_as_asked() {
        let mut rng = Rng::new(1);
        let rising = numbers(Order::Rising, 0, 40, 12, &mut rng);
        assert!(rising.is_sorted() && rising[0] == 0 && rising[11] == 40, "{rising:?}");
        let mut distinct = numbers(Order::Distinct, 2, 13, 12, &mut rng);
        assert!(!distinct.is_sorted());
        distinct.sort_unstable();
        assert_eq!(distinct, (2..14).collect::<Vec<i64>>());
        let any = numbers(Order::Any, -1, 3, 100, &mut rng);
        assert!((-1..=3).all(|n| any.contains(&n)) && any.iter().all(|n| (-1..=3).contains(n)));
    }
}
