//! The schedule of the direct translation: every marked nest is bound, every reduction spread, nothing else.

use warpsmith_ir::{Axis, Diagnostic, LoopId, SourceMap};

use super::{Schedule, Step, StepKind, take};
use crate::kernel::{Kernel, Reduce, only_loop};
use crate::rewrite::question::independence;
use crate::rewrite::{bind, reduce};

/// Default blocks: 256 threads, wide along x, where neighbours in memory are.
const BLOCKS: [[u32; 3]; 3] = [[256, 1, 1], [32, 8, 1], [32, 4, 2]];
/// Default shape of a reduction.
const REDUCE: Reduce = Reduce { block: [256, 1, 1], grid: [256, 1, 1] };
/// Where no size can be tried at which those have a second turn.
const FEW: Reduce = Reduce { block: [32, 1, 1], grid: [4, 1, 1] };

/// Makes the schedule of the direct translation: the up to three innermost loops of every nest of marked loops go to
/// the axes, the innermost to x; a nest with a reduction is reduced.
///
/// # Errors
/// One diagnostic for each wrongly marked loop.
pub fn derive(kernel: &Kernel, sources: &SourceMap) -> Result<Schedule, Vec<Diagnostic>> {
    if let Err(refusals) = independence::check_marks(kernel) {
        return Err(refusals.iter().map(|r| r.diagnostic(kernel)).collect());
    }
    let mut schedule = Schedule::default();
    let mut state = kernel.clone();
    for root in kernel.marked_roots() {
        let kind = step_for(&state, root);
        // Later steps look at what earlier ones left: a second reduction of one variable is the next nest's.
        match take(&state, &kind, sources) {
            Ok(rewritten) => state = rewritten.kernel,
            Err(error) => {
                let step = Step { kind, span: None };
                return Err(vec![super::explain(&state, error, schedule.steps.len(), &step)]);
            }
        }
        schedule.steps.push(Step { kind, span: None });
    }
    Ok(schedule)
}

/// The same with so few blocks of each reduction that they go on in strides at small sizes as well, and smaller blocks of vectors;
/// `None` where nothing is reduced.
pub fn with_fewer_blocks(schedule: &Schedule) -> Option<Schedule> {
    let mut fewer = schedule.clone();
    let mut changed = false;
    for step in &mut fewer.steps {
        match &mut step.kind {
            StepKind::Reduce(args) => {
                args.shape = FEW;
                changed = true;
            }
            StepKind::Bind(args) if args.block == BLOCKS[0] => args.block = [64, 1, 1],
            _ => {}
        }
    }
    changed.then_some(fewer)
}

pub(super) fn step_for(kernel: &Kernel, root: LoopId) -> StepKind {
    let (group, clauses) = independence::group_of(kernel, root);
    if let Some(first) = clauses.reductions.first() {
        return StepKind::Reduce(reduce::Args {
            var: kernel.name_of(first.var).into(),
            shape: REDUCE,
        });
    }
    bind_of(kernel, &group)
}

/// The outermost loop and the `bind` of a nest with the loops directly around and directly inside that are not marked
/// but provably parallel; `None` where there are none.
pub(super) fn wider(kernel: &Kernel, root: LoopId) -> Option<(LoopId, StepKind)> {
    let (marked, clauses) = independence::group_of(kernel, root);
    if !clauses.reductions.is_empty() {
        return None;
    }
    let mut group = marked.clone();
    let proved = |group: &[LoopId], id: LoopId| {
        independence::check(kernel, id, &[group, &[id]].concat(), &clauses)
            .is_ok_and(|found| found.proved())
    };
    let inside = |id: LoopId| kernel.find_loop(id).and_then(|l| only_loop(&l.body));
    while let Some(inner) = group.last().and_then(|last| inside(*last))
        && proved(&group, inner.id)
    {
        group.push(inner.id);
    }
    for outer in kernel.loops_around(root).into_iter().rev() {
        let directly = inside(outer.id).is_some_and(|l| l.id == group[0]);
        if !directly || !proved(&group, outer.id) {
            break;
        }
        group.insert(0, outer.id);
    }
    (group != marked).then(|| (group[0], bind_of(kernel, &group)))
}

/// Of more than three loops the innermost are bound; the thread runs the outer ones.
fn bind_of(kernel: &Kernel, group: &[LoopId]) -> StepKind {
    let rectangular = reduce::rectangular_prefix(kernel, group);
    let bound = &rectangular[rectangular.len().saturating_sub(3)..];
    let axes: Vec<Axis> = Axis::ALL[..bound.len()].iter().rev().copied().collect();
    let block = BLOCKS[bound.len().clamp(1, 3) - 1];
    StepKind::Bind(bind::Args {
        loops: bound.iter().map(|id| kernel.loop_name(*id)).collect(),
        axes,
        block,
    })
}
