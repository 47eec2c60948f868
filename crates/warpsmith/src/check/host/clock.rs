//! How long a program is run by the clock. Where work is the measure, as everywhere else in a check, a report is the same on every
//! machine; but what an instruction takes differs, by kernel and by machine, and whoever waits for an answer does so by the clock.

use std::path::Path;
use std::time::{Duration, Instant};

use warpsmith_emu::{LaunchConfig, Limit, Outcome, POLLS, POLLS_HOST, Sampled};

use super::super::runner::Runner;
use super::super::shown;

/// Of the time that is left to a program, the part that one launch may take before it leaves out blocks.
const PART_OF_LAUNCH: u32 = 3;
/// A launch may take so much whatever is left: the first blocks and those at the corners are worth that.
const LEAST_OF_LAUNCH: Duration = Duration::from_millis(500);

/// Quarters of what is left to a program, of time and of thread instructions, after which a launch is ended; and so much time, if
/// that is left, it may take anyhow.
const QUARTERS_OF_LAUNCH: u32 = 3;
const LEAST_TIME: Duration = Duration::from_secs(2);

/// What a launch may take before it is ended and the program goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub steps: u64,
    pub until: Option<Instant>,
}

/// Times of a program, from its beginning.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Times {
    /// From then on, launches are run in part, no launch is repeated, and the host is soon out of patience.
    pub hurries: Duration,
    /// What has not been run by then is not run.
    pub ends: Duration,
    /// Runs with other sizes and variants, each kind together.
    pub tries: Duration,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            hurries: Duration::from_secs(20),
            ends: Duration::from_secs(48),
            tries: Duration::from_secs(8),
        }
    }
}

impl Runner<'_> {
    /// Checks a program for so long at most; `None`: as long as it takes, unless an option gives a time.
    pub(super) fn timed<T>(&mut self, times: Option<Times>, run: impl FnOnce(&mut Self) -> T) -> T {
        let kept = (self.deadline, self.hurries);
        if let (Some(times), None) = (times, self.deadline) {
            let now = Instant::now();
            (self.deadline, self.hurries) = (Some(now + times.ends), Some(now + times.hurries));
        }
        let result = run(self);
        (self.deadline, self.hurries) = kept;
        result
    }

    /// Does something that is worth so much time, of what is left.
    pub(super) fn while_worth<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let kept = self.deadline;
        if self.hurries.is_some() {
            let end = Instant::now() + self.effort.times.tries;
            self.deadline = Some(kept.map_or(end, |d| d.min(end)));
        }
        let result = run(self);
        self.deadline = kept;
        result
    }

    /// The time is over.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// So much of it is over that only a part of what comes can be run.
    pub(super) fn hurries(&self) -> bool {
        self.hurries.is_some_and(|d| Instant::now() >= d)
    }

    /// When a launch that begins now leaves out the blocks that have not begun.
    pub(super) fn launch_leaves_out_from(&self) -> Option<Instant> {
        self.hurries?;
        let now = Instant::now();
        let left = self.deadline?.saturating_duration_since(now);
        Some(now + (left / PART_OF_LAUNCH).max(LEAST_OF_LAUNCH))
    }

    /// What a launch that begins now may take, so that what comes behind it has its turn.
    pub(super) fn share_of_launch(&self) -> Share {
        let left = self.steps_left;
        if self.args.all_repeats {
            return Share { steps: left, until: self.deadline };
        }
        let part = left / 4 * u64::from(QUARTERS_OF_LAUNCH);
        let steps = part.max(self.effort.launch_least.min(left));
        let until = self.deadline.map(|end| {
            let now = Instant::now();
            let left = end.saturating_duration_since(now);
            now + (left / 4 * QUARTERS_OF_LAUNCH).max(LEAST_TIME.min(left))
        });
        Share { steps, until: until.filter(|_| self.hurries.is_some()).or(self.deadline) }
    }

    /// A launch that was ended because it took its share was run in part.
    pub(super) fn end_of_share(&self, outcome: &mut Outcome, share: Share) {
        let own = match outcome.limit {
            Some(Limit::TotalSteps) => share.steps < self.steps_left,
            Some(Limit::Timeout) => !self.is_late(),
            _ => false,
        };
        if own {
            outcome.limit = None;
            let part = outcome.sampled.unwrap_or(Sampled { blocks: 0, late: true, ended: true });
            outcome.sampled = Some(Sampled { ended: true, ..part });
        }
    }

    /// Says which part of a launch was run: chosen blocks, or as many as there was time for.
    pub(in crate::check) fn ran_in_part(
        &mut self,
        config: &LaunchConfig,
        part: Sampled,
        label: &str,
    ) {
        let Sampled { blocks, late, ended } = part;
        if ended {
            self.in_part.push(format!(
                "{label}: it was ended, since it takes most of what there is time for; what it writes is not known"
            ));
            return;
        }
        let which = match late {
            true => "as many as there was time for",
            false => "at corners and edges and spread over the grid",
        };
        let all: u64 = config.grid.iter().map(|n| u64::from(*n)).product();
        self.in_part.push(format!(
            "{label}: {blocks} of {all} blocks were run, {which}; what the others write is not known"
        ));
    }

    /// Says that a program was not run to its end for want of time.
    pub(super) fn ended_late(&mut self, path: &Path) {
        let text = self.limit_text(Limit::Timeout);
        self.limits.push(format!("{}: it was not run to its end: {text}", shown(path)));
    }

    /// Says that a statement of the host was left out that there would have been time for earlier.
    pub(super) fn left_out_late(&mut self, label: &str) {
        let text = self.limit_text(Limit::Timeout);
        self.limits.push(format!("{label}: this statement was left out: {text}"));
    }

    /// A statement was left out because it allocates more memory than there may be.
    pub(super) fn left_out_large(&mut self, label: &str) {
        let text = self.limit_text(Limit::Memory);
        self.limits.push(format!("{label}: this statement was left out: {text}"));
    }

    /// Takes out loops that wait for memory which the host may write while the kernel runs, and those that may wait for what comes
    /// behind one, here or in a launch that `waited` before: that it did not end is a limit. True: some launch has waited.
    pub(super) fn without_waiting(
        &mut self,
        outcome: &mut Outcome,
        label: &str,
        waited: bool,
    ) -> bool {
        let waits = outcome.findings.iter().any(|f| f.kind == Some(POLLS_HOST));
        let all = outcome.findings.len();
        if waits || waited {
            outcome.findings.retain(|f| ![Some(POLLS), Some(POLLS_HOST)].contains(&f.kind));
        }
        if outcome.findings.len() < all {
            let what = match waits {
                true => "waits for memory that the host may write meanwhile",
                false => "may wait for what a launch does that waits for the host",
            };
            self.limits.push(format!(
                "{label}: it {what}; the host goes on only when a kernel has ended here"
            ));
        }
        waits || waited
    }

    /// What ended a run, in words.
    pub(in crate::check) fn limit_text(&self, limit: Limit) -> &'static str {
        match limit {
            Limit::TotalSteps => "the limit of thread instructions was reached (--max-total-steps)",
            Limit::Memory => "the memory limit was reached (--max-memory)",
            Limit::Timeout if self.hurries.is_some() => {
                "it takes more than a minute (--timeout gives it another time, --all-repeats as long as it takes)"
            }
            Limit::Timeout => "the time limit was reached (--timeout)",
            Limit::Interrupted => "interrupted",
        }
    }
}
