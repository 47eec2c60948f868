//! Sums and conditions over named whole numbers: what a solver for linear arithmetic understands.

use std::collections::BTreeMap;
use std::rc::Rc;

/// A sum of whole multiples of atoms, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    atoms: BTreeMap<Rc<Atom>, i64>,
    number: i64,
}

/// What a sum is made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    Name(Rc<str>),
    /// Quotient rounded down, by a positive number.
    Floor(Sum, i64),
    /// What [`Atom::Floor`] leaves: from 0 up to the number.
    Rest(Sum, i64),
    Choose(Truth, Sum, Sum),
    /// A product that is not linear.
    Product(Sum, Sum),
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    Always,
    Never,
    /// The sum is not above zero.
    NotAbove(Sum),
    /// The sum is zero.
    Zero(Sum),
    /// A condition that is not looked into.
    Name(Rc<str>),
    Not(Rc<Truth>),
    All(Vec<Truth>),
    Any(Vec<Truth>),
}

/// Other sums for some names.
pub type Renamed<'a> = &'a dyn Fn(&str) -> Option<Sum>;
/// Values of names.
pub type Values<'a> = &'a dyn Fn(&str) -> i64;

impl Sum {
    pub fn number(number: i64) -> Sum {
        Sum { atoms: BTreeMap::new(), number }
    }

    pub fn name(name: &str) -> Sum {
        Sum::atom(Atom::Name(name.into()))
    }

    pub fn atom(atom: Atom) -> Sum {
        Sum { atoms: [(Rc::new(atom), 1)].into(), number: 0 }
    }

    /// Its value, when no atom is left.
    pub fn constant(&self) -> Option<i64> {
        self.atoms.is_empty().then_some(self.number)
    }

    pub fn plus(&self, other: &Sum, times: i64) -> Sum {
        let mut sum = self.clone();
        sum.number += other.number * times;
        for (atom, n) in &other.atoms {
            let known = sum.atoms.entry(atom.clone()).or_default();
            *known += n * times;
        }
        sum.atoms.retain(|_, n| *n != 0);
        sum
    }

    pub fn times(&self, n: i64) -> Sum {
        Sum::default().plus(self, n)
    }

    pub fn less(&self, n: i64) -> Sum {
        self.plus(&Sum::number(n), -1)
    }

    /// The quotient rounded down, and the rest.
    pub fn divided(&self, by: i64) -> (Sum, Sum) {
        if by == 1 {
            return (self.clone(), Sum::default());
        }
        match self.constant() {
            Some(n) => (Sum::number(n.div_euclid(by)), Sum::number(n.rem_euclid(by))),
            None => {
                (Sum::atom(Atom::Floor(self.clone(), by)), Sum::atom(Atom::Rest(self.clone(), by)))
            }
        }
    }

    pub fn choose(condition: &Truth, yes: &Sum, no: &Sum) -> Sum {
        match condition {
            Truth::Always => yes.clone(),
            Truth::Never => no.clone(),
            _ if yes == no => yes.clone(),
            _ => Sum::atom(Atom::Choose(condition.clone(), yes.clone(), no.clone())),
        }
    }

    pub fn renamed(&self, by: Renamed<'_>) -> Sum {
        let mut sum = Sum::number(self.number);
        for (atom, n) in &self.atoms {
            sum = sum.plus(&atom.renamed(by), *n);
        }
        sum
    }

    /// Its value, where no product or division leaves the range.
    pub fn value(&self, of: Values<'_>) -> i64 {
        let atoms = self.atoms.iter().map(|(a, n)| a.value(of).wrapping_mul(*n));
        atoms.fold(self.number, i64::wrapping_add)
    }

    /// Its atoms, with how many there are of each.
    pub fn each_atom(&self, see: &mut dyn FnMut(&Atom, i64)) {
        self.atoms.iter().for_each(|(atom, n)| see(atom, *n));
    }

    pub fn names(&self, see: &mut dyn FnMut(&str)) {
        self.atoms.keys().for_each(|a| a.names(see));
    }

    /// How often a name is in it, in all sums that it is made from.
    pub fn multiples(&self, name: &str, see: &mut dyn FnMut(i64)) {
        for (atom, n) in &self.atoms {
            match &**atom {
                Atom::Name(known) if **known == *name => see(*n),
                Atom::Name(_) => {}
                // By how much it rises on the average, and by one at least.
                Atom::Floor(sum, by) => sum.multiples(name, &mut |m| {
                    see(match m.wrapping_mul(*n) / by {
                        0 => m.signum() * n.signum(),
                        rise => rise,
                    })
                }),
                Atom::Rest(sum, _) => sum.multiples(name, &mut |m| see(m.wrapping_mul(*n))),
                Atom::Choose(_, a, b) | Atom::Product(a, b) => {
                    a.multiples(name, see);
                    b.multiples(name, see);
                }
            }
        }
    }

    /// Whether it is plainly not below zero, when some names are not.
    pub fn is_natural(&self, named: &dyn Fn(&str) -> bool) -> bool {
        let atom = |a: &Atom| match a {
            Atom::Name(name) => named(name),
            Atom::Rest(..) => true,
            Atom::Floor(sum, _) => sum.is_natural(named),
            Atom::Choose(_, yes, no) => yes.is_natural(named) && no.is_natural(named),
            Atom::Product(a, b) => a.is_natural(named) && b.is_natural(named),
        };
        self.number >= 0 && self.atoms.iter().all(|(a, n)| *n > 0 && atom(a))
    }

    /// In the solver's language.
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = vec![];
        for (atom, n) in &self.atoms {
            parts.push(match n {
                1 => atom.text(),
                n => format!("(* {} {})", literal(*n), atom.text()),
            });
        }
        if self.number != 0 || parts.is_empty() {
            parts.push(literal(self.number));
        }
        match parts.as_slice() {
            [one] => one.clone(),
            _ => format!("(+ {})", parts.join(" ")),
        }
    }
}

fn literal(n: i64) -> String {
    if n < 0 { format!("(- {})", n.unsigned_abs()) } else { n.to_string() }
}

impl Atom {
    fn renamed(&self, by: Renamed<'_>) -> Sum {
        match self {
            Atom::Name(name) => by(name).unwrap_or_else(|| Sum::atom(self.clone())),
            Atom::Floor(sum, n) => sum.renamed(by).divided(*n).0,
            Atom::Rest(sum, n) => sum.renamed(by).divided(*n).1,
            Atom::Choose(c, yes, no) => {
                Sum::choose(&c.renamed(by), &yes.renamed(by), &no.renamed(by))
            }
            Atom::Product(a, b) => product(&a.renamed(by), &b.renamed(by)),
        }
    }

    fn value(&self, of: Values<'_>) -> i64 {
        match self {
            Atom::Name(name) => of(name),
            Atom::Floor(sum, n) => sum.value(of).div_euclid(*n),
            Atom::Rest(sum, n) => sum.value(of).rem_euclid(*n),
            Atom::Choose(c, yes, no) => {
                if c.holds(of) {
                    yes.value(of)
                } else {
                    no.value(of)
                }
            }
            Atom::Product(a, b) => a.value(of).wrapping_mul(b.value(of)),
        }
    }

    fn names(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Atom::Name(name) => see(name),
            Atom::Floor(sum, _) | Atom::Rest(sum, _) => sum.names(see),
            Atom::Choose(c, yes, no) => {
                c.names(see);
                yes.names(see);
                no.names(see);
            }
            Atom::Product(a, b) => {
                a.names(see);
                b.names(see);
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Atom::Name(name) => name.to_string(),
            Atom::Floor(sum, n) => format!("(div {} {n})", sum.text()),
            Atom::Rest(sum, n) => format!("(mod {} {n})", sum.text()),
            Atom::Choose(c, yes, no) => format!("(ite {} {} {})", c.text(), yes.text(), no.text()),
            Atom::Product(a, b) => format!("(* {} {})", a.text(), b.text()),
        }
    }
}

/// A product, linear where one side is a number.
pub fn product(a: &Sum, b: &Sum) -> Sum {
    match (a.constant(), b.constant()) {
        (Some(n), _) => b.times(n),
        (_, Some(n)) => a.times(n),
        _ if a > b => Sum::atom(Atom::Product(b.clone(), a.clone())),
        _ => Sum::atom(Atom::Product(a.clone(), b.clone())),
    }
}

impl Truth {
    pub fn known(holds: bool) -> Truth {
        if holds { Truth::Always } else { Truth::Never }
    }

    /// `a <= b`.
    pub fn at_most(a: &Sum, b: &Sum) -> Truth {
        let sum = a.plus(b, -1);
        match sum.constant() {
            Some(n) => Truth::known(n <= 0),
            None => Truth::NotAbove(sum),
        }
    }

    pub fn below(a: &Sum, b: &Sum) -> Truth {
        Truth::at_most(a, &b.less(1))
    }

    pub fn equal(a: &Sum, b: &Sum) -> Truth {
        let sum = a.plus(b, -1);
        match sum.constant() {
            Some(n) => Truth::known(n == 0),
            None => Truth::Zero(sum),
        }
    }

    pub fn negated(&self) -> Truth {
        match self {
            Truth::Always => Truth::Never,
            Truth::Never => Truth::Always,
            Truth::Not(inner) => (**inner).clone(),
            Truth::NotAbove(sum) => Truth::NotAbove(Sum::number(1).plus(sum, -1)),
            other => Truth::Not(Rc::new(other.clone())),
        }
    }

    pub fn all(list: impl IntoIterator<Item = Truth>) -> Truth {
        let mut parts = vec![];
        for t in list {
            match t {
                Truth::Always => {}
                Truth::Never => return Truth::Never,
                Truth::All(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Truth::Always,
            1 => parts.swap_remove(0),
            _ => Truth::All(parts),
        }
    }

    pub fn any(list: impl IntoIterator<Item = Truth>) -> Truth {
        let negated = Truth::all(list.into_iter().map(|t| t.negated()));
        match negated {
            Truth::All(parts) => Truth::Any(parts.iter().map(Truth::negated).collect()),
            other => other.negated(),
        }
    }

    pub fn and(&self, other: &Truth) -> Truth {
        Truth::all([self.clone(), other.clone()])
    }

    pub fn or(&self, other: &Truth) -> Truth {
        Truth::any([self.clone(), other.clone()])
    }

    /// As [`Sum::multiples`].
    pub fn multiples(&self, name: &str, see: &mut dyn FnMut(i64)) {
        match self {
            Truth::NotAbove(sum) | Truth::Zero(sum) => sum.multiples(name, see),
            Truth::Not(inner) => inner.multiples(name, see),
            Truth::All(list) | Truth::Any(list) => {
                list.iter().for_each(|t| t.multiples(name, see));
            }
            _ => {}
        }
    }

    pub fn renamed(&self, by: Renamed<'_>) -> Truth {
        let zero = Sum::default();
        match self {
            Truth::Always | Truth::Never => self.clone(),
            Truth::NotAbove(sum) => Truth::at_most(&sum.renamed(by), &zero),
            Truth::Zero(sum) => Truth::equal(&sum.renamed(by), &zero),
            Truth::Name(name) => match by(name) {
                // A condition under another name: zero or not.
                Some(sum) => Truth::equal(&sum, &zero).negated(),
                None => self.clone(),
            },
            Truth::Not(inner) => inner.renamed(by).negated(),
            Truth::All(list) => Truth::all(list.iter().map(|t| t.renamed(by))),
            Truth::Any(list) => Truth::any(list.iter().map(|t| t.renamed(by))),
        }
    }

    pub fn holds(&self, of: Values<'_>) -> bool {
        match self {
            Truth::Always => true,
            Truth::Never => false,
            Truth::NotAbove(sum) => sum.value(of) <= 0,
            Truth::Zero(sum) => sum.value(of) == 0,
            Truth::Name(name) => of(name) != 0,
            Truth::Not(inner) => !inner.holds(of),
            Truth::All(list) => list.iter().all(|t| t.holds(of)),
            Truth::Any(list) => list.iter().any(|t| t.holds(of)),
        }
    }

    pub fn names(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Truth::Always | Truth::Never => {}
            Truth::NotAbove(sum) | Truth::Zero(sum) => sum.names(see),
            Truth::Name(name) => see(name),
            Truth::Not(inner) => inner.names(see),
            Truth::All(list) | Truth::Any(list) => list.iter().for_each(|t| t.names(see)),
        }
    }

    /// In the solver's language.
    pub fn text(&self) -> String {
        let joined = |op: &str, list: &[Truth]| {
            let parts: Vec<String> = list.iter().map(Truth::text).collect();
            format!("({op} {})", parts.join(" "))
        };
        match self {
            Truth::Always => "true".into(),
            Truth::Never => "false".into(),
            Truth::NotAbove(sum) => format!("(<= {} 0)", sum.text()),
            Truth::Zero(sum) => format!("(= {} 0)", sum.text()),
            // A name stands for a number that is zero or not, so that all names have one sort.
            Truth::Name(name) => format!("(distinct {name} 0)"),
            Truth::Not(inner) => format!("(not {})", inner.text()),
            Truth::All(list) => joined("and", list),
            Truth::Any(list) => joined("or", list),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_cancel_and_conditions_fold() {
        let (a, b) = (Sum::name("a"), Sum::name("b"));
        let sum = a.plus(&b, 2).plus(&a, -1);
        assert_eq!(sum.text(), "(* 2 b)");
        assert_eq!(Truth::equal(&sum, &b.times(2)), Truth::Always);
        assert_eq!(Truth::below(&a, &a), Truth::Never);
        let below = Truth::below(&a, &b);
        assert_eq!(below.text(), "(<= (+ a (* (- 1) b) 1) 0)");
        assert_eq!(below.negated().negated(), below);
        assert_eq!(Truth::any([Truth::Never, below.clone()]), below);
        let chosen = Sum::choose(&below, &a, &Sum::number(3)).divided(4).1;
        let of = |name: &str| if name == "a" { -2 } else { 5 };
        assert_eq!(chosen.value(&of), 2);
        let renamed = chosen.renamed(&|n| (n == "b").then(|| Sum::number(-9)));
        assert_eq!(renamed.value(&of), 3);
    }
}
