//! Edits that rewrites share: mapping, renaming, substitution.

use super::{Rewriter, for_each_stmt, rewrite_expr, rewrite_place, rewrite_stmt};
use crate::expr::{Expr, ExprKind, Place, PlaceKind};
use crate::module::{Function, VarId};
use crate::stmt::{Block, LoopId, Stmt, StmtKind};

struct MapExpr<'a>(&'a mut dyn FnMut(&mut Expr));

impl Rewriter for MapExpr<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        rewrite_expr(self, expr);
        (self.0)(expr);
    }
}

/// Calls `f` on every expression of a block, inner before outer.
pub fn map_exprs(block: &mut Block, f: &mut dyn FnMut(&mut Expr)) {
    MapExpr(f).block(block);
}

/// Calls `f` on every expression inside an expression and then on itself.
pub fn map_subexprs(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    MapExpr(f).expr(expr);
}

/// Calls `f` on every statement of a block, inner before outer.
pub fn map_stmts(block: &mut Block, f: &mut dyn FnMut(&mut Stmt)) {
    struct Each<'a>(&'a mut dyn FnMut(&mut Stmt));
    impl Rewriter for Each<'_> {
        fn stmt(&mut self, stmt: &mut Stmt) {
            rewrite_stmt(self, stmt);
            (self.0)(stmt);
        }
        fn expr(&mut self, _: &mut Expr) {}
        fn place(&mut self, _: &mut Place) {}
    }
    Each(f).block(block);
}

struct Rename<'a>(&'a mut dyn FnMut(VarId) -> VarId);

impl Rewriter for Rename<'_> {
    fn var(&mut self, var: &mut VarId) {
        *var = (self.0)(*var);
    }
}

/// Replaces every mention of every variable (uses, declarations, counters, results, clauses) by `f` of it.
pub fn rename_vars(block: &mut Block, f: &mut dyn FnMut(VarId) -> VarId) {
    Rename(f).block(block);
}

/// As [`rename_vars`], in an expression.
pub fn rename_vars_in_expr(expr: &mut Expr, f: &mut dyn FnMut(VarId) -> VarId) {
    Rename(f).expr(expr);
}

/// Gives every loop of a copied block a new id; mentions of those loops inside the block (collapse
/// groups) follow. Returns the pairs (old, new).
pub fn renew_loops(function: &mut Function, block: &mut Block) -> Vec<(LoopId, LoopId)> {
    let mut map = vec![];
    for_each_stmt(block, &mut |stmt| {
        if let StmtKind::For(crate::stmt::ForLoop { id, .. }) | StmtKind::Loop { id, .. } =
            &stmt.kind
        {
            map.push((*id, function.fresh_loop()));
        }
    });
    rename_loops(block, &map);
    map
}

/// Gives loops of a block other ids: pairs (old, new). Mentions of those loops (collapse groups) follow.
pub fn rename_loops(block: &mut Block, pairs: &[(LoopId, LoopId)]) {
    struct Renew<'a>(&'a [(LoopId, LoopId)]);
    impl Rewriter for Renew<'_> {
        fn loop_id(&mut self, id: &mut LoopId) {
            if let Some((_, new)) = self.0.iter().find(|(old, _)| old == id) {
                *id = *new;
            }
        }
    }
    Renew(pairs).block(block);
}

/// Puts `value` in place of every read of `var` in a block, parts of it (`v.x`) included.
///
/// When `value` is itself the value of a place, writes and addresses of `var` go to that place too;
/// otherwise they stay. Declarations and results are left alone. Returns whether no use of `var` as a
/// place is left.
pub fn substitute_var(block: &mut Block, var: VarId, value: &Expr) -> bool {
    let mut s = Substitute { var, value, complete: true };
    s.block(block);
    s.complete
}

/// As [`substitute_var`], in an expression.
pub fn substitute_var_in_expr(expr: &mut Expr, var: VarId, value: &Expr) -> bool {
    let mut s = Substitute { var, value, complete: true };
    s.expr(expr);
    s.complete
}

struct Substitute<'a> {
    var: VarId,
    value: &'a Expr,
    complete: bool,
}

impl Substitute<'_> {
    /// The value of a place inside `var`, when it can be said without the place.
    fn value_of(&self, place: &Place) -> Option<Expr> {
        match &*place.kind {
            PlaceKind::Var(var) if *var == self.var => Some(self.value.clone()),
            PlaceKind::Field(inner, field) => self.member(place, inner, *field),
            PlaceKind::Component(inner, n) => self.member(place, inner, (*n).into()),
            _ => None,
        }
    }

    fn member(&self, place: &Place, inner: &Place, n: u32) -> Option<Expr> {
        let whole = self.value_of(inner)?;
        Some(Expr::new(ExprKind::Member(whole, n), place.ty.clone(), place.origin.clone()))
    }
}

impl Rewriter for Substitute<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        let is_place = matches!(&*self.value.kind, ExprKind::Read(_));
        if let ExprKind::Read(place) = &*expr.kind
            && (!is_place || matches!(&*place.kind, PlaceKind::Var(_)))
            && let Some(value) = self.value_of(place)
        {
            *expr = value;
            return;
        }
        rewrite_expr(self, expr);
    }

    fn place(&mut self, place: &mut Place) {
        if !matches!(&*place.kind, PlaceKind::Var(var) if *var == self.var) {
            rewrite_place(self, place);
            return;
        }
        match &*self.value.kind {
            ExprKind::Read(other) => *place = other.clone(),
            _ => self.complete = false,
        }
    }
}
