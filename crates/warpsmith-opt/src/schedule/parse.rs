//! Reads a schedule's text.

use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};
use winnow::Parser;
use winnow::combinator::eof;
use winnow::error::{StrContext, StrContextValue};

use super::{Schedule, Step, StepKind, registry};

/// Parses the schedule in a file of the source map.
///
/// # Errors
/// One diagnostic for each line that is not a step.
pub fn parse(sources: &SourceMap, file: FileId) -> std::result::Result<Schedule, Vec<Diagnostic>> {
    let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
    let mut schedule = Schedule::default();
    let mut errors = vec![];
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        match parse_line(line) {
            Ok(Some((kind, range))) => {
                let span = span(file, start + range.start, start + range.end);
                schedule.steps.push(Step { kind, span: Some(span) });
            }
            Ok(None) => {}
            Err((at, wanted)) => {
                let end = start + code_of(line).trim_end().len().max(at + 1);
                errors.push(registry::unreadable(line, span(file, start + at, end), wanted));
            }
        }
        start += line.len();
    }
    if errors.is_empty() { Ok(schedule) } else { Err(errors) }
}

pub(super) fn span(file: FileId, start: usize, end: usize) -> Span {
    let clamp = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
    Span { file, start: clamp(start), end: clamp(end) }
}

/// The part of a line before a comment. `#` followed by a digit belongs to a loop's name.
pub(super) fn code_of(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| {
        let digit = line[at + 1..].starts_with(|d: char| d.is_ascii_digit());
        let name = line[..*at].ends_with(|d: char| d.is_ascii_alphanumeric() || d == '_');
        !(digit && name)
    });
    let line = comment.map_or(line, |(at, _)| &line[..at]);
    line.trim_end_matches(['\n', '\r'])
}

pub(super) type Located = (StepKind, std::ops::Range<usize>);

/// The step of a line with its place in it; `None` for a line without one; else where the text went wrong, and what
/// was wanted there.
pub(super) fn parse_line(line: &str) -> std::result::Result<Option<Located>, (usize, String)> {
    let code = code_of(line);
    let trimmed = code.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let start = code.len() - code.trim_start().len();
    match (registry::parse, eof).parse(trimmed) {
        Ok((kind, _)) => Ok(Some((kind, start..start + trimmed.len()))),
        Err(error) => {
            let wanted = error.inner().context().find_map(|c| match c {
                StrContext::Expected(StrContextValue::Description(text)) => Some(*text),
                _ => None,
            });
            let wanted = wanted.unwrap_or("not understood");
            Err((start + error.offset(), wanted.to_string()))
        }
    }
}
