//! Races: shadow memory remembers who touched what.
//!
//! Each granule of memory has a cell with its last writer and two distinct readers. An entry is the
//! number of an event (block, interval, warp time, instruction) and a thread, so that a finding knows
//! both ends. Objects that the kernel only reads have no shadow.

use std::collections::{BTreeSet, HashMap, HashSet};

use warpsmith_ir::{BarrierKind, Scalar};

use super::access::{View, Warp, from_bits};
use super::block::{Block, Group};
use super::copies::Pending;
use super::lanes::{Pattern, WordLoad};
use super::launch::Machine;
use super::order::{BlockOrder, Locations};
use super::plans::Plan;
use crate::api::{Access as Place, Finding, LaunchConfig, Limit, Options, Rule};
use crate::compile::lir::{Access, Home, Op, Opd, Program, words};
use crate::compile::split_pointer;

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
    /// A copy under way: nobody may touch its destination.
    Async,
    /// A copy that its thread has waited for.
    Landed,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read | Kind::VolatileRead | Kind::Poll => "read",
            Kind::Write | Kind::VolatileWrite => "write",
            Kind::Atomic | Kind::AtomicRead => "atomic",
            Kind::Async | Kind::Landed => "asynchronous copy",
        }
    }

    fn reads_only(self) -> bool {
        matches!(self, Kind::Read | Kind::VolatileRead | Kind::Poll | Kind::AtomicRead)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Kind::Atomic | Kind::AtomicRead)
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

/// The accesses remembered for a granule: event numbers plus one, and the threads in 10 bits each.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    writer: u32,
    readers: [u32; 2],
    threads: u32,
}

const _: () = assert!(std::mem::size_of::<Cell>() == 16);

impl Cell {
    fn thread(&self, slot: usize) -> u32 {
        self.threads >> (10 * slot) & 1023
    }

    fn set(&mut self, slot: usize, event: u32, thread: u32) {
        match slot {
            0 => self.writer = event,
            n => self.readers[n - 1] = event,
        }
        self.threads = self.threads & !(1023 << (10 * slot)) | thread << (10 * slot);
    }
}

impl Cell {
    /// Remembers two threads that read in one event, in place of past readers and beside those of the
    /// same event: of different warps if possible.
    fn add_readers(&mut self, event: u32, threads: [u32; 2]) {
        if self.readers[0] != event {
            self.set(1, event, threads[0]);
            self.readers[1] = 0;
        }
        for t in threads {
            let (x, y) = (self.thread(1), self.thread(2));
            let second = self.readers[1] == event;
            if t != x && (!second || x / 32 == y / 32 && t / 32 != x / 32) {
                self.set(2, event, t);
            }
        }
    }
}

/// Events and the cells that refer to them.
#[derive(Default)]
struct Shadow {
    events: Vec<Event>,
    /// The latest event of each instruction.
    latest: Vec<u32>,
    /// By object.
    cells: Vec<Vec<Cell>>,
    /// Some event is atomic: reader slots may hold writers.
    has_atomics: bool,
}

impl Shadow {
    fn event(&mut self, e: Event) -> u32 {
        let pc = e.pc as usize;
        if self.latest.len() <= pc {
            self.latest.resize(pc + 1, 0);
        }
        let last = self.latest[pc];
        if last != 0 && self.events[last as usize - 1] == e {
            return last;
        }
        self.has_atomics |= e.kind.is_atomic();
        self.events.push(e);
        self.latest[pc] = self.events.len() as u32;
        self.latest[pc]
    }
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
    pub tracks_order: bool,
    lockstep: bool,
    /// For each object: log2 of the granule, or `None` when it is never written.
    granules: Vec<Option<u32>>,
    warps: u32,
    bytes: u64,
    peak: u64,
    known: HashMap<(u32, u32, u64, Kind, Kind, bool), usize>,
    needed: BTreeSet<u32>,
    executed: BTreeSet<u32>,
    constraints: BTreeSet<Vec<u32>>,
    /// For each instruction, what its latest accesses found settled.
    settled: Vec<Settled>,
}

/// Earlier events that an instruction's accesses to an object need not be compared with any more: barriers
/// order them before all threads of the block, and the barriers are known to be needed.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    /// The event, its block and the object this is about.
    event: u32,
    block: u32,
    handle: u64,
    earlier: [u32; 3],
    next: u8,
}

impl Settled {
    /// The event needs no comparison; 0 stands for none.
    #[inline(always)]
    fn holds(&self, earlier: u32) -> bool {
        earlier == 0 || self.earlier.contains(&earlier)
    }

    fn add(&mut self, earlier: u32) {
        if !self.holds(earlier) {
            self.earlier[usize::from(self.next)] = earlier;
            self.next = (self.next + 1) % 3;
        }
    }
}

/// An access of one warp.
pub struct Touch<'t, 'o> {
    pub kind: Kind,
    pub pc: usize,
    pub warp: &'t Warp<'o>,
}

impl Races {
    pub fn new(p: &Program, options: &Options, _launch: &LaunchConfig, threads: u32) -> Races {
        let on = options.checks.races || options.checks.redundant_barriers;
        Races {
            tracks_order: on && Machine::tracks_order(p),
            lockstep: options.warp_lockstep,
            granules: if on { granules(p) } else { vec![] },
            warps: threads.div_ceil(32),
            settled: vec![Settled::default(); p.code.len()],
            ..Races::default()
        }
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

    pub fn peak_bytes(&self) -> u64 {
        self.peak
    }

    /// Keeps what the block taught about its barriers.
    pub fn end_block(&mut self, b: &mut Block) {
        let own: u64 = b.checks.shadow.shadow.cells.iter().map(|c| c.len() as u64 * 16).sum();
        self.bytes = self.bytes.saturating_sub(own);
        self.executed.extend(b.checks.shadow.barriers.iter().copied());
    }

    /// Benign races whose value derives from a racy read are races.
    pub fn reclassify(
        &self,
        p: &Program,
        findings: &mut [Finding],
        benign: &HashMap<usize, (u32, u32)>,
        racy: &[u32],
    ) {
        if racy.is_empty() {
            return;
        }
        for (&at, &(first, second)) in benign {
            let tainted = [first, second].iter().any(|pc| derives_from(p, *pc, racy));
            if let (true, Some(f)) = (tainted, findings.get_mut(at)) {
                let shared = p.objects.iter().any(|o| {
                    Some(&o.name) == f.array.as_ref() && matches!(o.home, Home::Shared { .. })
                });
                f.rule = if shared { Rule::RaceShared } else { Rule::RaceGlobal };
                f.message = f.message.replace("the same value", "a value from a racy read");
            }
        }
    }

    /// Notes about barriers that no observed conflict needs.
    pub fn redundant_barriers(&self, p: &Program) -> Vec<Finding> {
        let mut needed = self.needed.clone();
        for set in &self.constraints {
            if !set.iter().any(|pc| needed.contains(pc)) {
                needed.extend(set.last());
            }
        }
        let plain = |pc: &u32| {
            matches!(p.code.get(*pc as usize), Some(Op::Barrier { kind: BarrierKind::Block, .. }))
        };
        let sites = |set: &BTreeSet<u32>| -> BTreeSet<u32> {
            set.iter().map(|pc| p.sites[*pc as usize]).collect()
        };
        let needed_sites = sites(&needed);
        let unused: BTreeSet<u32> = self.executed.iter().copied().filter(plain).collect();
        sites(&unused)
            .into_iter()
            .filter(|s| !needed_sites.contains(s))
            .map(|site| Finding {
                rule: Rule::RedundantBarrier,
                kind: None,
                message: "no conflicting accesses across this barrier in this launch".to_string(),
                accesses: vec![Place {
                    span: p.spans[site as usize],
                    what: "barrier",
                    thread: None,
                }],
                array: None,
                index: vec![],
                interval: None,
                count: 1,
            })
            .collect()
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
            cells[at(e.index)].add_readers(event, e.threads);
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
        if !self.check_races {
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
        if !self.check_races {
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
            if let Some(c) = cells.get_mut(i as usize) {
                c.set(0, id, p.thread);
            }
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
        let need = (w.view.len as usize).div_ceil(1 << granule);
        let shadow = if shared { &mut b.checks.shadow.shadow } else { &mut self.races.shadow };
        let event = shadow.event(e);
        if shadow.cells.len() <= handle as usize {
            shadow.cells.resize_with(handle as usize + 1, Vec::new);
        }
        let mut cells = std::mem::take(&mut shadow.cells[handle as usize]);
        if cells.len() < need {
            let more = (need - cells.len()) as u64 * 16;
            if self.used.saturating_add(more) > self.options.max_memory {
                self.limit.get_or_insert(Limit::Memory);
                return None;
            }
            self.used += if shared { 0 } else { more };
            self.races.bytes += more;
            self.races.peak = self.races.peak.max(self.races.bytes);
            cells.resize(need, Cell::default());
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

    /// One lane's access.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    #[inline]
    fn visit(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        s: &mut Scan,
        w: &Warp<'_>,
        offset: u64,
        lane: u32,
    ) {
        let thread = w.warp * 32 + lane;
        let (first, last) = (offset >> s.granule, (offset + w.size - 1) >> s.granule);
        for i in first..=last {
            if s.note_settled(i, thread) {
                continue;
            }
            let Some(&c) = s.cells.get(i as usize) else { return };
            let mut cell = c;
            if s.reads {
                if !s.settled.holds(c.writer) {
                    self.against(b, g, a, s, w, (c.writer, c.thread(0)), thread, offset);
                }
                if s.e.kind.is_atomic()
                    || !self.note_reader(b, g, a, s, w, &mut cell, thread, offset)
                {
                    continue;
                }
            } else {
                for slot in 0..3 {
                    let id = if slot == 0 { c.writer } else { c.readers[slot - 1] };
                    if id != 0 {
                        self.against(b, g, a, s, w, (id, c.thread(slot)), thread, offset);
                    }
                }
                if s.e.kind == Kind::Atomic {
                    // Several atomic writers stay known, for a plain access by the last of them.
                    let earlier = (c.writer, c.thread(0));
                    if earlier.0 != 0 {
                        let atomic = self.event_of(b, s, earlier.0).kind == Kind::Atomic;
                        if !atomic {
                            // A plain store stays known as well: the atomics of others race with it even
                            // when its own thread has made one since.
                            cell.set(2, earlier.0, earlier.1);
                        } else if earlier.1 != thread {
                            cell.set(1, earlier.0, earlier.1);
                        }
                    }
                } else {
                    cell.readers = [0; 2];
                }
                cell.set(0, s.event, thread);
            }
            s.cells[i as usize] = cell;
        }
    }

    fn event_of(&self, b: &Block, s: &Scan, id: u32) -> Event {
        let shadow = if s.shared { &b.checks.shadow.shadow } else { &self.races.shadow };
        shadow.events[id as usize - 1]
    }

    /// Remembers a reader. False: the cell is as it was.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    #[inline]
    fn note_reader(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        s: &mut Scan,
        w: &Warp<'_>,
        cell: &mut Cell,
        thread: u32,
        offset: u64,
    ) -> bool {
        let [r1, r2] = cell.readers;
        if r1 == s.event {
            if cell.thread(1) == thread || r2 == s.event {
                // The same event by two threads already: only a second warp adds anything.
                let (x, y) = (cell.thread(1), cell.thread(2));
                if r2 != s.event || x / 32 != y / 32 || thread / 32 == x / 32 {
                    return false;
                }
            }
            cell.set(2, s.event, thread);
            return true;
        }
        for slot in 1..3 {
            let id = cell.readers[slot - 1];
            if id != 0 && !self.event_of(b, s, id).kind.reads_only() {
                self.against(b, g, a, s, w, (id, cell.thread(slot)), thread, offset);
            }
        }
        let slot = self.reader_slot(b, s, cell, thread);
        if let Some(slot) = slot {
            cell.set(slot, s.event, thread);
        }
        slot.is_some()
    }

    /// Which remembered reader makes room for a new one.
    fn reader_slot(&self, b: &Block, s: &Scan, cell: &Cell, thread: u32) -> Option<usize> {
        let [r1, r2] = cell.readers;
        if r1 == 0 {
            return Some(1);
        }
        let (e1, t1) = (self.event_of(b, s, r1), cell.thread(1));
        if e1.block == s.e.block && t1 == thread {
            return Some(1);
        }
        if r2 == 0 {
            return Some(2);
        }
        let (e2, t2) = (self.event_of(b, s, r2), cell.thread(2));
        if e2.block == s.e.block && t2 == thread {
            return Some(2);
        }
        let past = |e: &Event| {
            e.block == s.e.block && e.interval < s.e.interval
                || self.races.grid_bound.get(&e.block).is_some_and(|i| e.interval < *i)
        };
        match (past(&e1), past(&e2)) {
            (true, false) => Some(1),
            (false, true) => Some(2),
            (true, true) => Some(if r1 < r2 { 1 } else { 2 }),
            (false, false) => {
                let here = |e: &Event| e.block == s.e.block;
                match (here(&e1), here(&e2)) {
                    (false, false) => Some(if r1 < r2 { 1 } else { 2 }),
                    (true, true) if t1 / 32 == t2 / 32 => Some(if r1 < r2 { 1 } else { 2 }),
                    _ => None,
                }
            }
        }
    }

    /// Compares the access at hand with an earlier one.
    #[expect(clippy::too_many_arguments, reason = "two accesses")]
    fn against(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        s: &mut Scan,
        w: &Warp<'_>,
        (id, earlier): (u32, u32),
        thread: u32,
        offset: u64,
    ) {
        let e = self.event_of(b, s, id);
        let same_thread = e.block == s.e.block && earlier == thread;
        if e.kind == Kind::Async {
            if !(same_thread && s.e.kind == Kind::Async && id == s.event) {
                self.report_race(b, g, a, s, w, (e, earlier), thread, offset);
            }
            return;
        }
        if same_thread || !e.kind.conflicts(s.e.kind) {
            return;
        }
        if e.block == s.e.block {
            if e.interval < s.e.interval {
                let by_warp = earlier / 32 == thread / 32
                    && b.checks.warp_orders(w.warp, e.clock, earlier, thread);
                if !by_warp {
                    self.barrier_needed(b, e.interval);
                    s.settled.add(id);
                }
                return;
            }
            let ordered = earlier / 32 == thread / 32
                && b.checks.warp_orders(w.warp, e.clock, earlier, thread);
            if ordered {
                return;
            }
        } else if self.races.grid_bound.get(&e.block).is_some_and(|i| e.interval < *i) {
            return;
        }
        if self.races.tracks_order && b.checks.knows(&e, earlier, thread) {
            return;
        }
        self.report_race(b, g, a, s, w, (e, earlier), thread, offset);
    }

    /// A conflict is ordered by the barriers between an earlier interval and this one.
    fn barrier_needed(&mut self, b: &mut Block, from: u32) {
        let to = b.interval;
        let own = &mut b.checks.shadow;
        if from + 1 == to {
            if !own.needed {
                own.needed = true;
                if let Some(pc) = own.barriers.last() {
                    self.races.needed.insert(*pc);
                }
            }
            return;
        }
        if !own.seen.insert((from, to)) {
            return;
        }
        let between = own.barriers.get(from as usize..to as usize).unwrap_or(&[]);
        let set: BTreeSet<u32> = between.iter().copied().collect();
        if set.len() == 1 {
            self.races.needed.extend(set);
        } else if !set.iter().any(|pc| self.races.needed.contains(pc)) {
            self.races.constraints.insert(set.into_iter().collect());
        }
    }

    #[expect(clippy::too_many_arguments, reason = "two accesses")]
    fn report_race(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        s: &Scan,
        w: &Warp<'_>,
        (e, earlier): (Event, u32),
        thread: u32,
        offset: u64,
    ) {
        if !self.options.checks.races {
            return;
        }
        let plain = |k: Kind| matches!(k, Kind::Write | Kind::VolatileWrite);
        let benign = plain(e.kind)
            && plain(s.e.kind)
            && self.writes_same(b, g, a, s, w, (e, earlier), thread, offset);
        for (kind, pc) in [(e.kind, e.pc), (s.e.kind, s.e.pc)] {
            if kind.reads_only() && !self.report.racy_loads.contains(&pc) {
                self.report.racy_loads.push(pc);
            }
        }
        let key = (e.pc, s.e.pc, s.handle, e.kind, s.e.kind, benign);
        if let Some(&at) = self.races.known.get(&key) {
            self.report.count(at, 1);
            return;
        }
        let at = self.new_race(b, s, (e, earlier), thread, offset, benign);
        if benign {
            self.report.benign.insert(at, (e.pc, s.e.pc));
        }
        self.races.known.insert(key, at);
    }

    fn new_race(
        &mut self,
        b: &Block,
        s: &Scan,
        (e, earlier): (Event, u32),
        thread: u32,
        offset: u64,
        benign: bool,
    ) -> usize {
        let asynchronous = |k: Kind| matches!(k, Kind::Async | Kind::Landed);
        let kind = match (e.kind.reads_only(), s.e.kind.reads_only()) {
            _ if asynchronous(e.kind) || asynchronous(s.e.kind) => "async",
            (true, _) => "read-write",
            (_, true) => "write-read",
            _ => "write-write",
        };
        let rule = match (benign, s.shared) {
            (true, _) => Rule::RaceBenign,
            (_, true) => Rule::RaceShared,
            _ => Rule::RaceGlobal,
        };
        let site = |pc: u32| {
            let site = self.program.sites.get(pc as usize).copied().unwrap_or(0);
            self.program.spans.get(site as usize).copied().flatten()
        };
        let first = Place {
            span: site(e.pc),
            what: e.kind.name(),
            thread: Some(self.thread_ref(e.block, earlier)),
        };
        let second = Place {
            span: site(s.e.pc),
            what: s.e.kind.name(),
            thread: Some(self.thread_ref(b.id, thread)),
        };
        let at = ((offset >> s.granule) << s.granule) as i64;
        let text = self.element_text(s.handle, at);
        let message = if benign {
            format!("two threads write the same value to `{text}` without an order between them")
        } else if kind == "async" {
            format!(
                "`{text}` is the destination of an asynchronous copy that is not ordered with a {}",
                if asynchronous(s.e.kind) { e.kind.name() } else { s.e.kind.name() }
            )
        } else {
            format!(
                "{} and {} of `{text}` by two threads without an order between them",
                e.kind.name(),
                s.e.kind.name()
            )
        };
        self.report.add(Finding {
            rule,
            kind: Some(kind),
            message,
            accesses: vec![first, second],
            array: Some(self.object_name(s.handle)),
            index: self.element_index(s.handle, at),
            interval: Some(b.interval),
            count: 1,
        })
    }

    /// Both writes leave the same defined value in memory.
    #[expect(clippy::too_many_arguments, reason = "two accesses")]
    fn writes_same(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        s: &Scan,
        w: &Warp<'_>,
        (e, earlier): (Event, u32),
        thread: u32,
        offset: u64,
    ) -> bool {
        let wide = words(a.elem) == 2;
        let same_instruction = e == s.e && earlier / 32 == thread / 32;
        for (c, src) in a.values.iter().enumerate() {
            if self.undefined_lanes(b, g, *src, w.warp) >> (thread % 32) & 1 == 1 {
                return false;
            }
            let new = self.lane_value(b, g, *src, wide, thread);
            let old = if same_instruction {
                self.lane_value(b, g, *src, wide, earlier)
            } else {
                let at = offset + c as u64 * u64::from(a.elem.bytes());
                self.read_element(b, w, a.elem, at, thread % 32)
            };
            if from_bits(new, a.elem) != from_bits(old, a.elem) {
                return false;
            }
        }
        true
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

/// The cells of an object while an access goes through them.
struct Scan {
    cells: Vec<Cell>,
    event: u32,
    e: Event,
    handle: u64,
    granule: u32,
    shared: bool,
    reads: bool,
    settled: Settled,
    /// Events of a shared object up to this one are of earlier intervals.
    past: u32,
    has_atomics: bool,
    has_async: bool,
}

impl Scan {
    /// Remembers a thread's access to a granule all of whose earlier accesses are settled. False: it is left as it
    /// was, for a comparison with the earlier ones.
    #[inline(always)]
    fn note_settled(&mut self, granule: u64, thread: u32) -> bool {
        let Some(c) = self.cells.get_mut(granule as usize) else { return false };
        let event = self.event;
        let past = |id: u32| id <= self.past;
        // A thread is in order with itself, except with its copies under way.
        let own = |c: &Cell, slot: usize, id: u32| {
            past(id) && c.thread(slot) == thread && !self.has_async
        };
        let ordered = |c: &Cell, slot: usize, id: u32| self.settled.holds(id) || own(c, slot, id);
        if c.writer != event && !ordered(c, 0, c.writer) {
            return false;
        }
        let readers_ordered = |c: &Cell| ordered(c, 1, c.readers[0]) && ordered(c, 2, c.readers[1]);
        match self.e.kind {
            Kind::Read if !self.has_atomics && c.writer != event => {
                if c.readers[0] != event && !c.readers.into_iter().all(past) {
                    return false;
                }
                c.add_readers(event, [thread; 2]);
                true
            }
            Kind::Write if c.writer != event && readers_ordered(c) => {
                c.readers = [0; 2];
                c.set(0, event, thread);
                true
            }
            Kind::Atomic if c.readers[0] == event && c.readers[1] == 0 || readers_ordered(c) => {
                // Several atomic writers stay known, for a plain access by the last of them.
                let other = c.thread(0);
                let second = c.writer == event && other != thread;
                let keep = if second { (event, other) } else { (c.readers[0], c.thread(1)) };
                c.readers = [0; 2];
                if keep.0 == event {
                    c.set(1, event, keep.1);
                }
                c.set(0, event, thread);
                true
            }
            _ => false,
        }
    }

    /// Reads of all lanes are what the cells hold already.
    fn all_known(&self, w: &Warp<'_>) -> bool {
        if !self.reads || w.size > 1 << self.granule || w.mask != u32::MAX {
            return false;
        }
        w.offsets.iter().all(|offset| {
            self.cells.get((offset >> self.granule) as usize).is_some_and(|c| {
                let (x, y) = (c.thread(1) / 32, c.thread(2) / 32);
                self.settled.holds(c.writer)
                    && c.readers == [self.event; 2]
                    && (x != y || x == w.warp)
            })
        })
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

/// The objects each virtual register may point into; `None`: any.
fn points_to(p: &Program) -> HashMap<u32, Option<BTreeSet<u64>>> {
    let mut sets: HashMap<u32, Option<BTreeSet<u64>>> = HashMap::new();
    let mut accesses = p.virtual_accesses.clone();
    loop {
        let mut changed = false;
        for ins in &p.virtual_code {
            let mut op = ins.op.clone();
            let pure = op.is_pure();
            let compare = matches!(&op, Op::Bin { op, .. } if op.is_comparison());
            let mut sum = Some(BTreeSet::new());
            let mut defs = vec![];
            op.operands(&mut accesses, &mut |o, role| {
                use crate::compile::lir::Role;
                match (role, *o) {
                    (Role::Def, Opd::R(r)) => defs.push(r),
                    (Role::Use, o) if pure && !compare => merge(&mut sum, &pointees(p, &sets, o)),
                    _ => {}
                }
            });
            if !pure && !matches!(op, Op::Special { .. } | Op::Undef { .. }) {
                sum = None;
            }
            for d in defs {
                let old = sets.entry(d).or_insert_with(|| Some(BTreeSet::new()));
                let mut new = old.clone();
                merge(&mut new, &sum);
                if new != *old {
                    *old = new;
                    changed = true;
                }
            }
        }
        if !changed {
            return sets;
        }
    }
}

fn merge(a: &mut Option<BTreeSet<u64>>, b: &Option<BTreeSet<u64>>) {
    match (a.as_mut(), b) {
        (Some(x), Some(y)) => x.extend(y),
        _ => *a = None,
    }
}

fn pointees(
    p: &Program,
    sets: &HashMap<u32, Option<BTreeSet<u64>>>,
    o: Opd,
) -> Option<BTreeSet<u64>> {
    match o {
        Opd::K(k) => {
            let handle = split_pointer(k).0;
            let known = handle != 0 && handle < p.objects.len() as u64;
            Some(if known { BTreeSet::from([handle]) } else { BTreeSet::new() })
        }
        Opd::R(r) => sets.get(&r).cloned().unwrap_or(Some(BTreeSet::new())),
        _ => None,
    }
}

/// The granule of each object that may be written: the narrowest access to it, at most 4 bytes.
fn granules(p: &Program) -> Vec<Option<u32>> {
    let sets = points_to(p);
    let n = p.objects.len();
    let mut written = vec![false; n];
    let mut width = vec![2u32; n];
    let mut note = |access: u32, writes: bool, narrow: Option<u32>| {
        let a = &p.virtual_accesses[access as usize];
        let log = narrow.unwrap_or(a.elem.bytes()).min(4).trailing_zeros();
        let mut set = pointees(p, &sets, a.base);
        for t in &a.terms {
            // An index may carry a pointer that was taken apart by hand.
            merge(&mut set, &pointees(p, &sets, t.index));
        }
        let all: BTreeSet<u64> = (0..n as u64).collect();
        let targets = match set {
            Some(s) if !s.is_empty() => s,
            _ => all,
        };
        for h in targets {
            written[h as usize] |= writes;
            width[h as usize] = width[h as usize].min(log);
        }
    };
    for ins in &p.virtual_code {
        match &ins.op {
            Op::Load { access } => note(*access, false, None),
            Op::Store { access } | Op::Atomic { access, .. } => note(*access, true, None),
            Op::AsyncCopy { destination, source, .. } => {
                note(*destination, true, Some(4));
                note(*source, false, Some(4));
            }
            _ => {}
        }
    }
    let local = |i: usize| matches!(p.objects[i].home, Home::Local { .. } | Home::Invalid);
    (0..n).map(|i| (written[i] && !local(i)).then_some(width[i])).collect()
}

/// The value that the store at `pc` writes may come from one of the loads.
fn derives_from(p: &Program, pc: u32, loads: &[u32]) -> bool {
    use crate::compile::lir::Role;
    let Some(Op::Store { access }) = p.virtual_code.get(pc as usize).map(|i| &i.op) else {
        return false;
    };
    let mut accesses = p.virtual_accesses.clone();
    let mut wanted: HashSet<Opd> = accesses[*access as usize].values.iter().copied().collect();
    loop {
        let before = wanted.len();
        for (at, ins) in p.virtual_code.iter().enumerate() {
            let mut op = ins.op.clone();
            let mut defines = false;
            let mut uses = vec![];
            op.operands(&mut accesses, &mut |o, role| match role {
                Role::Def => defines |= wanted.contains(o),
                Role::Use => uses.push(*o),
            });
            if !defines {
                continue;
            }
            if matches!(op, Op::Load { .. }) && loads.contains(&(at as u32)) {
                return true;
            }
            wanted.extend(uses.into_iter().filter(|o| matches!(o, Opd::R(_))));
        }
        if wanted.len() == before {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_one_event_add_up() {
        let mut c = Cell::default();
        c.add_readers(7, [3, 3]);
        assert_eq!((c.readers, c.thread(1)), ([7, 0], 3));
        // The same instruction in a later iteration: another lane, then another warp.
        c.add_readers(7, [4, 4]);
        assert_eq!((c.readers, c.thread(1), c.thread(2)), ([7, 7], 3, 4));
        c.add_readers(7, [40, 41]);
        assert_eq!((c.thread(1), c.thread(2)), (3, 40));
        // A new event takes the place of both.
        c.add_readers(9, [5, 5]);
        assert_eq!((c.readers, c.thread(1)), ([9, 0], 5));
    }
}
