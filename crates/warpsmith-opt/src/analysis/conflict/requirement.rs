//! Conditions on the sizes under which iterations that may meet do not.
//!
//! `C[i * ldc + j]` with `j < m` is right where `ldc >= m`, `x[i * incx]` where `incx >= 1`, `a[i + k]` read beside
//! `a[i]` written where `k >= n`, row `k` read beside all others where `k < n`. The parameter is a stride or an offset, never a bound of a loop: that a loop would be
//! right if only it were shorter is no condition to accept it under.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, ForLoop, VarId};

use super::terms::variable;
use super::{Meeting, meeting};
use crate::analysis::access::{Access, Scope, View};
use crate::kernel::{Kernel, Requirement};
use crate::walk;

/// Sets of conditions that are tried.
const MAX_TRIES: usize = 60;

/// Looks for a condition on each of up to two parameters that together keep all these pairs of accesses apart.
pub fn derive(
    kernel: &Kernel,
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    pairs: &[(usize, usize)],
) -> Option<Vec<Requirement>> {
    let pairs: Vec<(&Access<'_>, &Access<'_>)> =
        pairs.iter().map(|(a, b)| (&accesses[*a], &accesses[*b])).collect();
    let params = strides(kernel, scope, &pairs);
    let known: Vec<Poly> = kernel.requires.iter().map(Requirement::slack).collect();
    let lists: Vec<Vec<Vec<Requirement>>> = params
        .iter()
        .map(|v| {
            let why = reason(kernel, *v, &pairs);
            let bounds = bounds(kernel, scope, *v, &params, &pairs).into_iter();
            let made = bounds.map(|(bound, at_most)| {
                let made =
                    |bound, at_most| Requirement { var: *v, bound, at_most, why: why.clone() };
                // What is a row or column of its own lies inside.
                let zero = at_most.then(|| made(Poly::zero(), false));
                zero.into_iter().chain([made(bound, at_most)]).collect()
            });
            made.collect()
        })
        .collect();
    let single = lists.iter().flatten().cloned();
    let double = lists.iter().enumerate().flat_map(|(k, list)| {
        let others = lists[k + 1..].iter().flatten();
        others.flat_map(move |b| list.iter().map(move |a| [a.clone(), b.clone()].concat()))
    });
    single.chain(double).take(MAX_TRIES).find(|set| {
        let facts: Vec<Poly> =
            known.iter().cloned().chain(set.iter().map(Requirement::slack)).collect();
        pairs.iter().all(|(a, b)| excluded(scope, a, b, &facts))
    })
}

fn excluded(scope: &Scope<'_>, a: &Access<'_>, b: &Access<'_>, facts: &[Poly]) -> bool {
    meeting(scope, (a, b), None, facts) == Meeting::Never
        && (std::ptr::eq(a, b) || meeting(scope, (b, a), None, facts) == Meeting::Never)
}

/// Parameters in subscripts that bound no loop around the accesses.
fn strides(kernel: &Kernel, scope: &Scope<'_>, pairs: &[(&Access<'_>, &Access<'_>)]) -> Vec<VarId> {
    let mut bounding = vec![];
    let mut inside = vec![];
    for access in pairs.iter().flat_map(|(a, b)| [a, b]) {
        for l in scope.outer.iter().chain(&access.loops) {
            [&l.first, &l.limit]
                .into_iter()
                .for_each(|e| walk::each_var(e, &mut |v| bounding.push(v)));
        }
        for poly in polynomials(access) {
            inside.extend(poly.atoms().into_iter().filter_map(variable));
        }
    }
    let function = kernel.func();
    let mut found: Vec<VarId> = vec![];
    for v in inside {
        let eligible = is_size(kernel, v) && !bounding.contains(&v) && !found.contains(&v);
        if eligible && function.var(v).ty.is_integer() {
            found.push(v);
        }
    }
    found
}

/// Whether a variable is a by-value parameter that nothing assigns.
fn is_size(kernel: &Kernel, v: VarId) -> bool {
    let function = kernel.func();
    function.params.contains(&v)
        && function.var(v).ty.scalar().is_some_and(|s| s.is_integer())
        && !walk::writes_var(&function.body, v)
}

/// The subscripts of an access, and the extents that make one of them.
fn polynomials(access: &Access<'_>) -> Vec<Poly> {
    match &access.view {
        View::Affine { index, extents } => {
            let linear = access.view.linear();
            index.iter().chain(extents.iter().flatten()).cloned().chain(linear).collect()
        }
        View::Unknown(_) => vec![],
    }
}

/// What the parameter may have to reach: 1, how far a loop goes, or how far a loop goes in steps of another stride; or
/// may have to stay below (`true`): how far a loop goes.
fn bounds(
    kernel: &Kernel,
    scope: &Scope<'_>,
    var: VarId,
    strides: &[VarId],
    pairs: &[(&Access<'_>, &Access<'_>)],
) -> Vec<(Poly, bool)> {
    let mut ends: Vec<Poly> = vec![];
    for access in pairs.iter().flat_map(|(a, b)| [a, b]) {
        for l in access.loops.iter().rev() {
            let end = end_of(scope, l).filter(|p| {
                p.atoms().into_iter().all(|a| variable(a).is_some_and(|v| is_size(kernel, v)))
            });
            ends.extend(end.filter(|e| !ends.contains(e)));
        }
    }
    let others = strides.iter().filter(|s| **s != var);
    let steps: Vec<Poly> = others
        .flat_map(|s| ends.iter().filter_map(|e| Poly::var(*s).mul(e)).collect::<Vec<_>>())
        .collect();
    let last = ends.iter().filter_map(|e| e.sub(&Poly::constant(1)));
    let last: Vec<(Poly, bool)> = last.map(|p| (p, true)).collect();
    let mut all = vec![];
    for bound in std::iter::once(Poly::constant(1)).chain(ends).chain(steps) {
        if !all.contains(&(bound.clone(), false)) {
            all.push((bound, false));
        }
    }
    all.extend(last);
    all
}

/// One more than the greatest value of a loop's counter.
fn end_of(scope: &Scope<'_>, l: &ForLoop) -> Option<Poly> {
    let limit = scope.normalise(&l.limit).ok()?;
    let first = scope.normalise(&l.first).ok()?;
    let one = Poly::constant(1);
    match l.compare {
        BinaryOp::Lt => Some(limit),
        BinaryOp::Le => limit.add(&one),
        BinaryOp::Gt | BinaryOp::Ge => first.add(&one),
        _ => None,
    }
}

fn reason(kernel: &Kernel, var: VarId, pairs: &[(&Access<'_>, &Access<'_>)]) -> String {
    let uses = |a: &&Access<'_>| polynomials(a).iter().any(|p| p.mentions(var));
    let place = pairs.iter().flat_map(|(a, b)| [*a, *b]).filter(uses).find_map(|a| a.place);
    match place.map(|p| kernel.show_place(p)) {
        Some(text) => format!("iterations that meet in `{text}` are excluded by this"),
        None => "iterations that meet are excluded by this".into(),
    }
}
