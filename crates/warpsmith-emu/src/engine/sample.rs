//! Launches of which all blocks would take too long: which of them are run.
//!
//! What tells blocks apart is mostly where they lie: at an edge of the grid, beside another one, somewhere in the middle.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::launch::Machine;

/// Blocks that are run at least, and at most: a block takes time, however little it does.
const LEAST: u64 = 32;
const MOST: u64 = 1 << 16;
/// Blocks beside each other that are run together.
const RUN: u64 = 4;

/// Flat numbers of blocks, the first one included: neighbours at each corner, at each edge and in the middle, then short runs
/// spread evenly, about `most` altogether. `None`: those would be all, or nearly so.
pub fn blocks(grid: [u32; 3], most: u64) -> Option<Arc<[u32]>> {
    let all: u64 = grid.iter().map(|n| u64::from(*n)).product();
    let most = most.clamp(LEAST, MOST);
    if all <= 2 * most {
        return None;
    }
    let mut chosen = corners(grid);
    let runs = most.saturating_sub(chosen.len() as u64).div_ceil(RUN) + 1;
    for i in 0..runs {
        let first = u128::from(all) * u128::from(i) / u128::from(runs);
        let first = (first as u64).min(all - RUN);
        chosen.extend((first..first + RUN).map(|id| id as u32));
    }
    Some(chosen.into_iter().collect())
}

/// Neighbours at each corner, at each edge and in the middle of a grid.
fn corners(grid: [u32; 3]) -> BTreeSet<u32> {
    let mut chosen = BTreeSet::new();
    for z in marks(grid[2]) {
        for y in marks(grid[1]) {
            chosen.extend(marks(grid[0]).into_iter().map(|x| flat([x, y, z], grid)));
        }
    }
    chosen
}

impl Machine<'_> {
    /// Leaves out the blocks from `next` on, all before them having ended, where time is short; those at corners and edges, where
    /// guards are missing, are run all the same if no block can wait for another.
    pub fn leave_out_late(&mut self, next: u32) {
        let late = self.options.leave_out_from.is_some_and(|from| Instant::now() >= from);
        if !late || self.grid.cut || next >= self.blocks() {
            return;
        }
        self.grid.cut = true;
        let mut run: Vec<u32> = match self.chosen() {
            Some(some) => some[..next as usize].to_vec(),
            None => (0..next).collect(),
        };
        if self.options.blocks.is_none() && self.blocks_are_independent() {
            let known: BTreeSet<u32> = run.iter().copied().collect();
            run.extend(corners(self.launch.grid).difference(&known));
        }
        self.grid.sample = Some(run.into());
    }
}

/// Positions along one axis: two at each end and two in the middle.
fn marks(n: u32) -> BTreeSet<u32> {
    let middle = n / 2;
    [0, 1, middle, middle + 1, n.saturating_sub(2), n - 1].into_iter().filter(|i| *i < n).collect()
}

fn flat([x, y, z]: [u32; 3], grid: [u32; 3]) -> u32 {
    (u64::from(x) + u64::from(grid[0]) * (u64::from(y) + u64::from(grid[1]) * u64::from(z))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_run_and_the_first_block_comes_first() {
        let grid = [1000, 70, 3];
        let some = blocks(grid, 1000).expect("there are many more");
        assert_eq!(some.first(), Some(&0));
        for corner in [[999, 0, 0], [0, 69, 0], [999, 69, 2], [500, 35, 1], [501, 35, 1]] {
            assert!(some.contains(&flat(corner, grid)), "{corner:?}");
        }
        assert!((900..1100).contains(&some.len()), "{}", some.len());
        assert!(some.iter().all(|id| *id < 1000 * 70 * 3));
    }

    #[test]
    fn small_grids_are_run_whole_and_huge_ones_take_no_time() {
        assert_eq!(blocks([64, 1, 1], 1), None);
        let some = blocks([0x7fff_ffff, 1, 1], 0).expect("there are many more");
        assert!(some.len() >= 32 && some.contains(&0x7fff_fffe), "{}", some.len());
    }
}
