//! What is said of a file that was staged: comments in its text, notes, and what emulation found.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::Diagnostic;

use super::named::{Fixed, Only};
use super::{Access, Verdict, blocks, own_block};
use crate::proving::ShapeProof;
use crate::search;
use crate::session::{Refusal, Session};
use crate::source::constants::Constant;
use crate::source::patch::{Patch, indentation};
use crate::source::ties::Tie;
use crate::verify::check::{Checked, Problem, ProblemKind};
use crate::verify::unmet::Unmet;

/// A comment before each statement whose reads were staged: from where they come, and how sure that is.
pub(super) fn comments(
    session: &Session,
    accesses: &[Access],
    checked: &Checked,
    proofs: &[ShapeProof],
    (only, unmet): (&[Only], &[Unmet]),
) -> Patch {
    let mut statements: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
    for (m, access) in accesses.iter().enumerate() {
        if let Some(s) = session.plan.reads[m].site.statements.last() {
            statements.entry(s.start as usize).or_default().push(access);
        }
    }
    let mut patch = Patch::default();
    let ties: Vec<String> = session.ties().iter().map(Tie::text).collect();
    let given = only.iter().map(|o| o.what.clone());
    let told = ties.iter().cloned().chain(given).collect::<Vec<_>>();
    let (tied, told) = (where_all(&ties), where_all(&told));
    let unmet: Vec<String> = unmet.iter().map(|u| self::unmet(session, u)).collect();
    let unless = match unmet.as_slice() {
        [] => String::new(),
        all => format!("; no launch shows what follows where {}", all.join(", or ")),
    };
    let assumed: BTreeSet<&String> = proofs.iter().flat_map(|p| &p.assumed).collect();
    let assumed: Vec<&str> = assumed.into_iter().map(String::as_str).collect();
    let if_so = match assumed.as_slice() {
        [] => String::new(),
        all => format!("; assumed: {}", all.join(", ")),
    };
    for (at, here) in statements {
        let everywhere = |b: &[u32; 3]| {
            here.iter().all(|a| a.verdict != Verdict::Proved || a.proved.contains(b))
        };
        let (sure, rest): (Vec<_>, Vec<_>) = blocks(checked).into_iter().partition(everywhere);
        let shapes = claimed(session, &blocks(checked));
        let more = match rest.is_empty() {
            true => String::new(),
            false => format!("; checked with {}", list(&rest)),
        };
        let sure = claimed(session, &sure);
        let count = |v: Verdict| here.iter().filter(|a| a.verdict == v).count();
        let (proved, checked) = (count(Verdict::Proved), count(Verdict::Checked));
        let indent = indentation(&session.plan.text, at);
        let line = match (proved, checked) {
            (0, 0) => "Not in shared memory: read from global memory as before.".to_string(),
            (n, 0) => {
                let of = sum_of(n, here.len());
                format!(
                    "{of} from shared memory{tied}: proved for all sizes with blocks of {sure}{more}{if_so}."
                )
            }
            (0, n) => {
                let of = sum_of(n, here.len());
                format!(
                    "{of} from shared memory{told}: checked with blocks of {shapes}, not proved{unless}."
                )
            }
            (p, n) => {
                let of = sum_of(p + n, here.len());
                format!(
                    "{of} from shared memory{told}: checked with blocks of {shapes}, {p} of them proved for all sizes{if_so}{unless}."
                )
            }
        };
        patch.replace(at..at, format!("// {line}\n{indent}"));
    }
    patch
}

/// ` where ow == w / 2 and m == 1`; nothing where there is nothing to keep to.
fn where_all(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" where {}", conditions.join(" and "))
    }
}

pub(super) fn sum_of(served: usize, all: usize) -> String {
    let come = if served == 1 { "comes" } else { "come" };
    match served == all {
        true if all == 1 => format!("The marked read {come}"),
        true => format!("All {all} marked reads {come}"),
        false => format!("{served} of {all} marked reads {come}"),
    }
}

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

/// What was so in no launch: ``n > 3000` holds`, `… (line 7) fails`.
pub(super) fn unmet(session: &Session, unmet: &Unmet) -> String {
    let text = session.sources.text(unmet.at);
    let first = text.lines().next().unwrap_or_default().trim_end_matches(['{', ' ']);
    let line = session.sources.line_column(unmet.at.file, unmet.at.start).0;
    format!("`{first}` {} (line {line})", unmet.how)
}

/// Something that may change what marked reads find was never run.
pub(super) fn not_run(session: &Session, one: &Unmet) -> Refusal {
    let error = Diagnostic::error(
        "W713",
        "what may change the elements that are read was run in no launch, and nothing proves the plan",
    )
    .label(one.at, format!("in no launch that was tried this {}", one.how))
    .help("name values with which it is run: --arg NAME=N; or store to other arrays than those that marks read");
    session.refuse(true, vec![error])
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
pub(super) fn said(problem: &Problem) -> String {
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
