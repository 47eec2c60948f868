//! Unrolls a serial loop.
//!
//! ```text
//!     for k in K { S(k) }
//!       ==> unroll k by 4
//!     #pragma unroll 4
//!     for k in K { S(k) }
//! ```
//!
//! Always legal: the compiler keeps the order of the iterations. Without a factor the loop is unrolled entirely, which
//! needs a number of iterations that the compiler knows.

use warpsmith_ir::{LoopId, LoopKind, StmtKind};

use super::Rewritten;
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The verdict on an `unroll`, which alone allows it.
pub struct LegalUnroll<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    factor: Option<u32>,
}

/// Asks whether the loop can be unrolled.
///
/// # Errors
/// [`Refusal::NotSerial`] for a loop that threads share, [`Refusal::TileFactor`] for a factor beyond 1024.
pub fn check(
    kernel: &Kernel,
    target: LoopId,
    factor: Option<u32>,
) -> Result<LegalUnroll<'_>, Refusal> {
    if let Some(factor) = factor.filter(|f| !(1..=1024).contains(f)) {
        return Err(Refusal::TileFactor { loop_id: target, factor, most: 1024 });
    }
    match kernel.runs_in_thread(target) {
        true => Ok(LegalUnroll { kernel, target, factor }),
        false => Err(Refusal::NotSerial { loop_id: target }),
    }
}

/// Marks the loop.
pub fn apply(legal: LegalUnroll<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    super::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.kind = LoopKind::Unrolled(legal.factor);
        }
    });
    Rewritten::same_loops(kernel)
}
