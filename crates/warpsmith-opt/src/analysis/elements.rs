//! Whether an access lies in its array for all values of the counters around it, whatever the conditions say under which it stands.

use warpsmith_ir::Var;
use warpsmith_ir::poly::{Atom, Facts, Poly};

use super::access::{Access, Base, Scope, View};
use crate::kernel::Kernel;
use crate::requirement::Requirement;

/// Whether the subscripts of an access are those of elements for every iteration of the loops around it; `false` also where that is not
/// known.
pub fn is_inside(kernel: &Kernel, scope: &Scope<'_>, a: &Access<'_>) -> bool {
    let (Base::Var(array), View::Affine { index, extents: Some(rows) }) = (a.base, &a.view) else {
        return false;
    };
    has_element(kernel.func().var(array), index, rows, &facts(kernel, scope, a))
}

/// Whether an array has the element with these subscripts, in rows of these lengths (one fewer), wherever the facts hold.
pub fn has_element(array: &Var, index: &[Poly], rows: &[Poly], facts: &Facts) -> bool {
    let shape = array.shape.as_deref().unwrap_or_default();
    let Some(extents) = shape.iter().map(Poly::from_expr).collect::<Option<Vec<_>>>() else {
        return false;
    };
    if index.len() == extents.len() && extents.get(1..).is_some_and(|inner| inner == rows) {
        return index.iter().zip(&extents).all(|(i, n)| is_below(i, n, facts));
    }
    let all = extents.iter().try_fold(Poly::constant(1), |all, n| all.mul(n));
    matches!((index, all), ([i], Some(n)) if is_below(i, &n, facts))
}

/// Whether `0 <= i < n` wherever the facts hold.
pub fn is_below(i: &Poly, n: &Poly, facts: &Facts) -> bool {
    facts.provably_nonnegative(i) && facts.provably_lt(i, n)
}

/// What is required of the sizes, and the ranges of the counters.
fn facts(kernel: &Kernel, scope: &Scope<'_>, a: &Access<'_>) -> Facts {
    let mut facts = Facts::new();
    kernel.requires.iter().for_each(|r| facts.assume_nonnegative(Requirement::slack(r)));
    for l in scope.outer.iter().chain(&a.loops) {
        let (low, high) = scope.range(l);
        facts.bound(Atom::Var(l.var), low, high);
    }
    facts
}
