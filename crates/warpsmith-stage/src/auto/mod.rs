//! Plans that nobody wrote: found from what threads of a block read, tried one by one, ranked by what they cost.
//!
//! Each plan is a text with marks that goes the way of all plans ([`crate::stage`]); its result is compared with the file as
//! it was, and counted in the emulator at a larger launch. What that costs on a device is asked through [`Costs`]. The best
//! may be the kernel as it is.

mod access;
mod apart;
mod banks;
pub mod cut;
mod declarations;
mod declined;
pub(crate) mod elements;
pub(crate) mod find;
mod held;
pub(crate) mod indirect;
pub(crate) mod launches;
pub(crate) mod outer;
pub(crate) mod plans;
pub(crate) mod positions;
pub(crate) mod products;
pub(crate) mod ranking;
pub(crate) mod real;
pub(crate) mod registers;
pub(crate) mod strided;
pub(crate) mod temporal;
pub(crate) mod time_loop;
mod times;
pub(crate) mod transposes;
mod twice;
pub(crate) mod unused;
mod vectors;
pub(crate) mod windows;

use std::time::Instant;

use warpsmith_ir::{Diagnostic, SourceMap};

pub use crate::costs::{self, Costs, Counted};
use crate::launch::Fit;
use crate::search;
use crate::session::{Input, Refusal, Session, Suited};
use crate::source::{blocks, scope, shape};
use crate::stage::Staged;
use crate::verify::check::Checker;
use plans::{Kernel, Plan};
use ranking::{Entrant, Ranking, meant};
use temporal::Blocked;
use vectors::Wide;

/// A plan that was tried.
#[derive(Debug)]
pub struct Tried {
    /// What the plan is, in words.
    pub name: String,
    /// Seconds, as predicted.
    pub cost: Option<f64>,
    /// Seconds, as measured.
    pub measured: Option<f64>,
    /// Why it is not used at all.
    pub failed: Option<String>,
}

/// The result of a plan.
#[derive(Debug)]
pub struct Best {
    /// What the plan is, in words.
    pub name: String,
    /// The file with the plan carried out.
    pub text: String,
    /// What became of the marks, when the plan had some.
    pub staged: Option<std::rc::Rc<Staged>>,
    /// Launches in which it equals the file as it was, bit for bit.
    pub checked: Vec<String>,
    /// Another grid that it needs to be fast.
    pub launch: Option<NewLaunch>,
}

/// A launch with blocks along a further axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLaunch {
    /// The axis of the grid: 0, 1 or 2.
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
    /// The kernel that was looked at.
    pub kernel: String,
    /// The best plan's result; `None`: the kernel is better as it is.
    pub best: Option<Best>,
    /// Every plan that was tried, in the order of trying.
    pub tried: Vec<Tried>,
    /// Seconds of the kernel as it is, as predicted and as measured.
    pub before: Option<f64>,
    /// The same as measured; `None`: nothing was measured.
    pub before_measured: Option<f64>,
    /// What was measured, in words, or why nothing was.
    pub measured: Option<Result<String, String>>,
    /// The launch that was counted.
    pub counted: String,
    /// The launch that plans are ranked for, where its size matters.
    pub meant: Option<String>,
    /// Why the outermost loop is not cut among blocks.
    pub uncut: Option<String>,
    /// Why launches do not do two steps each.
    pub single: Option<String>,
    /// Why threads do not have several neighbours each.
    pub narrow: Option<String>,
    /// What the best plan's result is right for alone.
    pub apart: Vec<String>,
    /// Why nothing was tried.
    pub declined: Vec<String>,
}

/// By how much a plan has to be better than none, where both were measured, and where a model alone says so.
const WORTHWHILE: f64 = 0.97;
const WORTH_TRUSTING: f64 = 0.95;
/// Blocks along an axis of the launch that is counted.
const COUNTED_BLOCKS: u32 = 9;
/// Iterations of loops in a launch that is checked, so that blocks which share them have several, and not all as many.
const CHECKED_DEPTH: i64 = 14;
/// Tiles that loops go through there, where iterations come in tiles.
const COUNTED_TILES: i64 = 4;
/// Iterations of loops in the launch that is counted.
const COUNTED_DEPTH: i64 = 24;

/// Finds plans for a kernel and chooses among them: the fastest where times are measured, else the one that is predicted to be.
///
/// # Errors
/// What is wrong with the file.
pub fn choose(input: &Input, costs: &dyn Costs) -> Result<Chosen, Refusal> {
    let mut session = Session::new(Input { plain: true, ..input.clone() })?;
    if !session.plan.reads.is_empty() {
        return Err(has_a_plan(&session));
    }
    let all = found(&session)?;
    let Found { plans, uncut, blocked, wide } = all.clone();
    if plans.is_empty() && blocked.is_err() && wide.is_err() {
        let mut declined = declined::reasons(&session)?;
        declined.extend(several_blocks(&session));
        let (kernel, single, narrow) = (session.kernel.clone(), blocked.err(), wide.err());
        return Ok(Chosen { kernel, declined, uncut, single, narrow, ..Chosen::default() });
    }
    let mut ranking = ranking(&mut session, input, &plans, costs)?;
    let before = ranking.before()?;
    let mut waiting =
        Waiting::new(plans.len() + usize::from(blocked.is_ok()) + usize::from(wide.is_ok()));
    let (mut entrants, mut tried) = tried_plans(&mut ranking, &plans, before, &mut waiting)?;
    tried.retain(|t| entrants.iter().all(|e| e.plan != t.name));
    let tiles = several_blocks(ranking.session).map(|why| Tried::failed("tiles".into(), why));
    tried.extend(tiles);
    let single = match blocked {
        Ok(all) => {
            input.steps.begin(&waiting.next("two steps a launch"));
            ranking.two_steps(&all).map(|made| entrants.push(made)).err()
        }
        Err(why) => Some(why),
    };
    let narrow = match wide {
        Ok(all) => {
            input.steps.begin(&waiting.next("several neighbours a thread"));
            let (made, failed) = ranking.wide(&all)?;
            entrants.extend(made);
            tried.extend(failed.into_iter().map(|(name, why)| Tried::failed(name, why)));
            None
        }
        Err(why) => Some(why),
    };
    let times = ranking.times(&mut entrants)?;
    let counted = ranking.large.launch.describe();
    let meant = ranking.meant.as_ref().map(|m| m.said.clone());
    let declined = if entrants.is_empty() { declined::reasons(ranking.session)? } else { vec![] };
    let mut chosen = Chosen {
        kernel: ranking.session.kernel.clone(),
        before,
        counted,
        meant,
        uncut,
        single,
        narrow,
        declined,
        ..Chosen::default()
    };
    let mut worthwhile = chosen.take(entrants, tried, times);
    while let Some(entrant) = ranking::next(&mut worthwhile, chosen.before_measured.is_some()) {
        let name = entrant.made.name.clone();
        match ranking.finished(&all, entrant)? {
            Ok((made, apart)) => {
                chosen.best = Some(made);
                chosen.apart = apart;
                break;
            }
            Err(why) => {
                let refuted = chosen.tried.iter_mut().filter(|t| t.name == name);
                refuted.for_each(|t| t.failed = Some(why.clone()));
            }
        }
    }
    Ok(chosen)
}

/// The results of plans, with what they cost; and what became of the others.
fn tried_plans(
    ranking: &mut Ranking<'_>,
    plans: &[Plan],
    before: Option<f64>,
    waiting: &mut Waiting,
) -> Result<(Vec<Entrant>, Vec<Tried>), Refusal> {
    let measures = ranking.costs.measures();
    let (mut entrants, mut tried) = (vec![], vec![]);
    for plan in plans {
        let part = waiting.next(&plan.name);
        // Plans of one name are ways to write one.
        if entrants.iter().any(|e: &Entrant| e.plan == plan.name) {
            continue;
        }
        // What no tile is right for in the whole loop, none is right for in a part of it.
        if plan.marked && failed_whole(&tried, &plan.name) {
            continue;
        }
        // A tile that costs more than it saves there does so in its parts.
        if plan.marked && !measures && slower_whole(&entrants, before, &plan.name) {
            continue;
        }
        let steps = ranking.input.steps.within(&part);
        steps.begin("written");
        match ranking.result(plan, &steps) {
            Ok(made) => entrants.extend(ranking.ranked(plan, made)?),
            Err(_) if tried.iter().any(|t: &Tried| t.name == plan.name) => {}
            Err(why) => tried.push(Tried::failed(plan.name.clone(), why)),
        }
    }
    Ok((entrants, tried))
}

/// The name of a plan without the cut before it.
fn whole(name: &str) -> &str {
    name.split_once(" cut, ").map_or(name, |(_, rest)| rest)
}

/// Whether the plan of a cut kernel failed for the kernel as it is.
fn failed_whole(tried: &[Tried], name: &str) -> bool {
    whole(name) != name && tried.iter().any(|t| t.name == whole(name))
}

/// By how much a plan has to be slower than none for the cut kernel not to be tried with it.
const HOPELESS: f64 = 1.15;

/// Whether the plan of a cut kernel is predicted to be slow for the kernel as it is.
fn slower_whole(entrants: &[Entrant], before: Option<f64>, name: &str) -> bool {
    let slow = |e: &Entrant| e.cost.zip(before).is_some_and(|(cost, b)| cost > b * HOPELESS);
    whole(name) != name && entrants.iter().any(|e| e.plan == whole(name) && slow(e))
}

/// How many plans there are, and how long those that are left may take.
struct Waiting {
    start: Instant,
    total: usize,
    begun: usize,
}

impl Waiting {
    fn new(total: usize) -> Waiting {
        Waiting { start: Instant::now(), total, begun: 0 }
    }

    /// Names the plan that begins, with a guess of the time until all are tried.
    fn next(&mut self, name: &str) -> String {
        let left = self.total.saturating_sub(self.begun) as f64;
        let each = self.start.elapsed().as_secs_f64() / self.begun.max(1) as f64;
        self.begun += 1;
        let about = match (self.begun, (each * left).ceil()) {
            (1, _) => String::new(),
            (_, seconds) => format!(", about {seconds} s left"),
        };
        format!("plan {}/{}{about}, {name}", self.begun, self.total)
    }
}

/// A file with marks says what is to be done already.
fn has_a_plan(session: &Session) -> Refusal {
    let at = crate::session::place(&session.plan.mark(0).whole);
    let error = Diagnostic::error(
        "W734",
        "the file has a plan already, and `--auto` is for files without one",
    )
    .label(at, "its first mark")
    .help("leave out `--auto` to stage this plan, or take the marks out to have one found");
    session.refuse(false, vec![error])
}

/// What plans are tried with.
fn ranking<'a>(
    session: &'a mut Session,
    input: &'a Input,
    plans: &[Plan],
    costs: &'a dyn Costs,
) -> Result<Ranking<'a>, Refusal> {
    let mut checker = Checker::new(session, &[])?;
    // Some whole tiles, where iterations come in these.
    let tiles = plans.iter().filter_map(|p| p.tiles).max();
    let depth = tiles.map_or(COUNTED_DEPTH, |n| COUNTED_TILES * n);
    let large = with_depth(session, (depth, COUNTED_BLOCKS), Fit::Exact, None)?;
    let Some(large) = large else {
        return Err(search::no_launch(session));
    };
    let looped = plans.iter().find_map(|p| p.cut.clone());
    if looped.is_some() {
        checker.launches.extend(with_depth(session, (CHECKED_DEPTH, 2), Fit::Ragged(3), None)?);
    }
    if plans.iter().any(|p| p.in_vectors) {
        for depth in vectors::rows::DEPTHS {
            checker.launches.extend(with_depth(session, (depth, 2), Fit::Ragged(3), None)?);
        }
    }
    for plan in plans {
        // One whole tile, and two with some of a third.
        for depth in plan.tiles.iter().flat_map(|n| [*n, 2 * n + 3]) {
            checker.launches.extend(with_depth(session, (depth, 2), Fit::Ragged(3), plan.block)?);
        }
    }
    let meant = match &looped {
        Some(cut) => Some(meant(session, cut, &large)?),
        None => None,
    };
    Ok(Ranking { session, input, checker, large, depth, meant, costs })
}

impl Tried {
    fn failed(name: String, why: String) -> Tried {
        Tried { name, cost: None, measured: None, failed: Some(why) }
    }
}

impl Chosen {
    /// Takes down what was tried, and gives what is worth it, with its seconds.
    fn take(
        &mut self,
        entrants: Vec<Entrant>,
        failed: Vec<Tried>,
        times: Option<times::Timed>,
    ) -> Vec<(f64, Entrant)> {
        let (before, seconds) = match &times {
            Some(Ok(t)) => (t.before, t.of.clone()),
            _ => (self.before, entrants.iter().map(|e| e.cost).collect()),
        };
        if let Some(Ok(t)) = &times {
            self.before_measured = t.before;
        }
        for (n, e) in entrants.iter().enumerate() {
            let measured = times.as_ref().and_then(|t| t.as_ref().ok()).and_then(|t| t.of[n]);
            let name = e.made.name.clone();
            self.tried.push(Tried { name, cost: e.cost, measured, failed: None });
        }
        self.tried.extend(failed);
        let times_known = matches!(times, Some(Ok(_)));
        self.measured = times.map(|t| t.map(|t| t.said));
        let enough = if times_known { WORTHWHILE } else { WORTH_TRUSTING };
        let worthwhile = |c: f64| before.is_none_or(|b| c < b * enough);
        let known = entrants.into_iter().zip(seconds).filter_map(|(e, s)| Some((s?, e)));
        known.filter(|(s, _)| worthwhile(*s)).collect()
    }
}

/// All plans, why none cuts the outermost loop, and kernels of two steps.
#[derive(Clone)]
struct Found {
    plans: Vec<Plan>,
    uncut: Option<String>,
    blocked: Result<Vec<Blocked>, String>,
    wide: Result<Vec<Wide>, String>,
}

/// The plans for all arrays of the kernel, and the same with its outermost loop cut among blocks.
fn found(session: &Session) -> Result<Found, Refusal> {
    let mut plans = of_arrays(session)?;
    if let Some((together, names)) = together(session)? {
        plans.extend(
            of_arrays(&together)?
                .into_iter()
                .map(|p| Plan { name: format!("{names} by blocks, {}", p.name), ..p }),
        );
    }
    let mut cut = None;
    let mut blocked = Err("it has tiles already".to_string());
    let mut wide = Err("it has tiles already".to_string());
    in_kernel(session, &mut |kernel| {
        cut = Some(cut::cut(kernel));
        let file = ranking::file(session, kernel);
        blocked = match several_blocks(session) {
            Some(why) => Err(why),
            None => temporal::blocked(kernel, &session.kernel, &file, &session.usage),
        };
        wide = vectors::wide(kernel, &session.kernel, None);
    })?;
    let cut = match cut {
        Some(Ok(cut)) => cut,
        Some(Err(why)) => return Ok(Found { plans, uncut: Some(why), blocked, wide }),
        None => return Ok(Found { plans, uncut: None, blocked, wide }),
    };
    let name = format!("`{}` cut", cut.counter);
    plans.push(Plan {
        name: name.clone(),
        text: cut.text.clone(),
        cut: Some(cut.clone()),
        ..Plan::default()
    });
    let input = Input { plain: true, text: cut.text.clone(), ..session.input.clone() };
    let session = Session::new(input)?;
    let again = of_arrays(&session)?;
    if let Ok(all) = &mut wide {
        in_kernel(&session, &mut |kernel| {
            all.extend(vectors::wide(kernel, &session.kernel, Some(&cut)).unwrap_or_default());
        })?;
    }
    // Tiles of two axes would take the blocks of the new one for rows.
    let fits = |p: &Plan| cut.axis == 2 || !p.marked;
    plans.extend(again.into_iter().filter(fits).map(|p| Plan {
        name: format!("{name}, {}", p.name),
        cut: Some(cut.clone()),
        ..p
    }));
    Ok(Found { plans, uncut: None, blocked, wide })
}

/// The file with the loops of its kernel gone through by blocks, and the counters of these loops.
fn together(session: &Session) -> Result<Option<(Session, String)>, Refusal> {
    let mut found = None;
    in_kernel(session, &mut |kernel| found = strided::together(kernel))?;
    let Some(found) = found else { return Ok(None) };
    let input = Input { plain: true, text: found.text, ..session.input.clone() };
    Ok(Some((Session::new(input)?, found.names)))
}

fn of_arrays(session: &Session) -> Result<Vec<Plan>, Refusal> {
    let mut plans = vec![];
    in_kernel(session, &mut |kernel| {
        plans = read_only(kernel).into_iter().flat_map(|a| kernel.plans(a)).collect();
        plans.extend(products::plans(kernel));
        plans.extend(vectors::rows::plans(kernel));
        if !suits_any_block(session, kernel) {
            plans.retain(|p| p.block.is_none());
        }
        if several_blocks(session).is_some() {
            let tiles = |text: &str| text.matches("__shared__").count();
            plans.retain(|p| p.block.is_none() && tiles(&p.text) == tiles(kernel.text));
        }
    })?;
    Ok(plans)
}

/// Whether plans may choose a block: where a kernel counts its positions in blocks of a length that it does not ask for, it is
/// right for that length alone, and other blocks leave elements out.
fn suits_any_block(session: &Session, kernel: &Kernel<'_>) -> bool {
    let asked = |a: usize| session.usage.lengths[a] || kernel.extents[a] != shape::Extent::Free;
    kernel.given.is_some() || (0..3).all(|a| !kernel.axes[a] || asked(a))
}

/// Why no tile is for all blocks that the file launches.
fn several_blocks(session: &Session) -> Option<String> {
    let help = "a tile is for one block, which `--block` names";
    match &session.blocks {
        _ if session.input.block.is_some() => None,
        None => Some(format!(
            "nothing says how many threads the blocks of all launches have, and {help}"
        )),
        Some(blocks) if blocks.len() > 1 => {
            Some(format!("the file launches blocks of {}, and {help}", blocks::said(blocks)))
        }
        Some(_) => None,
    }
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
    let found = find::accesses(function, &unit, &sources, &program, &text);
    see(&Kernel {
        text: &text,
        unit: &unit,
        sources: &sources,
        function,
        name: &session.kernel,
        body,
        accesses: &found.own,
        through: &found.through,
        indirect: &found.indirect,
        extents: session.extents.clone(),
        axes: [0, 1, 2].map(|a| session.usage.axes[a] && session.usage.threads[a]),
        blocks: session.usage.axes,
        given: session.input.block,
        shared: find::has_shared(&program),
        aliased: &session.aliased,
        others: &|| held::positions_with(session),
    });
    Ok(())
}

/// Arrays that are read and not stored to.
fn read_only<'a>(kernel: &Kernel<'a>) -> Vec<&'a str> {
    let mut arrays: Vec<&str> = vec![];
    for a in kernel.elements().filter(|a| !a.stored) {
        let stored = kernel.elements().any(|s| s.stored && s.array == a.array);
        if !stored && !arrays.contains(&a.array.as_str()) {
            arrays.push(&a.array);
        }
    }
    arrays
}

/// A launch of a block, or that of the file, with loops of so many iterations and so many blocks along an axis.
///
/// # Errors
/// What the emulator refuses.
pub(crate) fn with_depth(
    session: &mut Session,
    (depth, blocks): (i64, u32),
    fit: Fit,
    block: Option<[u32; 3]>,
) -> Result<Option<Suited>, Refusal> {
    let planes = session.usage.axes[1] && session.usage.threads[1];
    let usual = if planes { [32, 8, 1] } else { [128, 1, 1] };
    let given = session.input.integers.clone();
    for (name, role) in &session.usage.roles {
        if role.depth && !role.axes.contains(&true) && !role.product.contains(&true) {
            session.input.integers.entry(name.clone()).or_insert(depth);
        }
    }
    let found = session.suited(block.or(session.own).unwrap_or(usual), blocks, fit);
    session.input.integers = given;
    found
}
