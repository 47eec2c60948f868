//! Sizes that differ. The numbers that stand for arguments nobody gave are all the same, and then an array with another's size is as
//! large as its own, and a grid with two extents in the wrong order covers the same threads.

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::uneven::RULES;
use super::{BYTES_OF_TRIES, Running, argv};
use crate::report::Item;
use crate::status::Failure;

/// The smallest number, and from one to the next: small, for programs whose work is the product of many.
const SMALLEST: usize = 4;
const STEP: usize = 2;
/// Statements and expressions of the host in one try.
const HOST_STEPS: u64 = 100_000_000;

/// What goes wrong where one size has to be larger than another, or than several together.
const OF_SIZES: [&str; 2] = ["out-of-bounds", "uninitialized-global"];

/// What larger numbers say of findings.
#[derive(Default)]
struct Absent {
    /// Which are not there with any of them.
    ids: Vec<String>,
    /// Arguments with which there is none at all.
    suited: Option<Vec<String>>,
}

impl Runner<'_> {
    /// Numbers that are all the same are none that a program takes which wants one of them to be larger than another, or than the
    /// sum of two. So what goes beyond an array has to do so whichever of them is larger; else it is a note. Where nothing else was
    /// found, arguments are given back with which none of that is there.
    pub(super) fn doubt_of_equal(
        &mut self,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let places = argv::numbers(arguments);
        let all = self.found_since(start);
        let mut found = self.items_since(start);
        found.retain(|i| OF_SIZES.contains(&i.rule));
        if places.len() < 2 || found.is_empty() {
            return Ok(None);
        }
        let here = self.mark();
        let (mut doubted, mut suited) = (vec![], None);
        self.while_worth(|runner| {
            for at in places {
                let absent = runner.absent_with_larger(arguments, at, &found, start, of)?;
                found.retain(|i| !absent.ids.contains(&i.id));
                doubted.extend(absent.ids);
                suited = suited.take().or(absent.suited);
                if found.is_empty() || runner.is_late() {
                    break;
                }
            }
            Ok::<(), Failure>(())
        })?;
        self.back_to(&here);
        let stand: Vec<String> = all.into_iter().filter(|id| !doubted.contains(id)).collect();
        self.doubt(start, &stand);
        Ok(suited.filter(|_| stand.is_empty()))
    }

    /// Those of the findings that are gone when the number at a place is larger than the others.
    fn absent_with_larger(
        &mut self,
        arguments: &[String],
        at: usize,
        found: &[Item],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<Absent, Failure> {
        let (mut seen, mut absent) = (vec![], Absent::default());
        for value in argv::LARGER_ONES {
            let mut larger = arguments.to_vec();
            larger[at] = value.to_string();
            self.back_to(start);
            let ran = self.within(self.effort.sizes, |r| r.run_with(of, &larger, true))?;
            let has = self.found_since(start);
            let none = has.is_empty();
            seen.extend(has);
            if found.iter().all(|i| seen.contains(&i.id)) || self.is_late() {
                return Ok(Absent::default());
            }
            if ran.worked() && ran.refused == 0 && ran.lost.is_empty() {
                let answers = found.iter().filter(|i| self.answers(&ran, start, &i.launch));
                absent.ids.extend(answers.map(|i| i.id.clone()));
                absent.suited = Some(larger).filter(|_| none).or(absent.suited);
            }
        }
        absent.ids.retain(|id| !seen.contains(id));
        Ok(absent)
    }

    /// Runs a program in which nothing was found with numbers that differ, first with the smallest in front, then with the largest. What
    /// is found is a note: a program may want one of its numbers to be the larger.
    pub(super) fn unequal(
        &mut self,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let places = argv::numbers(arguments);
        let equal = argv::are_equal(arguments);
        if places.len() < 2 || !equal || !self.found_since(start).is_empty() {
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
