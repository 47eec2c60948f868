//! Accesses that may not be made: out of bounds, misaligned, through invalid pointers.

use crate::api::{Finding, Limit, Rule};
use crate::compile::lir::{Access, Home};
use crate::engine::block::{Block, Group};
use crate::engine::launch::Machine;
use crate::engine::races::Kind;

impl Machine<'_> {
    /// Looks at the lanes that point into `handle` one by one, reports those that may not make the
    /// access and leaves them in `refused`. Gives the lanes looked at.
    #[expect(clippy::too_many_arguments, reason = "one access of one warp")]
    pub(super) fn judge(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        addresses: &mut [u64; 32],
        warp: u32,
        mask: u32,
        handle: u64,
        pc: usize,
        kind: Kind,
    ) -> u32 {
        let size = u64::from(a.elem.bytes()) * u64::from(a.count);
        let mut seen = 0;
        self.refusals.lanes = 0;
        for k in (0..32).filter(|k| mask >> k & 1 == 1) {
            let (h, offset) = self.program.locate(addresses[k]);
            if h != handle {
                continue;
            }
            seen |= 1 << k;
            let thread = warp * 32 + k as u32;
            let Some(view) = self.view(b, h) else {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::InvalidPointer);
                self.refusals.lanes |= 1 << k;
                continue;
            };
            let inside =
                offset >= 0 && (offset as u64).checked_add(size).is_some_and(|end| end <= view.len);
            if !inside && !self.grow(h, offset, size) {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::OutOfBounds);
                self.refusals.lanes |= 1 << k;
            } else if self.is_heap(h)
                && let Some(rule) = self.heap_fault(offset, size)
            {
                self.refuse(b, a, thread, h, offset, pc, kind, rule);
                self.refusals.lanes |= 1 << k;
            } else if offset as u64 & (size - 1) != 0 {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::Misaligned);
                self.refusals.lanes |= 1 << k;
            }
        }
        // A load that does not happen gives an undefined value.
        if self.refusals.lanes != 0 && !a.is_store {
            self.undefined_result(b, g, a, warp, self.refusals.lanes, pc);
        }
        seen
    }

    /// Makes a growing buffer long enough.
    pub fn grow(&mut self, handle: u64, offset: i64, size: u64) -> bool {
        let Home::Buffer(i) = self.home(handle) else { return false };
        let Some(buffer) = self.memory.buffers.get_mut(i as usize) else { return false };
        let Some(end) = u64::try_from(offset).ok().and_then(|o| o.checked_add(size)) else {
            return false;
        };
        if !buffer.grows {
            return false;
        }
        let want = if buffer.exact { end } else { end.next_power_of_two().max(256) };
        let more = want.saturating_sub(buffer.bytes.len() as u64);
        if self.used.saturating_add(more) > self.options.max_memory {
            self.end.limit.get_or_insert(Limit::Memory);
            return false;
        }
        self.used += more;
        buffer.lengthen(want as usize);
        true
    }

    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    pub fn refuse(
        &mut self,
        b: &Block,
        a: &Access,
        thread: u32,
        handle: u64,
        offset: i64,
        pc: usize,
        kind: Kind,
        rule: Rule,
    ) {
        let rule = if self.is_freed(handle) { Rule::Dangling } else { rule };
        let of_heap = self.is_heap(handle);
        let key = (rule, pc as u32, handle);
        if let Some(&at) = self.refusals.known.get(&key) {
            return self.found.report.count(at, 1);
        }
        let size = u64::from(a.elem.bytes()) * u64::from(a.count);
        let what = kind.name();
        let (text, name) = (self.element_text(handle, offset), self.object_name(handle));
        let message = match rule {
            Rule::OutOfBounds if of_heap => {
                let bytes = if size == 1 { "1 byte".to_string() } else { format!("{size} bytes") };
                format!("{what} outside of an allocation: {bytes} at {text}")
            }
            Rule::Dangling if of_heap => format!("{what} of {text}, which was freed before"),
            Rule::OutOfBounds => {
                let extent = self.extent_text(handle);
                format!("{what} of {text} is outside of `{name}`, which has {extent}")
            }
            Rule::Dangling => format!("{what} of {text}, but `{name}` was freed before"),
            Rule::Misaligned => format!(
                "{what} of {size} bytes at {text}, byte {offset} of `{name}`, is not aligned to {size}"
            ),
            _ if offset == 0 && handle == 0 => format!("{what} through a null pointer"),
            _ if matches!(self.home(handle), Home::Local { .. }) => format!(
                "{what} of `{name}`, which belongs to the thread: it needs shared and global memory"
            ),
            _ => format!("{what} through a pointer that leads to no object"),
        };
        let known = rule != Rule::InvalidPointer;
        let mut accesses = vec![self.place(b, pc, what, Some(thread))];
        if of_heap {
            accesses.extend(self.heap_places(offset));
        }
        let index = if known { self.element_index(handle, offset) } else { vec![] };
        let at = self.found.report.add(Finding {
            rule,
            kind: None,
            message,
            accesses,
            array: known.then_some(name),
            index,
            interval: Some(b.interval),
            count: 1,
        });
        self.refusals.known.insert(key, at);
    }

    fn is_freed(&self, handle: u64) -> bool {
        let Home::Buffer(i) = self.home(handle) else { return false };
        self.memory.buffers.get(i as usize).is_some_and(|b| b.freed)
    }

    /// How large an object is, in its own elements.
    fn extent_text(&self, handle: u64) -> String {
        let Some(o) = self.program.objects.get(handle as usize) else { return String::new() };
        let bytes = match o.home {
            Home::Buffer(i) => self.memory.buffers.get(i as usize).map_or(0, |b| b.bytes.len()),
            Home::Variable { index, .. } => {
                self.memory.globals.get(index as usize).map_or(0, |b| b.bytes.len())
            }
            Home::Shared { size, .. } | Home::Cluster { size, .. } | Home::Local { size, .. } => {
                size as usize
            }
            Home::Invalid => 0,
        };
        if o.extents.len() > 1 {
            let dims: String = o.extents.iter().map(|e| format!("[{e}]")).collect();
            return format!("the extents {dims}");
        }
        match bytes as u64 / o.element_bytes.max(1) {
            1 => "1 element".to_string(),
            n => format!("{n} elements"),
        }
    }
}
