//! A schedule chosen and its files verified: by the device model, or by measurement.

use warpsmith_front::cloops::CInput;
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::{Schedule, lower, schedule};

use super::arch::Arch;
use super::barred::{Barred, CHOICES};
use super::device::Stations;
use super::pipeline::{Chosen, in_its_types, translate, translate_but, with_steps};
use super::recompute::Recomputed;
use super::request::{Strategy, TuneRequest};
use super::search::{Asked, Measured, Winner, named, not_compared, search};
use super::sizes::Point;
use super::verified_files::{Files, NOT_RUN, Translation};
use super::verify::Verified;
use crate::data::NamedSpec;
use crate::search::Told;
use crate::status::{Failure, Status};

/// What is to be translated.
pub(super) struct Job<'a> {
    pub request: &'a TuneRequest,
    pub input: &'a CInput,
    pub specs: &'a [NamedSpec],
    pub sizes: &'a [Point],
    pub arch: Arch,
}

/// A program with its verified files.
pub(super) struct Made {
    pub chosen: Chosen,
    pub files: Files,
    pub verified: Verified,
    pub messages: Vec<Diagnostic>,
    pub measured: Option<Measured>,
}

impl Job<'_> {
    /// With the schedule that is given, that the options ask for, or that the model takes for the best. One that the model
    /// chose and that fails its verification is replaced by the next best, in the end by the direct translation.
    ///
    /// # Errors
    /// As [`super::tune`].
    pub fn by_model(
        &self,
        given: Option<&Schedule>,
        sources: &mut SourceMap,
    ) -> Result<Made, Failure> {
        let request = self.request;
        let (mut barred, mut blamed) = (Barred::default(), vec![]);
        for choice in 1..=CHOICES {
            let input = (self.input, self.sizes, self.arch);
            let chosen = translate_but(&barred, request, given, input, sources)?;
            match self.verified(&chosen, &[], true, sources) {
                Err(failure)
                    if chosen.2.is_some()
                        && request.choosing.schedule.is_none()
                        && failure.status == Status::No =>
                {
                    let failure = match is_not_run(&failure) {
                        true => match self.with_fewer_blocks(&chosen.1, failure, true, sources) {
                            Ok(mut made) => {
                                made.messages.extend(blamed);
                                return Ok(made);
                            }
                            Err(failure) => failure,
                        },
                        false => failure,
                    };
                    let instead = match choice {
                        CHOICES => "the direct translation is written instead",
                        _ => "another one is taken instead",
                    };
                    blamed.push(retreated(&chosen.1.print(), &failure, instead));
                    barred.add(&chosen.1);
                }
                Err(failure)
                    if given.is_none()
                        && request.choosing.schedule.is_none()
                        && is_not_run(&failure) =>
                {
                    return self.with_fewer_blocks(&chosen.1, failure, true, sources);
                }
                verdict => {
                    let verdict = verdict.map_err(|failure| {
                        let kernel =
                            self.arch.kernel(self.input.module.clone(), self.input.function);
                        with_steps(failure, request, &kernel, &chosen.1, sources)
                    });
                    let mut made = made(chosen, verdict?, None);
                    made.messages.extend(blamed);
                    return Ok(made);
                }
            }
        }
        let mut made = self.retreat(true, sources)?;
        made.messages.extend(blamed);
        Ok(made)
    }

    /// With the fastest schedule that ran with right results and passes its verification.
    ///
    /// # Errors
    /// As [`super::tune`], and what a search can end with.
    pub fn by_measurement(
        &self,
        stations: &Stations,
        sources: &mut SourceMap,
    ) -> Result<Made, Failure> {
        let text = crate::files::read(&self.request.source.file)?;
        let asked = Asked {
            request: self.request,
            input: self.input,
            specs: self.specs,
            sizes: self.sizes,
            text: &text,
        };
        let (winners, mut measured) = search(&asked, stations, sources)?;
        let interruptible = !measured.interrupted;
        let mut blamed = vec![];
        for winner in winners {
            if let Some(slower) = measured.loses_to_direct(&winner.ms) {
                if self.request.choosing.schedule.is_none() {
                    return self.direct_wins(measured, blamed, sources);
                }
                blamed.push(loses(slower));
            }
            (measured.chosen, measured.ms) = (named(&winner.configuration), winner.ms.clone());
            let chosen = self.applied(&winner, sources)?;
            let on = equal_on(&measured);
            match self.as_measured(chosen, on, measured.clone(), interruptible, sources) {
                Ok(mut made) => {
                    made.messages.extend(blamed);
                    return Ok(made);
                }
                Err(failure) if failure.status == Status::No => {
                    let text = winner.schedule.print();
                    measured.recomputed.fill(Recomputed::Not(ANOTHER.into()));
                    blamed.push(retreated(&text, &failure, "the next one is taken instead"));
                }
                Err(failure) => return Err(failure),
            }
        }
        let mut made = self.retreat(interruptible, sources)?;
        made.messages.extend(blamed);
        Ok(made)
    }

    /// The direct translation, which is faster than everything that the templates offer.
    fn direct_wins(
        &self,
        mut measured: Measured,
        blamed: Vec<Diagnostic>,
        sources: &mut SourceMap,
    ) -> Result<Made, Failure> {
        let direct = self.request.clone().strategy(Strategy::Direct);
        let chosen = translate(&direct, None, self.input, self.sizes, self.arch, sources)?;
        measured.chosen.clear();
        measured.ms = measured.direct_ms.clone().unwrap_or_default();
        measured.notes.push(direct_wins(measured.told()));
        let (on, interruptible) = (sentence(&measured.on()), !measured.interrupted);
        let mut made = self.as_measured(chosen, on, measured, interruptible, sources)?;
        made.messages.extend(blamed);
        Ok(made)
    }

    /// What was measured, or the same with fewer blocks where reductions have no second turn at all sizes that can be tried.
    fn as_measured(
        &self,
        chosen: Chosen,
        on: String,
        mut measured: Measured,
        interruptible: bool,
        sources: &mut SourceMap,
    ) -> Result<Made, Failure> {
        match self.verified(&chosen, &[on], interruptible, sources) {
            Err(failure) if is_not_run(&failure) => {
                let fewer = self.with_fewer_blocks(&chosen.1, failure, interruptible, sources)?;
                measured.recomputed.fill(Recomputed::Not(ANOTHER.into()));
                measured.notes.push(FEWER.into());
                Ok(Made { measured: Some(measured), ..fewer })
            }
            verdict => Ok(made(chosen, verdict?, Some(measured))),
        }
    }

    fn applied(&self, winner: &Winner, sources: &SourceMap) -> Result<Chosen, Failure> {
        self.scheduled(&winner.schedule, sources)
    }

    fn scheduled(&self, schedule: &Schedule, sources: &SourceMap) -> Result<Chosen, Failure> {
        let no = Failure::no;
        let kernel = self.arch.kernel(self.input.module.clone(), self.input.function);
        let kernel = schedule::replay(&kernel, schedule, sources).map_err(no)?;
        let program = lower::lower(&kernel, sources).map_err(no)?;
        Ok((program, schedule.clone(), None))
    }

    fn retreat(&self, interruptible: bool, sources: &mut SourceMap) -> Result<Made, Failure> {
        // Where the direct translation is right, the schedule is to blame and not the input.
        let mut direct = self.request.clone().strategy(Strategy::Direct);
        direct.choosing.schedule = None;
        let chosen = translate(&direct, None, self.input, self.sizes, self.arch, sources)?;
        match self.verified(&chosen, &[], interruptible, sources) {
            Err(failure) if is_not_run(&failure) => {
                self.with_fewer_blocks(&chosen.1, failure, interruptible, sources)
            }
            verdict => Ok(made(chosen, verdict?, None)),
        }
    }

    /// A schedule whose reductions have more threads than iterations at all sizes that can be tried, with fewer of them.
    fn with_fewer_blocks(
        &self,
        schedule: &Schedule,
        failure: Failure,
        interruptible: bool,
        sources: &mut SourceMap,
    ) -> Result<Made, Failure> {
        let Some(schedule) = schedule::with_fewer_blocks(schedule) else { return Err(failure) };
        let fewer = self.scheduled(&schedule, sources)?;
        let verdict = self.verified(&fewer, &[], interruptible, sources);
        // What is said of the usual number of blocks is what the user can do something about.
        Ok(made(fewer, verdict.map_err(|_| failure)?, None))
    }

    fn verified(
        &self,
        (program, steps, _): &Chosen,
        measured: &[String],
        interruptible: bool,
        sources: &mut SourceMap,
    ) -> Result<Verdict, Failure> {
        let (request, written, specs, sizes) = (self.request, self.input, self.specs, self.sizes);
        let input = &in_its_types(written, program);
        let arch = self.arch;
        Translation { request, input, written, program, arch, specs, sizes, interruptible }
            .verified_files(&steps.print(), measured, sources)
    }
}

type Verdict = (Files, Verified, Vec<Diagnostic>);

fn made(chosen: Chosen, verdict: Verdict, measured: Option<Measured>) -> Made {
    let (files, verified, messages) = verdict;
    Made { chosen, files, verified, messages, measured }
}

const ANOTHER: &str = "the schedule that was compared is not the one that is written";
const FEWER: &str = "what is written has fewer blocks in its reductions than what the times are of: at no size that can be tried do \
                     the usual ones have a second turn";

fn direct_wins(told: Told) -> String {
    let word = told.word();
    format!("no schedule that was {word} is faster than the direct translation, which is written")
}

/// The line about the device in the emitted file.
fn equal_on(measured: &Measured) -> String {
    let but = match measured.uncompared.as_slice() {
        [] => String::new(),
        all => format!(", {}", not_compared(all)),
    };
    sentence(&format!("equal to the direct translation as {}{but}", measured.on()))
}

/// Whether paths of the kernel were run at no size, and nothing is wrong with it.
fn is_not_run(failure: &Failure) -> bool {
    failure.diagnostics.first().is_some_and(|d| d.code == NOT_RUN)
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |c| format!("{}{}.", c.to_uppercase(), letters.as_str()))
}

/// The user's own schedules are slower than none.
fn loses(times: f64) -> Diagnostic {
    let message =
        format!("the fastest schedule takes {times:.2} times as long as the direct translation");
    Diagnostic::warning("W469", message)
        .help("leave --schedule away to search other schedules, or take --strategy direct")
}

/// The schedule that was chosen made a wrong kernel, a bug of ours; or one of which not all could be run. With what was
/// found, and the steps.
fn retreated(schedule: &str, why: &Failure, instead: &str) -> Diagnostic {
    let found = why.diagnostics.first();
    let not_run = is_not_run(why);
    let d = match not_run {
        true => {
            let message = "the kernel of the chosen schedule has paths that could not be run";
            Diagnostic::warning("W338", message)
        }
        false => {
            let message =
                "the kernel of the chosen schedule failed its verification: a bug in warpsmith";
            Diagnostic::warning("W329", message)
        }
    };
    let notes = found.into_iter().flat_map(|d| d.notes.clone());
    let d = notes.fold(d, |d, note| d.note(note));
    let d = schedule.lines().fold(d, |d, step| d.note(step.to_string()));
    match not_run {
        true => d.help(instead),
        false => d.help(format!("{instead}; please report the source with these steps")),
    }
}
