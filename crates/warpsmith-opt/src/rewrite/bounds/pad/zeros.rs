//! Iterations past the end of a serial loop that only add zeros.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Place, PlaceKind, Stmt, StmtKind, UnaryOp,
    VarId,
};

use super::{Round, lies_behind};
use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::kernel::Kernel;
use crate::walk;

/// Iterations of the strip's loop past its end add products of zeros to sums that begin with a number.
pub(super) fn adds_zeros(
    kernel: &Kernel,
    root: &ForLoop,
    body: &Block,
    l: &ForLoop,
    round: &Round,
) -> bool {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root.id), root);
    let accesses = scope.accesses();
    let mut zeros = Zeros { kernel, accesses: &accesses, round, variables: BTreeSet::new() };
    let Some(block) = block_of(body, l.id) else { return false };
    let at = block.stmts.iter().position(|s| matches!(&s.kind, StmtKind::For(x) if x.id == l.id));
    let mut sums = vec![];
    zeros.block(&l.body, &mut sums)
        && sums.iter().all(|place| begins_with_number(&block.stmts[..at.unwrap_or(0)], place))
}

/// The block of which the loop is a statement.
fn block_of(block: &Block, id: LoopId) -> Option<&Block> {
    if block.stmts.iter().any(|s| matches!(&s.kind, StmtKind::For(l) if l.id == id)) {
        return Some(block);
    }
    block.stmts.iter().flat_map(walk::blocks).find_map(|b| block_of(b, id))
}

/// The last statement that sets the place gives it an integer, or a real other than minus zero.
fn begins_with_number(before: &[Stmt], place: &Place) -> bool {
    if place.ty.is_integer() {
        return true;
    }
    for stmt in before.iter().rev() {
        let value = match &stmt.kind {
            StmtKind::Assign { place: p, value } if p == place => Some(value),
            StmtKind::Decl { var, init } if *place.kind == PlaceKind::Var(*var) => init.as_ref(),
            StmtKind::Decl { .. } => continue,
            _ => return false,
        };
        let number = value.and_then(Expr::as_const).map(|v| v.as_f64());
        return number.is_some_and(|x| !(x == 0.0 && x.is_sign_negative()));
    }
    false
}

/// Finds expressions that are zero in all iterations past the end of a loop.
struct Zeros<'z, 'k> {
    kernel: &'k Kernel,
    accesses: &'z [Access<'k>],
    round: &'z Round,
    variables: BTreeSet<VarId>,
}

impl Zeros<'_, '_> {
    /// The statements only add zeros; to what goes to `sums`.
    fn block(&mut self, block: &Block, sums: &mut Vec<Place>) -> bool {
        block.stmts.iter().all(|s| match &s.kind {
            StmtKind::Scope(b) => self.block(b, sums),
            StmtKind::For(l) => self.block(&l.body, sums),
            StmtKind::Decl { var, init } => {
                if init.as_ref().is_some_and(|e| self.zero(e)) {
                    self.variables.insert(*var);
                }
                true
            }
            StmtKind::Assign { place, value } => {
                let own = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if p == place);
                let adds = match &*value.kind {
                    ExprKind::Binary(BinaryOp::Add, a, b) => {
                        own(a) && self.zero(b) || own(b) && self.zero(a)
                    }
                    ExprKind::Binary(BinaryOp::Sub, a, b) => own(a) && self.zero(b),
                    _ => false,
                };
                sums.push(place.clone());
                adds
            }
            _ => false,
        })
    }

    fn zero(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Const(v) => v.as_f64() == 0.0,
            ExprKind::Read(p) => match *p.kind {
                PlaceKind::Var(v) => self.variables.contains(&v),
                _ => self.padding(p),
            },
            ExprKind::Unary(UnaryOp::Neg, a) | ExprKind::Cast(a) => self.zero(a),
            // Zero times infinity is no number.
            ExprKind::Binary(BinaryOp::Mul, a, b) if e.ty.is_integer() => {
                self.zero(a) || self.zero(b)
            }
            ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add | BinaryOp::Sub, a, b) => {
                self.zero(a) && self.zero(b)
            }
            _ => false,
        }
    }

    /// The element lies in the zeros behind the array.
    fn padding(&self, place: &Place) -> bool {
        let same = |a: &&Access<'_>| a.place.is_some_and(|p| std::ptr::eq(p, place));
        let Some(a) = self.accesses.iter().find(same) else { return false };
        let (View::Affine { index, .. }, Base::Var(v)) = (&a.view, a.base) else { return false };
        let shape = self.kernel.func().var(v).shape.as_deref().unwrap_or_default();
        a.kind == AccessKind::Read
            && index.len() == shape.len()
            && index.iter().zip(shape).any(|(p, extent)| lies_behind(p, extent, self.round))
    }
}
