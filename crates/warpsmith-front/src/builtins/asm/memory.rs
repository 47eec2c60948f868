//! PTX that touches memory: loads, stores, atomics, asynchronous copies, hints.

use warpsmith_ir::{
    AtomicOp, BinaryOp, Diagnostic, Expr, ExprKind, Place, PlaceKind, Scalar, Scope, Space,
    StmtKind, Type,
};

use super::text::{self, Instruction};
use super::{Machine, scalar};
use crate::builtins::memory::{shared_pointer, underlying_pointer};

/// Executes the instruction if it is one of these; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    match i.name() {
        "ld" | "ldu" => load(m, i)?,
        "st" => store(m, i)?,
        "atom" | "red" => atomic(m, i)?,
        "cp" if i.words.get(1).is_some_and(|w| w == "async") && !i.has("bulk") => {
            async_copy(m, i)?;
        }
        // They say where data will be wanted, not what is read.
        "prefetch" | "prefetchu" | "discard" | "applypriority" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn space_of(i: &Instruction) -> Space {
    if i.has("global") {
        Space::Global
    } else if ["shared", "shared::cta", "shared::cluster"].iter().any(|w| i.has(w)) {
        Space::Shared
    } else {
        Space::Generic
    }
}

pub fn scope_of(i: &Instruction) -> Scope {
    if i.has("cta") {
        Scope::Block
    } else if i.has("sys") {
        Scope::System
    } else {
        Scope::Device
    }
}

/// `[%1 + 16]` as a pointer to `ty`.
fn address(m: &mut Machine<'_>, text: &str, i: &Instruction, ty: Type) -> Result<Expr, Diagnostic> {
    address_in(m, text, i, space_of(i), ty)
}

/// The same with the space known otherwise.
pub(super) fn address_in(
    m: &mut Machine<'_>,
    text: &str,
    i: &Instruction,
    space: Space,
    ty: Type,
) -> Result<Expr, Diagnostic> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let Some(inner) = inner else { return Err(m.unsupported()) };
    let (base, offset) = match inner.split_once('+') {
        Some((base, offset)) => (base.trim(), m.constant(offset.trim())?),
        None => (inner.trim(), 0),
    };
    let value = m.read(base)?;
    let pointer = pointer(m, value, space)?;
    let volatile = i.has("volatile");
    let (space, readonly) = match &pointer.ty {
        Type::Pointer { space, readonly, .. } => (*space, *readonly),
        _ => (Space::Generic, false),
    };
    let typed =
        |pointee: Type| Type::Pointer { pointee: pointee.into(), space, volatile, readonly };
    let mut at = pointer;
    if offset != 0 {
        let bytes = typed(Type::Scalar(Scalar::U8));
        let start = Expr::new(ExprKind::Cast(at), bytes.clone(), m.span);
        let by = Expr::int(Scalar::I64, offset);
        at = Expr::new(ExprKind::PtrOffset(start, by), bytes, m.span);
    }
    if at.ty == typed(ty.clone()) {
        return Ok(at);
    }
    Ok(Expr::new(ExprKind::Cast(at), typed(ty), m.span))
}

/// The pointer behind an address: the one that was cast, or the 64-bit number made a pointer again.
fn pointer(m: &Machine<'_>, e: Expr, space: Space) -> Result<Expr, Diagnostic> {
    if let Some(p) = underlying_pointer(&e) {
        return Ok(p.clone());
    }
    let number = e.ty.scalar().is_some_and(|s| s.is_integer() && s.bytes() >= 4);
    if space == Space::Shared && number {
        return Ok(shared_pointer(e, space));
    }
    if e.ty == Type::U64 || e.ty == Type::I64 {
        let ty = Type::pointer(Type::Scalar(Scalar::U8), space);
        return Ok(Expr::new(ExprKind::Cast(e), ty, m.span));
    }
    Err(Diagnostic::error("W109", "the address in this PTX cannot be traced to a pointer")
        .label(m.span, "inline assembly")
        .help("write `__cvta_generic_to_shared(pointer)` in the operand itself"))
}

/// Elements of a vector access, and the type of one.
fn shape(m: &Machine<'_>, i: &Instruction) -> Result<(u8, Scalar), Diagnostic> {
    let count = if i.has("v4") {
        4
    } else if i.has("v2") {
        2
    } else {
        1
    };
    match scalar(i.suffix()) {
        Some(s) if s != Scalar::Bool => Ok((count, s)),
        _ => Err(m.unsupported()),
    }
}

fn is_atomic(i: &Instruction) -> bool {
    ["relaxed", "acquire", "release"].iter().any(|w| i.has(w))
}

fn load(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (count, s) = shape(m, i)?;
    let [to, from] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let targets = text::parts(to);
    if targets.len() != usize::from(count) || count > 1 && is_atomic(i) {
        return Err(m.unsupported());
    }
    let ty = if count > 1 { Type::Vector(s, count) } else { Type::Scalar(s) };
    let at = address(m, from, i, ty.clone())?;
    if is_atomic(i) {
        let scope = scope_of(i);
        let value = m.result(ty, |var| StmtKind::Atomic {
            op: AtomicOp::Load,
            pointer: at,
            value: Expr::int(s, 0),
            compare: None,
            result: Some(var),
            scope,
        });
        if i.has("acquire") {
            m.put(StmtKind::Fence(scope));
        }
        m.write(&targets[0], value);
        return Ok(());
    }
    let place = Place::new(PlaceKind::Deref(at), ty.clone(), m.span);
    let span = m.span;
    let value = m.result(ty.clone(), |var| StmtKind::Assign {
        place: Place::new(PlaceKind::Var(var), ty, span),
        value: Expr::read(place).with_origin(span),
    });
    for (n, target) in targets.iter().enumerate() {
        let part = match count {
            1 => value.clone(),
            _ => Expr::new(ExprKind::Member(value.clone(), n as u32), Type::Scalar(s), span),
        };
        m.write(target, part);
    }
    Ok(())
}

fn store(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (count, s) = shape(m, i)?;
    let [to, from] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let sources = text::parts(from);
    if sources.len() != usize::from(count) || count > 1 && is_atomic(i) {
        return Err(m.unsupported());
    }
    let values: Result<Vec<Expr>, _> = sources.iter().map(|o| m.operand(o, s)).collect();
    let mut values = values?;
    let ty = if count > 1 { Type::Vector(s, count) } else { Type::Scalar(s) };
    let at = address(m, to, i, ty.clone())?;
    let value = match count {
        1 => values.remove(0),
        _ => Expr::new(ExprKind::Make(values), ty.clone(), m.span),
    };
    if is_atomic(i) {
        let scope = scope_of(i);
        if i.has("release") {
            m.put(StmtKind::Fence(scope));
        }
        m.put(StmtKind::Atomic {
            op: AtomicOp::Store,
            pointer: at,
            value,
            compare: None,
            result: None,
            scope,
        });
        return Ok(());
    }
    let place = Place::new(PlaceKind::Deref(at), ty, m.span);
    m.put(StmtKind::Assign { place, value });
    Ok(())
}

/// `atom.global.add.u32 old, [p], value`; `red` is the same without the old value.
fn atomic(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    const OPS: &[(&str, AtomicOp)] = &[
        ("add", AtomicOp::Add),
        ("min", AtomicOp::Min),
        ("max", AtomicOp::Max),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("exch", AtomicOp::Exchange),
        ("cas", AtomicOp::Cas),
        ("inc", AtomicOp::Inc),
        ("dec", AtomicOp::Dec),
    ];
    let op = OPS.iter().find(|(n, _)| i.has(n)).map(|(_, op)| *op);
    let (Some(op), (1, s)) = (op, shape(m, i)?) else { return Err(m.unsupported()) };
    let old = i.name() == "atom";
    let mut operands = i.operands.iter();
    let target = if old { operands.next() } else { None };
    let rest: Vec<&String> = operands.collect();
    let (at, compare, value) = match (rest.as_slice(), op) {
        ([at, compare, value], AtomicOp::Cas) => (at, Some(compare), value),
        ([at, value], op) if op != AtomicOp::Cas => (at, None, value),
        _ => return Err(m.unsupported()),
    };
    let compare = compare.map(|c| m.operand(c, s)).transpose()?;
    let value = m.operand(value, s)?;
    let pointer = address(m, at, i, Type::Scalar(s))?;
    let scope = scope_of(i);
    if i.has("release") || i.has("acq_rel") {
        m.put(StmtKind::Fence(scope));
    }
    let before = m.result(Type::Scalar(s), |var| StmtKind::Atomic {
        op,
        pointer,
        value,
        compare,
        result: Some(var),
        scope,
    });
    if i.has("acquire") || i.has("acq_rel") {
        m.put(StmtKind::Fence(scope));
    }
    if let Some(target) = target {
        m.write(target, before);
    }
    Ok(())
}

/// `cp.async.ca/cg.shared.global`, `cp.async.commit_group`, `cp.async.wait_group N`, `cp.async.wait_all`.
fn async_copy(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    match i.words.get(2).map_or("", String::as_str) {
        "commit_group" => m.put(StmtKind::AsyncCommit),
        "wait_all" => m.put(StmtKind::AsyncWait(0)),
        "wait_group" => {
            let Some(n) = i.operands.first() else { return Err(m.unsupported()) };
            match u32::try_from(m.constant(n)?) {
                Ok(n) => m.put(StmtKind::AsyncWait(n)),
                Err(_) => return Err(m.unsupported()),
            }
        }
        "ca" | "cg" => copy(m, i)?,
        _ => return Err(m.unsupported()),
    }
    Ok(())
}

fn copy(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (to, from, size, used) = match i.operands.as_slice() {
        [to, from, size] => (to, from, size, None),
        [to, from, size, used] => (to, from, size, Some(used)),
        _ => return Err(m.unsupported()),
    };
    let bytes = m.constant(size)?;
    if !matches!(bytes, 4 | 8 | 16) {
        return Err(m.unsupported());
    }
    let bare = |text: &str| text.trim_matches(['[', ']']).trim().to_string();
    let to = m.read(&bare(to))?;
    let destination = pointer(m, to, Space::Shared)?;
    let from = m.read(&bare(from))?;
    let source = pointer(m, from, Space::Global)?;
    let bytes = Expr::i32(bytes as i32);
    // The PTX operand says how many bytes are read; what is kept here is how many are zeros.
    let zero_fill = match used {
        None => None,
        Some(used) => {
            let used = m.operand(used, Scalar::I32)?;
            Some(Expr::binary(BinaryOp::Sub, bytes.clone(), used))
        }
    };
    m.put(StmtKind::AsyncCopy { destination, source, bytes, zero_fill });
    Ok(())
}
