//! Arrays whose subscripts C computes in 32 bits that wrap around: `a[i * m + j]` of `unsigned`.
//!
//! Subscripts are of 64 bits everywhere else here. Up to 2³² elements the two are the same; launchers ask for that.

use std::collections::BTreeSet;

use warpsmith_ir::visit::for_each_place;
use warpsmith_ir::{BinaryOp, Expr, ExprKind, Function, PlaceKind, Scalar, VarId};

/// Notes them among the parameters of a function.
pub fn note(function: &mut Function) {
    let mut found = BTreeSet::new();
    for_each_place(&function.body, &mut |place, _| {
        if let PlaceKind::Elem { pointer, index, .. } = &*place.kind
            && let Some(array) = base(pointer)
            && (index.iter().any(wraps) || offset_wraps(pointer))
        {
            found.insert(array);
        }
    });
    for p in function.params.clone() {
        function.vars[p.0 as usize].narrow = found.contains(&p);
    }
}

/// The variable that a pointer begins at.
fn base(pointer: &Expr) -> Option<VarId> {
    match &*pointer.kind {
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        ExprKind::PtrOffset(p, _) | ExprKind::Cast(p) => base(p),
        _ => None,
    }
}

fn offset_wraps(pointer: &Expr) -> bool {
    match &*pointer.kind {
        ExprKind::PtrOffset(p, i) => wraps(i) || offset_wraps(p),
        ExprKind::Cast(p) => offset_wraps(p),
        _ => false,
    }
}

/// Whether a product of unsigned numbers of 32 bits is part of a sum.
fn wraps(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Cast(inner) => wraps(inner),
        ExprKind::Binary(op, a, b) => {
            let product = matches!(op, BinaryOp::Mul | BinaryOp::Shl) && e.as_const().is_none();
            let sum = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl);
            (product && e.ty.scalar() == Some(Scalar::U32)) || (sum && (wraps(a) || wraps(b)))
        }
        _ => false,
    }
}
