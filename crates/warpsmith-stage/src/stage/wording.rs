//! What is said of a file that was staged: comments in its text, notes, and what emulation found.

use warpsmith_ir::Diagnostic;

use super::named::{Fixed, Only};
use super::{Access, Verdict, own_block};
use crate::search;
use crate::session::{Refusal, Session};
use crate::source::constants::Constant;
use crate::verify::check::{Checked, Problem, ProblemKind};

/// The block shapes that a text is good for: its own first, then those that other constants were checked for.
pub(super) fn claimed(session: &Session, blocks: &[[u32; 3]]) -> String {
    let own = own_block(session);
    if session.own.is_none() && session.plan.extents(own).is_empty() {
        return list(blocks);
    }
    let others: Vec<String> = blocks.iter().filter(|b| **b != own).map(|b| dims(*b)).collect();
    match others.is_empty() || !session.plan.extents(own).is_empty() {
        true => dims(own),
        false => format!("{} (with other constants also {})", dims(own), others.join(", ")),
    }
}

pub(super) fn list(blocks: &[[u32; 3]]) -> String {
    blocks.iter().map(|b| dims(*b)).collect::<Vec<_>>().join(", ")
}

/// A block in words: `32x8`.
pub fn dims(block: [u32; 3]) -> String {
    match block {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

pub(super) fn notes(session: &Session, checked: &Checked, accesses: &[Access]) -> Vec<String> {
    let mut notes: Vec<String> = checked
        .benign
        .iter()
        .map(|array| format!("threads write equal values to `{array}` without an order between them, which is benign"))
        .collect();
    for a in accesses.iter().filter(|a| a.verdict == Verdict::Original) {
        notes.push(format!("`{}` is never in shared memory and is read as before", a.original));
    }
    for (launch, findings) in session.unsuited.iter().take(2) {
        let said: Vec<&str> = findings.iter().take(2).map(|f| f.message.as_str()).collect();
        notes.push(format!(
            "the unmodified kernel was not used at {}: {}",
            launch.describe(),
            said.join("; ")
        ));
    }
    if let Some(race) = &session.raced {
        notes.push(format!(
            "the unmodified kernel has a race, which its marked reads are part of: {race}"
        ));
    }
    if session.pinned {
        let block = dims(own_block(session));
        notes.push(format!("for blocks of {block} alone: at others no expression was right"));
    }
    if let Some(wrong) = &session.in_tiny {
        notes.push(format!(
            "for blocks of at least {}: in the smallest it is wrong ({wrong})",
            dims(least(checked))
        ));
    }
    let given = (0..session.plan.reads.len()).any(|m| session.plan.given(m).is_some());
    if !given && !session.plan.inserts.is_empty() {
        notes.push(
            "`__insert();` writes nothing: no mark says what is read instead, `__opt__(tile[s], in[c])`"
                .into(),
        );
    }
    if session.usage.overlaps {
        notes.push(
            "launch no more blocks than the sizes need: with a block to spare it was not emulated"
                .into(),
        );
    }
    for why in session.not_as_launched() {
        notes.push(format!("not emulated as the file launches it: {why}"));
    }
    let extents = session.plan.extents(own_block(session));
    if !extents.is_empty() {
        let block = dims(own_block(session));
        notes.push(format!("shared arrays with the size of the block became constant: launch with blocks of {block}"));
    }
    notes
}

/// The fewest threads along each axis of the blocks that a text was checked at.
fn least(checked: &Checked) -> [u32; 3] {
    let blocks = checked.launches.iter().map(|l| l.block);
    blocks.reduce(|a, b| std::array::from_fn(|i| a[i].min(b[i]))).unwrap_or([1; 3])
}

/// What is said of a constant that a text holds for some values of.
pub(super) fn fixed(fixed: &Fixed) -> String {
    let Constant { name, value, .. } = &fixed.constant;
    let holds = match fixed.most {
        Some(most) => format!("`{name}` up to {most}"),
        None => format!("`{name}` = {value} alone"),
    };
    let why = match fixed.untried {
        true => "no launch was found in which the unmodified kernel is right with another value",
        false => "with other values it is wrong, and nothing that was found is right",
    };
    format!("for {holds}, as a `static_assert` in the text says: {why}")
}

/// What is said of a value that the user gives and that a text is known to be right with alone.
pub(super) fn only(only: &Only) -> String {
    let why = match only.untried {
        true => "no launch was found in which the unmodified kernel is right otherwise",
        false => "otherwise the text is wrong, and nothing that was found is right",
    };
    format!("checked where {} alone, as given: {why}", only.what)
}

/// What emulation found in the rewritten text.
pub(super) fn wrong(session: &Session, problems: &[Problem]) -> Refusal {
    let mut error = Diagnostic::error("W713", "with this plan the kernel is not right");
    for problem in problems.iter().take(3) {
        if let ProblemKind::Finding(f) = &problem.kind {
            for a in f.accesses.iter().filter_map(|a| a.span.map(|s| (s, a.what))) {
                error = error.label(a.0, a.1);
            }
        }
        error = error.note(said(problem));
    }
    session.refuse(true, vec![error])
}

/// A problem in words: the launch, the thread, the element.
pub(crate) fn said(problem: &Problem) -> String {
    let launch = problem.launch.describe();
    match &problem.kind {
        ProblemKind::Finding(f) => {
            let thread = f.accesses.iter().find_map(|a| a.thread);
            let who =
                thread.map_or(String::new(), |t| format!(", {}", search::who(t.block, t.thread)));
            format!("{launch}{who}: {} ({})", f.message, f.rule.name())
        }
        ProblemKind::Different { array, index } => {
            format!("{launch}: element {index} of `{array}` differs from the unmodified kernel")
        }
        ProblemKind::Limit => format!("{launch}: does not end"),
    }
}
