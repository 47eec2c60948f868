//! Populations that breed.

use super::{Search, Searched};
use crate::space::{ConfigId, Point};

const POPULATION: u64 = 20;
/// Probability that a child gets one random change.
const MUTATION: f64 = 0.3;

/// Members with their costs, best first.
type Population = Vec<(ConfigId, f64)>;

fn first(search: &mut Search, size: u64) -> Searched<Population> {
    let mut ids = vec![];
    for _ in 0..size.min(search.space.count()) {
        let id = search.fresh()?;
        search.submit(id)?;
        ids.push(id);
    }
    let costs = search.costs_of(&ids)?;
    let mut population: Population = ids.into_iter().zip(costs).collect();
    population.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(population)
}

/// A smaller population for a small budget, so that there are generations.
fn size(search: &Search) -> u64 {
    (search.budget / 6).clamp(6, POPULATION)
}

/// Genetic algorithm: parents by rank, uniform crossover, repair, mutation; parents and children compete.
pub(super) fn genetic(search: &mut Search) -> Searched<()> {
    let size = size(search);
    let mut population = first(search, size)?;
    let mut still = 0;
    loop {
        let mut children = vec![];
        for _ in 0..population.len() {
            let (a, b) = (parent(search, &population), parent(search, &population));
            let mut child = cross(search, a, b)?;
            if search.rng.chance(MUTATION) || search.known(child).is_some() {
                child = search.random_neighbour(child)?;
            }
            children.push(child);
        }
        let costs = search.costs_of(&children)?;
        let best = population.first().map_or(f64::INFINITY, |(_, cost)| *cost);
        for (id, cost) in children.into_iter().zip(costs) {
            if population.iter().all(|(other, _)| *other != id) {
                population.push((id, cost));
            }
        }
        population.sort_by(|a, b| a.1.total_cmp(&b.1));
        population.truncate(size as usize);
        still = if population[0].1 < best { 0 } else { still + 1 };
        if still > 12 {
            population = first(search, size)?;
            still = 0;
        }
    }
}

/// A member drawn with a preference for the better ones.
fn parent(search: &mut Search, population: &Population) -> ConfigId {
    let rank = search.rng.unit().powi(2) * population.len() as f64;
    population[(rank as usize).min(population.len() - 1)].0
}

fn cross(search: &mut Search, a: ConfigId, b: ConfigId) -> Searched<ConfigId> {
    let (a, b) = (search.space.point(a), search.space.point(b));
    let mixed: Point =
        a.iter().zip(&b).map(|(x, y)| if search.rng.chance(0.5) { *x } else { *y }).collect();
    search.repaired(&mixed)
}

/// Differential evolution on positions in the lists of values: best/1 with binomial crossover.
pub(super) fn differential(search: &mut Search) -> Searched<()> {
    let size = size(search);
    let mut population = first(search, size)?;
    let mut still = 0;
    loop {
        let mut trials = vec![];
        for i in 0..population.len() {
            let pick = |search: &mut Search| {
                let member = population[search.rng.index(population.len())].0;
                search.space.point(member)
            };
            let (a, b) = (pick(search), pick(search));
            let best = search.space.point(population[0].0);
            let own = search.space.point(population[i].0);
            let weight = 0.5 + 0.5 * search.rng.unit();
            let certain = search.rng.index(own.len().max(1));
            let mut point = own.clone();
            for p in 0..own.len() {
                if p == certain || search.rng.chance(0.7) {
                    let moved = f64::from(best[p]) + weight * (f64::from(a[p]) - f64::from(b[p]));
                    let last = search.space.parameters()[p].values.len() - 1;
                    point[p] = moved.round().clamp(0.0, last as f64) as u16;
                }
            }
            trials.push(search.repaired(&point)?);
        }
        let costs = search.costs_of(&trials)?;
        let mut changed = false;
        for (i, (id, cost)) in trials.into_iter().zip(costs).enumerate() {
            if cost < population[i].1 {
                population[i] = (id, cost);
                changed = true;
            }
        }
        population.sort_by(|a, b| a.1.total_cmp(&b.1));
        still = if changed { 0 } else { still + 1 };
        if still > 5 {
            population = first(search, size)?;
            still = 0;
        }
    }
}
