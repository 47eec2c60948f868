//! Launches that suit the unmodified kernel: right, and large enough that it does something.

use std::collections::BTreeSet;

use warpsmith_emu::{Finding, Rule};
use warpsmith_ir::{Diagnostic, VarId};

use super::{Session, Suited};
use crate::launch::{Fit, Launch};
use crate::memory::{self, Data, Lengths, Needed, Values};
use crate::program::{self, Program};
use crate::session::Refusal;
use crate::source::shape::Extent;
use crate::strides::Strides;

/// A kind of launch: a block, how many of them a side, and how sizes lie to them.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub block: [u32; 3],
    pub blocks: u32,
    pub fit: Fit,
    /// So many times as many blocks along each axis.
    pub more: [u32; 3],
}

/// By how much launches grow in which the kernel stores nothing: it leaves out edges as wide as they are, or constants of the file say how long rows are.
const MORE: [u32; 4] = [5, 12, 60, 300];
/// Runs with other data, of which each sends about half of the threads another way: so many that the thread at the end of an array
/// goes all ways.
const WAYS: u64 = 12;
/// Threads of such a launch, at most.
const MAX_THREADS: u64 = 1 << 20;

impl Session {
    /// A launch of the wanted kind, if the unmodified kernel is right in it: one in which it stores something, if there is one.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn suited(
        &mut self,
        block: [u32; 3],
        blocks: u32,
        fit: Fit,
    ) -> Result<Option<Suited>, Refusal> {
        Ok(self.all_suited(block, blocks, fit)?.pop())
    }

    /// A launch of the wanted kind, and a larger one where the kernel stores nothing in it: that says whether a rewritten kernel
    /// does nothing there, either.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn all_suited(
        &mut self,
        block: [u32; 3],
        blocks: u32,
        fit: Fit,
    ) -> Result<Vec<Suited>, Refusal> {
        // Constants make the block; how far its positions move is known once they are put in.
        let kind = Kind { block, blocks, fit, more: [1; 3] };
        let Some(shape) = self.launch(kind, Strides::default()) else { return Ok(vec![]) };
        // A `static_assert` says that these do not go together.
        if !shape.constants.is_empty() && self.own != Some(block) && self.shaped(&shape).is_err() {
            return Ok(vec![]);
        }
        let strides = self.shaped(&shape)?.strides(block);
        let known = self.known();
        let suited = self.suit_either(kind, strides)?;
        if matches!(fit, Fit::Loose(_)) && suited.is_none() {
            self.forget(known);
        }
        let Some(mut found) = suited else { return Ok(vec![]) };
        found.loose = matches!(fit, Fit::Loose(_) | Fit::Within(_) | Fit::Each(_) | Fit::Beyond(_));
        found.deep = matches!(fit, Fit::Deep(_));
        // Sizes that blocks are too large for stay so.
        let beside = matches!(
            fit,
            Fit::Part
                | Fit::Thin(_)
                | Fit::Least(_)
                | Fit::Spare
                | Fit::Ends(..)
                | Fit::Random(_)
                | Fit::Loose(_)
                | Fit::Within(_)
                | Fit::Each(_)
                | Fit::Deep(_)
                | Fit::Beyond(_)
                | Fit::Far(_)
        );
        let larger = match found.idle && !self.idle && !beside {
            true => self.larger(kind, strides)?,
            false => None,
        };
        Ok([Some(found), larger].into_iter().flatten().collect())
    }

    /// A launch of a kind with rows that are longer than what blocks cover, where the kernel is right in it, else without.
    fn suit_either(&mut self, kind: Kind, strides: Strides) -> Result<Option<Suited>, Refusal> {
        let Some(launch) = self.launch(kind, strides) else { return Ok(None) };
        let longer = self.asked().longer(kind, strides);
        if let Some(longer) = longer.filter(|l| *l != launch)
            && let Some(found) = self.suit(longer)?
        {
            return Ok(Some(found));
        }
        self.suit(launch)
    }

    /// The smallest launch of a kind with more blocks, along one axis or along all, in which the kernel stores something.
    fn larger(&mut self, kind: Kind, strides: Strides) -> Result<Option<Suited>, Refusal> {
        let axes: Vec<usize> = (0..3).filter(|a| self.usage.axes[*a]).collect();
        for n in MORE {
            let each = axes.iter().map(|a| [0, 1, 2].map(|b| if b == *a { n } else { 1 }));
            for more in each.chain((axes.len() > 1).then_some([n; 3])) {
                let kind = Kind { more, ..kind };
                let fits = self.launch(kind, strides).is_some_and(|l| l.threads() <= MAX_THREADS);
                if fits && let Some(found) = self.suit_either(kind, strides)?.filter(|s| !s.idle) {
                    return Ok(Some(found));
                }
            }
        }
        // Data decide on it, say: it would be tried in vain for every launch.
        self.idle = true;
        Ok(None)
    }

    /// Positions from a block to the next along each axis, in a launch.
    ///
    /// # Errors
    /// What cannot be compiled.
    pub fn steps(&mut self, launch: &Launch) -> Result<[i64; 3], Refusal> {
        let found = self.shaped(launch)?.strides(launch.block).blocks;
        Ok([0, 1, 2].map(|a| if found[a] > 0 { found[a] } else { launch.block[a].into() }))
    }

    /// Iterations that the kernel's loops go through at a time, in a launch: a tile of them; 0 or 1: they are taken one by one.
    ///
    /// # Errors
    /// What cannot be compiled.
    pub fn turns(&mut self, launch: &Launch) -> Result<i64, Refusal> {
        Ok(self.shaped(launch)?.strides(launch.block).turns)
    }

    /// A launch with the lengths of its arrays, if the unmodified kernel is right in it.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn suit(&mut self, launch: Launch) -> Result<Option<Suited>, Refusal> {
        match self.misfits(launch.block)? {
            true => Ok(None),
            false => self.tried(launch),
        }
    }

    /// The same of a launch that nobody means: nothing is said of what is wrong in it.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn suit_silently(&mut self, launch: Launch) -> Result<Option<Suited>, Refusal> {
        let known = self.known();
        let found = self.suit(launch);
        self.forget(known);
        found
    }

    /// What is to be said of launches that were not used: how many there are, and a race.
    fn known(&self) -> (usize, Option<String>) {
        (self.unsuited.len(), self.raced.clone())
    }

    /// Says no more of launches than was known before them.
    fn forget(&mut self, (unsuited, raced): (usize, Option<String>)) {
        self.unsuited.truncate(unsuited);
        self.raced = raced;
    }

    /// Whether constants of the file do not go together in a block: with whole blocks the unmodified kernel leaves a shared array.
    /// `TILE % ROWS == 0` stands in no file, and smaller launches do not show that it is meant.
    fn misfits(&mut self, block: [u32; 3]) -> Result<bool, Refusal> {
        let names: BTreeSet<&String> = self.extents.iter().filter_map(Extent::constant).collect();
        if names.len() < 2 || self.own == Some(block) {
            return Ok(false);
        }
        if let Some(known) = self.misfits.get(&block) {
            return Ok(*known);
        }
        let kind = Kind { block, blocks: 2, fit: Fit::Exact, more: [1; 3] };
        let Some(shape) = self.launch(kind, Strides::default()) else { return Ok(false) };
        let strides = self.shaped(&shape)?.strides(block);
        let Some(whole) = self.launch(kind, strides) else { return Ok(false) };
        let before = self.unsuited.len();
        self.tried(whole)?;
        let shaped = self.shaped(&shape)?;
        let function = shaped.reference.module.function(shaped.reference.kernel);
        let is_parameter = |name: &String| {
            let base = name.split('.').next().unwrap_or(name);
            function.params.iter().any(|p| function.var(*p).name == base)
        };
        let leaves = |f: &Finding| {
            f.rule == Rule::OutOfBounds && !f.array.as_ref().is_some_and(is_parameter)
        };
        let found = self.unsuited[before..].iter().any(|(_, findings)| findings.iter().any(leaves));
        self.misfits.insert(block, found);
        Ok(found)
    }

    /// A launch as it is, if the unmodified kernel is right in it.
    fn tried(&mut self, launch: Launch) -> Result<Option<Suited>, Refusal> {
        let shaped = self.shaped(&launch)?;
        let known = self.needed_ahead(&launch);
        let data = Data { seed: 1, tagged: &self.tagged, kind: Values::Tagged };
        let needed = match known {
            Some(known) => known,
            None => memory::needed(&shaped.reference, &launch, data)
                .map_err(|d| self.refuse(false, vec![d]))?,
        };
        let Needed { lengths, outcome, idle } = needed;
        // Blocks may write equal values to an array between two steps and read them back: temporal blocking starts from that.
        // What they compute from it is racy with it; the rewritten kernel must have neither.
        let between = outcome.findings.iter().any(|f| self.is_between(f));
        // So are tiles that threads write such values to; what is made of the kernel is checked without excuses.
        let racy = |f: &Finding| matches!(f.rule, Rule::RaceGlobal | Rule::RaceShared);
        // Nor does it matter to the unmodified kernel who is the last to store to a tile that it does not read; but of blocks that nobody
        // names that says which ones the tile is for.
        let fitting = self.own == Some(launch.block) || !self.extents.contains(&Extent::Free);
        let unread = program::unread(&shaped.reference);
        let of_plan = |f: &Finding| {
            let named = |v: &VarId| {
                shaped.reference.module.function(shaped.reference.kernel).var(*v).name.as_str()
            };
            fitting
                && f.rule == Rule::RaceShared
                && unread.iter().any(|v| f.array.as_deref() == Some(named(v)))
        };
        let excused = |f: &Finding| f.rule.is_note() || between && racy(f) || of_plan(f);
        let bad: Vec<Finding> = outcome.findings.iter().filter(|f| !excused(f)).cloned().collect();
        if outcome.limit.is_some() || outcome.assumption_failed {
            return Ok(None);
        }
        let ordered = between && self.order_matters(&shaped.reference, &launch, &lengths)?;
        if bad.is_empty() && !ordered {
            let race = outcome.findings.iter().find(|f| f.rule == Rule::RaceGlobal);
            if let Some(race) = race.filter(|_| self.raced.is_none()) {
                self.raced = Some(format!("{}: {}", launch.describe(), race.message));
            }
            if !idle {
                self.suited.extend(launch.constants.iter().cloned());
            }
            return Ok(Some(Suited { launch, lengths, idle, loose: false, deep: false }));
        }
        let races = outcome.findings.into_iter().filter(|f| ordered && f.rule == Rule::RaceGlobal);
        let bad = bad.into_iter().chain(races).collect();
        self.unsuited.push((launch, bad));
        Ok(None)
    }

    /// Lengths of arrays that suffice whichever way data send threads, where these are `mixed`: of what is read behind such a branch, one run alone shows a part,
    /// and what is outside of an array would be taken for what a tile holds before anything is written to it.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn lengths(&mut self, suited: &Suited, mixed: bool) -> Result<Lengths, Refusal> {
        let mut lengths = suited.lengths.clone();
        if !mixed {
            return Ok(lengths);
        }
        if let Some((_, known)) = self.mixed_lengths.iter().find(|(l, _)| *l == suited.launch) {
            return Ok(known.clone());
        }
        let shaped = self.shaped(&suited.launch)?;
        for way in 0..WAYS {
            let seed = 1 + way * memory::SEEDS_A_WAY;
            let data = Data { seed, tagged: &self.tagged, kind: Values::Mixed };
            let needed = memory::needed(&shaped.reference, &suited.launch, data);
            let needed = needed.map_err(|d| self.refuse(false, vec![d]))?.lengths;
            lengths.iter_mut().zip(needed).for_each(|(known, n)| *known = n.max(*known));
        }
        self.mixed_lengths.push((suited.launch.clone(), lengths.clone()));
        Ok(lengths)
    }

    fn launch(&self, kind: Kind, strides: Strides) -> Option<Launch> {
        self.asked().launch(kind, strides, false)
    }

    /// Whether the unmodified kernel computes something else when its blocks run one by one from the last to the first.
    fn order_matters(
        &self,
        reference: &Program,
        launch: &Launch,
        lengths: &Lengths,
    ) -> Result<bool, Refusal> {
        let data = Data { seed: 1, tagged: &self.tagged, kind: Values::Tagged };
        let blocks = launch.grid.iter().product();
        let run = |orders: Vec<Option<u32>>| {
            let mut p = memory::prepare(reference, launch, Some(lengths), data)?;
            for block in orders {
                program::run_blocks(reference, &p.config, &mut p.memory, block)?;
            }
            Ok(p.memory.buffers.into_iter().map(|b| b.bytes).collect::<Vec<_>>())
        };
        let refuse = |d: Diagnostic| self.refuse(false, vec![d]);
        let forward = run(vec![None]).map_err(refuse)?;
        let backward = run((0..blocks).rev().map(Some).collect()).map_err(refuse)?;
        Ok(forward != backward)
    }

    /// Whether a finding is a race for an array that marked reads name.
    fn is_between(&self, finding: &Finding) -> bool {
        let named = finding.array.as_ref().is_some_and(|a| self.tagged.contains(a));
        finding.rule == Rule::RaceGlobal && named
    }
}
