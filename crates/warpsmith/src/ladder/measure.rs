//! The versions on a device: timed in turns, beside what the device reaches at most.

use std::sync::Arc;

use warpsmith_gpu::protocol::{Limits, Product, Real};
use warpsmith_ir::{Diagnostic, Function, Scalar};
use warpsmith_opt::Schedule;
use warpsmith_opt::schedule::ladder;

use super::Ladder;
use crate::search::{Engine, Told, Workload};
use crate::status::Failure;
use warpsmith_translate::tune::TuneRequest;
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::measure::{Candidates, Nests, Source};
use warpsmith_translate::tune::pipeline;
use warpsmith_translate::tune::search::{ROUNDS, failure, options};
use warpsmith_translate::tune::sizes::{Point, value_at};

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
    /// The same product by the vendor's library, and its milliseconds, in the same run.
    pub library: Option<(Product, f64)>,
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
    product: Option<&ladder::Product>,
) -> Result<OnDevice, Failure> {
    let mut sources = warpsmith_ir::SourceMap::new();
    let input = pipeline::read(request, &mut sources)?;
    let specs = pipeline::argument_specs(request, &input)?;
    let sizes = pipeline::chosen_sizes(request, &input, &specs, stations.arch)?;
    let candidates = Candidates::listed(schedules.clone()).map_err(Failure::no)?;
    let entrants = candidates.configurations_of(&schedules).ok_or_else(|| {
        Failure::from(Diagnostic::error("W322", "a version has no configuration"))
    })?;
    let function = input.module.function(input.function);
    let product = product.zip(sizes.first()).and_then(|(p, at)| shape(p, function, at));
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
        library: product.and_then(|p| Some((p, engine.product(&p)?))),
    })
}

/// The product with its numbers.
fn shape(product: &ladder::Product, function: &Function, at: &Point) -> Option<Product> {
    let number = |k: usize| {
        let value = value_at(&product.extents[k], function, at)?;
        u32::try_from(value).ok().filter(|n| *n > 0)
    };
    Some(Product {
        rows: number(0)?,
        columns: number(1)?,
        terms: number(2)?,
        element: if product.element == Scalar::F64 { Real::F64 } else { Real::F32 },
        left_transposed: product.left_transposed,
        right_transposed: product.right_transposed,
    })
}
