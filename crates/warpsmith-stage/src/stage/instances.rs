//! Other instances of a template: the text is that of all of them, and the file launches more than the one that it was made for.

use std::collections::BTreeSet;

use warpsmith_ir::{Diagnostic, SourceMap};

use crate::session::{Input, Refusal, Session};
use crate::source::patch::Patch;
use crate::source::{hosts, launched};
use crate::verify::check::{Checker, ProblemKind};

/// Instances that are looked at, at most.
const MOST: usize = 4;

/// Checks a text as the other instances that the file launches, which are named.
///
/// # Errors
/// W713 where it is wrong as one of them, or does not compile.
pub(super) fn checked(session: &Session, text: &Patch) -> Result<Vec<String>, Refusal> {
    let mut right = vec![];
    for kernel in others(session).into_iter().take(MOST) {
        let input = Input { kernel: Some(kernel.clone()), ..session.input.clone() };
        // What nobody can launch is no reason against the one that was asked for.
        let Ok(mut other) = Session::new(input) else { continue };
        let checker = Checker::new(&mut other, &[])?;
        match checker.check(&mut other, text, 1) {
            Ok(found) => match found.problems.first() {
                None if found.launches.is_empty() => {}
                None => right.push(kernel),
                Some(problem) => {
                    let what = match &problem.kind {
                        ProblemKind::Finding(f) => f.message.clone(),
                        ProblemKind::Different { array, index } => {
                            format!("element {index} of `{array}` is another one")
                        }
                        ProblemKind::Limit => "it does not end".into(),
                    };
                    let at = problem.launch.describe();
                    return Err(refused(session, &kernel, &format!("{at}: {what}")));
                }
            },
            Err(why) => {
                let why =
                    why.diagnostics.iter().flat_map(|d| d.notes.iter().chain([&d.message])).next();
                let why = why.map_or("", |s| s);
                return Err(refused(
                    session,
                    &kernel,
                    &format!("the text does not compile as that: {why}"),
                ));
            }
        }
    }
    Ok(right)
}

fn refused(session: &Session, kernel: &str, why: &str) -> Refusal {
    let own = &session.kernel;
    let error = Diagnostic::error("W713", format!("what is right as `{own}` is wrong as `{kernel}`, which the file launches, too"))
        .note(why)
        .help("declare tiles by the template's types and sizes, or give instances that differ kernels of their own");
    session.refuse(true, vec![error])
}

/// The instances that host code launches beside the one of the session.
fn others(session: &Session) -> BTreeSet<String> {
    let Some(own) = hosts::template_arguments(&session.kernel) else { return BTreeSet::new() };
    let text = session.plan.reference(super::own_block(session));
    let mut sources = SourceMap::new();
    let Ok(unit) = session.compiler.parse(&text, &[], &mut sources) else {
        return BTreeSet::new();
    };
    let base = session.kernel.split('<').next().unwrap_or(&session.kernel);
    let launches = launched::of_host(&unit, &session.kernel, &sources);
    let all = launches.iter().filter_map(|l| hosts::template_arguments(&l.kernel));
    let other = all.filter(|a| a.len() == own.len() && *a != own);
    other.map(|a| format!("{base}<{}>", a.join(", "))).collect()
}
