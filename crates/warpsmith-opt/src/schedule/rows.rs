//! Schedules whose blocks have whole rows: kept in registers between the loops over them (softmax, norms), or gone through
//! together where iterations use sums so far.

use warpsmith_ir::{LoopId, SourceMap};

use super::candidates::serial_loops;
use super::{StepKind, derive, take, wide};
use crate::kernel::Kernel;
use crate::rewrite::keep_rows::{self, Shape};
use crate::rewrite::{carry, normalise, scan};

/// Threads of a row, elements of each, and rows of a block; rows of 256 to 32768 elements.
const SHAPES: [(u32, u32, u32); 18] = [
    (8, 16, 16),
    (16, 16, 8),
    (32, 8, 4),
    (32, 16, 4),
    (32, 32, 4),
    (64, 8, 2),
    (64, 16, 2),
    (128, 8, 1),
    (128, 16, 1),
    (256, 4, 1),
    (256, 8, 1),
    (256, 16, 1),
    (256, 32, 1),
    (512, 8, 1),
    (512, 16, 1),
    (1024, 8, 1),
    (1024, 16, 1),
    (1024, 32, 1),
];

/// The step in each shape before the steps for rows that it does not take.
pub(super) fn kept(nest: &wide::Nest<'_>, longer: &[StepKind]) -> Vec<Vec<StepKind>> {
    let widths = [nest.width().unwrap_or(1), 1];
    let steps = SHAPES.iter().filter_map(|(threads, each, rows)| {
        let shapes =
            widths.map(|vector| Shape { threads: *threads, each: *each, vector, rows: *rows });
        let legal = |s: &Shape| keep_rows::check(nest.kernel, nest.root, *s).is_ok();
        let target = nest.kernel.loop_name(nest.root);
        Some(StepKind::KeepRows(keep_rows::Args { target, shape: shapes.into_iter().find(legal)? }))
    });
    steps.map(|step| [&[step], longer].concat()).collect()
}

/// Threads of a row and rows of a block, where rows have any length.
const SCANS: [(u32, u32); 8] =
    [(8, 16), (16, 8), (32, 4), (64, 2), (128, 1), (256, 1), (512, 1), (1024, 1)];

/// `scan` of each loop that it can take, in vectors where there are any; the nest that is left bound as the direct translation
/// binds it.
pub(super) fn scanned(nest: &wide::Nest<'_>, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let mut found = vec![];
    for l in serial_loops(nest.kernel, nest.root) {
        let target = nest.kernel.loop_name(l.id);
        let up = StepKind::Normalise(normalise::Args::of(target.clone()));
        let carry = StepKind::Carry(carry::Args::of(target));
        let (mut first, mut kernel) = (vec![], nest.kernel.clone());
        for step in [up, carry.clone()] {
            if let Ok(taken) = take(&kernel, &step, sources) {
                kernel = taken.kernel;
                first.push(step);
            }
        }
        let scans = SCANS.iter().filter_map(|shape| scan_of(nest, &kernel, l.id, *shape));
        found.extend(scans.map(|steps| [first.clone(), steps].concat()));
        if first.contains(&carry) {
            first.push(derive::step_for(nest.kernel, nest.root));
            found.push(first);
        }
    }
    found
}

fn scan_of(
    nest: &wide::Nest<'_>,
    kernel: &Kernel,
    target: LoopId,
    (threads, rows): (u32, u32),
) -> Option<Vec<StepKind>> {
    let widths = [nest.width().unwrap_or(1), 1];
    let mut shapes = widths.map(|vector| Shape { threads, each: vector, vector, rows }).into_iter();
    let (shape, left) = shapes.find_map(|shape| {
        let legal = scan::check(kernel, target, shape).ok()?;
        legal.is_natural().then(|| (shape, legal.leaves_any()))
    })?;
    let target = kernel.loop_name(target);
    let step = StepKind::Scan(scan::Args { target, threads, vector: shape.vector, rows });
    let rest = left.then(|| derive::step_for(nest.kernel, nest.root));
    Some([step].into_iter().chain(rest).collect())
}
