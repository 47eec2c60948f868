//! The loop that a kernel spends its time in: a counter that goes up by one between two bounds, with all stores inside.

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;

use super::elements;
use super::find::{self, Access};
use super::plans::Kernel;
use crate::source::counted::changed;
pub use crate::source::counted::{begin, bound, is_increment, name, root};

/// A loop over `first <= counter < end`.
pub struct Outer<'a> {
    pub stmt: &'a ast::Stmt,
    pub body: &'a ast::Stmt,
    pub counter: &'a str,
    /// The counter's type as written.
    pub ty: String,
    /// The counter is declared by the loop.
    pub declared: bool,
    pub first: &'a ast::Expr,
    pub cond: &'a ast::Expr,
    pub end: &'a ast::Expr,
    /// The counter reaches `end` itself.
    pub inclusive: bool,
    /// What is done with the counter's step: `c += plane` in `k++, c += plane`.
    pub steps: Vec<&'a ast::Expr>,
    /// It is the branch of an `if` without braces around it.
    pub bare: bool,
}

impl<'a> Outer<'a> {
    /// The outermost loop of a kernel that holds some accesses; conditions without an `else` may be around it.
    pub fn around(kernel: &Kernel<'a>, accesses: &[&Access]) -> Option<Outer<'a>> {
        let holds = |s: &ast::Stmt| {
            let inside = |a: &&Access| {
                let at = a.whole.start as u32;
                s.span.file.0 == 0 && s.span.start <= at && at < s.span.end
            };
            !accesses.is_empty() && accesses.iter().all(inside)
        };
        let mut list: &[ast::Stmt] = &kernel.body.stmts;
        let mut bare = false;
        loop {
            let s = list.iter().find(|s| holds(s))?;
            match &s.kind {
                StmtKind::Block(b) => (list, bare) = (&b.stmts, false),
                StmtKind::If { then, otherwise: None, init: None, .. } => {
                    (list, bare) = (std::slice::from_ref(&**then), true);
                }
                _ => return Outer::new(kernel, s, bare),
            }
        }
    }

    /// A loop of a kernel, if it counts up by one.
    pub fn new(kernel: &Kernel<'a>, stmt: &'a ast::Stmt, bare: bool) -> Option<Outer<'a>> {
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body } =
            &stmt.kind
        else {
            return None;
        };
        let (counter, first, declared) = begin(init)?;
        let ty = match &init.kind {
            StmtKind::Vars(vars) => {
                elements::plain_type(&vars.declarators.first()?.ty, kernel.sources)
            }
            _ => find::declared_type(kernel.body, counter, kernel.sources)?,
        };
        let (end, inclusive) = bound(cond, counter)?;
        let mut steps = vec![];
        flat(step, &mut steps);
        let own = steps.iter().position(|s| is_increment(s, counter))?;
        steps.remove(own);
        Some(Outer { stmt, body, counter, ty, declared, first, cond, end, inclusive, steps, bare })
    }

    /// Where text can stand before the loop: its pragmas belong to it.
    pub fn start(&self) -> usize {
        let first = self.stmt.pragmas.iter().map(|p| p.span.start).min();
        first.map_or(self.stmt.span.start, |p| p.min(self.stmt.span.start)) as usize
    }

    /// The statements of the body.
    pub fn stmts(&self) -> &'a [ast::Stmt] {
        match &self.body.kind {
            StmtKind::Block(b) => &b.stmts,
            _ => std::slice::from_ref(self.body),
        }
    }

    /// Variables that the loop assigns and does not declare, with each assignment.
    pub fn assigned(&self) -> Vec<(String, ast::Expr)> {
        let mut own = find::names_declared(std::slice::from_ref(self.body));
        own.push(self.counter.to_string());
        let mut all = assignments(std::slice::from_ref(self.body));
        all.extend(self.steps.iter().flat_map(|s| assigned_by(s)));
        all.retain(|(n, _)| !own.contains(n));
        all
    }

    /// Whether each iteration is begun and ended by the loop itself: no `return`, `goto`, and no `break` or `continue` of this loop.
    pub fn is_whole(&self) -> bool {
        stays(self.body, false)
    }

    /// Whether a `continue` of this loop, or a `goto`, stands before a byte: what is behind it is not part of every iteration.
    pub fn goes_on_before(&self, byte: usize) -> bool {
        goes_on(self.body, byte, false)
    }
}

fn goes_on(s: &ast::Stmt, byte: usize, inner: bool) -> bool {
    let before = (s.span.start as usize) < byte;
    match &s.kind {
        StmtKind::Continue => before && !inner,
        StmtKind::Goto(_) | StmtKind::Unsupported { .. } => before,
        StmtKind::Block(b) => b.stmts.iter().any(|s| goes_on(s, byte, inner)),
        StmtKind::If { then, otherwise, .. } => {
            goes_on(then, byte, inner) || otherwise.iter().any(|o| goes_on(o, byte, inner))
        }
        StmtKind::Switch { body, .. } => goes_on(body, byte, inner),
        StmtKind::For { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. } => goes_on(body, byte, true),
        _ => false,
    }
}

fn flat<'a>(step: &'a ast::Expr, all: &mut Vec<&'a ast::Expr>) {
    match &*step.kind {
        ExprKind::Comma(a, b) => {
            flat(a, all);
            flat(b, all);
        }
        ExprKind::Paren(e) => flat(e, all),
        _ => all.push(step),
    }
}

/// Variables that statements assign or take the address of, elements and members of them included.
pub fn assignments(stmts: &[ast::Stmt]) -> Vec<(String, ast::Expr)> {
    let mut all = vec![];
    stmts.iter().for_each(|s| walk::stmt(s, &mut |e| all.extend(assigned_here(e))));
    all
}

fn assigned_by(e: &ast::Expr) -> Vec<(String, ast::Expr)> {
    let mut all = vec![];
    walk::expr(e, &mut |e| all.extend(assigned_here(e)));
    all
}

fn assigned_here(e: &ast::Expr) -> Option<(String, ast::Expr)> {
    // What has no name is named after nothing, so that nobody takes it for known.
    Some((root(changed(e)?).unwrap_or_default().to_string(), e.clone()))
}

/// Whether control stays in a statement of a loop's body; `inner`: in a loop of its own.
fn stays(s: &ast::Stmt, inner: bool) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue => inner,
        StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::LabelDef(_)
        | StmtKind::Asm { .. }
        | StmtKind::Unsupported { .. } => false,
        StmtKind::Block(b) => b.stmts.iter().all(|s| stays(s, inner)),
        StmtKind::If { then, otherwise, .. } => {
            stays(then, inner) && otherwise.iter().all(|o| stays(o, inner))
        }
        StmtKind::For { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. } => stays(body, true),
        StmtKind::Switch { .. } => false,
        _ => true,
    }
}
