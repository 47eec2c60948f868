//! Arrays of constant extents.

use warpsmith_ir::{Expr, ExprKind, Place, PlaceKind, VarId};

/// Extents that are positive constants.
pub fn extents(shape: &[Expr]) -> Option<Vec<u64>> {
    let one = |e: &Expr| u64::try_from(e.as_const()?.as_i64()).ok().filter(|n| *n > 0);
    let all: Option<Vec<u64>> = shape.iter().map(one).collect();
    all.filter(|e| !e.is_empty())
}

/// The element that a place is, when it is one of the array with a subscript for each extent.
pub fn subscripts(place: &Place, array: VarId, rank: usize) -> Option<&[Expr]> {
    let PlaceKind::Elem { pointer, index, .. } = &*place.kind else { return None };
    let ExprKind::Read(p) = &*pointer.kind else { return None };
    let found = *p.kind == PlaceKind::Var(array) && index.len() == rank;
    found.then_some(index.as_slice())
}
