//! Clusters: blocks that are resident together, meet at barriers of their own, and reach each other's shared memory.
//!
//! Where a kernel asks for the shared memory of another block, that of all blocks of a cluster lies in one place, and every
//! array of it is as many objects as the cluster has blocks: pointers tell them apart, and the shadow of global memory
//! remembers who touched what.

use super::access::{View, Warp};
use super::block::{Block, Wait};
use super::launch::Machine;
use super::races::Kind;
use crate::api::{Finding, Rule};
use crate::compile::lir::Home;

/// How the blocks of a grid are divided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Division {
    grid: [u32; 3],
    cluster: [u32; 3],
}

impl Division {
    pub fn new(grid: [u32; 3], cluster: [u32; 3]) -> Division {
        Division { grid, cluster }
    }

    fn position(self, block: u32) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|n| n.max(1));
        [block % x, block / x % y, block / (x * y)]
    }

    /// The cluster of a block, by the number of its first block.
    pub fn cluster_of(self, block: u32) -> u32 {
        let p = self.position(block);
        let [x, y, z]: [u32; 3] = std::array::from_fn(|a| p[a] - p[a] % self.cluster[a].max(1));
        x + self.grid[0] * (y + self.grid[1] * z)
    }

    /// Its rank there.
    pub fn rank_of(self, block: u32) -> u32 {
        let p = self.position(block);
        let [x, y, z]: [u32; 3] = std::array::from_fn(|a| p[a] % self.cluster[a].max(1));
        x + self.cluster[0] * (y + self.cluster[1] * z)
    }

    /// Blocks of a cluster.
    pub fn blocks(self) -> u32 {
        self.cluster.iter().map(|n| (*n).max(1)).product()
    }
}

/// A cluster of which some block has begun and some has not ended.
pub struct Cluster {
    shared: Vec<u8>,
    /// One for each byte: undefined.
    poison: Vec<u8>,
    /// By rank: the block has ended.
    ended: Vec<bool>,
    /// By rank: an access of another block since the last barrier of the cluster.
    reached: Vec<Option<Reached>>,
}

/// An access to the shared memory of another block.
#[derive(Clone)]
struct Reached {
    place: crate::api::Access,
    pc: usize,
    handle: u64,
    offset: u64,
    interval: u32,
}

impl Machine<'_> {
    /// The cluster that the block belongs to, with room for what its blocks share.
    fn cluster(&mut self, block: u32) -> &mut Cluster {
        let n = self.races.division.blocks() as usize;
        let bytes = if self.program.reaches_clusters { n * self.stride() } else { 0 };
        let (poison, fill) = (u8::from(self.checks.poison), self.options.shared_fill);
        self.grid.clusters.entry(self.races.division.cluster_of(block)).or_insert_with(|| Cluster {
            shared: vec![fill; bytes],
            poison: vec![poison; bytes],
            ended: vec![false; n],
            reached: vec![None; n],
        })
    }

    /// Bytes from the shared memory of one block to that of the next.
    fn stride(&self) -> usize {
        (self.program.shared_bytes as usize).next_multiple_of(256)
    }

    /// An array in the shared memory of the block with that rank.
    pub fn cluster_view(&mut self, b: &Block, handle: u64, home: Home) -> Option<View> {
        let Home::Cluster { rank, base, size } = home else { return None };
        let at = rank as usize * self.stride() + base as usize;
        let check = self.checks.poison;
        let cluster = self.cluster(b.id);
        let poison = match check {
            true => cluster.poison.as_mut_ptr().wrapping_add(at),
            false => std::ptr::null_mut(),
        };
        let bytes = cluster.shared.as_mut_ptr().wrapping_add(at);
        Some(View { handle, home, bytes, len: size.into(), poison })
    }

    /// An access to shared memory of another block: it must not have ended, nor may it end before the next barrier of the
    /// cluster.
    pub fn reach(&mut self, b: &Block, w: &Warp<'_>, kind: Kind, pc: usize) {
        let Home::Cluster { rank, .. } = w.view.home else { return };
        if rank == self.races.division.rank_of(b.id) {
            return;
        }
        let lane = w.mask.trailing_zeros() & 31;
        let reached = Reached {
            place: self.place(b, pc, kind.name(), Some(w.warp * 32 + lane)),
            pc,
            handle: w.view.handle,
            offset: w.offsets[lane as usize],
            interval: b.interval,
        };
        let cluster = self.cluster(b.id);
        match cluster.ended.get(rank as usize) {
            Some(true) => self.report_ended(&reached),
            _ => cluster.reached[rank as usize] = Some(reached),
        }
    }

    fn report_ended(&mut self, r: &Reached) {
        let first = match self.home(r.handle) {
            Home::Cluster { rank, .. } => r.handle - u64::from(rank),
            _ => r.handle,
        };
        let key = (Rule::Dangling, r.pc as u32, first);
        if let Some(&at) = self.refusals.known.get(&key) {
            return self.found.report.count(at, 1);
        }
        let what = r.place.what;
        let text = self.element_text(r.handle, r.offset as i64);
        let at = self.found.report.add(Finding {
            rule: Rule::Dangling,
            kind: Some("cluster"),
            message: format!(
                "{what} of {text} in the shared memory of another block of the cluster, which may have ended: no barrier of the \
                 cluster stands between this and the end of that block"
            ),
            accesses: vec![r.place.clone()],
            array: Some(self.object_name(r.handle)),
            index: self.element_index(r.handle, r.offset as i64),
            interval: Some(r.interval),
            count: 1,
        });
        self.refusals.known.insert(key, at);
    }

    /// A block of a cluster has ended.
    pub fn leave_cluster(&mut self, b: &Block) {
        if self.races.division.blocks() == 1 {
            return;
        }
        let rank = self.races.division.rank_of(b.id) as usize;
        let cluster = self.cluster(b.id);
        cluster.ended[rank] = true;
        let reached = cluster.reached[rank].take();
        let over = cluster.ended.iter().all(|e| *e);
        if let Some(reached) = reached.filter(|_| !b.abandoned) {
            self.report_ended(&reached);
        }
        if over {
            self.grid.clusters.remove(&self.races.division.cluster_of(b.id));
        }
    }

    /// Opens the barriers of clusters to which all blocks have come that have not ended. True: there was one.
    pub fn open_cluster_barriers(&mut self, open: &mut [Block]) -> bool {
        if self.races.division.blocks() == 1 {
            let alone = open.iter_mut().find(|b| waits(b));
            return alone.is_some_and(|b| {
                self.open_cluster_barrier(b);
                true
            });
        }
        let mut any = false;
        for at in 0..open.len() {
            let id = self.races.division.cluster_of(open[at].id);
            if !waits(&open[at]) {
                continue;
            }
            let all = self.races.division.blocks() as usize;
            let ended = self.cluster(id).ended.iter().filter(|e| **e).count();
            let division = self.races.division;
            let here = |b: &&mut Block| division.cluster_of(b.id) == id && waits(b);
            if open.iter_mut().filter(here).count() + ended < all {
                continue;
            }
            any = true;
            self.cluster(id).reached.fill(None);
            for b in open.iter_mut().filter(here) {
                self.open_cluster_barrier(b);
            }
        }
        any
    }

    fn open_cluster_barrier(&mut self, b: &mut Block) {
        self.found.stats.barriers += 1;
        let pc = b.groups.first().map_or(0, |g| g.pc);
        self.look_at_ended(b, pc);
        if b.abandoned {
            return;
        }
        b.interval += 1;
        self.block_barrier_order(b, pc);
        self.races.cluster_bound.insert(b.id, b.interval);
        let groups = std::mem::take(&mut b.groups);
        self.resume(b, groups);
    }
}

/// All threads of the block wait for the others of its cluster.
fn waits(b: &Block) -> bool {
    !b.groups.is_empty() && b.groups.iter().all(|g| g.wait == Wait::Cluster)
}
