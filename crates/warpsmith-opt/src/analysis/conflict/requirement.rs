//! Conditions on the sizes under which iterations that may meet do not.
//!
//! `C[i * ldc + j]` with `j < m` is right where `ldc >= m`, `x[i * incx]` where `incx >= 1`, `a[i + k]` read beside
//! `a[i]` written where `k >= n`, row `k` read beside all others where `k < n`. The parameter is a stride or an offset, never a bound of a loop: that a loop would be
//! right if only it were shorter is no condition to accept it under.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, ForLoop, Span, VarId};

use super::terms::variable;
use super::{Meeting, meeting};
use crate::analysis::access::{Access, Scope, View};
use crate::kernel::Kernel;
use crate::requirement::Requirement;
use crate::walk;

/// Sets of conditions that are tried.
const MAX_TRIES: usize = 60;

/// A condition on one parameter.
struct Candidate {
    set: Vec<Requirement>,
    /// It parts dimensions in the order in which the loops nest.
    nested: bool,
}

/// Looks for conditions on parameters that together keep all these pairs of accesses apart: one for each, as the loops
/// nest, or else any for up to two of them.
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
    let lists: Vec<Vec<Candidate>> = params
        .iter()
        .map(|v| {
            let (why, at) = reason(kernel, *v, &pairs);
            let bounds = bounds(kernel, scope, *v, &params, &pairs).into_iter();
            let made = bounds.map(|b| {
                let made =
                    |bound, at_most| Requirement { var: *v, bound, at_most, why: why.clone(), at };
                // What is a row or column of its own lies inside.
                let zero = b.at_most.then(|| made(Poly::zero(), false));
                let set = zero.into_iter().chain([made(b.value, b.at_most)]).collect();
                Candidate { set, nested: b.nested }
            });
            made.collect()
        })
        .collect();
    let nested = lists.iter().filter_map(|l| l.iter().find(|c| c.nested)).map(|c| c.set.clone());
    let all_nested: Vec<Requirement> = nested.flatten().collect();
    let single = |nested: bool| {
        let all = lists.iter().flatten();
        all.filter(move |c| c.nested == nested).map(|c| c.set.clone())
    };
    let double = lists.iter().enumerate().flat_map(|(k, list)| {
        let others = lists[k + 1..].iter().flatten();
        others.flat_map(move |b| list.iter().map(move |a| [&a.set[..], &b.set].concat()))
    });
    let all = single(true).chain([all_nested]).chain(single(false)).chain(double);
    all.take(MAX_TRIES).find(|set| {
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

/// What a parameter may have to reach, or to stay below.
struct Bound {
    value: Poly,
    at_most: bool,
    nested: bool,
}

/// What the parameter may have to reach: 1, how far a loop goes in its steps, or in steps of another stride; or may have
/// to stay below: how far a loop goes.
fn bounds(
    kernel: &Kernel,
    scope: &Scope<'_>,
    var: VarId,
    strides: &[VarId],
    pairs: &[(&Access<'_>, &Access<'_>)],
) -> Vec<Bound> {
    let of_sizes =
        |p: &Poly| p.atoms().into_iter().all(|a| variable(a).is_some_and(|v| is_size(kernel, v)));
    let mut all: Vec<Bound> = vec![];
    let mut add = |value: Poly, at_most: bool, nested: bool| {
        if all.iter().all(|b| (&b.value, b.at_most) != (&value, at_most)) {
            all.push(Bound { value, at_most, nested });
        }
    };
    for p in pairs.iter().flat_map(|(a, b)| [a, b]).flat_map(|a| inside(scope, a, var)) {
        add(p, false, true);
    }
    add(Poly::constant(1), false, false);
    let mut ends: Vec<Poly> = vec![];
    for access in pairs.iter().flat_map(|(a, b)| [a, b]) {
        for l in access.loops.iter().rev() {
            let end = end_of(scope, l).filter(of_sizes);
            ends.extend(end.filter(|e| !ends.contains(e)));
        }
    }
    ends.iter().for_each(|e| add(e.clone(), false, false));
    for stride in strides.iter().filter(|s| **s != var) {
        let steps = ends.iter().filter_map(|e| Poly::var(*stride).mul(e));
        steps.for_each(|p| add(p, false, false));
    }
    let last = ends.iter().filter_map(|e| e.sub(&Poly::constant(1)));
    last.for_each(|p| add(p, true, false));
    all.retain(|b| of_sizes(&b.value));
    all
}

/// How far the loops inside of that in whose stride the parameter is go, each in its own steps; and all of them together,
/// which is less where the last row ends before it is full. Where the stride is a sum, what is left beside the rest of it.
fn inside(scope: &Scope<'_>, access: &Access<'_>, var: VarId) -> Vec<Poly> {
    let mut found = vec![];
    for p in polynomials(access) {
        let stride = |l: &ForLoop| p.split(&Atom::Var(l.var)).map(|(stride, _)| stride);
        let mentions = |l: &&ForLoop| stride(l).is_some_and(|s| s.mentions(var));
        let Some(at) = access.loops.iter().rposition(mentions) else { continue };
        let one = Poly::constant(1);
        let own = stride(access.loops[at]).and_then(|s| s.split(&Atom::Var(var)));
        let Some((factor, beside)) = own.and_then(|(f, b)| Some((f.as_constant()?, b))) else {
            continue;
        };
        let enough = |reach: Poly| {
            let least = reach.sub(&beside)?;
            match (factor, least.as_constant()) {
                (1, _) => Some(least),
                (2.., Some(c)) => Some(Poly::constant(-(-c).div_euclid(factor))),
                _ => None,
            }
        };
        let mut together = Some(one.clone());
        let mut dimensions = 0;
        for l in &access.loops[at + 1..] {
            let Some(step) = stride(l).filter(|s| *s != Poly::zero()) else { continue };
            let end = end_of(scope, l);
            found.extend(end.as_ref().and_then(|e| enough(e.mul(&step)?)));
            let last = end.and_then(|e| e.sub(&one)?.mul(&step));
            together = together.and_then(|t| t.add(&last?));
            dimensions += 1;
        }
        found.extend(together.and_then(enough).filter(|_| dimensions > 1));
    }
    found
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

/// What a condition on a parameter is for, and where.
fn reason(
    kernel: &Kernel,
    var: VarId,
    pairs: &[(&Access<'_>, &Access<'_>)],
) -> (String, Option<Span>) {
    let uses = |a: &&Access<'_>| polynomials(a).iter().any(|p| p.mentions(var));
    let place = pairs.iter().flat_map(|(a, b)| [*a, *b]).filter(uses).find_map(|a| a.place);
    let why = match place.map(|p| kernel.show_place(p)) {
        Some(text) => format!("iterations that meet in `{text}` are excluded by this"),
        None => "iterations that meet are excluded by this".into(),
    };
    (why, place.and_then(|p| p.origin.span))
}
