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
    /// Marked reads are of arrays that the kernel stores to.
    pub changing: bool,
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
    let mut shapes = Shapes::new(session, checked);
    let mut all = vec![];
    while let Some(proof) = shapes.next(session, dropped, edits)? {
        all.push(proof);
    }
    Ok(all)
}

/// The same up to the first shape at which the solver finds a launch in which the text is wrong, with that launch.
///
/// # Errors
/// Those of [`prove`], and what the emulator refuses.
pub fn prove_or_refute(
    session: &mut Session,
    (checked, checker): (&Checked, &Checker),
    edits: &Patch,
) -> Result<(Vec<ShapeProof>, Option<Refuted>), Refusal> {
    let mut shapes = Shapes::new(session, checked);
    let (mut all, mut tried) = (vec![], vec![]);
    while let Some(proof) = shapes.next(session, &checker.dropped, edits)? {
        let refuted = refuted(session, checker, &proof, &mut tried, edits)?;
        all.push(proof);
        if refuted.is_some() {
            return Ok((all, refuted));
        }
    }
    Ok((all, None))
}

/// The block shapes that a text is to be proved at.
struct Shapes {
    /// A launch of each; none without a solver.
    launches: std::vec::IntoIter<Launch>,
    bounds: Vec<(usize, String)>,
    /// Shapes at which the solver left something undecided.
    undecided: usize,
}

impl Shapes {
    fn new(session: &Session, checked: &Checked) -> Shapes {
        let mut launches = checked.launches.clone();
        // What is proved is the file with its own constants.
        launches.retain(|l| l.varied.is_empty() && session.input.solver.is_some());
        let own = session.own;
        launches.sort_by_key(|l| (Some(l.block) != own, l.block));
        launches.dedup_by_key(|l| l.block);
        Shapes { launches: launches.into_iter(), bounds: bounds(session), undecided: 0 }
    }

    /// What is proved at the next shape. `None` behind the last one, or when the solver does not start.
    fn next(
        &mut self,
        session: &mut Session,
        dropped: &[String],
        edits: &Patch,
    ) -> Result<Option<ShapeProof>, Refusal> {
        let (Some(launch), Some(program)) = (self.launches.next(), session.input.solver.clone())
        else {
            return Ok(None);
        };
        let start = Instant::now();
        let (mut assumed, mut doubts, mut changing) = Default::default();
        let reads = if self.undecided >= MAX_UNDECIDED {
            none(session, "not asked: the solver did not decide with other blocks".into())
        } else {
            let rewritten = Rewritten::new(session, edits, &launch)?;
            let shaped = session.shaped(&launch)?;
            let Some(mut solver) = Solver::start(&program) else { return Ok(None) };
            let (old, new) = (&shaped.reference, &rewritten.program);
            let known = proof::Known { bounds: &self.bounds, ties: session.ties(), dropped };
            let proof = proof::prove(&mut solver, old, new, launch.block, known);
            self.undecided += usize::from(solver.gave_up());
            match proof {
                Ok(proof) => {
                    (assumed, doubts, changing) = (proof.assumed, proof.doubts, proof.changing);
                    by_mark(session, &rewritten, proof.reads)
                }
                Err(why) => none(session, why),
            }
        };
        let (block, time) = (launch.block, start.elapsed());
        Ok(Some(ShapeProof { block, launch, reads, assumed, doubts, changing, time }))
    }
}

type Reads = BTreeMap<usize, Option<Unproved>>;

fn none(session: &Session, why: Unproved) -> Reads {
    (0..session.plan.reads.len()).map(|m| (m, Some(why.clone()))).collect()
}

/// What is proved of each marked read: those that differ stand in marks.
fn by_mark(
    session: &Session,
    rewritten: &Rewritten,
    proved: Vec<(Vec<Span>, Option<Unproved>)>,
) -> Reads {
    let mut reads = Reads::new();
    let all_hold = proved.iter().all(|(_, why)| why.is_none());
    let mut unplaced = vec![];
    for (at, why) in proved {
        // What a function is called with may have the span of the call.
        let byte = |s: &Span| rewritten.origin(*s).start as usize;
        let Some(mark) = at.iter().find_map(|s| mark_at(session, byte(s))) else {
            unplaced.push((at, why));
            continue;
        };
        let known = reads.entry(mark).or_insert(None);
        *known = known.take().or(why);
    }
    // What stands in the arguments of a macro is where the macro is used: where all that differs is proved, so is it.
    for (at, why) in unplaced.into_iter().filter(|(_, why)| all_hold || why.is_some()) {
        let uses = at.iter().map(|s| rewritten.origin(*s));
        for mark in uses.flat_map(|s| marks_in(session, s)) {
            let known = reads.entry(mark).or_insert(None);
            *known = known.take().or(why.clone());
        }
    }
    reads
}

/// Block shapes at which the solver may leave something undecided.
const MAX_UNDECIDED: usize = 2;

/// Blocks along an axis of a launch that shows a mistake, at most.
const MAX_BLOCKS: i64 = 64;
/// Instances that are emulated of one text, at most.
const MAX_REPLAYED: usize = 12;

/// A launch in which a text is wrong, and in what way.
type Refuted = (Suited, Vec<Problem>);

/// A launch in which a text is wrong, from what the solver found at one shape where it could not prove, or not without assumptions. What it
/// asks for may be more than is needed, so that only emulation says so.
fn refuted(
    session: &mut Session,
    checker: &Checker,
    proof: &ShapeProof,
    tried: &mut Vec<Launch>,
    edits: &Patch,
) -> Result<Option<Refuted>, Refusal> {
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
