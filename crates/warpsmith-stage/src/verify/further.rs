//! Launches for texts that nothing proves: many sizes without pattern, with small blocks and with those of the file, and with other
//! numbers of blocks than the sizes say. What holds by accident at the launches that every text is checked with seldom does at all of these.
//! Then such whose positions and sizes come to numbers of the text, some blocks of very large ones, and data near numbers of the text.

use super::check::{Checker, Problem, SMALL, is_loose};
use super::ways::Ways;
use crate::launch::{self, Fit};
use crate::search;
use crate::session::{Refusal, Session, Suited};
use crate::source::patch::Patch;

/// Launches of a block shape at most, and threads of them together.
const LAUNCHES: u32 = 400;
const THREADS: u64 = 250_000;

/// Twice so many positions along x are looked at one by one, at most.
const MAX_EACH: u32 = 128;

/// The same, where launches are dear.
const FEW_EACH: usize = 20;

/// Threads of all launches of a block shape that come to numbers of the text, at most.
const BEYOND_THREADS: u64 = 4_000_000;

/// The launches, once they were needed.
#[derive(Debug, Default)]
pub struct Further {
    launches: Option<Checker>,
    /// The ways that threads took in them, where nothing was wrong.
    pub ways: Ways,
}

impl Further {
    /// A launch in which a text is wrong, with what is.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn refuted(
        &mut self,
        session: &mut Session,
        checker: &Checker,
        edits: &Patch,
    ) -> Result<Option<(Suited, Vec<Problem>)>, Refusal> {
        // There are fewer of them, and they need no new launches.
        let near = checker.with_data_near(session, edits)?;
        self.ways = near.ways;
        if !near.problems.is_empty() {
            return Ok(with_launch(&checker.launches, near.problems));
        }
        let all = match self.launches.take() {
            Some(known) => Checker { dropped: checker.dropped.clone(), ..known },
            None => checker.of(launches(session, checker)?),
        };
        let checked = all.check(session, edits, 1)?;
        self.ways.extend(&checked.ways);
        let found = with_launch(&all.launches, checked.problems);
        self.launches = Some(all);
        Ok(found)
    }
}

/// What is wrong, with the launch in which it is.
fn with_launch(launches: &[Suited], problems: Vec<Problem>) -> Option<(Suited, Vec<Problem>)> {
    let same = |s: &&Suited| problems.iter().any(|p| p.launch == s.launch);
    let suited = launches.iter().find(same).cloned()?;
    Some((suited, problems))
}

/// Launches of the small block and of that of the file, or a usual one.
///
/// # Errors
/// What the emulator refuses.
pub(crate) fn launches(session: &mut Session, checker: &Checker) -> Result<Vec<Suited>, Refusal> {
    let mut all: Vec<Suited> = vec![];
    if session.input.grid.is_some() {
        return Ok(all);
    }
    let mut blocks = search::shapes(session, &SMALL[..1], &SMALL[1..], 2);
    let usual = checker.launches.first().map(|s| s.launch.block);
    blocks.extend(session.own.or(usual));
    blocks.dedup();
    let loose = if is_loose(session) { LAUNCHES } else { 0 };
    // Others than those that every text is checked with.
    let without_pattern: Vec<Fit> = (0..loose).map(|seed| Fit::Loose(!seed)).collect();
    let beyond = launch::beyond(&session.usage);
    let far = launch::far(&session.usage);
    let last = blocks.last().copied();
    for block in blocks {
        let each: Vec<Fit> = launch::each(2 * block[0].min(MAX_EACH) + 2).collect();
        // Where data decide on what is read, those that reads begin and end in.
        let each = if loose > 0 { each } else { each.into_iter().take(FEW_EACH).collect() };
        add(session, block, (&each, THREADS), &mut all)?;
        add(session, block, (&without_pattern, THREADS), &mut all)?;
        add(session, block, (&beyond, BEYOND_THREADS), &mut all)?;
    }
    if let Some(block) = last {
        add(session, block, (&far, BEYOND_THREADS), &mut all)?;
    }
    Ok(all)
}

/// Adds launches of some kinds, until they have so many threads.
fn add(
    session: &mut Session,
    block: [u32; 3],
    (fits, most): (&[Fit], u64),
    all: &mut Vec<Suited>,
) -> Result<(), Refusal> {
    let mut threads = 0;
    for fit in fits {
        for suited in session.all_suited(block, 1, *fit)? {
            threads += suited.launch.threads();
            if all.iter().all(|s| s.launch != suited.launch) {
                all.push(suited);
            }
        }
        if threads > most {
            break;
        }
    }
    Ok(())
}
