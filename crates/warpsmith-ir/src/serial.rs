//! Atomic updates as one thread does them.

use crate::expr::{BinaryOp, Expr, ExprKind, MathFn, Place, PlaceKind};
use crate::span::Origin;
use crate::stmt::{AtomicOp, Block, Stmt, StmtKind};
use crate::types::Type;
use crate::visit;

/// Puts an assignment in place of every atomic update whose old value nothing takes, exchanges and counters with a
/// limit excepted.
pub fn serialise_atomics(block: &mut Block) {
    visit::map_stmts(block, &mut |stmt| {
        if let Some(kind) = assignment(stmt) {
            stmt.kind = kind;
        }
    });
}

fn assignment(stmt: &Stmt) -> Option<StmtKind> {
    let StmtKind::Atomic { op, pointer, value, result: None, .. } = &stmt.kind else { return None };
    let place = pointee(pointer)?;
    let old = || Expr::read(place.clone());
    let set = |value| StmtKind::Assign { place: place.clone(), value };
    let binary = |op| Some(set(Expr::binary(op, old(), value.clone())));
    let replace = |compare| {
        let then = Block::new(vec![Stmt::new(set(value.clone()), stmt.origin.clone())]);
        let cond = Expr::binary(compare, value.clone(), old());
        Some(StmtKind::If { cond, then, otherwise: Block::default() })
    };
    let call = |function| {
        let call = ExprKind::Call(function, vec![old(), value.clone()]);
        Some(set(Expr::new(call, place.ty.clone(), Origin::default())))
    };
    match op {
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Sub => binary(BinaryOp::Sub),
        AtomicOp::Mul => binary(BinaryOp::Mul),
        AtomicOp::And => binary(BinaryOp::BitAnd),
        AtomicOp::Or => binary(BinaryOp::BitOr),
        AtomicOp::Xor => binary(BinaryOp::BitXor),
        AtomicOp::Lower => replace(BinaryOp::Lt),
        AtomicOp::Raise => replace(BinaryOp::Gt),
        AtomicOp::Min if place.ty.is_float() => call(MathFn::Min),
        AtomicOp::Max if place.ty.is_float() => call(MathFn::Max),
        AtomicOp::Min => replace(BinaryOp::Lt),
        AtomicOp::Max => replace(BinaryOp::Gt),
        AtomicOp::Store => Some(set(value.clone())),
        _ => None,
    }
}

/// What the pointer points to.
fn pointee(pointer: &Expr) -> Option<Place> {
    match &*pointer.kind {
        ExprKind::AddressOf(place) => Some(place.clone()),
        _ => {
            let ty: Type = pointer.ty.pointee()?.clone();
            Some(Place::new(PlaceKind::Deref(pointer.clone()), ty, pointer.origin.clone()))
        }
    }
}
