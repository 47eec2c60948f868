//! What a thread's numbers are in terms of its position along x: sums of products of names, what they leave when they are divided by
//! the elements of a vector, and on which lanes of a vector comparisons of them are certain.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;

use crate::auto::cut::AXES;
use crate::auto::elements;
use crate::auto::outer;
use crate::auto::plans::Kernel;
use crate::auto::positions::{self, Position};

/// The position along x, which is a multiple of the lanes on the first lane.
const X: &str = "@x";

/// A sum of products of names with whole coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poly(BTreeMap<Vec<String>, i64>);

impl Poly {
    fn number(n: i64) -> Poly {
        Poly([(vec![], n)].into_iter().filter(|(_, n)| *n != 0).collect())
    }

    fn atom(name: &str) -> Poly {
        Poly([(vec![name.to_string()], 1)].into())
    }

    pub fn plus(mut self, other: &Poly, times: i64) -> Poly {
        for (names, n) in &other.0 {
            *self.0.entry(names.clone()).or_insert(0) += n * times;
        }
        self.0.retain(|_, n| *n != 0);
        self
    }

    fn times(&self, other: &Poly) -> Poly {
        let mut all = Poly::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut names = [a.clone(), b.clone()].concat();
                names.sort();
                *all.0.entry(names).or_insert(0) += n * m;
            }
        }
        all.0.retain(|_, n| *n != 0);
        all
    }

    /// The same, some elements further.
    pub fn moved(self, by: i64) -> Poly {
        self.plus(&Poly::number(by), 1)
    }

    /// By how much it grows from thread to thread along x; `None`: not by the same everywhere.
    pub fn slope(&self) -> Option<i64> {
        let mut slope = 0;
        for (names, n) in self.0.iter().filter(|(names, _)| names.iter().any(|n| n == X)) {
            match names.len() {
                1 => slope = *n,
                _ => return None,
            }
        }
        Some(slope)
    }

    /// The number that it is.
    pub fn only_number(&self) -> Option<i64> {
        let number = self.0.keys().all(Vec::is_empty);
        number.then(|| self.constant())
    }

    fn constant(&self) -> i64 {
        self.0.get(&vec![]).copied().unwrap_or(0)
    }

    /// The only name beside the position and a number, with its coefficient.
    fn beside(&self) -> Option<(Option<&String>, i64)> {
        let mut rest = self.0.iter().filter(|(names, _)| !names.is_empty() && **names != [X]);
        match (rest.next(), rest.next()) {
            (None, _) => Some((None, 0)),
            (Some((names, n)), None) if names.len() == 1 => Some((names.first(), *n)),
            _ => None,
        }
    }
}

/// What goes on from lane to lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Along {
    /// The position of threads along x.
    Positions,
    /// The counter of a loop.
    Counter(String),
}

/// The numbers of a kernel.
pub struct Forms<'a> {
    kernel: &'a Kernel<'a>,
    pub along: Along,
    pub positions: Vec<Position>,
    /// What variables are declared as, of those that nothing assigns afterwards or that only move.
    values: HashMap<String, ast::Expr>,
    /// By what variables move.
    moves: HashMap<String, Vec<ast::Expr>>,
    /// Names that may differ from thread to thread along x.
    varying: BTreeSet<String>,
    /// Names that stand for several things.
    unclear: BTreeSet<String>,
    pub lanes: i64,
}

impl<'a> Forms<'a> {
    pub fn new(kernel: &'a Kernel<'a>, along: Along, lanes: i64) -> Forms<'a> {
        let positions = match along {
            Along::Positions => positions::positions(kernel),
            Along::Counter(_) => vec![],
        };
        let mut forms = Forms {
            kernel,
            along,
            positions,
            values: HashMap::new(),
            moves: HashMap::new(),
            varying: BTreeSet::new(),
            unclear: BTreeSet::new(),
            lanes,
        };
        let declared = crate::source::scope::declared(kernel.body);
        for (name, init) in &declared {
            match init.as_slice() {
                [Some(e)] => _ = forms.values.insert(name.clone(), e.clone()),
                [None] => {}
                _ => _ = forms.unclear.insert(name.clone()),
            }
        }
        let assigned = outer::assignments(&kernel.body.stmts);
        for (name, e) in &assigned {
            match moved(e) {
                Some(by) => forms.moves.entry(name.clone()).or_default().push(by),
                None => _ = forms.values.remove(name),
            }
        }
        forms.find_varying(&declared, &assigned);
        forms
    }

    /// Names that depend on the position along x, by what they are given or by conditions around.
    fn find_varying(
        &mut self,
        declared: &HashMap<String, Vec<Option<ast::Expr>>>,
        assigned: &[(String, ast::Expr)],
    ) {
        loop {
            let before = self.varying.len();
            for (name, inits) in declared {
                if inits.iter().flatten().any(|e| self.varies(e)) {
                    self.varying.insert(name.clone());
                }
            }
            for (name, e) in assigned {
                let value = match &*e.kind {
                    ExprKind::Assign { value, .. } => self.varies(value),
                    ExprKind::IncDec { .. } => false,
                    _ => true,
                };
                if value {
                    self.varying.insert(name.clone());
                    self.values.remove(name);
                }
            }
            let mut decided = vec![];
            self.decided(&self.kernel.body.stmts, &mut decided);
            for (name, _) in decided {
                self.varying.insert(name.clone());
                self.values.remove(&name);
            }
            if self.varying.len() == before {
                return;
            }
        }
    }

    /// Assignments under conditions that vary.
    fn decided(&self, stmts: &[ast::Stmt], all: &mut Vec<(String, ast::Expr)>) {
        for s in stmts {
            let (conds, bodies): (Vec<&ast::Expr>, Vec<&ast::Stmt>) = match &s.kind {
                StmtKind::If { cond, then, otherwise, .. } => {
                    (vec![cond], std::iter::once(&**then).chain(otherwise.as_deref()).collect())
                }
                StmtKind::For { cond, body, .. } => (cond.iter().collect(), vec![body]),
                StmtKind::While { cond, body } | StmtKind::DoWhile { cond, body } => {
                    (vec![cond], vec![body])
                }
                StmtKind::Switch { selector, body } => (vec![selector], vec![body]),
                StmtKind::Block(b) => {
                    self.decided(&b.stmts, all);
                    continue;
                }
                _ => continue,
            };
            match conds.iter().any(|c| self.varies(c)) {
                true => all.extend(outer::assignments(std::slice::from_ref(s))),
                false => bodies.iter().for_each(|b| self.decided(std::slice::from_ref(*b), all)),
            }
        }
    }

    /// Names that are not followed from now on, because they change where they are asked for.
    pub fn forget(&mut self, names: impl Iterator<Item = String>) {
        self.unclear.extend(names);
    }

    /// Whether an expression may differ from thread to thread along x.
    pub fn varies(&self, e: &ast::Expr) -> bool {
        let mut found = false;
        walk::expr(e, &mut |e| {
            found |= self.position(e) == Some(0) || self.is_thread(e);
            if let ExprKind::Path(path) = &*e.kind {
                found |= path.as_name().is_some_and(|n| self.varying.contains(n));
            }
        });
        found
    }

    pub fn is_varying(&self, name: &str) -> bool {
        self.varying.contains(name) || matches!(&self.along, Along::Counter(n) if n == name)
    }

    /// What a name is declared as, where that is all there is to it.
    pub fn value(&self, name: &str) -> Option<&ast::Expr> {
        self.values.get(name).filter(|_| !self.moves.contains_key(name))
    }

    fn is_thread(&self, e: &ast::Expr) -> bool {
        let ExprKind::Member { base, member, .. } = &*e.kind else { return false };
        if self.along != Along::Positions {
            return false;
        }
        let thread = matches!(outer::name(base), Some("threadIdx" | "blockIdx"));
        thread && member.name == AXES[0]
    }

    fn position(&self, e: &ast::Expr) -> Option<usize> {
        if let Along::Counter(name) = &self.along {
            return (outer::name(e) == Some(name)).then_some(0);
        }
        let at = e.span.start as usize..e.span.end as usize;
        let own = e.span.file.0 == 0;
        self.positions.iter().find(|p| own && p.at == at).map(|p| p.axis)
    }

    /// A whole number as a sum of products.
    pub fn poly(&self, e: &ast::Expr) -> Option<Poly> {
        self.sum(e, None, 0)
    }

    /// The same of a variable.
    pub fn of_name(&self, name: &str) -> Option<Poly> {
        self.named(name, None, 0)
    }

    /// A whole number on a lane, where comparisons are certain, as what it would be on the first lane: the lane is not added.
    pub fn on_lane(&self, e: &ast::Expr, lane: i64, size: Option<&String>) -> Option<Poly> {
        self.sum(e, Some((lane, size)), 0)
    }

    fn sum(&self, e: &ast::Expr, on: On<'_>, depth: u32) -> Option<Poly> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(axis) = self.position(e) {
            return Some(Poly::atom(&format!("@{}", AXES[axis])));
        }
        let inner = |e| self.sum(e, on, depth + 1);
        match &*e.kind {
            ExprKind::Number(n) => {
                n.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok().map(Poly::number)
            }
            ExprKind::Paren(e) => inner(e),
            ExprKind::Cast { operand, ty, .. } => {
                let words = elements::plain_type(ty, self.kernel.sources);
                let whole = words.split(' ').all(|w| WHOLE.contains(&w));
                if whole { inner(operand) } else { None }
            }
            ExprKind::Unary { op, operand } if op == "-" => {
                Some(Poly::default().plus(&inner(operand)?, -1))
            }
            ExprKind::Binary { op, left, right } if op == "+" => {
                Some(inner(left)?.plus(&inner(right)?, 1))
            }
            ExprKind::Binary { op, left, right } if op == "-" => {
                Some(inner(left)?.plus(&inner(right)?, -1))
            }
            ExprKind::Binary { op, left, right } if op == "*" => {
                Some(inner(left)?.times(&inner(right)?))
            }
            ExprKind::Path(path) => self.named(path.as_name()?, on, depth),
            _ if !self.varies(e) => self.opaque(e),
            ExprKind::Conditional { cond, then, otherwise } => {
                let (lane, size) = on?;
                match self.certain(cond, lane, size)? {
                    true => inner(then),
                    false => inner(otherwise),
                }
            }
            ExprKind::Call { callee, args } => {
                let ((lane, size), [a, b]) = (on?, args.as_slice()) else { return None };
                let least = match outer::name(callee)? {
                    "min" => true,
                    "max" => false,
                    _ => return None,
                };
                let (a, b) = (inner(a)?, inner(b)?);
                let reached = self.reached(&a.clone().plus(&b, -1), lane, size)?;
                let below = compared("<=", reached).or(compared("<", reached))?;
                Some(if below == least { a } else { b })
            }
            _ => None,
        }
    }

    fn named(&self, name: &str, on: On<'_>, depth: u32) -> Option<Poly> {
        if matches!(&self.along, Along::Counter(n) if n == name) {
            return Some(Poly::atom(X));
        }
        if self.unclear.contains(name) {
            return None;
        }
        let value = self.values.get(name).and_then(|e| self.sum(e, on, depth + 1));
        match value {
            Some(p) if self.moves.contains_key(name) => {
                Some(p.plus(&Poly::atom(&format!("~{name}")), 1))
            }
            Some(p) => Some(p),
            None if self.varying.contains(name) => None,
            None => Some(Poly::atom(name)),
        }
    }

    /// What all threads along x have in common is one thing, whatever it is.
    fn opaque(&self, e: &ast::Expr) -> Option<Poly> {
        let mut names = vec![];
        walk::expr(e, &mut |e| match &*e.kind {
            ExprKind::Path(path) => names.extend(path.as_name().map(str::to_string)),
            ExprKind::Call { callee, .. } => match outer::name(callee) {
                Some("min" | "max" | "abs") => {}
                _ => names.push(String::new()),
            },
            ExprKind::Index { .. } => names.push(String::new()),
            _ => {}
        });
        let unclear = names.iter().any(|n| n.is_empty() || self.unclear.contains(n));
        if unclear || self.varies(e) {
            return None;
        }
        let text: String =
            self.kernel.sources.text(e.span).chars().filter(|c| !c.is_whitespace()).collect();
        Some(Poly::atom(&text))
    }

    /// What a number leaves on the first lane when it is divided by the lanes, if some parameters are multiples of them.
    pub fn residue(&self, p: &Poly, multiples: &mut BTreeSet<String>) -> Option<i64> {
        self.left(p, multiples, 0)
    }

    fn left(&self, p: &Poly, multiples: &mut BTreeSet<String>, depth: u32) -> Option<i64> {
        for (names, n) in &p.0 {
            let whole = names.is_empty() || n % self.lanes == 0 || names.iter().any(|n| n == X);
            if whole || names.iter().any(|n| multiples.contains(n)) {
                continue;
            }
            let moves = |name: &String| {
                name.strip_prefix('~').and_then(|n| self.moves.get(n)).filter(|_| depth < 2)
            };
            if let Some(all) = names.iter().find_map(moves) {
                for by in all {
                    let by = self.poly(by)?;
                    let still = by.slope() == Some(0);
                    (still && self.left(&by, multiples, depth + 1)? == 0).then_some(())?;
                }
                continue;
            }
            let given = names.iter().find(|n| self.is_parameter(n))?;
            multiples.insert(given.clone());
        }
        Some(p.constant().rem_euclid(self.lanes))
    }

    /// Whether a name is a parameter, or a member of one, that nothing assigns.
    fn is_parameter(&self, name: &str) -> bool {
        let base = name.split('.').next().unwrap_or(name);
        let word = name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
        let mut names = self.kernel.function.params.iter().filter_map(|p| p.name.as_deref());
        word && names.any(|n| n == base)
            && !self.moves.contains_key(base)
            && !outer::assignments(&self.kernel.body.stmts).iter().any(|(n, _)| n == base)
    }
}

/// A lane, and the size that bounds positions along x.
type On<'b> = Option<(i64, Option<&'b String>)>;

/// Initialisers of initialisers that are followed.
const MAX_DEPTH: u32 = 24;
const WHOLE: [&str; 11] = [
    "int",
    "unsigned",
    "long",
    "short",
    "signed",
    "size_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "ptrdiff_t",
];

/// By what an assignment moves its variable, up or down.
fn moved(e: &ast::Expr) -> Option<ast::Expr> {
    match &*e.kind {
        ExprKind::Assign { op, target, value } if op == "+=" || op == "-=" => {
            outer::name(target).map(|_| value.clone())
        }
        ExprKind::Assign { op, target, value } if op == "=" => match &*value.kind {
            ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
                let own = outer::name(left).is_some() && outer::name(left) == outer::name(target);
                own.then(|| right.clone())
            }
            _ => None,
        },
        ExprKind::IncDec { operand, .. } => {
            outer::name(operand)?;
            let kind = Box::new(ExprKind::Number("1".into()));
            Some(ast::Expr { kind, span: e.span })
        }
        _ => None,
    }
}

/// A comparison that is taken: `below` is less than zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    below: Poly,
}

/// What a guard says of the position along x.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// All lanes of a vector are on one side, if this parameter is a multiple of the lanes.
    Whole(Option<String>),
    /// The first or the last lanes of a row may be on the other side.
    Ragged(Option<String>),
}

impl Forms<'_> {
    /// The comparisons that all hold when a condition is true, or false; `None`: it is no conjunction of comparisons. What
    /// does not vary along x says nothing here.
    pub fn bounds(&self, cond: &ast::Expr, holds: bool) -> Option<Vec<Bound>> {
        if !self.varies(cond) {
            return Some(vec![]);
        }
        match &*cond.kind {
            ExprKind::Paren(e) => self.bounds(e, holds),
            ExprKind::Unary { op, operand } if op == "!" => self.bounds(operand, !holds),
            ExprKind::Binary { op, left, right } if op == if holds { "&&" } else { "||" } => {
                Some([self.bounds(left, holds)?, self.bounds(right, holds)?].concat())
            }
            ExprKind::Binary { op, left, right } => {
                let (l, r) = (self.poly(left)?, self.poly(right)?);
                // a < b, and the three others, as a number below zero.
                let below = match (op.as_str(), holds) {
                    ("<", true) | (">=", false) => l.plus(&r, -1),
                    ("<=", true) | (">", false) => l.plus(&r, -1).moved(-1),
                    (">", true) | ("<=", false) => r.plus(&l, -1),
                    (">=", true) | ("<", false) => r.plus(&l, -1).moved(-1),
                    _ => return None,
                };
                Some(vec![Bound { below }])
            }
            _ => None,
        }
    }

    /// What a guard means for the lanes of a vector.
    pub fn edge(&self, bound: &Bound) -> Option<Edge> {
        let (name, n) = bound.below.beside()?;
        let c = bound.below.constant();
        match (bound.below.slope()?, name) {
            (1, Some(name)) if n == -1 && self.is_parameter(name) => Some(match c % self.lanes {
                0 => Edge::Whole(Some(name.clone())),
                _ => Edge::Ragged(Some(name.clone())),
            }),
            // Positions begin at 0.
            (-1, None) if c < 0 => Some(Edge::Whole(None)),
            (-1, None) => Some(Edge::Ragged(None)),
            _ => None,
        }
    }

    /// Whether a comparison is certain on a lane, for positions from 0 to below a size that is a multiple of the lanes.
    pub fn certain(&self, cond: &ast::Expr, lane: i64, size: Option<&String>) -> Option<bool> {
        let inner = |e| self.certain(e, lane, size);
        match &*cond.kind {
            ExprKind::Paren(e) => inner(e),
            ExprKind::Unary { op, operand } if op == "!" => Some(!inner(operand)?),
            ExprKind::Binary { op, left, right } if op == "&&" || op == "||" => {
                let decides = op == "||";
                match (inner(left), inner(right)) {
                    (Some(a), _) if a == decides => Some(decides),
                    (_, Some(b)) if b == decides => Some(decides),
                    (Some(_), Some(b)) => Some(b),
                    _ => None,
                }
            }
            ExprKind::Binary { op, left, right } => {
                let far = self.poly(left)?.plus(&self.poly(right)?, -1);
                compared(op, self.reached(&far, lane, size)?)
            }
            _ => None,
        }
    }

    /// The numbers that a difference is on a lane: the first of them, and by what they go on.
    fn reached(&self, far: &Poly, lane: i64, size: Option<&String>) -> Option<[i64; 2]> {
        let (name, n) = far.beside()?;
        let (c, slope) = (far.constant(), far.slope()?);
        match name {
            None if slope.abs() == 1 => Some([c + slope * lane, slope * self.lanes]),
            // The last vector of a row ends at its size.
            Some(name) if Some(name) == size && n == -slope && slope.abs() == 1 => {
                Some([c - slope * (self.lanes - lane), -slope * self.lanes])
            }
            _ => None,
        }
    }
}

/// Whether `first`, `first + step`, … all compare with zero in the same way.
fn compared(op: &str, [first, step]: [i64; 2]) -> Option<bool> {
    let up = step > 0;
    // None of them is zero, all are at least `first`, or at most.
    let never_zero = first % step != 0 || (first > 0) == up && first != 0;
    let above = up && first > 0;
    let below = !up && first < 0;
    match op {
        "==" if never_zero => Some(false),
        "!=" if never_zero => Some(true),
        ">" if above => Some(true),
        "<=" if above => Some(false),
        "<" if below => Some(true),
        ">=" if below => Some(false),
        ">=" if up && first >= 0 => Some(true),
        "<" if up && first >= 0 => Some(false),
        "<=" if !up && first <= 0 => Some(true),
        ">" if !up && first <= 0 => Some(false),
        _ => None,
    }
}
