//! The threads of a block by number.

use warpsmith_ir::{Axis, BinaryOp, Builtin, Expr, Type};

use super::counters;

/// Threads of a warp.
pub const WARP: u32 = 32;

/// The thread's number in a block of these threads along x, y and z: x varies fastest.
pub fn flat_thread(block: &[Expr; 3]) -> Expr {
    let used = Axis::ALL.into_iter().zip(block).rev().filter(|(_, n)| !counters::is_const(n, 1));
    let numbers =
        used.map(|(axis, n)| (Expr::builtin(Builtin::ThreadIdx(axis)).cast(Type::I32), n));
    let sum = numbers.fold(None, |sum: Option<Expr>, (thread, width)| match sum {
        None => Some(thread),
        Some(rows) => {
            let rows = Expr::binary(BinaryOp::Mul, rows, width.clone());
            Some(Expr::binary(BinaryOp::Add, rows, thread))
        }
    });
    sum.unwrap_or_else(|| Expr::i32(0))
}
