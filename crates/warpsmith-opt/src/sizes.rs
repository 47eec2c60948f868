//! Numbers that follow from a function's sizes: its by-value parameters that nothing assigns, and variables that it makes of them
//! once, as in `int n = w * h;`.

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, Function, PlaceKind, Stmt, StmtKind, VarId};

use crate::walk;

/// Whether an expression is over such numbers only.
pub fn follows(function: &Function, e: &Expr) -> bool {
    let mut known = !walk::reads_memory(e);
    walk::each_var(e, &mut |v| {
        known &= is_size(function, v) || definition(function, v).is_some();
    });
    known
}

/// The expression over by-value parameters alone.
pub fn over_parameters(function: &Function, e: &Expr) -> Expr {
    struct Expand<'a>(&'a Function);
    impl Rewriter for Expand<'_> {
        fn expr(&mut self, e: &mut Expr) {
            while let ExprKind::Read(place) = &*e.kind
                && let PlaceKind::Var(v) = *place.kind
                && let Some(value) = definition(self.0, v)
            {
                *e = value.clone();
            }
            visit::rewrite_expr(self, e);
        }
    }
    let mut e = e.clone();
    Rewriter::expr(&mut Expand(function), &mut e);
    e
}

fn is_size(function: &Function, v: VarId) -> bool {
    let by_value = function.params.contains(&v) && function.var(v).ty.scalar().is_some();
    by_value && !walk::writes_var(&function.body, v)
}

/// What an integer is made of that the function declares once before anything else can end it, and never changes. What is computed
/// earlier than the function says cannot go wrong: nothing is divided.
fn definition(function: &Function, v: VarId) -> Option<&Expr> {
    if function.params.contains(&v) || !function.var(v).ty.is_integer() {
        return None;
    }
    let ends = |s: &Stmt| walk::blocks(s).into_iter().any(|b| walk::returns(b).is_some());
    let before = function.body.stmts.iter().take_while(|s| !ends(s));
    let mut declared = before.filter_map(|s| match &s.kind {
        StmtKind::Decl { var, init: Some(e) } if *var == v => Some(e),
        _ => None,
    });
    let value = declared.next()?;
    let once = walk::times_set(&function.body, v) == 1;
    (once && !divides(value) && follows(function, value)).then_some(value)
}

fn divides(e: &Expr) -> bool {
    let mut found = false;
    walk::each_expr(e, &mut |e| {
        found |= match &*e.kind {
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => {
                b.as_const().is_none_or(|v| v.as_i64() <= 0)
            }
            ExprKind::Call(..) => true,
            _ => false,
        };
    });
    found
}
