//! What a step of a schedule is: a name, arguments with a text form, a question and an edit, and a description for users
//! whose example is a test.
//!
//! Each rewrite implements [`Rewrite`] for its arguments in its own file; `schedule::registry` lists them.

pub(crate) mod grammar;

use std::fmt;
use std::marker::PhantomData;

use warpsmith_ir::{LoopId, SourceMap};
use winnow::{ModalResult, Parser};

use super::Rewritten;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use grammar::{counted, name};

/// The arguments of one kind of step. They print as [`Rewrite::parse`] reads them.
pub trait Rewrite: fmt::Display + Sized {
    /// What users are told.
    const ABOUT: About;

    /// Reads what follows the step's name and the space behind it.
    ///
    /// # Errors
    /// What was wanted where the text goes wrong.
    fn parse(input: &mut &str) -> ModalResult<Self>;

    /// Asks whether the step is legal, and takes it.
    ///
    /// # Errors
    /// An unknown loop name, or why the step is not legal.
    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError>;
}

/// What the file of a step says that names one loop and nothing else.
pub trait OfLoop {
    /// As [`Rewrite::ABOUT`].
    const ABOUT: About;

    /// Asks whether the step is legal, and takes it.
    ///
    /// # Errors
    /// Why it is not.
    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal>;
}

/// The arguments of a step that names one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopArgs<S> {
    /// The loop's name.
    pub target: String,
    step: PhantomData<S>,
}

impl<S> LoopArgs<S> {
    /// Names a loop.
    pub fn of(target: String) -> LoopArgs<S> {
        LoopArgs { target, step: PhantomData }
    }
}

impl<S> fmt::Display for LoopArgs<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)
    }
}

impl<S: OfLoop> Rewrite for LoopArgs<S> {
    const ABOUT: About = S::ABOUT;

    fn parse(input: &mut &str) -> ModalResult<LoopArgs<S>> {
        name.map(LoopArgs::of).parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(S::take(kernel, loop_named(kernel, &self.target)?)?)
    }
}

/// What the file of a step says that names one loop and a number.
pub trait OfCount {
    /// As [`Rewrite::ABOUT`].
    const ABOUT: About;

    /// The word before the number, and what is wanted where it is missing.
    const COUNT: [&str; 2];

    /// Asks whether the step is legal, and takes it.
    ///
    /// # Errors
    /// Why it is not.
    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal>;
}

/// The arguments of a step that names one loop and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountArgs<S> {
    /// The loop's name.
    pub target: String,
    /// The number.
    pub count: u32,
    step: PhantomData<S>,
}

impl<S> CountArgs<S> {
    /// Names a loop and a number.
    pub fn of(target: String, count: u32) -> CountArgs<S> {
        CountArgs { target, count, step: PhantomData }
    }
}

impl<S: OfCount> fmt::Display for CountArgs<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.target, S::COUNT[0], self.count)
    }
}

impl<S: OfCount> Rewrite for CountArgs<S> {
    const ABOUT: About = S::ABOUT;

    fn parse(input: &mut &str) -> ModalResult<CountArgs<S>> {
        let [word, wanted] = S::COUNT;
        (name, counted(word, wanted))
            .map(|(target, count)| CountArgs::of(target, count))
            .parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(S::take(kernel, loop_named(kernel, &self.target)?, self.count)?)
    }
}

/// A kind of step, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The word that the step starts with.
    pub name: &'static str,
    /// A step as a schedule has it.
    pub example: &'static str,
    /// What it does, as a sentence without its subject.
    pub does: &'static str,
    /// When it is legal.
    pub legal: &'static str,
    /// An example, which is a test at the same time.
    pub law: Law,
}

/// A function before and after steps of which the last is the one that is described; `tests/laws` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// A C function.
    pub before: &'static str,
    /// A schedule, the steps that must come first included.
    pub steps: &'static str,
    /// The function after them, as `--show-steps` prints it.
    pub after: &'static str,
}

/// Why a step was not taken.
#[derive(Clone, Debug)]
pub enum StepError {
    /// No loop has this name.
    UnknownLoop(String),
    /// The step is not legal, or is wrong in another way.
    Refused(Refusal),
}

impl From<Refusal> for StepError {
    fn from(refusal: Refusal) -> StepError {
        StepError::Refused(refusal)
    }
}

/// The loop of a name.
pub(super) fn loop_named(kernel: &Kernel, name: &str) -> Result<LoopId, StepError> {
    let found = kernel.loop_named(name).map(|l| l.id);
    found.ok_or_else(|| StepError::UnknownLoop(name.to_string()))
}

/// The loops of several names, in their order.
pub(super) fn loops_named(kernel: &Kernel, names: &[String]) -> Result<Vec<LoopId>, StepError> {
    names.iter().map(|name| loop_named(kernel, name)).collect()
}
