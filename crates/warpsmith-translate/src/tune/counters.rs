//! What a tuned kernel asks of the memory system at a size: the emulator's counters, and the access views.

use warpsmith_emu as emu;
use warpsmith_ir::{Diagnostic, SourceMap};

use super::pipeline::{self, Tuned};
use super::request::TuneRequest;
use super::sizes::Point;
use super::verify::TIME_LIMIT;
use super::verify::inputs::{self, NoData, Sources};
use super::verify::witness::{Witness, WitnessError};
use crate::status::{Failure, Status};

pub use super::profile::views::View;
pub use super::verify::witness::CountedLaunch;

/// Runs the emitted text at a size and counts, launch by launch, what a compiler leaves of it.
///
/// # Errors
/// Data that does not fit, or a limit that was reached first.
pub fn counted(
    request: &TuneRequest,
    tuned: &Tuned,
    point: &Point,
    sources: &mut SourceMap,
) -> Result<Vec<CountedLaunch>, Failure> {
    let input = pipeline::read(request, sources)?;
    let specs = pipeline::argument_specs(request, &input)?;
    let function = input.module.function(input.function);
    let data = Sources {
        module: &input.module,
        function,
        specs: &specs,
        seed: request.data.seed,
        max_memory: request.limits.max_memory,
    };
    let inputs = inputs::arguments(&data, point).map_err(NoData::failure)?;
    let ours = |e: Failure| e.with_status(Status::Bug);
    let Some(((name, text), others)) = tuned.files.split_first() else { return Ok(vec![]) };
    let launcher = format!("{}_launch", warpsmith_emit::identifier(&tuned.name));
    let witness = Witness::parse(name, text, &launcher, others, sources);
    let witness = witness.map_err(|errors| ours(Failure::from(errors)))?.as_compiled();
    let options = emu::Options {
        jobs: request.limits.jobs,
        max_memory: request.limits.max_memory,
        checks: emu::Checks::NONE,
        counters: true,
        ..emu::Options::default()
    };
    match witness.run(&inputs, function.ret.scalar(), &options) {
        Ok(run) => Ok(run.launches),
        Err(WitnessError::Failed(message)) => {
            Err(ours(Diagnostic::error("W325", "the kernel cannot be run").note(message).into()))
        }
        Err(WitnessError::Limit(TIME_LIMIT)) => {
            Err(Failure::timed_out("while memory accesses were counted"))
        }
        Err(WitnessError::Limit(limit)) => {
            Err(Failure::input("W327", format!("counting stopped: {limit} was reached"))
                .with_status(Status::Limit))
        }
    }
}
