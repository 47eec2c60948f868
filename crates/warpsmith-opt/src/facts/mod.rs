//! What is known of the sizes and addresses that one kernel is made for: questions of divisibility and alignment are
//! answered here.

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, ForLoop, VarId};

/// Variables that are known to be multiples of a number; of pointers, the address in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Multiples(BTreeMap<VarId, u32>);

impl Multiples {
    /// Takes up that a variable is a multiple of a number; what was known of it before is forgotten.
    pub fn insert(&mut self, var: VarId, of: u32) {
        self.0.insert(var, of);
    }

    /// Whether `size` divides a sum, whatever the values of its variables are.
    pub fn divide(&self, sum: &Poly, size: u64) -> bool {
        sum.terms().all(|(atoms, factor)| {
            let known = atoms.iter().filter_map(|a| match a {
                Atom::Var(v) => self.0.get(v).copied(),
                _ => None,
            });
            let product = known.fold(factor.unsigned_abs() % u128::from(size), |product, n| {
                product * u128::from(n) % u128::from(size)
            });
            product == 0
        })
    }

    /// Whether an expression is known to be a multiple of the width.
    pub fn divide_expr(&self, e: &Expr, width: u32) -> bool {
        Poly::from_expr(e).is_some_and(|p| self.divide(&p, width.into()))
    }

    /// How far an integer is past the last multiple of `width` at or before it; `None`: that is not known.
    pub fn past_multiple(&self, e: &Expr, width: u32) -> Option<u32> {
        let p = Poly::from_expr(e)?;
        (0..width).find(|rest| {
            let below = p.add(&Poly::constant(-i128::from(*rest)));
            below.is_some_and(|p| self.divide(&p, width.into()))
        })
    }

    /// The array's address is known to be a multiple of so many bytes.
    pub fn aligned(&self, array: VarId, bytes: u32) -> bool {
        self.0.get(&array).is_some_and(|n| n.is_multiple_of(bytes))
    }

    /// The loop's iterations begin and end at multiples of the width, so that each group of neighbours exists entirely or
    /// not at all.
    pub fn whole_groups(&self, l: &ForLoop, width: u32) -> bool {
        let end = match l.compare {
            BinaryOp::Le => Poly::from_expr(&l.limit).and_then(|p| p.add(&Poly::constant(1))),
            _ => Poly::from_expr(&l.limit),
        };
        let multiple = |p: Option<Poly>| p.is_some_and(|p| self.divide(&p, width.into()));
        multiple(Poly::from_expr(&l.first)) && multiple(end)
    }
}

impl Extend<(VarId, u32)> for Multiples {
    fn extend<T: IntoIterator<Item = (VarId, u32)>>(&mut self, known: T) {
        self.0.extend(known);
    }
}
