//! What a kernel's accesses to global memory have in common: reads of one array that move along with each other, like
//! those of a stencil, bring each other's data.

use warpsmith_device::{GlobalTraffic, TrafficKind};

use super::footprint;
use super::walk::Site;

/// The walks of other blocks, with a site for each site of the block in question.
pub struct Elsewhere {
    /// Of the first threads of the block itself.
    pub own: Vec<Site>,
    /// Of the same threads in the next block along each axis.
    pub neighbours: Vec<Vec<Site>>,
    /// And in the first and the last block of the grid.
    pub ends: [Vec<Site>; 2],
}

/// Accesses to an array, with the same loops around them.
pub struct Array {
    site: Site,
    /// The axes of the grid along which blocks touch something else.
    varies: [bool; 3],
    /// The first and the last byte that the whole grid touches, where they are known.
    range: Option<(i64, i64)>,
}

/// Joins the sites of a block.
pub fn arrays(sites: &[Site], elsewhere: &Elsewhere) -> Vec<Array> {
    let mut arrays: Vec<Array> = vec![];
    for (k, site) in sites.iter().enumerate().filter(|(_, s)| !s.shared) {
        let moved = |axis: usize| {
            let there = elsewhere.neighbours.get(axis).and_then(|n| n.get(k));
            there.zip(elsewhere.own.get(k)).is_none_or(|(a, b)| a.first != b.first)
        };
        let [first, last] = &elsewhere.ends;
        let hull = |sites: &[Site]| sites.get(k).and_then(|s| s.hull);
        let range = hull(first).zip(hull(last)).map(|(a, b)| spanned(a, b));
        let found = Array { site: site.clone(), varies: [0, 1, 2].map(moved), range };
        match arrays.iter_mut().find(|other| other.moves_with(&found)) {
            Some(other) => other.join(found),
            None => arrays.push(found),
        }
    }
    arrays
}

impl Array {
    fn moves_with(&self, other: &Array) -> bool {
        let (a, b) = (&self.site, &other.site);
        a.base == b.base && a.store == b.store && a.copied == b.copied && a.shifts == b.shifts
    }

    fn join(&mut self, other: Array) {
        self.site.requests += other.site.requests;
        self.site.sectors += other.site.sectors;
        self.site.wavefronts += other.site.wavefronts;
        self.site.first.extend(other.site.first);
        self.varies = [0, 1, 2].map(|axis| self.varies[axis] || other.varies[axis]);
        self.range = self.range.zip(other.range).map(|(a, b)| spanned(a, b));
    }

    /// The traffic of a grid. Blocks that overlap touch no more together than the range has.
    pub fn traffic(&self, grid: [u64; 3]) -> GlobalTraffic {
        let site = &self.site;
        let blocks = grid.iter().map(|g| *g as f64).product::<f64>();
        let grown = footprint::grow(&site.first, &site.shifts);
        let block_bytes = grown.sectors * footprint::SECTOR as f64;
        let apart = grid.iter().zip(self.varies).map(|(g, v)| if v { *g as f64 } else { 1.0 });
        let most = self.range.map_or(f64::INFINITY, |(low, high)| (high - low) as f64);
        GlobalTraffic {
            kind: match (site.store, site.copied) {
                (true, _) => TrafficKind::Store,
                (_, true) => TrafficKind::AsyncCopy,
                _ => TrafficKind::Load,
            },
            requests: site.requests * blocks,
            sectors: site.sectors * blocks,
            wavefronts: site.wavefronts * blocks,
            block_bytes,
            reuse_bytes: grown.reuse * footprint::SECTOR as f64,
            grid_bytes: (block_bytes * apart.product::<f64>()).min(most + block_bytes),
            varies: self.varies,
        }
    }
}

fn spanned(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}
