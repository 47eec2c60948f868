//! Looks for two iterations that touch the same element by trying small sizes.
//!
//! The second oracle, for pairs that [`super::conflict`] does not decide. Here the loops are run in the head, with the parameters set to small
//! numbers in several orders of magnitude and of order among each other, and the elements compared. A conflict
//! that shows for every choice of the parameters is a fact about the program; one that shows for some only (say,
//! when a leading dimension is smaller than the row it leads) depends on what the user passes.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, ForLoop, VarId};

use super::access::{Access, Scope, View};
use super::conflict::{Example, Iteration};
use super::guards;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// A conflict for every choice of the parameters.
    Always(Example),
    /// A conflict for some choices only.
    Sometimes,
    /// No conflict was found at any size tried.
    Never,
    /// Something cannot be evaluated.
    Impossible,
}

/// Greatest number of iterations tried for one choice of the parameters.
const MAX_POINTS: usize = 20_000;
/// Sizes that parameters are given around, beside one beyond all constants of the subscripts.
const SCALES: [i128; 5] = [5, 9, 24, 150, 450];

/// Whether two iterations count as a conflict when they touch the same element.
pub type Relation<'r> = dyn Fn(&Iteration, &Iteration) -> bool + 'r;

/// Looks for different iterations of `scope.root`, in the given relation, in which `a` and `b` touch the same element.
pub fn search(
    scope: &Scope<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    relation: &Relation<'_>,
) -> Search {
    let Some(plans) = plan(scope, a).zip(plan(scope, b)) else { return Search::Impossible };
    let counters: BTreeSet<VarId> =
        scope.outer.iter().chain(&a.loops).chain(&b.loops).map(|l| l.var).collect();
    let mut parameters = BTreeSet::new();
    for plan in [&plans.0, &plans.1] {
        plan.polys().for_each(|p| parameters_of(p, &counters, &mut parameters));
    }
    if parameters.iter().any(|p| counters.iter().any(|c| p.mentions(*c))) {
        return Search::Impossible;
    }
    let parameters: Vec<Atom> = parameters.into_iter().collect();
    let mut sometimes = false;
    let constants = plans.0.index.iter().chain(&plans.1.index).map(|p| p.constant_term().abs());
    let beyond = 2 * constants.max().unwrap_or(0) + 17;
    for scale in SCALES.into_iter().chain([beyond]) {
        let mut always: Option<Example> = None;
        let (mut missed, mut too_large) = (false, false);
        for values in assignments(parameters.len(), scale) {
            let env: BTreeMap<&Atom, i128> = parameters.iter().zip(values).collect();
            match conflict(&plans.0, &plans.1, &env, relation) {
                Trial::Conflict(example) => always = always.or(Some(example)),
                Trial::NoConflict => missed = true,
                Trial::Empty => {}
                Trial::TooLarge => too_large = true,
            }
        }
        // Larger sizes would only take longer to find the same.
        if too_large {
            break;
        }
        match always {
            Some(example) if !missed => return Search::Always(example),
            Some(_) => sometimes = true,
            None => {}
        }
    }
    if sometimes { Search::Sometimes } else { Search::Never }
}

/// An access as loops with polynomial bounds around polynomial subscripts.
struct Plan<'a> {
    loops: Vec<PlannedLoop>,
    /// How many of `loops` are outside the analysed one.
    outer: usize,
    index: Vec<Poly>,
    access: &'a Access<'a>,
}

struct PlannedLoop {
    var: VarId,
    first: Poly,
    limit: Poly,
    step: Poly,
    compare: BinaryOp,
}

impl Plan<'_> {
    fn polys(&self) -> impl Iterator<Item = &Poly> {
        let bounds = self.loops.iter().flat_map(|l| [&l.first, &l.limit, &l.step]);
        bounds.chain(&self.index)
    }
}

fn plan<'a>(scope: &Scope<'_>, access: &'a Access<'a>) -> Option<Plan<'a>> {
    let View::Affine { index, .. } = &access.view else { return None };
    let uses = |var: VarId| index.iter().any(|p| p.mentions(var));
    let mut loops = vec![];
    for l in scope.outer.iter().chain(&access.loops) {
        match plan_loop(scope, l) {
            Some(planned) => loops.push(planned),
            // A loop of unknown extent that the subscripts do not mention may as well run once.
            None if l.id != scope.root.id && !uses(l.var) => loops.push(PlannedLoop {
                var: l.var,
                first: Poly::zero(),
                limit: Poly::constant(1),
                step: Poly::constant(1),
                compare: BinaryOp::Lt,
            }),
            None => return None,
        }
    }
    Some(Plan { loops, outer: scope.outer.len(), index: index.clone(), access })
}

fn plan_loop(scope: &Scope<'_>, l: &ForLoop) -> Option<PlannedLoop> {
    Some(PlannedLoop {
        var: l.var,
        first: scope.normalise(&l.first).ok()?,
        limit: scope.normalise(&l.limit).ok()?,
        step: scope.normalise(&l.step).ok()?,
        compare: l.compare,
    })
}

fn parameters_of(poly: &Poly, counters: &BTreeSet<VarId>, found: &mut BTreeSet<Atom>) {
    for atom in poly.atoms() {
        match atom {
            Atom::Var(v) if counters.contains(v) => {}
            Atom::Div(p, _) | Atom::Rem(p, _) => parameters_of(p, counters, found),
            Atom::Symbol(s) => {
                // An arithmetic symbol is computed; its variables are the parameters then.
                if guards::eval(s.expr(), &|_| Some(1)).is_some() {
                    let mut vars = BTreeSet::new();
                    crate::walk::each_var(s.expr(), &mut |v| _ = vars.insert(v));
                    found.extend(vars.difference(counters).map(|v| Atom::Var(*v)));
                } else {
                    found.insert(atom.clone());
                }
            }
            Atom::Var(_) => _ = found.insert(atom.clone()),
        }
    }
}

/// Choices of `count` numbers near `scale`: rising, falling, equal, and mixed.
fn assignments(count: usize, scale: i128) -> Vec<Vec<i128>> {
    let n = count as i128;
    let rising: Vec<i128> = (0..n).map(|k| scale + k).collect();
    let falling: Vec<i128> = (0..n).map(|k| scale + n - 1 - k).collect();
    let mixed: Vec<i128> = (0..n).map(|k| scale + (k * 7 + 3) % 5).collect();
    let mut all = vec![rising, falling, vec![scale; count], mixed];
    all.dedup();
    all
}

enum Trial {
    Conflict(Example),
    NoConflict,
    /// The loop has fewer than two iterations that reach both accesses.
    Empty,
    TooLarge,
}

type Touched = BTreeMap<(Vec<i128>, Vec<i128>), Vec<Iteration>>;

fn conflict(
    a: &Plan<'_>,
    b: &Plan<'_>,
    env: &BTreeMap<&Atom, i128>,
    relation: &Relation<'_>,
) -> Trial {
    let Some(left) = touched(a, env) else { return Trial::TooLarge };
    let Some(right) = touched(b, env) else { return Trial::TooLarge };
    let position = a.outer;
    let iterations = |t: &Touched| {
        t.values().flatten().filter_map(|i| i.get(position).map(|x| x.1)).collect::<BTreeSet<_>>()
    };
    if iterations(&left).union(&iterations(&right)).count() < 2 {
        return Trial::Empty;
    }
    let mut best: Option<(i128, Example)> = None;
    for (key, firsts) in &left {
        for first in firsts {
            for second in right.get(key).into_iter().flatten() {
                let (x, y) = (first[position].1, second[position].1);
                let closeness = ((y - x).abs() << 1) + i128::from(y < x);
                let rank = closeness * 1_000_000 + x.clamp(-100_000, 100_000);
                if x != y && relation(first, second) && best.as_ref().is_none_or(|(r, _)| rank < *r)
                {
                    let (first, second) = (first.clone(), second.clone());
                    let example =
                        Example { sizes: sizes_of(env), first, second, element: key.1.clone() };
                    best = Some((rank, example));
                }
            }
        }
    }
    best.map_or(Trial::NoConflict, |(_, example)| Trial::Conflict(example))
}

/// The parameters that have a name.
fn sizes_of(env: &BTreeMap<&Atom, i128>) -> Vec<(VarId, i128)> {
    let named = |(atom, x): (&&Atom, &i128)| match atom {
        Atom::Var(v) => Some((*v, *x)),
        _ => None,
    };
    env.iter().filter_map(named).collect()
}

/// The elements an access touches, with the first few iterations of the analysed loop that do; `None` when there
/// are too many iterations to try.
fn touched(plan: &Plan<'_>, env: &BTreeMap<&Atom, i128>) -> Option<Touched> {
    let mut result = Touched::new();
    let points = Cell::new(0usize);
    let mut at = vec![];
    run(plan, env, &mut at, &points, &mut result).then_some(result)
}

fn run(
    plan: &Plan<'_>,
    env: &BTreeMap<&Atom, i128>,
    at: &mut Iteration,
    points: &Cell<usize>,
    result: &mut Touched,
) -> bool {
    let Some(l) = plan.loops.get(at.len()) else {
        return leaf(plan, env, at, result);
    };
    let bounds = [&l.first, &l.limit, &l.step].map(|p| value(p, env, at));
    let [Some(first), Some(limit), Some(step)] = bounds else { return false };
    let mut x = first;
    while holds(l.compare, x, limit) && step != 0 {
        points.set(points.get() + 1);
        if points.get() > MAX_POINTS {
            return false;
        }
        at.push((l.var, x));
        let ok = run(plan, env, at, points, result);
        at.pop();
        if !ok {
            return false;
        }
        x += step;
    }
    true
}

fn leaf(
    plan: &Plan<'_>,
    env: &BTreeMap<&Atom, i128>,
    at: &Iteration,
    result: &mut Touched,
) -> bool {
    let var = |v: VarId| lookup(v, env, at);
    for guard in plan.access.guards.iter().chain(&plan.access.implied) {
        // A condition on data may be true in any iteration.
        if let Some(truth) = guards::eval(guard.cond, &var)
            && (truth != 0) == guard.negated
        {
            return true;
        }
    }
    let index: Option<Vec<i128>> = plan.index.iter().map(|p| value(p, env, at)).collect();
    let Some(index) = index else { return false };
    let outer: Vec<i128> = at.iter().take(plan.outer).map(|x| x.1).collect();
    let list = result.entry((outer, index)).or_default();
    let x = at.get(plan.outer).map(|x| x.1);
    if list.len() < 4 && list.iter().all(|i| i.get(plan.outer).map(|x| x.1) != x) {
        list.push(at.clone());
    }
    true
}

fn lookup(var: VarId, env: &BTreeMap<&Atom, i128>, at: &Iteration) -> Option<i128> {
    let counter = at.iter().rev().find(|(v, _)| *v == var).map(|(_, x)| *x);
    counter.or_else(|| env.get(&Atom::Var(var)).copied())
}

fn value(poly: &Poly, env: &BTreeMap<&Atom, i128>, at: &Iteration) -> Option<i128> {
    poly.eval(&|atom| match atom {
        Atom::Var(v) => lookup(*v, env, at),
        Atom::Symbol(s) => {
            let known = env.get(atom).copied();
            known.or_else(|| guards::eval(s.expr(), &|v| lookup(v, env, at)))
        }
        Atom::Div(..) | Atom::Rem(..) => None,
    })
}

fn holds(compare: BinaryOp, x: i128, limit: i128) -> bool {
    match compare {
        BinaryOp::Lt => x < limit,
        BinaryOp::Le => x <= limit,
        BinaryOp::Gt => x > limit,
        BinaryOp::Ge => x >= limit,
        _ => x != limit,
    }
}
