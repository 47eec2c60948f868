//! What one request of a warp costs, from the addresses of its active lanes.

use crate::counters::{BANKS, LINE, SECTOR};

/// The addresses of a warp's active lanes; each moves `size` bytes, a power of two up to 16.
pub struct Request<'a> {
    pub addresses: &'a [u64; 32],
    pub mask: u32,
    pub size: u64,
}

impl Request<'_> {
    fn lanes(&self) -> impl Iterator<Item = u64> + Clone {
        (0..32).filter(|k| self.mask >> k & 1 == 1).map(|k| self.addresses[k])
    }

    /// The different sectors, ascending.
    pub fn sectors(&self) -> Vec<u64> {
        let of = |a: u64| a / SECTOR..=(a + self.size - 1) / SECTOR;
        let mut list: Vec<u64> = self.lanes().flat_map(of).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// The fewest sectors that the bytes would fit in.
    pub fn ideal_sectors(&self) -> u64 {
        (self.different() * self.size).div_ceil(SECTOR)
    }

    /// Lanes with different addresses.
    pub fn different(&self) -> u64 {
        let mut list: Vec<u64> = self.lanes().collect();
        list.sort_unstable();
        list.dedup();
        list.len() as u64
    }

    /// Wavefronts of shared memory, and how few there would be without conflicts.
    pub fn bank_wavefronts(&self, atomic: bool) -> (u64, u64) {
        let (mut wavefronts, mut ideal) = (0, 0);
        for lanes in self.served_together() {
            let mut words: Vec<u64> = (0..32)
                .filter(|k| lanes >> k & 1 == 1)
                .flat_map(|k| {
                    let a = self.addresses[k];
                    a / 4..=(a + self.size - 1) / 4
                })
                .collect();
            if words.is_empty() {
                continue;
            }
            words.sort_unstable();
            if !atomic {
                words.dedup();
            }
            let mut banks = [0u64; BANKS as usize];
            words.iter().for_each(|w| banks[(w % BANKS) as usize] += 1);
            wavefronts += banks.into_iter().max().unwrap_or(0);
            ideal += 1;
        }
        (wavefronts, ideal)
    }

    /// Masks of the active lanes that shared memory serves together: all, or halves of the warp that want 8 bytes each,
    /// or quarters that want 16. Two neighbouring parts are one when all their lanes want the same as the lane next
    /// to them, or all the same as the next but one. (Measured on an H200.)
    fn served_together(&self) -> Vec<u32> {
        let (count, width) = match self.size {
            16.. => (4, 8),
            8 => (2, 16),
            _ => (1, 32),
        };
        let part = |n: u32| self.mask & ((u32::MAX >> (32 - width)) << (n * width));
        if count == 1 {
            return vec![self.mask];
        }
        let pairs = (0..count).step_by(2).flat_map(|n| {
            let both = part(n) | part(n + 1);
            if self.agree(both, 1) || self.agree(both, 2) {
                vec![both]
            } else {
                vec![part(n), part(n + 1)]
            }
        });
        pairs.collect()
    }

    /// Each of the lanes wants the same as the one whose number differs by `bit`, if that is among them.
    fn agree(&self, lanes: u32, bit: usize) -> bool {
        (0..32usize)
            .filter(|k| lanes >> k & 1 == 1)
            .all(|k| lanes >> (k ^ bit) & 1 == 0 || self.addresses[k] == self.addresses[k ^ bit])
    }

    /// Wavefronts of the first-level cache for these sectors: tags lie in four banks by the number of the line, and
    /// a wavefront looks up one line of each and moves four sectors at most.
    pub fn tag_wavefronts(sectors: &[u64]) -> f64 {
        let mut lines: Vec<u64> = sectors.iter().map(|s| s / (LINE / SECTOR)).collect();
        lines.dedup();
        let bank = |b: u64| lines.iter().filter(|l| **l % 4 == b).count();
        let tags = (0..4).map(bank).max().unwrap_or(0) as f64;
        tags.max(sectors.len() as f64 / 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(size: u64, mask: u32, f: impl Fn(u64) -> u64) -> ([u64; 32], u32, u64) {
        (std::array::from_fn(|k| f(k as u64)), mask, size)
    }

    fn banks((addresses, mask, size): ([u64; 32], u32, u64), atomic: bool) -> (u64, u64) {
        Request { addresses: &addresses, mask, size }.bank_wavefronts(atomic)
    }

    #[test]
    fn banks_serve_a_word_each() {
        let all = u32::MAX;
        assert_eq!(banks(request(4, all, |k| 4 * k), false), (1, 1), "a row");
        assert_eq!(banks(request(4, all, |_| 64), false), (1, 1), "a broadcast");
        assert_eq!(banks(request(4, all, |k| 128 * k), false), (32, 1), "a column of 32 floats");
        assert_eq!(banks(request(4, all, |k| 132 * k), false), (1, 1), "a padded column");
        assert_eq!(banks(request(4, all, |k| 8 * k), false), (2, 1), "every other word");
        assert_eq!(banks(request(1, all, |k| k), false), (1, 1), "bytes of eight words");
        assert_eq!(banks(request(8, all, |k| 8 * k), false), (2, 2), "doubles, half a warp each");
        assert_eq!(banks(request(8, 0xffff, |k| 8 * k), false), (1, 1), "half a warp of doubles");
        assert_eq!(banks(request(16, all, |k| 16 * k), false), (4, 4), "float4, quarters");
        assert_eq!(banks(request(16, all, |k| 32 * k), false), (8, 4), "every other float4");
        assert_eq!(banks(request(8, all, |_| 0), false), (1, 1), "a broadcast of doubles");
        assert_eq!(banks(request(8, all, |k| k / 2 * 8), false), (1, 1), "pairs of lanes");
        assert_eq!(banks(request(8, all, |k| k % 16 * 8), false), (2, 2), "halves alike");
        assert_eq!(banks(request(16, all, |_| 0), false), (2, 2), "a broadcast of float4");
        assert_eq!(banks(request(16, all, |k| k / 8 * 16), false), (2, 2), "quarters of the warp");
        assert_eq!(banks(request(16, all, |k| k % 2 * 16), false), (2, 2), "every other lane");
        assert_eq!(banks(request(16, all, |k| k % 8 * 16), false), (4, 4), "quarters alike");
        assert_eq!(banks(request(16, all, |k| k / 16 * 128), false), (2, 2), "halves, far apart");
        assert_eq!(banks(request(16, all, |k| k / 8 * 128), false), (4, 2), "quarters, one bank");
        assert_eq!(banks(request(16, all, |k| k / 4 * 128), false), (8, 2), "eighths, one bank");
        assert_eq!(banks(request(4, all, |k| k / 2 * 4), true), (2, 1), "atomics of pairs");
        assert_eq!(banks(request(4, all, |_| 0), true), (32, 1), "atomics on one counter");
        assert_eq!(banks(request(4, 0, |_| 0), false), (0, 0), "nobody");
    }

    #[test]
    fn sectors_of_a_request() {
        let sectors = |(addresses, mask, size): ([u64; 32], u32, u64)| {
            let r = Request { addresses: &addresses, mask, size };
            (r.sectors().len() as u64, r.ideal_sectors())
        };
        assert_eq!(sectors(request(4, u32::MAX, |k| 4 * k)), (4, 4), "coalesced");
        assert_eq!(sectors(request(4, u32::MAX, |k| 4 * k + 4)), (5, 4), "off by an element");
        assert_eq!(sectors(request(4, u32::MAX, |k| 8 * k)), (8, 4), "every other");
        assert_eq!(sectors(request(4, u32::MAX, |k| 128 * k)), (32, 4), "a column");
        assert_eq!(sectors(request(4, u32::MAX, |_| 40)), (1, 1), "a broadcast");
        assert_eq!(sectors(request(16, u32::MAX, |k| 16 * k)), (16, 16), "float4");
        assert_eq!(sectors(request(4, 1, |k| 4 * k)), (1, 1), "one lane");
    }
}
