//! Whether two iterations of a loop touch the same element.
//!
//! The question for a pair of accesses, at least one a write: is there an element that one touches in iteration
//! `x` and the other in iteration `x + e`, `e` a positive multiple of the step? It is answered with symbolic
//! bounds: the subscripts of both are made equal dimension by dimension, and the system is refuted by
//!
//! * a constant difference,
//! * bounds (Banerjee's test with polynomial bounds, so that triangular loops and flattened arrays
//!   `A[i * m + j]`, `0 <= j < m`, need no special case),
//! * divisibility (the GCD test, with steps),
//! * solving one dimension and putting the solution into the others.
//!
//! Where nothing refutes it, [`super::witness`] looks for an example.

use warpsmith_ir::poly::{Atom, Facts, Poly, gcd};
use warpsmith_ir::{ForLoop, VarId};

use super::access::{self, Access, AccessKind, Base, Scope, View};
use super::guards;
use super::witness::{self, Example, Search};

/// The answer for one pair of accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Independent,
    /// Two iterations do touch one element.
    Carried(Example),
    /// Neither proved nor refuted: the reason in the user's words.
    Unknown(String),
}

/// A conflict between iterations of a loop, with the two accesses (indices into the list of accesses).
#[derive(Clone, Debug)]
pub struct Conflict {
    pub first: usize,
    pub second: usize,
    pub example: Example,
}

/// What is known about the iterations of one loop.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub conflicts: Vec<Conflict>,
    /// Reasons why independence is not proved, without repetition.
    pub unknown: Vec<String>,
}

impl Report {
    pub fn proved(&self) -> bool {
        self.conflicts.is_empty() && self.unknown.is_empty()
    }
}

/// Tests all pairs of accesses of a loop; `private` objects belong to one iteration and do not conflict.
pub fn analyse(
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    private: &dyn Fn(Base) -> bool,
) -> Report {
    let mut report = Report::default();
    for (i, a) in accesses.iter().enumerate() {
        for (j, b) in accesses.iter().enumerate().skip(i) {
            if !may_conflict(a, b) || private(a.base) || private(b.base) {
                continue;
            }
            match test_pair(scope, a, b) {
                Verdict::Independent => {}
                Verdict::Carried(example) => {
                    report.conflicts.push(Conflict { first: i, second: j, example });
                }
                Verdict::Unknown(reason) => {
                    if !report.unknown.contains(&reason) {
                        report.unknown.push(reason);
                    }
                }
            }
        }
    }
    report
}

fn may_conflict(a: &Access<'_>, b: &Access<'_>) -> bool {
    let writes = |x: &Access<'_>| x.kind != AccessKind::Read;
    let both_atomic = a.kind == AccessKind::Atomic && b.kind == AccessKind::Atomic;
    let same = a.base == b.base || a.base == Base::Anything || b.base == Base::Anything;
    same && (writes(a) || writes(b)) && !both_atomic
}

/// Tests one pair of accesses of `scope.root`.
pub fn test_pair(scope: &Scope<'_>, a: &Access<'_>, b: &Access<'_>) -> Verdict {
    for access in [a, b] {
        if let View::Unknown(reason) = &access.view {
            let name = scope.base_name(access.base);
            return Verdict::Unknown(format!("element of `{name}` not known: {reason}"));
        }
    }
    if a.base != b.base {
        return Verdict::Unknown("a pointer without a name may point anywhere".into());
    }
    let Some((left, right)) = same_shape(a, b) else {
        let name = scope.base_name(a.base);
        return Verdict::Unknown(format!("`{name}` is used with different shapes"));
    };
    let symmetric = std::ptr::eq(a, b);
    if refuted(scope, (a, &left), (b, &right), None)
        && (symmetric || refuted(scope, (b, &right), (a, &left), None))
    {
        return Verdict::Independent;
    }
    searched(scope, (a, b), witness::search(scope, a, b, &|_, _| true))
}

/// As [`test_pair`], for what forbids to exchange `scope.root` with the loop `inner` directly inside it: an element
/// that an earlier iteration of the root and a later one of the inner loop share with a later one of the root and an
/// earlier one of the inner loop.
pub fn test_exchange(
    scope: &Scope<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    inner: &ForLoop,
) -> Verdict {
    let (Some((left, right)), true) = (same_shape(a, b), a.base == b.base) else {
        return test_pair(scope, a, b);
    };
    if refuted(scope, (a, &left), (b, &right), Some(inner))
        && refuted(scope, (b, &right), (a, &left), Some(inner))
    {
        return Verdict::Independent;
    }
    let sign = |l: &ForLoop| if scope.step(l).is_some_and(|s| s < 0) { -1 } else { 1 };
    let (outer_sign, inner_sign) = (sign(scope.root), sign(inner));
    let at = |i: &[(VarId, i128)], l: &ForLoop| i.iter().find(|x| x.0 == l.var).map(|x| x.1);
    let swapped = |x: &witness::Iteration, y: &witness::Iteration| {
        let outer = at(y, scope.root).zip(at(x, scope.root)).map(|(y, x)| (y - x) * outer_sign);
        let inside = at(y, inner).zip(at(x, inner)).map(|(y, x)| (y - x) * inner_sign);
        outer.zip(inside).is_some_and(|(o, i)| (o > 0 && i < 0) || (o < 0 && i > 0))
    };
    searched(scope, (a, b), witness::search(scope, a, b, &swapped))
}

fn searched(scope: &Scope<'_>, pair: (&Access<'_>, &Access<'_>), search: Search) -> Verdict {
    let name = scope.base_name(pair.0.base);
    match search {
        Search::Always(example) => Verdict::Carried(example),
        Search::Sometimes => Verdict::Unknown(format!(
            "whether iterations meet in `{name}` depends on the values of the arguments"
        )),
        Search::Impossible => Verdict::Unknown(not_affine(scope, pair)),
        Search::Never => Verdict::Unknown(format!(
            "no two iterations that meet in `{name}` were found, but that is no proof"
        )),
    }
}

/// Names the reference whose subscript goes through memory.
fn not_affine(scope: &Scope<'_>, pair: (&Access<'_>, &Access<'_>)) -> String {
    let odd = |access: &&Access<'_>| match &access.view {
        View::Affine { index, .. } => {
            index.iter().any(|p| p.atoms().iter().any(|a| matches!(a, Atom::Symbol(_))))
        }
        View::Unknown(_) => true,
    };
    let access = [pair.0, pair.1].into_iter().find(odd).unwrap_or(pair.0);
    let text = access.place.map(|p| crate::show::place(scope.module, scope.function, p));
    let text = text.unwrap_or_else(|| scope.base_name(access.base));
    format!("the subscript of `{text}` is not affine")
}

/// The subscripts of two accesses to one array in a common number of dimensions.
fn same_shape(a: &Access<'_>, b: &Access<'_>) -> Option<(Vec<Poly>, Vec<Poly>)> {
    let (View::Affine { index: x, extents: p }, View::Affine { index: y, extents: q }) =
        (&a.view, &b.view)
    else {
        return None;
    };
    // Subscripts inside of structures say something only where both have the same ones.
    let inside = |a: &Access<'_>| a.place.map_or(0, access::subscripts_in_fields);
    let (m, n) = (inside(a), inside(b));
    if m + n > 0 && (m != n || p != q) {
        let outer = |v: &[Poly], e: &Option<Vec<Poly>>, inside: usize| View::Affine {
            index: v[..v.len() - inside].to_vec(),
            extents: e.as_ref().map(|e| e[..e.len() - inside].to_vec()),
        };
        let (left, right) = (outer(x, p, m), outer(y, q, n));
        return match (&left, &right) {
            (View::Affine { index: x, extents: p }, View::Affine { index: y, extents: q })
                if x.len() == y.len() && (x.len() == 1 || (p == q && p.is_some())) =>
            {
                Some((x.clone(), y.clone()))
            }
            _ => Some((vec![left.linear()?], vec![right.linear()?])),
        };
    }
    if x.len() == y.len() && (x.len() == 1 || (p == q && p.is_some())) {
        return Some((x.clone(), y.clone()));
    }
    Some((vec![a.view.linear()?], vec![b.view.linear()?]))
}

/// Names for the second instance of each counter, and for the distance, beyond the function's variables.
struct Fresh {
    base: u32,
}

impl Fresh {
    fn distance(&self) -> VarId {
        VarId(self.base)
    }

    fn second(&self, v: VarId) -> VarId {
        VarId(self.base + 1 + v.0)
    }

    fn quotient(&self, v: VarId) -> VarId {
        VarId(2 * self.base + 2 + v.0)
    }
}

/// Whether `a` in iteration `x` and `b` in iteration `x + e`, `e > 0`, never touch one element.
/// With `exchanged`, only pairs count in which that inner loop's counter moves the other way.
fn refuted(
    scope: &Scope<'_>,
    a: (&Access<'_>, &[Poly]),
    b: (&Access<'_>, &[Poly]),
    exchanged: Option<&ForLoop>,
) -> bool {
    let fresh = Fresh { base: scope.function.vars.len() as u32 };
    let root = scope.root;
    let Some(shifted) = Poly::var(root.var).add(&Poly::var(fresh.distance())) else { return false };
    let inner: Vec<VarId> = b.0.loops.iter().skip(1).map(|l| l.var).collect();
    let second = |p: &Poly| {
        let renamed = p.rename(&|v| if inner.contains(&v) { fresh.second(v) } else { v });
        // A symbol that mentions the counter has another, unrelated value in the other iteration.
        renamed
            .substitute(root.var, &shifted)
            .unwrap_or_else(|| renamed.rename(&|v| fresh.second(v)))
    };
    let mut facts = facts_of_pair(scope, a.0, b.0, &fresh, &second);
    let mut system = vec![];
    if let Some(inner) = exchanged {
        system.extend(moves_back(scope, inner, &fresh, &mut facts));
    }
    for (x, y) in a.1.iter().zip(b.1) {
        let (x, y) = (facts.simplify(x), facts.simplify(&second(y)));
        match x.sub(&y) {
            Some(d) => system.push(d),
            None => return false,
        }
    }
    let guarded = a.0.guards.len() + b.0.guards.len() > 0;
    if guarded && facts.contradictory() {
        return true;
    }
    join_quotients(&mut system);
    let strides = strides_of_pair(scope, a.0, b.0, &fresh, &second);
    contradicts(system, facts, &strides)
}

/// The equation `second = first - d` with `d > 0` for a counter (`+ d` where the two loops count in opposite directions).
fn moves_back(
    scope: &Scope<'_>,
    inner: &ForLoop,
    fresh: &Fresh,
    facts: &mut Facts,
) -> Option<Poly> {
    let distance = fresh.quotient(VarId(2 * fresh.base + 1));
    facts.bound(Atom::Var(distance), Some(Poly::constant(1)), None);
    let opposite = scope.step(scope.root)?.signum() * scope.step(inner)?.signum();
    let moved = Poly::var(inner.var).add(&Poly::var(distance).scale(-opposite)?)?;
    Poly::var(fresh.second(inner.var)).sub(&moved)
}

/// What the loops and conditions around both accesses say.
fn facts_of_pair(
    scope: &Scope<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    fresh: &Fresh,
    second: &dyn Fn(&Poly) -> Poly,
) -> Facts {
    let mut facts = scope.outer_facts();
    let root = scope.root;
    let (lower, upper) = scope.range(root);
    let step = scope.step(root).map_or(1, i128::abs);
    let widest = upper.as_ref().zip(lower.as_ref()).and_then(|(u, l)| u.sub(l));
    facts.bound(Atom::Var(fresh.distance()), Some(Poly::constant(step)), widest);
    let below = upper.and_then(|u| u.sub(&Poly::var(fresh.distance())));
    facts.bound(Atom::Var(root.var), lower, below);
    for l in a.loops.iter().skip(1) {
        let (lower, upper) = scope.range(l);
        facts.bound(Atom::Var(l.var), lower, upper);
    }
    for l in b.loops.iter().skip(1) {
        let (lower, upper) = scope.range(l);
        let atom = Atom::Var(fresh.second(l.var));
        facts.bound(atom, lower.as_ref().map(second), upper.as_ref().map(second));
    }
    for guard in &a.guards {
        guards::add_facts(scope, *guard, &|p| p, &mut facts);
    }
    for guard in &b.guards {
        guards::add_facts(scope, *guard, &|p| second(&p), &mut facts);
    }
    facts
}

/// For each counter with a constant step: `counter = first + step * t` with a fresh integer `t`.
fn strides_of_pair(
    scope: &Scope<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    fresh: &Fresh,
    second: &dyn Fn(&Poly) -> Poly,
) -> Vec<(VarId, Poly)> {
    let mut strides = vec![];
    let mut push = |var: VarId, first: Option<Poly>, step: Option<i128>| {
        let t = Poly::var(fresh.quotient(var));
        let value = first.zip(step).and_then(|(f, s)| f.add(&t.scale(s)?));
        strides.extend(value.map(|v| (var, v)));
    };
    let root = scope.root;
    push(fresh.distance(), Some(Poly::zero()), scope.step(root));
    // Inner first, so that bounds that mention outer counters are replaced in turn.
    for l in b.loops.iter().skip(1).rev() {
        let first = scope.normalise(&l.first).ok().map(|p| second(&p));
        push(fresh.second(l.var), first, scope.step(l));
    }
    for l in a.loops.iter().skip(1).rev() {
        push(l.var, scope.normalise(&l.first).ok(), scope.step(l));
    }
    push(root.var, scope.normalise(&root.first).ok(), scope.step(root));
    strides
}

/// Where one dimension compares `p / c` and another `p % c`, `p` itself must agree.
fn join_quotients(system: &mut Vec<Poly>) {
    let mut joined = vec![];
    for quotient in system.iter() {
        for remainder in system.iter() {
            joined.extend(join(quotient, remainder));
        }
    }
    system.extend(joined);
}

fn join(quotient: &Poly, remainder: &Poly) -> Option<Poly> {
    let (p, q) = difference_of_atoms(quotient)?;
    let (r, s) = difference_of_atoms(remainder)?;
    match (p, q, r, s) {
        (Atom::Div(p, c), Atom::Div(q, d), Atom::Rem(r, e), Atom::Rem(s, f))
            if c == d && d == e && e == f && p == r && q == s =>
        {
            p.sub(q)
        }
        _ => None,
    }
}

/// The atoms of `a - b`.
fn difference_of_atoms(poly: &Poly) -> Option<(&Atom, &Atom)> {
    let terms: Vec<(&[Atom], i128)> = poly.terms().collect();
    match terms.as_slice() {
        [([a], 1), ([b], -1)] => Some((a, b)),
        [([b], -1), ([a], 1)] => Some((a, b)),
        _ => None,
    }
}

/// Whether the equations (each polynomial zero) have no solution under the facts.
fn contradicts(mut system: Vec<Poly>, mut facts: Facts, strides: &[(VarId, Poly)]) -> bool {
    loop {
        if system.iter().any(|d| facts.provably_nonzero(d) || indivisible(d, strides)) {
            return true;
        }
        let Some((at, var, solution)) = solvable(&system) else { return false };
        let equation = system.remove(at);
        if facts.is_bounded(var) {
            facts.equate(var, &solution);
        }
        let substituted: Option<Vec<Poly>> =
            system.iter().map(|d| d.substitute(var, &solution)).collect();
        match substituted {
            Some(next) => system = next,
            None => return false,
        }
        debug_assert!(equation.mentions(var));
    }
}

/// An equation `± var + rest = 0`, solved for its variable.
fn solvable(system: &[Poly]) -> Option<(usize, VarId, Poly)> {
    for (at, equation) in system.iter().enumerate() {
        for atom in equation.atoms() {
            let Atom::Var(var) = atom else { continue };
            let Some((coefficient, rest)) = equation.split(atom) else { continue };
            let solution = match coefficient.as_constant() {
                Some(1) => rest.scale(-1),
                Some(-1) => Some(rest),
                _ => None,
            };
            if let Some(solution) = solution {
                return Some((at, *var, solution));
            }
        }
    }
    None
}

/// The GCD test: the constant term is no multiple of what divides all others.
fn indivisible(equation: &Poly, strides: &[(VarId, Poly)]) -> bool {
    let mut p = equation.clone();
    for (var, value) in strides {
        match p.substitute(*var, value) {
            Some(next) => p = next,
            None => return false,
        }
    }
    let g = p.content();
    g > 1 && gcd(p.constant_term(), g) != g
}
