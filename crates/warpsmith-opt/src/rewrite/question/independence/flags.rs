//! Flags: iterations store the same number to what they have in common, and none of them reads it, so that their order does
//! not matter.
//!
//! ```text
//! #pragma omp parallel for                      #pragma omp parallel for
//! for i { if (x[i] > 3) *found = 1; }      ==>  for i { if (x[i] > 3) { #pragma omp atomic write  *found = 1; } }
//!
//! #pragma omp parallel for                      #pragma omp parallel for reduction(||: any)
//! for i { if (x[i] > 3) any = 1; }         ==>  for i { if (x[i] > 3) any = 1; }
//! ```

use std::collections::BTreeSet;

use warpsmith_ir::poly::Symbol;
use warpsmith_ir::typing::Env;
use warpsmith_ir::updates::{self, Update};
use warpsmith_ir::{
    AtomicOp, Block, Diagnostic, ForLoop, FuncId, LoopId, LoopKind, Module, Parallel, ReduceOp,
    Reduction, Stmt, StmtKind, VarId, visit,
};

use super::{about, analyse, group_of};
use crate::analysis::access::Base;
use crate::analysis::{contributions, scalars};
use crate::kernel::{Kernel, is_marked};
use crate::walk;

/// What marked loops do so, as if the user had written it: atomic stores and clauses. Returns a note for each loop.
pub fn allow(module: &mut Module, function: FuncId) -> Vec<Diagnostic> {
    let kernel = Kernel::new(module.clone(), function);
    let mut notes = vec![];
    walk::each_stmt(&kernel.func().body, &mut |stmt| {
        let StmtKind::For(l) = &stmt.kind else { return };
        let (group, mut clauses) = group_of(&kernel, l.id);
        if !is_marked(l) || group.first() != Some(&l.id) {
            return;
        }
        let reductions = set_variables(&kernel, l, &clauses);
        clauses.reductions.extend(reductions.iter().cloned());
        let arrays = stored_alike(&kernel, l, &clauses);
        let vars = reductions.iter().map(|r| r.var).chain(arrays.iter().copied());
        let names: Vec<String> = vars.map(|v| format!("`{}`", kernel.name_of(v))).collect();
        if !names.is_empty() {
            notes.push(note(&kernel, (l, stmt), &names.join(", ")));
            apply(module, function, l.id, &reductions, &arrays);
        }
    });
    notes
}

fn note(kernel: &Kernel, (l, stmt): (&ForLoop, &Stmt), names: &str) -> Diagnostic {
    let message = format!("stores the same number to {names} in any order");
    about(kernel, l, stmt, ("W255", &message), "iterations may do so at the same time")
        .note("to a compiler with OpenMP that is a race")
        .help(
            "write `#pragma omp atomic write` before stores, or `reduction(||: …)` for a variable",
        )
}

/// Variables that iterations set to 1, or to 0, and nothing in the loop reads.
fn set_variables(kernel: &Kernel, l: &ForLoop, clauses: &Parallel) -> Vec<Reduction> {
    let function = kernel.func();
    let own: Vec<VarId> = [&clauses.private, &clauses.first_private, &clauses.last_private]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let is_flag = |r: &Reduction| {
        let known = own.contains(&r.var) || clauses.reductions.iter().any(|k| k.var == r.var);
        !known && contributions::misuse(&kernel.module, function, l, r, &own).is_none()
    };
    let shared = scalars::shared_variables(function, l).into_iter();
    let set = shared.filter_map(|s| match s.reduction? {
        op @ (ReduceOp::LogicalAnd | ReduceOp::LogicalOr) if s.read.is_none() => {
            Some(Reduction { op, var: s.var })
        }
        _ => None,
    });
    set.filter(is_flag).collect()
}

/// Arrays with elements to which two iterations store, both one number. Where data say which elements these are, the mark is
/// believed.
fn stored_alike(kernel: &Kernel, l: &ForLoop, clauses: &Parallel) -> BTreeSet<VarId> {
    let (_, report, accesses) = analyse(kernel, l, clauses);
    let conflicts = report.conflicts.iter().map(|c| c.first);
    let at = conflicts.chain(report.unknown.iter().map(|d| d.first));
    let arrays = at.filter_map(|at| match accesses[at].base {
        Base::Var(array) => Some(array),
        _ => None,
    });
    arrays.filter(|array| stores_one_number(&l.body, *array)).collect()
}

/// Whether all that a body does with an array is to store one number to elements.
pub(super) fn stores_one_number(body: &Block, array: VarId) -> bool {
    let (mut stored, mut all) = (0, true);
    let mut number: Option<Symbol> = None;
    walk::each_stmt(body, &mut |s| {
        let StmtKind::Assign { place, value } = &s.kind else { return };
        if updates::base_of(place) != Some(array) {
            return;
        }
        stored += 1;
        let wide = place.ty.scalar().is_some_and(|s| s.bytes() >= 4);
        let own = Symbol::new(value.clone());
        all &= wide
            && value.without_casts().as_const().is_some()
            && *number.get_or_insert_with(|| own.clone()) == own;
    });
    all && stored > 0 && walk::times_mentioned(body, array) == stored
}

/// Makes the stores to an array's elements in a loop's body atomic.
pub(super) fn make_atomic(env: &Env<'_>, body: &mut Block, array: VarId) {
    visit::map_stmts(body, &mut |s| {
        if let StmtKind::Assign { place, value } = &s.kind
            && updates::base_of(place) == Some(array)
        {
            let update = Update { place: place.clone(), op: AtomicOp::Store, value: value.clone() };
            *s = updates::atomic_of(env, update, &s.origin);
        }
    });
}

fn apply(
    module: &mut Module,
    function: FuncId,
    id: LoopId,
    reductions: &[Reduction],
    arrays: &BTreeSet<VarId>,
) {
    let known = module.clone();
    let env = Env { module: &known, vars: &known.function(function).vars };
    walk::with_loop(&mut module.functions[function.0 as usize].body, id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            arrays.iter().for_each(|a| make_atomic(&env, &mut l.body, *a));
            if let LoopKind::Parallel(p) = &mut l.kind {
                p.reductions.extend(reductions.iter().cloned());
            }
        }
    });
}
