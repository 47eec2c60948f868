//! The default strategy: a model of the cost, learned from what was tried, says where to look next.
//!
//! The logarithm of the time is modelled by a Gaussian process and a forest of random trees side by side. They err in
//! different ways, so the next configuration is the one that promises most by their common expectation: sometimes of all
//! candidates, more often of a few offspring of the best so far, because a model that has seen little is best trusted
//! close to what it has seen. Failures are modelled apart, as a probability of being valid.

use std::collections::HashSet;

use super::{Known, Search, Searched};
use crate::model::expected_improvement;
use crate::model::features::{Features, Sample};
use crate::model::forest::Forest;
use crate::model::gaussian::{Belief, Process};
use crate::space::{ConfigId, Neighbourhood, Point, Space};
use crate::tuner::Prior;

/// Whole spaces up to this size are candidates; of larger ones a sample of it and neighbours of the best.
const MOST_CANDIDATES: u64 = 3_000;
/// Configurations that are shown to the caller's model, of a larger space.
const PRIOR_SAMPLE: u64 = 20_000;
/// Observations the Gaussian process is conditioned on at most; its cost grows with the square.
const MOST_OBSERVATIONS: usize = 220;
/// Offspring to choose from, and the share of them that is crossed.
const POOL: usize = 8;
const CROSSED: f64 = 0.4;
/// Evaluations without a new best before the search looks elsewhere.
const STRETCH: usize = 8;
/// A configuration that the caller's model predicts to take so many times as long as the best is not looked at first.
const HOPELESS: f64 = 20.0;
/// The best configurations whose neighbours are candidates.
const CENTRES: usize = 6;

/// Expected improvement by the process alone, after a random start.
pub(super) fn bayesian(search: &mut Search) -> Searched<()> {
    Guide::new(search, Taste { forest: 0.0, offspring: 0.0 })?.run(search)
}

pub(super) fn model_guided(search: &mut Search) -> Searched<()> {
    Guide::new(search, Taste { forest: 0.35, offspring: 1.0 })?.run(search)
}

/// What distinguishes the strategies made here.
struct Taste {
    /// Weight of the forest beside the process once there is data enough, in `[0, 1]`.
    forest: f64,
    /// How often only a few offspring of the best are candidates at first, in `[0, 1]`.
    offspring: f64,
}

struct Candidate {
    id: ConfigId,
    point: Sample,
    /// As far as the process has been worked out for it.
    row: Vec<f64>,
}

/// Configurations as numbers; the last one is what the caller's model predicts, where there is one.
struct View {
    features: Features,
    prior: Option<Prior>,
    /// Least and greatest logarithm of predictions in a sample.
    range: (f64, f64),
}

impl View {
    fn new(search: &mut Search) -> Searched<View> {
        let mut features = Features::new(&search.space);
        let prior = search.prior.clone();
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        if let Some(prior) = &prior {
            features.appended = 1;
            for _ in 0..256 {
                let id = search.random()?;
                let log = prior.predict(&search.space.configuration(id)).ln();
                if log.is_finite() {
                    range = (range.0.min(log), range.1.max(log));
                }
            }
        }
        Ok(View { features, prior, range })
    }

    fn of(&self, space: &Space, id: ConfigId) -> Sample {
        let mut point = self.features.of(&space.point(id));
        if let Some(prior) = &self.prior {
            let log = prior.predict(&space.configuration(id)).ln();
            let scaled = (log - self.range.0) / (self.range.1 - self.range.0).max(1e-9);
            // What cannot run according to the prior is beyond its slowest.
            point.numbers.push(if scaled.is_finite() { scaled.clamp(-0.5, 1.5) } else { 2.0 });
        }
        point
    }
}

struct Guide {
    taste: Taste,
    view: View,
    belief: Belief,
    candidates: Vec<Candidate>,
    present: HashSet<ConfigId>,
    process: Option<Process>,
    /// The probability of being valid, when anything failed.
    valid: Option<Forest>,
    /// Configurations by what the caller's model thinks, the best last, and what it predicts for that.
    promising: Vec<ConfigId>,
    fastest: Option<f64>,
    /// Observations in the process when it was last fitted, and now.
    fitted: usize,
    /// How many of the history have been seen.
    seen: usize,
}

impl Guide {
    fn new(search: &mut Search, taste: Taste) -> Searched<Guide> {
        let view = View::new(search)?;
        let belief = Belief::new(view.features.count());
        Ok(Guide {
            taste,
            view,
            belief,
            candidates: vec![],
            present: HashSet::new(),
            process: None,
            valid: None,
            promising: vec![],
            fastest: None,
            fitted: 0,
            seen: 0,
        })
    }

    fn run(mut self, search: &mut Search) -> Searched<()> {
        self.start(search)?;
        loop {
            while search.pending().len() < search.workers {
                let next = self.choose(search)?;
                search.submit(next)?;
            }
            search.collect()?;
        }
    }

    /// A first look: what the caller's model thinks best, and configurations drawn uniformly. Drawn far from each other
    /// they would be extremes, which is not where good ones are: the search was worse on all kinds of recorded spaces.
    fn start(&mut self, search: &mut Search) -> Searched<()> {
        let most = 8 + self.view.features.count() as u64 / 2;
        let wanted = (search.budget / 4).clamp(4, most).min(search.space.count());
        self.promising = self.sorted(search)?;
        let mut looks = 0;
        while looks < wanted / 2 {
            let Some(id) = self.next_promising(search) else { break };
            self.first(search, id)?;
            looks += 1;
        }
        for _ in looks..wanted {
            if let Some(id) = self.hopeful(search)? {
                self.first(search, id)?;
            }
        }
        Ok(())
    }

    /// A configuration drawn uniformly that is not hopeless; `None` where there are few such.
    fn hopeful(&self, search: &mut Search) -> Searched<Option<ConfigId>> {
        for _ in 0..12 {
            let id = search.fresh()?;
            if !self.is_hopeless(search, id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The caller's model thinks it far slower than the best: running it would cost more than it tells.
    fn is_hopeless(&self, search: &Search, id: ConfigId) -> bool {
        let (Some(prior), Some(best)) = (&self.view.prior, self.fastest) else { return false };
        let predicted = prior.predict(&search.space.configuration(id));
        predicted.is_nan() || predicted > HOPELESS * best
    }

    /// The most promising configuration that has not been tried, where the caller has a model.
    fn next_promising(&mut self, search: &Search) -> Option<ConfigId> {
        loop {
            let id = self.promising.pop()?;
            if search.known(id).is_none() && !search.is_pending(id) {
                return Some(id);
            }
        }
    }

    fn first(&self, search: &mut Search, id: ConfigId) -> Searched<()> {
        search.submit(id)?;
        while search.pending().len() >= search.workers {
            search.collect()?;
        }
        Ok(())
    }

    /// A large sample by what the caller's model thinks, the best last; nothing where there is no such model.
    fn sorted(&mut self, search: &mut Search) -> Searched<Vec<ConfigId>> {
        let Some(prior) = self.view.prior.clone() else { return Ok(vec![]) };
        let mut sample: Vec<(f64, ConfigId)> = vec![];
        for id in self.drawn(search, PRIOR_SAMPLE)? {
            sample.push((prior.predict(&search.space.configuration(id)), id));
        }
        sample.retain(|(predicted, _)| predicted.is_finite());
        sample.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.fastest = sample.last().map(|(predicted, _)| *predicted);
        Ok(sample.into_iter().map(|(_, id)| id).collect())
    }

    /// Distinct configurations: all, or a sample of this size.
    fn drawn(&self, search: &mut Search, size: u64) -> Searched<Vec<ConfigId>> {
        if search.space.count() <= size {
            return Ok(search.space.ids().collect());
        }
        let mut drawn = HashSet::new();
        let mut list = vec![];
        for _ in 0..size {
            let id = search.random()?;
            if drawn.insert(id) {
                list.push(id);
            }
        }
        Ok(list)
    }

    /// The configuration to try next.
    fn choose(&mut self, search: &mut Search) -> Searched<ConfigId> {
        let Some(best) = search.best() else {
            // Nothing has come back yet.
            let promising = self.next_promising(search);
            return promising.map_or_else(|| search.fresh(), Ok);
        };
        let data = Data::new(search, &self.view);
        if self.process.is_none() || self.due(search) {
            self.refit(search, &data)?;
        }
        self.catch_up(search, &data);
        let forest = (self.taste.forest > 0.0)
            .then(|| Forest::fit(&self.view.features, &data.points, &data.logs, &mut search.rng));
        let experience = experience(search);
        let pool = self.offspring(search, stalled(search))?;
        let target = data.squash(best.cost);
        let Some(process) = &self.process else { return search.fresh() };
        let mut chosen: Option<(f64, ConfigId)> = None;
        for candidate in &mut self.candidates {
            let outside = pool.as_ref().is_some_and(|pool| !pool.contains(&candidate.id));
            if outside || search.known(candidate.id).is_some() || search.is_pending(candidate.id) {
                continue;
            }
            process.whiten_further(&candidate.point, &mut candidate.row);
            let (mut mean, mut deviation) = process.predict(&candidate.row);
            if let Some(forest) = &forest {
                let w = self.taste.forest * experience;
                let (m, d) = forest.predict(&candidate.point);
                mean = (1.0 - w) * mean + w * m;
                deviation = ((1.0 - w) * deviation * deviation + w * d * d).sqrt();
            }
            // What it has for itself may make it the best, too.
            let deviation = deviation.hypot(process.own_deviation());
            let mut worth = expected_improvement(mean, deviation, target);
            if let Some(valid) = &self.valid {
                worth *= valid.predict(&candidate.point).0.clamp(0.01, 1.0);
            }
            if chosen.is_none_or(|(most, _)| worth > most) {
                chosen = Some((worth, candidate.id));
            }
        }
        match chosen {
            Some((_, id)) => Ok(id),
            None => search.fresh(),
        }
    }

    /// A few offspring of the best so far, most of the time: crossed, changed in one parameter, or drawn anew. `None`
    /// stands for all candidates.
    fn offspring(
        &mut self,
        search: &mut Search,
        stalled: bool,
    ) -> Searched<Option<HashSet<ConfigId>>> {
        // With more data the models are trusted farther away.
        let share = self.taste.offspring * (1.0 - 0.6 * experience(search));
        let often = if stalled { (1.0 + share) / 2.0 } else { share };
        if share == 0.0 || !search.rng.chance(often) {
            return Ok(None);
        }
        let mut parents: Vec<Known> = search.history().to_vec();
        parents.retain(|known| known.cost.is_finite());
        parents.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        parents.truncate(if stalled { 20 } else { 8 });
        let single = if stalled { 0.2 } else { 0.45 };
        let mut pool = HashSet::new();
        for _ in 0..4 * POOL {
            let (Some(&a), Some(&b)) = (search.rng.pick(&parents), search.rng.pick(&parents))
            else {
                break;
            };
            let roll = search.rng.unit();
            let id = if roll < CROSSED {
                let (a, b) = (search.space.point(a.id), search.space.point(b.id));
                let mut either =
                    |(x, y): (&u16, &u16)| if search.rng.chance(0.5) { *x } else { *y };
                let mixed: Point = a.iter().zip(&b).map(&mut either).collect();
                search.repaired(&mixed)?
            } else if roll < CROSSED + single {
                search.random_neighbour(a.id)?
            } else {
                search.random()?
            };
            if search.known(id).is_none() && !search.is_pending(id) {
                self.add(search, id);
                pool.insert(id);
            }
            if pool.len() == POOL {
                break;
            }
        }
        Ok((!pool.is_empty()).then_some(pool))
    }

    /// Whether the process should be fitted anew: often at first, then every so often.
    fn due(&self, search: &Search) -> bool {
        let now = search.history().len();
        now >= self.fitted + (self.fitted / 8).clamp(2, 20)
    }

    fn refit(&mut self, search: &mut Search, data: &Data) -> Searched<()> {
        let sweeps = if self.process.is_none() { 3 } else { 2 };
        let keep = data.points.len().saturating_sub(MOST_OBSERVATIONS);
        let (points, logs) = (&data.points[keep..], &data.logs[keep..]);
        let features = &self.view.features;
        self.process = Some(Process::fit(features, points, logs, &mut self.belief, sweeps));
        let failed = data.ran.contains(&0.0);
        self.valid = failed.then(|| Forest::fit(features, &data.tried, &data.ran, &mut search.rng));
        self.fitted = search.history().len();
        self.seen = self.fitted;
        self.gather(search)
    }

    /// Makes the list of candidates.
    fn gather(&mut self, search: &mut Search) -> Searched<()> {
        self.candidates.clear();
        self.present.clear();
        if search.space.count() <= MOST_CANDIDATES {
            for id in search.space.ids() {
                self.add(search, id);
            }
            return Ok(());
        }
        for id in self.drawn(search, MOST_CANDIDATES / 2)? {
            self.add(search, id);
        }
        for id in self.sorted(search)?.into_iter().rev().take(MOST_CANDIDATES as usize / 8) {
            self.add(search, id);
        }
        if self.taste.offspring > 0.0 {
            let mut best = search.history().to_vec();
            best.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            for known in best.into_iter().take(CENTRES) {
                self.surround(search, known.id);
            }
        }
        Ok(())
    }

    fn surround(&mut self, search: &mut Search, centre: ConfigId) {
        let near = search.shuffled_neighbours(centre, Neighbourhood::Hamming);
        for id in near {
            self.add(search, id);
        }
        let around = search.shuffled_neighbours(centre, Neighbourhood::StrictlyAdjacent);
        for id in around.into_iter().take(300) {
            self.add(search, id);
        }
    }

    fn add(&mut self, search: &Search, id: ConfigId) {
        if search.known(id).is_none() && self.present.insert(id) {
            let point = self.view.of(&search.space, id);
            self.candidates.push(Candidate { id, point, row: vec![] });
        }
    }

    /// Tells the process what has come in since it was fitted.
    fn catch_up(&mut self, search: &mut Search, data: &Data) {
        let Some(process) = &mut self.process else { return };
        let news: Vec<Known> = search.history()[self.seen..].to_vec();
        self.seen = search.history().len();
        for known in news.iter().filter(|known| known.cost.is_finite()) {
            process.observe(&self.view.of(&search.space, known.id), data.squash(known.cost));
        }
        // Close to what has just turned out well there may be better, which a sample of a large space lacks.
        let large = search.space.count() > MOST_CANDIDATES;
        let best = search.best().filter(|best| news.iter().any(|known| known.id == best.id));
        if let Some(best) = best.filter(|_| large && self.taste.offspring > 0.0) {
            self.surround(search, best.id);
        }
    }
}

/// How much the models have to go by: 1 from a hundred evaluations on.
fn experience(search: &Search) -> f64 {
    (search.history().len() as f64 / 100.0).min(1.0)
}

/// Whether the search should look elsewhere for a while: after eight evaluations without a new best, in every other
/// stretch of eight.
fn stalled(search: &Search) -> bool {
    let mut best = f64::INFINITY;
    let mut since = 0;
    for known in search.history() {
        since = if known.cost < best { 1 } else { since + 1 };
        best = best.min(known.cost);
    }
    since > STRETCH && (since / STRETCH) % 2 == 1
}

/// What was tried, as numbers.
struct Data {
    /// Of what ran.
    points: Vec<Sample>,
    /// Logarithms of times, with the slow ones brought together.
    logs: Vec<f64>,
    /// All, with 1 for what ran.
    tried: Vec<Sample>,
    ran: Vec<f64>,
    /// The median logarithm.
    middle: f64,
}

impl Data {
    fn new(search: &Search, view: &View) -> Data {
        let mut data = Data {
            points: vec![],
            logs: vec![],
            tried: vec![],
            ran: vec![],
            middle: f64::INFINITY,
        };
        let mut logs: Vec<f64> = search.history().iter().map(|known| known.cost.ln()).collect();
        logs.retain(|log| log.is_finite());
        logs.sort_by(f64::total_cmp);
        data.middle = logs.get(logs.len() / 2).copied().unwrap_or(f64::INFINITY);
        for known in search.history() {
            let point = view.of(&search.space, known.id);
            if known.cost.is_finite() {
                data.points.push(point.clone());
                data.logs.push(data.squash(known.cost));
            }
            data.ran.push(f64::from(u8::from(known.cost.is_finite())));
            data.tried.push(point);
        }
        data
    }

    /// The logarithm of a time; how slow the slower half is matters less and less.
    fn squash(&self, cost: f64) -> f64 {
        let log = cost.ln();
        if log > self.middle { self.middle + (1.0 + log - self.middle).ln() } else { log }
    }
}
