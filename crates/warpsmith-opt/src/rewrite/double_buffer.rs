//! Reads from shared memory for the next iteration of a strip before the current one is computed.
//!
//! ```text
//!     for k in 0..16 { read a, b at k;   acc += a * b }
//!       ==> double_buffer k
//!     read a[0], b[0] at 0
//!     for k in 0..16 { read a[(k + 1) % 2], b[(k + 1) % 2] at k + 1;   acc += a[k % 2] * b[k % 2] }
//! ```
//!
//! The values arrive while the arithmetic of the iteration before goes on; the first ones are read before the copies of the
//! next strip are started.
//!
//! Legal where strips of the loop are staged and the loop is unrolled, entirely or by an even number: registers have no
//! addresses, so that the compiler must know which of the two is meant.

use warpsmith_ir::{LoopId, LoopKind};

use super::Rewritten;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;

/// The verdict on a `double_buffer`, which alone allows it.
pub struct LegalDoubleBuffer<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
}

/// Asks whether what the iterations of the loop read can be read one iteration ahead.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalDoubleBuffer<'_>, Refusal> {
    let refuse = |why: &str| {
        Err(Refusal::LoopRefused { verb: "double-buffer", loop_id: target, why: why.into() })
    };
    let cut = |n: &Nest| n.stages.iter().any(|s| s.strip.is_some_and(|(id, _)| id == target));
    let Some((root, _)) = kernel.nests.iter().find(|(_, n)| cut(n)) else {
        return refuse("no array is staged in strips of it: take `stage` first");
    };
    match kernel.find_loop(target) {
        Some(l) if is_even(&l.kind) => Ok(LegalDoubleBuffer { kernel, root: *root, target }),
        _ => refuse("it is not unrolled by an even number: take `unroll` first"),
    }
}

/// Notes the loop; the nest is written out when it is lowered.
pub fn apply(legal: LegalDoubleBuffer<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.double_buffers.insert(legal.target);
    }
    Rewritten::same_loops(kernel)
}

/// The compiler knows of every iteration whether its number is even.
pub(crate) fn is_even(kind: &LoopKind) -> bool {
    match kind {
        LoopKind::Unrolled(None) => true,
        LoopKind::Unrolled(Some(n)) => n.is_multiple_of(2),
        _ => false,
    }
}
