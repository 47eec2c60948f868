//! Barriers and fences.

use warpsmith_ir::{BarrierKind, BinaryOp, Expr, Scalar, Scope, StmtKind, Type, UNALIGNED_BARRIER};

use super::call::{Call, Lowered};

const NAMES: &[&str] = &[
    "__syncthreads",
    "__syncthreads_count",
    "__syncthreads_and",
    "__syncthreads_or",
    "__syncwarp",
    "__barrier_sync",
    "__barrier_sync_count",
    "__threadfence",
    "__threadfence_block",
    "__threadfence_system",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    Some(match c.name {
        "__syncthreads" => block(c),
        "__syncthreads_count" => counting(c, BarrierKind::BlockCount),
        "__syncthreads_and" => counting(c, BarrierKind::BlockAnd),
        "__syncthreads_or" => counting(c, BarrierKind::BlockOr),
        "__syncwarp" => warp(c),
        "__barrier_sync" | "__barrier_sync_count" => named(c),
        "__threadfence" => fence(c, Scope::Device),
        "__threadfence_block" => fence(c, Scope::Block),
        "__threadfence_system" => fence(c, Scope::System),
        _ => return None,
    })
}

fn block(c: &mut Call<'_>) -> Lowered {
    c.arity(0)?;
    c.emit(StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None });
    Ok(None)
}

fn counting(c: &mut Call<'_>, kind: BarrierKind) -> Lowered {
    c.arity(1)?;
    let operand = c.scalar_arg(0, Scalar::Bool)?;
    Ok(Some(c.result(Type::I32, |var| StmtKind::Barrier {
        kind,
        operand: Some(operand),
        result: Some(var),
    })))
}

fn warp(c: &mut Call<'_>) -> Lowered {
    c.arity_between(0, 1)?;
    let mask = if c.args.is_empty() { c.u32(u32::MAX) } else { c.scalar_arg(0, Scalar::U32)? };
    c.emit(StmtKind::Barrier { kind: BarrierKind::Warp, operand: Some(mask), result: None });
    Ok(None)
}

fn named(c: &mut Call<'_>) -> Lowered {
    let counts = c.name == "__barrier_sync_count";
    c.arity(if counts { 2 } else { 1 })?;
    let id = c.scalar_arg(0, Scalar::U32)?;
    let count = if counts { Some(c.scalar_arg(1, Scalar::U32)?) } else { None };
    c.emit(numbered(BarrierKind::Named, id, count));
    Ok(None)
}

/// As [`numbered`], of an instruction to which lanes of one warp may come from several places.
pub fn unaligned(kind: BarrierKind, id: Expr, count: Option<Expr>) -> StmtKind {
    let flag = Expr::int(Scalar::U32, UNALIGNED_BARRIER.into());
    let id = match id.as_const() {
        Some(id) => Expr::int(Scalar::U32, (id.bits | u64::from(UNALIGNED_BARRIER)) as i64),
        None => Expr::binary(BinaryOp::BitOr, id, flag),
    };
    numbered(kind, id, count)
}

/// A barrier by its number, for as many threads as it counts; without a count and with the number 0 it is the block's.
pub fn numbered(kind: BarrierKind, id: Expr, count: Option<Expr>) -> StmtKind {
    let number = |n: i64| Expr::int(Scalar::U32, n);
    let whole = count.is_none() && id.as_const().is_some_and(|v| v.bits == 0);
    if whole && kind == BarrierKind::Named {
        return StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
    }
    let operand = match (count, id.as_const()) {
        (None, _) => id,
        (Some(count), Some(id)) if count.as_const().is_some() => {
            let count = count.as_const().map_or(0, |v| v.bits);
            number(((count << 16 | id.bits & 0xffff) & 0xffff_ffff) as i64)
        }
        (Some(count), _) => {
            let above = Expr::binary(BinaryOp::Shl, count, number(16));
            Expr::binary(BinaryOp::BitOr, above, id)
        }
    };
    StmtKind::Barrier { kind, operand: Some(operand), result: None }
}

fn fence(c: &mut Call<'_>, scope: Scope) -> Lowered {
    c.arity(0)?;
    c.emit(StmtKind::Fence(scope));
    Ok(None)
}
