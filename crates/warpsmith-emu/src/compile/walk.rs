//! Visits every node of a piece of IR.

use warpsmith_ir::{Block, Expr, ExprKind, Place, PlaceKind, Stmt, StmtKind};

/// A node, with what a place is used for.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    /// The flag: it is written.
    Place(&'a Place, bool),
}

/// Calls `f` for all statements, expressions and places below `block`, parents first.
pub fn block<'a>(block_: &'a Block, f: &mut dyn FnMut(Node<'a>)) {
    block_.stmts.iter().for_each(|s| stmt(s, f));
}

/// As [`block`], for one statement.
pub fn stmt<'a>(s: &'a Stmt, f: &mut dyn FnMut(Node<'a>)) {
    f(Node::Stmt(s));
    match &s.kind {
        StmtKind::Decl { init, .. } => init.iter().for_each(|e| expr(e, f)),
        StmtKind::Assign { place: p, value } => {
            place(p, true, f);
            expr(value, f);
        }
        StmtKind::If { cond, then, otherwise } => {
            expr(cond, f);
            block(then, f);
            block(otherwise, f);
        }
        StmtKind::For(l) => {
            [&l.first, &l.limit, &l.step].into_iter().for_each(|e| expr(e, f));
            block(&l.body, f);
        }
        StmtKind::Loop { condition, body, step, .. } => {
            if let Some(c) = condition {
                block(&c.before, f);
                expr(&c.expr, f);
            }
            block(body, f);
            block(step, f);
        }
        StmtKind::Switch { selector, cases } => {
            expr(selector, f);
            cases.iter().for_each(|c| block(&c.body, f));
        }
        StmtKind::Scope(b) => block(b, f),
        StmtKind::Call { args, result, .. } => {
            args.iter().for_each(|e| expr(e, f));
            result.iter().for_each(|p| place(p, true, f));
        }
        _ => leaf_stmt(s, f),
    }
}

/// Statements without blocks or places.
fn leaf_stmt<'a>(s: &'a Stmt, f: &mut dyn FnMut(Node<'a>)) {
    match &s.kind {
        StmtKind::Return(e) => e.iter().for_each(|e| expr(e, f)),
        StmtKind::Atomic { pointer, value, compare, .. } => {
            expr(pointer, f);
            expr(value, f);
            compare.iter().for_each(|e| expr(e, f));
        }
        StmtKind::Warp { mask, args, .. } => {
            expr(mask, f);
            args.iter().for_each(|e| expr(e, f));
        }
        StmtKind::Barrier { operand, .. } => operand.iter().for_each(|e| expr(e, f)),
        StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
            [destination, source, bytes].into_iter().for_each(|e| expr(e, f));
            zero_fill.iter().for_each(|e| expr(e, f));
        }
        StmtKind::Printf { args, .. } => args.iter().for_each(|e| expr(e, f)),
        StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => expr(cond, f),
        StmtKind::Runtime(call) => {
            call.operands().into_iter().for_each(|e| expr(e, f));
            call.written().into_iter().for_each(|p| place(p, true, f));
        }
        StmtKind::Launch(l) => {
            l.grid.iter().chain(&l.block).chain(&l.args).for_each(|e| expr(e, f));
            expr(&l.shared, f);
        }
        _ => {}
    }
}

/// As [`block`], for one expression.
pub fn expr<'a>(e: &'a Expr, f: &mut dyn FnMut(Node<'a>)) {
    f(Node::Expr(e));
    match &*e.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(p) | ExprKind::AddressOf(p) => place(p, false, f),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => expr(a, f),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            expr(a, f);
            expr(b, f);
        }
        ExprKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, f)),
        ExprKind::Call(_, args) | ExprKind::Make(args) => args.iter().for_each(|e| expr(e, f)),
    }
}

/// As [`block`], for one place.
pub fn place<'a>(p: &'a Place, written: bool, f: &mut dyn FnMut(Node<'a>)) {
    f(Node::Place(p, written));
    match &*p.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(e) => expr(e, f),
        PlaceKind::Elem { pointer, index, dims } => {
            expr(pointer, f);
            index.iter().chain(dims).for_each(|e| expr(e, f));
        }
        PlaceKind::Index(p, e) => {
            place(p, written, f);
            expr(e, f);
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => place(p, written, f),
    }
}
