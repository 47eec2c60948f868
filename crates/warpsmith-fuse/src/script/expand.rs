//! Loops written out, so that what calls of several iterations share is seen.
//!
//! A loop of few calls disappears: its iterations become one sequence, in which calls fuse across iterations. A longer one
//! stays a loop with several iterations in its body, and what is left over after it.

use warpsmith_ir::Diagnostic;

use super::syntax::*;

/// As many calls may come from writing out one loop.
pub const UNROLLED_CALLS: u64 = 16;
/// As many from loops that must be written out, since the limits of loops inside depend on their counters.
const MAX_CALLS: u64 = 4096;

/// A statement whose loops have constant counts.
#[derive(Clone, Debug)]
pub(super) enum Step<'a> {
    Call(&'a CallStatement),
    Loop { trips: u64, body: Vec<Step<'a>>, source: &'a ForStatement },
}

/// Writes out the loops of a list of statements.
///
/// # Errors
/// W512: a bound that is not a number, or too many calls; W507: a counter that is in use; W509: an unknown counter.
pub(super) fn expand(statements: &[Statement]) -> Result<Vec<Step<'_>>, Diagnostic> {
    list(statements, &mut vec![])
}

type Counters<'a> = Vec<(&'a str, i64)>;

fn list<'a>(
    statements: &'a [Statement],
    counters: &mut Counters<'a>,
) -> Result<Vec<Step<'a>>, Diagnostic> {
    let mut steps = vec![];
    for statement in statements {
        match statement {
            Statement::Call(call) => steps.push(Step::Call(call)),
            Statement::For(one) => steps.extend(loop_steps(one, counters)?),
        }
    }
    Ok(steps)
}

fn loop_steps<'a>(
    source: &'a ForStatement,
    counters: &mut Counters<'a>,
) -> Result<Vec<Step<'a>>, Diagnostic> {
    let counter = &source.counter;
    if counters.iter().any(|(name, _)| *name == counter.text) {
        return Err(Diagnostic::error(
            "W507",
            format!("`{}` counts an outer loop already", counter.text),
        )
        .label(counter.span, "used again here"));
    }
    let (first, limit) = (value(&source.first, counters)?, value(&source.limit, counters)?);
    let trips = limit.saturating_sub(first).max(0) as u64;
    let each = |at: i64, counters: &mut Counters<'a>| {
        counters.push((&counter.text, at));
        let body = list(&source.body, counters);
        counters.pop();
        body
    };
    let body = each(first, counters)?;
    if trips == 0 {
        // What is wrong inside is wrong all the same: the body is resolved and left out.
        return Ok(vec![Step::Loop { trips: 0, body, source }]);
    }
    let calls = count(&body).max(1);
    if source.body.iter().any(|s| mentions(s, &counter.text)) {
        if trips.saturating_mul(calls) > MAX_CALLS {
            return Err(too_long(source, trips));
        }
        let rounds = (first..limit).map(|at| each(at, counters));
        return rounds.collect::<Result<Vec<_>, _>>().map(|rounds| rounds.concat());
    }
    let has_loops = body.iter().any(|s| matches!(s, Step::Loop { .. }));
    let most = if has_loops { 1 } else { (UNROLLED_CALLS / calls).max(1) };
    if trips <= most || trips == 1 {
        return Ok(repeated(&body, trips));
    }
    // A count that divides the iterations, where a large one does; else the rest comes after the loop.
    let divisor = (most / 2 + 1..=most).rev().find(|t| trips.is_multiple_of(*t));
    let times = divisor.unwrap_or(most);
    let inner = repeated(&body, times);
    let mut steps = vec![Step::Loop { trips: trips / times, body: inner, source }];
    steps.extend(repeated(&body, trips % times));
    Ok(steps)
}

fn too_long(source: &ForStatement, trips: u64) -> Diagnostic {
    Diagnostic::error("W512", "this loop is too long to be written out")
        .label(source.span, format!("{trips} iterations"))
        .note("the limits of a loop inside depend on its counter")
        .help(format!("at most {MAX_CALLS} calls can come from it"))
}

/// Calls in the text of a list, loops counted once.
fn count(steps: &[Step<'_>]) -> u64 {
    steps
        .iter()
        .map(|s| match s {
            Step::Call(_) => 1,
            Step::Loop { body, .. } => count(body),
        })
        .sum()
}

fn mentions(statement: &Statement, counter: &str) -> bool {
    match statement {
        Statement::Call(_) => false,
        Statement::For(f) => {
            bound_mentions(&f.first, counter)
                || bound_mentions(&f.limit, counter)
                || f.body.iter().any(|s| mentions(s, counter))
        }
    }
}

fn bound_mentions(bound: &Bound, counter: &str) -> bool {
    match bound {
        Bound::Number(..) => false,
        Bound::Counter(name) => name.text == counter,
        Bound::Sum(a, b) | Bound::Difference(a, b) | Bound::Product(a, b) => {
            bound_mentions(a, counter) || bound_mentions(b, counter)
        }
    }
}

fn value(bound: &Bound, counters: &Counters<'_>) -> Result<i64, Diagnostic> {
    let pair = |a: &Bound, b: &Bound| Ok((value(a, counters)?, value(b, counters)?));
    let result = match bound {
        Bound::Number(n, _) => Some(*n),
        Bound::Counter(name) => {
            let known = counters.iter().find(|(n, _)| *n == name.text);
            let Some((_, at)) = known else {
                return Err(Diagnostic::error(
                    "W509",
                    format!("`{}` counts no loop around this one", name.text),
                )
                .label(name.span, "not a number")
                .help("the limits of a loop are numbers and counters of loops around it"));
            };
            Some(*at)
        }
        Bound::Sum(a, b) => pair(a, b).map(|(a, b)| a.checked_add(b))?,
        Bound::Difference(a, b) => pair(a, b).map(|(a, b)| a.checked_sub(b))?,
        Bound::Product(a, b) => pair(a, b).map(|(a, b)| a.checked_mul(b))?,
    };
    // Counts are kept well inside of an `int`, which the emitted loop counts with.
    match result {
        Some(n) if n.abs() <= 1 << 30 => Ok(n),
        _ => Err(Diagnostic::error("W512", "this limit is too large").label(bound.span(), "here")),
    }
}

fn repeated<'a>(body: &[Step<'a>], times: u64) -> Vec<Step<'a>> {
    vec![body.to_vec(); times as usize].concat()
}
