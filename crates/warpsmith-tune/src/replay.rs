//! A runner that looks outcomes up instead of measuring: for tests, and to judge strategies without a GPU.

use std::collections::HashMap;
use std::sync::Arc;

use warpsmith_ir::Diagnostic;

use crate::exchange::Recording;
use crate::outcome::{Outcome, Runner, Status};
use crate::space::{ConfigId, Configuration, Point, SharedSpace, Space};

/// Recorded outcomes of a space of just the recorded configurations.
#[derive(Clone, Debug)]
pub struct Replay {
    space: SharedSpace,
    outcomes: Arc<HashMap<ConfigId, Outcome>>,
}

impl Replay {
    /// Of configurations that are recorded twice the first one counts.
    ///
    /// # Errors
    /// A recording without results, or of configurations with different parameters.
    pub fn new(recording: Recording) -> Result<Replay, Diagnostic> {
        let refuse =
            |why: &str| Err(Diagnostic::error("W415", format!("cannot replay this: {why}")));
        if recording.records.is_empty() {
            return refuse("nothing is recorded");
        }
        let points: Option<Vec<Point>> = recording
            .records
            .iter()
            .map(|r| {
                let names = r.configuration.values.len() == recording.parameters.len();
                names.then(|| position(&recording, &r.configuration)).flatten()
            })
            .collect();
        let Some(points) = points else {
            return refuse("its configurations have different parameters");
        };
        let space = match Space::of_points(recording.parameters, &points) {
            Ok(space) => Arc::new(space),
            Err(error) => return Err(error.diagnostic(&|_| None)),
        };
        let mut outcomes = HashMap::new();
        for (point, record) in points.iter().zip(recording.records) {
            if let Some(id) = space.id(point) {
                outcomes.entry(id).or_insert(record.outcome);
            }
        }
        Ok(Replay { space, outcomes: Arc::new(outcomes) })
    }

    /// The configurations that can be asked for.
    pub fn space(&self) -> SharedSpace {
        self.space.clone()
    }

    /// The recorded outcome; `None`: the configuration was not recorded.
    pub fn outcome(&self, id: ConfigId) -> Option<&Outcome> {
        self.outcomes.get(&id)
    }

    /// The least recorded time.
    pub fn best_ms(&self) -> f64 {
        self.outcomes.values().map(Outcome::cost).fold(f64::INFINITY, f64::min)
    }
}

fn position(recording: &Recording, configuration: &Configuration) -> Option<Point> {
    let places = recording.parameters.iter().map(|p| {
        let value = configuration.get(&p.name)?;
        p.values.iter().position(|v| v == value).and_then(|i| u16::try_from(i).ok())
    });
    places.collect()
}

impl Runner for Replay {
    fn evaluate(&mut self, configuration: &Configuration) -> Outcome {
        let known = self.space.find(configuration).and_then(|id| self.outcomes.get(&id));
        known
            .cloned()
            .unwrap_or_else(|| Outcome::failed(Status::Constraints, "it was not recorded"))
    }
}
