//! Atomic updates of one loop: which of them leave the same, whatever their order.
//!
//! Updates by one operation may change places: sums, products, minima, maxima, bit operations, stores of one constant.
//! Updates of one element by two operations may not, nor may a plain access to an element that others update.

use warpsmith_ir::{AtomicOp, ExprKind, ForLoop, Origin, StmtKind, Value};

use super::access::{Access, AccessKind, Base, Scope, View};
use super::dependence::{Verdict, test_pair};
use crate::walk;

/// Two accesses whose order matters.
#[derive(Clone, Debug)]
pub struct Mixed {
    /// What is updated in both ways.
    pub base: Base,
    /// The atomic update.
    pub first: Origin,
    /// The access that is none.
    pub second: Origin,
    /// One of them is no atomic update.
    pub plain: bool,
}

/// The first pair of accesses to what atomic operations update that may go to one element in two iterations and whose
/// order would then matter; `private` objects belong to one iteration.
pub fn mixed(
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    private: &dyn Fn(Base) -> bool,
) -> Option<Mixed> {
    let atomics: Vec<&Access<'_>> =
        accesses.iter().filter(|a| a.kind == AccessKind::Atomic && !private(a.base)).collect();
    for a in &atomics {
        for b in accesses.iter().filter(|b| b.base == a.base || b.base == Base::Anything) {
            let plain = b.kind != AccessKind::Atomic;
            let commute =
                !plain && class(scope.root, a).is_some_and(|c| Some(c) == class(scope.root, b));
            if !commute && !apart(scope, a, b) {
                let (first, second) = (a.origin.clone(), b.origin.clone());
                return Some(Mixed { base: a.base, first, second, plain });
            }
        }
    }
    None
}

/// Whether no two iterations meet.
fn apart(scope: &Scope<'_>, a: &Access<'_>, b: &Access<'_>) -> bool {
    let known = |x: &Access<'_>| matches!(x.view, View::Affine { .. });
    known(a) && known(b) && test_pair(scope, a, b, &[]) == Verdict::Independent
}

/// What an atomic access does, as far as order is concerned; `None`: its order always matters.
fn class(l: &ForLoop, access: &Access<'_>) -> Option<(u8, Option<Value>)> {
    let mut found = None;
    walk::each_stmt(&l.body, &mut |s| {
        if let StmtKind::Atomic { op, pointer, value, result: None, .. } = &s.kind
            && match &*pointer.kind {
                ExprKind::AddressOf(place) => access.place.is_some_and(|p| std::ptr::eq(p, place)),
                _ => access.place.is_none() && s.origin.span == access.origin.span,
            }
        {
            found = Some((*op, value.as_const()));
        }
    });
    let (op, constant) = found?;
    Some(match op {
        AtomicOp::Add | AtomicOp::Sub => (0, None),
        AtomicOp::Mul => (1, None),
        AtomicOp::Min => (2, None),
        AtomicOp::Max => (3, None),
        AtomicOp::Lower => (4, None),
        AtomicOp::Raise => (5, None),
        AtomicOp::And => (6, None),
        AtomicOp::Or => (7, None),
        AtomicOp::Xor => (8, None),
        AtomicOp::Store => (9, Some(constant?)),
        _ => return None,
    })
}
