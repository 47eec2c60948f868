//! A launch from its checks to its outcome.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use warpsmith_ir::{Turn, Way};

use super::block::{Block, Group, Mask, Spin, Wait};
use super::clusters::Division;
use super::parallel::Queue;
use super::plans::Plan;
use super::races::{MOST_THREADS, Races, united};
use super::schedule::Turns;
use super::state::{
    Checks, End, FAILED, Found, GridState, HELD, Progress, Refusals, Team, Undefined,
};
use crate::api::{
    DeviceMemory, EmuError, Finding, LaunchConfig, Limit, Options, Outcome, Rule, Sampled,
    block_threads,
};
use crate::compile::lir::{Home, Op, Program};

/// What all blocks of a launch share while it runs.
pub struct Machine<'a> {
    pub program: &'a Program,
    pub launch: &'a LaunchConfig,
    pub options: &'a Options,
    pub memory: &'a mut DeviceMemory,
    pub threads: u32,
    /// Threads rounded up to whole warps.
    pub width: u32,
    /// Bytes in use.
    pub used: u64,
    /// The object that is the heap; no object's where there is none.
    pub heap_handle: u64,
    pub checks: Checks,
    pub races: Races,
    pub undefined: Undefined,
    pub refusals: Refusals,
    /// Address patterns, by instruction.
    pub plans: Vec<Plan>,
    pub progress: Progress,
    pub grid: GridState,
    pub end: End,
    pub found: Found,
    pub team: Team<'a>,
}

/// Runs a launch whose arguments are those that the program was compiled for.
pub fn run(
    program: &Program,
    launch: &LaunchConfig,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Outcome {
    let before = other_orders(program, launch, memory, options).then(|| memory.clone());
    let mut outcome = run_blocks(program, launch, memory, options, Turns::None);
    if let Some(memory) = before
        && outcome.limit.is_none()
        && !outcome.assumption_failed
    {
        let blocks: u32 = launch.grid.iter().product();
        let orders = [(true, Turns::None), (false, Turns::Each), (false, Turns::MIXED)];
        for (last_first, by_turns) in orders {
            if last_first && blocks == 1 {
                continue;
            }
            let options = Options {
                blocks: last_first.then(|| (0..blocks).rev().collect()),
                jobs: 1,
                counters: false,
                ways: false,
                collect_printf: false,
                max_total_steps: outcome.stats.thread_instructions.saturating_mul(4) + OTHER_STEPS,
                ..options.clone()
            };
            let mut memory = memory.clone();
            let other = run_blocks(program, launch, &mut memory, &options, by_turns);
            add_races(&mut outcome, other.findings);
        }
    }
    outcome
}

fn run_blocks(
    program: &Program,
    launch: &LaunchConfig,
    memory: &mut DeviceMemory,
    options: &Options,
    by_turns: Turns,
) -> Outcome {
    let races = Races::new(program, options, launch.block.iter().product());
    let mut m = Machine::new(program, launch, options, memory, races);
    m.progress.by_turns = by_turns;
    m.run_grid();
    m.outcome()
}

/// Blocks of a launch that is run in other orders, at most, and bytes of its memory.
const OTHER_BLOCKS: u32 = 64;
const OTHER_BYTES: usize = 64 << 20;
/// Steps that another order may take beside those of the first: blocks that wait take more.
const OTHER_STEPS: u64 = 1_000_000;

/// Whether the last block is to go first as well, and blocks and warps to take turns: where fences hand knowledge on, a block that
/// forgets one shows only if another one comes after it, and one that goes on too early only if the other has not ended.
fn other_orders(
    program: &Program,
    launch: &LaunchConfig,
    memory: &DeviceMemory,
    options: &Options,
) -> bool {
    let blocks: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
    let bytes: usize = memory.buffers.iter().map(|b| b.bytes.len()).sum();
    options.checks.races
        && program.has_fences
        && options.blocks.is_none()
        && blocks <= u64::from(OTHER_BLOCKS)
        && bytes <= OTHER_BYTES
}

/// Takes over the races that only another order shows.
fn add_races(outcome: &mut Outcome, other: Vec<Finding>) {
    let races = [Rule::RaceGlobal, Rule::RaceShared, Rule::RaceBenign, Rule::AtomicScope];
    let places = |f: &Finding| {
        let mut places: Vec<_> = f.accesses.iter().map(|a| a.span).collect();
        places.sort_unstable();
        (places, f.array.clone())
    };
    for f in other {
        let known = |o: &Finding| races.contains(&o.rule) && places(o) == places(&f);
        let race = matches!(f.rule, Rule::RaceGlobal | Rule::RaceShared | Rule::AtomicScope);
        if race && !outcome.findings.iter().any(known) {
            outcome.findings.push(f);
        }
    }
    outcome.findings.sort_by_key(|f| (f.rule, f.accesses.first().and_then(|a| a.span)));
}

/// Blocks of a cluster, at most.
const CLUSTER_BLOCKS: u32 = 16;

/// Clusters of a program as CUDA wants them.
pub fn check_clusters(program: &Program, launch: &LaunchConfig) -> Result<(), EmuError> {
    let (grid, cluster) = (launch.grid, program.cluster);
    let blocks = cluster.iter().try_fold(1u32, |n, extent| n.checked_mul(*extent));
    if cluster.contains(&0) || blocks.is_none_or(|n| n > CLUSTER_BLOCKS) {
        return Err(EmuError::BadLaunch(format!(
            "a cluster of {cluster:?} blocks: it can have {CLUSTER_BLOCKS} at most"
        )));
    }
    if (0..3).any(|a| !grid[a].is_multiple_of(cluster[a])) {
        return Err(EmuError::BadLaunch(format!(
            "the grid {grid:?} is no multiple of the cluster {cluster:?}"
        )));
    }
    Ok(())
}

/// The limits of CUDA, and ours where a block may be larger than on any device.
pub fn check(launch: &LaunchConfig, large_blocks: bool) -> Result<(), EmuError> {
    let (g, b) = (launch.grid, launch.block);
    let bad = |text: String| Err(EmuError::BadLaunch(text));
    if g.contains(&0) || b.contains(&0) {
        return bad("grid and block extents must be positive".to_string());
    }
    if g[0] > 0x7fff_ffff || g[1] > 65_535 || g[2] > 65_535 {
        return bad(format!("the grid {g:?} exceeds 2147483647 x 65535 x 65535"));
    }
    if !large_blocks && !crate::api::block_fits(b) {
        return bad(format!("the block {b:?} exceeds 1024 threads or 64 in z"));
    }
    if block_threads(b) > MOST_THREADS {
        return bad(format!("the block {b:?} exceeds {MOST_THREADS} threads"));
    }
    let blocks = g.iter().map(|x| u64::from(*x)).product::<u64>();
    if blocks > u64::from(u32::MAX) {
        return bad(format!("{blocks} blocks are more than 2^32 - 1"));
    }
    Ok(())
}

impl<'a> Machine<'a> {
    pub fn new(
        program: &'a Program,
        launch: &'a LaunchConfig,
        options: &'a Options,
        memory: &'a mut DeviceMemory,
        mut races: Races,
    ) -> Machine<'a> {
        let threads: u32 = launch.block.iter().product();
        let buffers = || memory.buffers.iter().chain(&memory.globals);
        let in_buffers = buffers().any(|b| b.poison.contains(&true));
        let used = buffers().map(|b| b.bytes.len() as u64).sum();
        let heap_handle = memory.heap.as_ref().map_or(u64::MAX, |h| u64::from(h.buffer.0) + 1);
        races.division = Division::new(launch.grid, program.cluster);
        Machine {
            program,
            launch,
            options,
            memory,
            threads,
            width: threads.next_multiple_of(32),
            used,
            heap_handle,
            checks: Checks::of(options),
            races,
            undefined: Undefined { in_buffers, ..Undefined::default() },
            refusals: Refusals::default(),
            plans: program.code.iter().map(|_| Plan::default()).collect(),
            progress: Progress::new(Turns::None),
            grid: GridState::at(options.clock),
            end: End::default(),
            found: Found::new(program, options),
            team: Team { queue: None, workers: 1, shadow_bytes: 0, touched: vec![] },
        }
    }

    /// The blocks that are run, where it is not all of them.
    pub fn chosen(&self) -> Option<&Arc<[u32]>> {
        self.grid.sample.as_ref().or(self.options.blocks.as_ref())
    }

    /// Goes on with some of the blocks, after the first one, where all of them would take too long and no block can learn
    /// anything from another.
    pub fn sample_if_large(&mut self) {
        let blocks = self.blocks();
        let Some(most) = self.options.sample_beyond.filter(|_| self.options.blocks.is_none())
        else {
            return;
        };
        let each = self.found.stats.thread_instructions.max(u64::from(self.threads));
        if each.saturating_mul(u64::from(blocks)) > most && self.blocks_are_independent() {
            self.grid.sample = super::sample::blocks(self.launch.grid, most / 4 / each);
            self.grid.work.push((0, self.found.stats.thread_instructions));
        }
    }

    /// Leaves out the blocks from `next` on, all before them having ended, where what was found is worth no more time.
    pub fn leave_out_after_finding(&mut self, next: u32) {
        let Some(most) = self.options.after_finding.filter(|_| next < self.blocks()) else {
            return;
        };
        let steps = self.found.stats.thread_instructions;
        if self.grid.found_at.is_none()
            && self.found.report.findings().iter().any(|f| !f.rule.is_note())
        {
            self.grid.found_at = Some(steps);
        }
        if self.grid.found_at.is_some_and(|at| steps - at > most) {
            let ran = match self.chosen() {
                Some(some) => some[..next as usize].into(),
                None => (0..next).collect(),
            };
            self.grid.sample = Some(ran);
        }
    }

    /// How many blocks are run.
    pub fn blocks(&self) -> u32 {
        match self.chosen() {
            Some(some) => some.len() as u32,
            None => self.launch.grid.iter().product(),
        }
    }

    /// The `nth` block that is run, at its first instruction; `None`, with the limit set, when it does not fit in memory.
    pub fn new_block(&mut self, nth: u32) -> Option<Block> {
        let id = self.chosen().map_or(nth, |some| some[nth as usize]);
        let p = self.program;
        let bytes = Block::bytes(p, self.width, self.checks.any());
        if self.used.saturating_add(bytes) > self.options.max_memory {
            return None;
        }
        self.used += bytes;
        self.grid.begun_at = self.found.stats.thread_instructions;
        let g = self.launch.grid;
        let coords = [id % g[0], id / g[0] % g[1], id / (g[0] * g[1])];
        let (w, words) = (self.width as usize, p.register_words as usize);
        let alive = Mask::first(self.threads);
        let mut group = Group {
            pc: 0,
            mask: alive.clone(),
            full: true,
            lo: 0,
            hi: 0,
            active: 0,
            scalars: vec![0; p.scalars as usize],
            poison: vec![false; p.scalars as usize],
            any_poison: false,
            wait: Wait::Ready,
            steps: 0,
            turns: 0,
            spin: Spin::default(),
        };
        group.update(&alive);
        let poison = self.checks.poison;
        let shared = p.shared_bytes as usize;
        let local = (p.local_bytes as usize).div_ceil(4) * w;
        Some(Block {
            id,
            coords,
            registers: vec![0; (words * w).div_ceil(2) + 64],
            scratch: vec![0; 3 * w],
            poison: vec![0; if poison { words * w / 32 } else { 0 }],
            origin: vec![0; if poison { words } else { 0 }],
            groups: vec![group],
            alive,
            exits: vec![u32::MAX; w],
            shared: vec![self.options.shared_fill; shared],
            shared_poison: vec![1; if poison { shared } else { 0 }],
            shared_undefined: if poison { shared as u64 } else { 0 },
            local: vec![0; local],
            local_poison: vec![1; if poison { local * 4 } else { 0 }],
            local_undefined: poison && local > 0,
            interval: 0,
            printed: vec![],
            checks: self.races.block(id),
            copies: super::copies::Copies::default(),
            named: super::named_barriers::NamedBarriers::default(),
            done: false,
            abandoned: false,
        })
    }

    /// Gives a finished block's memory back.
    pub fn retire(&mut self, block: &mut Block) {
        let bytes = Block::bytes(self.program, self.width, self.checks.any());
        self.used = self.used.saturating_sub(bytes);
        block.done = true;
    }

    /// The run has to stop now: the deadline, the user, or another worker says so.
    pub fn deadline_passed(&mut self) -> bool {
        let late = self.options.deadline.is_some_and(|d| Instant::now() >= d);
        let interrupt = self.options.interrupt.as_ref();
        let interrupted = interrupt.is_some_and(|i| i.load(Ordering::Relaxed))
            || self.team.queue.is_some_and(Queue::stopped);
        if interrupted {
            self.end.limit.get_or_insert(Limit::Interrupted);
        } else if late {
            self.end.limit.get_or_insert(Limit::Timeout);
        }
        late || interrupted
    }

    /// The name findings use for an object.
    pub fn object_name(&self, handle: u64) -> String {
        self.program.objects.get(handle as usize).map_or(String::new(), |o| o.name.clone())
    }

    /// Some rule of order between blocks can apply.
    pub fn tracks_order(program: &Program) -> bool {
        use warpsmith_ir::BarrierKind::{ClusterWait, Grid, Named, NamedArrive};
        let orders = |op: &Op| {
            matches!(op, Op::Barrier { kind: ClusterWait | Grid | Named | NamedArrive, .. })
        };
        program.has_fences || program.code.iter().any(orders)
    }

    /// Whether an object is in the memory of the block or the thread.
    pub fn home(&self, handle: u64) -> Home {
        self.program.objects.get(handle as usize).map_or(Home::Invalid, |o| o.home)
    }

    /// The ways that some thread took.
    fn ways(&self) -> Vec<Way> {
        let mut ways = vec![];
        for (place, seen) in self.program.divides.iter().zip(&self.found.decided) {
            let held = Some(place.only.unwrap_or(Turn::Yes)).filter(|_| seen & HELD != 0);
            let failed = Some(Turn::No).filter(|_| seen & FAILED != 0 && place.only.is_none());
            let taken = held.into_iter().chain(failed);
            ways.extend(taken.map(|turn| Way { span: place.span, turn }));
        }
        ways.sort_unstable();
        ways
    }

    fn outcome(mut self) -> Outcome {
        let ways = self.ways();
        let writers =
            self.options.written.map_or(vec![], |(buffer, byte)| self.writers(buffer, byte));
        let mut touched = std::mem::take(&mut self.team.touched);
        if self.options.touched {
            touched.push(self.touched());
        }
        let touched = united(touched);
        let chosen = self.chosen().cloned();
        let mut stats = self.found.stats;
        stats.shadow_bytes = self.races.peak_bytes().max(self.team.shadow_bytes);
        let mut printed = self.found.printed;
        printed.sort_by_key(|(block, _)| *block);
        let counting = self.found.counting.as_ref();
        let counters = counting.map(|c| c.finish(self.program, self.launch, chosen.as_deref()));
        let needed_barriers = match self.options.checks.redundant_barriers {
            true => self.races.needed_barriers(self.program),
            false => vec![],
        };
        let findings = self.found.report.finish(self.program, &self.races, self.options);
        let late = self.grid.cut;
        Outcome {
            sampled: self.grid.sample.map(|some| Sampled {
                blocks: some.len() as u32,
                late,
                ended: false,
            }),
            findings,
            printed: printed.into_iter().map(|(_, text)| text).collect(),
            limit: self.end.limit,
            assumption_failed: self.end.assumption_failed,
            stats,
            needed_barriers,
            workers: self.team.workers,
            counters,
            ways,
            touched,
            writers,
        }
    }
}
