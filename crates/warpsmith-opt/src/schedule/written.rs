//! Schedules for nests whose threads write rows or structures of their own, so that neighbouring threads write elements far
//! apart: running sums and recurrences along rows, small matrices, points of a few coordinates. What a block writes goes
//! through shared memory, like what it reads, and leaves it by neighbours.

use warpsmith_ir::poly::Atom;
use warpsmith_ir::{Layout, SourceMap};

use super::candidates::serial_loops;
use super::wide::Nest;
use super::{StepKind, shared, take};
use crate::analysis::access::{Access, AccessKind, Base, View};
use crate::analysis::loops::unit_step;
use crate::kernel::Kernel;
use crate::rewrite::{share, stage, unroll};
use crate::walk;

/// Threads of a block.
const ROWS: [u32; 2] = [32, 64];
/// Iterations of a strip, all of which are written out. Running sums of 16384 rows of 4096 floats take 541 us on an H100 so, by
/// 32 threads a block; in strips of 8, 32 and 64 they take 635, 887 and 878.
const STRIP: u32 = 16;
/// Threads of a block that has structures.
const BLOCKS: [u32; 3] = [64, 128, 256];
/// Elements of a structure, at most.
const MOST: i128 = 32;

/// Step lists for a nest with a serial loop along rows that threads cannot share, and that writes them.
pub(super) fn rows(nest: &Nest<'_>, state: &Kernel, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let mut found = vec![];
    for l in serial_loops(state, nest.root) {
        let along = |a: &Access<'_>| shared::is_beside(nest, a, l.var, &[l.id]);
        let mut writes = false;
        nest.each_access(&mut |a| writes |= a.kind == AccessKind::Write && along(a));
        let name = state.loop_name(l.id);
        if !writes || !unit_step(l) || is_shareable(state, &name, sources) {
            continue;
        }
        let arrays = arrays_where(nest, along);
        for threads in ROWS {
            let layout = Layout { pad: 1, ..Layout::default() };
            let at = Some((name.clone(), STRIP));
            let steps = staged(nest, threads, &arrays, (&at, layout), sources);
            let unroll = unroll::Args { target: name.clone(), factor: Some(16) };
            found.extend(steps.map(|s| [s, vec![StepKind::Unroll(unroll)]].concat()));
        }
        // One loop of a nest goes through strips.
        break;
    }
    found
}

/// Step lists for a nest of one loop whose iterations write several neighbouring elements each.
pub(super) fn structures(nest: &Nest<'_>, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let Some(l) = nest.loops.last().and_then(|name| nest.kernel.loop_named(name)) else {
        return vec![];
    };
    let apart = |a: &Access<'_>| {
        let View::Affine { index, .. } = &a.view else { return false };
        let counter = Atom::Var(l.var);
        let factor = index.last().and_then(|p| p.split(&counter)?.0.as_constant()).unwrap_or(0);
        (2..=MOST).contains(&factor)
    };
    let mut writes = false;
    nest.each_access(&mut |a| writes |= a.kind == AccessKind::Write && apart(a));
    if nest.loops.len() > 1 || !writes {
        return vec![];
    }
    let arrays = arrays_where(nest, apart);
    let all = BLOCKS
        .iter()
        .filter_map(|threads| staged(nest, *threads, &arrays, (&None, Layout::default()), sources));
    all.collect()
}

fn is_shareable(state: &Kernel, name: &str, sources: &SourceMap) -> bool {
    let (loops, axis) = (vec![name.to_string()], warpsmith_ir::Axis::Y);
    take(state, &StepKind::Share(share::Args { loops, axis, threads: 2 }), sources).is_ok()
}

/// Names of the arrays with such accesses, in source order.
fn arrays_where(nest: &Nest<'_>, wanted: impl Fn(&Access<'_>) -> bool) -> Vec<String> {
    let mut found = vec![];
    nest.each_access(&mut |a| {
        let Base::Var(v) = a.base else { return };
        let name = nest.kernel.name_of(v).to_string();
        if wanted(a) && !found.contains(&name) {
            found.push(name);
        }
    });
    found
}

/// The nest bound to so many threads a block, and all of the arrays staged that can be; `None` where nothing written can.
fn staged(
    nest: &Nest<'_>,
    threads: u32,
    arrays: &[String],
    (strip, layout): (&Option<(String, u32)>, Layout),
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let bind = nest.bind([threads, 1, 1]);
    let mut state = take(nest.kernel, &bind, sources).ok()?.kernel;
    let mut steps = vec![bind];
    for step in nest.kept {
        state = take(&state, step, sources).ok()?.kernel;
        steps.push(step.clone());
    }
    let mut any = false;
    for array in arrays {
        let step = StepKind::Stage(stage::Args {
            array: array.clone(),
            strip: strip.clone(),
            layout,
            asynchronous: false,
        });
        let Ok(next) = take(&state, &step, sources) else { continue };
        (state, _) = (next.kernel, steps.push(step));
        any |= is_written(nest, array);
    }
    any.then_some(steps)
}

fn is_written(nest: &Nest<'_>, array: &str) -> bool {
    let Some(l) = nest.kernel.find_loop(nest.root) else { return false };
    let mut found = false;
    walk::each_stmt(&l.body, &mut |s| {
        let place = walk::operands(s).writes.filter(|p| p.root_var().is_none());
        found |= place.is_some_and(|p| match crate::analysis::access::base_of(p) {
            Base::Var(v) => nest.kernel.name_of(v) == array,
            _ => false,
        });
    });
    found
}
