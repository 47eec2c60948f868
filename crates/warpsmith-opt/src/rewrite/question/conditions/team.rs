//! Whether threads can share loops of a nest with its tiles and copies as they are.

use warpsmith_ir::{Axis, LoopId, VarId};

use super::reached::reached_by_all;
use super::refused::refused;
use crate::analysis::footprint;
use crate::build::threads::WARP;
use crate::kernel::{Kernel, Nest, STATIC_SHARED, SharedLoop, Sum, Team};
use crate::refusal::Refusal;
use crate::walk;

/// Why a later step must leave a nest alone.
pub(in crate::rewrite) const SHARED_NEST: &str = "threads of the block share a loop of its nest";

/// Whether the loops that a nest's threads share can be with its tiles as they are.
///
/// # Errors
/// A refusal for the loop `at`, of which a thread has several iterations.
pub(in crate::rewrite) fn check_tile(
    kernel: &Kernel,
    at: LoopId,
    nest: &Nest,
) -> Result<(), Refusal> {
    let innermost = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id));
    let alike = |s: &&SharedLoop| {
        innermost.is_none_or(|l| reached_by_all(kernel, &l.body, nest, s.target, false))
    };
    let mut shared = nest.team.iter().flat_map(|t| &t.loops);
    if let Some(shared) = shared.find(|s| !alike(s)) {
        let name = kernel.loop_name(shared.target);
        return Err(Refusal::of_loop(
            "tile",
            at,
            format!(
                "its iterations would come to loop `{name}`, which threads share, at different times"
            ),
        ));
    }
    check_room(kernel, at, nest)
}

/// Whether threads that share loops can have what is staged: all of them come to the copies, each takes its turns in a strip,
/// and nobody but one of them stores.
///
/// # Errors
/// [`Refusal::CannotStage`] for the first copy that they cannot have.
pub(super) fn check_copies(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    let Some(team) = &nest.team else { return Ok(()) };
    for stage in &nest.stages {
        let refuse = |why: String| refused(kernel, stage, why);
        if footprint::of(kernel, root, nest, stage).is_ok_and(|f| f.written) {
            return refuse("threads of the block share a loop of its nest, of which one stores what the copy would write back".into());
        }
        let Some((strip, _)) = stage.strip else { continue };
        for shared in &team.loops {
            let l = kernel.find_loop(shared.target);
            let loop_name = || kernel.loop_name(shared.target);
            if l.is_some_and(|l| walk::find_loop(&l.body, strip).is_some()) {
                let (outer, inner) = (loop_name(), kernel.loop_name(strip));
                return refuse(format!(
                    "threads share loop `{outer}`, so that they would come to the strips of `{inner}` at different times"
                ));
            }
            if shared.target == strip && (stage.ahead || nest.vectors.contains_key(&strip)) {
                return refuse(format!(
                    "threads share loop `{}`, and take one iteration of a strip at a time",
                    loop_name()
                ));
            }
        }
    }
    Ok(())
}

/// Bytes of shared memory through which the threads of a team combine their sums.
pub(super) fn sum_bytes(kernel: &Kernel, nest: &Nest) -> u64 {
    let Some(team) = &nest.team else { return 0 };
    let parts = team.parts();
    if parts == 1 {
        return 0;
    }
    let others: u64 = nest.block.iter().map(|n| u64::from(*n)).product();
    let tiles: u64 = nest.tiles.values().map(|n| u64::from(*n)).product();
    let scalar = |v: VarId| kernel.func().var(v).ty.scalar().map_or(8, |s| s.bytes());
    let sums = team.loops.iter().flat_map(|s| &s.sums);
    let bytes: u64 = sums.flat_map(Sum::vars).map(|v| u64::from(scalar(v))).sum();
    bytes * tiles * (others / u64::from(team.threads)) * u64::from(parts)
}

/// Whether what the threads of a team combine through shared memory fits there.
///
/// # Errors
/// A refusal for the loop `at`.
pub(in crate::rewrite) fn check_room(
    kernel: &Kernel,
    at: LoopId,
    nest: &Nest,
) -> Result<(), Refusal> {
    let all = sum_bytes(kernel, nest);
    if all <= STATIC_SHARED.into() {
        return Ok(());
    }
    let why = format!(
        "the threads' sums would take {all} bytes of shared memory, of which there are {STATIC_SHARED}"
    );
    Err(Refusal::of_loop("share", at, why))
}

impl Team {
    /// Values of a sum that go through shared memory: one of each warp along x, of each thread along y and z; 1 where
    /// shuffles do it all.
    pub(crate) fn parts(&self) -> u32 {
        match self.axis {
            Axis::X => self.threads.div_ceil(WARP),
            _ => self.threads,
        }
    }
}
