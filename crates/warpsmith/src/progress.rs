//! Progress on a terminal, for what takes more than a second; nothing when stderr is piped.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Counts steps of a known number; shows a line once a second has passed.
pub struct Progress {
    what: &'static str,
    total: u64,
    done: u64,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(what: &'static str, total: usize) -> Progress {
        Progress { what, total: total as u64, done: 0, start: Instant::now(), bar: None }
    }

    /// There are so many steps, as is known by now.
    pub fn total(&mut self, total: usize) {
        self.total = total as u64;
        if let Some(bar) = &self.bar {
            bar.set_length(self.total);
        }
    }

    /// One more step begins; `name` says which.
    pub fn step(&mut self, name: &str) {
        if self.bar.is_none() && self.start.elapsed() > Duration::from_secs(1) {
            let bar = ProgressBar::new(self.total);
            if let Ok(style) = ProgressStyle::with_template("{prefix} {pos}/{len} {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(self.what);
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
            bar.set_message(name.to_string());
        }
        self.done += 1;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
