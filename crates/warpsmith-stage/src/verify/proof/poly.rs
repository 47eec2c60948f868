//! Whole numbers as polynomials in what all threads share: sizes have powers, positions of threads are in the coefficients.
//!
//! `i + nx * j` is `i` and, at `nx`, `j`. Two addresses are equal when their coefficients are, which is linear.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::formula::{Renamed, Sum, Truth, product};

/// Coefficients by the product of sizes that they belong to, the sizes in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poly {
    terms: BTreeMap<Vec<Rc<str>>, Sum>,
}

impl Poly {
    pub fn of(sum: Sum) -> Poly {
        let mut poly = Poly::default();
        poly.add(vec![], &sum, 1);
        poly
    }

    pub fn number(n: i64) -> Poly {
        Poly::of(Sum::number(n))
    }

    /// A size that all threads share.
    pub fn size(name: &str) -> Poly {
        let mut poly = Poly::default();
        poly.add(vec![name.into()], &Sum::number(1), 1);
        poly
    }

    fn add(&mut self, key: Vec<Rc<str>>, sum: &Sum, times: i64) {
        let known = self.terms.entry(key).or_default();
        *known = known.plus(sum, times);
        self.terms.retain(|_, s| *s != Sum::default());
    }

    pub fn plus(&self, other: &Poly, times: i64) -> Poly {
        let mut poly = self.clone();
        for (key, sum) in &other.terms {
            poly.add(key.clone(), sum, times);
        }
        poly
    }

    pub fn times(&self, other: &Poly) -> Poly {
        let mut poly = Poly::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut key: Vec<Rc<str>> = a.iter().chain(b).cloned().collect();
                key.sort();
                poly.add(key, &product(x, y), 1);
            }
        }
        poly
    }

    pub fn constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&vec![]).and_then(Sum::constant),
            _ => None,
        }
    }

    /// As one sum, with products of sizes as atoms.
    pub fn sum(&self) -> Sum {
        let mut all = Sum::default();
        for (key, sum) in &self.terms {
            let sizes = key.iter().fold(Sum::number(1), |p, name| product(&p, &Sum::name(name)));
            all = all.plus(&product(&sizes, sum), 1);
        }
        all
    }

    pub fn choose(condition: &Truth, yes: &Poly, no: &Poly) -> Poly {
        if yes.is_linear() && no.is_linear() {
            return match yes == no {
                true => yes.clone(),
                false => Poly::of(Sum::choose(condition, &yes.sum(), &no.sum())),
            };
        }
        let mut poly = Poly::default();
        let none = Sum::default();
        for key in yes.terms.keys().chain(no.terms.keys()) {
            if !poly.terms.contains_key(key) {
                let (a, b) = (yes.terms.get(key), no.terms.get(key));
                let sum = Sum::choose(condition, a.unwrap_or(&none), b.unwrap_or(&none));
                poly.add(key.clone(), &sum, 1);
            }
        }
        poly
    }

    /// A number of times each size, and what has no size.
    fn is_linear(&self) -> bool {
        self.terms.iter().all(|(k, s)| is_linear(k, s))
    }

    /// What is enough for two to be equal: equal coefficients, where sizes do not come in by themselves.
    pub fn equal(&self, other: &Poly) -> Truth {
        let difference = self.plus(other, -1);
        let zero = Sum::default();
        let mut linear = Poly::default();
        let mut parts = vec![];
        for (key, sum) in &difference.terms {
            match is_linear(key, sum) {
                true => linear.add(key.clone(), sum, 1),
                false => parts.push(Truth::equal(sum, &zero)),
            }
        }
        parts.push(Truth::equal(&linear.sum(), &zero));
        Truth::all(parts)
    }

    /// What belongs to the one product of sizes whose coefficient has a name, here and in another polynomial.
    pub fn coefficients(&self, name: &str, other: &Poly) -> Option<[Sum; 2]> {
        let has = |sum: &Sum| {
            let mut has = false;
            sum.names(&mut |n| has |= n == name);
            has
        };
        let mut keys = self.terms.iter().filter(|(_, sum)| has(sum));
        let (key, own) = keys.next()?;
        if keys.next().is_some() {
            return None;
        }
        Some([own.clone(), other.terms.get(key).cloned().unwrap_or_default()])
    }

    /// Calls `see` with every name.
    pub fn names(&self, see: &mut dyn FnMut(&str)) {
        for (key, sum) in &self.terms {
            key.iter().for_each(|size| see(size));
            sum.names(see);
        }
    }

    pub fn renamed(&self, by: Renamed<'_>) -> Poly {
        let mut poly = Poly::default();
        for (key, sum) in &self.terms {
            poly.add(key.clone(), &sum.renamed(by), 1);
        }
        poly
    }
}

fn is_linear(key: &[Rc<str>], sum: &Sum) -> bool {
    key.is_empty() || key.len() == 1 && sum.constant().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_equal_by_coefficient() {
        let (i, j, nx) = (Poly::of(Sum::name("i")), Poly::of(Sum::name("j")), Poly::size("nx"));
        let at = |i: &Poly, j: &Poly| i.plus(&nx.times(j), 1);
        let east = at(&i.plus(&Poly::number(1), 1), &j);
        let north = at(&i, &j.plus(&Poly::number(1), -1));
        assert_eq!(east.equal(&at(&i, &j).plus(&Poly::number(1), 1)), Truth::Always);
        assert_eq!(north.equal(&at(&i, &j).plus(&nx, -1)), Truth::Always);
        assert_eq!(north.equal(&east).text(), "(= (+ (* (- 1) nx) (- 1)) 0)");
        let c = Truth::equal(&i.sum(), &Sum::default());
        let clamped = Poly::choose(&c, &at(&i, &j), &at(&i.plus(&Poly::number(1), -1), &j));
        assert_eq!(
            clamped.times(&Poly::number(1)).plus(&nx.times(&j), -1).sum().text(),
            "(ite (= i 0) i (+ i (- 1)))"
        );
    }
}
