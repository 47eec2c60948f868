//! Whether facts with alternatives, some of them with products of unknowns, can hold together.
//!
//! Linear facts are decided by [`integer`](crate::analysis::integer). A product of two unknowns is an unknown of its own
//! there, tied to its factors by the products of what is known: `0 <= j < m` and `n >= 1` give `n j >= 0` and
//! `n j <= n m - n` (the reformulation of H. Sherali and W. Adams). That is enough to tell the dimensions of a flat
//! subscript `i * m + j` apart. Where the answer is a point at which a product is not one, numbers are tried for the
//! sizes, which makes the rest linear; and the coefficients of each stride are parted by sign.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::VarId;
use warpsmith_ir::poly::{Atom, Poly};

use super::formula::{Branch, Clause, Fact, with_values};
use super::terms::{Role, Unknown, minus, number, product, variable, variables};
use crate::analysis::integer::{self, Constraint, Outcome};

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They exclude each other.
    Never,
    /// They hold at this point.
    Point(Vec<i128>),
    Undecided,
}

/// Unknowns, and what is asked about them.
pub struct Problem<'t> {
    pub unknowns: &'t [Unknown],
    pub facts: Vec<Fact>,
    pub clauses: Vec<Clause>,
    /// Equations whose strides part dimensions.
    pub equations: Vec<Poly>,
    /// Values whose sign matters to products: differences of quotients by one divisor.
    pub parted: Vec<Poly>,
}

/// Linear systems that one question may cost.
const BUDGET: u32 = 600;

/// Answers a question.
pub fn decide(problem: &Problem<'_>) -> Answer {
    let mut search = Search { problem, budget: BUDGET };
    let signs = search.signs(&problem.facts);
    let mut splits = separations(problem);
    splits.extend(sign_splits(problem, &signs));
    let state = State {
        facts: problem.facts.clone(),
        clauses: problem.clauses.clone(),
        splits,
        signs,
        tried: false,
    };
    search.run(state)
}

/// Whether facts hold at a point, products taken as unknowns that nothing ties to their factors. The values of `unknowns`
/// unknowns come first.
pub fn linear(unknowns: usize, facts: &[Fact]) -> Outcome {
    let mut columns = BTreeMap::<&[Atom], usize>::new();
    let mut next = unknowns;
    for fact in facts {
        for (atoms, _) in fact.poly.terms().filter(|(a, _)| a.len() > 1) {
            columns.entry(atoms).or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
    }
    let constraints: Vec<Constraint> = facts
        .iter()
        .map(|fact| {
            let mut coefficients = vec![0; next];
            for (atoms, c) in fact.poly.terms() {
                match atoms {
                    [] => {}
                    [Atom::Var(v)] => coefficients[v.0 as usize] = c,
                    _ => coefficients[columns[atoms]] = c,
                }
            }
            Constraint {
                coefficients,
                constant: fact.poly.constant_term(),
                equality: fact.equality,
            }
        })
        .collect();
    match integer::solve(next, &constraints) {
        Outcome::Point(mut p) => {
            p.truncate(unknowns);
            Outcome::Point(p)
        }
        other => other,
    }
}

/// What is known on the way to an answer.
#[derive(Clone)]
struct State {
    facts: Vec<Fact>,
    clauses: Vec<Clause>,
    /// Alternatives that always cover everything: they part cases where products are not understood.
    splits: Vec<Clause>,
    /// Factors that are not negative (`true`) or not positive.
    signs: BTreeMap<VarId, bool>,
    /// Numbers were tried for the sizes.
    tried: bool,
}

struct Search<'p, 't> {
    problem: &'p Problem<'t>,
    budget: u32,
}

impl Search<'_, '_> {
    fn role(&self, v: VarId) -> Role {
        self.problem.unknowns[v.0 as usize].role
    }

    fn solve(&mut self, facts: &[Fact]) -> Outcome {
        match self.budget.checked_sub(1) {
            Some(left) => {
                self.budget = left;
                linear(self.problem.unknowns.len(), facts)
            }
            None => Outcome::GaveUp,
        }
    }

    fn run(&mut self, state: State) -> Answer {
        let mut facts = state.facts.clone();
        facts.extend(self.products(&state));
        let point = match self.solve(&facts) {
            Outcome::Empty => return Answer::Never,
            // With an alternative chosen it may be easier.
            Outcome::GaveUp => {
                let mut rest = state;
                return match rest.clauses.pop().or_else(|| rest.splits.pop()) {
                    Some(clause) => self.branch(&rest, &clause),
                    None => Answer::Undecided,
                };
            }
            Outcome::Point(p) => p,
        };
        let open = state.clauses.iter().position(|c| !c.iter().any(|b| b.holds(&point)));
        if let Some(at) = open {
            let mut rest = state;
            let clause = rest.clauses.swap_remove(at);
            return self.branch(&rest, &clause);
        }
        if facts.iter().all(|f| f.holds(&point) == Some(true)) {
            return Answer::Point(point);
        }
        if !state.tried {
            for values in self.guesses(&state.facts, &point) {
                if let Answer::Point(found) = self.with(&state, &values) {
                    return Answer::Point(found);
                }
            }
        }
        let mut rest = state;
        rest.tried = true;
        match rest.splits.pop() {
            Some(clause) => self.branch(&rest, &clause),
            None => Answer::Undecided,
        }
    }

    /// One of the alternatives holds.
    fn branch(&mut self, rest: &State, clause: &Clause) -> Answer {
        let mut undecided = false;
        for alternative in clause {
            let mut state = rest.clone();
            note_signs(&mut state.signs, alternative);
            state.facts.extend(alternative.facts.iter().cloned());
            state.clauses.extend(alternative.clauses.iter().cloned());
            match self.run(state) {
                Answer::Never => {}
                Answer::Undecided => undecided = true,
                found => return found,
            }
        }
        if undecided { Answer::Undecided } else { Answer::Never }
    }

    /// The question with numbers in place of some unknowns.
    fn with(&mut self, state: &State, values: &[(VarId, i128)]) -> Answer {
        let fact =
            |f: &Fact| with_values(&f.poly, values).map(|poly| Fact { poly, equality: f.equality });
        let mut facts: Option<Vec<Fact>> = state.facts.iter().map(fact).collect();
        if let Some(facts) = &mut facts {
            facts.extend(values.iter().map(|(v, x)| Fact::equal(&Poly::var(*v), &number(*x))));
        }
        let clauses: Option<Vec<Clause>> = state
            .clauses
            .iter()
            .map(|c| c.iter().map(|b| branch_with(b, &fact)).collect())
            .collect();
        let (Some(facts), Some(clauses)) = (facts, clauses) else { return Answer::Undecided };
        let signs = BTreeMap::new();
        self.run(State { facts, clauses, splits: vec![], signs, tried: true })
    }

    /// Numbers for the factors of products, so that what is left is linear.
    fn guesses(&self, facts: &[Fact], point: &[i128]) -> Vec<Vec<(VarId, i128)>> {
        let mut factors = BTreeSet::new();
        for (atoms, _) in facts.iter().flat_map(|f| f.poly.terms()).filter(|(a, _)| a.len() > 1) {
            let vars: Vec<VarId> = atoms.iter().filter_map(variable).collect();
            let sizes: Vec<VarId> =
                vars.iter().copied().filter(|v| self.role(*v) == Role::Size).collect();
            // All but one factor must be known.
            match vars.len() - sizes.len() {
                0 => factors.extend(&sizes[1..]),
                1 => factors.extend(&sizes),
                _ => factors.extend(&vars),
            }
        }
        let factors: Vec<VarId> = factors.into_iter().collect();
        let n = factors.len() as i128;
        let mut guesses: Vec<Vec<i128>> =
            vec![factors.iter().map(|v| point[v.0 as usize]).collect()];
        guesses.extend([1, 2, 3, 0, 8, 30].map(|c| vec![c; factors.len()]));
        for scale in [2, 7, 20] {
            guesses.push((0..n).map(|k| scale + k).collect());
            guesses.push((0..n).map(|k| scale + n - 1 - k).collect());
        }
        guesses.dedup();
        guesses.into_iter().map(|g| factors.iter().copied().zip(g).collect()).collect()
    }

    /// Which factors of products have a sign that follows from the facts.
    fn signs(&mut self, facts: &[Fact]) -> BTreeMap<VarId, bool> {
        let mut signs = BTreeMap::new();
        for v in factors(facts) {
            let value = Poly::var(v);
            for (positive, opposite) in [
                (true, Fact::less(&value, &Poly::zero())),
                (false, Fact::less(&Poly::zero(), &value)),
            ] {
                let excluded = [facts, &[opposite]].concat();
                if self.solve(&excluded) == Outcome::Empty {
                    signs.insert(v, positive);
                    break;
                }
            }
        }
        signs
    }

    /// Facts times what occurs as a factor beside their unknowns.
    fn products(&self, state: &State) -> Vec<Fact> {
        let mut partners = BTreeMap::<Poly, BTreeSet<VarId>>::new();
        for (atoms, _) in state.facts.iter().flat_map(|f| f.poly.terms()) {
            if atoms.len() < 2 {
                continue;
            }
            let vars: Vec<VarId> = atoms.iter().filter_map(variable).collect();
            let (sizes, others): (Vec<VarId>, Vec<VarId>) =
                vars.iter().partition(|v| self.role(**v) == Role::Size);
            let factors = match (sizes.as_slice(), others.as_slice()) {
                ([], _) => others.iter().map(|v| vec![*v]).collect(),
                (_, []) => sizes.iter().map(|v| vec![*v]).collect(),
                _ => vec![sizes.clone()],
            };
            for factor in factors {
                if let Some(multiplier) = signed_product(&factor, &state.signs) {
                    partners.entry(multiplier).or_default().extend(&vars);
                }
            }
        }
        let mut made = vec![];
        for (multiplier, vars) in &mut partners {
            // What equations say about them, too.
            for fact in state.facts.iter().filter(|f| f.equality && is_linear(&f.poly)) {
                let own = variables(&fact.poly);
                if own.iter().any(|v| vars.contains(v)) && own.len() <= 3 {
                    vars.extend(own);
                }
            }
            let near = |f: &&Fact| {
                is_linear(&f.poly) && variables(&f.poly).iter().any(|v| vars.contains(v))
            };
            for fact in state.facts.iter().filter(near) {
                let poly = product(&fact.poly, multiplier);
                made.extend(poly.map(|poly| Fact { poly, equality: fact.equality }));
            }
        }
        made
    }
}

fn branch_with(branch: &Branch, fact: &dyn Fn(&Fact) -> Option<Fact>) -> Option<Branch> {
    let facts: Option<Vec<Fact>> = branch.facts.iter().map(fact).collect();
    let clauses: Option<Vec<Clause>> =
        branch.clauses.iter().map(|c| c.iter().map(|b| branch_with(b, fact)).collect()).collect();
    Some(Branch { facts: facts?, clauses: clauses? })
}

fn is_linear(p: &Poly) -> bool {
    p.terms().all(|(atoms, _)| atoms.len() < 2)
}

/// The unknowns that occur in products.
fn factors(facts: &[Fact]) -> BTreeSet<VarId> {
    let products = facts.iter().flat_map(|f| f.poly.terms()).filter(|(a, _)| a.len() > 1);
    products.flat_map(|(atoms, _)| atoms.iter().filter_map(variable)).collect()
}

/// The product with the sign that makes it not negative.
fn signed_product(factors: &[VarId], signs: &BTreeMap<VarId, bool>) -> Option<Poly> {
    factors.iter().try_fold(number(1), |p, v| {
        let sign = if *signs.get(v)? { 1 } else { -1 };
        product(&p, &product(&Poly::var(*v), &number(sign))?)
    })
}

fn note_signs(signs: &mut BTreeMap<VarId, bool>, branch: &Branch) {
    for fact in &branch.facts {
        let constant = fact.poly.constant_term();
        let mut terms = fact.poly.terms().filter(|(a, _)| !a.is_empty());
        let (Some(([Atom::Var(v)], c)), None) = (terms.next(), terms.next()) else { continue };
        match fact.equality {
            true => _ = signs.entry(*v).or_insert(constant == 0 || (constant < 0) == (c > 0)),
            false if constant <= 0 => _ = signs.entry(*v).or_insert(c > 0),
            false => {}
        }
    }
}

/// Cases for sizes that are factors and whose sign is not known.
fn sign_splits(problem: &Problem<'_>, signs: &BTreeMap<VarId, bool>) -> Vec<Clause> {
    let open = factors(&problem.facts)
        .into_iter()
        .filter(|v| !signs.contains_key(v) && problem.unknowns[v.0 as usize].role == Role::Size);
    open.map(|v| by_sign(&Poly::var(v))).collect()
}

/// For every stride of an equation, that its coefficient is zero, positive or negative; the greatest strides last, as
/// they are taken first.
fn separations(problem: &Problem<'_>) -> Vec<Clause> {
    let size = |v: &VarId| problem.unknowns[v.0 as usize].role == Role::Size;
    let mut coefficients = BTreeMap::<(usize, Vec<VarId>), Poly>::new();
    for equation in &problem.equations {
        let terms: Vec<(Vec<VarId>, i128)> = equation
            .terms()
            .map(|(atoms, c)| (atoms.iter().filter_map(variable).collect(), c))
            .collect();
        for (vars, _) in &terms {
            let stride: Vec<VarId> = vars.iter().copied().filter(size).collect();
            if stride.is_empty() || stride.len() + 1 != vars.len() {
                continue;
            }
            let mut coefficient = Poly::zero();
            for (vars, c) in &terms {
                if let [factor] = without(vars, &stride).as_slice() {
                    let opposite = product(&Poly::var(*factor), &number(-c)).unwrap_or_default();
                    coefficient = minus(&coefficient, &opposite);
                }
            }
            coefficients.insert((stride.len(), stride), coefficient);
        }
    }
    if factors(&problem.facts).is_empty() {
        return vec![];
    }
    let all = problem.parted.iter().cloned().chain(coefficients.into_values());
    all.filter(|c| c.as_constant().is_none()).map(|c| by_sign(&c)).collect()
}

/// The factors that are left without those of the stride; none where the stride is not among them.
fn without(vars: &[VarId], stride: &[VarId]) -> Vec<VarId> {
    let mut rest = vars.to_vec();
    for s in stride {
        match rest.iter().position(|v| v == s) {
            Some(at) => _ = rest.remove(at),
            None => return vec![],
        }
    }
    rest
}

/// That a value is zero, positive or negative.
fn by_sign(value: &Poly) -> Clause {
    let zero = Poly::zero();
    vec![
        Branch::fact(Fact::equal(value, &zero)),
        Branch::fact(Fact::less(&zero, value)),
        Branch::fact(Fact::less(value, &zero)),
    ]
}
