//! The versions on a device: timed in turns, beside what the device reaches at most.

use std::sync::Arc;

use warpsmith_gpu::protocol::Limits;
use warpsmith_ir::Diagnostic;
use warpsmith_opt::Schedule;

use super::Ladder;
use crate::search::{Engine, Told, Workload};
use crate::status::Failure;
use warpsmith_translate::tune::TuneRequest;
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::measure::{Candidates, Nests, Source};
use warpsmith_translate::tune::pipeline;
use warpsmith_translate::tune::search::{ROUNDS, failure, options};

/// What came of it.
#[derive(Clone, Debug)]
pub struct OnDevice {
    /// The device, by its name.
    pub device: String,
    /// Whether the times are measured, predicted or recorded.
    pub told: Told,
    /// What the device reaches at most, measured in the same run; `None`: its worker does not tell.
    pub limits: Option<Limits>,
    /// Of all arrays.
    pub bytes: u64,
}

/// Times all versions in the same rounds; one that fails on the device has no time.
///
/// # Errors
/// A device that cannot be used.
pub fn measure(
    request: &TuneRequest,
    stations: &Stations,
    ladder: &mut Ladder,
    schedules: Vec<Schedule>,
) -> Result<OnDevice, Failure> {
    let mut sources = warpsmith_ir::SourceMap::new();
    let input = pipeline::read(request, &mut sources)?;
    let specs = pipeline::argument_specs(request, &input)?;
    let sizes = pipeline::chosen_sizes(request, &input, &specs, stations.arch)?;
    let candidates = Candidates::listed(schedules.clone()).map_err(Failure::no)?;
    let entrants = candidates.configurations_of(&schedules).ok_or_else(|| {
        Failure::from(Diagnostic::error("W322", "a version has no configuration"))
    })?;
    let source = Source {
        request: request.clone(),
        input,
        arch: stations.arch,
        specs,
        sizes,
        candidates,
        changed: None,
    };
    let nests = Arc::new(Nests::new(source)?);
    let bytes = nests.bytes();
    let workload: Arc<dyn Workload> = nests;
    let mut engine = Engine::start(workload, options(request, stations)).map_err(failure)?;
    let raced = engine.race(&entrants, &[], ROUNDS).map_err(failure)?;
    for (version, placed) in ladder.versions.iter_mut().zip(raced.entrants) {
        version.ms = placed.medians().and_then(|m| m.first().copied());
    }
    Ok(OnDevice {
        device: engine.device().device.clone(),
        told: Told::by(engine.device()),
        limits: engine.limits(bytes),
        bytes,
    })
}
