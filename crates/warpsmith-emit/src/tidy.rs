//! Temporaries that say nothing: what a front end needs to give effects an order, a reader does not.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, Function, Module, Place, PlaceKind, Stmt, StmtKind, Type,
    VarId, visit,
};

use crate::walk::{self, VarUse};

/// The same module without temporaries that only carry a result to the statement after it:
///
/// ```text
/// tmp = atomicAdd(p, 1);  old = tmp;
///   ==>
/// old = atomicAdd(p, 1);
/// ```
pub(crate) fn tidy(module: &Module) -> Module {
    let mut module = module.clone();
    for function in &mut module.functions {
        let uses = walk::var_uses(function);
        let mut body = std::mem::take(&mut function.body);
        blocks(function, &uses, &mut body);
        visit::map_exprs(&mut body, &mut |e| {
            if let Some(same) = without_nothing(e) {
                *e = same;
            }
        });
        function.body = body;
    }
    module
}

/// `a` for integers `a + 0`, `a - 0` and `0 + a`, which a person would not write.
fn without_nothing(e: &Expr) -> Option<Expr> {
    let ExprKind::Binary(op, a, b) = &*e.kind else { return None };
    let nothing = |e: &Expr| e.ty.is_integer() && e.as_const().is_some_and(|v| v.bits == 0);
    let kept = match op {
        BinaryOp::Add | BinaryOp::Sub if nothing(b) => a,
        BinaryOp::Add if nothing(a) => b,
        _ => return None,
    };
    (kept.ty == e.ty).then(|| kept.clone())
}

fn blocks(function: &Function, uses: &[VarUse], block: &mut Block) {
    let mut i = 0;
    while i < block.stmts.len() {
        for inner in nested(&mut block.stmts[i].kind) {
            blocks(function, uses, inner);
        }
        if i + 1 < block.stmts.len()
            && let Some(temporary) = carrier(uses, &block.stmts[i].kind)
            && let Some((target, declares)) = receiver(function, &block.stmts[i + 1], temporary)
        {
            redirect(function, &mut block.stmts[i], target);
            let origin = block.stmts[i + 1].origin.clone();
            if declares {
                let declaration = StmtKind::Decl { var: target, init: None };
                block.stmts[i + 1] = Stmt::new(declaration, origin);
                block.stmts.swap(i, i + 1);
            } else {
                block.stmts.remove(i + 1);
            }
        }
        i += 1;
    }
}

/// The temporary that a statement with an effect leaves its result in, if it is read just once.
fn carrier(uses: &[VarUse], s: &StmtKind) -> Option<VarId> {
    let effect = matches!(
        s,
        StmtKind::Call { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Warp { .. }
            | StmtKind::Barrier { .. }
    );
    let var = walk::assigned_var(s).filter(|_| effect)?;
    let u = uses.get(var.0 as usize)?;
    ((u.writes, u.reads, u.addressed) == (1, 1, false)).then_some(var)
}

/// The variable that takes over the temporary's value as it is, and whether it is declared there.
fn receiver(function: &Function, s: &Stmt, temporary: VarId) -> Option<(VarId, bool)> {
    let (target, value, declares) = match &s.kind {
        StmtKind::Decl { var, init: Some(value) } => (*var, value, true),
        StmtKind::Assign { place, value } => match &*place.kind {
            PlaceKind::Var(v) => (*v, value, false),
            _ => return None,
        },
        _ => return None,
    };
    let ExprKind::Read(read) = &*truth(value).kind else { return None };
    let carried = matches!(&*read.kind, PlaceKind::Var(v) if *v == temporary);
    let ty = |v: VarId| function.vars.get(v.0 as usize).map(|v| &v.ty);
    (carried && s.comment.is_empty() && ty(target) == ty(temporary)).then_some((target, declares))
}

/// The `bool` whose truth an expression asks for after it became a number: C's votes give `int`.
fn truth(e: &Expr) -> &Expr {
    let bool_inside = |e: &'_ Expr| match &*e.kind {
        ExprKind::Cast(a) => a.ty == Type::BOOL && e.ty.is_integer(),
        _ => false,
    };
    match &*e.kind {
        ExprKind::Binary(BinaryOp::Ne, a, zero)
            if bool_inside(a) && zero.as_const().is_some_and(|v| v.bits == 0) =>
        {
            match &*a.kind {
                ExprKind::Cast(inner) => inner,
                _ => e,
            }
        }
        _ => e,
    }
}

fn redirect(function: &Function, s: &mut Stmt, target: VarId) {
    match &mut s.kind {
        StmtKind::Call { result, .. } => {
            *result = Some(Place::var(target, function.var(target).ty.clone()));
        }
        StmtKind::Atomic { result, .. }
        | StmtKind::Warp { result, .. }
        | StmtKind::Barrier { result, .. } => *result = Some(target),
        _ => {}
    }
}

fn nested(s: &mut StmtKind) -> Vec<&mut Block> {
    match s {
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::For(l) => vec![&mut l.body],
        StmtKind::Loop { condition, body, step, .. } => {
            let before = condition.as_mut().map(|c| &mut c.before);
            before.into_iter().chain([body, step]).collect()
        }
        StmtKind::Switch { cases, .. } => cases.iter_mut().map(|c| &mut c.body).collect(),
        StmtKind::Scope(b) => vec![b],
        _ => vec![],
    }
}
