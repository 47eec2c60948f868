//! What the outputs of configurations are compared with: what the problem says, else those of two configurations that agree.

use std::sync::Arc;

use warpsmith_gpu::protocol::Contents;
use warpsmith_tune::space::{Configuration, Space};

use super::source::Source;
use super::workload::Foreign;
use crate::progress::Phase;
use crate::search::{Engine, SearchError, Told, Workload};
use crate::status::Failure;
use warpsmith_translate::tune::TuneRequest;
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::search;

/// Configurations that are tried as the one whose outputs are right, before the search takes the first that runs.
const REFERENCES: usize = 16;

/// Of these, such as run and agree with nobody or leave outputs as they were, before one of them is taken all the same.
const ALONE: usize = 3;

/// Configurations that are asked whether they agree.
const OTHERS: usize = 4;

/// Configurations that are looked at for those: of a huge space none may be one that can be launched.
const LOOKED_AT: usize = 100_000;

/// Elements of an output that are looked at for whether anything was written there.
const SAMPLES: u64 = 4096;

/// Where the right outputs come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// The problem says them.
    Given,
    /// They are those of this configuration, and those of another one, if any agrees with it.
    With(Configuration, Option<Configuration>),
    /// They are those of the first configuration that ran.
    First,
}

/// What a search begins with.
pub struct Asked<'a> {
    pub request: &'a TuneRequest,
    pub stations: &'a Stations,
    pub space: &'a Space,
    pub source: &'a Source,
}

impl Asked<'_> {
    fn begin(&self, foreign: &Arc<Foreign>) -> Result<Engine, SearchError> {
        let workload: Arc<dyn Workload> = foreign.clone();
        Engine::start(workload, search::options(self.request, self.stations))
    }

    /// Configurations that can be launched, the default values before all others.
    fn launchable(&self, foreign: &Foreign) -> Vec<Configuration> {
        let usual = default_configuration(self.source, self.space);
        let first = self.space.ids().map(|id| self.space.configuration(id));
        let first = first.filter(|c| Some(c) != usual.as_ref());
        let some = usual.iter().cloned().chain(first).take(LOOKED_AT);
        some.filter(|c| foreign.shape(c).is_ok()).take(REFERENCES).collect()
    }
}

/// The engine, with the right outputs: the problem's, or those of the first configuration that runs, writes all of them, and
/// that another one agrees with. Where there is none, one that another one agrees with, else the first that ran: reports say so.
pub fn start(asked: &Asked<'_>, foreign: &mut Arc<Foreign>) -> Result<(Engine, Compared), Failure> {
    if !asked.source.problem.kernel.references.is_empty() {
        return Ok((asked.begin(foreign).map_err(search::failure)?, Compared::Given));
    }
    let launchable = asked.launchable(foreign);
    let mut others: Vec<(Configuration, Option<Configuration>)> = vec![];
    for configuration in &launchable {
        let mut engine = match with_reference(asked, foreign, Some(configuration)) {
            Ok(engine) => engine,
            Err(SearchError::Reference(_)) => continue,
            Err(other) => return Err(search::failure(other)),
        };
        let agrees = agreeing(&mut engine, configuration, &launchable)?;
        // Recorded results are right or wrong already, and of one that stands alone nothing more can be learnt.
        let only = launchable.len() == 1 || Told::by(engine.device()) == Told::Recorded;
        let compared = Compared::With(configuration.clone(), agrees.clone());
        if only || agrees.is_some() && unwritten(&mut engine, foreign, &compared).is_empty() {
            return Ok((engine, compared));
        }
        others.push((configuration.clone(), agrees));
        if others.len() == ALONE {
            break;
        }
    }
    let best = others.iter().find(|(_, agrees)| agrees.is_some()).or(others.first()).cloned();
    let first = best.as_ref().map(|(c, _)| c);
    let engine = with_reference(asked, foreign, first).map_err(search::failure)?;
    let compared = best.map_or(Compared::First, |(c, agrees)| Compared::With(c, agrees));
    Ok((engine, compared))
}

fn with_reference(
    asked: &Asked<'_>,
    foreign: &mut Arc<Foreign>,
    configuration: Option<&Configuration>,
) -> Result<Engine, SearchError> {
    let draft = configuration.and_then(|c| foreign.draft(c).ok());
    if let Some(own) = Arc::get_mut(foreign) {
        own.set_reference(draft);
    }
    asked.begin(foreign)
}

/// Another configuration that gives the same outputs.
fn agreeing(
    engine: &mut Engine,
    reference: &Configuration,
    launchable: &[Configuration],
) -> Result<Option<Configuration>, Failure> {
    let _phase = Phase::new("looking for a second configuration with the same outputs");
    // Far from each other: neighbours make the same mistake.
    let others: Vec<&Configuration> = launchable.iter().rev().filter(|c| *c != reference).collect();
    for other in others.into_iter().take(OTHERS) {
        match engine.race(std::slice::from_ref(other), &[], 1) {
            Ok(raced) if raced.entrants.first().is_some_and(|p| p.ms().is_some()) => {
                return Ok(Some(other.clone()));
            }
            Err(error @ SearchError::Halted(_)) => return Err(search::failure(error)),
            // It cannot be compiled, fails or gives something else: another one may agree.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Says for each output how much of it the reference left as it was, where it did.
pub fn unwritten(engine: &mut Engine, foreign: &Foreign, compared: &Compared) -> Vec<String> {
    let Compared::With(configuration, _) = compared else { return vec![] };
    if Told::by(engine.device()) == Told::Recorded {
        return vec![];
    }
    let task = &foreign.tasks()[0];
    let sampled: Vec<Vec<u64>> = task
        .outputs
        .iter()
        .map(|o| {
            let n = task.problem.buffers.get(o.buffer).map_or(0, |b| b.bytes) / o.element.size();
            (0..n).step_by(usize::try_from(n.div_ceil(SAMPLES).max(1)).unwrap_or(1)).collect()
        })
        .collect();
    let Ok(values) = engine.outputs(configuration, 0, sampled.clone()) else { return vec![] };
    let one = |((output, at), bytes): ((&crate::search::Compared, &Vec<u64>), &Vec<u8>)| {
        let spec = task.problem.buffers.get(output.buffer)?;
        let width = usize::try_from(output.element.size()).ok()?;
        let Contents::Blob(blob) = spec.contents else { return None };
        let before = task.blobs.get(blob)?;
        let same = at.iter().zip(bytes.chunks(width)).filter(|(i, now)| {
            let start = usize::try_from(**i).map_or(usize::MAX, |i| i.saturating_mul(width));
            before.get(start..start.saturating_add(width)) == Some(now)
        });
        let (same, all) = (same.count(), at.len());
        (same > 0).then(|| {
            format!(
                "{same} of {all} elements of `{}` that were looked at hold afterwards what they held before: if the kernel is \
                 to write them all, its grid is too small",
                spec.name
            )
        })
    };
    task.outputs.iter().zip(&sampled).zip(&values).filter_map(one).collect()
}

/// The defaults of the parameters, where each has one and they satisfy the constraints.
fn default_configuration(source: &Source, space: &Space) -> Option<Configuration> {
    let named = source.problem.parameters.iter().zip(&source.problem.defaults);
    let values: Option<Vec<_>> =
        named.map(|(p, value)| Some((p.name.clone(), value.clone()?))).collect();
    let configuration = Configuration { values: values? };
    space.find(&configuration).map(|id| space.configuration(id))
}
