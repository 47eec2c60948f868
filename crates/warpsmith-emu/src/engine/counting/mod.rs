//! Performance counters while a launch runs, see [`crate::counters`].

mod classes;
mod footprint;
mod request;
mod result;

use std::collections::BTreeMap;

use self::footprint::Footprint;
use self::request::Request;
use super::access::Warp;
use super::block::{Block, Group, Mask};
use super::launch::Machine;
use super::races::Kind;
use crate::compile::lir::{Home, Program};
use crate::counters::{AccessKind, Count, MemoryKind};

/// Counts so far.
pub struct Counting {
    /// Executions, by instruction.
    executed: Vec<Count>,
    /// Warps whose lanes went both ways, by instruction.
    divergent: Vec<u64>,
    /// By instruction, object and what is done to it.
    tallies: BTreeMap<(u32, u64, AccessKind), Tally>,
    /// By object in global memory, and what is done to it.
    footprints: BTreeMap<(u64, AccessKind), Footprint>,
    /// The block at work, and the sectors it touched.
    block: u32,
    now: u64,
    blocks: u64,
}

/// The requests of one access to one object.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    requests: Count,
    bytes: u32,
    sectors: u64,
    ideal_sectors: u64,
    wavefronts: f64,
    ideal_wavefronts: f64,
    worst: f64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.requests.warps += other.requests.warps;
        self.requests.threads += other.requests.threads;
        self.bytes = self.bytes.max(other.bytes);
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.worst = self.worst.max(other.worst);
    }
}

impl Counting {
    pub fn new(p: &Program) -> Counting {
        Counting {
            executed: vec![Count::default(); p.code.len()],
            divergent: vec![0; p.code.len()],
            tallies: BTreeMap::new(),
            footprints: BTreeMap::new(),
            block: u32::MAX,
            now: 0,
            blocks: 0,
        }
    }

    /// A group executes an instruction.
    pub fn execute(&mut self, g: &Group) {
        if let Some(n) = self.executed.get_mut(g.pc as usize) {
            n.warps += g.mask.warps.iter().filter(|w| **w != 0).count() as u64;
            n.threads += u64::from(g.active);
        }
    }

    /// Threads of a group jump and others do not.
    pub fn branch(&mut self, g: &Group, jump: &Mask) {
        if let Some(n) = self.divergent.get_mut(g.pc as usize) {
            let both =
                g.mask.warps.iter().zip(jump.warps.iter()).filter(|(m, j)| **j != 0 && j != m);
            *n += both.count() as u64;
        }
    }

    /// A block has ended.
    pub fn end_block(&mut self) {
        self.blocks += 1;
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: Counting) {
        for (n, m) in self.executed.iter_mut().zip(&other.executed) {
            n.warps += m.warps;
            n.threads += m.threads;
        }
        self.divergent.iter_mut().zip(&other.divergent).for_each(|(n, m)| *n += m);
        for (key, t) in &other.tallies {
            self.tallies.entry(*key).or_default().add(t);
        }
        for (key, f) in other.footprints {
            self.footprints.entry(key).or_default().add(f);
        }
        self.blocks += other.blocks;
    }

    fn request(&mut self, key: (u32, u64, AccessKind), memory: MemoryKind, r: &Request<'_>) {
        let mut t = Tally { bytes: r.size as u32, ..Tally::default() };
        t.requests = Count { warps: 1, threads: r.mask.count_ones().into() };
        match memory {
            MemoryKind::Global => {
                let sectors = r.sectors();
                t.sectors = sectors.len() as u64;
                t.ideal_sectors = r.ideal_sectors();
                t.wavefronts = Request::tag_wavefronts(&sectors);
                t.ideal_wavefronts = t.wavefronts;
                let f = self.footprints.entry((key.1, key.2)).or_default();
                f.touch(self.block, &mut self.now, &sectors, t.wavefronts);
            }
            MemoryKind::Local => {
                let sectors = local_sectors(r);
                t.sectors = sectors.len() as u64;
                t.ideal_sectors = (t.requests.threads * r.size).div_ceil(crate::counters::SECTOR);
                t.wavefronts = Request::tag_wavefronts(&sectors);
                t.ideal_wavefronts = t.wavefronts;
            }
            MemoryKind::Shared => {
                let (wavefronts, ideal) = r.bank_wavefronts(key.2 == AccessKind::Atomic);
                t.wavefronts = wavefronts as f64;
                t.ideal_wavefronts = ideal as f64;
            }
            MemoryKind::Constant => {
                t.wavefronts = r.different() as f64;
                t.ideal_wavefronts = t.wavefronts;
            }
        }
        t.worst = t.wavefronts;
        self.tallies.entry(key).or_default().add(&t);
    }
}

/// Sectors of local memory: neighbouring lanes have neighbouring words.
fn local_sectors(r: &Request<'_>) -> Vec<u64> {
    let mut words: Vec<u64> = vec![];
    for lane in (0..32u64).filter(|k| r.mask >> k & 1 == 1) {
        let a = r.addresses[lane as usize];
        words.extend((a / 4..=(a + r.size - 1) / 4).map(|w| w * 32 + lane));
    }
    let mut sectors: Vec<u64> = words.into_iter().map(|w| w / 8).collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors
}

fn memory_kind(home: Home) -> Option<(MemoryKind, u64)> {
    match home {
        Home::Invalid => None,
        Home::Buffer(_) | Home::Variable { constant: false, .. } => Some((MemoryKind::Global, 0)),
        Home::Variable { constant: true, .. } => Some((MemoryKind::Constant, 0)),
        Home::Shared { base, .. } | Home::Cluster { base, .. } => {
            Some((MemoryKind::Shared, base.into()))
        }
        Home::Local { base, .. } => Some((MemoryKind::Local, base.into())),
    }
}

impl Machine<'_> {
    /// Counts an access of a warp whose addresses have been checked.
    pub fn count_access(&mut self, b: &Block, w: &Warp<'_>, kind: Kind, pc: usize) {
        let Some(counting) = &mut self.found.counting else { return };
        let Some((memory, base)) = memory_kind(w.view.home) else { return };
        let kind = match kind {
            Kind::Read | Kind::VolatileRead | Kind::Poll => AccessKind::Load,
            Kind::Write | Kind::VolatileWrite => AccessKind::Store,
            Kind::Atomic | Kind::AtomicRead | Kind::BlockAtomic | Kind::BlockAtomicRead => {
                AccessKind::Atomic
            }
            Kind::Async | Kind::Landed => AccessKind::AsyncCopy,
            // No access of the memory system.
            Kind::Free => return,
        };
        let addresses = std::array::from_fn(|k| w.offsets[k].wrapping_add(base));
        counting.block = b.id;
        let r = Request { addresses: &addresses, mask: w.mask, size: w.size };
        counting.request((pc as u32, w.view.handle, kind), memory, &r);
    }

    /// Counts the copies that the threads of a group start: pairs of a thread and its pointer, `n` bytes each.
    pub fn count_copies(&mut self, b: &Block, pointers: &[(u32, u64)], n: u64, pc: usize) {
        let mut left = pointers;
        while let Some(&(thread, pointer)) = left.first() {
            let (warp, handle) = (thread / 32, self.program.locate(pointer).0);
            let same = |(t, p): &&(u32, u64)| t / 32 == warp && self.program.locate(*p).0 == handle;
            let together = left.iter().take_while(same).count();
            let (now, rest) = left.split_at(together);
            left = rest;
            let Some((memory, base)) = memory_kind(self.home(handle)) else { continue };
            let Some(counting) = &mut self.found.counting else { return };
            let (mut addresses, mut mask) = ([0u64; 32], 0);
            for (t, p) in now {
                let Ok(offset) = u64::try_from(self.program.locate(*p).1) else { continue };
                addresses[(t % 32) as usize] = offset + base;
                mask |= 1 << (t % 32);
            }
            if mask == 0 {
                continue;
            }
            counting.block = b.id;
            let r = Request { addresses: &addresses, mask, size: n };
            counting.request((pc as u32, handle, AccessKind::AsyncCopy), memory, &r);
        }
    }
}
