//! The heap of the device: `malloc`, `new`, `free` and `delete` of kernels.
//!
//! All of it is one buffer that lives across launches. Memory that was freed is not handed out again, so that whoever still
//! uses it is found; between two allocations lies some that belongs to nobody.

use std::collections::BTreeMap;

use warpsmith_ir::Span;

use super::access::View;
use super::block::{Block, Group};
use super::launch::Machine;
use super::races::Kind;
use crate::api::{Access, Buffer, BufferId, DeviceMemory, Finding, Limit, Rule};
use crate::compile::lir::{Home, Opd};
use crate::memory::device_pointer;

/// What findings call it.
const NAME: &str = "heap";

/// Multiples of this are where allocations begin, as on a device.
const ALIGNMENT: u64 = 16;

/// Bytes behind an allocation that belong to nobody: as many as it has, within these bounds.
const GAP: (u64, u64) = (64, 1024);

/// What kernels have allocated so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    /// Where it lies.
    pub(crate) buffer: BufferId,
    /// By their first byte.
    blocks: BTreeMap<u64, Allocation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allocation {
    bytes: u64,
    made: Option<Span>,
    /// Where it was given back.
    freed: Option<Option<Span>>,
}

impl DeviceMemory {
    /// The buffer of the heap, which is made where there is none yet.
    pub fn with_heap(&mut self) -> BufferId {
        if let Some(heap) = &self.heap {
            return heap.buffer;
        }
        let buffer = self.add(Buffer { name: NAME.to_string(), ..Buffer::default() });
        self.heap = Some(Heap { buffer, blocks: BTreeMap::new() });
        buffer
    }
}

impl Heap {
    /// The allocation that an offset lies in, or behind.
    fn block(&self, offset: i64) -> Option<(u64, &Allocation)> {
        let offset = u64::try_from(offset).ok()?;
        self.blocks.range(..=offset).next_back().map(|(start, block)| (*start, block))
    }

    /// The rule that an access of `size` bytes breaks.
    fn fault(&self, offset: i64, size: u64) -> Option<Rule> {
        match self.block(offset) {
            Some((start, block)) if (offset as u64 - start).saturating_add(size) <= block.bytes => {
                block.freed.is_some().then_some(Rule::Dangling)
            }
            _ => Some(Rule::OutOfBounds),
        }
    }
}

impl Machine<'_> {
    /// The object is the heap.
    #[inline]
    pub fn is_heap(&self, handle: u64) -> bool {
        self.heap_handle == handle
    }

    /// The rule that an access of the heap breaks.
    pub fn heap_fault(&self, offset: i64, size: u64) -> Option<Rule> {
        self.memory.heap.as_ref().and_then(|heap| heap.fault(offset, size))
    }

    /// A byte of the heap in words; with its number in its allocation.
    pub fn heap_text(&self, offset: i64) -> (String, i64) {
        match self.memory.heap.as_ref().and_then(|heap| heap.block(offset)) {
            Some((start, block)) => {
                let at = offset - start as i64;
                (format!("byte {at} of an allocation of {} bytes", block.bytes), at)
            }
            None => (format!("byte {offset} of the {NAME}"), offset),
        }
    }

    /// Where the allocation at an offset was made, and given back.
    pub fn heap_places(&self, offset: i64) -> Vec<Access> {
        let Some((_, block)) = self.memory.heap.as_ref().and_then(|heap| heap.block(offset)) else {
            return vec![];
        };
        let place = |span, what| Access { span, what, thread: None };
        let made = std::iter::once(place(block.made, "allocation"));
        let freed = block.freed.map(|span| place(span, "free"));
        made.chain(freed).filter(|place| place.span.is_some()).collect()
    }

    /// Memory for each thread of the group, in the order of their numbers.
    pub fn heap_allocate(&mut self, b: &mut Block, g: &mut Group, bytes: Opd, to: Opd, pc: usize) {
        if self.checks.poison {
            self.report_use(b, g, bytes, pc, "the size of an allocation");
        }
        let Opd::V(row) = to else { return };
        for thread in g.mask.threads() {
            let size = self.lane_value(b, g, bytes, true, thread);
            let pointer = self.allocate_block(size, pc).unwrap_or(0);
            b.set_lane(row, self.width, true, thread, pointer);
        }
        self.define(b, g, to, pc);
    }

    /// A pointer to memory that holds nothing yet; `None`, with the limit set: there is not so much.
    fn allocate_block(&mut self, size: u64, pc: usize) -> Option<u64> {
        let made = self.span_at(pc);
        let heap = self.memory.heap.as_mut()?;
        let buffer = self.memory.buffers.get_mut(heap.buffer.0 as usize)?;
        let start = buffer.bytes.len() as u64;
        let more =
            size.saturating_add(size.clamp(GAP.0, GAP.1)).checked_next_multiple_of(ALIGNMENT);
        let more = more.filter(|more| self.used.saturating_add(*more) <= self.options.max_memory);
        let Some(more) = more else {
            self.end.limit.get_or_insert(Limit::Memory);
            return None;
        };
        self.used += more;
        let end = (start + more) as usize;
        buffer.bytes.resize(end, 0);
        buffer.poison.resize(end, true);
        self.undefined.in_buffers = true;
        heap.blocks.insert(start, Allocation { bytes: size, made, freed: None });
        Some(device_pointer(heap.buffer, start as i64))
    }

    fn span_at(&self, pc: usize) -> Option<Span> {
        let site = self.program.sites.get(pc).copied().unwrap_or(0);
        self.program.spans.get(site as usize).copied().flatten()
    }

    /// Gives memory back.
    pub fn heap_free(&mut self, b: &mut Block, g: &mut Group, pointer: Opd, pc: usize) {
        let mut undefined = [0; 32];
        if self.checks.poison {
            self.report_use(b, g, pointer, pc, "an address");
            for warp in g.lo..g.hi {
                undefined[(warp as usize) & 31] = self.undefined_lanes(b, g, pointer, warp);
            }
        }
        for thread in g.mask.threads() {
            let pointer = self.lane_value(b, g, pointer, true, thread);
            let of_warp = undefined[(thread as usize / 32) & 31];
            let unknown = (of_warp >> (thread % 32)) & 1 == 1;
            if pointer != 0 && !unknown {
                self.free_block(b, g, pointer, thread, pc);
            }
        }
    }

    fn free_block(&mut self, b: &mut Block, g: &Group, pointer: u64, thread: u32, pc: usize) {
        let (handle, offset) = self.program.locate(pointer);
        let span = self.span_at(pc);
        let heap = self.memory.heap.as_mut().filter(|_| handle == self.heap_handle);
        let block = heap.and_then(|heap| heap.blocks.get_mut(&(offset as u64)));
        let Some(block) = block else {
            return self.refuse_free(b, handle, offset, thread, pc, Rule::InvalidPointer);
        };
        if block.freed.is_some() {
            return self.refuse_free(b, handle, offset, thread, pc, Rule::Dangling);
        }
        block.freed = Some(span);
        let bytes = block.bytes;
        let Some(view) = self.view(b, handle).filter(|_| bytes > 0) else { return };
        // Others must have done with all of it.
        self.touch_bytes(b, g, Kind::Free, pc, &view, offset as u64, bytes, thread);
    }

    fn refuse_free(
        &mut self,
        b: &Block,
        handle: u64,
        offset: i64,
        thread: u32,
        pc: usize,
        rule: Rule,
    ) {
        let key = (rule, pc as u32, handle);
        if let Some(&at) = self.refusals.known.get(&key) {
            return self.found.report.count(at, 1);
        }
        let of_heap = self.is_heap(handle);
        let message = match (rule, of_heap, self.home(handle)) {
            (Rule::Dangling, ..) => "an allocation is freed a second time".to_string(),
            (_, true, _) => {
                format!("`free` of a pointer to {}, not to its begin", self.heap_text(offset).0)
            }
            (_, _, Home::Invalid) => "`free` of a pointer that leads to no object".to_string(),
            _ => format!("`free` of `{}`, which the heap did not give", self.object_name(handle)),
        };
        let mut accesses = vec![self.place(b, pc, "free", Some(thread))];
        if of_heap {
            let places = self.heap_places(offset);
            // The second `free` of a double one may be the same statement.
            let other = |p: &Access| p.span != accesses[0].span;
            let more: Vec<Access> = places.into_iter().filter(other).collect();
            accesses.extend(more);
        }
        let at = self.found.report.add(Finding {
            rule,
            kind: None,
            message,
            accesses,
            array: Some(self.object_name(handle)).filter(|name| !name.is_empty()),
            index: vec![],
            interval: Some(b.interval),
            count: 1,
        });
        self.refusals.known.insert(key, at);
    }

    /// What of an object may be read and written without a closer look: of the heap nothing.
    pub(super) fn plain_view(&mut self, b: &mut Block, handle: u64) -> Option<View> {
        let view = self.view(b, handle)?;
        Some(if self.is_heap(handle) { View { len: 0, ..view } } else { view })
    }
}
