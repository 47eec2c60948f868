//! Which arguments a program is run with: its own, and invented ones where it ends without any.

use warpsmith_front::sema;

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::super::shown;
use super::{Ran, Running, argv};
use crate::report::Item;
use crate::status::Failure;

impl Runner<'_> {
    /// One run; a program that ends for want of arguments is run again with invented ones.
    pub(super) fn program_once(&mut self, of: &Running<'_>) -> Result<Ran, Failure> {
        let given = self.args.host_args.clone();
        let mark = self.mark();
        let chooses = of.program.reads_arguments() && given.is_empty();
        let impatient = chooses && !self.args.dry_run;
        let mut first =
            self.run_with(&Running { impatient, tires: impatient, ..*of }, &given, false)?;
        if impatient && first.slow && self.found_since(&mark).is_empty() {
            // It was not run to its end, so it is not known what else it launches.
            let kernels = sema::kernels_of(of.unit).len();
            let all =
                |ran: &Ran| ran.distinct() >= kernels && ran.skipped.len() <= first.skipped.len();
            if let Some(ran) = self.with_small_arguments(&mark, of, all)? {
                return Ok(ran);
            }
            self.back_to(&mark);
            first = self.run_with(of, &given, false)?;
        }
        if !chooses || self.args.dry_run && first.worked() {
            return Ok(first);
        }
        if first.worked() && first.slow {
            let as_many = |ran: &Ran| {
                ran.distinct() >= first.distinct() && ran.skipped.len() <= first.skipped.len()
            };
            let here = self.mark();
            let clean = self.found_since(&mark).is_empty();
            if clean && let Some(ran) = self.with_small_arguments(&mark, of, as_many)? {
                return Ok(ran);
            }
            self.back_to(&here);
            return Ok(first);
        }
        if first.worked() {
            self.uneven_beside_defaults(&first, &mark, of)?;
            self.other_variants(&mut first, &[], of)?;
            return Ok(first);
        }
        // An assertion that no choice meets says nothing about choices: it hinges on something that is not known.
        let mut furthest = (first, vec![]);
        for asserts in [true, false] {
            let of = &Running { asserts, ..*of };
            let mut asserted = false;
            for invented in argv::candidates(of.path, of.unit) {
                self.back_to(&mark);
                let ran = self.run_with(of, &invented, true)?;
                if ran.worked() {
                    return self.with_invented((ran, invented), &mark, of);
                }
                asserted |= ran.asserted;
                // The run that came furthest says what is missing.
                if ran.progress() > furthest.0.progress() {
                    furthest = (ran, invented);
                }
            }
            if !asserted {
                break;
            }
        }
        self.back_to(&mark);
        let (ran, invented) = furthest;
        if ran.launched == 0 {
            return Ok(ran);
        }
        // A launch that the device refuses is said.
        self.say_invented(of, &invented);
        self.run_with(of, &invented, true)
    }

    /// A program whose own sizes are too large for its host code or its launches: a run with small numbers for its arguments takes the place of
    /// the first one, if all of it can be run then and it launches enough.
    fn with_small_arguments(
        &mut self,
        mark: &Mark,
        of: &Running<'_>,
        enough: impl Fn(&Ran) -> bool,
    ) -> Result<Option<Ran>, Failure> {
        let hurries = self.hurries;
        let tried = self.while_worth(|runner| {
            // Small runs are worth being complete.
            runner.hurries = runner.hurries.and(runner.deadline);
            runner.tried_small(mark, of, enough)
        });
        self.hurries = hurries;
        tried
    }

    fn tried_small(
        &mut self,
        mark: &Mark,
        of: &Running<'_>,
        enough: impl Fn(&Ran) -> bool,
    ) -> Result<Option<Ran>, Failure> {
        // What is too slow even so is not taken.
        let of = &Running { impatient: true, ..*of };
        for small in argv::small_numbers(of.unit) {
            self.back_to(mark);
            let ran = self.run_with(of, &small, true)?;
            if self.is_late() {
                break;
            }
            if ran.worked() && !ran.slow && ran.lost.is_empty() && enough(&ran) {
                self.assume(format!(
                    "{}: its own sizes take too long; it was run with `{}` (give others with --host-args)",
                    shown(of.path),
                    small.join(" ")
                ));
                self.uneven(&ran, &small, mark, of)?;
                return Ok(Some(ran));
            }
        }
        Ok(None)
    }

    /// A run with invented arguments. Where it reaches fewer kernels than one with other numbers, that one is taken; and
    /// what goes wrong with one choice only is a note, since nobody said that the program takes such arguments.
    fn with_invented(
        &mut self,
        (mut ran, mut invented): (Ran, Vec<String>),
        mark: &Mark,
        of: &Running<'_>,
    ) -> Result<Ran, Failure> {
        for value in argv::WHERE_FEW_ARE_REACHED {
            if sema::kernels_of(of.unit).len() == ran.distinct() {
                break;
            }
            let here = self.mark();
            self.back_to(mark);
            let others = argv::with_value(&invented, value);
            let large = value == argv::MANY;
            let other = self.run_with(&Running { impatient: large, ..*of }, &others, true)?;
            let whole = !(large && other.slow);
            if other.worked() && other.distinct() > ran.distinct() && whole {
                (ran, invented) = (other, others);
            } else {
                self.back_to(&here);
            }
        }
        if !self.found_since(mark).is_empty() && argv::is_first_choice(&invented) {
            self.doubt_of_others(&invented, |v| argv::with_value(&invented, v), mark, of)?;
            if let Some(suited) = self.doubt_of_equal(&invented, mark, of)? {
                let here = self.mark();
                self.back_to(mark);
                let other = self.run_with(of, &suited, true)?;
                match other.worked() && other.distinct() >= ran.distinct() {
                    true => (ran, invented) = (other, suited),
                    false => self.back_to(&here),
                }
            }
        }
        self.say_invented(of, &invented);
        if !self.args.dry_run {
            self.several_blocks(&ran, &invented, mark, of)?;
            self.uneven(&ran, &invented, mark, of)?;
            self.unequal(&invented, mark, of)?;
            self.other_variants(&mut ran, &invented, of)?;
        }
        Ok(ran)
    }

    /// A program that takes few numbers only would be run with senseless ones: findings have to stand another choice.
    pub(super) fn doubt_of_others(
        &mut self,
        invented: &[String],
        with_value: impl Fn(&str) -> Vec<String>,
        mark: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let here = self.mark();
        let found = self.items_since(mark);
        let mut others: Vec<Vec<String>> = vec![];
        for value in argv::OTHERS {
            if !others.is_empty() && found.iter().all(|i| others.concat().contains(&i.id)) {
                break;
            }
            self.back_to(mark);
            let arguments = with_value(value);
            if arguments == invented {
                continue;
            }
            let ran = self.run_with(of, &arguments, true)?;
            // One that launches none of their kernels says nothing of them.
            let runs = |k: &String, i: &Item| i.launch.contains(&format!(" {k}<<<"));
            let elsewhere =
                |i: &Item| i.launch.contains("<<<") && !ran.kernels.iter().any(|k| runs(k, i));
            if !ran.worked() || found.iter().all(elsewhere) {
                continue;
            }
            let mut has = self.found_since(mark);
            let untold = found.iter().filter(|i| !self.answers(&ran, mark, &i.launch));
            has.extend(untold.map(|i| i.id.clone()));
            others.push(has);
        }
        self.back_to(&here);
        if !others.is_empty() {
            self.doubt(mark, &others.concat());
        }
        Ok(())
    }

    /// Whether a run since then says something of what another found in a launch: it ran that kernel, and all blocks of it.
    pub(super) fn answers(&self, ran: &Ran, mark: &Mark, launch: &str) -> bool {
        if !launch.contains("<<<") {
            // A copy or fill of the host, which it has come to, or passed, at its end.
            return ran.ended.is_none() && !ran.slow && !self.limited_since(mark);
        }
        let mut kernels = ran.kernels.as_slice();
        if ran.slow || self.limited_since(mark) {
            // To the end of the last one it may not have come.
            kernels = &kernels[..kernels.len() - 1];
        }
        let in_part = self.in_part_since(mark);
        let is = |text: &str, kernel: &String| text.contains(&format!(" {kernel}<<<"));
        kernels.iter().any(|k| is(launch, k) && !in_part.iter().any(|label| is(label, k)))
    }

    fn say_invented(&mut self, of: &Running<'_>, arguments: &[String]) {
        if arguments.is_empty() {
            return;
        }
        self.assume(format!(
            "{}: the program wants arguments; it was run with `{}` (give others with --host-args)",
            shown(of.path),
            arguments.join(" ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::args::CheckArgs;

    /// A run that left out blocks of a launch, or was ended in it, says nothing against what another one found there.
    #[test]
    fn launches_that_were_run_in_part_answer_nothing() {
        let args = CheckArgs::default();
        let mut runner = Runner::new(&args);
        let mark = runner.mark();
        let kernels = vec!["fill".to_string(), "sum<float>".to_string()];
        let mut ran = Ran { kernels, ..Ran::default() };
        let of = |kernel: &str| format!("a.cu:9: {kernel}<<<64, 32>>>");
        let answers =
            |runner: &Runner<'_>, ran: &Ran, kernel: &str| runner.answers(ran, &mark, &of(kernel));
        for (kernel, runs) in [("fill", true), ("sum<float>", true), ("sum<int>", false)] {
            assert_eq!(answers(&runner, &ran, kernel), runs, "{kernel}");
        }
        runner.in_part.push(format!("{}: 9 of 64 blocks were run", of("fill")));
        assert!(!answers(&runner, &ran, "fill") && answers(&runner, &ran, "sum<float>"));
        ran.slow = true;
        assert!(!answers(&runner, &ran, "sum<float>"));
    }
}
