//! Powers of two by shifts: `1 << s`, which masks, shifts and exclusive ors are taken by.
//!
//! A power with an exponent that is known to be below that of a size `n = 1 << l` divides it: `n = 2 p q` with
//! `p = 1 << s` and `q = 1 << (l - 1 - s)`. That is what keeps the legs of a butterfly inside of `n` elements.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, PlaceKind, VarId};

use super::walk::{State, Walk};

/// A product of two powers that is a size, but for a factor.
#[derive(Clone, Debug)]
pub struct Split {
    /// The size.
    size: VarId,
    factor: i128,
    powers: [VarId; 2],
}

impl Split {
    fn product(&self) -> Option<Poly> {
        Poly::var(self.powers[0]).mul(&Poly::var(self.powers[1]))?.scale(self.factor)
    }

    /// The polynomial with the powers in place of the size.
    pub fn apart(&self, p: &Poly) -> Option<Poly> {
        p.substitute(self.size, &self.product()?)
    }

    /// The polynomial with the size in place of the powers.
    pub fn joined(&self, p: &Poly) -> Option<Poly> {
        let [a, b] = self.powers.map(Atom::Var);
        let (with_b, rest) = p.split(&b)?;
        let (with_both, other) = with_b.split(&a)?;
        let (whole, left) = with_both.div_rem(&Poly::constant(self.factor))?;
        if !other.is_zero() || !left.is_zero() || whole.is_zero() {
            return None;
        }
        whole.mul(&Poly::var(self.size))?.add(&rest)
    }
}

impl<'m> Walk<'m> {
    /// `2^k`: a symbol for each exponent but for constants that are added to it.
    pub fn power(&mut self, k: &Poly, st: &mut State) -> Option<Poly> {
        let constant = k.constant_term();
        let without = k.sub(&Poly::constant(constant))?;
        // The power of what is left is a whole number.
        let whole = without.is_zero() || st.known.facts.provably_nonnegative(&without);
        let (rest, added) = if whole { (without, constant) } else { (k.clone(), 0) };
        let factor = 1i128.checked_shl(u32::try_from(added).ok()?).filter(|_| added <= 62)?;
        if rest.is_zero() {
            return Some(Poly::constant(factor));
        }
        let known = self.learned.powers.iter().find(|(e, _)| *e == rest).map(|(_, p)| *p);
        let power = known.unwrap_or_else(|| {
            let power = self.fresh(None);
            self.learned.powers.push((rest.clone(), power));
            power
        });
        if !st.known.facts.provably_le(&Poly::constant(1), &Poly::var(power)) {
            st.known.bound(power, Some(Poly::constant(1)), None);
            self.split_sizes(&rest, power, st);
        }
        Poly::var(power).scale(factor)
    }

    /// The sizes that a power divides.
    fn split_sizes(&mut self, exponent: &Poly, power: VarId, st: &mut State) {
        for (size, of) in self.size_powers() {
            let below = of.sub(exponent).and_then(|d| d.sub(&Poly::constant(1)));
            if !below.is_some_and(|d| st.known.facts.provably_nonnegative(&d)) {
                continue;
            }
            let other = self.fresh(None);
            st.known.bound(other, Some(Poly::constant(1)), None);
            st.known.splits.push(Split { size, factor: 2, powers: [power, other] });
        }
    }

    /// Sizes that are powers of two, with the exponents.
    fn size_powers(&self) -> Vec<(VarId, Poly)> {
        let exponent = |e: &Expr| match &*stripped(e).kind {
            ExprKind::Binary(BinaryOp::Shl, one, k) if is_one(one) => match &*stripped(k).kind {
                ExprKind::Read(p) => match &*p.kind {
                    PlaceKind::Var(v) if self.own_param(*v) => Some(Poly::var(*v)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let sizes = self.own_params().filter_map(|v| Some((v, exponent(self.size(v)?)?)));
        sizes.collect()
    }

    /// `a ^ b` and `a | b`: below a power of two that both are below.
    pub fn of_bits(&mut self, a: &Poly, b: &Poly, st: &mut State) -> Option<Poly> {
        let facts = &st.known.facts;
        if !facts.provably_nonnegative(a) || !facts.provably_nonnegative(b) {
            return None;
        }
        let limits = self.size_powers().into_iter().map(|(size, _)| Poly::var(size));
        let limits: Vec<Poly> =
            limits.filter(|p| facts.provably_lt(a, p) && facts.provably_lt(b, p)).collect();
        let var = self.fresh(None);
        st.known.bound(var, Some(Poly::zero()), None);
        for limit in limits {
            st.known.bound(var, None, limit.sub(&Poly::constant(1)));
        }
        Some(Poly::var(var))
    }

    /// `p & (w - 1)` with a power `w`: a remainder.
    pub fn masked_by_power(&mut self, p: &Poly, mask: &Poly, st: &mut State) -> Option<Poly> {
        let limit = mask.add(&Poly::constant(1))?;
        let is_power = self.learned.powers.iter().any(|(_, power)| Poly::var(*power) == limit);
        let (_, remainder) = is_power.then(|| self.divided(p.clone(), limit, st)).flatten()?;
        Some(Poly::var(remainder))
    }
}

fn stripped(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) if inner.ty.is_integer() => stripped(inner),
        _ => e,
    }
}

fn is_one(e: &Expr) -> bool {
    stripped(e).as_const().is_some_and(|v| v.ty.is_integer() && v.as_i64() == 1)
}
