//! The rewritten text, parsed again and emulated, against the unmodified kernel: equal bit for bit, and without findings.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use warpsmith_emu::{Checks, Finding, Outcome, Rule};
use warpsmith_ir::{Diagnostic, Span, Way};

use super::ways::Ways;
use super::{blocks, passed, tiny};
use crate::launch::{self, End, Fit, Launch, SIDE};
use crate::memory::{self, Data, Lengths, Prepared, Values};
use crate::program::{Limits, Program, nothing_found};
use crate::search;
use crate::session::{Refusal, Session, Suited};
use crate::source::patch::Patch;
use crate::source::shape;

/// Something that is wrong with a rewritten text.
#[derive(Clone, Debug)]
pub struct Problem {
    pub launch: Launch,
    pub kind: ProblemKind,
}

#[derive(Clone, Debug)]
pub enum ProblemKind {
    Finding(Box<Finding>),
    /// An element of an output differs.
    Different {
        array: String,
        index: usize,
    },
    Limit,
}

/// What checks showed.
#[derive(Debug, Default)]
pub struct Checked {
    pub problems: Vec<Problem>,
    /// Launches in which the text is right.
    pub launches: Vec<Launch>,
    /// Those in which the kernel stores nothing: they show nothing.
    pub idle: Vec<Launch>,
    /// Barriers of the user's text that no launch needs.
    pub redundant: BTreeSet<usize>,
    needed: BTreeSet<usize>,
    /// Arrays that threads write equal values to without an order.
    pub benign: BTreeSet<String>,
    /// The ways that threads took, in the user's text.
    pub ways: Ways,
}

/// What a program is compiled for: constants of the file, and the block.
pub(super) type Shape = (Vec<(String, i64)>, [u32; 3]);

/// Launches of each block that are looked at with every way of data.
const OF_EACH: usize = 2;

/// Launches to check at, and the programs of a rewritten text.
#[derive(Clone, Debug)]
pub struct Checker {
    pub launches: Vec<Suited>,
    /// Launches with the smallest of blocks, whose threads are at both ends: nobody asks for them, and what is wrong there is wrong.
    pub tiny: Vec<Suited>,
    /// Arrays that nothing reads any more.
    pub dropped: Vec<String>,
    /// An axis along which the rewritten kernel may have any number of blocks.
    pub cut: Option<usize>,
}

/// Blocks along an axis of which any number is right: one, few, and more than there are iterations.
const CUTS: [u32; 4] = [1, 3, 2, 9];
/// Launches that are each tried with all of these numbers, at most; of more, each with half of them.
const FEW: usize = 6;

/// What values come from, and the ways of threads that no profile has seen.
pub(super) const SEED: u64 = 7;
pub(super) const OTHER_WAYS: std::ops::Range<u64> = 20..24;
/// Threads of a launch that is looked at with all of these, at most.
const MAX_THREADS: u64 = 1 << 13;

/// Threads of a launch whose blocks are all run, at most: blocks of 32x32, `MANY` along each axis, took most of the time of a check.
const MAX_WHOLE: u64 = 1 << 16;

/// Positions that last blocks are cut off by, one after the other: of small blocks all there are.
const CUT_OFF: u32 = 7;

/// Sizes that blocks are too large or too many for.
const BESIDE: [(Fit, u32); 12] = [
    (Fit::Part, 1),
    (Fit::Thin(0), 3),
    (Fit::Thin(1), 3),
    (Fit::Least(0), 2),
    (Fit::Least(0), 3),
    (Fit::Least(0), 5),
    (Fit::Least(1), 2),
    (Fit::Least(1), 3),
    (Fit::Least(1), 5),
    (Fit::Spare, 2),
    (Fit::Spare, 3),
    (Fit::Spare, 5),
];

/// Planes of launches with more than a few: rings of five come round twice, and of many.
const DEEP: [u32; 2] = [11, 26];
/// Of launches whose loops go beyond a tile as well.
const DEEPEST: i64 = 1100;

/// Launches with sizes without pattern where several bound positions along one axis, with small blocks and with those of the file.
const RANDOM: u32 = 240;
const FEW_RANDOM: u32 = 24;

/// The small block: of kernels with threads along two axes, and along one.
pub(super) const SMALL: [[u32; 2]; 2] = [[SIDE, 5], [SIDE, 1]];

/// Launches of any kernel with other numbers of blocks than its sizes say, with small blocks and with those of the file.
const LOOSE: u32 = 48;
const FEW_LOOSE: u32 = 24;

/// Whether sizes and blocks may be any: blocks that overlap go as far as sizes say, and where data decide on what is read, how long arrays have to
/// be is known of few launches.
pub(super) fn is_loose(session: &Session) -> bool {
    !session.usage.overlaps && session.plan.forks.forks.is_empty()
}

/// Blocks along an axis, so that their numbers come to be what constants are: `blockIdx.x >= R` holds for none of a few.
const MANY: u32 = 13;

/// Sizes of which one ends in its last block in another way than the other: what a thread at both ends has to do is said by comparisons of
/// both, and others that hold by accident where both end alike.
fn corners() -> impl Iterator<Item = (Fit, u32)> {
    let all = [End::One, End::Two, End::Half, End::ButOne, End::All];
    let pairs = all.into_iter().flat_map(move |x| all.map(|y| [x, y]));
    let few = [End::Two, End::Half, End::All];
    // One position in all along an axis.
    let lines = few.into_iter().flat_map(|e| [([End::One, e], true), ([e, End::One], false)]);
    pairs
        .flat_map(|ends| [true, false].map(|deep| (Fit::Ends(ends, deep), 2)))
        .chain(lines.map(|(ends, deep)| (Fit::Ends(ends, deep), 1)))
}

/// Sizes that end anywhere in their last blocks: a condition that is right for some of them may be wrong for the next.
fn ends(block: [u32; 3]) -> impl Iterator<Item = (Fit, u32)> {
    // In large blocks a few left over are others than a quarter or most of them.
    let left = [2, 3, 5, block[0] / 4, block[0] / 2];
    let far =
        left.map(|left| block[0].saturating_sub(left)).into_iter().filter(|by| *by >= CUT_OFF);
    let last = (0..CUT_OFF).chain(far).map(|by| (Fit::Ragged(by), 3));
    last.chain([(Fit::Ragged(1), MANY)])
}

/// The first launches of the file's block in which the kernel stores something.
pub fn of_own_block(session: &Session, launches: &[Suited]) -> Vec<Launch> {
    let own = |s: &&Suited| session.own.is_none_or(|b| s.launch.block == b) && !s.idle;
    launches.iter().filter(own).take(OF_EACH).map(|s| s.launch.clone()).collect()
}

/// Loops that go through more planes than a tile of the file's block has elements along an axis, with as many positions.
fn beyond_tiles(session: &mut Session, profiled: &[Suited]) -> Option<(Fit, u32)> {
    let own = profiled.iter().find(|s| Some(s.launch.block) == session.own)?;
    let planes = session.widest(&own.launch) + 2;
    let blocks = planes as u32 / own.launch.block[0].max(1) + 2;
    let more = i64::from(DEEP[1])..DEEPEST;
    more.contains(&planes).then_some((Fit::Deep(planes as u32), blocks))
}

impl Checker {
    /// Chooses launches that were not profiled.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn new(session: &mut Session, profiled: &[Suited]) -> Result<Checker, Refusal> {
        let mut launches: Vec<Suited> = vec![];
        let mut kinds =
            vec![(Fit::Ragged(3), 3), (Fit::Apart, 3), (Fit::Single, 1), (Fit::Single, 3)];
        if session.usage.overlaps {
            kinds.insert(0, (Fit::Overlapping(2), 3));
        }
        if session.usage.strides {
            kinds.push((Fit::Strided, 3));
        }
        let deep = session.usage.roles.values().any(|r| r.depth);
        kinds.extend(DEEP.map(|planes| (Fit::Deep(planes), 2)).into_iter().filter(|_| deep));
        let mut shapes = search::shapes(session, &launch::USUAL, &launch::USUAL_ROWS, 2);
        shapes.extend(session.own);
        for block in blocks::asked_for(session, profiled)? {
            if !shapes.contains(&block) {
                shapes.push(block);
            }
        }
        let small = search::shapes(session, &SMALL[..1], &SMALL[1..], 2);
        let plane = session.usage.axes[1] && !session.usage.overlaps;
        // Plans of two time steps count positions from where as many blocks begin as sizes need.
        let beside = if session.usage.overlaps { &[][..] } else { &BESIDE[..] };
        let loose = is_loose(session);
        let random = |n: u32, count: u32| -> Vec<(Fit, u32)> {
            let all = launch::loose(count).filter(|_| loose);
            launch::random(&session.usage, n).chain(all).map(|f| (f, 1)).collect()
        };
        let (many, mut few) = (random(RANDOM, LOOSE), random(FEW_RANDOM, FEW_LOOSE));
        few.extend(beyond_tiles(session, profiled).filter(|_| deep));
        let small = small.into_iter().map(|b| {
            let beside = beside.iter().chain(&many).copied();
            let corners = corners().filter(|_| plane);
            let within = (0..b[0] * b[1]).filter(|_| b[0] == SIDE && loose);
            let within = within.map(|n| (Fit::Within(n), 1));
            let all = kinds.iter().copied().chain(beside).chain(ends(b));
            let all = all.chain(corners).chain(within);
            (b, all.collect::<Vec<_>>())
        });
        let usual = shapes.into_iter().map(|b| {
            let beside = beside.iter().chain(&few).copied();
            let beside = beside.filter(|_| session.own == Some(b));
            (b, kinds.iter().copied().chain(beside).collect())
        });
        let wanted: Vec<_> = usual.chain(small).collect();
        for (block, kinds) in wanted {
            for (fit, count) in kinds {
                for mut suited in session.all_suited(block, count, fit)? {
                    if suited.launch.threads() > MAX_WHOLE {
                        suited.launch = suited.launch.sampled();
                    }
                    let seen = profiled.iter().chain(&launches).any(|s| s.launch == suited.launch);
                    if !seen {
                        launches.push(suited);
                    }
                }
            }
        }
        let of_file = session.of_file(&launches)?;
        launches.extend(of_file);
        launches.extend(passed::launches(session, &launches)?);
        let tiny = tiny::launches(session)?;
        Ok(Checker { launches, tiny, dropped: vec![], cut: None })
    }

    /// The launches of which all blocks are run: kernels with other grids are compared in these.
    pub fn whole(&self) -> Vec<Suited> {
        self.launches.iter().filter(|s| s.launch.only.is_empty()).cloned().collect()
    }

    /// The launches that show something: where their number is free, other blocks do what some of the blocks did.
    pub(super) fn looked_at(&self) -> impl Iterator<Item = &Suited> {
        self.launches.iter().filter(|s| self.cut.is_none() || s.launch.only.is_empty())
    }

    /// Emulates a rewritten text at all launches; stops looking at further ones after `enough` problems.
    ///
    /// # Errors
    /// W720 for a text that does not compile: a bug of ours.
    pub fn check(
        &self,
        session: &mut Session,
        edits: &Patch,
        enough: usize,
    ) -> Result<Checked, Refusal> {
        let mut checked = Checked::default();
        let mut programs: HashMap<Shape, Rc<Rewritten>> = HashMap::new();
        for suited in self.looked_at() {
            let key = (suited.launch.constants.clone(), suited.launch.block);
            let program = match programs.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let made = Rc::new(Rewritten::new(session, edits, &suited.launch)?);
                    programs.insert(key, made.clone());
                    made
                }
            };
            self.one(session, &program, suited, &mut checked)?;
            if checked.problems.len() >= enough {
                break;
            }
        }
        if checked.problems.len() < enough {
            self.every_way(session, edits, &mut checked)?;
        }
        let needed = std::mem::take(&mut checked.needed);
        checked.redundant.retain(|b| !needed.contains(b));
        Ok(checked)
    }

    fn one(
        &self,
        session: &mut Session,
        rewritten: &Rewritten,
        suited: &Suited,
        checked: &mut Checked,
    ) -> Result<(), Refusal> {
        let before = checked.problems.len();
        let mut kinds = vec![Values::Tagged];
        kinds.extend(session.mixed.then_some(Values::Mixed));
        kinds.extend(session.plan.forks.any_open().then_some(Values::Wide));
        let shaped = session.shaped(&suited.launch)?;
        let programs = (&shaped.reference, rewritten);
        let mut stores = false;
        for kind in kinds {
            stores |= self.with(session, programs, suited, (SEED, kind), checked)?;
        }
        if checked.problems.len() == before {
            let list = if stores { &mut checked.launches } else { &mut checked.idle };
            list.push(suited.launch.clone());
        }
        Ok(())
    }

    /// The same text in other launches.
    pub fn of(&self, launches: Vec<Suited>) -> Checker {
        Checker { launches, tiny: vec![], dropped: self.dropped.clone(), cut: self.cut }
    }

    /// What is wrong with a text in the launches that it was made from, with other data: threads that need no copy there may need
    /// one with these.
    ///
    /// # Errors
    /// W720 for a text that does not compile: a bug of ours.
    pub fn with_other_data(
        &self,
        session: &mut Session,
        edits: &Patch,
        profiled: &[Suited],
    ) -> Result<Vec<Problem>, Refusal> {
        let mut checked = Checked::default();
        for (n, suited) in profiled.iter().enumerate() {
            let seen = profiled[..n].iter().any(|s| s.launch == suited.launch);
            if seen || suited.launch.threads() > MAX_THREADS {
                continue;
            }
            let rewritten = Rewritten::new(session, edits, &suited.launch)?;
            let shaped = session.shaped(&suited.launch)?;
            for way in OTHER_WAYS {
                let seed = SEED + way * memory::SEEDS_A_WAY;
                self.with(
                    session,
                    (&shaped.reference, &rewritten),
                    suited,
                    (seed, Values::mixed(session.mixed)),
                    &mut checked,
                )?;
                if !checked.problems.is_empty() {
                    return Ok(checked.problems);
                }
            }
        }
        Ok(vec![])
    }

    /// What is wrong with a text in the first launches of each block with data near the numbers that the kernel compares something with.
    ///
    /// # Errors
    /// W720 for a text that does not compile: a bug of ours.
    pub fn with_data_near(&self, session: &mut Session, edits: &Patch) -> Result<Checked, Refusal> {
        let mut checked = Checked::default();
        for suited in self.first() {
            let rewritten = Rewritten::new(session, edits, &suited.launch)?;
            self.near(session, &rewritten, suited, &mut checked)?;
            if !checked.problems.is_empty() {
                break;
            }
        }
        Ok(checked)
    }

    /// The same in one launch, until something is wrong.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub(crate) fn near(
        &self,
        session: &mut Session,
        rewritten: &Rewritten,
        suited: &Suited,
        checked: &mut Checked,
    ) -> Result<(), Refusal> {
        let shaped = session.shaped(&suited.launch)?;
        for seed in memory::near_seeds(SEED) {
            let programs = (&shaped.reference, rewritten);
            self.with(session, programs, suited, (seed, Values::Near), checked)?;
            if !checked.problems.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The first launches of each block, and those whose loops go through many planes.
    pub(crate) fn first(&self) -> Vec<&Suited> {
        let mut first: Vec<&Suited> = vec![];
        for suited in self.looked_at() {
            let same = first.iter().filter(|s| s.launch.block == suited.launch.block).count();
            if same < OF_EACH || suited.deep {
                first.push(suited);
            }
        }
        first
    }

    /// One launch of the unmodified and the rewritten kernel with data of one kind, and whether the kernel stores something in it. Those that the unmodified kernel is wrong
    /// with say nothing.
    pub(super) fn with(
        &self,
        session: &mut Session,
        (reference, rewritten): (&Program, &Rewritten),
        suited: &Suited,
        (seed, kind): (u64, Values),
        checked: &mut Checked,
    ) -> Result<bool, Refusal> {
        let mut lengths = session.lengths(suited, session.mixed)?;
        if kind != Values::Tagged {
            let needed = memory::needed(reference, &suited.launch, data(session, (seed, kind)));
            let needed = needed.map_err(|d| session.refuse(false, vec![d]))?;
            if needed.outcome.findings.iter().any(|f| !f.rule.is_note()) {
                return Ok(false);
            }
            lengths.iter_mut().zip(needed.lengths).for_each(|(l, n)| *l = n.max(*l));
        }
        let data = data(session, (seed, kind));
        let refuse = |d: Diagnostic| session.refuse(false, vec![d]);
        let prepare = |program: &Program, launch: &Launch, lengths: &Lengths| {
            memory::prepare_beside(program, reference, launch, lengths, data)
        };
        let of_reference = |lengths: &Lengths| prepare(reference, &suited.launch, lengths);
        let limits = if kind == Values::Near { Limits::NEAR } else { Limits::of(reference) };
        let ran = memory::run_within((reference, limits), &mut lengths, of_reference);
        let ran = ran.map_err(refuse)?;
        let (outcome, expected) = ran;
        // What goes on for ever says nothing, as what is wrong.
        if kind == Values::Near && nothing_found(&outcome).is_err()
            || kind != Values::Tagged && outcome.limit.is_some()
        {
            return Ok(false);
        }
        let fresh = of_reference(&lengths).map_err(refuse)?;
        let changed = fresh.memory.buffers.iter().zip(&expected.memory.buffers);
        let stores = changed.into_iter().any(|(a, b)| a.bytes != b.bytes);
        for launch in self.launched(&suited.launch) {
            let program = &rewritten.program;
            let mut actual = prepare(program, &launch, &lengths).map_err(refuse)?;
            let outcome = actual.run(program, Checks::ALL).map_err(refuse)?;
            checked.add(&launch, rewritten, outcome);
            self.compare(&launch, &expected, &actual, checked);
        }
        Ok(stores)
    }

    /// The launches of a rewritten kernel in the place of one of the unmodified kernel.
    fn launched(&self, launch: &Launch) -> Vec<Launch> {
        let Some(axis) = self.cut else { return vec![launch.clone()] };
        let kind = launch.integers.values().sum::<i64>() + i64::from(launch.grid[0]);
        let tried = match self.launches.len() <= FEW {
            true => &CUTS[..],
            false => &CUTS[2 * kind.rem_euclid(2) as usize..][..2],
        };
        let with = |blocks: u32| {
            let mut launch = launch.clone();
            launch.grid[axis] = blocks;
            launch
        };
        tried.iter().copied().map(with).collect()
    }

    fn compare(
        &self,
        launch: &Launch,
        expected: &Prepared,
        actual: &Prepared,
        checked: &mut Checked,
    ) {
        let arrays =
            expected.memory.buffers.iter().zip(&actual.memory.buffers).zip(&expected.arrays);
        for ((a, b), name) in arrays.filter(|(_, n)| !self.dropped.contains(n)) {
            if memory::holds_same(a, b) {
                continue;
            }
            if let Some(at) = a.bytes.iter().zip(&b.bytes).position(|(a, b)| a != b) {
                let size =
                    a.element.as_ref().and_then(|t| t.scalar()).map_or(4, |s| s.bytes() as usize);
                let kind = ProblemKind::Different { array: name.clone(), index: at / size };
                checked.problems.push(Problem { launch: launch.clone(), kind });
            }
        }
    }
}

impl Problem {
    /// What is wrong, in words.
    pub fn said(&self) -> String {
        match &self.kind {
            ProblemKind::Finding(f) => f.message.clone(),
            _ => "it computes something else".into(),
        }
    }
}

impl Checked {
    /// What the emulator found in a launch.
    fn add(&mut self, launch: &Launch, rewritten: &Rewritten, outcome: Outcome) {
        let mut problem = |kind| self.problems.push(Problem { launch: launch.clone(), kind });
        if outcome.limit.is_some() {
            problem(ProblemKind::Limit);
        }
        for mut finding in outcome.findings {
            for access in &mut finding.accesses {
                access.span = access.span.map(|s| rewritten.origin(s));
            }
            let place = finding.accesses.first().and_then(|a| a.span).map(|s| s.start as usize);
            match finding.rule {
                Rule::RedundantBarrier => self.redundant.extend(place),
                Rule::RaceBenign => self.benign.extend(finding.array),
                rule if rule.is_note() => {}
                _ => problem(ProblemKind::Finding(Box::new(finding))),
            }
        }
        for way in &outcome.ways {
            let way = Way { span: rewritten.origin(way.span), ..*way };
            self.ways.insert(way, &launch.integers);
        }
        self.needed
            .extend(outcome.needed_barriers.iter().map(|s| rewritten.origin(*s).start as usize));
    }
}

/// The program of a rewritten text, with the way back to the user's.
#[derive(Debug)]
pub struct Rewritten {
    pub program: Program,
    edits: Patch,
    constants: Patch,
}

impl Rewritten {
    /// A program that no edits lead to.
    pub fn of(program: Program) -> Rewritten {
        Rewritten { program, edits: Patch::default(), constants: Patch::default() }
    }

    /// Compiles a rewritten text for a launch.
    ///
    /// # Errors
    /// W720 when it does not compile: a bug of ours.
    pub fn new(session: &Session, edits: &Patch, launch: &Launch) -> Result<Rewritten, Refusal> {
        let mut all = session.plan.extents(launch.block);
        all.extend(edits);
        let text = all.apply(&session.plan.text).map_err(|at| {
            let error = Diagnostic::error("W720", "two edits of the text overlap")
                .label(crate::session::place(&at), "here");
            session.refuse(false, vec![error])
        })?;
        let constants = shape::constants(&text, &launch.constants);
        let program = session.compiler.compile(&text, &launch.constants, &session.kernel).map_err(
            |list| {
                let mut error = Diagnostic::error("W720", "the rewritten text does not compile");
                for d in list.iter().take(3) {
                    error = error.note(d.message.clone());
                }
                session.refuse(false, vec![error])
            },
        )?;
        Ok(Rewritten { program, edits: all, constants })
    }

    /// Where a span of the program stands in the user's text; spans of headers stay.
    pub fn origin(&self, span: Span) -> Span {
        if span.file.0 != 0 {
            return span;
        }
        let back = |at: u32| self.edits.origin(self.constants.origin(at as usize)) as u32;
        Span { start: back(span.start), end: back(span.end), ..span }
    }
}

/// What the arrays of a check hold.
fn data(session: &Session, (seed, kind): (u64, Values)) -> Data<'_> {
    Data { seed, tagged: &session.tagged, kind }
}
