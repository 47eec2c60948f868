//! PTX that orders threads or makes them exchange: barriers, fences, votes, shuffles.

use warpsmith_ir::{BarrierKind, Builtin, Diagnostic, Expr, Scalar, StmtKind, Type, WarpOp};

use super::Machine;
use super::memory::scope_of;
use super::text::Instruction;

/// Executes the instruction if it is one of these; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    match i.name() {
        "bar" | "barrier" => barrier(m, i)?,
        "membar" | "fence" if i.has("proxy") => {}
        "membar" => {
            let scope = if i.has("gl") { warpsmith_ir::Scope::Device } else { scope_of(i) };
            m.put(StmtKind::Fence(scope));
        }
        "fence" => m.put(StmtKind::Fence(scope_of(i))),
        "activemask" => {
            let [to] = i.operands.as_slice() else { return Err(m.unsupported()) };
            let mask = m.cx.hold(Expr::builtin(Builtin::ActiveMask), m.span);
            m.write(to, mask);
        }
        "vote" => vote(m, i)?,
        "shfl" => shuffle(m, i)?,
        "redux" => reduction(m, i)?,
        "trap" => m.put(StmtKind::Trap),
        // A pause or a hint changes when something happens, not what.
        "nanosleep" | "griddepcontrol" | "setmaxnreg" | "pmevent" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn barrier(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    if i.has("warp") {
        let [mask] = i.operands.as_slice() else { return Err(m.unsupported()) };
        let mask = m.operand(mask, Scalar::U32)?;
        m.put(StmtKind::Barrier { kind: BarrierKind::Warp, operand: Some(mask), result: None });
        return Ok(());
    }
    if i.has("cluster") {
        let kind = match (i.has("arrive"), i.has("wait")) {
            (true, false) => BarrierKind::ClusterArrive,
            (false, true) => BarrierKind::ClusterWait,
            _ => return Err(m.unsupported()),
        };
        m.put(StmtKind::Barrier { kind, operand: None, result: None });
        return Ok(());
    }
    if i.has("red") {
        return counting_barrier(m, i);
    }
    let kind = match (i.has("sync"), i.has("arrive")) {
        (true, false) => BarrierKind::Named,
        (false, true) => BarrierKind::NamedArrive,
        _ => return Err(m.unsupported()),
    };
    let (id, count) = match i.operands.as_slice() {
        [id] if kind == BarrierKind::Named => (m.operand(id, Scalar::U32)?, None),
        [id, count] => (m.operand(id, Scalar::U32)?, Some(m.operand(count, Scalar::U32)?)),
        _ => return Err(m.unsupported()),
    };
    // `bar` is `barrier.aligned`.
    let unaligned = i.name() == "barrier" && !i.has("aligned");
    m.put(match unaligned {
        true => crate::builtins::barrier::unaligned(kind, id, count),
        false => crate::builtins::barrier::numbered(kind, id, count),
    });
    Ok(())
}

/// `bar.red.popc.u32 d, 0, p`: a barrier of the whole block, whatever its number, that counts a predicate.
fn counting_barrier(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let kind = match i.words.iter().map(String::as_str).find(|w| ["popc", "and", "or"].contains(w))
    {
        Some("popc") => BarrierKind::BlockCount,
        Some("and") => BarrierKind::BlockAnd,
        Some(_) => BarrierKind::BlockOr,
        None => return Err(m.unsupported()),
    };
    let [to, id, p] = i.operands.as_slice() else { return Err(m.unsupported()) };
    if !(0..16).contains(&m.constant(id)?) {
        return Err(m.unsupported());
    }
    let p = m.read(p)?;
    let p = m.truth(p);
    let value =
        m.result(Type::I32, |var| StmtKind::Barrier { kind, operand: Some(p), result: Some(var) });
    m.write(to, value);
    Ok(())
}

/// `vote.sync.ballot.b32 d, p, mask`, `vote.sync.any.pred`.
fn vote(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let op = match i.words.get(2).map_or("", String::as_str) {
        "ballot" => WarpOp::Ballot,
        "any" => WarpOp::Any,
        "all" => WarpOp::All,
        _ => return Err(m.unsupported()),
    };
    let [to, p, mask] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let (negated, name) = match p.strip_prefix('!') {
        Some(name) => (true, name),
        None => (false, p.as_str()),
    };
    let p = m.read(name)?;
    let mut p = m.truth(p);
    if negated {
        p = Expr::binary(warpsmith_ir::BinaryOp::Eq, p, super::bool_value(false));
    }
    let mask = m.operand(mask, Scalar::U32)?;
    let ty = if op == WarpOp::Ballot { Type::U32 } else { Type::BOOL };
    let value = m.result(ty, |var| StmtKind::Warp { op, mask, args: vec![p], result: Some(var) });
    m.write(to, value);
    Ok(())
}

/// `shfl.sync.down.b32 d, a, b, c, mask` over the whole warp, which `c` must say.
fn shuffle(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (op, clamp) = match i.words.get(2).map_or("", String::as_str) {
        "idx" => (WarpOp::Shuffle, 0x1f),
        "up" => (WarpOp::ShuffleUp, 0),
        "down" => (WarpOp::ShuffleDown, 0x1f),
        "bfly" => (WarpOp::ShuffleXor, 0x1f),
        _ => return Err(m.unsupported()),
    };
    let [to, a, b, c, mask] = i.operands.as_slice() else { return Err(m.unsupported()) };
    // `d|p` also asks whether the source lane was in range.
    if m.constant(c)? != clamp || to.contains('|') {
        return Err(m.unsupported());
    }
    let value = m.operand(a, Scalar::U32)?;
    let up_down = matches!(op, WarpOp::ShuffleUp | WarpOp::ShuffleDown);
    let lane = m.operand(b, if up_down { Scalar::U32 } else { Scalar::I32 })?;
    let mask = m.operand(mask, Scalar::U32)?;
    let args = vec![value, lane, Expr::i32(32)];
    let value = m.result(Type::U32, |var| StmtKind::Warp { op, mask, args, result: Some(var) });
    m.write(to, value);
    Ok(())
}

/// `redux.sync.add.s32 d, a, mask`.
fn reduction(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let op = match i.words.get(2).map_or("", String::as_str) {
        "add" => WarpOp::ReduceAdd,
        "min" => WarpOp::ReduceMin,
        "max" => WarpOp::ReduceMax,
        "and" => WarpOp::ReduceAnd,
        "or" => WarpOp::ReduceOr,
        "xor" => WarpOp::ReduceXor,
        _ => return Err(m.unsupported()),
    };
    let ty = match i.suffix() {
        "s32" => Scalar::I32,
        "u32" | "b32" => Scalar::U32,
        _ => return Err(m.unsupported()),
    };
    let [to, a, mask] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let value = m.operand(a, ty)?;
    let mask = m.operand(mask, Scalar::U32)?;
    let value = m.result(Type::Scalar(ty), |var| StmtKind::Warp {
        op,
        mask,
        args: vec![value],
        result: Some(var),
    });
    m.write(to, value);
    Ok(())
}
