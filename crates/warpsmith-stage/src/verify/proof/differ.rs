//! Where two texts of one kernel differ: the expressions that became others.

use warpsmith_ir::{Expr, ExprKind, Place, PlaceKind};

/// An expression of the unmodified kernel, and what stands there now.
pub type Pair<'a> = (&'a Expr, &'a Expr);

/// The innermost expressions that differ.
pub fn exprs<'a>(old: &'a Expr, new: &'a Expr, pairs: &mut Vec<Pair<'a>>) {
    if old == new {
        return;
    }
    let before = pairs.len();
    let alike = old.ty == new.ty && children(old, new, pairs);
    if !alike {
        pairs.truncate(before);
        pairs.push((old, new));
    }
}

fn children<'a>(old: &'a Expr, new: &'a Expr, pairs: &mut Vec<Pair<'a>>) -> bool {
    let mut all = |a: &'a [Expr], b: &'a [Expr]| {
        let same = a.len() == b.len();
        a.iter().zip(b).for_each(|(a, b)| exprs(a, b, pairs));
        same
    };
    match (&*old.kind, &*new.kind) {
        (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) if f == g => {
            all(std::slice::from_ref(a), std::slice::from_ref(b))
        }
        (ExprKind::Binary(f, a, b), ExprKind::Binary(g, c, d)) if f == g => {
            exprs(a, c, pairs);
            exprs(b, d, pairs);
            true
        }
        (ExprKind::Cast(a), ExprKind::Cast(b)) | (ExprKind::Bitcast(a), ExprKind::Bitcast(b)) => {
            all(std::slice::from_ref(a), std::slice::from_ref(b))
        }
        (ExprKind::Member(a, n), ExprKind::Member(b, m)) if n == m => {
            all(std::slice::from_ref(a), std::slice::from_ref(b))
        }
        (ExprKind::Select(c, a, b), ExprKind::Select(d, x, y)) if c == d => {
            exprs(a, x, pairs);
            exprs(b, y, pairs);
            true
        }
        (ExprKind::Call(f, a), ExprKind::Call(g, b)) if f == g => all(a, b),
        (ExprKind::Make(a), ExprKind::Make(b)) => all(a, b),
        (ExprKind::Read(a), ExprKind::Read(b)) => parts(a, b, pairs),
        _ => false,
    }
}

/// Parts of one element: of the same array, or the part of something that differs.
fn parts<'a>(old: &'a Place, new: &'a Place, pairs: &mut Vec<Pair<'a>>) -> bool {
    match (&*old.kind, &*new.kind) {
        (
            PlaceKind::Elem { pointer: p, index: a, dims: d },
            PlaceKind::Elem { pointer: q, index: b, dims: e },
        ) if p == q && d == e && a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| exprs(a, b, pairs));
            true
        }
        _ => false,
    }
}
