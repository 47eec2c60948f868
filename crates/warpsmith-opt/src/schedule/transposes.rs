//! Schedules for nests that read an array along another loop than they write: transposes and other exchanges of
//! dimensions. A tile of what is read goes through shared memory, so that neighbouring threads have neighbouring elements
//! both ways.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{Axis, DimOrder, Layout, LoopId, SourceMap};

use super::wide::Nest;
use super::{StepKind, take};
use crate::analysis::access::{Access, AccessKind, Base, View};
use crate::analysis::footprint::Dim;
use crate::rewrite::{bind, register_tile, stage};

/// Threads of a block along x and y, and iterations of a thread along y: square tiles.
const TILES: [([u32; 2], u32); 4] = [([32, 8], 4), ([32, 16], 2), ([32, 4], 8), ([64, 8], 8)];
/// An element of padding after each row of a tile: the elements of a column lie in different banks.
const PADDED: Layout = Layout { pad: 1, order: DimOrder::Straight, swizzled: false };

/// Step lists for a nest whose rows of results are not the rows that it reads.
pub(super) fn tiles(nest: &Nest<'_>, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let mut pairs: Vec<(&String, &String)> = vec![];
    let written = rows(nest, |a| a.kind != AccessKind::Read);
    let read = rows(nest, |a| a.kind == AccessKind::Read);
    for across in &written {
        pairs.extend(read.iter().filter(|down| *down != across).map(|down| (*across, *down)));
    }
    let mut found = vec![];
    for (across, down) in pairs {
        for (block, factor) in TILES {
            found.extend(tile(nest, (across, down), block, factor, sources));
        }
    }
    found
}

/// Whether steps are some of [`tiles`].
pub(super) fn is_tile(steps: &[StepKind]) -> bool {
    let padded = |s: &StepKind| match s {
        StepKind::Stage(stage::Args { strip: None, layout, .. }) => *layout == PADDED,
        _ => false,
    };
    steps.iter().any(padded)
}

/// The bound loops along which rows of an array are accessed.
fn rows<'n>(nest: &Nest<'n>, wanted: impl Fn(&Access<'_>) -> bool) -> Vec<&'n String> {
    let mut found: Vec<&String> = vec![];
    nest.each_access(&mut |a| {
        let View::Affine { index, .. } = &a.view else { return };
        let (true, Some(last)) = (wanted(a), index.last()) else { return };
        for l in &a.loops {
            let alone = last.sub(&Poly::var(l.var)).is_some_and(|rest| !rest.mentions(l.var));
            let name = nest.loops.iter().find(|n| **n == nest.kernel.loop_name(l.id));
            found.extend(name.filter(|_| alone && last.mentions(l.var)));
        }
    });
    found.sort();
    found.dedup();
    found
}

/// With x along the rows that are written, y along those that are read, and a tile of these in shared memory.
fn tile(
    nest: &Nest<'_>,
    (across, down): (&String, &String),
    [x, y]: [u32; 2],
    factor: u32,
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let axis = |name: &String| match name {
        n if n == across => Axis::X,
        n if n == down => Axis::Y,
        _ => Axis::Z,
    };
    let axes = nest.loops.iter().map(axis).collect();
    let mut steps =
        vec![StepKind::Bind(bind::Args { loops: nest.loops.to_vec(), axes, block: [x, y, 1] })];
    steps.extend(nest.kept.iter().cloned());
    steps.push(StepKind::RegisterTile(register_tile::Args::of(down.clone(), factor)));
    let mut state = nest.kernel.clone();
    for step in &steps {
        state = take(&state, step, sources).ok()?.kernel;
    }
    let (across, down) = (state.loop_named(across)?.id, state.loop_named(down)?.id);
    let mut copies = vec![];
    nest.each_access(&mut |a| {
        let Base::Var(v) = a.base else { return };
        let name = state.name_of(v).to_string();
        let Ok(legal) = stage::check(&state, &name, None, PADDED, false) else { return };
        for name in legal.names_where(|row| runs_along(row, down) && !runs_along(row, across)) {
            if !copies.contains(&name) {
                copies.push(name);
            }
        }
    });
    let copy = |array: String| {
        StepKind::Stage(stage::Args { array, strip: None, layout: PADDED, asynchronous: false })
    };
    let any = !copies.is_empty();
    steps.extend(copies.into_iter().map(copy));
    any.then_some(steps)
}

/// Whether the elements of a row of a copy are neighbours along a bound loop.
fn runs_along(row: &Dim, id: LoopId) -> bool {
    row.terms.iter().any(|(counter, factor)| counter.id() == id && *factor == 1)
}
