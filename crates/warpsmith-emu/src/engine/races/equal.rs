//! Elements to which threads write one value in an interval: whoever of them reads it can only find that value.

use std::collections::HashMap;

use super::{Kind, Races};
use crate::engine::block::Mask;

/// Elements that are followed at the same time; a race about any more of them is a race.
const MOST: usize = 4096;

/// An element: its block, object and granule.
pub(super) type Element = (u32, u64, u64);

/// The threads that have written the value that an element holds, where these are several.
#[derive(Default)]
pub(super) struct EqualWrites {
    writers: HashMap<Element, (u32, Mask)>,
    /// The write at hand left the value that was there.
    now: bool,
}

impl EqualWrites {
    /// A write begins, of which nothing is known yet.
    pub(super) fn begin(&mut self) {
        self.now = false;
    }

    /// Two threads have written the same value in an interval.
    fn add(&mut self, element: Element, interval: u32, threads: [u32; 2]) {
        self.now = true;
        if self.writers.len() >= MOST {
            self.writers.retain(|of, _| of.0 == element.0);
        }
        if self.writers.len() >= MOST && !self.writers.contains_key(&element) {
            return;
        }
        let known = self.writers.entry(element).or_default();
        if known.0 != interval {
            *known = (interval, Mask::default());
        }
        for thread in threads {
            known.1.warps[thread as usize / 32] |= 1 << (thread % 32);
        }
    }

    /// A write has ended: where it was not equal to the ones before, those who wrote them may find another value.
    pub(super) fn end(&mut self, element: Element) {
        if !self.now && !self.writers.is_empty() {
            self.writers.remove(&element);
        }
    }

    fn wrote(&self, element: Element, interval: u32, thread: u32) -> bool {
        self.writers.get(&element).is_some_and(|(of, writers)| {
            *of == interval && writers.warps[thread as usize / 32] >> (thread % 32) & 1 == 1
        })
    }
}

/// An access to an element, by a thread in an interval.
#[derive(Clone, Copy)]
pub(super) struct By {
    pub(super) kind: Kind,
    pub(super) thread: u32,
    pub(super) interval: u32,
}

impl Races {
    /// Takes down that two writes were equal.
    pub(super) fn equal_writes(&mut self, element: Element, first: By, second: By) {
        if first.interval == second.interval {
            self.equal.add(element, first.interval, [first.thread, second.thread]);
        }
    }

    /// A read meets a write of the value that its own thread has written before, as others have.
    pub(super) fn reads_equal(&self, element: Element, first: By, second: By) -> bool {
        let reads = |by: By| matches!(by.kind, Kind::Read | Kind::VolatileRead);
        let plain = |by: By| matches!(by.kind, Kind::Write | Kind::VolatileWrite);
        let reader = match (first, second) {
            (write, read) if plain(write) && reads(read) => read,
            (read, write) if reads(read) && plain(write) && self.equal.now => read,
            _ => return false,
        };
        first.interval == second.interval
            && self.equal.wrote(element, reader.interval, reader.thread)
    }
}
