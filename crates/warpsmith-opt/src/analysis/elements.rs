//! Whether an access lies in its array for all values of the counters around it, whatever the conditions say under which it stands.

use warpsmith_ir::poly::{Atom, Facts, Poly};

use super::access::{Access, Base, Scope, View};
use crate::kernel::Kernel;
use crate::requirement::Requirement;

/// Whether the subscripts of an access are those of elements for every iteration of the loops around it; `false` also where that is not
/// known.
pub fn is_inside(kernel: &Kernel, scope: &Scope<'_>, a: &Access<'_>) -> bool {
    let (Base::Var(array), View::Affine { index, .. }) = (a.base, &a.view) else { return false };
    let shape = kernel.func().var(array).shape.as_deref().unwrap_or_default();
    let Some(extents) = shape.iter().map(Poly::from_expr).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let facts = facts(kernel, scope, a);
    let below = |(i, n): (&Poly, &Poly)| facts.provably_nonnegative(i) && facts.provably_lt(i, n);
    if index.len() == extents.len() {
        return !index.is_empty() && index.iter().zip(&extents).all(below);
    }
    let all = extents.iter().try_fold(Poly::constant(1), |all, n| all.mul(n));
    matches!((index.as_slice(), all), ([i], Some(n)) if below((i, &n)))
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
