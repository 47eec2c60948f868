//! Computes two nested serial loops tile by tile.
//!
//! ```text
//!     for i in 0..n { for j in 0..m { S(i, j) } }
//!       ==> tile i, j by 32x8
//!     for i_block in 0..n step 32 { for j_block in 0..m step 8 {
//!         for i in i_block..min(i_block + 32, n) { for j in j_block..min(j_block + 8, m) { S(i, j) } }
//!     } }
//! ```
//!
//! It is `split` of both loops and `interchange` of the two in the middle, and legal where these are: nothing but the
//! inner loop is in the outer one, and no two iterations that change places conflict.

use warpsmith_ir::LoopId;

use super::{Rewritten, interchange, split};
use crate::kernel::{Kernel, only_loop};
use crate::refusal::Refusal;

/// The verdict on a `tile`, which alone allows it.
pub struct LegalTile {
    /// Both loops cut.
    kernel: Kernel,
    outer: LoopId,
}

/// Asks whether the nested loops can be computed in tiles of the given numbers of iterations.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    [outer, inner]: [LoopId; 2],
    [rows, columns]: [u32; 2],
) -> Result<LegalTile, Refusal> {
    let inside = kernel.find_loop(outer).and_then(|l| only_loop(&l.body));
    if inside.is_none_or(|l| l.id != inner) {
        return Err(Refusal::NotNested { outer, inner });
    }
    // Of the uncut loops, so that the message is about what the user wrote.
    interchange::check(kernel, outer)?;
    let kernel = split::apply(split::check(kernel, outer, rows)?).kernel;
    let kernel = split::apply(split::check(&kernel, inner, columns)?).kernel;
    interchange::check(&kernel, outer)?;
    Ok(LegalTile { kernel, outer })
}

/// Brings the loop over the outer loop's strip inside that over the inner loop's strips.
pub fn apply(legal: LegalTile) -> Rewritten {
    match interchange::check(&legal.kernel, legal.outer) {
        Ok(swap) => interchange::apply(swap),
        // The check looked at this kernel.
        Err(_) => Rewritten::same_loops(legal.kernel.clone()),
    }
}
