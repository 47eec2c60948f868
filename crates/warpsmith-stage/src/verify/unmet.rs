//! Ways of the unmodified kernel that no launch went. Of what a text does there, checks say nothing.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    Block, Case, Expr, ExprKind, Function, FunctionKind, Place, PlaceKind, Span, StmtKind, Turn,
    VarId, VarKind, Way,
};

use super::check::Rewritten;
use super::ways::Ways;
use crate::session::Session;
use crate::source::marks::Mark;
use crate::source::scope;

/// What was so in no launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// A condition, a loop, or the first statement of a case, in the user's text.
    pub at: Span,
    /// What was not so, in words behind it.
    pub how: &'static str,
    /// What is done there may change what marked reads find: it stores where they read, or stops at a barrier.
    pub matters: bool,
    /// It was so in hardly any launch.
    pub rare: bool,
}

/// What was not run of a rewritten text in launches that went these ways: of what lies in each other, the outermost.
pub fn unmet(session: &Session, text: &Rewritten, ways: &Ways) -> Vec<Unmet> {
    let mut found = vec![];
    for function in &text.program.module.functions {
        let named = named(session, function);
        let mut finder = Finder { session, text, ways, function, named, found: &mut found };
        visit::for_each_stmt(&function.body, &mut |s| {
            if let Some(span) = s.origin.span.and_then(|s| finder.own(s)) {
                finder.stmt(span, &s.kind);
            }
        });
        visit::for_each_expr(&function.body, &mut |e| {
            let span = e.origin.span.and_then(|s| finder.own(s));
            if let (ExprKind::Select(cond, ..), Some(span)) = (&*e.kind, span) {
                // What is stored through a pointer depends on where it leads to.
                finder.condition(span, cond, [e.ty.is_pointer(); 2]);
            }
        });
    }
    found
}

struct Finder<'a> {
    session: &'a Session,
    text: &'a Rewritten,
    ways: &'a Ways,
    function: &'a Function,
    /// Variables that what marks read is made of.
    named: BTreeSet<VarId>,
    found: &'a mut Vec<Unmet>,
}

/// The variables that marked reads of a function name, and those that these are made of.
fn named(session: &Session, function: &Function) -> BTreeSet<VarId> {
    let marks = session.plan.marks.reads.iter();
    let words: BTreeSet<String> =
        marks.flat_map(|m| scope::names(session.plan.slice(&m.global()))).collect();
    let own = |v: &&(usize, &warpsmith_ir::Var)| words.contains(v.1.name.trim_start_matches("::"));
    let vars: Vec<(usize, &warpsmith_ir::Var)> = function.vars.iter().enumerate().collect();
    let mut all: BTreeSet<VarId> = vars.iter().filter(own).map(|(n, _)| VarId(*n as u32)).collect();
    loop {
        let known = all.len();
        visit::for_each_stmt(&function.body, &mut |s| {
            let value = match &s.kind {
                StmtKind::Decl { var, init: Some(value) } if all.contains(var) => value,
                StmtKind::Assign { place, value }
                    if place.root_var().is_some_and(|v| all.contains(&v)) =>
                {
                    value
                }
                _ => return,
            };
            all.extend(visit::vars_of_expr(value));
        });
        if all.len() == known {
            return all;
        }
    }
}

/// Whether a function stores to variables of the device, or calls one that may, or stops.
fn changes_shared_state(block: &Block) -> bool {
    let mut changes = has_barrier(block);
    visit::for_each_place(block, &mut |place, access| {
        changes |= access == Access::Write && place.root_var().is_none();
    });
    visit::for_each_stmt(block, &mut |s| changes |= matches!(s.kind, StmtKind::Call { .. }));
    changes
}

fn has_barrier(block: &Block) -> bool {
    let mut found = false;
    visit::for_each_stmt(block, &mut |s| found |= matches!(s.kind, StmtKind::Barrier { .. }));
    found
}

impl Finder<'_> {
    /// Where a span of the program is in the user's text; `None`: it is part of what was written for it.
    fn own(&self, span: Span) -> Option<Span> {
        let own = self.text.origin(span);
        let (start, end) = (own.start as usize, own.end as usize);
        let marked = |m: &Mark| m.whole.start <= start && end <= m.whole.end;
        let written = own.file.0 == 0 && self.session.plan.marks.reads.iter().any(marked);
        (start < end && !written).then_some(own)
    }

    fn stmt(&mut self, span: Span, kind: &StmtKind) {
        match kind {
            StmtKind::If { cond, then, otherwise } => {
                // Who goes past a barrier reads what others have not stored yet.
                let barriers = has_barrier(then) || has_barrier(otherwise);
                let matters = [then, otherwise].map(|arm| barriers || self.matters(arm));
                self.condition(span, cond, matters);
            }
            StmtKind::For(l) => self.entered(span, &[&l.first, &l.limit], &l.body),
            StmtKind::Loop { condition: Some(c), body, .. } => {
                self.entered(span, &[&c.expr], body);
            }
            StmtKind::Switch { cases, .. } => self.cases(span, cases),
            _ => {}
        }
    }

    fn went(&self, span: Span, turn: Turn) -> bool {
        self.ways.contains(&Way { span, turn })
    }

    fn condition(&mut self, span: Span, cond: &Expr, matters: [bool; 2]) {
        let at = cond.origin.span.and_then(|s| self.own(s)).unwrap_or(span);
        let went = [Turn::Yes, Turn::No].map(|turn| self.went(span, turn));
        let rare = |turn| self.ways.is_rare(&Way { span, turn });
        if went[0] && went[1] {
            let relates = self.relates_arguments(cond);
            // What holds by accident where it was met is no reason for others.
            for (n, turn) in [Turn::Yes, Turn::No].into_iter().enumerate() {
                if matters[n] && (relates && rare(turn) || self.met_at_one(cond, span, turn)) {
                    let unmet = Unmet { at, how: ["holds", "fails"][n], matters: true, rare: true };
                    self.found.push(unmet);
                }
            }
        }
        if went[0] == went[1] || visit::is_fixed(cond) {
            return;
        }
        let way = usize::from(went[0]);
        self.push(at, ["holds", "fails"][way], matters[way]);
    }

    /// Whether a condition compares what the text makes of arguments, at which few launches can aim: `n == m * m`.
    fn relates_arguments(&self, cond: &Expr) -> bool {
        let argument = |v: VarId| self.function.var(v).kind == VarKind::Param;
        let mut found = false;
        visit::for_each_subexpr(cond, &mut |e| {
            let ExprKind::Binary(op, a, b) = &*e.kind else { return };
            let names = visit::vars_of_expr(e);
            let made = [a, b].into_iter().any(|e| matches!(&*e.kind, ExprKind::Binary(..)));
            let uniform = names.iter().all(|v| argument(*v)) && names.len() > 1;
            found |= op.is_comparison() && uniform && made;
        });
        found
    }

    /// Whether a way was taken for one value of an argument alone, which the condition does not simply compare with a number: it
    /// may be taken for others that launches did not have.
    fn met_at_one(&self, cond: &Expr, span: Span, turn: Turn) -> bool {
        let pinned = self.ways.pinned(&Way { span, turn });
        pinned.into_iter().any(|name| !self.compares(cond, name))
    }

    /// Whether a condition compares an argument with a number.
    fn compares(&self, cond: &Expr, name: &str) -> bool {
        let argument = |e: &Expr| match &*e.without_casts().kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.function.var(*v).name == name,
                _ => false,
            },
            _ => false,
        };
        let mut found = argument(cond);
        visit::for_each_subexpr(cond, &mut |e| match &*e.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let constant = |e: &Expr| e.without_casts().as_const().is_some();
                found |= argument(a) && constant(b) || argument(b) && constant(a);
            }
            ExprKind::Unary(_, inner) => found |= argument(inner),
            _ => {}
        });
        found
    }

    fn entered(&mut self, span: Span, bounds: &[&Expr], body: &Block) {
        let past = self.went(span, Turn::No) && !self.went(span, Turn::Yes);
        if past && !bounds.iter().all(|e| visit::is_fixed(e)) {
            self.push(span, "is entered", self.matters(body));
        }
    }

    fn cases(&mut self, span: Span, cases: &[Case]) {
        let first = |c: &Case| c.span().and_then(|s| self.own(s));
        let known: Vec<(Option<Span>, &Case)> = cases.iter().map(|c| (first(c), c)).collect();
        let comes = |at: &Option<Span>| at.is_some_and(|at| self.went(at, Turn::Case));
        if !known.iter().any(|(at, _)| comes(at)) && !self.went(span, Turn::Case) {
            return;
        }
        let left: Vec<_> = known.into_iter().filter(|(at, _)| !comes(at)).collect();
        for (at, case) in left {
            if let Some(at) = at {
                self.push(at, "is reached", self.matters(&case.body));
            }
        }
    }

    fn push(&mut self, at: Span, how: &'static str, matters: bool) {
        let unmet = Unmet { at, how, matters, rare: false };
        if !self.found.contains(&unmet) {
            self.found.push(unmet);
        }
    }

    /// Whether statements store to anything that marks may read, or stop.
    fn matters(&self, block: &Block) -> bool {
        let mut matters = false;
        visit::for_each_place(block, &mut |place, access| {
            let moved = place.ty.is_pointer();
            matters |= access == Access::Write && (moved || self.is_read(place));
        });
        visit::for_each_stmt(block, &mut |s| {
            matters |= match &s.kind {
                StmtKind::Atomic { pointer, .. } => self.points_to_read(pointer),
                StmtKind::Call { function, args, .. } => {
                    let callee = &self.text.program.module.function(*function).body;
                    args.iter().any(|a| self.points_to_read(a)) || changes_shared_state(callee)
                }
                StmtKind::AsyncCopy { destination, .. } => self.points_to_read(destination),
                StmtKind::Barrier { .. } | StmtKind::AsyncWait(_) => true,
                _ => false,
            };
        });
        matters
    }

    fn is_read(&self, place: &Place) -> bool {
        match &*place.kind {
            PlaceKind::Elem { pointer, .. } | PlaceKind::Deref(pointer) => {
                self.points_to_read(pointer)
            }
            PlaceKind::Index(inner, _)
            | PlaceKind::Field(inner, _)
            | PlaceKind::Component(inner, _) => self.is_read(inner),
            PlaceKind::Var(var) => self.is_shared(*var) || self.named.contains(var),
            // Subscripts may be made of it.
            PlaceKind::Global(_) => true,
        }
    }

    fn is_shared(&self, var: VarId) -> bool {
        matches!(self.function.var(var).kind, VarKind::Shared | VarKind::DynamicShared)
    }

    /// Whether a pointer may lead to what marks read: anything but a parameter that none of them names.
    fn points_to_read(&self, pointer: &Expr) -> bool {
        if !pointer.ty.is_pointer() {
            return false;
        }
        let mut roots = vec![];
        visit::for_each_place_in_expr(pointer, &mut |place, _| {
            roots.extend(place.root_var().filter(|_| place.ty.is_pointer()));
        });
        let other = |v: &VarId| {
            let var = self.function.var(*v);
            let tagged = self.session.tagged.contains(&var.name);
            var.kind == VarKind::Param && !tagged && self.function.kind == FunctionKind::Kernel
        };
        roots.is_empty() || !roots.iter().all(other)
    }
}
