//! From launches to answers: profile, solve every mark, and look at launches that no search has seen.

mod profiled;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use warpsmith_emu::Finding;
use warpsmith_ir::{Diagnostic, Span};

pub use profiled::Profiled;

use crate::launch::{self, Fit, Launch};
use crate::profile::rows::Row;
use crate::session::ahead::{self, Expected};
use crate::session::{Refusal, Session, Suited, place};
use crate::source::shape::{self, Extent};
use crate::synth::positions::spread;
use crate::synth::reads::{self, Answer, Trouble};
use crate::synth::sides::Sides;

/// A candidate that lost, and what killed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Killed {
    /// What it would have written.
    pub text: String,
    /// The launch and thread that it is wrong for.
    pub witness: String,
}

/// What became of one marked read.
#[derive(Clone, Debug)]
pub struct Found {
    /// `None`: the element is never in shared memory, and the original stays.
    pub answer: Option<Answer>,
    pub killed: Vec<Killed>,
    pub time: Duration,
    /// Rows that it was found on.
    pub rows: usize,
}

/// Rows of one mark that a search starts from, at most.
const MAX_ROWS: usize = 400;
/// How sizes lie to the blocks in the first launches, by shape: cut off and whole, then cut off and by one too large.
const FIRST: [[Fit; 2]; 2] = [[Fit::Ragged(1), Fit::Exact], [Fit::Ragged(1), Fit::Single]];
/// The same of the shapes after them, which are to show mistakes alone.
const FURTHER: [Fit; 2] = [Fit::Ragged(1), Fit::Exact];
/// Launches of a shape with sizes without pattern.
const RANDOM: u32 = 4;
/// The same where none of those comes to a mark.
const MANY_RANDOM: u32 = 40;
/// Threads of a launch that is learnt from: what all of them see is taken down.
const MAX_THREADS: u64 = 1 << 18;
/// Rounds of counter-examples.
const MAX_ROUNDS: usize = 6;
/// Block shapes whose launches are counter-examples from the start.
const UNSEEN: usize = 2;
/// Counter-examples that one round takes in.
const MAX_FAILING: usize = 96;

/// Profiles small launches: at least two block shapes where the plan allows it, sizes that blocks cover and that they do not.
///
/// # Errors
/// W707 when the unmodified kernel is wrong in every launch that was tried.
pub fn profile(session: &mut Session) -> Result<Profiled, Refusal> {
    let start = Instant::now();
    let mut profiled = Profiled::default();
    let mut shapes = 0;
    let blocks = small_shapes(session);
    let expected = expected(session, &blocks);
    session.prepare(&expected);
    for block in &blocks {
        let found = fits(session, *block, 2, &FIRST[shapes])?;
        shapes += usize::from(!found.is_empty());
        for suited in found {
            profiled.add(session, suited, false)?;
        }
        if shapes == 2 {
            break;
        }
    }
    reach(session, &mut profiled, blocks.first().copied())?;
    profiled.random |= profiled.misses(session) || session.plan.forks.any_open();
    // Where nothing is stored with values that tell elements apart, it is with others.
    session.mixed |= profiled.random || !session.plan.forks.forks.is_empty();
    session.mixed |= profiled.launches.iter().all(|s| s.idle);
    if profiled.random {
        for suited in profiled.launches.clone() {
            profiled.add_mixed(session, suited)?;
        }
    }
    // What small blocks never hold, that of the file may: the row below, say, in a tile that is longer than a row.
    if let Some(own) = session.own.filter(|_| profiled.never(session)) {
        for suited in fits(session, own, 2, &FIRST[0][..1])? {
            profiled.add(session, suited, false)?;
        }
    }
    profiled.time = start.elapsed();
    match profiled.launches.is_empty() {
        true => Err(no_launch(session)),
        false => Ok(profiled),
    }
}

/// Goes on with sizes without pattern where no launch has come to some mark, or has found an element in shared memory: what lies between two of
/// them is empty where they are equal, and what one is away is in no tile where it is large.
fn reach(
    session: &mut Session,
    profiled: &mut Profiled,
    block: Option<[u32; 3]>,
) -> Result<(), Refusal> {
    let Some(block) = block else { return Ok(()) };
    for fit in launch::random(&session.usage, MANY_RANDOM).skip(RANDOM as usize) {
        if !profiled.misses(session) && !profiled.never(session) {
            break;
        }
        for suited in session.all_suited(block, 1, fit)?.into_iter().filter(|s| !s.idle) {
            profiled.add(session, suited, false)?;
        }
    }
    Ok(())
}

/// Launches of a block shape in which the unmodified kernel is right: overlapping ones and such in strides where the kernel
/// has them, and two more kinds; which ones goes by turns.
///
/// # Errors
/// What the emulator refuses.
pub fn fits(
    session: &mut Session,
    block: [u32; 3],
    blocks: u32,
    kinds: &[Fit],
) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    for fit in wanted(session, kinds) {
        all.extend(session.all_suited(block, blocks, fit)?);
    }
    Ok(all)
}

/// Kinds of launches of a block shape, with those that the kernel asks for.
fn wanted(session: &Session, kinds: &[Fit]) -> Vec<Fit> {
    let overlapping = session.usage.overlaps.then_some(Fit::Overlapping(2));
    let strided = session.usage.strides.then_some(Fit::Strided);
    let random = launch::random(&session.usage, RANDOM);
    overlapping.into_iter().chain(kinds.iter().copied()).chain(strided).chain(random).collect()
}

/// The launches that are looked at where nothing is wrong with any: two shapes from the start, and those after them, last first.
fn expected(session: &Session, blocks: &[[u32; 3]]) -> Vec<Expected> {
    let all = |block, count, kinds: &[Fit]| {
        let fits = wanted(session, kinds).into_iter();
        fits.map(move |fit| (block, count, fit)).collect::<Vec<_>>()
    };
    let first = blocks.iter().zip(&FIRST).flat_map(|(b, kinds)| all(*b, 2, kinds));
    let further = unseen(blocks).into_iter().enumerate().rev();
    let further = further.flat_map(|(i, b)| all(b, 3, &[FURTHER[i % FURTHER.len()]]));
    first.chain(further).collect()
}

/// Block shapes to profile.
fn small_shapes(session: &Session) -> Vec<[u32; 3]> {
    // Three along z: of two, each is at an end of the block.
    shapes(session, &launch::SMALL, &launch::SMALL_ROWS, 3)
}

/// Shapes of one list that the constants of the file allow, so `deep` where threads go along z; the user's own where nothing can vary.
pub fn shapes(
    session: &Session,
    planes: &[[u32; 2]],
    rows: &[[u32; 2]],
    deep: u32,
) -> Vec<[u32; 3]> {
    let fixed: Vec<Option<u32>> = session
        .extents
        .iter()
        .map(|e| match e {
            Extent::Number(n) => Some(*n),
            _ => None,
        })
        .collect();
    let list = if session.usage.axes[1] { planes } else { rows };
    let mut all: Vec<[u32; 3]> = vec![];
    for [x, y] in list {
        let z = fixed[2].unwrap_or(if session.usage.axes[2] { deep } else { 1 });
        let block = alike(&session.extents, [fixed[0].unwrap_or(*x), fixed[1].unwrap_or(*y), z]);
        let threads: u32 = block.iter().product();
        if threads <= 1024 && !all.contains(&block) {
            all.push(block);
        }
    }
    all
}

/// A block whose extents are the same where one constant makes them.
fn alike(extents: &[Extent; 3], block: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|a| {
        let shared =
            (0..a).find(|b| matches!(extents[a], Extent::Constant(_)) && extents[*b] == extents[a]);
        block[shared.unwrap_or(a)]
    })
}

pub(crate) fn no_launch(session: &Session) -> Refusal {
    let mut error =
        Diagnostic::error("W707", "no launch was found in which the unmodified kernel is right");
    if let Some((launch, findings)) = session.unsuited.first() {
        for (at, what) in findings.first().map_or(vec![], |f| places(session, launch, f)) {
            error = error.label(at, what);
        }
        for f in findings.iter().take(3) {
            let thread = f.accesses.iter().find_map(|a| a.thread);
            let who = thread.map_or(String::new(), |t| format!(", {}", who(t.block, t.thread)));
            error = error.note(format!(
                "{}{who}: {} ({})",
                launch.describe(),
                f.message,
                f.rule.name()
            ));
        }
    }
    if session.extents.contains(&Extent::Free) {
        error = error.help("give the block with --block, sizes with --arg NAME=N");
    }
    session.refuse(!session.unsuited.is_empty(), vec![error])
}

/// Where a finding is in the user's text, which has other constants than a launch.
fn places(session: &Session, launch: &Launch, finding: &Finding) -> Vec<(Span, &'static str)> {
    if !session.plan.extents(launch.block).is_empty() {
        return vec![];
    }
    let text = session.plan.reference(launch.block);
    let constants = shape::constants(&text, &launch.constants);
    let back = |at: u32| constants.origin(at as usize) as u32;
    let own = finding.accesses.iter().filter_map(|a| Some((a.span?, a.what)));
    own.filter(|(s, _)| s.file.0 == 0)
        .map(|(s, what)| (Span { start: back(s.start), end: back(s.end), ..s }, what))
        .collect()
}

/// A thread in words.
pub fn who(block: [u32; 3], thread: [u32; 3]) -> String {
    format!("block ({}, {}), thread ({}, {})", block[0], block[1], thread[0], thread[1])
}

/// The search for answers to all marks, which goes on when counter-examples turn up.
#[derive(Clone, Debug)]
pub struct Search {
    /// The rows that each mark is solved on.
    rows: Vec<Vec<Row>>,
    found: Vec<Option<Found>>,
    killed: Vec<Vec<Killed>>,
    times: Vec<Duration>,
    /// Block shapes whose launches are still to be looked at.
    unseen: Vec<[u32; 3]>,
}

impl Search {
    pub fn new(session: &Session, profiled: &Profiled) -> Search {
        let count = session.plan.reads.len();
        Search {
            rows: (0..count).map(|m| sampled(&profiled.profile[m])).collect(),
            found: vec![None; count],
            killed: vec![vec![]; count],
            times: vec![Duration::ZERO; count],
            unseen: unseen(&small_shapes(session)),
        }
    }

    /// Solves every mark, with launches that were not profiled before as counter-examples.
    ///
    /// # Errors
    /// W711 and W712 for a plan that cannot work.
    pub fn settle(
        &mut self,
        session: &mut Session,
        profiled: &mut Profiled,
    ) -> Result<Vec<Found>, Refusal> {
        let mut again = self.challenge(session, profiled);
        for round in 0..MAX_ROUNDS {
            if round > 0 && !again {
                break;
            }
            self.answer(session, profiled)?;
            again = self.challenge(session, profiled);
            while !again && let Some(block) = self.unseen.pop() {
                let kind = FURTHER[self.unseen.len() % FURTHER.len()];
                let start = Instant::now();
                let found = fits(session, block, 3, &[kind])?;
                profiled.time += start.elapsed();
                for suited in found {
                    profiled.add(session, suited, false)?;
                }
                again = self.challenge(session, profiled);
            }
        }
        let all = self.found.iter().enumerate().map(|(m, f)| match f {
            Some(f) => {
                Ok(Found { killed: self.killed[m].clone(), time: self.times[m], ..f.clone() })
            }
            None => Err(unsettled(session, m)),
        });
        all.collect()
    }

    /// The answers to a mark that lost.
    pub fn killed(&self, mark: usize) -> &[Killed] {
        &self.killed[mark]
    }

    /// For each mark that is left without an answer: the last that was found, with what killed it.
    pub fn refuted(&self) -> Vec<Option<&Killed>> {
        let all = self.found.iter().zip(&self.killed);
        all.map(|(f, killed)| killed.last().filter(|_| f.is_none())).collect()
    }

    /// Takes a launch among the profiles in which an answer was wrong, or some blocks of a large one. False: it has been there.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn learn(
        &mut self,
        session: &mut Session,
        profiled: &mut Profiled,
        suited: &Suited,
    ) -> Result<bool, Refusal> {
        let mut suited = suited.clone();
        if suited.launch.threads() > MAX_THREADS {
            suited.launch = suited.launch.sampled();
        }
        let known = profiled.launches.iter().any(|s| s.launch == suited.launch);
        if suited.launch.threads() > MAX_THREADS {
            return Ok(false);
        }
        if known {
            return profiled.other_ways(session, suited);
        }
        profiled.add(session, suited, true)?;
        Ok(true)
    }

    /// Solves all marks that have no answer, side by side.
    fn answer(&mut self, session: &mut Session, profiled: &Profiled) -> Result<(), Refusal> {
        let start = Instant::now();
        let open = self.found.iter().enumerate().filter(|(_, f)| f.is_none()).map(|(m, _)| m);
        let open: Vec<(usize, Inner)> = open.map(|m| (m, inner_of(session, profiled, m))).collect();
        let (plan, effort, rows) = (&session.plan, session.effort, &self.rows);
        let solved = ahead::side_by_side(&open, |(m, inner)| {
            let start = Instant::now();
            let extents = |array: usize, row: &Row| inner[row.launch][array].clone();
            let looked = plan.given(*m).is_none();
            let answer = looked.then(|| reads::solve(&plan.reads[*m], &rows[*m], &extents, effort));
            (answer, start.elapsed())
        });
        let own: Vec<_> = open.iter().zip(&solved).map(|((m, _), (_, t))| (*m, *t)).collect();
        self.share(&own, start.elapsed());
        for ((m, _), (answer, _)) in open.into_iter().zip(solved) {
            let answer = match answer {
                None | Some(Err(Trouble::Never)) => None,
                Some(Ok(answer)) => Some(answer),
                Some(Err(trouble)) => {
                    return Err(cannot(session, profiled, m, &self.rows[m], &trouble));
                }
            };
            let (killed, time) = Default::default();
            self.found[m] = Some(Found { answer, killed, time, rows: self.rows[m].len() });
        }
        Ok(())
    }

    /// Of time that marks took together, each gets its share by what it took alone.
    fn share(&mut self, own: &[(usize, Duration)], whole: Duration) {
        let all: Duration = own.iter().map(|(_, t)| *t).sum();
        for (m, time) in own.iter().filter(|_| !all.is_zero()) {
            self.times[*m] += whole.mul_f64(time.as_secs_f64() / all.as_secs_f64());
        }
    }

    /// Looks at all rows for some that an answer is wrong on; takes them among the rows it is looked for on.
    fn challenge(&mut self, session: &mut Session, profiled: &Profiled) -> bool {
        let start = Instant::now();
        let marks = (0..self.found.len()).filter(|m| session.plan.given(*m).is_none());
        let marks: Vec<usize> = marks.filter(|m| self.found[*m].is_some()).collect();
        let answered: Vec<(usize, Inner)> =
            marks.into_iter().map(|m| (m, inner_of(session, profiled, m))).collect();
        let found = &self.found;
        let failing = ahead::side_by_side(&answered, |(m, inner)| {
            let start = Instant::now();
            let wrong = |r: &&Row| match found[*m].as_ref().and_then(|f| f.answer.as_ref()) {
                Some(a) => !a.suits(r, &inner[r.launch][a.array]),
                None => !r.places.is_empty(),
            };
            let failing: Vec<&Row> = profiled.profile[*m].iter().filter(wrong).collect();
            (failing, start.elapsed())
        });
        let own: Vec<_> = answered.iter().zip(&failing).map(|((m, _), (_, t))| (*m, *t)).collect();
        self.share(&own, start.elapsed());
        let mut again = false;
        for ((m, _), (failing, _)) in answered.into_iter().zip(failing) {
            let Some(first) = failing.first() else { continue };
            let text = match self.found[m].as_ref().and_then(|f| f.answer.as_ref()) {
                Some(a) => a.text(&session.plan.reads[m], "…", &Sides::default()),
                None => "never in shared memory".to_string(),
            };
            self.killed[m].push(Killed { text, witness: witness(session, profiled, m, first) });
            let chosen = spread(failing.len(), MAX_FAILING).into_iter();
            self.rows[m].extend(chosen.map(|i| failing[i].clone()));
            self.found[m] = None;
            again = true;
        }
        again
    }
}

/// Shapes whose launches are counter-examples, last first.
fn unseen(blocks: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut all: Vec<[u32; 3]> = blocks.iter().copied().skip(2).take(UNSEEN).collect();
    all.reverse();
    all
}

fn unsettled(session: &Session, m: usize) -> Refusal {
    let error = Diagnostic::error("W712", "no expression was found that is right in every launch")
        .label(place(&session.plan.mark(m).whole), "for this read");
    session.refuse(true, vec![error])
}

/// Rows that differ, spread over the profile.
fn sampled(all: &[Row]) -> Vec<Row> {
    let mut seen = HashSet::new();
    let distinct: Vec<&Row> = all.iter().filter(|r| seen.insert((&r.values, &r.places))).collect();
    spread(distinct.len(), MAX_ROWS).into_iter().map(|i| distinct[i].clone()).collect()
}

/// The extents of arrays without the outermost, by launch and array.
type Inner = Vec<Vec<Vec<i64>>>;

fn inner_of(session: &mut Session, profiled: &Profiled, m: usize) -> Inner {
    let names: Vec<String> =
        session.plan.reads[m].site.arrays.iter().map(|a| a.declared().to_string()).collect();
    let launches: Vec<_> = profiled.launches.iter().map(|s| s.launch.clone()).collect();
    launches.iter().map(|l| names.iter().map(|n| session.inner_extents(l, n)).collect()).collect()
}

/// A row in words: the launch, and the values of what names the thread.
pub fn witness(session: &Session, profiled: &Profiled, m: usize, row: &Row) -> String {
    let launch = &profiled.launches[row.launch].launch;
    let [x, y, _] = launch.block;
    let threads: u32 = launch.block.iter().product();
    let (block, thread) = (row.thread / threads, row.thread % threads);
    let array = profiled.launches[row.launch].launch.grid;
    let place = match (row.places.first(), &row.given) {
        (_, Some(given)) => format!("the element has to be at position {}", given.place),
        (Some((a, p)), _) => {
            let name = &session.plan.reads[m].site.arrays[usize::from(*a)].name;
            format!("the element is at position {p} of `{name}`")
        }
        (None, _) => "the element is not in shared memory".to_string(),
    };
    format!(
        "{}: block ({}, {}), thread ({}, {}): {place}",
        launch.describe(),
        block % array[0],
        block / array[0] % array[1],
        thread % x,
        thread / x % y,
    )
}

/// A plan for which no expression exists, with the threads that say so.
fn cannot(
    session: &Session,
    profiled: &Profiled,
    m: usize,
    rows: &[Row],
    trouble: &Trouble,
) -> Refusal {
    let at = place(&session.plan.mark(m).whole);
    let error = match trouble {
        Trouble::NoGuard(held, missing) => {
            Diagnostic::error("W711", "no condition tells where the element is in shared memory")
                .label(at, "for this read")
                .note(witness(session, profiled, m, &rows[*held]))
                .note(witness(session, profiled, m, &rows[*missing]))
        }
        _ => {
            let first = rows.iter().find(|r| !r.places.is_empty());
            let error = Diagnostic::error("W711", "no subscript names the place of the element")
                .label(at, "for this read");
            match first {
                Some(row) => error.note(witness(session, profiled, m, row)),
                None => error,
            }
        }
    };
    session.refuse(
        true,
        vec![
            error.help(
                "copy elements to where a sum of thread indices, sizes and block extents says",
            ),
        ],
    )
}
