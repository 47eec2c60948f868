//! `&`, `|` and `^`: a mask keeps runs of bits, each a quotient and a remainder.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, Expr, Scalar};

use super::{Instance, Role, Terms, minus, number, plus, product};
use crate::analysis::conflict::formula::{Branch, Fact};

impl Terms<'_, '_> {
    pub(super) fn bits(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        (a, b): (&Expr, &Expr),
        ty: Scalar,
        at: &Instance,
    ) -> Poly {
        let (x, y) = (self.value(a, at), self.value(b, at));
        let (x, y) = if x.as_constant().is_some() { (y, x) } else { (x, y) };
        let x = self.seen(x, ty);
        let common = match y.as_constant() {
            Some(mask) => self.masked(&x, mask, ty),
            None if op == BinaryOp::BitAnd => {
                let mask_of = |y: &Poly| Some(plus(y, &number(1))).filter(|p| self.is_power(p));
                match (mask_of(&y), mask_of(&x)) {
                    (Some(p), _) => Some(self.divided(&x, &p, true).1),
                    (_, Some(p)) => Some(self.divided(&y, &p, true).1),
                    _ => None,
                }
            }
            None => None,
        };
        match (op, common) {
            (BinaryOp::BitAnd, Some(c)) => c,
            (BinaryOp::BitOr, Some(c)) => minus(&plus(&x, &y), &c),
            (BinaryOp::BitXor, Some(c)) => {
                let value = minus(&plus(&x, &y), &plus(&c, &c));
                self.note_xor(x, y, value)
            }
            (BinaryOp::BitXor, None) => {
                let zero = Poly::zero();
                let positive = [&x, &y].iter().all(|p| self.proved(&Fact::at_least(p, &zero)));
                let low = positive.then_some(0);
                // Two of them may differ in more than the solver knows: a point that it finds may be none.
                let value = self.derived(Role::Opaque, low, None, &[&x, &y]);
                self.note_xor(x, y, value)
            }
            _ => self.opaque(expr, at),
        }
    }

    /// `x & mask`, run by run of the mask's bits.
    fn masked(&mut self, x: &Poly, mask: i128, ty: Scalar) -> Option<Poly> {
        if mask < 0 {
            // All but the bits that the complement keeps.
            let rest = self.masked(x, !mask, ty)?;
            return Some(minus(x, &rest));
        }
        let bits = 8 * ty.bytes();
        if !ty.is_signed() && bits < 64 && mask >> (bits - 1) != 0 {
            let all = (1i128 << bits) - 1;
            let rest = self.masked(x, all & !mask, ty)?;
            return Some(minus(x, &rest));
        }
        let (mut sum, mut bit) = (Poly::zero(), 0u32);
        while bit < 64 {
            if mask >> bit & 1 == 0 {
                bit += 1;
                continue;
            }
            let first = bit;
            while bit < 64 && mask >> bit & 1 == 1 {
                bit += 1;
            }
            let above = self.divided(x, &number(1 << first), true).0;
            let run = self.divided(&above, &number(1 << (bit - first)), true).1;
            sum = plus(&sum, &product(&run, &number(1 << first))?);
        }
        Some(sum)
    }

    /// That `value` is `a ^ b`: with the same `b` it gives `a` back, and other values for other `a`.
    fn note_xor(&mut self, a: Poly, b: Poly, value: Poly) -> Poly {
        let known = |x: &&Xor| (x.a == a && x.b == b) || (x.a == b && x.b == a);
        if let Some(known) = self.xors.iter().find(known) {
            return known.value.clone();
        }
        let mut clauses = vec![];
        let unequal =
            |x: &Poly, y: &Poly| [Branch::fact(Fact::less(x, y)), Branch::fact(Fact::less(y, x))];
        for other in &self.xors {
            let pairs = [(&other.a, &other.b, &a, &b), (&other.b, &other.a, &b, &a)];
            for (x, with, y, same) in pairs.into_iter().filter(|p| p.1 == p.3) {
                debug_assert_eq!(with, same);
                let either = [
                    (x, y, &other.value, &value),
                    (&other.value, &value, x, y),
                    (&other.value, y, x, &value),
                    (x, &value, &other.value, y),
                ];
                for (p, q, r, s) in either {
                    let mut clause = vec![Branch::fact(Fact::equal(r, s))];
                    clause.extend(unequal(p, q));
                    clauses.push(clause);
                }
            }
        }
        self.clauses.extend(clauses);
        self.xors.push(Xor { a, b, value: value.clone() });
        value
    }
}

/// `a ^ b`, with the unknown that it is.
pub struct Xor {
    a: Poly,
    b: Poly,
    value: Poly,
}
