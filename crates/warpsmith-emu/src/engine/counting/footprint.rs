//! The sectors of an array that blocks touch, and how soon they touch them again.

/// What is remembered of one array.
#[derive(Default)]
pub struct Footprint {
    pub requests: u64,
    pub sectors: u64,
    pub wavefronts: f64,
    /// By sector: the time of its last touch; 0: never.
    last: Vec<u64>,
    /// The block at work and the time it began.
    block: Option<u32>,
    began: u64,
    /// Different sectors of each block, summed.
    pub block_sectors: u64,
    pub reuses: u64,
    pub reuse_distance: u64,
    /// For each block a number that depends on which sectors it touched and on nothing else.
    signatures: Vec<(u32, u64)>,
}

impl Footprint {
    /// One request of a block; `now` counts the sectors that all requests touch.
    pub fn touch(&mut self, block: u32, now: &mut u64, sectors: &[u64], wavefronts: f64) {
        if self.block != Some(block) {
            self.block = Some(block);
            self.began = *now;
            self.signatures.push((block, 0));
        }
        self.requests += 1;
        self.sectors += sectors.len() as u64;
        self.wavefronts += wavefronts;
        for &s in sectors {
            *now += 1;
            let at = s as usize;
            if self.last.len() <= at {
                self.last.resize((at + 1).next_power_of_two(), 0);
            }
            let last = std::mem::replace(&mut self.last[at], *now);
            if last > self.began {
                self.reuses += 1;
                self.reuse_distance += *now - last - 1;
                continue;
            }
            self.block_sectors += 1;
            if let Some((_, signature)) = self.signatures.last_mut() {
                *signature ^= mix(s + 1);
            }
        }
    }

    /// Different sectors of all blocks.
    pub fn grid_sectors(&self) -> u64 {
        self.last.iter().filter(|t| **t != 0).count() as u64
    }

    /// Adds what other blocks touched.
    pub fn add(&mut self, other: Footprint) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.wavefronts += other.wavefronts;
        self.block_sectors += other.block_sectors;
        self.reuses += other.reuses;
        self.reuse_distance += other.reuse_distance;
        self.signatures.extend(other.signatures);
        if self.last.len() < other.last.len() {
            self.last.resize(other.last.len(), 0);
        }
        self.last.iter_mut().zip(&other.last).for_each(|(a, b)| *a = (*a).max(*b));
    }

    /// Along which axes of the grid some two neighbours touch different sectors; `run` are the blocks that were run, where
    /// not all were.
    pub fn varies(&self, grid: [u32; 3], run: Option<&[u32]>) -> [bool; 3] {
        let mut of = std::collections::HashMap::new();
        for (block, signature) in &self.signatures {
            *of.entry(*block).or_insert(0) ^= signature;
        }
        let total: u32 = grid.iter().product();
        let signature = |block: u32| of.get(&block).copied().unwrap_or(0);
        let was_run = |block: u32| run.is_none_or(|run| run.contains(&block));
        let differs = |block: u32, own: u64| was_run(block) && signature(block) != own;
        let steps = [1, grid[0], grid[0].saturating_mul(grid[1])];
        std::array::from_fn(|axis| {
            let step = steps[axis];
            of.keys().any(|&block| {
                let own = signature(block);
                let at = block / step % grid[axis];
                let before = at > 0 && differs(block - step, own);
                let behind = block.checked_add(step).is_some_and(|n| n < total);
                before || behind && at + 1 < grid[axis] && differs(block + step, own)
            })
        })
    }
}

/// Spreads the bits of a number; sums of such numbers tell sets apart.
fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_touch_sectors_again() {
        let (mut f, mut now) = (Footprint::default(), 0);
        f.touch(0, &mut now, &[3, 4], 1.0);
        f.touch(0, &mut now, &[4, 5], 1.0);
        f.touch(1, &mut now, &[4], 1.0);
        assert_eq!((f.requests, f.sectors, f.block_sectors), (3, 5, 4));
        assert_eq!((f.reuses, f.reuse_distance), (1, 0), "sector 4 again, at once");
        assert_eq!(f.grid_sectors(), 3);
        assert_eq!(f.varies([2, 1, 1], None), [true, false, false]);
        assert_eq!(f.varies([1, 2, 1], None), [false, true, false]);
        // What was not run says nothing.
        assert_eq!(f.varies([2, 2, 1], Some(&[0, 1])), [true, false, false]);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let (mut whole, mut now) = (Footprint::default(), 0);
        let (mut a, mut b) = (Footprint::default(), Footprint::default());
        let (mut t, mut u) = (0, 0);
        for block in 0..4u32 {
            let sectors = [u64::from(block), 9];
            let (part, clock) = if block < 2 { (&mut a, &mut t) } else { (&mut b, &mut u) };
            for _ in 0..2 {
                whole.touch(block, &mut now, &sectors, 1.5);
                part.touch(block, clock, &sectors, 1.5);
            }
        }
        a.add(b);
        let facts = |f: &Footprint| {
            (f.requests, f.sectors, f.block_sectors, f.reuses, f.reuse_distance, f.grid_sectors())
        };
        assert_eq!(facts(&a), facts(&whole));
        assert_eq!(a.varies([2, 2, 1], None), whole.varies([2, 2, 1], None));
    }
}
