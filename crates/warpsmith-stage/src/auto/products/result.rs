//! Sums that a loop keeps in memory: `C[i * n + j] += A[i * n + k] * B[k * n + j]`.
//!
//! Threads beyond the edges go through the loop over tiles, too, and have no element: the sum is loaded before the loop where the
//! thread has one, kept in a variable, and stored behind it. Each addition gives what it gave.

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;

use crate::auto::elements;
use crate::auto::find::Access;
use crate::auto::outer::Outer;
use crate::auto::plans::Kernel;
use crate::source::marks::{self, Bytes};
use crate::source::scope;

/// The element that a loop keeps its sum in.
#[derive(Debug)]
pub struct InMemory<'a> {
    pub access: &'a Access,
    /// Where the loop reads and writes it.
    pub places: Vec<Bytes>,
    /// Its type.
    element: String,
}

impl<'a> InMemory<'a> {
    /// The one element that the statement of a loop stores to; `None`: there is none, or iterations store to others.
    pub fn of(kernel: &Kernel<'a>, outer: &Outer<'_>) -> Option<InMemory<'a>> {
        let [only] = outer.stmts() else { return None };
        let StmtKind::Expr(e) = &only.kind else { return None };
        let ExprKind::Assign { target, .. } = &*e.kind else { return None };
        let at = scope::plain(target).span.start as usize;
        let access = kernel.accesses.iter().find(|a| a.stored && a.whole.start == at)?;
        let names = scope::names(&access.index);
        let span = outer.stmt.span.start as usize..outer.stmt.span.end as usize;
        let within = |a: &&Access| a.array == access.array && span.contains(&a.whole.start);
        let all: Vec<&Access> = kernel.accesses.iter().filter(within).collect();
        let one = all.iter().all(|a| a.index == access.index && a.open == access.open);
        let moves = names.iter().any(|n| n == outer.counter) || access.index.contains('[');
        let pure = !access.index.contains(['(', '=']) && !access.index.contains("++");
        if moves || !one || !pure {
            return None;
        }
        let element =
            elements::element_type(kernel.function, &access.array, kernel.unit, kernel.sources)?;
        Some(InMemory { access, places: all.iter().map(|a| a.whole.clone()).collect(), element })
    }

    /// Whether an access is one of the element.
    pub fn is_at(&self, access: &Access) -> bool {
        self.places.contains(&access.whole)
    }

    fn text(&self) -> String {
        self.access.with(&self.access.index)
    }

    /// The variable with what the element holds, where a condition says that there is one.
    pub fn declared(&self, sum: &str, condition: Option<&str>) -> String {
        let (element, text) = (&self.element, self.text());
        match condition {
            Some(c) if c.contains('?') => {
                format!("{element} {sum} = ({c}) ? {text} : {};", super::zero(element))
            }
            Some(c) => format!("{element} {sum} = {c} ? {text} : {};", super::zero(element)),
            None => format!("{element} {sum} = {text};"),
        }
    }

    /// The variable before anything is known of the element.
    pub fn empty(&self, sum: &str) -> String {
        format!("{} {sum} = {};", self.element, super::zero(&self.element))
    }

    pub fn loaded(&self, sum: &str) -> String {
        format!("{sum} = {};", self.text())
    }

    pub fn stored(&self, sum: &str) -> String {
        format!("{} = {sum};", self.text())
    }
}

/// Whether a statement may stay under the condition of a branch whose loop moves before it: it assigns to an element, and calls
/// nothing.
pub fn stays(s: &ast::Stmt) -> bool {
    let StmtKind::Expr(e) = &s.kind else { return false };
    let ExprKind::Assign { target, .. } = &*e.kind else { return false };
    let mut alone = matches!(&*scope::plain(target).kind, ExprKind::Index { .. });
    let mut assigned = 0;
    walk::stmt(s, &mut |e| match &*e.kind {
        ExprKind::Assign { .. } => assigned += 1,
        ExprKind::Call { .. } | ExprKind::IncDec { .. } => alone = false,
        _ => {}
    });
    alone && assigned == 1
}

/// The declaration of a counter that nothing but its loop asks for: `int k;`.
pub fn counter<'a>(kernel: &Kernel<'a>, outer: &Outer<'_>) -> Option<&'a ast::Stmt> {
    let body = kernel.body.span.map(|s| kernel.sources.text(s))?;
    let own = kernel.sources.text(outer.stmt.span);
    let [all, inside] = [body, own].map(|t| marks::mentions(t, outer.counter));
    let mut found = None;
    let mut look = |s: &'a ast::Stmt| {
        let StmtKind::Vars(vars) = &s.kind else { return };
        if let [only] = vars.declarators.as_slice()
            && only.name == outer.counter
            && only.init.is_none()
        {
            found = Some(s);
        }
    };
    for s in &kernel.body.stmts {
        look(s);
        if let StmtKind::If { then, .. } = &s.kind
            && let StmtKind::Block(b) = &then.kind
        {
            b.stmts.iter().for_each(&mut look);
        }
    }
    found.filter(|_| all == inside + 1)
}
