//! Strategies that accept worse configurations with a probability that falls.

use super::local::descend;
use super::{Search, Searched};
use crate::space::ConfigId;

/// Relative worsening that is accepted with probability 1/e, at the start and at the end.
const HOT: f64 = 0.3;
const COLD: f64 = 0.005;

/// The temperature: falls geometrically as the budget is used up.
fn temperature(search: &Search) -> f64 {
    HOT * (COLD / HOT).powf(search.spent())
}

/// Metropolis' rule on relative differences, so that the unit of time does not matter.
fn accepts(search: &mut Search, from: f64, to: f64, temperature: f64) -> bool {
    if to <= from {
        return true;
    }
    if to.is_infinite() {
        return false;
    }
    let worse = (to - from) / from.max(f64::MIN_POSITIVE);
    search.rng.chance((-worse / temperature).exp())
}

/// A walk over single changes.
pub(super) fn simulated_annealing(search: &mut Search) -> Searched<()> {
    let mut here = search.fresh()?;
    let mut cost = search.cost(here)?;
    let mut rejected = 0;
    loop {
        let next = search.random_neighbour(here)?;
        let next_cost = search.cost(next)?;
        let hot = temperature(search);
        if accepts(search, cost, next_cost, hot) {
            rejected = if next_cost < cost { 0 } else { rejected + 1 };
            (here, cost) = (next, next_cost);
        } else {
            rejected += 1;
        }
        if rejected > 100 {
            // Frozen: start over next to the best so far, or anywhere when that is where it froze.
            let best = search.best().map(|known| known.id).filter(|id| *id != here);
            here = match best {
                Some(best) => search.random_neighbour(best)?,
                None => search.fresh()?,
            };
            cost = search.cost(here)?;
            rejected = 0;
        }
    }
}

/// Annealing whose jumps change several parameters while hot, with a descent from each new best.
pub(super) fn dual_annealing(search: &mut Search) -> Searched<()> {
    let mut here = search.fresh()?;
    let mut cost = search.cost(here)?;
    let mut best_cost = cost;
    let free = search.space.free_parameters().len().max(1);
    let mut still = 0;
    loop {
        let hot = temperature(search);
        let most = (free as f64 * (hot / HOT)).ceil().max(1.0) as u64;
        let changes = 1 + search.rng.below(most);
        let next = jump(search, here, changes)?;
        let next_cost = search.cost(next)?;
        if accepts(search, cost, next_cost, hot) {
            (here, cost) = (next, next_cost);
        }
        still += 1;
        if cost < best_cost {
            (here, cost) = descend(search, here, false)?;
            best_cost = best_cost.min(cost);
            still = 0;
        } else if still > 60 {
            here = search.fresh()?;
            cost = search.cost(here)?;
            (best_cost, still) = (cost, 0);
        }
    }
}

/// Descents from jumps of a few parameters away; the end is accepted as in annealing.
pub(super) fn basin_hopping(search: &mut Search) -> Searched<()> {
    let start = search.fresh()?;
    let (mut here, mut cost) = descend(search, start, false)?;
    let mut still = 0;
    loop {
        let away = jump(search, here, 2)?;
        let (end, end_cost) = descend(search, away, false)?;
        let hot = temperature(search);
        still = if end_cost < cost { 0 } else { still + 1 };
        if accepts(search, cost, end_cost, hot) {
            (here, cost) = (end, end_cost);
        }
        if still > 10 {
            let start = search.fresh()?;
            (here, cost) = descend(search, start, false)?;
            still = 0;
        }
    }
}

/// Several single changes one after the other.
fn jump(search: &mut Search, from: ConfigId, changes: u64) -> Searched<ConfigId> {
    let mut id = from;
    for _ in 0..changes {
        id = search.random_neighbour(id)?;
    }
    Ok(id)
}
