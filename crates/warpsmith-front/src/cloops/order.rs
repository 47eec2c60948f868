//! The order of what the threads of a region do. Kernels run one after the other, as if every thread waited at the end of
//! each loop; where `nowait`, or a `master` block, lets threads go on although they need what others are still at, the
//! C program has a race, and is refused.

use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    BinaryOp, Block, Diagnostic, Expr, ExprKind, ForLoop, Place, PlaceKind, Span, StmtKind, VarId,
};

use super::cx::{Cx, Low};
use crate::ast;
use warpsmith_ir::updates::{base_of, base_of_pointer};

/// How the threads of a region share a statement.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The iterations of a loop are divided among them; otherwise one thread runs it.
    pub loop_of: bool,
    /// All wait at its end.
    pub waits: bool,
    /// Which thread runs an iteration is not known.
    pub dynamic: bool,
}

/// A statement that threads may still be at when others go on.
#[derive(Clone, Debug)]
pub struct Unfinished {
    span: Span,
    uses: Uses,
}

/// What statements touch of what threads share.
#[derive(Clone, Debug, Default)]
struct Uses {
    accesses: Vec<(VarId, Place, bool)>,
    /// The loop whose iterations are divided, each thread having a fixed part.
    divided: Option<ForLoop>,
}

impl<'u> Cx<'u> {
    /// Every thread waits here.
    pub fn finish_all(&mut self) {
        if let Some(region) = self.regions.last_mut() {
            region.unfinished.clear();
        }
    }

    /// A statement has been lowered to those from `start` on: does it need what other threads may still be at?
    ///
    /// # Errors
    /// W162, naming both.
    pub fn in_order(&mut self, stmt: &'u ast::Stmt, share: Option<Share>, start: usize) -> Low<()> {
        if self.marked.is_some() || self.exclusive > 0 || self.regions.is_empty() {
            return Ok(());
        }
        // Statements inside have been looked at one by one; what a loop leaves meets its own beginning.
        let around = share.is_none() && holds_pragma(stmt);
        let again = matches!(
            stmt.kind,
            ast::StmtKind::For { .. } | ast::StmtKind::While { .. } | ast::StmtKind::DoWhile { .. }
        );
        if around && !again {
            return Ok(());
        }
        let block = Block::new(self.out.get(start..).unwrap_or_default().to_vec());
        if share.is_some_and(|s| !s.loop_of) {
            self.whole_parts(&block, stmt.span)?;
        }
        let uses = self.uses(&block, share);
        let Some(region) = self.regions.last() else { return Ok(()) };
        let meets = region.unfinished.iter().find_map(|u| {
            let (var, at) = u.uses.conflict(&uses)?;
            Some((u.span, var, at))
        });
        if let Some((span, var, at)) = meets {
            let name = self.function.var(var).name.clone();
            let message = format!(
                "threads that do not wait may use `{name}` while others are still at the statement before"
            );
            let d = Diagnostic::error("W162", message)
                .label(at.unwrap_or(stmt.span), format!("uses `{name}`"))
                .label(span, "threads go on from here without waiting");
            return Err(
                self.fail(d.help("remove `nowait`, or put `#pragma omp barrier` between the two"))
            );
        }
        let Some(region) = self.regions.last_mut() else { return Ok(()) };
        match share {
            Some(s) if s.waits => region.unfinished.clear(),
            Some(_) => region.unfinished.push(Unfinished { span: stmt.span, uses }),
            None => {}
        }
        Ok(())
    }

    fn uses(&self, block: &Block, share: Option<Share>) -> Uses {
        let mut uses = Uses::default();
        let own = |v: VarId| self.regions.iter().any(|r| r.owns(v));
        let mut note = |place: &Place, writes: bool| {
            // The value of a pointer is no access to what it points to.
            if let Some(v) = base_of(place).filter(|v| !own(*v))
                && (!place.ty.is_pointer() || writes)
            {
                uses.accesses.push((v, place.clone(), writes));
            }
        };
        visit::for_each_place(block, &mut |place, access| note(place, access != Access::Read));
        visit::for_each_stmt(block, &mut |s| match &s.kind {
            StmtKind::Call { args, .. } => {
                for a in args.iter().filter(|a| a.ty.is_pointer()) {
                    if let Some(v) = base_of_pointer(a) {
                        note(&Place::var(v, a.ty.clone()), true);
                    }
                }
            }
            StmtKind::For(l) => {
                if let warpsmith_ir::LoopKind::Parallel(p) = &l.kind {
                    let vars = p.reductions.iter().map(|r| r.var).chain(p.last_private.clone());
                    for v in vars {
                        note(&Place::var(v, self.var_type(v).clone()), true);
                    }
                }
            }
            _ => {}
        });
        if share.is_some_and(|s| s.loop_of && !s.dynamic) {
            uses.divided = block.stmts.iter().rev().find_map(|s| match &s.kind {
                StmtKind::For(l) => Some(l.clone()),
                _ => None,
            });
        }
        uses
    }
}

impl Uses {
    /// A variable that both use and one writes, where different threads may meet, and where `later` uses it.
    fn conflict(&self, later: &Uses) -> Option<(VarId, Option<Span>)> {
        for (var, place, writes) in &later.accesses {
            let before = self.accesses.iter().filter(|(v, ..)| v == var);
            let written = *writes || before.clone().any(|(_, _, w)| *w);
            if before.clone().next().is_none() || !written || counts(*var, self, later) {
                continue;
            }
            if !self.same_iterations(later, *var) {
                return Some((*var, place.origin.span));
            }
        }
        None
    }

    /// Whether both are loops with the same iterations, which go to the same threads, and each iteration of either uses
    /// elements of the variable that are its own.
    fn same_iterations(&self, later: &Uses, var: VarId) -> bool {
        let (Some(a), Some(b)) = (&self.divided, &later.divided) else { return false };
        let alike =
            a.first == b.first && a.limit == b.limit && a.step == b.step && a.compare == b.compare;
        if !alike {
            return false;
        }
        let rows = |uses: &Uses, l: &ForLoop| -> Option<Vec<(usize, Expr)>> {
            let own = uses.accesses.iter().filter(|(v, ..)| *v == var);
            own.map(|(_, p, _)| row(p, l)).collect()
        };
        let (Some(mut all), Some(more)) = (rows(self, a), rows(later, b)) else { return false };
        all.extend(more);
        all.windows(2).all(|w| w[0] == w[1])
    }
}

/// The counters of both loops: each thread has its own.
fn counts(var: VarId, a: &Uses, b: &Uses) -> bool {
    [a, b].iter().any(|u| u.divided.as_ref().is_some_and(|l| l.var == var))
}

/// The dimension of a place that is the counter of the loop, give or take a constant, and its subscript with the counter
/// replaced by a name common to all loops.
fn row(place: &Place, l: &ForLoop) -> Option<(usize, Expr)> {
    let mut index: Vec<Expr> = vec![];
    subscripts(place, &mut index);
    index.into_iter().enumerate().find_map(|(k, mut e)| {
        visit::rename_vars_in_expr(&mut e, &mut |v| if v == l.var { VarId(u32::MAX) } else { v });
        follows(&e).then_some((k, e))
    })
}

fn subscripts(place: &Place, into: &mut Vec<Expr>) {
    match &*place.kind {
        PlaceKind::Elem { index, .. } => into.extend(index.iter().cloned()),
        PlaceKind::Index(inner, i) => {
            subscripts(inner, into);
            into.push(i.clone());
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => subscripts(p, into),
        PlaceKind::Var(_) | PlaceKind::Global(_) | PlaceKind::Deref(_) => {}
    }
}

/// Whether an expression is the counter, or the counter plus or minus a constant.
fn follows(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Read(p) => *p.kind == PlaceKind::Var(VarId(u32::MAX)),
        ExprKind::Cast(inner) => follows(inner),
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            (follows(a) && b.as_const().is_some()) || (follows(b) && a.as_const().is_some())
        }
        ExprKind::Binary(BinaryOp::Sub, a, b) => follows(a) && b.as_const().is_some(),
        _ => false,
    }
}

/// Whether a statement inside has a pragma.
fn holds_pragma(stmt: &ast::Stmt) -> bool {
    use ast::StmtKind as S;
    let within = |s: &ast::Stmt| !s.pragmas.is_empty() || holds_pragma(s);
    match &stmt.kind {
        S::Block(b) => b.stmts.iter().any(within),
        S::If { then, otherwise, .. } => within(then) || otherwise.as_deref().is_some_and(within),
        S::For { body, .. }
        | S::While { body, .. }
        | S::DoWhile { body, .. }
        | S::Switch { body, .. } => within(body),
        _ => false,
    }
}
