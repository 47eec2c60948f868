//! What a text costs: one launch of it counted in the emulator, the rest asked of a model of the device.

use warpsmith_emu::Checks;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::stmt::{BarrierKind, Block, StmtKind};
use warpsmith_ir::visit::map_stmts;
use warpsmith_ir::{Diagnostic, VarId, VarKind};

use crate::costs::{Costs, Counted};
use crate::memory::{self, Data, Values};
use crate::program::{self, Program, shared_arrays};
use crate::session::{Refusal, Session, Suited};

/// A text, and the launch of it that is counted.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub text: &'a str,
    /// With template arguments.
    pub kernel: &'a str,
    pub suited: &'a Suited,
    /// In the place of the launch's.
    pub grid: [u32; 3],
    /// How many times as many blocks are meant; `None`: enough to fill a device.
    pub times: Option<f64>,
    /// What comes from far is read so many iterations before it is needed.
    pub ahead: u32,
}

/// Seconds that a text takes as a compiler leaves it: without copies that nothing reads. `None`: it cannot be launched, or takes too
/// long to emulate.
///
/// # Errors
/// What the emulator refuses.
pub fn seconds(
    session: &Session,
    asked: &Asked<'_>,
    costs: &dyn Costs,
) -> Result<Option<f64>, Refusal> {
    let refuse = |d: Vec<Diagnostic>| session.refuse(false, d);
    let launch = &asked.suited.launch;
    let mut program =
        session.compiler.compile(asked.text, &launch.constants, asked.kernel).map_err(refuse)?;
    let unread = without_unread(&mut program);
    let data = Data { seed: 1, tagged: &session.tagged, kind: Values::Tagged };
    let mut p = memory::prepare(&program, launch, Some(&asked.suited.lengths), data)
        .map_err(|d| refuse(vec![d]))?;
    let own_blocks = f64::from(p.config.grid.iter().product::<u32>());
    p.config.grid = asked.grid;
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
        module: &program.module,
        memory: &p.memory,
        config: &p.config,
        shared: shared.map(bytes).sum(),
        own_blocks,
        times: asked.times,
        ahead: asked.ahead,
    }))
}

/// Takes out what is only stored to shared arrays that nothing reads, and the barriers where there are no others; gives those.
fn without_unread(program: &mut Program) -> Vec<VarId> {
    let unread = program::unread(program);
    let function = &mut program.module.functions[program.kernel.0 as usize];
    let dynamic = function.vars.iter().any(|v| v.kind == VarKind::DynamicShared);
    let none_left = unread.len() == shared_arrays(function).len() && !dynamic;
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
