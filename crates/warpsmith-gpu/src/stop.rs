//! When work that nobody waits for any more is to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ends what looks at it once a flag is set, as by Ctrl-C, or a moment has passed. The default never does.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Set by another thread or a signal; `None`: nobody does.
    pub flag: Option<Arc<AtomicBool>>,
    /// The moment; `None`: there is none.
    pub deadline: Option<Instant>,
}

impl Stop {
    /// Ends once the flag is set.
    pub fn when(flag: Arc<AtomicBool>) -> Stop {
        Stop { flag: Some(flag), deadline: None }
    }

    /// The same flag, and the moment when half of the time is over that is left.
    pub fn half_way(&self) -> Stop {
        let now = Instant::now();
        let half = |end: Instant| now + end.saturating_duration_since(now) / 2;
        Stop { flag: self.flag.clone(), deadline: self.deadline.map(half) }
    }

    /// Whether work is to end now.
    pub fn is_due(&self) -> bool {
        self.is_flagged() || self.is_late()
    }

    /// Whether the flag is set.
    pub fn is_flagged(&self) -> bool {
        self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Whether the moment has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// As long as what is asked for, and no longer than until the moment.
    pub fn at_most(&self, limit: Duration) -> Duration {
        self.deadline.map_or(limit, |d| limit.min(d.saturating_duration_since(Instant::now())))
    }
}
