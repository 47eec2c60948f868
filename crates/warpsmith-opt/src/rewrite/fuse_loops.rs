//! Makes one loop of two that stand beside each other.
//!
//! ```text
//!     for i in I { S(i) };  for k in I { T(k) }
//!       ==> fuse_loops i, k
//!     for i in I { S(i); T(i) }
//! ```
//!
//! What both read is then read once, and what the first writes for the second stays in registers or caches. Parallel
//! loops are fused with those directly inside them, as far as both nests go; marks of loops further in are dropped.
//! What stands between the two loops moves in front of the first or behind the second.
//!
//! Legal for loops that are not bound, over the same range, where what stands between can move, and no iteration of the
//! second needs more of the first than the same iteration: of parallel loops, the iterations of the fused one are proved
//! independent; of serial ones, they are so but for variables that each combines something with.

use std::collections::BTreeSet;
use std::fmt;

use warpsmith_ir::{
    Block, ForLoop, LoopId, LoopKind, Origin, SourceMap, Stmt, StmtKind, VarId, visit,
};

use super::question::independence;
use super::question::swap::can_swap;
use super::step::grammar::{comma, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, share};
use crate::analysis::loops::unit_step;
use crate::analysis::scalars;
use crate::kernel::{Kernel, is_marked, only_loop};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The first and the second loop.
    pub loops: [String; 2],
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.loops.join(", "))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "fuse_loops",
        example: "fuse_loops i, i#2",
        does: "makes one loop of two that stand beside each other, with those directly inside them as far as both nests go: what both read is read once",
        legal: "the loops are not bound, have the same range, and what stands between them can move; no iteration of the second needs more of the first than the same iteration: of parallel loops the iterations of the fused one are proved independent, of serial ones they are so but for sums",
        law: Law {
            before: "\
void both(int n, float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] + y[i];
}
",
            steps: "fuse_loops i, i#2",
            after: "\
void both(int n, float *x, float *y) {
    // parallel
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
        y[i] = x[i] + y[i];
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        (name, comma(), name)
            .map(|(first, _, second)| Args { loops: [first, second] })
            .parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let [first, second] = &self.loops;
        Ok(apply(check(kernel, loop_named(kernel, first)?, loop_named(kernel, second)?)?))
    }
}

/// The verdict on a `fuse_loops`, which alone allows it.
pub struct LegalFuseLoops {
    fused: Kernel,
    pair: (LoopId, LoopId),
}

const VERB: &str = "fuse";

/// Asks whether two loops can be made one.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, first: LoopId, second: LoopId) -> Result<LegalFuseLoops, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop(VERB, second, why));
    let (Some(a), Some(b)) = (kernel.find_loop(first), kernel.find_loop(second)) else {
        return refuse("it is gone");
    };
    for l in [a, b] {
        check_loop(kernel, l)?;
    }
    if is_marked(a) != is_marked(b) {
        return refuse("one of the loops is marked, and the other is not");
    }
    if !same_range(kernel, a, b) {
        return refuse("the loops do not run over the same range");
    }
    if let Some(v) = differs(a, b).or_else(|| differs(b, a)) {
        let name = kernel.name_of(v);
        return refuse(&format!("`{name}` is a variable of each iteration of one loop only"));
    }
    let Some(fused) = fused(kernel, first, second) else {
        return refuse(
            "it does not stand behind the other loop, or what is between them cannot move",
        );
    };
    check_fused(&fused, first, second)?;
    Ok(LegalFuseLoops { fused, pair: (first, second) })
}

/// A loop that can be fused with another at all.
fn check_loop(kernel: &Kernel, l: &ForLoop) -> Result<(), Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop(VERB, l.id, why));
    let around = kernel.loops_around(l.id);
    let bound = |l: &&ForLoop| {
        kernel.nests.contains_key(&l.id) || matches!(l.kind, LoopKind::Bound(_) | LoopKind::Vector)
    };
    if let Some(bound) = around.into_iter().chain([l]).find(bound) {
        return Err(Refusal::AlreadyBound { loop_id: bound.id });
    }
    if let Some(stmt) = walk::leaves(&l.body) {
        return Err(Refusal::LeavesLoop { loop_id: l.id, at: stmt.origin.clone() });
    }
    if !unit_step(l) {
        return refuse("it does not count up by one");
    }
    if walk::continues(&l.body).is_some() {
        return refuse("an iteration may end early");
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it");
    }
    Ok(())
}

/// Both loops have the same iterations, whatever happens between them.
fn same_range(kernel: &Kernel, a: &ForLoop, b: &ForLoop) -> bool {
    let ty = |l: &ForLoop| kernel.func().var(l.var).ty.clone();
    let (mut fixed, body) = (true, &kernel.func().body);
    for e in [&a.first, &a.limit] {
        fixed &= !walk::reads_memory(e);
        walk::each_var(e, &mut |v| {
            let counts = kernel.loops_around(a.id).iter().any(|l| l.var == v);
            fixed &= counts || kernel.func().params.contains(&v) && !walk::writes_var(body, v);
        });
    }
    fixed && ty(a) == ty(b) && a.compare == b.compare && a.first == b.first && a.limit == b.limit
}

/// A variable of each iteration of one loop by a clause that means something else in the other.
fn differs(a: &ForLoop, b: &ForLoop) -> Option<VarId> {
    let (LoopKind::Parallel(own), LoopKind::Parallel(other)) = (&a.kind, &b.kind) else {
        return None;
    };
    let mut used = BTreeSet::new();
    walk::each_var_of_block(&b.body, &mut |v| _ = used.insert(v));
    let reduced = own.reductions.iter().map(|r| &r.var);
    let begins = own.first_private.iter().chain(&own.last_private).chain(reduced);
    let set_first = own.private.iter().filter(|v| !other.private.contains(v));
    begins.chain(set_first).copied().find(|v| used.contains(v))
}

/// The kernel with both loops in one; `None` where they do not stand in one block, or something between them belongs to
/// where it is.
fn fused(kernel: &Kernel, first: LoopId, second: LoopId) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    let mut body = std::mem::take(&mut kernel.func_mut().body);
    let done = in_block(&kernel, &mut body, first, second);
    kernel.func_mut().body = body;
    done.then_some(kernel)
}

fn in_block(kernel: &Kernel, block: &mut Block, first: LoopId, second: LoopId) -> bool {
    let place = |block: &Block, id: LoopId| {
        let is = |s: &Stmt| matches!(&s.kind, StmtKind::For(l) if l.id == id);
        block.stmts.iter().position(is)
    };
    let (Some(from), Some(to)) = (place(block, first), place(block, second)) else {
        let mut inner = block.stmts.iter_mut().flat_map(walk::blocks_mut);
        return inner.any(|b| in_block(kernel, b, first, second));
    };
    if from >= to {
        return false;
    }
    let (a, b) = (block.stmts[from].clone(), block.stmts[to].clone());
    let (mut before, mut after) = (vec![], vec![]);
    for stmt in &block.stmts[from + 1..to] {
        // What has to stay behind the first loop goes behind the second, with what follows it and needs it.
        if can_swap(&a, stmt) && after.iter().all(|s| can_swap(s, stmt)) {
            before.push(stmt.clone());
        } else if can_swap(stmt, &b) {
            after.push(stmt.clone());
        } else {
            return false;
        }
    }
    let (StmtKind::For(outer), StmtKind::For(inner)) = (&a.kind, &b.kind) else { return false };
    let l = joined(kernel, outer.clone(), inner.clone());
    let one = Stmt {
        kind: StmtKind::For(l),
        origin: a.origin.by("fuse_loops"),
        comment: a.comment.clone(),
    };
    let stmts = before.into_iter().chain([one]).chain(after);
    block.stmts.splice(from..=to, stmts);
    true
}

/// One loop with both bodies; of marked loops, with those directly inside them together as far as they go.
fn joined(kernel: &Kernel, mut a: ForLoop, b: ForLoop) -> ForLoop {
    let mut other = b.body;
    visit::rename_vars(&mut other, &mut |v| if v == b.var { a.var } else { v });
    if let (LoopKind::Parallel(own), LoopKind::Parallel(more)) = (&mut a.kind, &b.kind) {
        let new = |v: &&VarId| **v != b.var && !own.private.contains(v);
        let more_private: Vec<VarId> = more.private.iter().filter(new).copied().collect();
        own.private.extend(more_private);
        own.reductions.extend(more.reductions.iter().cloned());
        own.first_private.extend(&more.first_private);
        // What is proved of the fused loop needs nobody's word.
        (own.independent, own.group) = (false, None);
        own.apart.clear();
    }
    let together = match (only_loop(&a.body), only_loop(&other)) {
        (Some(inner), Some(others)) if is_marked(inner) && is_marked(others) => {
            let of = |l: &ForLoop| (l.first.clone(), l.compare, l.limit.clone(), l.step.clone());
            let alike = of(inner) == of(others) && check_loop(kernel, inner).is_ok();
            alike.then(|| joined(kernel, inner.clone(), others.clone()))
        }
        _ => None,
    };
    match together {
        Some(inner) => {
            a.body = Block::new(vec![Stmt::new(StmtKind::For(inner), Origin::default())])
        }
        None => {
            a.body.stmts.extend(other.stmts);
            unmark(&mut a.body);
        }
    }
    a
}

/// Loops inside of a parallel one that are not its whole body run in its iterations.
pub(super) fn unmark(block: &mut Block) {
    for stmt in &mut block.stmts {
        if let StmtKind::For(l) = &mut stmt.kind
            && is_marked(l)
        {
            l.kind = LoopKind::Serial;
        }
        walk::blocks_mut(stmt).into_iter().for_each(unmark);
    }
}

/// The iterations of the fused loop can be run as those of the two were.
fn check_fused(fused: &Kernel, id: LoopId, second: LoopId) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop(VERB, second, why));
    let Some(l) = fused.find_loop(id) else { return refuse("it is gone".into()) };
    if !is_marked(l) {
        let asked = share::sums_of(fused, l);
        let asked = asked.and_then(|sums| share::check_iterations(fused, l, &sums));
        return asked.map_err(|why| why.instead_of(share::VERB, VERB));
    }
    let (group, clauses) = independence::group_of(fused, id);
    if !clauses.last_private.is_empty() {
        return refuse("its nest has a `lastprivate` clause".into());
    }
    for id in &group {
        match independence::check(fused, *id, &group, &clauses) {
            Ok(found) if found.proved() => {}
            // The marks are right; what would be wrong is one for both together.
            Err(Refusal::Carried(d)) => {
                return refuse(format!("in one loop, {}", d.example()));
            }
            Err(Refusal::Undecided(d)) => {
                return refuse(format!(
                    "whether two iterations of both together touch the same element of `{}` is not known: {}",
                    d.array, d.reason
                ));
            }
            Ok(_) => {
                return refuse("the iterations of both together are not proved independent".into());
            }
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

/// Makes the loops one; it keeps the name of the first.
pub fn apply(legal: LegalFuseLoops) -> Rewritten {
    let (first, second) = legal.pair;
    Rewritten { kernel: legal.fused, loops: vec![(second, first)] }
}
