//! Schedules: text files of steps that, replayed on the same source, give the same program.
//!
//! One step a line, `#` starts a comment. Loops are named by their counters; the second loop of a name, in source
//! order, is `i#2`, the third `i#3`.
//!
//! ```text
//! bind i, j -> y, x block 32x8     # loops to axes; threads of a block along x, y, z
//! register_tile i by 4             # iterations of a bound loop for each thread
//! stage A at k tile 16 pad 1       # through shared memory, 16 iterations of k at a time
//! ```
//!
//! [`registry`] lists the steps; `warpsmith tune --list-rewrites` prints what each does, with an example.

mod candidates;
mod derive;
pub mod fusions;
pub mod ladder;
pub mod orders;
mod parse;
mod parts;
mod rectangles;
pub mod registry;
mod renamed;
mod replays;
mod rows;
mod shared;
pub mod space;
mod stencils;
mod streams;
pub mod template;
mod term;
mod transposes;
mod updates;
mod waves;
mod wide;
mod written;

use std::fmt;

use warpsmith_ir::{Diagnostic, SourceMap, Span, StmtKind};

pub use derive::{derive, with_fewer_blocks};
pub use parse::parse;
pub use registry::StepKind;
pub use renamed::with_part;
pub use replays::Replays;

use crate::analysis::{extremes, presence};
use crate::assumption::Assumption;
use crate::kernel::Kernel;
pub use crate::rewrite::step::StepError;
use crate::rewrite::{self, Rewritten};
use crate::walk;

/// Steps in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// In the order in which they are taken.
    pub steps: Vec<Step>,
}

/// One step, with where it stands in the schedule's file.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which step, and what it is told.
    pub kind: StepKind,
    /// Where it stands in a file of a schedule.
    pub span: Option<Span>,
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        self.kind == other.kind
    }
}

impl fmt::Display for Schedule {
    /// The text that [`parse`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{}", step.kind))
    }
}

impl Schedule {
    /// The text of a file of a schedule.
    pub fn print(&self) -> String {
        self.to_string()
    }
}

/// Applies the steps one after the other; the verifier looks at the result of each.
///
/// # Errors
/// The first step that names a loop that does not exist or that is not legal.
pub fn replay(
    kernel: &Kernel,
    schedule: &Schedule,
    sources: &SourceMap,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut kernel = kernel.clone();
    for (k, step) in schedule.steps.iter().enumerate() {
        kernel = advance(&kernel, &step.kind, sources)
            .map_err(|error| vec![explain(&kernel, error, k, step)])?;
    }
    Ok(kernel)
}

/// Takes one step and notes it, once the verifier has looked at the result.
///
/// # Errors
/// As [`take`], where the verifier finds something, and where a copy in shared memory no longer fits the loops.
pub fn advance(kernel: &Kernel, step: &StepKind, sources: &SourceMap) -> Result<Kernel, StepError> {
    let text = step.to_string();
    let rewritten = rewrite::verified(take(kernel, step, sources)?, &text);
    let mut after = rewritten.map_err(StepError::Refused)?.kernel;
    rewrite::check_copies(kernel, &after).map_err(StepError::Refused)?;
    presence::ask_for_arrays(kernel, &mut after);
    note_order_of_choices(kernel, &mut after);
    after.steps.push(text);
    Ok(after)
}

/// Notes that a step has other variables keep a least or greatest value: others see a NaN then.
fn note_order_of_choices(before: &Kernel, after: &mut Kernel) {
    let chosen = extremes::lost_at_nan(&before.func().body);
    if chosen.is_empty() || chosen == extremes::lost_at_nan(&after.func().body) {
        return;
    }
    for v in chosen {
        let noted = Assumption::NoNan { variable: before.name_of(v).to_string() };
        if !after.assumptions.contains(&noted) {
            after.assumptions.push(noted);
        }
    }
}

/// Takes one step.
///
/// # Errors
/// An unknown loop name, or why the step is not legal.
pub fn take(kernel: &Kernel, step: &StepKind, sources: &SourceMap) -> Result<Rewritten, StepError> {
    step.take(kernel, sources)
}

fn explain(kernel: &Kernel, error: StepError, at: usize, step: &Step) -> Diagnostic {
    let d = match error {
        StepError::Refused(refusal) => refusal.diagnostic(kernel),
        StepError::UnknownLoop(name) => {
            let d = Diagnostic::error("W231", format!("no loop is called `{name}`"));
            let names: Vec<String> = kernel.loop_names().into_iter().map(|(n, _)| n).collect();
            let d = match names.is_empty() {
                true => d.note("the function has no counted loops"),
                false => d.note(format!("the loops are {}", names.join(", "))),
            };
            match has_other_loops(kernel) {
                true => d.note("others have no names: those whose counter has less than four bytes, is unsigned and goes down, or is changed otherwise than by a constant in the head"),
                false => d,
            }
        }
    };
    let d = match step.span {
        Some(span) => d.label(span, "in this step"),
        None => d,
    };
    d.note(format!("step {}: `{}`", at + 1, step.kind))
}

/// Whether there are loops that are not counted.
fn has_other_loops(kernel: &Kernel) -> bool {
    let mut found = false;
    walk::each_stmt(&kernel.func().body, &mut |s| found |= matches!(s.kind, StmtKind::Loop { .. }));
    found
}
