//! Under which conditions threads that come by a place for copies come to a marked read behind it, as the text says.
//!
//! Each is necessary, and a copy by a thread that reads the element later is as good as the read. What loops ask for is left out.

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::{SourceMap, Span};

use super::counted;
use super::scope::{self, SharedArray};

/// The conditions between a place for copies and a read, by the bytes where they stand; none that calls functions, reads memory or
/// changes something.
pub fn between(body: &ast::Block, place: usize, read: usize, sources: &SourceMap) -> Vec<String> {
    let mut finder = Finder { place, read, sources, found: vec![] };
    finder.list(&body.stmts);
    finder.found
}

/// Conditions of several parts under which statements before a place, given by its byte, write to shared arrays: those that have
/// an element to copy.
pub fn of_copies(
    body: &ast::Block,
    place: usize,
    arrays: &[SharedArray],
    sources: &SourceMap,
) -> Vec<String> {
    let mut all = vec![];
    scope::each_stmt(&body.stmts, &mut |s| {
        let StmtKind::If { cond, then, .. } = &s.kind else { return };
        let mut writes = false;
        walk::stmt(then, &mut |e| {
            let root = counted::changed(e).and_then(counted::root);
            writes |= root.is_some_and(|r| arrays.iter().any(|a| a.name == r));
        });
        let joined = matches!(&*scope::plain(cond).kind, ExprKind::Binary { op, .. } if op == "&&");
        let text = sources.text(cond.span).trim();
        let own = s.span.file.0 == 0 && (s.span.end as usize) <= place;
        if writes && own && joined && is_plain(cond) && !all.iter().any(|known| known == text) {
            all.push(text.to_string());
        }
    });
    all
}

struct Finder<'a> {
    place: usize,
    read: usize,
    sources: &'a SourceMap,
    found: Vec<String>,
}

fn holds(span: Span, at: usize) -> bool {
    span.file.0 == 0 && (span.start as usize..span.end as usize).contains(&at)
}

impl Finder<'_> {
    /// Statements up to the one that holds the read.
    fn list(&mut self, stmts: &[ast::Stmt]) {
        let Some(last) = stmts.iter().position(|s| holds(s.span, self.read)) else { return };
        for s in &stmts[..last] {
            if self.is_behind(s.span) {
                self.passed(s);
            }
        }
        self.stmt(&stmts[last]);
    }

    fn is_behind(&self, span: Span) -> bool {
        span.start as usize >= self.place
    }

    fn stmt(&mut self, s: &ast::Stmt) {
        match &s.kind {
            StmtKind::Block(b) => self.list(&b.stmts),
            StmtKind::If { cond, then, otherwise, .. } => {
                let other = otherwise.as_ref().filter(|o| holds(o.span, self.read));
                match (holds(then.span, self.read), other) {
                    (true, _) => self.inner(cond, true, then),
                    (false, Some(other)) => self.inner(cond, false, other),
                    (false, None) => self.expr(cond),
                }
            }
            // How often loops run, and which case is taken, is left out.
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::RangeFor { body, .. }
            | StmtKind::Switch { body, .. }
                if holds(body.span, self.read) =>
            {
                self.stmt(body);
            }
            _ => walk::stmt(s, &mut |e| self.part(e)),
        }
    }

    fn inner(&mut self, cond: &ast::Expr, wanted: bool, inner: &ast::Stmt) {
        if self.is_behind(cond.span) {
            self.require(cond, wanted);
        }
        self.stmt(inner);
    }

    fn expr(&mut self, e: &ast::Expr) {
        walk::expr(e, &mut |e| self.part(e));
    }

    /// What an expression that may hold the read asks for.
    fn part(&mut self, e: &ast::Expr) {
        match &*e.kind {
            ExprKind::Conditional { cond, then, otherwise } => {
                if holds(then.span, self.read) {
                    self.require(cond, true);
                } else if holds(otherwise.span, self.read) {
                    self.require(cond, false);
                }
            }
            ExprKind::Binary { op, left, right } if holds(right.span, self.read) => {
                match op.as_str() {
                    "&&" => self.require(left, true),
                    "||" => self.require(left, false),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// A statement that some threads leave by.
    fn passed(&mut self, s: &ast::Stmt) {
        let StmtKind::If { cond, then, otherwise, .. } = &s.kind else { return };
        if leaves(then) {
            self.require(cond, false);
        } else if otherwise.as_deref().is_some_and(leaves) {
            self.require(cond, true);
        }
    }

    fn require(&mut self, cond: &ast::Expr, wanted: bool) {
        let cond = scope::plain(cond);
        match &*cond.kind {
            ExprKind::Unary { op, operand } if op == "!" => self.require(operand, !wanted),
            ExprKind::Binary { op, left, right } if op == if wanted { "&&" } else { "||" } => {
                self.require(left, wanted);
                self.require(right, wanted);
            }
            _ => self.take(cond, wanted),
        }
    }

    fn take(&mut self, cond: &ast::Expr, wanted: bool) {
        if cond.span.file.0 != 0 || !is_plain(cond) {
            return;
        }
        let text = |e: &ast::Expr| self.sources.text(e.span).trim().to_string();
        let said = match (&*cond.kind, wanted) {
            (_, true) => text(cond),
            (ExprKind::Binary { op, left, right }, false) if opposite(op).is_some() => {
                format!("{} {} {}", text(left), opposite(op).unwrap_or_default(), text(right))
            }
            (ExprKind::Path(_), false) => format!("!{}", text(cond)),
            (_, false) => format!("!({})", text(cond)),
        };
        if !self.found.contains(&said) {
            self.found.push(said);
        }
    }
}

fn opposite(op: &str) -> Option<&'static str> {
    let pairs = [("<", ">="), (">", "<="), ("==", "!="), ("<=", ">"), (">=", "<"), ("!=", "==")];
    pairs.into_iter().find(|(own, _)| *own == op).map(|(_, other)| other)
}

/// It reads no memory, calls nothing and changes nothing.
fn is_plain(e: &ast::Expr) -> bool {
    let mut plain = true;
    walk::expr(e, &mut |e| {
        plain &= !matches!(
            &*e.kind,
            ExprKind::Assign { .. }
                | ExprKind::IncDec { .. }
                | ExprKind::Call { .. }
                | ExprKind::Index { .. }
                | ExprKind::Lambda(_)
        );
        plain &= !matches!(&*e.kind, ExprKind::Unary { op, .. } if op == "*" || op == "&");
    });
    plain
}

/// Whether every thread that comes to a statement goes elsewhere than to what follows.
fn leaves(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Continue => true,
        StmtKind::Block(b) => b.stmts.last().is_some_and(leaves),
        _ => false,
    }
}
