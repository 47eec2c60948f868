//! Facts about unknowns, with alternatives.

use warpsmith_ir::poly::{Atom, Poly};

use super::terms::{minus, number};

/// A polynomial that is zero, or not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub poly: Poly,
    /// The polynomial is zero; else it is at least zero.
    pub equality: bool,
}

/// Facts that hold together, and clauses.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    pub facts: Vec<Fact>,
    pub clauses: Vec<Clause>,
}

/// Alternatives, of which at least one holds.
pub type Clause = Vec<Branch>;

impl Fact {
    /// `a >= b`.
    pub fn at_least(a: &Poly, b: &Poly) -> Fact {
        Fact { poly: minus(a, b), equality: false }
    }

    /// `a < b`.
    pub fn less(a: &Poly, b: &Poly) -> Fact {
        Fact { poly: minus(&minus(b, a), &number(1)), equality: false }
    }

    /// `a == b`.
    pub fn equal(a: &Poly, b: &Poly) -> Fact {
        Fact { poly: minus(a, b), equality: true }
    }

    /// What never holds.
    pub fn never() -> Fact {
        Fact { poly: number(-1), equality: false }
    }

    /// The opposite of an inequality; nothing for an equation, whose opposite is no single fact.
    pub fn negated(&self) -> Option<Fact> {
        let negative = minus(&number(-1), &self.poly);
        (!self.equality).then_some(Fact { poly: negative, equality: false })
    }

    /// Whether it holds at a point; `None` where the numbers overflow.
    pub fn holds(&self, point: &[i128]) -> Option<bool> {
        let value = value_at(&self.poly, point)?;
        Some(if self.equality { value == 0 } else { value >= 0 })
    }
}

impl Branch {
    pub fn fact(fact: Fact) -> Branch {
        Branch { facts: vec![fact], clauses: vec![] }
    }

    pub fn facts(facts: Vec<Fact>) -> Branch {
        Branch { facts, clauses: vec![] }
    }

    /// Both.
    pub fn and(mut self, other: Branch) -> Branch {
        self.facts.extend(other.facts);
        self.clauses.extend(other.clauses);
        self
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.clauses.is_empty()
    }

    /// Whether all of it holds at a point.
    pub fn holds(&self, point: &[i128]) -> bool {
        self.facts.iter().all(|f| f.holds(point) == Some(true))
            && self.clauses.iter().all(|c| c.iter().any(|b| b.holds(point)))
    }
}

/// The value of a polynomial over unknowns at a point.
pub fn value_at(poly: &Poly, point: &[i128]) -> Option<i128> {
    poly.eval(&|atom| match atom {
        Atom::Var(v) => point.get(v.0 as usize).copied(),
        _ => None,
    })
}

/// The polynomial with numbers in place of some unknowns.
pub fn with_values(poly: &Poly, values: &[(warpsmith_ir::VarId, i128)]) -> Option<Poly> {
    values.iter().try_fold(poly.clone(), |p, (v, x)| p.substitute(*v, &number(*x)))
}
