//! An access meets what its granules remember.

use super::cells::{Cell, Scan};
use super::report::Meeting;
use super::{Event, Kind};
use crate::compile::lir::{Access, Home};
use crate::engine::access::Warp;
use crate::engine::block::{Block, Group};
use crate::engine::launch::Machine;

impl Machine<'_> {
    /// One lane's access.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    #[inline]
    pub(super) fn visit(
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
            let Some(c) = s.cells.get(i as usize) else { return };
            s.at = i;
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
                self.races.equal.begin();
                for slot in 0..3 {
                    let id = if slot == 0 { c.writer } else { c.readers[slot - 1] };
                    if id != 0 {
                        self.against(b, g, a, s, w, (id, c.thread(slot)), thread, offset);
                    }
                }
                if s.e.kind.is_update() {
                    // Several atomic writers stay known, for a plain access by the last of them.
                    let earlier = (c.writer, c.thread(0));
                    if earlier.0 != 0 {
                        let atomic = self.event_of(b, s, earlier.0).kind.is_update();
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
                self.races.equal.end((s.e.block, s.handle, i));
            }
            s.cells.set(i as usize, cell);
        }
    }

    pub(super) fn event_of(&self, b: &Block, s: &Scan, id: u32) -> Event {
        let shadow = if s.shared { &b.checks.shadow.shadow } else { &self.races.shadow };
        shadow.events[id as usize - 1]
    }

    /// The access was to shared memory of another cluster, which only has its number in common.
    fn of_other_cluster(&self, s: &Scan, e: &Event) -> bool {
        matches!(self.home(s.handle), Home::Cluster { .. })
            && !self.races.same_cluster(e.block, s.e.block)
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
            e.block == s.e.block && e.interval < s.e.interval || self.races.met(e, s.e.block)
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
                self.report_race(b, &Meeting { g, a, w, s, thread, offset, e, earlier });
            }
            return;
        }
        let conflict = match e.block == s.e.block {
            true => e.kind.conflicts(s.e.kind),
            false => e.kind.conflicts_across(s.e.kind),
        };
        if same_thread || !conflict {
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
        } else if self.races.met(&e, s.e.block) || self.of_other_cluster(s, &e) {
            return;
        }
        // Volatile reads stay in order: what one of them found counts for the next without a fence.
        let volatile = matches!(s.e.kind, Kind::VolatileRead | Kind::Poll);
        let found = volatile && e.kind == Kind::VolatileWrite;
        if self.races.tracks_order
            && (b.checks.knows(&e, earlier, thread) || found && b.checks.found(&e, earlier, thread))
        {
            return;
        }
        self.report_race(b, &Meeting { g, a, w, s, thread, offset, e, earlier });
    }
}
