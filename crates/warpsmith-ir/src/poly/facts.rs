//! What is known about symbols, and inequalities proved from it.

use std::cell::Cell;

use super::{Atom, Poly};

/// Bounds of symbols, themselves polynomials, and polynomials known not to be negative.
///
/// Add facts from the outside in: the bounds of an inner loop counter may mention outer ones. Proofs
/// eliminate the latest symbol first.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    bounds: Vec<Bound>,
    nonnegative: Vec<Poly>,
    /// Steps left of the proof under way; a search that takes longer is given up.
    fuel: Cell<u32>,
}

#[derive(Clone, Debug)]
struct Bound {
    atom: Atom,
    lower: Option<Poly>,
    upper: Option<Poly>,
}

/// How many symbols a proof may eliminate one after the other.
const MAX_DEPTH: u32 = 12;
/// How many polynomials a proof may look at.
const MAX_STEPS: u32 = 2000;

impl Facts {
    /// Nothing is known.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// States `lower <= atom <= upper`; both bounds are inclusive. Several statements about one atom all hold.
    pub fn bound(&mut self, atom: Atom, lower: Option<Poly>, upper: Option<Poly>) {
        if let (Some(l), Some(u)) = (&lower, &upper) {
            // A value exists, so the interval is not empty.
            self.nonnegative.extend(u.sub(l));
        }
        self.bounds.push(Bound { atom, lower, upper });
    }

    /// States `poly >= 0`.
    pub fn assume_nonnegative(&mut self, poly: Poly) {
        self.nonnegative.push(poly);
    }

    /// Whether `a <= b` follows; `false` means that it was not proved.
    pub fn provably_le(&self, a: &Poly, b: &Poly) -> bool {
        b.sub(a).is_some_and(|d| self.provably_nonnegative(&d))
    }

    /// Whether `a < b` follows.
    pub fn provably_lt(&self, a: &Poly, b: &Poly) -> bool {
        a.add(&Poly::constant(1)).is_some_and(|a| self.provably_le(&a, b))
    }

    /// Whether the polynomial differs from zero wherever the facts hold.
    pub fn provably_nonzero(&self, poly: &Poly) -> bool {
        let zero = Poly::zero();
        self.provably_lt(&zero, poly) || self.provably_lt(poly, &zero)
    }

    /// Whether `poly >= 0` follows.
    pub fn provably_nonnegative(&self, poly: &Poly) -> bool {
        self.fuel.set(MAX_STEPS);
        self.prove(poly, MAX_DEPTH)
    }

    fn prove(&self, poly: &Poly, depth: u32) -> bool {
        if let Some(c) = poly.as_constant() {
            return c >= 0;
        }
        let Some(left) = self.fuel.get().checked_sub(1) else { return false };
        self.fuel.set(left);
        if self.termwise(poly, depth) || self.by_known(poly, depth) {
            return true;
        }
        depth > 0 && self.bounds.iter().rev().any(|bound| self.eliminate(poly, bound, depth - 1))
    }

    /// Every term is a product of factors that are not negative.
    fn termwise(&self, poly: &Poly, depth: u32) -> bool {
        depth > 0
            && poly.terms().all(|(atoms, c)| {
                c >= 0 && atoms.iter().all(|a| self.atom_nonnegative(a, depth - 1))
            })
    }

    fn atom_nonnegative(&self, atom: &Atom, depth: u32) -> bool {
        if let Atom::Div(p, _) | Atom::Rem(p, _) = atom {
            return self.prove(p, depth);
        }
        let by_bound = self
            .bounds
            .iter()
            .filter(|b| b.atom == *atom)
            .filter_map(|b| b.lower.as_ref())
            .any(|lower| depth > 0 && self.prove(lower, depth.min(4) - 1));
        by_bound || self.by_known(&Poly::atom(atom.clone()), 0)
    }

    /// `poly` is a known polynomial plus something that is not negative.
    fn by_known(&self, poly: &Poly, depth: u32) -> bool {
        self.nonnegative.iter().any(|known| {
            let Some(rest) = poly.sub(known) else { return false };
            match rest.as_constant() {
                Some(c) => c >= 0,
                // Only differences that got simpler are worth following.
                None => {
                    depth > 0
                        && rest.terms().count() < poly.terms().count()
                        && self.prove(&rest, depth.min(3) - 1)
                }
            }
        })
    }

    /// Replaces one symbol by the bound at which the polynomial is least.
    fn eliminate(&self, poly: &Poly, bound: &Bound, depth: u32) -> bool {
        let Some((coefficient, rest)) = poly.split(&bound.atom) else { return false };
        if coefficient.is_zero() {
            return false;
        }
        let at = |value: &Option<Poly>| {
            let least = value.as_ref().and_then(|v| coefficient.mul(v)?.add(&rest));
            least.is_some_and(|p| self.prove(&p, depth))
        };
        let sign_depth = depth.min(3);
        (bound.lower.is_some() && self.prove(&coefficient, sign_depth) && at(&bound.lower))
            || (bound.upper.is_some()
                && coefficient.scale(-1).is_some_and(|c| self.prove(&c, sign_depth))
                && at(&bound.upper))
    }

    /// The polynomial with quotients and remainders resolved where the facts allow: for a dividend
    /// `c * x + r` that is not negative with `0 <= r < c`, the quotient by `c` is `x` and the remainder `r`.
    pub fn simplify(&self, poly: &Poly) -> Poly {
        self.try_simplify(poly).unwrap_or_else(|| poly.clone())
    }

    fn try_simplify(&self, poly: &Poly) -> Option<Poly> {
        let mut result = Poly::zero();
        for (atoms, coefficient) in poly.terms() {
            let mut product = Poly::constant(coefficient);
            for atom in atoms {
                product = product.mul(&self.simplify_atom(atom)?)?;
            }
            result = result.add(&product)?;
        }
        Some(result)
    }

    fn simplify_atom(&self, atom: &Atom) -> Option<Poly> {
        let (dividend, divisor, quotient) = match atom {
            Atom::Div(p, d) => (self.simplify(p), *d, true),
            Atom::Rem(p, d) => (self.simplify(p), *d, false),
            _ => return Some(Poly::atom(atom.clone())),
        };
        let d = i128::from(divisor);
        let (mut whole, mut rest) = (Poly::zero(), Poly::zero());
        for (atoms, c) in dividend.terms() {
            let monomial = Poly::product(atoms, 1)?;
            whole = whole.add(&monomial.scale(c.div_euclid(d))?)?;
            rest = rest.add(&monomial.scale(c.rem_euclid(d))?)?;
        }
        let small = self.provably_nonnegative(&rest)
            && self.provably_lt(&rest, &Poly::constant(d))
            && self.provably_nonnegative(&dividend);
        match (small, quotient) {
            (true, true) => Some(whole),
            (true, false) => Some(rest),
            (false, true) => dividend.div(divisor),
            (false, false) => dividend.rem(divisor),
        }
    }
}
