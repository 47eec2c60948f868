//! Conditions: comparisons joined by `&&` and `||` that are true on some rows and false on others.
//!
//! Candidates come in tiers, those that say most first: a thread against a bound of the tile, then positions against sizes,
//! then everything against everything. A tier is only looked at when the ones before have no answer.

use std::collections::{HashMap, HashSet};

use super::bits::Bits;
use super::term::{Op, Term};
use crate::plan::{Symbol, SymbolKind};

/// `left op right`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    pub left: Term,
    pub op: Compare,
    pub right: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }

    fn negated(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
            Compare::Ge => Compare::Lt,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }
}

impl Comparison {
    fn text(&self, symbols: &[Symbol]) -> String {
        // Thread indices are unsigned: a sum with a negative number would wrap around.
        let left = match &self.left {
            Term::Binary(Op::Add, a, b) => {
                format!("(int){} + {}", a.text(symbols), b.text(symbols))
            }
            other => other.text(symbols),
        };
        let right = self.right.text(symbols);
        let sum = matches!(self.left, Term::Binary(..));
        let right = match (sum && unsigned(&self.right, symbols), &self.right) {
            (false, _) => right,
            (true, Term::Symbol(_)) => format!("(int){right}"),
            (true, _) => format!("(int)({right})"),
        };
        format!("{left} {} {right}", self.op.symbol())
    }

    fn negated(&self) -> Comparison {
        Comparison { op: self.op.negated(), ..self.clone() }
    }

    fn holds(&self, values: &[i64]) -> Option<bool> {
        Some(self.op.holds(self.left.value(values)?, self.right.value(values)?))
    }
}

/// Whether a term has the type of `blockDim`.
fn unsigned(term: &Term, symbols: &[Symbol]) -> bool {
    match term {
        Term::Number(_) => false,
        Term::Symbol(s) => matches!(symbols[*s].kind, SymbolKind::Block(_) | SymbolKind::Grid(_)),
        Term::Binary(_, a, b) => unsigned(a, symbols) || unsigned(b, symbols),
    }
}

/// Groups of comparisons: a conjunction of disjunctions, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// `(a || b) && c` when true, `(a && b) || c` when false.
    pub conjunction: bool,
    pub groups: Vec<Vec<Comparison>>,
}

impl Condition {
    pub fn holds(&self, values: &[i64]) -> Option<bool> {
        let mut all = self.conjunction;
        for group in &self.groups {
            let mut one = !self.conjunction;
            for c in group {
                let holds = c.holds(values)?;
                one = if self.conjunction { one | holds } else { one & holds };
            }
            all = if self.conjunction { all & one } else { all | one };
        }
        Some(all)
    }

    pub fn text(&self, symbols: &[Symbol]) -> String {
        let (outer, inner) = if self.conjunction { (" && ", " || ") } else { (" || ", " && ") };
        let group = |g: &Vec<Comparison>| {
            let text: Vec<String> = g.iter().map(|c| c.text(symbols)).collect();
            match g.len() > 1 && self.groups.len() > 1 {
                true => format!("({})", text.join(inner)),
                false => text.join(inner),
            }
        };
        self.groups.iter().map(group).collect::<Vec<_>>().join(outer)
    }

    pub fn comparisons(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }
}

/// The rows that a condition is looked for on.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub symbols: &'a [Symbol],
    pub values: &'a [&'a [i64]],
    /// For each symbol, whether a thread comes by with several values of it: counters of its loops.
    pub steps: &'a [bool],
}

impl Rows<'_> {
    /// Whether a variable takes several values that all lie together.
    pub fn is_near(&self, symbol: usize) -> bool {
        let values = || self.values.iter().map(|v| v[symbol]);
        let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        let reach = if self.steps.get(symbol) == Some(&true) { FAR } else { NEAR };
        low < high && high - low <= reach
    }
}

#[derive(Clone, Debug)]
struct Atom {
    comparison: Comparison,
    bits: Bits,
    cost: u32,
}

/// Comparisons that a condition may have.
const MAX_COMPARISONS: usize = 4;
/// Comparisons that are tried in pairs.
const MAX_PAIRED: usize = 500;
/// Tiers of comparisons.
const TIERS: u8 = 4;
/// How far the values of a variable may be apart that counts steps around a position.
const NEAR: i64 = 12;
/// The same for a variable that changes while a thread stays where it is.
const FAR: i64 = 64;

/// The comparisons on some rows, made as they are needed.
#[derive(Debug)]
pub struct Conditions<'a> {
    rows: Rows<'a>,
    atoms: Vec<Atom>,
    /// How many of them the tiers up to each have.
    tiers: Vec<Vec<usize>>,
    known: HashMap<Bits, usize>,
}

impl<'a> Conditions<'a> {
    pub fn new(rows: Rows<'a>) -> Conditions<'a> {
        Conditions { rows, atoms: vec![], tiers: vec![], known: HashMap::new() }
    }

    /// The simplest condition that holds on all of `yes` and on none of `no`; on other rows it may be either.
    pub fn find(&mut self, yes: &Bits, no: &Bits) -> Option<Condition> {
        for tier in 0..TIERS {
            if self.tiers.len() <= usize::from(tier) {
                self.grow(tier);
            }
            let atoms: Vec<&Atom> =
                self.tiers[usize::from(tier)].iter().map(|a| &self.atoms[*a]).collect();
            let direct = search(&atoms, yes, no);
            // A disjunction of conjunctions is what is left when neither of the opposite holds.
            let opposite = search(&atoms, no, yes).map(|(cost, groups)| {
                let negated =
                    groups.iter().map(|g| g.iter().map(Comparison::negated).collect()).collect();
                (cost, negated)
            });
            let best = match (direct, opposite) {
                (Some(a), Some(b)) if b.0 < a.0 => Some((false, b.1)),
                (Some(a), _) => Some((true, a.1)),
                (None, Some(b)) => Some((false, b.1)),
                (None, None) => None,
            };
            if let Some((conjunction, groups)) = best {
                return Some(Condition { conjunction, groups });
            }
        }
        None
    }

    fn grow(&mut self, tier: u8) {
        let symbols = self.rows.symbols;
        let of = |f: fn(SymbolKind) -> bool| -> Vec<usize> {
            (0..symbols.len()).filter(|s| f(symbols[*s].kind)).collect()
        };
        let threads = of(|k| matches!(k, SymbolKind::Thread(_)));
        let bounds = of(|k| matches!(k, SymbolKind::Constant | SymbolKind::Block(_)));
        let variables = of(|k| matches!(k, SymbolKind::Variable));
        let numbers = [0, 1, 2, 3];
        match tier {
            0 => {
                for t in &threads {
                    let t = *t;
                    numbers.iter().for_each(|n| self.compare(t, Term::Number(*n), 0));
                    for b in &bounds {
                        (-3..=1).for_each(|o| {
                            self.compare(t, Term::Symbol(*b).plus(o), own_axis(symbols, t, *b))
                        });
                    }
                }
            }
            1 => {
                for v in &variables {
                    numbers.iter().for_each(|n| self.compare(*v, Term::Number(*n), 2));
                    for w in &variables {
                        (-2..=2)
                            .filter(|_| v != w)
                            .for_each(|o| self.compare(*v, Term::Symbol(*w).plus(o), 3));
                    }
                }
            }
            2 => {
                let near: Vec<usize> =
                    variables.iter().copied().filter(|v| self.rows.is_near(*v)).collect();
                for t in &threads {
                    for v in &near {
                        let sum = Term::op(Op::Add, Term::Symbol(*t), Term::Symbol(*v));
                        numbers.iter().for_each(|n| self.compare_terms(&sum, Term::Number(*n), 4));
                        for b in &bounds {
                            let kind = 4 + own_axis(symbols, *t, *b);
                            (-2..=1).for_each(|o| {
                                self.compare_terms(&sum, Term::Symbol(*b).plus(o), kind)
                            });
                        }
                    }
                }
            }
            _ => {
                let all = of(|k| !matches!(k, SymbolKind::Constant | SymbolKind::Block(_)));
                for v in all {
                    numbers.iter().for_each(|n| self.compare(v, Term::Number(*n), 8));
                    for w in (0..symbols.len()).filter(|w| *w != v) {
                        (-2..=2).for_each(|o| self.compare(v, Term::Symbol(w).plus(o), 9));
                    }
                }
            }
        }
        let mut order: Vec<usize> = (0..self.atoms.len()).collect();
        order.sort_by_key(|a| self.atoms[*a].cost);
        self.tiers.push(order);
    }

    fn compare(&mut self, left: usize, right: Term, kind: u32) {
        self.compare_terms(&Term::Symbol(left), right, kind);
    }

    /// All comparisons of a term with a bound that tell rows apart.
    fn compare_terms(&mut self, left: &Term, right: Term, kind: u32) {
        let rows = self.rows;
        let pairs: Vec<Option<(i64, i64)>> =
            rows.values.iter().map(|v| Some((left.value(v)?, right.value(v)?))).collect();
        for op in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Ge, Compare::Le, Compare::Gt] {
            let bits =
                Bits::from_fn(rows.values.len(), |i| pairs[i].is_some_and(|(a, b)| op.holds(a, b)));
            if bits.is_empty() || bits.count() == bits.len() {
                continue;
            }
            let comparison = Comparison { left: left.clone(), op, right: right.clone() };
            let order = !matches!(op, Compare::Eq | Compare::Ne);
            let sum = matches!(right, Term::Binary(Op::Add, ..));
            let cost = 10 + kind + right.cost(rows.symbols) + u32::from(order) + u32::from(sum);
            match self.known.get(&bits) {
                Some(at) if self.atoms[*at].cost <= cost => {}
                Some(at) => self.atoms[*at] = Atom { comparison, bits, cost },
                None => {
                    self.known.insert(bits.clone(), self.atoms.len());
                    self.atoms.push(Atom { comparison, bits, cost });
                }
            }
        }
    }
}

/// A thread's x belongs to the block's x: other bounds are likely equal by accident.
fn own_axis(symbols: &[Symbol], thread: usize, bound: usize) -> u32 {
    match (symbols[thread].kind, symbols[bound].kind) {
        (SymbolKind::Thread(a), SymbolKind::Block(b)) if a != b => 12,
        (SymbolKind::Thread(_), SymbolKind::Block(_)) => 0,
        _ => 0,
    }
}

/// A clause of one or two comparisons that holds on all of `yes`.
struct Clause<'a> {
    atoms: Vec<&'a Atom>,
    excludes: Bits,
    cost: u32,
}

/// Clauses that together hold on all of `yes` and on none of `no`, of least cost.
fn search(atoms: &[&Atom], yes: &Bits, no: &Bits) -> Option<(u32, Vec<Vec<Comparison>>)> {
    if no.is_empty() {
        return None;
    }
    let mut clauses: Vec<Clause<'_>> = vec![];
    let mut partial: Vec<&Atom> = vec![];
    for atom in atoms {
        let excludes = no.minus(&atom.bits);
        if yes.is_subset(&atom.bits) {
            if !excludes.is_empty() {
                clauses.push(Clause { atoms: vec![atom], excludes, cost: atom.cost });
            }
        } else if partial.len() < MAX_PAIRED && !excludes.is_empty() && !yes.is_disjoint(&atom.bits)
        {
            partial.push(atom);
        }
    }
    for (i, a) in partial.iter().enumerate() {
        let rest = yes.minus(&a.bits);
        for b in &partial[i + 1..] {
            if rest.is_subset(&b.bits) {
                let excludes = no.minus(&a.bits).minus(&b.bits);
                if !excludes.is_empty() {
                    clauses.push(Clause { atoms: vec![a, b], excludes, cost: a.cost + b.cost });
                }
            }
        }
    }
    clauses.sort_by_key(|c| c.cost);
    let mut seen = HashSet::new();
    clauses.retain(|c| seen.insert(c.excludes.clone()));
    let mut best = Best { cost: u32::MAX, clauses: vec![], tried: 0 };
    // Few clauses first: more of them may be cheaper, but say less.
    for count in 1..=MAX_COMPARISONS {
        let room = Room { clauses: count, comparisons: MAX_COMPARISONS };
        cover(&clauses, no, &mut vec![], room, 0, &mut best);
        if best.cost < u32::MAX {
            break;
        }
    }
    if best.cost == u32::MAX {
        return None;
    }
    let groups = best
        .clauses
        .iter()
        .map(|c| clauses[*c].atoms.iter().map(|a| a.comparison.clone()).collect());
    Some((best.cost, groups.collect()))
}

struct Best {
    cost: u32,
    clauses: Vec<usize>,
    tried: u32,
}

/// Clauses that are tried in all, so that a search ends.
const MAX_TRIED: u32 = 6_000;

/// What a condition may still have.
#[derive(Clone, Copy)]
struct Room {
    clauses: usize,
    comparisons: usize,
}

fn cover(
    clauses: &[Clause<'_>],
    left: &Bits,
    chosen: &mut Vec<usize>,
    room: Room,
    cost: u32,
    best: &mut Best,
) {
    let Some(row) = left.first() else {
        if cost < best.cost {
            best.cost = cost;
            best.clauses = chosen.clone();
        }
        return;
    };
    for (i, clause) in clauses.iter().enumerate() {
        if cost + clause.cost >= best.cost || best.tried > MAX_TRIED {
            return;
        }
        let last = room.clauses == 1;
        let useful = if last { left.is_subset(&clause.excludes) } else { clause.excludes.get(row) };
        if clause.atoms.len() > room.comparisons || !useful {
            continue;
        }
        best.tried += u32::from(!last);
        chosen.push(i);
        let rest =
            Room { clauses: room.clauses - 1, comparisons: room.comparisons - clause.atoms.len() };
        cover(clauses, &left.minus(&clause.excludes), chosen, rest, cost + clause.cost, best);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Vec<Symbol> {
        let s = |text: &str, kind| Symbol { text: text.into(), kind, int: false };
        vec![
            s("threadIdx.x", SymbolKind::Thread(0)),
            s("threadIdx.y", SymbolKind::Thread(1)),
            s("blockDim.x", SymbolKind::Block(0)),
            s("blockDim.y", SymbolKind::Block(1)),
            s("i", SymbolKind::Variable),
            s("nx", SymbolKind::Variable),
        ]
    }

    fn rows() -> Vec<Vec<i64>> {
        let mut rows = vec![];
        for (bx, by, nx) in [(5, 4, 13), (4, 6, 11)] {
            for block in 0..3 {
                for y in 0..by {
                    for x in 0..bx {
                        rows.push(vec![x, y, bx, by, block * bx + x, nx]);
                    }
                }
            }
        }
        rows
    }

    fn found(wanted: impl Fn(&[i64]) -> bool) -> String {
        let (symbols, rows) = (symbols(), rows());
        let values: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        let yes = Bits::from_fn(rows.len(), |i| wanted(&rows[i]));
        let rows = Rows { symbols: &symbols, values: &values, steps: &[] };
        let mut conditions = Conditions::new(rows);
        let condition = conditions.find(&yes, &yes.complement());
        condition.map_or("none".into(), |c| c.text(&symbols))
    }

    #[test]
    fn guards_name_threads_and_bounds_of_the_tile() {
        assert_eq!(found(|r| r[0] != 0), "threadIdx.x != 0");
        assert_eq!(found(|r| r[0] + 1 != r[2]), "threadIdx.x != blockDim.x - 1");
        assert_eq!(found(|r| r[0] != 0 || r[4] == 0), "threadIdx.x != 0 || i == 0");
        assert_eq!(
            found(|r| r[0] + 1 == r[2] || r[4] + 1 == r[5]),
            "threadIdx.x == blockDim.x - 1 || i == nx - 1"
        );
    }

    #[test]
    fn four_comparisons_are_found() {
        let text = found(|r| r[0] > 0 && r[0] < r[2] - 1 && r[1] > 0 && r[1] < r[3] - 1);
        assert_eq!(text.matches("&&").count(), 3, "{text}");
        assert!(!text.contains('i') || text.contains("threadIdx"), "{text}");
        let text = found(|r| (r[0] != 0 || r[4] == 0) && r[1] + 1 != r[3]);
        assert_eq!(text, "threadIdx.y != blockDim.y - 1 && (threadIdx.x != 0 || i == 0)");
    }

    #[test]
    fn what_cannot_be_said_is_not() {
        assert_eq!(found(|r| (r[0] * 7 + r[1] * 3) % 5 == 2), "none");
    }
}
