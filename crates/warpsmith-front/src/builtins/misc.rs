//! Clocks, traps, assumptions and questions about address spaces.

use warpsmith_ir::{Builtin, Expr, ExprKind, Scalar, Space, StmtKind, Type};

use super::call::{Call, Lowered};
use super::memory;
use crate::sema::refused;

const NAMES: &[&str] = &[
    "clock",
    "clock64",
    "__nanosleep",
    "__trap",
    "__brkpt",
    "__builtin_assume",
    "__builtin_expect",
    "__builtin_unreachable",
    "__builtin_assume_aligned",
    "__cvta_generic_to_shared",
    "__cvta_generic_to_global",
    "__cvta_shared_to_generic",
    "__cvta_global_to_generic",
    "__isGlobal",
    "__isShared",
    "__isConstant",
    "__isLocal",
    "__prof_trigger",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    Some(match c.name {
        "clock" => clock(c, Builtin::Clock),
        "clock64" => clock(c, Builtin::Clock64),
        // A pause changes when something happens, not what.
        "__nanosleep" | "__prof_trigger" => nothing(c, 1),
        "__brkpt" => nothing(c, 0),
        "__trap" => trap(c),
        "__builtin_assume" | "__builtin_assume_aligned" | "__builtin_expect" | "expect" => hint(c)?,
        "__builtin_unreachable" | "unreachable" if c.args.is_empty() => unreachable(c),
        "__cvta_generic_to_shared" | "__cvta_generic_to_global" => address(c),
        "__cvta_shared_to_generic" | "__cvta_global_to_generic" => generic(c),
        "__isGlobal" => is_space(c, Space::Global),
        "__isShared" => is_space(c, Space::Shared),
        "__isConstant" => is_space(c, Space::Constant),
        "__isLocal" => is_space(c, Space::Local),
        _ => return None,
    })
}

fn clock(c: &mut Call<'_>, which: Builtin) -> Lowered {
    c.arity(0)?;
    let now = Expr::builtin(which).with_origin(c.span);
    let now = c.held(now);
    Ok(Some(now.cast(Type::I64)))
}

fn nothing(c: &mut Call<'_>, arity: usize) -> Lowered {
    c.arity(arity)?;
    Ok(None)
}

fn trap(c: &mut Call<'_>) -> Lowered {
    c.arity(0)?;
    c.emit(StmtKind::Trap);
    Ok(None)
}

fn hint(c: &mut Call<'_>) -> Option<Lowered> {
    match c.name {
        "__builtin_assume" => Some(assume(c)),
        // `p` is aligned, `x` is likely: the value is what counts.
        "__builtin_assume_aligned" => Some(c.arity_between(2, 3).map(|()| Some(c.args[0].clone()))),
        "__builtin_expect" => Some(c.arity(2).map(|()| Some(c.args[0].clone()))),
        _ => None,
    }
}

fn assume(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    let cond = c.scalar_arg(0, Scalar::Bool)?;
    c.emit(StmtKind::Assume { cond, text: "__builtin_assume".into() });
    Ok(None)
}

/// Reaching what cannot be reached is an error worth a report.
fn unreachable(c: &mut Call<'_>) -> Lowered {
    c.emit(StmtKind::Trap);
    Ok(None)
}

/// The address as a number; inline PTX finds the pointer inside the cast.
fn address(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    c.pointee(0)?;
    let pointer = c.args[0].clone();
    if c.name == "__cvta_generic_to_global" {
        return Ok(Some(pointer.cast(Type::U64)));
    }
    let pointer = c.held(pointer);
    Ok(Some(memory::shared_address(pointer)))
}

/// The pointer that an address stands for.
fn generic(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    let address = c.scalar_arg(0, Scalar::U64)?;
    let bytes = Type::pointer(Type::Scalar(Scalar::U8), Space::Generic);
    let pointer = match memory::underlying_pointer(&address) {
        Some(p) => p.clone(),
        None if c.name == "__cvta_global_to_generic" => address.cast(bytes),
        None => memory::shared_pointer(address, Space::Generic),
    };
    Ok(Some(pointer.cast(Type::pointer(Type::Void, Space::Generic))))
}

/// Answered from what is known of the pointer when the code is read.
fn is_space(c: &mut Call<'_>, wanted: Space) -> Lowered {
    c.arity(1)?;
    c.pointee(0)?;
    let given = is_kernel_parameter(c);
    match space_of(&c.args[0]) {
        Space::Generic if given => {
            Ok(Some(Expr::i32(i32::from(wanted == Space::Global)).with_origin(c.span)))
        }
        Space::Generic => Err(c.refused(refused::SPACE_OF_ANY_POINTER, c.path)),
        space => Ok(Some(Expr::i32(i32::from(space == wanted)).with_origin(c.span))),
    }
}

/// What a kernel is given points to global memory.
fn is_kernel_parameter(c: &Call<'_>) -> bool {
    let mut e = &c.args[0];
    while let ExprKind::Cast(inner) | ExprKind::PtrOffset(inner, _) = &*e.kind {
        e = inner;
    }
    let ExprKind::Read(place) = &*e.kind else { return false };
    matches!(&*place.kind, warpsmith_ir::PlaceKind::Var(v) if c.cx.is_kernel_parameter(*v))
}

/// The space a pointer points into, seen through casts and offsets.
fn space_of(e: &Expr) -> Space {
    match (&e.ty, &*e.kind) {
        (Type::Pointer { space, .. }, _) if *space != Space::Generic => *space,
        (_, ExprKind::Cast(inner) | ExprKind::PtrOffset(inner, _)) => space_of(inner),
        _ => Space::Generic,
    }
}
