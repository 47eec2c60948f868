//! Schedules that keep rows in registers between the loops over them: softmax, norms.

use super::{StepKind, wide};
use crate::rewrite::keep_rows::{self, Shape};

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
