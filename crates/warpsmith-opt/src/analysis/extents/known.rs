//! What is known where an access stands: bounds of symbols, and the least and greatest value of a polynomial.

use warpsmith_ir::VarId;
use warpsmith_ir::poly::{Atom, Facts, Poly};

use super::powers::Split;

/// Symbols have numbers from here on, in the order in which they came into being; smaller ones are parameters.
const FIRST_SYMBOL: u32 = 1 << 24;
/// Alternatives that are followed when a value is bounded in several ways.
const MAX_ALTERNATIVES: usize = 24;
const MAX_DEPTH: u32 = 40;

/// The `n`-th value that the analysis gave a name.
pub fn symbol(n: usize) -> VarId {
    VarId(FIRST_SYMBOL + n as u32)
}

/// Which symbol a variable of a polynomial is; `None` for a parameter.
pub fn symbol_number(var: VarId) -> Option<usize> {
    var.0.checked_sub(FIRST_SYMBOL).map(|n| n as usize)
}

/// Bounds and inequalities; for proofs, and to look for extreme values.
#[derive(Clone, Debug, Default)]
pub struct Known {
    bounds: Vec<Bound>,
    pub facts: Facts,
    /// Sizes as products of powers of two.
    pub splits: Vec<Split>,
}

#[derive(Clone, Debug)]
struct Bound {
    atom: Atom,
    lower: Option<Poly>,
    upper: Option<Poly>,
}

impl Known {
    /// States `lower <= var <= upper`.
    pub fn bound(&mut self, var: VarId, lower: Option<Poly>, upper: Option<Poly>) {
        self.bound_atom(Atom::Var(var), lower, upper);
    }

    /// As [`Known::bound`], of a quotient or remainder.
    pub fn bound_atom(&mut self, atom: Atom, lower: Option<Poly>, upper: Option<Poly>) {
        self.facts.bound(atom.clone(), lower.clone(), upper.clone());
        self.bounds.push(Bound { atom, lower, upper });
    }

    /// Upper (`up`) or lower bounds, the latest first.
    fn ends(&self, atom: &Atom, up: bool) -> Vec<Poly> {
        let own = self.bounds.iter().rev().filter(|b| b.atom == *atom);
        own.filter_map(|b| if up { b.upper.clone() } else { b.lower.clone() }).collect()
    }

    /// States `poly >= 0`. It bounds the latest symbol in it, so that bounds mention earlier ones only.
    pub fn nonnegative(&mut self, poly: Poly) {
        let latest = newest(&poly);
        if let Some(var) = latest
            && let Some((factor, rest)) = poly.split(&Atom::Var(var))
        {
            match factor.as_constant() {
                Some(1) => self.bound(var, rest.scale(-1), None),
                Some(-1) => self.bound(var, None, Some(rest)),
                _ => {}
            }
        }
        self.facts.assume_nonnegative(poly);
    }

    /// Polynomials over parameters that the value never exceeds (`up`) or falls below.
    ///
    /// # Errors
    /// The symbol for which no such bound is known.
    pub fn extremes(&self, poly: &Poly, up: bool) -> Result<Vec<Poly>, VarId> {
        let mut found = vec![];
        let mut blame = None;
        self.search(poly, up, MAX_DEPTH, &mut found, &mut blame);
        if found.is_empty() { Err(blame.unwrap_or(VarId(0))) } else { Ok(found) }
    }

    fn search(
        &self,
        poly: &Poly,
        up: bool,
        depth: u32,
        found: &mut Vec<Poly>,
        blame: &mut Option<VarId>,
    ) {
        let poly = rejoined(poly);
        let poly = self.splits.iter().find_map(|s| s.joined(&poly)).unwrap_or(poly);
        if found.len() >= MAX_ALTERNATIVES || depth == 0 {
            return;
        }
        let Some(var) = newest(&poly) else {
            if !found.contains(&poly) {
                found.push(poly);
            }
            return;
        };
        let mut next = self.without_quotient(&poly, var, up);
        if next.is_empty() {
            next = self.without_symbol(&poly, var, up);
        }
        if next.is_empty() {
            blame.get_or_insert(var);
        }
        for p in next {
            self.search(&p, up, depth - 1, found, blame);
        }
    }

    /// The polynomial with bounds in place of a quotient or remainder that mentions the symbol.
    fn without_quotient(&self, poly: &Poly, var: VarId, up: bool) -> Vec<Poly> {
        let holds = |a: &&Atom| !matches!(a, Atom::Var(_)) && a.mentions(var);
        let Some(atom) = poly.atoms().into_iter().find(holds).cloned() else { return vec![] };
        let Some((factor, rest)) = poly.split(&atom) else { return vec![] };
        let rising = match self.sign(&factor) {
            Some(positive) => positive == up,
            None => return vec![],
        };
        let values = match &atom {
            Atom::Div(p, d) => {
                let inside = self.extremes(p, rising).unwrap_or_default();
                let whole = inside.iter().filter_map(|p| p.div(*d));
                whole.chain(self.ends(&atom, rising)).collect()
            }
            Atom::Rem(p, d) => {
                let most = i128::from(*d) - 1;
                let least = if self.facts.provably_nonnegative(p) { 0 } else { -most };
                vec![Poly::constant(if rising { most } else { least })]
            }
            _ => vec![],
        };
        values.iter().filter_map(|v| factor.mul(v)?.add(&rest)).collect()
    }

    fn without_symbol(&self, poly: &Poly, var: VarId, up: bool) -> Vec<Poly> {
        let all = |rising: bool| self.ends(&Atom::Var(var), rising);
        let Some((factor, rest)) = poly.split(&Atom::Var(var)) else {
            return self.without_power(poly, var, up);
        };
        if let Some(positive) = self.sign(&factor) {
            let at = all(positive == up);
            return at.iter().filter_map(|v| factor.mul(v)?.add(&rest)).collect();
        }
        // What raises and what lowers the value, each at its own end.
        let mut found = vec![];
        let Some((plus, minus)) = factor.by_sign() else { return found };
        if self.sign(&plus) == Some(true) && self.sign(&minus) == Some(false) {
            for high in all(up) {
                for low in all(!up) {
                    let sum = plus.mul(&high).and_then(|p| minus.mul(&low)?.add(&p)?.add(&rest));
                    found.extend(sum);
                }
            }
        }
        found
    }

    /// A symbol that occurs as a square: where it is not negative, each term is greatest or least at one end.
    fn without_power(&self, poly: &Poly, var: VarId, up: bool) -> Vec<Poly> {
        let value = Poly::var(var);
        if !self.facts.provably_nonnegative(&value) {
            return vec![];
        }
        let end = |rising: bool| self.ends(&Atom::Var(var), rising).into_iter().next();
        let Some((plus, minus)) = poly.by_sign() else { return vec![] };
        let others_rise = poly.atoms().into_iter().all(|a| {
            *a == Atom::Var(var) || self.facts.provably_nonnegative(&Poly::atom(a.clone()))
        });
        let at = |p: &Poly, rising: bool| {
            if p.mentions(var) { p.substitute(var, &end(rising)?) } else { Some(p.clone()) }
        };
        match (others_rise, at(&plus, up), at(&minus, !up)) {
            (true, Some(a), Some(b)) => a.add(&b).into_iter().collect(),
            _ => vec![],
        }
    }

    /// Whether a value is at least zero (`Some(true)`) or at most (`Some(false)`), where that is proved.
    fn sign(&self, poly: &Poly) -> Option<bool> {
        if self.facts.provably_nonnegative(poly) {
            return Some(true);
        }
        let negated = poly.scale(-1)?;
        self.facts.provably_nonnegative(&negated).then_some(false)
    }
}

/// The latest symbol, inside quotients too.
pub fn newest(poly: &Poly) -> Option<VarId> {
    let of_atom = |a: &Atom| match a {
        Atom::Var(v) => symbol_number(*v).map(|_| *v),
        Atom::Div(p, _) | Atom::Rem(p, _) => newest(p),
        Atom::Symbol(_) => None,
    };
    poly.atoms().into_iter().filter_map(of_atom).max()
}

/// The polynomial with `d * (p / d) + p % d` written as `p`.
fn rejoined(poly: &Poly) -> Poly {
    let remainders: Vec<Atom> =
        poly.atoms().into_iter().filter(|a| matches!(a, Atom::Rem(..))).cloned().collect();
    let mut result = poly.clone();
    for remainder in remainders {
        let Atom::Rem(p, d) = &remainder else { continue };
        let joined = || {
            let (factor, rest) = result.split(&remainder)?;
            let (quotients, rest) = rest.split(&Atom::Div(p.clone(), *d))?;
            let same = quotients == factor.scale((*d).into())? && !factor.is_zero();
            if same { factor.mul(p)?.add(&rest) } else { None }
        };
        if let Some(p) = joined() {
            result = p;
        }
    }
    result
}
