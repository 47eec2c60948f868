//! Numbers without pattern that are the same in every run.

/// The numbers that follow from one (splitmix64).
pub(crate) struct Mix(pub u64);

impl Mix {
    /// From several numbers.
    pub fn of(from: &[u32]) -> Mix {
        let mut mix = Mix(0);
        for n in from {
            mix.0 ^= u64::from(*n) + 1;
            mix.next();
        }
        mix
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
