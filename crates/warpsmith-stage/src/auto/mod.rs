//! Plans that nobody wrote: found from what threads of a block read, tried one by one, ranked by what they cost.
//!
//! Each plan is a text with marks that goes the way of all plans ([`crate::stage`]); its result is compared with the file as
//! it was, and counted in the emulator at a larger launch. What that costs on a device is asked through [`Costs`]. The best
//! may be the kernel as it is.

pub mod cut;
pub mod find;
pub mod launches;
pub mod outer;
pub mod plans;
pub mod ranking;
pub mod registers;

use warpsmith_emu::LaunchConfig;
use warpsmith_emu::counters::Counters;
use warpsmith_ir::{Diagnostic, SourceMap};

use crate::launch::Fit;
use crate::program::Program;
use crate::session::{Input, Refusal, Session, Suited};
use crate::source::{scope, shape};
use crate::stage::Staged;
use crate::verify::check::Checker;
use plans::{Kernel, Plan};
use ranking::{Ranking, meant};

/// A launch that was counted.
pub struct Counted<'a> {
    pub counters: &'a Counters,
    pub config: &'a LaunchConfig,
    /// Bytes of static shared memory a block.
    pub shared: u32,
    /// How many times as many blocks are meant; `None`: enough to fill a device.
    pub times: Option<f64>,
    /// What comes from far is read an iteration before it is needed.
    pub early: bool,
}

/// Seconds that a launch takes; `None`: it cannot be launched.
pub type Costs<'a> = &'a dyn Fn(&Counted<'_>) -> Option<f64>;

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
    /// Another grid that it needs to be fast.
    pub launch: Option<NewLaunch>,
}

/// A launch with blocks along a further axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLaunch {
    pub axis: usize,
    /// Iterations that a block goes through.
    pub run: i64,
    /// Grids in the host code of the file as they are written now.
    pub grids: Vec<String>,
    /// What is to be done by hand, where launches are elsewhere or not understood.
    pub by_hand: Option<String>,
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
    /// The launch that plans are ranked for, where its size matters.
    pub meant: Option<String>,
    /// Why the outermost loop is not cut among blocks.
    pub uncut: Option<String>,
    /// Why nothing was tried.
    pub declined: Vec<String>,
}

/// By how much a plan has to be better than none.
const WORTHWHILE: f64 = 0.97;
/// Blocks along an axis of the launch that is counted.
const COUNTED_BLOCKS: u32 = 9;
/// Iterations of loops in a launch that is checked, so that blocks which share them have several, and not all as many.
const CHECKED_DEPTH: i64 = 14;
/// Iterations of loops in the launch that is counted.
const COUNTED_DEPTH: i64 = 24;

/// Finds plans for a kernel and chooses among them.
///
/// # Errors
/// What is wrong with the file.
pub fn choose(input: &Input, costs: Costs<'_>) -> Result<Chosen, Refusal> {
    let mut session = Session::new(Input { plain: true, ..input.clone() })?;
    let Found { plans, uncut } = found(&session)?;
    if plans.is_empty() {
        let declined = declined(&session)?;
        let kernel = session.kernel.clone();
        return Ok(Chosen { kernel, declined, uncut, ..Chosen::default() });
    }
    let mut checker = Checker::new(&mut session, &[])?;
    let Some(large) = with_depth(&mut session, COUNTED_DEPTH, COUNTED_BLOCKS, Fit::Exact)? else {
        let error = Diagnostic::error("W707", "no launch was found in which the kernel is right")
            .help("give the block with --block, sizes with --arg NAME=N");
        return Err(session.refuse(true, vec![error]));
    };
    let looped = plans.iter().find_map(|p| p.cut.clone());
    if looped.is_some() {
        checker.launches.extend(with_depth(&mut session, CHECKED_DEPTH, 2, Fit::Ragged(3))?);
    }
    let meant = match &looped {
        Some(cut) => Some(meant(&mut session, cut, &large)?),
        None => None,
    };
    let mut ranking = Ranking { session: &mut session, input, checker, large, meant, costs };
    let before = ranking.before()?;
    let mut tried = vec![];
    let mut best: Option<(f64, Best)> = None;
    for plan in plans {
        input.steps.begin(&plan.name);
        let name = plan.name.clone();
        match ranking.result(&plan) {
            Ok(made) => {
                let (cost, made) = ranking.ranked(&plan, made)?;
                tried.push(Tried { name: made.name.clone(), cost, failed: None });
                let better = |c: &f64| best.as_ref().is_none_or(|(known, _)| c < known);
                if let Some(c) = cost.filter(better) {
                    best = Some((c, made));
                }
            }
            Err(why) => tried.push(Tried { name, cost: None, failed: Some(why) }),
        }
    }
    let none = tried.iter().all(|t| t.failed.is_some());
    let counted = ranking.large.launch.describe();
    let meant = ranking.meant.as_ref().map(|m| m.said.clone());
    let declined = if none { declined(&session)? } else { vec![] };
    let worthwhile = |c: f64| before.is_none_or(|b| c < b * WORTHWHILE);
    Ok(Chosen {
        kernel: session.kernel.clone(),
        best: best.filter(|(c, _)| worthwhile(*c)).map(|(_, made)| made),
        tried,
        before,
        counted,
        meant,
        uncut,
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

/// All plans, and why none cuts the outermost loop.
struct Found {
    plans: Vec<Plan>,
    uncut: Option<String>,
}

/// The plans for all arrays of the kernel, and the same with its outermost loop cut among blocks.
fn found(session: &Session) -> Result<Found, Refusal> {
    let mut plans = of_arrays(session)?;
    let mut cut = None;
    in_kernel(session, &mut |kernel| cut = Some(cut::cut(kernel)))?;
    let cut = match cut {
        Some(Ok(cut)) => cut,
        Some(Err(why)) => return Ok(Found { plans, uncut: Some(why) }),
        None => return Ok(Found { plans, uncut: None }),
    };
    let name = format!("`{}` cut", cut.counter);
    let (text, with) = (cut.text.clone(), Some(cut.clone()));
    let (name_of_cut, early) = (name.clone(), false);
    plans.push(Plan { name: name_of_cut, text, marked: false, block: None, cut: with, early });
    let input = Input { plain: true, text: cut.text.clone(), ..session.input.clone() };
    let again = of_arrays(&Session::new(input)?)?;
    // Tiles of two axes would take the blocks of the new one for rows.
    let fits = |p: &Plan| cut.axis == 2 || !p.marked;
    plans.extend(again.into_iter().filter(fits).map(|p| Plan {
        name: format!("{name}, {}", p.name),
        cut: Some(cut.clone()),
        ..p
    }));
    Ok(Found { plans, uncut: None })
}

fn of_arrays(session: &Session) -> Result<Vec<Plan>, Refusal> {
    let mut plans = vec![];
    in_kernel(session, &mut |kernel| {
        plans = read_only(kernel.accesses).into_iter().flat_map(|a| kernel.plans(a)).collect();
    })?;
    Ok(plans)
}

/// Shows what plans are made from, for a kernel without shared memory.
fn in_kernel(session: &Session, see: &mut dyn FnMut(&Kernel<'_>)) -> Result<(), Refusal> {
    with_function(session, &mut |kernel| {
        if !kernel.shared {
            see(kernel);
        }
    })
}

/// Shows a kernel.
fn with_function(session: &Session, see: &mut dyn FnMut(&Kernel<'_>)) -> Result<(), Refusal> {
    let text = session.plan.text.clone();
    let mut sources = SourceMap::new();
    let refuse = |d| session.refuse(false, d);
    let unit = session.compiler.parse(&text, &[], &mut sources).map_err(refuse)?;
    let program = session.compiler.compile(&text, &[], &session.kernel).map_err(refuse)?;
    let Some(function) = scope::kernel(&unit, shape::base_name(&session.kernel)) else {
        return Ok(());
    };
    let Some(body) = &function.body else { return Ok(()) };
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
        shared: find::has_shared(&program),
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

/// A launch of the block of the file, with loops of so many iterations.
fn with_depth(
    session: &mut Session,
    depth: i64,
    blocks: u32,
    fit: Fit,
) -> Result<Option<Suited>, Refusal> {
    let usual = if session.usage.axes[1] { [32, 8, 1] } else { [128, 1, 1] };
    let given = session.input.integers.clone();
    for (name, role) in &session.usage.roles {
        if role.depth && !role.axes.contains(&true) && !role.product.contains(&true) {
            session.input.integers.entry(name.clone()).or_insert(depth);
        }
    }
    let found = session.suited(session.own.unwrap_or(usual), blocks, fit);
    session.input.integers = given;
    found
}

/// Static shared memory of a block in bytes.
fn shared_bytes(program: &Program) -> u32 {
    let function = program.module.function(program.kernel);
    let shared = function.vars.iter().filter(|v| v.kind == warpsmith_ir::VarKind::Shared);
    shared.map(|v| warpsmith_ir::layout::layout_of(&program.module, &v.ty).size as u32).sum()
}
