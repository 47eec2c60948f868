//! The last comparison of a search: the fastest few in turns, and their outputs beside the CPU's.

use std::sync::Arc;

use warpsmith_ir::Diagnostic;
use warpsmith_tune::space::Configuration;

use super::{UNCOMPARED, Winner, words};
use crate::search::{Draft, Engine, Found, Placed, Raced, SearchError, Workload};
use crate::status::{Failure, Status};
use crate::tune::measure::{Candidates, Nests};
use crate::tune::recompute::{self, Recomputed};

/// The fastest configurations that are compared once more in turns.
pub const FINALISTS: usize = 4;
/// Runs of each of them.
pub const ROUNDS: u32 = 21;

/// What came of the final comparison.
pub struct Finals {
    pub winners: Vec<Winner>,
    pub direct_ms: Option<Vec<f64>>,
    pub against: Option<Option<Vec<f64>>>,
}

/// The fastest few once more, in turns with the direct translation and the user's own kernel.
pub fn finals(
    engine: &mut Engine,
    candidates: &Candidates,
    found: &Found,
    rivals: &[Arc<dyn Draft>],
) -> Result<Finals, Failure> {
    let list: Vec<Configuration> = found
        .ranking
        .iter()
        .take(FINALISTS)
        .map(|(id, _)| candidates.space.configuration(*id))
        .collect();
    let Raced { reference, entrants, others } = match engine.race(&list, rivals, ROUNDS) {
        Ok(raced) => raced,
        Err(error) => {
            let note = match error {
                SearchError::Halted(_) => UNCOMPARED.to_string(),
                error => format!("the final comparison failed: {}", words(error)),
            };
            engine.notes.push(note);
            let as_found = |(_, ms): &(_, f64)| Placed { samples: vec![vec![*ms]] };
            let entrants = found.ranking.iter().take(FINALISTS).map(as_found).collect();
            Raced { reference: None, entrants, others: vec![] }
        }
    };
    let mut order: Vec<(f64, Winner)> = vec![];
    for (configuration, placed) in list.into_iter().zip(entrants) {
        let (Some(total), Some(ms)) = (placed.ms(), placed.medians()) else { continue };
        let schedule = candidates.schedule(&configuration);
        let schedule = schedule.map_err(|why| Failure::input("W322", why))?;
        order.push((total, Winner { schedule, configuration, ms }));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    if order.is_empty() {
        return Err(Failure::input("W463", "the fastest configurations fail when run again")
            .with_status(Status::No));
    }
    Ok(Finals {
        winners: order.into_iter().map(|(_, w)| w).collect(),
        direct_ms: reference.and_then(|d| d.medians()),
        against: (!rivals.is_empty()).then(|| others.first().and_then(Placed::medians)),
    })
}

/// For each size: nothing was computed once more.
pub fn not_confirmed(nests: &Nests) -> Vec<Recomputed> {
    let why = || Recomputed::Not("the search was interrupted".into());
    nests.tasks().iter().map(|_| why()).collect()
}

/// The winners from the first one on whose outputs at full size are those of the CPU.
pub fn confirmed(
    nests: &Nests,
    engine: &mut Engine,
    winners: Vec<Winner>,
) -> Result<(Vec<Winner>, Vec<Recomputed>), Failure> {
    let mut left = winners.into_iter();
    let mut wrong = None;
    while let Some(winner) = left.next() {
        match recompute::check(nests, engine, &winner.configuration) {
            Ok(recomputed) => {
                return Ok((std::iter::once(winner).chain(left).collect(), recomputed));
            }
            Err((size, d)) => {
                let found = format!(
                    "element {} of `{}` is {:e} on the device and {:e} on the CPU at {size}",
                    d.index, d.array, d.device, d.cpu
                );
                engine.notes.push(format!("{} is left out: {found}", winner.configuration));
                wrong = wrong.or(Some(found));
            }
        }
    }
    let message = "the device's results differ from those of the CPU at full size";
    let d = Diagnostic::error("W469", message);
    let d = wrong.into_iter().fold(d, Diagnostic::note);
    let help = "the direct translation gives the same on the device; please report the source with this size";
    Err(Failure::from(d.help(help)).with_status(Status::No))
}
