//! Conditions over sizes, threads and iterations, and values that differ from case to case.

use warpsmith_ir::poly::{Atom, Facts, Poly};
use warpsmith_ir::{Axis, Builtin, ExprKind, VarId};

/// More cases of one value are not told apart.
const MOST: usize = 64;

/// Variables from here on count the iterations of loops, from 0; functions have fewer.
pub const FIRST_COUNTER: u32 = 1 << 30;

/// Conditions that hold together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// Sums that are not negative.
    pub when: Vec<Poly>,
    /// There are further conditions, which are not known.
    pub open: bool,
}

impl Case {
    pub fn open() -> Case {
        Case { when: vec![], open: true }
    }

    /// With `sum >= 0`; `None`: that cannot be.
    pub fn with(mut self, sum: Poly) -> Option<Case> {
        let negative = |p: &Poly| p.as_constant().is_some_and(|c| c < 0);
        if negative(&sum) || self.when.iter().any(|p| p.add(&sum).is_some_and(|s| negative(&s))) {
            return None;
        }
        if sum.as_constant().is_none() && !self.when.contains(&sum) {
            self.when.push(sum);
        }
        Some(self)
    }

    pub fn and(&self, other: &Case) -> Option<Case> {
        let both = Case { when: self.when.clone(), open: self.open || other.open };
        other.when.iter().try_fold(both, |case, sum| case.with(sum.clone()))
    }
}

/// The cases in which one of `a` and one of `b` hold.
pub fn both(a: &[Case], b: &[Case]) -> Vec<Case> {
    if a.len() * b.len() > MOST {
        return vec![Case::open()];
    }
    a.iter().flat_map(|x| b.iter().filter_map(|y| x.and(y))).collect()
}

/// The cases in which a sum is not negative.
pub fn at_least_zero(sum: Option<Poly>) -> Vec<Case> {
    match sum {
        Some(sum) => Case::default().with(sum).into_iter().collect(),
        None => vec![Case::open()],
    }
}

/// A value in one case; `None`: it is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece<T> {
    pub case: Case,
    pub value: Option<T>,
}

/// A value: one of the pieces whose case holds.
pub type Pieces<T = Poly> = Vec<Piece<T>>;

pub fn known<T>(value: T) -> Pieces<T> {
    vec![Piece { case: Case::default(), value: Some(value) }]
}

pub fn unknown<T>() -> Pieces<T> {
    vec![Piece { case: Case::default(), value: None }]
}

/// The pieces where one of the cases holds.
pub fn under<T: Clone>(cases: &[Case], pieces: &[Piece<T>]) -> Pieces<T> {
    if cases.len() * pieces.len() > MOST {
        return unknown();
    }
    let each = cases.iter().flat_map(|c| {
        pieces.iter().filter_map(|p| Some(Piece { case: c.and(&p.case)?, value: p.value.clone() }))
    });
    each.collect()
}

pub fn map<T, U>(pieces: &[Piece<T>], f: impl Fn(&T) -> Option<U>) -> Pieces<U> {
    let one = |p: &Piece<T>| Piece { case: p.case.clone(), value: p.value.as_ref().and_then(&f) };
    pieces.iter().map(one).collect()
}

pub fn map_both<T, U, V: Clone>(
    a: &[Piece<T>],
    b: &[Piece<U>],
    f: impl Fn(&T, &U) -> Option<V>,
) -> Pieces<V> {
    if a.len() * b.len() > MOST {
        return unknown();
    }
    let mut found = vec![];
    for x in a {
        for y in b {
            if let Some(case) = x.case.and(&y.case) {
                let value = x.value.as_ref().zip(y.value.as_ref()).and_then(|(x, y)| f(x, y));
                found.push(Piece { case, value });
            }
        }
    }
    found
}

/// Whether a sum is never negative where some others are not.
pub fn nonnegative(sum: &Poly, when: &[Poly]) -> bool {
    if let Some(c) = sum.as_constant() {
        return c >= 0;
    }
    let mut facts = Facts::new();
    for axis in Axis::ALL {
        for (index, extent) in [
            (Builtin::BlockIdx(axis), Builtin::GridDim(axis)),
            (Builtin::ThreadIdx(axis), Builtin::BlockDim(axis)),
        ] {
            let extent = Atom::builtin(extent);
            let last = Poly::atom(extent.clone()).add(&Poly::constant(-1));
            facts.bound(extent, Some(Poly::constant(1)), None);
            facts.bound(Atom::builtin(index), Some(Poly::zero()), last);
        }
    }
    let atoms = when.iter().chain([sum]).flat_map(Poly::atoms);
    for atom in atoms.filter(|a| is_counter(a)) {
        facts.bound(atom.clone(), Some(Poly::zero()), None);
    }
    for known in when {
        for (atoms, factor) in known.terms() {
            let ([atom @ Atom::Var(_)], 1 | -1) = (atoms, factor) else { continue };
            let rest = Poly::atom(atom.clone()).scale(factor).and_then(|a| known.sub(&a));
            match factor {
                1 => facts.bound(atom.clone(), rest.and_then(|r| r.scale(-1)), None),
                _ => facts.bound(atom.clone(), None, rest),
            }
        }
        facts.assume_nonnegative(known.clone());
    }
    facts.provably_nonnegative(sum)
}

/// Whether an atom counts the iterations of a loop.
pub fn is_counter(atom: &Atom) -> bool {
    matches!(atom, Atom::Var(VarId(n)) if *n >= FIRST_COUNTER)
}

/// The hardware value that an atom stands for.
pub fn builtin(atom: &Atom) -> Option<Builtin> {
    match atom {
        Atom::Symbol(s) => match &*s.expr().kind {
            ExprKind::Builtin(b) => Some(*b),
            _ => None,
        },
        _ => None,
    }
}
