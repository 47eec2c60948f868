//! Moves what a loop declares in front of the one loop inside it into that loop.
//!
//! ```text
//!     for i in I { t = a(i);  for j in J { S(i, j, t) } }
//!       ==> sink i
//!     for i in I { for j in J { t = a(i);  S(i, j, t) } }
//! ```
//!
//! The loops are then nested one directly in the other, and both can have an axis: a head of several that share keys, a row
//! that an index chooses.
//!
//! Legal where each iteration of the inner loop can compute the values itself: nothing in the outer loop's body changes
//! what they are made of, and the bounds of the inner loop do not read them.

use warpsmith_ir::{ForLoop, LoopId, LoopKind, Stmt, StmtKind};

use super::Rewritten;
use super::interchange;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the outer loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "sink",
        example: "sink i",
        does: "moves what a loop declares in front of the one loop inside it into that loop, so that both are nested one directly in the other and can have an axis each",
        legal: "neither loop is bound, nothing in the outer loop changes what the declared values are made of, and the bounds of the inner loop do not need them",
        law: Law {
            before: "\
void pick(int n, int m, const int k[n], const float A[n][m], float B[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int row = k[i];
        for (int j = 0; j < m; j++)
            B[i][j] = A[row][j];
    }
}
",
            steps: "sink i",
            after: "\
void pick(int n, int m, const int *k, const float *A, float *B) {
    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            const int row = k[i];
            B[(size_t)i * m + j] = A[(size_t)row * m + j];
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

/// The verdict on a `sink`, which alone allows it.
pub struct LegalSink<'k> {
    kernel: &'k Kernel,
    outer: LoopId,
}

/// Asks whether what a loop declares can go into the loop inside it.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, outer: LoopId) -> Result<LegalSink<'_>, Refusal> {
    let refused = |why: &str| Err(Refusal::of_loop("sink into", outer, why));
    let Some(l) = kernel.find_loop(outer) else { return refused("it does not exist") };
    let Some(inner) = interchange::inner_of(l) else {
        return refused(
            "what stands before the loop inside it cannot be computed there again, or there is no such loop",
        );
    };
    let is_bound = |l: &ForLoop| matches!(l.kind, LoopKind::Bound(_));
    if is_bound(l) || is_bound(inner) {
        return Err(Refusal::AlreadyBound { loop_id: outer });
    }
    match l.body.stmts.len() {
        0 | 1 => refused("nothing stands before the loop inside it"),
        _ => Ok(LegalSink { kernel, outer }),
    }
}

/// Moves the declarations.
pub fn apply(legal: LegalSink<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    walk::with_loop(&mut kernel.func_mut().body, legal.outer, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            into_inner(l);
        }
    });
    Rewritten::same_loops(kernel)
}

/// Moves all statements before the last one, which is a loop, into that.
fn into_inner(outer: &mut ForLoop) {
    let before = outer.body.stmts.len().saturating_sub(1);
    let declared: Vec<Stmt> = outer.body.stmts.drain(..before).collect();
    if let Some(StmtKind::For(inner)) = outer.body.stmts.first_mut().map(|s| &mut s.kind) {
        inner.body.stmts.splice(0..0, declared);
    }
}
