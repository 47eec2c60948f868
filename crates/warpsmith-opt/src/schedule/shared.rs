//! Schedules in which threads share the sums of a nest: products of a matrix and a vector, norms of rows or columns,
//! softmax. What such nests read is used once, so that all that counts is how it is read: side by side, in vectors, with
//! many loads on their way.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{Axis, ForLoop, LoopId, ReduceOp, SourceMap, VarId, updates};

use super::candidates::serial_loops;
use super::{StepKind, take, wide};
use crate::analysis::access::{Access, View};
use crate::kernel::Kernel;
use crate::rewrite::specialise::Fact;
use crate::rewrite::{bind, register_tile, share, specialise, unroll, vectorise};
use crate::walk;

/// Threads that share a row, and rows of a block.
const ROWS: [(u32, u32); 7] =
    [(8, 16), (32, 4), (32, 8), (64, 2), (128, 1), (256, 1), (MOST_THREADS, 1)];
/// Of a block: for nests with fewer iterations than the device has places for blocks.
const MOST_THREADS: u32 = 1024;
/// The same where each block has one row.
const LONG_ROWS: [(u32, u32); 2] = [(128, 1), (256, 1)];
/// The same where a thread puts together what it does to each column of several rows, and these rows.
const UPDATES: [(u32, u32); 4] = [(32, 4), (64, 2), (128, 1), (256, 1)];
const UPDATED: [u32; 4] = [1, 8, 16, 32];
/// Threads that share a loop, and iterations of the nest in a block, where rows are of no matter.
const MORE: [(u32, u32); 5] = [(8, 16), (32, 4), (32, 8), (128, 1), (256, 1)];
/// Threads along x, and threads that share a column.
const COLUMNS: [(u32, u32); 6] = [(32, 4), (32, 8), (32, 16), (32, 32), (64, 8), (64, 16)];

/// A way to share the loops of a nest.
struct Plan<'p> {
    /// Names of the shared loops.
    loops: Vec<String>,
    /// Those that begin at a multiple of every vector.
    aligned: Vec<String>,
    /// The steps that bind the nest and share the loops.
    steps: Vec<StepKind>,
    /// The bound loop whose iterations a thread has several of.
    tiled: &'p String,
}

/// Threads along x share loops that run along rows.
pub(super) fn along_rows(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    rows_shared_by(nest, state, (&ROWS, &[1, 2, 4]), sources)
}

/// A block shares the rows of one iteration of the nest.
pub(super) fn along_long_rows(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    rows_shared_by(nest, state, (&LONG_ROWS, &[1]), sources)
}

/// Threads along x share loops that run along rows: so many threads and rows of a block, and rows of a thread.
fn rows_shared_by(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    (shapes, tiles): (&[(u32, u32)], &[u32]),
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let Some((_, tiled)) = innermost(nest) else { return vec![] };
    let Some(l) = state.loop_named(tiled) else { return vec![] };
    let mut found = vec![];
    let along = with_exact(state, contiguous(nest, state));
    let shapes = along.iter().flat_map(|along| shapes.iter().map(move |shape| (along, *shape)));
    for (along, (threads, rows)) in shapes {
        let Some(mut plan) = Plan::along_x(nest, along, (threads, rows), sources) else {
            continue;
        };
        let limits: Vec<&ForLoop> = along.iter().filter_map(|id| state.find_loop(*id)).collect();
        let begins = |l: &&&ForLoop| l.first.as_const().is_some_and(|v| v.as_i64() % 4 == 0);
        let names = limits.iter().filter(begins).map(|l| state.loop_name(l.id));
        plan.aligned = names.filter(|n| plan.loops.contains(n)).collect();
        let vectors = !plan.aligned.is_empty();
        let whole = |tile: &u32| threads == MOST_THREADS && *tile > 1;
        for tile in tiles.iter().copied().filter(|t| !whole(t)) {
            for unroll in [1, 4] {
                found.push(plan.steps(tile, unroll, None));
                let Some(width) = nest.width().filter(|_| vectors) else { continue };
                let mut facts = nest.facts(width, &limits);
                if tile > 1 {
                    wide::whole(state, l, rows * tile, &mut facts);
                }
                found.push(plan.steps(tile, unroll, Some((facts, width))));
            }
        }
    }
    found
}

/// Threads along x share loops that run along rows and update what belongs to columns.
pub(super) fn around_updates(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let along = contiguous(nest, state);
    let plans = UPDATES.iter().filter_map(|shape| Plan::along_x(nest, &along, *shape, sources));
    plans.flat_map(|plan| UPDATED.map(|tile| plan.steps(tile, 1, None))).collect()
}

/// One way to share the rows of a nest, whatever their length and alignment.
pub(super) fn any_rows(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let along = contiguous(nest, state);
    Some(Plan::along_x(nest, &along, (256, 1), sources)?.steps(1, 4, None))
}

/// Threads along x share the outermost serial loops, whatever these read: where a nest has few iterations (bodies, points
/// that look for their neighbours), more threads than these are needed to fill the device.
pub(super) fn for_more_threads(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let along = contiguous(nest, state);
    let loops = serial_loops(state, nest.root);
    let inside = |id| loops.iter().any(|l| walk::find_loop(&l.body, id).is_some());
    let outermost: Vec<LoopId> =
        loops.iter().map(|l| l.id).filter(|id| !inside(*id) && !along.contains(id)).collect();
    if outermost.is_empty() {
        return vec![];
    }
    let mut found = vec![];
    for shape in MORE {
        let Some(plan) = Plan::along_x(nest, &outermost, shape, sources) else { continue };
        for tile in [1, 4] {
            for unroll in [1, 4] {
                found.push(plan.steps(tile, unroll, None));
            }
        }
    }
    found
}

/// Threads along y share loops that run down columns, side by side along x.
pub(super) fn down_columns(
    nest: &wide::Nest<'_>,
    state: &Kernel,
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let Some((inner, tiled)) = innermost(nest) else { return vec![] };
    let Some(l) = state.loop_named(tiled) else { return vec![] };
    let down: Vec<LoopId> = serial_loops(state, nest.root)
        .into_iter()
        .filter(|s| reads_beside(nest, l.var, &[l.id, s.id]))
        .map(|s| s.id)
        .collect();
    if nest.axes.last() != Some(&Axis::X) {
        return vec![];
    }
    let mut found = vec![];
    let down = with_exact(state, down);
    for (down, (beside, threads)) in down.iter().flat_map(|d| COLUMNS.map(|shape| (d, shape))) {
        let bind = bound(inner, Axis::X, [beside, 1, 1]);
        let Some((loops, steps)) = sharing(nest, bind, down, (Axis::Y, threads), sources) else {
            continue;
        };
        let plan = Plan { loops, aligned: vec![], steps, tiled };
        for unroll in [1, 4, 8] {
            found.push(plan.steps(1, unroll, None));
            let Some(width) = nest.width() else { continue };
            let mut facts = nest.facts(width, &[l]);
            wide::whole(state, l, beside * width, &mut facts);
            found.push(plan.columns(unroll, facts, width));
        }
    }
    found
}

/// The innermost bound loops, two at most, and the last of them.
fn innermost<'n>(nest: &wide::Nest<'n>) -> Option<(&'n [String], &'n String)> {
    let inner = &nest.loops[nest.loops.len().saturating_sub(2)..];
    Some((inner, inner.last()?))
}

/// One loop along the axis, or the outer one of two along z.
fn bound(loops: &[String], axis: Axis, block: [u32; 3]) -> StepKind {
    let axes = [Axis::Z, axis][2 - loops.len()..].to_vec();
    StepKind::Bind(bind::Args { loops: loops.to_vec(), axes, block })
}

impl<'p> Plan<'p> {
    /// So many threads along x share the loops, of so many iterations of the nest's innermost loop in a block.
    fn along_x(
        nest: &wide::Nest<'p>,
        loops: &[LoopId],
        (threads, rows): (u32, u32),
        sources: &SourceMap,
    ) -> Option<Plan<'p>> {
        let (inner, tiled) = innermost(nest)?;
        let bind = bound(inner, Axis::Y, [1, rows, 1]);
        let (loops, steps) = sharing(nest, bind, loops, (Axis::X, threads), sources)?;
        Some(Plan { loops, aligned: vec![], steps, tiled })
    }

    fn unrolled(&self, by: u32) -> impl Iterator<Item = StepKind> + '_ {
        let by = (by > 1).then_some(by);
        by.into_iter().flat_map(|by| {
            self.loops.iter().map(move |l| {
                StepKind::Unroll(unroll::Args { target: l.clone(), factor: Some(by) })
            })
        })
    }

    /// With so many rows a thread; in vectors along the rows, where facts are given.
    fn steps(
        &self,
        tile: u32,
        unroll: u32,
        vectors: Option<(Vec<(String, Fact)>, u32)>,
    ) -> Vec<StepKind> {
        let mut steps = self.steps.clone();
        if tile > 1 {
            steps.push(StepKind::RegisterTile(register_tile::Args::of(self.tiled.clone(), tile)));
        }
        steps.extend(self.unrolled(unroll));
        if let Some((facts, width)) = vectors {
            steps.push(StepKind::Specialise(specialise::Args { facts }));
            let along = self
                .aligned
                .iter()
                .map(|l| StepKind::Vectorise(vectorise::Args { target: l.clone(), width }));
            steps.extend(along);
        }
        steps
    }

    /// With a vector of columns a thread.
    fn columns(&self, unroll: u32, facts: Vec<(String, Fact)>, width: u32) -> Vec<StepKind> {
        let mut steps = self.steps.clone();
        steps.extend(self.unrolled(unroll));
        steps.push(StepKind::Specialise(specialise::Args { facts }));
        steps.push(StepKind::RegisterTile(register_tile::Args::of(self.tiled.clone(), width)));
        steps.push(StepKind::Vectorise(vectorise::Args { target: self.tiled.clone(), width }));
        steps
    }
}

/// The steps that bind the nest and share as many of the loops as can be, with the names of these.
fn sharing(
    nest: &wide::Nest<'_>,
    bind: StepKind,
    loops: &[LoopId],
    (axis, threads): (Axis, u32),
    sources: &SourceMap,
) -> Option<(Vec<String>, Vec<StepKind>)> {
    let mut state = take(nest.kernel, &bind, sources).ok()?.kernel;
    let mut steps = vec![bind];
    for step in nest.kept.iter().filter(|s| !matches!(s, StepKind::Constant(_))) {
        state = take(&state, step, sources).ok()?.kernel;
        steps.push(step.clone());
    }
    let share = |names: Vec<String>| StepKind::Share(share::Args { loops: names, axis, threads });
    let name = |id: &LoopId| state.loop_name(*id);
    let all: Vec<String> = loops.iter().map(name).collect();
    let legal = |names: &[String]| take(&state, &share(names.to_vec()), sources).is_ok();
    let names = match legal(&all) {
        true => all,
        false => all.into_iter().filter(|n| legal(std::slice::from_ref(n))).collect(),
    };
    let found = !names.is_empty() && legal(&names);
    found.then(|| {
        steps.push(share(names.clone()));
        (names, steps)
    })
}

/// Serial loops along which rows of an array are read that no other iteration of the nest reads.
fn contiguous(nest: &wide::Nest<'_>, state: &Kernel) -> Vec<LoopId> {
    let loops = serial_loops(state, nest.root).into_iter();
    loops.filter(|l| reads_beside(nest, l.var, &[l.id])).map(|l| l.id).collect()
}

/// The loops; and those alone that add up no reals, where others do: integers may depend on these sums, whose order must
/// then stay.
fn with_exact(state: &Kernel, loops: Vec<LoopId>) -> Vec<Vec<LoopId>> {
    let adds_reals = |id: &LoopId| {
        let mut adds = false;
        let body = state.find_loop(*id).map(|l| &l.body);
        body.into_iter().for_each(|body| {
            walk::each_stmt(body, &mut |s| {
                let update = updates::update_of(s).and_then(Result::ok);
                adds |= update.is_some_and(|u| {
                    u.place.ty.is_float() && matches!(u.class(), ReduceOp::Add | ReduceOp::Mul)
                });
            });
        });
        adds
    };
    let exact: Vec<LoopId> = loops.iter().copied().filter(|id| !adds_reals(id)).collect();
    let some = !exact.is_empty() && exact.len() < loops.len();
    let mut found = vec![loops];
    found.retain(|l| !l.is_empty());
    found.extend(some.then_some(exact));
    found
}

/// Whether something is read of which neighbouring elements belong to neighbouring values of the counter, that moves
/// with all the loops that are given and with all bound ones.
fn reads_beside(nest: &wide::Nest<'_>, counter: VarId, with: &[LoopId]) -> bool {
    let mut found = false;
    nest.each_access(&mut |a| found |= is_beside(nest, a, counter, with));
    found
}

pub(super) fn is_beside(
    nest: &wide::Nest<'_>,
    a: &Access<'_>,
    counter: VarId,
    with: &[LoopId],
) -> bool {
    let View::Affine { index, .. } = &a.view else { return false };
    // Rows of a sparse matrix lie where the bounds of the loop along them say.
    let begins = |inner: &&ForLoop, l: &ForLoop| {
        let mut own = false;
        walk::each_var(&inner.first, &mut |v| own |= v == l.var);
        own && with.contains(&inner.id)
    };
    let moves = |l: &&&ForLoop| {
        index.iter().any(|p| p.mentions(l.var)) || a.loops.iter().any(|inner| begins(inner, l))
    };
    let bound = |l: &ForLoop| nest.loops.iter().any(|n| *n == nest.kernel.loop_name(l.id));
    let needed = |l: &&&ForLoop| with.contains(&l.id) || bound(l);
    let all = with.iter().all(|id| a.loops.iter().any(|l| l.id == *id));
    let beside = index.last().is_some_and(|p| {
        let rest = p.sub(&Poly::var(counter));
        rest.is_some_and(|r| !r.mentions(counter))
    });
    let mut wanted = a.loops.iter().filter(needed);
    all && beside && wanted.all(|l| moves(&l))
}
