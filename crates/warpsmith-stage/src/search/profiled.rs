//! What launches take down, with data that send threads on all the ways that they may go.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use warpsmith_emu::Rule;

use crate::profile::rows::{Profile, Row};
use crate::session::{How, Refusal, Session, Suited};
use crate::synth::copies::Copy;
use crate::verify::check::{Problem, ProblemKind};

/// Profiles of launches.
#[derive(Clone, Debug, Default)]
pub struct Profiled {
    pub launches: Vec<Suited>,
    pub profile: Profile,
    /// Data send threads on ways that are not known, so that runs have to show them.
    pub(super) random: bool,
    /// The launches that ran with mixed data.
    mixed: Vec<usize>,
    /// Those in which a copy that nobody needed was written over.
    pub strict: BTreeSet<usize>,
    /// The copies that were chosen last.
    pub copies: Vec<Copy>,
    /// Marks whose copies were made by threads that must not.
    pub blamed: BTreeSet<usize>,
    /// Copies for these are left to those who read what they copy: what others can be asked for was wrong again and again.
    pub careful: bool,
    /// All copies are.
    pub by_readers: bool,
    pub time: Duration,
}

/// Runs of a launch with data that send each thread another way, where copies are written.
const WAYS: u64 = 5;
/// Further ones of a launch in which those made a copy that others find fault with.
const MORE_WAYS: u64 = 7;
/// Launches in which a result was wrong and that the search learns from, at most.
const MAX_LESSONS: usize = 10;
/// The same for another text of a plan that has one already.
const FEW_LESSONS: usize = 2;

impl Profiled {
    /// From how many launches in which a result was wrong the search learns.
    pub fn lessons(&self) -> usize {
        if self.by_readers { FEW_LESSONS } else { MAX_LESSONS }
    }

    /// Takes down what a launch does, with all ways that data may send its threads; `whole`: no visits are left out.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn add(
        &mut self,
        session: &mut Session,
        suited: Suited,
        whole: bool,
    ) -> Result<(), Refusal> {
        let start = Instant::now();
        let how = How { whole, ..How::default() };
        session.profile(&suited, self.launches.len(), how, &mut self.profile)?;
        self.launches.push(suited.clone());
        self.add_forks(session, &suited)?;
        if self.random {
            self.add_mixed(session, suited)?;
        }
        self.time += start.elapsed();
        Ok(())
    }

    /// Rows of a launch in which all threads go by each of the ways that data can send them.
    fn add_forks(&mut self, session: &mut Session, suited: &Suited) -> Result<(), Refusal> {
        let seen = |all: &Profiled, launch: usize| {
            all.profile.iter().flatten().rev().any(|r| r.launch == launch)
        };
        let plain = seen(self, self.launches.len() - 1);
        for choices in session.plan.forks.choices() {
            let number = self.launches.len();
            let how = How { choices: Some(&choices), whole: true, ..How::default() };
            session.profile(suited, number, how, &mut self.profile)?;
            // Where no data may send all threads, those that they do send are known from runs alone.
            if plain && !seen(self, number) {
                session.plan.forks.open(&choices);
                self.random = true;
            }
            self.launches.push(suited.clone());
        }
        // Small numbers say of few elements only how they are found.
        if session.plan.forks.any_open() {
            let how = How { wide: true, whole: true, ..How::default() };
            session.profile(suited, self.launches.len(), how, &mut self.profile)?;
            self.launches.push(suited.clone());
        }
        Ok(())
    }

    /// Rows of a launch with mixed data, for the marks that no other data come to: tags tell more where both do.
    pub(super) fn add_mixed(
        &mut self,
        session: &mut Session,
        suited: Suited,
    ) -> Result<(), Refusal> {
        let tagged = |r: &Row| !self.mixed.contains(&r.launch);
        let reads = &self.profile[..session.plan.reads.len()];
        let known: Vec<bool> = reads.iter().map(|rows| rows.iter().any(tagged)).collect();
        // What a copy is needed for in one of these it may do in all.
        let ways = if session.plan.inserts.is_empty() { 1 } else { WAYS };
        self.add_ways(session, suited, 0..ways, &known)
    }

    /// Rows of a launch with mixed data that send threads these ways, but for the marks that are `known`.
    fn add_ways(
        &mut self,
        session: &mut Session,
        suited: Suited,
        ways: Range<u64>,
        known: &[bool],
    ) -> Result<(), Refusal> {
        for way in ways {
            let number = self.launches.len();
            let how = How { way: Some(way), whole: true, ..How::default() };
            session.profile(&suited, number, how, &mut self.profile)?;
            for (rows, _) in self.profile.iter_mut().zip(known).filter(|(_, known)| **known) {
                rows.retain(|r| r.launch != number);
            }
            self.mixed.push(number);
            self.launches.push(suited.clone());
        }
        Ok(())
    }

    /// Has further data send the threads of a launch other ways. False: enough did, or no copies are written.
    pub(super) fn other_ways(
        &mut self,
        session: &mut Session,
        suited: Suited,
    ) -> Result<bool, Refusal> {
        let same = |n: &&usize| self.launches[**n].launch == suited.launch;
        let before = self.mixed.iter().filter(same).count() as u64;
        if session.plan.inserts.is_empty() || before > WAYS {
            return Ok(false);
        }
        (session.mixed, self.random) = (true, true);
        self.add_ways(session, suited, before..before + MORE_WAYS, &[])?;
        Ok(true)
    }

    /// Has copies do no more than is needed in a launch, if that is what a check found fault with. False: it is not, or they do
    /// already.
    pub fn restrict(&mut self, session: &Session, problem: &Problem) -> bool {
        let ProblemKind::Finding(f) = &problem.kind else { return false };
        let inserts = &session.plan.marks.inserts;
        let copies = |at: usize| inserts.iter().any(|i| (i.start..=i.end).contains(&at));
        let mut spans = f.accesses.iter().filter_map(|a| a.span);
        if f.rule != Rule::RaceShared || !spans.any(|s| copies(s.start as usize)) {
            return false;
        }
        let before = self.strict.len();
        let whole = &problem.launch;
        let some = whole.clone().sampled();
        let same = |s: &Suited| s.launch == *whole || s.launch == some;
        let here = self.launches.iter().enumerate().filter(|(_, s)| same(s));
        self.strict.extend(here.map(|(n, _)| n));
        self.strict.len() > before
    }

    /// Leaves copies to those who read what they copy. With other constants than those of the file loops may have more iterations
    /// than there are copies for: these reads are left out.
    pub fn copy_by_readers(&mut self, reads: usize) {
        self.by_readers = true;
        let launches = &self.launches;
        for rows in &mut self.profile[..reads] {
            rows.retain(|r| launches[r.launch].launch.varied.is_empty());
        }
    }

    /// Whether some marked read never found its element in shared memory.
    pub(super) fn never(&self, session: &Session) -> bool {
        let never = |m: &usize| {
            self.profile.get(*m).is_some_and(|rows| rows.iter().all(|r| r.places.is_empty()))
        };
        (0..session.plan.reads.len()).any(|m| session.plan.given(m).is_none() && never(&m))
    }

    /// Whether no launch has come to some mark.
    pub(super) fn misses(&self, session: &Session) -> bool {
        let reads = session.plan.reads.len();
        self.profile.len() < reads || self.profile[..reads].iter().any(Vec::is_empty)
    }
}
