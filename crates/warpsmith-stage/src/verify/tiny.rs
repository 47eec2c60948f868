//! The smallest of blocks: their threads are at both ends of a tile, and what another thread copies in larger ones nobody does in
//! these. No text is made from them, as their numbers are no others'; what is wrong there is said.

use std::collections::HashMap;
use std::rc::Rc;

use super::check::{Checked, Checker, OTHER_WAYS, Problem, Rewritten, SEED, Shape};
use crate::launch::Fit;
use crate::memory::{self, Values};
use crate::program::Limits;
use crate::search;
use crate::session::{Refusal, Session, Suited};
use crate::source::forks::Choices;
use crate::source::patch::Patch;
use crate::source::shape::Extent;

/// Those blocks, along two axes and along one, and how sizes lie to so many that some have neighbours on all sides.
const PLANES: [[u32; 2]; 5] = [[1, 1], [1, 3], [2, 2], [3, 1], [3, 2]];
const ROWS: [[u32; 2]; 3] = [[1, 1], [2, 1], [3, 1]];
const FITS: [(Fit, u32); 3] = [(Fit::Ragged(1), 7), (Fit::Exact, 7), (Fit::Single, 7)];

/// Launches with them, where the block may vary.
///
/// # Errors
/// What the emulator refuses.
pub(super) fn launches(session: &mut Session) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    if session.input.quick || matches!(session.extents[0], Extent::Number(_)) {
        return Ok(all);
    }
    let unsuited = session.unsuited.len();
    for block in search::shapes(session, &PLANES, &ROWS, 2) {
        for (fit, count) in FITS {
            all.extend(session.all_suited(block, count, fit)?);
        }
    }
    session.unsuited.truncate(unsuited);
    Ok(all)
}

impl Checker {
    /// What is wrong with a text in the smallest of blocks, whichever way data send their threads.
    ///
    /// # Errors
    /// W720 for a text that does not compile: a bug of ours.
    pub fn in_tiny(
        &self,
        session: &mut Session,
        edits: &Patch,
    ) -> Result<Option<Problem>, Refusal> {
        let mut checked = self.of(self.tiny.clone()).check(session, edits, 1)?;
        if checked.problems.is_empty() && session.mixed {
            checked = Checked::default();
            let none = Choices::new();
            let all = session.plan.forks.choices();
            let tiny: Vec<&Suited> = self.tiny.iter().collect();
            for choices in std::iter::once(&none).chain(&all) {
                self.sent(session, edits, (choices, OTHER_WAYS), &tiny, &mut checked)?;
            }
        }
        Ok(checked.problems.into_iter().next())
    }

    /// Looks at the first launches of each block with all threads sent the ways that data may send them: values that do so may be among
    /// none that were tried.
    ///
    /// # Errors
    /// W720 for a text that does not compile: a bug of ours.
    pub(super) fn every_way(
        &self,
        session: &mut Session,
        edits: &Patch,
        checked: &mut Checked,
    ) -> Result<(), Refusal> {
        let first = self.first();
        let one = OTHER_WAYS.start..OTHER_WAYS.start + 1;
        for choices in session.plan.forks.choices() {
            self.sent(session, edits, (&choices, one.clone()), &first, checked)?;
        }
        Ok(())
    }

    /// Has data send all threads of these launches one way, and other data whatever else they decide on.
    fn sent(
        &self,
        session: &mut Session,
        edits: &Patch,
        (choices, ways): (&Choices, std::ops::Range<u64>),
        launches: &[&Suited],
        checked: &mut Checked,
    ) -> Result<(), Refusal> {
        let mut programs: HashMap<Shape, Rc<[Rewritten; 2]>> = HashMap::new();
        for suited in launches.iter().copied() {
            let key = (suited.launch.constants.clone(), suited.launch.block);
            let both = match programs.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let texts = [session.plan.original(), edits.clone()].map(|mut text| {
                        session.plan.send(choices, &mut text);
                        text
                    });
                    let [old, new] =
                        texts.map(|text| Rewritten::new(session, &text, &suited.launch));
                    let [mut old, new] = [old?, new?];
                    // Loops that data end may go on for ever now.
                    old.program.max_steps = Limits::NEAR.steps.min(old.program.max_steps);
                    let made = Rc::new([old, new]);
                    programs.insert(key, made.clone());
                    made
                }
            };
            for way in ways.clone() {
                let seed = SEED + way * memory::SEEDS_A_WAY;
                let programs = (&both[0].program, &both[1]);
                self.with(session, programs, suited, (seed, Values::Mixed), checked)?;
                if !checked.problems.is_empty() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
