//! Schedules that compute sums in parts: for nests with few outputs and long sums, which keep few blocks busy.

use warpsmith_ir::{Axis, LoopId, SourceMap};

use super::candidates::{accumulated, cut_in_strips, serial_loops};
use super::{StepKind, derive, shared, take, wide};
use crate::kernel::Kernel;
use crate::rewrite::{bind, share, split_k};

/// Numbers of parts that are offered, and whether threads share the sum over them, of which one thread has too many.
const PARTS: [(u32, bool); 5] = [(8, false), (32, false), (128, false), (256, true), (1024, true)];
/// Threads along x, and threads that share the sum over the parts.
const ADDED: (u32, u32) = (32, 32);
/// Of the ways to compute a contraction in tiles, those of so many small shapes.
const SHAPES: usize = 4;

/// Step lists that split the first sum of the nest that can be split.
pub(super) fn split_sums(
    kernel: &Kernel,
    root: LoopId,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let names = serial_loops(state, root).into_iter().map(|l| state.loop_name(l.id));
    let mut found = vec![];
    for name in names {
        for (parts, shared) in PARTS {
            let split = StepKind::SplitK(split_k::Args::of(name.clone(), parts));
            found.extend(split_by(kernel, root, (&split, shared), sources).unwrap_or_default());
        }
        if !found.is_empty() {
            break;
        }
    }
    found
}

/// The nest that computes the parts in some ways, the nest that adds them as the direct translation would, or shared by
/// threads.
fn split_by(
    kernel: &Kernel,
    root: LoopId,
    (split, together): (&StepKind, bool),
    sources: &SourceMap,
) -> Option<Vec<Vec<StepKind>>> {
    let at = kernel.marked_roots().iter().position(|id| *id == root)?;
    let state = take(kernel, split, sources).ok()?.kernel;
    let roots = state.marked_roots();
    let (first, second) = (*roots.get(at)?, *roots.get(at + 1)?);
    let finish = derive::step_for(&state, second);
    let StepKind::Bind(bind::Args { loops, axes, .. }) = derive::step_for(&state, first) else {
        return None;
    };
    let finish = match together {
        true => added_together(&state, second, &finish, sources)?,
        false => vec![finish],
    };
    let state =
        finish.iter().try_fold(state, |s, step| Some(take(&s, step, sources).ok()?.kernel))?;
    let bind = |block: [u32; 3]| {
        StepKind::Bind(bind::Args { loops: loops.clone(), axes: axes.clone(), block })
    };
    let bound = take(&state, &bind([32, 1, 1]), sources).ok()?.kernel;
    let kept = accumulated(&bound, first);
    let nest = wide::Nest { kernel: &state, root: first, loops: &loops, axes: &axes, kept: &kept };
    let mut ways = vec![];
    match (cut_in_strips(&bound, first), loops.len()) {
        (Some((name, id, cut)), 3) => {
            ways.extend(wide::products(&nest, &bound, &cut, (&name, id), SHAPES));
        }
        _ => {
            for block in [[32, 8, 1], [64, 4, 1], [128, 2, 1]] {
                let mut steps = vec![bind(block)];
                steps.extend(kept.iter().cloned());
                ways.push(steps);
            }
            ways.extend(shared::along_long_rows(&nest, &bound, sources));
        }
    }
    let before = [std::slice::from_ref(split), &finish].concat();
    Some(ways.into_iter().map(|steps| [&before[..], &steps].concat()).collect())
}

/// The nest of one loop that adds the parts, shared by threads along y; neighbours along x read neighbouring parts.
fn added_together(
    kernel: &Kernel,
    root: LoopId,
    bind: &StepKind,
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let StepKind::Bind(bind::Args { loops, .. }) = bind else { return None };
    let ([_], (beside, threads)) = (&loops[..], ADDED) else { return None };
    let bind = StepKind::Bind(bind::Args {
        loops: loops.clone(),
        axes: vec![Axis::X],
        block: [beside, 1, 1],
    });
    let bound = take(kernel, &bind, sources).ok()?.kernel;
    let kept = accumulated(&bound, root);
    let part = serial_loops(&bound, root).first().map(|l| bound.loop_name(l.id))?;
    let share = StepKind::Share(share::Args { loops: vec![part], axis: Axis::Y, threads });
    Some([vec![bind], kept, vec![share]].concat())
}
