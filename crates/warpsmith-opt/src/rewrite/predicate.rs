//! Puts the condition that a serial loop runs under into its limit.
//!
//! ```text
//!     if (c) A  else { s = 0;  for k in a..b { S(k, s) }  B(s) }
//!       ==> predicate k
//!     s = 0;  for k in a..(c ? a : b) { S(k, s) }  if (c) A  else B(s)
//! ```
//!
//! All iterations of the nest then come to the loop alike, so that threads can share it: masked scores, rows of different
//! lengths. What follows `if (c) { A; continue; }`, or the same with `break`, is taken for its other side.
//!
//! Legal where what stands before the loop on its side of the condition are declarations, those that the loop needs can be
//! computed whether the condition holds or not, and the loop changes nothing that the others are made of.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopId, Stmt, StmtKind, Type, VarId,
};

use super::Rewritten;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::loops::written_bases;
use crate::build::conditions::select;
use crate::build::stmts::{declare, local};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::{names, walk};

/// The step, which names one loop: the serial loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "predicate",
        example: "predicate k",
        does: "puts the condition that a serial loop runs under into its limit, so that all iterations of the nest come to it alike and threads can share it",
        legal: "no loop around it is bound; it counts up, and before it on its side of the condition stand only declarations that can be computed whether the condition holds or not, or that it has nothing to do with",
        law: Law {
            before: "\
void scores(int n, int m, const int len[n], const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (len[i] == 0) { s[i] = -1; continue; }
        float sum = 0;
        for (int j = 0; j < m; j++)
            sum += A[i][j];
        s[i] = sum;
    }
}
",
            steps: "predicate j",
            after: "\
void scores(int n, int m, const int *len, const float *A, float *s) {
    // parallel
    for (int i = 0; i < n; ++i) {
        const bool j_skips = len[i] == 0;
        float sum = 0.0f;
        for (int j = 0; j < (j_skips ? 0 : m); ++j) {
            sum += A[(size_t)i * m + j];
        }
        if (j_skips) {
            s[i] = -1.0f;
        } else {
            s[i] = sum;
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

/// The verdict on a `predicate`, which alone allows it.
pub struct LegalPredicate<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    /// The body of the function with `if (c) { A; continue; }` made two sides around the loop, `break` alike.
    sides: Block,
}

/// Asks whether the condition around a loop can go into its limit.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalPredicate<'_>, Refusal> {
    let refused = |why: &str| Err(Refusal::of_loop("move the condition around", target, why));
    if let Some(bound) = kernel.bound_at(target) {
        return Err(Refusal::AlreadyBound { loop_id: bound });
    }
    let mut sides = kernel.func().body.clone();
    part_innermost(&mut sides, target);
    let Some((side, at)) = side_of(&sides, target) else {
        return refused(no_side(&sides, target));
    };
    let StmtKind::For(l) = &side.stmts[at].kind else { return refused("it does not exist") };
    let up = l.step.as_const().is_some_and(|step| step.as_i64() > 0);
    if !up || l.compare != BinaryOp::Lt || !l.declares {
        return refused("it does not count up to a limit, or its counter is read after it");
    }
    if !is_harmless(&l.first) {
        return refused("where it begins cannot be computed without the condition");
    }
    for stmt in &side.stmts[..at] {
        let StmtKind::Decl { var, init } = &stmt.kind else {
            return refused("more than declarations stand before it under the condition");
        };
        let wanted = is_wanted(kernel.func(), *var, l, &side.stmts[..at]);
        let init = init.as_ref();
        if wanted && !init.is_none_or(is_harmless) {
            return refused("what it needs cannot be computed without the condition");
        }
        if !wanted && init.is_some_and(|e| is_changed(e, l)) {
            return refused("it changes what is declared before it");
        }
    }
    Ok(LegalPredicate { kernel, target, sides })
}

/// Whether a loop needs a variable, itself or for another one that stands before it.
fn is_wanted(function: &Function, var: VarId, l: &ForLoop, before: &[Stmt]) -> bool {
    let mut needed = BTreeSet::new();
    let alone =
        Block::new(vec![Stmt::new(StmtKind::For(l.clone()), function.var(l.var).origin.clone())]);
    walk::each_var_of_block(&alone, &mut |v| _ = needed.insert(v));
    for stmt in before.iter().rev() {
        if let StmtKind::Decl { var, init: Some(e) } = &stmt.kind
            && needed.contains(var)
        {
            walk::each_var(e, &mut |v| _ = needed.insert(v));
        }
    }
    needed.contains(&var)
}

/// Whether a loop changes what a value is made of.
fn is_changed(e: &Expr, l: &ForLoop) -> bool {
    let mut changes = walk::reads_memory(e) && !written_bases(&l.body).is_empty();
    walk::each_var(e, &mut |v| changes |= walk::writes_var(&l.body, v));
    changes
}

/// Whether a value can be computed where nobody asks for it: it reads variables only, and of integers makes nothing that may
/// have no value.
fn is_harmless(e: &Expr) -> bool {
    let mut harmless = !walk::reads_memory(e);
    walk::each_expr(e, &mut |e| {
        harmless &= match &*e.kind {
            ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Builtin(_) => true,
            ExprKind::Binary(op, ..) if op.is_comparison() || op.is_logical() => true,
            ExprKind::Cast(a) => e.ty.scalar().is_some_and(|to| to.is_float()) || a.ty.is_integer(),
            _ => e.ty.scalar().is_some_and(|ty| ty.is_float()),
        };
    });
    harmless
}

/// The side of a condition that holds a loop directly, and where in it the loop stands.
fn side_of(body: &Block, target: LoopId) -> Option<(&Block, usize)> {
    let mut found = None;
    walk::each_stmt(body, &mut |s| {
        if let StmtKind::If { then, otherwise, .. } = &s.kind {
            for side in [then, otherwise] {
                let at = side.stmts.iter().position(|s| walk::is_loop(s, target));
                found = found.or(at.map(|at| (side, at)));
            }
        }
    });
    found
}

/// Why a loop stands directly on no side of a condition.
fn no_side(body: &Block, target: LoopId) -> &'static str {
    let mut under = false;
    walk::each_stmt(body, &mut |s| {
        under |= matches!(s.kind, StmtKind::If { .. }) && holds(std::slice::from_ref(s), target);
    });
    match under {
        true => "between it and the condition that it stands under is another loop",
        false => "it stands under no condition",
    }
}

fn holds(stmts: &[Stmt], target: LoopId) -> bool {
    walk::find_loop(&Block::new(stmts.to_vec()), target).is_some()
}

/// Parts the body of the innermost loop around `target` into sides; whether `target` is in the block.
fn part_innermost(block: &mut Block, target: LoopId) -> bool {
    for stmt in &mut block.stmts {
        if walk::is_loop(stmt, target) {
            return true;
        }
        if walk::blocks_mut(stmt).into_iter().any(|b| part_innermost(b, target)) {
            if let StmtKind::For(ForLoop { body, .. }) | StmtKind::Loop { body, .. } =
                &mut stmt.kind
            {
                part_sides(body, target);
            }
            return true;
        }
    }
    false
}

/// Where an iteration that meets a condition ends early, makes what follows the other side of the condition, as far as a loop
/// stands there. `tail` ends the iteration.
fn part_sides(tail: &mut Block, target: LoopId) {
    let ends = |s: &Stmt| match &s.kind {
        StmtKind::If { then, otherwise, .. } => {
            let last = then.stmts.last().map(|s| &s.kind);
            otherwise.stmts.is_empty() && matches!(last, Some(StmtKind::Continue | StmtKind::Break))
        }
        _ => false,
    };
    let Some(at) = tail.stmts.iter().position(ends) else { return };
    if !holds(&tail.stmts[at + 1..], target) {
        return;
    }
    let rest = tail.stmts.split_off(at + 1);
    if let Some(StmtKind::If { then, otherwise, .. }) = tail.stmts.last_mut().map(|s| &mut s.kind) {
        then.stmts.pop_if(|s| matches!(s.kind, StmtKind::Continue));
        otherwise.stmts = rest;
        part_sides(otherwise, target);
    }
}

/// Moves the loop out of the condition.
pub fn apply(legal: LegalPredicate<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    kernel.func_mut().body = legal.sides;
    let mut body = std::mem::take(&mut kernel.func_mut().body);
    move_out(&mut body, legal.target, kernel.func_mut());
    kernel.func_mut().body = body;
    Rewritten::same_loops(kernel)
}

/// Puts a loop in front of the condition whose side it stands on.
fn move_out(block: &mut Block, target: LoopId, function: &mut Function) -> bool {
    let is_it = |s: &Stmt| walk::is_loop(s, target);
    let on_a_side = |s: &Stmt| match &s.kind {
        StmtKind::If { then, otherwise, .. } => {
            [then, otherwise].iter().position(|side| side.stmts.iter().any(is_it))
        }
        _ => None,
    };
    let found = block.stmts.iter().enumerate().find_map(|(at, s)| Some((at, on_a_side(s)?)));
    let Some((at, side)) = found else {
        let mut inner = block.stmts.iter_mut().flat_map(walk::blocks_mut);
        return inner.any(|b| move_out(b, target, function));
    };
    if let StmtKind::If { cond, then, otherwise } = &mut block.stmts[at].kind {
        let runs = side == 0;
        let (side, other) = if runs { (then, otherwise) } else { (otherwise, then) };
        let other_is_empty = other.stmts.is_empty();
        let before = in_front(cond, side, target, runs, function);
        let nothing = side.stmts.is_empty() && other_is_empty;
        let end = if nothing { at + 1 } else { at };
        block.stmts.splice(at..end, before);
    }
    true
}

/// What goes in front of a condition: its truth where that may change, what a loop on one side of it needs, and the loop.
fn in_front(
    cond: &mut Expr,
    side: &mut Block,
    target: LoopId,
    runs: bool,
    function: &mut Function,
) -> Vec<Stmt> {
    let Some(at) = side.stmts.iter().position(|s| walk::is_loop(s, target)) else { return vec![] };
    let mut found = side.stmts.remove(at);
    let StmtKind::For(l) = &mut found.kind else { return vec![] };
    let mut stmts = vec![];
    if walk::reads_memory(cond) || is_changed(cond, l) {
        let word = if runs { "runs" } else { "skips" };
        let wanted = format!("{}_{word}", function.var(l.var).name);
        let truth = local(function, &names::fresh_name(function, &wanted), Type::BOOL);
        function.vars[truth.0 as usize].constant = true;
        stmts.push(declare(truth, std::mem::replace(cond, Expr::var(truth, Type::BOOL))));
    }
    let kept = side.stmts.split_off(at);
    let before = std::mem::take(&mut side.stmts);
    let needs = |s: &Stmt| match &s.kind {
        StmtKind::Decl { var, .. } => is_wanted(function, *var, l, &before),
        _ => false,
    };
    let (moved, stay): (Vec<Stmt>, Vec<Stmt>) = before.iter().cloned().partition(needs);
    side.stmts = stay;
    side.stmts.extend(kept);
    let none = l.first.clone().cast(l.limit.ty.clone());
    let (limit, holds) = (l.limit.clone(), cond.clone());
    l.limit = if runs { select(holds, limit, none) } else { select(holds, none, limit) };
    stmts.extend(moved);
    stmts.push(found);
    stmts
}
