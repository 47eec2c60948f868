//! Launches at the sizes that a kernel is meant for: what is measured, in contrast to the small ones that are emulated.

use std::collections::BTreeMap;

use warpsmith_emu::Arg;
use warpsmith_ir::{Diagnostic, Type};

use super::costs::{Argument, Array};
use crate::launch::{Fit, Launch};
use crate::memory::{self, Data, Values};
use crate::program::{self, Program};
use crate::session::{Refusal, Session};

/// Positions an axis where nothing says how many: of lines, of planes and of volumes.
const POSITIONS: [i64; 4] = [1 << 24, 1 << 24, 8192, 256];
/// Blocks of small launches, from which large ones are made.
const BLOCKS: u32 = 3;

/// Sizes that are meant, by parameter, with usual ones for the rest.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    pub given: BTreeMap<String, i64>,
    pub usual: i64,
}

impl Sizes {
    /// What is given for the kernel of a session.
    pub fn new(session: &Session, given: BTreeMap<String, i64>) -> Sizes {
        let axes = session.usage.axes.iter().filter(|a| **a).count();
        let loops = session.usage.roles.values().filter(|r| is_loop(r)).count();
        Sizes { given, usual: POSITIONS[(axes + loops).min(3)] }
    }

    fn of(&self, name: Option<&String>) -> i64 {
        name.and_then(|n| self.given.get(n)).copied().unwrap_or(self.usual)
    }
}

/// Whether a parameter bounds a loop and nothing else.
fn is_loop(role: &crate::usage::Role) -> bool {
    role.depth && !role.axes.contains(&true) && !role.product.contains(&true)
}

/// A launch with a block at the sizes that are meant; `None` where no small one suits the kernel.
///
/// # Errors
/// What the emulator refuses.
pub fn launch(
    session: &mut Session,
    block: [u32; 3],
    sizes: &Sizes,
) -> Result<Option<Launch>, Refusal> {
    let Some(small) = session.suited(block, BLOCKS, Fit::Exact)? else { return Ok(None) };
    let mut launch = small.launch;
    let steps = session.steps(&launch)?;
    let (small_grid, mut positions) = (launch.grid, [1i64; 3]);
    for a in (0..3).filter(|a| session.usage.axes[*a]) {
        let bound = session.usage.roles.iter().find(|(_, r)| r.axes[a]).map(|(n, _)| n);
        positions[a] = sizes.of(bound);
        let blocks = (positions[a] as u64).div_ceil(steps[a].max(1) as u64);
        launch.grid[a] = u32::try_from(blocks).unwrap_or(u32::MAX);
    }
    let pitch = i64::from(small_grid[0]) * steps[0];
    for (name, value) in &mut launch.integers {
        if session.input.integers.contains_key(name) {
            continue;
        }
        let role = session.usage.roles.get(name).cloned().unwrap_or_default();
        let axis = (0..3).find(|a| role.axes[*a]);
        *value = match (sizes.given.get(name), axis) {
            (Some(given), _) => *given,
            (None, Some(a)) => positions[a],
            (None, None) if role.product.contains(&true) => {
                (0..3).filter(|a| role.product[*a]).map(|a| positions[a]).product()
            }
            (None, None) if role.depth => sizes.usual,
            // A row of an array, say.
            (None, None) if *value == pitch => positions[0],
            _ => *value,
        };
    }
    Ok(Some(launch))
}

/// What a kernel is called with in a launch: arrays as long as the blocks at the corners of the grid need them.
///
/// # Errors
/// What the emulator refuses.
pub fn arguments(
    program: &Program,
    launch: &Launch,
    stored: &[String],
) -> Result<(Vec<Array>, Vec<Argument>), Diagnostic> {
    let data = Data { seed: 1, tagged: &[], kind: Values::Tagged };
    let mut p = memory::prepare(program, launch, None, data)?;
    let passed = p.config.args.iter().filter(|a| matches!(a, Arg::Pointer { .. })).count();
    if passed < p.arrays.len() {
        return Err(Diagnostic::error("W703", "pointers in structures are not passed to a device"));
    }
    for block in corners(launch.grid) {
        program::run_blocks(program, &p.config, &mut p.memory, Some(block))?;
    }
    let arrays = p.arrays.iter().zip(&p.memory.buffers).map(|(name, buffer)| Array {
        name: name.clone(),
        bytes: buffer.bytes.len() as u64,
        element: buffer.element.as_ref().and_then(Type::scalar),
        written: stored.is_empty() || stored.contains(name),
    });
    let arguments = p.config.args.iter().map(|a| match a {
        Arg::Pointer { buffer, .. } => Argument::Array(buffer.0 as usize),
        Arg::Bytes(bytes) => Argument::Value(bytes.clone()),
        Arg::Null => Argument::Value(vec![0; 8]),
    });
    Ok((arrays.collect(), arguments.collect()))
}

/// Flat numbers of the blocks at the corners of a grid.
fn corners(grid: [u32; 3]) -> Vec<u32> {
    let mut all = vec![];
    for corner in 0..8u32 {
        let at = |a: usize| if corner >> a & 1 == 1 { grid[a] - 1 } else { 0 };
        all.push((at(2) * grid[1] + at(1)) * grid[0] + at(0));
    }
    all.sort_unstable();
    all.dedup();
    all
}
