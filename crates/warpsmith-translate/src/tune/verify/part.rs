//! A few blocks of each launch instead of all: those at corners, at edges and inside.

use std::collections::BTreeSet;
use std::sync::Arc;

use warpsmith_emu::{Arg, DeviceMemory, LaunchConfig};

/// Launches of which not all blocks are run.
#[derive(Debug, Default)]
pub struct Part {
    /// A launch that reads what a part of an earlier one wrote is refused.
    pub strict: bool,
    /// Buffers that were written in part.
    partial: BTreeSet<usize>,
    /// Blocks that were run, and all of them.
    pub blocks: u64,
    pub of: u64,
    /// Thread instructions that all blocks would take.
    pub whole_instructions: u64,
    /// Blocks of the launch at hand, and all of it.
    now: (u64, u64),
}

impl Part {
    /// Nothing was run yet.
    pub fn new(strict: bool) -> Part {
        Part { strict, ..Part::default() }
    }

    /// The blocks of a launch that are run; `None`: all.
    ///
    /// # Errors
    /// It may read what was written in part.
    pub fn begin(&mut self, launch: &LaunchConfig) -> Result<Option<Arc<[u32]>>, String> {
        let reads = |arg: &Arg| match arg {
            Arg::Pointer { buffer, .. } => self.partial.contains(&(buffer.0 as usize)),
            _ => false,
        };
        if self.strict && launch.args.iter().any(reads) {
            return Err("a launch depends on blocks that were not run".into());
        }
        let all: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
        let some = blocks(launch.grid);
        self.now = (some.len() as u64, all);
        self.blocks += some.len() as u64;
        self.of += all;
        Ok((self.now.0 < all).then(|| some.into()))
    }

    /// After a launch: `before` holds the buffers as they were, where they matter.
    pub fn end(&mut self, before: &[Vec<u8>], device: &DeviceMemory, instructions: u64) {
        let (run, all) = self.now;
        self.whole_instructions += instructions / run.max(1) * all;
        let changed = before.iter().zip(&device.buffers).enumerate();
        self.partial.extend(changed.filter(|(_, (old, b))| **old != b.bytes).map(|(k, _)| k));
    }
}

/// Flat numbers of blocks: the first, the second, the middle one and the last two along each of the longer axes.
fn blocks(grid: [u32; 3]) -> Vec<u32> {
    let axes = grid.iter().filter(|n| **n > 1).count();
    let along = |n: u32| -> BTreeSet<u32> {
        let ends = [0, n / 2, n - 1];
        let more = [1, n / 4, n.saturating_sub(2)];
        let more = more.into_iter().filter(|k| axes < 2 && *k < n);
        ends.into_iter().chain(more).collect()
    };
    let [x, y, z] = grid.map(along);
    let mut found = vec![];
    for k in &z {
        for j in &y {
            found.extend(x.iter().map(|i| i + grid[0] * (j + grid[1] * k)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_at_corners_edges_and_inside() {
        assert_eq!(blocks([1, 1, 1]), [0]);
        assert_eq!(blocks([9, 1, 1]), [0, 1, 2, 4, 7, 8]);
        assert_eq!(blocks([4, 5, 1]), [0, 2, 3, 8, 10, 11, 16, 18, 19]);
    }
}
