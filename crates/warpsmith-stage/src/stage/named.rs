//! Numbers that come from constants of the file: a text is looked at with other values of these. Where it is wrong the search learns
//! from that, and writes `threadIdx.x + R` for `threadIdx.x + 4`; where nothing is right with all values, the text says so with a
//! `static_assert`.

use super::{Written, unsolved, verified};
use crate::launch::Launch;
use crate::profile::rows::{Profile, Row};
use crate::search::{Found, Profiled, Search};
use crate::session::varied::{Given, Varied};
use crate::session::{How, Refusal, Session, Suited};
use crate::source::constants::Constant;
use crate::source::patch::{Patch, indentation};
use crate::synth::reads::Answer;
use crate::verify::check::Checker;

/// What the search is asked again for one constant, at most.
const MAX_LESSONS: usize = 4;
/// Small launches that are looked at with each value.
const LIKE: usize = 2;
/// Threads together of launches of few blocks that are, too.
const ENDS: u64 = 1 << 14;
const FEW_BLOCKS: u32 = 6;

/// What is known of the constants of a file.
#[derive(Debug, Default)]
pub(super) struct Named {
    varied: Option<Vec<Varied>>,
    given: Option<Vec<Given>>,
    /// Those that a text holds for one value of.
    pub fixed: Vec<Fixed>,
    /// What the user gives and the text is known to be right with alone, unless it is proved.
    pub only: Vec<Only>,
}

/// What the user gives for all launches, where a text is not known to be right with anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Only {
    /// What is given: `m == 1`.
    pub what: String,
    /// The unmodified kernel is right in no launch with anything else, so nothing is known of it.
    pub untried: bool,
}

/// What a text holds for, where it does not hold for all values of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    pub constant: Constant,
    /// The largest value that it holds for; `None`: for that of the file alone.
    pub most: Option<i64>,
    /// The unmodified kernel is right in no launch with another value, so nothing is known of it.
    pub untried: bool,
}

impl Named {
    /// Has a text hold for other values of constants as far as that can be said; the others are noted.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub(super) fn settle(
        &mut self,
        session: &mut Session,
        profiled: &mut Profiled,
        checker: &mut Checker,
        search: &mut Search,
        result: Written,
    ) -> Result<Written, Refusal> {
        let like = like(session, profiled, checker);
        let varied = match self.varied.take() {
            Some(known) => known,
            None => session.varied(&like)?,
        };
        self.fixed.clear();
        let mut result = result;
        let mut right: Vec<Suited> = vec![];
        for Varied { constant, launches } in &varied {
            let all: Vec<Suited> = right.iter().chain(launches).cloned().collect();
            let before = (search.clone(), profiled.clone(), checker.dropped.clone());
            match general(session, profiled, checker, search, (&result, &all))? {
                Held::AsItIs if !launches.is_empty() => right = all,
                Held::Found(better) => (result, right) = (*better, all),
                _ => {
                    (*search, *profiled, checker.dropped) = before;
                    let most = most(session, checker, &result.edits, (constant, launches), &like)?;
                    self.fixed.push(Fixed { constant: constant.clone(), most, untried: false });
                }
            }
        }
        self.varied = Some(varied);
        let given = match self.given.take() {
            Some(known) => known,
            None => session.given_otherwise(&like)?,
        };
        self.only.clear();
        for Given { what, launches } in &given {
            let all: Vec<Suited> = right.iter().chain(launches).cloned().collect();
            let before = (search.clone(), profiled.clone(), checker.dropped.clone());
            match general(session, profiled, checker, search, (&result, &all))? {
                Held::AsItIs if !launches.is_empty() => right = all,
                Held::Found(better) => (result, right) = (*better, all),
                _ => {
                    (*search, *profiled, checker.dropped) = before;
                    self.only.push(Only { what: what.clone(), untried: launches.is_empty() });
                }
            }
        }
        self.given = Some(given);
        self.fix_block(session, profiled, checker, &mut result)?;
        Ok(result)
    }

    /// Notes the constants that make the block where the text is not known to be right with any other value of them.
    fn fix_block(
        &mut self,
        session: &mut Session,
        profiled: &Profiled,
        checker: &Checker,
        result: &mut Written,
    ) -> Result<(), Refusal> {
        let own = |l: &&Launch| Some(l.block) == session.own;
        let Some(like) = result.checked.launches.iter().find(own).cloned() else { return Ok(()) };
        for constant in session.block_constants(&like) {
            let other = |l: &Launch| l.constants.iter().any(|c| is_other(c, &constant));
            if result.checked.launches.iter().any(other) {
                continue;
            }
            // Launches that the search has seen do, where no further one is right.
            let seen = profiled.launches.iter().filter(|s| !s.idle && other(&s.launch));
            let seen: Vec<Suited> = seen.cloned().collect();
            if !seen.is_empty() && wrong(session, checker, &result.edits, &seen)?.is_empty() {
                result.checked.launches.extend(seen.into_iter().map(|s| s.launch));
                continue;
            }
            let untried = !session.suited.iter().any(|c| is_other(c, &constant));
            self.fixed.push(Fixed { constant, most: None, untried });
        }
        Ok(())
    }
}

/// Whether a launch's value of a constant is not that of the file.
fn is_other((key, value): &(String, i64), constant: &Constant) -> bool {
    *key == constant.key && *value != constant.value
}

/// The largest value that a text is right with, where it is right with all that are smaller.
fn most(
    session: &mut Session,
    checker: &Checker,
    edits: &Patch,
    (constant, launches): (&Constant, &[Suited]),
    like: &[Suited],
) -> Result<Option<i64>, Refusal> {
    let of = |s: &Suited| {
        let varied = s.launch.varied.iter().find(|(n, _)| *n == constant.name);
        varied.map_or(constant.value, |(_, v)| *v)
    };
    let wrong = |session: &mut Session, all: &[Suited]| {
        Ok::<_, Refusal>(wrong(session, checker, edits, all)?.iter().map(of).min())
    };
    let Some(least) = wrong(session, launches)?.filter(|v| *v > constant.value + 1) else {
        return Ok(None);
    };
    let smaller = launches.iter().map(of).filter(|v| *v < least).max();
    let twice = session.with_value(like, constant, 2 * constant.value)?.unwrap_or_default();
    let twice_right = !twice.is_empty() && wrong(session, &twice)?.is_none();
    let largest = smaller.into_iter().chain(twice_right.then_some(2 * constant.value)).max();
    Ok(largest.filter(|v| *v < least && *v > constant.value))
}

/// Launches that others are made from: small ones that differ, some that end anywhere in their last blocks, one that is large enough for what is
/// far, and one of many blocks.
fn like(session: &Session, profiled: &Profiled, checker: &Checker) -> Vec<Suited> {
    let small = profiled.launches.iter().filter(|s| !s.idle).take(LIKE);
    let [_, planes, _] = session.usage.axes;
    let side = |s: &&Suited| match s.launch.block {
        [x, y, _] if planes => x.min(y),
        [x, ..] => x,
    };
    let stores = || checker.launches.iter().filter(|s| !s.idle);
    let large = stores().max_by_key(side);
    let count = |s: &&Suited| s.launch.grid.iter().product::<u32>();
    let chosen = || stores().filter(|s| s.launch.of_file.is_none());
    let few: Vec<&Suited> = chosen().filter(|s| count(s) <= FEW_BLOCKS).collect();
    // In an order without pattern: sizes that end in every way are among the first.
    let turn = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut order: Vec<usize> = (0..few.len()).collect();
    order.sort_by_key(|i| turn(*i));
    let mut threads = 0;
    let ends = order.into_iter().map(|i| few[i]).take_while(|s| {
        threads += s.launch.threads();
        threads <= ENDS
    });
    // The first of the file's own launches has the smallest sizes.
    let of_file = stores().find(|s| s.launch.of_file.is_some());
    let all = small.chain(ends).chain(large).chain(chosen().max_by_key(count)).chain(of_file);
    let mut like: Vec<Suited> = vec![];
    for suited in all {
        if like.iter().all(|s| s.launch != suited.launch) {
            like.push(suited.clone());
        }
    }
    like
}

/// Whether a text is right in launches with other constants.
enum Held {
    AsItIs,
    /// Another text is.
    Found(Box<Written>),
    No,
}

fn general(
    session: &mut Session,
    profiled: &mut Profiled,
    checker: &mut Checker,
    search: &mut Search,
    (result, launches): (&Written, &[Suited]),
) -> Result<Held, Refusal> {
    let mut found: Option<Written> = None;
    let base: Vec<Suited> = profiled.launches.iter().take(LIKE).cloned().collect();
    for lesson in 0..=MAX_LESSONS {
        let edits = found.as_ref().map_or(&result.edits, |f| &f.edits);
        let wrong = wrong(session, checker, edits, launches)?;
        if wrong.is_empty() {
            return Ok(match found {
                None => Held::AsItIs,
                Some(f) => match serves_alike(session, &base, &result.found, &f.found)? {
                    true => Held::Found(Box::new(f)),
                    false => Held::No,
                },
            });
        }
        // What loops of other lengths read no copy is known for.
        if profiled.by_readers {
            return Ok(Held::No);
        }
        let mut learnt = false;
        for suited in wrong.iter().filter(|_| lesson < MAX_LESSONS) {
            learnt |= search.learn(session, profiled, suited)?;
        }
        if !learnt {
            break;
        }
        found = match verified(session, profiled, checker, search) {
            Ok(better) => Some(better),
            Err(refusal) if unsolved(&refusal) => break,
            Err(refusal) if unsolved(&refusal) => break,
            Err(refusal) => return Err(refusal),
        };
    }
    Ok(Held::No)
}

/// Whether other answers serve the same reads from shared memory with the constants of the file: what is served there is the plan's,
/// and what a tile does not hold with other constants is no reason to serve less.
fn serves_alike(
    session: &mut Session,
    launches: &[Suited],
    before: &[Found],
    after: &[Found],
) -> Result<bool, Refusal> {
    let served = |f: &Found, r: &Row| match &f.answer {
        Some(Answer { guard: Some(guard), .. }) => guard.holds(&r.values),
        answer => Some(answer.is_some()),
    };
    for suited in launches {
        let mut profile = Profile::default();
        session.profile(suited, 0, How { whole: true, ..How::default() }, &mut profile)?;
        let mut all = profile.iter().zip(before).zip(after);
        if !all.all(|((rows, a), b)| rows.iter().all(|r| served(a, r) == served(b, r))) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The launches that a text is wrong in.
fn wrong(
    session: &mut Session,
    checker: &Checker,
    edits: &Patch,
    launches: &[Suited],
) -> Result<Vec<Suited>, Refusal> {
    let checked = checker.of(launches.to_vec()).check(session, edits, usize::MAX)?;
    let is_wrong = |s: &&Suited| checked.problems.iter().any(|p| p.launch == s.launch);
    Ok(launches.iter().filter(is_wrong).cloned().collect())
}

/// What says in the text that it holds for some values of constants.
pub(super) fn asserted(session: &Session, fixed: &[Fixed]) -> Patch {
    let mut patch = Patch::default();
    for Fixed { constant, most, .. } in fixed {
        let known = |s: &crate::plan::Symbol| s.text == constant.name;
        let points = session.plan.reads.iter().filter(|p| p.symbols.iter().any(known));
        let at = points.filter_map(|p| p.site.statements.last()).map(|s| s.start as usize).min();
        let Some(at) = at else { continue };
        let indent = indentation(&session.plan.text, at);
        patch.replace(at..at, format!("{}\n{indent}", assertion(constant, *most)));
    }
    patch
}

/// `static_assert(R == 4, …);`, or `R <= 8` where the text is right with smaller values, too.
pub(crate) fn assertion(constant: &Constant, most: Option<i64>) -> String {
    let Constant { name, value, .. } = constant;
    let holds = most.map_or(format!("{name} == {value}"), |most| format!("{name} <= {most}"));
    format!(
        "static_assert({holds}, \"staged for {name} = {value}: stage the file again for another value\");"
    )
}
