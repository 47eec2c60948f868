//! Arrays with an element for each iteration of a nest.

use warpsmith_ir::{BinaryOp, Expr, ForLoop, Scalar};

use crate::build::counters;
use crate::kernel::Kernel;

/// The extents of such an array: how many iterations each loop has.
pub(super) fn extents(kernel: &Kernel, loops: &[ForLoop]) -> Vec<Expr> {
    loops.iter().map(|l| length_of(kernel, l)).collect()
}

/// The subscripts of an iteration's element: its number in each loop.
pub(super) fn numbers(kernel: &Kernel, loops: &[ForLoop]) -> Vec<Expr> {
    let number = |l: &ForLoop| {
        let at = Expr::var(l.var, kernel.func().var(l.var).ty.clone());
        match l.first.as_const().map(|v| v.as_i64()) {
            Some(0) => at,
            _ => Expr::binary(BinaryOp::Sub, at, l.first.clone()),
        }
    };
    loops.iter().map(number).collect()
}

/// The number of iterations, zero for a loop that does not run and begins at zero.
pub(super) fn length_of(kernel: &Kernel, l: &ForLoop) -> Expr {
    let scalar = kernel.func().var(l.var).ty.scalar().unwrap_or(Scalar::I32);
    let mut e = match l.first.as_const().map(|v| v.as_i64()) {
        Some(0) => l.limit.clone(),
        _ => Expr::binary(BinaryOp::Sub, l.limit.clone(), l.first.clone()),
    };
    if l.compare == BinaryOp::Le {
        e = Expr::binary(BinaryOp::Add, e, Expr::int(scalar, 1));
    }
    counters::tidy(kernel.func(), e, scalar)
}
