//! Subscripts: terms whose value is one of the places on a row.

use std::collections::HashSet;

use super::bits::{Bits, ByBits, SeenBits};
use super::positions::{self, Guess, Sample, Wanted};
use super::sums;
use super::table::Table;
use super::term::{Op, Term};
use crate::plan::SymbolKind;

/// A candidate with the rows that it is right on.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// One for each dimension of the array, outermost first.
    pub terms: Vec<Term>,
    pub right: Bits,
    pub cost: u32,
}

/// What an array looks like to subscripts.
#[derive(Clone, Debug)]
pub struct Shape {
    /// On each row, the extents without the outermost: empty for arrays of one dimension.
    pub inner: Vec<Vec<i64>>,
    pub rank: usize,
}

/// Flat places of one array, one list a row.
pub type Places<'a> = &'a [Vec<i64>];

/// How subscripts are made, from the simplest to what covers most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// What the user counts positions from, moved; arrays of several dimensions one by one.
    Moved,
    /// A flat array as rows and columns.
    Columns,
    /// The same with positions reduced by the length of a tile, clamped, or counted from the block's first.
    Reduced,
    /// Sums of any few products.
    Sums,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::Moved, Way::Columns, Way::Reduced, Way::Sums];
}

/// Candidates that are given on.
const MAX_CANDIDATES: usize = 24;

/// Candidates that are right on many rows, best first.
pub fn find(table: &Table<'_>, shape: &Shape, places: Places<'_>, way: Way) -> Vec<Candidate> {
    let mut all = match (shape.rank, way) {
        (1, Way::Moved) => flat(table, places),
        (1, Way::Sums) => flat_sums(table, places),
        (1, _) => rows_and_columns(table, places, way),
        (_, Way::Columns) => vec![],
        (_, _) => per_dimension(table, shape, places, &[], way),
    };
    all.sort_by_key(|c| (usize::MAX - c.right.count(), c.cost));
    let mut seen = SeenBits::default();
    let kept: Vec<bool> = all.iter().map(|c| seen.insert(&c.right)).collect();
    let mut kept = kept.into_iter();
    all.retain(|_| kept.next() == Some(true));
    all.truncate(MAX_CANDIDATES);
    all
}

/// The rows on which subscripts name a place.
pub fn right(table: &Table<'_>, shape: &Shape, places: Places<'_>, terms: &[Term]) -> Bits {
    let values: Vec<Vec<i64>> = terms.iter().map(|t| table.values(t)).collect();
    Bits::from_fn(places.len(), |i| {
        let mut flat = 0i64;
        for (d, values) in values.iter().enumerate() {
            let extent = if d == 0 { 1 } else { shape.inner[i].get(d - 1).copied().unwrap_or(1) };
            flat = flat.wrapping_mul(extent).wrapping_add(values[i]);
        }
        places[i].contains(&flat)
    })
}

/// A flat array whose rows have one of the likely lengths.
fn rows_and_columns(table: &Table<'_>, places: Places<'_>, way: Way) -> Vec<Candidate> {
    let wanted = places.iter().filter(|p| !p.is_empty()).count();
    let mut all: Vec<Candidate> = vec![];
    let mut seen = HashSet::new();
    for width in positions::widths(table) {
        let values = table.values(&width);
        if values.iter().any(|w| *w <= 0) || !seen.insert(values.clone()) {
            continue;
        }
        let shape = Shape { inner: values.into_iter().map(|w| vec![w]).collect(), rank: 2 };
        all.extend(per_dimension(table, &shape, places, std::slice::from_ref(&width), way));
        if all.iter().any(|c| c.right.count() == wanted) {
            break;
        }
    }
    all
}

/// Subscripts of a flat array: a base that the user has, moved.
fn flat(table: &Table<'_>, places: Places<'_>) -> Vec<Candidate> {
    let (sample, wanted) = (Sample::new(places), Wanted::new(places));
    let moves = positions::moves(table);
    let mut best = Ranked::default();
    for base in positions::bases(table) {
        let values = table.values(&base);
        for (op, by) in &moves {
            let moved = |i: usize| match op {
                Op::Add => values[i] + by.values[i],
                _ => values[i] - by.values[i],
            };
            let sum = if *op == Op::Add { 1 } else { -1 };
            // Numbers that a symbol is moved by move the other way when it is taken away.
            let found = sample.hits(moved, &by.numbers, sum);
            for (number, hits) in found {
                if hits * 20 < sample.count() {
                    continue;
                }
                let right = wanted.named(|i| moved(i) + sum * number);
                let offset = by.term.clone().plus(number);
                let cost = base.cost(table.symbols) + offset.cost(table.symbols) + 1;
                let term = positions::moved(&base, *op, &offset);
                best.add(Candidate { terms: vec![term], right, cost });
            }
        }
    }
    best.list
}

/// Subscripts of a flat array that are sums.
fn flat_sums(table: &Table<'_>, places: Places<'_>) -> Vec<Candidate> {
    let wanted = Wanted::new(places);
    let candidate = |g: Guess| {
        let right = wanted.named(|i| g.values[i]);
        Candidate { terms: vec![g.term], right, cost: g.cost }
    };
    sums::guesses(table, places, MAX_CANDIDATES).into_iter().map(candidate).collect()
}

/// The best candidates by the rows they are right on, one for each set of rows.
#[derive(Default)]
struct Ranked {
    list: Vec<Candidate>,
    by_rows: ByBits<usize>,
}

impl Ranked {
    /// Whether a candidate of this cost says something that none as cheap does.
    fn lacks(&self, right: &Bits, cost: u32) -> bool {
        self.by_rows.get(right).is_none_or(|at| self.list[*at].cost > cost)
    }

    fn add(&mut self, candidate: Candidate) {
        match self.by_rows.get(&candidate.right) {
            Some(at) if self.list[*at].cost <= candidate.cost => {}
            Some(at) => self.list[*at] = candidate,
            None => {
                self.by_rows.insert(candidate.right.clone(), self.list.len());
                self.list.push(candidate);
            }
        }
    }
}

/// Flat positions as subscripts of each dimension.
fn split(places: Places<'_>, inner: &[Vec<i64>]) -> Vec<Vec<Vec<i64>>> {
    let one = |flat: i64, inner: &[i64]| -> Vec<i64> {
        let mut rest = flat;
        let mut parts = vec![];
        for extent in inner.iter().rev() {
            parts.push(rest % extent);
            rest /= extent;
        }
        parts.push(rest);
        parts.reverse();
        parts
    };
    let row = |(list, inner): (&Vec<i64>, &Vec<i64>)| list.iter().map(|p| one(*p, inner)).collect();
    places.iter().zip(inner).map(row).collect()
}

/// Subscripts of each dimension by itself, joined where both are right. With `width`, they are joined to a flat one.
fn per_dimension(
    table: &Table<'_>,
    shape: &Shape,
    places: Places<'_>,
    width: &[Term],
    way: Way,
) -> Vec<Candidate> {
    let parts = split(places, &shape.inner);
    let several: Vec<usize> = (0..places.len()).filter(|i| places[*i].len() > 1).collect();
    let lists: Vec<Vec<Fitting>> = (0..shape.rank)
        .map(|d| {
            let wanted: Vec<Vec<i64>> =
                parts.iter().map(|list| list.iter().map(|p| p[d]).collect()).collect();
            let enough = if shape.rank > 2 { 6 } else { 14 };
            let reduced = matches!(way, Way::Reduced | Way::Sums);
            let mut guesses = positions::guesses(table, &wanted, reduced, enough);
            if way == Way::Sums {
                guesses.extend(sums::guesses(table, &wanted, enough));
            }
            let laid_out = Wanted::new(&wanted);
            let fitting = |guess: Guess| {
                let right = laid_out.named(|i| guess.values[i]);
                Fitting::new(guess, right, &wanted, &several)
            };
            guesses.into_iter().map(fitting).collect()
        })
        .collect();
    let mut best = Ranked::default();
    join(&lists, &mut vec![], &mut |chosen: &[&Fitting]| {
        let right = right_together(chosen, &several);
        let cost = chosen.iter().map(|f| f.guess.cost).sum::<u32>()
            + width.iter().map(|w| w.cost(table.symbols) + 3).sum::<u32>();
        if right.is_empty() || !best.lacks(&right, cost) {
            return;
        }
        let terms: Vec<Term> = chosen.iter().map(|f| f.guess.term.clone()).collect();
        let terms = match (width, terms.as_slice()) {
            ([w], [y, x]) => {
                vec![Term::op(Op::Add, Term::op(Op::Mul, w.clone(), y.clone()), x.clone())]
            }
            _ => terms,
        };
        best.add(Candidate { terms, right, cost });
    });
    best.list
}

/// A guess with the rows that it is right on.
struct Fitting {
    guess: Guess,
    /// Rows with some place that it is right for.
    right: Bits,
    /// Which places those are on the rows that have several, a bit each.
    places: Vec<u64>,
}

impl Fitting {
    fn new(guess: Guess, right: Bits, wanted: &[Vec<i64>], several: &[usize]) -> Fitting {
        // Of more places than bits the first are looked at.
        let places = |row: &usize| {
            let bit = |(n, p): (usize, &i64)| u64::from(*p == guess.values[*row]) << n;
            wanted[*row].iter().take(64).enumerate().map(bit).fold(0, |a, b| a | b)
        };
        let places = several.iter().map(places).collect();
        Fitting { guess, right, places }
    }
}

/// The rows with a place that guesses of all dimensions are right for.
fn right_together(chosen: &[&Fitting], several: &[usize]) -> Bits {
    let Some((first, rest)) = chosen.split_first() else { return Bits::none(0) };
    let mut right = first.right.clone();
    rest.iter().for_each(|f| right.keep(&f.right));
    for (n, row) in several.iter().enumerate() {
        if chosen.iter().fold(u64::MAX, |places, f| places & f.places[n]) == 0 {
            right.remove(*row);
        }
    }
    right
}

fn join<'a>(
    lists: &'a [Vec<Fitting>],
    chosen: &mut Vec<&'a Fitting>,
    see: &mut dyn FnMut(&[&'a Fitting]),
) {
    match lists.split_first() {
        None => see(chosen),
        Some((first, rest)) => {
            for term in first {
                chosen.push(term);
                join(rest, chosen, see);
                chosen.pop();
            }
        }
    }
}

/// Kinds of symbols that positions are counted from.
pub fn counts_positions(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Subscript | SymbolKind::Variable | SymbolKind::Thread(_))
}
