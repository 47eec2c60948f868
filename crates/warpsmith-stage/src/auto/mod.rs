//! Plans that nobody wrote: found from what threads of a block read, tried one by one, ranked by what they cost.
//!
//! Each plan is a text with marks that goes the way of all plans ([`crate::stage`]); its result is compared with the file as
//! it was, and counted in the emulator at a larger launch. What that costs on a device is asked through [`Costs`]. The best
//! may be the kernel as it is.

pub mod find;
pub mod plans;
pub mod registers;

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{Checks, LaunchConfig};
use warpsmith_ir::{Diagnostic, SourceMap};

use crate::launch::{Fit, Launch};
use crate::memory::{self, Data};
use crate::program::{self, Program};
use crate::session::{Input, Refusal, Session, Suited};
use crate::source::patch::Patch;
use crate::source::{scope, shape};
use crate::stage::{self, Staged};
use crate::verify::check::{Checker, Problem, ProblemKind};
use plans::{Kernel, Plan};

/// Seconds that a launch takes which was counted, with bytes of shared memory a block; `None`: it cannot be launched.
pub type Costs<'a> = &'a dyn Fn(&Counters, &LaunchConfig, u32) -> Option<f64>;

/// A plan that was tried.
#[derive(Debug)]
pub struct Tried {
    pub name: String,
    /// Seconds, as predicted.
    pub cost: Option<f64>,
    /// Why it is not used at all.
    pub failed: Option<String>,
}

/// The result of a plan.
#[derive(Debug)]
pub struct Best {
    pub name: String,
    pub text: String,
    /// What became of the marks, when the plan had some.
    pub staged: Option<Staged>,
    /// Launches in which it equals the file as it was, bit for bit.
    pub checked: Vec<String>,
}

/// What was found for a file.
#[derive(Debug, Default)]
pub struct Chosen {
    pub kernel: String,
    /// The best plan's result; `None`: the kernel is better as it is.
    pub best: Option<Best>,
    pub tried: Vec<Tried>,
    /// Seconds of the kernel as it is.
    pub before: Option<f64>,
    /// The launch that was counted.
    pub counted: String,
    /// Why nothing was tried.
    pub declined: Vec<String>,
}

/// By how much a plan has to be better than none.
const WORTHWHILE: f64 = 0.97;
/// Blocks along an axis of the launch that is counted.
const COUNTED_BLOCKS: u32 = 9;
/// Iterations of loops in it.
const COUNTED_DEPTH: i64 = 24;

/// Finds plans for a kernel and chooses among them.
///
/// # Errors
/// What is wrong with the file.
pub fn choose(input: &Input, costs: Costs<'_>) -> Result<Chosen, Refusal> {
    let mut session = Session::new(Input { plain: true, ..input.clone() })?;
    let plans = found(&session)?;
    if plans.is_empty() {
        let declined = declined(&session)?;
        let kernel = session.kernel.clone();
        return Ok(Chosen { kernel, declined, ..Chosen::default() });
    }
    let checker = Checker::new(&mut session, &[])?;
    let Some(large) = large(&mut session)? else {
        let error = Diagnostic::error("W707", "no launch was found in which the kernel is right")
            .help("give the block with --block, sizes with --arg NAME=N");
        return Err(session.refuse(true, vec![error]));
    };
    let before = cost(&mut session, None, &large, costs)?;
    let mut tried = vec![];
    let mut best: Option<(f64, Best)> = None;
    for plan in plans {
        let (name, block) = (plan.name.clone(), plan.block);
        input.steps.begin(&name);
        match result(&mut session, &checker, input, plan) {
            Ok(made) => {
                let own = match block {
                    Some(block) => session.suited(block, COUNTED_BLOCKS, Fit::Exact)?,
                    None => None,
                };
                let large = own.as_ref().unwrap_or(&large);
                let cost = cost(&mut session, Some(&made.text), large, costs)?;
                tried.push(Tried { name, cost, failed: None });
                let better = |c: &f64| best.as_ref().is_none_or(|(known, _)| c < known);
                if let Some(c) = cost.filter(better) {
                    best = Some((c, made));
                }
            }
            Err(why) => tried.push(Tried { name, cost: None, failed: Some(why) }),
        }
    }
    let none = tried.iter().all(|t| t.failed.is_some());
    let declined = if none { declined(&session)? } else { vec![] };
    let worthwhile = |c: f64| before.is_none_or(|b| c < b * WORTHWHILE);
    Ok(Chosen {
        kernel: session.kernel.clone(),
        best: best.filter(|(c, _)| worthwhile(*c)).map(|(_, made)| made),
        tried,
        before,
        counted: large.launch.describe(),
        declined,
    })
}

/// Why there is no plan, array by array.
fn declined(session: &Session) -> Result<Vec<String>, Refusal> {
    let mut reasons = vec![];
    in_kernel(session, &mut |kernel| {
        for array in read_only(kernel.accesses) {
            let reads = kernel.accesses.iter().filter(|a| a.array == array);
            reasons.push(find::unshared(&reads.collect::<Vec<_>>()));
        }
    })?;
    if reasons.is_empty() {
        reasons
            .push("the kernel reads no array that it does not write, or has tiles already".into());
    }
    Ok(reasons)
}

/// The plans for all arrays of the kernel.
fn found(session: &Session) -> Result<Vec<Plan>, Refusal> {
    let mut plans = vec![];
    in_kernel(session, &mut |kernel| {
        plans = read_only(kernel.accesses).into_iter().flat_map(|a| kernel.plans(a)).collect();
    })?;
    Ok(plans)
}

/// Shows what plans are made from, for a kernel without shared memory.
fn in_kernel(session: &Session, see: &mut dyn FnMut(&Kernel<'_>)) -> Result<(), Refusal> {
    let text = session.plan.text.clone();
    let mut sources = SourceMap::new();
    let refuse = |d| session.refuse(false, d);
    let unit = session.compiler.parse(&text, &[], &mut sources).map_err(refuse)?;
    let program = session.compiler.compile(&text, &[], &session.kernel).map_err(refuse)?;
    let Some(function) = scope::kernel(&unit, shape::base_name(&session.kernel)) else {
        return Ok(());
    };
    let Some(body) = function.body.as_ref().filter(|_| !find::has_shared(&program)) else {
        return Ok(());
    };
    let accesses = find::accesses(function, &sources, &program);
    see(&Kernel {
        text: &text,
        unit: &unit,
        sources: &sources,
        function,
        body,
        accesses: &accesses,
        extents: session.extents.clone(),
        axes: session.usage.axes,
        given: session.input.block,
    });
    Ok(())
}

/// Arrays that are read and not stored to.
fn read_only(accesses: &[find::Access]) -> Vec<&str> {
    let mut arrays: Vec<&str> = vec![];
    for a in accesses.iter().filter(|a| !a.stored) {
        let stored = accesses.iter().any(|s| s.stored && s.array == a.array);
        if !stored && !arrays.contains(&a.array.as_str()) {
            arrays.push(&a.array);
        }
    }
    arrays
}

/// Stages a plan and compares its result with the file as it was.
fn result(
    session: &mut Session,
    checker: &Checker,
    input: &Input,
    plan: Plan,
) -> Result<Best, String> {
    let said = |r: Refusal| r.diagnostics.first().map_or(String::new(), |d| d.message.clone());
    let staged = match plan.marked {
        true => {
            let block = plan.block.or(input.block);
            let marked = Input { text: plan.text.clone(), block, ..input.clone() };
            Some(stage::stage(marked).map_err(said)?)
        }
        false => None,
    };
    let text = staged.as_ref().map_or(plan.text.clone(), |s| s.text.clone());
    let mut patch = Patch::default();
    patch.replace(0..session.plan.text.len(), text.clone());
    let fits = |s: &&Suited| plan.block.is_none_or(|b| s.launch.block == b);
    let launches = checker.launches.iter().filter(fits).cloned().collect();
    let checker = Checker { launches, dropped: vec![] };
    let checked = checker.check(session, &patch, 1).map_err(said)?;
    match checked.problems.first() {
        None if !checked.launches.is_empty() => Ok(Best {
            name: plan.name,
            text,
            staged,
            checked: checked.launches.iter().map(Launch::describe).collect(),
        }),
        Some(Problem { kind: ProblemKind::Finding(f), .. }) => Err(f.message.clone()),
        _ => Err("it computes something else".into()),
    }
}

/// A launch of the block of the file that is large enough to count.
fn large(session: &mut Session) -> Result<Option<Suited>, Refusal> {
    let usual = if session.usage.axes[1] { [32, 8, 1] } else { [128, 1, 1] };
    let given = session.input.integers.clone();
    for (name, role) in &session.usage.roles {
        if role.depth && !role.axes.contains(&true) && !role.product.contains(&true) {
            session.input.integers.entry(name.clone()).or_insert(COUNTED_DEPTH);
        }
    }
    let found = session.suited(session.own.unwrap_or(usual), COUNTED_BLOCKS, Fit::Exact);
    session.input.integers = given;
    found
}

/// Seconds that the kernel takes, as it is or as a text.
fn cost(
    session: &mut Session,
    text: Option<&str>,
    suited: &Suited,
    costs: Costs<'_>,
) -> Result<Option<f64>, Refusal> {
    let refuse = |d: Vec<Diagnostic>| session.refuse(false, d);
    let launch: &Launch = &suited.launch;
    let text = text.unwrap_or(&session.plan.text);
    let program =
        session.compiler.compile(text, &launch.constants, &session.kernel).map_err(refuse)?;
    let data = Data { seed: 1, tagged: &session.tagged, mixed: false };
    let mut p = memory::prepare(&program, launch, Some(&suited.lengths), data)
        .map_err(|d| session.refuse(false, vec![d]))?;
    let outcome = program::count(&program, &p.config, &mut p.memory, Checks::NONE)
        .map_err(|d| session.refuse(false, vec![d]))?;
    Ok(outcome.counters.and_then(|c| costs(&c, &p.config, shared_bytes(&program))))
}

/// Static shared memory of a block in bytes.
fn shared_bytes(program: &Program) -> u32 {
    let function = program.module.function(program.kernel);
    let shared = function.vars.iter().filter(|v| v.kind == warpsmith_ir::VarKind::Shared);
    shared.map(|v| warpsmith_ir::layout::layout_of(&program.module, &v.ty).size as u32).sum()
}
