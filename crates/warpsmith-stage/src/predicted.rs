//! Whether a device is expected to run a staged kernel slower than the kernel without its tile.
//!
//! A plan may be right and still no good: a guard at each of seventeen reads costs more than the caches that it saves. Both are
//! counted in the emulator; the kernel without its plan as a compiler leaves it, without copies that nothing reads.

use crate::auto::with_depth;
use crate::costs::Costs;
use crate::counting::{self, Asked};
use crate::launch::Fit;
use crate::session::{Input, Refusal, Session};
use crate::stage::{Staged, own_block};

/// Seconds of a kernel without and with its plan, when its grid is made large.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Seconds without the plan.
    pub before: f64,
    /// Seconds with it.
    pub after: f64,
    /// The launch that was counted.
    pub counted: String,
}

/// Blocks along an axis, and iterations of loops, of the launch that is counted.
const BLOCKS: u32 = 5;
const DEPTH: i64 = 12;
/// Tiles that loops go through there: a part of one says nothing of how often a tile is read.
const TILES: i64 = 4;

/// Predicts both; `None`: there is no such launch in which the kernel stores anything, or the file was a sketch, which has no kernel without a plan.
///
/// # Errors
/// What the emulator refuses.
pub fn predicted(
    input: &Input,
    staged: &Staged,
    costs: &dyn Costs,
) -> Result<Option<Predicted>, Refusal> {
    if staged.filling.is_some() {
        return Ok(None);
    }
    let input = Input { steps: Default::default(), quick: true, ..input.clone() };
    let mut session = Session::new(input)?;
    let own = own_block(&session);
    if !session.plan.extents(own).is_empty() {
        session.own = Some(own);
    }
    let Some(mut large) = with_depth(&mut session, (DEPTH, BLOCKS), Fit::Exact, None)? else {
        return Ok(None);
    };
    let tiles = TILES * session.turns(&large.launch)?;
    if tiles > DEPTH {
        let deeper = with_depth(&mut session, (tiles, BLOCKS), Fit::Exact, None)?;
        large = deeper.unwrap_or(large);
    }
    if large.idle {
        return Ok(None);
    }
    let plain = session.plan.reference(large.launch.block);
    let (kernel, grid) = (session.kernel.as_str(), large.launch.grid);
    let seconds = |text: &str| {
        let asked = Asked { text, kernel, suited: &large, grid, times: None, ahead: 0 };
        counting::seconds(&session, &asked, costs)
    };
    let (Some(before), Some(after)) = (seconds(&plain)?, seconds(&staged.text)?) else {
        return Ok(None);
    };
    Ok(Some(Predicted { before, after, counted: large.launch.describe() }))
}
