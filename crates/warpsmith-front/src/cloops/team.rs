//! What the threads of a marked loop share and combine, seen when its body is known.
//!
//! Updates of one variable become a reduction of the loop, updates of an array in a `reduction` clause atomic ones. A
//! variable that each thread of the region around has for itself is private to the iterations that set it before they
//! read it; one that they only add to holds the thread's part of a result, and the iterations reduce to it: where the
//! parts are then combined, as in
//!
//! ```c
//! #pragma omp parallel
//! {
//!     double part = 0;
//!     #pragma omp for
//!     for (int i = 0; i < n; i++) part += x[i];
//!     #pragma omp atomic
//!     total += part;
//! }
//! ```
//!
//! one thread stands for all, with all of the result in its part.

use warpsmith_ir::{
    AtomicOp, Block, Diagnostic, Expr, ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind,
    ReduceOp, Reduction, Span, Stmt, StmtKind, Type, VarId, visit,
};

use super::cx::{ArrayReduction, Cx, Low, Marked};
use warpsmith_ir::updates::{
    self, accumulation, base_of, class, first_write, other_mention, update_of, updates_array,
};

impl Cx<'_> {
    /// The last look at the outermost marked loop, which is the last loop among the statements from `start` on.
    ///
    /// # Errors
    /// W160 and W161 for what depends on the order of the iterations.
    pub fn finish_marked(&mut self, start: usize, marked: &Marked) -> Low<()> {
        let is_loop = |k: &usize| matches!(self.out[*k].kind, StmtKind::For(_));
        let Some(at) = (start..self.out.len()).rev().find(is_loop) else { return Ok(()) };
        let nothing = Stmt::new(StmtKind::Scope(Block::default()), Origin::default());
        let mut stmt = std::mem::replace(&mut self.out[at], nothing);
        let result = match &mut stmt.kind {
            StmtKind::For(l) => self
                .combine_kept(l, marked)
                .and_then(|()| self.reduce_arrays(l, &marked.arrays))
                .and_then(|()| self.own_variables(l, marked)),
            _ => Ok(()),
        };
        self.out[at] = stmt;
        result
    }

    fn combine_kept(&mut self, l: &mut ForLoop, marked: &Marked) -> Low<()> {
        let mut bases: Vec<VarId> = vec![];
        for kept in &marked.kept {
            if !bases.contains(&kept.base) {
                bases.push(kept.base);
            }
        }
        for base in bases {
            let own = || marked.kept.iter().filter(|k| k.base == base);
            let Some(first) = own().next() else { continue };
            if let Some(other) = own().find(|k| k.class != first.class) {
                let message = format!(
                    "updates of `{}` by two operations depend on their order",
                    self.function.var(base).name
                );
                let d = Diagnostic::error("W160", message)
                    .label(first.span, "one operation")
                    .label(other.span, "another");
                return Err(self.fail(d.help("collect both in variables of their own")));
            }
            if reduces(l, base) {
                continue;
            }
            let spans: Vec<Span> = own().map(|k| k.span).collect();
            let other = other_mention(&l.body, base, &|s| {
                s.origin.span.is_some_and(|at| spans.contains(&at))
            });
            let pointer = self.var_type(base).is_pointer();
            match other {
                None => add_reduction(l, first.class, base),
                // Something else is done with the array: its elements are updated one by one.
                Some(_) if pointer => visit::map_stmts(&mut l.body, &mut |s| {
                    if s.origin.span.is_some_and(|at| spans.contains(&at))
                        && let Some(Ok(update)) = update_of(s)
                        && base_of(&update.place) == Some(base)
                    {
                        *s = updates::atomic_of(&self.env(), update, &s.origin);
                    }
                }),
                Some(at) => {
                    let name = &self.function.var(base).name;
                    let message =
                        format!("what is read of `{name}` depends on the order of the iterations");
                    let d = Diagnostic::error("W161", message)
                        .label(at.unwrap_or(marked.span), "used beside the updates")
                        .label(first.span, "updated here");
                    return Err(self.fail(d.help("read it after the loop, and update it under `atomic` or `critical` everywhere")));
                }
            }
        }
        Ok(())
    }

    fn atomic_elements(
        &self,
        l: &mut ForLoop,
        array: VarId,
        op: ReduceOp,
    ) -> Result<(), (Option<Span>, updates::Why)> {
        updates::atomic_elements(&self.env(), &mut l.body, array, op)
    }

    fn reduce_arrays(&mut self, l: &mut ForLoop, arrays: &[ArrayReduction]) -> Low<()> {
        for a in arrays {
            let name = self.function.var(a.var).name.clone();
            if matches!(a.op, ReduceOp::LogicalAnd | ReduceOp::LogicalOr) {
                let message =
                    format!("`{name}` is an array, and this operator is for truth values");
                let d = Diagnostic::error("W136", message).label(a.span, "named in this clause");
                return Err(self.fail(d.help("use `&` or `|` on 0 and 1")));
            }
            self.atomic_elements(l, a.var, a.op).map_err(|(at, why)| {
                let message = format!(
                    "`{name}` is reduced, but the loop does something else with it than the clause says"
                );
                let d = Diagnostic::error("W160", message);
                let d = at.into_iter().fold(d, |d, at| d.label(at, why.reason));
                self.fail(d.label(a.span, "named in this clause").help(why.help))
            })?;
        }
        Ok(())
    }

    /// Variables that each thread of the regions around has for itself.
    fn own_variables(&mut self, l: &mut ForLoop, marked: &Marked) -> Low<()> {
        let effects = visit::effects(&l.body);
        let touched = effects.writes.iter().chain(&effects.reads).chain(&effects.addressed);
        let mut own: Vec<VarId> = touched
            .copied()
            .filter(|v| v.0 < marked.first_inside && *v != l.var && !effects.declares.contains(v))
            .filter(|v| self.regions.iter().any(|r| r.owns(*v)))
            .filter(|v| !marked.private.contains(v) && !reduces(l, *v))
            .collect();
        own.sort();
        own.dedup();
        for var in own {
            if writes(&l.body, var) {
                self.own_variable(l, var)?;
            }
            self.whole_part(&Block::new(l.body.stmts.clone()), var, marked.span)?;
        }
        Ok(())
    }

    /// What a thread has collected is its part of a result, until it is combined with those of the others.
    ///
    /// # Errors
    /// W161 where the block uses such a variable other than to collect more.
    fn whole_part(&mut self, block: &Block, var: VarId, span: Span) -> Low<()> {
        let part = self.regions.iter().any(|r| r.parts.iter().any(|(v, _)| *v == var));
        let collects = accumulation(block, var).is_some()
            || other_mention(block, var, &|s| updates_array(s, var)).is_none();
        if !part || collects {
            return Ok(());
        }
        let name = self.function.var(var).name.clone();
        let message = format!("`{name}` holds what one thread has collected, not the whole result");
        let d = Diagnostic::error("W161", message).label(span, format!("uses `{name}`"));
        Err(self.fail(d.help(
            "combine the parts first, as in `total += part` under `#pragma omp atomic`, or use a `reduction` clause",
        )))
    }

    /// As [`Cx::whole_part`], for all variables and statements that one thread runs.
    pub fn whole_parts(&mut self, block: &Block, span: Span) -> Low<()> {
        let parts: Vec<VarId> =
            self.regions.iter().flat_map(|r| r.parts.iter().map(|(v, _)| *v)).collect();
        parts.into_iter().try_for_each(|v| self.whole_part(block, v, span))
    }

    fn own_variable(&mut self, l: &mut ForLoop, var: VarId) -> Low<()> {
        let array = matches!(self.var_type(var), Type::Array(..));
        let part = match accumulation(&l.body, var) {
            Some(op) if array => self.atomic_elements(l, var, op).is_ok().then_some(op),
            Some(op) => {
                add_reduction(l, op, var);
                Some(op)
            }
            None => None,
        };
        if let Some(op) = part {
            if let Some(region) = self.regions.last_mut() {
                region.parts.push((var, op));
            }
            return Ok(());
        }
        if array || sets_first(&l.body, var) != Some(false) {
            if let LoopKind::Parallel(p) = &mut l.kind {
                p.private.push(var);
            }
            return Ok(());
        }
        let name = self.function.var(var).name.clone();
        let at = first_write(&l.body, var);
        let message = format!(
            "what an iteration reads of `{name}` depends on which iterations its thread has run before"
        );
        let d = Diagnostic::error("W161", message);
        let d = at.into_iter().fold(d, |d, at| d.label(at, "set by some iterations"));
        let declared = self.function.var(var).origin.span;
        let d = declared.into_iter().fold(d, |d, at| d.label(at, "each thread has its own"));
        Err(self
            .fail(d.help("set it in every iteration before it is read, or declare it in the loop")))
    }

    /// In a region, outside of its loops: every thread does the updates once. That is the same for any number of threads
    /// where they combine the threads' parts of a result.
    ///
    /// # Errors
    /// W152 for anything else that is written to what threads share.
    pub fn combines_parts(&mut self, block: &Block, span: Span) -> Low<()> {
        let Some(region) = self.regions.last().cloned() else { return Ok(()) };
        let mut wrong = None;
        let mut inside = vec![];
        visit::for_each_stmt(block, &mut |s| {
            if matches!(s.kind, StmtKind::If { .. }) && matches!(update_of(s), Some(Ok(_))) {
                inside.extend(written(s).cloned());
            }
        });
        visit::for_each_stmt(block, &mut |s| {
            let Some(place) = written(s) else { return };
            if place.root_var().is_some_and(|v| region.owns(v)) {
                return;
            }
            let part = |e: &Expr, op: AtomicOp| {
                let v = read_through_casts(e).and_then(base_of);
                v.is_some_and(|v| region.parts.contains(&(v, class(op))))
            };
            let right = match update_of(s) {
                Some(Ok(u)) => part(&u.value, u.op),
                // The assignment of an extreme was seen with its condition.
                _ => matches!(s.kind, StmtKind::Assign { .. }) && inside.contains(place),
            };
            if !right && wrong.is_none() {
                wrong = Some(s.origin.span.unwrap_or(span));
            }
        });
        let Some(at) = wrong else { return Ok(()) };
        let d = Diagnostic::error(
            "W152",
            "every thread of the parallel region would do this, so that the result depends on their number",
        )
        .label(at, "done once by each thread")
        .label(region.span, "the region begins here");
        Err(self.fail(d.help(
            "combine what each thread has collected in a loop marked `#pragma omp for`, as in `total += part`, or put it \
             under `#pragma omp single`",
        )))
    }
}

/// The place that an assignment, or the only one under the condition of an extreme, writes.
fn written(s: &Stmt) -> Option<&Place> {
    match &s.kind {
        StmtKind::Assign { place, .. } => Some(place),
        StmtKind::Call { result, .. } => result.as_ref(),
        StmtKind::If { then, .. } if matches!(update_of(s), Some(Ok(_))) => {
            then.stmts.first().and_then(written)
        }
        _ => None,
    }
}

fn read_through_casts(e: &Expr) -> Option<&Place> {
    match &*e.kind {
        ExprKind::Cast(inner) => read_through_casts(inner),
        ExprKind::Read(place) => Some(place),
        _ => None,
    }
}

fn reduces(l: &ForLoop, var: VarId) -> bool {
    matches!(&l.kind, LoopKind::Parallel(p) if p.reductions.iter().any(|r| r.var == var))
}

fn add_reduction(l: &mut ForLoop, op: ReduceOp, var: VarId) {
    if let LoopKind::Parallel(p) = &mut l.kind {
        p.reductions.push(Reduction { op, var });
    }
}

fn writes(block: &Block, var: VarId) -> bool {
    let mut found = false;
    visit::for_each_stmt(block, &mut |s| {
        found |= match &s.kind {
            StmtKind::Assign { place, .. } => base_of(place) == Some(var),
            StmtKind::Call { args, result, .. } => {
                result.as_ref().is_some_and(|p| base_of(p) == Some(var))
                    || args.iter().any(|a| updates::base_of_pointer(a) == Some(var))
            }
            StmtKind::For(l) => l.var == var,
            _ => false,
        };
    });
    found
}

/// Whether a variable is set before it is read, whichever way control takes; `None` where some ways neither set nor read
/// it.
fn sets_first(block: &Block, var: VarId) -> Option<bool> {
    for stmt in &block.stmts {
        match in_stmt(stmt, var) {
            Met::No => {}
            Met::Sets => return Some(true),
            Met::Reads => return Some(false),
            Met::SetsPerhaps => {}
        }
    }
    None
}

/// What a statement does first with a variable.
enum Met {
    No,
    Sets,
    /// Sets it first on some ways, and does not read it before on any.
    SetsPerhaps,
    Reads,
}

fn in_stmt(stmt: &Stmt, var: VarId) -> Met {
    let mut mentioned = false;
    visit::rename_vars(&mut Block::new(vec![stmt.clone()]), &mut |v| {
        mentioned |= v == var;
        v
    });
    if !mentioned {
        return Met::No;
    }
    let reads = |e: &Expr| visit::vars_of_expr(e).contains(&var);
    let inside = |blocks: &[&Block]| {
        let met: Vec<Option<bool>> = blocks.iter().map(|b| sets_first(b, var)).collect();
        if met.contains(&Some(false)) {
            Met::Reads
        } else if met.iter().all(|m| *m == Some(true)) {
            Met::Sets
        } else {
            Met::SetsPerhaps
        }
    };
    match &stmt.kind {
        StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => {
            if reads(value) {
                Met::Reads
            } else {
                Met::Sets
            }
        }
        StmtKind::Call { args, result: Some(place), .. } if *place.kind == PlaceKind::Var(var) => {
            if args.iter().any(reads) {
                Met::Reads
            } else {
                Met::Sets
            }
        }
        StmtKind::If { cond, then, otherwise } if !reads(cond) => inside(&[then, otherwise]),
        StmtKind::Scope(b) => inside(&[b]),
        StmtKind::For(l) if ![&l.first, &l.limit, &l.step].into_iter().any(reads) => {
            if l.var == var {
                return Met::Sets;
            }
            match inside(&[&l.body]) {
                Met::Reads => Met::Reads,
                _ => Met::SetsPerhaps,
            }
        }
        _ => Met::Reads,
    }
}
