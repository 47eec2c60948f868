//! What it takes to find the addresses of elements: rows of arrays whose lengths are known at run time only.
//!
//! Elements that stand a constant number of bytes apart share a pointer, because the instruction that loads adds a
//! constant. Rows of an array do so only where their length is a constant: of `t[(k * ny + j) * nx + i]` every other `k` or
//! `j` is a product, a sum and a scaling of its own, in 64 bits, however the loop around it was unrolled. Rows of the same
//! number are computed once, and turned into a pointer once more for each other array.

use std::collections::BTreeSet;

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Module, Place, PlaceKind, Scalar};
use warpsmith_opt::analysis::access::Base;

use super::values::{Dual, Extents, Number, Thread};

/// Instructions of the number of an element of two dimensions, `(size_t)j * nx + i`: a wide multiply-add, and the column's
/// upper half. Each further dimension multiplies 64 bits, which takes three, and adds. Counted in the assembler's text.
const ROW: f64 = 2.0;
const DIMENSION: f64 = 4.0;

/// Instructions of a pointer from the number of an element: a shifted addition, and one for the upper half; as many as
/// it takes to move a pointer on.
pub const POINTER: f64 = 2.0;

/// The rows and pointers that a thread has by now, each with the number of loops around it that remain loops.
#[derive(Default)]
pub struct Pointers {
    rows: BTreeSet<(i64, usize)>,
    pointers: BTreeSet<(Base, i64, usize)>,
    /// Pointers of loads in two neighbouring iterations of the outermost loop of guarded code.
    neighbours: [BTreeSet<(Base, i64)>; 2],
    /// Iterations of the loops inside of that one.
    inside: f64,
    /// Pointers that there were until now.
    made: usize,
}

/// Unrolled loops around an access whose iterations are guarded one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guarded {
    pub loops: u32,
    pub load: bool,
}

/// Registers, for each guarded iteration that another loop repeats, of its index, its condition and its part of the number
/// of a row. Fitted: stencils of 1 to 32 cells a thread.
const GUARDED: f64 = 2.5;

/// What an access adds to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Added {
    /// Instructions of rows that were not there before.
    pub rows: f64,
    pub pointers: f64,
}

impl Pointers {
    /// An access: the number of its row, and how many iterations of which unrolled loops stand side by side.
    pub fn add(
        &mut self,
        base: Base,
        row: &Row,
        beside: &[(usize, f64)],
        guarded: Guarded,
        depth: usize,
    ) -> Added {
        if guarded.load {
            self.guard(base, row, beside, guarded.loops);
        }
        let numbers = row.numbers(beside);
        let mut added = Added::default();
        for number in numbers {
            let known = (0..=depth).any(|d| self.pointers.contains(&(base, number, d)));
            if known {
                continue;
            }
            self.pointers.insert((base, number, depth));
            self.made += 1;
            added.pointers += POINTER;
            if !(0..=depth).any(|d| self.rows.contains(&(number, d))) {
                self.rows.insert((number, depth));
                added.rows += ROW + DIMENSION * (row.dimensions - 2) as f64;
            }
        }
        added
    }

    /// Notes the pointers of two iterations of the outermost guarded loop.
    fn guard(&mut self, base: Base, row: &Row, beside: &[(usize, f64)], loops: u32) {
        let mut guarded = beside.iter().filter(|(k, trips)| loops >> k & 1 == 1 && *trips > 1.0);
        let Some((outer, _)) = guarded.next() else { return };
        let inner: Vec<(usize, f64)> = guarded.copied().collect();
        let change = row.number.change.get(*outer).copied().unwrap_or(0);
        self.inside = self.inside.max(inner.iter().map(|(_, trips)| trips).product());
        for number in row.numbers(&inner) {
            self.neighbours[0].insert((base, number));
            self.neighbours[1].insert((base, number.wrapping_add(change)));
        }
    }

    /// Registers of what guarded iterations keep for later ones: their own indices, and pointers in two registers, since
    /// conditions between them keep the compiler from loading once.
    pub fn kept(&self) -> f64 {
        let [here, next] = &self.neighbours;
        GUARDED * self.inside + 2.0 * here.intersection(next).count() as f64
    }

    /// Pointers that there are now.
    pub fn count(&self) -> usize {
        self.pointers.len()
    }

    /// Pointers that there were until now.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Forgets what was computed inside of more loops than these.
    pub fn leave(&mut self, depth: usize) {
        self.rows.retain(|(_, d)| *d <= depth);
        self.pointers.retain(|(_, _, d)| *d <= depth);
    }
}

/// Rows of one access that are told apart, at most.
const MOST: f64 = 1024.0;

/// The row of an element in an array whose rows have a length known at run time.
pub struct Row {
    pub number: Dual,
    /// Of the array; at least two.
    dimensions: usize,
}

impl Row {
    /// The numbers of the rows in all iterations of some loops.
    fn numbers(&self, beside: &[(usize, f64)]) -> BTreeSet<i64> {
        let mut numbers = BTreeSet::from([self.number.value.as_i64()]);
        for (k, trips) in beside {
            let change = self.number.change.get(*k).copied().unwrap_or(0);
            if change != 0 && numbers.len() as f64 * trips <= MOST {
                let step = |i: i64| change.wrapping_mul(i);
                let all = (0..*trips as i64)
                    .flat_map(|i| numbers.iter().map(move |n| n.wrapping_add(step(i))));
                numbers = all.collect();
            }
        }
        numbers
    }

    /// The row of a place. `None`: it has none, its length is a constant, or the number follows from data.
    pub fn of(module: &Module, at: Extents, first: &Thread<Dual>, place: &Place) -> Option<Row> {
        let (index, dims) = element(place)?;
        let (_, outer) = index.split_last()?;
        let lead = outer.first()?;
        if dims.iter().all(|d| d.as_const().is_some() || matches!(&*d.kind, ExprKind::Named(_))) {
            return None;
        }
        let mut number = first.eval(module, at, lead)?.cast(Scalar::I64);
        for (i, dim) in outer.iter().skip(1).zip(dims) {
            let dim = first.eval(module, at, dim)?.cast(Scalar::I64);
            let i = first.eval(module, at, i)?.cast(Scalar::I64);
            number = Dual::binary(BinaryOp::Mul, number, dim);
            number = Dual::binary(BinaryOp::Add, number, i);
        }
        Some(Row { number, dimensions: index.len() })
    }
}

fn element(place: &Place) -> Option<(&[Expr], &[Expr])> {
    match &*place.kind {
        PlaceKind::Elem { index, dims, .. } => Some((index, dims)),
        PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => element(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tune::profile::arrays::tests::GRADIENT;
    use crate::tune::profile::rows::tests::launched;

    /// The compiler keeps a pointer for each row and array: it takes 32, 62 and 72 registers for 1, 4 and 8 rows.
    #[test]
    fn rows_side_by_side_take_pointers_of_their_own() {
        let steps = "bind i -> y block 1x1\nshare j, j#2 -> x by 128\n";
        let of = |rows: u32| {
            let steps = format!("{steps}register_tile i by {rows}\n");
            launched(GRADIENT, &steps, [("n", 1024), ("m", 4096)]).profile.registers
        };
        let [four, eight] = [4, 8].map(of);
        assert!(four >= 48 && eight >= four + 4 * 3 * 2, "{four} {eight}");
    }
}
