//! What conditions say of the unknowns.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, Expr, ExprKind, PlaceKind, Scalar, Type, UnaryOp};

use super::{Instance, Terms};
use crate::analysis::conflict::formula::{Branch, Fact};

impl Terms<'_, '_> {
    /// What a condition says. Parts that are not understood say nothing.
    pub fn condition(&mut self, cond: &Expr, negated: bool, at: &Instance) -> Branch {
        match &*cond.kind {
            ExprKind::Const(v) => match (v.as_i64() != 0) == negated {
                true => Branch::fact(Fact::never()),
                false => Branch::default(),
            },
            ExprKind::Unary(UnaryOp::Not, a) => self.condition(a, !negated, at),
            ExprKind::Cast(a) if a.ty == Type::BOOL => self.condition(a, negated, at),
            ExprKind::Cast(a) if a.ty.is_integer() && cond.ty == Type::BOOL => {
                let value = self.value(a, at);
                relation(BinaryOp::Ne, negated, &value, &Poly::zero())
            }
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                let (x, y) = (self.condition(a, negated, at), self.condition(b, negated, at));
                match (*op == BinaryOp::LogicalAnd) != negated {
                    true => x.and(y),
                    false if x.is_empty() || y.is_empty() => Branch::default(),
                    false => Branch { facts: vec![], clauses: vec![vec![x, y]] },
                }
            }
            ExprKind::Binary(op, a, b)
                if op.is_comparison() && (self.reads_written(a) || self.reads_written(b)) =>
            {
                self.skip(cond)
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && a.ty.is_integer() => {
                let (x, y) = (self.value(a, at), self.value(b, at));
                let ty = a.ty.scalar().unwrap_or(Scalar::I32);
                let (x, y) = (self.seen(x, ty), self.seen(y, ty));
                relation(*op, negated, &x, &y)
            }
            ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Var(v) if self.scope.definition(*v).is_some()) =>
            {
                let definition = p.root_var().and_then(|v| self.scope.definition(v));
                match definition {
                    Some(d) if self.depth < 12 => {
                        self.depth += 1;
                        let branch = self.condition(d, negated, at);
                        self.depth -= 1;
                        branch
                    }
                    _ => self.skip(cond),
                }
            }
            _ => self.skip(cond),
        }
    }

    /// A condition that says nothing here.
    fn skip(&mut self, cond: &Expr) -> Branch {
        self.skipped |= !self.reads_data(cond);
        Branch::default()
    }
}

fn relation(op: BinaryOp, negated: bool, x: &Poly, y: &Poly) -> Branch {
    use BinaryOp::*;
    match (op, negated) {
        (Lt, false) | (Ge, true) => Branch::fact(Fact::less(x, y)),
        (Le, false) | (Gt, true) => Branch::fact(Fact::at_least(y, x)),
        (Gt, false) | (Le, true) => Branch::fact(Fact::less(y, x)),
        (Ge, false) | (Lt, true) => Branch::fact(Fact::at_least(x, y)),
        (Eq, false) | (Ne, true) => Branch::fact(Fact::equal(x, y)),
        _ => {
            let alternatives = [Fact::less(x, y), Fact::less(y, x)].map(Branch::fact);
            Branch { facts: vec![], clauses: vec![alternatives.to_vec()] }
        }
    }
}
