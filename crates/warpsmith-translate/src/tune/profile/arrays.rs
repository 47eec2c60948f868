//! What a kernel's accesses to global memory have in common: reads of one array that move along with each other, like
//! those of a stencil, bring each other's data.

use std::collections::BTreeMap;

use warpsmith_device::{GlobalTraffic, TrafficKind};

use super::footprint;
use super::rows::Sizes;
use super::walk::Site;
use warpsmith_opt::analysis::access::Base;

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
    /// Where other loops have read the same before.
    before: Option<Before>,
    /// The axes of the grid along which blocks touch something else.
    varies: [bool; 3],
    /// The first and the last byte that the whole grid touches, where they are known.
    range: Option<(i64, i64)>,
    /// Its bytes, where they are known.
    size: Option<f64>,
}

/// A loop that has read before what another one reads.
#[derive(Clone, Copy, PartialEq)]
struct Before {
    /// How many of the loops around, innermost first, are others.
    others: usize,
    /// The outermost of these, and of those that now read.
    loops: [usize; 2],
}

/// Joins the sites of a block.
pub fn arrays(sites: &[Site], elsewhere: &Elsewhere, sizes: &Sizes) -> Vec<Array> {
    let mut arrays: Vec<Array> = vec![];
    for (k, site) in sites.iter().enumerate().filter(|(_, s)| !s.shared) {
        let moved = |axis: usize| {
            let there = elsewhere.neighbours.get(axis).and_then(|n| n.get(k));
            there.zip(elsewhere.own.get(k)).is_none_or(|(a, b)| a.first != b.first)
        };
        let [first, last] = &elsewhere.ends;
        let hull = |sites: &[Site]| sites.get(k).and_then(|s| s.hull);
        let range = hull(first).zip(hull(last)).map(|(a, b)| spanned(a, b));
        let size = if let Base::Var(v) = site.base { sizes.get(&v).copied() } else { None };
        let varies = [0, 1, 2].map(moved);
        let before = arrays.iter().filter_map(|other| other.read_before(site));
        let before = before.min_by_key(|b| b.others);
        let found = Array { site: site.clone(), before, varies, range, size };
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
        let alike = (a.store, a.copied, a.atomic) == (b.store, b.copied, b.atomic)
            && self.before == other.before;
        a.base == b.base
            && alike
            && a.shifts == b.shifts
            && (self.before.is_none() || a.around == b.around)
    }

    /// Whether a site reads what this one has read in other loops that run in the same way.
    fn read_before(&self, site: &Site) -> Option<Before> {
        let own = &self.site;
        let reads = !own.store && !site.store && own.copied == site.copied;
        let last = own.around.iter().zip(&site.around).rposition(|(a, b)| a != b)?;
        let before = Before { others: last + 1, loops: [own.around[last], site.around[last]] };
        let seen = site.first.iter().all(|sector| own.first.binary_search(sector).is_ok());
        let same = own.base == site.base && own.shifts == site.shifts && seen;
        (reads && same && !site.first.is_empty()).then_some(before)
    }

    fn join(&mut self, other: Array) {
        self.site.requests += other.site.requests;
        self.site.lanes += other.site.lanes;
        self.site.sectors += other.site.sectors;
        self.site.wavefronts += other.site.wavefronts;
        self.site.first.extend(other.site.first);
        footprint::in_order(&mut self.site.first);
        self.varies = [0, 1, 2].map(|axis| self.varies[axis] || other.varies[axis]);
        self.range = self.range.zip(other.range).map(|(a, b)| spanned(a, b));
    }

    /// Bytes of a block, between two uses of a sector, and of so many blocks, where addresses come from data: a request has
    /// sectors of its own, but for those that a thread goes through in small steps.
    fn scattered(&self, blocks: f64) -> (f64, f64, f64) {
        let requested = self.site.sectors * footprint::SECTOR as f64;
        let size = self.size.unwrap_or(f64::INFINITY);
        let (step, trips) = self.site.shifts.first().copied().unwrap_or((0, 1.0));
        let (new, between) = match step.unsigned_abs() as f64 / footprint::SECTOR as f64 {
            new if new > 0.0 && new < 1.0 => (new, requested / trips.max(1.0)),
            _ => (1.0, 0.0),
        };
        let touched = requested * new;
        (touched.min(size), between, (touched * blocks).min(size))
    }

    /// Elements among so many bytes of sectors: no more than the whole grid reaches.
    fn elements(&self, grid_bytes: f64) -> f64 {
        let reached = self.range.map_or(f64::INFINITY, |(low, high)| (high - low + 1) as f64);
        (reached.min(grid_bytes) / self.site.bytes as f64).max(1.0)
    }

    /// Bytes that a block touches in one run of a loop around.
    fn within(&self, of: usize) -> Option<f64> {
        let last = self.site.around.iter().position(|number| *number == of)?;
        let grown = footprint::grow(&self.site.first, &self.site.shifts[..=last]);
        Some(grown.sectors * footprint::SECTOR as f64)
    }

    /// Bytes that a block touches between the use of a sector in an earlier loop and that here: what all arrays bring there, and on average half
    /// of what only the later loop touches. Arrays of which all blocks read the same are nobody's own.
    fn between(&self, before: Before, all: &[Array]) -> f64 {
        let [earlier, later] = before.loops;
        let own = |array: &&Array| array.varies.contains(&true);
        let mut bytes: BTreeMap<Base, f64> = BTreeMap::new();
        for array in all.iter().filter(own) {
            let there = array.within(earlier).or(array.within(later).map(|bytes| bytes / 2.0));
            let most = bytes.entry(array.site.base).or_default();
            *most = most.max(there.unwrap_or(0.0));
        }
        bytes.entry(self.site.base).or_insert_with(|| {
            let grown = footprint::grow(&self.site.first, &self.site.shifts[..before.others]);
            grown.sectors * footprint::SECTOR as f64
        });
        bytes.values().sum()
    }

    /// The traffic of a grid, beside that of all arrays. Blocks that overlap touch no more together than the range has.
    pub fn traffic(&self, grid: [u64; 3], all: &[Array]) -> GlobalTraffic {
        let site = &self.site;
        let blocks = grid.iter().map(|g| *g as f64).product::<f64>();
        let grown = footprint::grow(&site.first, &site.shifts);
        let block_bytes = grown.sectors * footprint::SECTOR as f64;
        let apart = grid.iter().zip(self.varies).map(|(g, v)| if v { *g as f64 } else { 1.0 });
        let most = self.range.map_or(f64::INFINITY, |(low, high)| (high - low) as f64);
        let (block_bytes, reuse_bytes, grid_bytes) = match site.first.is_empty() {
            true => self.scattered(blocks),
            false => {
                let all = (block_bytes * apart.product::<f64>()).min(most + block_bytes);
                (block_bytes, grown.reuse * footprint::SECTOR as f64, all)
            }
        };
        let elements = self.elements(grid_bytes);
        GlobalTraffic {
            between_passes: self.before.map_or(0.0, |before| self.between(before, all)),
            kind: match (site.store, site.copied) {
                (true, _) if site.atomic => TrafficKind::Atomic,
                (true, _) => TrafficKind::Store,
                (_, true) => TrafficKind::AsyncCopy,
                _ => TrafficKind::Load,
            },
            requests: site.requests * blocks,
            sectors: site.sectors * blocks,
            lanes: site.lanes * blocks,
            lanes_an_element: if site.atomic { site.lanes * blocks / elements } else { 0.0 },
            wavefronts: site.wavefronts * blocks,
            block_bytes,
            reuse_bytes,
            grid_bytes,
            varies: self.varies,
        }
    }
}

fn spanned(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}

#[cfg(test)]
pub(super) mod tests {
    use warpsmith_device::TrafficKind;

    use crate::tune::profile::rows::tests::launched;

    pub const VARIANCE: &str = "
void variance(int n, int m, const float x[n][m], float v[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f, t = 0.0f;
        for (int j = 0; j < m; j++) s += x[i][j];
        for (int j = 0; j < m; j++) t += (x[i][j] - s / m) * (x[i][j] - s / m);
        v[i] = t;
    }
}
";

    pub const GRADIENT: &str = "
void gradient(int n, int m, const float x[n][m], const float g[n][m], const float w[m], float y[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j < m; j++) s += x[i][j] * g[i][j] * w[j];
        for (int j = 0; j < m; j++) y[i][j] = (x[i][j] - s * g[i][j]) * w[j];
    }
}
";

    /// The second pass reads what the first has read a row before; each reads the whole matrix.
    #[test]
    fn a_second_pass_over_a_row_is_traffic_of_its_own() {
        let steps = "bind i -> y block 1x1\nshare j, j#2 -> x by 128\n";
        let profile = launched(VARIANCE, steps, [("n", 1024), ("m", 8192)]).profile;
        let loads = profile.global.iter().filter(|g| g.kind == TrafficKind::Load);
        let between: Vec<f64> = loads.clone().map(|g| g.between_passes).collect();
        assert_eq!(between, [0.0, 8192.0 * 4.0]);
        assert!(loads.clone().all(|g| g.grid_bytes == 1024.0 * 8192.0 * 4.0));
    }

    /// Until a row is read again, a cache has to hold those of both arrays, and half of what is stored meanwhile; what all blocks read
    /// is there once.
    #[test]
    fn a_second_pass_finds_its_row_beside_those_of_all_arrays() {
        let steps = "bind i -> y block 1x1\nshare j, j#2 -> x by 128\n";
        let between = |steps: &str| -> Vec<f64> {
            let profile = launched(GRADIENT, steps, [("n", 1024), ("m", 4096)]).profile;
            let again = profile.global.iter().map(|g| g.between_passes);
            again.filter(|bytes| *bytes > 0.0).collect()
        };
        let row = 4096.0 * 4.0;
        // Of `x` and `g`; of `w` besides its own.
        assert_eq!(between(steps), [2.5 * row, 2.5 * row, 3.5 * row]);
        let side_by_side = between(&format!("{steps}register_tile i by 8\n"));
        assert_eq!(side_by_side.iter().copied().fold(0.0, f64::max), 21.0 * row);
    }
}
