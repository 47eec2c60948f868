//! What is said of marks and clauses that are wrong, or not known to be right.

use warpsmith_ir::{Diagnostic, LoopId, ReduceOp, Reduction};

use super::{CarriedDependence, UndecidedMark, at_loop, clause_name, label};
use crate::analysis::contributions::{Misuse, Why};
use crate::kernel::Kernel;

pub(super) fn shared_variable(
    kernel: &Kernel,
    loop_id: LoopId,
    shared: &crate::analysis::scalars::SharedVariable,
) -> Diagnostic {
    let (name, variable) = (kernel.loop_name(loop_id), kernel.name_of(shared.var));
    let message = format!(
        "loop `{name}` is marked parallel, but its iterations share the variable `{variable}`"
    );
    let mut d = label(
        Diagnostic::error("W211", message),
        shared.write.span,
        &format!("every iteration writes `{variable}`"),
    );
    if let Some(read) = &shared.read
        && read.span != shared.write.span
    {
        d = label(d, read.span, "and reads it here");
    }
    d = label(d, kernel.func().var(shared.var).origin.span, "declared outside the loop");
    match shared.reduction {
        Some(op) => d.help(format!("add `reduction({}: {variable})`", clause_name(op))),
        None => d.help(format!(
            "if each iteration needs its own, add `private({variable})` or declare it inside the loop"
        )),
    }
}

pub(super) fn mixed_updates(
    kernel: &Kernel,
    loop_id: LoopId,
    name: &str,
    mixed: &crate::analysis::atomics::Mixed,
) -> Diagnostic {
    let message = format!(
        "the iterations of loop `{}` update elements of `{name}` in any order, but their order matters",
        kernel.loop_name(loop_id)
    );
    let (text, help) = match mixed.plain {
        true => (
            "another iteration may use the element here, before or after the update",
            "use the array in a loop of its own, after this one",
        ),
        false => (
            "another operation, perhaps on the same element",
            "collect what the two operations give in two arrays",
        ),
    };
    let d = label(Diagnostic::error("W228", message), mixed.first.span, "an update");
    label(d, mixed.second.span, text).help(help)
}

pub(super) fn order_matters(
    kernel: &Kernel,
    outer: LoopId,
    inner: LoopId,
    dependence: Option<&CarriedDependence>,
    reason: Option<&str>,
) -> Diagnostic {
    let (o, i) = (kernel.loop_name(outer), kernel.loop_name(inner));
    let Some(dep) = dependence else {
        let message = format!(
            "cannot interchange `{o}` and `{i}`: that the order does not matter is not proved"
        );
        let d = at_loop(kernel, Diagnostic::error("W226", message), outer, "the outer loop");
        return reason.into_iter().fold(d, |d, r| d.note(r));
    };
    let message = format!(
        "cannot interchange `{o}` and `{i}`: two iterations that change places touch the same element"
    );
    let mut d = Diagnostic::error("W225", message);
    for end in [&dep.second, &dep.first] {
        let text = format!("iteration {} {} `{}`", end.iteration_text(), end.verb(), end.text);
        d = label(d, end.span, &text);
    }
    d
}

/// What is wrong with a clause `reduction`.
pub(super) fn misused(
    kernel: &Kernel,
    id: LoopId,
    reduction: &Reduction,
    found: &Misuse,
) -> Diagnostic {
    let (name, own) = (kernel.loop_name(id), kernel.name_of(reduction.var));
    let form = contribution(reduction.op, own);
    let (code, message, here) = match found.why {
        Why::Leaves => (
            "W227",
            format!("loop `{name}` uses what `{own}` has come to so far"),
            "a partial result of the reduction",
        ),
        Why::Decides => (
            "W236",
            format!("loop `{name}` decides by what `{own}` has come to so far"),
            "a partial result of the reduction decides here",
        ),
        Why::Replaces => (
            "W237",
            format!("loop `{name}` does not reduce `{own}` by `{}`", clause_name(reduction.op)),
            "not the variable combined with a value by this operation",
        ),
        Why::NoTruth => (
            "W238",
            format!("`{own}` may be another number than 0 and 1 before loop `{name}`"),
            "its value here",
        ),
    };
    let d = label(Diagnostic::error(code, message), found.at.span, here);
    let d = at_loop(kernel, d, id, "iterations of this loop run at the same time");
    match found.why {
        Why::NoTruth => d
            .note(format!("`{}` makes 0 or 1 of it, a loop that leaves it alone does not", clause_name(reduction.op)))
            .help(format!("give `{own}` the value 0 or 1 before the loop")),
        Why::Replaces => d
            .note("every thread begins at what the operation leaves unchanged; their values are combined by it after the loop")
            .help(format!("every change has to have the form `{form}`; else remove `{own}` from the clause and the mark from the loop")),
        Why::Leaves | Why::Decides => d
            .note("the result of a reduction is known after its loop: inside, every thread has a value of its own")
            .help(format!("a running total is no reduction: remove `{own}` from the clause and the mark from the loop")),
    }
}

/// A statement that contributes to a reduction.
fn contribution(op: ReduceOp, own: &str) -> String {
    match op {
        ReduceOp::Min => format!("if (e < {own}) {own} = e;"),
        ReduceOp::Max => format!("if (e > {own}) {own} = e;"),
        _ => format!("{own} = {own} {} e;", clause_name(op)),
    }
}

impl CarriedDependence {
    pub(super) fn diagnostic(&self, kernel: &Kernel) -> Diagnostic {
        let name = kernel.loop_name(self.loop_id);
        let mut d = Diagnostic::error(
            "W210",
            format!(
                "loop `{name}` is marked parallel, but two of its iterations touch the same element of `{}`",
                self.array
            ),
        );
        for (k, end) in [&self.second, &self.first].into_iter().enumerate() {
            if k == 1
                && self.first.span == self.second.span
                && self.first.writes == self.second.writes
            {
                continue;
            }
            let also = if k == 0 && self.first.writes == self.second.writes { "also " } else { "" };
            let text =
                format!("iteration {} {also}{} `{}`", end.iteration_text(), end.verb(), end.text);
            d = label(d, end.span, &text);
        }
        d = label(d, self.mark, "marked here");
        let sizes: Vec<String> = self.sizes.iter().map(|(n, x)| format!("{n} = {x}")).collect();
        let at = if sizes.is_empty() { "".into() } else { format!(" with {}", sizes.join(", ")) };
        d = d.note(format!("for example{at}, {}", self.example()));
        match self.accumulates {
            true => d.help(format!("if `{}` collects a sum, mark a loop on which its subscript depends, or use a scalar with `reduction(+: …)`", self.array)),
            false => d.help("remove the mark, or let every iteration write elements of its own (for example, into a second array)"),
        }
    }

    /// Two iterations that meet.
    pub fn example(&self) -> String {
        let (first, second) = (&self.first, &self.second);
        format!(
            "iteration {} {} `{}`, and iteration {} {} it too",
            first.iteration_text(),
            first.verb(),
            self.element_text(),
            second.iteration_text(),
            second.verb(),
        )
    }

    fn element_text(&self) -> String {
        let subscripts: String = self.element.iter().map(|x| format!("[{x}]")).collect();
        format!("{}{subscripts}", self.array)
    }
}

impl UndecidedMark {
    pub(super) fn diagnostic(&self, kernel: &Kernel) -> Diagnostic {
        let name = kernel.loop_name(self.loop_id);
        let message = format!(
            "loop `{name}` is marked parallel, but whether two of its iterations touch the same element of `{}` is not known",
            self.array
        );
        let mut d = Diagnostic::error("W228", message);
        for (k, end) in [&self.second, &self.first].into_iter().enumerate() {
            if k == 0 || self.first.span != self.second.span {
                d = label(d, end.span, &format!("{} `{}`", end.verb(), end.text));
            }
        }
        d = label(d, self.mark, "marked here");
        d.note(self.reason.clone())
            .note("counters and sizes decide it, in a way that the analysis does not understand")
            .help("if you know that no two iterations meet, write `#pragma ws independent` before the loop: the result then says that it rests on your word")
    }
}
