//! Sizes with several blocks, where invented ones have launches of one block only: blocks that race with each other, or that do
//! not all come to a barrier of the grid, do not show while there is but one.
//!
//! Nobody gave these sizes, so what goes wrong between blocks is a finding only where two choices of them show it, powers of two
//! both. What else goes wrong at them may be a limit of the program's own.

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::super::shown;
use super::uneven::{Outcome, Try};
use super::{BYTES_OF_TRIES, Ran, Running, argv};
use crate::report::Item;
use crate::status::Failure;

/// Numbers that are tried, each with one that has to show the same.
const SIZES: [[&str; 2]; 2] = [["1024", "2048"], ["4096", "8192"]];
/// Statements and expressions of the host in one try.
const HOST_STEPS: u64 = 100_000_000;

impl Runner<'_> {
    /// Runs the program with numbers that make several blocks of one, after a run with these arguments that found nothing, which
    /// took the report from `start` to where it is.
    pub(super) fn several_blocks(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let alone = first.shapes.iter().any(|s| s.grid == [1; 3]);
        let chooses = !argv::numbers(arguments).is_empty();
        if !alone || !chooses || !self.found_since(start).is_empty() {
            return Ok(());
        }
        self.while_worth(|runner| runner.tried_several(first, arguments, start, of))
    }

    fn tried_several(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let of = &Running {
            host_steps: HOST_STEPS.min(of.host_steps),
            most_bytes: BYTES_OF_TRIES.min(of.most_bytes),
            ..*of
        };
        let here = self.mark();
        for choice in SIZES {
            let [tried, again] = choice.map(|value| argv::with_value(arguments, value));
            let outcome = self.try_sizes(first, &tried, start, of)?;
            self.back_to(&here);
            let one = match outcome {
                Outcome::Taken(one) => one,
                Outcome::NotTaken => continue,
                Outcome::TooLong => break,
            };
            if one.found.iter().any(|i| is_between_new_blocks(i, first, &one)) {
                let other = self.try_sizes(first, &again, start, of)?;
                self.back_to(&here);
                if let Outcome::Taken(other) = other {
                    self.add_several(first, [&one, &other], &tried, of);
                }
                break;
            }
            if one.ran.shapes.iter().all(|s| s.grid != [1; 3]) {
                break;
            }
        }
        Ok(())
    }

    /// Adds what goes wrong between blocks in both runs.
    fn add_several(
        &mut self,
        first: &Ran,
        [one, other]: [&Try; 2],
        tried: &[String],
        of: &Running<'_>,
    ) {
        let with = tried.join(" ");
        let both = one.found.iter().filter(|i| {
            is_between_new_blocks(i, first, one) && other.found.iter().any(|o| o.id == i.id)
        });
        for item in both {
            let launch = format!("{} of a run with `{with}`", item.launch);
            self.add(Item { launch, ..item.clone() });
        }
        self.assume(format!(
            "{}: it was also run with `{with}`, for several blocks",
            shown(of.path)
        ));
    }
}

/// Whether it is a race of two blocks, or a barrier that not all of them reach, in a launch that the first run has with one
/// block only.
fn is_between_new_blocks(item: &Item, first: &Ran, tried: &Try) -> bool {
    let blocks: Vec<_> = item.places.iter().filter_map(|p| Some(p.thread?.0)).collect();
    let between = match item.rule {
        "race-global" => matches!(blocks.as_slice(), [a, b] if a != b),
        "divergent-barrier" => item.kind == Some("grid"),
        _ => false,
    };
    let Some(shape) = tried.ran.shapes.iter().find(|s| s.label == item.launch) else {
        return false;
    };
    let mut before = first.shapes.iter().filter(|s| (s.at, s.kernel) == (shape.at, shape.kernel));
    between && before.all(|s| s.grid == [1; 3])
}
