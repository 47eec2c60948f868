//! How far a kernel's positions move from block to block and from iteration to iteration, read from its conditions.
//!
//! `j0 = blockIdx.y * (BY * PER)` moves by more than the block has threads, `for (p = 0; p < k; p += T)` by a tile: sizes have to
//! be some of these steps, or only the first block and the first tile of a launch do anything.

use crate::program::Program;
use crate::verify::proof::walk::{self, Walked};

/// Strides at one block shape. Zero where none was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// Positions a block along each axis.
    pub blocks: [i64; 3],
    /// Positions an iteration of a loop with barriers.
    pub turns: i64,
}

/// Strides that are believed: others are strides of flat addresses.
const MAX_STEP: i64 = 1024;

/// the strides of a kernel; none for one that is not understood.
pub fn of(program: &Program, block: [u32; 3]) -> Strides {
    let this = (&program.module, program.kernel);
    let Ok(walked) = walk::walk(this, this, block) else { return Strides::default() };
    let blocks = ["u_bx", "u_by", "u_bz"].map(|name| widest(&walked, name));
    let turns = walked.loops.iter().map(|l| widest(&walked, &l.counter)).max().unwrap_or(0);
    Strides { blocks, turns }
}

/// The largest multiple of a name in what the kernel compares.
fn widest(walked: &Walked, name: &str) -> i64 {
    let mut step = 0;
    let mut see = |n: i64| {
        if n.abs() <= MAX_STEP {
            step = step.max(n.abs());
        }
    };
    walked.events.iter().for_each(|e| e.when.multiples(name, &mut see));
    walked.loads.iter().for_each(|l| l.when.multiples(name, &mut see));
    step
}
