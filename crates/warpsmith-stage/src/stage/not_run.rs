//! What no launch shows of a text that is not proved.

use warpsmith_ir::Diagnostic;

use super::{Access, Written, all_proved};
use crate::proving::ShapeProof;
use crate::session::{Refusal, Session, place};
use crate::verify::check::Rewritten;
use crate::verify::further::Further;
use crate::verify::unmet::{self, Unmet};

/// What was so in no launch that a text was checked in, where not all of it is proved.
///
/// # Errors
/// W713 where it may matter to what marked reads find.
pub(super) fn unmet(
    session: &Session,
    result: &Written,
    proofs: &[ShapeProof],
    further: &Further,
) -> Result<Vec<Unmet>, Refusal> {
    let Some(launch) = result.checked.launches.first() else { return Ok(vec![]) };
    if all_proved(session, proofs) || session.input.quick && !session.input.chosen {
        return Ok(vec![]);
    }
    let text = Rewritten::new(session, &result.edits, launch)?;
    let mut ways = result.checked.ways.clone();
    ways.extend(&further.ways);
    let found = unmet::unmet(session, &text, &ways);
    match found.iter().find(|u| u.matters) {
        Some(one) => Err(refused(session, one)),
        None => Ok(found),
    }
}

/// What was so in no launch: ``n > 3000` holds`, `… (line 7) fails`.
pub(super) fn said(session: &Session, unmet: &Unmet) -> String {
    let text = session.sources.text(unmet.at);
    let first = text.lines().next().unwrap_or_default().trim_end_matches(['{', ' ']);
    let line = session.sources.line_column(unmet.at.file, unmet.at.start).0;
    format!("`{first}` {} (line {line})", unmet.how)
}

/// Something that may change what marked reads find was never run.
fn refused(session: &Session, one: &Unmet) -> Refusal {
    let few = if one.rare { "hardly any launch" } else { "no launch" };
    let message = format!(
        "what may change the elements that are read was run in {few}, and nothing proves the plan"
    );
    let error = Diagnostic::error("W713", message)
    .label(one.at, format!("in {few} that was tried this {}", one.how))
    .help("name values with which it is run: --arg NAME=N; or store to other arrays than those that marks read");
    session.refuse(true, vec![error])
}

/// Refuses reads of shared arrays that data decide on what is written to: no run shows all that may be there.
///
/// # Errors
/// W713 for the first.
pub(super) fn read_as_filled(session: &Session, accesses: &[Access]) -> Result<(), Refusal> {
    let reads = |a: &Access, array: &str| {
        let mut words = a.replacement.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == array)
    };
    let filled = || session.plan.forks.filled.iter();
    let found = accesses.iter().find_map(|a| Some((a, filled().find(|array| reads(a, array))?)));
    let Some((access, array)) = found else { return Ok(()) };
    let error = format!("data decide what is written to `{array}`, and no run shows all of it");
    let error = Diagnostic::error("W713", error)
        .label(place(&access.at), format!("`{}` would stand here", access.replacement))
        .help(format!("write to `{array}` whatever data say, or leave this read without a mark"));
    Err(session.refuse(true, vec![error]))
}
