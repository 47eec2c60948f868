//! Blocks that the text asks for where it leaves them to the launch: as large as shared arrays are, since a plan whose tile is `t[4][33]` is
//! mostly meant for blocks of 32 x 4, whatever else it allows; and larger than numbers that threads are compared with.

use warpsmith_ir::{Type, VarKind};

use crate::session::{Refusal, Session, Suited};
use crate::source::shape::Extent;
use crate::usage::Met;

/// Threads along x and y that a tile has less than elements: halos on both sides, padding of rows.
const LESS: [[u64; 2]; 5] = [[0, 0], [1, 0], [2, 2], [1, 1], [2, 0]];
/// Lanes of a warp.
const WARP: u32 = 32;
/// Threads of a block.
const MAX_THREADS: u64 = 1024;
/// Blocks, at most.
const MAX_BLOCKS: usize = 2;

/// The blocks, each at most a kernel's largest.
///
/// # Errors
/// What the compiler refuses.
pub(super) fn asked_for(
    session: &mut Session,
    profiled: &[Suited],
) -> Result<Vec<[u32; 3]>, Refusal> {
    let mut all = of_tiles(session, profiled)?;
    for limit in &session.usage.limits {
        if let Met::Thread(axis) = limit.of
            && session.extents[axis] == Extent::Free
            && let Ok(value) = u32::try_from(limit.value)
        {
            let mut block = [1; 3];
            // A warp of threads behind it.
            block[axis] = (value + WARP).next_multiple_of(WARP);
            all.push(block);
        }
    }
    all.retain(|b| b.iter().map(|n| u64::from(*n)).product::<u64>() <= MAX_THREADS);
    Ok(all)
}

/// Blocks that fill shared arrays with a thread for each element, but for those of [`LESS`].
fn of_tiles(session: &mut Session, profiled: &[Suited]) -> Result<Vec<[u32; 3]>, Refusal> {
    let Some(first) = profiled.first() else { return Ok(vec![]) };
    let shaped = session.shaped(&first.launch)?;
    let program = &shaped.reference;
    let shared = program.module.function(program.kernel).vars.iter();
    let shared = shared.filter(|v| v.kind == VarKind::Shared && matches!(v.ty, Type::Array(..)));
    let mut all: Vec<[u32; 3]> = vec![];
    for block in shared.filter_map(|v| of_tile(session, &v.ty.extents())) {
        if all.len() < MAX_BLOCKS && !all.contains(&block) {
            all.push(block);
        }
    }
    Ok(all)
}

/// The block that fills a tile of these extents, the fastest last; rows of threads that are not for the launch to choose stay.
fn of_tile(session: &Session, tile: &[u64]) -> Option<[u32; 3]> {
    let [free_x, free_y] =
        [0, 1].map(|a| session.extents[a] == Extent::Free && session.usage.axes[a]);
    let own = session.own_extents[1].unwrap_or(1);
    let mut extents = tile.iter().rev();
    let (columns, deep) = (*extents.next()?, extents.next().copied());
    let [x, y] = LESS.iter().find_map(|[x, y]| {
        let rows = if free_y { deep?.checked_sub(*y)? } else { own.into() };
        let columns = columns.checked_sub(*x)?;
        (columns % 8 == 0 && columns > 0 && rows > 0).then_some([columns, rows])
    })?;
    free_x.then_some([u32::try_from(x).ok()?, u32::try_from(y).ok()?, 1])
}
