//! Schedules of nests that update memory atomically: copies of what is updated for each block, and threads with several
//! iterations, which put together what these do to one element.

use warpsmith_ir::{LoopId, SourceMap};

use super::candidates::{accumulated, blocks, blocks_only};
use super::{StepKind, derive, shared, take, wide};
use crate::analysis::updates::updated;
use crate::kernel::Kernel;
use crate::rewrite::{bind, keep_sums, privatise, register_tile};
use crate::walk;

/// Iterations of a thread along a loop with which the updated elements do not move.
const TOGETHER: [u32; 4] = [4, 8, 16, 32];

/// Threads of a block that keeps sums of columns, rows that go by it, and those that are loaded together.
const KEPT: [(u32, u32, u32); 12] = [
    (128, 32, 8),
    (128, 64, 8),
    (128, 128, 8),
    (256, 16, 8),
    (256, 32, 8),
    (256, 64, 4),
    (256, 64, 8),
    (256, 128, 4),
    (256, 128, 8),
    (256, 256, 8),
    (512, 64, 4),
    (512, 128, 4),
];

/// Whether anything in the nest is updated atomically.
pub(super) fn has_any(kernel: &Kernel, root: LoopId) -> bool {
    kernel.find_loop(root).is_some_and(|l| walk::updates(&l.body))
}

/// Step lists beside the direct one.
pub(super) fn alternatives(
    kernel: &Kernel,
    root: LoopId,
    direct: &StepKind,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let mut found = blocks_only(direct);
    found.extend(privatised(kernel, root));
    found.extend(kept(kernel, root, direct, sources));
    found.extend(several(kernel, root, direct, sources));
    if let Some((outermost, bind)) = derive::wider(kernel, root) {
        found.extend(blocks_only(&bind));
        found.extend(several(kernel, outermost, &bind, sources));
        found.push(vec![bind]);
    }
    found
}

/// Copies of what is updated, for each block.
pub(super) fn privatised(kernel: &Kernel, root: LoopId) -> Vec<Vec<StepKind>> {
    let mut found = vec![];
    for array in privatise::candidates(kernel, root) {
        for (block, grid) in
            [(256, 528), (256, 1056), (512, 264), (512, 528), (1024, 132), (1024, 264)]
        {
            let array = || array.clone();
            let step = |run| {
                vec![StepKind::Privatise(privatise::Args { array: array(), block, grid, run })]
            };
            found.extend([1].into_iter().chain(privatise::run_lengths(kernel, root)).map(step));
        }
    }
    found
}

/// Sums of columns in registers while rows go by, where vectors are not aligned with the direct step.
fn kept(
    kernel: &Kernel,
    root: LoopId,
    direct: &StepKind,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let mut state = kernel.clone();
    let mut before = vec![];
    for step in accumulated(kernel, root) {
        if let Ok(r) = take(&state, &step, sources) {
            state = r.kernel;
            before.push(step);
        }
    }
    let mut found = vec![];
    for (threads, rows, group) in KEPT {
        let shapes = [4, 2, 1].map(|vector| keep_sums::Shape { threads, vector, rows, group });
        let legal = |s: &keep_sums::Shape| keep_sums::check(&state, root, *s).is_ok();
        if let Some(shape) = shapes.into_iter().find(legal) {
            let target = state.loop_name(root);
            let keep = StepKind::KeepSums(keep_sums::Args { target, shape });
            found.push([&before[..], &[keep, direct.clone()]].concat());
        }
    }
    found
}

/// Threads with several iterations of a loop with which an updated element does not move; and threads that share the loop
/// along which it moves.
fn several(
    kernel: &Kernel,
    root: LoopId,
    bind: &StepKind,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let StepKind::Bind(bind::Args { loops, axes, .. }) = bind else { return vec![] };
    let mut found = vec![];
    for target in loops.iter().filter(|name| stays_along(kernel, root, name)) {
        for block in blocks(loops.len(), false) {
            let bind =
                StepKind::Bind(bind::Args { loops: loops.clone(), axes: axes.clone(), block });
            let tile =
                |factor| StepKind::RegisterTile(register_tile::Args::of(target.clone(), factor));
            found.extend(TOGETHER.map(|factor| vec![bind.clone(), tile(factor)]));
        }
    }
    let nest = wide::Nest { kernel, root, loops, axes, kept: &[] };
    if let Ok(state) = take(kernel, bind, sources) {
        found.extend(shared::around_updates(&nest, &state.kernel, sources));
    }
    found
}

/// Whether something that the nest updates is the same element in all iterations of a loop.
fn stays_along(kernel: &Kernel, root: LoopId, name: &str) -> bool {
    let (Some(nest), Some(l)) = (kernel.find_loop(root), kernel.loop_named(name)) else {
        return false;
    };
    let mut found = false;
    walk::each_stmt(&nest.body, &mut |s| {
        if updated(s).is_some()
            && let Some(place) = walk::changed(s)
        {
            let mut moves = false;
            walk::each_expr_of_place(place, &mut |e| moves |= walk::mentions(e, l.var));
            found |= !moves;
        }
    });
    found
}
