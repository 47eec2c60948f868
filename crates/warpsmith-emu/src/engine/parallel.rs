//! Blocks of one launch on several threads.
//!
//! A launch is spread only where no block can learn anything from another one while it runs: no fences, grid
//! barriers, clocks, volatile or atomic reads of global memory. The first block runs by itself and tells how much
//! work there is. Then each worker runs blocks on its own copy of memory; afterwards the shadows tell whether an
//! element that one worker wrote was touched by another. If so, or if a block had a finding, met a limit or waited
//! for others, the workers' results are thrown away and the blocks run one after another, so that reports are
//! exactly those of one worker.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use warpsmith_ir::BarrierKind;

use super::launch::Machine;
use super::print::MAX_OUTPUT;
use super::races::{Atomics, Races, Trace, commutes};
use super::schedule::Turn;
use super::state::Found;
use super::targets::{Target, Usage, granules, targets};
use crate::api::{DeviceMemory, Finding, Rule, Touched};
use crate::compile::lir::{Home, Op, Opd, Program, Role, Special};

/// Chunks of blocks for each worker: more than one, because blocks take different time.
const CHUNKS: u32 = 8;

/// Bytes of an array that one thread has for itself, as far as is expected.
const MOST_OWN: u64 = 16;

/// How the blocks of a program may run side by side.
struct Plan {
    /// For each object that is written: log2 of the granule. In shared memory only when somebody asked for checks.
    watched: Vec<Option<u32>>,
    atomics: Atomics,
}

/// What the workers of a launch share.
pub struct Queue {
    next: AtomicU32,
    stop: AtomicBool,
    /// Thread instructions of all workers so far.
    steps: AtomicU64,
    /// The first block, the end, and the blocks of a chunk.
    first: u32,
    end: u32,
    size: u32,
    /// When no more chunks are begun.
    until: Option<Instant>,
}

/// What one worker brings back.
struct Part {
    memory: DeviceMemory,
    trace: Trace,
    /// Thread instructions of each block, where they are a sample.
    work: Vec<(u32, u64)>,
    /// The notes of each chunk.
    notes: Vec<(u32, Vec<Finding>)>,
    touched: Vec<Touched>,
    found: Found,
}

impl Queue {
    fn new(first: u32, end: u32, workers: u32, until: Option<Instant>) -> Queue {
        let size = (end - first).div_ceil(workers.saturating_mul(CHUNKS)).max(1);
        let zero = AtomicU32::new(0);
        Queue {
            next: zero,
            stop: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            first,
            end,
            size,
            until,
        }
    }

    /// The next chunk: its number and its blocks.
    fn take(&self) -> Option<(u32, std::ops::Range<u32>)> {
        if self.until.is_some_and(|t| Instant::now() >= t) {
            return None;
        }
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        let first = u64::from(self.first) + u64::from(chunk) * u64::from(self.size);
        let end = (first + u64::from(self.size)).min(self.end.into());
        (first < end).then_some((chunk, first as u32..end as u32))
    }

    /// The end of the blocks of all chunks that were taken.
    fn taken(&self) -> u32 {
        let chunks = u64::from(self.next.load(Ordering::Relaxed));
        (u64::from(self.first) + chunks * u64::from(self.size)).min(self.end.into()) as u32
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Machine<'_> {
    /// Runs the blocks from `first` on side by side, after the ones before it have ended, and says up to which: the last one, unless
    /// time is short. `None`: they have to run one after another, and nothing has changed.
    pub fn run_side_by_side(&mut self, first: u32) -> Option<u32> {
        let blocks = self.blocks();
        if self.options.jobs == 1 || first >= blocks || !self.only_notes() {
            return None;
        }
        let work = self.found.stats.thread_instructions / u64::from(first.max(1))
            * u64::from(blocks - first);
        let bytes: u64 = self.all_buffers().map(|b| self.expected_bytes(b, first)).sum();
        if work < self.options.parallel_from.saturating_add(2 * bytes)
            && self.options.parallel_from > 0
        {
            return None;
        }
        let plan = self.plan()?;
        let workers = self.worker_count(blocks - first, bytes);
        if workers < 2 {
            return None;
        }
        let queue = Queue::new(first, blocks, workers, self.options.leave_out_from);
        let parts = self.start_workers(&plan, &queue, workers);
        if queue.stopped() || !self.merge(&plan, parts) {
            return None;
        }
        self.team.workers = workers;
        Some(queue.taken())
    }

    /// How long a buffer will be: one that grows goes on as it did in the first blocks, as far as threads have elements
    /// of their own there.
    fn expected_bytes(&self, buffer: &crate::api::Buffer, first: u32) -> u64 {
        let now = buffer.bytes.len() as u64;
        if !buffer.grows {
            return now;
        }
        let like_before = now.saturating_mul(u64::from(self.blocks() / first.max(1)));
        let own = u64::from(self.blocks()).saturating_mul(u64::from(self.threads) * MOST_OWN);
        now.max(like_before.min(own))
    }

    fn all_buffers(&self) -> impl Iterator<Item = &crate::api::Buffer> {
        self.memory.buffers.iter().chain(&self.memory.globals)
    }

    /// How many workers there are to be, and fit in memory with a copy and a shadow of all buffers each.
    fn worker_count(&self, blocks: u32, bytes: u64) -> u32 {
        let jobs = match self.options.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let each = bytes.saturating_mul(5).saturating_add(1 << 20);
        let fit = self.options.max_memory.saturating_sub(bytes) / each;
        (jobs as u64).min(fit).min(blocks.into()).min(1024) as u32
    }

    fn start_workers(&self, plan: &Plan, queue: &Queue, workers: u32) -> Vec<Part> {
        let (program, launch, options, threads) =
            (self.program, self.launch, self.options, self.threads);
        let memory: &DeviceMemory = self.memory;
        let sample = self.grid.sample.clone();
        let run = || {
            let mut memory = memory.clone();
            let races = Races::with(program, options, threads, plan.watched.clone());
            let mut m = Machine::new(program, launch, options, &mut memory, races);
            // Without checks too: somebody has to notice what blocks do to each other.
            m.checks.races = true;
            m.team.queue = Some(queue);
            m.grid.sample = sample.clone();
            let notes = m.work(queue);
            let touched = if options.touched { m.touched() } else { vec![] };
            let (found, trace, work) = (m.found, m.races.into_trace(), m.grid.work);
            Part { memory, trace, work, notes, touched, found }
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (1..workers)
                .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, run).ok())
                .collect();
            let mut parts = vec![run()];
            for handle in handles {
                match handle.join() {
                    Ok(part) => parts.push(part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            parts
        })
    }

    /// One worker: runs chunks until none is left or somebody has a doubt.
    fn work(&mut self, queue: &Queue) -> Vec<(u32, Vec<Finding>)> {
        let mut notes = vec![];
        while let Some((chunk, ids)) = queue.take() {
            for id in ids {
                let before = self.found.stats.thread_instructions;
                if queue.stopped() || !self.run_alone(id) {
                    queue.stop.store(true, Ordering::Relaxed);
                    return notes;
                }
                let more = self.found.stats.thread_instructions - before;
                let steps = queue.steps.fetch_add(more, Ordering::Relaxed).saturating_add(more);
                if steps > self.options.max_total_steps {
                    queue.stop.store(true, Ordering::Relaxed);
                }
            }
            notes.push((chunk, std::mem::take(&mut self.found.report).into_findings()));
        }
        notes
    }

    /// Runs one block from beginning to end. False: it is not clear that this is all there is to it.
    fn run_alone(&mut self, id: u32) -> bool {
        let Some(mut block) = self.new_block(id) else { return false };
        if self.run_block(&mut block) != Turn::Finished {
            return false;
        }
        self.finish(&mut block);
        self.deadline_passed();
        let ended = !self.end.is_here() && !self.end.abandoned;
        ended && !self.races.conflict && self.only_notes()
    }

    /// Nothing was found but what is merely counted.
    fn only_notes(&self) -> bool {
        self.found.report.findings().iter().all(|f| f.rule == Rule::ExitedBeforeBarrier)
    }

    /// Takes over what the workers did. False, and nothing changed: the order of the blocks may matter.
    fn merge(&mut self, plan: &Plan, parts: Vec<Part>) -> bool {
        let traces: Vec<&Trace> = parts.iter().map(|p| &p.trace).collect();
        let printed =
            parts.iter().map(|p| p.found.printed_bytes).sum::<usize>() + self.found.printed_bytes;
        let steps = parts.iter().map(|p| p.found.stats.thread_instructions).sum::<u64>();
        if printed > MAX_OUTPUT
            || self.found.stats.thread_instructions.saturating_add(steps)
                > self.options.max_total_steps
            || Races::conflict(&self.races, &traces, &plan.atomics)
        {
            return false;
        }
        let Some(shadow) = self.shadow_of_all(&parts, &traces) else { return false };
        self.team.shadow_bytes = shadow;
        let before: HashMap<u64, Vec<u8>> = plan
            .atomics
            .keys()
            .filter_map(|h| Some((*h, self.buffer_of(self.memory, *h)?.bytes.clone())))
            .collect();
        let mut notes = vec![];
        for part in parts {
            self.lengthen(&part);
            part.trace.write_back(
                self.program,
                &plan.watched,
                &plan.atomics,
                &before,
                &part.memory,
                self.memory,
            );
            self.races.absorb(part.trace);
            self.found.stats.thread_instructions += part.found.stats.thread_instructions;
            self.found.stats.instructions += part.found.stats.instructions;
            self.found.stats.barriers += part.found.stats.barriers;
            self.found.printed.extend(part.found.printed);
            for (own, more) in self.found.decided.iter_mut().zip(&part.found.decided) {
                *own |= more;
            }
            if let (Some(own), Some(more)) = (&mut self.found.counting, part.found.counting) {
                own.add(*more);
            }
            self.grid.work.extend(part.work);
            self.team.touched.push(part.touched);
            notes.extend(part.notes);
        }
        notes.sort_by_key(|(chunk, _)| *chunk);
        for f in notes.into_iter().flat_map(|(_, list)| list) {
            self.found.report.add(f);
        }
        true
    }

    fn buffer_of<'m>(
        &self,
        memory: &'m DeviceMemory,
        handle: u64,
    ) -> Option<&'m crate::api::Buffer> {
        match self.home(handle) {
            Home::Buffer(i) => memory.buffers.get(i as usize),
            Home::Variable { index, .. } => memory.globals.get(index as usize),
            _ => None,
        }
    }

    /// Bytes of shadow memory that one worker would have used. `None`: it might have met the limit of memory.
    fn shadow_of_all(&self, parts: &[Part], traces: &[&Trace]) -> Option<u64> {
        let len = |h: usize| {
            let copies = parts.iter().map(|p| &p.memory).chain([&*self.memory]);
            let own = copies.filter_map(|m| self.buffer_of(m, h as u64));
            own.map(|b| b.bytes.len() as u64).max().unwrap_or(0)
        };
        let buffers: u64 = (0..self.program.objects.len()).map(len).sum();
        let block = super::block::Block::bytes(self.program, self.width, true);
        let shadow = self.races.merged_bytes(traces);
        let used = buffers.saturating_add(block).saturating_add(shadow);
        (used <= self.options.max_memory).then_some(if self.checks.races { shadow } else { 0 })
    }

    /// Buffers that grow are as long as the longest copy.
    fn lengthen(&mut self, part: &Part) {
        for (to, from) in self.memory.buffers.iter_mut().zip(&part.memory.buffers) {
            if to.bytes.len() < from.bytes.len() {
                to.lengthen(from.bytes.len());
            }
        }
    }

    /// Whether no block can learn anything from another one while it runs, nor the order in which they do.
    pub fn blocks_are_independent(&self) -> bool {
        self.plan().is_some()
    }

    /// Whether no block can wait for what another one does, so that some may be left out.
    pub fn nobody_waits(&self) -> bool {
        let p = self.program;
        let waits = |t: &Target| {
            let global = t.objects.iter().any(|h| is_global(p, *h));
            let learns = match &p.virtual_code[t.pc].op {
                Op::Atomic { result, .. } => result.is_some_and(|r| is_used(p, r)),
                _ => p.virtual_accesses[t.access as usize].volatile,
            };
            global && learns
        };
        !self.shows_order() && !targets(p).iter().any(waits)
    }

    /// Blocks may learn when others run.
    fn shows_order(&self) -> bool {
        let p = self.program;
        self.races.division.blocks() > 1
            || Machine::tracks_order(p)
            || p.virtual_code.iter().any(|ins| shows_order(&ins.op))
    }

    /// Whether the blocks may run side by side at all.
    fn plan(&self) -> Option<Plan> {
        let p = self.program;
        if self.shows_order() {
            return None;
        }
        // Whether atomics of one block's scope meet others shows only where all blocks share a shadow.
        let narrow = |op: &Op| matches!(op, Op::Atomic { scope: warpsmith_ir::Scope::Block, .. });
        if self.checks.races && p.virtual_code.iter().any(|ins| narrow(&ins.op)) {
            return None;
        }
        let list = targets(p);
        let atomics = atomics(p, &list)?;
        let undefined =
            |h: &u64| self.buffer_of(self.memory, *h).is_some_and(|b| !b.poison.is_empty());
        if atomics.keys().any(undefined) {
            return None;
        }
        let (mut read, mut written) = (HashSet::new(), HashSet::new());
        for t in &list {
            let set = if t.usage == Usage::Read { &mut read } else { &mut written };
            set.extend(t.objects.iter().copied().filter(|h| is_global(p, *h)));
        }
        // Without checks nobody would notice that a block reads what another one writes.
        if !self.checks.races && read.intersection(&written).next().is_some() {
            return None;
        }
        let all = granules(p, &list, self.options.touched);
        let watched = if self.checks.races { all } else { Races::across_blocks(p, &all) };
        Some(Plan { watched, atomics })
    }
}

fn is_global(p: &Program, handle: u64) -> bool {
    let home = p.objects.get(handle as usize).map(|o| o.home);
    matches!(home, Some(Home::Buffer(_) | Home::Variable { .. }))
}

/// The instruction tells when it runs.
fn shows_order(op: &Op) -> bool {
    match op {
        Op::Barrier { kind, .. } => *kind == BarrierKind::Grid,
        Op::Special { what, .. } => *what == Special::Clock,
        Op::Fence(_) | Op::HeapAllocate { .. } | Op::HeapFree { .. } => true,
        _ => false,
    }
}

/// The objects in global memory that are updated atomically, when no thread can learn the order of the updates.
/// `None`: one can.
fn atomics(p: &Program, list: &[Target]) -> Option<Atomics> {
    let mut found = Atomics::new();
    for t in list {
        let a = &p.virtual_accesses[t.access as usize];
        let mut global = t.objects.iter().filter(|h| is_global(p, **h)).peekable();
        if global.peek().is_none() {
            continue;
        }
        let op = &p.virtual_code[t.pc].op;
        match op {
            Op::Atomic { op, result, .. } => {
                if !commutes(*op, a.elem) || result.is_some_and(|r| is_used(p, r)) {
                    return None;
                }
                for h in global {
                    if *found.entry(*h).or_insert((*op, a.elem)) != (*op, a.elem) {
                        return None;
                    }
                }
            }
            Op::AsyncCopy { .. } if t.usage == Usage::Write => return None,
            _ if a.volatile => return None,
            _ => {}
        }
    }
    let touched =
        |t: &Target| t.usage != Usage::Atomic && t.objects.iter().any(|h| found.contains_key(h));
    (!list.iter().any(touched)).then_some(found)
}

/// Some instruction uses the register.
fn is_used(p: &Program, register: Opd) -> bool {
    let mut accesses = p.virtual_accesses.clone();
    p.virtual_code.iter().any(|ins| {
        let mut used = false;
        ins.op
            .clone()
            .operands(&mut accesses, &mut |o, role| used |= role == Role::Use && *o == register);
        used
    })
}
