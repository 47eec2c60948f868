//! Who wrote an element, read from the shadow memory after a launch.

use super::Kind;
use crate::api::{Access, BufferId};
use crate::compile::lir::Home;
use crate::engine::launch::Machine;

impl Machine<'_> {
    /// The last threads that wrote a byte of a buffer: one store, or the atomics that the shadow memory still holds.
    pub fn writers(&self, buffer: BufferId, byte: u64) -> Vec<Access> {
        let home =
            |o: &crate::compile::lir::Object| matches!(o.home, Home::Buffer(b) if b == buffer.0);
        let Some(handle) = self.program.objects.iter().position(home) else { return vec![] };
        let Some(Some(granule)) = self.races.granules.get(handle) else { return vec![] };
        let cells = self.races.shadow.cells.get(handle);
        let Some(cell) = cells.and_then(|c| c.get((byte >> granule) as usize)) else {
            return vec![];
        };
        let slots = [(cell.writer, 0), (cell.readers[0], 1), (cell.readers[1], 2)];
        let mut writers: Vec<Access> = vec![];
        for (id, slot) in slots.into_iter().filter(|(id, _)| *id != 0) {
            let e = self.races.shadow.events[id as usize - 1];
            if e.kind.reads_only() || e.kind == Kind::Async {
                continue;
            }
            let site = self.program.sites.get(e.pc as usize).copied().unwrap_or(0);
            let access = Access {
                span: self.program.spans.get(site as usize).copied().flatten(),
                what: e.kind.name(),
                thread: Some(self.thread_ref(e.block, cell.thread(slot))),
            };
            if !writers.contains(&access) {
                writers.push(access);
            }
        }
        writers
    }
}
