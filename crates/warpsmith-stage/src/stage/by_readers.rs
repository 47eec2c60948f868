//! Copies that are left to threads which read what they copy: those read nothing that the unmodified kernel does not read, which proofs
//! ask for.

use super::named::Named;
use super::{Made, own_block, own_proved, replacements, sure};
use crate::copying;
use crate::proving::{self, ShapeProof};
use crate::search::Profiled;
use crate::session::{Session, Suited};
use crate::synth::positions::spread;
use crate::verify::check::{Checked, Checker};

/// How many times as many copies a text may have for the sake of a proof: statements that few threads need cost time all the same.
const MORE_COPIES: usize = 3;

/// The same where there is no text to compare with.
const MANY_COPIES: usize = 12;

/// Launches that are profiled for these.
const ENDS: usize = 40;

/// The same plan with such copies, where more of that text is proved.
pub(super) fn better(session: &mut Session, made: &Made) -> Option<Made> {
    let given = given(session);
    let proved = |session: &Session, proofs: &[ShapeProof]| {
        given.iter().filter(|m| own_proved(session, **m, proofs)).count()
    };
    let before = proved(session, &made.proofs);
    if made.proofs.is_empty() || before == given.len() {
        return None;
    }
    let mut profiled = left_to_readers(session, &made.profiled, &made.checker, most(made))?;
    // A look at one shape is cheap beside all that is checked of a text.
    if made.result.inserted.is_empty() {
        let proofs = glance(session, made, &profiled)?;
        if proved(session, &proofs) <= before {
            return None;
        }
    }
    let (mut checker, mut named) = (made.checker.clone(), Named::default());
    let in_tiny = session.in_tiny.clone();
    match sure(session, &mut profiled, &mut checker, &mut named) {
        Ok((result, proofs, unmet))
            if proved(session, &proofs) > before && result.copied.count <= most(made) =>
        {
            Some(Made { profiled, checker, result, proofs, named, unmet })
        }
        _ => {
            session.in_tiny = in_tiny;
            None
        }
    }
}

/// The same plan with such copies, where no others are right.
pub(super) fn instead(
    session: &mut Session,
    profiled: &Profiled,
    checker: &Checker,
) -> Option<Made> {
    let mut profiled = left_to_readers(session, profiled, checker, MANY_COPIES)?;
    let (mut checker, mut named) = (checker.clone(), Named::default());
    let (result, proofs, unmet) = sure(session, &mut profiled, &mut checker, &mut named).ok()?;
    let made = Made { profiled, checker, result, proofs, named, unmet };
    (made.result.copied.count <= MANY_COPIES).then_some(made)
}

/// Marks that copies are written for.
fn given(session: &Session) -> Vec<usize> {
    (0..session.plan.reads.len()).filter(|m| session.plan.given(*m).is_some()).collect()
}

/// Profiles that ask for such copies; `None`: nothing is known of who reads, or there would be more than `most`.
fn left_to_readers(
    session: &mut Session,
    profiled: &Profiled,
    checker: &Checker,
    most: usize,
) -> Option<Profiled> {
    let given = given(session);
    let known = |m: &usize| session.plan.is_guarded(*m) && !session.plan.forks.decide(*m);
    if session.input.quick || given.is_empty() || !given.iter().all(known) {
        return None;
    }
    let mut profiled = profiled.clone();
    profiled.copy_by_readers(session.plan.reads.len());
    if copying::copies(session, &mut profiled.clone()).ok()?.count > most {
        return None;
    }
    more_ends(session, checker, &mut profiled)?;
    Some(profiled)
}

/// Profiles further launches of the smallest block, whose last blocks end in many ways: who is the last to read tells who has to copy.
fn more_ends(session: &mut Session, checker: &Checker, profiled: &mut Profiled) -> Option<()> {
    let threads = |s: &&Suited| s.launch.block.iter().product::<u32>();
    let plain = checker.launches.iter().filter(|s| s.launch.varied.is_empty());
    let least = plain.clone().map(|s| threads(&s)).min()?;
    let all: Vec<&Suited> = plain.filter(|s| threads(s) == least).collect();
    for i in spread(all.len(), ENDS) {
        if profiled.launches.iter().all(|s| s.launch != all[i].launch) {
            profiled.add(session, all[i].clone(), true).ok()?;
        }
    }
    Some(())
}

fn most(made: &Made) -> usize {
    MORE_COPIES * made.result.copied.count
}

/// What is proved of the copies that profiles ask for, at the block of the file; `None`: there are none, or too many.
fn glance(session: &mut Session, made: &Made, profiled: &Profiled) -> Option<Vec<ShapeProof>> {
    let copied = copying::copies(session, &mut profiled.clone()).ok()?;
    if copied.count > most(made) {
        return None;
    }
    let mut edits = replacements(session, profiled, &made.result.found).ok()?;
    edits.extend(&copied.edits);
    let own = own_block(session);
    let mut plain = made.result.checked.launches.iter().filter(|l| l.varied.is_empty());
    let launch = plain.clone().find(|l| l.block == own).or_else(|| plain.next())?;
    let mut checked = Checked::default();
    checked.launches.push(launch.clone());
    proving::prove(session, &checked, &made.checker.dropped, &edits).ok()
}
