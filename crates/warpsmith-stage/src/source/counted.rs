//! Loops that count: where their counters begin, how far they go, and by how much; and variables that keep their value.

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;

use super::scope;

/// The counter, where it begins, and whether it is declared there.
pub fn begin(init: &ast::Stmt) -> Option<(&str, &ast::Expr, bool)> {
    match &init.kind {
        StmtKind::Vars(vars) => match vars.declarators.as_slice() {
            [d] => match &d.init {
                Some(Initializer::Expr(e)) => Some((&d.name, e, true)),
                _ => None,
            },
            _ => None,
        },
        StmtKind::Expr(e) => match &*e.kind {
            ExprKind::Assign { op, target, value } if op == "=" => {
                Some((name(target)?, value, false))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What a counter stays below, and whether it may reach it.
pub fn bound<'a>(cond: &'a ast::Expr, counter: &str) -> Option<(&'a ast::Expr, bool)> {
    let ExprKind::Binary { op, left, right } = &*scope::plain(cond).kind else { return None };
    match op.as_str() {
        "<" | "<=" if name(left) == Some(counter) => Some((right, op == "<=")),
        ">" | ">=" if name(right) == Some(counter) => Some((left, op == ">=")),
        _ => None,
    }
}

/// `k++`, `++k`, `k += 1`.
pub fn is_increment(e: &ast::Expr, counter: &str) -> bool {
    match &*e.kind {
        ExprKind::IncDec { op, operand, .. } => op == "++" && name(operand) == Some(counter),
        ExprKind::Assign { op, target, value } => {
            let one = matches!(&*scope::plain(value).kind, ExprKind::Number(n) if n == "1");
            op == "+=" && name(target) == Some(counter) && one
        }
        _ => false,
    }
}

/// The name that an expression is.
pub fn name(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ExprKind::Path(path) => path.as_name(),
        ExprKind::Paren(e) => name(e),
        _ => None,
    }
}

/// The variable whose element or member is meant.
pub fn root(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ExprKind::Path(path) => path.as_name(),
        ExprKind::Paren(e) => root(e),
        ExprKind::Index { base, .. } | ExprKind::Member { base, .. } => root(base),
        _ => None,
    }
}

/// What an expression changes, or makes a pointer to.
pub fn changed(e: &ast::Expr) -> Option<&ast::Expr> {
    match &*e.kind {
        ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => Some(target),
        ExprKind::IncDec { operand, .. } => Some(operand),
        ExprKind::Unary { op, operand } if op == "&" => Some(operand),
        _ => None,
    }
}

/// Whether an expression changes a variable, an element or a member of it, or makes a pointer to one.
pub fn changes(e: &ast::Expr, name: &str) -> bool {
    changed(e).and_then(root) == Some(name)
}

/// What a variable is that a body declares once and never changes, where that changes nothing itself.
pub fn kept(body: &ast::Block, name: &str) -> Option<ast::Expr> {
    let mut declared = scope::declared(body);
    let [Some(value)] = declared.get_mut(name)?.as_mut_slice() else { return None };
    let mut is_changed = false;
    walk::block(body, &mut |e| is_changed |= changes(e, name));
    walk::expr(value, &mut |e| is_changed |= changed(e).is_some());
    (!is_changed).then(|| value.clone())
}
