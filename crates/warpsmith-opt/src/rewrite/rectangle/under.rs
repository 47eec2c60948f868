//! Loops that stand under conditions, as the sum over the channels of a window does at the edges of an image: run by all
//! iterations, with the condition inside.
//!
//! ```text
//!     for r in 0..3 { a = i + r - 1; if (a < 0 || a >= n) continue; for c in 0..m { s += x[a][c] * w[r][c]; } }
//!       ==> rectangle c
//!     for r in 0..3 { a = i + r - 1; for c in 0..m { if (a >= 0 && a < n) s += x[a][c] * w[r][c]; } }
//! ```
//!
//! Legal where the condition holds throughout the loop or not at all, and where what comes to be computed by all iterations, the ends
//! of the loop and values before it, can be computed by all.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Origin, PlaceKind, Stmt, StmtKind, Type,
    UnaryOp, VarId,
};

use super::{has_result, never_wraps};
use crate::analysis::loops::unit_step;
use crate::analysis::scalars;
use crate::build::conditions::all_of;
use crate::kernel::{Kernel, is_marked};
use crate::walk;

/// Whether a loop stands under conditions that can go inside.
pub(crate) fn may_sink(kernel: &Kernel, id: LoopId) -> bool {
    kernel.find_loop(id).is_some_and(|l| conditions(kernel, l).is_ok_and(|c| !c.is_empty()))
}

/// The conditions under which a loop runs in an iteration of the loop around it, the first to be asked first; none where it stands
/// under no condition.
///
/// # Errors
/// Why they cannot go inside.
pub(super) fn conditions(kernel: &Kernel, l: &ForLoop) -> Result<Vec<Expr>, &'static str> {
    let body = body_around(kernel, l.id);
    let mut found = vec![];
    // Of parallel loops a nest is made.
    if is_marked(l) {
        return Ok(found);
    }
    if !collect(body, l.id, Level::default(), &mut found)? || found.is_empty() {
        return Ok(vec![]);
    }
    let stays = |e: &Expr| {
        let mut stays = !walk::reads_memory(e);
        walk::each_var(e, &mut |v| stays &= v != l.var && !walk::writes_var(&l.body, v));
        stays
    };
    if !found.iter().all(stays) {
        return Err("the condition around it may change in it");
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return Err("its counter is read after it");
    }
    let counters: Vec<VarId> = kernel.loops_around(l.id).iter().map(|o| o.var).collect();
    let set = |v: VarId| {
        kernel.func().params.contains(&v) || counters.contains(&v) || has_value(kernel, v)
    };
    let known = |e: &Expr| {
        let mut known = is_plain(e);
        walk::each_var(e, &mut |v| known &= set(v) && !walk::writes_var(&l.body, v));
        known
    };
    if ![&l.first, &l.limit, &l.step].into_iter().all(known) {
        return Err("its ends may not exist where it does not run");
    }
    let signed = kernel.func().var(l.var).ty.scalar().is_some_and(|s| s.is_signed());
    let ends = signed || [&l.first, &l.limit].into_iter().all(never_wraps);
    if !unit_step(l) || !matches!(l.compare, BinaryOp::Lt | BinaryOp::Le) || !ends {
        return Err("it may not end where it does not run");
    }
    Ok(found)
}

/// Whether a variable is declared with a value.
fn has_value(kernel: &Kernel, var: VarId) -> bool {
    let mut found = false;
    walk::each_stmt(&kernel.func().body, &mut |s| {
        found |= matches!(&s.kind, StmtKind::Decl { var: v, init: Some(_) } if *v == var);
    });
    found
}

/// Puts the conditions into a loop that stands in the body of another, or of the function.
pub(super) fn sink(body: &mut Block, around: Option<LoopId>, target: LoopId) {
    match around {
        None => sink_in(body, target),
        Some(around) => {
            _ = walk::with_loop(body, around, &mut |stmt| {
                if let StmtKind::For(l) = &mut stmt.kind {
                    sink_in(&mut l.body, target);
                }
            })
        }
    }
}

fn sink_in(body: &mut Block, target: LoopId) {
    let mut conditions = vec![];
    let mut stmts = vec![];
    taken_out(std::mem::take(&mut body.stmts), target, &mut conditions, &mut stmts);
    body.stmts = stmts;
    walk::with_loop(body, target, &mut |stmt| {
        let origin = stmt.origin.by("rectangle");
        let StmtKind::For(l) = &mut stmt.kind else { return };
        let mut then = std::mem::take(&mut l.body);
        if let [Stmt { kind: StmtKind::If { cond, then: inner, otherwise }, .. }] =
            then.stmts.as_mut_slice()
            && otherwise.stmts.is_empty()
        {
            conditions.push(cond.clone());
            then = std::mem::take(inner);
        }
        if let Some(cond) = all_of(std::mem::take(&mut conditions)) {
            let kind = StmtKind::If { cond, then, otherwise: Block::default() };
            l.body = Block::new(vec![Stmt::new(kind, origin)]);
        }
    });
}

/// The statements with the loop among them, and not in one of them.
fn taken_out(stmts: Vec<Stmt>, target: LoopId, conditions: &mut Vec<Expr>, out: &mut Vec<Stmt>) {
    let at = stmts.iter().position(|s| holds(s, target)).unwrap_or(stmts.len());
    for (k, stmt) in stmts.into_iter().enumerate() {
        if let Some(cond) = skipping(&stmt).filter(|_| k < at) {
            conditions.push(negated(cond));
            continue;
        }
        match stmt.kind {
            StmtKind::If { cond, then, .. } if k == at => {
                conditions.push(cond);
                taken_out(then.stmts, target, conditions, out);
            }
            kind => out.push(Stmt { kind, ..stmt }),
        }
    }
}

/// The body of the loop directly around another, or of the function.
fn body_around(kernel: &Kernel, id: LoopId) -> &Block {
    kernel.loops_around(id).last().map_or(&kernel.func().body, |l| &l.body)
}

/// Where conditions are collected.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Inside of a condition.
    inside: bool,
    /// Statements of a level around come after the one that is looked at.
    followed: bool,
}

/// Collects the conditions on the way to a loop; `false`: it is not there.
fn collect(
    block: &Block,
    target: LoopId,
    level: Level,
    found: &mut Vec<Expr>,
) -> Result<bool, &'static str> {
    let Some(at) = block.stmts.iter().position(|s| holds(s, target)) else { return Ok(false) };
    let (before, rest) = block.stmts.split_at(at);
    // What comes before the first condition runs anyway; what else there is would come under none.
    let first = match level.inside {
        true => 0,
        false => before.iter().position(|s| skipping(s).is_some()).unwrap_or(at),
    };
    let harmless = |s: &Stmt| match &s.kind {
        StmtKind::Decl { init, .. } => init.as_ref().is_none_or(is_plain),
        _ => skipping(s).is_some(),
    };
    let skips = before.iter().any(|s| skipping(s).is_some());
    let followed = level.followed || rest.len() > 1;
    let alone = before[first..].iter().all(harmless) && !(followed && skips);
    if !alone || level.inside && rest.len() > 1 {
        return Err("other statements stand under the same condition");
    }
    found.extend(before.iter().filter_map(skipping).map(negated));
    match &rest[0].kind {
        StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
            found.push(cond.clone());
            collect(then, target, Level { inside: true, followed }, found)
        }
        StmtKind::For(l) => Ok(l.id == target),
        _ => Ok(false),
    }
}

/// The condition under which a statement ends the iteration, and does nothing else.
pub(crate) fn skipping(stmt: &Stmt) -> Option<&Expr> {
    match &stmt.kind {
        StmtKind::If { cond, then, otherwise } => {
            let ends = matches!(then.stmts.as_slice(), [Stmt { kind: StmtKind::Continue, .. }]);
            (ends && otherwise.stmts.is_empty()).then_some(cond)
        }
        _ => None,
    }
}

fn holds(stmt: &Stmt, target: LoopId) -> bool {
    matches!(&stmt.kind, StmtKind::For(l) if l.id == target)
        || walk::blocks(stmt).into_iter().any(|b| walk::find_loop(b, target).is_some())
}

/// Whether an expression has a value whatever its variables are: it reads no memory and divides by no variable.
fn is_plain(e: &Expr) -> bool {
    let mut plain = !walk::reads_memory(e);
    walk::each_expr(e, &mut |e| {
        plain &= match &*e.kind {
            ExprKind::Read(p) => matches!(&*p.kind, PlaceKind::Var(_)),
            _ => has_result(e),
        };
    });
    plain
}

/// The condition that holds where another does not.
pub(crate) fn negated(cond: &Expr) -> Expr {
    let integers = |a: &Expr| a.ty.is_integer();
    let turned = |op: BinaryOp| match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        BinaryOp::Eq => Some(BinaryOp::Ne),
        BinaryOp::Ne => Some(BinaryOp::Eq),
        _ => None,
    };
    match &*cond.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => inner.clone(),
        ExprKind::Binary(BinaryOp::LogicalOr, a, b) => {
            Expr::binary(BinaryOp::LogicalAnd, negated(a), negated(b))
        }
        ExprKind::Binary(BinaryOp::LogicalAnd, a, b) => {
            Expr::binary(BinaryOp::LogicalOr, negated(a), negated(b))
        }
        ExprKind::Binary(op, a, b) if integers(a) && turned(*op).is_some() => {
            Expr::binary(turned(*op).unwrap_or(*op), a.clone(), b.clone())
        }
        _ => {
            let kind = ExprKind::Unary(UnaryOp::Not, cond.clone());
            Expr::new(kind, Type::BOOL, Origin::default())
        }
    }
}
