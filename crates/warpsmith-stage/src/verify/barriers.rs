//! Barriers: missing ones are put where emulation shows that they are needed, superfluous ones are named.

use warpsmith_emu::Rule;
use warpsmith_front::pp::Piece;
use warpsmith_ir::SourceMap;

use super::check::{Checked, Checker, Problem, ProblemKind};
use crate::session::{Refusal, Session};
use crate::source::marks;
use crate::source::patch::{Patch, indentation, with_its_line};
use crate::source::scope;

/// A barrier that was put in, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Before which byte of the user's text.
    pub at: usize,
    pub why: String,
}

/// Barriers that are put into one text, at most.
const MAX_INSERTED: usize = 6;

/// Checks a rewritten text, and puts in barriers as long as that removes races.
///
/// # Errors
/// As [`Checker::check`].
pub fn complete(
    session: &mut Session,
    checker: &Checker,
    edits: &mut Patch,
) -> Result<(Checked, Vec<Inserted>), Refusal> {
    let mut inserted = vec![];
    let mut checked = checker.check(session, edits, 1)?;
    while inserted.len() < MAX_INSERTED {
        let Some(race) = checked.problems.iter().find_map(shared_race) else { break };
        let Some((better, barrier)) = separate(session, checker, edits, &race)? else { break };
        edits.extend(&better);
        inserted.push(barrier);
        checked = checker.check(session, edits, 1)?;
    }
    Ok((checked, inserted))
}

/// A race in shared memory: where the accesses stand, the earlier first, and what is said of it.
struct Race {
    first: usize,
    at: usize,
    why: String,
}

fn shared_race(problem: &Problem) -> Option<Race> {
    let ProblemKind::Finding(f) = &problem.kind else { return None };
    let shared = matches!(f.rule, Rule::RaceShared | Rule::UninitializedShared);
    let last = f.accesses.last().and_then(|a| a.span).filter(|s| shared && s.file.0 == 0)?;
    let first = f.accesses.first().and_then(|a| a.span).filter(|s| s.file.0 == 0);
    Some(Race {
        first: first.unwrap_or(last).start as usize,
        at: last.start as usize,
        why: format!("{}: {}", problem.launch.describe(), f.message),
    })
}

/// The barrier that removes a race without stopping threads for ever: before the later access, as far inside as possible, or behind the
/// earlier one, before any thread ends.
fn separate(
    session: &mut Session,
    checker: &Checker,
    edits: &Patch,
    race: &Race,
) -> Result<Option<(Patch, Inserted)>, Refusal> {
    let plain = session.plan.reference(session.input.block.unwrap_or([16, 16, 1]));
    let mut sources = SourceMap::new();
    // The reference has every byte of the user's text at its place when no extent is rewritten.
    let plain = if session.plan.extents([1, 1, 1]).is_empty() {
        plain
    } else {
        marks::reference(&session.plan.text, &session.plan.marks)
    };
    let Ok(unit) = session.compiler.parse(&plain, &[], &mut sources) else { return Ok(None) };
    let Some(site) = scope::site(&unit, &sources, race.at) else { return Ok(None) };
    let before = site.statements.iter().rev().map(|s| s.start as usize);
    let text = session.plan.text.clone();
    let behind = match session.plan.marks.inserts.iter().find(|i| i.start == race.first) {
        Some(insert) => text[insert.end..].find(';').map(|n| insert.end + n + 1),
        None => scope::site(&unit, &sources, race.first)
            .and_then(|site| site.statements.first().map(|s| s.end as usize)),
    };
    let before = before.map(|at| (at, format!("__syncthreads();\n{}", indentation(&text, at))));
    let behind =
        behind.map(|at| (at, format!("\n{}__syncthreads();", indentation(&text, race.first))));
    for (at, barrier) in before.collect::<Vec<_>>().into_iter().chain(behind) {
        let mut one = Patch::default();
        one.replace(at..at, barrier);
        let mut all = edits.clone();
        all.extend(&one);
        let mut problems = checker.check(session, &all, 1)?.problems;
        if problems.is_empty() {
            problems = checker.with_data_near(session, &all)?.problems;
        }
        let still = problems.iter().find_map(shared_race).is_some_and(|r| r.at == race.at);
        let stopped = problems.iter().any(|p| {
            matches!(&p.kind, ProblemKind::Finding(f) if matches!(f.rule, Rule::DivergentBarrier | Rule::InfiniteLoop))
        });
        if !still && !stopped {
            return Ok(Some((one, Inserted { at, why: race.why.clone() })));
        }
    }
    Ok(None)
}

/// The edit that takes a barrier of the user's out, with its line if nothing else stands there.
pub fn removal(text: &str, at: usize) -> Option<Patch> {
    let tokens = marks::tokens(text);
    let first = tokens.iter().position(|t| t.at.start <= at && at < t.at.end)?;
    if text.get(tokens[first].at.clone()) != Some("__syncthreads") {
        return None;
    }
    let end = tokens[first..].iter().find(|t| t.piece == Piece::Other(b';'))?.at.end;
    let mut patch = Patch::default();
    patch.replace(with_its_line(text, tokens[first].at.start..end), "");
    Some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_goes_with_its_line() {
        let text = "a;\n  __syncthreads();\nb; __syncthreads(); c;\n";
        let first = removal(text, 5).and_then(|p| p.apply(text).ok());
        assert_eq!(first.as_deref(), Some("a;\nb; __syncthreads(); c;\n"));
        let second = removal(text, 25).and_then(|p| p.apply(text).ok());
        assert_eq!(second.as_deref(), Some("a;\n  __syncthreads();\nb;  c;\n"));
        assert!(removal(text, 0).is_none());
    }
}
