//! Subscripts: terms whose value is one of the places on a row.

use std::collections::{HashMap, HashSet};

use super::bits::Bits;
use super::condition::Rows;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// What the user counts positions from, moved; arrays of several dimensions one by one.
    Moved,
    /// A flat array as rows and columns.
    Columns,
    /// The same with positions reduced by the length of a tile, clamped, or counted from the block's first.
    Reduced,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::Moved, Way::Columns, Way::Reduced];
}

/// Candidates that are right on many rows, best first.
pub fn find(rows: Rows<'_>, shape: &Shape, places: Places<'_>, way: Way) -> Vec<Candidate> {
    let mut all = match (shape.rank, way) {
        (1, Way::Moved) => flat(rows, places),
        (1, _) => rows_and_columns(rows, places, &dimension_terms(rows, way)),
        (_, Way::Columns) => vec![],
        (_, _) => per_dimension(rows, shape, places, &[], &dimension_terms(rows, way)),
    };
    all.sort_by_key(|c| (usize::MAX - c.right.count(), c.cost));
    let mut seen = HashSet::new();
    all.retain(|c| seen.insert(c.right.clone()));
    all.truncate(24);
    all
}

/// A flat array whose rows have one of the likely lengths.
fn rows_and_columns(rows: Rows<'_>, places: Places<'_>, terms: &[(Term, u32)]) -> Vec<Candidate> {
    let wanted = places.iter().filter(|p| !p.is_empty()).count();
    let mut all: Vec<Candidate> = vec![];
    for width in widths(rows) {
        let inner: Vec<Vec<i64>> =
            rows.values.iter().map(|v| vec![width.value(v).unwrap_or(0)]).collect();
        if inner.iter().all(|w| w[0] > 0) {
            all.extend(per_dimension(
                rows,
                &Shape { inner, rank: 2 },
                places,
                std::slice::from_ref(&width),
                terms,
            ));
        }
        if all.iter().any(|c| c.right.count() == wanted) {
            break;
        }
    }
    all
}

/// The rows on which subscripts name a place.
pub fn right(rows: Rows<'_>, shape: &Shape, places: Places<'_>, terms: &[Term]) -> Bits {
    Bits::from_fn(places.len(), |i| {
        let mut flat = 0;
        for (d, term) in terms.iter().enumerate() {
            let Some(v) = term.value(rows.values[i]) else { return false };
            flat =
                if d == 0 { v } else { flat * shape.inner[i].get(d - 1).copied().unwrap_or(1) + v };
        }
        places[i].contains(&flat)
    })
}

/// Terms that may be the length of a row of a flat tile.
fn widths(rows: Rows<'_>) -> Vec<Term> {
    let mut all = vec![];
    for kind in [SymbolKind::Constant, SymbolKind::Block(0)] {
        for (s, symbol) in rows.symbols.iter().enumerate().filter(|(_, s)| s.kind == kind) {
            let _ = symbol;
            all.extend([0, 2, 1, 4].map(|o| Term::Symbol(s).plus(o)));
        }
    }
    all
}

/// Something a position is counted from, and its values.
#[derive(Debug)]
struct Valued {
    term: Term,
    values: Vec<Option<i64>>,
    cost: u32,
}

fn valued(rows: Rows<'_>, term: Term) -> Valued {
    let values = rows.values.iter().map(|v| term.value(v)).collect();
    let cost = term.cost(rows.symbols);
    Valued { term, values, cost }
}

/// The rows that a first look is taken at: spread over all, at most this many.
const SAMPLE: usize = 96;

fn sample(places: Places<'_>) -> Vec<usize> {
    let wanted: Vec<usize> = (0..places.len()).filter(|i| !places[*i].is_empty()).collect();
    let step = wanted.len().div_ceil(SAMPLE).max(1);
    // An odd stride keeps in step with no row length of a block.
    wanted.into_iter().step_by(if step > 1 { step | 1 } else { 1 }).collect()
}

/// Whether something holds on less than one in `share` rows of a sample, looking at the first few rows alone when it holds
/// on none of them.
fn few(sample: &[usize], holds: impl Fn(usize) -> bool, share: usize) -> bool {
    let (first, rest) = sample.split_at(sample.len().min(32));
    let hits = first.iter().filter(|i| holds(**i)).count();
    if hits == 0 && rest.len() > 32 {
        return true;
    }
    let hits = hits + rest.iter().filter(|i| holds(**i)).count();
    hits == 0 || hits * share < sample.len()
}

/// Terms that move a position: nothing, small numbers, extents of block and tile with small numbers, and their differences.
fn offsets(rows: Rows<'_>) -> Vec<(Op, Term)> {
    let mut all: Vec<(Op, Term)> = vec![(Op::Add, Term::Number(0))];
    for n in 1..=4 {
        all.push((Op::Add, Term::Number(n)));
        all.push((Op::Sub, Term::Number(n)));
    }
    for (s, symbol) in rows.symbols.iter().enumerate() {
        if !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Block(_)) {
            continue;
        }
        for o in [0, 1, -1, 2, -2, 3, 4, 5] {
            all.push((Op::Add, Term::Symbol(s).plus(o)));
            all.push((Op::Sub, Term::Symbol(s).plus(o)));
        }
        for o in [0, 1, -1, 2, -2] {
            let twice = Term::op(Op::Mul, Term::Number(2), Term::Symbol(s)).plus(o);
            all.push((Op::Add, twice.clone()));
            all.push((Op::Sub, twice));
        }
    }
    all
}

/// Subscripts of a flat array: a base that the user has, moved.
fn flat(rows: Rows<'_>, places: Places<'_>) -> Vec<Candidate> {
    let mut bases: Vec<Valued> = vec![];
    for (s, symbol) in rows.symbols.iter().enumerate() {
        match symbol.kind {
            SymbolKind::Subscript | SymbolKind::Variable | SymbolKind::Thread(_) => {
                bases.push(valued(rows, Term::Symbol(s)));
            }
            _ => {}
        }
    }
    for base in products(rows).into_iter().chain(with_steps(rows)) {
        bases.push(valued(rows, base));
    }
    let offsets: Vec<(Op, Valued)> =
        offsets(rows).into_iter().map(|(op, t)| (op, valued(rows, t))).collect();
    let sample = sample(places);
    let mut best = Ranked::default();
    for base in &bases {
        for (op, offset) in &offsets {
            let at = |i: usize| match (base.values[i], offset.values[i]) {
                (Some(a), Some(b)) => {
                    if *op == Op::Add {
                        Some(a + b)
                    } else {
                        Some(a - b)
                    }
                }
                _ => None,
            };
            let hits =
                sample.iter().filter(|i| at(**i).is_some_and(|v| places[**i].contains(&v))).count();
            if hits * 20 < sample.len() || hits == 0 {
                continue;
            }
            let right =
                Bits::from_fn(places.len(), |i| at(i).is_some_and(|v| places[i].contains(&v)));
            let term = match offset.term {
                Term::Number(0) => base.term.clone(),
                _ => moved(&base.term, *op, &offset.term),
            };
            best.add(Candidate { cost: base.cost + offset.cost + 1, terms: vec![term], right });
        }
    }
    best.list
}

/// `base - (K + 1)` is written `base - K - 1`.
fn moved(base: &Term, op: Op, offset: &Term) -> Term {
    match offset {
        Term::Binary(inner @ (Op::Add | Op::Sub), a, b) => {
            let second = if (op == Op::Sub) == (*inner == Op::Sub) { Op::Add } else { Op::Sub };
            Term::op(second, Term::op(op, base.clone(), (**a).clone()), (**b).clone())
        }
        _ => Term::op(op, base.clone(), offset.clone()),
    }
}

/// Positions with a variable that counts steps around them added or taken away.
fn with_steps(rows: Rows<'_>) -> Vec<Term> {
    let of = |s: usize| rows.symbols[s].kind;
    let near: Vec<usize> = (0..rows.symbols.len())
        .filter(|s| of(*s) == SymbolKind::Variable && rows.is_near(*s))
        .collect();
    let mut all = vec![];
    for b in 0..rows.symbols.len() {
        if !matches!(of(b), SymbolKind::Subscript | SymbolKind::Variable | SymbolKind::Thread(_)) {
            continue;
        }
        for v in near.iter().filter(|v| **v != b) {
            all.extend(
                [Op::Add, Op::Sub].map(|op| Term::op(op, Term::Symbol(b), Term::Symbol(*v))),
            );
        }
    }
    all
}

/// `threadIdx.y * width + threadIdx.x`.
fn products(rows: Rows<'_>) -> Vec<Term> {
    let of = |axis: u8| {
        (0..rows.symbols.len()).find(|s| rows.symbols[*s].kind == SymbolKind::Thread(axis))
    };
    let (Some(x), Some(y)) = (of(0), of(1)) else { return vec![] };
    let product = |width: Term| Term::op(Op::Mul, Term::Symbol(y), width);
    widths(rows).into_iter().map(|w| Term::op(Op::Add, product(w), Term::Symbol(x))).collect()
}

/// The best candidates by the rows they are right on, one for each set of rows.
#[derive(Default)]
struct Ranked {
    list: Vec<Candidate>,
    by_rows: HashMap<Bits, usize>,
}

impl Ranked {
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

/// Subscripts of each dimension by itself, joined where both are right. With `width`, they are joined to a flat one.
fn per_dimension(
    rows: Rows<'_>,
    shape: &Shape,
    places: Places<'_>,
    width: &[Term],
    terms: &[(Term, u32)],
) -> Vec<Candidate> {
    let split = |flat: i64, inner: &[i64]| -> Vec<i64> {
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
    let parts: Vec<Vec<Vec<i64>>> = places
        .iter()
        .zip(&shape.inner)
        .map(|(list, inner)| list.iter().map(|p| split(*p, inner)).collect())
        .collect();
    let sample = sample(places);
    let lists: Vec<Vec<Valued>> =
        (0..shape.rank).map(|d| best_terms(rows, terms, &sample, &parts, d)).collect();
    let lists: Vec<Vec<&Valued>> = lists.iter().map(|l| l.iter().collect()).collect();
    let mut best = Ranked::default();
    let mut chosen = vec![];
    join(&lists, &mut chosen, &mut |chosen: &[&Valued]| {
        let right = Bits::from_fn(places.len(), |i| {
            parts[i].iter().any(|p| p.iter().zip(chosen).all(|(v, t)| t.values[i] == Some(*v)))
        });
        if right.is_empty() {
            return;
        }
        let cost = chosen.iter().map(|t| t.cost).sum::<u32>()
            + width.iter().map(|w| w.cost(rows.symbols) + 3).sum::<u32>();
        let terms: Vec<Term> = chosen.iter().map(|t| t.term.clone()).collect();
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

/// Terms that are often right in one dimension.
fn best_terms(
    rows: Rows<'_>,
    terms: &[(Term, u32)],
    sample: &[usize],
    parts: &[Vec<Vec<i64>>],
    d: usize,
) -> Vec<Valued> {
    let rank = parts.iter().flatten().next().map_or(1, Vec::len);
    let right = |term: &Term, i: usize| {
        let value = term.value(rows.values[i]);
        value.is_some_and(|v| parts[i].iter().any(|p| p[d] == v))
    };
    let mut ranked: Vec<(usize, u32, &Term)> = vec![];
    let mut seen: HashMap<Vec<bool>, usize> = HashMap::new();
    for (term, cost) in terms {
        if few(sample, |i| right(term, i), 10) {
            continue;
        }
        let hits: Vec<bool> = sample.iter().map(|i| right(term, *i)).collect();
        let count = hits.iter().filter(|h| **h).count();
        match seen.get(&hits) {
            Some(at) if ranked[*at].1 <= *cost => {}
            Some(at) => ranked[*at] = (count, *cost, term),
            None => {
                seen.insert(hits, ranked.len());
                ranked.push((count, *cost, term));
            }
        }
    }
    ranked.sort_by_key(|(hits, cost, _)| (usize::MAX - hits, *cost));
    ranked.truncate(if rank > 2 { 6 } else { 14 });
    ranked.into_iter().map(|(_, _, t)| valued(rows, t.clone())).collect()
}

fn join<'a>(
    lists: &[Vec<&'a Valued>],
    chosen: &mut Vec<&'a Valued>,
    see: &mut dyn FnMut(&[&'a Valued]),
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

/// What a subscript of one dimension may be: a position moved, and with [`Way::Reduced`] more.
fn dimension_terms(rows: Rows<'_>, way: Way) -> Vec<(Term, u32)> {
    let symbols = rows.symbols;
    let of = |f: fn(SymbolKind) -> bool| -> Vec<usize> {
        (0..symbols.len()).filter(|s| f(symbols[*s].kind)).collect()
    };
    let threads = of(|k| matches!(k, SymbolKind::Thread(_)));
    let variables = of(|k| matches!(k, SymbolKind::Variable));
    let mut plain: Vec<Term> = threads.iter().chain(&variables).map(|s| Term::Symbol(*s)).collect();
    for t in &threads {
        plain.extend(
            variables.iter().map(|v| Term::op(Op::Add, Term::Symbol(*t), Term::Symbol(*v))),
        );
    }
    let mut terms: Vec<Term> = (0..4).map(Term::Number).collect();
    for p in &plain {
        terms.extend((-4..=4).map(|o| p.clone().plus(o)));
    }
    if way == Way::Reduced {
        let bounds = of(|k| matches!(k, SymbolKind::Constant | SymbolKind::Block(_)));
        let blocks = of(|k| matches!(k, SymbolKind::Grid(_)));
        for v in threads.iter().chain(&variables) {
            for b in &bounds {
                reduced(&mut terms, *v, *b, &blocks);
            }
        }
    }
    terms.into_iter().map(|t| (t.cost(symbols), t)).map(|(c, t)| (t, c)).collect()
}

/// A position reduced by about the extent of a block, clamped to it, or counted from where the block begins.
fn reduced(terms: &mut Vec<Term>, position: usize, bound: usize, blocks: &[usize]) {
    let position = || Term::Symbol(position);
    for cut in [0, -1, -2, -4] {
        let length = || Term::Symbol(bound).plus(cut);
        for shift in [0, -1, 1] {
            let rest = Term::op(Op::Rem, position().plus(shift), length());
            terms.extend([0, 1, 2].map(|o| rest.clone().plus(o)));
        }
        let clamped = Term::op(Op::Min, position(), length().plus(-1));
        terms.extend([-1, 0, 1].map(|o| clamped.clone().plus(o)));
        for block in blocks {
            let first = Term::op(Op::Mul, Term::Symbol(*block), length());
            let from = Term::op(Op::Sub, position(), first);
            terms.extend((-2..=3).map(|o| from.clone().plus(o)));
        }
    }
    terms.push(Term::op(Op::Div, position(), Term::Symbol(bound)));
}
