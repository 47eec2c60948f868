//! Launches that are too large to be emulated whole: blocks from the middle of the grid are run, and what they count is
//! scaled to all of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use warpsmith_emu::counters::{Count, Counters, InstructionClass, SECTOR};
use warpsmith_emu::{self as emu, Arg, DeviceMemory, EmuError, LaunchConfig, Options, Outcome};

/// Thread instructions up to which a launch is run whole.
const WHOLE: u64 = 30_000_000;
/// Thread instructions that the blocks of a larger one may take together; of what the others are compared with, more.
const CANDIDATE: u64 = 4_000_000;
const REFERENCE: u64 = 40_000_000;
/// A launch of which four blocks take more is not run at all.
const MOST: u64 = 1_000_000_000;
/// Blocks that say what a block costs: two along each axis.
const SIDE: u32 = 2;

/// The launches of one candidate.
#[derive(Debug, Default)]
pub struct Sample {
    /// It is what others are compared with.
    pub is_reference: bool,
    /// Blocks to run, and no others.
    pub only: Option<Arc<[u32]>>,
    /// Buffers that a launch wrote which was not run whole.
    pub partial: BTreeSet<usize>,
}

/// What a launch came to.
pub struct Ran {
    pub outcome: Outcome,
    /// Of all blocks.
    pub counters: Option<Counters>,
}

/// Why a launch was not run.
#[derive(Debug)]
pub enum NotRun {
    Emulator(EmuError),
    /// A sentence.
    TooLarge(String),
}

impl Sample {
    /// Runs a launch whole, or as many of its blocks as are affordable.
    ///
    /// # Errors
    /// What the emulator refuses, and what is too large for it.
    pub fn run(
        &mut self,
        module: &warpsmith_ir::Module,
        config: &LaunchConfig,
        memory: &mut DeviceMemory,
        options: &Options,
    ) -> Result<Ran, NotRun> {
        if self.reads_partial(config) {
            let why =
                "it reads what an earlier launch, too large to be emulated whole, has written";
            return Err(NotRun::TooLarge(why.into()));
        }
        let all: u64 = config.grid.iter().map(|n| u64::from(*n)).product();
        let limited = Options { max_total_steps: MOST, ..options.clone() };
        if let Some(only) = &self.only {
            let (options, mut part) =
                (Options { blocks: Some(only.clone()), ..limited }, memory.clone());
            let outcome = emu::run(module, config, &mut part, &options);
            let (outcome, run) = (outcome.map_err(NotRun::Emulator)?, only.len() as u64);
            return self.part_of(config, memory, part, outcome, run, all);
        }
        let some = blocks(config.grid, SIDE);
        if some.len() as u64 >= all {
            return whole(emu::run(module, config, memory, &limited));
        }
        let mut part = memory.clone();
        let first = Options { blocks: Some(some.clone()), ..limited.clone() };
        let outcome = emu::run(module, config, &mut part, &first).map_err(NotRun::Emulator)?;
        if has_ended(&outcome) {
            return Ok(Ran { counters: None, outcome });
        }
        let each = (outcome.stats.thread_instructions / some.len() as u64).max(1);
        if each.saturating_mul(all) <= WHOLE {
            return whole(emu::run(module, config, memory, &limited));
        }
        let more = blocks(config.grid, self.side(each, config.grid));
        let (outcome, run) = match more.len() > some.len() {
            true => {
                part = memory.clone();
                let options = Options { blocks: Some(more.clone()), ..limited };
                (emu::run(module, config, &mut part, &options).map_err(NotRun::Emulator)?, more)
            }
            false => (outcome, some),
        };
        self.part_of(config, memory, part, outcome, run.len() as u64, all)
    }

    fn reads_partial(&self, config: &LaunchConfig) -> bool {
        config.args.iter().any(|arg| match arg {
            Arg::Pointer { buffer, .. } => self.partial.contains(&(buffer.0 as usize)),
            _ => false,
        })
    }

    /// How many blocks along each axis are affordable.
    fn side(&self, each: u64, grid: [u32; 3]) -> u32 {
        let affordable = if self.is_reference { REFERENCE } else { CANDIDATE } / each;
        let axes = grid.iter().filter(|n| **n > 1).count().max(1);
        (affordable as f64).powf(1.0 / axes as f64).clamp(f64::from(SIDE), 1e4) as u32
    }

    /// Takes over what some blocks did.
    fn part_of(
        &mut self,
        config: &LaunchConfig,
        memory: &mut DeviceMemory,
        part: DeviceMemory,
        outcome: Outcome,
        run: u64,
        all: u64,
    ) -> Result<Ran, NotRun> {
        if has_ended(&outcome) {
            return Ok(Ran { counters: None, outcome });
        }
        let counters = outcome.counters.as_ref();
        if counters.is_some_and(|c| c.class(InstructionClass::GlobalAtomic).warps > 0) {
            let million = outcome.stats.thread_instructions / run * all / 1_000_000;
            return Err(NotRun::TooLarge(format!(
                "its blocks update elements together and take about {million} million thread instructions, too many to be \
                 emulated: choose smaller sizes"
            )));
        }
        let changed = memory.buffers.iter().zip(&part.buffers).enumerate();
        let changed = changed.filter(|(_, (a, b))| a.bytes != b.bytes || a.poison != b.poison);
        self.partial.extend(changed.map(|(k, _)| k));
        *memory = part;
        let counters = counters.map(|c| scaled(c, config, memory, run, all));
        Ok(Ran { outcome, counters })
    }
}

fn whole(outcome: Result<Outcome, EmuError>) -> Result<Ran, NotRun> {
    let outcome = outcome.map_err(NotRun::Emulator)?;
    Ok(Ran { counters: outcome.counters.clone(), outcome })
}

/// Nothing more has to be known of it.
fn has_ended(outcome: &Outcome) -> bool {
    outcome.limit.is_some() || outcome.findings.iter().any(|f| !f.rule.is_note())
}

/// Flat numbers of blocks in the middle of a grid, so many along each axis that has as many. Blocks of different shapes that
/// cut the same data into tiles have elements there in common.
fn blocks(grid: [u32; 3], side: u32) -> Arc<[u32]> {
    let range = |n: u32| {
        let side = side.min(n);
        let first = (n / 2).saturating_sub(side / 2).min(n - side);
        first..first + side
    };
    let mut list = vec![];
    for z in range(grid[2]) {
        for y in range(grid[1]) {
            list.extend(range(grid[0]).map(|x| x + grid[0] * (y + grid[1] * z)));
        }
    }
    list.into()
}

/// The counts of `run` blocks as those of all. A sector that several blocks touch is counted once for the grid, and no array
/// has more than it is long.
fn scaled(
    c: &Counters,
    config: &LaunchConfig,
    memory: &DeviceMemory,
    run: u64,
    all: u64,
) -> Counters {
    let times = |n: u64| (n as f64 * all as f64 / run as f64).round() as u64;
    let factor = all as f64 / run as f64;
    let count = |n: Count| Count { warps: times(n.warps), threads: times(n.threads) };
    let mut scaled = c.clone();
    scaled.blocks = config.grid.iter().map(|n| u64::from(*n)).product();
    scaled.warps = times(c.warps);
    scaled.classes.iter_mut().for_each(|(_, n)| *n = count(*n));
    for a in &mut scaled.accesses {
        a.requests = count(a.requests);
        (a.sectors, a.ideal_sectors) = (times(a.sectors), times(a.ideal_sectors));
        a.wavefronts *= factor;
        a.ideal_wavefronts *= factor;
    }
    for a in &mut scaled.arrays {
        let whole = memory.buffers.iter().filter(|b| b.name == a.array).map(|b| b.bytes.len());
        let longest = whole.max().map_or(u64::MAX, |bytes| (bytes as u64).div_ceil(SECTOR));
        (a.requests, a.sectors) = (times(a.requests), times(a.sectors));
        a.wavefronts *= factor;
        a.block_sectors = times(a.block_sectors);
        (a.reuses, a.reuse_distance) = (times(a.reuses), times(a.reuse_distance));
        a.grid_sectors = times(a.grid_sectors).min(longest).max(a.grid_sectors);
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_the_middle_have_elements_in_common_whatever_their_size() {
        assert_eq!(&*blocks([1, 1, 1], 2), [0]);
        assert_eq!(&*blocks([9, 1, 1], 2), [3, 4]);
        assert_eq!(&*blocks([2, 5, 1], 2), [2, 3, 4, 5]);
        let covers = |n: u32, tile: u32| {
            let list = blocks([n.div_ceil(tile), 1, 1], 2);
            (list[0] * tile, (list[list.len() - 1] + 1) * tile)
        };
        for n in [1000, 1024, 1021, 77] {
            for tile in [1, 8, 32, 48, 128] {
                let (first, end) = covers(n, tile);
                assert!(first <= n / 2 && n / 2 < end, "{n} {tile}: {first} to {end}");
            }
        }
    }
}
