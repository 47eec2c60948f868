//! The rows that expressions are looked for on, symbol by symbol.

use std::collections::HashMap;

use super::term::{Op, Term};
use crate::plan::{Symbol, SymbolKind};
use crate::profile::rows::Row;

/// The value of an expression where it has none.
pub const NONE: i64 = i64::MIN;

/// Values of all symbols on some rows.
#[derive(Debug)]
pub struct Table<'a> {
    pub symbols: &'a [Symbol],
    pub len: usize,
    columns: Vec<Vec<i64>>,
    /// For each symbol, whether a thread comes by with several values of it: counters of its loops.
    steps: Vec<bool>,
    /// For each symbol, whether all threads of a launch have one value of it: sizes.
    uniform: Vec<bool>,
    /// Constants that differ between launches of one block: how far reads go, say.
    free: Vec<usize>,
}

/// How far the values of a variable may be apart that counts steps around a position.
const NEAR: i64 = 12;
/// The same for a variable that changes while a thread stays where it is.
const FAR: i64 = 64;

impl<'a> Table<'a> {
    pub fn new(symbols: &'a [Symbol], rows: &[Row]) -> Table<'a> {
        let columns =
            (0..symbols.len()).map(|s| rows.iter().map(|r| r.values[s]).collect()).collect();
        let mut steps = vec![false; symbols.len()];
        let mut uniform = vec![true; symbols.len()];
        let mut threads: HashMap<(usize, u32), &Row> = HashMap::new();
        let mut launches: HashMap<usize, &Row> = HashMap::new();
        for r in rows {
            let thread = *threads.entry((r.launch, r.thread)).or_insert(r);
            let launch = *launches.entry(r.launch).or_insert(r);
            for s in 0..symbols.len() {
                steps[s] |= thread.values[s] != r.values[s];
                uniform[s] &= launch.values[s] == r.values[s];
            }
        }
        let free = free(symbols, &launches.into_values().collect::<Vec<_>>());
        Table { symbols, len: rows.len(), columns, steps, uniform, free }
    }

    /// Constants that differ between launches of one block, once each: numbers that come from them are to be written with them.
    pub fn free(&self) -> Vec<usize> {
        self.distinct(&self.free, &[])
    }

    pub fn is_free(&self, symbol: usize) -> bool {
        self.free.contains(&symbol)
    }

    pub fn column(&self, symbol: usize) -> &[i64] {
        &self.columns[symbol]
    }

    /// Symbols of some kinds.
    pub fn of(&self, kind: impl Fn(SymbolKind) -> bool) -> Vec<usize> {
        (0..self.symbols.len()).filter(|s| kind(self.symbols[*s].kind)).collect()
    }

    /// Of some symbols, those that differ from all before; equal ones say the same.
    pub fn distinct(&self, symbols: &[usize], before: &[usize]) -> Vec<usize> {
        let mut seen: HashMap<&[i64], ()> = before.iter().map(|s| (self.column(*s), ())).collect();
        let new = |s: &&usize| seen.insert(self.column(**s), ()).is_none();
        symbols.iter().filter(new).copied().collect()
    }

    pub fn same(&self, a: usize, b: usize) -> bool {
        self.column(a) == self.column(b)
    }

    /// Whether a variable takes several values that all lie together, and is no size.
    pub fn is_near(&self, symbol: usize) -> bool {
        let values = || self.column(symbol).iter();
        let (low, high) = (values().min().unwrap_or(&0), values().max().unwrap_or(&0));
        let reach = if self.steps[symbol] { FAR } else { NEAR };
        low < high && high - low <= reach && !self.uniform[symbol]
    }

    /// The values of an expression, [`NONE`] where it has none.
    pub fn values(&self, term: &Term) -> Vec<i64> {
        match term {
            Term::Number(n) => vec![*n; self.len],
            Term::Symbol(s) => self.column(*s).to_vec(),
            Term::Binary(op, a, b) => {
                let mut values = self.values(a);
                let others = self.values(b);
                values.iter_mut().zip(&others).for_each(|(a, b)| *a = applied(*op, *a, *b));
                values
            }
        }
    }
}

/// Constants that have several values in launches of one block.
fn free(symbols: &[Symbol], launches: &[&Row]) -> Vec<usize> {
    let kind = |s: &usize| symbols[*s].kind;
    let of = |wanted: fn(SymbolKind) -> bool| (0..symbols.len()).filter(move |s| wanted(kind(s)));
    let block: Vec<usize> = of(|k| matches!(k, SymbolKind::Block(_))).collect();
    let alike = |a: &Row, b: &Row| block.iter().all(|s| a.values[*s] == b.values[*s]);
    let differs = |s: &usize| {
        let other = |a: &Row, b: &&&Row| a.values[*s] != b.values[*s] && alike(a, b);
        launches.iter().any(|a| launches.iter().any(|b| other(a, &b)))
    };
    of(|k| k == SymbolKind::Constant).filter(differs).collect()
}

/// What an operation gives on values that may be [`NONE`].
pub fn applied(op: Op, a: i64, b: i64) -> i64 {
    match a == NONE || b == NONE {
        true => NONE,
        false => op.apply(a, b).unwrap_or(NONE),
    }
}
