//! Conditions: comparisons joined by `&&` and `||` that are true on some rows and false on others.
//!
//! Candidates come in tiers, those that say most first: a thread against a bound of the tile, then positions against sizes,
//! then everything against everything. A tier is only looked at when the ones before have no answer.

use std::ops::RangeInclusive;

use super::bits::{Bits, ByBits};
use super::comparison::{Compare, Comparison, are_apart};
use super::cover::{MAX_COMPARISONS, MAX_INSIDE, search};
use super::pieces;
use super::positions::once_and_twice;
use super::table::{NONE, Table};
use super::term::{Op, Term};
use crate::plan::{Symbol, SymbolKind};

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
        let outer = if self.conjunction { " && " } else { " || " };
        self.groups_as_text(symbols).join(outer)
    }

    /// The texts that are joined by `&&`: one where the condition is a disjunction.
    pub fn conjuncts(&self, symbols: &[Symbol]) -> Vec<String> {
        match self.conjunction {
            true => self.groups_as_text(symbols),
            false if self.groups.len() == 1 => {
                self.groups[0].iter().map(|c| c.text(symbols)).collect()
            }
            false => vec![self.text(symbols)],
        }
    }

    fn groups_as_text(&self, symbols: &[Symbol]) -> Vec<String> {
        let inner = if self.conjunction { " || " } else { " && " };
        let group = |g: &Vec<Comparison>| {
            let text: Vec<String> = g.iter().map(|c| c.text(symbols)).collect();
            match g.len() > 1 && self.groups.len() > 1 {
                true => format!("({})", text.join(inner)),
                false => text.join(inner),
            }
        };
        self.groups.iter().map(group).collect()
    }

    /// The axes whose threads a comparison asks for.
    pub fn axes(&self, symbols: &[Symbol]) -> Vec<u8> {
        let terms = self.groups.iter().flatten().flat_map(|c| [&c.left, &c.right]);
        let axis = |s: usize| match symbols[s].kind {
            SymbolKind::Thread(axis) => Some(axis),
            _ => None,
        };
        terms.flat_map(Term::symbols).filter_map(axis).collect()
    }

    /// It says by accident what has other reasons.
    pub fn is_far_fetched(&self, symbols: &[Symbol]) -> bool {
        self.groups.iter().flatten().any(|c| c.is_far_fetched(symbols))
    }

    pub fn comparisons(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }
}

/// A comparison with the rows that it holds on.
#[derive(Clone, Debug)]
pub struct Atom {
    pub comparison: Comparison,
    pub bits: Bits,
    pub cost: u32,
}

/// How far from an edge conditions look for threads in the end.
const FURTHEST: i64 = 9;
/// The kind of comparisons with what is as far from an edge as a constant says.
const AS_FAR: u32 = 13;
/// How much more comparisons cost whose sides have nothing in common.
const FOREIGN: u32 = 12;
/// What a condition costs that stands in the text.
const GUARD: u32 = 12;
/// Tiers of comparisons.
const TIERS: u8 = 5;

/// The comparisons on some rows, made as they are needed.
#[derive(Debug)]
pub struct Conditions<'a> {
    table: &'a Table<'a>,
    atoms: Vec<Atom>,
    /// How many of them the tiers up to each have.
    tiers: Vec<Vec<usize>>,
    known: ByBits<usize>,
}

impl<'a> Conditions<'a> {
    pub fn new(table: &'a Table<'a>) -> Conditions<'a> {
        Conditions { table, atoms: vec![], tiers: vec![], known: ByBits::default() }
    }

    /// The simplest condition that holds on all of `yes` and on none of `no`; on other rows it may be either.
    pub fn find(&mut self, yes: &Bits, no: &Bits) -> Option<Condition> {
        for tier in 0..TIERS {
            if self.tiers.len() <= usize::from(tier) {
                self.grow(tier);
            }
            let atoms: Vec<&Atom> =
                self.tiers[usize::from(tier)].iter().map(|a| &self.atoms[*a]).collect();
            let direct = search(&atoms, yes, no, MAX_COMPARISONS);
            // A disjunction of conjunctions is what is left when neither of the opposite holds.
            let opposite = search(&atoms, no, yes, MAX_COMPARISONS).map(|(cost, groups)| {
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

    /// Conditions of which none holds on any of `no`, and one on each of `yes`.
    pub fn pieces(&mut self, yes: &Bits, no: &Bits) -> Option<Vec<Condition>> {
        for tier in 0..=1 {
            if self.tiers.len() <= usize::from(tier) {
                self.grow(tier);
            }
        }
        let atoms: Vec<&Atom> = self.tiers[1].iter().map(|a| &self.atoms[*a]).collect();
        let found = pieces::pieces(&atoms, yes, no)?;
        let condition = |c: Vec<Comparison>| {
            let groups = c.into_iter().map(|c| vec![c]).collect();
            Condition { conjunction: true, groups }
        };
        Some(found.into_iter().map(condition).collect())
    }

    /// The same with the terms of a subscript against the bounds of what it is a subscript of: where it is inside, the element is
    /// there.
    pub fn find_inside(&mut self, yes: &Bits, no: &Bits, terms: &[Term]) -> Option<Condition> {
        if let Some(found) = self.find(yes, no) {
            return Some(found);
        }
        let bounds = self.table.distinct(&self.bounds(), &[]);
        for term in terms.iter().filter(|t| matches!(t, Term::Binary(..))) {
            let left = self.left(term.clone());
            self.numbers(&left, 6);
            for b in &bounds {
                self.compare(&left, &Term::Symbol(*b), -2..=1, 6);
            }
            self.moved_bounds(&left, &bounds, 6);
        }
        self.moved_variables();
        self.blocks_of_positions();
        let mut atoms: Vec<&Atom> = self.atoms.iter().collect();
        atoms.sort_by_key(|a| a.cost);
        let (_, groups) = search(&atoms, yes, no, MAX_INSIDE)?;
        Some(Condition { conjunction: true, groups })
    }

    /// The block that a position is in: `x / BX == blockIdx.x`.
    fn blocks_of_positions(&mut self) {
        let bounds = self.table.distinct(&self.bounds(), &[]);
        let blocks = self.table.of(|k| matches!(k, SymbolKind::Grid(_)));
        let pairs: Vec<(usize, usize)> =
            bounds.iter().flat_map(|b| blocks.iter().map(move |g| (*b, *g))).collect();
        for v in self.own_variables() {
            for (bound, block) in &pairs {
                let whole = Term::op(Op::Div, Term::Symbol(v), Term::Symbol(*bound));
                let left = self.left(whole);
                self.compare(&left, &Term::Symbol(*block), 0..=0, 7);
            }
        }
    }

    /// A position moved by a step against the sizes.
    fn moved_variables(&mut self) {
        let variables = self.own_variables();
        let (near, others): (Vec<usize>, Vec<usize>) =
            variables.iter().partition(|v| self.table.is_near(**v));
        for (v, step) in others.iter().flat_map(|v| near.iter().map(move |s| (*v, *s))) {
            let left = self.left(Term::op(Op::Add, Term::Symbol(v), Term::Symbol(step)));
            self.numbers(&left, 7);
            for w in others.iter().filter(|w| **w != v) {
                self.compare(&left, &Term::Symbol(*w), -1..=1, 7);
            }
        }
    }

    fn grow(&mut self, tier: u8) {
        match tier {
            0 => self.threads_and_bounds(),
            1 => self.variables(),
            2 => self.sums(),
            3 => self.everything(),
            _ => self.further(),
        }
        let mut order: Vec<usize> = (0..self.atoms.len()).collect();
        order.sort_by_key(|a| self.atoms[*a].cost);
        self.tiers.push(order);
    }

    fn threads(&self) -> Vec<usize> {
        self.table.of(|k| matches!(k, SymbolKind::Thread(_)))
    }

    fn bounds(&self) -> Vec<usize> {
        self.table.of(|k| matches!(k, SymbolKind::Constant | SymbolKind::Block(_)))
    }

    /// Variables that are no thread or bound by another name.
    fn own_variables(&self) -> Vec<usize> {
        let mut others = self.threads();
        others.extend(self.bounds());
        self.table.distinct(&self.table.of(|k| k == SymbolKind::Variable), &others)
    }

    fn threads_and_bounds(&mut self) {
        for guard in self.table.of(|k| k == SymbolKind::Guard) {
            let holds = Bits::from_fn(self.table.len, |i| self.table.column(guard)[i] != 0);
            let (left, right) = (Term::Symbol(guard), Term::Number(0));
            let comparison = Comparison { left, op: Compare::Ne, right };
            self.add(holds, GUARD, &|| comparison.clone());
        }
        let bounds = self.bounds();
        for t in self.threads() {
            let left = self.left(Term::Symbol(t));
            self.numbers(&left, 0);
            for b in &bounds {
                self.compare(&left, &Term::Symbol(*b), -3..=1, 0);
            }
            self.moved_bounds(&left, &bounds, 1);
        }
    }

    /// A term against what constants of the file say, and against bounds that are moved by it.
    fn moved_bounds(&mut self, left: &(Term, Vec<i64>), bounds: &[usize], kind: u32) {
        for by in self.table.free().into_iter().flat_map(once_and_twice) {
            self.compare(left, &by, -1..=1, kind);
            for b in bounds.iter().filter(|b| !self.table.is_free(**b)) {
                for op in [Op::Sub, Op::Add] {
                    let bound = Term::op(op, Term::Symbol(*b), by.clone());
                    self.compare(left, &bound, -1..=0, kind + 1);
                }
            }
        }
    }

    fn variables(&mut self) {
        let variables = self.own_variables();
        for v in &variables {
            let left = self.left(Term::Symbol(*v));
            self.numbers(&left, 2);
            for w in variables.iter().filter(|w| *w != v) {
                self.compare(&left, &Term::Symbol(*w), -2..=2, 3);
            }
            let others: Vec<usize> = variables.iter().filter(|w| *w != v).copied().collect();
            self.moved_bounds(&left, &others, 3);
        }
    }

    /// A thread moved by a step against the bounds, and a thread against the difference of two bounds.
    fn sums(&mut self) {
        let bounds = self.bounds();
        let near: Vec<usize> =
            self.own_variables().into_iter().filter(|v| self.table.is_near(*v)).collect();
        let few = self.table.distinct(&bounds, &[]);
        for t in self.threads() {
            for v in &near {
                let left = self.left(Term::op(Op::Add, Term::Symbol(t), Term::Symbol(*v)));
                self.numbers(&left, 4);
                for b in &bounds {
                    self.compare(&left, &Term::Symbol(*b), -2..=1, 4);
                }
                self.moved_bounds(&left, &bounds, 5);
            }
            let left = self.left(Term::Symbol(t));
            for (a, b) in few.iter().flat_map(|a| few.iter().map(move |b| (*a, *b))) {
                let difference = Term::op(Op::Sub, Term::Symbol(a), Term::Symbol(b));
                if a != b {
                    self.compare(&left, &difference, -2..=1, 6);
                }
            }
        }
    }

    fn everything(&mut self) {
        use SymbolKind::{Block, Constant, Divisor, Guard, Limit};
        let all = self.table.of(|k| !matches!(k, Constant | Block(_) | Divisor | Guard | Limit));
        let others = self.table.of(|k| !matches!(k, Divisor | Guard));
        let others = self.table.distinct(&others, &[]);
        for v in self.table.distinct(&all, &[]) {
            let left = self.left(Term::Symbol(v));
            self.numbers(&left, 8);
            for w in others.iter().filter(|w| **w != v) {
                self.compare(&left, &Term::Symbol(*w), -2..=2, 9);
            }
        }
    }

    /// Threads and positions that are further from the edges: what halos of several elements need.
    fn further(&mut self) {
        let bounds = self.bounds();
        for t in self.threads() {
            let left = self.left(Term::Symbol(t));
            self.compare(&left, &Term::Number(0), 4..=FURTHEST, 10);
            for b in &bounds {
                self.compare(&left, &Term::Symbol(*b), -FURTHEST..=-4, 10);
            }
        }
        let variables = self.own_variables();
        for v in &variables {
            let left = self.left(Term::Symbol(*v));
            self.compare(&left, &Term::Number(0), 4..=FURTHEST, 10);
            for w in variables.iter().filter(|w| *w != v) {
                self.compare(&left, &Term::Symbol(*w), -FURTHEST..=-3, 11);
            }
            self.as_far_as_constants(&left, &variables);
        }
    }

    /// A position as far from an edge as a constant of the file says: `i < n + TAPS - 1`.
    fn as_far_as_constants(&mut self, left: &(Term, Vec<i64>), variables: &[usize]) {
        let blocks = self.table.of(|k| matches!(k, SymbolKind::Block(_)));
        let constants = self.table.of(|k| k == SymbolKind::Constant);
        for c in self.table.distinct(&constants, &blocks) {
            self.compare(left, &Term::Symbol(c), -1..=0, AS_FAR);
            for w in variables.iter().filter(|w| left.0 != Term::Symbol(**w)) {
                for op in [Op::Sub, Op::Add] {
                    let bound = Term::op(op, Term::Symbol(*w), Term::Symbol(c));
                    self.compare(left, &bound, -1..=0, AS_FAR);
                }
            }
        }
    }

    fn left(&self, term: Term) -> (Term, Vec<i64>) {
        let values = self.table.values(&term);
        (term, values)
    }

    fn numbers(&mut self, left: &(Term, Vec<i64>), kind: u32) {
        self.compare(left, &Term::Number(0), 0..=3, kind);
    }

    /// All comparisons of a term with a bound, moved by each offset, that tell rows apart.
    fn compare(
        &mut self,
        left: &(Term, Vec<i64>),
        right: &Term,
        offsets: RangeInclusive<i64>,
        kind: u32,
    ) {
        let mut apart = self.table.values(right);
        if left.1.contains(&NONE) || apart.contains(&NONE) {
            return;
        }
        let foreign = if are_apart(&left.0, right, self.table.symbols) { FOREIGN } else { 0 };
        apart.iter_mut().zip(&left.1).for_each(|(r, l)| *r = l - *r);
        let (Some(low), Some(high)) = (apart.iter().min(), apart.iter().max()) else { return };
        let (low, high) = (*low, *high);
        for o in offsets.filter(|o| low <= *o && *o <= high && low < high) {
            let (equal, below) = Bits::compared(&apart, o);
            let most = equal.or(&below);
            let right = right.clone().plus(o);
            let sum = matches!(right, Term::Binary(Op::Add, ..));
            let cost = 10 + kind + foreign + right.cost(self.table.symbols) + u32::from(sum);
            let one = |op| Comparison { left: left.0.clone(), op, right: right.clone() };
            for (op, bits) in [
                (Compare::Eq, equal.clone()),
                (Compare::Ne, equal.complement()),
                (Compare::Lt, below.clone()),
                (Compare::Ge, below.complement()),
                (Compare::Gt, most.complement()),
                (Compare::Le, most),
            ] {
                let order = !matches!(op, Compare::Eq | Compare::Ne);
                // As far from an edge as that, a single position is meant by accident.
                let unlikely = order != (kind == AS_FAR);
                self.add(bits, cost + u32::from(unlikely), &|| one(op));
            }
        }
    }

    /// Takes a comparison that holds on some rows among the atoms, unless a simpler one says the same.
    fn add(&mut self, bits: Bits, cost: u32, comparison: &dyn Fn() -> Comparison) {
        if bits.is_empty() || bits.is_full() {
            return;
        }
        match self.known.get(&bits) {
            Some(at) if self.atoms[*at].cost <= cost => {}
            Some(at) => self.atoms[*at] = Atom { comparison: comparison(), bits, cost },
            None => {
                self.known.insert(bits.clone(), self.atoms.len());
                self.atoms.push(Atom { comparison: comparison(), bits, cost });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::rows::Row;

    fn symbols() -> Vec<Symbol> {
        let s = Symbol::new;
        vec![
            s("threadIdx.x", SymbolKind::Thread(0)),
            s("threadIdx.y", SymbolKind::Thread(1)),
            s("blockDim.x", SymbolKind::Block(0)),
            s("blockDim.y", SymbolKind::Block(1)),
            s("i", SymbolKind::Variable),
            s("nx", SymbolKind::Variable),
        ]
    }

    fn rows() -> Vec<Row> {
        let mut rows = vec![];
        for (launch, (bx, by, nx)) in [(5, 4, 13), (4, 6, 11)].into_iter().enumerate() {
            for block in 0..3 {
                for y in 0..by {
                    for x in 0..bx {
                        let values = vec![x, y, bx, by, block * bx + x, nx];
                        let thread = (block * by + y) * bx + x;
                        rows.push(Row { launch, thread: thread as u32, values, ..Row::default() });
                    }
                }
            }
        }
        rows
    }

    fn found(wanted: impl Fn(&[i64]) -> bool) -> String {
        let (symbols, rows) = (symbols(), rows());
        let yes = Bits::from_fn(rows.len(), |i| wanted(&rows[i].values));
        let table = Table::new(&symbols, &rows);
        let mut conditions = Conditions::new(&table);
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
    fn edges_of_wide_halos_are_found() {
        // Conditions that are right by accident are simpler in so few rows: what is meant is among the comparisons.
        let (symbols, rows) = (symbols(), rows());
        let table = Table::new(&symbols, &rows);
        let mut conditions = Conditions::new(&table);
        conditions.grow(TIERS - 1);
        let texts: Vec<String> =
            conditions.atoms.iter().map(|a| a.comparison.text(&symbols)).collect();
        assert!(texts.iter().any(|t| t == "i == nx - 3"), "{texts:?}");
        assert!(texts.iter().any(|t| t == "i == 6"), "{texts:?}");
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
