//! A walk over all expressions of a piece of syntax.

use crate::ast::{self, ExprKind, Initializer, StmtKind};

/// Calls `see` for every expression in a block, nested ones included; bodies of lambdas too.
pub fn block(block: &ast::Block, see: &mut dyn FnMut(&ast::Expr)) {
    block.stmts.iter().for_each(|s| stmt(s, see));
}

/// As [`block`], of one statement.
pub fn stmt(s: &ast::Stmt, see: &mut dyn FnMut(&ast::Expr)) {
    match &s.kind {
        StmtKind::Expr(e) | StmtKind::Case(e) => expr(e, see),
        StmtKind::Vars(vars) => var_decl(vars, see),
        StmtKind::Block(b) => block(b, see),
        StmtKind::If { init, cond, then, otherwise, .. } => {
            init.iter().for_each(|s| stmt(s, see));
            expr(cond, see);
            stmt(then, see);
            otherwise.iter().for_each(|s| stmt(s, see));
        }
        StmtKind::For { init, cond, step, body } => {
            init.iter().for_each(|s| stmt(s, see));
            cond.iter().chain(step).for_each(|e| expr(e, see));
            stmt(body, see);
        }
        StmtKind::RangeFor { decl, range, body } => {
            var_decl(decl, see);
            expr(range, see);
            stmt(body, see);
        }
        StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
            expr(cond, see);
            stmt(body, see);
        }
        StmtKind::Switch { selector, body } => {
            expr(selector, see);
            stmt(body, see);
        }
        StmtKind::Return(Some(value)) => initializer(value, see),
        StmtKind::Asm { operands, .. } => {
            for o in operands {
                expr(&o.expr, see);
                if o.constraint.starts_with(['=', '+']) {
                    see(&written(&o.expr));
                }
            }
        }
        _ => {}
    }
}

/// An output of inline assembly, as the assignment it is.
fn written(target: &ast::Expr) -> ast::Expr {
    let (op, span) = ("=".to_string(), target.span);
    let kind = ExprKind::Assign { op, target: target.clone(), value: target.clone() };
    ast::Expr { kind: Box::new(kind), span }
}

fn var_decl(vars: &ast::VarDecl, see: &mut dyn FnMut(&ast::Expr)) {
    for d in &vars.declarators {
        d.init.iter().for_each(|i| initializer(i, see));
    }
}

/// As [`block`], of an initialiser.
pub fn initializer(init: &Initializer, see: &mut dyn FnMut(&ast::Expr)) {
    match init {
        Initializer::Expr(e) => expr(e, see),
        Initializer::List(items, _) => items.iter().for_each(|i| initializer(&i.value, see)),
        Initializer::Call(args, _) => args.iter().for_each(|a| expr(a, see)),
    }
}

/// Calls `see` for an expression and then for those inside of it.
pub fn expr(e: &ast::Expr, see: &mut dyn FnMut(&ast::Expr)) {
    see(e);
    match &*e.kind {
        ExprKind::Paren(a)
        | ExprKind::Unary { operand: a, .. }
        | ExprKind::IncDec { operand: a, .. }
        | ExprKind::Cast { operand: a, .. }
        | ExprKind::SizeofExpr(a)
        | ExprKind::PackLength(a)
        | ExprKind::PackExpansion(a)
        | ExprKind::Member { base: a, .. } => expr(a, see),
        ExprKind::Requires(asked) => {
            asked.valid.iter().chain(&asked.holds).for_each(|e| expr(e, see));
        }
        ExprKind::Fold { operand, init, .. } => {
            expr(operand, see);
            init.iter().for_each(|e| expr(e, see));
        }
        ExprKind::Binary { left, right, .. }
        | ExprKind::Otherwise { value: left, otherwise: right }
        | ExprKind::Comma(left, right) => {
            expr(left, see);
            expr(right, see);
        }
        ExprKind::Assign { target, value, .. } => {
            expr(target, see);
            expr(value, see);
        }
        ExprKind::AssignList { target, items } => {
            expr(target, see);
            items.iter().for_each(|i| initializer(&i.value, see));
        }
        ExprKind::Conditional { cond, then, otherwise } => {
            expr(cond, see);
            expr(then, see);
            expr(otherwise, see);
        }
        ExprKind::Call { callee, args } => {
            expr(callee, see);
            args.iter().for_each(|a| expr(a, see));
        }
        ExprKind::Launch { callee, config, args } => {
            expr(callee, see);
            config.iter().chain(args).for_each(|a| expr(a, see));
        }
        ExprKind::Index { base, index } => {
            expr(base, see);
            expr(index, see);
        }
        ExprKind::Construct { args, .. } => args.iter().for_each(|a| initializer(a, see)),
        ExprKind::CompoundLiteral { items, .. } | ExprKind::InitList(items) => {
            items.iter().for_each(|i| initializer(&i.value, see));
        }
        ExprKind::Lambda(l) => {
            l.made.iter().for_each(|made| expr(&made.value, see));
            block(&l.body, see);
        }
        ExprKind::New(new) => {
            new.place.iter().chain(&new.count).chain(&new.args).for_each(|a| expr(a, see));
        }
        ExprKind::Delete { pointer: a, .. } => expr(a, see),
        _ => {}
    }
}
