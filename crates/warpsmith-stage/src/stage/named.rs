//! Numbers that come from constants of the file: a text is looked at with other values of these. Where it is wrong the search learns
//! from that, and writes `threadIdx.x + R` for `threadIdx.x + 4`; where nothing is right with all values, the text says so with a
//! `static_assert`.

use super::{Written, unsolved, verified};
use crate::search::{Profiled, Search};
use crate::session::varied::Varied;
use crate::session::{Refusal, Session, Suited};
use crate::source::constants::Constant;
use crate::source::patch::{Patch, indentation};
use crate::verify::check::Checker;

/// What the search is asked again for one constant, at most.
const MAX_LESSONS: usize = 4;
/// Small launches that are looked at with each value.
const LIKE: usize = 2;

/// What is known of the constants of a file.
#[derive(Debug, Default)]
pub(super) struct Named {
    varied: Option<Vec<Varied>>,
    /// Those that a text holds for one value of.
    pub fixed: Vec<Constant>,
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
        let varied = match self.varied.take() {
            Some(known) => known,
            None => {
                let like = like(session, profiled, checker);
                session.varied(&like)?
            }
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
                    self.fixed.push(constant.clone());
                }
            }
        }
        self.varied = Some(varied);
        Ok(result)
    }
}

/// Launches that others are made from: small ones that differ, and one that is large enough for what is far.
fn like(session: &Session, profiled: &Profiled, checker: &Checker) -> Vec<Suited> {
    let small = profiled.launches.iter().filter(|s| !s.idle).take(LIKE);
    let [_, planes, _] = session.usage.axes;
    let side = |s: &&Suited| match s.launch.block {
        [x, y, _] if planes => x.min(y),
        [x, ..] => x,
    };
    let large = checker.launches.iter().filter(|s| !s.idle).max_by_key(side);
    small.chain(large).cloned().collect()
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
    for lesson in 0..=MAX_LESSONS {
        let edits = found.as_ref().map_or(&result.edits, |f| &f.edits);
        let wrong = wrong(session, checker, edits, launches)?;
        if wrong.is_empty() {
            return Ok(found.map_or(Held::AsItIs, |f| Held::Found(Box::new(f))));
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
            Err(refusal) => return Err(refusal),
        };
    }
    Ok(Held::No)
}

/// The launches that a text is wrong in.
fn wrong(
    session: &mut Session,
    checker: &Checker,
    edits: &Patch,
    launches: &[Suited],
) -> Result<Vec<Suited>, Refusal> {
    let dropped = checker.dropped.clone();
    let checker = Checker { launches: launches.to_vec(), dropped, cut: checker.cut };
    let checked = checker.check(session, edits, usize::MAX)?;
    let is_wrong = |s: &&Suited| checked.problems.iter().any(|p| p.launch == s.launch);
    Ok(launches.iter().filter(is_wrong).cloned().collect())
}

/// What says in the text that it holds for one value of some constants.
pub(super) fn asserted(session: &Session, fixed: &[Constant]) -> Patch {
    let mut patch = Patch::default();
    for constant in fixed {
        let known = |s: &crate::plan::Symbol| s.text == constant.name;
        let points = session.plan.reads.iter().filter(|p| p.symbols.iter().any(known));
        let at = points.filter_map(|p| p.site.statements.last()).map(|s| s.start as usize).min();
        let Some(at) = at else { continue };
        let indent = indentation(&session.plan.text, at);
        patch.replace(at..at, format!("{}\n{indent}", assertion(constant)));
    }
    patch
}

/// `static_assert(R == 4, …);`
pub(crate) fn assertion(constant: &Constant) -> String {
    let Constant { name, value, .. } = constant;
    format!(
        "static_assert({name} == {value}, \"staged for {name} = {value}: stage the file again for another value\");"
    )
}
