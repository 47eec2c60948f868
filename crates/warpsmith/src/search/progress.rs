//! A line on the terminal while configurations are tried.

use indicatif::{ProgressBar, ProgressStyle};
use warpsmith_ir::printable;
use warpsmith_tune::tuner;

/// Shows how many were tried and the best so far; nothing when stderr is piped.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new(what: &str) -> Progress {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(what.to_string());
        Progress { bar }
    }

    pub fn show(&self, progress: &tuner::Progress) {
        let best = match &progress.best {
            Some((configuration, ms)) => {
                format!("best {ms:.4} ms: {}", printable(&configuration.key()))
            }
            None => "none has run yet".into(),
        };
        let failed = match progress.failed {
            0 => String::new(),
            n => format!(", {n} failed"),
        };
        self.bar.set_message(format!("{}/{}{failed}; {best}", progress.evaluated, progress.limit));
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
