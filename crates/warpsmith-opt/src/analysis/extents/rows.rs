//! Flat subscripts as rows and columns: `x[i*m + j]` where `0 <= j < m` holds for every access.
//!
//! The column is proved to lie inside its row from loops and conditions around the access, for all sizes; dependence tests
//! rely on it. Where one access of an array resists, the array stays flat.

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Expr, Function, Place, PlaceKind, Scalar, Type, VarId};

use super::known;
use super::walk::{Access, Walk};

/// Constant rows shorter than this are parts of one thing: the colours of a pixel, the coordinates of a point.
const SHORTEST_ROW: i128 = 16;
/// Dimensions beyond the outermost.
const MAX_DIMS: usize = 4;

/// Subscripts of one access, outermost first, and lengths of rows, one fewer.
struct Split {
    index: Vec<Poly>,
    dims: Vec<Poly>,
}

/// Places, by where they stand in the tree, with what they become.
pub type Places = BTreeMap<*const Place, PlaceKind>;

/// Adds to `places` what the accesses of an array become, if it has rows.
pub fn find(walk: &Walk<'_>, function: &Function, array: VarId, places: &mut Places) {
    let accesses: Vec<&Access<'_>> = walk.accesses.iter().filter(|a| a.array == array).collect();
    let Some(mut splits) = accesses.iter().map(|a| flat(a)).collect::<Option<Vec<Split>>>() else {
        return;
    };
    for _ in 0..MAX_DIMS {
        let rows = candidates(walk, &accesses, &splits);
        let next = rows.iter().find_map(|row| {
            let each = accesses.iter().zip(&splits).map(|(a, s)| split(a, s, row));
            each.collect::<Option<Vec<Split>>>()
        });
        let Some(next) = next else { break };
        splits = next;
    }
    let found = accesses.iter().zip(&splits).map(|(a, s)| rewritten(function, a, s));
    let Some(found) = found.collect::<Option<Vec<_>>>() else { return };
    // A place that was seen twice, with different variables in force, has no single form.
    let same = |(at, kind): &(*const Place, PlaceKind)| {
        found.iter().all(|(other, k)| other != at || k == kind)
    };
    if found.iter().all(same) {
        places.extend(found);
    }
}

/// An access with a single subscript directly behind the array's name.
fn flat(access: &Access<'_>) -> Option<Split> {
    let direct = access.place.is_some_and(|p| matches!(&*p.kind, PlaceKind::Elem { .. }));
    let single = direct && access.index.len() == 1 && access.dims.is_empty();
    single.then(|| Split { index: access.index.clone(), dims: vec![] })
}

/// What a row of the outermost dimension may be long: factors of counters in the outermost subscript.
fn candidates(walk: &Walk<'_>, accesses: &[&Access<'_>], splits: &[Split]) -> Vec<Poly> {
    let mut found: Vec<Poly> = vec![];
    for (access, split) in accesses.iter().zip(splits) {
        let Some(outer) = split.index.first() else { continue };
        for atom in outer.atoms() {
            let symbol = match atom {
                Atom::Var(v) => known::symbol_number(*v).is_some(),
                _ => known::newest(&Poly::atom(atom.clone())).is_some(),
            };
            let Some((factor, _)) = outer.split(atom).filter(|_| symbol) else { continue };
            // `(2*i + 1) * m`: the row is as long as what the factors have in common.
            let primitive = factor.content();
            for row in [primitive_of(&factor, primitive), Some(factor)].into_iter().flatten() {
                let long = row.as_constant().is_none_or(|c| c >= SHORTEST_ROW);
                let over_params = row.atoms().into_iter().all(|a| {
                    matches!(a, Atom::Var(v) if known::symbol_number(*v).is_none()
                        && !access.state.values.contains_key(v) && walk.own_param(*v))
                });
                if long && over_params && !found.contains(&row) {
                    found.push(row);
                }
            }
        }
    }
    found.sort_by_key(|p| (p.terms().map(|(m, _)| m.len()).max(), p.terms().count(), p.clone()));
    found
}

/// A polynomial divided by the common factor of its coefficients, where it has one.
fn primitive_of(p: &Poly, content: i128) -> Option<Poly> {
    let content = i64::try_from(content).ok().filter(|c| *c > 1)?;
    let exact = p.terms().all(|(_, c)| c % i128::from(content) == 0);
    if exact { p.div(content) } else { None }
}

/// The outermost subscript in rows of this length, if the column provably lies inside.
fn split(access: &Access<'_>, split: &Split, row: &Poly) -> Option<Split> {
    let (outer, inner) = split.index.split_first()?;
    let (quotient, rest) = outer.div_rem(row)?;
    let facts = &access.state.known.facts;
    let (row_at, column) = [0, 1, -1].into_iter().find_map(|k| {
        // `i*m + (m - 1 - j)`: the remainder of the polynomials may be a row off.
        let column = rest.add(&row.scale(k)?)?;
        let inside = facts.provably_nonnegative(&column) && facts.provably_lt(&column, row);
        inside.then(|| Some((quotient.sub(&Poly::constant(k))?, column)))?
    })?;
    let index = [row_at, column].into_iter().chain(inner.iter().cloned()).collect();
    let dims = [row.clone()].into_iter().chain(split.dims.iter().cloned()).collect();
    Some(Split { index, dims })
}

/// The place in its new form; `None` where a value has no name there.
fn rewritten(
    function: &Function,
    access: &Access<'_>,
    split: &Split,
) -> Option<(*const Place, PlaceKind)> {
    let place = access.place?;
    let PlaceKind::Elem { pointer, index, .. } = &*place.kind else { return None };
    if split.dims.is_empty() {
        return None;
    }
    let origin = index.first().map(|e| e.origin.clone()).unwrap_or_default();
    let index: Option<Vec<Expr>> =
        split.index.iter().map(|p| spelled(function, access, p)).collect();
    let index = index?.into_iter().map(|e| e.with_origin(origin.clone())).collect();
    let dims: Option<Vec<Expr>> = split.dims.iter().map(|p| over(function, p, &|v| v)).collect();
    Some((place as *const Place, PlaceKind::Elem { pointer: pointer.clone(), index, dims: dims? }))
}

/// A value in the names that are in force at the access: a variable that holds it, or differs by a constant, else a sum
/// over variables.
fn spelled(function: &Function, access: &Access<'_>, p: &Poly) -> Option<Expr> {
    let values = &access.state.values;
    let near = values.iter().filter_map(|(v, value)| {
        let distance = p.sub(value)?.as_constant()?;
        p.as_constant().is_none().then_some((distance.abs(), *v, distance))
    });
    if let Some((_, v, distance)) = near.min() {
        let sum = Poly::var(v).add(&Poly::constant(distance))?;
        return over(function, &sum, &|v| v);
    }
    let mut names = BTreeMap::new();
    for v in variables(p) {
        let held = match known::symbol_number(v) {
            // A parameter means what it was at the start.
            None => (!values.contains_key(&v)).then_some(v),
            Some(_) => {
                values.iter().find(|(_, value)| **value == Poly::var(v)).map(|(name, _)| *name)
            }
        };
        names.insert(v, held?);
    }
    over(function, p, &|v| names.get(&v).copied().unwrap_or(v))
}

/// All variables, those in quotients too.
fn variables(p: &Poly) -> Vec<VarId> {
    let of_atom = |a: &Atom| match a {
        Atom::Var(v) => vec![*v],
        Atom::Div(p, _) | Atom::Rem(p, _) => variables(p),
        Atom::Symbol(_) => vec![],
    };
    p.atoms().into_iter().flat_map(of_atom).collect()
}

/// An expression over variables: in their type where they share one of 32 bits, else in 64.
pub fn over(function: &Function, p: &Poly, to: &dyn Fn(VarId) -> VarId) -> Option<Expr> {
    let p = p.rename(to);
    let vars = variables(&p);
    if vars.iter().any(|v| v.0 as usize >= function.vars.len()) {
        return None;
    }
    let type_of = |v: VarId| function.var(v).ty.scalar().unwrap_or(Scalar::I64);
    let mut types: Vec<Scalar> = vars.iter().map(|v| type_of(*v)).collect();
    types.dedup();
    let rises = p.terms().all(|(_, c)| c >= 0);
    let narrow = p.terms().all(|(m, _)| m.len() <= 1);
    let ty = match types.as_slice() {
        [] | [Scalar::I32] if narrow => Scalar::I32,
        [Scalar::U32] if narrow && rises => Scalar::U32,
        [Scalar::U64] if rises => Scalar::U64,
        _ => Scalar::I64,
    };
    Some(p.to_expr(ty, &type_of))
}

/// The type of a number that counts elements.
pub fn wide(e: Expr) -> Expr {
    e.cast(Type::I64)
}
