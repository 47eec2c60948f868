//! Schedules for convolutions and long stencils: the image staged with its halo, its rows streamed through registers.

use warpsmith_ir::{Axis, Layout, LoopId, SourceMap};

use super::candidates::{serial_loops, unrolled, whole_stages};
use super::wide::Nest;
use super::{StepKind, take};
use crate::kernel::Kernel;
use crate::rewrite::{register_tile, specialise, stage, stream, unroll, vectorise};

/// Threads of a block along x and y.
const BLOCKS: [[u32; 2]; 6] = [[32, 8], [32, 4], [16, 16], [16, 8], [8, 16], [32, 16]];
/// Iterations of a thread along the streamed loop and along rows.
const TILES: [[u32; 2]; 6] = [[2, 4], [4, 4], [8, 4], [4, 2], [8, 2], [2, 2]];
/// Threads of a block, and iterations of a thread, for a single loop.
const LINES: [[u32; 2]; 6] = [[128, 4], [256, 4], [128, 8], [256, 8], [64, 8], [128, 16]];

/// Step lists for a nest that has a serial loop to stream along one of its bound loops. `state` is the nest bound, with
/// what is kept in constant memory and in registers.
pub(super) fn streams(nest: &Nest<'_>, state: &Kernel, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let stages = whole_stages(state, nest.root);
    let (along, row) = match nest.loops {
        [only] => (only, None),
        [.., along, row] => (along, Some(row)),
        [] => return vec![],
    };
    if nest.axes.last() != Some(&Axis::X) || stages.is_empty() {
        return vec![];
    }
    let Some(inner) = streamed(state, nest.root, along, sources) else { return vec![] };
    let mut unrolled = unrolled(state, nest.root, &[]);
    unrolled.retain(
        |s| !matches!(s, StepKind::Unroll(unroll::Args { target, .. }) if *target == inner),
    );
    let plan = Plan { nest, stages, along, row, inner, unrolled };
    match row {
        None => {
            LINES.iter().map(|[block, tile]| plan.steps([*block, 1], [*tile, 1], 0, 1)).collect()
        }
        Some(_) => plan.planes(),
    }
}

/// The first serial loop that can be streamed along a bound loop.
fn streamed(state: &Kernel, root: LoopId, along: &str, sources: &SourceMap) -> Option<String> {
    let tile = StepKind::RegisterTile(register_tile::Args::of(along.to_string(), 2));
    let tiled = take(state, &tile, sources).ok()?.kernel;
    let id = tiled.loop_named(along)?.id;
    let mut serial = serial_loops(&tiled, root).into_iter();
    serial.find(|l| stream::check(&tiled, l.id, id).is_ok()).map(|l| tiled.loop_name(l.id))
}

struct Plan<'p> {
    nest: &'p Nest<'p>,
    /// The arrays that are staged whole.
    stages: Vec<String>,
    along: &'p String,
    /// The bound loop along rows.
    row: Option<&'p String>,
    /// The streamed loop.
    inner: String,
    unrolled: Vec<StepKind>,
}

impl Plan<'_> {
    /// All shapes, without knowing the sizes and with copies and stores in vectors.
    fn planes(&self) -> Vec<Vec<StepKind>> {
        let mut found = vec![];
        for block in BLOCKS {
            for tile in TILES {
                for pad in [0, 2] {
                    // Two elements are aligned in rows of any even length.
                    if pad > 0 && tile[1] == 2 {
                        continue;
                    }
                    found.extend([4, 2, 1].map(|width| self.steps(block, tile, pad, width)));
                }
            }
        }
        found
    }

    /// One way; `width` is of the copies, and 1 knows nothing of the sizes.
    fn steps(&self, block: [u32; 2], tile: [u32; 2], pad: u32, width: u32) -> Vec<StepKind> {
        let mut steps = vec![self.nest.bind([block[0], block[1], 1])];
        if width > 1 {
            let row = self.row.and_then(|row| self.nest.kernel.loop_named(row));
            let facts = self.nest.facts(width.max(tile[1]), row.as_slice());
            steps.push(StepKind::Specialise(specialise::Args { facts }));
        }
        steps.extend(self.nest.kept.iter().cloned());
        steps.push(StepKind::RegisterTile(register_tile::Args::of(self.along.clone(), tile[0])));
        if let Some(row) = self.row {
            steps.push(StepKind::RegisterTile(register_tile::Args::of(row.clone(), tile[1])));
            steps
                .push(StepKind::Vectorise(vectorise::Args { target: row.clone(), width: tile[1] }));
        }
        for array in &self.stages {
            steps.push(StepKind::Stage(stage::Args {
                array: array.clone(),
                strip: None,
                layout: Layout { pad, ..Layout::default() },
                asynchronous: true,
            }));
            if width > 1 {
                steps.push(StepKind::Vectorise(vectorise::Args { target: array.clone(), width }));
            }
        }
        steps.extend(self.unrolled.iter().cloned());
        steps.push(StepKind::Stream(stream::Args {
            inner: self.inner.clone(),
            along: self.along.clone(),
        }));
        steps
    }
}
