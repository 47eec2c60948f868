//! Whether a device is expected to run a staged kernel slower than the kernel without its tile.
//!
//! A plan may be right and still no good: a guard at each of seventeen reads costs more than the caches that it saves. Both are
//! counted in the emulator; the kernel without its plan as a compiler leaves it, without copies that nothing reads.

use warpsmith_emu::Checks;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::stmt::{BarrierKind, Block, StmtKind};
use warpsmith_ir::visit::{Access, for_each_place, map_stmts};
use warpsmith_ir::{Function, VarId, VarKind};

use crate::auto::costs::{Costs, Counted};
use crate::auto::with_depth;
use crate::launch::Fit;
use crate::memory::{self, Data};
use crate::program::{self, Program};
use crate::session::{Input, Refusal, Session, Suited};
use crate::stage::{Staged, own_block};

/// Seconds of a kernel without and with its plan, when its grid is made large.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    pub before: f64,
    pub after: f64,
    /// The launch that was counted.
    pub counted: String,
}

/// Blocks along an axis, and iterations of loops, of the launch that is counted.
const BLOCKS: u32 = 5;
const DEPTH: i64 = 12;

/// Predicts both; `None`: there is no such launch, or the file was a sketch, which has no kernel without a plan.
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
    let Some(large) = with_depth(&mut session, DEPTH, BLOCKS, Fit::Exact)? else {
        return Ok(None);
    };
    let plain = session.plan.reference(large.launch.block);
    let (Some(before), Some(after)) = (
        seconds(&session, &plain, &large, costs)?,
        seconds(&session, &staged.text, &large, costs)?,
    ) else {
        return Ok(None);
    };
    Ok(Some(Predicted { before, after, counted: large.launch.describe() }))
}

fn seconds(
    session: &Session,
    text: &str,
    suited: &Suited,
    costs: &dyn Costs,
) -> Result<Option<f64>, Refusal> {
    let refuse = |d| session.refuse(false, d);
    let launch = &suited.launch;
    let mut program =
        session.compiler.compile(text, &launch.constants, &session.kernel).map_err(refuse)?;
    let unread = without_unread(&mut program);
    let data = Data { seed: 1, tagged: &session.tagged, mixed: false };
    let mut p = memory::prepare(&program, launch, Some(&suited.lengths), data)
        .map_err(|d| refuse(vec![d]))?;
    let outcome = program::count(&program, &p.config, &mut p.memory, Checks::NONE)
        .map_err(|d| refuse(vec![d]))?;
    let Some(counters) = outcome.counters.filter(|_| outcome.limit.is_none()) else {
        return Ok(None);
    };
    let function = program.module.function(program.kernel);
    let shared = shared_arrays(function).into_iter().filter(|v| !unread.contains(v));
    let bytes = |v: VarId| layout_of(&program.module, &function.var(v).ty).size as u32;
    Ok(costs.predicted(&Counted {
        counters: &counters,
        config: &p.config,
        shared: shared.map(bytes).sum(),
        own_blocks: f64::from(p.config.grid.iter().product::<u32>()),
        times: None,
        ahead: 0,
    }))
}

fn shared_arrays(function: &Function) -> Vec<VarId> {
    let shared = |v: &VarId| matches!(function.var(*v).kind, VarKind::Shared);
    (0..function.vars.len() as u32).map(VarId).filter(shared).collect()
}

/// Takes out what is only stored to shared arrays that nothing reads, and the barriers where there are no others; gives those.
fn without_unread(program: &mut Program) -> Vec<VarId> {
    let function = &mut program.module.functions[program.kernel.0 as usize];
    let all = shared_arrays(function);
    let dynamic = function.vars.iter().any(|v| v.kind == VarKind::DynamicShared);
    let mut unread = all.clone();
    for_each_place(&function.body, &mut |place, access| {
        if access != Access::Write {
            unread.retain(|v| Some(*v) != place.root_var());
        }
    });
    let none_left = unread.len() == all.len() && !dynamic;
    map_stmts(&mut function.body, &mut |s| {
        let gone = match &s.kind {
            StmtKind::Assign { place, .. } => place.root_var().is_some_and(|v| unread.contains(&v)),
            StmtKind::Barrier { kind: BarrierKind::Block, .. } => none_left,
            _ => false,
        };
        if gone {
            s.kind = StmtKind::Scope(Block::default());
        }
    });
    unread
}
