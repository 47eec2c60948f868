//! Index expressions in normal form: polynomials with integer coefficients over symbols.
//!
//! A [`Poly`] is a sum of monomials, each a product of [`Atom`]s with an exact coefficient. Two index
//! expressions that are equal by the laws of the ring of integers have equal normal forms. Division and
//! remainder by a positive constant are atoms of their own, with C's truncation toward zero.
//!
//! **No-wrap assumption.** A polynomial stands for the mathematical integer. It equals what the machine
//! computes as long as no intermediate result leaves the range of its type. C makes signed overflow
//! undefined, so for signed indices the assumption costs nothing; for unsigned ones it is a real
//! assumption, which whoever states a proof must repeat.

mod convert;
mod divide;
mod facts;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

pub use facts::Facts;

use crate::expr::{Builtin, Expr};
use crate::module::VarId;

/// An indivisible factor of a monomial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// The value of a variable.
    Var(VarId),
    /// `dividend / divisor` truncated toward zero; the divisor is positive.
    Div(Arc<Poly>, i64),
    /// `dividend % divisor` with the sign of the dividend; the divisor is positive.
    Rem(Arc<Poly>, i64),
    /// Anything else with a value: a hardware value, a named constant, `idx[i]`.
    Symbol(Symbol),
}

/// An expression that the normal form does not look into; equal when written alike.
#[derive(Clone, Debug)]
pub struct Symbol {
    expr: Arc<Expr>,
    key: Arc<str>,
}

impl Symbol {
    /// The value of an integer expression, whatever it is made of.
    pub fn new(expr: Expr) -> Symbol {
        let key = convert::key_of(&expr).into();
        Symbol { expr: Arc::new(expr), key }
    }

    /// The expression as it was written.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        self.key == other.key
    }
}

impl Eq for Symbol {}

impl PartialOrd for Symbol {
    fn partial_cmp(&self, other: &Symbol) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Symbol {
    fn cmp(&self, other: &Symbol) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl Atom {
    /// A hardware value, such as `blockIdx.x`.
    pub fn builtin(builtin: Builtin) -> Atom {
        Atom::Symbol(Symbol::new(Expr::builtin(builtin)))
    }

    /// Whether the value of the atom depends on the variable.
    pub fn mentions(&self, var: VarId) -> bool {
        match self {
            Atom::Var(v) => *v == var,
            Atom::Div(p, _) | Atom::Rem(p, _) => p.mentions(var),
            Atom::Symbol(s) => convert::expr_mentions(&s.expr, var),
        }
    }
}

/// A product of atoms, sorted, with repetition for powers; empty for the constant term.
type Monomial = Vec<Atom>;

/// A polynomial over the integers. The zero polynomial has no terms; no stored coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl Poly {
    /// The polynomial 0.
    pub fn zero() -> Poly {
        Poly::default()
    }

    /// A polynomial of degree 0.
    pub fn constant(value: i128) -> Poly {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(vec![], value);
        }
        Poly { terms }
    }

    /// The atom, with coefficient 1.
    pub fn atom(atom: Atom) -> Poly {
        Poly { terms: BTreeMap::from([(vec![atom], 1)]) }
    }

    /// The variable, with coefficient 1.
    pub fn var(var: VarId) -> Poly {
        Poly::atom(Atom::Var(var))
    }

    /// Whether it is 0 for all values of its atoms.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its value when no atom is left in it.
    pub fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&vec![] as &Monomial).copied(),
            _ => None,
        }
    }

    /// The single atom this polynomial is, with coefficient one.
    pub fn as_atom(&self) -> Option<&Atom> {
        let (monomial, coefficient) = self.terms.first_key_value()?;
        match monomial.as_slice() {
            [only] if self.terms.len() == 1 && *coefficient == 1 => Some(only),
            _ => None,
        }
    }

    /// The term without atoms.
    pub fn constant_term(&self) -> i128 {
        self.terms.get(&vec![] as &Monomial).copied().unwrap_or(0)
    }

    /// Monomials with their coefficients, the constant term with an empty slice.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(m, c)| (m.as_slice(), *c))
    }

    /// Sum; `None` when a coefficient overflows.
    pub fn add(&self, other: &Poly) -> Option<Poly> {
        let mut terms = self.terms.clone();
        for (monomial, coefficient) in &other.terms {
            add_term(&mut terms, monomial.clone(), *coefficient)?;
        }
        Some(Poly { terms })
    }

    /// Difference; `None` when a coefficient overflows.
    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add(&other.scale(-1)?)
    }

    /// Product with an integer; `None` when a coefficient overflows.
    pub fn scale(&self, factor: i128) -> Option<Poly> {
        if factor == 0 {
            return Some(Poly::zero());
        }
        let mut terms = BTreeMap::new();
        for (monomial, coefficient) in &self.terms {
            terms.insert(monomial.clone(), coefficient.checked_mul(factor)?);
        }
        Some(Poly { terms })
    }

    /// Product; `None` when a coefficient overflows or the result is unreasonably large.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        const MAX_TERMS: usize = 4096;
        if self.terms.len().saturating_mul(other.terms.len()) > MAX_TERMS {
            return None;
        }
        let mut terms = BTreeMap::new();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = [a.as_slice(), b.as_slice()].concat();
                monomial.sort();
                add_term(&mut terms, monomial, x.checked_mul(*y)?)?;
            }
        }
        Some(Poly { terms })
    }

    /// Quotient by a positive constant, truncated: exact where every coefficient divides, else an atom.
    pub fn div(&self, divisor: i64) -> Option<Poly> {
        let d = i128::from(divisor);
        if divisor <= 0 {
            return None;
        }
        if self.terms.values().all(|c| c % d == 0) {
            let terms = self.terms.iter().map(|(m, c)| (m.clone(), c / d)).collect();
            return Some(Poly { terms });
        }
        match self.as_constant() {
            Some(c) => Some(Poly::constant(c / d)),
            None => Some(Poly::atom(Atom::Div(Arc::new(self.clone()), divisor))),
        }
    }

    /// Remainder by a positive constant, with the dividend's sign: zero where every coefficient divides, else an atom.
    pub fn rem(&self, divisor: i64) -> Option<Poly> {
        let d = i128::from(divisor);
        if divisor <= 0 {
            return None;
        }
        if self.terms.values().all(|c| c % d == 0) {
            return Some(Poly::zero());
        }
        match self.as_constant() {
            Some(c) => Some(Poly::constant(c % d)),
            None => Some(Poly::atom(Atom::Rem(Arc::new(self.clone()), divisor))),
        }
    }

    /// All atoms that occur as factors (those inside quotients and remainders are not listed).
    pub fn atoms(&self) -> BTreeSet<&Atom> {
        self.terms.keys().flatten().collect()
    }

    /// Whether the value of any of its atoms depends on the variable.
    pub fn mentions(&self, var: VarId) -> bool {
        self.terms.keys().flatten().any(|atom| atom.mentions(var))
    }

    /// Splits `p` into `(c, r)` with `p = c * atom + r`, where `atom` occurs in neither; `None` when `atom`
    /// occurs in a higher power or inside another atom.
    pub fn split(&self, atom: &Atom) -> Option<(Poly, Poly)> {
        let (mut with, mut without) = (Poly::zero(), Poly::zero());
        for (monomial, coefficient) in &self.terms {
            let mut rest = monomial.clone();
            let target = match rest.iter().position(|a| a == atom) {
                Some(at) => {
                    rest.remove(at);
                    &mut with
                }
                None => &mut without,
            };
            if rest.iter().any(|a| a == atom || hides(a, atom)) {
                return None;
            }
            add_term(&mut target.terms, rest, *coefficient)?;
        }
        Some((with, without))
    }

    /// The polynomial with `by` in place of a variable; `None` on overflow, or when the variable occurs inside
    /// a symbol, whose text cannot be changed here.
    pub fn substitute(&self, var: VarId, by: &Poly) -> Option<Poly> {
        let mut result = Poly::zero();
        for (monomial, coefficient) in &self.terms {
            let mut product = Poly::constant(*coefficient);
            for atom in monomial {
                let factor = match atom {
                    Atom::Var(v) if *v == var => by.clone(),
                    Atom::Div(p, d) => p.substitute(var, by)?.div(*d)?,
                    Atom::Rem(p, d) => p.substitute(var, by)?.rem(*d)?,
                    Atom::Symbol(s) if convert::expr_mentions(&s.expr, var) => return None,
                    _ => Poly::atom(atom.clone()),
                };
                product = product.mul(&factor)?;
            }
            result = result.add(&product)?;
        }
        Some(result)
    }

    /// The polynomial with other variables, inside quotients and symbols too.
    pub fn rename(&self, to: &dyn Fn(VarId) -> VarId) -> Poly {
        let mut result = Poly::zero();
        for (monomial, coefficient) in &self.terms {
            let mut renamed: Monomial = monomial.iter().map(|atom| rename_atom(atom, to)).collect();
            renamed.sort();
            let sum = result.terms.entry(renamed).or_insert(0);
            *sum = sum.saturating_add(*coefficient);
        }
        result.terms.retain(|_, c| *c != 0);
        result
    }

    /// The value where `value` gives variables and symbols; `None` where it does not or the arithmetic overflows.
    pub fn eval(&self, value: &dyn Fn(&Atom) -> Option<i128>) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in &self.terms {
            let mut product = *coefficient;
            for atom in monomial {
                let factor = match atom {
                    Atom::Div(p, d) => p.eval(value)? / i128::from(*d),
                    Atom::Rem(p, d) => p.eval(value)? % i128::from(*d),
                    Atom::Var(_) | Atom::Symbol(_) => value(atom)?,
                };
                product = product.checked_mul(factor)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// A number times such factors.
    pub fn product(factors: &[Atom], number: i128) -> Option<Poly> {
        factors.iter().try_fold(Poly::constant(number), |p, a| p.mul(&Poly::atom(a.clone())))
    }

    /// The terms with positive coefficients and those with negative ones.
    pub fn by_sign(&self) -> Option<(Poly, Poly)> {
        let (mut plus, mut minus) = (Poly::zero(), Poly::zero());
        for (atoms, c) in self.terms() {
            let term = Poly::product(atoms, c)?;
            let into = if c > 0 { &mut plus } else { &mut minus };
            *into = into.add(&term)?;
        }
        Some((plus, minus))
    }

    /// The greatest common divisor of all coefficients but the constant one; 0 for a constant.
    pub fn content(&self) -> i128 {
        let coefficients = self.terms.iter().filter(|(m, _)| !m.is_empty()).map(|(_, c)| *c);
        coefficients.fold(0, gcd)
    }

    /// Text with the names that `name` gives to variables, as one would write it in C.
    pub fn display(&self, name: &dyn Fn(VarId) -> String) -> String {
        convert::display(self, name)
    }
}

impl fmt::Display for Poly {
    /// Variables appear as `v0`, `v1`, ….
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display(&|v| format!("v{}", v.0)))
    }
}

/// The greatest common divisor, never negative.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(i128::MAX)
}

fn add_term(terms: &mut BTreeMap<Monomial, i128>, monomial: Monomial, c: i128) -> Option<()> {
    let sum = terms.get(&monomial).copied().unwrap_or(0).checked_add(c)?;
    match sum {
        0 => terms.remove(&monomial),
        _ => terms.insert(monomial, sum),
    };
    Some(())
}

/// Whether `inner` occurs inside the quotient, remainder or symbol `outer`.
fn hides(outer: &Atom, inner: &Atom) -> bool {
    match outer {
        Atom::Var(_) => false,
        Atom::Div(p, _) | Atom::Rem(p, _) => {
            p.atoms().into_iter().any(|a| a == inner || hides(a, inner))
        }
        Atom::Symbol(s) => matches!(inner, Atom::Var(v) if convert::expr_mentions(&s.expr, *v)),
    }
}

fn rename_atom(atom: &Atom, to: &dyn Fn(VarId) -> VarId) -> Atom {
    match atom {
        Atom::Var(v) => Atom::Var(to(*v)),
        Atom::Div(p, d) => Atom::Div(Arc::new(p.rename(to)), *d),
        Atom::Rem(p, d) => Atom::Rem(Arc::new(p.rename(to)), *d),
        Atom::Symbol(s) => Atom::Symbol(Symbol::new(convert::rename_expr(&s.expr, to))),
    }
}

#[cfg(test)]
mod tests;
