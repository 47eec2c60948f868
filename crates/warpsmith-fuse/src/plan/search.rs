//! The search for the best covers of a program.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use warpsmith_ir::Diagnostic;

use super::kernel::{Layouts, Planner, Reading};
use super::*;
use crate::cover::{Candidate, Cover, best};
use crate::graph::{Graph, MAX_NODES, Set, members};
use crate::script::{Layout, Node};

/// A region as it is searched: nodes and the variables that are needed after it.
pub struct Region<'a> {
    /// Calls and loops, in the order of the script.
    pub nodes: &'a [Node],
    /// Variables that somebody reads afterwards.
    pub needed_after: Vec<VarId>,
}

/// What was left out, so that the search ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// One way to run a program.
#[derive(Clone, Debug)]
pub struct Covered {
    /// In the order in which they run.
    pub launches: Vec<Launch>,
    /// Predicted time of all of them.
    pub seconds: f64,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Cheapest first.
    pub covers: Vec<Covered>,
    /// Sets that were candidates, over all regions.
    pub candidates: usize,
    /// Predicted seconds when each call is a kernel of its own.
    pub unfused: f64,
    /// What was left out.
    pub bounds: Bounds,
}

/// What is counted on the way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    candidates: usize,
    unfused: f64,
}

/// Elements per block that are tried, beside those that implementations recommend.
const ELEMENTS: [u32; 5] = [32, 64, 96, 128, 256];
/// Fewer: tried where they make a block of [`ENOUGH_THREADS`], since many threads work on each, and, the largest that fits, where
/// none of the others fits, since elements are large.
const FEW_ELEMENTS: [u32; 5] = [16, 8, 4, 2, 1];
const ENOUGH_THREADS: u32 = 128;
/// Combinations of implementations that are tried for one fusion.
const MAX_COMBINATIONS: usize = 64;
/// Candidates of one region.
const MAX_SETS: usize = 1500;
/// Kernels that are kept for one set of calls, and for all sets together, when several covers are asked for.
const MAX_WAYS: usize = 24;
const MAX_CANDIDATES: usize = 12_000;
/// States of the search for covers.
const MAX_STATES: usize = 200_000;

/// Finds the best covers.
///
/// # Errors
/// What is wrong with the library; W530 when a call fits no block.
pub fn search(planner: &Planner<'_>) -> Result<Found, Vec<Diagnostic>> {
    let region = Region {
        nodes: &planner.program.body.nodes,
        needed_after: planner.program.outputs.clone(),
    };
    let mut bounds = Bounds::default();
    let mut tally = Tally::default();
    let covers = covers(planner, &region, planner.options.best, &mut bounds, &mut tally)?;
    bounds.notes.sort();
    bounds.notes.dedup();
    let Tally { candidates, unfused } = tally;
    Ok(Found { covers, candidates, unfused, bounds })
}

fn covers(
    planner: &Planner<'_>,
    region: &Region<'_>,
    count: usize,
    bounds: &mut Bounds,
    tally: &mut Tally,
) -> Result<Vec<Covered>, Vec<Diagnostic>> {
    // Longer regions are covered piece by piece: no kernel reaches over the end of one.
    if region.nodes.len() > MAX_NODES {
        return pieces(planner, region, count, bounds, tally);
    }
    let graph = Graph::new(&crate::script::Region { nodes: region.nodes.to_vec() });
    let (mut size, mut window) = (planner.options.max_fusion.clamp(1, 12), MAX_NODES);
    loop {
        let Some(sets) = graph.convex_sets(size, window, MAX_SETS) else {
            (size, window) = smaller(size, window);
            continue;
        };
        let ways = count.min(MAX_CANDIDATES / sets.len().max(1)).clamp(1, MAX_WAYS);
        let planned = plans(planner, region, &sets, ways, bounds)?;
        let candidate = |p: &Planned| Candidate { set: p.set, seconds: p.seconds, work: p.work };
        let candidates: Vec<Candidate> = planned.iter().map(candidate).collect();
        match best(&graph, &candidates, count, MAX_STATES) {
            Err(_) => (size, window) = smaller(size, window),
            Ok(found) => {
                if (size, window) != (planner.options.max_fusion.clamp(1, 12), MAX_NODES) {
                    bounds.notes.push(format!(
                        "fusions of more than {size} calls, or of calls more than {window} apart in the script, were not looked at: there are too many"
                    ));
                }
                tally.candidates += sets.len();
                tally.unfused += unfused(&planned);
                return Ok(found.iter().map(|c| covered(c, &planned)).collect());
            }
        }
    }
}

/// What to try when there are too many sets: first calls that are closer together, then fewer of them.
fn smaller(size: usize, window: usize) -> (usize, usize) {
    match window {
        MAX_NODES.. => (size, 16),
        9.. => (size, window - 2),
        5.. => (size, window - 1),
        _ if size > 2 => (size - 1, window),
        _ => (size.max(1), (window - 1).max(1)),
    }
}

fn pieces(
    planner: &Planner<'_>,
    region: &Region<'_>,
    count: usize,
    bounds: &mut Bounds,
    tally: &mut Tally,
) -> Result<Vec<Covered>, Vec<Diagnostic>> {
    bounds.notes.push(format!(
        "no kernel reaches over the boundary between {MAX_NODES} calls and the next {MAX_NODES}"
    ));
    let mut all = vec![Covered { launches: vec![], seconds: 0.0 }];
    for (k, nodes) in region.nodes.chunks(MAX_NODES).enumerate() {
        let rest = &region.nodes[(k * MAX_NODES + nodes.len())..];
        let mut needed_after = region.needed_after.clone();
        needed_after.extend(rest.iter().flat_map(Node::reads));
        let piece = Region { nodes, needed_after };
        let found = covers(planner, &piece, if k == 0 { count } else { 1 }, bounds, tally)?;
        let mut next = vec![];
        for before in &all {
            for one in &found {
                let launches = [before.launches.clone(), one.launches.clone()].concat();
                next.push(Covered { launches, seconds: before.seconds + one.seconds });
            }
        }
        next.truncate(count.max(1));
        all = next;
    }
    Ok(all)
}

/// A candidate with what would run.
struct Planned {
    set: Set,
    seconds: f64,
    /// The same without fusion: other seconds for a loop.
    unfused: f64,
    /// Moving and computing together.
    work: f64,
    launch: Launch,
}

/// The sum over the nodes, each for itself.
fn unfused(planned: &[Planned]) -> f64 {
    // In order, so that the sum is the same in every run.
    let mut best: BTreeMap<Set, f64> = BTreeMap::new();
    for p in planned.iter().filter(|p| p.set.count_ones() == 1) {
        let known = best.entry(p.set).or_insert(f64::INFINITY);
        *known = known.min(p.unfused);
    }
    best.values().sum()
}

fn covered(cover: &Cover, planned: &[Planned]) -> Covered {
    let launches = cover.kernels.iter().map(|i| planned[*i].launch.clone()).collect();
    Covered { launches, seconds: cover.seconds }
}

fn plans(
    planner: &Planner<'_>,
    region: &Region<'_>,
    sets: &[Set],
    ways: usize,
    bounds: &mut Bounds,
) -> Result<Vec<Planned>, Vec<Diagnostic>> {
    let mut planned = vec![];
    for set in sets {
        if let [Node::Loop(l)] =
            members(*set).map(|n| &region.nodes[n]).collect::<Vec<_>>().as_slice()
        {
            let needed =
                l.results.iter().map(|(inner, _)| *inner).chain(l.carried.iter().map(|c| c.next));
            let body = Region { nodes: &l.body.nodes, needed_after: needed.collect() };
            let mut inner = Tally::default();
            let found = covers(planner, &body, 1, bounds, &mut inner)?;
            let Some(first) = found.into_iter().next() else { continue };
            let seconds = first.seconds * l.trips as f64;
            let launch = Launch::Loop { source: l.clone(), body: first.launches };
            let unfused = inner.unfused * l.trips as f64;
            planned.push(Planned { set: *set, seconds, unfused, work: seconds, launch });
            continue;
        }
        let kernels = fusion(planner, region, *set, ways, bounds)?;
        if kernels.is_empty() && set.count_ones() == 1 {
            return Err(does_not_fit(planner, region, *set));
        }
        planned.extend(kernels.into_iter().map(|kernel| {
            let (seconds, work) = (kernel.prediction.seconds(), kernel.prediction.sum());
            let launch = Launch::Kernel(Rc::new(kernel));
            Planned { set: *set, seconds, unfused: seconds, work, launch }
        }));
    }
    Ok(planned)
}

/// Why no implementation of a call makes a kernel.
fn does_not_fit(planner: &Planner<'_>, region: &Region<'_>, set: Set) -> Vec<Diagnostic> {
    let call = members(set).find_map(|n| match &region.nodes[n] {
        Node::Call(call) => Some(call),
        Node::Loop(_) => None,
    });
    let unusable = planner.unusable.borrow();
    let own = unusable.iter().filter(|((f, _), _)| call.is_some_and(|c| c.function == *f));
    let own: Vec<Diagnostic> = own.map(|(_, d)| d.clone()).collect();
    if !own.is_empty() {
        return own;
    }
    let name = call.map_or("?", |c| &planner.library.function(c.function).name);
    let d = Diagnostic::error("W530", format!("no implementation of `{name}` fits a block"))
        .note(format!("a block has at most {} bytes of shared memory and 1024 threads", planner.options.shared_limit))
        .help("give an implementation with fewer elements a block, or ask for another one with --implementation");
    let Some(call) = call else { return vec![d] };
    let columns = |v: &&VarId| planner.program.variables[v.0].layout == Layout::Soa;
    let column = call.arguments.iter().chain([&call.result]).find(columns);
    let d = match column {
        Some(v) => d.note(format!(
            "`{}` is a structure of arrays, which the library's own loads and saves cannot move unless they are plain copies",
            planner.program.variables[v.0].name
        )),
        None => d,
    };
    vec![d.label(call.span, "this call")]
}

/// The best kernels for a set of calls, `ways` at most: implementations and block sizes differ.
fn fusion(
    planner: &Planner<'_>,
    region: &Region<'_>,
    set: Set,
    ways: usize,
    bounds: &mut Bounds,
) -> Result<Vec<KernelPlan>, Vec<Diagnostic>> {
    let calls: Vec<(usize, &crate::script::Call)> = members(set)
        .filter_map(|n| match &region.nodes[n] {
            Node::Call(call) => Some((n, call)),
            Node::Loop(_) => None,
        })
        .collect();
    let others = (0..region.nodes.len()).filter(|n| set >> n & 1 == 0);
    let read: std::collections::HashSet<VarId> =
        others.flat_map(|n| region.nodes[n].reads()).collect();
    let made = calls.iter().map(|(_, c)| c.result);
    let needed_after =
        made.filter(|v| read.contains(v) || region.needed_after.contains(v)).collect();
    let reading = Reading { calls, needed_after };
    let mut layouts = Layouts::new();
    let (mut best, mut considered): (Vec<KernelPlan>, usize) = (vec![], 0);
    let order = |a: &KernelPlan, b: &KernelPlan| {
        let key = |p: &KernelPlan| (p.prediction.seconds(), p.prediction.sum());
        let ((a, more_a), (b, more_b)) = (key(a), key(b));
        a.total_cmp(&b).then(more_a.total_cmp(&more_b))
    };
    for combination in combinations(planner, &reading, bounds) {
        let sizes = block_sizes(planner, &reading, &combination);
        let (usual, before) = (sizes.len(), considered);
        for (k, elements) in sizes.into_iter().chain(FEW_ELEMENTS).enumerate() {
            if k >= usual && considered > before {
                break;
            }
            let Some(new) = planner.kernel(&reading, &combination, elements, &mut layouts)? else {
                continue;
            };
            considered += 1;
            // Behind those that are as good: the first found comes first.
            let at = best.partition_point(|old| order(old, &new).is_le());
            best.insert(at, new);
            // One more than is asked for, to tell how close it was.
            best.truncate(ways + 1);
        }
    }
    let seconds: Vec<f64> = best.iter().map(|p| p.prediction.seconds()).collect();
    best.truncate(ways);
    for (k, plan) in best.iter_mut().enumerate() {
        (plan.considered, plan.next_best) = (considered, seconds.get(k + 1).copied());
    }
    Ok(best)
}

/// Combinations of implementations; calls of one function take the same one.
fn combinations(
    planner: &Planner<'_>,
    reading: &Reading<'_>,
    bounds: &mut Bounds,
) -> Vec<Vec<usize>> {
    let mut functions: Vec<FunctionId> = vec![];
    for (_, call) in &reading.calls {
        if !functions.contains(&call.function) {
            functions.push(call.function);
        }
    }
    let choices: Vec<Vec<usize>> = functions.iter().map(|f| allowed(planner, *f)).collect();
    let count = choices.iter().map(Vec::len).fold(1usize, usize::saturating_mul);
    let mut all = vec![];
    for n in 0..count.min(MAX_COMBINATIONS) {
        // Beyond the limit: those in which all take their first, second, … and what is near them.
        let mut rest = if count > MAX_COMBINATIONS { n * (count / MAX_COMBINATIONS) } else { n };
        let mut of: HashMap<FunctionId, usize> = HashMap::new();
        for (f, list) in functions.iter().zip(&choices) {
            of.insert(*f, list[rest % list.len()]);
            rest /= list.len();
        }
        all.push(reading.calls.iter().map(|(_, c)| of[&c.function]).collect());
    }
    if count > MAX_COMBINATIONS {
        bounds.notes.push(format!("of some fusions {MAX_COMBINATIONS} combinations of implementations were looked at, not all"));
    }
    all
}

fn allowed(planner: &Planner<'_>, id: FunctionId) -> Vec<usize> {
    let f = planner.library.function(id);
    let all: Vec<usize> = (0..f.implementations.len()).collect();
    let asked = |name: &str| {
        let list = &planner.options.implementations;
        let found = list.iter().rev().find(|(function, _)| function == name);
        found.and_then(|(_, i)| f.implementations.iter().position(|one| one.name == *i))
    };
    match asked(&f.name).or_else(|| asked("*")) {
        Some(one) => vec![one],
        None => all,
    }
}

fn block_sizes(
    planner: &Planner<'_>,
    reading: &Reading<'_>,
    implementations: &[usize],
) -> Vec<u32> {
    let mut sizes = ELEMENTS.to_vec();
    for ((_, call), one) in reading.calls.iter().zip(implementations) {
        let one = &planner.library.function(call.function).implementations[*one];
        sizes.extend(one.recommended());
        sizes.extend(one.fixed_counts());
        let threads = |n: &u32| one.shape(*n).map_or(0, |s| s.iter().product::<u32>());
        sizes.extend(FEW_ELEMENTS.iter().filter(|n| threads(n) >= ENOUGH_THREADS));
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
