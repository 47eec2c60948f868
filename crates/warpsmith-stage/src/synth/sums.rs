//! Subscripts as sums of a few products, for what is no position of the user's moved a little: `2 * threadIdx.x - 1`,
//! `j * (B / 2) + threadIdx.x / 2`. The last way that is tried: there are many sums, and those that people write are found before.
//!
//! The number in a sum is what one row asks for; a sum is kept when that number is right on many other rows.

use std::collections::{BTreeSet, HashMap};

use super::positions::{Guess, spread};
use super::table::{NONE, Table};
use super::term::{Op, Term};
use crate::plan::SymbolKind;

/// Rows that a sum is looked at on.
const SAMPLE: usize = 64;
/// Rows of which a sum has to be right on one beside that of its number.
const FIRST: usize = 8;
/// Rows whose place gives a sum its number.
const ANCHORS: usize = 3;
/// Parts that sums are made from, at most.
const MAX_PARTS: usize = 600;
/// How large the number of a sum may be.
const MAX_NUMBER: i64 = 64;

/// A product with its sign.
struct Part {
    term: Term,
    negative: bool,
    values: Vec<i64>,
}

/// Sums that are often right, best first.
pub fn guesses(table: &Table<'_>, wanted: &[Vec<i64>], enough: usize) -> Vec<Guess> {
    let rows: Vec<usize> = (0..wanted.len()).filter(|i| !wanted[*i].is_empty()).collect();
    let rows: Vec<usize> = spread(rows.len(), SAMPLE).into_iter().map(|i| rows[i]).collect();
    let mut search = Search { table, wanted, rows, found: vec![], seen: BTreeSet::new() };
    let parts = parts(table);
    let all: Vec<usize> = (0..parts.len()).collect();
    all.iter().for_each(|a| search.look(&[&parts[*a]]));
    for a in all.iter() {
        all[..*a].iter().for_each(|b| search.look(&[&parts[*b], &parts[*a]]));
    }
    if !search.is_settled() {
        search.triples(&parts);
    }
    search.best(enough)
}

/// Positions, once and twice, halved, and times the extents of block and tile: the simplest first.
fn parts(table: &Table<'_>) -> Vec<Part> {
    let symbols = |kind: &dyn Fn(SymbolKind) -> bool| table.distinct(&table.of(kind), &[]);
    let positions = symbols(&|k| {
        matches!(k, SymbolKind::Thread(_) | SymbolKind::Variable | SymbolKind::Grid(_))
    });
    let bounds = symbols(&|k| matches!(k, SymbolKind::Constant | SymbolKind::Block(_)));
    let symbol = |s: &usize| Term::Symbol(*s);
    let with = |op: Op, n: i64| {
        move |s: &usize| match op {
            Op::Mul => Term::op(op, Term::Number(n), Term::Symbol(*s)),
            _ => Term::op(op, Term::Symbol(*s), Term::Number(n)),
        }
    };
    let mut terms: Vec<Term> = positions.iter().map(symbol).collect();
    terms.extend(positions.iter().map(with(Op::Mul, 2)));
    terms.extend(positions.iter().map(with(Op::Div, 2)));
    // Vectors have three, four or eight elements.
    terms.extend([4, 3, 8].iter().flat_map(|n| positions.iter().map(with(Op::Mul, *n))));
    terms.extend(bounds.iter().map(symbol));
    terms.extend(table.free().iter().map(with(Op::Mul, 2)));
    for p in &positions {
        let times = |b: &usize| Term::op(Op::Mul, Term::Symbol(*p), Term::Symbol(*b));
        terms.extend(bounds.iter().map(times));
        let twice = |b: &usize| Term::op(Op::Mul, Term::Number(2), times(b));
        terms.extend(bounds.iter().map(twice));
    }
    let both = |term: Term| {
        let values = table.values(&term);
        let other = Part { term: term.clone(), negative: true, values: values.clone() };
        [Part { term, negative: false, values }, other]
    };
    terms.into_iter().flat_map(both).take(MAX_PARTS).collect()
}

struct Search<'a> {
    table: &'a Table<'a>,
    wanted: &'a [Vec<i64>],
    rows: Vec<usize>,
    /// Rows that are right, cost, term.
    found: Vec<(usize, u32, Term)>,
    seen: BTreeSet<Vec<bool>>,
}

impl Search<'_> {
    fn look(&mut self, parts: &[&Part]) {
        if parts.iter().all(|p| p.negative) {
            return;
        }
        for anchor in self.rows.clone().iter().take(ANCHORS) {
            let Some(at) = sum(parts, *anchor) else { continue };
            let number = self.wanted[*anchor][0] - at;
            if number.abs() > MAX_NUMBER {
                continue;
            }
            let right = |row: &usize| {
                let at = sum(parts, *row);
                at.is_some_and(|at| self.wanted[*row].contains(&(at + number)))
            };
            let others = self.rows.iter().filter(|r| *r != anchor).take(FIRST);
            if self.rows.len() > 1 && !others.into_iter().any(right) {
                continue;
            }
            let rows: Vec<bool> = self.rows.iter().map(right).collect();
            let count = rows.iter().filter(|r| **r).count();
            if count * 10 < self.rows.len() || !self.seen.insert(rows) {
                continue;
            }
            let term = written(parts, number);
            self.found.push((count, term.cost(self.table.symbols), term));
        }
    }

    /// Sums of three: what two leave is looked up among all parts. Rows with several places say too little for that.
    fn triples(&mut self, parts: &[Part]) {
        let clear = |r: &&usize| self.wanted[**r].len() == 1;
        let rows: Vec<usize> = self.rows.iter().filter(clear).take(FIRST).copied().collect();
        let Some(first) = rows.first().copied() else { return };
        let moves = |value: &dyn Fn(usize) -> Option<i64>| -> Option<Vec<i64>> {
            let start = value(first)?;
            rows.iter().map(|r| value(*r)?.checked_sub(start)).collect()
        };
        let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
        for (n, part) in parts.iter().enumerate() {
            if let Some(key) = moves(&|r| sum(&[part], r)) {
                known.entry(key).or_insert(n);
            }
        }
        for a in 0..parts.len() {
            for b in 0..a {
                let two = [&parts[b], &parts[a]];
                let left = |r: usize| self.wanted[r][0].checked_sub(sum(&two, r)?);
                let third = moves(&left).and_then(|key| known.get(&key).copied());
                if let Some(c) = third.filter(|c| *c < b) {
                    self.look(&[&parts[c], &parts[b], &parts[a]]);
                }
            }
        }
    }

    /// One sum is right wherever a place is wanted.
    fn is_settled(&self) -> bool {
        self.found.iter().any(|(count, ..)| *count == self.rows.len())
    }

    fn best(mut self, enough: usize) -> Vec<Guess> {
        self.found.sort_by_key(|(count, cost, _)| (usize::MAX - count, *cost));
        self.found.truncate(enough);
        let table = self.table;
        let guess =
            |(_, cost, term): (usize, u32, Term)| Guess { values: table.values(&term), term, cost };
        self.found.into_iter().map(guess).collect()
    }
}

/// The value of a sum on a row, if it has one.
fn sum(parts: &[&Part], row: usize) -> Option<i64> {
    parts.iter().try_fold(0i64, |sum, part| match part.values[row] {
        NONE => None,
        value if part.negative => sum.checked_sub(value),
        value => sum.checked_add(value),
    })
}

/// What is added first, so that nothing begins with a sign.
fn written(parts: &[&Part], number: i64) -> Term {
    let mut positive = parts.iter().filter(|p| !p.negative);
    let first = positive.next().map_or(Term::Number(0), |p| p.term.clone());
    let sum = positive.fold(first, |sum, p| Term::op(Op::Add, sum, p.term.clone()));
    let negative = parts.iter().filter(|p| p.negative);
    negative.fold(sum, |sum, p| Term::op(Op::Sub, sum, p.term.clone())).plus(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Symbol;
    use crate::profile::rows::Row;

    fn found(wanted: impl Fn(&[i64]) -> i64) -> String {
        let s = |text: &str, kind| Symbol { int: true, ..Symbol::new(text, kind) };
        let symbols = [
            s("tx", SymbolKind::Thread(0)),
            s("ty", SymbolKind::Thread(1)),
            s("k", SymbolKind::Variable),
            s("BX", SymbolKind::Constant),
            s("bx", SymbolKind::Grid(0)),
        ];
        let mut rows = vec![];
        for (launch, (x, y)) in [(5, 4), (6, 6), (8, 3)].into_iter().enumerate() {
            for i in 0..x * y * 6 {
                let values = vec![i % x, i / x % y, i / (x * y) % 3, x, i / (x * y * 3)];
                rows.push(Row { launch, thread: i as u32, values, ..Row::default() });
            }
        }
        let table = Table::new(&symbols, &rows);
        let wanted: Vec<Vec<i64>> = rows.iter().map(|r| vec![wanted(&r.values)]).collect();
        let best = guesses(&table, &wanted, 4);
        let full = best.iter().find(|g| g.values.iter().zip(&wanted).all(|(a, b)| *a == b[0]));
        full.map_or("none".into(), |g| g.term.text(&symbols))
    }

    #[test]
    fn sums_of_products_are_found() {
        assert_eq!(found(|v| 2 * v[0] - 1), "2 * tx - 1");
        assert_eq!(found(|v| v[0] / 2 + 1), "tx / 2 + 1");
        assert_eq!(found(|v| 4 * v[2] - 4 * v[4] + 1), "4 * k - 4 * bx + 1");
        assert_eq!(found(|v| v[1] * v[3] + v[0] - v[2] + 3), "tx + ty * BX - k + 3");
        assert_eq!(found(|v| v[0] * v[1] * v[2]), "none");
    }
}
