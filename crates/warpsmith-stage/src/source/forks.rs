//! Where data send threads one way or another before a marked read: runs show which threads come by, these show which may.
//!
//! Of a condition such as `i > 0 && u[i] > 0` the part that data decide on is a fork. A run in which every thread goes the
//! same way at it shows all that may need what is read there.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_front::ast::{self, ExprKind, StmtKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::{SourceMap, Span};

use super::by_data::ByData;
use super::marks::{Bytes, Marks};
use super::{counted, scope, ties, values};

/// What stands at each fork of a way, by its number.
pub type Choices = BTreeMap<usize, i64>;

/// Which way a marked read is on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub choices: Choices,
    /// Data decide on something else, too: how often a loop runs, or which element it is.
    pub open: bool,
}

/// A condition or selector that data decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    pub at: Bytes,
    /// It is what a `switch` asks for, not a condition.
    pub selects: bool,
}

/// The forks of a text before its marks.
#[derive(Clone, Debug, Default)]
pub struct Forks {
    pub forks: Vec<Fork>,
    /// For each marked read.
    pub ways: Vec<Way>,
    /// Shared arrays of the kernels with marks that data decide on what is written to.
    pub filled: BTreeSet<String>,
}

/// Why copies for a read that data decide on are not known.
pub const OPEN: &str = "data decide which threads come to this read or what it reads, and no run shows all that they may";

/// Ways that are looked at, at most.
const MAX_WAYS: usize = 12;

impl Forks {
    pub fn of(unit: &TranslationUnit, marks: &Marks, sources: &SourceMap) -> Forks {
        let mut all = Forks::default();
        for mark in &marks.reads {
            let way = scope::function_at(unit, mark.global().start).map(|(function, body)| {
                let (at, way, again) = (mark.global(), Way::default(), false);
                let start = at.start;
                let data = ByData::seen_from(Some(start), (unit, function, body));
                let mut finder = Finder {
                    unit,
                    sources,
                    marks,
                    data,
                    body,
                    at: start,
                    again,
                    way,
                    all: &mut all,
                };
                finder.list(&body.stmts);
                finder.way.open |= finder.element(&at);
                let way = finder.way;
                let filled = ByData::of(unit, function, body).filled(body);
                all.filled.extend(filled);
                way
            });
            all.ways.push(way.unwrap_or_default());
        }
        // There are too many.
        for choices in all.choices().into_iter().skip(MAX_WAYS) {
            all.open(&choices);
        }
        all
    }

    /// Whether data decide who comes to a marked read, or what it reads.
    pub fn decide(&self, mark: usize) -> bool {
        self.ways.get(mark).is_some_and(|w| w.open || !w.choices.is_empty())
    }

    /// The ways on which there are marked reads, each once.
    pub fn choices(&self) -> Vec<Choices> {
        let mut all: Vec<Choices> = vec![];
        for way in self.ways.iter().filter(|w| !w.open && !w.choices.is_empty()) {
            if !all.contains(&way.choices) {
                all.push(way.choices.clone());
            }
        }
        all
    }

    /// Whether all threads that may come to a marked read were sent there, of those that data decide on.
    pub fn sends_all(&self, mark: usize) -> bool {
        self.ways.get(mark).is_some_and(|w| !w.open)
    }

    /// Whether what data do before a marked read is not known.
    pub fn is_open(&self, mark: usize) -> bool {
        self.ways.get(mark).is_some_and(|w| w.open)
    }

    /// Whether what data do before some mark is not known.
    pub fn any_open(&self) -> bool {
        self.ways.iter().any(|w| w.open)
    }

    /// No data send all threads on a way.
    pub fn open(&mut self, choices: &Choices) {
        self.ways.iter_mut().filter(|w| w.choices == *choices).for_each(|w| w.open = true);
    }
}

/// Goes to one marked read.
struct Finder<'a> {
    unit: &'a TranslationUnit,
    sources: &'a SourceMap,
    marks: &'a Marks,
    data: ByData<'a>,
    body: &'a ast::Block,
    at: usize,
    /// The mark is in a loop, whose statements after it may keep threads from coming again.
    again: bool,
    way: Way,
    all: &'a mut Forks,
}

impl Finder<'_> {
    fn holds(&self, span: Span) -> bool {
        span.file.0 == 0 && (span.start as usize..span.end as usize).contains(&self.at)
    }

    /// Statements before the one that holds the mark may send threads away, but for the ends of cases; in a loop those after it, too.
    fn list(&mut self, stmts: &[ast::Stmt]) {
        for s in stmts {
            if self.holds(s.span) {
                self.stmt(s);
                if !self.again {
                    return;
                }
            } else {
                self.passed(s, true);
            }
        }
    }

    /// The body of a loop that holds the mark.
    fn looped(&mut self, body: &ast::Stmt) {
        let before = std::mem::replace(&mut self.again, true);
        self.stmt(body);
        self.again = before;
    }

    fn stmt(&mut self, s: &ast::Stmt) {
        match &s.kind {
            StmtKind::Block(b) => self.list(&b.stmts),
            // What it declares is no expression.
            StmtKind::If { init: Some(_), .. } => self.way.open = true,
            StmtKind::If { cond, then, otherwise, .. } => {
                let other = otherwise.as_ref().filter(|o| self.holds(o.span));
                match (self.holds(then.span), other) {
                    (true, _) => self.into(cond, true, then),
                    (false, Some(other)) => self.into(cond, false, other),
                    (false, None) => self.expr(cond),
                }
            }
            StmtKind::For { init, cond, step, body } => {
                let start = init.as_ref().filter(|i| self.holds(i.span));
                if let Some(start) = start {
                    return self.stmt(start);
                }
                let own = cond.iter().chain(step).find(|e| self.holds(e.span));
                match cond {
                    Some(cond) => self.goes_on(cond),
                    None => self.way.open = true,
                }
                match own {
                    Some(own) => self.expr(own),
                    None => self.looped(body),
                }
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                let endless =
                    matches!(*scope::plain(cond).kind, ExprKind::Number(_) | ExprKind::Bool(_));
                self.way.open |= endless;
                self.goes_on(cond);
                match self.holds(cond.span) {
                    true => self.expr(cond),
                    false => self.looped(body),
                }
            }
            StmtKind::RangeFor { range, body, .. } => {
                self.way.open |= self.data.decide(range);
                self.looped(body);
            }
            StmtKind::Switch { selector, body } => self.switch(selector, body),
            _ => walk::stmt(s, &mut |e| self.part(e)),
        }
    }

    /// A loop that data may end: it is to go on as far as what else its condition asks for. Where data alone end it, it would not end with what is put in
    /// their place.
    fn goes_on(&mut self, cond: &ast::Expr) {
        match self.is_bounded(cond) {
            true => self.require(cond, true),
            false => self.way.open |= self.data.decide(cond),
        }
    }

    /// Whether a condition compares something that data do not decide on, too.
    fn is_bounded(&self, cond: &ast::Expr) -> bool {
        match &*scope::plain(cond).kind {
            ExprKind::Binary { op, left, right } if op == "&&" => {
                self.is_bounded(left) || self.is_bounded(right)
            }
            ExprKind::Binary { op, .. } => {
                matches!(op.as_str(), "<" | "<=" | ">" | ">=" | "!=") && !self.data.decide(cond)
            }
            _ => false,
        }
    }

    fn into(&mut self, cond: &ast::Expr, holds: bool, inner: &ast::Stmt) {
        self.require(cond, holds);
        self.stmt(inner);
    }

    fn expr(&mut self, e: &ast::Expr) {
        walk::expr(e, &mut |e| self.part(e));
    }

    /// What an expression that may hold the mark asks for.
    fn part(&mut self, e: &ast::Expr) {
        match &*e.kind {
            ExprKind::Conditional { cond, then, otherwise } => {
                if self.holds(then.span) {
                    self.require(cond, true);
                } else if self.holds(otherwise.span) {
                    self.require(cond, false);
                }
            }
            ExprKind::Binary { op, left, right } if self.holds(right.span) => match op.as_str() {
                "&&" => self.require(left, true),
                "||" => self.require(left, false),
                _ => {}
            },
            _ => {}
        }
    }

    /// A statement before the mark that threads may leave by; `inside` the loop that the mark is in, if it is in one.
    fn passed(&mut self, s: &ast::Stmt, inside: bool) {
        match &s.kind {
            StmtKind::Block(b) => b.stmts.iter().for_each(|s| self.passed(s, inside)),
            StmtKind::If { init: Some(_), .. } => self.way.open = true,
            StmtKind::If { cond, then, otherwise, .. } => {
                let away = otherwise.as_ref().is_some_and(|o| leaves(o, inside));
                if leaves(then, inside) {
                    self.require(cond, false);
                } else {
                    self.passed(then, inside);
                }
                if away {
                    self.require(cond, true);
                } else {
                    otherwise.iter().for_each(|o| self.passed(o, inside));
                }
            }
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::RangeFor { body, .. }
            | StmtKind::Switch { body, .. } => self.passed(body, false),
            _ => {}
        }
    }

    /// The last case before the mark is the one it belongs to.
    fn switch(&mut self, selector: &ast::Expr, body: &ast::Stmt) {
        let StmtKind::Block(block) = &body.kind else { return self.way.open = true };
        if self.data.decide(selector) {
            match self.label(&block.stmts) {
                Some(value) => self.take(selector.span, value, true),
                None => self.way.open = true,
            }
        }
        let label = |s: &ast::Stmt| matches!(s.kind, StmtKind::Case(_) | StmtKind::Default);
        let at = block.stmts.iter().position(|s| self.holds(s.span)).unwrap_or(0);
        let first = block.stmts[..at].iter().rposition(label).map_or(0, |l| l + 1);
        self.list(&block.stmts[first..]);
    }

    /// The value with which a `switch` goes to the case that the mark is in.
    fn label(&self, stmts: &[ast::Stmt]) -> Option<i64> {
        let at = stmts.iter().position(|s| self.holds(s.span))?;
        stmts[..at].iter().rev().find_map(|s| match &s.kind {
            StmtKind::Case(e) => Some(self.number(e)),
            StmtKind::Default => Some(self.no_case(stmts)),
            _ => None,
        })?
    }

    fn number(&self, e: &ast::Expr) -> Option<i64> {
        values::value_of(self.unit, self.sources.text(e.span))
    }

    /// A number that no case has.
    fn no_case(&self, stmts: &[ast::Stmt]) -> Option<i64> {
        let mut cases = vec![];
        for s in stmts {
            if let StmtKind::Case(e) = &s.kind {
                cases.push(self.number(e)?);
            }
        }
        (0..).find(|n| !cases.contains(n))
    }

    /// The parts of a condition that data decide on are to be what makes it hold, or not.
    fn require(&mut self, cond: &ast::Expr, holds: bool) {
        let cond = scope::plain(cond);
        match &*cond.kind {
            ExprKind::Unary { op, operand } if op == "!" => self.require(operand, !holds),
            ExprKind::Binary { op, left, right }
                if matches!(op.as_str(), "&&" | "||") && left.span != right.span =>
            {
                self.require(left, holds);
                self.require(right, holds);
            }
            // A name for a condition: what it is made of is asked for.
            ExprKind::Path(path)
                if let Some(value) = path.as_name().and_then(|n| counted::kept(self.body, n)) =>
            {
                self.require(&value, holds);
            }
            _ if self.data.decide(cond) => self.take(cond.span, holds.into(), false),
            _ => {}
        }
    }

    /// What stands in a macro elsewhere is not edited.
    fn take(&mut self, span: Span, value: i64, selects: bool) {
        let within = |b: Span| b.file == span.file && b.start <= span.start && span.end <= b.end;
        if span.file.0 != 0 || !self.body.span.is_some_and(within) {
            return self.way.open = true;
        }
        let mut at = span.start as usize..span.end as usize;
        // The first and last of its operands may be marked reads.
        for mark in self.marks.reads.iter().map(|m| &m.whole) {
            if mark.contains(&at.start) && mark.end < at.end {
                at.start = mark.start;
            } else if mark.contains(&(at.end - 1)) && at.start < mark.start {
                at.end = mark.end;
            } else if mark.contains(&at.start) {
                return self.way.open = true;
            }
        }
        let fork = Fork { at, selects };
        let known = self.all.forks.iter().position(|f| *f == fork);
        let number = known.unwrap_or(self.all.forks.len());
        if known.is_none() {
            self.all.forks.push(fork);
        }
        // In two ways at one fork no thread goes.
        self.way.open |= self.way.choices.insert(number, value).is_some_and(|v| v != value);
    }

    /// Whether data decide which element the mark reads.
    fn element(&self, at: &Bytes) -> bool {
        let mut decided = false;
        let inside =
            |s: Span| s.file.0 == 0 && at.start <= s.start as usize && s.end as usize <= at.end;
        walk::block(self.body, &mut |e| match &*e.kind {
            ExprKind::Index { base, index } if inside(e.span) => {
                decided |= self.data.decide(index);
                decided |= ties::variable(base).is_some() && self.data.decide(base);
            }
            ExprKind::Unary { op, operand } if inside(e.span) && op == "*" => {
                decided |= self.data.decide(operand);
            }
            _ => {}
        });
        decided
    }
}

/// Whether every thread that comes to a statement goes elsewhere than to what follows.
fn leaves(s: &ast::Stmt, inside: bool) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Goto(_) => true,
        StmtKind::Break | StmtKind::Continue => inside,
        StmtKind::Block(b) => b.stmts.last().is_some_and(|s| leaves(s, inside)),
        _ => false,
    }
}
