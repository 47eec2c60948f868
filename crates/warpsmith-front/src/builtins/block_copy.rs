//! Block copies and fills that are too long to be spelled out, or of a length that only the run knows: loops over pieces.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopKind, Place, PlaceKind, Scalar, Span, Stmt, StmtKind, Type,
};

use super::call::{Call, Lowered};
use super::memory::pieces_of;

/// `memcpy(to, from, bytes)`
pub fn copy(c: &mut Call<'_>) -> Lowered {
    let bytes = length(c)?;
    let scalar = common_piece(c, &[0, 1]);
    for (scalar, first, limit) in parts(c, scalar, bytes) {
        let (to, from) = (pieces_of(c, 0, scalar), pieces_of(c, 1, scalar));
        each(c, first, limit, |i, span| StmtKind::Assign {
            place: piece(&to, i.clone(), scalar, span),
            value: Expr::read(piece(&from, i, scalar, span)),
        });
    }
    Ok(Some(c.args[0].clone()))
}

/// `memset(to, value, bytes)`; only zero is the same in every element type.
pub fn fill(c: &mut Call<'_>) -> Lowered {
    let bytes = length(c)?;
    let byte = c.scalar_arg(1, Scalar::U8)?;
    let zero = c.cx.fold(&byte).is_some_and(|v| v.bits == 0);
    let byte = c.held(byte);
    let scalar = if zero { common_piece(c, &[0]) } else { Scalar::U8 };
    for (scalar, first, limit) in parts(c, scalar, bytes) {
        let to = pieces_of(c, 0, scalar);
        let value = if zero { Expr::int(scalar, 0) } else { byte.clone() };
        each(c, first, limit, |i, span| StmtKind::Assign {
            place: piece(&to, i, scalar, span),
            value: value.clone(),
        });
    }
    Ok(Some(c.args[0].clone()))
}

fn length(c: &mut Call<'_>) -> Result<Expr, warpsmith_ir::Diagnostic> {
    let bytes = c.scalar_arg(2, Scalar::U64)?;
    Ok(c.held(bytes))
}

/// The scalar that all pointers have elements of, else bytes.
fn common_piece(c: &Call<'_>, pointers: &[usize]) -> Scalar {
    let scalar = |i: &usize| match c.args.get(*i)?.ty.pointee()? {
        Type::Scalar(s) | Type::Vector(s, _) => Some(*s),
        _ => None,
    };
    let first = pointers.first().and_then(scalar);
    match pointers.iter().all(|p| scalar(p) == first) {
        true => first.unwrap_or(Scalar::U8),
        false => Scalar::U8,
    }
}

/// Whole elements first, then the bytes that are left: the type of a piece, the first one and the one after the last.
fn parts(c: &mut Call<'_>, scalar: Scalar, bytes: Expr) -> Vec<(Scalar, Expr, Expr)> {
    let zero = Expr::int(Scalar::U64, 0);
    if scalar.bytes() == 1 {
        return vec![(scalar, zero, bytes)];
    }
    let size = Expr::int(Scalar::U64, scalar.bytes().into());
    let count = c.binary(BinaryOp::Div, bytes.clone(), size.clone());
    let count = c.held(count);
    let whole = c.binary(BinaryOp::Mul, count.clone(), size);
    vec![(scalar, zero, count), (Scalar::U8, whole, bytes)]
}

fn piece(pointer: &Expr, index: Expr, scalar: Scalar, span: Span) -> Place {
    let kind = PlaceKind::Elem { pointer: pointer.clone(), index: vec![index], dims: vec![] };
    Place::new(kind, Type::Scalar(scalar), span)
}

fn each(c: &mut Call<'_>, first: Expr, limit: Expr, body: impl FnOnce(Expr, Span) -> StmtKind) {
    let span = c.span;
    let ty = Type::Scalar(Scalar::U64);
    let var = c.cx.temp(ty.clone(), span);
    let index = Expr::var(var, ty).with_origin(span);
    let body = Block::new(vec![Stmt::new(body(index, span), span)]);
    let id = c.cx.fresh_loop();
    c.emit(StmtKind::For(ForLoop {
        id,
        var,
        declares: false,
        first,
        compare: BinaryOp::Lt,
        limit,
        step: Expr::int(Scalar::U64, 1),
        kind: LoopKind::Serial,
        body,
    }));
}
