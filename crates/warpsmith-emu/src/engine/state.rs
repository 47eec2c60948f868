//! The state of a launch that runs, by what changes together.

use std::collections::HashMap;
use std::sync::Arc;

use super::clusters::Cluster;
use super::counting::Counting;
use super::parallel::Queue;
use super::poison::Origin;
use super::report::Report;
use super::schedule::Turns;
use crate::api::{Limit, Options, Rule, Stats, Touched};
use crate::compile::lir::Program;

/// Bits of [`Found::decided`].
pub const HELD: u8 = 1;
pub const FAILED: u8 = 2;

/// Checks that follow every access.
#[derive(Clone, Copy)]
pub struct Checks {
    /// Undefined values are followed.
    pub poison: bool,
    /// Arithmetic with them is a finding.
    pub operands: bool,
    pub races: bool,
}

impl Checks {
    pub fn of(options: &Options) -> Checks {
        Checks {
            poison: options.checks.uninitialized,
            operands: options.checks.uninitialized && options.checks.undefined_operands,
            races: options.checks.races || options.checks.redundant_barriers,
        }
    }

    /// Whether anything is followed.
    pub fn any(self) -> bool {
        self.poison || self.races
    }
}

/// What an outcome tells of the launch.
pub struct Found {
    pub report: Report,
    pub stats: Stats,
    /// Text of each block that has ended.
    pub printed: Vec<(u32, String)>,
    pub printed_bytes: usize,
    /// Performance counters, when they are asked for.
    pub counting: Option<Box<Counting>>,
    /// For each place where control divides, whether its condition held for some thread ([`HELD`]), and failed ([`FAILED`]).
    pub decided: Vec<u8>,
}

impl Found {
    pub fn new(program: &Program, options: &Options) -> Found {
        Found {
            report: Report::default(),
            stats: Stats::default(),
            printed: vec![],
            printed_bytes: 0,
            counting: options.counters.then(|| Box::new(Counting::new(program))),
            decided: vec![0; program.divides.len()],
        }
    }
}

/// Why blocks do not go on to their ends.
#[derive(Default)]
pub struct End {
    pub limit: Option<Limit>,
    pub assumption_failed: bool,
    /// Some block was stopped: others may wait for it in vain.
    pub abandoned: bool,
}

impl End {
    /// Nothing is to be run any more.
    pub fn is_here(&self) -> bool {
        self.limit.is_some() || self.assumption_failed
    }
}

/// Who runs next, and whether waiting leads anywhere.
pub struct Progress {
    /// Stores that changed memory, counted while some loop is watched.
    pub changes: u64,
    pub watching: bool,
    /// Whether blocks and warps change wherever one has done something that others may see.
    pub by_turns: Turns,
    /// Something of that kind has been done since the last turn.
    pub shown: bool,
    /// Turns of groups so far.
    pub turns: u64,
}

impl Progress {
    pub fn new(by_turns: Turns) -> Progress {
        Progress { changes: 0, watching: false, by_turns, shown: false, turns: 0 }
    }
}

/// The grid as a whole.
#[derive(Default)]
pub struct GridState {
    clock: u64,
    /// Times the clock was read.
    ticks: u64,
    /// Times the whole grid has passed a grid barrier.
    pub phase: u32,
    /// The blocks that are run, where all of them would take too long.
    pub sample: Option<Arc<[u32]>>,
    /// Thread instructions of each block of the sample that has ended.
    pub work: Vec<(u32, u64)>,
    /// Thread instructions when the latest block began.
    pub begun_at: u64,
    /// Thread instructions when there was a finding that is no note.
    pub found_at: Option<u64>,
    /// Blocks were left out because time was short.
    pub cut: bool,
    /// Clusters of which some block has begun and some has not ended.
    pub clusters: HashMap<u32, Cluster>,
}

impl GridState {
    /// With a clock that says a number already.
    pub fn at(clock: u64) -> GridState {
        GridState { clock, ..GridState::default() }
    }

    /// The clock, which goes on by more each time: who waits for millions of cycles reads it thousands of times.
    pub fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.clock += self.ticks;
        self.clock
    }
}

/// Where undefined values come from, and what was said of them.
#[derive(Default)]
pub struct Undefined {
    /// Buffers with undefined bytes.
    pub in_buffers: bool,
    pub origins: Vec<Origin>,
    pub numbers: HashMap<(u32, u64, u32), u32>,
    /// Findings, by origin and instruction.
    pub uses: HashMap<(u32, u32), usize>,
    /// The latest origin of a scalar's undefined bits.
    pub scalar: u32,
}

/// Accesses that are not made.
#[derive(Default)]
pub struct Refusals {
    /// Lanes of the access at hand that may not make it.
    pub lanes: u32,
    /// Findings, by rule, instruction and object.
    pub known: HashMap<(Rule, u32, u64), usize>,
}

/// Threads of the host that run the launch.
pub struct Team<'a> {
    /// The other workers, when there are any.
    pub queue: Option<&'a Queue>,
    /// How many ran the launch.
    pub workers: u32,
    /// Bytes of shadow memory that one worker would have needed, after several ran the launch.
    pub shadow_bytes: u64,
    /// What each of them touched of buffers, where that is asked for.
    pub touched: Vec<Vec<Touched>>,
}
