//! What the device model says of configurations before any of them is measured.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use warpsmith_tune::outcome::median;
use warpsmith_tune::rng::Rng;
use warpsmith_tune::space::{ConfigId, Configuration};
use warpsmith_tune::tuner::{Prior, PriorModel};

use super::Candidates;
use crate::search::outcome::geometric_mean;
use crate::tune::choice::PREDICTING;
use crate::tune::estimates::{Estimates, on_all_cores};

/// Time for asking the model about a space; of a larger one it is asked about those that are expected to be fast, and others
/// drawn at random.
const PATIENCE: Duration = Duration::from_secs(3);
/// With fewer answers the model has no opinion.
const FEWEST: usize = 16;

/// The device model's opinion of configurations.
pub struct Model<'a> {
    pub candidates: &'a Candidates,
    pub estimates: Estimates<'a>,
}

/// The model's answers by [`Configuration::key`].
#[derive(Debug)]
struct Predicted {
    /// Seconds; `None`: not legal, or it cannot run.
    answers: HashMap<String, Option<f64>>,
    /// What the others are expected to take, as far as that is known.
    expected: Arc<HashMap<String, f64>>,
    /// Stands for the rest.
    median: f64,
}

impl Predicted {
    fn new(
        answers: HashMap<String, Option<f64>>,
        expected: Arc<HashMap<String, f64>>,
    ) -> Option<Predicted> {
        let seconds: Vec<f64> = answers.values().copied().flatten().collect();
        let median = median(&seconds)?;
        Some(Predicted { answers, expected, median })
    }
}

impl PriorModel for Predicted {
    fn predict(&self, configuration: &Configuration) -> f64 {
        let key = configuration.key();
        match self.answers.get(&key) {
            Some(answer) => answer.unwrap_or(f64::NAN),
            None => self.expected.get(&key).copied().unwrap_or(self.median),
        }
    }
}

impl Model<'_> {
    /// Predicted seconds, the geometric mean over the sizes. `None`: not legal, or it cannot run.
    pub fn seconds(&self, configuration: &Configuration) -> Option<f64> {
        let schedule = self.candidates.schedule(configuration).ok()?;
        Some(geometric_mean(&self.estimates.times(&schedule)?))
    }

    /// Asks about all configurations, or as many as there is time for, on all cores. `None`: too few to have an opinion.
    pub fn prior(&self) -> Option<Prior> {
        let ids = self.in_turns();
        let begun = Instant::now();
        let asked = |id: &ConfigId| {
            if begun.elapsed() > PATIENCE {
                return None;
            }
            let configuration = self.candidates.space.configuration(*id);
            Some((configuration.key(), self.seconds(&configuration)))
        };
        let answers: HashMap<_, _> =
            on_all_cores(PREDICTING, &ids, asked).into_iter().flatten().collect();
        let enough = answers.len() == ids.len() || answers.len() >= FEWEST;
        let expected = self.candidates.expected.clone();
        let predicted = Predicted::new(answers, expected).filter(|_| enough)?;
        Some(Arc::new(predicted) as Prior)
    }

    /// All configurations: in turns the one that is expected to be the fastest of those that are left, and one at random.
    fn in_turns(&self) -> Vec<ConfigId> {
        let mut at_random: Vec<ConfigId> = self.candidates.space.ids().collect();
        Rng::new(0).shuffle(&mut at_random);
        let expected = |id: &ConfigId| {
            let key = self.candidates.space.configuration(*id).key();
            self.candidates.expected.get(&key).copied()
        };
        let mut fastest: Vec<(f64, ConfigId)> =
            at_random.iter().filter_map(|id| Some((expected(id)?, *id))).collect();
        fastest.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut all = vec![];
        let mut fastest = fastest.into_iter().map(|(_, id)| id);
        for id in at_random {
            all.extend(fastest.next());
            all.push(id);
        }
        let mut seen = HashSet::new();
        all.retain(|id| seen.insert(*id));
        all
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_tune::value::Value;

    use super::*;

    #[test]
    fn what_nobody_asked_about_is_as_expected_or_neither_good_nor_bad() {
        let at = |n: i64| Configuration { values: vec![("n".into(), Value::Int(n))] };
        let answers = [(1, Some(3.0)), (2, Some(1.0)), (3, None), (4, Some(2.0))];
        let answers = answers.map(|(n, seconds)| (at(n).key(), seconds));
        let expected = Arc::new(HashMap::from([(at(4).key(), 9.0), (at(8).key(), 1.5)]));
        let prior = Predicted::new(answers.into(), expected).expect("some answers are seconds");
        assert_eq!([2, 4, 8, 9].map(|n| prior.predict(&at(n))), [1.0, 2.0, 1.5, 2.0]);
        assert!(prior.predict(&at(3)).is_nan());
        assert!(Predicted::new([(at(1).key(), None)].into(), Arc::default()).is_none());
    }
}
