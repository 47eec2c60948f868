//! From a bound of a sum to bounds of the elements that stand in it.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, ExprKind, VarId};

use super::{Finder, read_of};

impl<'a> Finder<'a> {
    /// Notes `p <= limit`, `limit` a polynomial of parameters.
    pub(super) fn below(&mut self, p: &Poly, limit: &Poly, depth: usize) {
        self.bounded(p, limit, true, depth);
    }

    /// Notes `p >= limit`.
    pub(super) fn above(&mut self, p: &Poly, limit: &Poly, depth: usize) {
        self.bounded(p, limit, false, depth);
    }

    pub(super) fn bounded(&mut self, p: &Poly, limit: &Poly, most: bool, depth: usize) {
        if depth == 0 {
            return;
        }
        let Some(p) = self.at_end(p, most) else { return };
        for atom in p.atoms().into_iter().cloned().collect::<Vec<_>>() {
            let Some((c, rest)) = p.split(&atom) else { continue };
            let Some(positive) = sign(&c) else { continue };
            let magnitude = if positive { Some(c) } else { c.scale(-1) };
            let room = limit.sub(&rest).and_then(|r| if positive { Some(r) } else { r.scale(-1) });
            let (Some(magnitude), Some(room)) = (magnitude, room) else { continue };
            if !self.is_known(&room) {
                continue;
            }
            let Some(limit) = quotient(&room, &magnitude) else { continue };
            self.atom(&atom, &limit, most == positive, depth - 1);
        }
    }

    /// Notes a bound of one value.
    fn atom(&mut self, atom: &Atom, limit: &Poly, most: bool, depth: usize) {
        match atom {
            Atom::Var(v) => {
                let own = self.definitions.get(v).cloned().unwrap_or_default();
                for d in own {
                    if let Some(d) = Poly::from_expr(d).filter(|d| !d.mentions(*v)) {
                        self.bounded(&d, limit, most, depth);
                    }
                }
            }
            Atom::Rem(p, _) => self.above(&p.clone(), &Poly::zero(), depth),
            Atom::Div(p, d) => {
                let scaled = limit.scale(i128::from(*d));
                let limit = match most {
                    true => scaled.and_then(|l| l.add(&Poly::constant(i128::from(*d) - 1))),
                    false => scaled,
                };
                if let Some(limit) = limit {
                    self.bounded(&p.clone(), &limit, most, depth);
                }
            }
            Atom::Symbol(s) => {
                if let Some((array, _)) = read_of(atom).filter(|(slot, _)| self.is_array(slot)) {
                    if self.guarded.contains(&array) {
                        return;
                    }
                    let values = self.found.entry(array).or_default();
                    let list = if most { &mut values.at_most } else { &mut values.at_least };
                    if !list.contains(limit) {
                        list.push(limit.clone());
                    }
                    return;
                }
                match &*s.expr().kind {
                    ExprKind::Binary(BinaryOp::Rem, a, _) => {
                        if let Some(p) = self.poly(a) {
                            self.above(&p, &Poly::zero(), depth);
                        }
                    }
                    ExprKind::Select(_, a, b) => {
                        for p in [self.poly(a), self.poly(b)].into_iter().flatten() {
                            self.bounded(&p, limit, most, depth);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The greatest or least value over the loops around.
    fn at_end(&self, p: &Poly, most: bool) -> Option<Poly> {
        let mut p = p.clone();
        for range in self.ranges.iter().rev() {
            if !p.mentions(range.var) {
                continue;
            }
            let Some((c, rest)) = split(&p, range.var) else { continue };
            let Some(rising) = sign(&c) else { continue };
            let end = if rising == most { &range.most } else { &range.least };
            let Some(end) = end else { continue };
            p = c.mul(end)?.add(&rest)?;
        }
        Some(p)
    }

    /// Whether a bound can be computed before the function runs.
    pub(super) fn is_known(&self, p: &Poly) -> bool {
        p.atoms().into_iter().all(|a| self.is_known_atom(a))
    }

    fn is_known_atom(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(v) => self.function.params.contains(v) && !self.definitions.contains_key(v),
            Atom::Div(p, _) | Atom::Rem(p, _) => self.is_known(p),
            Atom::Symbol(s) => matches!(&*s.expr().kind, ExprKind::Named(_)),
        }
    }
}

/// The factor of a counter in a sum, and the rest, in which symbols may mention it: what is read there is not this value.
fn split(p: &Poly, var: VarId) -> Option<(Poly, Poly)> {
    let (mut factor, mut rest) = (Poly::zero(), Poly::zero());
    for (atoms, c) in p.terms() {
        let own = atoms.iter().filter(|a| **a == Atom::Var(var)).count();
        let hidden = |a: &Atom| match a {
            Atom::Div(inner, _) | Atom::Rem(inner, _) => inner.mentions(var),
            Atom::Var(_) | Atom::Symbol(_) => false,
        };
        if own > 1 || atoms.iter().any(hidden) {
            return None;
        }
        let others = atoms.iter().filter(|a| **a != Atom::Var(var)).cloned();
        let term = others.into_iter().try_fold(Poly::constant(c), |t, a| t.mul(&Poly::atom(a)))?;
        let into = if own == 1 { &mut factor } else { &mut rest };
        *into = into.add(&term)?;
    }
    (factor != Poly::zero()).then_some((factor, rest))
}

/// Whether all terms are positive, or all negative, given that sizes are positive.
fn sign(p: &Poly) -> Option<bool> {
    let mut signs = p.terms().map(|(_, c)| c > 0);
    let first = signs.next()?;
    signs.all(|s| s == first).then_some(first)
}

/// `p / by` rounded down, for a divisor of one positive term; `None` where that is no polynomial.
fn quotient(p: &Poly, by: &Poly) -> Option<Poly> {
    if let Some(c) = by.as_constant() {
        return if c == 1 { Some(p.clone()) } else { p.div(i64::try_from(c).ok()?) };
    }
    let mut terms = by.terms();
    let (Some((atoms, c)), None) = (terms.next(), terms.next()) else { return None };
    let mut sum = Poly::zero();
    for (factors, k) in p.terms() {
        let mut left: Vec<Atom> = factors.to_vec();
        for atom in atoms {
            let at = left.iter().position(|a| a == atom)?;
            left.remove(at);
        }
        if k % c != 0 {
            return None;
        }
        let term =
            left.into_iter().try_fold(Poly::constant(k / c), |t, a| t.mul(&Poly::atom(a)))?;
        sum = sum.add(&term)?;
    }
    Some(sum)
}
