//! Launches for texts that nothing proves: many sizes without pattern, with small blocks and with those of the file, and with other
//! numbers of blocks than the sizes say. What holds by accident at the launches that every text is checked with seldom does at all of these.

use super::check::{Checker, Problem, SMALL, is_loose};
use crate::launch::Fit;
use crate::search;
use crate::session::{Refusal, Session, Suited};
use crate::source::patch::Patch;

/// Launches of a block shape at most, and threads of them together.
const LAUNCHES: u32 = 400;
const THREADS: u64 = 250_000;

/// The launches, once they were needed.
#[derive(Debug, Default)]
pub struct Further(Option<Checker>);

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
        let all = match self.0.take() {
            Some(known) => Checker { dropped: checker.dropped.clone(), ..known },
            None => checker.of(launches(session, checker)?),
        };
        let problems = all.check(session, edits, 1)?.problems;
        let same = |s: &&Suited| problems.iter().any(|p| p.launch == s.launch);
        let suited = all.launches.iter().find(same).cloned();
        self.0 = Some(all);
        Ok(suited.map(|s| (s, problems)))
    }
}

/// Launches of the small block and of that of the file, or a usual one.
fn launches(session: &mut Session, checker: &Checker) -> Result<Vec<Suited>, Refusal> {
    let mut all: Vec<Suited> = vec![];
    if !is_loose(session) || session.input.grid.is_some() {
        return Ok(all);
    }
    let mut blocks = search::shapes(session, &SMALL[..1], &SMALL[1..], 2);
    let usual = checker.launches.first().map(|s| s.launch.block);
    blocks.extend(session.own.or(usual));
    blocks.dedup();
    for block in blocks {
        let mut threads = 0;
        for seed in 0..LAUNCHES {
            // Others than those that every text is checked with.
            for suited in session.all_suited(block, 1, Fit::Loose(!seed))? {
                threads += suited.launch.threads();
                if all.iter().all(|s| s.launch != suited.launch) {
                    all.push(suited);
                }
            }
            if threads > THREADS {
                break;
            }
        }
    }
    Ok(all)
}
