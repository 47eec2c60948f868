//! Plans whose copies are written by the tool: from rows of a profile to statements.

mod nested;
mod turned;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use warpsmith_ir::Diagnostic;

use crate::copying::nested::Group;
use crate::plan::{Plan, Point, Symbol};
use crate::profile::instrument;
use crate::profile::rows::Profile;
use crate::search::{self, Profiled};
use crate::session::{Refusal, Session, Suited, place};
use crate::source::forks;
use crate::source::patch::{Patch, indentation, with_its_line};
use crate::source::scope;
use crate::synth::copies::{Copy, Problem, Trouble};

/// Copies as they are written.
#[derive(Debug, Default)]
pub struct Copied {
    pub edits: Patch,
    pub statements: Vec<String>,
    /// How many copies there are in these.
    pub count: usize,
    pub time: Duration,
}

/// Chooses and writes the copies of a plan.
///
/// # Errors
/// W711 and W714 for a plan whose reads no copy makes right.
pub fn copies(session: &mut Session, profiled: &mut Profiled) -> Result<Copied, Refusal> {
    let marks: Vec<usize> =
        (0..session.plan.reads.len()).filter(|m| session.plan.given(*m).is_some()).collect();
    if marks.is_empty() {
        // Places for copies go without any.
        return Ok(written(session, &[]));
    }
    if let Some(m) = marks.iter().find(|m| profiled.profile[**m].is_empty()) {
        let error = Diagnostic::error("W712", "no launch that was tried comes to this read")
            .label(place(&session.plan.mark(*m).whole), "nothing is known of it")
            .help("give sizes with which it is reached: --arg NAME=N, --grid");
        return Err(session.refuse(true, vec![error]));
    }
    let start = Instant::now();
    let arrays = marks
        .into_iter()
        .map(|m| Ok((m, array(session, m)?)))
        .collect::<Result<BTreeMap<usize, usize>, Refusal>>()?;
    let threads = |launch: usize| profiled.launches[launch].launch.block.iter().product();
    let turned = turned::of(&session.plan, &profiled.profile);
    let reads = session.plan.reads.len();
    let with_array = |m: &usize| (*m, arrays[&session.plan.origin(*m)]);
    let launches = &profiled.launches;
    let first = |s: &Suited| launches.iter().position(|other| other.launch == s.launch);
    let alike: Vec<usize> = launches.iter().filter_map(first).collect();
    let mut problem = Problem {
        profile: &turned.profile,
        marks: turned.marks.iter().map(with_array).collect(),
        point: &|place| &session.plan.inserts[place - reads],
        threads: &threads,
        alike: &alike,
        forks: &session.plan.forks,
        origin: &|mark| session.plan.origin(mark),
        rank: &|mark| turned.rank(mark),
        spots: OnceCell::new(),
        strict: &profiled.strict,
        guarded: BTreeSet::new(),
        all_readers: profiled.by_readers,
        serve_all: true,
    };
    profiled.blamed.extend(problem.wrongly_made(&profiled.copies));
    if profiled.by_readers {
        problem.guarded = problem.marks.iter().map(|m| m.0).collect();
    } else if profiled.careful {
        problem.guarded.clone_from(&profiled.blamed);
    }
    let found = match problem.solve() {
        Ok(found) => found,
        Err(trouble) => {
            // What a copy cannot be written with is a reason for most else.
            later_names(session)?;
            return Err(cannot(session, (profiled, &turned.profile), &trouble));
        }
    };
    if let Some(whole) = found.iter().find(|c| session.plan.is_brought_forward(c.mark)) {
        return Err(beyond(session, whole.mark));
    }
    in_scope(session, &found)?;
    let mut copied = written(session, &found);
    copied.count = found.len();
    profiled.copies = found;
    copied.time = start.elapsed();
    Ok(copied)
}

/// The array that a mark's shared expression is an element of.
fn array(session: &Session, mark: usize) -> Result<usize, Refusal> {
    let Some((shared, _)) = session.plan.given(mark) else { return Ok(0) };
    instrument::given_array(&session.plan, mark).ok_or_else(|| {
        let error =
            Diagnostic::error("W704", "this is no element of a shared array that is in scope")
                .label(place(shared), "to be read from shared memory");
        session.refuse(false, vec![error])
    })
}

/// What a copy is written with has to be declared where it stands.
fn in_scope(session: &Session, found: &[Copy]) -> Result<(), Refusal> {
    found.iter().try_for_each(|c| declared(session, c.mark, c.place - session.plan.reads.len()))
}

/// The same for all reads and the places that a copy for them may stand at.
fn later_names(session: &Session) -> Result<(), Refusal> {
    let plan = &session.plan;
    for mark in
        (0..plan.reads.len()).filter(|m| plan.given(*m).is_some() && !plan.is_brought_forward(*m))
    {
        let first = session.plan.mark(mark).whole.start;
        let before = session.plan.marks.inserts.iter().rposition(|i| i.end <= first);
        before.map_or(Ok(()), |insert| declared(session, mark, insert))?;
    }
    Ok(())
}

/// Whether what a read is written with is declared at a place for copies.
fn declared(session: &Session, mark: usize, insert: usize) -> Result<(), Refusal> {
    let plan = &session.plan;
    let point: &Point = &plan.inserts[insert];
    let Some((shared, global)) = plan.given(plan.origin(mark)) else { return Ok(()) };
    // Counters stand in both: what else is missing is said first.
    let texts = plan.copied(mark).unwrap_or_default();
    for (at, text) in [shared, global].into_iter().zip(texts).rev() {
        let later = scope::names(text).into_iter().find(|n| {
            plan.reads[plan.origin(mark)].site.declared.contains(n)
                && !point.site.declared.contains(n)
        });
        if let Some(name) = later {
            let insert = &plan.marks.inserts[insert];
            let error = Diagnostic::error(
                "W714",
                format!("`{name}` is declared after the place for copies"),
            )
            .label(place(at), "a copy for this read needs it")
            .label(place(insert), "the copy is written here")
            .help("declare it before `__insert();`, let it count a loop from one constant to another in few steps, or set it by few plain statements");
            return Err(session.refuse(true, vec![error]));
        }
    }
    Ok(())
}

/// The copies at each place, as statements.
fn written(session: &Session, found: &[Copy]) -> Copied {
    let plan = &session.plan;
    let mut copied = Copied::default();
    for (i, at) in plan.marks.inserts.iter().enumerate() {
        let mut guarded: Vec<(&[String], Vec<Group>)> = vec![(&[], vec![])];
        for copy in found.iter().filter(|c| c.place == plan.reads.len() + i) {
            let Some([shared, global]) = plan.copied(copy.mark) else { continue };
            let statement = format!("{shared} = {global};");
            let own = asked(copy, &plan.inserts[i].symbols);
            let guard = if copy.guarded { plan.guard(copy.mark) } else { &[] };
            let at = guarded.iter().position(|(g, _)| *g == guard).unwrap_or(guarded.len());
            if at == guarded.len() {
                guarded.push((guard, vec![]));
            }
            let groups = &mut guarded[at].1;
            match groups.iter_mut().find(|g| g.conjuncts == own.conjuncts) {
                Some(group) if group.statements.contains(&statement) => {}
                Some(group) => group.statements.push(statement),
                None => groups.push(Group { statements: vec![statement], ..own }),
            }
        }
        let indent = indentation(&plan.text, at.start);
        let lines: Vec<String> =
            guarded.iter().flat_map(|(g, groups)| nested::under(g, groups, indent)).collect();
        let end = plan.text[at.end..].find(';').map_or(at.end, |n| at.end + n + 1);
        let whole =
            if lines.is_empty() { with_its_line(&plan.text, at.start..end) } else { at.start..end };
        copied.edits.replace(whole, lines.join(&format!("\n{indent}")));
        copied.statements.extend(lines);
    }
    copied
}

/// What a copy is under, without statements.
fn asked(copy: &Copy, symbols: &[Symbol]) -> Group {
    let Some(condition) = &copy.condition else { return Group::default() };
    let axes = condition.axes(symbols);
    let of_rows = !axes.is_empty() && !axes.contains(&0);
    let texts = condition.conjuncts(symbols);
    let conjuncts = texts.iter().map(|c| nested::bare(c).to_string()).collect();
    Group { conjuncts, of_rows, statements: vec![] }
}

/// A read of which copies for the iterations that constants of the file say do not bring all.
fn beyond(session: &Session, mark: usize) -> Refusal {
    let error = match session.plan.turns.iter().all(|t| t.counters.is_empty()) {
        true => "no copies bring what is read",
        false => "no copies bring what is read in all iterations",
    };
    let error = Diagnostic::error("W711", error)
        .label(place(&session.plan.mark(mark).whole), "for this read");
    session.refuse(true, vec![error])
}

/// What a mark reads an element of.
fn read_array(plan: &Plan, mark: usize) -> &str {
    plan.slice(&plan.mark(mark).global()).split('[').next().unwrap_or_default().trim()
}

fn cannot(
    session: &Session,
    (profiled, profile): (&Profiled, &Profile),
    trouble: &Trouble,
) -> Refusal {
    let plan = &session.plan;
    let mark = |m: usize| place(&plan.mark(plan.origin(m)).whole);
    let row =
        |m: usize, r: usize| search::witness(session, profiled, plan.origin(m), &profile[m][r]);
    let error = match trouble {
        Trouble::NoPlace(m, r) => {
            Diagnostic::error("W711", "a thread comes by no place for copies before this read")
                .label(mark(*m), "its element is not in the tile")
                .note(row(*m, *r))
                .help("write `__insert();` where copies can go")
        }
        Trouble::Taken((a, r), (b, q)) => {
            Diagnostic::error("W711", "two elements are needed in one place of the tile")
                .label(mark(*a), "this read needs one")
                .label(mark(*b), "and this one another")
                .note(row(*a, *r))
                .note(row(*b, *q))
                .help(match [*a, *b].map(|m| read_array(plan, plan.origin(m))) {
                    [a, b] if a != b => format!("give `{a}` and `{b}` a tile each"),
                    _ => "make the tile larger, or give each read a place of its own".into(),
                })
        }
        Trouble::NoCondition(m, ..) => {
            let error = Diagnostic::error("W711", "no condition tells which threads have to copy")
                .label(mark(*m), "for this read");
            if plan.forks.is_open(plan.origin(*m)) { error.note(forks::OPEN) } else { error }
        }
    };
    session.refuse(true, vec![error])
}
