//! Boxes of an array that a block writes in shared memory and copies back: whose elements they are, and which are written.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{Expr, ForLoop, LoopId, StmtKind};

use super::access::{Access, AccessKind};
use super::boxes::{Counter, Dim, Footprint};
use crate::kernel::Nest;
use crate::walk;

/// Two blocks have no element of such boxes in common: what one iteration of a bound loop accesses lies between its first
/// element and that of the next one. Where boxes move with loops inside of the bound ones (`moves_inside`), blocks meet each other's of
/// other iterations: there each element of a box is one that its block accesses.
///
/// # Errors
/// Why two blocks might have.
pub(super) fn are_apart(
    nest: &Nest,
    f: &Footprint,
    moves_inside: &dyn Fn(&Dim) -> bool,
) -> Result<(), String> {
    let apart = |d: &Dim| {
        if moves_inside(d) && !is_dense(d, f) {
            return false;
        }
        let mut bound = d.terms.iter().filter(|(c, _)| matches!(c, Counter::Bound(..)));
        match (bound.next(), bound.next()) {
            (None, _) => true,
            (Some((_, factor)), None) => *factor > 0 && one_iteration(d) <= *factor,
            _ => false,
        }
    };
    let moves = |id| f.dims.iter().flat_map(|d| &d.terms).any(|(c, _)| c.id() == id);
    let several = |id| nest.block_extent(id).is_none_or(|n| n > 1);
    let all = nest.axes.iter().all(|(id, _)| moves(*id) || !several(*id));
    match all && f.dims.iter().all(apart) {
        true => Ok(()),
        false => Err("blocks that write it might have elements in common".into()),
    }
}

/// Whether every number of a dimension is the subscript of some access.
fn is_dense(d: &Dim, f: &Footprint) -> bool {
    if d.constants.0 != d.constants.1 && f.reads.len() as i128 != d.constants.1 - d.constants.0 + 1
    {
        return false;
    }
    let mut terms: Vec<(i128, i128)> =
        d.terms.iter().map(|(c, factor)| (factor.abs(), i128::from(c.count()))).collect();
    terms.sort_unstable();
    let first = d.constants.1 - d.constants.0;
    let reached = terms.into_iter().try_fold(first, |reached, (factor, count)| {
        (factor <= reached + 1).then(|| reached + factor * (count - 1))
    });
    reached.is_some()
}

/// Whether an access with these subscripts touches nothing that belongs to another iteration of the bound loops; `group` are
/// the subscripts of the box, without constants.
pub(super) fn stays_in_own(f: &Footprint, group: &[Poly], subscripts: &[Poly]) -> bool {
    let own = |((d, known), p): ((&Dim, &Poly), &Poly)| {
        let constant = p.constant_term();
        let within = (d.constants.0..=d.constants.1).contains(&constant);
        let bound = d.terms.iter().any(|(c, _)| matches!(c, Counter::Bound(..)));
        !bound || within && p.sub(&Poly::constant(constant)).is_some_and(|p| p == *known)
    };
    let alike = f.dims.len() == subscripts.len() && group.len() == subscripts.len();
    alike && f.dims.iter().zip(group).zip(subscripts).all(own)
}

/// Elements from the first to the last that one iteration of the bound loop accesses along a dimension.
fn one_iteration(d: &Dim) -> i128 {
    let own = d.terms.iter().filter(|(c, _)| !matches!(c, Counter::Bound(..)));
    let spread = own.map(|(c, factor)| factor.abs() * (i128::from(c.count()) - 1)).sum::<i128>();
    spread + d.constants.1 - d.constants.0 + 1
}

/// Whether all of the box is written, whatever the data are, and nothing of it is read before: it need not be filled.
///
/// There is a box for each iteration of the `outer` loops, and for each strip of the loop `strip`: what loops around it do is the
/// same for all of a box.
pub(super) fn covers(
    (root, outer, strip): (&ForLoop, &[LoopId], Option<LoopId>),
    f: &Footprint,
    accesses: &[&Access<'_>],
) -> bool {
    let mut straight = true;
    walk::each_stmt(&root.body, &mut |s| {
        use StmtKind::{Break, Continue, Loop, Return, Switch};
        straight &= !matches!(s.kind, Break | Continue | Loop { .. } | Return(_) | Switch { .. });
    });
    let runs = |l: &ForLoop| {
        let number = |e: &Expr| e.as_const().map(|v| v.as_i64());
        number(&l.first).zip(number(&l.limit)).is_some_and(|(first, limit)| first < limit)
    };
    let around = |a: &Access<'_>, l: &ForLoop| {
        let mut from = a.loops.iter().skip_while(|other| other.id != l.id).skip(1);
        outer.contains(&l.id) || strip.is_some() && from.any(|other| Some(other.id) == strip)
    };
    let in_dims = |a: &Access<'_>| {
        a.loops.iter().all(|l| {
            let mut terms = f.dims.iter().flat_map(|d| &d.terms);
            let own = terms.find(|(c, _)| c.id() == l.id);
            match own {
                None => around(a, l),
                Some((Counter::Constant(..), _)) => runs(l) && !around(a, l),
                Some(_) => true,
            }
        })
    };
    let plain = |a: &&&Access<'_>| {
        a.kind == AccessKind::Write && a.guards.is_empty() && a.implied.is_empty() && in_dims(a)
    };
    let constants = |a: &Access<'_>| {
        let known = f.reads.iter().find(|(place, _)| a.place == Some(place));
        known.map(|(_, constants)| constants.clone())
    };
    let mut written: Vec<(Vec<i128>, Vec<LoopId>)> = vec![];
    for a in accesses {
        let Some(at) = constants(a) else { return false };
        let loops = ids(a);
        // In the same iteration of the loops around a write, whatever stands behind it comes after it.
        let before = written.iter().any(|(w, around)| *w == at && loops.starts_with(around));
        match a.kind {
            AccessKind::Read if !before => return false,
            AccessKind::Read => {}
            _ if plain(&a) => written.push((at, loops)),
            _ => {}
        }
    }
    let written: Vec<Vec<i128>> = written.into_iter().map(|(at, _)| at).collect();
    straight && f.dims.iter().enumerate().all(|(k, d)| is_whole(k, d, f, &written))
}

fn ids(a: &Access<'_>) -> Vec<LoopId> {
    a.loops.iter().map(|l| l.id).collect()
}

/// Every element along a dimension is written: one for each iteration, or by constants for all of a stride.
fn is_whole(k: usize, d: &Dim, f: &Footprint, written: &[Vec<i128>]) -> bool {
    let others_equal =
        f.dims.iter().enumerate().all(|(o, d)| o == k || d.constants.0 == d.constants.1);
    let all = (d.constants.0..=d.constants.1).all(|c| written.iter().any(|w| w[k] == c));
    let stride = match d.terms.as_slice() {
        [] => return all && others_equal,
        [(_, factor)] => *factor,
        [(Counter::Bound(..), factor), (Counter::Constant(_, _, n), 1)]
        | [(Counter::Constant(_, _, n), 1), (Counter::Bound(..), factor)] => {
            return i128::from(*n) == *factor
                && d.constants.0 == d.constants.1
                && !written.is_empty();
        }
        _ => return false,
    };
    match d.constants.1 - d.constants.0 + 1 {
        1 => stride == 1 && !written.is_empty(),
        n => n == stride && all && others_equal,
    }
}
