//! What a launch touched of buffers, read from the shadow memory after it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Kind;
use super::cells::Cell;
use crate::api::{Touched, VARIABLES};
use crate::compile::lir::Home;
use crate::engine::launch::Machine;

/// How a granule was touched, from the strongest way on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Written,
    Atomic,
    Flag,
    Read,
}

impl Machine<'_> {
    /// The bytes of each buffer that the launch touched.
    pub fn touched(&self) -> Vec<Touched> {
        let mut all = vec![];
        for (handle, object) in self.program.objects.iter().enumerate() {
            let Some((buffer, length)) = self.visible(&object.home) else { continue };
            let granule = self.races.granules.get(handle).copied().flatten();
            let cells = self.races.shadow.cells.get(handle);
            let (Some(granule), Some(cells)) = (granule, cells) else { continue };
            let mut touched = Touched { buffer, ..Touched::default() };
            for (at, cell) in cells.iter().enumerate() {
                let Some(way) = self.way_of(cell) else { continue };
                let list = match way {
                    Way::Written => &mut touched.written,
                    Way::Atomic => &mut touched.atomic,
                    Way::Flag => &mut touched.flags,
                    Way::Read => &mut touched.read,
                };
                let [from, to] = [at, at + 1].map(|n| (n as u64) << granule);
                extend(list, from..to.min(length as u64));
            }
            if touched != (Touched { buffer, ..Touched::default() }) {
                all.push(touched);
            }
        }
        all
    }

    /// The number and length of a buffer, or of a variable that the host may use.
    fn visible(&self, home: &Home) -> Option<(u32, usize)> {
        match *home {
            Home::Buffer(buffer) => {
                let b = self.memory.buffers.get(buffer as usize);
                Some((buffer, b.map_or(0, |b| b.bytes.len())))
            }
            Home::Variable { index, constant: false } => {
                let variable = self.memory.globals.get(index as usize)?;
                variable.host_writes.then_some((VARIABLES + index, variable.bytes.len()))
            }
            _ => None,
        }
    }

    fn way_of(&self, cell: Cell) -> Option<Way> {
        let events = [cell.writer, cell.readers[0], cell.readers[1]];
        let kinds = events.into_iter().filter(|id| *id != 0);
        let ways = kinds.map(|id| match self.races.shadow.events[id as usize - 1].kind {
            Kind::VolatileRead | Kind::Poll | Kind::VolatileWrite => Way::Flag,
            kind if kind.is_atomic() => Way::Atomic,
            Kind::Read | Kind::Free => Way::Read,
            _ => Way::Written,
        });
        ways.min_by_key(|way| *way as u8)
    }
}

/// What several workers touched, whose blocks have nothing to do with each other.
pub fn united(lists: Vec<Vec<Touched>>) -> Vec<Touched> {
    let mut all: BTreeMap<u32, Touched> = BTreeMap::new();
    for touched in lists.into_iter().flatten() {
        let buffer = touched.buffer;
        let own = all.entry(buffer).or_insert(Touched { buffer, ..Touched::default() });
        own.written.extend(touched.written);
        own.atomic.extend(touched.atomic);
        own.flags.extend(touched.flags);
        own.read.extend(touched.read);
    }
    let sorted = |t: Touched| Touched {
        written: joined(t.written),
        atomic: joined(t.atomic),
        flags: joined(t.flags),
        read: joined(t.read),
        ..t
    };
    all.into_values().map(sorted).collect()
}

/// Ranges in order, those that meet as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|r| r.start);
    let mut list: Vec<Range<u64>> = vec![];
    for range in ranges {
        match list.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => list.push(range),
        }
    }
    list
}

/// Adds a range that begins at or behind the end of the last one.
fn extend(list: &mut Vec<Range<u64>>, range: Range<u64>) {
    match list.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => list.push(range),
    }
}
