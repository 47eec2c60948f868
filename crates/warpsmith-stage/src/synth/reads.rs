//! A marked read: where its element is in a tile, and how that is written.

use super::bits::Bits;
use super::condition::{Condition, Conditions};
use super::index::{self, Candidate, Shape, Way};
use super::sides::Sides;
use super::table::Table;
use super::term::Term;
use crate::plan::{Point, Symbol, SymbolKind};
use crate::profile::rows::Row;

/// What a marked read becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of the array among those in scope.
    pub array: usize,
    /// Where the element is in the tile; `None`: everywhere.
    pub guard: Option<Condition>,
    pub subscript: Subscript,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    One(Vec<Term>),
    /// `condition ? first : second`.
    Either(Condition, Vec<Term>, Vec<Term>),
}

impl Subscript {
    /// The terms of all dimensions, where there is one way to say them.
    fn terms(&self) -> &[Term] {
        match self {
            Subscript::One(terms) => terms,
            Subscript::Either(..) => &[],
        }
    }

    fn on(&self, values: &[i64]) -> Option<Vec<i64>> {
        let terms = match self {
            Subscript::One(terms) => terms,
            Subscript::Either(c, a, b) => {
                if c.holds(values)? {
                    a
                } else {
                    b
                }
            }
        };
        terms.iter().map(|t| t.value(values)).collect()
    }

    fn text(&self, symbols: &[Symbol]) -> String {
        let plain = |terms: &[Term]| -> String {
            terms.iter().map(|t| format!("[{}]", t.text(symbols))).collect()
        };
        match self {
            Subscript::One(terms) => plain(terms),
            Subscript::Either(c, a, b) => {
                let condition = c.text(symbols);
                let one = |(a, b): (&Term, &Term)| match a == b {
                    true => format!("[{}]", a.text(symbols)),
                    false => format!("[{condition} ? {} : {}]", a.text(symbols), b.text(symbols)),
                };
                a.iter().zip(b).map(one).collect()
            }
        }
    }
}

/// Why a read cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No row has a place.
    Never,
    /// No subscript was found.
    NoSubscript,
    /// Places exist on rows that no condition tells from the others; one row of each side.
    NoGuard(usize, usize),
}

/// How much is tried. What people write is found with the usual effort, and is simple; with more, long guards are found that are
/// right all the same, and with a great one long sums, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    #[default]
    Usual,
    More,
    Great,
}

/// The extents of an array on each row, without the outermost.
pub type Inner<'a> = &'a dyn Fn(usize, &Row) -> Vec<i64>;

/// Finds how a read is served on all rows.
///
/// # Errors
/// [`Trouble`].
pub fn solve(
    point: &Point,
    rows: &[Row],
    inner: Inner<'_>,
    effort: Effort,
) -> Result<Answer, Trouble> {
    let arrays = point.site.arrays.len();
    let counts: Vec<usize> = (0..arrays)
        .map(|a| rows.iter().filter(|r| r.places.iter().any(|p| usize::from(p.0) == a)).count())
        .collect();
    let mut order: Vec<usize> = (0..arrays).filter(|a| counts[*a] > 0).collect();
    order.sort_by_key(|a| usize::MAX - counts[*a]);
    let mut trouble = Trouble::Never;
    for array in order {
        match in_array(point, rows, inner, (array, effort)) {
            Ok(answer) => return Ok(answer),
            Err(t) => trouble = t,
        }
    }
    Err(trouble)
}

fn in_array(
    point: &Point,
    rows: &[Row],
    inner: Inner<'_>,
    (array, effort): (usize, Effort),
) -> Result<Answer, Trouble> {
    let table = &Table::new(&point.symbols, rows);
    let places: Vec<Vec<i64>> = rows
        .iter()
        .map(|r| {
            r.places.iter().filter(|p| usize::from(p.0) == array).map(|p| i64::from(p.1)).collect()
        })
        .collect();
    let held = Bits::from_fn(rows.len(), |i| !places[i].is_empty());
    let rank = point.site.arrays[array].rank;
    let shape = Shape { inner: rows.iter().map(|r| inner(array, r)).collect(), rank };
    let mut conditions = Conditions::new(table);
    // What the user counts positions from first, then every dimension of the tile by itself.
    let ways = Way::ALL.into_iter().filter(|w| effort == Effort::Great || *w != Way::Sums);
    let looked = |way| Looked { table, shape: &shape, places: &places, held: &held, way };
    let alike = ways.clone().find_map(|way| looked(way).choose(&mut conditions));
    let last = ways.clone().next_back().filter(|_| effort != Effort::Usual);
    let subscript = alike.or_else(|| looked(last?).apart(&mut conditions));
    let subscript = subscript.ok_or(Trouble::NoSubscript)?;
    let guard = match held.count() == rows.len() {
        true => None,
        false => {
            let missing = held.complement();
            let found = match effort {
                Effort::Usual => conditions.find(&held, &missing),
                Effort::More | Effort::Great => {
                    conditions.find_inside(&held, &missing, subscript.terms())
                }
            };
            Some(found.ok_or_else(|| {
                Trouble::NoGuard(held.first().unwrap_or(0), missing.first().unwrap_or(0))
            })?)
        }
    };
    Ok(Answer { array, guard, subscript })
}

/// First candidates that exceptions are looked for to.
const MAX_FIRST: usize = 3;
/// Exceptions to one first candidate that conditions are looked for to.
const MAX_SECOND: usize = 4;

/// Variables by which rows are taken apart.
const MAX_SPLIT: usize = 6;

/// What subscripts are looked for on.
struct Looked<'a> {
    table: &'a Table<'a>,
    shape: &'a Shape,
    places: &'a [Vec<i64>],
    held: &'a Bits,
    way: Way,
}

impl Looked<'_> {
    /// One candidate that is right wherever there is a place, or two and what tells them apart.
    fn choose(&self, conditions: &mut Conditions<'_>) -> Option<Subscript> {
        let candidates = index::find(self.table, self.shape, self.places, self.way);
        let full =
            candidates.iter().filter(|c| self.held.is_subset(&c.right)).min_by_key(|c| c.cost);
        if let Some(c) = full {
            return Some(Subscript::One(c.terms.clone()));
        }
        let mut best: Option<(usize, Subscript)> = None;
        for first in candidates.iter().take(MAX_FIRST) {
            for (cost, either) in self.with_exception(first, conditions) {
                if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                    best = Some((cost, either));
                }
            }
        }
        best.map(|(_, s)| s)
    }

    /// Two candidates for where some variable is zero and for where it is not: an offset that keeps a read inside of the border.
    fn apart(&self, conditions: &mut Conditions<'_>) -> Option<Subscript> {
        let symbols = self.table.symbols.iter().enumerate();
        let variables = symbols.filter(|(_, s)| s.kind == SymbolKind::Variable).map(|(n, _)| n);
        let split = |n: usize| {
            let zero = Bits::from_fn(self.places.len(), |i| self.table.column(n)[i] == 0);
            let there = self.held.and(&zero);
            let elsewhere = self.held.minus(&zero);
            let fewer = there.count().min(elsewhere.count());
            (fewer > 0).then_some((fewer, [there, elsewhere]))
        };
        let mut splits: Vec<(usize, [Bits; 2])> = variables.filter_map(split).collect();
        splits.sort_by_key(|(fewer, _)| usize::MAX - fewer);
        splits.into_iter().take(MAX_SPLIT).find_map(|(_, [there, elsewhere])| {
            let c = conditions.find(&there, &elsewhere)?;
            Some(Subscript::Either(c, self.one(&there)?, self.one(&elsewhere)?))
        })
    }

    /// The simplest candidate that is right on all of some rows.
    fn one(&self, rows: &Bits) -> Option<Vec<Term>> {
        Way::ALL.into_iter().take_while(|w| *w <= self.way).find_map(|way| {
            let full = self.on(rows, way).into_iter().filter(|c| rows.is_subset(&c.right));
            full.min_by_key(|c| c.cost).map(|c| c.terms)
        })
    }

    /// Candidates for some rows alone.
    fn on(&self, rows: &Bits, way: Way) -> Vec<Candidate> {
        let there = |(i, p): (usize, &Vec<i64>)| if rows.get(i) { p.clone() } else { vec![] };
        let places: Vec<Vec<i64>> = self.places.iter().enumerate().map(there).collect();
        index::find(self.table, self.shape, &places, way)
    }

    /// Subscripts that are `first` but on the rows that it is wrong on.
    fn with_exception(
        &self,
        first: &Candidate,
        conditions: &mut Conditions<'_>,
    ) -> Vec<(usize, Subscript)> {
        let rest = self.held.minus(&first.right);
        let seconds = self.on(&rest, self.way);
        let mut all = vec![];
        for second in seconds.iter().filter(|c| rest.is_subset(&c.right)).take(MAX_SECOND) {
            let everywhere = index::right(self.table, self.shape, self.places, &second.terms);
            let only_first = self.held.minus(&everywhere);
            // The exception is what the condition names.
            let Some(c) = conditions.find(&rest, &only_first) else { continue };
            let cost = c.comparisons() * 20 + (first.cost + second.cost) as usize;
            all.push((cost, Subscript::Either(c, second.terms.clone(), first.terms.clone())));
        }
        all
    }
}

impl Answer {
    /// Whether it says on a row what the row says.
    pub fn suits(&self, row: &Row, inner: &[i64]) -> bool {
        let here: Vec<u32> =
            row.places.iter().filter(|p| usize::from(p.0) == self.array).map(|p| p.1).collect();
        let guarded = match &self.guard {
            Some(c) => c.holds(&row.values),
            None => Some(true),
        };
        if guarded != Some(true) {
            return guarded == Some(false) && here.is_empty();
        }
        let Some(indices) = self.subscript.on(&row.values) else { return false };
        let mut flat = 0;
        for (d, i) in indices.iter().enumerate() {
            flat = if d == 0 { *i } else { flat * inner.get(d - 1).copied().unwrap_or(1) + i };
        }
        here.iter().any(|p| i64::from(*p) == flat)
    }

    /// The expression that takes the place of the mark, with conditions as `sides` have them.
    pub fn text(&self, point: &Point, original: &str, sides: &Sides) -> String {
        let array = &point.site.arrays[self.array].name;
        let shared = format!("{array}{}", self.subscript.text(&point.symbols));
        match &self.guard {
            None => shared,
            Some(c) => {
                let text = sides.text(&c.conjuncts(&point.symbols));
                let guard = if c.comparisons() > 1 { format!("({text})") } else { text };
                format!("({guard} ? {shared} : {original})")
            }
        }
    }

    /// What its condition asks for, all of it.
    pub fn conjuncts(&self, point: &Point) -> Vec<String> {
        self.guard.as_ref().map_or(vec![], |c| c.conjuncts(&point.symbols))
    }
}
