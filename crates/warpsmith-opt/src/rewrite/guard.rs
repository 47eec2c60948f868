//! Puts what follows `if (c) continue;` in a loop under the opposite condition.
//!
//! ```text
//!     for i in I { if (c) { A; continue; }  B }
//!       ==> guard i
//!     for i in I { if (c) { A } else { B } }
//! ```
//!
//! All iterations then go on to the end of the body, as steps want it that put something behind or exchange values between threads:
//! running sums, tiles, loops that are fused or cut in parts.
//!
//! Legal where `continue` ends every way through one side of each condition, or nothing follows the condition: no statement is
//! written down twice.

use warpsmith_ir::{Block, Expr, LoopId, Stmt, StmtKind};

use super::Rewritten;
use super::rectangle::under::negated;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop whose iterations go on early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "guard",
        example: "guard i",
        does: "puts what follows `if (c) continue;` in a loop under the opposite condition, so that all its iterations go on to the end: other steps want that",
        legal: "the loop is not bound, and `continue` ends every way through one side of each condition that it stands under, or nothing follows that",
        law: Law {
            before: "\
void roots(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] < 0.0f)
            continue;
        y[i] = sqrtf(x[i]);
    }
}
",
            steps: "guard i",
            after: "\
void roots(int n, const float *x, float *y) {
    // parallel
    for (int i = 0; i < n; ++i) {
        if (!(x[i] < 0.0f)) {
            y[i] = sqrtf(x[i]);
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

/// The verdict on a `guard`, which alone allows it.
pub struct LegalGuard<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    /// The loop's body, without `continue`.
    body: Vec<Stmt>,
}

/// Asks whether all iterations of a loop can go on to its end.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalGuard<'_>, Refusal> {
    let refused = |why: &str| Err(Refusal::of_loop("guard", target, why));
    let Some(l) = kernel.find_loop(target) else { return refused("it does not exist") };
    if let Some(bound) = kernel.bound_at(target) {
        return Err(Refusal::AlreadyBound { loop_id: bound });
    }
    if walk::continues(&l.body).is_none() {
        return refused("none of its iterations goes on early");
    }
    match to_the_end(&l.body.stmts) {
        Some(body) => Ok(LegalGuard { kernel, target, body }),
        None => refused("what follows a condition would have to stand on both sides of it"),
    }
}

/// Puts the conditions around what follows them.
pub fn apply(legal: LegalGuard<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.body.stmts = legal.body.clone();
        }
    });
    Rewritten::same_loops(kernel)
}

/// Statements that do the same and go on to the end; `None`: some would have to be written down twice.
fn to_the_end(stmts: &[Stmt]) -> Option<Vec<Stmt>> {
    let may_end = |s: &Stmt| walk::continues(&Block::new(vec![s.clone()])).is_some();
    let Some(at) = stmts.iter().position(may_end) else { return Some(stmts.to_vec()) };
    let (mut found, rest) = (stmts[..at].to_vec(), &stmts[at + 1..]);
    let then_rest = |block: &Block| to_the_end(&[&block.stmts[..], rest].concat());
    let kind = match &stmts[at].kind {
        // What follows is never run.
        StmtKind::Continue => return Some(found),
        StmtKind::Scope(inner) => StmtKind::Scope(Block::new(then_rest(inner)?)),
        StmtKind::If { cond, then, otherwise } => {
            let whole = |block: &Block| to_the_end(&block.stmts);
            let (then, otherwise) = match [then, otherwise].map(ends) {
                [true, true] => (whole(then)?, whole(otherwise)?),
                [true, false] => (whole(then)?, then_rest(otherwise)?),
                [false, true] => (then_rest(then)?, whole(otherwise)?),
                [false, false] if rest.is_empty() => (whole(then)?, whole(otherwise)?),
                [false, false] => return None,
            };
            under(cond, then, otherwise)
        }
        _ => return None,
    };
    found.push(Stmt::new(kind, stmts[at].origin.clone()));
    Some(found)
}

/// `if (cond) then else otherwise`, with the condition turned where only the other side is left.
fn under(cond: &Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> StmtKind {
    let (cond, then, otherwise) = match then.is_empty() && !otherwise.is_empty() {
        true => (negated(cond), otherwise, then),
        false => (cond.clone(), then, otherwise),
    };
    StmtKind::If { cond, then: Block::new(then), otherwise: Block::new(otherwise) }
}

/// Whether no way leads through a block to what follows it.
fn ends(block: &Block) -> bool {
    block.stmts.iter().any(|s| match &s.kind {
        StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) => true,
        StmtKind::Scope(inner) => ends(inner),
        StmtKind::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        _ => false,
    })
}
