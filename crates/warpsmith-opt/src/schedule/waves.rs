//! Schedules for products whose last wave of tiles would leave most of the device idle: its sums are split (`stream_k`).

use warpsmith_ir::{LoopId, SourceMap};

use super::candidates::{accumulated, cut_in_strips, unrolled};
use super::{StepKind, derive, take, wide};
use crate::kernel::Kernel;
use crate::rewrite::{bind, stream_k};

/// How a block computes a tile, and how many of them a multiprocessor runs at a time.
struct Wave {
    /// Threads along x and y.
    block: [u32; 2],
    /// Iterations of a thread along y and x.
    tile: [u32; 2],
    resident: u32,
}

/// The best of those measured (`bench/NOTES.md`, *Stream-k and persistent grids*).
const WAVES: [Wave; 3] = [
    Wave { block: [16, 8], tile: [8, 8], resident: 3 },
    Wave { block: [32, 8], tile: [8, 8], resident: 2 },
    Wave { block: [16, 16], tile: [8, 16], resident: 1 },
];
/// Parts of the sums that are split: a part of a wave takes as much of its time.
const PARTS: [u32; 2] = [5, 11];

/// Step lists for a product of two parallel loops, bound in `state`.
pub(super) fn split_last(
    kernel: &Kernel,
    root: LoopId,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let Some((target, ..)) = cut_in_strips(state, root) else { return vec![] };
    let of = |wave: &Wave| {
        let extents = [0, 1].map(|axis| wave.block[1 - axis] * wave.tile[axis]);
        let [first, second] = PARTS.map(|parts| {
            StepKind::StreamK(stream_k::Args {
                target: target.clone(),
                parts,
                tile: extents.to_vec(),
                wave: wave.resident * kernel.gpu.multiprocessors,
            })
        });
        let steps = split_by(kernel, root, first, wave, sources)?;
        // The steps after it are the same, however many parts there are.
        let other = [second].into_iter().chain(steps.iter().skip(1).cloned()).collect();
        Some([steps, other])
    };
    WAVES.iter().filter_map(of).flatten().collect()
}

/// Whole waves and the parts of the rest in the same way, the sum of the parts as the direct translation has it.
fn split_by(
    kernel: &Kernel,
    root: LoopId,
    split: StepKind,
    wave: &Wave,
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let at = kernel.marked_roots().iter().position(|id| *id == root)?;
    let apart = take(kernel, &split, sources).ok()?.kernel;
    let roots = apart.marked_roots();
    let mut steps = vec![split];
    for root in roots.get(at..at + 2)? {
        steps.extend(tiled(&apart, *root, wave, sources)?);
    }
    let last = *roots.get(at + 2)?;
    let bind = derive::step_for(&apart, last);
    let bound = take(&apart, &bind, sources).ok()?.kernel;
    steps.push(bind);
    steps.extend(accumulated(&bound, last));
    steps.extend(unrolled(&bound, last, &[]));
    Some(steps)
}

fn tiled(kernel: &Kernel, root: LoopId, wave: &Wave, sources: &SourceMap) -> Option<Vec<StepKind>> {
    let StepKind::Bind(bind::Args { loops, axes, .. }) = derive::step_for(kernel, root) else {
        return None;
    };
    let kept = [];
    let nest = wide::Nest { kernel, root, loops: &loops, axes: &axes, kept: &kept };
    let bound = take(kernel, &nest.bind([32, 1, 1]), sources).ok()?.kernel;
    let (name, id, cut) = cut_in_strips(&bound, root)?;
    let kept = accumulated(&bound, root);
    let nest = wide::Nest { kept: &kept, ..nest };
    wide::product(&nest, &bound, &cut, (&name, id), (wave.block, wave.tile))
}
