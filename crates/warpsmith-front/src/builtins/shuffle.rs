//! Warp-wide exchanges: shuffles, votes, matches and reductions.

use warpsmith_ir::{BinaryOp, Builtin, Diagnostic, Expr, Scalar, StmtKind, Type, WarpOp};

use super::call::{Call, Lowered};
use crate::sema::refused;

const SHUFFLES: &[(&str, WarpOp)] = &[
    ("__shfl_sync", WarpOp::Shuffle),
    ("__shfl_up_sync", WarpOp::ShuffleUp),
    ("__shfl_down_sync", WarpOp::ShuffleDown),
    ("__shfl_xor_sync", WarpOp::ShuffleXor),
];

const VOTES: &[(&str, WarpOp)] =
    &[("__all_sync", WarpOp::All), ("__any_sync", WarpOp::Any), ("__ballot_sync", WarpOp::Ballot)];

const REDUCTIONS: &[(&str, WarpOp)] = &[
    ("__reduce_add_sync", WarpOp::ReduceAdd),
    ("__reduce_min_sync", WarpOp::ReduceMin),
    ("__reduce_max_sync", WarpOp::ReduceMax),
    ("__reduce_and_sync", WarpOp::ReduceAnd),
    ("__reduce_or_sync", WarpOp::ReduceOr),
    ("__reduce_xor_sync", WarpOp::ReduceXor),
];

/// The forms without a mask, which CUDA removed.
const LEGACY: &[&str] =
    &["__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__all", "__any", "__ballot"];

pub fn names() -> impl Iterator<Item = &'static str> {
    SHUFFLES.iter().chain(VOTES).chain(REDUCTIONS).map(|(n, _)| *n).chain([
        "__activemask",
        "__match_any_sync",
        "__match_all_sync",
        "__uni_sync",
    ])
}

fn find(table: &[(&str, WarpOp)], name: &str) -> Option<WarpOp> {
    table.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    if let Some(op) = find(SHUFFLES, c.name) {
        return Some(shuffle_call(c, op));
    }
    if let Some(op) = find(VOTES, c.name) {
        return Some(vote_call(c, op));
    }
    if let Some(op) = find(REDUCTIONS, c.name) {
        return Some(reduce_call(c, op));
    }
    if LEGACY.contains(&c.name) {
        return Some(Err(legacy(c)));
    }
    match c.name {
        "__activemask" => Some(active_mask(c)),
        "__match_any_sync" => Some(match_any(c)),
        "__match_all_sync" => Some(match_all(c)),
        _ => None,
    }
}

fn legacy(c: &Call<'_>) -> Diagnostic {
    c.refused(refused::WARP_WITHOUT_MASK, c.name)
}

fn active_mask(c: &mut Call<'_>) -> Lowered {
    c.arity(0)?;
    Ok(Some(c.held(Expr::builtin(Builtin::ActiveMask).with_origin(c.span))))
}

fn shuffle_call(c: &mut Call<'_>, op: WarpOp) -> Lowered {
    c.arity_between(3, 4)?;
    let mask = c.scalar_arg(0, Scalar::U32)?;
    let value = c.args[1].clone();
    let lane = lane_operand(c, 2, op)?;
    if c.args.get(3).is_some_and(|w| c.cx.fold(w).is_none()) {
        let width = c.scalar_arg(3, Scalar::I32)?;
        let lane = source_lane(c, op, lane, width);
        return shuffle(c, WarpOp::Shuffle, mask, value, lane, 32).map(Some);
    }
    let width = if c.args.len() == 4 { c.constant(3)? } else { 32 };
    if !(1..=32).contains(&width) || !(width as u64).is_power_of_two() {
        let d = c.error(
            "W103",
            format!("the width of `{}` is a power of two up to 32, not {width}", c.path),
        );
        return Err(d);
    }
    shuffle(c, op, mask, value, lane, width as u32).map(Some)
}

/// The lane of the warp that a lane gets its value from, where the width is known when the kernel runs.
fn source_lane(c: &mut Call<'_>, op: WarpOp, lane: Expr, width: Expr) -> Expr {
    let own = c.held(Expr::builtin(Builtin::LaneId).with_origin(c.span).cast(Type::I32));
    let lane = c.held(lane.cast(Type::I32));
    let within = c.binary(BinaryOp::Sub, width, Expr::i32(1));
    let within = c.held(within);
    let position = c.binary(BinaryOp::BitAnd, own.clone(), within.clone());
    let first = c.binary(BinaryOp::Sub, own.clone(), position);
    let first = c.held(first);
    if op == WarpOp::Shuffle {
        let wanted = c.binary(BinaryOp::BitAnd, lane, within);
        return c.binary(BinaryOp::Add, first, wanted);
    }
    let combine = match op {
        WarpOp::ShuffleUp => BinaryOp::Sub,
        WarpOp::ShuffleDown => BinaryOp::Add,
        _ => BinaryOp::BitXor,
    };
    let other = c.binary(combine, own.clone(), lane);
    let other = c.held(other);
    let inside = if op == WarpOp::ShuffleUp {
        c.binary(BinaryOp::Ge, other.clone(), first)
    } else {
        let last = c.binary(BinaryOp::Add, first, within);
        c.binary(BinaryOp::Le, other.clone(), last)
    };
    c.select(inside, other, own)
}

/// Lanes and lane masks are `int`, deltas `unsigned`.
pub fn lane_operand(c: &mut Call<'_>, i: usize, op: WarpOp) -> Result<Expr, Diagnostic> {
    let ty = if matches!(op, WarpOp::ShuffleUp | WarpOp::ShuffleDown) {
        Scalar::U32
    } else {
        Scalar::I32
    };
    c.scalar_arg(i, ty)
}

/// Exchanges a value of any type CUDA shuffles; narrower and packed ones travel as a 32-bit word.
pub fn shuffle(
    c: &mut Call<'_>,
    op: WarpOp,
    mask: Expr,
    value: Expr,
    lane: Expr,
    width: u32,
) -> Result<Expr, Diagnostic> {
    let ty = value.ty.clone();
    let word = match &ty {
        Type::Scalar(s) if s.bytes() >= 4 => value,
        Type::Scalar(Scalar::F16 | Scalar::BF16) => {
            c.bitcast(value, Type::Scalar(Scalar::U16)).cast(Type::U32)
        }
        // `int` is what small integers become in the call.
        Type::Scalar(_) => value.cast(Type::I32),
        Type::Vector(Scalar::F16 | Scalar::BF16, 2) => c.bitcast(value, Type::U32),
        _ => {
            let message = format!("`{}` exchanges numbers of 4 or 8 bytes, half and half2", c.path);
            let d = c.error("W102", message);
            return Err(d.help("exchange the parts one by one"));
        }
    };
    let width = Expr::i32(width as i32);
    let result = c.result(word.ty.clone(), |var| StmtKind::Warp {
        op,
        mask,
        args: vec![word, lane, width],
        result: Some(var),
    });
    Ok(match &ty {
        Type::Scalar(Scalar::F16 | Scalar::BF16) => {
            c.bitcast(result.cast(Type::Scalar(Scalar::U16)), ty)
        }
        Type::Vector(..) => c.bitcast(result, ty),
        _ => result,
    })
}

/// The same for a value of any type, as groups exchange it: objects and vectors number by number.
pub fn exchange(
    c: &mut Call<'_>,
    op: WarpOp,
    mask: &Expr,
    value: Expr,
    lane: &Expr,
    width: u32,
) -> Result<Expr, Diagnostic> {
    let ty = value.ty.clone();
    let parts: Vec<Type> = match &ty {
        Type::Struct(id) => {
            let fields = c.cx.module().structs.get(id.0 as usize).map(|s| s.fields.clone());
            fields.unwrap_or_default().into_iter().map(|f| f.ty).collect()
        }
        Type::Vector(Scalar::F16 | Scalar::BF16, 2) => vec![],
        Type::Vector(s, n) => vec![Type::Scalar(*s); usize::from(*n)],
        _ => vec![],
    };
    if parts.is_empty() {
        let result = shuffle(c, op, mask.clone(), value, lane.clone(), width)?;
        return Ok(if result.ty == ty { result } else { result.cast(ty) });
    }
    let value = c.held(value);
    let mut all = vec![];
    for (i, part) in parts.into_iter().enumerate() {
        let part = c.member(value.clone(), i as u32, part);
        all.push(exchange(c, op, mask, part, lane, width)?);
    }
    Ok(c.make(all, ty))
}

fn vote_call(c: &mut Call<'_>, op: WarpOp) -> Lowered {
    c.arity(2)?;
    let mask = c.scalar_arg(0, Scalar::U32)?;
    let predicate = c.scalar_arg(1, Scalar::Bool)?;
    Ok(Some(vote(c, op, mask, predicate)))
}

/// A vote; `All` and `Any` give `int`, as in CUDA.
pub fn vote(c: &mut Call<'_>, op: WarpOp, mask: Expr, predicate: Expr) -> Expr {
    let ty = if op == WarpOp::Ballot { Type::U32 } else { Type::BOOL };
    let result =
        c.result(ty, |var| StmtKind::Warp { op, mask, args: vec![predicate], result: Some(var) });
    if op == WarpOp::Ballot { result } else { result.cast(Type::I32) }
}

/// The word a match compares: numbers of 4 or 8 bytes.
pub fn match_operand(c: &Call<'_>, i: usize) -> Result<Expr, Diagnostic> {
    match c.scalar_of(i)? {
        s if s.bytes() >= 4 => Ok(c.args[i].clone()),
        s if s.is_integer() => Ok(c.args[i].clone().cast(Type::I32)),
        _ => Err(c.wrong_type(i, "a number of 4 or 8 bytes")),
    }
}

pub fn match_lanes(c: &mut Call<'_>, op: WarpOp, mask: Expr, value: Expr) -> Expr {
    c.result(Type::U32, |var| StmtKind::Warp { op, mask, args: vec![value], result: Some(var) })
}

fn match_any(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let mask = c.scalar_arg(0, Scalar::U32)?;
    let value = match_operand(c, 1)?;
    Ok(Some(match_lanes(c, WarpOp::MatchAny, mask, value)))
}

fn match_all(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    let mask = c.scalar_arg(0, Scalar::U32)?;
    let value = match_operand(c, 1)?;
    let lanes = match_lanes(c, WarpOp::MatchAll, mask, value);
    let equal = are_any(c, &lanes);
    c.store_through(2, equal)?;
    Ok(Some(lanes))
}

/// Whether `match_all` found one value in all lanes, an `int`.
pub fn are_any(c: &Call<'_>, lanes: &Expr) -> Expr {
    c.binary(BinaryOp::Ne, lanes.clone(), c.u32(0)).cast(Type::I32)
}

fn reduce_call(c: &mut Call<'_>, op: WarpOp) -> Lowered {
    c.arity(2)?;
    let mask = c.scalar_arg(0, Scalar::U32)?;
    let bitwise = matches!(op, WarpOp::ReduceAnd | WarpOp::ReduceOr | WarpOp::ReduceXor);
    let ty = match c.scalar_of(1)? {
        s if s.is_float() || s.bytes() > 4 => return Err(c.wrong_type(1, "a 32-bit integer")),
        Scalar::U32 => Scalar::U32,
        _ if bitwise => Scalar::U32,
        _ => Scalar::I32,
    };
    let value = c.scalar_arg(1, ty)?;
    Ok(Some(c.result(Type::Scalar(ty), |var| StmtKind::Warp {
        op,
        mask,
        args: vec![value],
        result: Some(var),
    })))
}
