//! Reads a schedule's text.

use std::mem::discriminant;

use warpsmith_ir::{Axis, Diagnostic, FileId, Layout, Scalar, SourceMap, Span};
use winnow::ModalResult as Result;
use winnow::Parser;
use winnow::ascii::{dec_uint, space0, space1};
use winnow::combinator::{alt, cut_err, eof, opt, preceded, separated};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::stream::Stream;
use winnow::token::take_while;

use super::rewrites;
use super::{Schedule, Step, StepKind};
use crate::kernel::Reduce;
use crate::rewrite::bounds::Edges;
use crate::rewrite::precision::name as precision_name;
use crate::rewrite::specialise::Fact;
use crate::rewrite::{keep_rows::Shape, keep_sums};

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
                    .help(rewrites::help(line));
                errors.push(d);
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
    alt((nest_step, order_step, loop_step, machine_step))
        .context(wanted(rewrites::NAMES.as_str()))
        .parse_next(input)
}

/// Steps about nests and arrays.
fn nest_step(input: &mut &str) -> Result<StepKind> {
    alt((
        preceded(keyword("bind"), cut_err(bind)),
        preceded(keyword("reduce"), cut_err(reduce)),
        preceded(keyword("accumulate"), cut_err(name)).map(|array| StepKind::Accumulate { array }),
        preceded(keyword("stage"), cut_err(stage)),
        preceded(keyword("bounds"), cut_err(bounds)),
        preceded(keyword("precision"), cut_err(precision)),
        preceded(keyword("pitch"), cut_err(pitch)),
        preceded(keyword("constant"), cut_err(name)).map(|array| StepKind::Constant { array }),
        preceded(keyword("specialise"), cut_err(specialise)),
    ))
    .parse_next(input)
}

/// Steps about which loops there are, and in which order.
fn order_step(input: &mut &str) -> Result<StepKind> {
    alt((
        preceded(keyword("interchange"), cut_err(name))
            .map(|outer| StepKind::Interchange { outer }),
        preceded(keyword("rectangle"), cut_err(name)).map(|target| StepKind::Rectangle { target }),
        preceded(keyword("scatter"), cut_err(name)).map(|target| StepKind::Scatter { target }),
        preceded(keyword("expand"), cut_err(name)).map(|target| StepKind::Expand { target }),
        preceded(keyword("distribute"), cut_err(name))
            .map(|target| StepKind::Distribute { target }),
        preceded(keyword("fuse_loops"), cut_err((name, comma(), name)))
            .map(|(first, _, second)| StepKind::FuseLoops { loops: [first, second] }),
    ))
    .parse_next(input)
}

/// Steps about loops.
fn loop_step(input: &mut &str) -> Result<StepKind> {
    alt((
        preceded(keyword("register_tile"), cut_err(register_tile)),
        preceded(keyword("unroll"), cut_err(unroll)),
        preceded(keyword("split"), cut_err(split)),
        preceded(keyword("split_k"), cut_err(split_k)),
        preceded(keyword("tile"), cut_err(tile)),
        preceded(keyword("indexing"), cut_err(indexing)),
        preceded(keyword("keep_rows"), cut_err(keep_rows)),
        preceded(keyword("keep_sums"), cut_err(keep_sums)),
    ))
    .parse_next(input)
}

/// Steps about how the machine works off what the others decided.
fn machine_step(input: &mut &str) -> Result<StepKind> {
    alt((
        preceded(keyword("vectorise"), cut_err(vectorise)),
        preceded(keyword("align"), cut_err(align)),
        preceded(keyword("share"), cut_err(share)),
        preceded(keyword("warp"), cut_err(warp)),
        preceded(keyword("pipeline"), cut_err(pipeline)),
        preceded(keyword("privatise"), cut_err(privatise)),
        preceded(keyword("stream"), cut_err(stream)),
        preceded(keyword("rasterise"), cut_err(rasterise)),
        alt((
            preceded(keyword("double_buffer"), cut_err(name))
                .map(|target| StepKind::DoubleBuffer { target }),
            preceded(keyword("stride"), cut_err(name)).map(|target| StepKind::Stride { target }),
        )),
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

/// One to three numbers, along x, y, z.
fn extents(input: &mut &str) -> Result<[u32; 3]> {
    let sizes: Vec<u32> = separated(1..=3, number, 'x').parse_next(input)?;
    let mut extents = [1u32; 3];
    extents.iter_mut().zip(&sizes).for_each(|(e, s)| *e = *s);
    Ok(extents)
}

fn privatise(input: &mut &str) -> Result<StepKind> {
    let array = name.parse_next(input)?;
    let mut count = |word: &'static str, what: &'static str| {
        preceded((space1, word, space1), number).context(wanted(what)).parse_next(input)
    };
    let block = count("block", "`block` and the threads of a block are wanted here")?;
    let grid = count("grid", "`grid` and the most blocks are wanted here")?;
    let run = opt(preceded((space1, "run", space1), number)).parse_next(input)?.unwrap_or(1);
    Ok(StepKind::Privatise { array, block, grid, run })
}

fn keep_rows(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let mut count = |word: &'static str, what: &'static str| {
        preceded((space1, word, space1), number).context(wanted(what)).parse_next(input)
    };
    let threads = count("by", "`by` and the threads that have a row are wanted here")?;
    let each = count("each", "`each` and the elements that a thread keeps are wanted here")?;
    let mut more = |word: &'static str| {
        opt(preceded((space1, word, space1), number)).parse_next(input).map(|n| n.unwrap_or(1))
    };
    let (vector, rows) = (more("vector")?, more("rows")?);
    Ok(StepKind::KeepRows { target, shape: Shape { threads, each, vector, rows } })
}

fn keep_sums(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let threads = preceded((space1, "by", space1), number)
        .context(wanted("`by` and the threads of a block are wanted here"))
        .parse_next(input)?;
    let more = |word: &'static str| opt(preceded((space1, word, space1), number));
    let vector = more("vector").parse_next(input)?.unwrap_or(1);
    let rows = preceded((space1, "rows", space1), number)
        .context(wanted("`rows` and the rows of a block are wanted here"))
        .parse_next(input)?;
    let group = more("group").parse_next(input)?.unwrap_or(1);
    let shape = keep_sums::Shape { threads, vector, rows, group };
    Ok(StepKind::KeepSums { target, shape })
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
    let block = opt(preceded((space1, "block", space1), extents)).parse_next(input)?;
    let grid = opt(preceded((space1, "grid", space1), extents)).parse_next(input)?;
    let usual = [256, 1, 1];
    let shape = Reduce { block: block.unwrap_or(usual), grid: grid.unwrap_or(usual) };
    Ok(StepKind::Reduce { var, shape })
}

fn register_tile(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let factor = preceded((space1, "by", space1), number)
        .context(wanted("`by` and the iterations of a thread are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::RegisterTile { target, factor })
}

fn vectorise(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let width = preceded((space1, "by", space1), number)
        .context(wanted("`by` and the elements of a vector are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Vectorise { target, width })
}

fn align(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let width =
        by(number, "`by` and the elements of a vector are wanted here").parse_next(input)?;
    Ok(StepKind::Align { target, width })
}

fn share(input: &mut &str) -> Result<StepKind> {
    let loops: Vec<String> = separated(1.., name, comma()).parse_next(input)?;
    (space0, "->", space0)
        .context(wanted("`->` and the axis of the threads are wanted here"))
        .parse_next(input)?;
    let axis = axis.parse_next(input)?;
    let threads = by(number, "`by` and the number of threads are wanted here").parse_next(input)?;
    Ok(StepKind::Share { loops, axis, threads })
}

fn warp(input: &mut &str) -> Result<StepKind> {
    let loops: Vec<String> = separated(1..=3, name, comma()).parse_next(input)?;
    let lanes = preceded((space1, "by", space1), separated(1..=3, number, 'x'))
        .verify(|lanes: &Vec<u32>| lanes.len() == loops.len())
        .context(wanted("`by` and the lanes along each loop, as in `8x4`, are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Warp { loops, lanes })
}

fn pipeline(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let stages = preceded((space1, "stages", space1), number)
        .context(wanted("`stages` and the strips in flight are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Pipeline { target, stages })
}

fn stream(input: &mut &str) -> Result<StepKind> {
    let inner = name.parse_next(input)?;
    let along = preceded((space1, "along", space1), name)
        .context(wanted("`along` and a bound loop are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Stream { inner, along })
}

fn rasterise(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let blocks = preceded((space1, "by", space1), number)
        .context(wanted("`by` and the blocks of a group are wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Rasterise { target, blocks })
}

fn stage(input: &mut &str) -> Result<StepKind> {
    let array = name.parse_next(input)?;
    let strip = opt((
        preceded((space1, "at", space1), cut_err(name)),
        cut_err(preceded((space1, "tile", space1), number))
            .context(wanted("`tile` and the iterations of a strip are wanted here")),
    ))
    .parse_next(input)?;
    let mut given: Vec<StageOption> = vec![];
    loop {
        let before = input.checkpoint();
        match opt(preceded(space1, stage_option)).parse_next(input)? {
            Some(o) if !given.iter().any(|known| discriminant(known) == discriminant(&o)) => {
                given.push(o);
            }
            Some(_) => {
                // Twice the same: not understood from here on.
                input.reset(&before);
                break;
            }
            None => break,
        }
    }
    let pad = given.iter().find_map(|o| match o {
        StageOption::Pad(n) => Some(*n),
        _ => None,
    });
    let has = |o: StageOption| given.contains(&o);
    Ok(StepKind::Stage {
        array,
        strip,
        layout: Layout {
            pad: pad.unwrap_or(0),
            transposed: has(StageOption::Transposed),
            swizzled: has(StageOption::Swizzled),
        },
        asynchronous: has(StageOption::Async),
    })
}

/// What may follow a `stage`, in any order.
#[derive(Clone, PartialEq)]
enum StageOption {
    Pad(u32),
    Transposed,
    Swizzled,
    Async,
}

fn stage_option(input: &mut &str) -> Result<StageOption> {
    alt((
        preceded(("pad", space1), cut_err(number)).map(StageOption::Pad),
        "transposed".value(StageOption::Transposed),
        "swizzled".value(StageOption::Swizzled),
        "async".value(StageOption::Async),
    ))
    .parse_next(input)
}

fn unroll(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let factor = opt(preceded((space1, "by", space1), cut_err(number))).parse_next(input)?;
    Ok(StepKind::Unroll { target, factor })
}

fn by<'s, O>(
    inner: impl Parser<&'s str, O, ErrMode<ContextError>>,
    text: &'static str,
) -> impl Parser<&'s str, O, ErrMode<ContextError>> {
    preceded((space1, "by", space1), inner).context(wanted(text))
}

fn split(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let size =
        by(number, "`by` and the iterations of a strip are wanted here").parse_next(input)?;
    Ok(StepKind::Split { target, size })
}

fn split_k(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let parts = by(number, "`by` and the number of parts are wanted here").parse_next(input)?;
    Ok(StepKind::SplitK { target, parts })
}

fn tile(input: &mut &str) -> Result<StepKind> {
    let outer = name.parse_next(input)?;
    let inner = preceded(comma(), name)
        .context(wanted("a comma and the loop directly inside are wanted here"))
        .parse_next(input)?;
    let text = "`by` and two numbers, `32x8`, are wanted here";
    let (rows, columns) = by((number, preceded('x', number)), text).parse_next(input)?;
    Ok(StepKind::Tile { loops: [outer, inner], sizes: [rows, columns] })
}

fn indexing(input: &mut &str) -> Result<StepKind> {
    let target = name.parse_next(input)?;
    let sparse = preceded(space1, alt(("sparse".value(true), "dense".value(false))))
        .context(wanted("`sparse` or `dense` is wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Indexing { target, sparse })
}

fn specialise(input: &mut &str) -> Result<StepKind> {
    let facts = separated(1.., fact, comma()).parse_next(input)?;
    Ok(StepKind::Specialise { facts })
}

fn precision(input: &mut &str) -> Result<StepKind> {
    let all = [Scalar::F64, Scalar::F32, Scalar::F16];
    let to = alt(all.map(|s| precision_name(s).value(s)))
        .context(wanted(
            "`double`, `float` or `half` is wanted here; a device has no `long double`",
        ))
        .parse_next(input)?;
    Ok(StepKind::Precision { to })
}

fn pitch(input: &mut &str) -> Result<StepKind> {
    let array = name.parse_next(input)?;
    let unit = preceded(space1, number)
        .context(wanted("a number of elements, a multiple of which each row has, is wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Pitch { array, unit })
}

fn bounds(input: &mut &str) -> Result<StepKind> {
    let all = [Edges::Guard, Edges::Peel, Edges::Pad];
    let edges = alt(all.map(|e| e.name().value(e)))
        .context(wanted("`peel`, `pad` or `guard` is wanted here"))
        .parse_next(input)?;
    Ok(StepKind::Bounds { edges })
}

/// `n=1024` or `n%32=0`.
fn fact(input: &mut &str) -> Result<(String, Fact)> {
    let var = name.parse_next(input)?;
    let fact = alt((
        preceded((space0, '=', space0), number).map(Fact::Equals),
        (preceded((space0, '%', space0), number), (space0, '=', space0, '0'))
            .map(|(n, _)| Fact::Multiple(n)),
    ))
    .context(wanted("`=` and a number, or `%`, a number and `=0` are wanted here"))
    .parse_next(input)?;
    Ok((var, fact))
}
