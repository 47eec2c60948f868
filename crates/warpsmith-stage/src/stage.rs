//! The whole way: from a file with a plan to the file without, and what is known of it.

mod accesses;
mod by_readers;
mod comments;
mod instances;
mod named;
mod narrow;
mod not_run;
pub(crate) mod overlaps;
mod refuted;
pub(crate) mod wording;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use warpsmith_ir::{Diagnostic, SourceMap};

use accesses::{accesses, replacements};
use comments::comments;
pub(crate) use named::assertion;
use named::{Named, Only};
pub use wording::dims;
use wording::{notes, wrong};

use crate::copying::{self, Copied};
use crate::holes::{self, Filling};
use crate::intermediate;
use crate::launch::{self, Launch};
use crate::proving::{self, ShapeProof};
use crate::search::{self, Found, Killed, Profiled, Search};
use crate::session::{Input, Refusal, Session, place};
use crate::source::marks::{self, Bytes};
use crate::source::patch::Patch;
use crate::source::shape::Extent;
use crate::synth::reads::Effort;
use crate::verify::barriers::{self, Inserted};
use crate::verify::check::{Checked, Checker, Problem};
use crate::verify::further::Further;
use crate::verify::unmet::Unmet;

/// Problems that are learnt from at once.
const AT_ONCE: usize = 5;

/// How sure it is that an access is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proved for all sizes at the block of the file, and at the others that are named.
    Proved,
    /// Emulated, equal to the unmodified kernel at the launches of the report.
    Checked,
    /// Never in shared memory; the text is the user's.
    Original,
    /// Wrong in a launch that no search has seen.
    Refuted,
}

impl Verdict {
    /// The word of reports and comments.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Proved => "proved",
            Verdict::Checked => "checked",
            Verdict::Original => "original",
            Verdict::Refuted => "refuted",
        }
    }
}

/// What a mark asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// A read that is to come from a tile which the kernel fills: `__opt__(e)`.
    Reads,
    /// A read whose copy is to be written: `__opt__(shared, global)` with `__insert();`.
    Copies,
    /// Either, in a kernel whose blocks overlap to do several steps of time each.
    Temporal,
}

impl PlanKind {
    fn of(session: &Session, mark: usize) -> PlanKind {
        match session.plan.given(mark) {
            _ if session.usage.overlaps => PlanKind::Temporal,
            Some(_) => PlanKind::Copies,
            None => PlanKind::Reads,
        }
    }

    /// The word of reports.
    pub fn name(self) -> &'static str {
        match self {
            PlanKind::Reads => "reads",
            PlanKind::Copies => "copies",
            PlanKind::Temporal => "temporal",
        }
    }
}

/// One marked read, and what became of it.
#[derive(Clone, Debug)]
pub struct Access {
    /// What its mark asks for.
    pub plan: PlanKind,
    /// Where the mark stands in the user's text.
    pub at: Bytes,
    /// The read of global memory.
    pub original: String,
    /// What stands there now.
    pub replacement: String,
    /// How sure it is that the replacement is right.
    pub verdict: Verdict,
    /// What refutes it: a launch, a thread and an element.
    pub witness: Option<String>,
    /// Blocks that it is proved with, for all sizes.
    pub proved: Vec<[u32; 3]>,
    /// Why it is not proved, at some block.
    pub unproved: Option<String>,
    /// Candidates that lost, with what killed them.
    pub killed: Vec<Killed>,
    /// Time of the search, without profiles: its share where reads are looked at side by side.
    pub time: Duration,
    /// Reads of profiles that the search looked at.
    pub rows: usize,
}

/// A file that was staged.
#[derive(Debug)]
pub struct Staged {
    /// The file with its reads replaced and copies written.
    pub text: String,
    /// What was changed; of a sketch, in the text whose holes are filled.
    pub edits: Patch,
    /// The kernel, with template arguments.
    pub kernel: String,
    /// The marked reads, in the order of the text.
    pub accesses: Vec<Access>,
    /// Statements that were written at places for copies.
    pub copies: Vec<String>,
    /// Barriers that were missing.
    pub inserted: Vec<Inserted>,
    /// Barriers of the user's text that no launch needs.
    pub redundant: Vec<usize>,
    /// Whether those were removed.
    pub removed: bool,
    /// Stores to arrays that nothing reads any more.
    pub dropped: Vec<String>,
    /// Launches that profiles come from, described.
    pub profiled: Vec<String>,
    /// Launches in which it equals the unmodified kernel, described.
    pub checked: Vec<String>,
    /// Block shapes of the launches that it was checked at.
    pub blocks: Vec<[u32; 3]>,
    /// What the user should know besides.
    pub notes: Vec<String>,
    /// Data decide on marked reads: launches were run with such that send threads either way.
    pub mixed: bool,
    /// The holes of a sketch, filled.
    pub filling: Option<Filling>,
    /// What was so in no launch, where not all is proved: what the text does then is not known.
    pub unmet: Vec<String>,
    /// What launches have to keep to for the proofs.
    pub assumed: BTreeSet<String>,
    /// Time of all proofs.
    pub proof_time: Duration,
    /// Time of all profiles.
    pub profile_time: Duration,
    /// Time of everything.
    pub total_time: Duration,
    /// The user's text, then headers.
    pub sources: SourceMap,
}

/// Stages a file.
///
/// # Errors
/// What is wrong with the file, why its plan cannot work, or what emulation found in the result.
pub fn stage(input: Input) -> Result<Staged, Refusal> {
    let start = Instant::now();
    let mut input = input;
    let mut filling = None;
    if holes::has_holes(&input.text) {
        let made = holes::fill(&input)?;
        input.text = made.text.clone();
        if !marks::has_marks(&input.text) {
            return Ok(sketched(input, made, start.elapsed()));
        }
        filling = Some(made);
    }
    let mut session = Session::new(input)?;
    let extents = session.extents.clone();
    let mut made = tried(&mut session, &extents);
    if made.as_ref().is_err_and(unsolved) && session.tie(true) {
        match tried(&mut session, &extents) {
            Ok(tied) => made = Ok(tied),
            // What the plan lacks is said of all sizes.
            Err(_) => _ = session.tie(false),
        }
    }
    let mut made = made?;
    if let Some(tied) = as_launched(&mut session, &made) {
        made = tied;
    }
    let Made { profiled, checker, result, proofs, named, unmet } = made;
    let Named { fixed, only, .. } = named;
    let Written { found, copied, edits, checked, inserted, redundant, removed } = result;
    let accesses = accesses(&session, &found, copied.time, &proofs);
    let mut notes = notes(&session, &checked, &accesses);
    notes.extend(fixed.iter().map(wording::fixed));
    let proved = all_proved(&session, &proofs);
    let only = if proved { vec![] } else { only };
    notes.extend(only.iter().map(wording::only));
    let mut out = named::asserted(&session, &fixed);
    let apart = overlaps::forbidden(&mut session, &checker, &edits)?;
    let apart: Vec<String> = apart.iter().map(overlaps::said).collect();
    out.extend(&comments(&session, &accesses, &checked, &proofs, (&only, &unmet, &apart)));
    own_shape(&mut session, &checker, &out, &edits)?;
    let mut whole = out.clone();
    whole.extend(&edits);
    let others = instances::checked(&session, &whole)?;
    if !others.is_empty() {
        notes.push(format!("checked as {}, too", others.join(", ")));
    }
    out.extend(&session.plan.extents(own_block(&session)));
    out.extend(&edits);
    let text = out.apply(&session.plan.text).map_err(|at| overlapping(&session, &at))?;
    Ok(Staged {
        text,
        edits: out,
        kernel: session.kernel.clone(),
        accesses,
        copies: copied.statements,
        inserted,
        redundant,
        removed,
        dropped: checker.dropped.clone(),
        profiled: profiled.launches.iter().map(|s| s.launch.describe()).collect(),
        checked: checked.launches.iter().map(|l| l.describe()).collect(),
        blocks: blocks(&checked),
        notes,
        mixed: session.mixed,
        filling,
        unmet: unmet.iter().map(|u| not_run::said(&session, u)).collect(),
        assumed: assumed(&session, &proofs, &only).into_iter().chain(apart).collect(),
        proof_time: proofs.iter().map(|p| p.time).sum(),
        profile_time: profiled.time,
        total_time: start.elapsed(),
        sources: session.sources.clone(),
    })
}

/// A sketch without marks: its holes were all there was to find.
fn sketched(input: Input, filling: Filling, time: Duration) -> Staged {
    let mut sources = SourceMap::new();
    sources.add(input.settings.path.clone(), input.text);
    Staged {
        text: filling.text.clone(),
        edits: Patch::default(),
        kernel: input.kernel.unwrap_or_default(),
        accesses: vec![],
        copies: vec![],
        inserted: vec![],
        redundant: vec![],
        removed: false,
        dropped: vec![],
        profiled: vec![],
        checked: filling.checked.clone(),
        blocks: vec![],
        notes: vec![],
        mixed: false,
        filling: Some(filling),
        unmet: vec![],
        assumed: BTreeSet::new(),
        proof_time: Duration::ZERO,
        profile_time: Duration::ZERO,
        total_time: time,
        sources,
    }
}

/// All that was found out about a file.
struct Made {
    profiled: Profiled,
    checker: Checker,
    result: Written,
    proofs: Vec<ShapeProof>,
    /// What it holds for, of constants and of what the user gives.
    named: Named,
    /// What was so in no launch, where not all is proved.
    unmet: Vec<Unmet>,
}

/// The same for launches that keep to what the host code of the file makes of several sizes along an axis, where that is proved and what is
/// right for all of them is not.
fn as_launched(session: &mut Session, made: &Made) -> Option<Made> {
    let several = launch::has_several(&session.usage) && session.ties().is_empty();
    let doubted = !made.proofs.is_empty() && !all_proved(session, &made.proofs);
    if !several || !doubted || session.input.quick || !session.makes_sizes() {
        return None;
    }
    let in_tiny = session.in_tiny.clone();
    if session.tie(true)
        && let Ok(tied) = written(session)
        && all_proved(session, &tied.proofs)
    {
        return Some(tied);
    }
    session.tie(false);
    session.in_tiny = in_tiny;
    None
}

/// From profiles to proofs, with more effort where no simple expression is right.
fn tried(session: &mut Session, extents: &[Extent; 3]) -> Result<Made, Refusal> {
    session.try_harder(extents.clone(), Effort::Usual);
    let mut made = pinned(session);
    // Of plans that nobody wrote there are others. Positions without a name are parts of what is read: they make long expressions.
    for effort in [Effort::More, Effort::Great] {
        if session.input.quick || !made.as_ref().is_err_and(unsolved) {
            break;
        }
        match effort {
            Effort::Great => session.record_parts(),
            _ if session.plan.has_parts() => {}
            _ => continue,
        }
        session.try_harder(extents.clone(), effort);
        let again = pinned(session);
        // What the plan lacks is said of the simple expressions.
        made = if again.as_ref().is_err_and(unsolved) { made } else { again };
    }
    made
}

/// From profiles to proofs. What no expression says for all blocks may be simple for the one of the file, which is all that is asked
/// for.
fn pinned(session: &mut Session) -> Result<Made, Refusal> {
    let made = written(session);
    match made.as_ref().is_err_and(unsolved) && session.pin() {
        true => written(session),
        false => made,
    }
}

/// From profiles to proofs.
fn written(session: &mut Session) -> Result<Made, Refusal> {
    session.input.steps.begin("profiles");
    let mut profiled = search::profile(session)?;
    let launches = profiled.launches.clone();
    let mut checker = Checker::new(session, &launches)?;
    if checker.launches.is_empty() {
        checker.launches = launches;
    }
    let mut named = Named::default();
    match sure(session, &mut profiled, &mut checker, &mut named) {
        Ok((result, proofs, unmet)) => {
            let made = Made { profiled, checker, result, proofs, named, unmet };
            Ok(by_readers::better(session, &made).unwrap_or(made))
        }
        Err(refusal) if unsolved(&refusal) => {
            by_readers::instead(session, &profiled, &checker).ok_or(refusal)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Whether no expression was found, in contrast to other reasons.
fn unsolved(refusal: &Refusal) -> bool {
    refusal.diagnostics.iter().any(|d| matches!(d.code, "W711" | "W712" | "W713"))
}

/// A rewritten text that emulation found no fault with.
struct Written {
    found: Vec<Found>,
    copied: Copied,
    edits: Patch,
    checked: Checked,
    inserted: Vec<Inserted>,
    /// Barriers of the user's text that no launch needs, and whether they are gone.
    redundant: Vec<usize>,
    removed: bool,
}

/// A text with what was proved of it, and what was so in no launch.
type Sure = (Written, Vec<ShapeProof>, Vec<Unmet>);

/// Writes a text and tries to prove it; where the solver finds a launch in which it is wrong, that is learnt from.
fn sure(
    session: &mut Session,
    profiled: &mut Profiled,
    checker: &mut Checker,
    named: &mut Named,
) -> Result<Sure, Refusal> {
    let mut search = Search::new(session, profiled);
    let (mut lessons, mut further) = (0, Further::default());
    loop {
        session.input.steps.begin("search and checks");
        let result = verified(session, profiled, checker, &mut search)?;
        not_run::read_as_filled(session, &accesses(session, &result.found, Duration::ZERO, &[]))?;
        let mut result = named.settle(session, profiled, checker, &mut search, result)?;
        // Where data decide what is stored, others may need a barrier that these do not.
        if !session.plan.forks.filled.is_empty() {
            result.checked.redundant.clear();
        }
        result.redundant = result.checked.redundant.iter().copied().collect();
        if session.input.fix {
            result.removed = remove(session, checker, &mut result.edits, &mut result.checked)?;
        }
        session.input.steps.begin("proofs");
        let text = (&result.checked, &*checker);
        let (proofs, mut refuted) = proving::prove_or_refute(session, text, &result.edits)?;
        let thorough = !session.input.quick || session.input.chosen;
        // What an array that changes holds is assumed: launches that come to numbers of the text may say otherwise.
        let doubted = !all_proved(session, &proofs) || proofs.iter().any(|p| p.changing);
        if refuted.is_none() && thorough && doubted {
            let known = accesses(session, &result.found, Duration::ZERO, &proofs);
            narrow::refused(session, &result.checked.launches, &known)?;
            refuted = further.refuted(session, checker, &result.edits)?;
        }
        let Some((suited, problems)) = refuted else {
            let wrong = checker.in_tiny(session, &result.edits)?;
            session.in_tiny = wrong.as_ref().map(wording::said);
            let unmet = not_run::unmet(session, &result, &proofs, &further)?;
            return Ok((result, proofs, unmet));
        };
        checker.launches.push(suited.clone());
        lessons += 1;
        if lessons > profiled.lessons() || !search.learn(session, profiled, &suited)? {
            let Written { found, copied, .. } = &result;
            return Err(refuted::refused(session, checker, &problems, found, copied));
        }
    }
}

/// Searches, writes and checks, until a check finds nothing.
fn verified(
    session: &mut Session,
    profiled: &mut Profiled,
    checker: &mut Checker,
    search: &mut Search,
) -> Result<Written, Refusal> {
    let mut lessons = 0;
    loop {
        let found = match search.settle(session, profiled) {
            Ok(found) => found,
            Err(refusal) => return Err(refuted::unanswered(session, search, refusal)),
        };
        let mut edits = replacements(session, profiled, &found)?;
        let copied = copying::copies(session, profiled)?;
        edits.extend(&copied.edits);
        checker.dropped = intermediate::drop_stores(session, &found, &mut edits);
        let (mut checked, inserted) = barriers::complete(session, checker, &mut edits)?;
        if checked.problems.is_empty() && !copied.statements.is_empty() {
            checked.problems = checker.with_other_data(session, &edits, &profiled.launches)?;
        }
        if checked.problems.is_empty() {
            let (redundant, removed) = (vec![], false);
            return Ok(Written { found, copied, edits, checked, inserted, redundant, removed });
        }
        lessons += 1;
        let mut learnt = false;
        if lessons <= profiled.lessons() {
            // Sizes that lie in many ways to each other are wrong in many ways.
            let more = match launch::has_several(&session.usage) {
                true => checker.check(session, &edits, AT_ONCE)?.problems,
                false => vec![],
            };
            let mut seen: Vec<&Launch> = vec![];
            for problem in checked.problems.iter().take(1).chain(&more) {
                if !seen.contains(&&problem.launch) {
                    learnt |= learn(session, (checker, &mut *profiled, &mut *search), problem)?;
                    seen.push(&problem.launch);
                }
            }
        }
        if !learnt && !profiled.careful && session.plan.are_single(&profiled.blamed) {
            (profiled.careful, lessons) = (true, 0);
        } else if !learnt {
            let problems = &checked.problems;
            return Err(refuted::refused(session, checker, problems, &found, &copied));
        }
    }
}

/// Learns from a launch in which a text is wrong; false: there is nothing new in it.
fn learn(
    session: &mut Session,
    (checker, profiled, search): (&Checker, &mut Profiled, &mut Search),
    problem: &Problem,
) -> Result<bool, Refusal> {
    let mut all = checker.launches.iter().chain(&profiled.launches);
    let Some(suited) = all.find(|s| s.launch == problem.launch).cloned() else { return Ok(false) };
    let learnt = search.learn(session, profiled, &suited)?;
    Ok(profiled.restrict(session, problem) || learnt)
}

/// Checks the text with its comments once more with the constants that it is written with.
///
/// # Errors
/// W715 when no launch with them was found: nothing is handed out that was not emulated as it is.
fn own_shape(
    session: &mut Session,
    checker: &Checker,
    comments: &Patch,
    edits: &Patch,
) -> Result<(), Refusal> {
    let own = own_block(session);
    // Where neither file nor user says it, and the text does not depend on it, every block is its own.
    let any = session.own.is_none() && session.plan.extents(own).is_empty();
    let fits = |b: [u32; 3]| any || b == own;
    let launches: Vec<_> =
        checker.launches.iter().filter(|s| fits(s.launch.block)).cloned().collect();
    if launches.is_empty() {
        let error = Diagnostic::error(
            "W715",
            "no launch was found with the block that the file is written for",
        )
        .note(format!("a block of {}", dims(own)))
        .help("name another one with --block, or other constants with -D");
        return Err(session.refuse(true, vec![error]));
    }
    let mut all = comments.clone();
    all.extend(edits);
    let checked = checker.of(launches).check(session, &all, 1)?;
    if !checked.problems.is_empty() {
        return Err(wrong(session, &checked.problems));
    }
    if checked.launches.is_empty() {
        let error = Diagnostic::error(
            "W715",
            "in no launch with the block of the file does the kernel store anything",
        )
        .note(checked.idle.first().map_or(String::new(), |l| l.describe()))
        .help("give sizes with which it does: --arg NAME=N");
        return Err(session.refuse(true, vec![error]));
    }
    Ok(())
}

/// The block that extents which ask for it are written for.
pub(crate) fn own_block(session: &Session) -> [u32; 3] {
    session.own.unwrap_or(if session.usage.axes[1] { [16, 16, 1] } else { [128, 1, 1] })
}

/// What launches have to keep to: for the proofs, as the host code of the file does, and as the user gives it.
fn assumed(session: &Session, proofs: &[ShapeProof], only: &[Only]) -> BTreeSet<String> {
    let ties =
        session.ties().iter().map(|t| format!("{}, as where the file launches it", t.text()));
    let given = only.iter().map(|o| format!("{}, as given", o.what));
    proofs.iter().flat_map(|p| p.assumed.iter().cloned()).chain(ties).chain(given).collect()
}

fn overlapping(session: &Session, at: &Bytes) -> Refusal {
    let error = Diagnostic::error("W720", "two edits of the text overlap").label(place(at), "here");
    session.refuse(false, vec![error])
}

/// Takes barriers out that no launch needs, one by one, as long as the text stays right.
fn remove(
    session: &mut Session,
    checker: &Checker,
    edits: &mut Patch,
    checked: &mut Checked,
) -> Result<bool, Refusal> {
    let mut removed = false;
    for at in checked.redundant.clone() {
        let Some(one) = barriers::removal(&session.plan.text, at) else { continue };
        let mut all = edits.clone();
        all.extend(&one);
        let again = checker.check(session, &all, 1)?;
        if again.problems.is_empty() {
            *edits = all;
            removed = true;
            *checked = again;
        }
    }
    Ok(removed)
}

fn blocks(checked: &Checked) -> Vec<[u32; 3]> {
    let mut all: Vec<[u32; 3]> = checked.launches.iter().map(|l| l.block).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether all reads that are served are proved so.
fn all_proved(session: &Session, proofs: &[ShapeProof]) -> bool {
    let mut reads = proofs.iter().flat_map(|p| p.reads.keys());
    !proofs.is_empty() && reads.all(|m| own_proved(session, *m, proofs))
}

/// Whether a read is proved with the block of the file, or with all where it has none of its own.
fn own_proved(session: &Session, mark: usize, proofs: &[ShapeProof]) -> bool {
    let own = own_block(session);
    let fixed = session.own.is_some() || !session.plan.extents(own).is_empty();
    let mut meant = proofs.iter().filter(|p| !fixed || p.block == own).peekable();
    meant.peek().is_some() && meant.all(|p| p.proves(mark))
}
