//! Whether the copies of a nest can be made, and fit in shared memory together.

use warpsmith_ir::LoopId;

use super::reached::reached_by_all;
use super::refused::refused;
use super::{team, vectors};
use crate::analysis::footprint::{
    self, DYNAMIC_ALIGN, Footprint, copy_bytes, is_dynamic, shared_shape,
};
use crate::analysis::loops::unit_step;
use crate::analysis::swizzle;
use crate::kernel::{Kernel, Nest, STATIC_SHARED, Stage};
use crate::refusal::Refusal;
use crate::walk;

/// Whether all copies of a nest, with its tiles as they are, can be made and fit in shared memory together.
///
/// # Errors
/// [`Refusal::CannotStage`] for a copy that cannot be; for the last one where they do not fit.
pub(super) fn check(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    check_aligned(kernel, nest)?;
    let mut sizes = vec![];
    for s in &nest.stages {
        check_strip(kernel, nest, s)?;
        let footprint = footprint_of(kernel, root, nest, s)?;
        check_written(kernel, nest, s, &footprint)?;
        vectors::check(kernel, nest, s, &footprint)?;
        swizzle::check(nest, s, &footprint).or_else(|why| refused(kernel, s, why))?;
        let shape = shared_shape(&footprint, s);
        vectors::check_asynchronous(kernel, s, shape.last().copied().unwrap_or(1))?;
        sizes.push((s, copy_bytes(kernel, s, &footprint)));
    }
    check_room(kernel, nest, &sizes)
}

/// The copies of these sizes in bytes, and what a team combines, fit in the shared memory of a block.
fn check_room(kernel: &Kernel, nest: &Nest, sizes: &[(&Stage, u64)]) -> Result<(), Refusal> {
    let Some((last, _)) = sizes.last() else { return Ok(()) };
    let bytes = sizes.iter().fold(0u64, |all, (_, size)| all.saturating_add(*size));
    let limit = kernel.gpu.shared;
    let sums = team::sum_bytes(kernel, nest);
    let most = if is_dynamic(bytes) { limit } else { limit.min(STATIC_SHARED) };
    let with_sums = bytes.saturating_add(sums);
    if sums > 0 && with_sums > most.into() {
        let why = format!(
            "the copies of a block and its threads' sums would take {with_sums} bytes of shared memory, of which there are {most}"
        );
        return refused(kernel, last, why);
    }
    if bytes > limit.into() {
        let why = format!(
            "the copies of a block would take {bytes} bytes of shared memory, of which there are {limit}"
        );
        return refused(kernel, last, why);
    }
    match sizes.iter().find(|(_, size)| is_dynamic(bytes) && !size.is_multiple_of(DYNAMIC_ALIGN)) {
        Some((uneven, _)) => refused(
            kernel,
            uneven,
            format!(
                "in more than {STATIC_SHARED} bytes of shared memory copies lie at multiples of {DYNAMIC_ALIGN} bytes, and this one has no such size"
            ),
        ),
        None => Ok(()),
    }
}

/// All threads of a block run the strip loop alike, in strips of one length.
pub(in crate::rewrite) fn check_strip(
    kernel: &Kernel,
    nest: &Nest,
    stage: &Stage,
) -> Result<(), Refusal> {
    let Some((id, tile)) = stage.strip else { return Ok(()) };
    let refuse = |why: String| refused(kernel, stage, why);
    let loop_name = kernel.loop_name(id);
    let Some(l) = kernel.find_loop(id) else { return refuse("the loop is gone".into()) };
    if !kernel.runs_in_thread(id) || nest.axes.iter().any(|(a, _)| *a == id) {
        return Err(Refusal::NotSerial { loop_id: id });
    }
    if !(1..=1024).contains(&tile) {
        return Err(Refusal::TileFactor { loop_id: id, factor: tile, most: 1024 });
    }
    if !unit_step(l) {
        return refuse(format!("loop `{loop_name}` does not count up by one"));
    }
    if walk::leaves(&l.body).is_some() {
        return refuse(format!(
            "loop `{loop_name}` may end early, before the copy for other threads"
        ));
    }
    for other in &nest.stages {
        if let Some((known, length)) = other.strip
            && known == id
            && length != tile
        {
            return refuse(format!("loop `{loop_name}` is cut into strips of {length} already"));
        }
        let outer = other.strip.and_then(|(known, _)| kernel.find_loop(known));
        if outer.is_some_and(|o| o.id != id && walk::find_loop(&o.body, id).is_some()) {
            let staged = kernel.name_of(other.array);
            return refuse(format!(
                "`{staged}` is copied in each strip of a loop around `{loop_name}`"
            ));
        }
    }
    let Some(body) = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id)).map(|l| &l.body)
    else {
        return Ok(());
    };
    match reached_by_all(kernel, body, nest, id, true) {
        true => Ok(()),
        false => refuse(format!("not all threads of a block run loop `{loop_name}` alike")),
    }
}

/// What a block writes in shared memory goes back after each strip, element by element: nothing may run ahead of it or
/// write the array in vectors.
fn check_written(kernel: &Kernel, nest: &Nest, s: &Stage, f: &Footprint) -> Result<(), Refusal> {
    let ahead = s.slots > 1 || s.ahead;
    let plain =
        s.vector == 1 && !s.asynchronous && nest.vectors.is_empty() && nest.streams.is_empty();
    let why = "the nest writes it: its copies are filled and written back one element at a time, strip by strip";
    match f.written && (ahead || !plain) {
        true => refused(kernel, s, why.into()),
        false => Ok(()),
    }
}

/// Whether a copy of the nest is written back.
pub(in crate::rewrite) fn writes_back(kernel: &Kernel, root: LoopId, nest: &Nest) -> bool {
    let written = |s: &Stage| footprint::of(kernel, root, nest, s).is_ok_and(|f| f.written);
    nest.stages.iter().any(written)
}

/// The footprint of a staged array, or why it cannot be staged.
pub(in crate::rewrite) fn footprint_of(
    kernel: &Kernel,
    root: LoopId,
    nest: &Nest,
    stage: &Stage,
) -> Result<Footprint, Refusal> {
    footprint::of(kernel, root, nest, stage).map_err(|unfit| Refusal::CannotStage {
        name: kernel.name_of(stage.array).to_string(),
        why: unfit.why,
        at: Box::new(unfit.at),
    })
}

/// No array of a nest with an aligned loop may be staged.
///
/// # Errors
/// [`Refusal::CannotStage`]
fn check_aligned(kernel: &Kernel, nest: &Nest) -> Result<(), Refusal> {
    match (nest.stages.first(), nest.aligned.keys().next()) {
        (Some(stage), Some(id)) => {
            let name = kernel.loop_name(*id);
            refused(kernel, stage, format!("copies begin where loops do, and `{name}` is aligned"))
        }
        _ => Ok(()),
    }
}
