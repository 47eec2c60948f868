//! Loops without a mark that are parallel but for what their iterations combine: sums, extremes, histograms.

use warpsmith_ir::typing::Env;
use warpsmith_ir::updates;
use warpsmith_ir::{
    Block, ExprKind, ForLoop, Function, LoopKind, Parallel, ReduceOp, Reduction, Scalar, Stmt,
    StmtKind, Type, VarId, visit,
};

use super::private::is_of_each_iteration;
use super::{analyse, check, flags};
use crate::analysis::access::Base;
use crate::analysis::loops::reduced_type;
use crate::analysis::scalars;
use crate::kernel::Kernel;
use crate::walk;

/// What the iterations of a loop combine.
pub(super) struct Reduced {
    /// Of variables, and of single elements; with those that become private.
    pub clauses: Parallel,
    /// Arrays whose elements they update, each by one operation.
    pub arrays: Vec<(VarId, ReduceOp)>,
    /// Arrays to whose elements they store one number.
    pub flags: Vec<VarId>,
}

impl Reduced {
    /// Makes the updates of elements atomic in the body of the loop.
    pub fn make_atomic(&self, env: &Env<'_>, body: &mut Block) -> Option<()> {
        self.flags.iter().for_each(|array| flags::make_atomic(env, body, *array));
        self.arrays
            .iter()
            .try_for_each(|(array, op)| updates::atomic_elements(env, body, *array, *op).ok())
    }

    /// Whether the order shows in the last digits of a sum or product.
    pub fn rounds(&self, function: &Function) -> bool {
        let vars = self.clauses.reductions.iter().map(|r| (r.var, r.op));
        vars.chain(self.arrays.iter().copied()).any(|(v, op)| {
            matches!(op, ReduceOp::Add | ReduceOp::Mul)
                && reduced_type(&function.var(v).ty).is_some_and(|ty| ty.is_float())
        })
    }

    /// Whether an outer loop combines all of it as well.
    pub fn is_within(&self, outer: &Reduced) -> bool {
        let reduced = |r: &Reduction| outer.clauses.reductions.contains(r);
        let updated = |update: &(VarId, ReduceOp)| outer.arrays.contains(update);
        self.clauses.reductions.iter().all(reduced)
            && self.arrays.iter().all(updated)
            && self.flags.iter().all(|array| outer.flags.contains(array))
    }

    /// All that is combined.
    pub fn vars(&self) -> impl Iterator<Item = VarId> {
        let arrays = self.arrays.iter().map(|(array, _)| *array);
        self.clauses
            .reductions
            .iter()
            .map(|r| r.var)
            .chain(arrays)
            .chain(self.flags.iter().copied())
    }
}

/// What is combined by a loop whose iterations are proved independent but for that. `outermost` is the loop that it is nested in
/// perfectly, where all are to combine it together, or the loop itself.
pub(super) fn reduced(kernel: &Kernel, l: &ForLoop, outermost: &ForLoop) -> Option<Reduced> {
    let function = kernel.func();
    if walk::leaves(&l.body).is_some() || scalars::read_outside_its_loops(&function.body, l.var) {
        return None;
    }
    let mut opaque = false;
    walk::each_stmt(&l.body, &mut |s| opaque |= matches!(s.kind, StmtKind::Printf { .. }));
    let mut found =
        Reduced { clauses: variables(function, l, outermost)?, arrays: vec![], flags: vec![] };
    for array in contended(kernel, l, &found.clauses)? {
        if flags::stores_one_number(&l.body, array) {
            found.flags.push(array);
            continue;
        }
        let op = updates::accumulation(&l.body, array)?;
        if takes_what_is_no_number(&l.body, array) {
            return None;
        }
        match is_one_element(&l.body, array) {
            true => found.clauses.reductions.push(Reduction { op, var: array }),
            false => found.arrays.push((array, op)),
        }
    }
    (!opaque && found.vars().next().is_some() && is_proved(kernel, l, &found)).then_some(found)
}

/// The variables that iterations have in common: private, or combined by one operation.
fn variables(function: &Function, l: &ForLoop, outermost: &ForLoop) -> Option<Parallel> {
    let mut clauses = Parallel::default();
    for shared in scalars::shared_variables(function, l) {
        let var = shared.var;
        if shared.counter_only || is_of_each_iteration(function, l, var) {
            clauses.private.push(var);
            continue;
        }
        let op = shared.reduction.or_else(|| updates::accumulation(&l.body, var))?;
        let ty = function.var(var).ty.scalar().filter(|s| matches!(s.bytes(), 4 | 8))?;
        let by_comparison = ty.is_float() && shared.reduction.is_none();
        if !is_defined(op, ty)
            || by_comparison
                && (takes_what_is_no_number(&l.body, var)
                    || !begins_at_a_number(&function.body, outermost, var))
        {
            return None;
        }
        clauses.reductions.push(Reduction { op, var });
    }
    Some(clauses)
}

/// Whether an extreme of reals becomes what does not compare, as in `m = x < m ? m : x`: what comes of it depends on the order.
fn takes_what_is_no_number(body: &Block, var: VarId) -> bool {
    let mut takes = false;
    visit::for_each_stmt(body, &mut |s| {
        if let StmtKind::Assign { place, value } = &s.kind
            && updates::base_of(place) == Some(var)
            && place.ty.is_float()
            && let ExprKind::Select(_, kept, _) = &*value.without_casts().kind
        {
            takes |= updates::reads_base(kept, Some(var));
        }
    });
    takes
}

/// Whether a variable gets a constant right before a loop, in the same block: an extreme by comparison stays what it is where it
/// begins at no number, and one of threads does not.
fn begins_at_a_number(block: &Block, l: &ForLoop, var: VarId) -> bool {
    let is_loop = |s: &Stmt| matches!(&s.kind, StmtKind::For(own) if own.id == l.id);
    if let Some(at) = block.stmts.iter().position(is_loop) {
        let sets = |s: &&Stmt| walk::times_set(&Block::new(vec![(*s).clone()]), var) > 0;
        let last = block.stmts[..at].iter().rev().find(sets);
        return last.is_some_and(|s| match &s.kind {
            StmtKind::Decl { init: Some(value), .. } | StmtKind::Assign { value, .. } => {
                value.as_const().is_some_and(|v| !v.as_f64().is_nan())
            }
            _ => false,
        });
    }
    let inside = block.stmts.iter().flat_map(walk::blocks);
    inside.into_iter().any(|b| begins_at_a_number(b, l, var))
}

fn is_defined(op: ReduceOp, ty: Scalar) -> bool {
    !ty.is_float() || !matches!(op, ReduceOp::BitAnd | ReduceOp::BitOr | ReduceOp::BitXor)
}

/// Arrays of which two iterations may access one element, and one of them writes it; `None` where such memory has no name.
fn contended(kernel: &Kernel, l: &ForLoop, clauses: &Parallel) -> Option<Vec<VarId>> {
    let (_, report, accesses) = analyse(kernel, l, clauses);
    let conflicts = report.conflicts.iter().map(|c| c.first);
    let doubts = report.unknown.iter().chain(&report.by_data).map(|d| d.first);
    let mut arrays = vec![];
    for at in conflicts.chain(doubts) {
        let Base::Var(array) = accesses[at].base else { return None };
        kernel.func().var(array).ty.pointee().and_then(Type::scalar)?;
        if !arrays.contains(&array) {
            arrays.push(array);
        }
    }
    Some(arrays)
}

/// Whether all that a body updates of an array is its first element.
fn is_one_element(body: &Block, array: VarId) -> bool {
    let mut one = true;
    visit::for_each_stmt(body, &mut |s| {
        if let Some(Ok(update)) = updates::update_of(s)
            && updates::base_of(&update.place) == Some(array)
        {
            one &= updates::single_element(&update.place) == Some(array);
        }
    });
    one
}

/// Whether the loop stands all checks that it would have to stand with a mark of the user's.
fn is_proved(kernel: &Kernel, l: &ForLoop, found: &Reduced) -> bool {
    let mut marked = kernel.clone();
    let (module, vars) = (kernel.module.clone(), kernel.func().vars.clone());
    let env = Env { module: &module, vars: &vars };
    let mut is_atomic = None;
    walk::with_loop(&mut marked.func_mut().body, l.id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.kind = LoopKind::Parallel(found.clauses.clone());
            is_atomic = found.make_atomic(&env, &mut l.body);
        }
    });
    is_atomic.is_some()
        && check(&marked, l.id, &[l.id], &found.clauses).is_ok_and(|findings| findings.proved())
}
