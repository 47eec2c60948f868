//! Shapes of arrays that are given as pointers: the rows, and rows of rows, that their subscripts speak of.

use warpsmith_ir::VarId;
use warpsmith_ir::poly::{Atom, Poly, gcd};

/// A subscript in dimensions, outermost first, and the lengths of all but the first: `(b * T + t) * 3 * C + i` is `[b, t, i]` with
/// the lengths `[T, 3 * C]`. One dimension where no counter is multiplied by anything but a number; `None` on overflow.
///
/// It is the same element for any choice of lengths. Which part of a sum is called a row decides on how good a box around the elements
/// of a block is: as few counters as possible are left that a dimension multiplies by more than a number.
pub(super) fn shaped(p: &Poly, counters: &[VarId]) -> Option<(Vec<Poly>, Vec<Poly>)> {
    let is_counter = |a: &Atom| matches!(a, Atom::Var(v) if counters.contains(v));
    let mut lengths: Vec<&Atom> = vec![];
    for (monomial, _) in p.terms() {
        if let [a, b] = monomial
            && is_counter(a) != is_counter(b)
        {
            let length = if is_counter(a) { b } else { a };
            lengths.extend((!lengths.contains(&length)).then_some(length));
        }
    }
    let parts = lengths.iter().map(|length| rows_and_columns(p, length, &is_counter));
    let parts: Vec<(Poly, Poly, Poly)> = parts.collect::<Option<_>>()?;
    let left = |column: &Poly| {
        column.terms().filter(|(m, _)| m.len() > 1 && m.iter().any(is_counter)).count()
    };
    // A length that is a variable is more likely one of the array than one that was computed.
    let variable = |length: &Poly| length.atoms().iter().all(|a| matches!(a, Atom::Var(_)));
    let best =
        parts.into_iter().min_by_key(|(_, column, length)| (left(column), !variable(length)));
    let Some((row, column, length)) = best else { return Some((vec![p.clone()], vec![])) };
    let (mut index, mut rows) = shaped(&row, counters)?;
    index.push(column);
    rows.push(length);
    Some((index, rows))
}

/// `p = row * length + column`, the length a multiple of the atom: what counters are multiplied by along with it.
fn rows_and_columns(
    p: &Poly,
    length: &Atom,
    is_counter: &impl Fn(&Atom) -> bool,
) -> Option<(Poly, Poly, Poly)> {
    let counted = p.terms().filter(|(m, _)| m.contains(length) && m.iter().any(is_counter));
    let times = counted.map(|(_, c)| c.abs()).reduce(gcd)?;
    let (mut row, mut column) = (Poly::zero(), Poly::zero());
    for (monomial, coefficient) in p.terms() {
        let at = monomial.iter().position(|a| a == length).filter(|_| coefficient % times == 0);
        match at {
            None => column = column.add(&Poly::product(monomial, coefficient)?)?,
            Some(at) => {
                let rest: Vec<Atom> = [&monomial[..at], &monomial[at + 1..]].concat();
                row = row.add(&Poly::product(&rest, coefficient / times)?)?;
            }
        }
    }
    Some((row, column, Poly::atom(length.clone()).scale(times)?))
}
