//! What stands between the beginning of a kernel and a store that goes across rows.

use warpsmith_front::ast::{self, StmtKind};

use super::{added, head, moving};
use crate::auto::plans::Kernel;
use crate::auto::{temporal, windows};
use crate::source::marks::Bytes;
use crate::source::scope;

/// What stands on the way from the kernel's beginning to its store.
pub enum Step<'a> {
    /// Variables; `true`: they stand where they are already, before all that is written anew.
    Variables(&'a ast::Stmt, bool),
    /// A loop with the same bounds for all threads.
    Loop(&'a ast::Stmt),
    /// The loop that takes a block down its tile.
    Rows(&'a ast::Stmt),
    /// What has to hold for a thread to go on.
    Condition(String),
}

/// The way to a store.
pub struct Way<'a> {
    kernel: &'a Kernel<'a>,
    store: usize,
    read: usize,
    pub moving: Vec<String>,
    pub steps: Vec<Step<'a>>,
    pub ends: Vec<Bytes>,
    pub region: Bytes,
}

impl<'a> Way<'a> {
    pub fn new(kernel: &'a Kernel<'a>, store: usize, read: usize) -> Way<'a> {
        let moving = moving(kernel);
        Way { kernel, store, read, moving, steps: vec![], ends: vec![], region: 0..0 }
    }

    /// Goes from the beginning of a list to the store's statement, behind which nothing may stand.
    pub fn walk(&mut self, list: &'a [ast::Stmt], top: bool) -> Option<&'a ast::Stmt> {
        let holds = |s: &ast::Stmt, at: usize| {
            s.span.file.0 == 0 && (s.span.start as usize..s.span.end as usize).contains(&at)
        };
        let at = list.iter().position(|s| holds(s, self.store))?;
        let nothing = |s: &ast::Stmt| matches!(s.kind, StmtKind::Empty) || top && temporal::ends(s);
        if !list[at + 1..].iter().all(nothing) {
            return None;
        }
        for s in &list[..at] {
            self.before(s, top, holds(s, self.read))?;
        }
        let s = &list[at];
        if top {
            let from =
                if self.region.is_empty() { s.span.start as usize } else { self.region.start };
            self.region = from..s.span.end as usize;
        }
        match &s.kind {
            StmtKind::Block(b) => self.walk(&b.stmts, false),
            StmtKind::If { cond, then, otherwise: None, init: None, .. } => {
                self.steps.push(Step::Condition(self.text(cond)));
                self.walk(std::slice::from_ref(&**then), false)
            }
            StmtKind::For { body, .. } => {
                let rows = added(self.kernel, s).is_some();
                let uniform = head(self.kernel, s)
                    .is_some_and(|h| scope::names(&h).iter().all(|n| !self.moving.contains(n)));
                match (rows, uniform) {
                    (true, _) => self.steps.push(Step::Rows(s)),
                    // What is inside of the loop down the tile would be done once an iteration.
                    (_, true) if !self.steps.iter().any(|s| matches!(s, Step::Rows(_))) => {
                        self.steps.push(Step::Loop(s));
                    }
                    _ => return None,
                }
                self.walk(std::slice::from_ref(&**body), false)
            }
            StmtKind::Expr(_) => Some(s),
            _ => None,
        }
    }

    /// What stands before the store in one of the lists around it.
    fn before(&mut self, s: &'a ast::Stmt, top: bool, reads: bool) -> Option<()> {
        match &s.kind {
            StmtKind::Vars(vars) if !vars.attrs.shared => {
                if top && reads {
                    self.region = s.span.start as usize..s.span.end as usize;
                }
                let there = top && self.region.is_empty();
                self.steps.push(Step::Variables(s, there));
            }
            StmtKind::If { cond, then, otherwise: None, init: None, .. }
                if temporal::ends(then) && top || windows::goes_on(then) && !top =>
            {
                let text = self.text(cond);
                self.steps.push(Step::Condition(format!("!({text})")));
                if top && self.region.is_empty() {
                    self.ends.push(s.span.start as usize..s.span.end as usize);
                }
            }
            StmtKind::Empty => {}
            _ => return None,
        }
        Some(())
    }

    fn text(&self, e: &ast::Expr) -> String {
        self.kernel.sources.text(e.span).to_string()
    }
}
