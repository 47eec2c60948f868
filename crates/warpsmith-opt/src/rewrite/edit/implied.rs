//! Conditions that the bounds of loops imply are not asked: a neighbour of nothing is inside of every array.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopId, StmtKind, VarId, visit,
};

use crate::analysis::access::Scope;
use crate::build::conditions::all_of;
use crate::kernel::Kernel;
use crate::walk;

/// Drops what always holds from the conditions in the innermost of some loops, which are given from the outermost on.
pub fn drop_implied(kernel: &mut Kernel, loops: &[LoopId]) {
    let Some(root) = loops.last() else { return };
    let known = implied(kernel, loops);
    if known.is_empty() {
        return;
    }
    let holds = |e: &Expr| known.contains(e);
    walk::with_loop(&mut kernel.func_mut().body, *root, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            drop_in(&mut l.body, &holds);
        }
    });
}

/// Comparisons in the body of the innermost loop that hold in all of its iterations.
fn implied(kernel: &Kernel, loops: &[LoopId]) -> Vec<Expr> {
    let mut around: Vec<&ForLoop> = loops.iter().filter_map(|id| kernel.find_loop(*id)).collect();
    if !around.iter().all(|l| is_steady(kernel.func(), l)) {
        return vec![];
    }
    let Some(root) = around.pop() else { return vec![] };
    let scope = Scope::new(&kernel.module, kernel.func(), around, root);
    let mut known: Vec<Expr> = vec![];
    let mut see = |cond: &Expr| {
        for e in walk::conjuncts(cond) {
            if !known.contains(e) && always(&scope, e) {
                known.push(e.clone());
            }
        }
    };
    visit::for_each_stmt(&root.body, &mut |s| {
        if let StmtKind::If { cond, .. } = &s.kind {
            see(cond);
        }
    });
    visit::for_each_expr(&root.body, &mut |e| {
        if let ExprKind::Select(cond, ..) = &*e.kind {
            see(cond);
        }
    });
    known
}

/// Whether the counter of a loop stays within the bounds that it begins with: nothing else changes it, or what they are made of.
fn is_steady(function: &Function, l: &ForLoop) -> bool {
    let mut steady = !walk::writes_var(&l.body, l.var);
    for e in [&l.first, &l.limit] {
        steady &= !walk::reads_memory(e);
        walk::each_var(e, &mut |v| steady &= !walk::writes_var(&function.body, v));
    }
    steady
}

/// Whether a comparison of signed integers holds wherever the counters of the loops are within their bounds.
fn always(scope: &Scope<'_>, e: &Expr) -> bool {
    let ExprKind::Binary(op, a, b) = &*e.kind else { return false };
    // What is not negative where it holds.
    let (more, less, apart) = match op {
        BinaryOp::Lt => (b, a, 1),
        BinaryOp::Le => (b, a, 0),
        BinaryOp::Gt => (a, b, 1),
        BinaryOp::Ge => (a, b, 0),
        _ => return false,
    };
    let mut signed = true;
    for side in [a, b] {
        walk::each_expr(side, &mut |e| signed &= e.ty.scalar().is_some_and(|s| s.is_signed()));
    }
    let least = || {
        let [more, less] = [more, less].map(|e| scope.normalise(e).ok());
        let apart = Poly::constant(-apart);
        least(scope, more?.sub(&less?)?.add(&apart)?)?.as_constant()
    };
    signed && least().is_some_and(|n| n >= 0)
}

/// The least value that bounds of the loops leave, the innermost counter first.
fn least(scope: &Scope<'_>, value: Poly) -> Option<Poly> {
    let loops = [scope.root].into_iter().chain(scope.outer.iter().rev().copied());
    loops.into_iter().try_fold(value, |value, l| {
        let (low, high) = scope.range(l);
        match slope(&value, l.var)? {
            0 => Some(value),
            up if up > 0 => value.substitute(l.var, &low?),
            _ => value.substitute(l.var, &high?),
        }
    })
}

/// By how much a value grows with a variable; `None`: not always by as much.
fn slope(value: &Poly, var: VarId) -> Option<i128> {
    let next = Poly::var(var).add(&Poly::constant(1))?;
    value.substitute(var, &next)?.sub(value)?.as_constant()
}

fn drop_in(block: &mut Block, holds: &dyn Fn(&Expr) -> bool) {
    let mut kept = vec![];
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in walk::blocks_mut(&mut stmt) {
            drop_in(inner, holds);
        }
        if let StmtKind::If { cond, then, .. } = &mut stmt.kind {
            match left(cond, holds) {
                Some(rest) => *cond = rest,
                None if then.stmts.iter().any(|s| matches!(s.kind, StmtKind::Decl { .. })) => {
                    stmt.kind = StmtKind::Scope(std::mem::take(then));
                }
                None => {
                    kept.append(&mut then.stmts);
                    continue;
                }
            }
        }
        kept.push(stmt);
    }
    block.stmts = kept;
    visit::map_exprs(block, &mut |e| {
        if let ExprKind::Select(cond, then, _) = &mut *e.kind {
            match left(cond, holds) {
                Some(rest) => *cond = rest,
                None => *e = then.clone(),
            }
        }
    });
}

/// What is left of a condition; `None`: it always holds.
fn left(cond: &Expr, holds: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    let all = walk::conjuncts(cond);
    match all.iter().any(|e| holds(e)) {
        true => all_of(all.into_iter().filter(|e| !holds(e)).cloned()),
        false => Some(cond.clone()),
    }
}
