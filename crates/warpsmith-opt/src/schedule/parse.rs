//! Reads a schedule's text.

use warpsmith_ir::{Axis, Diagnostic, FileId, SourceMap, Span};
use winnow::ModalResult as Result;
use winnow::Parser;
use winnow::ascii::{dec_uint, space0, space1};
use winnow::combinator::{alt, cut_err, eof, opt, preceded, separated};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::token::take_while;

use super::{Schedule, Step, StepKind};
use crate::kernel::Reduce;

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
                let d = Diagnostic::error("W230", "this is not a step of a schedule")
                    .label(span(file, start + at, end), wanted)
                    .help("the steps are `bind i, j -> y, x block 32x8`, `reduce s block 256 grid 256`, `accumulate C`, `interchange i`, `register_tile i by 4`, `stage A at k tile 16` and `unroll k by 4`");
                errors.push(d);
            }
        }
        start += line.len();
    }
    if errors.is_empty() { Ok(schedule) } else { Err(errors) }
}

fn span(file: FileId, start: usize, end: usize) -> Span {
    let clamp = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
    Span { file, start: clamp(start), end: clamp(end) }
}

/// The part of a line before a comment. `#` followed by a digit belongs to a loop's name.
fn code_of(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| {
        let digit = line[at + 1..].starts_with(|d: char| d.is_ascii_digit());
        let name = line[..*at].ends_with(|d: char| d.is_ascii_alphanumeric() || d == '_');
        !(digit && name)
    });
    let line = comment.map_or(line, |(at, _)| &line[..at]);
    line.trim_end_matches(['\n', '\r'])
}

type Located = (StepKind, std::ops::Range<usize>);

/// The step of a line with its place in it; `None` for a line without one; else where the text went wrong, and what
/// was wanted there.
fn parse_line(line: &str) -> std::result::Result<Option<Located>, (usize, String)> {
    let code = code_of(line);
    let trimmed = code.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let start = code.len() - code.trim_start().len();
    match (step, eof).parse(trimmed) {
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

fn step(input: &mut &str) -> Result<StepKind> {
    alt((
        preceded(keyword("bind"), cut_err(bind)),
        preceded(keyword("reduce"), cut_err(reduce)),
        preceded(keyword("accumulate"), cut_err(name)).map(|array| StepKind::Accumulate { array }),
        preceded(keyword("interchange"), cut_err(name))
            .map(|outer| StepKind::Interchange { outer }),
        preceded(keyword("register_tile"), cut_err(register_tile)),
        preceded(keyword("stage"), cut_err(stage)),
        preceded(keyword("unroll"), cut_err(unroll)),
    ))
    .context(wanted(
        "a step starts with `bind`, `reduce`, `accumulate`, `interchange`, `register_tile`, `stage` or `unroll`",
    ))
    .parse_next(input)
}

fn wanted(text: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(text))
}

fn keyword<'s>(word: &'static str) -> impl Parser<&'s str, (), ErrMode<ContextError>> {
    (word, space1).void()
}

fn name(input: &mut &str) -> Result<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '#';
    take_while(1.., word)
        .context(wanted("a name is wanted here"))
        .map(str::to_string)
        .parse_next(input)
}

fn comma<'s>() -> impl Parser<&'s str, (), ErrMode<ContextError>> {
    (space0, ',', space0).void()
}

fn axis(input: &mut &str) -> Result<Axis> {
    alt(("x".value(Axis::X), "y".value(Axis::Y), "z".value(Axis::Z)))
        .context(wanted("an axis, `x`, `y` or `z`, is wanted here"))
        .parse_next(input)
}

fn number(input: &mut &str) -> Result<u32> {
    dec_uint.context(wanted("a number is wanted here")).parse_next(input)
}

fn bind(input: &mut &str) -> Result<StepKind> {
    let loops: Vec<String> = separated(1..=3, name, comma()).parse_next(input)?;
    (space0, "->", space0)
        .context(wanted("`->` and the axes are wanted here"))
        .parse_next(input)?;
    let mut seen: Vec<Axis> = vec![];
    for k in 0..loops.len() {
        if k > 0 {
            comma().context(wanted("as many axes as loops are wanted")).parse_next(input)?;
        }
        let next = axis
            .verify(|a| !seen.contains(a))
            .context(wanted("another axis is wanted here"))
            .parse_next(input)?;
        seen.push(next);
    }
    let sizes: Vec<u32> = preceded((space1, opt(("block", space1))), separated(1..=3, number, 'x'))
        .verify(|sizes: &Vec<u32>| seen.iter().all(|a| a.index() < sizes.len()))
        .context(wanted(
            "the threads of a block, one number for each axis up to the last used, are wanted here",
        ))
        .parse_next(input)?;
    let mut block = [1u32; 3];
    block.iter_mut().zip(&sizes).for_each(|(b, s)| *b = *s);
    Ok(StepKind::Bind { loops, axes: seen, block })
}

fn reduce(input: &mut &str) -> Result<StepKind> {
    let var = name.parse_next(input)?;
    let block = opt(preceded((space1, "block", space1), number)).parse_next(input)?;
    let grid = opt(preceded((space1, "grid", space1), number)).parse_next(input)?;
    let shape = Reduce { block: block.unwrap_or(256), grid: grid.unwrap_or(256) };
    Ok(StepKind::Reduce { var, shape })
}

fn register_tile(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let factor = preceded((space1, "by", space1), number)
        .context(wanted("`by` and the iterations of a thread are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::RegisterTile { target, factor })
}

fn stage(input: &mut &str) -> Result<StepKind> {
    let array = name.parse_next(input)?;
    let strip = opt((
        preceded((space1, "at", space1), cut_err(name)),
        cut_err(preceded((space1, "tile", space1), number))
            .context(wanted("`tile` and the iterations of a strip are wanted here")),
    ))
    .parse_next(input)?;
    let pad = opt(preceded((space1, "pad", space1), cut_err(number))).parse_next(input)?;
    let transposed = opt((space1, "transposed")).parse_next(input)?.is_some();
    Ok(StepKind::Stage { array, strip, pad: pad.unwrap_or(0), transposed })
}

fn unroll(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let factor = opt(preceded((space1, "by", space1), cut_err(number))).parse_next(input)?;
    Ok(StepKind::Unroll { target, factor })
}
