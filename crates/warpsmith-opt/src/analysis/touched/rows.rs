//! Flat subscripts as row and column.

use warpsmith_ir::VarId;
use warpsmith_ir::poly::{Atom, Poly};

use super::cases::{FIRST_COUNTER, nonnegative};

/// The subscripts of a flat one, outermost first, and the lengths of the inner dimensions: it is cut by every length of
/// which the rest is known to lie inside, where some sums are not negative.
pub fn split(flat: &Poly, when: &[Poly]) -> (Vec<Poly>, Vec<Poly>) {
    let (mut index, mut rows) = (vec![], vec![]);
    let mut rest = flat.clone();
    while let Some((outer, inner, length)) = lengths(&rest).into_iter().find_map(|length| {
        let (outer, inner) = rest.div_rem(&length)?;
        let last = length.sub(&inner)?.add(&Poly::constant(-1))?;
        let inside = nonnegative(&inner, when) && nonnegative(&last, when);
        (!outer.is_zero() && inside).then_some((outer, inner, length))
    }) {
        index.insert(0, inner);
        rows.insert(0, length);
        rest = outer;
    }
    index.insert(0, rest);
    (index, rows)
}

/// What rows may be long: parameters and constants that subscripts are multiplied with.
fn lengths(flat: &Poly) -> Vec<Poly> {
    let mut found = vec![];
    for (atoms, factor) in flat.terms() {
        let parameters =
            atoms.iter().filter(|a| matches!(a, Atom::Var(VarId(n)) if *n < FIRST_COUNTER));
        let constant = (!atoms.is_empty() && factor > 1).then(|| Poly::constant(factor));
        for length in parameters.map(|a| Poly::atom(a.clone())).chain(constant) {
            if atoms.len() + usize::from(factor > 1) > 1 && !found.contains(&length) {
                found.push(length);
            }
        }
    }
    found
}
