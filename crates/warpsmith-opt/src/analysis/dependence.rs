//! Whether two iterations of a loop touch the same element.
//!
//! For each pair of accesses, at least one a write, [`conflict`](super::conflict) decides it for all sizes. Where it
//! cannot, [`witness`](super::witness) looks for an example by running the loops at some sizes; that it finds none is no
//! answer.

use warpsmith_ir::ForLoop;
use warpsmith_ir::poly::Poly;

use super::access::{Access, AccessKind, Base, Scope, View};
use super::conflict::{self, Example, Iteration, Meeting};
use super::witness::{self, Search};

/// The answer for one pair of accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No two iterations touch the same element, one of them writing.
    Independent,
    /// Two iterations do touch one element.
    Carried(Example),
    /// What arrays hold decides: the reason in the user's words.
    ByData(String),
    /// Neither proved nor refuted: the reason in the user's words.
    Unknown(String),
}

/// A conflict between iterations of a loop, with the two accesses (indices into the list of accesses).
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The number of one of the two accesses.
    pub first: usize,
    /// The number of the other.
    pub second: usize,
    /// Iterations in which they meet.
    pub example: Example,
}

/// Two accesses about which analysis says neither yes nor no, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The number of one of the two accesses.
    pub first: usize,
    /// The number of the other.
    pub second: usize,
    /// Why nothing is proved of them.
    pub reason: String,
}

/// What is known about the iterations of one loop.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pairs of accesses that meet.
    pub conflicts: Vec<Conflict>,
    /// What data decide, each reason once.
    pub by_data: Vec<Doubt>,
    /// What sizes and counters decide, but not this analysis; each reason once.
    pub unknown: Vec<Doubt>,
}

impl Report {
    /// Nothing meets, and nothing is left open.
    pub fn proved(&self) -> bool {
        self.conflicts.is_empty() && self.by_data.is_empty() && self.unknown.is_empty()
    }

    /// A reason why independence is not proved.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.unknown.first().or(self.by_data.first())
    }
}

/// Tests all pairs of accesses of a loop; `private` objects belong to one iteration and do not conflict.
/// `requirements` are polynomials over parameters that are not negative.
pub fn analyse(
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    private: &dyn Fn(Base) -> bool,
    requirements: &[Poly],
) -> Report {
    let mut report = Report::default();
    for (first, second) in pairs(accesses, private) {
        let note = |list: &mut Vec<Doubt>, reason: String| {
            if list.iter().all(|d| d.reason != reason) {
                list.push(Doubt { first, second, reason });
            }
        };
        match test_pair(scope, &accesses[first], &accesses[second], requirements) {
            Verdict::Independent => {}
            Verdict::Carried(example) => report.conflicts.push(Conflict { first, second, example }),
            Verdict::ByData(reason) => note(&mut report.by_data, reason),
            Verdict::Unknown(reason) => note(&mut report.unknown, reason),
        }
    }
    report
}

/// Pairs of accesses that may touch one element with an effect, each once; of accesses that are alike only the first.
pub fn pairs(
    accesses: &[Access<'_>],
    private: &dyn Fn(Base) -> bool,
) -> impl Iterator<Item = (usize, usize)> {
    let mut kept: Vec<usize> = vec![];
    for (k, a) in accesses.iter().enumerate() {
        if !private(a.base) && !kept.iter().any(|other| alike(&accesses[*other], a)) {
            kept.push(k);
        }
    }
    let mut pairs = vec![];
    for (n, i) in kept.iter().enumerate() {
        for j in &kept[n..] {
            if may_conflict(&accesses[*i], &accesses[*j]) {
                pairs.push((*i, *j));
            }
        }
    }
    pairs.into_iter()
}

/// Whether two accesses are the same in every respect that matters here.
fn alike(a: &Access<'_>, b: &Access<'_>) -> bool {
    let loops = |x: &Access<'_>| x.loops.iter().map(|l| l.id).collect::<Vec<_>>();
    let guards = |x: &Access<'_>| {
        x.guards
            .iter()
            .chain(&x.implied)
            .map(|g| (std::ptr::from_ref(g.cond), g.negated))
            .collect::<Vec<_>>()
    };
    let places = a.place.zip(b.place).is_some_and(|(p, q)| same_place(p, q));
    a.base == b.base && a.kind == b.kind && places && loops(a) == loops(b) && guards(a) == guards(b)
}

/// Whether two places are written alike.
fn same_place(a: &warpsmith_ir::Place, b: &warpsmith_ir::Place) -> bool {
    use warpsmith_ir::Expr;
    use warpsmith_ir::poly::Symbol;
    Symbol::new(Expr::read(a.clone())) == Symbol::new(Expr::read(b.clone()))
}

fn may_conflict(a: &Access<'_>, b: &Access<'_>) -> bool {
    let writes = |x: &Access<'_>| x.kind != AccessKind::Read;
    let both_atomic = a.kind == AccessKind::Atomic && b.kind == AccessKind::Atomic;
    let same = a.base == b.base || a.base == Base::Anything || b.base == Base::Anything;
    same && (writes(a) || writes(b)) && !both_atomic
}

/// Tests one pair of accesses of `scope.root`.
pub fn test_pair(
    scope: &Scope<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    requirements: &[Poly],
) -> Verdict {
    verdict(scope, (a, b), None, requirements, &|_, _| true)
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
    let sign = |l: &ForLoop| if scope.step(l).is_some_and(|s| s < 0) { -1 } else { 1 };
    let (outer_sign, inner_sign) = (sign(scope.root), sign(inner));
    let at = |i: &Iteration, l: &ForLoop| i.iter().find(|x| x.0 == l.var).map(|x| x.1);
    let swapped = |x: &Iteration, y: &Iteration| {
        let outer = at(y, scope.root).zip(at(x, scope.root)).map(|(y, x)| (y - x) * outer_sign);
        let inside = at(y, inner).zip(at(x, inner)).map(|(y, x)| (y - x) * inner_sign);
        outer.zip(inside).is_some_and(|(o, i)| (o > 0 && i < 0) || (o < 0 && i > 0))
    };
    verdict(scope, (a, b), Some(inner), &[], &swapped)
}

fn verdict(
    scope: &Scope<'_>,
    (a, b): (&Access<'_>, &Access<'_>),
    exchanged: Option<&ForLoop>,
    requirements: &[Poly],
    relation: &witness::Relation<'_>,
) -> Verdict {
    if a.base != b.base || a.base == Base::Anything {
        return Verdict::Unknown("a pointer without a name may point anywhere".into());
    }
    let mut doubt = None;
    // A value that travels from a write to a read tells most.
    let backwards = a.kind == AccessKind::Read && b.kind != AccessKind::Read;
    let orders = if backwards { [(b, a), (a, b)] } else { [(a, b), (b, a)] };
    let orders = if std::ptr::eq(a, b) { &orders[..1] } else { &orders[..] };
    for (first, second) in orders {
        match conflict::meeting(scope, (first, second), exchanged, requirements) {
            Meeting::Never => {}
            Meeting::At(mut example) => {
                if !std::ptr::eq(*first, a) {
                    std::mem::swap(&mut example.first, &mut example.second);
                }
                return Verdict::Carried(example);
            }
            Meeting::ByData => {
                doubt = doubt.or(Some(Verdict::ByData(subscript_of_data(scope, (a, b)))));
            }
            Meeting::Undecided => doubt = Some(searched(scope, (a, b), relation)),
        }
    }
    doubt.unwrap_or(Verdict::Independent)
}

/// The second oracle: the loops are run at some sizes.
fn searched(
    scope: &Scope<'_>,
    (a, b): (&Access<'_>, &Access<'_>),
    relation: &witness::Relation<'_>,
) -> Verdict {
    for access in [a, b] {
        if let View::Unknown(reason) = &access.view {
            let name = scope.base_name(access.base);
            return Verdict::Unknown(format!("element of `{name}` not known: {reason}"));
        }
    }
    let name = scope.base_name(a.base);
    match witness::search(scope, a, b, relation) {
        Search::Always(example) => Verdict::Carried(example),
        Search::Sometimes => Verdict::Unknown(format!(
            "whether iterations meet in `{name}` depends on the values of the arguments"
        )),
        Search::Never | Search::Impossible => Verdict::Unknown(format!(
            "whether two iterations meet in `{name}` was neither proved nor refuted"
        )),
    }
}

/// Names the reference whose element data decide.
fn subscript_of_data(scope: &Scope<'_>, (a, b): (&Access<'_>, &Access<'_>)) -> String {
    let text = |access: &Access<'_>| {
        let place = access.place.map(|p| crate::show::place(scope.module, scope.function, p));
        place.unwrap_or_else(|| scope.base_name(access.base))
    };
    let (x, y) = (text(a), text(b));
    match x == y {
        true => format!("data decide which elements `{x}` are"),
        false => format!("data decide whether `{x}` and `{y}` are one element"),
    }
}
