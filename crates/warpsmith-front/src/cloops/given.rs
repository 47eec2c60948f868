//! What was asked whether a pointer is null: the answer is known, and what another answer would lead to is left out.

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, Function, Stmt, StmtKind, UnaryOp, Value};

/// Takes conditions that are constants out of a function.
pub fn decide(function: &mut Function) {
    Decide.block(&mut function.body);
}

struct Decide;

impl Rewriter for Decide {
    fn block(&mut self, block: &mut Block) {
        visit::rewrite_block(self, block);
        let stmts = std::mem::take(&mut block.stmts);
        block.stmts = stmts.into_iter().filter_map(decided).collect();
    }

    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        if let Some(value) = simpler(e) {
            *e = value;
        }
    }
}

/// The statement without a condition that is a constant; `None` where nothing is left.
fn decided(stmt: Stmt) -> Option<Stmt> {
    let StmtKind::If { cond, then, otherwise } = &stmt.kind else { return Some(stmt) };
    let Some(held) = truth(cond) else { return Some(stmt) };
    let taken = if held { then } else { otherwise };
    let left = (!taken.stmts.is_empty()).then(|| taken.clone());
    left.map(|block| Stmt { kind: StmtKind::Scope(block), ..stmt })
}

fn truth(e: &Expr) -> Option<bool> {
    e.as_const().filter(|_| e.ty == warpsmith_ir::Type::BOOL).map(Value::is_true)
}

fn simpler(e: &Expr) -> Option<Expr> {
    match &*e.kind {
        ExprKind::Unary(UnaryOp::Not, a) => {
            let value = Value::bool(!truth(a)?);
            Some(Expr::constant(value).with_origin(e.origin.clone()))
        }
        ExprKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), a, b) => {
            let decides = *op == BinaryOp::LogicalOr;
            match (truth(a), truth(b)) {
                // What stands before is evaluated, and has no effect.
                (Some(t), _) => Some(if t == decides { a.clone() } else { b.clone() }),
                (_, Some(t)) => Some(if t == decides { b.clone() } else { a.clone() }),
                _ => None,
            }
        }
        ExprKind::Select(c, a, b) => Some(if truth(c)? { a.clone() } else { b.clone() }),
        _ => None,
    }
}
