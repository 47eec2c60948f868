//! Schedules for nests over triangles, trapezoids and bands, and sums under conditions: their rectangle is computed in tiles as any
//! other.

use warpsmith_ir::{ForLoop, LoopId, SourceMap};

use super::candidates::{accumulated, serial_loops};
use super::{StepKind, take};
use crate::kernel::{Kernel, only_loop};
use crate::rewrite::rectangle::{self, under};
use crate::walk;

/// Step lists for a nest, by whichever templates suit it.
type Alternatives = fn(&Kernel, LoopId, &SourceMap) -> Vec<Vec<StepKind>>;

/// Every step list for the rectangle of the nest, after the steps that make it one; none where it is one already.
pub(super) fn of_rectangle(
    kernel: &Kernel,
    root: LoopId,
    sources: &SourceMap,
    alternatives: Alternatives,
) -> Vec<Vec<StepKind>> {
    let mut state = kernel.clone();
    let mut taken = vec![];
    let widening = |state: &Kernel| {
        let chain = std::iter::successors(state.find_loop(root), |l| only_loop(&l.body));
        let innermost = |l: &ForLoop| walk::for_loops(&l.body).is_empty();
        let sums = serial_loops(state, root).into_iter();
        let sums = sums.filter(|l| innermost(l) || under::may_sink(state, l.id));
        let ids: Vec<LoopId> = chain.chain(sums).map(|l| l.id).collect();
        // From the inside out: an inner loop's range may depend on one whose range changes.
        ids.into_iter().rev().find(|id| rectangle::check(state, *id).is_ok())
    };
    if widening(&state).is_none() {
        return vec![];
    }
    // What is kept in a register is no effect, so that its loop is one that all iterations may run.
    for step in accumulated(&state, root) {
        if let Ok(next) = take(&state, &step, sources) {
            (state, _) = (next.kernel, taken.push(step));
        }
    }
    while let Some(id) = widening(&state) {
        let step = StepKind::Rectangle(rectangle::Args { target: state.loop_name(id) });
        let Ok(next) = take(&state, &step, sources) else { break };
        (state, _) = (next.kernel, taken.push(step));
    }
    let ways = alternatives(&state, root, sources).into_iter();
    ways.map(|steps| [&taken[..], &steps].concat()).collect()
}
