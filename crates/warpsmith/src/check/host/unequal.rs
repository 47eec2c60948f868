//! Sizes that differ. The numbers that stand for arguments nobody gave are all the same, and then an array with another's size is as
//! large as its own, and a grid with two extents in the wrong order covers the same threads.

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::uneven::{Outcome, RULES};
use super::{BYTES_OF_TRIES, Ran, Running, argv};
use crate::status::Failure;

/// The smallest number, and from one to the next: small, for programs whose work is the product of many.
const SMALLEST: usize = 8;
const STEP: usize = 2;
/// Statements and expressions of the host in one try.
const HOST_STEPS: u64 = 100_000_000;

impl Runner<'_> {
    /// Runs a program in which nothing was found with numbers that differ, first with the smallest in front, then with the largest. What
    /// is found is a note: a program may want one of its numbers to be the larger.
    pub(super) fn unequal(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let places = argv::numbers(arguments);
        if places.len() < 2 || !self.found_since(start).is_empty() {
            return Ok(());
        }
        let of = &Running {
            host_steps: HOST_STEPS.min(of.host_steps),
            most_bytes: BYTES_OF_TRIES.min(of.most_bytes),
            ..*of
        };
        let here = self.mark();
        self.while_worth(|runner| {
            for in_front in [0, places.len() - 1] {
                let mut unequal = arguments.to_vec();
                for (i, at) in places.iter().enumerate() {
                    unequal[*at] = (SMALLEST + STEP * in_front.abs_diff(i)).to_string();
                }
                let outcome = runner.try_sizes(first, &unequal, start, of)?;
                runner.back_to(&here);
                if let Outcome::Taken(mut taken) = outcome {
                    taken.found.retain(|item| RULES.contains(&item.rule));
                    if runner.add_invented(taken.found, &[], &unequal.join(" ")) {
                        break;
                    }
                }
                if runner.is_late() {
                    break;
                }
            }
            Ok(())
        })
    }
}
