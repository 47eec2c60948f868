//! The lanes that happen to be together: a group that carries its mask and numbers its threads by rank.

use warpsmith_ir::{
    BinaryOp, Builtin, Diagnostic, Expr, ExprKind, MathFn, Scalar, StmtKind, Type, UnaryOp, WarpOp,
};

use super::super::call::{Call, Lowered};
use super::super::shuffle;
use super::Group;

pub fn mask(c: &Call<'_>, receiver: Expr) -> Expr {
    c.member(receiver, 0, Type::U32)
}

pub fn method(c: &mut Call<'_>, receiver: Expr, name: &str) -> Option<Lowered> {
    Some(match name {
        "any" => vote(c, receiver, WarpOp::Any),
        "all" => vote(c, receiver, WarpOp::All),
        "ballot" => ballot(c, receiver),
        "match_any" => match_any(c, receiver),
        "match_all" => match_all(c, receiver),
        "shfl" => exchange(c, receiver, WarpOp::Shuffle),
        "shfl_up" => exchange(c, receiver, WarpOp::ShuffleUp),
        "shfl_down" => exchange(c, receiver, WarpOp::ShuffleDown),
        "meta_group_rank" => c.arity(0).map(|()| Some(c.u32(0))),
        "meta_group_size" => c.arity(0).map(|()| Some(c.u32(1))),
        _ => return None,
    })
}

/// `binary_partition(group, predicate)`: the lanes of a group with the same truth.
pub fn binary_partition(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let all = lanes_of_parent(c)?;
    let predicate = c.scalar_arg(1, Scalar::Bool)?;
    let predicate = c.held(predicate);
    let yes = shuffle::vote(c, WarpOp::Ballot, all.clone(), predicate.clone());
    let yes = c.held(yes);
    let others = inverted(c, yes.clone());
    let no = c.binary(BinaryOp::BitAnd, all, others);
    let mask = c.select(predicate, yes, no);
    Ok(Some(super::object(c, Group::Coalesced, vec![mask])))
}

/// `labeled_partition(group, label)`: the lanes of a group with the same label.
pub fn labeled_partition(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let all = lanes_of_parent(c)?;
    let label = shuffle::match_operand(c, 1)?;
    let mask = shuffle::match_lanes(c, WarpOp::MatchAny, all, label);
    Ok(Some(super::object(c, Group::Coalesced, vec![mask])))
}

/// The lanes of the group that is parted.
fn lanes_of_parent(c: &mut Call<'_>) -> Result<Expr, Diagnostic> {
    let (parent, receiver) = super::group_argument(c)?;
    let lanes = match parent {
        Group::Tile(n) => super::tile_mask(c, n),
        Group::Coalesced => mask(c, receiver),
        _ => return Err(c.wrong_type(0, "a part of a warp")),
    };
    Ok(c.held(lanes))
}

fn vote(c: &mut Call<'_>, receiver: Expr, op: WarpOp) -> Lowered {
    c.arity(1)?;
    let predicate = c.scalar_arg(0, Scalar::Bool)?;
    let mask = self::mask(c, receiver);
    Ok(Some(shuffle::vote(c, op, mask, predicate)))
}

fn ballot(c: &mut Call<'_>, receiver: Expr) -> Lowered {
    c.arity(1)?;
    let predicate = c.scalar_arg(0, Scalar::Bool)?;
    let mask = self::mask(c, receiver);
    let mask = c.held(mask);
    let lanes = shuffle::vote(c, WarpOp::Ballot, mask.clone(), predicate);
    Ok(Some(by_ranks(c, lanes, mask)))
}

fn match_any(c: &mut Call<'_>, receiver: Expr) -> Lowered {
    c.arity(1)?;
    let value = shuffle::match_operand(c, 0)?;
    let mask = self::mask(c, receiver);
    let mask = c.held(mask);
    let lanes = shuffle::match_lanes(c, WarpOp::MatchAny, mask.clone(), value);
    Ok(Some(by_ranks(c, lanes, mask)))
}

fn match_all(c: &mut Call<'_>, receiver: Expr) -> Lowered {
    let mask = self::mask(c, receiver);
    let mask = c.held(mask);
    let lanes = lanes_of_one_value(c, mask.clone())?;
    Ok(Some(by_ranks(c, lanes, mask)))
}

/// The lanes of a mask where all have the value of argument 0, or none; argument 1 is set to which it is.
pub fn lanes_of_one_value(c: &mut Call<'_>, mask: Expr) -> Result<Expr, Diagnostic> {
    c.arity(2)?;
    let value = shuffle::match_operand(c, 0)?;
    let lanes = shuffle::match_lanes(c, WarpOp::MatchAll, mask, value);
    let ExprKind::Read(place) = &*c.args[1].kind else {
        return Err(c.wrong_type(1, "a variable"));
    };
    let (place, ty) = (place.clone(), c.args[1].ty.clone());
    let equal = shuffle::are_any(c, &lanes);
    let value = c.cx.convert(equal, &ty, c.span)?;
    c.emit(StmtKind::Assign { place, value });
    Ok(lanes)
}

/// The bits of `lanes` at the ranks that the lanes of the mask have: those above a gap move down by its width, one binary
/// digit of the distance at a time.
fn by_ranks(c: &mut Call<'_>, lanes: Expr, mask: Expr) -> Expr {
    let inverse = inverted(c, mask.clone());
    let gaps = c.binary(BinaryOp::Shl, inverse, c.u32(1));
    let (mut lanes, mut mask, mut gaps) = (c.held(lanes), mask, c.held(gaps));
    for distance in [1, 2, 4, 8, 16u32] {
        // Whether an odd number of gaps lies below each bit.
        let mut odd = gaps.clone();
        for width in [1, 2, 4, 8, 16u32] {
            let moved = c.binary(BinaryOp::Shl, odd.clone(), c.u32(width));
            let both = c.binary(BinaryOp::BitXor, odd, moved);
            odd = c.held(both);
        }
        let moving = c.binary(BinaryOp::BitAnd, odd.clone(), mask.clone());
        let moving = c.held(moving);
        lanes = moved_down(c, lanes, &moving, distance);
        mask = moved_down(c, mask, &moving, distance);
        let even = inverted(c, odd);
        let left = c.binary(BinaryOp::BitAnd, gaps, even);
        gaps = c.held(left);
    }
    lanes
}

fn inverted(c: &Call<'_>, e: Expr) -> Expr {
    Expr::new(ExprKind::Unary(UnaryOp::BitNot, e), Type::U32, c.span)
}

/// Moves those of the bits that `moving` has.
fn moved_down(c: &mut Call<'_>, bits: Expr, moving: &Expr, distance: u32) -> Expr {
    let taken = c.binary(BinaryOp::BitAnd, bits.clone(), moving.clone());
    let taken = c.held(taken);
    let left = c.binary(BinaryOp::BitXor, bits, taken.clone());
    let down = c.binary(BinaryOp::Shr, taken, c.u32(distance));
    let both = c.binary(BinaryOp::BitOr, left, down);
    c.held(both)
}

/// The lane of the group's thread of that rank: the position of a mask's n-th bit, found by halving.
fn lane_of_rank(c: &mut Call<'_>, mask: Expr, rank: Expr) -> Expr {
    let (mut rest, mut rank, mut lane) = (mask, rank, c.u32(0));
    for width in [16, 8, 4, 2, 1u32] {
        let low = c.binary(BinaryOp::BitAnd, rest.clone(), c.u32((1 << width) - 1));
        let count = c.math(MathFn::Popc, vec![low], Type::I32).cast(Type::U32);
        let count = c.held(count);
        let above = c.binary(BinaryOp::Ge, rank.clone(), count.clone());
        let above = c.held(above);
        let skipped = c.select(above.clone(), count, c.u32(0));
        let less = c.binary(BinaryOp::Sub, rank, skipped);
        rank = c.held(less);
        let by = c.select(above, c.u32(width), c.u32(0));
        let by = c.held(by);
        let moved = c.binary(BinaryOp::Shr, rest, by.clone());
        rest = c.held(moved);
        let further = c.binary(BinaryOp::Add, lane, by);
        lane = c.held(further);
    }
    lane
}

/// Exchanges by rank; a rank outside the group gives the thread's own value.
fn exchange(c: &mut Call<'_>, receiver: Expr, op: WarpOp) -> Lowered {
    c.arity(2)?;
    let value = c.args[0].clone();
    let by = c.scalar_arg(1, Scalar::U32)?;
    let mask = self::mask(c, receiver);
    let mask = c.held(mask);
    by_rank(c, &mask, value, by, op).map(Some)
}

/// Exchanges by rank, or by a distance between ranks.
pub fn by_rank(
    c: &mut Call<'_>,
    mask: &Expr,
    value: Expr,
    by: Expr,
    op: WarpOp,
) -> Result<Expr, Diagnostic> {
    let own = rank_in(c, mask.clone());
    let own = c.held(own);
    let rank = match op {
        WarpOp::ShuffleUp => c.binary(BinaryOp::Sub, own.clone(), by),
        WarpOp::ShuffleDown => c.binary(BinaryOp::Add, own.clone(), by),
        _ => by,
    };
    let rank = c.held(rank);
    let size = c.math(MathFn::Popc, vec![mask.clone()], Type::I32).cast(Type::U32);
    // A difference below zero is a large unsigned number.
    let inside = c.binary(BinaryOp::Lt, rank.clone(), size);
    let rank = c.select(inside, rank, own);
    let rank = c.held(rank);
    let lane = lane_of_rank(c, mask.clone(), rank).cast(Type::I32);
    shuffle::exchange(c, WarpOp::Shuffle, mask, value, &lane, 32)
}

/// The number of lanes of a mask below this one.
pub fn rank_in(c: &Call<'_>, mask: Expr) -> Expr {
    let bit = c.binary(BinaryOp::Shl, c.u32(1), Expr::builtin(Builtin::LaneId));
    let below = c.binary(BinaryOp::Sub, bit, c.u32(1));
    let lower = c.binary(BinaryOp::BitAnd, mask, below);
    c.math(MathFn::Popc, vec![lower], Type::I32).cast(Type::U32)
}
