//! Reductions over a group: `cg::reduce`.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, MathFn, Type, WarpOp};

use super::super::call::{Call, Lowered};
use super::super::shuffle;
use super::{Group, NAMESPACE, coalesced, group_argument, tile_mask};
use crate::sema::refused;

/// What a reduction combines two values with.
enum Combine {
    /// An operator of the library, by name.
    Named(String),
    /// An object of the user's.
    Functor(Expr),
}

/// `reduce(group, value, op)`: every thread has the result.
pub fn call(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    let (group, receiver) = group_argument(c)?;
    let operator = c.cx.object_of(&c.args[2].ty).map(|t| t.name);
    let combine = match operator.as_deref().and_then(|n| n.strip_prefix(NAMESPACE)) {
        Some(name) => {
            let is_float = c.scalar_of(1).is_ok_and(|s| s.is_float());
            if name.starts_with("bit_") && is_float {
                return Err(c.wrong_type(1, "an integer"));
            }
            Combine::Named(name.to_string())
        }
        None => {
            let functor = c.args[2].clone();
            Combine::Functor(c.held(functor))
        }
    };
    let value = c.args[1].clone();
    match group {
        Group::Tile(n) => reduce_tile(c, n, value, &combine).map(Some),
        Group::Coalesced => {
            let mask = coalesced::mask(c, receiver);
            let mask = c.held(mask);
            reduce_coalesced(c, &mask, value, &combine).map(Some)
        }
        _ => Err(c.refused(refused::REDUCTION_OF_BLOCKS, c.path)),
    }
}

/// A butterfly.
fn reduce_tile(
    c: &mut Call<'_>,
    n: u32,
    mut value: Expr,
    by: &Combine,
) -> Result<Expr, Diagnostic> {
    let mask = tile_mask(c, n);
    let mask = c.held(mask);
    let mut distance = n / 2;
    while distance > 0 {
        value = c.held(value);
        let lane = Expr::i32(distance as i32);
        let op = WarpOp::ShuffleXor;
        let other = shuffle::exchange(c, op, &mask, value.clone(), &lane, n)?;
        value = combine(c, by, value, other)?;
        distance /= 2;
    }
    Ok(value)
}

/// A tree by rank, for any number of threads; the result comes from rank 0.
fn reduce_coalesced(
    c: &mut Call<'_>,
    mask: &Expr,
    mut value: Expr,
    by: &Combine,
) -> Result<Expr, Diagnostic> {
    let rank = coalesced::rank_in(c, mask.clone());
    let rank = c.held(rank);
    let size = c.math(MathFn::Popc, vec![mask.clone()], Type::I32).cast(Type::U32);
    let size = c.held(size);
    for distance in [16, 8, 4, 2, 1u32] {
        value = c.held(value);
        let step = c.u32(distance);
        let other = coalesced::by_rank(c, mask, value.clone(), step.clone(), WarpOp::ShuffleDown)?;
        let other = c.held(other);
        let sum = combine(c, by, value.clone(), other)?;
        let partner = c.binary(BinaryOp::Add, rank.clone(), step);
        let has_partner = c.binary(BinaryOp::Lt, partner, size.clone());
        value = c.select(has_partner, sum, value);
    }
    let value = c.held(value);
    let first = c.u32(0);
    coalesced::by_rank(c, mask, value, first, WarpOp::Shuffle)
}

/// The combined value, in the type of the first.
fn combine(c: &mut Call<'_>, by: &Combine, a: Expr, b: Expr) -> Result<Expr, Diagnostic> {
    let ty = a.ty.clone();
    match by {
        Combine::Named(name) => {
            if ty.scalar().is_none() {
                return Err(c.wrong_type(1, "a number"));
            }
            Ok(combine_named(c, name, a, b))
        }
        Combine::Functor(f) => match c.cx.call_functor(f.clone(), vec![a, b], c.span) {
            Some(result) => {
                let result = result?;
                c.cx.convert(result, &ty, c.span)
            }
            None => Err(c.wrong_type(2, "something that can be called, such as `cg::plus<int>()`")),
        },
    }
}

fn combine_named(c: &Call<'_>, operator: &str, a: Expr, b: Expr) -> Expr {
    match operator {
        "less" => c.same(MathFn::Min, vec![a, b]),
        "greater" => c.same(MathFn::Max, vec![a, b]),
        "bit_and" => c.binary(BinaryOp::BitAnd, a, b),
        "bit_or" => c.binary(BinaryOp::BitOr, a, b),
        "bit_xor" => c.binary(BinaryOp::BitXor, a, b),
        _ => c.binary(BinaryOp::Add, a, b),
    }
}
