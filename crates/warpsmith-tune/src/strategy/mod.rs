//! Strategies: which configuration to try next.
//!
//! A strategy is a plain function that asks a `Search` for the costs of configurations. It runs on a thread of its own
//! and in turns with the tuner, as a coroutine; it ends with `Stop` when the tuner is gone.

mod anneal;
mod evolve;
mod guided;
mod local;
mod simple;
mod swarm;

use std::collections::HashMap;
use std::sync::mpsc;

use crate::rng::Rng;
use crate::space::{ConfigId, Neighbourhood, Point, SharedSpace};
use crate::tuner::Prior;

/// The strategies by the names users of other tuners know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrategyKind {
    /// Every configuration, in order.
    BruteForce,
    /// Configurations drawn uniformly, none twice.
    RandomSample,
    /// First-improvement local search, restarted from a changed best.
    GreedyIls,
    /// First-improvement local search from random starts.
    GreedyMls,
    /// Best-improvement local search from random starts.
    Mls,
    /// A walk that accepts worse neighbours less and less.
    SimulatedAnnealing,
    /// Annealing with long jumps, and local search from what it finds.
    DualAnnealing,
    /// Local search between jumps, the end accepted as in annealing.
    BasinHopping,
    /// A population with crossover and mutation.
    GeneticAlgorithm,
    /// A population that moves by differences of its members.
    DifferentialEvolution,
    /// Particles drawn to their own and the common best.
    ParticleSwarm,
    /// Particles drawn to all brighter ones.
    Firefly,
    /// Expected improvement by a Gaussian process, without local search.
    BayesianOptimisation,
    /// A model learned while tuning, with local search around the best.
    #[default]
    ModelGuided,
}

impl StrategyKind {
    /// All of them with name and one line of description.
    pub const ALL: [(StrategyKind, &'static str, &'static str); 14] = [
        (
            StrategyKind::ModelGuided,
            "model_guided",
            "a model learned while tuning, with local search around the best (default)",
        ),
        (StrategyKind::BruteForce, "brute_force", "every configuration, in order"),
        (StrategyKind::RandomSample, "random_sample", "configurations drawn uniformly, none twice"),
        (
            StrategyKind::GreedyIls,
            "greedy_ils",
            "first-improvement local search, restarted from a changed best",
        ),
        (
            StrategyKind::GreedyMls,
            "greedy_mls",
            "first-improvement local search from random starts",
        ),
        (StrategyKind::Mls, "mls", "best-improvement local search from random starts"),
        (
            StrategyKind::SimulatedAnnealing,
            "simulated_annealing",
            "a walk that accepts worse neighbours less and less",
        ),
        (
            StrategyKind::DualAnnealing,
            "dual_annealing",
            "annealing with long jumps, and local search from what it finds",
        ),
        (
            StrategyKind::BasinHopping,
            "basinhopping",
            "local search between jumps, the end accepted as in annealing",
        ),
        (
            StrategyKind::GeneticAlgorithm,
            "genetic_algorithm",
            "a population with crossover and mutation",
        ),
        (
            StrategyKind::DifferentialEvolution,
            "diff_evo",
            "a population that moves by differences of its members",
        ),
        (StrategyKind::ParticleSwarm, "pso", "particles drawn to their own and the common best"),
        (StrategyKind::Firefly, "firefly_algorithm", "particles drawn to all brighter ones"),
        (
            StrategyKind::BayesianOptimisation,
            "bayes_opt",
            "expected improvement by a Gaussian process, without local search",
        ),
    ];

    /// The name by which users choose it; see [`StrategyKind::ALL`].
    pub fn name(self) -> &'static str {
        StrategyKind::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// By name. Also KTT's names where they mean one of ours, and plain words. Case does not matter, and blanks and
    /// hyphens are as good as underscores: `Simulated annealing`.
    pub fn named(name: &str) -> Option<StrategyKind> {
        let plain = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let plain = match plain.as_str() {
            "exhaustive" | "deterministic" | "full_search" => "brute_force",
            "random" | "random_search" | "random_sampling" => "random_sample",
            "local" | "local_search" => "greedy_ils",
            // Walks of a Markov chain that accept worse neighbours now and then.
            "annealing" | "mcmc" => "simulated_annealing",
            "genetic" | "evolutionary" => "genetic_algorithm",
            "differential_evolution" => "diff_evo",
            "particle_swarm" => "pso",
            "firefly" => "firefly_algorithm",
            "bayesian" | "bayesian_optimisation" | "bayesian_optimization" => "bayes_opt",
            "basin_hopping" => "basinhopping",
            "guided" | "profilebased" | "default" => "model_guided",
            other => other,
        };
        StrategyKind::ALL.iter().find(|(_, known, _)| *known == plain).map(|(kind, ..)| *kind)
    }
}

/// What a strategy is told at the start.
pub(crate) struct Plan {
    pub space: SharedSpace,
    pub seed: u64,
    pub prior: Option<Prior>,
    pub workers: usize,
    /// Evaluations that will be made at most.
    pub budget: u64,
}

/// From the strategy to the tuner.
pub(crate) enum Request {
    Evaluate(ConfigId),
    /// Nothing further before an answer.
    Wait,
}

/// From the tuner to the strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub id: ConfigId,
    pub cost: f64,
}

/// The search is over; strategies pass it on with `?`.
#[derive(Debug)]
pub(crate) struct Stop;

pub(crate) type Searched<T> = Result<T, Stop>;

/// Starts a strategy on its own thread, which ends when the other ends of the channels are dropped.
pub(crate) fn start(
    kind: StrategyKind,
    plan: Plan,
    requests: mpsc::Sender<Request>,
    answers: mpsc::Receiver<Known>,
) -> std::io::Result<()> {
    let body = move || {
        let mut search = Search::new(plan, requests, answers);
        let end = match kind {
            StrategyKind::BruteForce => simple::brute_force(&mut search),
            StrategyKind::RandomSample => simple::random_sample(&mut search),
            StrategyKind::GreedyIls => local::greedy_ils(&mut search),
            StrategyKind::GreedyMls => local::greedy_mls(&mut search),
            StrategyKind::Mls => local::mls(&mut search),
            StrategyKind::SimulatedAnnealing => anneal::simulated_annealing(&mut search),
            StrategyKind::DualAnnealing => anneal::dual_annealing(&mut search),
            StrategyKind::BasinHopping => anneal::basin_hopping(&mut search),
            StrategyKind::GeneticAlgorithm => evolve::genetic(&mut search),
            StrategyKind::DifferentialEvolution => evolve::differential(&mut search),
            StrategyKind::ParticleSwarm => swarm::particles(&mut search),
            StrategyKind::Firefly => swarm::fireflies(&mut search),
            StrategyKind::BayesianOptimisation => guided::bayesian(&mut search),
            StrategyKind::ModelGuided => guided::model_guided(&mut search),
        };
        // `Stop` is how every search ends that does not run out of configurations.
        end.unwrap_or(());
    };
    std::thread::Builder::new().name(format!("search-{}", kind.name())).spawn(body).map(|_| ())
}

/// What a strategy works with.
pub(crate) struct Search {
    pub space: SharedSpace,
    pub rng: Rng,
    pub prior: Option<Prior>,
    pub workers: usize,
    pub budget: u64,
    requests: mpsc::Sender<Request>,
    answers: mpsc::Receiver<Known>,
    /// In the order they became known.
    history: Vec<Known>,
    costs: HashMap<ConfigId, f64>,
    pending: Vec<ConfigId>,
    /// Costs looked up since the last new one.
    repeats: u64,
}

/// So many look-ups of known configurations in a row are a walk in circles.
const CIRCLES: u64 = 2_000;

impl Search {
    fn new(plan: Plan, requests: mpsc::Sender<Request>, answers: mpsc::Receiver<Known>) -> Search {
        Search {
            rng: Rng::new(plan.seed),
            space: plan.space,
            prior: plan.prior,
            workers: plan.workers,
            budget: plan.budget,
            requests,
            answers,
            history: vec![],
            costs: HashMap::new(),
            pending: vec![],
            repeats: 0,
        }
    }

    /// What is known so far, oldest first.
    pub fn history(&self) -> &[Known] {
        &self.history
    }

    pub fn known(&self, id: ConfigId) -> Option<f64> {
        self.costs.get(&id).copied()
    }

    pub fn is_pending(&self, id: ConfigId) -> bool {
        self.pending.contains(&id)
    }

    pub fn pending(&self) -> &[ConfigId] {
        &self.pending
    }

    /// Asks for a configuration without waiting for it. What is known or asked for already is left out.
    pub fn submit(&mut self, id: ConfigId) -> Searched<()> {
        if self.costs.contains_key(&id) || self.is_pending(id) {
            return Ok(());
        }
        self.repeats = 0;
        self.pending.push(id);
        self.requests.send(Request::Evaluate(id)).map_err(|_| Stop)
    }

    /// Waits for the next outcome; at once `None` when nothing is out.
    pub fn collect(&mut self) -> Searched<Option<Known>> {
        if self.pending.is_empty() {
            return Ok(None);
        }
        self.requests.send(Request::Wait).map_err(|_| Stop)?;
        let known = self.answers.recv().map_err(|_| Stop)?;
        self.pending.retain(|id| *id != known.id);
        if self.costs.insert(known.id, known.cost).is_none() {
            self.history.push(known);
        }
        Ok(Some(known))
    }

    /// The cost of one configuration.
    pub fn cost(&mut self, id: ConfigId) -> Searched<f64> {
        Ok(self.costs_of(&[id])?[0])
    }

    /// The costs of several configurations, tried at the same time where there are workers.
    pub fn costs_of(&mut self, ids: &[ConfigId]) -> Searched<Vec<f64>> {
        if ids.iter().all(|id| self.costs.contains_key(id)) {
            self.repeats += ids.len() as u64;
            if self.repeats > CIRCLES {
                // Whatever the strategy does next, the search gets on.
                let fresh = self.fresh()?;
                self.submit(fresh)?;
            }
        }
        for &id in ids {
            self.submit(id)?;
        }
        while !self.pending.is_empty() {
            self.collect()?;
        }
        let cost = |id: &ConfigId| self.costs.get(id).copied().unwrap_or(f64::INFINITY);
        Ok(ids.iter().map(cost).collect())
    }

    /// A configuration that is neither known nor out, drawn uniformly.
    pub fn fresh(&mut self) -> Searched<ConfigId> {
        let count = self.space.count();
        let taken = |search: &Search, id| search.costs.contains_key(&id) || search.is_pending(id);
        for _ in 0..64 {
            let id = ConfigId(self.rng.below(count));
            if !taken(self, id) {
                return Ok(id);
            }
        }
        // Most of the space is known: take the next free one after a random place.
        let start = self.rng.below(count);
        let mut around = (start..count).chain(0..start).map(ConfigId);
        around.find(|id| !taken(self, *id)).ok_or(Stop)
    }

    /// Any configuration, drawn uniformly.
    pub fn random(&mut self) -> Searched<ConfigId> {
        let space = self.space.clone();
        space.sample(&mut self.rng).ok_or(Stop)
    }

    /// Neighbours in random order.
    pub fn shuffled_neighbours(&mut self, id: ConfigId, kind: Neighbourhood) -> Vec<ConfigId> {
        let mut neighbours = self.space.neighbours(id, kind);
        self.rng.shuffle(&mut neighbours);
        neighbours
    }

    pub fn random_neighbour(&mut self, id: ConfigId) -> Searched<ConfigId> {
        let space = self.space.clone();
        match space.random_neighbour(id, &mut self.rng) {
            Some(near) => Ok(near),
            None => self.random(),
        }
    }

    /// The valid configuration at or near a point; a random one where there is none near.
    pub fn repaired(&mut self, point: &Point) -> Searched<ConfigId> {
        let space = self.space.clone();
        match space.repaired(point, &mut self.rng) {
            Some(id) => Ok(id),
            None => self.random(),
        }
    }

    /// The best so far.
    pub fn best(&self) -> Option<Known> {
        let finite = self.history.iter().filter(|known| known.cost.is_finite());
        finite.min_by(|a, b| a.cost.total_cmp(&b.cost)).copied()
    }

    /// Share of the budget that is used up, in `[0, 1]`; of a thousand evaluations where there is none.
    pub fn spent(&self) -> f64 {
        (self.history.len() as f64 / self.budget.clamp(1, 1000) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests;
