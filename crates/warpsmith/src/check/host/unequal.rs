//! Sizes that differ. The numbers that stand for arguments nobody gave are all the same, and then an array with another's size is as
//! large as its own, and a grid with two extents in the wrong order covers the same threads.

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::uneven::RULES;
use super::{BYTES_OF_TRIES, Running, argv};
use crate::status::Failure;

/// The smallest number, and from one to the next: small, for programs whose work is the product of many.
const SMALLEST: usize = 4;
const STEP: usize = 2;
/// Statements and expressions of the host in one try.
const HOST_STEPS: u64 = 100_000_000;

impl Runner<'_> {
    /// Runs a program in which nothing was found with numbers that differ, first with the smallest in front, then with the largest. What
    /// is found is a note: a program may want one of its numbers to be the larger.
    pub(super) fn unequal(
        &mut self,
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
                runner.back_to(start);
                let ran = runner
                    .within(runner.effort.sizes, |runner| runner.run_with(of, &unequal, true))?;
                let mut found = runner.items_since(start);
                runner.back_to(&here);
                // One says all there is to say: look at which of the numbers goes where.
                found.retain(|item| RULES.contains(&item.rule));
                found.truncate(1);
                let is_taken = ran.refused == 0;
                if is_taken && runner.add_invented(found, &[], &unequal.join(" "))
                    || runner.is_late()
                {
                    break;
                }
            }
            Ok(())
        })
    }
}
