//! Division of polynomials by each other.

use super::{Atom, Monomial, Poly};

/// A division that needs more steps than this is given up.
const MAX_STEPS: usize = 256;

impl Poly {
    /// `(q, r)` with `self = q * divisor + r`, as much as possible in `q`: no term of `r` is a multiple of the leading
    /// term of the divisor (the one with most factors), and a constant beside a constant divisor lies in `0 .. divisor`.
    /// `None` for a divisor of zero and on overflow.
    pub fn div_rem(&self, divisor: &Poly) -> Option<(Poly, Poly)> {
        let (lead, by) = divisor.terms.iter().max_by_key(|(m, _)| (m.len(), (*m).clone()))?;
        let (mut quotient, mut rest) = (Poly::zero(), self.clone());
        for _ in 0..MAX_STEPS {
            let step = rest.terms.iter().find_map(|(m, c)| {
                let factor = without(m, lead)?;
                // Constants have a quotient whatever they are; of a symbol there is only a whole number of rows.
                let whole = if m.is_empty() { c.div_euclid(*by) } else { c / by };
                let exact = m.is_empty() || c % by == 0;
                (exact && whole != 0).then(|| Poly { terms: [(factor, whole)].into() })
            });
            let Some(step) = step else { return Some((quotient, rest)) };
            rest = rest.sub(&step.mul(divisor)?)?;
            quotient = quotient.add(&step)?;
        }
        None
    }

    /// The polynomial without its constant term.
    pub fn without_constant(&self) -> Poly {
        let mut terms = self.terms.clone();
        terms.remove(&vec![] as &Monomial);
        Poly { terms }
    }
}

/// The factors that are left of a product without those of another; `None` where it does not have them all.
fn without(product: &[Atom], factors: &[Atom]) -> Option<Monomial> {
    let mut left = product.to_vec();
    for factor in factors {
        let at = left.iter().position(|a| a == factor)?;
        left.remove(at);
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::VarId;

    fn v(n: u32) -> Poly {
        Poly::var(VarId(n))
    }

    fn c(n: i128) -> Poly {
        Poly::constant(n)
    }

    #[test]
    fn a_flat_subscript_is_row_and_column() {
        let (i, j, m) = (v(0), v(1), v(2));
        let flat = i.sub(&c(1)).unwrap().mul(&m).unwrap().add(&j).unwrap().add(&c(1)).unwrap();
        let (row, column) = flat.div_rem(&m).unwrap();
        assert_eq!((row, column), (i.sub(&c(1)).unwrap(), j.add(&c(1)).unwrap()));
    }

    #[test]
    fn rows_may_be_sums_long() {
        let (y, x, w, r) = (v(0), v(1), v(2), v(3));
        let pitch = w.add(&r.scale(2).unwrap()).unwrap();
        let flat = y.mul(&pitch).unwrap().add(&x).unwrap();
        assert_eq!(flat.div_rem(&pitch), Some((y, x)));
    }

    #[test]
    fn parts_of_a_row_stay_in_the_column() {
        let (i, m) = (v(0), v(1));
        let three = m.scale(3).unwrap();
        let flat = i.mul(&three).unwrap().add(&m).unwrap();
        assert_eq!(flat.div_rem(&three), Some((i, m)));
        assert_eq!(c(-5).div_rem(&c(4)), Some((c(-2), c(3))));
        assert_eq!(c(5).div_rem(&Poly::zero()), None);
    }
}
