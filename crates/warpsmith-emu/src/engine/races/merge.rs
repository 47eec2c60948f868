//! What workers leave behind in memory, put together.
//!
//! Each worker runs some blocks on its own copy of memory, with its own shadow. When no element that
//! one of them wrote was touched by another, every order of the blocks gives the same memory: the
//! written elements of all copies. Integer counters that are only updated atomically, all by the same
//! operation, are put together by that operation.

use std::collections::{BTreeSet, HashMap};

use warpsmith_ir::{AtomicOp, BinaryOp, Scalar, eval};

use super::Races;
use super::cells::{Cell, Cells};
use crate::api::{Buffer, DeviceMemory};
use crate::compile::lir::{Home, Program, from_register, to_register};

/// Objects that the kernel only updates by one atomic operation, with the type of their elements.
pub type Atomics = HashMap<u64, (AtomicOp, Scalar)>;

/// What race detection learnt in the blocks of one worker.
#[derive(Default)]
pub struct Trace {
    /// By object, for global memory.
    cells: Vec<Cells>,
    peak: u64,
    needed: BTreeSet<u32>,
    executed: BTreeSet<u32>,
    constraints: BTreeSet<Vec<u32>>,
}

const TOUCHED: u8 = 1;
const WRITTEN: u8 = 2;

impl Cell {
    fn state(&self) -> u8 {
        match (self.writer, self.readers) {
            (0, [0, 0]) => 0,
            (0, _) => TOUCHED,
            _ => WRITTEN,
        }
    }
}

impl Races {
    pub fn into_trace(self) -> Trace {
        Trace {
            cells: self.shadow.cells,
            peak: self.peak,
            needed: self.needed,
            executed: self.executed,
            constraints: self.constraints,
        }
    }

    /// Granules of the objects in global memory only: enough to see what blocks hand on to each other.
    pub fn across_blocks(p: &Program, granules: &[Option<u32>]) -> Vec<Option<u32>> {
        let global =
            |i: usize| matches!(p.objects[i].home, Home::Buffer(_) | Home::Variable { .. });
        granules.iter().enumerate().map(|(i, g)| g.filter(|_| global(i))).collect()
    }

    /// Some worker touched an element that another one wrote. `own`: what was run before the workers.
    pub fn conflict(own: &Races, traces: &[&Trace], atomics: &Atomics) -> bool {
        let all = || std::iter::once(&own.shadow.cells).chain(traces.iter().map(|t| &t.cells));
        let objects = all().map(Vec::len).max().unwrap_or(0);
        (0..objects).filter(|h| !atomics.contains_key(&(*h as u64))).any(|h| {
            let mut seen: Vec<u8> = vec![];
            all().filter_map(|cells| cells.get(h)).any(|cells| {
                if seen.len() < cells.len() {
                    seen.resize(cells.len(), 0);
                }
                let mut bad = false;
                for (s, c) in seen.iter_mut().zip(cells.iter()) {
                    let state = c.state();
                    bad |= *s + state > WRITTEN;
                    *s = (*s).max(state);
                }
                bad
            })
        })
    }

    /// Bytes of shadow memory that one worker would have needed for everything.
    pub fn merged_bytes(&self, traces: &[&Trace]) -> u64 {
        let all = || std::iter::once(&self.shadow.cells).chain(traces.iter().map(|t| &t.cells));
        let objects = all().map(Vec::len).max().unwrap_or(0);
        let peak = traces.iter().map(|t| t.peak).chain([self.peak]).max().unwrap_or(0);
        let of = |h: usize| all().filter_map(|cells| cells.get(h)).map(Cells::len).max();
        let global: u64 = (0..objects).filter_map(|h| Some(of(h)? as u64)).sum();
        peak + global * self.cell_bytes()
    }

    /// Takes over what a worker learnt about barriers and memory in use.
    pub fn absorb(&mut self, trace: Trace) {
        self.peak = self.peak.max(trace.peak);
        self.needed.extend(trace.needed);
        self.executed.extend(trace.executed);
        self.constraints.extend(trace.constraints);
    }
}

impl Trace {
    /// Moves what the worker wrote to its copy `from` over to `to`. `to` is as long as `from` at
    /// least; `before` holds the bytes of the `atomics` as all workers found them.
    pub fn write_back(
        &self,
        p: &Program,
        granules: &[Option<u32>],
        atomics: &Atomics,
        before: &HashMap<u64, Vec<u8>>,
        from: &DeviceMemory,
        to: &mut DeviceMemory,
    ) {
        for (h, cells) in self.cells.iter().enumerate() {
            let (Some(object), Some(granule)) =
                (p.objects.get(h), granules.get(h).copied().flatten())
            else {
                continue;
            };
            let Some((from, to)) = buffers(object.home, from, to) else { continue };
            let handle = h as u64;
            match (atomics.get(&handle), before.get(&handle)) {
                (Some(&(op, ty)), Some(old)) => {
                    combine(cells, granule, (op, ty), &from.bytes, old, to)
                }
                _ => copy(cells, granule, from, to),
            }
        }
    }
}

/// An object's buffer in two memories; `None` when it is not in global memory.
fn buffers<'m>(
    home: Home,
    from: &'m DeviceMemory,
    to: &'m mut DeviceMemory,
) -> Option<(&'m Buffer, &'m mut Buffer)> {
    match home {
        Home::Buffer(i) => Some((from.buffers.get(i as usize)?, to.buffers.get_mut(i as usize)?)),
        Home::Variable { index, .. } => {
            let i = index as usize;
            Some((from.globals.get(i)?, to.globals.get_mut(i)?))
        }
        _ => None,
    }
}

/// Written granules, row by row.
fn copy(cells: &Cells, granule: u32, from: &Buffer, to: &mut Buffer) {
    let mut at = 0;
    while at < cells.len() {
        let written = |i: &usize| cells.get(*i).is_some_and(|c| c.writer != 0);
        if !written(&at) {
            at += 1;
            continue;
        }
        let run = (at..cells.len()).take_while(written).count();
        let end = ((at + run) << granule).min(from.bytes.len());
        let bytes = (at << granule).min(end)..end;
        to.bytes[bytes.clone()].copy_from_slice(&from.bytes[bytes.clone()]);
        if let (Some(new), Some(old)) = (from.poison.get(bytes.clone()), to.poison.get_mut(bytes)) {
            old.copy_from_slice(new);
        }
        at += run;
    }
}

/// Updated elements: what the worker's updates amount to, on top of what is there.
fn combine(
    cells: &Cells,
    granule: u32,
    (op, ty): (AtomicOp, Scalar),
    from: &[u8],
    before: &[u8],
    to: &mut Buffer,
) {
    let size = ty.bytes() as usize;
    let per_element = (size >> granule).max(1);
    for i in 0..cells.len().div_ceil(per_element) {
        let bytes = i * size..(i + 1) * size;
        if !cells.written(i * per_element..(i + 1) * per_element) || bytes.end > from.len() {
            continue;
        }
        // What lies beyond the end of a buffer that grows is what it grows with.
        let pattern = to.pattern.clone();
        let read = |b: &[u8]| {
            let stored = b.get(bytes.clone()).and_then(|part| eval::from_bytes(ty, part));
            let grown = || {
                let part: Vec<u8> = match pattern.len() {
                    0 => return from_register(ty, 0),
                    n => bytes.clone().map(|i| pattern[i % n]).collect(),
                };
                eval::from_bytes(ty, &part).unwrap_or(from_register(ty, 0))
            };
            stored.unwrap_or_else(grown)
        };
        let (new, old, sum) = (read(from), read(before), read(&to.bytes));
        let bin = |op, a, b| eval::binary(op, a, b);
        let less = |a, b| eval::binary(BinaryOp::Lt, a, b).bits != 0;
        let value = match op {
            AtomicOp::Min if less(new, sum) => new,
            AtomicOp::Max if less(sum, new) => new,
            AtomicOp::Min | AtomicOp::Max => sum,
            AtomicOp::And => bin(BinaryOp::BitAnd, sum, new),
            AtomicOp::Or => bin(BinaryOp::BitOr, sum, new),
            AtomicOp::Xor => bin(BinaryOp::BitXor, sum, bin(BinaryOp::BitXor, new, old)),
            // Additions and subtractions: wrapping sums come apart again.
            _ => bin(BinaryOp::Add, sum, bin(BinaryOp::Sub, new, old)),
        };
        to.bytes[bytes].copy_from_slice(&to_register(value).to_le_bytes()[..size]);
    }
}

/// Whether the order of such updates shows in no result.
pub fn commutes(op: AtomicOp, ty: Scalar) -> bool {
    use AtomicOp::{Add, And, Max, Min, Or, Sub, Xor};
    !ty.is_float() && matches!(op, Add | Sub | And | Or | Xor | Min | Max)
}
