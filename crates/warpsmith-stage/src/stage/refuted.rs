//! Which marked reads a launch shows to be wrong, read by read, each with its witness.

use std::time::Duration;

use warpsmith_emu::Rule;
use warpsmith_ir::Diagnostic;

use super::accesses::{accesses, replacement, sides};
use super::wording::{said, wrong};
use super::{Access, PlanKind, Verdict};
use crate::copying::Copied;
use crate::intermediate;
use crate::search::{Found, Profiled, Search, witness};
use crate::session::{How, Refusal, Session, Suited, place};
use crate::source::forks;
use crate::source::patch::Patch;
use crate::verify::barriers;
use crate::verify::check::{Checker, Problem, ProblemKind};

/// The refusal of a text that is wrong in a launch, with the verdict of each marked read.
pub(super) fn refused(
    session: &mut Session,
    checker: &Checker,
    problems: &[Problem],
    found: &[Found],
    copied: &Copied,
) -> Refusal {
    let mut all = accesses(session, found, copied.time, &[]);
    let launch = problems.first().map(|p| &p.launch);
    let suited = checker.launches.iter().find(|s| Some(&s.launch) == launch).cloned();
    if let Some(suited) = suited {
        for (m, access) in all.iter_mut().enumerate() {
            // A witness that cannot be looked for is none: the refusal stands anyway.
            let shown = row(session, &suited, m, found)
                .or_else(|| alone(session, checker, &suited, m, found, copied));
            if let Some(shown) = shown {
                access.verdict = Verdict::Refuted;
                access.witness = Some(shown);
            }
        }
    }
    let mut refusal = wrong(session, problems);
    if let Some(error) = refusal.diagnostics.pop() {
        let error = still_read(session, found, problems, error);
        let error = labelled(error, &all);
        let open =
            |m: &usize| all[*m].verdict == Verdict::Refuted && session.plan.forks.is_open(*m);
        refusal.diagnostics.push(match (0..all.len()).find(open) {
            Some(_) => error.note(forks::OPEN),
            None => error,
        });
    }
    refusal.accesses = all;
    refusal
}

/// The refusal of a search whose answers launches that it had not seen were wrong in, until none was left.
pub(super) fn unanswered(session: &Session, search: &Search, refusal: Refusal) -> Refusal {
    let mut refusal = refusal;
    for (m, killed) in search.refuted().into_iter().enumerate() {
        let Some(killed) = killed else { continue };
        let mark = session.plan.mark(m);
        refusal.accesses.push(Access {
            plan: PlanKind::of(session, m),
            at: mark.whole.clone(),
            original: session.plan.slice(&mark.global()).to_string(),
            replacement: killed.text.clone(),
            verdict: Verdict::Refuted,
            witness: Some(killed.witness.clone()),
            proved: vec![],
            unproved: None,
            killed: search.killed(m).to_vec(),
            time: Duration::ZERO,
            rows: 0,
        });
    }
    refusal
}

/// Says of a race for an array between two steps what keeps its stores in the text.
fn still_read(
    session: &Session,
    found: &[Found],
    problems: &[Problem],
    error: Diagnostic,
) -> Diagnostic {
    let raced = |name: &String| {
        problems.iter().any(|p| {
            matches!(&p.kind, ProblemKind::Finding(f)
                if f.rule == Rule::RaceGlobal && f.array.as_ref() == Some(name))
        })
    };
    let kept = intermediate::kept(session, found).into_iter();
    kept.filter(|(name, _)| raced(name)).fold(error, |error, (name, at)| {
        error.label(place(&at), "no mark, and no store").help(format!(
            "stores to `{name}` stay as long as it is read here: keep what is stored in a variable, and read that"
        ))
    })
}

/// The message with what is known of each read.
fn labelled(error: Diagnostic, all: &[Access]) -> Diagnostic {
    let refuted = all.iter().filter(|a| a.verdict == Verdict::Refuted);
    refuted.fold(error, |error, a| {
        let witness = a.witness.as_deref().unwrap_or_default();
        error
            .label(place(&a.at), "refuted")
            .note(format!("refuted: {} -> {}: {witness}", a.original, a.replacement))
    })
}

/// A thread of the launch that the answer gives another element than it reads.
fn row(session: &mut Session, suited: &Suited, m: usize, found: &[Found]) -> Option<String> {
    let answer = found[m].answer.as_ref()?;
    let mut profiled = Profiled::default();
    for mixed in [false, true] {
        if mixed && !session.mixed {
            continue;
        }
        let how = How { way: mixed.then_some(0), whole: true, ..How::default() };
        session.profile(suited, 0, how, &mut profiled.profile).ok()?;
    }
    profiled.launches.push(suited.clone());
    let array = &session.plan.reads[m].site.arrays[answer.array].declared().to_string();
    let inner = session.inner_extents(&suited.launch, array);
    let rows = profiled.profile.get(m)?;
    let wrong = rows.iter().find(|r| !answer.suits(r, &inner))?;
    Some(witness(session, &profiled, m, wrong))
}

/// What is wrong when this read alone comes from shared memory.
fn alone(
    session: &mut Session,
    checker: &Checker,
    suited: &Suited,
    m: usize,
    found: &[Found],
    copied: &Copied,
) -> Option<String> {
    let is_served = |i: usize| found[i].answer.is_some() || session.plan.given(i).is_some();
    if !is_served(m) {
        return None;
    }
    let mut edits = Patch::default();
    for (i, f) in found.iter().enumerate() {
        let text = match i == m {
            true => replacement(session, i, f, &sides(session, found)),
            false => {
                let mark = session.plan.mark(i);
                let (global, member) = (mark.global(), mark.member.clone());
                format!("({}){}", session.plan.slice(&global), session.plan.slice(&member))
            }
        };
        edits.replace(session.plan.mark(i).whole.clone(), text);
    }
    edits.extend(&copied.edits);
    // Stores that nothing needs any more are gone in the whole text only.
    let checker = checker.of(vec![suited.clone()]);
    let (checked, _) = barriers::complete(session, &checker, &mut edits).ok()?;
    checked.problems.first().map(said)
}
