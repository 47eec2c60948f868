//! Schedules for nests that leave out the first elements of rows, as stencils do: groups of neighbours aligned all the
//! same, planes or rows of the outer loop kept in registers.

use warpsmith_ir::{Axis, SourceMap};

use super::wide::{Nest, stores_rows};
use super::{StepKind, take};
use crate::facts::Multiples;
use crate::rewrite::bounds::Edges;
use crate::rewrite::{align, bounds, register_tile, specialise, vectorise};

/// Threads of a block along x and y, for a nest of one, two and three loops.
const BLOCKS: [&[[u32; 2]]; 3] = [
    &[[128, 1], [256, 1], [512, 1]],
    &[[64, 1], [128, 1], [256, 1], [32, 8]],
    &[[32, 4], [32, 8], [64, 4], [128, 2]],
];
/// Iterations of a thread along the outermost bound loop: its neighbours share what they read, which stays in registers.
const PLANES: [&[u32]; 3] = [&[1], &[1, 4, 8], &[1, 2, 4, 8]];

/// Step lists for a nest whose innermost loop runs along rows and does not begin at a multiple of a vector.
pub(super) fn rows(nest: &Nest<'_>, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let ends = nest.loops.first().zip(nest.loops.last());
    let (Some(width), Some((first, inner))) = (nest.width(), ends) else { return vec![] };
    let Ok(state) = take(nest.kernel, &nest.bind([32, 1, 1]), sources) else { return vec![] };
    let Some(l) = state.kernel.loop_named(inner) else { return vec![] };
    let begins = Multiples::default().past_multiple(&l.first, width) == Some(0);
    if begins || nest.axes.last() != Some(&Axis::X) || !stores_rows(nest, l) {
        return vec![];
    }
    // Of rows in memory; for a single row, of the loop.
    let mut facts = nest.facts(width, &[]);
    if nest.loops.len() == 1 {
        facts = nest.facts(width, &[l]);
    }
    let of_loops = nest.loops.len().clamp(1, 3) - 1;
    let mut found = vec![];
    for [x, y] in BLOCKS[of_loops] {
        for planes in PLANES[of_loops] {
            let mut steps = vec![nest.bind([*x, *y, 1])];
            steps.extend(nest.kept.iter().cloned());
            if !facts.is_empty() {
                steps.push(StepKind::Specialise(specialise::Args { facts: facts.clone() }));
            }
            if *planes > 1 {
                let (target, factor) = (first.clone(), *planes);
                steps.push(StepKind::RegisterTile(register_tile::Args::of(target, factor)));
            }
            let target = || inner.clone();
            steps.push(StepKind::RegisterTile(register_tile::Args::of(target(), width)));
            steps.push(StepKind::Align(align::Args::of(target(), width)));
            steps.push(StepKind::Vectorise(vectorise::Args { target: target(), width }));
            steps.push(StepKind::Bounds(bounds::Args { edges: Edges::Peel }));
            found.push(steps);
        }
    }
    found
}
