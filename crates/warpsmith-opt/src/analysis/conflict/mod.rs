//! Whether two iterations of a loop touch the same element, decided for all sizes.
//!
//! The question about a pair of accesses becomes one about integers: are there sizes, values of the counters in an
//! earlier and a later iteration, quotients, … that satisfy the bounds of all loops, the conditions around both accesses
//! and the equality of the elements? All of them are unknowns alike, so that a dependence which only large sizes have is
//! found like any other, with the sizes in the answer.

mod decide;
mod formula;
mod places;
pub mod requirement;
mod terms;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, ForLoop, VarId};

use self::decide::{Answer, Problem};
use self::formula::{Fact, value_at};
use self::places::Path;
use self::terms::{Instance, Role, Terms, minus, number, plus, product, variables};
use super::access::{Access, Base, Scope};

/// Values of the counters of an iteration, outermost loop first.
pub type Iteration = Vec<(VarId, i128)>;

/// Two iterations of the analysed loop that touch one element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// Parameters, where the answer depends on them.
    pub sizes: Vec<(VarId, i128)>,
    /// Counters of the one access.
    pub first: Iteration,
    /// Counters of the other.
    pub second: Iteration,
    /// Subscripts of the element that both touch.
    pub element: Vec<i128>,
}

/// The answer for one pair of accesses in one order.
#[derive(Clone, Debug, PartialEq)]
pub enum Meeting {
    /// In no iterations.
    Never,
    /// In these, for example.
    At(Example),
    /// What arrays hold decides which elements are touched.
    ByData,
    /// Nothing is proved.
    Undecided,
}

/// Asks whether `a` in an iteration and `b` in a later one meet. With `exchanged`, only pairs count in which that inner
/// loop is earlier for `b` than for `a`. `requirements` are what the sizes are known to satisfy, each not negative.
pub fn meeting(
    scope: &Scope<'_>,
    (a, b): (&Access<'_>, &Access<'_>),
    exchanged: Option<&ForLoop>,
    requirements: &[Poly],
) -> Meeting {
    let ask = |assumed: &[(VarId, Sign)], follows: bool| {
        let mut question = Question::new(scope, assumed, follows);
        let pair = question.ask(a, b, exchanged);
        question.require(requirements);
        let divisors = question.terms.open_divisors.clone();
        let stopped = question.terms.stopped;
        (pair.map_or(Meeting::Undecided, |pair| question.answer(a, b, &pair)), divisors, stopped)
    };
    let (answer, divisors, stopped) = ask(&[], false);
    if answer == Meeting::Never {
        return answer;
    }
    let (answer, divisors) = match stopped {
        true => {
            let (answer, divisors, _) = ask(&[], true);
            (answer, divisors)
        }
        false => (answer, divisors),
    };
    // What a quotient is hangs on the sign of the divisor, of which each case is easier than all of them at once.
    let [divisor] = divisors.as_slice() else { return answer };
    if answer != Meeting::Undecided {
        return answer;
    }
    let cases = [Sign::Positive, Sign::Negative, Sign::Zero].into_iter();
    let mut answers = cases.map(|sign| ask(&[(*divisor, sign)], stopped).0);
    answers.find(|a| *a != Meeting::Never).unwrap_or(Meeting::Never)
}

/// What is assumed of a variable in one of several cases that cover everything.
#[derive(Clone, Copy)]
enum Sign {
    Positive,
    Negative,
    Zero,
}

/// What is asked, as it is put together.
struct Question<'s, 'a> {
    terms: Terms<'s, 'a>,
    outer: Instance,
}

/// The two sides of a question.
struct Pair {
    first: Side,
    second: Side,
    equations: Vec<Poly>,
}

struct Side {
    at: Instance,
    path: Path,
}

impl<'s, 'a> Question<'s, 'a> {
    fn new(scope: &'s Scope<'a>, assumed: &[(VarId, Sign)], follows: bool) -> Question<'s, 'a> {
        let terms = Terms::new(scope, follows);
        let mut question = Question { terms, outer: Instance::default() };
        for (var, sign) in assumed {
            let (value, zero) = (question.terms.size(*var), Poly::zero());
            question.terms.facts.push(match sign {
                Sign::Positive => Fact::less(&zero, &value),
                Sign::Negative => Fact::less(&value, &zero),
                Sign::Zero => Fact::equal(&value, &zero),
            });
        }
        for l in &scope.outer {
            let mut at = std::mem::take(&mut question.outer);
            question.enter(l, &mut at, Role::Size);
            question.outer = at;
        }
        question
    }

    /// States everything about the two accesses; `None` where a place is not understood.
    fn ask(&mut self, a: &Access<'a>, b: &Access<'a>, exchanged: Option<&ForLoop>) -> Option<Pair> {
        let root = self.terms.scope.root;
        let mut first = self.outer.clone();
        self.enter(root, &mut first, Role::Counter);
        let mut second = self.outer.clone();
        self.enter_later(root, &first, &mut second);
        self.around(a, &mut first);
        self.around(b, &mut second);
        if let Some(inner) = exchanged {
            self.moves_back(inner, &first, &second);
        }
        let x = self.terms.place(a.place?, &first)?;
        let y = self.terms.place(b.place?, &second)?;
        let extent = self.extent(a.base, x.index.len());
        for path in [&x, &y] {
            let same = path.index.len() == x.index.len();
            let facts = path.inside(extent.as_ref().filter(|_| same));
            self.terms.facts.extend(facts);
        }
        let meets = x.meets(&y)?;
        let equations = meets.iter().map(|f| f.poly.clone()).collect();
        self.terms.facts.extend(meets);
        Some(Pair {
            first: Side { at: first, path: x },
            second: Side { at: second, path: y },
            equations,
        })
    }

    /// The inner loops and conditions around an access.
    fn around(&mut self, access: &Access<'a>, at: &mut Instance) {
        for l in access.loops.iter().skip(1) {
            self.enter(l, at, Role::Counter);
        }
        for guard in access.guards.iter().chain(&access.implied) {
            let branch = self.terms.condition(guard.cond, guard.negated, at);
            self.terms.facts.extend(branch.facts);
            self.terms.clauses.extend(branch.clauses);
        }
    }

    /// States that an iteration of a loop runs.
    fn enter(&mut self, l: &ForLoop, at: &mut Instance, role: Role) {
        let (first, limit) = (self.terms.value(&l.first, at), self.terms.value(&l.limit, at));
        let step = self.terms.value(&l.step, at);
        let low = first.as_constant().filter(|_| step.as_constant().is_some_and(|s| s > 0));
        let counter = self.terms.derived(role, low, None, &[&first, &limit, &step]);
        self.terms.name(&counter, l.var);
        let towards = self.direction(l, &step);
        if !matches!(step.as_constant(), Some(1 | -1)) {
            // As many steps from the first value.
            let steps = self.terms.fresh(role, Some(0), None);
            let walked = product(&steps, &step).map(|p| plus(&first, &p));
            self.terms.facts.extend(walked.map(|w| Fact::equal(&counter, &w)));
        }
        self.bound(l, &counter, (&first, &limit), towards);
        at.counters.insert(l.var, counter);
    }

    /// States that a later iteration of the root runs, too.
    fn enter_later(&mut self, root: &ForLoop, earlier: &Instance, at: &mut Instance) {
        let (first, limit) = (self.terms.value(&root.first, at), self.terms.value(&root.limit, at));
        let step = self.terms.value(&root.step, at);
        let Some(before) = earlier.counters.get(&root.var) else { return };
        let low = first.as_constant().filter(|_| step.as_constant().is_some_and(|s| s > 0));
        let counter = self.terms.derived(Role::Counter, low, None, &[&first, &limit, &step]);
        self.terms.name(&counter, root.var);
        let steps = self.terms.fresh(Role::Counter, Some(1), None);
        let walked = product(&steps, &step).map(|p| plus(before, &p));
        self.terms.facts.extend(walked.map(|w| Fact::equal(&counter, &w)));
        let towards = self.direction(root, &step);
        self.bound(root, &counter, (&first, &limit), towards);
        at.counters.insert(root.var, counter);
    }

    /// 1 for a loop that counts up, -1 for one that counts down, 0 where that is not known. A step that is no constant
    /// has the sign that lets the loop end.
    fn direction(&mut self, l: &ForLoop, step: &Poly) -> i128 {
        let by_comparison = match l.compare {
            BinaryOp::Lt | BinaryOp::Le => 1,
            BinaryOp::Gt | BinaryOp::Ge => -1,
            _ => 0,
        };
        match step.as_constant() {
            Some(s) => s.signum(),
            None => {
                let size =
                    if by_comparison < 0 { minus(&Poly::zero(), step) } else { step.clone() };
                if by_comparison != 0 {
                    self.terms.facts.push(Fact::less(&Poly::zero(), &size));
                }
                by_comparison
            }
        }
    }

    fn bound(
        &mut self,
        l: &ForLoop,
        counter: &Poly,
        (first, limit): (&Poly, &Poly),
        towards: i128,
    ) {
        let end = match l.compare {
            BinaryOp::Lt => Some(Fact::less(counter, limit)),
            BinaryOp::Le => Some(Fact::at_least(limit, counter)),
            BinaryOp::Gt => Some(Fact::less(limit, counter)),
            BinaryOp::Ge => Some(Fact::at_least(counter, limit)),
            _ if towards > 0 => Some(Fact::less(counter, limit)),
            _ if towards < 0 => Some(Fact::less(limit, counter)),
            _ => None,
        };
        self.terms.facts.extend(end);
        match towards {
            1 => {
                self.terms.facts.push(Fact::at_least(counter, first));
                let inclusive = i128::from(l.compare == BinaryOp::Le);
                self.terms.below(counter, plus(limit, &number(inclusive)));
            }
            -1 => self.terms.facts.push(Fact::at_least(first, counter)),
            _ => {}
        }
    }

    /// That an inner loop is earlier in the second iteration, as the two loops count.
    fn moves_back(&mut self, inner: &ForLoop, first: &Instance, second: &Instance) {
        let (Some(x), Some(y)) = (first.counters.get(&inner.var), second.counters.get(&inner.var))
        else {
            return;
        };
        let backwards = self.terms.scope.step(inner).is_some_and(|s| s < 0);
        let fact = if backwards { Fact::less(x, y) } else { Fact::less(y, x) };
        self.terms.facts.push(fact);
    }

    /// The extent of the outermost dimension, as it is declared.
    fn extent(&mut self, base: Base, dimensions: usize) -> Option<Poly> {
        let Base::Var(v) = base else { return None };
        let scope = self.terms.scope;
        let var = scope.function.var(v);
        if let Some(length) = var.ty.extents().first() {
            return Some(number(i128::from(*length)));
        }
        let shape = var.shape.as_ref()?;
        let at = Instance::default();
        match dimensions {
            1 => shape.iter().try_fold(number(1), |p, e| {
                let extent = self.terms.value(e, &at);
                product(&p, &extent)
            }),
            _ if dimensions == shape.len() => Some(self.terms.value(shape.first()?, &at)),
            _ => None,
        }
    }

    /// States requirements over parameters.
    fn require(&mut self, requirements: &[Poly]) {
        for requirement in requirements {
            let mut poly = Poly::zero();
            for (atoms, c) in requirement.terms() {
                let factors = atoms.iter().try_fold(number(c), |p, a| match a {
                    Atom::Var(v) => product(&p, &self.terms.size(*v)),
                    _ => None,
                });
                let Some(term) = factors else { return };
                poly = plus(&poly, &term);
            }
            self.terms.facts.push(Fact { poly, equality: false });
        }
    }

    fn decide(&self, pair: &Pair) -> Answer {
        decide::decide(&Problem {
            unknowns: &self.terms.unknowns,
            facts: self.terms.facts.clone(),
            clauses: self.terms.clauses.clone(),
            equations: pair.equations.clone(),
            parted: self.terms.quotient_differences(),
        })
    }

    fn answer(mut self, a: &Access<'a>, b: &Access<'a>, pair: &Pair) -> Meeting {
        let mut answer = self.decide(pair);
        if matches!(&answer, Answer::Point(p) if !self.terms.in_their_types(p)) {
            self.terms.stay_in_their_types();
            answer = self.decide(pair);
        }
        let sides = [&pair.first, &pair.second];
        let decided_by = |role: Role| {
            sides.iter().any(|s| {
                let mut subscripts = s.path.index.iter().chain(&s.path.fields);
                subscripts.any(|p| self.depends(p, role))
            })
        };
        match answer {
            Answer::Never => Meeting::Never,
            _ if decided_by(Role::Data) => Meeting::ByData,
            Answer::Undecided => Meeting::Undecided,
            Answer::Point(_) if decided_by(Role::Opaque) || self.terms.skipped => {
                Meeting::Undecided
            }
            Answer::Point(point) => self.example(a, b, pair, &point),
        }
    }

    /// Whether a value depends on unknowns of a role, through the quotients and choices that tie unknowns together, too.
    fn depends(&self, p: &Poly, role: Role) -> bool {
        let mut reached: std::collections::BTreeSet<VarId> = Default::default();
        let mut open: Vec<VarId> = variables(p);
        while let Some(v) = open.pop() {
            if !reached.insert(v) {
                continue;
            }
            open.extend(&self.terms.unknowns[v.0 as usize].from);
        }
        reached.iter().any(|v| self.terms.unknowns[v.0 as usize].role == role)
    }

    fn example(&self, a: &Access<'a>, b: &Access<'a>, pair: &Pair, point: &[i128]) -> Meeting {
        let scope = self.terms.scope;
        let iteration = |access: &Access<'a>, at: &Instance| -> Option<Iteration> {
            let loops = scope.outer.iter().chain(&access.loops);
            loops.map(|l| Some((l.var, value_at(at.counters.get(&l.var)?, point)?))).collect()
        };
        let sizes = self.terms.unknowns.iter().zip(point).filter_map(|(u, x)| {
            let var = u.var.filter(|v| !scope.is_counter(*v) && u.role == Role::Size)?;
            Some((var, *x))
        });
        let element: Option<Vec<i128>> =
            pair.first.path.index.iter().map(|p| value_at(p, point)).collect();
        let example = (|| {
            Some(Example {
                sizes: sizes.collect(),
                first: iteration(a, &pair.first.at)?,
                second: iteration(b, &pair.second.at)?,
                element: element?,
            })
        })();
        example.map_or(Meeting::Undecided, Meeting::At)
    }
}
