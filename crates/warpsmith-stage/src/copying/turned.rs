//! Reads in loops whose copies stand before these: each iteration is a read of its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::plan::Plan;
use crate::profile::rows::{Offer, Profile, Row};
use crate::source::turns::Turn;

/// What copies are chosen from.
#[derive(Debug)]
pub struct Turned<'a> {
    /// Rows of marks and places, then of iterations.
    pub profile: Cow<'a, Profile>,
    /// Marks that copies are needed for, and iterations in the place of those in loops.
    pub marks: Vec<usize>,
    /// How many counters of an iteration are not what they are where no copy is needed.
    beside: HashMap<usize, usize>,
}

/// Takes the reads in loops apart. What is no iteration that constants of the file say stays with the read.
pub fn of<'a>(plan: &Plan, profile: &'a Profile) -> Turned<'a> {
    let reads = 0..plan.reads.len();
    let marks = reads.filter(|m| plan.given(*m).is_some()).collect();
    let mut turned = Turned { profile: Cow::Borrowed(profile), marks, beside: HashMap::new() };
    let mut first = plan.first_turn();
    for turns in plan.turns.chunk_by(|a, b| a.mark == b.mark) {
        turned.take(turns, first);
        first += turns.len();
    }
    turned
}

/// Which of the iterations from a number on a row is: the one that reads what it reads, where it reads it.
fn turn(profile: &Profile, row: &Row, turns: Range<usize>) -> Option<usize> {
    let (place, at) = row.insert?;
    let given = row.given.as_ref()?;
    let is = |o: &&Offer| {
        turns.contains(&o.mark) && o.place == given.place && o.element == Some(given.element)
    };
    profile[place][at].offers.iter().find(is).map(|o| o.mark)
}

impl Turned<'_> {
    /// Puts iterations in the place of a read.
    fn take(&mut self, turns: &[Turn], first: usize) {
        let mark = turns[0].mark;
        let mut parts = vec![vec![]; turns.len()];
        let mut rest = vec![];
        for row in &self.profile[mark] {
            match turn(&self.profile, row, first..first + turns.len()) {
                Some(turn) => parts[turn - first].push(row.clone()),
                None => rest.push(row.clone()),
            }
        }
        let right =
            |rows: &Vec<Row>| rows.iter().all(|r| r.given.as_ref().is_some_and(|g| g.right));
        let centre = parts.iter().position(|rows| !rows.is_empty() && right(rows));
        let beside = |n: usize| {
            let centre = centre.map_or(&turns[n], |c| &turns[c]);
            turns[n].counters.iter().zip(&centre.counters).filter(|(a, b)| a != b).count()
        };
        // What is only written with other names is a read in no loop.
        let looped = !turns[0].counters.is_empty();
        self.beside.extend((0..turns.len()).filter(|_| looped).map(|n| (first + n, beside(n))));
        // What other iterations do not bring comes last: no copy for it can be written.
        self.beside.insert(mark, usize::MAX - 1);
        self.marks.extend(first..first + turns.len());
        let profile = self.profile.to_mut();
        profile[mark] = rest;
        profile.resize(first, vec![]);
        profile.extend(parts);
    }

    /// Where a mark comes in the order of copies: reads in no loop before all others, and corners of a window after what lies beside
    /// its middle.
    pub fn rank(&self, mark: usize) -> usize {
        self.beside.get(&mark).map_or(0, |n| n + 1)
    }
}
