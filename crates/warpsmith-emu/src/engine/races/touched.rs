//! What a launch touched of buffers, read from the shadow memory after it.

use std::ops::Range;

use super::Kind;
use super::cells::Cell;
use crate::api::Touched;
use crate::compile::lir::Home;
use crate::engine::launch::Machine;

/// How a granule was touched, from the strongest way on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Written,
    Atomic,
    Read,
}

impl Machine<'_> {
    /// The bytes of each buffer that the launch touched.
    pub fn touched(&self) -> Vec<Touched> {
        let mut all = vec![];
        for (handle, object) in self.program.objects.iter().enumerate() {
            let Home::Buffer(buffer) = object.home else { continue };
            let granule = self.races.granules.get(handle).copied().flatten();
            let cells = self.races.shadow.cells.get(handle);
            let (Some(granule), Some(cells)) = (granule, cells) else { continue };
            let length = self.memory.buffers.get(buffer as usize).map_or(0, |b| b.bytes.len());
            let mut touched = Touched { buffer, ..Touched::default() };
            for (at, cell) in cells.iter().enumerate() {
                let Some(way) = self.way_of(cell) else { continue };
                let list = match way {
                    Way::Written => &mut touched.written,
                    Way::Atomic => &mut touched.atomic,
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

    fn way_of(&self, cell: Cell) -> Option<Way> {
        let events = [cell.writer, cell.readers[0], cell.readers[1]];
        let kinds = events.into_iter().filter(|id| *id != 0);
        let ways = kinds.map(|id| match self.races.shadow.events[id as usize - 1].kind {
            // Flags order what other kernels do, if anything does.
            Kind::VolatileRead | Kind::Poll | Kind::VolatileWrite => Way::Atomic,
            kind if kind.is_atomic() => Way::Atomic,
            Kind::Read | Kind::Free => Way::Read,
            _ => Way::Written,
        });
        ways.min_by_key(|way| *way as u8)
    }
}

/// Adds a range that begins at or behind the end of the last one.
fn extend(list: &mut Vec<Range<u64>>, range: Range<u64>) {
    match list.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => list.push(range),
    }
}
