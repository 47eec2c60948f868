//! Launches of which all blocks would take too long: which of them are run.
//!
//! What tells blocks apart is mostly where they lie: at an edge of the grid, beside another one, somewhere in the middle. In a
//! grid that is larger than its work it is where that ends, which shows once some have been run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::launch::Machine;

/// Blocks that are run at least, and at most: a block takes time, however little it does.
const LEAST: u64 = 32;
const MOST: u64 = 1 << 16;
/// Blocks beside each other that are run together.
const RUN: u64 = 4;
/// Places along an axis where blocks begin to have more or less to do; at more than these it is data that decide.
const MOST_CHANGES: usize = 4;

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

/// Flat numbers of blocks half way between two of the same axis of which one has as little to do as any there, and the
/// other more. `work`: flat numbers of blocks that were run, with the thread instructions of each.
fn between(work: &[(u32, u64)], grid: [u32; 3]) -> BTreeSet<u32> {
    let mut middles = BTreeSet::new();
    let strides = [1, grid[0], grid[0].saturating_mul(grid[1])];
    for (stride, extent) in strides.into_iter().zip(grid) {
        let on_axis = |id: u32| id.is_multiple_of(stride) && id / stride < extent;
        let mut line: Vec<(u32, u64)> = work.iter().copied().filter(|w| on_axis(w.0)).collect();
        line.sort_unstable();
        let least = line.iter().map(|w| w.1).min().unwrap_or(0);
        let changes = line.windows(2).filter(|w| (w[0].1 == least) != (w[1].1 == least));
        let gaps: Vec<[u32; 2]> = changes.map(|w| [w[0].0 / stride, w[1].0 / stride]).collect();
        if gaps.len() <= MOST_CHANGES {
            let apart = gaps.into_iter().filter(|[a, b]| b - a > 1);
            middles.extend(apart.map(|[a, b]| (a + (b - a) / 2) * stride));
        }
    }
    middles
}

impl Machine<'_> {
    /// Adds blocks to a sample that has ended, until those at which there begins to be nothing to do are neighbours of
    /// others: a guard that lets one thread too many through does so there, and nowhere else.
    pub fn sample_between(&mut self) {
        let late = self.options.leave_out_from.is_some_and(|from| Instant::now() >= from);
        let Some(sample) = &self.grid.sample else { return };
        if late || self.grid.cut || self.grid.found_at.is_some() || self.options.counters {
            return;
        }
        let more = between(&self.grid.work, self.launch.grid);
        if !more.is_empty() {
            self.grid.sample = Some(sample.iter().copied().chain(more).collect());
        }
    }

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
        if self.options.blocks.is_none() && self.nobody_waits() {
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
    fn the_end_of_the_work_is_looked_for_along_each_axis() {
        let grid = [1000, 500, 1];
        // Blocks have something to do before column 321 and row 77.
        let work = |id: u32| (id, if id % 1000 < 321 && id / 1000 < 77 { 90 } else { 5 });
        let mut run: Vec<(u32, u64)> = corners(grid).into_iter().map(work).collect();
        for _ in 0..12 {
            let more = between(&run, grid);
            run.extend(more.into_iter().map(work));
        }
        assert!(between(&run, grid).is_empty() && run.len() < 60, "{}", run.len());
        for id in [320, 321, 76_000, 77_000] {
            assert!(run.contains(&work(id)), "{id}");
        }
        // Work that data decide on has no end.
        let any: Vec<(u32, u64)> = (0..100).map(|i| (i * 10, u64::from(i % 2))).collect();
        assert!(between(&any, [1000, 1, 1]).is_empty());
    }

    #[test]
    fn small_grids_are_run_whole_and_huge_ones_take_no_time() {
        assert_eq!(blocks([64, 1, 1], 1), None);
        let some = blocks([0x7fff_ffff, 1, 1], 0).expect("there are many more");
        assert!(some.len() >= 32 && some.contains(&0x7fff_fffe), "{}", some.len());
    }
}
