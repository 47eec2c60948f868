//! Schedules for nests over triangles, trapezoids and bands, and sums under conditions: their rectangle is computed in tiles as any
//! other.

use warpsmith_ir::{ForLoop, LoopId, SourceMap, StmtKind};

use super::candidates::{accumulated, constant_count, serial_loops};
use super::{StepKind, take};
use crate::kernel::{Kernel, only_loop};
use crate::rewrite::interchange;
use crate::rewrite::rectangle::{self, under};
use crate::rewrite::residue;
use crate::rewrite::wrap;
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
    let step = |target| StepKind::Rectangle(rectangle::Args::of(target));
    taken.extend(repeated(&mut state, sources, widening, step));
    after(&taken, alternatives(&state, root, sources))
}

/// Every step list for the nest whose remainders are comparisons where they only wrap around; none where there are no such.
pub(super) fn of_wraps(
    kernel: &Kernel,
    root: LoopId,
    sources: &SourceMap,
    alternatives: Alternatives,
) -> Vec<Vec<StepKind>> {
    let step = StepKind::Wrap(wrap::Args::of(kernel.loop_name(root)));
    match take(kernel, &step, sources) {
        Ok(next) => after(&[step], alternatives(&next.kernel, root, sources)),
        Err(_) => vec![],
    }
}

/// Every step list for the nest whose loops go through the iterations only in which a remainder is zero; none where no loop asks for
/// one.
pub(super) fn of_residues(
    kernel: &Kernel,
    root: LoopId,
    sources: &SourceMap,
    alternatives: Alternatives,
) -> Vec<Vec<StepKind>> {
    let mut state = kernel.clone();
    let asks = |state: &Kernel| {
        let mut loops = serial_loops(state, root).into_iter().map(|l| l.id);
        loops.find(|id| residue::check(state, *id).is_ok())
    };
    let step = |target| StepKind::Residue(residue::Args::of(target));
    let taken = repeated(&mut state, sources, asks, step);
    if taken.is_empty() {
        return vec![];
    }
    let mut found = alternatives(&state, root, sources);
    found.extend(of_rectangle(&state, root, sources, alternatives));
    found.extend(of_inner_sum(&state, root, sources, alternatives));
    after(&taken, found)
}

/// Every step list for the nest with a sum over channels inside of the window that it stands around, where conditions of the window are
/// in its way: as innermost it is a sum of products for each place of the window, whose operands are staged in strips.
pub(super) fn of_inner_sum(
    kernel: &Kernel,
    root: LoopId,
    sources: &SourceMap,
    alternatives: Alternatives,
) -> Vec<Vec<StepKind>> {
    let windowed = |kernel: &Kernel, l: &ForLoop| {
        constant_count(kernel, l).is_none()
            && interchange::inner_of(l).is_some_and(|i| constant_count(kernel, i).is_some())
    };
    let sum = |kernel: &Kernel| {
        let sums = serial_loops(kernel, root).into_iter();
        let mut sums = sums.filter(|l| windowed(kernel, l) && is_under_condition(l));
        sums.next().map(|l| kernel.loop_name(l.id))
    };
    let (mut state, mut taken) = (kernel.clone(), vec![]);
    while let Some(outer) = sum(&state) {
        let step = StepKind::Interchange(interchange::Args::of(outer));
        let Ok(next) = take(&state, &step, sources) else { return vec![] };
        (state, _) = (next.kernel, taken.push(step));
    }
    if taken.is_empty() {
        return vec![];
    }
    after(&taken, alternatives(&state, root, sources))
}

/// Takes a step at one loop after the other, as long as there is one that may take it.
fn repeated(
    state: &mut Kernel,
    sources: &SourceMap,
    next_loop: impl Fn(&Kernel) -> Option<LoopId>,
    step: impl Fn(String) -> StepKind,
) -> Vec<StepKind> {
    let mut taken = vec![];
    while let Some(id) = next_loop(state) {
        let step = step(state.loop_name(id));
        let Ok(next) = take(state, &step, sources) else { break };
        (*state, _) = (next.kernel, taken.push(step));
    }
    taken
}

/// The step lists, each after the steps that were taken first.
fn after(taken: &[StepKind], ways: Vec<Vec<StepKind>>) -> Vec<Vec<StepKind>> {
    ways.into_iter().map(|steps| [taken, &steps].concat()).collect()
}

/// Whether all that the innermost of the loops in a body does is under a condition.
fn is_under_condition(l: &ForLoop) -> bool {
    match l.body.stmts.last().map(|s| &s.kind) {
        Some(StmtKind::For(inner)) => is_under_condition(inner),
        Some(StmtKind::If { otherwise, .. }) => otherwise.stmts.is_empty(),
        _ => false,
    }
}
