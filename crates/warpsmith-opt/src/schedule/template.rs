//! Schedules worth considering for a nest, from what it does: products are staged and computed in register tiles,
//! stencils and convolutions staged with their halo, everything else gets blocks of several shapes.
//!
//! A template is a list of steps with parameters; [`alternatives`] lists the combinations. Which of them are legal, and
//! which one is fastest, shows when they are replayed.

use warpsmith_ir::{Axis, ForLoop, Layout, LoopId, SourceMap};

use super::candidates::{
    accumulated, blocks, cut_in_strips, may_have_strip, moves_with, serial_loops, shared_reads,
    unrolled, whole_stages,
};
use super::{
    Schedule, Step, StepKind, parts, rectangles, rows, shared, stencils, streams, take, transposes,
    updates, waves, wide, written,
};
use crate::kernel::{Kernel, Reduce};
use crate::rewrite::question::independence;
use crate::rewrite::{bind, constant, reduce, register_tile, stage, unroll};
use crate::walk;

/// Iterations of a thread along three loops, where those of the outermost read the same elements.
const SHARED_PLANES: &[[u32; 3]] = &[[8, 1, 1], [4, 2, 1], [4, 4, 1], [8, 4, 1]];
/// A thread has at most this many iterations.
const MOST_OUTPUTS: u32 = 64;

/// Step lists for the nest of `root`, the direct translation first; not all need be legal. The steps before must have
/// been taken.
pub fn alternatives(kernel: &Kernel, root: LoopId, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let direct = super::derive::step_for(kernel, root);
    let mut found = vec![vec![direct.clone()]];
    match &direct {
        StepKind::Bind(_) if updates::has_any(kernel, root) => {
            found.extend(updates::alternatives(kernel, root, &direct, sources));
        }
        StepKind::Reduce(reduce::Args { var, .. }) => {
            let reduce = |shape| vec![StepKind::Reduce(reduce::Args { var: var.clone(), shape })];
            for block in [128, 256, 512, 1024] {
                // Some blocks for each multiprocessor, or one iteration for each thread of most nests.
                let grids = [256, 528, 792, 1056, 1584, 1 << 16];
                found.extend(grids.map(|grid| reduce(Reduce::flat(block, grid))));
            }
            // For vectors beside a matrix: at all sizes that can be tried, larger grids have less than an iteration a thread.
            let few = [(64, 4), (128, 16), (256, 64)];
            found.extend(few.map(|(block, grid)| reduce(Reduce::flat(block, grid))));
            found.extend(reductions_by_axes(kernel, root).into_iter().map(reduce));
            // What blocks with copies of arrays leave of it is combined behind them, by one block.
            let finish = reduce(Reduce::flat(256, 1));
            let privatised = updates::privatised(kernel, root).into_iter();
            found.extend(privatised.map(|steps| [steps, finish.clone()].concat()));
        }
        StepKind::Bind(bind::Args { loops, axes, .. }) => {
            found.extend(bound(kernel, root, loops, axes, sources));
            if let Some((outermost, bind)) = super::derive::wider(kernel, root)
                && let StepKind::Bind(bind::Args { loops, axes, .. }) = &bind
            {
                let wide = bound(kernel, outermost, loops, axes, sources);
                // Threads that share what an exchange of dimensions copies write elements far apart.
                if wide.iter().any(|steps| transposes::is_tile(steps)) {
                    found.retain(|steps| !steps.iter().any(|s| matches!(s, StepKind::Share(_))));
                }
                found.push(vec![bind.clone()]);
                found.extend(wide);
            }
        }
        _ => {}
    }
    found.extend(rectangles::of_rectangle(kernel, root, sources, alternatives));
    found.extend(rectangles::of_inner_sum(kernel, root, sources, alternatives));
    found.extend(rectangles::of_residues(kernel, root, sources, alternatives));
    found.extend(rectangles::of_wraps(kernel, root, sources, alternatives));
    let mut different: Vec<Vec<StepKind>> = vec![];
    for steps in found {
        if !different.contains(&steps) {
            different.push(steps);
        }
    }
    different
}

/// Shapes for reductions over two or three loops, each of which goes to an axis of its own: neighbours in memory to
/// neighbouring threads, and enough blocks along the outer loops to fill a device some times over.
fn reductions_by_axes(kernel: &Kernel, root: LoopId) -> Vec<Reduce> {
    let (group, _) = independence::group_of(kernel, root);
    let grids: &[[u32; 3]] = match reduce::rectangular_prefix(kernel, &group).len() {
        2 => &[[16, 64, 1], [64, 64, 1], [64, 256, 1], [64, 1024, 1]],
        3 => {
            &[[8, 128, 64], [4, 256, 64], [8, 256, 32], [16, 128, 32], [4, 512, 32], [16, 256, 16]]
        }
        _ => return vec![],
    };
    let blocks =
        [[32, 4, 1], [32, 8, 1], [64, 2, 1], [64, 4, 1], [128, 1, 1], [128, 2, 1], [256, 1, 1]];
    let shapes = blocks.iter().flat_map(|block| grids.iter().map(|grid| (*block, *grid)));
    shapes.map(|(block, grid)| Reduce { block, grid }).collect()
}

/// The schedule of step lists one after the other.
pub fn schedule_of(parts: &[Vec<StepKind>]) -> Schedule {
    let steps = parts.iter().flatten().map(|kind| Step { kind: kind.clone(), span: None });
    Schedule { steps: steps.collect() }
}

fn bound(
    kernel: &Kernel,
    root: LoopId,
    loops: &[String],
    axes: &[Axis],
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let bind = |block: [u32; 3]| {
        StepKind::Bind(bind::Args { loops: loops.to_vec(), axes: axes.to_vec(), block })
    };
    let Some((state, kept)) = kept(kernel, root, &bind([32, 1, 1]), sources) else {
        return vec![];
    };
    let stages = stages(&state, root);
    let tiled = stages.iter().any(|s| !s.is_empty());
    let strips = |s: &StepKind| matches!(s, StepKind::Stage(stage::Args { strip: Some(_), .. }));
    // A sum of products is tiled in its two innermost loops, however many there are around.
    let planes = loops.len() == 3 && stages.iter().flatten().any(strips);
    let shape = if planes { 2 } else { loops.len() };
    let outside = planes.then(|| outer_rows(&state, root, loops)).flatten();
    let axes = outside.as_deref().unwrap_or(axes);
    let bind = |block: [u32; 3]| {
        StepKind::Bind(bind::Args { loops: loops.to_vec(), axes: axes.to_vec(), block })
    };
    let nest = wide::Nest { kernel, root, loops, axes, kept: &kept };
    let shared = matches!(loops, [outer, _, _] if wide::is_shared_along(&nest, outer));
    let mut tilings = tiles(shape, tiled);
    if planes {
        let plane = usize::from(outside.is_some());
        tilings.iter_mut().for_each(|tile| tile.insert(plane, 1));
    }
    if shared {
        tilings.extend(SHARED_PLANES.iter().map(|t| t.to_vec()));
    }
    tilings.retain(|t| t.iter().product::<u32>() <= MOST_OUTPUTS);
    let mut found = vec![];
    for block in blocks(shape, tiled) {
        let steps: Vec<StepKind> = [bind(block)].into_iter().chain(kept.clone()).collect();
        for tile in &tilings {
            let staged = stages.iter();
            found.extend(staged.flat_map(|s| with_tile((&state, root), &steps, (loops, tile), s)));
        }
    }
    found.extend(beside_tiles(&nest, &state, (tiled, shared), sources));
    found.extend(others(&nest, &state, sources));
    found
}

/// What else there is for a nest that can be `tiled` in shared memory, with planes that `shared` rows serve: products with strips,
/// rows of stencils.
fn beside_tiles(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    (tiled, shared): (bool, bool),
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let wide::Nest { kernel, root, loops, .. } = *nest;
    let mut found = vec![];
    match cut_in_strips(state, root) {
        Some((name, id, cut)) => {
            found.extend(wide::products(nest, state, &cut, (&name, id), usize::MAX));
            if loops.len() == 2 {
                found.extend(waves::split_last(kernel, root, state, sources));
            }
        }
        // A stencil can do without copies: its rows come from the caches.
        None if !tiled || loops.first().is_some_and(|l| wide::overlaps_along(nest, l)) => {
            found.extend(wide::rows(nest, sources));
        }
        None => {}
    }
    if tiled && shared {
        found.extend(wide::rows(nest, sources));
    }
    found
}

/// The nest bound, with the steps that every schedule of it takes next.
fn kept(
    kernel: &Kernel,
    root: LoopId,
    bind: &StepKind,
    sources: &SourceMap,
) -> Option<(Kernel, Vec<StepKind>)> {
    let mut state = take(kernel, bind, sources).ok()?.kernel;
    let mut kept = constants(&state, root);
    kept.extend(accumulated(&state, root));
    for step in &kept {
        if let Ok(r) = take(&state, step, sources) {
            state = r.kernel;
        }
    }
    Some((state, kept))
}

/// The nest bound and staged so, each thread with a tile; unrolled, or with the loads of several iterations at a time.
fn with_tile(
    (state, root): (&Kernel, LoopId),
    before: &[StepKind],
    (loops, tile): (&[String], &[u32]),
    staged: &[StepKind],
) -> Vec<Vec<StepKind>> {
    let tiled = loops.iter().zip(tile).filter(|(_, f)| **f > 1).map(|(name, factor)| {
        StepKind::RegisterTile(register_tile::Args::of(name.clone(), *factor))
    });
    let mut steps: Vec<StepKind> =
        before.iter().cloned().chain(tiled).chain(staged.iter().cloned()).collect();
    let last = unrolled(state, root, staged);
    let mut found = vec![];
    // Loads of several iterations at a time, where nothing else gives the thread several.
    if let (true, [], Some(step)) = (last.is_empty(), staged, deepest(state, root)) {
        found.push(steps.iter().cloned().chain([step]).collect());
    }
    steps.extend(last);
    found.push(steps);
    found
}

/// Schedules for what a nest looks like: stencils, transposes, streams, rows, columns, sums.
fn others(nest: &wide::Nest<'_>, state: &Kernel, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let (kernel, root) = (nest.kernel, nest.root);
    let mut found = vec![];
    found.extend(stencils::rows(nest, sources));
    found.extend(transposes::tiles(nest, sources));
    found.extend(streams::streams(nest, state, sources));
    found.extend(shared::along_rows(nest, state, sources));
    let direct = || vec![super::derive::step_for(kernel, root)];
    let longer = shared::any_rows(nest, state, sources).unwrap_or_else(direct);
    found.extend(rows::kept(nest, &longer));
    found.extend(rows::scanned(nest, sources));
    found.extend(shared::down_columns(nest, state, sources));
    found.extend(written::rows(nest, state, sources));
    found.extend(written::structures(nest, sources));
    if nest.loops.len() == 1 {
        found.extend(shared::for_more_threads(nest, state, sources));
    }
    if nest.loops.len() < 3 {
        found.extend(parts::split_sums(kernel, root, state, sources));
    }
    found
}

/// The axes of three loops around a product whose rows belong to the outermost one: of what is read in strips, the part
/// that does not move with the innermost loop moves with the outermost, and not with the one between, unless that one
/// counts products: the other part moves with it, and not with the outermost.
fn outer_rows(kernel: &Kernel, root: LoopId, loops: &[String]) -> Option<Vec<Axis>> {
    let (_, _, cut) = cut_in_strips(kernel, root)?;
    let [outer, middle, inner] = loops else { return None };
    let counter = |name: &String| kernel.loop_named(name).map(|l| l.var);
    let moves = |a: &String, name| counter(name).is_some_and(|v| moves_with(kernel, root, a, v));
    let (columns, rows): (Vec<&String>, Vec<&String>) = cut.iter().partition(|a| moves(a, inner));
    let of_columns = |name| columns.iter().any(|a| moves(a, name));
    let batched = of_columns(middle) && !of_columns(outer);
    let own = |a: &&String| moves(a, outer) && (batched || !moves(a, middle));
    (!rows.is_empty() && rows.iter().all(own)).then(|| vec![Axis::Y, Axis::Z, Axis::X])
}

/// Iterations of a thread, outermost loop first.
fn tiles(loops: usize, staged: bool) -> Vec<Vec<u32>> {
    let list: &[&[u32]] = match (loops, staged) {
        (1, _) => &[&[1], &[2], &[4], &[8]],
        (2, true) => &[
            &[1, 1],
            &[2, 1],
            &[4, 1],
            &[8, 1],
            &[2, 2],
            &[4, 2],
            &[4, 4],
            &[8, 2],
            &[8, 4],
            &[4, 8],
            &[8, 8],
        ],
        (2, false) => &[&[1, 1], &[2, 1], &[4, 1], &[8, 1]],
        _ => &[&[1, 1, 1], &[2, 1, 1], &[4, 1, 1], &[1, 2, 1]],
    };
    list.iter().map(|t| t.to_vec()).collect()
}

/// `constant` for every small array that all threads of a warp read together.
fn constants(kernel: &Kernel, root: LoopId) -> Vec<StepKind> {
    let mut names = shared_reads(kernel, root);
    names.retain(|name| constant::check(kernel, name).is_ok());
    names.into_iter().map(|array| StepKind::Constant(constant::Args { array })).collect()
}

/// Partial unrolling of the deepest loop that each thread runs.
fn deepest(kernel: &Kernel, root: LoopId) -> Option<StepKind> {
    let inside = |l: &&ForLoop| walk::for_loops(&l.body).is_empty();
    let l = serial_loops(kernel, root).into_iter().find(inside)?;
    Some(StepKind::Unroll(unroll::Args { target: kernel.loop_name(l.id), factor: Some(8) }))
}

/// Ways to stage what the nest reads: nothing; strips of several lengths of the loop that most arrays can be cut at; or
/// whole footprints.
fn stages(kernel: &Kernel, root: LoopId) -> Vec<Vec<StepKind>> {
    let mut ways = vec![vec![]];
    if let Some((name, id, cut)) = cut_in_strips(kernel, root) {
        for length in [8, 16, 32].into_iter().filter(|n| may_have_strip(kernel, id, *n)) {
            let step = |array: &String| {
                StepKind::Stage(stage::Args {
                    array: array.clone(),
                    strip: Some((name.clone(), length)),
                    layout: Layout::default(),
                    asynchronous: false,
                })
            };
            ways.push(cut.iter().map(step).collect());
        }
    }
    let whole: Vec<StepKind> = whole_stages(kernel, root)
        .into_iter()
        .map(|array| {
            StepKind::Stage(stage::Args {
                array,
                strip: None,
                layout: Layout::default(),
                asynchronous: false,
            })
        })
        .collect();
    if !whole.is_empty() {
        ways.push(whole);
    }
    ways
}
