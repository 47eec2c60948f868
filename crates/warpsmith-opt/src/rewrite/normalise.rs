//! Lets a loop that counts down by one count up from zero.
//!
//! ```text
//!     for (j = first; j >= limit; j--) S(j)
//!       ==> normalise j
//!     for (j = 0; j < first - limit + 1; j++) S(first - j)
//! ```
//!
//! The order of the iterations stays, so that this is legal whatever they do; steps that want loops which count up can follow.
//! Legal for a loop that runs in a thread or is marked, whose start does not change while it runs, whose counter nothing reads after
//! it, and whose number of iterations is no number beyond its type. Loop normalisation: Allen, Kennedy, *Optimizing Compilers for
//! Modern Architectures*, section 4.3.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, LoopId, LoopKind, PlaceKind, StmtKind, visit,
};

use super::Rewritten;
use super::edit::runs::scalar_of;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::scalars;
use crate::build::counters::counter_type;
use crate::build::trips;
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: a loop that counts down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "normalise",
        example: "normalise t",
        does: "lets a loop that counts down by one count up from zero, in the same order of iterations; steps that want loops which count up can follow",
        legal: "the loop counts down by one, from what does not change while it runs to a constant; nothing reads its counter after it, and the number of its iterations fits its type",
        law: Law {
            before: "\
void rest(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = m - 1; j >= 0; j--) {
            s += x[i][j];
            y[i][j] = s;
        }
    }
}
",
            steps: "normalise j",
            after: "\
void rest(int n, int m, const float *x, float *y) {
    // parallel
    for (int i = 0; i < n; ++i) {
        float s = 0.0f;
        for (int j = 0; j < m; ++j) {
            s += x[(size_t)i * m + m - 1 - j];
            y[(size_t)i * m + m - 1 - j] = s;
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

/// The verdict on a `normalise`, which alone allows it.
pub struct LegalNormalise<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    /// Iterations, of the counter's type.
    count: Expr,
}

/// Asks whether a loop can count up from zero.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalNormalise<'_>, Refusal> {
    let refused = |why: &str| Refusal::of_loop("normalise", target, why);
    let Some(l) = kernel.find_loop(target) else { return Err(refused("it is gone")) };
    if !is_marked(l) && !matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_)) {
        return Err(refused("it is bound already"));
    }
    let down = l.step.as_const().is_some_and(|s| s.as_i64() == -1);
    if !down || !matches!(l.compare, BinaryOp::Gt | BinaryOp::Ge) {
        let why = match down {
            true => "it ends at one number, not behind a limit: write `>` in place of `!=`",
            false => "it does not count down by one",
        };
        return Err(refused(why));
    }
    if matches!(&l.kind, LoopKind::Parallel(p) if !p.last_private.is_empty()) {
        return Err(refused("its clauses keep values of its last iteration"));
    }
    let mut changes = walk::reads_memory(&l.first);
    walk::each_var(&l.first, &mut |v| changes |= walk::writes_var(&l.body, v) || v == l.var);
    if changes {
        return Err(refused("what it counts from may change while it runs"));
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return Err(refused("its counter is read after it"));
    }
    match iterations(kernel, l) {
        Some(count) => Ok(LegalNormalise { kernel, target, count }),
        None => Err(refused("the number of its iterations may be beyond its type")),
    }
}

/// How often a loop runs that counts down to a constant, as an expression that does not overflow where the loop's own do not.
fn iterations(kernel: &Kernel, l: &ForLoop) -> Option<Expr> {
    let ty = counter_type(kernel.func(), l);
    let last = l.limit.as_const()?.as_i64() + i64::from(l.compare == BinaryOp::Gt);
    let count = Poly::from_expr(&trips::distance(kernel.func(), l))?;
    let rest = count.sub(&Poly::constant(count.constant_term()))?;
    let variable = matches!(rest.as_atom(), Some(Atom::Var(v)) if scalar_of(kernel, *v) == ty);
    let fits = match count.as_constant() {
        Some(n) => i32::try_from(n).is_ok(),
        None => (variable && count.constant_term() <= 0) || ty.bytes() == 8,
    };
    let fits = fits && ty.is_signed() && last >= 0;
    fits.then(|| count.to_expr(ty, &|v| scalar_of(kernel, v)))
}

/// Counts up.
pub fn apply(legal: LegalNormalise<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let ty = legal.kernel.find_loop(legal.target).map(|l| counter_type(kernel.func(), l));
    let Some(ty) = ty else { return Rewritten::same_loops(kernel) };
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            let (counter, first) = (PlaceKind::Var(l.var), l.first.clone());
            visit::map_exprs(&mut l.body, &mut |e| {
                if matches!(&*e.kind, ExprKind::Read(p) if *p.kind == counter) {
                    let first = first.clone().cast(e.ty.clone());
                    *e = Expr::binary(BinaryOp::Sub, first, e.clone());
                }
            });
            (l.first, l.compare, l.limit) = (Expr::int(ty, 0), BinaryOp::Lt, legal.count.clone());
            l.step = Expr::int(ty, 1);
        }
    });
    Rewritten::same_loops(kernel)
}
