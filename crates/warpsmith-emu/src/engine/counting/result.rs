//! The counts of a launch in the form that callers see.

use std::collections::BTreeMap;

use super::classes::class;
use super::{Counting, Tally, memory_kind};
use crate::api::LaunchConfig;
use crate::compile::lir::{Op, Opd, Program};
use crate::counters::{
    AccessCounters, AccessKind, ArrayCounters, BranchCounters, Count, Counters,
    InstructionClass as Class, MemoryKind,
};

impl Counting {
    /// `run` are the blocks that were run, where not all were.
    pub fn finish(&self, p: &Program, launch: &LaunchConfig, run: Option<&[u32]>) -> Counters {
        let threads: u32 = launch.block.iter().product();
        Counters {
            blocks: self.blocks,
            warps: self.blocks * u64::from(threads.div_ceil(32)),
            classes: self.classes(p),
            accesses: self.accesses(p),
            branches: self.branches(p),
            arrays: self.arrays(p, launch.grid, run),
        }
    }

    fn classes(&self, p: &Program) -> Vec<(Class, Count)> {
        let mut list: BTreeMap<Class, Count> = BTreeMap::new();
        let mut add = |c: Class, n: Count| {
            let sum = list.entry(c).or_default();
            sum.warps += n.warps;
            sum.threads += n.threads;
        };
        for (op, n) in p.code.iter().zip(&self.executed).filter(|(_, n)| n.warps > 0) {
            if let Some(c) = class(op) {
                add(c, *n);
            }
        }
        for ((_, handle, kind), t) in &self.tallies {
            let memory = p.objects.get(*handle as usize).and_then(|o| memory_kind(o.home));
            if let Some(c) = memory.and_then(|(m, _)| access_class(m, *kind)) {
                add(c, t.requests);
            }
        }
        list.into_iter().collect()
    }

    /// Accesses of the same place in the source are one.
    fn accesses(&self, p: &Program) -> Vec<AccessCounters> {
        let mut sums: BTreeMap<_, (u32, Tally)> = BTreeMap::new();
        for ((pc, handle, kind), t) in &self.tallies {
            let site = p.sites.get(*pc as usize).copied().unwrap_or(0);
            let span = p.spans.get(site as usize).copied().flatten();
            let sum =
                sums.entry((span, *handle, *kind, t.bytes)).or_insert((site, Tally::default()));
            sum.1.add(t);
        }
        sums.into_iter()
            .filter_map(|((span, handle, kind, bytes), (_, t))| {
                let o = p.objects.get(handle as usize)?;
                let (memory, _) = memory_kind(o.home)?;
                Some(AccessCounters {
                    span,
                    array: o.name.clone(),
                    memory,
                    kind,
                    bytes,
                    requests: t.requests,
                    sectors: t.sectors,
                    ideal_sectors: t.ideal_sectors,
                    wavefronts: t.wavefronts,
                    ideal_wavefronts: t.ideal_wavefronts,
                    worst_wavefronts: t.worst,
                })
            })
            .collect()
    }

    fn branches(&self, p: &Program) -> Vec<BranchCounters> {
        let mut sums: BTreeMap<_, (Count, u64)> = BTreeMap::new();
        for (pc, op) in p.code.iter().enumerate() {
            let (Op::BranchFalse { cond, .. } | Op::BranchTrue { cond, .. }) = op else { continue };
            let n = self.executed[pc];
            if n.warps == 0 || !matches!(cond, Opd::V(_)) {
                continue;
            }
            let span = p.spans.get(p.sites[pc] as usize).copied().flatten();
            let (executed, divergent) = sums.entry(span).or_default();
            executed.warps += n.warps;
            executed.threads += n.threads;
            *divergent += self.divergent[pc];
        }
        let counters = |(span, (executed, divergent))| BranchCounters { span, executed, divergent };
        sums.into_iter().map(counters).collect()
    }

    fn arrays(&self, p: &Program, grid: [u32; 3], run: Option<&[u32]>) -> Vec<ArrayCounters> {
        let array = |((handle, kind), f): (&(u64, AccessKind), &super::Footprint)| {
            Some(ArrayCounters {
                array: p.objects.get(*handle as usize)?.name.clone(),
                kind: *kind,
                requests: f.requests,
                sectors: f.sectors,
                wavefronts: f.wavefronts,
                block_sectors: f.block_sectors,
                grid_sectors: f.grid_sectors(),
                reuses: f.reuses,
                reuse_distance: f.reuse_distance,
                varies: f.varies(grid, run),
            })
        };
        self.footprints.iter().filter_map(array).collect()
    }
}

/// The class of an access. The far end of an asynchronous copy is no instruction of its own.
fn access_class(memory: MemoryKind, kind: AccessKind) -> Option<Class> {
    use AccessKind::{AsyncCopy, Atomic, Load, Store};
    Some(match (memory, kind) {
        (MemoryKind::Shared, AsyncCopy) => return None,
        (_, AsyncCopy) => Class::AsyncCopy,
        (MemoryKind::Global, Load) => Class::GlobalLoad,
        (MemoryKind::Global, Store) => Class::GlobalStore,
        (MemoryKind::Global, Atomic) => Class::GlobalAtomic,
        (MemoryKind::Shared, Load) => Class::SharedLoad,
        (MemoryKind::Shared, Store) => Class::SharedStore,
        (MemoryKind::Shared, Atomic) => Class::SharedAtomic,
        (MemoryKind::Constant, _) => Class::ConstantLoad,
        (MemoryKind::Local, Load) => Class::LocalLoad,
        (MemoryKind::Local, _) => Class::LocalStore,
    })
}
