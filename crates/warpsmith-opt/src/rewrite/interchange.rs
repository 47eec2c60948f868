//! Swaps a loop with the one directly inside it.
//!
//! ```text
//!     for i in I { for j in J { S(i, j) } }
//!       ==> interchange i
//!     for j in J { for i in I { S(i, j) } }
//! ```
//!
//! Variables that `i` declares in front of `j` become variables of each iteration of both:
//!
//! ```text
//!     for i in I { x = e(i); for j in J { S(i, j, x) } }
//!       ==> interchange i
//!     for j in J { for i in I { x = e(i); S(i, j, x) } }
//! ```
//!
//! Legal when `i` holds only `j` and such declarations, of what nothing in `i` changes, and no early exit, the bounds of `j` do not depend on `i`, and no two iterations that
//! change places conflict. A float `+=` into one element is a conflict: the order of a sum matters to the last bit. Variables that
//! the body only adds to, as the sum over a window in each channel, are added to in the new order; sums and products of reals are then
//! compared with a tolerance.

use std::collections::BTreeSet;
use warpsmith_ir::{Block, ForLoop, LoopId, LoopKind, PlaceKind, Stmt, StmtKind, VarId};

use super::Rewritten;
use super::question::independence;
use super::question::swap::repeatable;
use super::share::{SHARED, reassociated};
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::{AccessKind, Base, Scope};
use crate::analysis::dependence::{Conflict, Verdict, test_exchange};
use crate::analysis::{loops, scalars};
use crate::kernel::{Kernel, Sum, only_loop};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the outer one of the two loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "interchange",
        example: "interchange i",
        does: "swaps a loop with the one directly inside it",
        legal: "no two iterations that change places conflict but by adding to a variable (sums of reals are then compared with a tolerance), and the inner bounds do not depend on the outer counter",
        law: Law {
            before: "\
void columns(int n, int m, const float A[n][m], float s[m]) {
    for (int i = 0; i < n; i++)
        #pragma omp parallel for
        for (int j = 0; j < m; j++)
            s[j] += A[i][j];
}
",
            steps: "interchange i",
            after: "\
void columns(int n, int m, const float *A, float *s) {
    // parallel
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i < n; ++i) {
            s[j] += A[(size_t)i * m + j];
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on an `interchange`, which alone allows it.
pub struct LegalInterchange<'k> {
    kernel: &'k Kernel,
    outer: LoopId,
    /// Variables that the body adds to.
    sums: Vec<Sum>,
}

/// Asks whether a loop can change places with the one inside it.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, outer: LoopId) -> Result<LegalInterchange<'k>, Refusal> {
    let Some(o) = kernel.find_loop(outer) else {
        return Err(Refusal::NotNested { outer, inner: outer });
    };
    let Some(i) = inner_of(o) else {
        return Err(Refusal::NotNested { outer, inner: outer });
    };
    for l in [o, i] {
        if matches!(l.kind, LoopKind::Bound(_)) {
            return Err(Refusal::AlreadyBound { loop_id: l.id });
        }
    }
    if kernel.has_shared_loop(outer) {
        return Err(Refusal::of_loop("interchange", outer, SHARED));
    }
    if let Some(stmt) = walk::leaves(&i.body) {
        return Err(Refusal::LeavesLoop { loop_id: i.id, at: stmt.origin.clone() });
    }
    if !loops::bounds_independent(kernel, i.id, outer) {
        return Err(Refusal::DependentBounds { outer, inner: i.id });
    }
    let left = |l: &&&ForLoop| scalars::counter_outlives(kernel.func(), l);
    if let Some(l) = [o, i].iter().find(left) {
        let reason = format!("the counter `{}` is read after the loops", kernel.name_of(l.var));
        return Err(Refusal::OrderMatters {
            outer,
            inner: i.id,
            dependence: None,
            reason: Some(reason),
        });
    }
    let sums = check_order(kernel, o, i)?;
    Ok(LegalInterchange { kernel, outer, sums })
}

/// The loop that another one can change places with: alone in its body, behind declarations that each of its own iterations can
/// make as well.
pub(crate) fn inner_of(outer: &ForLoop) -> Option<&ForLoop> {
    let (last, before) = outer.body.stmts.split_last()?;
    let inner = match &last.kind {
        StmtKind::For(l) => l,
        StmtKind::Scope(b) if before.is_empty() => only_loop(b)?,
        _ => return None,
    };
    let mut known = BTreeSet::new();
    let bounds = [&inner.first, &inner.limit, &inner.step];
    let again = |s: &Stmt| {
        let var = repeatable(s, &outer.body, &known);
        known.extend(var);
        var.is_some_and(|v| !bounds.iter().any(|e| walk::mentions(e, v)))
    };
    before.iter().all(again).then_some(inner)
}

/// Swaps the loops.
pub fn apply(legal: LegalInterchange<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    for sum in &legal.sums {
        let arrays = reassociated(&kernel, &kernel.func().body, sum);
        kernel.reassociated.extend(arrays);
    }
    swap(&mut kernel, legal.outer);
    Rewritten::same_loops(kernel)
}

/// Swaps a loop with the one inside it, which gets the declarations between them.
pub(super) fn swap(kernel: &mut Kernel, outer: LoopId) {
    walk::with_loop(&mut kernel.func_mut().body, outer, &mut |stmt| {
        let StmtKind::For(ForLoop { id, var, declares, first, compare, limit, step, kind, body }) =
            &mut stmt.kind
        else {
            return;
        };
        let declared: Vec<Stmt> = body.stmts.drain(..body.stmts.len().saturating_sub(1)).collect();
        let Some(inner) = innermost_mut(body) else { return };
        inner.body.stmts.splice(0..0, declared);
        // Everything but the body changes places: ids and marks go with the counters.
        std::mem::swap(id, &mut inner.id);
        std::mem::swap(kind, &mut inner.kind);
        // A collapse group is named after its outermost loop, which is another one now.
        if let LoopKind::Parallel(p) = kind
            && p.group.is_some()
        {
            p.group = Some(*id);
        }
        std::mem::swap(var, &mut inner.var);
        std::mem::swap(declares, &mut inner.declares);
        std::mem::swap(first, &mut inner.first);
        std::mem::swap(compare, &mut inner.compare);
        std::mem::swap(limit, &mut inner.limit);
        std::mem::swap(step, &mut inner.step);
    });
}

fn innermost_mut(block: &mut warpsmith_ir::Block) -> Option<&mut ForLoop> {
    match block.stmts.as_mut_slice() {
        [only] => match &mut only.kind {
            StmtKind::For(l) => Some(l),
            StmtKind::Scope(b) => innermost_mut(b),
            _ => None,
        },
        _ => None,
    }
}

/// Asks whether no two iterations that change places conflict but by adding to variables, which it returns.
fn check_order(kernel: &Kernel, o: &ForLoop, i: &ForLoop) -> Result<Vec<Sum>, Refusal> {
    let refuse = |dependence, reason| {
        Err(Refusal::OrderMatters { outer: o.id, inner: i.id, dependence, reason })
    };
    let shared = scalars::shared_variables(kernel.func(), o);
    let mut sums = vec![];
    for s in shared.iter().filter(|s| s.var != i.var && !s.counter_only) {
        let Some(op) = s.reduction.filter(|_| only_added_to(&o.body, s.var)) else {
            let name = kernel.name_of(s.var);
            return refuse(None, Some(format!("every iteration writes the variable `{name}`")));
        };
        sums.push(Sum { var: s.var, op, at: None });
    }
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(o.id), o);
    let accesses = scope.accesses();
    for (k, a) in accesses.iter().enumerate() {
        for (m, b) in accesses.iter().enumerate().skip(k) {
            let same = a.base == b.base || a.base == Base::Anything || b.base == Base::Anything;
            if !same || (a.kind == AccessKind::Read && b.kind == AccessKind::Read) {
                continue;
            }
            match test_exchange(&scope, a, b, i) {
                Verdict::Independent => {}
                Verdict::Carried(example) => {
                    let conflict = Conflict { first: k, second: m, example };
                    let clauses = warpsmith_ir::Parallel::default();
                    let d = independence::describe(kernel, &scope, &accesses, &conflict, &clauses);
                    return refuse(Some(Box::new(d)), None);
                }
                Verdict::Unknown(reason) | Verdict::ByData(reason) => {
                    return refuse(None, Some(reason));
                }
            }
        }
    }
    Ok(sums)
}

/// Whether all that a body does with a variable is to combine it with something.
fn only_added_to(body: &Block, var: VarId) -> bool {
    let mut only = true;
    walk::each_stmt(body, &mut |s| {
        let own = match &s.kind {
            StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => {
                scalars::accumulation(value, var).is_some()
            }
            _ => {
                let mut touched = false;
                walk::each_var_of_stmt(s, &mut |v| touched |= v == var);
                !touched
            }
        };
        only &= own;
    });
    only
}
