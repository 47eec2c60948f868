//! Cuts a serial loop into strips.
//!
//! ```text
//!     for k in 0..n { S(k) }
//!       ==> split k by 32
//!     for k_block in 0..n step 32 { for k in k_block..min(k_block + 32, n) { S(k) } }
//! ```
//!
//! The iterations keep their order, so that the results are the same to the last bit. Legal for a loop that each thread
//! runs on its own and that counts up by one, whose counter nothing reads after it, which nothing leaves early, and
//! whose bounds its body does not change.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, Origin, Scalar, Stmt, StmtKind,
    Type, Var, VarId, VarKind,
};

use super::Rewritten;
use super::share::SHARED;
use super::step::{About, CountArgs, Law, OfCount};
use crate::analysis::loops::{outer_loops, unit_step};
use crate::analysis::scalars;
use crate::build::counters;
use crate::kernel::Kernel;
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names a serial loop and iterations of a strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "split",
        example: "split k by 32",
        does: "cuts a serial loop into strips: a loop over strips around a loop in the strip",
        legal: "the loop counts up by one and does not end early",
        law: Law {
            before: "\
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += A[i][j];
}
",
            steps: "split j by 32",
            after: "\
void rows(int n, int m, const float *A, float *s) {
    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j_block = 0; j_block < m; j_block += 32) {
            for (int j = j_block; j < (m - j_block > 32 ? j_block + 32 : m); ++j) {
                s[i] += A[(size_t)i * m + j];
            }
        }
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the iterations of a strip are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// Longest strip.
const MOST: u32 = 1 << 20;

/// The verdict on a `split`, which alone allows it.
pub struct LegalSplit<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    size: u32,
}

/// Asks whether the loop can be cut into strips of `size` iterations.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, size: u32) -> Result<LegalSplit<'_>, Refusal> {
    if !(1..=MOST).contains(&size) {
        return Err(Refusal::TileFactor { loop_id: target, factor: size, most: MOST });
    }
    let Some(l) = kernel.find_loop(target) else {
        return Err(Refusal::NotSerial { loop_id: target });
    };
    if !kernel.runs_in_thread(target) {
        return Err(Refusal::NotSerial { loop_id: target });
    }
    let refuse = |why: String| Err(Refusal::of_loop("cut", target, why));
    if !unit_step(l) {
        return refuse("it does not count up by one".into());
    }
    if walk::leaves(&l.body).is_some() {
        return refuse("it may end early".into());
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it".into());
    }
    if changes_bounds(l) {
        return refuse("its body may change its bounds".into());
    }
    if kernel.nests.values().any(|n| n.streams.contains_key(&target)) {
        return refuse("it is streamed through registers as a whole".into());
    }
    if kernel.has_shared_loop(target) {
        return refuse(SHARED.into());
    }
    let around_tiles = kernel.nests.iter().any(|(root, n)| {
        n.is_tiled() && outer_loops(kernel, *root, n).iter().any(|l| l.id == target)
    });
    if around_tiles {
        return refuse("each of its iterations has blocks of its own".into());
    }
    if let Some(array) = staged_at(kernel, target) {
        let name = kernel.name_of(array);
        return refuse(format!("the copy of `{name}` cuts it already"));
    }
    Ok(LegalSplit { kernel, target, size })
}

/// Cuts the loop. The inner loop keeps its identity.
pub fn apply(legal: LegalSplit<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(l) = kernel.find_loop(legal.target).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    let function = kernel.func_mut();
    let counter = function.var(l.var).clone();
    let name = fresh_name(function, &format!("{}_block", counter.name));
    let own = counters::counter_type(function, &l);
    let ty = Type::Scalar(counters::strips_type(&l, own));
    let mut var = Var::new(name, ty.clone(), VarKind::Local);
    var.origin = counter.origin.by("split");
    let start = function.add_var(var);
    let id = function.fresh_loop();
    let around = if ty == counter.ty { l.clone() } else { counters::wide(&l) };
    walk::with_loop(&mut function.body, legal.target, &mut |stmt| {
        let strips = strips(&around, id, start, &ty, legal.size);
        let origin = stmt.origin.by("split");
        let inner = Block::new(vec![Stmt { comment: vec![], ..stmt.clone() }]);
        stmt.kind = StmtKind::For(ForLoop { body: inner, ..strips });
        stmt.origin = origin;
        if let StmtKind::For(outer) = &mut stmt.kind
            && let Some(inner) = outer.body.stmts.first_mut()
            && let StmtKind::For(strip) = &mut inner.kind
        {
            bound_strip(strip, &Expr::var(start, ty.clone()), &counter.ty, legal.size);
        }
    });
    Rewritten::same_loops(kernel)
}

/// The loop over the first iterations of the strips, with an empty body.
fn strips(l: &ForLoop, id: LoopId, start: VarId, ty: &Type, size: u32) -> ForLoop {
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    ForLoop {
        id,
        var: start,
        declares: true,
        first: l.first.clone(),
        compare: l.compare,
        limit: l.limit.clone(),
        step: Expr::int(scalar, size.into()),
        kind: LoopKind::Serial,
        body: Block::default(),
    }
}

/// Lets the loop run from the start of a strip to its end, or to the end of the whole loop where that comes first. The
/// end of the strip is only computed where it lies inside the loop, so that it cannot leave the range of the type.
fn bound_strip(strip: &mut ForLoop, start: &Expr, ty: &Type, size: u32) {
    let scalar = start.ty.scalar().unwrap_or(Scalar::I32);
    // With `<=` the last iteration of the strip counts, with `<` the first after it.
    let length = i64::from(size) - i64::from(strip.compare == BinaryOp::Le);
    let end = Expr::binary(BinaryOp::Add, start.clone(), Expr::int(scalar, length));
    let limit = strip.limit.clone().cast(start.ty.clone());
    let left = Expr::binary(BinaryOp::Sub, limit, start.clone());
    let whole = Expr::binary(BinaryOp::Gt, left, Expr::int(scalar, length));
    let select = ExprKind::Select(whole, end.cast(ty.clone()), strip.limit.clone());
    strip.limit = Expr::new(select, ty.clone(), Origin::default());
    strip.first = start.clone().cast(ty.clone());
}

/// Whether the body writes what the bounds read, memory included.
fn changes_bounds(l: &ForLoop) -> bool {
    let mut changes = false;
    for e in [&l.first, &l.limit] {
        changes |= walk::reads_memory(e);
        walk::each_var(e, &mut |v| changes |= v == l.var || walk::writes_var(&l.body, v));
    }
    changes
}

/// The array whose stage cuts the loop.
fn staged_at(kernel: &Kernel, id: LoopId) -> Option<VarId> {
    let stages = kernel.nests.values().flat_map(|n| &n.stages);
    stages.filter(|s| s.strip.is_some_and(|(l, _)| l == id)).map(|s| s.array).next()
}
