//! A line on the terminal while configurations are tried.

use warpsmith_ir::printable;
use warpsmith_tune::space::Configuration;
use warpsmith_tune::tuner;

use crate::progress::Phase;
use crate::units::time;

/// Shows how many were tried and the best so far; nothing when stderr is piped.
pub struct Progress<'a> {
    phase: Phase,
    /// A configuration in words.
    words: &'a dyn Fn(&Configuration) -> String,
}

impl<'a> Progress<'a> {
    /// `what` is done with configurations: "measuring".
    pub fn new(what: &str, words: &'a dyn Fn(&Configuration) -> String) -> Progress<'a> {
        Progress { phase: Phase::new(what), words }
    }

    /// Shows the best configuration so far, and how many were tried.
    pub fn show(&self, progress: &tuner::Progress) {
        let best = match &progress.best {
            Some((configuration, ms)) => {
                let words = (self.words)(configuration);
                format!("best {}: {}", time(ms / 1e3), printable(&words))
            }
            None => "none has run yet".into(),
        };
        let failed = match progress.failed {
            0 => String::new(),
            n => format!(", {n} failed"),
        };
        self.phase.say(format!("{}/{}{failed}; {best}", progress.evaluated, progress.limit));
    }
}
