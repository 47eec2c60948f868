//! A thread's own part of a sum: it begins at the identity before the loop, and joins the sum after it.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Block, Expr, ExprKind, LoopId, Origin, Place, PlaceKind, ReduceOp, Scalar, Stmt, StmtKind,
    Type, Value, Var, VarId, VarKind, visit,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::loops::written_bases;
use crate::analysis::{axes, extremes};
use crate::build::operators;
use crate::kernel::{Kernel, Sum};
use crate::names::fresh_name;
use crate::walk;

/// The variables that hold a thread's part of a sum: the sum itself where it begins at the identity, else new ones, which
/// are added to it after the loop.
pub(in crate::rewrite) fn own_part(kernel: &mut Kernel, region: LoopId, sum: Sum) -> Sum {
    let ty = kernel.func().var(sum.var).ty.clone();
    let Some(scalar) = ty.scalar() else { return sum };
    if begins_at_identity(kernel, region, sum) {
        return sum;
    }
    let var = part_of(kernel, sum.var);
    let at = sum.at.map(|at| part_of(kernel, at));
    let part = Sum { var, at, ..sum };
    let identity = Expr::constant(operators::identity(sum.op, scalar));
    let position = sum.at.map(|at| kernel.func().var(at).ty.clone());
    let function = kernel.func_mut();
    walk::with_block_of(&mut function.body, region, &mut |block, at| match &position {
        Some(of) => keep_after(block, at, (sum, part), (&ty, of), identity.clone()),
        None => add_after(block, at, (sum.var, var), (sum.op, &ty), identity.clone()),
    });
    part
}

fn part_of(kernel: &mut Kernel, sum: VarId) -> VarId {
    let function = kernel.func_mut();
    let known = function.var(sum).clone();
    let name = fresh_name(function, &format!("{}_part", known.name));
    let mut var = Var::new(name, known.ty, VarKind::Local);
    var.origin = known.origin.by("share");
    function.add_var(var)
}

/// Whether the last statement about a sum before the loop gives it the value that changes nothing, and the last about its
/// place one that all threads know.
pub(super) fn begins_at_identity(kernel: &Kernel, region: LoopId, sum: Sum) -> bool {
    let Some(scalar) = kernel.func().var(sum.var).ty.scalar() else { return false };
    first_value(kernel, region, sum.var).is_some_and(|v| v == operators::identity(sum.op, scalar))
        && sum.at.is_none_or(|at| first_value(kernel, region, at).is_some())
}

/// The constant that the last statement about a variable before a loop gives it.
fn first_value(kernel: &Kernel, region: LoopId, var: VarId) -> Option<Value> {
    let mut begin = None;
    let mut body = kernel.func().body.clone();
    walk::with_block_of(&mut body, region, &mut |block, at| {
        let about = |s: &Stmt| walk::times_mentioned(&Block::new(vec![s.clone()]), var) > 0;
        begin = match block.stmts[..at].iter().rfind(|s| about(s)).map(|s| &s.kind) {
            Some(StmtKind::Decl { var: declared, init: Some(e) }) if *declared == var => {
                e.as_const()
            }
            Some(StmtKind::Assign { place, value }) if *place.kind == PlaceKind::Var(var) => {
                value.as_const()
            }
            _ => None,
        };
    });
    begin
}

/// Puts new variables in place of a least or greatest value and of its place in the loop at `at`; afterwards these are
/// taken over where they are better, as the source does: a NaN that the loop begins with stays.
fn keep_after(
    block: &mut Block,
    at: usize,
    (sum, part): (Sum, Sum),
    (ty, of): (&Type, &Type),
    identity: Expr,
) {
    let (Some(place), Some(own)) = (sum.at, part.at) else { return };
    let origin = block.stmts[at].origin.by("share");
    let stmt = |kind| Stmt::new(kind, origin.clone());
    let mut looped = Block::new(vec![block.stmts.remove(at)]);
    visit::rename_vars(&mut looped, &mut |v| match v {
        v if v == sum.var => part.var,
        v if v == place => own,
        v => v,
    });
    let take = |var: VarId, from: VarId, ty: &Type| {
        let place = Place::var(var, ty.clone());
        stmt(StmtKind::Assign { place, value: Expr::var(from, ty.clone()) })
    };
    let better = Expr::binary(
        operators::better(sum.op),
        Expr::var(part.var, ty.clone()),
        Expr::var(sum.var, ty.clone()),
    );
    let then = Block::new(vec![take(sum.var, part.var, ty), take(place, own, of)]);
    let zero = Expr::i32(0).cast(of.clone());
    let mut stmts = vec![
        stmt(StmtKind::Decl { var: part.var, init: Some(identity) }),
        stmt(StmtKind::Decl { var: own, init: Some(zero) }),
    ];
    stmts.extend(looped.stmts);
    stmts.push(stmt(StmtKind::If { cond: better, then, otherwise: Block::default() }));
    block.stmts.splice(at..at, stmts);
}

/// Puts the new variable in place of the sum in the loop at `at`, and adds it to the sum afterwards.
fn add_after(
    block: &mut Block,
    mut at: usize,
    (sum, part): (VarId, VarId),
    (op, ty): (ReduceOp, &Type),
    identity: Expr,
) {
    let Some(scalar) = ty.scalar() else { return };
    let origin = block.stmts[at].origin.by("share");
    let mut own = Block::new(vec![block.stmts.remove(at)]);
    visit::rename_vars(&mut own, &mut |v| if v == sum { part } else { v });
    block.stmts.splice(at..at, own.stmts);
    let place = Place::var(sum, ty.clone());
    let chosen = extremes::is_chosen(&Block::new(vec![block.stmts[at].clone()]), part);
    let combined = |a: Expr, b: Expr| joined(op, (scalar, chosen), a, b);
    // A value that only the addition needs is read when it is due.
    let start = block.stmts[..at]
        .iter()
        .rposition(|s| matches!(&s.kind, StmtKind::Decl { var, init: Some(_) } if *var == sum));
    let late =
        start.filter(|k| !chosen && may_move(&block.stmts[*k], &block.stmts[k + 1..=at], sum));
    let after = match late {
        Some(k) => {
            let mut stmt = block.stmts.remove(k);
            at -= 1;
            stmt.comment.clear();
            if let StmtKind::Decl { init: Some(init), .. } = &mut stmt.kind {
                let value = Expr::var(part, ty.clone());
                *init = combined(init.clone(), value);
            }
            stmt
        }
        None => {
            let value = Expr::var(part, ty.clone());
            let value = combined(Expr::read(place.clone()), value);
            Stmt::new(StmtKind::Assign { place, value }, origin.clone())
        }
    };
    block.stmts.insert(at + 1, after);
    let declare = StmtKind::Decl { var: part, init: Some(identity) };
    block.stmts.insert(at, Stmt::new(declare, origin));
}

/// `a op b`; where the source has `chosen` one of the two as it does: a NaN that the loop begins with stays.
pub(in crate::rewrite) fn joined(
    op: ReduceOp,
    (scalar, chosen): (Scalar, bool),
    a: Expr,
    b: Expr,
) -> Expr {
    if !chosen {
        return operators::combine(op, scalar, a, b);
    }
    let better = Expr::binary(operators::better(op), b.clone(), a.clone());
    Expr::new(ExprKind::Select(better, b, a), Type::Scalar(scalar), Origin::default())
}

/// A declaration can be made after the statements that follow it.
fn may_move(declaration: &Stmt, over: &[Stmt], var: VarId) -> bool {
    let StmtKind::Decl { init: Some(init), .. } = &declaration.kind else { return false };
    let over = Block::new(over.to_vec());
    let mut free = walk::times_mentioned(&over, var) == 0;
    walk::each_var(init, &mut |v| free &= !walk::writes_var(&over, v));
    let written = written_bases(&over);
    visit::for_each_place_in_expr(init, &mut |p, _| {
        free &= p.root_var().is_some() || !written.contains(&base_of(p));
    });
    free
}

/// Arrays of a nest's body whose contents depend on the order in which reals are added to a sum.
pub(in crate::rewrite) fn reassociated(
    kernel: &Kernel,
    body: &Block,
    sum: &Sum,
) -> BTreeSet<VarId> {
    let real = kernel.func().var(sum.var).ty.scalar().is_some_and(|s| s.is_float());
    match real && matches!(sum.op, ReduceOp::Add | ReduceOp::Mul) {
        true => depending(body, sum.var),
        false => BTreeSet::new(),
    }
}

/// Arrays whose contents depend on a variable.
fn depending(body: &Block, var: VarId) -> BTreeSet<VarId> {
    fn collect(
        block: &Block,
        around: bool,
        depends: &BTreeMap<VarId, u8>,
        found: &mut BTreeSet<VarId>,
    ) {
        for stmt in &block.stmts {
            let o = walk::operands(stmt);
            let mut mentions = around;
            walk::each_var_of_stmt(stmt, &mut |v| mentions |= depends.contains_key(&v));
            if mentions && let Some(Base::Var(v)) = o.writes.map(base_of) {
                found.insert(v);
            }
            walk::blocks(stmt).into_iter().for_each(|b| collect(b, mentions, depends, found));
        }
    }
    let mut depends = BTreeMap::from([(var, 1)]);
    axes::spread(body, &mut depends);
    let mut found = BTreeSet::new();
    collect(body, false, &depends, &mut found);
    found
}
