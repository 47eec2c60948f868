//! Local search: descents to configurations that no neighbour beats, and what to do there.

use super::{Search, Searched};
use crate::space::{ConfigId, Neighbourhood};

/// Random steps away from a local optimum, and descents without success before a fresh start.
const KICK: usize = 2;
const PATIENCE: u32 = 6;

/// Iterated local search: first-improvement descents, each from the best so far after a few random steps.
pub(super) fn greedy_ils(search: &mut Search) -> Searched<()> {
    let mut best = search.fresh()?;
    let mut best_cost = search.cost(best)?;
    let mut failures = 0;
    let mut start = best;
    loop {
        let (end, cost) = descend(search, start, false)?;
        if cost < best_cost {
            (best, best_cost, failures) = (end, cost, 0);
        } else {
            failures += 1;
        }
        if failures > PATIENCE {
            best = search.fresh()?;
            best_cost = search.cost(best)?;
            failures = 0;
        }
        start = best;
        for _ in 0..KICK {
            start = search.random_neighbour(start)?;
        }
    }
}

/// First-improvement descents from random configurations.
pub(super) fn greedy_mls(search: &mut Search) -> Searched<()> {
    loop {
        let start = search.fresh()?;
        descend(search, start, false)?;
    }
}

/// Best-improvement descents from random configurations.
pub(super) fn mls(search: &mut Search) -> Searched<()> {
    loop {
        let start = search.fresh()?;
        descend(search, start, true)?;
    }
}

/// Goes to better neighbours until there is none: to the best of all, or to the first that is found.
pub(super) fn descend(
    search: &mut Search,
    start: ConfigId,
    best_of_all: bool,
) -> Searched<(ConfigId, f64)> {
    let mut here = start;
    let mut cost = search.cost(here)?;
    loop {
        let neighbours = search.shuffled_neighbours(here, Neighbourhood::Hamming);
        let batch = if best_of_all { neighbours.len().max(1) } else { search.workers };
        let mut better = None;
        for some in neighbours.chunks(batch) {
            let costs = search.costs_of(some)?;
            let least = some.iter().zip(costs).min_by(|a, b| a.1.total_cmp(&b.1));
            better = least.filter(|(_, c)| *c < cost).map(|(id, c)| (*id, c));
            if better.is_some() {
                break;
            }
        }
        match better {
            Some((id, c)) => (here, cost) = (id, c),
            None => return Ok((here, cost)),
        }
    }
}
