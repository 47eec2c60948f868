//! Schedules that are not to be chosen again: what they make failed its verification, or has paths that could not be run.
//!
//! Most likely those beside them, with other numbers in the same steps, fail as well. So first all with the same sequence of
//! steps for a nest are barred; then all that need sizes of a certain kind or hold values in registers ahead of their use.

use warpsmith_opt::Schedule;
use warpsmith_opt::schedule::StepKind;

/// What must not be chosen.
#[derive(Clone, Debug, Default)]
pub struct Barred {
    /// The names of the steps of schedules that failed.
    failed: Vec<Vec<&'static str>>,
}

/// A schedule is chosen this often before the direct translation is taken.
pub const CHOICES: usize = 3;

/// Steps without which almost every path runs at any size.
const INTRICATE: [&str; 9] = [
    "specialise",
    "vectorise",
    "pipeline",
    "double_buffer",
    "warp",
    "align",
    "keep_rows",
    "keep_sums",
    "bounds",
];

impl Barred {
    /// Takes down a schedule that failed.
    pub fn add(&mut self, schedule: &Schedule) {
        self.failed.push(schedule.steps.iter().map(|s| s.kind.name()).collect());
    }

    /// Whether a nest may have these steps. A single step binds it as the direct translation does.
    pub fn allows(&self, steps: &[StepKind]) -> bool {
        let names: Vec<&str> = steps.iter().map(StepKind::name).collect();
        if names.len() < 2 || self.failed.is_empty() {
            return true;
        }
        if self.failed.len() > 1 {
            return !names.iter().any(|n| INTRICATE.contains(n));
        }
        let holds = |failed: &Vec<&str>| failed.windows(names.len()).any(|w| w == names);
        !self.failed.iter().any(holds)
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_ir::SourceMap;
    use warpsmith_opt::schedule;

    use super::*;

    fn steps(text: &str) -> Schedule {
        let mut sources = SourceMap::new();
        let file = sources.add("a.sched".to_string(), text.to_string());
        schedule::parse(&sources, file).expect("a schedule")
    }

    fn kinds(text: &str) -> Vec<StepKind> {
        steps(text).steps.into_iter().map(|s| s.kind).collect()
    }

    #[test]
    fn the_same_steps_with_other_numbers_are_barred_first() {
        let mut barred = Barred::default();
        let wide =
            "bind i -> x block 128\nspecialise n%4=0\nregister_tile i by 4\nvectorise i by 4\n";
        assert!(barred.allows(&kinds(wide)));
        barred.add(&steps(wide));
        assert!(!barred.allows(&kinds(&wide.replace("128", "256"))));
        assert!(barred.allows(&kinds("bind i -> x block 128\nunroll k by 4\nvectorise i by 4\n")));
        assert!(barred.allows(&kinds("bind i -> x block 128\n")));
    }

    #[test]
    fn then_everything_intricate_is() {
        let mut barred = Barred::default();
        barred.add(&steps("bind i -> x block 128\nvectorise i by 4\n"));
        barred.add(&steps("bind i -> x block 128\nunroll k by 4\nvectorise i by 4\n"));
        assert!(!barred.allows(&kinds("bind i -> x block 64\nalign i by 4\n")));
        assert!(barred.allows(&kinds("bind i -> x block 64\nregister_tile i by 4\n")));
    }
}
