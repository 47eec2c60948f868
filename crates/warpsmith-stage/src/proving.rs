//! Proofs of a rewritten file: at each block shape that it was checked with, read by read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use warpsmith_ir::Span;

use crate::launch::Launch;
use crate::session::{Refusal, Session, Suited};
use crate::source::marks;
use crate::source::patch::Patch;
use crate::source::ties;
use crate::verify::check::{Checked, Checker, Problem, Rewritten};
use crate::verify::proof::claims::{Instance, Unproved};
use crate::verify::proof::{self, solver::Solver};

/// What was proved at one block shape.
#[derive(Clone, Debug)]
pub struct ShapeProof {
    pub block: [u32; 3],
    /// A launch of that shape.
    pub launch: Launch,
    /// For each marked read that differs: why it is not proved.
    pub reads: BTreeMap<usize, Option<Unproved>>,
    pub assumed: BTreeSet<String>,
    /// Where it may be wrong in launches that do not keep to what is assumed.
    pub doubts: Vec<Instance>,
    pub time: Duration,
}

impl ShapeProof {
    pub fn proves(&self, mark: usize) -> bool {
        self.reads.get(&mark) == Some(&None)
    }
}

/// Tries to prove all reads at every block shape that the text was checked with, that of the file first.
///
/// # Errors
/// W720 for a text that does not compile: a bug of ours.
pub fn prove(
    session: &mut Session,
    checked: &Checked,
    dropped: &[String],
    edits: &Patch,
) -> Result<Vec<ShapeProof>, Refusal> {
    let Some(program) = session.input.solver.clone() else { return Ok(vec![]) };
    let mut launches = checked.launches.clone();
    // What is proved is the file with its own constants.
    launches.retain(|l| l.varied.is_empty());
    let own = session.own;
    launches.sort_by_key(|l| (Some(l.block) != own, l.block));
    launches.dedup_by_key(|l| l.block);
    let bounds = bounds(session);
    let mut all = vec![];
    let mut undecided = 0;
    for launch in launches {
        let start = Instant::now();
        if undecided >= MAX_UNDECIDED {
            let why = Unproved::from("not asked: the solver did not decide with other blocks");
            let reads = (0..session.plan.reads.len()).map(|m| (m, Some(why.clone()))).collect();
            let (assumed, doubts, time) = Default::default();
            all.push(ShapeProof { block: launch.block, launch, reads, assumed, doubts, time });
            continue;
        }
        let rewritten = Rewritten::new(session, edits, &launch)?;
        let shaped = session.shaped(&launch)?;
        let Some(mut solver) = Solver::start(&program) else { return Ok(all) };
        let (old, new) = (&shaped.reference, &rewritten.program);
        let known = proof::Known { bounds: &bounds, ties: session.ties(), dropped };
        let proof = proof::prove(&mut solver, old, new, launch.block, known);
        undecided += usize::from(solver.gave_up());
        let mut reads = BTreeMap::new();
        let (mut assumed, mut doubts) = (BTreeSet::new(), vec![]);
        match proof {
            Ok(proof) => {
                (assumed, doubts) = (proof.assumed, proof.doubts);
                let all_hold = proof.reads.iter().all(|(_, why)| why.is_none());
                let mut unplaced = vec![];
                for (at, why) in proof.reads {
                    // What a function is called with may have the span of the call.
                    let byte = |s: &Span| rewritten.origin(*s).start as usize;
                    let mark = at.iter().find_map(|s| mark_at(session, byte(s)));
                    let Some(mark) = mark else {
                        unplaced.push((at, why));
                        continue;
                    };
                    let known = reads.entry(mark).or_insert(None);
                    *known = known.take().or(why);
                }
                // What stands in the arguments of a macro is where the macro is used: where all that differs is proved, so is it.
                for (at, why) in unplaced {
                    let uses = at.iter().map(|s| rewritten.origin(*s));
                    for mark in uses.flat_map(|s| marks_in(session, s)) {
                        if all_hold || why.is_some() {
                            let known: &mut Option<Unproved> = reads.entry(mark).or_insert(None);
                            *known = known.take().or(why.clone());
                        }
                    }
                }
            }
            Err(why) => {
                reads.extend((0..session.plan.reads.len()).map(|m| (m, Some(why.clone()))));
            }
        }
        let (block, time) = (launch.block, start.elapsed());
        all.push(ShapeProof { block, launch, reads, assumed, doubts, time });
    }
    Ok(all)
}

/// Block shapes at which the solver may leave something undecided.
const MAX_UNDECIDED: usize = 2;

/// Blocks along an axis of a launch that shows a mistake, at most.
const MAX_BLOCKS: i64 = 64;
/// Instances that are emulated of one text, at most.
const MAX_REPLAYED: usize = 12;

/// A launch in which a text is wrong, from what the solver found where it could not prove, or not without assumptions. What it asks for may be more than
/// is needed, so that only emulation says so.
///
/// # Errors
/// What the emulator refuses.
pub fn refuted(
    session: &mut Session,
    checker: &Checker,
    proofs: &[ShapeProof],
    edits: &Patch,
) -> Result<Option<(Suited, Vec<Problem>)>, Refusal> {
    let mut tried: Vec<Launch> = vec![];
    for proof in proofs {
        let unproved = proof.reads.values().flatten().filter_map(|u| u.instance.as_ref());
        for instance in unproved.chain(&proof.doubts) {
            let launch = replayed(session, &proof.launch, instance);
            if tried.len() >= MAX_REPLAYED || tried.contains(&launch) {
                continue;
            }
            tried.push(launch.clone());
            let Some(suited) = session.suit(launch)? else { continue };
            let problems = checker.of(vec![suited.clone()]).check(session, edits, 1)?.problems;
            if !problems.is_empty() {
                return Ok(Some((suited, problems)));
            }
        }
    }
    Ok(None)
}

/// The launch of an instance: its sizes, and blocks enough for them and for its block.
fn replayed(session: &Session, like: &Launch, instance: &Instance) -> Launch {
    let mut launch = like.clone();
    for (name, value) in &instance.integers {
        if !session.input.integers.contains_key(name) {
            launch.integers.insert(name.clone(), *value);
        }
    }
    ties::apply(session.ties(), &mut launch.integers);
    for a in (0..3).filter(|a| session.usage.axes[*a] && session.input.grid.is_none()) {
        let bounds = |name: &&String| session.usage.roles.get(*name).is_some_and(|r| r.axes[a]);
        let size = launch.integers.keys().find(bounds).map_or(1, |n| launch.integers[n]);
        let covering = match session.usage.overlaps {
            true => 1,
            false => (size.max(1) as u64).div_ceil(launch.block[a].into()) as i64,
        };
        launch.grid[a] = (instance.block[a] + 1).max(covering).clamp(1, MAX_BLOCKS) as u32;
    }
    launch
}

fn mark_at(session: &Session, byte: usize) -> Option<usize> {
    session.plan.marks.reads.iter().position(|m| m.whole.start <= byte && byte < m.whole.end)
}

/// The marks in the arguments of a macro that is used at a place.
fn marks_in(session: &Session, name: Span) -> Vec<usize> {
    let (start, end) = (name.start as usize, name.end as usize);
    let end = marks::closing(&session.plan.text, end).unwrap_or(end);
    let holds = |m: &marks::Mark| start <= m.whole.start && m.whole.end <= end;
    let marks = session.plan.marks.reads.iter().enumerate();
    marks.filter(|(_, m)| holds(m)).map(|(i, _)| i).collect()
}

/// Parameters that bound positions along one axis, each alone: of several, blocks may lie beyond some.
fn bounds(session: &Session) -> Vec<(usize, String)> {
    let mut all = vec![];
    for (name, role) in &session.usage.roles {
        let axes: Vec<usize> = (0..3).filter(|a| role.axes[*a]).collect();
        if let [axis] = axes.as_slice() {
            all.push((*axis, name.clone()));
        }
    }
    let alone = |axis: usize| all.iter().filter(|(a, _)| *a == axis).count() == 1;
    all.iter().filter(|(a, _)| alone(*a)).cloned().collect()
}
