//! Walkers over statements, expressions and places.
//!
//! [`Visitor`] reads, [`Rewriter`] edits in place. Each method has a default that walks on; override
//! the ones of interest and call the matching `walk_…` function to go deeper. The free functions below
//! cover the common cases with closures, and answer what a block reads and writes.

mod edit;
mod effects;
mod fixed;

pub use edit::{
    map_exprs, map_stmts, map_subexprs, rename_loops, rename_vars, rename_vars_in_expr,
    renew_loops, substitute_var, substitute_var_in_expr,
};
pub use effects::{Effects, effects, expr_effects, free_vars, stmt_effects, vars_of_expr};
pub use fixed::{is_fixed, is_fixed_beside};

use crate::collective::Collective;
use crate::expr::{Expr, ExprKind, Place, PlaceKind};
use crate::module::VarId;
use crate::stmt::{Block, LoopCondition, LoopId, LoopKind, Stmt, StmtKind};

/// What is done with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its value is used.
    Read,
    /// Its value is replaced.
    Write,
    /// Its address is taken.
    Address,
}

/// A read-only walk in program order. Operands come before the operation that uses them only where
/// the overriding method arranges it; the defaults go from the outside in.
pub trait Visitor {
    /// Called for each block, before its statements.
    fn block(&mut self, block: &Block) {
        walk_block(self, block);
    }

    /// Called for each statement, before its parts.
    fn stmt(&mut self, stmt: &Stmt) {
        walk_stmt(self, stmt);
    }

    /// Called for each expression, before its operands.
    fn expr(&mut self, expr: &Expr) {
        walk_expr(self, expr);
    }

    /// `access` is that of the whole place; a place inside another has the access of the outer one.
    fn place(&mut self, place: &Place, access: Access) {
        walk_place(self, place, access);
    }

    /// A variable that a statement sets without a place: declarations, counters, results.
    fn sets(&mut self, _var: VarId) {}
}

/// Visits the statements of a block.
pub fn walk_block<V: Visitor + ?Sized>(v: &mut V, block: &Block) {
    for stmt in &block.stmts {
        v.stmt(stmt);
    }
}

/// Visits the expressions, places and blocks of a statement, in program order.
pub fn walk_stmt<V: Visitor + ?Sized>(v: &mut V, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Decl { var, init } => {
            visit_all(v, init);
            v.sets(*var);
        }
        StmtKind::Assign { place, value } => {
            v.place(place, Access::Write);
            v.expr(value);
        }
        StmtKind::If { cond, then, otherwise } => {
            v.expr(cond);
            v.block(then);
            v.block(otherwise);
        }
        StmtKind::For(l) => {
            visit_all(v, [&l.first, &l.limit, &l.step]);
            v.sets(l.var);
            v.block(&l.body);
        }
        StmtKind::Loop { condition, body, step, .. } => walk_loop(v, condition, body, step),
        StmtKind::Switch { selector, cases } => {
            v.expr(selector);
            for case in cases {
                v.block(&case.body);
            }
        }
        StmtKind::Return(value) => visit_all(v, value),
        StmtKind::Scope(block) => v.block(block),
        StmtKind::Call { args, result, .. } => {
            visit_all(v, args);
            if let Some(place) = result {
                v.place(place, Access::Write);
            }
        }
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Fence(_)
        | StmtKind::AsyncCommit
        | StmtKind::AsyncWait(_)
        | StmtKind::Trap => {}
        _ => walk_effect(v, stmt),
    }
}

/// The statements that neither direct control nor hold blocks.
fn walk_effect<V: Visitor + ?Sized>(v: &mut V, stmt: &Stmt) {
    let mut set = None;
    match &stmt.kind {
        StmtKind::Atomic { pointer, value, compare, result, .. } => {
            visit_all(v, [pointer, value]);
            visit_all(v, compare);
            set = *result;
        }
        StmtKind::Warp { mask, args, result, .. } => {
            v.expr(mask);
            visit_all(v, args);
            set = *result;
        }
        StmtKind::Barrier { operand, result, .. } => {
            visit_all(v, operand);
            set = *result;
        }
        StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
            visit_all(v, [destination, source, bytes]);
            visit_all(v, zero_fill);
        }
        StmtKind::Printf { args, .. } => visit_all(v, args),
        StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => v.expr(cond),
        StmtKind::CopyToGlobal { destination, source } => {
            v.place(destination, Access::Write);
            v.expr(source);
        }
        StmtKind::Collective(c) => {
            c.written().into_iter().for_each(|p| v.place(p, Access::Write));
            visit_all(v, c.operands());
            c.results().into_iter().for_each(|var| v.sets(var));
        }
        StmtKind::Runtime(call) => {
            call.written().into_iter().for_each(|p| v.place(p, Access::Write));
            visit_all(v, call.operands());
        }
        StmtKind::Launch(l) => {
            visit_all(v, &l.grid);
            visit_all(v, &l.block);
            v.expr(&l.shared);
            visit_all(v, l.cluster.iter().flat_map(|c| c.iter()));
            visit_all(v, &l.args);
        }
        _ => {}
    }
    if let Some(var) = set {
        v.sets(var);
    }
}

fn walk_loop<V: Visitor + ?Sized>(
    v: &mut V,
    condition: &Option<LoopCondition>,
    body: &Block,
    step: &Block,
) {
    let visit_condition = |v: &mut V, at_end: bool| {
        if let Some(c) = condition.as_ref().filter(|c| c.at_end == at_end) {
            v.block(&c.before);
            v.expr(&c.expr);
        }
    };
    visit_condition(v, false);
    v.block(body);
    v.block(step);
    visit_condition(v, true);
}

fn visit_all<'a, V: Visitor + ?Sized>(v: &mut V, exprs: impl IntoIterator<Item = &'a Expr>) {
    for expr in exprs {
        v.expr(expr);
    }
}

/// Visits the operands of an expression.
pub fn walk_expr<V: Visitor + ?Sized>(v: &mut V, expr: &Expr) {
    match &*expr.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(place) => v.place(place, Access::Read),
        ExprKind::AddressOf(place) => v.place(place, Access::Address),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => v.expr(a),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            visit_all(v, [a, b]);
        }
        ExprKind::Select(c, a, b) => visit_all(v, [c, a, b]),
        ExprKind::Call(_, args) | ExprKind::Make(args) => visit_all(v, args),
    }
}

/// Visits the place that this one is a part of, its subscripts and its pointer.
pub fn walk_place<V: Visitor + ?Sized>(v: &mut V, place: &Place, access: Access) {
    match &*place.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(pointer) => v.expr(pointer),
        PlaceKind::Elem { pointer, index, dims } => {
            v.expr(pointer);
            visit_all(v, index);
            visit_all(v, dims);
        }
        PlaceKind::Index(inner, index) => {
            v.place(inner, access);
            v.expr(index);
        }
        PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => v.place(inner, access),
    }
}

/// An editing walk. The defaults visit every node; `var` and `loop_id` see every mention of one.
pub trait Rewriter {
    /// Called for each block.
    fn block(&mut self, block: &mut Block) {
        rewrite_block(self, block);
    }

    /// Called for each statement.
    fn stmt(&mut self, stmt: &mut Stmt) {
        rewrite_stmt(self, stmt);
    }

    /// Called for each expression.
    fn expr(&mut self, expr: &mut Expr) {
        rewrite_expr(self, expr);
    }

    /// Called for each place.
    fn place(&mut self, place: &mut Place) {
        rewrite_place(self, place);
    }

    /// Called for each mention of a variable.
    fn var(&mut self, _var: &mut VarId) {}

    /// Called for each mention of a loop's id.
    fn loop_id(&mut self, _id: &mut LoopId) {}
}

/// Visits the statements of a block.
pub fn rewrite_block<R: Rewriter + ?Sized>(r: &mut R, block: &mut Block) {
    for stmt in &mut block.stmts {
        r.stmt(stmt);
    }
}

/// Visits the variables, loop ids, expressions, places and blocks of a statement.
pub fn rewrite_stmt<R: Rewriter + ?Sized>(r: &mut R, stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Decl { var, init } => {
            rewrite_all(r, init);
            r.var(var);
        }
        StmtKind::Assign { place, value } => {
            r.place(place);
            r.expr(value);
        }
        StmtKind::If { cond, then, otherwise } => {
            r.expr(cond);
            r.block(then);
            r.block(otherwise);
        }
        StmtKind::For(l) => {
            r.loop_id(&mut l.id);
            r.var(&mut l.var);
            rewrite_all(r, [&mut l.first, &mut l.limit, &mut l.step]);
            rewrite_kind(r, &mut l.kind);
            r.block(&mut l.body);
        }
        StmtKind::Loop { id, condition, body, step } => {
            r.loop_id(id);
            if let Some(c) = condition {
                r.block(&mut c.before);
                r.expr(&mut c.expr);
            }
            r.block(body);
            r.block(step);
        }
        StmtKind::Switch { selector, cases } => {
            r.expr(selector);
            for case in cases {
                r.block(&mut case.body);
            }
        }
        StmtKind::Return(value) => rewrite_all(r, value),
        StmtKind::Scope(block) => r.block(block),
        StmtKind::Call { args, result, .. } => {
            rewrite_all(r, args);
            if let Some(place) = result {
                r.place(place);
            }
        }
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Fence(_)
        | StmtKind::AsyncCommit
        | StmtKind::AsyncWait(_)
        | StmtKind::Trap => {}
        _ => rewrite_effect(r, stmt),
    }
}

fn rewrite_kind<R: Rewriter + ?Sized>(r: &mut R, kind: &mut LoopKind) {
    let LoopKind::Parallel(p) = kind else {
        return;
    };
    p.group.iter_mut().for_each(|id| r.loop_id(id));
    p.reductions.iter_mut().for_each(|reduction| r.var(&mut reduction.var));
    for list in [&mut p.private, &mut p.first_private, &mut p.last_private, &mut p.apart] {
        list.iter_mut().for_each(|var| r.var(var));
    }
}

fn rewrite_effect<R: Rewriter + ?Sized>(r: &mut R, stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Atomic { pointer, value, compare, result, .. } => {
            rewrite_all(r, [pointer, value]);
            rewrite_all(r, compare);
            result.iter_mut().for_each(|var| r.var(var));
        }
        StmtKind::Warp { mask, args, result, .. } => {
            r.expr(mask);
            rewrite_all(r, args);
            result.iter_mut().for_each(|var| r.var(var));
        }
        StmtKind::Barrier { operand, result, .. } => {
            rewrite_all(r, operand);
            result.iter_mut().for_each(|var| r.var(var));
        }
        StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
            rewrite_all(r, [destination, source, bytes]);
            rewrite_all(r, zero_fill);
        }
        StmtKind::Printf { args, .. } => rewrite_all(r, args),
        StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => r.expr(cond),
        StmtKind::CopyToGlobal { destination, source } => {
            r.place(destination);
            r.expr(source);
        }
        StmtKind::Collective(c) => {
            match c {
                Collective::Fill(fill) => {
                    fill.counters.iter_mut().for_each(|(var, _)| r.var(var));
                    r.place(&mut fill.destination);
                }
                Collective::Combine(c) => {
                    let others = [&mut c.at, &mut c.before, &mut c.slope];
                    r.var(&mut c.value);
                    others.into_iter().flatten().for_each(|var| r.var(var));
                }
            }
            rewrite_all(r, c.operands_mut());
        }
        StmtKind::Runtime(call) => {
            if let Some(place) = call.written_mut() {
                r.place(place);
            }
            rewrite_all(r, call.operands_mut());
        }
        StmtKind::Launch(l) => {
            rewrite_all(r, &mut l.grid);
            rewrite_all(r, &mut l.block);
            r.expr(&mut l.shared);
            rewrite_all(r, l.cluster.iter_mut().flat_map(|c| c.iter_mut()));
            rewrite_all(r, &mut l.args);
        }
        _ => {}
    }
}

fn rewrite_all<'a, R: Rewriter + ?Sized>(r: &mut R, exprs: impl IntoIterator<Item = &'a mut Expr>) {
    for expr in exprs {
        r.expr(expr);
    }
}

/// Visits the operands of an expression.
pub fn rewrite_expr<R: Rewriter + ?Sized>(r: &mut R, expr: &mut Expr) {
    match &mut *expr.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(place) | ExprKind::AddressOf(place) => r.place(place),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => r.expr(a),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            rewrite_all(r, [a, b]);
        }
        ExprKind::Select(c, a, b) => rewrite_all(r, [c, a, b]),
        ExprKind::Call(_, args) | ExprKind::Make(args) => rewrite_all(r, args),
    }
}

/// Visits the variable, or the place that this one is a part of, its subscripts and its pointer.
pub fn rewrite_place<R: Rewriter + ?Sized>(r: &mut R, place: &mut Place) {
    match &mut *place.kind {
        PlaceKind::Var(var) => r.var(var),
        PlaceKind::Global(_) => {}
        PlaceKind::Deref(pointer) => r.expr(pointer),
        PlaceKind::Elem { pointer, index, dims } => {
            r.expr(pointer);
            rewrite_all(r, index);
            rewrite_all(r, dims);
        }
        PlaceKind::Index(inner, index) => {
            r.place(inner);
            r.expr(index);
        }
        PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => r.place(inner),
    }
}

struct EachStmt<'a>(&'a mut dyn FnMut(&Stmt));

impl Visitor for EachStmt<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        (self.0)(stmt);
        walk_stmt(self, stmt);
    }
    fn expr(&mut self, _: &Expr) {}
    fn place(&mut self, _: &Place, _: Access) {}
}

/// Calls `f` for every statement of a block, nested ones included, outer before inner.
pub fn for_each_stmt(block: &Block, f: &mut dyn FnMut(&Stmt)) {
    EachStmt(f).block(block);
}

/// Calls `f` for a statement and every one inside it, outer before inner.
pub fn for_each_stmt_of(stmt: &Stmt, f: &mut dyn FnMut(&Stmt)) {
    EachStmt(f).stmt(stmt);
}

struct EachExpr<'a>(&'a mut dyn FnMut(&Expr));

impl Visitor for EachExpr<'_> {
    fn expr(&mut self, expr: &Expr) {
        (self.0)(expr);
        walk_expr(self, expr);
    }
}

/// Calls `f` for every expression of a block, subexpressions and operands of places included, outer before inner.
pub fn for_each_expr(block: &Block, f: &mut dyn FnMut(&Expr)) {
    EachExpr(f).block(block);
}

/// Calls `f` for an expression and every one inside it, outer before inner.
pub fn for_each_subexpr(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    EachExpr(f).expr(expr);
}

struct EachPlace<'a>(&'a mut dyn FnMut(&Place, Access));

impl Visitor for EachPlace<'_> {
    fn place(&mut self, place: &Place, access: Access) {
        (self.0)(place, access);
        // Inner places are parts of this one; their operands are not.
        let mut at = place;
        loop {
            match &*at.kind {
                PlaceKind::Index(inner, index) => {
                    self.expr(index);
                    at = inner;
                }
                PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => at = inner,
                _ => break,
            }
        }
        walk_place(self, at, access);
    }
}

/// Calls `f` for every access of a block: each outermost place once, `a[i].x` but not also `a[i]` and `a`.
pub fn for_each_place(block: &Block, f: &mut dyn FnMut(&Place, Access)) {
    EachPlace(f).block(block);
}

/// As [`for_each_place`], for the accesses of one expression.
pub fn for_each_place_in_expr(expr: &Expr, f: &mut dyn FnMut(&Place, Access)) {
    EachPlace(f).expr(expr);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::expr::BinaryOp;
    use crate::module::Function;
    use crate::span::Origin;
    use crate::types::{Scalar, Space, Type};

    const A: VarId = VarId(0);
    const I: VarId = VarId(1);
    const S: VarId = VarId(2);

    fn elem(index: Expr) -> Place {
        let pointer = Expr::var(A, Type::pointer(Type::F32, Space::Global));
        let kind = PlaceKind::Elem { pointer, index: vec![index], dims: vec![] };
        Place::new(kind, Type::F32, Origin::default())
    }

    /// `s = a[i]; a[i] = s`
    fn block() -> Block {
        let i = Expr::var(I, Type::I32);
        let s = Place::var(S, Type::F32);
        let load = StmtKind::Assign { place: s.clone(), value: Expr::read(elem(i.clone())) };
        let store = StmtKind::Assign { place: elem(i), value: Expr::read(s) };
        let origin = Origin::default();
        Block::new(vec![Stmt::new(load, origin.clone()), Stmt::new(store, origin)])
    }

    #[test]
    fn effects_tell_reads_from_writes() {
        let e = effects(&block());
        assert_eq!(e.reads, BTreeSet::from([A, I, S]));
        assert_eq!(e.writes, BTreeSet::from([S]));
        assert!(e.reads_memory && e.writes_memory && !e.calls && !e.synchronizes);
        assert_eq!(free_vars(&block()), BTreeSet::from([A, I, S]));
        let load = &block().stmts[0];
        assert!(!stmt_effects(load).writes_memory);
    }

    #[test]
    fn substitution_reaches_indices_and_reports_writes() {
        let mut b = block();
        let sum = Expr::binary(BinaryOp::Add, Expr::var(I, Type::I32), Expr::i32(1));
        assert!(substitute_var(&mut b, I, &sum));
        let mut adds = 0;
        for_each_expr(&b, &mut |e| adds += u32::from(matches!(&*e.kind, ExprKind::Binary(..))));
        assert_eq!(adds, 2);
        assert!(!substitute_var(
            &mut block(),
            S,
            &Expr::constant(crate::Value::float(Scalar::F32, 0.0))
        ));
        let mut b = block();
        let other = Expr::read(elem(Expr::i32(7)));
        assert!(substitute_var(&mut b, S, &other));
        assert!(!effects(&b).reads.contains(&S) && !effects(&b).writes.contains(&S));
    }

    #[test]
    fn parts_of_a_substituted_vector_become_members() {
        let v = Place::var(S, Type::Vector(Scalar::F32, 4));
        let x = Place::new(PlaceKind::Component(v, 2), Type::F32, Origin::default());
        let mut read = Expr::read(x);
        let parts = (0..4).map(|i| Expr::int(Scalar::F32, i)).collect();
        let value =
            Expr::new(ExprKind::Make(parts), Type::Vector(Scalar::F32, 4), Origin::default());
        assert!(substitute_var_in_expr(&mut read, S, &value));
        assert!(matches!(&*read.kind, ExprKind::Member(_, 2)));
    }

    #[test]
    fn places_are_seen_once() {
        let mut seen = vec![];
        for_each_place(&block(), &mut |p, access| seen.push((p.root_var(), access)));
        let memory = (None, Access::Write);
        assert_eq!(seen.iter().filter(|x| **x == memory).count(), 1);
        assert_eq!(seen.iter().filter(|x| **x == (Some(S), Access::Write)).count(), 1);
    }

    #[test]
    fn renaming_and_new_loop_ids() {
        let mut b = block();
        rename_vars(&mut b, &mut |v| if v == S { VarId(9) } else { v });
        assert!(effects(&b).writes.contains(&VarId(9)));
        let mut f = Function::new("f", crate::FunctionKind::Device);
        let id = f.fresh_loop();
        let kind = StmtKind::Loop { id, condition: None, body: b, step: Block::default() };
        let mut outer = Block::new(vec![Stmt::new(kind, Origin::default())]);
        assert_eq!(renew_loops(&mut f, &mut outer), vec![(id, LoopId(1))]);
        assert!(matches!(outer.stmts[0].kind, StmtKind::Loop { id: LoopId(1), .. }));
    }
}
