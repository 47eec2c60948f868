//! Asynchronous copies from global to shared memory: they land when their thread waits for them.

use super::block::{Block, Group};
use super::launch::Machine;
use super::races::Kind;
use crate::api::Rule;
use crate::compile::lir::{Home, Op, Opd};

/// One copy under way.
#[derive(Clone, Debug)]
pub struct Pending {
    pub thread: u32,
    /// The number of the thread's group it belongs to.
    pub group: u32,
    pub handle: u64,
    pub offset: u64,
    pub data: [u8; 16],
    pub len: u8,
    pub pc: u32,
}

/// All copies of a block.
#[derive(Debug, Default)]
pub struct Copies {
    pub pending: Vec<Pending>,
    /// Groups that each thread has closed.
    pub closed: Vec<u32>,
}

impl Machine<'_> {
    /// Starts a copy: the source is read now, the destination holds no value until the wait.
    pub fn async_copy(&mut self, b: &mut Block, g: &mut Group, op: &Op, pc: usize) {
        let Op::AsyncCopy { destination, source, bytes, zero_fill } = op else { return };
        let to = &self.program.accesses[*destination as usize];
        let from = &self.program.accesses[*source as usize];
        if self.checks.poison {
            self.use_in_address(b, g, to, pc);
            self.use_in_address(b, g, from, pc);
        }
        let (targets, sources) = (self.pointers(b, g, to), self.pointers(b, g, from));
        if self.found.counting.is_some() {
            self.count_copies_of(b, g, *bytes, &targets, pc);
            self.count_copies_of(b, g, *bytes, &sources, pc);
        }
        for ((thread, target), (_, origin)) in targets.into_iter().zip(sources) {
            let n = self.lane_value(b, g, *bytes, true, thread);
            let zeros = self.lane_value(b, g, *zero_fill, true, thread).min(n);
            if !matches!(n, 4 | 8 | 16) {
                continue;
            }
            self.start_copy(b, g, pc, thread, (target, origin), n, zeros);
        }
    }

    /// Counts one end of the copies that start: threads that move the same number of bytes together.
    fn count_copies_of(
        &mut self,
        b: &mut Block,
        g: &Group,
        bytes: Opd,
        all: &[(u32, u64)],
        pc: usize,
    ) {
        for n in [4, 8, 16] {
            let mut some = all.to_vec();
            some.retain(|(thread, _)| self.lane_value(b, g, bytes, true, *thread) == n);
            self.count_copies(b, &some, n, pc);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one copy of one thread")]
    fn start_copy(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        pc: usize,
        thread: u32,
        (target, origin): (u64, u64),
        n: u64,
        zeros: u64,
    ) {
        let mut data = [0u8; 16];
        let read = (n - zeros) as usize;
        if read > 0 {
            let Some((view, offset)) =
                self.range(b, origin, read as u64, n, thread, pc, Kind::Read)
            else {
                return;
            };
            self.touch_bytes(b, g, Kind::Read, pc, &view, offset, read as u64, thread);
            for (i, byte) in data.iter_mut().enumerate().take(read) {
                // SAFETY: `range` found the bytes inside of the object.
                *byte = unsafe { view.bytes.add(offset as usize + i).read() };
            }
        }
        let Some((view, offset)) = self.range(b, target, n, n, thread, pc, Kind::Async) else {
            return;
        };
        if !matches!(view.home, Home::Shared { .. }) {
            // Not shared memory: nothing to wait for, the bytes land now.
            self.land(b, view.handle, offset, &data[..n as usize]);
            return;
        }
        self.touch_bytes(b, g, Kind::Async, pc, &view, offset, n, thread);
        b.copies.closed.resize(self.width as usize, 0);
        let group = b.copies.closed[thread as usize];
        let (handle, len) = (view.handle, n as u8);
        if self.checks.races {
            // Touching it before it lands is a race; calling it undefined as well would say it twice.
            self.define_range(b, handle, offset, n);
        }
        b.copies.pending.push(Pending { thread, group, handle, offset, data, len, pc: pc as u32 });
    }

    /// A checked range of bytes of one thread.
    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    fn range(
        &mut self,
        b: &mut Block,
        pointer: u64,
        n: u64,
        align: u64,
        thread: u32,
        pc: usize,
        kind: Kind,
    ) -> Option<(super::access::View, u64)> {
        let (handle, offset) = self.program.locate(pointer);
        let Some(mut view) = self.view(b, handle) else {
            self.refuse_bytes(b, (handle, offset), n, thread, pc, kind, Rule::InvalidPointer);
            return None;
        };
        let inside = offset >= 0 && (offset as u64).checked_add(n).is_some_and(|e| e <= view.len);
        if !inside {
            if !self.grow(handle, offset, n) {
                self.refuse_bytes(b, (handle, offset), n, thread, pc, kind, Rule::OutOfBounds);
                return None;
            }
            view = self.view(b, handle)?;
        }
        if self.is_heap(handle)
            && let Some(rule) = self.heap_fault(offset, n)
        {
            self.refuse_bytes(b, (handle, offset), n, thread, pc, kind, rule);
            return None;
        }
        // What a thread has of its own has no address that the copying unit could reach.
        if matches!(view.home, Home::Local { .. }) {
            self.refuse_bytes(b, (handle, offset), n, thread, pc, kind, Rule::InvalidPointer);
            return None;
        }
        if offset as u64 & (align - 1) != 0 {
            self.refuse_bytes(b, (handle, offset), n, thread, pc, kind, Rule::Misaligned);
            return None;
        }
        Some((view, offset as u64))
    }

    pub fn async_commit(&mut self, b: &mut Block, g: &Group) {
        b.copies.closed.resize(self.width as usize, 0);
        for t in g.mask.threads() {
            b.copies.closed[t as usize] += 1;
        }
    }

    /// Lands the copies of all but the last `n` closed groups of each thread.
    pub fn async_wait(&mut self, b: &mut Block, g: &mut Group, n: u32, pc: usize) {
        if b.copies.pending.is_empty() {
            return;
        }
        b.copies.closed.resize(self.width as usize, 0);
        let mut rest = vec![];
        for p in std::mem::take(&mut b.copies.pending) {
            let (warp, lane) = (p.thread as usize / 32, p.thread % 32);
            let closed = b.copies.closed[p.thread as usize];
            let due = g.mask.warps[warp] >> lane & 1 == 1 && p.group < closed.saturating_sub(n);
            if !due {
                rest.push(p);
                continue;
            }
            self.land(b, p.handle, p.offset, &p.data[..usize::from(p.len)]);
            self.landed(b, g, &p, pc);
        }
        b.copies.pending = rest;
    }

    fn land(&mut self, b: &mut Block, handle: u64, offset: u64, data: &[u8]) {
        let Some(view) = self.view(b, handle) else { return };
        let mut defined = 0;
        for (i, byte) in data.iter().enumerate() {
            let at = offset as usize + i;
            if at as u64 >= view.len {
                return;
            }
            // SAFETY: `at` lies inside of the object, and poison has as many bytes.
            unsafe {
                view.bytes.add(at).write(*byte);
                if !view.poison.is_null() {
                    defined += u64::from(view.poison.add(at).read());
                    view.poison.add(at).write(0);
                }
            }
        }
        if matches!(view.home, Home::Shared { .. }) {
            b.shared_undefined = b.shared_undefined.saturating_sub(defined);
        }
        self.progress.changes += 1;
    }

    fn define_range(&mut self, b: &mut Block, handle: u64, offset: u64, n: u64) {
        let Some(view) = self.view(b, handle) else { return };
        if view.poison.is_null() || offset + n > view.len {
            return;
        }
        // SAFETY: poison has one byte for each byte of the object.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(view.poison.add(offset as usize), n as usize) };
        let defined: u64 = bytes.iter().map(|p| u64::from(*p)).sum();
        bytes.fill(0);
        b.shared_undefined = b.shared_undefined.saturating_sub(defined);
    }
}
