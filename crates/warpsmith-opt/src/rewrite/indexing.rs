//! Chooses the threads that work on a parallel loop with a step.
//!
//! ```text
//!     for i in first..last step 4 { S(i) }        one thread for each iteration: i = first + t * 4
//!       ==> indexing i sparse
//!     for i in first..last { if ((i - first) % 4 == 0) S(i) }        every fourth thread works: i = first + t
//! ```
//!
//! Dense indexing, the default, keeps all threads busy; with sparse indexing neighbouring threads that touch memory
//! apart from the loop's elements touch neighbouring elements. Legal for a bound loop whose step is constant and not
//! one, without a `lastprivate` clause, and whose counter nothing reads after the loop.

use std::fmt;
use warpsmith_ir::{BinaryOp, Block, Expr, ForLoop, LoopId, SourceMap, Stmt, StmtKind, Type};

use super::Rewritten;
use super::question::conditions::bound_nest;
use super::step::grammar::{name, wanted};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use crate::analysis::scalars;
use crate::build::counters;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{alt, preceded};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A bound loop with a step.
    pub target: String,
    /// Every step-th thread works; else one for each iteration.
    pub sparse: bool,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.sparse { "sparse" } else { "dense" };
        write!(f, "{} {way}", self.target)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "indexing",
        example: "indexing i sparse",
        does: "chooses the threads that work on a loop with a step: one for each iteration (`dense`), or every step-th (`sparse`)",
        legal: "the loop is bound, its step is constant and not one, and nothing needs its last value",
        law: Law {
            before: "\
void even(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += 2)
        x[i] = 0.0f;
}
",
            steps: "bind i -> x block 256\nindexing i sparse",
            after: "\
void even(int n, float *x) {
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        // the threads between the iterations of the loop have nothing to do
        if (i % 2 == 0) {
            x[i] = 0.0f;
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let sparse = preceded(space1, alt(("sparse".value(true), "dense".value(false))))
            .context(wanted("`sparse` or `dense` is wanted here"))
            .parse_next(input)?;
        Ok(Args { target, sparse })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.sparse)?))
    }
}

/// The verdict on an `indexing`, which alone allows it.
pub struct LegalIndexing<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    /// The innermost loop of the nest's bound ones, which holds the statements.
    innermost: LoopId,
    sparse: bool,
}

/// Asks whether the threads of the loop can be chosen.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, sparse: bool) -> Result<LegalIndexing<'_>, Refusal> {
    let (_, nest) = bound_nest(kernel, target)?;
    let refuse = |why: &str| Err(Refusal::of_loop("choose the threads of", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it is gone") };
    let Some(step) = l.step.as_const().map(|s| s.as_i64()) else {
        return refuse("its step is not constant");
    };
    if step.unsigned_abs() <= 1 {
        return refuse("it counts one by one, so that every thread has work");
    }
    if sparse && !nest.clauses.last_private.is_empty() {
        return refuse("it has a `lastprivate` clause");
    }
    if sparse && scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it");
    }
    let innermost = nest.axes.last().map_or(target, |(id, _)| *id);
    Ok(LegalIndexing { kernel, target, innermost, sparse })
}

/// Lets the loop count one by one, with its statements under a condition; dense indexing is how loops are bound anyway.
pub fn apply(legal: LegalIndexing<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(l) = kernel.find_loop(legal.target).cloned().filter(|_| legal.sparse) else {
        return Rewritten::same_loops(kernel);
    };
    let up = counters::counts_up(&l);
    let ty = kernel.func().var(l.var).ty.clone();
    let cond = works(&l, &ty, up);
    let function = kernel.func_mut();
    walk::with_loop(&mut function.body, legal.innermost, &mut |stmt| {
        let origin = stmt.origin.by("indexing");
        let StmtKind::For(inner) = &mut stmt.kind else { return };
        let then = std::mem::take(&mut inner.body);
        let kind = StmtKind::If { cond: cond.clone(), then, otherwise: Block::default() };
        let guard = Stmt::new(kind, origin)
            .comment("the threads between the iterations of the loop have nothing to do");
        inner.body = Block::new(vec![guard]);
    });
    walk::with_loop(&mut function.body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            let scalar = ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32);
            l.step = Expr::int(scalar, if up { 1 } else { -1 });
        }
    });
    Rewritten::same_loops(kernel)
}

/// The counter is one that the loop with its step reaches.
fn works(l: &ForLoop, ty: &Type, up: bool) -> Expr {
    let scalar = ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32);
    let counter = Expr::var(l.var, ty.clone());
    let zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
    let distance = match (up, zero) {
        (true, true) => counter,
        (true, false) => Expr::binary(BinaryOp::Sub, counter, l.first.clone()),
        (false, _) => Expr::binary(BinaryOp::Sub, l.first.clone(), counter),
    };
    let size = l.step.as_const().map_or(1, |s| s.as_i64().unsigned_abs());
    let size = Expr::int(scalar, i64::try_from(size).unwrap_or(i64::MAX));
    let rest = Expr::binary(BinaryOp::Rem, distance, size);
    Expr::binary(BinaryOp::Eq, rest, Expr::int(scalar, 0))
}
