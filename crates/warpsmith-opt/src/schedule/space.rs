//! Schedules with parameters: the text of many schedules at once.
//!
//! ```text
//! param BX in 16, 32, 64            # a list of values
//! param T in pow2 1..16             # powers of two, both ends included
//! param U in divisors of 12
//! param K in 8..64 step 8 default 16
//! where BX * T <= 256 && K % 8 == 0
//! bind i, j -> y, x block {BX}x8    # `{…}`: a number computed from parameters
//! register_tile i by {T}
//! stage A at k tile {K}
//! ```
//!
//! A factor of 1 that a parameter gives leaves its step out. A file without parameters is a space of one schedule.

use std::collections::BTreeMap;

use warpsmith_ir::{Diagnostic, FileId, SourceMap};

use super::parse::{code_of, parse_line, span};
use super::term::{Reader, Term};
use super::{Schedule, Step, StepKind, registry};
use crate::rewrite::{register_tile, split_k, unroll, vectorise};

/// Most values of one parameter.
const MOST_VALUES: usize = 1024;
/// Greatest value.
const GREATEST: i64 = 1 << 24;

/// The values of all parameters by name.
pub type Values = BTreeMap<String, i64>;

/// All schedules of a file.
#[derive(Clone, Debug)]
pub struct Space {
    /// Parameters, in the order in which they were first named.
    pub params: Vec<Param>,
    constraints: Vec<Term>,
    lines: Vec<Line>,
    file: FileId,
}

/// A number that is to be chosen.
#[derive(Clone, Debug)]
pub struct Param {
    /// As schedules name it.
    pub name: String,
    /// In the order of the text.
    pub values: Vec<i64>,
    /// The value where nothing chooses; the first one if the text names none.
    pub default: i64,
}

/// A step with holes.
#[derive(Clone, Debug)]
struct Line {
    /// Where the line begins in the file.
    start: usize,
    text: String,
    /// Ranges of the text, braces included, and what goes there.
    holes: Vec<(usize, usize, Term)>,
}

/// Why a text is not a space: place in the line, and what is wrong.
type Wrong = (usize, usize, String);

/// Parses a schedule, with or without parameters, in a file of the source map.
///
/// # Errors
/// One diagnostic for each line that cannot be read, or that uses a name which is no parameter.
pub fn parse(sources: &SourceMap, file: FileId) -> Result<Space, Vec<Diagnostic>> {
    let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
    let mut space = Space { params: vec![], constraints: vec![], lines: vec![], file };
    let mut errors = vec![];
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Err((from, to, why)) = space.line(start, code_of(line)) {
            let d = Diagnostic::error("W232", "this line of a schedule with parameters is wrong")
                .label(span(file, start + from, start + to.max(from + 1)), why)
                .help("write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps");
            errors.push(d);
        }
        start += line.len();
    }
    if errors.is_empty()
        && let Err(found) = space.schedule(&space.defaults())
    {
        errors = found;
    }
    if errors.is_empty() { Ok(space) } else { Err(errors) }
}

impl Space {
    fn line(&mut self, start: usize, code: &str) -> Result<(), Wrong> {
        let trimmed = code.trim_start();
        let indent = code.len() - trimmed.len();
        let body = |word: &str| {
            let rest = trimmed.strip_prefix(word)?;
            let starts = rest.starts_with(char::is_whitespace) || rest.is_empty();
            starts.then_some(indent + word.len())
        };
        if let Some(at) = body("param") {
            let param = self.param(code, at)?;
            self.params.push(param);
        } else if let Some(at) = body("where") {
            let mut reader = Reader::new(code, at, code.len());
            let term = reader.term()?;
            reader.end("an operator is wanted here")?;
            self.known(&term)?;
            self.constraints.push(term);
        } else if !trimmed.is_empty() {
            let holes = self.holes(code)?;
            self.lines.push(Line { start, text: code.to_string(), holes });
        }
        Ok(())
    }

    /// `NAME in VALUES [default N]`.
    fn param(&self, code: &str, at: usize) -> Result<Param, Wrong> {
        let mut reader = Reader::new(code, at, code.len());
        let (from, name) = reader.name("the name of a parameter is wanted here")?;
        if self.params.iter().any(|p| p.name == name) {
            return Err((from, from + name.len(), format!("`{name}` is a parameter already")));
        }
        reader.word("in", "`in` and the values are wanted here")?;
        let first = reader.position();
        let values = values(&mut reader)?;
        let here = |why: &str| Err((first, reader_end(code), why.to_string()));
        if values.is_empty() {
            return here("no value at all");
        }
        if values.len() > MOST_VALUES {
            return here("more than 1024 values");
        }
        let mut default = values[0];
        if reader.try_word("default") {
            let at = reader.position();
            default = reader.number("the default value is wanted here")?;
            if !values.contains(&default) {
                return Err((at, reader_end(code), "this is none of the values".into()));
            }
        }
        reader.end("nothing more is wanted here")?;
        Ok(Param { name, values, default })
    }

    fn holes(&self, code: &str) -> Result<Vec<(usize, usize, Term)>, Wrong> {
        let mut holes = vec![];
        let mut at = 0;
        while let Some(open) = code[at..].find('{').map(|k| at + k) {
            let Some(close) = code[open..].find('}').map(|k| open + k) else {
                return Err((open, reader_end(code), "`}` is missing".into()));
            };
            let mut reader = Reader::new(code, open + 1, close);
            let term = reader.term()?;
            reader.end("an operator or `}` is wanted here")?;
            self.known(&term)?;
            holes.push((open, close + 1, term));
            at = close + 1;
        }
        Ok(holes)
    }

    /// All names of a term are parameters of lines before.
    fn known(&self, term: &Term) -> Result<(), Wrong> {
        for (at, name) in term.names() {
            if self.params.iter().all(|p| p.name != name) {
                let names: Vec<&str> = self.params.iter().map(|p| p.name.as_str()).collect();
                let why = match names.as_slice() {
                    [] => "there is no parameter before this line".to_string(),
                    names => format!("no parameter; there are {}", names.join(", ")),
                };
                return Err((at, at + name.len(), why));
            }
        }
        Ok(())
    }

    /// The value that each parameter has where nothing chooses.
    pub fn defaults(&self) -> Values {
        self.params.iter().map(|p| (p.name.clone(), p.default)).collect()
    }

    /// The parameters with some of them fixed.
    ///
    /// # Errors
    /// A name that is no parameter, or a value that is none of its values.
    pub fn fix(&mut self, name: &str, value: i64) -> Result<(), Diagnostic> {
        let names: Vec<String> = self.params.iter().map(|p| p.name.clone()).collect();
        let Some(param) = self.params.iter_mut().find(|p| p.name == name) else {
            let d = Diagnostic::error("W233", format!("the schedule has no parameter `{name}`"));
            return Err(match names.is_empty() {
                true => d.help("a line `param T in 1, 2, 4` makes one"),
                false => d.note(format!("its parameters are {}", names.join(", "))),
            });
        };
        if !param.values.contains(&value) {
            let values: Vec<String> = param.values.iter().map(i64::to_string).collect();
            let message = format!("{value} is no value of the parameter `{name}`");
            let d = Diagnostic::error("W233", message);
            return Err(d.note(format!("its values are {}", values.join(", "))));
        }
        (param.values, param.default) = (vec![value], value);
        Ok(())
    }

    /// Combinations of values, before the constraints.
    pub fn size(&self) -> u128 {
        self.params.iter().fold(1, |n, p| n.saturating_mul(p.values.len() as u128))
    }

    /// Whether all constraints hold; one that divides by zero does not.
    pub fn allows(&self, values: &Values) -> bool {
        self.constraints.iter().all(|c| c.value(values).is_some_and(|v| v != 0))
    }

    /// The combinations that the constraints allow, in the order of the text, as many as `most`; and whether these are
    /// all. A constraint is asked as soon as its parameters have values.
    pub fn configurations(&self, most: usize) -> (Vec<Values>, bool) {
        let mut found = vec![];
        let complete = self.extend(&mut Values::new(), 0, most, &mut found);
        (found, complete)
    }

    fn extend(&self, chosen: &mut Values, at: usize, most: usize, found: &mut Vec<Values>) -> bool {
        let Some(param) = self.params.get(at) else {
            if found.len() == most {
                return false;
            }
            found.push(chosen.clone());
            return true;
        };
        for value in &param.values {
            chosen.insert(param.name.clone(), *value);
            let ready = |c: &&Term| {
                let names = c.names();
                names.iter().any(|(_, n)| *n == param.name)
                    && names.iter().all(|(_, n)| chosen.contains_key(*n))
            };
            let holds = self
                .constraints
                .iter()
                .filter(ready)
                .all(|c| c.value(chosen).is_some_and(|v| v != 0));
            if holds && !self.extend(chosen, at + 1, most, found) {
                return false;
            }
        }
        chosen.remove(&param.name);
        true
    }

    /// The schedule with these values.
    ///
    /// # Errors
    /// One diagnostic for each line that is no step with them.
    pub fn schedule(&self, values: &Values) -> Result<Schedule, Vec<Diagnostic>> {
        let mut schedule = Schedule::default();
        let mut errors = vec![];
        for line in &self.lines {
            let filled = match line.filled(values) {
                Ok(filled) => filled,
                Err((from, to)) => {
                    let d = Diagnostic::error("W232", "a number in a step cannot be computed");
                    let at = span(self.file, line.start + from, line.start + to);
                    errors.push(d.label(at, describe(values)));
                    continue;
                }
            };
            match parse_line(&filled.text) {
                // A parameter may say that a step is not taken.
                Ok(Some((kind, _))) if !line.holes.is_empty() && changes_nothing(&kind) => {}
                Ok(Some((kind, _))) => {
                    let from = line.text.len() - line.text.trim_start().len();
                    let to = line.text.trim_end().len();
                    let span = span(self.file, line.start + from, line.start + to);
                    schedule.steps.push(Step { kind, span: Some(span) });
                }
                Ok(None) => {}
                Err((at, wanted)) => {
                    let from = filled.back(at);
                    let to = line.text.trim_end().len().max(from + 1);
                    let at = span(self.file, line.start + from, line.start + to);
                    let d = registry::unreadable(&filled.text, at, wanted);
                    errors.push(match line.holes.is_empty() {
                        true => d,
                        false => d.note(format!("with {}", describe(values))),
                    });
                }
            }
        }
        if errors.is_empty() { Ok(schedule) } else { Err(errors) }
    }
}

/// One iteration a thread, one copy of a loop's body, one element an access, one part of a sum.
fn changes_nothing(kind: &StepKind) -> bool {
    match kind {
        StepKind::RegisterTile(register_tile::Args { count: factor, .. }) => *factor == 1,
        StepKind::Unroll(unroll::Args { factor, .. }) => *factor == Some(1),
        StepKind::Vectorise(vectorise::Args { width, .. }) => *width == 1,
        StepKind::SplitK(split_k::Args { count: parts, .. }) => *parts == 1,
        _ => false,
    }
}

/// `T = 4, BX = 32`.
pub fn describe(values: &Values) -> String {
    let parts: Vec<String> = values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    parts.join(", ")
}

/// A list, or a rule.
fn values(reader: &mut Reader<'_>) -> Result<Vec<i64>, Wrong> {
    if reader.try_word("divisors") {
        reader.word("of", "`of` and a number are wanted here")?;
        let n = positive(reader)?;
        return Ok((1..=n.min(GREATEST)).filter(|k| n % k == 0).collect());
    }
    if reader.try_word("pow2") {
        let (low, high) = range(reader)?;
        let powers = (0..25).map(|k| 1i64 << k);
        return Ok(powers.filter(|p| (low..=high).contains(p)).collect());
    }
    let first = positive(reader)?;
    if reader.try_symbol("..") {
        let last = positive(reader)?;
        let step = if reader.try_word("step") { positive(reader)? } else { 1 };
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        return Ok((first..=last).step_by(step).take(MOST_VALUES + 1).collect());
    }
    let mut list = vec![first];
    while reader.try_symbol(",") {
        let at = reader.position();
        let next = positive(reader)?;
        if list.contains(&next) {
            return Err((at, reader.position(), "this value is there twice".into()));
        }
        list.push(next);
    }
    Ok(list)
}

fn range(reader: &mut Reader<'_>) -> Result<(i64, i64), Wrong> {
    let low = positive(reader)?;
    if !reader.try_symbol("..") {
        let at = reader.position();
        return Err((at, at + 1, "`..` and the last value are wanted here".into()));
    }
    Ok((low, positive(reader)?))
}

fn positive(reader: &mut Reader<'_>) -> Result<i64, Wrong> {
    let text =
        "a list `1, 2, 4`, a range `8..64 step 8`, `pow2 1..16` or `divisors of 12` is wanted here";
    let at = reader.position();
    let n = reader.number(text)?;
    match n > GREATEST {
        true => Err((at, reader.position(), "this number is too large".into())),
        false => Ok(n),
    }
}

fn reader_end(code: &str) -> usize {
    code.trim_end().len()
}

/// A line with numbers in its holes.
struct Filled {
    text: String,
    /// Pairs (place in the new text, place in the old one) at which pieces begin.
    pieces: Vec<(usize, usize, bool)>,
}

impl Filled {
    /// The place in the old text of one in the new.
    fn back(&self, at: usize) -> usize {
        let piece = self.pieces.iter().rev().find(|(new, _, _)| *new <= at);
        piece.map_or(at, |(new, old, hole)| if *hole { *old } else { old + (at - new) })
    }
}

impl Line {
    fn filled(&self, values: &Values) -> Result<Filled, (usize, usize)> {
        let mut filled = Filled { text: String::new(), pieces: vec![] };
        let mut at = 0;
        for (from, to, term) in &self.holes {
            filled.pieces.push((filled.text.len(), at, false));
            filled.text.push_str(&self.text[at..*from]);
            filled.pieces.push((filled.text.len(), *from, true));
            let number = term.value(values).filter(|n| *n >= 0).ok_or((*from, *to))?;
            filled.text.push_str(&number.to_string());
            at = *to;
        }
        filled.pieces.push((filled.text.len(), at, false));
        filled.text.push_str(&self.text[at..]);
        Ok(filled)
    }
}
