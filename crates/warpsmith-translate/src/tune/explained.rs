//! A failed verification in the user's words.

use warpsmith_ir::{Diagnostic, SourceMap, Span};

use super::pipeline::function_of;
use super::verified_files::{LET_IT_RUN, NOT_RUN, Translation, VERIFYING};
use super::verify::{Failed, TIME_LIMIT, Verified, culprit, points};
use crate::status::{Failure, Status};

const CHECK_DATA: &str = "check bounds and extents; where data decides what is accessed, give representative data with --arg NAME=@file.npy";

impl Translation<'_> {
    /// A wrong kernel; of a race for an array it is said where the C function writes that.
    fn wrong(
        &self,
        point: &str,
        message: String,
        notes: Vec<String>,
        array: Option<&str>,
    ) -> Failure {
        let text = format!("the kernel for `{}` is wrong at {point}", self.input.name);
        let (module, function) = (&self.written.module, function_of(self.written));
        let labels = array.map_or(vec![], |a| culprit::labels(module, function, a));
        let d = Diagnostic::error("W325", text);
        let d = labels.into_iter().fold(d, |d, (at, what)| d.label(at, what));
        let d = notes.into_iter().fold(d.note(message), Diagnostic::note);
        Failure::from(d.note("nothing was written")).with_status(Status::No)
    }

    /// A failed verification in the user's words.
    pub(super) fn explain(&self, failed: Failed, sources: &SourceMap) -> Failure {
        let name = &self.input.name;
        match failed {
            Failed::Wrong { point, message, notes } | Failed::Differs { point, message, notes } => {
                self.wrong(&point, message, notes, None)
            }
            Failed::Race { point, message, notes, array } => {
                self.wrong(&point, message, notes, array.as_deref())
            }
            Failed::IllConditioned { points } => self.ill_conditioned(&points),
            Failed::References { point, message } => {
                let text = format!("the two references for `{name}` disagree at {point}");
                Failure::from(
                    Diagnostic::error("W326", text)
                        .note(message)
                        .help("look for undefined behaviour: signed overflow, division by zero, overlapping arrays, uninitialised values, real numbers converted to an integer type that they do not fit")
                        .help("where the data is to blame, give representative data with --arg NAME=SPEC"),
                )
                .with_status(Status::No)
            }
            Failed::Precision { point, message } => {
                let text = format!("in its new types `{name}` computes something else at {point}");
                let d = Diagnostic::error("W330", text).note(message);
                Failure::from(d.help("rounding errors do not explain this: numbers leave the range of the type, or decisions depend on their last bits"))
                    .with_status(Status::No)
            }
            Failed::NotRun(verified) => self.not_run(&verified, sources),
            Failed::Interrupted => Failure::interrupted(VERIFYING),
            Failed::Limit(TIME_LIMIT) => Failure::timed_out(VERIFYING),
            Failed::Limit(limit) => {
                let text = format!("verification stopped: {limit} was reached");
                Failure::from(
                    Diagnostic::error("W327", text)
                        .help("allow more with --max-memory, or make the constant extents smaller"),
                )
                .with_status(Status::Limit)
            }
            Failed::Leaves { why, at, asked: true } => {
                let text = format!("`{name}` leaves its arrays at the sizes asked for");
                left(text, why, at, CHECK_DATA)
            }
            Failed::Leaves { why, at, asked: false } => {
                let text = format!(
                    "a part of `{name}` leaves its arrays at every size at which it was run"
                );
                left(text, why, at, "check bounds and extents")
            }
            Failed::Nothing { why, at } => {
                left(format!("`{name}` could not be run at any size"), why, at, CHECK_DATA)
            }
            Failed::Input(why) => why.failure(),
        }
    }

    fn ill_conditioned(&self, points: &[String]) -> Failure {
        let text = format!("the data for `{}` are ill-conditioned at every size", self.input.name);
        let d = Diagnostic::error("W340", text).note(format!(
            "last bits of its inputs decide about more of its results than rounding errors may, as at {}",
            points.iter().take(3).cloned().collect::<Vec<_>>().join("; ")
        ));
        Failure::from(d.help("give representative data, as with --arg NAME=@file.npy"))
            .with_status(Status::No)
    }

    fn not_run(&self, verified: &Verified, sources: &SourceMap) -> Failure {
        let text = format!("a path of the kernel for `{}` was run at no size", self.input.name);
        let d = Diagnostic::error(NOT_RUN, text);
        let missing = verified.coverage.lines_missing(sources);
        let d = missing.iter().take(8).fold(d, |d, path| d.note(format!("not run: {path}")));
        let d = d.note(format!("tried: {}", points::summary(&verified.points)));
        Failure::from(d.help(LET_IT_RUN)).with_status(Status::No)
    }
}

/// The function left its arrays, here where that is known.
fn left(text: String, why: String, at: Option<Span>, help: &str) -> Failure {
    let d = Diagnostic::error("W328", text);
    let d = at.into_iter().fold(d, |d, at| d.label(at, "here it leaves its array"));
    Failure::from(d.note(why).help(help))
}
