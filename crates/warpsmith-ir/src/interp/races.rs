//! Who touched what in a nest that is bound to the machine, and which two accesses have no order.

use std::collections::HashMap;

use super::InterpErrorKind;

/// Who runs: a block, the interval between two of its barriers, and a thread of it; or all its threads together, with a
/// number of the statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Who {
    pub block: u32,
    pub epoch: u32,
    pub thread: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Atomic,
}

/// Shared memory belongs to a block: what others did to it does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    who: Who,
    kind: Kind,
}

/// The last accesses to a byte: writes (plain ones, atomic ones) and reads, no two of them that would conflict with the
/// same others.
#[derive(Clone, Debug, Default)]
struct Cell {
    touches: Vec<Touch>,
    /// A group of asynchronous copies that brings the byte.
    pending: Option<u32>,
}

/// All accesses of a nest so far.
#[derive(Debug, Default)]
pub(crate) struct Races {
    pub who: Who,
    /// What is done now is part of an atomic operation.
    pub atomic: bool,
    /// The group that asynchronous copies belong to now; groups below `arrived` are there.
    pub group: u32,
    arrived: u32,
    /// The collective statement that runs now copies asynchronously.
    pub asynchronous: bool,
    cells: HashMap<(u32, u64), Cell>,
}

impl Races {
    /// Notes an access of `bytes` bytes. `object` is what messages call the memory.
    ///
    /// # Errors
    /// [`InterpErrorKind::Race`], or that the bytes are still on their way.
    pub fn touch(
        &mut self,
        (id, at): (u32, usize),
        bytes: usize,
        kind: Kind,
        object: &dyn Fn() -> String,
    ) -> Result<(), InterpErrorKind> {
        let kind = if self.atomic { Kind::Atomic } else { kind };
        let now = Touch { who: self.who, kind };
        for byte in at..at + bytes {
            let cell = self.cells.entry((id, byte as u64)).or_default();
            if cell.pending.is_some_and(|g| g >= self.arrived) && !self.asynchronous {
                return Err(InterpErrorKind::NotArrived { object: object(), offset: byte as i64 });
            }
            if let Some(other) = cell.touches.iter().find(|t| conflict(t, &now)) {
                return Err(InterpErrorKind::Race {
                    object: object(),
                    offset: byte as i64,
                    blocks: other.who.block != now.who.block,
                    writes: [other.kind != Kind::Read, kind != Kind::Read],
                });
            }
            if self.asynchronous && kind == Kind::Write {
                cell.pending = Some(self.group);
            }
            remember(&mut cell.touches, now);
        }
        Ok(())
    }

    /// Waits until at most `left` closed groups are on their way. What arrives was written now.
    pub fn wait(&mut self, left: u32) {
        let arrived = self.group.saturating_sub(left).max(self.arrived);
        for cell in self.cells.values_mut() {
            if cell.pending.is_some_and(|g| g < arrived) {
                cell.pending = None;
                let own = cell.touches.iter_mut().filter(|t| t.who.block == self.who.block);
                own.for_each(|t| t.who.epoch = self.who.epoch);
            }
        }
        self.arrived = arrived;
    }

    /// The memory is gone: shared variables of a block that has ended.
    pub fn forget(&mut self, id: u32) {
        self.cells.retain(|(own, _), _| *own != id);
    }

    /// As [`Races::forget`], for all objects from this one on: their numbers will be those of others.
    pub fn forget_from(&mut self, id: u32) {
        self.cells.retain(|(own, _), _| *own < id);
    }
}

/// Whether two accesses to a byte have no order and are not both reads, or both atomic.
fn conflict(a: &Touch, b: &Touch) -> bool {
    let harmless = (a.kind == Kind::Read && b.kind == Kind::Read)
        || (a.kind == Kind::Atomic && b.kind == Kind::Atomic);
    let ordered =
        a.who.block == b.who.block && (a.who.epoch != b.who.epoch || a.who.thread == b.who.thread);
    !harmless && !ordered
}

/// Adds an access, and drops those that conflict with nothing but what this one conflicts with.
fn remember(touches: &mut Vec<Touch>, now: Touch) {
    // Of one kind: two threads of the latest interval, and two blocks, stand for all.
    let same_kind = |t: &Touch| t.kind == now.kind;
    if touches.contains(&now) {
        return;
    }
    touches
        .retain(|t| !(same_kind(t) && t.who.block == now.who.block && t.who.epoch < now.who.epoch));
    let in_block = touches.iter().filter(|t| same_kind(t) && t.who.block == now.who.block).count();
    if in_block >= 2 {
        return;
    }
    let others = touches.iter().filter(|t| same_kind(t) && t.who.block != now.who.block).count();
    if others >= 4 {
        let first = touches.iter().position(|t| same_kind(t) && t.who.block != now.who.block);
        first.into_iter().for_each(|k| _ = touches.remove(k));
    }
    touches.push(now);
}
