//! Turns updates that a loop scatters into sums that the iterations of the loops inside it gather.
//!
//! ```text
//!     parallel for i in I { for j in J { atomically y[j] += f(i, j) } }
//!       ==> gather i
//!     parallel for j in J { for i in I { y[j] += f(i, j) } }
//! ```
//!
//! The other way round of `scatter`: no two threads update one element any more, and the sum can stay in a register. The
//! terms of an element are added in the order of the loop.
//!
//! Legal for a marked loop that is not bound, whose iterations are proved independent but for such updates, with loops nested
//! in it whose bounds do not depend on it and whose iterations, with it inside, update elements of their own. Iterations of
//! the loop may then run in any order, and two that update one element do so in one thread.

use warpsmith_ir::{
    AtomicOp, BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, MathFn, StmtKind, visit,
};

use super::privatise::has_only_private;
use super::question::independence;
use super::step::{About, Law, LoopArgs, OfLoop};
use super::{Rewritten, interchange};
use crate::analysis::loops;
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop whose iterations scatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "gather",
        example: "gather i",
        does: "turns the atomic updates of a parallel loop into sums: the loops nested in it become the parallel ones, and it goes inside of them, so that each element has one iteration that adds to it",
        legal: "the loop is marked and not bound yet, its iterations are proved independent but for updates of elements, each by one operation; the bounds of the loops that move outside do not depend on it, and their iterations then update different elements",
        law: Law {
            before: "\
void columns(int n, int m, const float A[n][m], float s[m]) {
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[j] += A[i][j];
}
",
            steps: "gather i",
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

/// The verdict on a `gather`, which alone allows it.
pub struct LegalGather {
    made: Kernel,
}

fn refused<T>(target: LoopId, why: &str) -> Result<T, Refusal> {
    Err(Refusal::of_loop("gather", target, why))
}

/// Asks whether the updates of a loop can be gathered.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalGather, Refusal> {
    let is_bound = |l: &&ForLoop| matches!(l.kind, LoopKind::Bound(_));
    if kernel.find_loop(target).as_ref().is_some_and(is_bound) {
        return Err(Refusal::AlreadyBound { loop_id: target });
    }
    let Some(l) = kernel.find_loop(target).filter(|l| is_marked(l)) else {
        return refused(target, "it is not marked as parallel");
    };
    let (group, clauses) = independence::group_of(kernel, target);
    if !has_only_private(&clauses) {
        return refused(target, "its clauses reduce or carry values");
    }
    if !independence::check(kernel, target, &group, &clauses)?.proved() {
        return refused(target, "its iterations are not proved independent");
    }
    let mut body = l.body.clone();
    if plainly(&mut body).is_none_or(|updates| updates == 0) {
        return refused(target, "it has no updates that one thread can do in their order");
    }
    let depths = 1..=depth(kernel, target);
    match depths.rev().find_map(|depth| moved(kernel, target, depth)) {
        Some(made) => Ok(LegalGather { made }),
        None => refused(target, "no loop inside it has elements of its own for each iteration"),
    }
}

/// How many loops can move out of a loop: they are nested directly in it but for declarations, and their bounds do not depend on it.
fn depth(kernel: &Kernel, target: LoopId) -> usize {
    let mut kernel = kernel.clone();
    let mut count = 0;
    loop {
        let Some(l) = kernel.find_loop(target) else { return count };
        let Some(inner) = interchange::inner_of(l) else { return count };
        let is_bound =
            matches!(inner.kind, LoopKind::Bound(_)) || walk::leaves(&inner.body).is_some();
        if is_bound || !loops::bounds_independent(&kernel, inner.id, target) {
            return count;
        }
        interchange::swap(&mut kernel, target);
        count += 1;
    }
}

/// With the loop inside of so many, which are parallel then, if that is so.
fn moved(kernel: &Kernel, target: LoopId, depth: usize) -> Option<Kernel> {
    let mut made = kernel.clone();
    let mut outside = vec![];
    for _ in 0..depth {
        outside.push(interchange::inner_of(made.find_loop(target)?)?.id);
        interchange::swap(&mut made, target);
    }
    walk::with_loop(&mut made.func_mut().body, target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            plainly(&mut l.body);
        }
    });
    mark(&mut made, target, LoopKind::Serial);
    outside.iter().for_each(|id| mark(&mut made, *id, LoopKind::Serial));
    let marks: Option<Vec<_>> = { outside.iter() }
        .map(|id| independence::proved_with(&made, made.find_loop(*id)?))
        .collect();
    for (id, clauses) in outside.iter().zip(marks?) {
        mark(&mut made, *id, LoopKind::Parallel(clauses));
    }
    Some(made)
}

fn mark(kernel: &mut Kernel, id: LoopId, kind: LoopKind) {
    walk::with_loop(&mut kernel.func_mut().body, id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.kind = kind.clone();
        }
    });
}

/// Puts assignments in place of all atomic updates, and counts them; `None` where one of them is something else.
fn plainly(block: &mut Block) -> Option<usize> {
    let mut count = Some(0);
    visit::map_stmts(block, &mut |stmt| {
        if !matches!(stmt.kind, StmtKind::Atomic { .. }) {
            return;
        }
        match plain(&stmt.kind) {
            Some(kind) => {
                stmt.kind = kind;
                count = count.map(|n| n + 1);
            }
            None => count = None,
        }
    });
    count
}

/// The assignment that does what an atomic update does.
fn plain(kind: &StmtKind) -> Option<StmtKind> {
    let StmtKind::Atomic { op, pointer, value, compare: None, result: None, .. } = kind else {
        return None;
    };
    let ExprKind::AddressOf(place) = &*pointer.kind else { return None };
    let typed = |kind| Expr::new(kind, place.ty.clone(), place.origin.clone());
    let old = typed(ExprKind::Read(place.clone()));
    let binary = |op| ExprKind::Binary(op, old.clone(), value.clone());
    let call = |f| ExprKind::Call(f, vec![old.clone(), value.clone()]);
    let value = typed(match op {
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Sub => binary(BinaryOp::Sub),
        AtomicOp::Mul => binary(BinaryOp::Mul),
        AtomicOp::And => binary(BinaryOp::BitAnd),
        AtomicOp::Or => binary(BinaryOp::BitOr),
        AtomicOp::Xor => binary(BinaryOp::BitXor),
        AtomicOp::Min => call(MathFn::Min),
        AtomicOp::Max => call(MathFn::Max),
        // Of reals these differ in what they do with what is no number.
        AtomicOp::Lower if place.ty.is_integer() => call(MathFn::Min),
        AtomicOp::Raise if place.ty.is_integer() => call(MathFn::Max),
        _ => return None,
    });
    Some(StmtKind::Assign { place: place.clone(), value })
}

/// Puts the loops in their new order.
pub fn apply(legal: LegalGather) -> Rewritten {
    Rewritten::same_loops(legal.made)
}
