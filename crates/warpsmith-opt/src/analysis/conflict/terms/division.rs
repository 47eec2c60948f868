//! Quotients and remainders as unknowns, by cases where signs are not known.

use warpsmith_ir::poly::{Atom, Poly};

use super::{Role, Terms, minus, number, plus, product};
use crate::analysis::conflict::formula::{Branch, Fact};

impl Terms<'_, '_> {
    /// Quotient and remainder, rounded toward zero as `/` and `%` do, or down (`floor`).
    pub fn divided(&mut self, x: &Poly, y: &Poly, floor: bool) -> (Poly, Poly) {
        if let (Some(a), Some(b)) = (x.as_constant(), y.as_constant())
            && b != 0
        {
            let q = if floor { a.div_euclid(b) } else { a / b };
            return (number(q), number(a - q * b));
        }
        if *y == number(1) {
            return (x.clone(), Poly::zero());
        }
        let floor = floor || self.proved(&Fact::at_least(x, &Poly::zero()));
        let key = (x.clone(), y.clone(), floor);
        if let Some(known) = self.quotients.get(&key) {
            return known.clone();
        }
        let shared = self.is_shared(x) && self.is_shared(y);
        let role = if shared { Role::Size } else { Role::Counter };
        let q = self.derived(role, None, None, &[x, y]);
        let r = self.derived(role, None, None, &[x, y]);
        let Some(whole) = product(&q, y).map(|p| plus(&p, &r)) else { return (q, r) };
        let zero = Poly::zero();
        let identity = Fact::equal(x, &whole);
        let positive = self.proved(&Fact::less(&zero, y));
        let range = self.range_of_quotient(&q, x, y);
        if positive && floor {
            self.facts.extend([identity, Fact::at_least(&r, &zero), Fact::less(&r, y)]);
            self.set_low(&r, 0);
            self.below(&r, y.clone());
            if self.proved(&Fact::at_least(x, &zero)) {
                self.set_low(&q, 0);
                self.facts.extend(range.facts);
                self.clauses.extend(range.clauses);
            }
        } else {
            self.note_divisor(y, positive);
            let cases = by_signs((x, y), (&q, &r), &identity, range, positive);
            self.clauses.push(cases);
        }
        self.quotients.insert(key, (q.clone(), r.clone()));
        (q, r)
    }

    /// Notes a divisor that may be negative, where it is a variable that all iterations share.
    fn note_divisor(&mut self, y: &Poly, positive: bool) {
        let shared = self.shared.iter().find(|(_, value)| *value == y).map(|(v, _)| *v);
        let open = shared.filter(|_| !positive && !self.proved(&Fact::less(y, &Poly::zero())));
        self.open_divisors.extend(open.filter(|v| !self.open_divisors.contains(v)));
    }

    /// The differences of quotients by one divisor.
    pub fn quotient_differences(&self) -> Vec<Poly> {
        let mut differences = vec![];
        let all: Vec<(&Poly, &Poly)> =
            self.quotients.iter().map(|((_, y, _), (q, _))| (y, q)).collect();
        for (k, (y, q)) in all.iter().enumerate() {
            let others = all[k + 1..].iter().filter(|(other, _)| other == y);
            differences.extend(others.map(|(_, p)| minus(q, p)));
        }
        differences
    }

    /// Bounds of `q = x / y` for `x >= 0` and `y > 0`, where `x` is less than a multiple of `y`.
    fn range_of_quotient(&mut self, q: &Poly, x: &Poly, y: &Poly) -> Branch {
        let mut range = Branch::fact(Fact::at_least(q, &Poly::zero()));
        let limit = match x.as_atom() {
            Some(Atom::Var(v)) => self.unknown(*v).below.clone(),
            _ => None,
        };
        let Some((limit, divisors)) = limit else { return range };
        let Some(quotient) = exact_quotient(&limit, y) else { return range };
        let mut alternatives = vec![Branch::fact(Fact::less(q, &quotient))];
        for d in &divisors {
            alternatives.push(Branch::fact(Fact::at_least(&Poly::zero(), d)));
        }
        if let Some(Atom::Var(v)) = q.as_atom() {
            let divisors = divisors.into_iter().chain([y.clone()]).collect();
            self.unknowns[v.0 as usize].below = Some((quotient, divisors));
        }
        match alternatives.len() {
            1 => range.facts.extend(alternatives.remove(0).facts),
            _ => range.clauses.push(alternatives),
        }
        range
    }

    pub(super) fn set_low(&mut self, unknown: &Poly, low: i128) {
        if let Some(Atom::Var(v)) = unknown.as_atom() {
            self.unknowns[v.0 as usize].low = Some(low);
        }
    }
}

/// `a / b` where that leaves nothing over.
fn exact_quotient(a: &Poly, b: &Poly) -> Option<Poly> {
    a.div_rem(b).filter(|(_, rest)| rest.is_zero()).map(|(quotient, _)| quotient)
}

/// The cases of `x = q * y + r`, rounded toward zero, by the signs of `x` and of `y`, where the latter is not known to be
/// positive.
fn by_signs(
    (x, y): (&Poly, &Poly),
    (q, r): (&Poly, &Poly),
    identity: &Fact,
    range: Branch,
    positive: bool,
) -> Vec<Branch> {
    let zero = Poly::zero();
    let negated = minus(&zero, y);
    let mut cases = vec![];
    for (divisor_positive, size) in [(true, y), (false, &negated)] {
        if positive && !divisor_positive {
            continue;
        }
        let sign = Fact::less(&zero, size);
        // Toward zero, so that the quotient is zero or has the sign of the exact one.
        let sign_of = |rises: bool| match rises == divisor_positive {
            true => Fact::at_least(q, &zero),
            false => Fact::at_least(&zero, q),
        };
        let up = [
            Fact::at_least(x, &zero),
            Fact::at_least(r, &zero),
            Fact::less(r, size),
            sign_of(true),
        ];
        let down = [
            Fact::less(x, &zero),
            Fact::at_least(&zero, r),
            Fact::less(&minus(&zero, r), size),
            sign_of(false),
        ];
        for case in [up, down] {
            let facts = [vec![sign.clone(), identity.clone()], case.to_vec()].concat();
            cases.push(Branch::facts(facts));
        }
        if divisor_positive {
            let up = cases.len() - 2;
            cases[up] = std::mem::take(&mut cases[up]).and(range.clone());
        }
    }
    if !positive {
        // Division by zero has no value, but what is computed beside it has.
        cases.push(Branch::fact(Fact::equal(y, &zero)));
    }
    cases
}
