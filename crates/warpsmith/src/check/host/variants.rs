//! Kernels that only another value of one argument reaches, or one argument more: they may choose between variants.

use super::super::runner::Runner;
use super::super::shown;
use super::{BYTES_OF_TRIES, Ran, Running, argv, kernel_at};
use crate::status::Failure;

/// What a number that chooses is tried to be.
const CHOICES: [&str; 4] = ["0", "1", "2", "3"];
/// Arguments that are tried as such a number.
const MOST_PLACES: usize = 4;
/// Thread instructions of all tries together, and statements of the host in one of them: seconds.
const DEVICE_STEPS: u64 = 400_000_000;
const HOST_STEPS: u64 = 50_000_000;

impl Runner<'_> {
    /// Runs the program again with one of the invented numbers changed, and with one more, as long as some kernel was not launched. What is
    /// kept are runs that reach one more; their findings have to stand other sizes, as those of the first run.
    pub(super) fn other_variants(
        &mut self,
        ran: &mut Ran,
        invented: &[String],
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let kernels = warpsmith_front::sema::kernels_of(of.unit).len();
        let of = &Running {
            host_steps: HOST_STEPS.min(of.host_steps),
            most_bytes: BYTES_OF_TRIES.min(of.most_bytes),
            ..*of
        };
        let places = argv::numbers(invented).into_iter().take(MOST_PLACES);
        let places: Vec<usize> = places.collect();
        let tries = CHOICES.iter().flat_map(|c| places.iter().map(move |at| (*at, *c)));
        let longer = argv::so_many(invented.len() + 1, of.unit);
        let one_more = longer.last().map(|last| (invented.len(), last.as_str()));
        // A program that goes on without arguments may take one that chooses.
        let first = CHOICES.iter().filter(|_| invented.is_empty()).map(|c| (0, *c));
        let tries = tries.chain(one_more).chain(first);
        let run = |runner: &mut Self| {
            for choice in tries {
                if runner.is_late() || ran.slow || ran.distinct() >= kernels {
                    break;
                }
                runner.variant(ran, invented, choice, of)?;
            }
            Ok(())
        };
        self.while_worth(|runner| runner.within(DEVICE_STEPS, run))
    }

    fn variant(
        &mut self,
        ran: &mut Ran,
        invented: &[String],
        (at, choice): (usize, &str),
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let chosen = |mut arguments: Vec<String>| {
            match arguments.get_mut(at) {
                Some(argument) => *argument = choice.to_string(),
                None => arguments.push(choice.to_string()),
            }
            arguments
        };
        let arguments = chosen(invented.to_vec());
        let here = self.mark();
        let other = self.run_with(of, &arguments, true)?;
        let known = |name: &str| ran.kernels.iter().any(|k| kernel_at(k) == kernel_at(name));
        let new: Vec<String> = other.kernels.iter().filter(|k| !known(k)).cloned().collect();
        let whole = !other.slow && other.lost.len() <= ran.lost.len() && other.refused == 0;
        if new.is_empty() || !whole || self.limited_since(&here) {
            self.back_to(&here);
            return Ok(());
        }
        if !self.found_since(&here).is_empty() {
            self.doubt_of_others(
                &arguments,
                |value| chosen(argv::with_value(invented, value)),
                &here,
                of,
            )?;
        }
        self.assume(format!(
            "{}: it was also run with `{}`, which launches other kernels",
            shown(of.path),
            arguments.join(" ")
        ));
        ran.kernels.extend(new);
        Ok(())
    }
}
