//! What subscripts are made from: positions that the user has, moved, reduced, or counted from where a block begins.
//!
//! A family of terms that differ by a number is one column of values: which numbers make it right is counted in one pass over
//! some rows, so that no term is looked at by itself before it is known to be right somewhere.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::ops::{Range, RangeInclusive};

use super::bits::{Bits, Words};
use super::index::{Places, counts_positions};
use super::table::{NONE, Table, applied};
use super::term::{Op, Term};
use crate::plan::SymbolKind;

/// The rows that a first look is taken at, with what is wanted there: spread over all.
pub struct Sample<'a> {
    rows: Vec<(usize, &'a [i64])>,
}

/// Some of so many numbers, in order, spread over all of them: not in steps, which would keep in step with rows of blocks and
/// with loops.
pub fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let turn = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let chosen: BTreeSet<usize> =
        (0..most).map(|i| ((turn(i) * count as u64) >> 32) as usize).collect();
    chosen.into_iter().collect()
}

/// Rows in a sample, at most.
const SAMPLE: usize = 96;
/// Numbers of one range, at most.
const MAX_NUMBERS: usize = 16;
/// Places of a ring, at most.
const MAX_RING: i64 = 6;
/// Rows of which a family of terms has to be right on one.
const FIRST: usize = 32;

impl<'a> Sample<'a> {
    pub fn new(places: Places<'a>) -> Sample<'a> {
        let wanted: Vec<(usize, &[i64])> =
            places.iter().map(Vec::as_slice).enumerate().filter(|(_, p)| !p.is_empty()).collect();
        Sample { rows: spread(wanted.len(), SAMPLE).into_iter().map(|i| wanted[i]).collect() }
    }

    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Numbers of a range, times `sign`, that added to a value make it one that is wanted: on how many rows each does.
    pub fn hits(
        &self,
        value: impl Fn(usize) -> i64,
        numbers: &RangeInclusive<i64>,
        sign: i64,
    ) -> Vec<(i64, usize)> {
        let right = self.right(0..self.rows.len(), |n| value(self.rows[n].0), numbers, sign);
        let all = numbers.clone().zip(right.map(|r| r.count_ones() as usize));
        all.filter(|(_, hits)| *hits > 0).collect()
    }

    /// For each number of a range: the rows on which it does that, one bit each, of some rows of the sample. Values are asked for by
    /// the number of the row in the sample.
    #[inline]
    fn right(
        &self,
        rows: Range<usize>,
        value: impl Fn(usize) -> i64,
        numbers: &RangeInclusive<i64>,
        sign: i64,
    ) -> [u128; MAX_NUMBERS] {
        let mut right = [0; MAX_NUMBERS];
        let (low, width) = (*numbers.start(), numbers.clone().count().min(MAX_NUMBERS));
        let first = rows.start;
        for n in rows {
            if n == FIRST && first == 0 && right.iter().all(|r| *r == 0) {
                break;
            }
            let at = value(n);
            for p in self.rows[n].1.iter().filter(|_| at != NONE) {
                let number = ((p - at) * sign).wrapping_sub(low) as usize;
                if number < width {
                    right[number] |= 1 << n;
                }
            }
        }
        right
    }

    /// The values of all symbols on the rows of the sample.
    fn columns(&self, table: &Table<'_>) -> Vec<Vec<i64>> {
        let one = |s| self.rows.iter().map(|(row, _)| table.column(s)[*row]).collect();
        (0..table.symbols.len()).map(one).collect()
    }
}

/// What is wanted on all rows, laid out for comparing columns of values with it: most rows want one number.
pub struct Wanted<'a> {
    single: Vec<i64>,
    /// Rows that want none, or several.
    others: Vec<(usize, &'a [i64])>,
}

impl<'a> Wanted<'a> {
    pub fn new(places: Places<'a>) -> Wanted<'a> {
        let others = places.iter().map(Vec::as_slice).enumerate().filter(|(_, p)| p.len() != 1);
        Wanted {
            single: places.iter().map(|p| p.first().copied().unwrap_or_default()).collect(),
            others: others.collect(),
        }
    }

    /// The rows on which a value is one that is wanted.
    pub fn named(&self, value: impl Fn(usize) -> i64) -> Bits {
        let mut rows = Bits::from_fn(self.single.len(), |i| self.single[i] == value(i));
        for (i, places) in &self.others {
            match places.contains(&value(*i)) {
                true => rows.set(*i),
                false => rows.remove(*i),
            }
        }
        rows
    }
}

/// Something that positions are moved by, alone or with one of some numbers.
pub struct Move {
    pub term: Term,
    pub values: Vec<i64>,
    pub numbers: RangeInclusive<i64>,
}

/// What moves a position: small numbers, and extents of block and tile with small numbers, once or twice.
pub fn moves(table: &Table<'_>) -> Vec<(Op, Move)> {
    let mut all = vec![];
    let mut add = |op: Op, term: Term, numbers: RangeInclusive<i64>| {
        let values = table.values(&term);
        all.push((op, Move { term, values, numbers }));
    };
    add(Op::Add, Term::Number(0), -4..=4);
    let shifts = (0..table.symbols.len()).filter(|s| table.symbols[*s].shifts);
    for s in own_bounds(table).into_iter().chain(shifts) {
        let twice = Term::op(Op::Mul, Term::Number(2), Term::Symbol(s));
        for op in [Op::Add, Op::Sub] {
            add(op, Term::Symbol(s), -2..=5);
            add(op, twice.clone(), -2..=2);
        }
    }
    // Rows of a flat tile, so many up or down.
    for (rows, width) in
        table.free().iter().flat_map(|f| widths(table).into_iter().map(|w| (*f, w)))
    {
        for op in [Op::Add, Op::Sub] {
            add(op, Term::op(Op::Mul, Term::Symbol(rows), width.clone()), 0..=0);
        }
    }
    all
}

/// `base - (K + 1)` is written `base - K - 1`.
pub fn moved(base: &Term, op: Op, offset: &Term) -> Term {
    match offset {
        Term::Number(n) => base.clone().plus(if op == Op::Sub { -n } else { *n }),
        Term::Binary(inner @ (Op::Add | Op::Sub), a, b) => {
            let second = if (op == Op::Sub) == (*inner == Op::Sub) { Op::Add } else { Op::Sub };
            Term::op(second, Term::op(op, base.clone(), (**a).clone()), (**b).clone())
        }
        _ => Term::op(op, base.clone(), offset.clone()),
    }
}

/// What positions in a flat array are counted from.
pub fn bases(table: &Table<'_>) -> Vec<Term> {
    let own = own(table, counts_positions);
    let mut all: Vec<Term> = own.iter().map(|s| Term::Symbol(*s)).collect();
    all.extend(products(table));
    let near: Vec<usize> = own
        .iter()
        .copied()
        .filter(|s| table.symbols[*s].kind == SymbolKind::Variable && table.is_near(*s))
        .collect();
    // Positions with a variable that counts steps around them added or taken away.
    for b in &own {
        for v in near.iter().filter(|v| *v != b) {
            all.extend(
                [Op::Add, Op::Sub].map(|op| Term::op(op, Term::Symbol(*b), Term::Symbol(*v))),
            );
        }
    }
    all
}

/// Symbols of some kinds, the simplest of those that are equal.
fn own(table: &Table<'_>, kind: impl Fn(SymbolKind) -> bool) -> Vec<usize> {
    let mut own = table.of(kind);
    own.sort_by_key(|s| Term::Symbol(*s).cost(table.symbols));
    table.distinct(&own, &[])
}

/// Extents of block and tile, the simplest of those that are equal.
fn own_bounds(table: &Table<'_>) -> Vec<usize> {
    own(table, |k| matches!(k, SymbolKind::Constant | SymbolKind::Block(_)))
}

/// `threadIdx.y * width + threadIdx.x`.
fn products(table: &Table<'_>) -> Vec<Term> {
    let of = |axis: u8| table.of(|k| k == SymbolKind::Thread(axis)).first().copied();
    let (Some(x), Some(y)) = (of(0), of(1)) else { return vec![] };
    let product = |width: Term| Term::op(Op::Mul, Term::Symbol(y), width);
    widths(table).into_iter().map(|w| Term::op(Op::Add, product(w), Term::Symbol(x))).collect()
}

/// Terms that may be the length of a row of a flat tile.
pub fn widths(table: &Table<'_>) -> Vec<Term> {
    let mut all = vec![];
    for kind in [SymbolKind::Constant, SymbolKind::Block(0)] {
        for s in table.of(|k| k == kind) {
            all.extend([0, 2, 1, 4].map(|o| Term::Symbol(s).plus(o)));
            for halo in
                table.free().into_iter().flat_map(once_and_twice).filter(|_| !table.is_free(s))
            {
                all.push(Term::op(Op::Add, Term::Symbol(s), halo));
            }
        }
    }
    all
}

/// `R` and `2 * R`.
pub fn once_and_twice(symbol: usize) -> [Term; 2] {
    [Term::Symbol(symbol), Term::op(Op::Mul, Term::Number(2), Term::Symbol(symbol))]
}

/// A term that is often right in one dimension.
pub struct Guess {
    pub term: Term,
    pub values: Vec<i64>,
    pub cost: u32,
}

/// Guesses by the rows of the sample that they are right on.
struct Guesses<'a> {
    table: &'a Table<'a>,
    sample: Sample<'a>,
    /// The values of symbols on the rows of the sample.
    columns: Vec<Vec<i64>>,
    /// Rows that are right, cost, term.
    ranked: Vec<(u128, u32, Term)>,
    seen: HashMap<u128, usize, BuildHasherDefault<Words>>,
}

/// Terms that are often right in one dimension; `reduced` ones, too, if asked for.
pub fn guesses(table: &Table<'_>, wanted: &[Vec<i64>], reduced: bool, enough: usize) -> Vec<Guess> {
    let sample = Sample::new(wanted);
    let columns = sample.columns(table);
    let mut all = Guesses { table, sample, columns, ranked: vec![], seen: HashMap::default() };
    let own = own(table, |k| matches!(k, SymbolKind::Thread(_) | SymbolKind::Variable));
    let threads = table.of(|k| matches!(k, SymbolKind::Thread(_)));
    let threads: Vec<usize> =
        own.iter().copied().filter(|s| threads.iter().any(|t| table.same(*s, *t))).collect();
    all.plain(&own, &threads);
    if reduced {
        let bounds = own_bounds(table);
        let divisors = table.of(|k| k == SymbolKind::Divisor);
        for v in &own {
            all.clamped(*v);
            bounds.iter().for_each(|b| all.reduced(*v, *b));
            for d in &divisors {
                all.divided(*v, *d);
                all.around(*v, *d);
            }
        }
    }
    all.ranked.sort_by_key(|(right, cost, _)| (u32::MAX - right.count_ones(), *cost));
    all.ranked.truncate(enough);
    let guess =
        |(_, cost, term): (u128, u32, Term)| Guess { values: table.values(&term), term, cost };
    all.ranked.into_iter().map(guess).collect()
}

impl Guesses<'_> {
    fn plain(&mut self, own: &[usize], threads: &[usize]) {
        self.moved(Term::Number(0), &(0..=3));
        // What the user subscripts tiles with, as a whole.
        let subscripts = self.table.of(|k| k == SymbolKind::Subscript);
        for s in own.iter().chain(&subscripts) {
            self.moved(Term::Symbol(*s), &(-4..=4));
        }
        for t in threads {
            for v in own.iter().filter(|v| *v != t) {
                self.moved(Term::op(Op::Add, Term::Symbol(*t), Term::Symbol(*v)), &(-4..=4));
            }
        }
    }

    /// A term and those that differ from it by a number, or by what constants of the file say.
    fn moved(&mut self, term: Term, numbers: &RangeInclusive<i64>) {
        for by in self.table.free().into_iter().flat_map(once_and_twice) {
            for op in [Op::Add, Op::Sub] {
                self.family(Term::op(op, term.clone(), by.clone()), &(-1..=1));
            }
        }
        self.family(term, numbers);
    }

    /// A position reduced by about the extent of a block, clamped to it, or counted from where the block begins.
    fn reduced(&mut self, symbol: usize, bound: usize) {
        let position = || Term::Symbol(symbol);
        let blocks = self.table.of(|k| matches!(k, SymbolKind::Grid(_)));
        for cut in [0, -1, -2, -4] {
            let length = || Term::Symbol(bound).plus(cut);
            for shift in [0, -1, 1] {
                self.family(Term::op(Op::Rem, position().plus(shift), length()), &(0..=2));
            }
            self.family(Term::op(Op::Min, position(), length().plus(-1)), &(-1..=1));
            for block in &blocks {
                let first = Term::op(Op::Mul, Term::Symbol(*block), length());
                let from = Term::op(Op::Sub, position(), first);
                self.moved(from, &(-2..=3));
            }
        }
        self.apart(symbol, bound);
        self.divided(symbol, bound);
    }

    /// A position where blocks overlap by what constants of the file say.
    fn apart(&mut self, symbol: usize, bound: usize) {
        let free = self.table.free();
        if free.contains(&bound) {
            return;
        }
        for by in free.into_iter().flat_map(once_and_twice) {
            let length = Term::op(Op::Sub, Term::Symbol(bound), by);
            self.moved(Term::op(Op::Rem, Term::Symbol(symbol), length.clone()), &(0..=0));
            for block in self.table.of(|k| matches!(k, SymbolKind::Grid(_))) {
                let first = Term::op(Op::Mul, Term::Symbol(block), length.clone());
                self.moved(Term::op(Op::Sub, Term::Symbol(symbol), first), &(0..=0));
            }
        }
    }

    /// A position that several elements next to each other have in common, and which of them it is.
    fn divided(&mut self, position: usize, by: usize) {
        for op in [Op::Div, Op::Rem] {
            let term = Term::op(op, Term::Symbol(position), Term::Symbol(by));
            self.family(term, &(-1..=2));
        }
    }

    /// One of the places of a ring, `(k + 2) % 3`: planes that a loop keeps in turn.
    fn around(&mut self, position: usize, by: usize) {
        let places = self.table.symbols[by].text.parse().unwrap_or(0);
        for shift in 1..i64::min(places, MAX_RING) {
            let moved = Term::Symbol(position).plus(shift);
            self.family(Term::op(Op::Rem, moved, Term::Symbol(by)), &(0..=0));
        }
    }

    /// A position or one before it, clamped where the tile begins.
    fn clamped(&mut self, position: usize) {
        for shift in [0, -1, -2, -4] {
            let moved = Term::Symbol(position).plus(shift);
            self.family(Term::op(Op::Max, moved, Term::Number(0)), &(0..=2));
        }
        for by in self.table.free() {
            let moved = Term::op(Op::Sub, Term::Symbol(position), Term::Symbol(by));
            self.family(Term::op(Op::Max, moved, Term::Number(0)), &(0..=2));
        }
    }

    /// A term and those that differ from it by a number.
    fn family(&mut self, term: Term, numbers: &RangeInclusive<i64>) {
        let (count, first) = (self.sample.count(), self.sample.count().min(FIRST));
        // Most terms are right nowhere: their first rows say so.
        let values = self.values(&term, 0..first);
        let early = self.sample.right(0..first, |n| values[n], numbers, 1);
        if early.iter().all(|r| *r == 0) {
            return;
        }
        let values = self.values(&term, first..count);
        let late = self.sample.right(first..count, |n| values[n - first], numbers, 1);
        for (number, (early, late)) in numbers.clone().zip(early.into_iter().zip(late)) {
            let right = early | late;
            if right == 0 || (right.count_ones() as usize) * 10 < count {
                continue;
            }
            let cost = term.cost_plus(number, self.table.symbols);
            let known = self.seen.get(&right).copied();
            if known.is_some_and(|at| self.ranked[at].1 <= cost) {
                continue;
            }
            let made = (right, cost, term.clone().plus(number));
            match known {
                Some(at) => self.ranked[at] = made,
                None => {
                    self.seen.insert(right, self.ranked.len());
                    self.ranked.push(made);
                }
            }
        }
    }

    /// The values of a term on some rows of the sample.
    fn values(&self, term: &Term, rows: Range<usize>) -> Vec<i64> {
        match term {
            Term::Number(n) => vec![*n; rows.len()],
            Term::Symbol(s) => self.columns[*s][rows].to_vec(),
            Term::Binary(op, a, b) => {
                let mut values = self.values(a, rows.clone());
                let others = self.values(b, rows);
                values.iter_mut().zip(&others).for_each(|(a, b)| *a = applied(*op, *a, *b));
                values
            }
        }
    }
}
