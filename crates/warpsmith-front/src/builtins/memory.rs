//! Loads and stores with cache hints, and block copies of constant size.
//!
//! A hint says where data is kept, not what is read: the value is that of a plain access.

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, Place, PlaceKind, Scalar, Space, StmtKind, Type,
};

use super::block_copy;
use super::call::{Call, Lowered};

const LOADS: &[&str] = &["__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv"];
const STORES: &[&str] = &["__stcg", "__stcs", "__stwb", "__stwt"];

/// A block copy becomes at most this many assignments.
const MAX_PIECES: u64 = 256;

pub fn names() -> impl Iterator<Item = &'static str> {
    LOADS.iter().chain(STORES).copied()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    match c.name {
        n if LOADS.contains(&n) => Some(load(c)),
        n if STORES.contains(&n) => Some(store(c)),
        "memcpy" | "__builtin_memcpy" | "memmove" => Some(copy(c)),
        "memset" | "__builtin_memset" => Some(fill(c)),
        _ => None,
    }
}

fn load(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    c.pointee(0)?;
    let place = c.cx.place_behind(c.args[0].clone());
    Ok(Some(Expr::read(place).with_origin(c.span)))
}

fn store(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let value = c.args[1].clone();
    c.store_through(0, value)?;
    Ok(None)
}

/// The pieces that `bytes` are moved in: elements of the pointee when they fit, bytes otherwise.
fn piece(c: &Call<'_>, pointees: &[Type], bytes: u64) -> Result<(Scalar, u64), Diagnostic> {
    let scalar = match pointees {
        [Type::Scalar(a), rest @ ..] if rest.iter().all(|t| *t == Type::Scalar(*a)) => Some(*a),
        [Type::Vector(a, _), rest @ ..]
            if rest.iter().all(|t| matches!(t, Type::Vector(b, _) if b == a)) =>
        {
            Some(*a)
        }
        _ => None,
    };
    let scalar =
        scalar.filter(|s| bytes.is_multiple_of(u64::from(s.bytes()))).unwrap_or(Scalar::U8);
    let count = bytes / u64::from(scalar.bytes());
    if count > MAX_PIECES {
        let d = c
            .error("W108", format!("`{}` of {bytes} bytes is too large to be spelled out", c.path));
        return Err(d.help("write it as a loop over the elements"));
    }
    Ok((scalar, count))
}

/// Longer than what is spelled out, or of a length that is not constant.
fn is_long(c: &Call<'_>) -> bool {
    let bytes = c.args.get(2).and_then(|e| c.cx.fold(e));
    bytes.is_none_or(|v| v.bits > MAX_PIECES)
}

fn bytes_arg(c: &Call<'_>) -> Result<u64, Diagnostic> {
    let bytes = c.constant(2)?;
    u64::try_from(bytes).map_err(|_| c.error("W108", format!("`{}` of {bytes} bytes", c.path)))
}

/// The argument as a pointer to pieces.
pub fn pieces_of(c: &mut Call<'_>, i: usize, scalar: Scalar) -> Expr {
    let (space, volatile, readonly) = match &c.args[i].ty {
        Type::Pointer { space, volatile, readonly, .. } => (*space, *volatile, *readonly),
        _ => (Space::Generic, false, false),
    };
    let pointee = std::sync::Arc::new(Type::Scalar(scalar));
    let ty = Type::Pointer { pointee, space, volatile, readonly };
    let e = c.args[i].clone().cast(ty);
    c.held(e)
}

fn nth(pointer: &Expr, i: u64, scalar: Scalar, span: warpsmith_ir::Span) -> Place {
    let index = vec![Expr::int(Scalar::I32, i as i64)];
    let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
    Place::new(kind, Type::Scalar(scalar), span)
}

/// A null pointer that is written as a number, as a pointer to bytes.
fn null_as_pointer(c: &mut Call<'_>, i: usize) {
    if c.args[i].ty.is_integer() && c.cx.fold(&c.args[i]).is_some_and(|v| v.bits == 0) {
        let ty = Type::pointer(Type::Scalar(Scalar::U8), Space::Generic);
        c.args[i] = Expr::int(Scalar::U64, 0).cast(ty).with_origin(c.span);
    }
}

fn copy(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    null_as_pointer(c, 0);
    null_as_pointer(c, 1);
    let pointees = [c.pointee(0)?, c.pointee(1)?];
    if is_long(c) && c.name != "memmove" {
        return block_copy::copy(c);
    }
    let bytes = bytes_arg(c)?;
    let (scalar, count) = piece(c, &pointees, bytes)?;
    let (to, from) = (pieces_of(c, 0, scalar), pieces_of(c, 1, scalar));
    let span = c.span;
    // `memmove` allows an overlap, so all pieces are read before the first is written.
    let overlap = c.name == "memmove";
    let mut values = vec![];
    for i in 0..count {
        let value = Expr::read(nth(&from, i, scalar, span));
        values.push(if overlap { c.held(value) } else { value });
    }
    for (i, value) in values.into_iter().enumerate() {
        c.emit(StmtKind::Assign { place: nth(&to, i as u64, scalar, span), value });
    }
    Ok(Some(c.args[0].clone()))
}

fn fill(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    null_as_pointer(c, 0);
    let pointee = c.pointee(0)?;
    if is_long(c) {
        return block_copy::fill(c);
    }
    let bytes = bytes_arg(c)?;
    let byte = c.scalar_arg(1, Scalar::U8)?;
    // Only zero is the same in every element type.
    let zero = c.cx.fold(&byte).is_some_and(|v| v.bits == 0);
    let pointees = if zero { [pointee] } else { [Type::Scalar(Scalar::U8)] };
    let (scalar, count) = piece(c, &pointees, bytes)?;
    let to = pieces_of(c, 0, scalar);
    let value = if zero { Expr::int(scalar, 0) } else { c.held(byte) };
    let span = c.span;
    for i in 0..count {
        c.emit(StmtKind::Assign { place: nth(&to, i, scalar, span), value: value.clone() });
    }
    Ok(Some(c.args[0].clone()))
}

/// The pointer inside casts that only change its type, and inside addresses of shared memory.
pub fn underlying_pointer(e: &Expr) -> Option<&Expr> {
    match &*e.kind {
        _ if e.ty.is_pointer() => Some(e),
        ExprKind::Cast(inner) => underlying_pointer(inner),
        ExprKind::Binary(BinaryOp::BitOr, object, _) => match &*object.kind {
            ExprKind::Binary(BinaryOp::Shr, pointer, by)
                if by.as_const().is_some_and(|v| v.bits == u64::from(OBJECT_SHIFT)) =>
            {
                underlying_pointer(pointer)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Where the number of an object begins in a pointer, and where in an address of shared memory.
const POINTER_OFFSET_BITS: u32 = 40;
const SHARED_OFFSET_BITS: u32 = 18;
const OBJECT_SHIFT: u32 = POINTER_OFFSET_BITS - SHARED_OFFSET_BITS;

/// The address of shared memory that a pointer stands for: a number of 32 bits that can be computed with. A block has at
/// most 228 KB, so that 18 bits hold the place inside of an array; the ones above them tell which array it is.
pub fn shared_address(pointer: Expr) -> Expr {
    let span = pointer.origin.span;
    let at = |e: Expr| match span {
        Some(span) => e.with_origin(span),
        None => e,
    };
    let bits = at(pointer.cast(Type::U64));
    let by = Expr::int(Scalar::U64, OBJECT_SHIFT.into());
    let object = at(Expr::binary(BinaryOp::Shr, bits.clone(), by));
    let inside = Expr::int(Scalar::U64, (1 << SHARED_OFFSET_BITS) - 1);
    let offset = at(Expr::binary(BinaryOp::BitAnd, bits, inside));
    at(Expr::binary(BinaryOp::BitOr, object, offset))
}

/// The pointer that an address of shared memory stands for, to bytes.
pub fn shared_pointer(address: Expr, space: Space) -> Expr {
    let wide = match address.ty.scalar() {
        Some(s) if s.bytes() == 8 => address.cast(Type::U64),
        _ => address.cast(Type::U32).cast(Type::U64),
    };
    let number = |n: u32| Expr::int(Scalar::U64, n.into());
    let object = Expr::binary(BinaryOp::Shr, wide.clone(), number(SHARED_OFFSET_BITS));
    let object = Expr::binary(BinaryOp::Shl, object, number(POINTER_OFFSET_BITS));
    let inside = Expr::int(Scalar::U64, (1 << SHARED_OFFSET_BITS) - 1);
    let offset = Expr::binary(BinaryOp::BitAnd, wide, inside);
    let bits = Expr::binary(BinaryOp::BitOr, object, offset);
    bits.cast(Type::pointer(Type::Scalar(Scalar::U8), space))
}
