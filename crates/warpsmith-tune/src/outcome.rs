//! What is known about a configuration after it was tried.

use serde_json::{Map, Value as Json};

use crate::space::Configuration;

/// Whether a configuration may be used, or why not. The names are those of the T4 format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It ran, and nothing is wrong with what it computed.
    Correct,
    /// It breaks a constraint that is known only when it is tried, such as a limit of the device.
    Constraints,
    /// The compiler refused it.
    Compile,
    /// It could not be launched, or failed while it ran.
    Runtime,
    /// It ran, and what it computed is wrong.
    Correctness,
    /// It took longer than the limit.
    Timeout,
}

impl Status {
    /// All of them, in the order of their declaration.
    pub const ALL: [Status; 6] = [
        Status::Correct,
        Status::Constraints,
        Status::Compile,
        Status::Runtime,
        Status::Correctness,
        Status::Timeout,
    ];

    /// The name in the T4 format.
    pub fn name(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Constraints => "constraints",
            Status::Compile => "compile",
            Status::Runtime => "runtime",
            Status::Correctness => "correctness",
            Status::Timeout => "timeout",
        }
    }

    /// By its name in the T4 format; `None` for any other text.
    pub fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// How long the parts of trying a configuration took, in milliseconds; `None` where nobody measured it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Compiling.
    pub compile_ms: Option<f64>,
    /// Comparing its results.
    pub verification_ms: Option<f64>,
    /// The timed runs together.
    pub benchmark_ms: Option<f64>,
    /// Choosing the configuration.
    pub search_ms: Option<f64>,
    /// Everything else around it.
    pub framework_ms: Option<f64>,
}

/// A named figure beside the time, such as GFLOP/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What is measured.
    pub name: String,
    /// The figure, usually a number.
    pub value: Json,
    /// Its unit, where it has one.
    pub unit: Option<String>,
    /// KTT's type of the value, such as `Double`.
    pub kind: Option<String>,
}

/// The outcome of trying one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether it may be used.
    pub status: Status,
    /// What went wrong, in words.
    pub message: Option<String>,
    /// The time that counts, in milliseconds; lower is better. Only a correct outcome's time is used.
    pub time_ms: Option<f64>,
    /// All samples in milliseconds, in the order they were taken.
    pub runtimes_ms: Vec<f64>,
    /// How long the parts of trying it took.
    pub phases: Phases,
    /// Registers, spills, shared memory, …
    pub compilation: Map<String, Json>,
    /// Further figures.
    pub measurements: Vec<Measurement>,
    /// As the file or the runner spells it; ISO 8601 where we make it.
    pub timestamp: Option<String>,
    /// Fields of a file that have no place above, so that writing it again loses nothing.
    pub extra: Map<String, Json>,
}

impl Outcome {
    /// A correct outcome whose time is the median of its samples.
    pub fn correct(runtimes_ms: Vec<f64>) -> Outcome {
        Outcome { time_ms: median(&runtimes_ms), runtimes_ms, ..Outcome::of(Status::Correct) }
    }

    /// An outcome without a time; `message` says what went wrong.
    pub fn failed(status: Status, message: impl Into<String>) -> Outcome {
        Outcome { message: Some(message.into()), ..Outcome::of(status) }
    }

    /// An outcome without any figures.
    pub fn of(status: Status) -> Outcome {
        Outcome {
            status,
            message: None,
            time_ms: None,
            runtimes_ms: vec![],
            phases: Phases::default(),
            compilation: Map::new(),
            measurements: vec![],
            timestamp: None,
            extra: Map::new(),
        }
    }

    /// What searches minimise: the time of a correct outcome, else infinity. A time that is no number above zero
    /// is no time.
    pub fn cost(&self) -> f64 {
        let time = self.time_ms.filter(|t| *t > 0.0 && t.is_finite());
        time.filter(|_| self.status == Status::Correct).unwrap_or(f64::INFINITY)
    }
}

/// The middle sample, or the mean of the middle two; `None` without samples or where one is no number.
pub fn median(samples: &[f64]) -> Option<f64> {
    if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let even = sorted.len().is_multiple_of(2);
    Some(if even { (sorted[middle - 1] + sorted[middle]) / 2.0 } else { sorted[middle] })
}

/// A configuration with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was tried.
    pub configuration: Configuration,
    /// What came of it.
    pub outcome: Outcome,
}

/// Tries configurations: compiles, verifies and measures them, or looks them up.
pub trait Runner {
    /// Tries one configuration. Whatever goes wrong with it is part of the outcome.
    fn evaluate(&mut self, configuration: &Configuration) -> Outcome;
}

impl<F: FnMut(&Configuration) -> Outcome> Runner for F {
    fn evaluate(&mut self, configuration: &Configuration) -> Outcome {
        self(configuration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_needs_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn only_correct_times_count() {
        assert_eq!(Outcome::correct(vec![2.0]).cost(), 2.0);
        assert_eq!(
            Outcome { time_ms: Some(1.0), ..Outcome::of(Status::Correctness) }.cost(),
            f64::INFINITY
        );
        assert_eq!(Outcome::correct(vec![0.0]).cost(), f64::INFINITY);
        assert_eq!(Outcome::correct(vec![f64::NAN]).cost(), f64::INFINITY);
    }
}
