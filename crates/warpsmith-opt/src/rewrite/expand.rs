//! Writes the iterations of a short loop one after the other.
//!
//! ```text
//!     for r in 1..=2 { S(r) }
//!       ==> expand r
//!     S(1); S(2)
//! ```
//!
//! `unroll` asks the compiler for the same; here the steps that follow see each access by itself, as those of a stencil whose
//! radius is a loop.
//!
//! Legal for a serial loop of at most [`MOST`] iterations that are known, which no iteration leaves or ends early, and
//! whose counter nothing else writes or reads.

use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, PlaceKind, Stmt, StmtKind, visit,
};

use super::Rewritten;
use super::edit::copy;
use super::edit::copy::general_copy;
use super::edit::implied::drop_implied;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::Scope;
use crate::analysis::scalars;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: a short serial loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "expand",
        example: "expand r",
        does: "writes the iterations of a short serial loop one after the other: steps that follow see every access of a stencil whose radius is a loop, and what neighbouring iterations read of the same row is read once",
        legal: "the loop is serial, inside no bound one, and has at most 16 iterations that are known; no iteration leaves it or ends early, and nothing else reads or writes its counter",
        law: Law {
            before: "\
void star(int n, const float u[n], float v[n]) {
    #pragma omp parallel for
    for (int i = 2; i < n - 2; i++) {
        float s = u[i];
        for (int r = 1; r <= 2; r++)
            s += u[i - r] + u[i + r];
        v[i] = s;
    }
}
",
            steps: "expand r",
            after: "\
void star(int n, const float *u, float *v) {
    // parallel
    for (int i = 2; i < n - 2; ++i) {
        float s = u[i];
        s += u[i - 1] + u[i + 1];
        s += u[i - 2] + u[i + 2];
        v[i] = s;
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// Iterations, at most.
pub const MOST: i128 = 16;

/// The verdict on an `expand`, which alone allows it.
pub struct LegalExpand<'k> {
    kernel: &'k Kernel,
    target: &'k ForLoop,
    counts: Vec<i64>,
}

/// Asks whether the iterations of a loop can be written out.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalExpand<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("expand", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it is gone") };
    if l.kind != LoopKind::Serial {
        return refuse("it is not a serial loop");
    }
    if let Some(around) = kernel.loops_around(target).into_iter().find(|l| is_bound(l)) {
        return Err(Refusal::AlreadyBound { loop_id: around.id });
    }
    if let Some(stmt) = walk::leaves(&l.body) {
        return Err(Refusal::LeavesLoop { loop_id: target, at: stmt.origin.clone() });
    }
    if walk::continues(&l.body).is_some() {
        return refuse("an iteration may end early");
    }
    if walk::writes_var(&l.body, l.var) {
        return refuse("its body writes the counter");
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it");
    }
    match counts(kernel, l) {
        Some(counts) => Ok(LegalExpand { kernel, target: l, counts }),
        None => refuse(&format!("it does not have from one to {MOST} iterations that are known")),
    }
}

fn is_bound(l: &ForLoop) -> bool {
    matches!(l.kind, LoopKind::Bound(_) | LoopKind::Vector)
}

/// The values of the counter, in order.
fn counts(kernel: &Kernel, l: &ForLoop) -> Option<Vec<i64>> {
    let scope = Scope::new(&kernel.module, kernel.func(), vec![], l);
    let (Some(low), Some(high)) = scope.range(l) else { return None };
    let (low, high) = (low.as_constant()?, high.as_constant()?);
    let step = i128::from(l.step.as_const()?.as_i64());
    let number = (high - low).checked_div(step.abs())? + 1;
    let first = if step > 0 { low } else { high };
    (1..=MOST).contains(&number).then_some(())?;
    (0..number).map(|k| i64::try_from(first + k * step).ok()).collect()
}

/// Puts the iterations in place of the loop.
pub fn apply(legal: LegalExpand<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.target.id).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    let mut iterations = vec![];
    for (k, count) in legal.counts.iter().enumerate() {
        let mut body = Stmt::new(StmtKind::Scope(legal.target.body.clone()), stmt.origin.clone());
        if k > 0 {
            body = general_copy(&mut kernel, &body).0;
        }
        if let StmtKind::Scope(mut body) = body.kind {
            set(&kernel, &mut body, legal.target, *count);
            iterations.extend(body.stmts);
        }
    }
    let around: Vec<LoopId> = kernel.loops_around(legal.target.id).iter().map(|l| l.id).collect();
    copy::replace_loop(&mut kernel, legal.target.id, iterations);
    drop_implied(&mut kernel, &around);
    Rewritten::same_loops(kernel)
}

/// A number in place of the counter.
fn set(kernel: &Kernel, body: &mut Block, l: &ForLoop, count: i64) {
    let ty = kernel.func().var(l.var).ty.scalar();
    visit::map_exprs(body, &mut |e| {
        if let ExprKind::Read(p) = &*e.kind
            && matches!(*p.kind, PlaceKind::Var(v) if v == l.var)
            && let Some(ty) = ty
        {
            *e = Expr::int(ty, count).with_origin(e.origin.clone());
        }
    });
}
