//! `--show-steps`: what each step of a schedule makes of the function, as C-like text.
//!
//! A step that is an edit of the function shows in its lines; loops that are bound say to what. What a step notes for the
//! nest as a whole stands in a comment above it.

use warpsmith_ir::SourceMap;
use warpsmith_opt::{Kernel, Schedule, annotate, schedule};

use crate::diff;

/// The function after a step.
#[derive(Clone, Debug)]
pub struct Shown {
    pub step: String,
    /// Lines that the step added begin with `+`, those that it removed with `-`.
    pub text: String,
}

/// All steps of a schedule, from the function as it is.
pub fn show(kernel: &Kernel, steps: &Schedule, sources: &SourceMap) -> Vec<Shown> {
    let mut before = text(kernel);
    let mut shown =
        vec![Shown { step: "the function".into(), text: diff::marked(&before, &before) }];
    let mut kernel = kernel.clone();
    for step in &steps.steps {
        let Ok(next) = schedule::advance(&kernel, &step.kind, sources) else { break };
        let after = text(&next);
        shown.push(Shown { step: step.kind.to_string(), text: diff::marked(&before, &after) });
        (before, kernel) = (after, next);
    }
    shown
}

/// The steps as a person reads them, one below the other.
pub fn human(shown: &[Shown]) -> String {
    shown.iter().map(|s| format!("-- {}\n\n{}\n", s.step, s.text)).collect()
}

fn text(kernel: &Kernel) -> String {
    let module = annotate::annotated(kernel);
    warpsmith_emit::module_file(&module).unwrap_or_else(|why| format!("{why}\n"))
}
