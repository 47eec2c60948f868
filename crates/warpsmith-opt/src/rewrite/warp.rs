//! Lays the lanes of a warp out as a rectangle of the block's tile.
//!
//! ```text
//!     i = i_block + threadIdx.y …;   j = j_block + threadIdx.x …
//!       ==> warp i, j by 8x4
//!     lane = thread % 32;   warp = thread / 32
//!     i = i_block + place of the warp + place of the lane along i …;   j likewise
//! ```
//!
//! A warp then computes a compact tile of its own, so that what its lanes read of one strip is little and read by
//! several of them together: fewer words of shared memory for the same work.
//!
//! Legal where the loops are bound in one nest of tiles, the lanes are 32, and they divide the threads along each axis;
//! along the axes that are not named the block must be one thread thick.

use warpsmith_ir::{Axis, LoopId};

use super::Rewritten;
use super::register_tile::{bound_nest, check_tiles};
use super::share::SHARED_NEST;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;

/// Lanes of a warp.
const WARP: u32 = 32;

/// The verdict on a `warp`, which alone allows it.
pub struct LegalWarp<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    lanes: [u32; 3],
}

/// Asks whether a warp can have so many lanes along each of the loops.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, lanes: &[(LoopId, u32)]) -> Result<LegalWarp<'k>, Refusal> {
    let Some((first, _)) = lanes.first() else {
        return Err(Refusal::NotBound { loop_id: LoopId(u32::MAX) });
    };
    let (root, nest) = bound_nest(kernel, *first)?;
    check_tiles(kernel, root, nest)?;
    if nest.team.is_some() {
        let why = SHARED_NEST.into();
        return Err(Refusal::LoopRefused { verb: "lay lanes along", loop_id: *first, why });
    }
    let mut along = [1; 3];
    for (id, count) in lanes {
        let Some((_, axis)) = nest.axes.iter().find(|(l, _)| l == id) else {
            return Err(Refusal::NotBound { loop_id: *id });
        };
        along[axis.index()] = *count;
    }
    check_lanes(nest, *first, lanes, along)?;
    Ok(LegalWarp { kernel, root, lanes: along })
}

fn check_lanes(
    nest: &Nest,
    first: LoopId,
    lanes: &[(LoopId, u32)],
    along: [u32; 3],
) -> Result<(), Refusal> {
    let refuse = |loop_id: LoopId, why: String| {
        Err(Refusal::LoopRefused { verb: "lay lanes along", loop_id, why })
    };
    let all = along.iter().fold(1u64, |n, l| n * u64::from(*l));
    if all != u64::from(WARP) {
        return refuse(first, format!("a warp has {WARP} lanes, not {all}"));
    }
    for axis in Axis::ALL {
        let (threads, count) = (nest.block[axis.index()], along[axis.index()]);
        let of_axis = |a: &Axis| *a == axis;
        let named =
            nest.axes.iter().find(|(id, a)| of_axis(a) && lanes.iter().any(|(l, _)| l == id));
        let other = nest.axes.iter().find(|(_, a)| of_axis(a)).map_or(first, |(id, _)| *id);
        match named {
            Some((id, _)) if !threads.is_multiple_of(count) => {
                let why = format!("{count} lanes do not divide the {threads} threads of a block");
                return refuse(*id, why);
            }
            None if threads > 1 => {
                let why = format!("the block is {threads} threads thick along it: name it, too");
                return refuse(other, why);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Notes the lanes; the nest is written out when it is lowered.
pub fn apply(legal: LegalWarp<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.lanes = Some(legal.lanes);
    }
    Rewritten::same_loops(kernel)
}
