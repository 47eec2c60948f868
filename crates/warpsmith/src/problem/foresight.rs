//! How long the emulator will take for a search, said before it begins.

use std::time::{Duration, Instant};

use warpsmith_ir::Diagnostic;
use warpsmith_tune::tuner::Budget;

use super::reference::Compared;
use crate::search::{Engine, Told};

/// A search that takes longer is announced.
const LONG: Duration = Duration::from_secs(60);

/// A warning where a search in the emulator will take longer than a minute: one configuration is run once more and timed.
pub fn foreseen(
    engine: &mut Engine,
    compared: &Compared,
    budget: &Budget,
    configurations: u64,
) -> Option<Diagnostic> {
    let Compared::With(configuration, _) = compared else { return None };
    if Told::by(engine.device()) != Told::Emulated {
        return None;
    }
    let count = budget.evaluations.map_or(configurations, |n| n.min(configurations));
    let most = budget.time.unwrap_or(Duration::MAX);
    if most <= LONG {
        return None;
    }
    let began = Instant::now();
    engine.race(std::slice::from_ref(configuration), &[], 1).ok()?;
    let seconds = began.elapsed().as_secs_f64() * count as f64 / engine.count() as f64;
    warning(count, seconds.min(most.as_secs_f64()))
}

fn warning(count: u64, seconds: f64) -> Option<Diagnostic> {
    if seconds <= LONG.as_secs_f64() {
        return None;
    }
    let message = format!("emulating {count} configurations takes {}", about(seconds));
    let some = (count as f64 * LONG.as_secs_f64() / seconds).clamp(1.0, 1e6) as u64;
    let d = Diagnostic::warning("W450", message);
    Some(d.note("Ctrl-C ends the search with the best so far").help(format!(
        "`--budget {some}` ends after about a minute, `--budget 60s` in any case; smaller sizes in the problem's file make each \
         configuration quicker"
    )))
}

fn about(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("about {s:.0} s"),
        s if s < 7200.0 => format!("about {:.0} minutes", s / 60.0),
        s => format!("about {:.0} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_search_is_announced_with_what_ends_it_sooner() {
        assert!(warning(100, 60.0).is_none());
        let long = warning(4000, 1200.0).unwrap();
        assert_eq!(long.message, "emulating 4000 configurations takes about 20 minutes");
        assert!(long.help[0].starts_with("`--budget 200` ends after about a minute"), "{long:?}");
        assert_eq!(about(61.0), "about 61 s");
        assert_eq!(about(1e5), "about 28 hours");
    }
}
