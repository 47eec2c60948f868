//! Swarms: particles with positions between configurations, which are rounded to valid ones.

use super::{Search, Searched};
use crate::space::{ConfigId, Point};

const SWARM: u64 = 16;
/// Moves of the swarm without a new best before it starts over.
const PATIENCE: u32 = 10;

struct Particle {
    /// Positions in the lists of values, scaled to `[0, 1]`.
    at: Vec<f64>,
    speed: Vec<f64>,
    cost: f64,
    best: Vec<f64>,
    best_cost: f64,
}

fn scaled(search: &Search, id: ConfigId) -> Vec<f64> {
    let scale = |(x, p): (&u16, &crate::space::Parameter)| {
        f64::from(*x) / (p.values.len() - 1).max(1) as f64
    };
    search.space.point(id).iter().zip(search.space.parameters()).map(scale).collect()
}

fn nearest(search: &mut Search, at: &[f64]) -> Searched<ConfigId> {
    let round = |(x, p): (&f64, &crate::space::Parameter)| {
        (x.clamp(0.0, 1.0) * (p.values.len() - 1) as f64).round() as u16
    };
    let point: Point = at.iter().zip(search.space.parameters()).map(round).collect();
    search.repaired(&point)
}

fn swarm(search: &mut Search) -> Searched<Vec<Particle>> {
    let size = (search.budget / 5).clamp(5, SWARM).min(search.space.count());
    let mut ids = vec![];
    for _ in 0..size {
        let id = search.fresh()?;
        search.submit(id)?;
        ids.push(id);
    }
    let costs = search.costs_of(&ids)?;
    let particle = |(id, cost): (&ConfigId, f64)| {
        let at = scaled(search, *id);
        Particle { speed: vec![0.0; at.len()], best: at.clone(), at, cost, best_cost: cost }
    };
    Ok(ids.iter().zip(costs).map(particle).collect())
}

fn leader(swarm: &[Particle]) -> (Vec<f64>, f64) {
    let best = swarm.iter().min_by(|a, b| a.best_cost.total_cmp(&b.best_cost));
    best.map_or((vec![], f64::INFINITY), |p| (p.best.clone(), p.best_cost))
}

/// Evaluates all particles where they are now.
fn settle(search: &mut Search, swarm: &mut [Particle]) -> Searched<()> {
    let mut ids = vec![];
    for particle in swarm.iter() {
        ids.push(nearest(search, &particle.at)?);
    }
    let costs = search.costs_of(&ids)?;
    for (particle, cost) in swarm.iter_mut().zip(costs) {
        particle.cost = cost;
        if cost < particle.best_cost {
            particle.best_cost = cost;
            particle.best = particle.at.clone();
        }
    }
    Ok(())
}

/// Particle swarm: inertia, and pulls to the particle's own best and to the swarm's.
pub(super) fn particles(search: &mut Search) -> Searched<()> {
    moving(search, |search, swarm| {
        let (best, _) = leader(swarm);
        for p in swarm.iter_mut() {
            for (d, common_best) in best.iter().enumerate() {
                let own = 1.5 * search.rng.unit() * (p.best[d] - p.at[d]);
                let common = 1.5 * search.rng.unit() * (common_best - p.at[d]);
                p.speed[d] = (0.6 * p.speed[d] + own + common).clamp(-0.5, 0.5);
                p.at[d] = (p.at[d] + p.speed[d]).clamp(0.0, 1.0);
            }
        }
    })
}

/// Fireflies: each moves to every brighter one, the more the nearer it is, with some noise.
pub(super) fn fireflies(search: &mut Search) -> Searched<()> {
    moving(search, |search, swarm| {
        let lights: Vec<(Vec<f64>, f64)> = swarm.iter().map(|p| (p.at.clone(), p.cost)).collect();
        for p in swarm.iter_mut() {
            for (other, cost) in &lights {
                if *cost >= p.cost {
                    continue;
                }
                let distance: f64 = p.at.iter().zip(other).map(|(x, y)| (x - y).powi(2)).sum();
                let pull = 0.8 * (-distance).exp();
                for (x, y) in p.at.iter_mut().zip(other) {
                    *x += pull * (y - *x);
                }
            }
            for x in &mut p.at {
                *x = (*x + 0.2 * (search.rng.unit() - 0.5)).clamp(0.0, 1.0);
            }
        }
    })
}

fn moving(
    search: &mut Search,
    mut step: impl FnMut(&mut Search, &mut Vec<Particle>),
) -> Searched<()> {
    loop {
        let mut particles = swarm(search)?;
        let mut still = 0;
        while still < PATIENCE {
            let (_, before) = leader(&particles);
            step(search, &mut particles);
            settle(search, &mut particles)?;
            let (_, after) = leader(&particles);
            still = if after < before { 0 } else { still + 1 };
        }
    }
}
