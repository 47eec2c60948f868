//! What must hold of a nest as a whole, whichever step noted it last: tiles, copies, streams and shared loops must go together. Steps
//! ask it of the nest that they would leave.

mod copies;
mod reached;
mod refused;
mod streams;
mod team;
mod tiles;
mod vectors;

use warpsmith_ir::LoopId;

use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;

pub(in crate::rewrite) use copies::{check_strip, footprint_of, writes_back};
pub(in crate::rewrite) use reached::reached_by_all;
pub(in crate::rewrite) use team::{SHARED_NEST, check_room, check_tile};
pub(in crate::rewrite) use tiles::{bound_nest, check_tiles, check_tiles_or_updates};

/// Whether the streams and copies of a nest can be as its tiles and its team are.
///
/// # Errors
/// [`Refusal::CannotStage`] or [`Refusal::CannotVectorise`] for a copy, [`Refusal::LoopRefused`] for a stream.
pub(in crate::rewrite) fn check(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    streams::check(kernel, nest)?;
    team::check_copies(kernel, root, nest)?;
    copies::check(kernel, root, nest)
}
