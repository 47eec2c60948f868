//! Races: shadow memory remembers who touched what.
//!
//! Each granule of memory has a cell with its last writer and two distinct readers. An entry is the
//! number of an event (block, interval, warp time, instruction) and a thread, so that a finding knows
//! both ends. Objects that the kernel only reads have no shadow.

mod cells;
mod compare;
mod equal;
mod merge;
mod redundant;
mod report;
mod touched;
mod writers;

use std::collections::{BTreeSet, HashMap, HashSet};

use warpsmith_ir::Scalar;

pub use self::cells::MOST_THREADS;
use self::cells::{Cells, Scan, Settled, Shadow};
use self::equal::EqualWrites;
pub use self::merge::{Atomics, Trace, commutes};
pub use self::touched::united;
use super::access::{View, Warp};
use super::block::{Block, DEVICE_WARPS, Group};
use super::clusters::Division;
use super::copies::Pending;
use super::lanes::Pattern;
use super::launch::Machine;
use super::order::{BlockOrder, Locations};
use super::plans::Plan;
use super::targets::{granules, targets};
use super::word_loads::WordLoad;
use crate::api::{Limit, Options, Rule};
use crate::compile::lir::{Access, Home, Opd, Program};

/// What an access does, as far as order is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Read,
    Write,
    VolatileRead,
    /// A volatile read that a branch depends on.
    Poll,
    VolatileWrite,
    Atomic,
    AtomicRead,
    /// The same of one block's scope.
    BlockAtomic,
    BlockAtomicRead,
    /// A copy under way: nobody may touch its destination.
    Async,
    /// A copy that its thread has waited for.
    Landed,
    /// Memory of the heap is given back.
    Free,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read | Kind::VolatileRead | Kind::Poll => "read",
            Kind::Write | Kind::VolatileWrite => "write",
            Kind::Atomic | Kind::AtomicRead => "atomic",
            Kind::BlockAtomic | Kind::BlockAtomicRead => "atomic of block scope",
            Kind::Async | Kind::Landed => "asynchronous copy",
            Kind::Free => "free",
        }
    }

    fn reads_only(self) -> bool {
        matches!(
            self,
            Kind::Read | Kind::VolatileRead | Kind::Poll | Kind::AtomicRead | Kind::BlockAtomicRead
        )
    }

    fn is_atomic(self) -> bool {
        self.is_update() || matches!(self, Kind::AtomicRead | Kind::BlockAtomicRead)
    }

    /// An atomic that may write.
    fn is_update(self) -> bool {
        matches!(self, Kind::Atomic | Kind::BlockAtomic)
    }

    /// Both are atomic, and one of them only for threads of its own block.
    pub fn too_narrow(self, other: Kind) -> bool {
        let narrow = |k: Kind| matches!(k, Kind::BlockAtomic | Kind::BlockAtomicRead);
        self.is_atomic()
            && other.is_atomic()
            && (narrow(self) || narrow(other))
            && !(self.reads_only() && other.reads_only())
    }

    /// As [`Kind::conflicts`], for accesses of two blocks: atomics have to reach both, and a volatile store is none.
    fn conflicts_across(self, other: Kind) -> bool {
        let store = |a: Kind, b: Kind| a == Kind::VolatileWrite && b.is_update();
        self.conflicts(other) || self.too_narrow(other) || store(self, other) || store(other, self)
    }

    /// Two accesses of these kinds to one location need an order.
    fn conflicts(self, other: Kind) -> bool {
        let flag = |a: Kind, b: Kind| {
            let strong = b == Kind::VolatileWrite || b.is_atomic();
            match a {
                Kind::Poll => strong,
                Kind::VolatileRead | Kind::VolatileWrite => b.is_atomic(),
                _ => false,
            }
        };
        !(self.reads_only() && other.reads_only()
            || self.is_atomic() && other.is_atomic()
            || flag(self, other)
            || flag(other, self))
    }
}

/// One instruction executed in one interval of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub block: u32,
    pub interval: u32,
    /// Time of the warp.
    pub clock: u32,
    pub pc: u32,
    pub kind: Kind,
}

/// The shadow of a block's shared memory, and its barriers.
#[derive(Default)]
pub struct BlockShadow {
    shadow: Shadow,
    /// The barrier that opened each interval after the first.
    barriers: Vec<u32>,
    /// The barrier that opened this interval is known to be needed.
    needed: bool,
    seen: HashSet<(u32, u32)>,
    /// Events up to this one are of earlier intervals.
    past: u32,
}

impl BlockShadow {
    pub fn next_interval(&mut self, pc: u32) {
        self.barriers.push(pc);
        self.needed = false;
        self.past = self.shadow.events.len() as u32;
    }
}

/// Race detection for a launch.
#[derive(Default)]
pub struct Races {
    shadow: Shadow,
    pub locations: Locations,
    pub grid_bound: HashMap<u32, u32>,
    /// By block: intervals below are ordered before what other blocks of the cluster do.
    pub cluster_bound: HashMap<u32, u32>,
    /// How the grid is divided in clusters.
    pub division: Division,
    pub tracks_order: bool,
    lockstep: bool,
    /// For each object: log2 of the granule, or `None` when it is never written.
    granules: Vec<Option<u32>>,
    warps: u32,
    /// Bytes of the shadows of shared memory that are in use, and at their peak.
    bytes: u64,
    peak: u64,
    /// A race was seen that nobody asked about: the order of blocks may matter.
    pub conflict: bool,
    known: HashMap<(u32, u32, u64, Kind, Kind, bool), usize>,
    needed: BTreeSet<u32>,
    executed: BTreeSet<u32>,
    constraints: BTreeSet<Vec<u32>>,
    equal: EqualWrites,
    /// For each instruction, what its latest accesses found settled.
    settled: Vec<Settled>,
}

/// An access of one warp.
pub struct Touch<'t, 'o> {
    pub kind: Kind,
    pub pc: usize,
    pub warp: &'t Warp<'o>,
}

impl Races {
    pub fn new(p: &Program, options: &Options, threads: u32) -> Races {
        let on = options.checks.races || options.checks.redundant_barriers;
        let granules = if on { granules(p, &targets(p), options.touched) } else { vec![] };
        Races::with(p, options, threads, granules)
    }

    /// Race detection for objects with the granules given.
    pub fn with(p: &Program, options: &Options, threads: u32, granules: Vec<Option<u32>>) -> Races {
        let on = options.checks.races || options.checks.redundant_barriers;
        Races {
            tracks_order: on && Machine::tracks_order(p),
            lockstep: options.warp_lockstep,
            granules,
            warps: threads.div_ceil(32),
            settled: vec![Settled::default(); p.code.len()],
            ..Races::default()
        }
    }

    /// What a block did is ordered before what another one does, by a barrier of both.
    fn met(&self, e: &Event, other: u32) -> bool {
        let below =
            |bound: &HashMap<u32, u32>| bound.get(&e.block).is_some_and(|i| e.interval < *i);
        below(&self.grid_bound) || below(&self.cluster_bound) && self.same_cluster(e.block, other)
    }

    fn same_cluster(&self, a: u32, b: u32) -> bool {
        self.division.cluster_of(a) == self.division.cluster_of(b)
    }

    pub fn block(&self, _id: u32) -> BlockOrder {
        BlockOrder::new(self.warps)
    }

    /// What an instruction's event found settled about an object so far.
    fn settled_for(&self, pc: usize, event: u32, block: u32, handle: u64) -> Settled {
        let known = self.settled[pc];
        if (known.event, known.block, known.handle) == (event, block, handle) {
            return known;
        }
        Settled { event, block, handle, ..Settled::default() }
    }

    /// Accesses to the object are remembered.
    pub fn watches(&self, handle: u64) -> bool {
        self.granules.get(handle as usize).is_some_and(Option::is_some)
    }

    /// Bytes of shadow memory: of shared memory at its peak, and of all of global memory.
    pub fn peak_bytes(&self) -> u64 {
        self.peak + self.global_bytes()
    }

    fn global_bytes(&self) -> u64 {
        self.shadow.counted.iter().map(|n| *n as u64 * self.cell_bytes()).sum()
    }

    fn cell_bytes(&self) -> u64 {
        if self.warps > DEVICE_WARPS { 20 } else { 16 }
    }

    /// Keeps what the block taught about its barriers.
    pub fn end_block(&mut self, b: &mut Block) {
        let counted = &b.checks.shadow.shadow.counted;
        let own: u64 = counted.iter().map(|n| *n as u64 * self.cell_bytes()).sum();
        self.bytes = self.bytes.saturating_sub(own);
        self.executed.extend(b.checks.shadow.barriers.iter().copied());
    }
}

/// How many of `all` cells of an object an access needs. Objects in global memory are often much larger than what a launch
/// touches of them, and cells are made anew for each launch.
fn needed(w: &Warp<'_>, granule: u32, shared: bool, have: usize, all: usize) -> usize {
    if shared || have >= all {
        return all;
    }
    let lanes = (0..32).filter(|k| w.mask >> k & 1 == 1);
    let end = lanes.map(|k| w.offsets[k] + w.size).max().unwrap_or(0) as usize;
    match end.div_ceil(1 << granule) {
        touched if touched <= have => have,
        touched => touched.next_power_of_two().min(all),
    }
}

impl Machine<'_> {
    /// Checks an access of a warp against earlier ones and remembers it. Called before data moves.
    pub fn touch(&mut self, b: &mut Block, g: &Group, a: &Access, t: &Touch<'_, '_>) {
        let w = t.warp;
        let Some(Some(granule)) = self.races.granules.get(w.view.handle as usize).copied() else {
            return;
        };
        if self.races.lockstep {
            b.checks.lockstep(w.warp);
        }
        let Some(mut scan) = self.scan(b, w, t.kind, t.pc, granule) else { return };
        let first = w.mask.trailing_zeros();
        if scan.all_known(w) {
            // Nothing new: two threads of different warps have read it in this very event.
        } else if w.pattern == Pattern::Same && t.kind.reads_only() {
            // All lanes read one place: two of them stand for all.
            let lanes = w.mask & w.mask.wrapping_sub(1);
            for k in [first, if lanes == 0 { first } else { lanes.trailing_zeros() }] {
                self.visit(b, g, a, &mut scan, w, w.offsets[first as usize], k);
            }
        } else {
            // Of many lanes in a row that read one place, two stand for all.
            let (mut last, mut run) = (u64::MAX, 0);
            for k in (first..32).filter(|k| w.mask >> k & 1 == 1) {
                let offset = w.offsets[k as usize];
                run = if offset == last { run + 1 } else { 0 };
                last = offset;
                if run < 2 || !scan.reads {
                    self.visit(b, g, a, &mut scan, w, offset, k);
                }
            }
        }
        self.finish_scan(b, scan);
    }

    /// As [`Machine::touch`], for a read of shared memory by all threads with a known pattern. False, and nothing
    /// remembered: some element needs to be compared with an earlier access.
    pub fn touch_plan(
        &mut self,
        b: &mut Block,
        g: &Group,
        plan: &Plan,
        l: &WordLoad,
        handle: u64,
        pc: usize,
    ) -> bool {
        let shared = matches!(self.home(handle), Home::Shared { .. });
        let words = self.races.granules.get(handle as usize) == Some(&Some(2));
        if !shared || !words || self.races.lockstep || g.lo != 0 {
            return false;
        }
        let clock = b.checks.clock(0);
        if (1..g.hi).any(|w| b.checks.clock(w) != clock) {
            return false;
        }
        let e = Event { block: b.id, interval: b.interval, clock, pc: pc as u32, kind: Kind::Read };
        let own = &mut b.checks.shadow;
        let (event, past) = (own.shadow.event(e), own.past);
        let mut settled = self.races.settled_for(pc, event, b.id, handle);
        if own.shadow.has_atomics {
            return false;
        }
        let Some(cells) = own.shadow.cells.get_mut(handle as usize) else { return false };
        let at = |index: i64| (l.offset.wrapping_add(index.wrapping_mul(l.scale)) >> 2) as usize;
        let mut ordered = None;
        for e in &plan.elements {
            let Some(c) = cells.get(at(e.index)) else { return false };
            let readers = (c.readers[0] == event || c.readers.iter().all(|r| *r <= past))
                && (c.readers[1] == event || c.readers[1] <= past);
            if !readers {
                return false;
            }
            if settled.holds(c.writer) {
                continue;
            }
            // A write of an earlier interval, read in another warp: the barriers between order it.
            let other_warp = e.threads.iter().any(|t| t / 32 != c.thread(0) / 32);
            let one = ordered.is_none_or(|w| w == c.writer);
            if c.writer > past || !other_warp || !one {
                return false;
            }
            ordered = Some(c.writer);
        }
        let by_barrier = ordered.map(|w| own.shadow.events[w as usize - 1]);
        if by_barrier.is_some_and(|w| w.kind != Kind::Write) {
            return false;
        }
        for e in &plan.elements {
            cells.change(at(e.index), |c| c.add_readers(event, e.threads));
        }
        if let (Some(writer), Some(w)) = (ordered, by_barrier) {
            self.barrier_needed(b, w.interval);
            settled.add(writer);
            self.races.settled[pc] = settled;
        }
        true
    }

    /// As [`Machine::touch`], for the bytes of an asynchronous copy of one thread.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    pub fn touch_bytes(
        &mut self,
        b: &mut Block,
        g: &Group,
        kind: Kind,
        pc: usize,
        view: &View,
        offset: u64,
        n: u64,
        thread: u32,
    ) {
        if !self.checks.races {
            return;
        }
        let Some(Some(granule)) = self.races.granules.get(view.handle as usize).copied() else {
            return;
        };
        let offsets = [offset; 32];
        let (warp, lane) = (thread / 32, thread % 32);
        let mask = 1 << lane;
        let w =
            Warp { view: *view, offsets: &offsets, mask, pattern: Pattern::Same, warp, size: n };
        let Some(mut scan) = self.scan(b, &w, kind, pc, granule) else { return };
        let access = none_access();
        self.visit(b, g, &access, &mut scan, &w, offset, lane);
        self.finish_scan(b, scan);
    }

    /// A copy has landed: from now on it counts as a write of its thread.
    pub fn landed(&mut self, b: &mut Block, _g: &Group, p: &Pending, _pc: usize) {
        if !self.checks.races {
            return;
        }
        let Some(Some(granule)) = self.races.granules.get(p.handle as usize).copied() else {
            return;
        };
        let e = Event {
            block: b.id,
            interval: b.interval,
            clock: b.checks.clock(p.thread / 32),
            pc: p.pc,
            kind: Kind::Landed,
        };
        let shadow = &mut b.checks.shadow.shadow;
        let id = shadow.event(e);
        let Some(cells) = shadow.cells.get_mut(p.handle as usize) else { return };
        let last = (p.offset + u64::from(p.len) - 1) >> granule;
        for i in p.offset >> granule..=last {
            cells.change(i as usize, |c| c.set(0, id, p.thread));
        }
    }

    /// Takes the object's cells out for the duration of an access.
    fn scan(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        kind: Kind,
        pc: usize,
        granule: u32,
    ) -> Option<Scan> {
        let handle = w.view.handle;
        let shared = matches!(w.view.home, Home::Shared { .. });
        let e = Event {
            block: b.id,
            interval: b.interval,
            clock: b.checks.clock(w.warp),
            pc: pc as u32,
            kind,
        };
        let (warps, cell_bytes) = (self.races.warps, self.races.cell_bytes());
        let shadow = if shared { &mut b.checks.shadow.shadow } else { &mut self.races.shadow };
        let event = shadow.event(e);
        if shadow.cells.len() <= handle as usize {
            shadow.cells.resize_with(handle as usize + 1, || Cells::new(warps));
            shadow.counted.resize(handle as usize + 1, 0);
        }
        let mut cells = std::mem::take(&mut shadow.cells[handle as usize]);
        let all = (w.view.len as usize).div_ceil(1 << granule);
        let need = needed(w, granule, shared, cells.len(), all);
        let counted = &mut shadow.counted[handle as usize];
        if *counted < need {
            let more = (need - *counted) as u64 * cell_bytes;
            if self.used.saturating_add(more) > self.options.max_memory {
                self.end.limit.get_or_insert(Limit::Memory);
                return None;
            }
            *counted = need;
            if shared {
                self.races.bytes += more;
                self.races.peak = self.races.peak.max(self.races.bytes);
            } else {
                self.used += more;
            }
        }
        if cells.len() < need {
            cells.grow(need, shared);
        }
        // What the same instruction of other warps found in this interval.
        let settled = self.races.settled_for(pc, event, b.id, if shared { handle } else { 0 });
        let own = &b.checks.shadow;
        let past = if shared { own.past } else { 0 };
        let shadow = if shared { &own.shadow } else { &self.races.shadow };
        Some(Scan {
            cells,
            event,
            e,
            handle,
            granule,
            at: 0,
            shared,
            reads: kind.reads_only(),
            settled,
            past,
            has_atomics: shadow.has_atomics,
            has_async: self.program.has_async,
        })
    }

    fn finish_scan(&mut self, b: &mut Block, scan: Scan) {
        let shadow = if scan.shared { &mut b.checks.shadow.shadow } else { &mut self.races.shadow };
        shadow.cells[scan.handle as usize] = scan.cells;
        if scan.shared {
            self.races.settled[scan.e.pc as usize] = scan.settled;
        }
    }

    /// Reports bytes that an asynchronous copy may not touch.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    pub fn refuse_bytes(
        &mut self,
        b: &Block,
        (handle, offset): (u64, i64),
        n: u64,
        thread: u32,
        pc: usize,
        kind: Kind,
        rule: Rule,
    ) {
        let mut access = none_access();
        let elem = match n {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        };
        access.elem = elem;
        access.count = (n / u64::from(elem.bytes())).max(1) as u8;
        self.refuse(b, &access, thread, handle, offset, pc, kind, rule);
    }
}

fn none_access() -> Access {
    Access {
        base: Opd::K(0),
        terms: vec![],
        disp: 0,
        elem: Scalar::U8,
        count: 1,
        values: vec![],
        space: warpsmith_ir::Space::Generic,
        volatile: false,
        polling: false,
        is_store: true,
    }
}
