//! Sketches: `__choose__(a, b, …)` stands for one of its alternatives, and a kernel without holes says which.
//!
//! Alternatives are texts: expressions, operators, names of members; they may have holes of their own. Fillings are tried in
//! order, the first alternatives first, each at small launches that differ in shape and fit. What is right there is looked
//! at where results are checked, too.

use warpsmith_emu::Checks;
use warpsmith_front::pp::Piece;
use warpsmith_ir::{Diagnostic, FileId};

use crate::launch::Fit;
use crate::memory::{self, Data, Values};
use crate::program::Program;
use crate::search;
use crate::session::{Input, Refusal, Session, Suited};
use crate::source::marks::{self, Bytes, Tok};
use crate::source::patch::Patch;
use crate::stage::wording;
use crate::verify::check::{Checked, Checker, Rewritten};
use crate::verify::{further, passed};

/// The word before the alternatives of a hole.
pub const CHOOSE: &str = "__choose__";
/// Fillings that are tried, at most.
const MAX_TRIED: usize = 20_000;

/// A hole and what it was filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    pub at: usize,
    pub text: String,
}

/// A sketch whose holes are filled.
#[derive(Clone, Debug)]
pub struct Filling {
    pub text: String,
    pub holes: Vec<Filled>,
    /// Fillings that were tried.
    pub tried: usize,
    /// Launches in which the result equals the reference.
    pub checked: Vec<String>,
}

/// A hole of the text.
#[derive(Clone, Debug)]
struct Hole {
    whole: Bytes,
    alternatives: Vec<Bytes>,
    /// The hole around it, and which alternative of that it is in.
    inside: Option<(usize, usize)>,
}

/// Whether a text has holes.
pub fn has_holes(text: &str) -> bool {
    marks::tokens(text).iter().any(|t| text[t.at.clone()] == *CHOOSE)
}

/// Fills the holes of a file so that its kernel computes what the reference computes.
///
/// # Errors
/// W700 for holes that are malformed, W733 without a reference, W732 when no filling fits.
pub fn fill(input: &Input) -> Result<Filling, Refusal> {
    let holes = find(&input.text).map_err(|d| refusal(input, false, d))?;
    let Some(reference) = &input.reference else {
        let at = marks::span(FileId(0), &holes[0].whole);
        let error = Diagnostic::error("W733", "a hole needs a kernel that says what is right")
            .label(at, "this hole")
            .help("name an unoptimised kernel of the same parameters with --reference");
        return Err(refusal(input, false, error));
    };
    let mut choice = vec![0; holes.len()];
    let first = filled(&input.text, &holes, &choice);
    let mut session = Session::new(Input {
        text: first,
        kernel: Some(reference.clone()),
        plain: true,
        ..input.clone()
    })?;
    let kernel = sketch(input, &session, reference).map_err(|d| refusal(input, false, d))?;
    let launches = launches(&mut session)?;
    let mut trial = Trial { session: &mut session, kernel, expected: vec![], far: None };
    for suited in launches {
        trial.expect(suited)?;
    }
    input.steps.begin("fillings of the holes");
    let few = trial.expected.len();
    if few == 0 {
        let error =
            Diagnostic::error("W707", "no launch was found in which the reference is right")
                .help("give the block with --block, sizes with --arg NAME=N");
        return Err(refusal(input, true, error));
    }
    let mut further = None;
    for tried in 1..=MAX_TRIED {
        let text = filled(&input.text, &holes, &choice);
        if trial.suits(&text, &choice, 0) {
            if further.is_none() {
                let unseen = Checker::new(trial.session, &[])?;
                let mut all = unseen.launches.clone();
                all.extend(further::launches(trial.session, &unseen)?);
                all.extend(passed::without_positions(trial.session, &unseen.launches)?);
                for suited in all {
                    trial.expect(suited)?;
                }
                further = Some(unseen);
            }
            let right = match &further {
                Some(checker) if trial.suits(&text, &choice, few) => {
                    trial.with_other_data(checker, &text, &choice)?
                }
                _ => false,
            };
            if right {
                let checked = trial.expected.iter().map(|e| e.suited.launch.describe()).collect();
                let holes = chosen(&input.text, &holes, &choice);
                return Ok(Filling { text, holes, tried, checked });
            }
        }
        if !next(&holes, &mut choice) {
            break;
        }
    }
    Err(refusal(input, true, none_fits(&input.text, &holes, trial.far.as_ref())))
}

fn refusal(input: &Input, no: bool, error: Diagnostic) -> Refusal {
    let mut sources = warpsmith_ir::SourceMap::new();
    sources.add(input.settings.path.clone(), input.text.clone());
    Refusal { no, diagnostics: vec![error], sources, accesses: vec![] }
}

/// The kernel with the holes: the one asked for, or the only one beside the reference.
fn sketch(input: &Input, session: &Session, reference: &str) -> Result<String, Diagnostic> {
    if let Some(name) = &input.kernel {
        return Ok(name.clone());
    }
    let mut sources = warpsmith_ir::SourceMap::new();
    let unit = session.compiler.parse(&session.plan.text, &[], &mut sources);
    let kernels = unit.map(|u| warpsmith_front::sema::kernels_of(&u)).unwrap_or_default();
    let others: Vec<_> =
        kernels.iter().filter(|k| k.name != reference && k.base != reference).collect();
    match others.as_slice() {
        [only] => Ok(only.name.clone()),
        _ => {
            Err(Diagnostic::error("W304", "which kernel has the holes?")
                .help("name it with --kernel"))
        }
    }
}

/// Small launches of several shapes in which the reference is right.
fn launches(session: &mut Session) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    let mut shapes = search::shapes(session, &crate::launch::SMALL, &crate::launch::SMALL_ROWS, 2);
    shapes.truncate(2);
    for block in shapes {
        for fit in [Fit::Ragged(1), Fit::Exact, Fit::Single] {
            all.extend(session.suited(block, 2, fit)?);
        }
    }
    Ok(all)
}

/// What the reference computes in a launch.
struct Expected {
    suited: Suited,
    buffers: Vec<Vec<u8>>,
    arrays: Vec<String>,
}

/// The filling that was right in most launches, and what was wrong with it then.
struct Far {
    launches: usize,
    choice: Vec<usize>,
    what: String,
}

struct Trial<'a> {
    session: &'a mut Session,
    kernel: String,
    expected: Vec<Expected>,
    far: Option<Far>,
}

impl Trial<'_> {
    /// Not of those in which the reference does nothing: its arrays are as long as it needs, which is none then.
    fn expect(&mut self, suited: Suited) -> Result<(), Refusal> {
        if suited.idle {
            return Ok(());
        }
        let shaped = self.session.shaped(&suited.launch)?;
        let data = Data { seed: 5, tagged: &[], kind: Values::Tagged };
        let refuse = |d| self.session.refuse(false, vec![d]);
        let mut p = memory::prepare(&shaped.reference, &suited.launch, Some(&suited.lengths), data)
            .map_err(refuse)?;
        p.run(&shaped.reference, Checks::NONE).map_err(refuse)?;
        let buffers = p.memory.buffers.into_iter().map(|b| b.bytes).collect();
        self.expected.push(Expected { suited, buffers, arrays: p.arrays });
        Ok(())
    }

    /// Whether it does so with data of either sign, near the numbers of the text, and beyond all small ones.
    fn with_other_data(
        &mut self,
        checker: &Checker,
        text: &str,
        choice: &[usize],
    ) -> Result<bool, Refusal> {
        for suited in checker.first() {
            let compiler = &self.session.compiler;
            let Ok(made) = compiler.compile(text, &suited.launch.constants, &self.kernel) else {
                return Ok(false);
            };
            let mut checked = Checked::default();
            checker.near(self.session, &Rewritten::of(made), suited, &mut checked)?;
            if let Some(problem) = checked.problems.first() {
                let launches = self.expected.len();
                self.far =
                    Some(Far { launches, choice: choice.to_vec(), what: wording::said(problem) });
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a filled text computes the same in all launches from a number on.
    fn suits(&mut self, text: &str, choice: &[usize], from: usize) -> bool {
        let mut program: Option<(Vec<(String, i64)>, Program)> = None;
        for (i, e) in self.expected.iter().enumerate().skip(from) {
            let constants = &e.suited.launch.constants;
            if program.as_ref().is_none_or(|(known, _)| known != constants) {
                let Ok(made) = self.session.compiler.compile(text, constants, &self.kernel) else {
                    return false;
                };
                program = Some((constants.clone(), made));
            }
            let Some((_, made)) = &program else { return false };
            if let Some(what) = differs(made, e) {
                if self.far.as_ref().is_none_or(|f| f.launches < i) {
                    self.far = Some(Far { launches: i, choice: choice.to_vec(), what });
                }
                return false;
            }
        }
        true
    }
}

/// What is wrong with a program in a launch.
fn differs(program: &Program, e: &Expected) -> Option<String> {
    let launch = &e.suited.launch;
    let data = Data { seed: 5, tagged: &[], kind: Values::Tagged };
    let at = launch.describe();
    let mut p = match memory::prepare(program, launch, Some(&e.suited.lengths), data) {
        Ok(p) => p,
        Err(d) => return Some(d.message),
    };
    let outcome = match p.run(program, Checks::ALL) {
        Ok(outcome) => outcome,
        Err(d) => return Some(d.message),
    };
    if outcome.limit.is_some() {
        return Some(format!("{at}: it does not end"));
    }
    if let Some(f) = outcome.findings.iter().find(|f| !f.rule.is_note()) {
        let thread = f.accesses.iter().find_map(|a| a.thread);
        let who = thread.map_or(String::new(), |t| format!(", {}", search::who(t.block, t.thread)));
        return Some(format!("{at}{who}: {}", f.message));
    }
    let buffers = e.buffers.iter().zip(&p.memory.buffers).zip(&e.arrays);
    for ((expected, actual), name) in buffers {
        if let Some(byte) = expected.iter().zip(&actual.bytes).position(|(a, b)| a != b) {
            let size = actual.element.as_ref().and_then(|t| t.scalar()).map_or(4, |s| s.bytes());
            return Some(format!(
                "{at}: element {} of `{name}` differs from the reference",
                byte / size as usize
            ));
        }
    }
    None
}

fn none_fits(text: &str, holes: &[Hole], far: Option<&Far>) -> Diagnostic {
    let mut error =
        Diagnostic::error("W732", "no filling of the holes computes what the reference does");
    for hole in holes.iter().take(4) {
        error = error.label(marks::span(FileId(0), &hole.whole), "this hole");
    }
    if let Some(far) = far {
        let with: Vec<String> =
            chosen(text, holes, &far.choice).iter().map(|f| format!("`{}`", f.text)).collect();
        error = error.note(format!("with {}: {}", with.join(", "), far.what));
    }
    error.help("add the alternative that is missing")
}

/// The next filling, the last hole first; holes in alternatives that are not taken do not count.
fn next(holes: &[Hole], choice: &mut [usize]) -> bool {
    for h in (0..holes.len()).rev() {
        if !is_taken(holes, choice, h) {
            continue;
        }
        if choice[h] + 1 < holes[h].alternatives.len() {
            choice[h] += 1;
            choice[h + 1..].fill(0);
            return true;
        }
        choice[h] = 0;
    }
    false
}

fn is_taken(holes: &[Hole], choice: &[usize], hole: usize) -> bool {
    match holes[hole].inside {
        None => true,
        Some((outer, n)) => choice[outer] == n && is_taken(holes, choice, outer),
    }
}

fn chosen(text: &str, holes: &[Hole], choice: &[usize]) -> Vec<Filled> {
    let taken = (0..holes.len()).filter(|h| is_taken(holes, choice, *h));
    let one = |h: usize| {
        let text = text[holes[h].alternatives[choice[h]].clone()].to_string();
        Filled { at: holes[h].whole.start, text }
    };
    taken.map(one).collect()
}

/// The text with one filling: around every alternative that is taken, the rest of its hole goes.
fn filled(text: &str, holes: &[Hole], choice: &[usize]) -> String {
    let mut patch = Patch::default();
    for h in (0..holes.len()).filter(|h| is_taken(holes, choice, *h)) {
        let kept = &holes[h].alternatives[choice[h]];
        patch.replace(holes[h].whole.start..kept.start, "");
        patch.replace(kept.end..holes[h].whole.end, "");
    }
    patch.apply(text).unwrap_or_default()
}

fn find(text: &str) -> Result<Vec<Hole>, Diagnostic> {
    let tokens = marks::tokens(text);
    let mut holes: Vec<Hole> = vec![];
    for (i, t) in tokens.iter().enumerate() {
        if text[t.at.clone()] != *CHOOSE {
            continue;
        }
        let whole = marks::span(FileId(0), &t.at);
        let bad = |what: &str| Diagnostic::error("W700", what.to_string()).label(whole, "here");
        if t.directive {
            return Err(
                bad("a hole cannot stand in a directive").help("write it where the macro is used")
            );
        }
        let Some((alternatives, end)) = alternatives(&tokens, i + 1) else {
            return Err(
                bad("this is not `__choose__(a, b, …)`").help("give at least one alternative")
            );
        };
        let inside = holes.iter().enumerate().rev().find_map(|(n, h)| {
            let a = h.alternatives.iter().position(|a| a.contains(&t.at.start))?;
            Some((n, a))
        });
        holes.push(Hole { whole: t.at.start..end, alternatives, inside });
    }
    Ok(holes)
}

/// The texts between the commas of brackets that open here, and the end of them.
fn alternatives(tokens: &[Tok], open: usize) -> Option<(Vec<Bytes>, usize)> {
    let is = |i: usize, b: u8| tokens.get(i).is_some_and(|t| t.piece == Piece::Other(b));
    if !is(open, b'(') {
        return None;
    }
    let (mut depth, mut first, mut all) = (0usize, open + 1, vec![]);
    for i in open..tokens.len() {
        match tokens[i].piece {
            Piece::Other(b'(' | b'[' | b'{') => depth += 1,
            Piece::Other(b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
        let ends = depth == 0;
        if ends || depth == 1 && is(i, b',') {
            if i == first {
                return None;
            }
            all.push(tokens[first].at.start..tokens[i - 1].at.end);
            first = i + 1;
        }
        if ends {
            return Some((all, tokens[i].at.end));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillings_come_in_order_and_nest() {
        let text = "a __choose__(==, !=) __choose__(b, c[__choose__(1, 2)]);";
        let holes = find(text).expect("holes");
        let mut choice = vec![0; holes.len()];
        let mut all = vec![filled(text, &holes, &choice)];
        while next(&holes, &mut choice) {
            all.push(filled(text, &holes, &choice));
        }
        let expected =
            ["a == b;", "a == c[1];", "a == c[2];", "a != b;", "a != c[1];", "a != c[2];"];
        assert_eq!(all, expected);
        assert!(find("__choose__()").is_err() && find("x = __choose__;").is_err());
    }
}
