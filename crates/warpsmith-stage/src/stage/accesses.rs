//! What takes the places of marks, and what is known of each marked read.

use std::time::Duration;

use warpsmith_ir::Diagnostic;

use super::{Access, PlanKind, Verdict, narrow, own_proved};
use crate::proving::ShapeProof;
use crate::search::{self, Found, Profiled};
use crate::session::{Refusal, Session, place};
use crate::source::patch::Patch;
use crate::synth::sides::Sides;

/// The expressions that take the places of the marks.
///
/// # Errors
/// W710 when no read can be served.
pub(super) fn replacements(
    session: &mut Session,
    profiled: &Profiled,
    found: &[Found],
) -> Result<Patch, Refusal> {
    let mut edits = Patch::default();
    let mut served = 0;
    let sides = sides(session, found);
    for (m, f) in found.iter().enumerate() {
        served += usize::from(f.answer.is_some() || session.plan.given(m).is_some());
        edits.replace(session.plan.mark(m).whole.clone(), replacement(session, m, f, &sides));
    }
    if served > 0 {
        return Ok(edits);
    }
    let mut error = Diagnostic::error("W710", "no marked read finds its element in shared memory");
    for (m, (mark, f)) in session.plan.marks.reads.iter().zip(found).take(3).enumerate() {
        let what = match f.rows {
            0 => "no launch that was tried comes to this read",
            _ => "never there when this is read",
        };
        error = error.label(place(&mark.whole), what);
        if let Some(row) = profiled.profile.get(m).and_then(|rows| rows.first()) {
            error = error.note(search::witness(session, profiled, m, row));
        }
    }
    let first = profiled.launches.first().map(|s| s.launch.clone());
    let converted = first.and_then(|l| narrow::converted(session, &l, 0));
    let copy = || "copy the elements to a shared array before they are read".to_string();
    Err(session.refuse(true, vec![error.help(converted.unwrap_or_else(copy))]))
}

/// What conditions of reads have in common.
pub(super) fn sides(session: &Session, found: &[Found]) -> Sides {
    let conjuncts =
        |(m, f): (usize, &Found)| Some(f.answer.as_ref()?.conjuncts(&session.plan.reads[m]));
    Sides::of(&found.iter().enumerate().filter_map(conjuncts).collect::<Vec<_>>())
}

pub(super) fn replacement(session: &Session, m: usize, found: &Found, sides: &Sides) -> String {
    let plan = &session.plan;
    let original = plan.slice(&plan.mark(m).global());
    match (plan.given(m), &found.answer) {
        (Some((shared, _)), _) => plan.slice(shared).to_string(),
        (None, Some(answer)) => {
            let text = answer.text(&plan.reads[m], original, sides);
            format!("{text}{}", plan.slice(&plan.mark(m).member))
        }
        (None, None) => {
            // What the user put in parentheses stays in them.
            let whole = plan.slice(&plan.mark(m).whole);
            let original = format!("{original}{}", plan.slice(&plan.mark(m).member));
            match whole.ends_with(&original) {
                true => original,
                false => format!("({original})"),
            }
        }
    }
}

pub(super) fn accesses(
    session: &Session,
    found: &[Found],
    copying: Duration,
    proofs: &[ShapeProof],
) -> Vec<Access> {
    let given = (0..found.len()).filter(|m| session.plan.given(*m).is_some()).count().max(1) as u32;
    let sides = sides(session, found);
    let one = |(m, f): (usize, &Found)| {
        let is_given = session.plan.given(m).is_some();
        Access {
            plan: PlanKind::of(session, m),
            at: session.plan.mark(m).whole.clone(),
            original: session.plan.slice(&session.plan.mark(m).global()).to_string(),
            replacement: replacement(session, m, f, &sides),
            verdict: match (f.answer.is_some() || is_given, own_proved(session, m, proofs)) {
                (false, _) => Verdict::Original,
                (true, true) => Verdict::Proved,
                (true, false) => Verdict::Checked,
            },
            witness: None,
            proved: proofs.iter().filter(|p| p.proves(m)).map(|p| p.block).collect(),
            unproved: proofs.iter().find_map(|p| Some(p.reads.get(&m)?.as_ref()?.why.clone())),
            killed: f.killed.clone(),
            time: if is_given { copying / given } else { f.time },
            rows: f.rows,
        }
    };
    found.iter().enumerate().map(one).collect()
}
