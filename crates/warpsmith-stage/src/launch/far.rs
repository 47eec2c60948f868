//! Launches that reach far beyond those that every text is checked with, and of whose blocks some are run.
//!
//! What a kernel does need not be what it does near the origin: products and shifts of positions pass bits on, reals are rounded, and what
//! comes back after many positions shows once in a small launch.

use std::collections::BTreeSet;

use super::{BLOCKS, Fit, Mix, Wanted};
use crate::usage::{Met, Usage};

/// Positions along the axes of a kernel, which has one, two, or three: what passes 16 bits along each of them, what passes many in a
/// product, and along one axis what a `float` cannot count any more. Arrays as large have to be filled and compared.
const ONE: &[[i64; 3]] = &[[150_001, 1, 1], [17_400_003, 1, 1]];
const TWO: &[[i64; 3]] = &[[2_003, 1_501, 1], [270_001, 13, 1], [13, 60_013, 1]];
const THREE: &[[i64; 3]] = &[[151, 127, 103], [100_003, 5, 5], [5, 60_013, 5], [5, 5, 60_013]];

/// Blocks without pattern, beside those at corners and at even distances.
const ANY: u32 = 64;
/// Multiples of a number of the text whose blocks are run.
const MULTIPLES: u32 = 4;

fn sizes(usage: &Usage) -> &'static [[i64; 3]] {
    match usage.axes.iter().filter(|a| **a).count() {
        0 => &[],
        1 => ONE,
        2 => TWO,
        _ => THREE,
    }
}

/// The launches of a kernel.
pub(super) fn all(usage: &Usage) -> Vec<Fit> {
    (0..sizes(usage).len() as u32).map(Fit::Far).collect()
}

/// Blocks along an axis, and positions. Each block begins `step` positions after the one before; 0: as many as it has threads.
pub(super) fn size(
    usage: &Usage,
    fit: Fit,
    axis: usize,
    (threads, step): (u32, i64),
) -> Option<(u32, i64)> {
    let Fit::Far(number) = fit else { return None };
    let before = usage.axes.iter().take(axis).filter(|a| **a).count();
    let size = sizes(usage).get(number as usize)?[before];
    let step = if step > 0 { step } else { threads.into() };
    Some((u32::try_from(size).ok()?.div_ceil(u32::try_from(step).ok()?), size))
}

/// The blocks that are run, by their flat numbers; none: all, as there are few. `steps`: positions from a block to the next.
pub(super) fn blocks(wanted: &Wanted<'_>, grid: [u32; 3], steps: [i64; 3]) -> Vec<u32> {
    let Some(some) = warpsmith_emu::sampled_blocks(grid, BLOCKS) else { return vec![] };
    let mut only: BTreeSet<u32> = some.iter().copied().collect();
    let flat = |b: [u32; 3]| (b[2] * grid[1] + b[1]) * grid[0] + b[0];
    let mut mix = Mix::of(&grid);
    let any = |mix: &mut Mix| grid.map(|n| mix.below(n.into()) as u32);
    only.extend((0..ANY).map(|_| flat(any(&mut mix))));
    for limit in &wanted.usage.limits {
        let (axis, value) = match limit.of {
            Met::Axis(a) => (a, limit.value),
            Met::Blocks(a) => (a, limit.value.saturating_mul(steps[a])),
            _ => continue,
        };
        let last = i64::from(grid[axis]) * steps[axis] / value.max(1);
        for _ in 0..MULTIPLES.min(last.clamp(0, MULTIPLES.into()) as u32) {
            let position = value * (1 + mix.below(last.unsigned_abs()) as i64);
            for at in [position - 1, position] {
                let mut block = any(&mut mix);
                block[axis] = (at / steps[axis]).clamp(0, i64::from(grid[axis]) - 1) as u32;
                only.insert(flat(block));
            }
        }
    }
    only.into_iter().collect()
}
