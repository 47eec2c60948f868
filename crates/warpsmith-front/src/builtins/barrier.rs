//! Barriers and fences.

use warpsmith_ir::{BarrierKind, Scalar, Scope, StmtKind, Type};

use super::call::{Call, Lowered};

const NAMES: &[&str] = &[
    "__syncthreads",
    "__syncthreads_count",
    "__syncthreads_and",
    "__syncthreads_or",
    "__syncwarp",
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

fn fence(c: &mut Call<'_>, scope: Scope) -> Lowered {
    c.arity(0)?;
    c.emit(StmtKind::Fence(scope));
    Ok(None)
}
