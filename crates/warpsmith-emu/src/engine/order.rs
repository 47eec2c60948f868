//! What happens before what.
//!
//! * Barriers of the block divide its execution into intervals.
//! * A warp has a clock that advances at warp-wide operations and fences; each lane knows up to which
//!   time it is ordered after the others.
//! * Between blocks, and within an interval, knowledge travels from a *release* (a fence, then an
//!   atomic or volatile write) to an *acquire* (an atomic or volatile read of the same location that
//!   finds it, then a fence or barrier). Knowledge is transitive. Fences and atomics of one block's
//!   scope hand it on among threads of that block only; one step of narrow scope does not narrow others.
//! * A barrier of some warps hands on what all that arrived have done to those that wait at it.
//! * A barrier of the block behind an atomic function or a volatile read counts as a fence, as in the vendor's own last-block
//!   reduction; behind a load that states its order (`ld.relaxed`, `memory_order_relaxed`) it does not.
//! * A grid barrier orders everything before it.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use warpsmith_ir::Scope;

use super::block::{Block, Group};
use super::launch::Machine;
use super::races::Event;
use crate::compile::lir::{Access, Home};

/// Accesses that are ordered before what its holder does next.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    blocks: BTreeMap<u32, BlockKnowledge>,
}

#[derive(Clone, Debug, Default)]
struct BlockKnowledge {
    /// All accesses in intervals before this one.
    interval: u32,
    /// For a thread: its accesses up to this time of its warp.
    threads: BTreeMap<u32, u32>,
}

type Shared = Option<Rc<Knowledge>>;

impl Knowledge {
    fn covers(&self, e: &Event, thread: u32) -> bool {
        self.blocks.get(&e.block).is_some_and(|k| {
            e.interval < k.interval || k.threads.get(&thread).is_some_and(|t| *t >= e.clock)
        })
    }

    fn join(&mut self, other: &Knowledge) {
        for (block, k) in &other.blocks {
            let own = self.blocks.entry(*block).or_default();
            own.interval = own.interval.max(k.interval);
            for (t, time) in &k.threads {
                let at = own.threads.entry(*t).or_insert(*time);
                *at = (*at).max(*time);
            }
        }
    }
}

fn join(a: &mut Shared, b: &Shared) {
    match (a.as_mut(), b) {
        (_, None) => {}
        (None, Some(_)) => a.clone_from(b),
        (Some(x), Some(y)) if Rc::ptr_eq(x, y) => {}
        (Some(x), Some(y)) => Rc::make_mut(x).join(y),
    }
}

/// Knowledge by how far it goes.
#[derive(Clone, Debug, Default)]
struct Scoped {
    /// For threads of all blocks.
    device: Shared,
    /// For threads of the same block, which get the other as well.
    block: Shared,
}

impl Scoped {
    fn join(&mut self, other: &Scoped) {
        join(&mut self.device, &other.device);
        join(&mut self.block, &other.block);
    }

    fn take(&mut self) -> Scoped {
        std::mem::take(self)
    }

    fn covers(&self, e: &Event, thread: u32) -> bool {
        [&self.device, &self.block].into_iter().flatten().any(|k| k.covers(e, thread))
    }
}

/// The clock of a warp.
#[derive(Clone, Debug, Default)]
struct WarpClock {
    now: u32,
    /// Everything before this time is ordered before all lanes.
    full: u32,
    /// The interval in which `full` was last set.
    full_interval: u32,
    /// `known[b][a]`: lane `b` is ordered after what lane `a` did up to (not including) this time.
    known: Option<Box<[[u32; 32]; 32]>>,
}

impl WarpClock {
    fn orders(&self, clock: u32, from: u32, to: u32) -> bool {
        clock < self.full
            || self.known.as_ref().is_some_and(|k| clock < k[to as usize][from as usize])
    }
}

/// The order within a block that is being executed.
#[derive(Default)]
pub struct BlockOrder {
    warps: Vec<WarpClock>,
    /// Knowledge of all threads of the block.
    base: Shared,
    /// What all threads' fences before the last barrier cover.
    base_released: Scoped,
    know: Vec<Shared>,
    /// What was found and no fence has followed.
    pending: Vec<Scoped>,
    /// The same by loads that state their order: barriers do not make it count.
    loaded: Vec<Scoped>,
    /// What a fence covers.
    released: Vec<Scoped>,
    dirty: bool,
    pub shadow: super::races::BlockShadow,
}

impl BlockOrder {
    pub fn new(warps: u32) -> BlockOrder {
        BlockOrder { warps: vec![WarpClock::default(); warps as usize], ..BlockOrder::default() }
    }

    pub fn clock(&self, warp: u32) -> u32 {
        self.warps[warp as usize].now
    }

    /// Threads of one warp: what `from` did at the time is ordered before `to` now.
    pub fn warp_orders(&self, warp: u32, clock: u32, from: u32, to: u32) -> bool {
        self.warps[warp as usize].orders(clock, from % 32, to % 32)
    }

    /// Some thread has acquired something since the last barrier, or the block ever has.
    pub fn knows(&self, e: &Event, thread: u32, me: u32) -> bool {
        let covers = |k: &Shared| k.as_ref().is_some_and(|k| k.covers(e, thread));
        covers(&self.base) || self.know.get(me as usize).is_some_and(covers)
    }

    /// The thread has found a flag behind it, with a fence or without.
    pub fn found(&self, e: &Event, thread: u32, me: u32) -> bool {
        self.pending.get(me as usize).is_some_and(|k| k.covers(e, thread))
    }

    /// With lockstep warps every instruction orders the accesses before it.
    pub fn lockstep(&mut self, warp: u32) {
        let w = &mut self.warps[warp as usize];
        w.now += 1;
        w.full = w.now;
    }

    fn make_room(&mut self, threads: u32) {
        let n = threads as usize;
        if self.know.len() < n {
            self.know.resize(n, None);
            self.pending.resize(n, Scoped::default());
            self.loaded.resize(n, Scoped::default());
            self.released.resize(n, Scoped::default());
        }
        self.dirty = true;
    }
}

/// What was released at a location.
#[derive(Default)]
pub struct Location {
    device: Shared,
    /// By threads of a block, for others of it.
    blocks: BTreeMap<u32, Shared>,
}

/// Locations through which blocks and threads hand on knowledge; shared ones belong to a block.
pub type Locations = HashMap<(u64, u32), Location>;

impl Machine<'_> {
    /// All threads of the block have met.
    pub fn block_barrier_order(&mut self, b: &mut Block, pc: u32) {
        if self.checks.races {
            b.checks.shadow.next_interval(pc);
        }
        let o = &mut b.checks;
        if !o.dirty {
            return;
        }
        o.dirty = false;
        let mut base = o.base.take();
        for k in &mut o.know {
            join(&mut base, &k.take());
        }
        for k in &mut o.pending {
            let Scoped { device, block } = k.take();
            join(&mut base, &device);
            join(&mut base, &block);
        }
        o.base = base;
        let mut released = o.base_released.take();
        for r in &mut o.released {
            released.join(&r.take());
        }
        o.base_released = released;
    }

    /// Adds what threads have done so far, and know of, to what a barrier of some warps hands on.
    pub fn arrive_order(&mut self, b: &mut Block, warp: u32, lanes: u32, handed: &mut Knowledge) {
        if !self.checks.races {
            return;
        }
        let (block, interval) = (b.id, b.interval);
        b.checks.make_room(self.width);
        for l in lanes_of(lanes) {
            let thread = warp * 32 + l as u32;
            handed.join(&b.checks.snapshot(thread, block, interval));
        }
        b.checks.warps[warp as usize].now += 1;
    }

    /// Threads go on behind such a barrier.
    pub fn depart_order(&mut self, b: &mut Block, warp: u32, lanes: u32, handed: &Rc<Knowledge>) {
        if !self.checks.races {
            return;
        }
        b.checks.make_room(self.width);
        for l in lanes_of(lanes) {
            let know = &mut b.checks.know[warp as usize * 32 + l];
            join(know, &Some(handed.clone()));
        }
    }

    /// The whole grid has met.
    pub fn grid_barrier_order(&mut self, b: &mut Block) {
        self.races.grid_bound.insert(b.id, b.interval);
    }

    /// Lanes of a warp have met.
    pub fn warp_order(&mut self, b: &mut Block, warp: u32, lanes: u32) {
        if !self.checks.races {
            return;
        }
        let alive = b.alive.warps[warp as usize];
        let interval = b.interval;
        let o = &mut b.checks;
        let w = &mut o.warps[warp as usize];
        w.now += 1;
        if alive & !lanes == 0 {
            w.full = w.now;
            w.full_interval = interval;
            w.known = None;
        } else {
            let now = w.now;
            let known = w.known.get_or_insert_with(|| Box::new([[0; 32]; 32]));
            let mut all = [0; 32];
            for l in lanes_of(lanes) {
                for (a, k) in all.iter_mut().zip(known[l]) {
                    *a = (*a).max(k);
                }
            }
            for l in lanes_of(lanes) {
                all[l] = now;
            }
            for l in lanes_of(lanes) {
                known[l] = all;
            }
        }
        if o.dirty {
            let first = warp as usize * 32;
            let (mut know, mut released) = (None, Scoped::default());
            for l in lanes_of(lanes) {
                join(&mut know, &o.know[first + l]);
                released.join(&o.released[first + l]);
            }
            for l in lanes_of(lanes) {
                o.know[first + l].clone_from(&know);
                o.released[first + l].clone_from(&released);
            }
        }
    }

    /// A fence: what was acquired counts from now on, and what was done may be released.
    pub fn fence(&mut self, b: &mut Block, g: &Group, scope: Scope) {
        if !self.checks.races {
            return;
        }
        let (block, interval, width) = (b.id, b.interval, self.width);
        let o = &mut b.checks;
        o.make_room(width);
        for t in g.mask.threads() {
            let i = t as usize;
            // A fence of the block's scope leaves what other blocks released to one that reaches them.
            for found in [&mut o.pending[i], &mut o.loaded[i]] {
                join(&mut o.know[i], &found.block.take());
                if scope != Scope::Block {
                    join(&mut o.know[i], &found.device.take());
                }
            }
            let covered = Some(Rc::new(o.snapshot(t, block, interval)));
            if scope != Scope::Block {
                o.released[i].device.clone_from(&covered);
            }
            o.released[i].block = covered;
        }
        for warp in g.lo..g.hi {
            o.warps[warp as usize].now += 1;
        }
    }

    /// The group's threads read locations that others may have released something at, by accesses of a scope; `states_order`:
    /// by a load whose order says whether that counts.
    pub fn acquire_at(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        scope: Scope,
        states_order: bool,
    ) {
        if !self.races.tracks_order {
            return;
        }
        for (t, pointer) in self.pointers(b, g, a) {
            let key = self.location(b, pointer);
            let Some(found) = self.races.locations.get(&key) else { continue };
            b.checks.make_room(self.width);
            let o = &mut b.checks;
            let list = if states_order { &mut o.loaded } else { &mut o.pending };
            let pending = &mut list[t as usize];
            if let Some(own) = found.blocks.get(&b.id) {
                join(&mut pending.block, own);
            }
            if scope != Scope::Block {
                join(&mut pending.device, &found.device);
            }
        }
    }

    /// The group's threads write locations that others may read to learn of it. An update adds to what was released there, a
    /// store takes its place.
    pub fn release_at(&mut self, b: &mut Block, g: &Group, a: &Access, update: bool, scope: Scope) {
        if !self.races.tracks_order {
            return;
        }
        for (t, pointer) in self.pointers(b, g, a) {
            let mut k = b.checks.base_released.clone();
            if let Some(own) = b.checks.released.get(t as usize) {
                k.join(own);
            }
            if scope == Scope::Block {
                k.device = None;
            }
            let key = self.location(b, pointer);
            if !update {
                self.races.locations.remove(&key);
            }
            if k.device.is_none() && k.block.is_none() {
                continue;
            }
            let location = self.races.locations.entry(key).or_default();
            join(&mut location.device, &k.device);
            join(location.blocks.entry(b.id).or_default(), &k.block);
        }
    }

    fn location(&self, b: &Block, pointer: u64) -> (u64, u32) {
        let owner = match self.home(self.program.locate(pointer).0) {
            Home::Shared { .. } => b.id,
            Home::Cluster { .. } => self.races.division.cluster_of(b.id),
            _ => u32::MAX,
        };
        (pointer, owner)
    }
}

impl BlockOrder {
    /// Everything that is ordered before a fence of the thread.
    fn snapshot(&self, thread: u32, block: u32, interval: u32) -> Knowledge {
        let mut k = Knowledge::default();
        for part in [&self.base, &self.know[thread as usize]].into_iter().flatten() {
            k.join(part);
        }
        let own = k.blocks.entry(block).or_default();
        own.interval = own.interval.max(interval);
        let (warp, lane) = (thread / 32, thread % 32);
        let w = &self.warps[warp as usize];
        own.threads.insert(thread, w.now);
        let synced = w.full > 0 && w.full_interval == interval;
        for a in (0..32).filter(|a| *a != lane) {
            let mut until = if synced { w.full } else { 0 };
            if let Some(known) = &w.known {
                until = until.max(known[lane as usize][a as usize]);
            }
            if until > 0 {
                let at = own.threads.entry(warp * 32 + a).or_insert(0);
                *at = (*at).max(until - 1);
            }
        }
        k
    }
}

fn lanes_of(mask: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32usize).filter(move |l| mask >> l & 1 == 1)
}
