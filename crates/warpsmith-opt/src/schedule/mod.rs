//! Schedules: text files of steps that, replayed on the same source, give the same program.
//!
//! One step a line, `#` starts a comment. Loops are named by their counters; the second loop of a name, in source
//! order, is `i#2`, the third `i#3`.
//!
//! ```text
//! precision float                  # all reals in `float`, `double` or `half`, parameters too
//! bind i, j -> y, x block 32x8     # loops to axes; threads of a block along x, y, z
//! reduce s block 256 grid 256      # threads of a block, most blocks
//! accumulate C                     # keep the element that a serial loop adds to in a register
//! interchange i                    # swap with the loop directly inside
//! scatter j                        # the sums of column j, row by row: atomic updates of all columns
//! fuse_loops i, i#2                # one loop of two beside each other
//! rectangle j                      # over all values that it takes; iterations outside the shape store nothing
//! register_tile i by 4             # iterations of a bound loop for each thread
//! vectorise i by 4                 # neighbouring ones, or the copies of a staged array: float4
//! align i by 4                     # blocks begin at a multiple of 4, although the loop does not
//! share k -> x by 32               # the iterations of a serial loop, among threads of the block along x
//! warp i, j by 8x4                 # lanes of a warp along the loops
//! pipeline k stages 2              # copies of staged strips run ahead
//! stream dy along y                # read each row that a thread's iterations of y share once
//! double_buffer k                  # read the next iteration's values from shared memory first
//! privatise bins block 256 grid 528 # a copy of what is updated atomically for each block
//! keep_rows i by 256 each 8 vector 4 # rows of up to 2048 elements stay in registers between the loops over them
//! keep_sums i by 256 vector 4 rows 128 group 8 # sums of columns stay in registers while 128 rows go by
//! privatise bins block 256 grid 528 run 16   # a thread takes 16 neighbours at a time, and loads vectors
//! rasterise i by 8                 # order of the blocks: groups along i
//! stage A at k tile 16 pad 1       # through shared memory, 16 iterations of k at a time
//! stage A#2 at k tile 16           # of reads that differ by more than a constant, the second group
//! stage u transposed               # all that a block reads at once, its last two dimensions swapped
//! stage B at k tile 32 swizzled    # columns permuted from row to row, against bank conflicts
//! stage u async                    # by cp.async
//! unroll k by 4                    # or entirely: `unroll k`
//! split k by 32                    # strips of a serial loop
//! split_k k by 4                   # the sum over a serial loop, in parts that other blocks compute
//! tile k, l by 32x8                # two nested serial loops, tile by tile
//! indexing i sparse                # every step-th thread works; `dense`: one for each iteration
//! constant f                       # a small array, from constant memory
//! bounds peel                      # blocks inside without guards; `guard`: every thread asks; `pad`: zeros behind
//! pitch A 32                       # rows begin at multiples of 32 elements, in a copy
//! specialise n=1024, m%32=0        # a kernel of its own for these sizes
//! ```

mod derive;
pub mod fusions;
pub mod ladder;
mod parse;
mod parts;
mod rectangles;
mod replays;
pub mod rewrites;
mod rows;
mod shared;
pub mod space;
mod stencils;
mod streams;
pub mod template;
mod term;
mod transposes;
mod updates;
mod wide;

use std::fmt;

use warpsmith_ir::{Axis, Diagnostic, Layout, Scalar, SourceMap, Span};

pub use derive::derive;
pub use parse::parse;
pub use replays::Replays;

use crate::kernel::{Kernel, Reduce};
use crate::refusal::Refusal;
use crate::rewrite::{
    self, Rewritten, accumulate, align, bind, bounds, constant, distribute, double_buffer, expand,
    fuse_loops, indexing, interchange, keep_rows, keep_sums, pipeline, pitch, precision, privatise,
    rasterise, rectangle, reduce, register_tile, scatter, share, specialise, split, split_k, stage,
    stream, stride, tile, unroll, vectorise, warp,
};
use bounds::Edges;
use specialise::Fact;

/// Steps in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    pub steps: Vec<Step>,
}

/// One step, with where it stands in the schedule's file.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Option<Span>,
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// See [`rewrite::bind`]. Extents of the block along x, y, z.
    Bind { loops: Vec<String>, axes: Vec<Axis>, block: [u32; 3] },
    /// See [`rewrite::reduce`].
    Reduce { var: String, shape: Reduce },
    /// See [`rewrite::accumulate`].
    Accumulate { array: String },
    /// See [`rewrite::interchange`].
    Interchange { outer: String },
    /// See [`rewrite::rectangle`].
    Rectangle { target: String },
    /// See [`rewrite::scatter`].
    Scatter { target: String },
    /// See [`rewrite::expand`].
    Expand { target: String },
    /// See [`rewrite::distribute`].
    Distribute { target: String },
    /// See [`rewrite::fuse_loops`]. The first and the second loop.
    FuseLoops { loops: [String; 2] },
    /// See [`rewrite::register_tile`].
    RegisterTile { target: String, factor: u32 },
    /// See [`rewrite::stage`].
    Stage { array: String, strip: Option<(String, u32)>, layout: Layout, asynchronous: bool },
    /// See [`rewrite::vectorise`]; a loop or a staged array.
    Vectorise { target: String, width: u32 },
    /// See [`rewrite::align`].
    Align { target: String, width: u32 },
    /// See [`rewrite::share`]. Threads along the axis.
    Share { loops: Vec<String>, axis: Axis, threads: u32 },
    /// See [`rewrite::warp`]. As many lanes as loops.
    Warp { loops: Vec<String>, lanes: Vec<u32> },
    /// See [`rewrite::pipeline`].
    Pipeline { target: String, stages: u32 },
    /// See [`rewrite::stream`].
    Stream { inner: String, along: String },
    /// See [`rewrite::double_buffer`].
    DoubleBuffer { target: String },
    /// See [`rewrite::privatise`]. Threads of a block, most blocks, and iterations of a run.
    Privatise { array: String, block: u32, grid: u32, run: u32 },
    /// See [`rewrite::keep_rows`]. The outermost marked loop of the nest.
    KeepRows { target: String, shape: keep_rows::Shape },
    /// See [`rewrite::keep_sums`]. The marked loop of the nest.
    KeepSums { target: String, shape: keep_sums::Shape },
    /// See [`rewrite::rasterise`].
    Rasterise { target: String, blocks: u32 },
    /// See [`rewrite::stride`].
    Stride { target: String },
    /// See [`rewrite::unroll`].
    Unroll { target: String, factor: Option<u32> },
    /// See [`rewrite::split`].
    Split { target: String, size: u32 },
    /// See [`rewrite::split_k`].
    SplitK { target: String, parts: u32 },
    /// See [`rewrite::tile`].
    Tile { loops: [String; 2], sizes: [u32; 2] },
    /// See [`rewrite::indexing`].
    Indexing { target: String, sparse: bool },
    /// See [`rewrite::bounds`].
    Bounds { edges: Edges },
    /// See [`rewrite::pitch`].
    Pitch { array: String, unit: u32 },
    /// See [`rewrite::constant`].
    Constant { array: String },
    /// See [`rewrite::precision`].
    Precision { to: Scalar },
    /// See [`rewrite::specialise`].
    Specialise { facts: Vec<(String, Fact)> },
}

impl StepKind {
    /// The word that the step starts with, as in the table of [`rewrites`].
    pub fn name(&self) -> &'static str {
        match self {
            StepKind::Bind { .. } => "bind",
            StepKind::Reduce { .. } => "reduce",
            StepKind::Accumulate { .. } => "accumulate",
            StepKind::Interchange { .. } => "interchange",
            StepKind::Rectangle { .. } => "rectangle",
            StepKind::Scatter { .. } => "scatter",
            StepKind::Expand { .. } => "expand",
            StepKind::Distribute { .. } => "distribute",
            StepKind::FuseLoops { .. } => "fuse_loops",
            StepKind::RegisterTile { .. } => "register_tile",
            StepKind::Stage { .. } => "stage",
            StepKind::Vectorise { .. } => "vectorise",
            StepKind::Align { .. } => "align",
            StepKind::Share { .. } => "share",
            StepKind::Warp { .. } => "warp",
            StepKind::Pipeline { .. } => "pipeline",
            StepKind::Stream { .. } => "stream",
            StepKind::DoubleBuffer { .. } => "double_buffer",
            StepKind::Privatise { .. } => "privatise",
            StepKind::KeepRows { .. } => "keep_rows",
            StepKind::KeepSums { .. } => "keep_sums",
            StepKind::Rasterise { .. } => "rasterise",
            StepKind::Stride { .. } => "stride",
            StepKind::Unroll { .. } => "unroll",
            StepKind::Split { .. } => "split",
            StepKind::SplitK { .. } => "split_k",
            StepKind::Tile { .. } => "tile",
            StepKind::Indexing { .. } => "indexing",
            StepKind::Bounds { .. } => "bounds",
            StepKind::Pitch { .. } => "pitch",
            StepKind::Constant { .. } => "constant",
            StepKind::Precision { .. } => "precision",
            StepKind::Specialise { .. } => "specialise",
        }
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepKind::Bind { loops, axes, block } => {
                let axes_text: Vec<&str> = axes.iter().map(|a| a.name()).collect();
                write!(f, "bind {} -> {} block ", loops.join(", "), axes_text.join(", "))?;
                let used = axes.iter().map(|a| a.index() + 1).max().unwrap_or(1);
                let sizes: Vec<String> = block[..used].iter().map(u32::to_string).collect();
                f.write_str(&sizes.join("x"))
            }
            StepKind::Reduce { var, shape } => {
                let axes = shape.dimensions();
                let sizes = |of: &[u32; 3]| {
                    of[..axes].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
                };
                write!(f, "reduce {var} block {} grid {}", sizes(&shape.block), sizes(&shape.grid))
            }
            StepKind::Accumulate { array } => write!(f, "accumulate {array}"),
            StepKind::Interchange { outer } => write!(f, "interchange {outer}"),
            StepKind::Rectangle { target } => write!(f, "rectangle {target}"),
            StepKind::Scatter { target } => write!(f, "scatter {target}"),
            StepKind::Expand { target } => write!(f, "expand {target}"),
            StepKind::Distribute { target } => write!(f, "distribute {target}"),
            StepKind::FuseLoops { loops } => write!(f, "fuse_loops {}", loops.join(", ")),
            StepKind::RegisterTile { target, factor } => {
                write!(f, "register_tile {target} by {factor}")
            }
            StepKind::Stage { array, strip, layout, asynchronous } => {
                write!(f, "stage {array}")?;
                if let Some((name, tile)) = strip {
                    write!(f, " at {name} tile {tile}")?;
                }
                if layout.pad > 0 {
                    write!(f, " pad {}", layout.pad)?;
                }
                f.write_str(if layout.transposed { " transposed" } else { "" })?;
                f.write_str(if layout.swizzled { " swizzled" } else { "" })?;
                f.write_str(if *asynchronous { " async" } else { "" })
            }
            StepKind::Vectorise { target, width } => write!(f, "vectorise {target} by {width}"),
            StepKind::Align { target, width } => write!(f, "align {target} by {width}"),
            StepKind::Share { loops, axis, threads } => {
                write!(f, "share {} -> {} by {threads}", loops.join(", "), axis.name())
            }
            StepKind::Warp { loops, lanes } => {
                let lanes: Vec<String> = lanes.iter().map(u32::to_string).collect();
                write!(f, "warp {} by {}", loops.join(", "), lanes.join("x"))
            }
            StepKind::Pipeline { target, stages } => write!(f, "pipeline {target} stages {stages}"),
            StepKind::Stream { inner, along } => write!(f, "stream {inner} along {along}"),
            StepKind::DoubleBuffer { target } => write!(f, "double_buffer {target}"),
            StepKind::KeepRows { target, shape } => write!(f, "keep_rows {target} {shape}"),
            StepKind::KeepSums { target, shape } => write!(f, "keep_sums {target} {shape}"),
            StepKind::Privatise { array, block, grid, run } => {
                write!(f, "privatise {array} block {block} grid {grid}")?;
                if *run > 1 { write!(f, " run {run}") } else { Ok(()) }
            }
            StepKind::Stride { target } => write!(f, "stride {target}"),
            StepKind::Rasterise { target, blocks } => write!(f, "rasterise {target} by {blocks}"),
            StepKind::Unroll { target, factor } => {
                write!(f, "unroll {target}")?;
                factor.map_or(Ok(()), |n| write!(f, " by {n}"))
            }
            StepKind::Split { target, size } => write!(f, "split {target} by {size}"),
            StepKind::SplitK { target, parts } => write!(f, "split_k {target} by {parts}"),
            StepKind::Tile { loops: [a, b], sizes: [n, m] } => {
                write!(f, "tile {a}, {b} by {n}x{m}")
            }
            StepKind::Indexing { target, sparse } => {
                write!(f, "indexing {target} {}", if *sparse { "sparse" } else { "dense" })
            }
            StepKind::Bounds { edges } => write!(f, "bounds {}", edges.name()),
            StepKind::Pitch { array, unit } => write!(f, "pitch {array} {unit}"),
            StepKind::Constant { array } => write!(f, "constant {array}"),
            StepKind::Precision { to } => write!(f, "precision {}", precision::name(*to)),
            StepKind::Specialise { facts } => {
                let facts = facts.iter().map(|(name, fact)| match fact {
                    Fact::Equals(n) => format!("{name}={n}"),
                    Fact::Multiple(n) => format!("{name}%{n}=0"),
                });
                write!(f, "specialise {}", facts.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl fmt::Display for Schedule {
    /// The text that [`parse`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{}", step.kind))
    }
}

impl Schedule {
    pub fn print(&self) -> String {
        self.to_string()
    }
}

/// Applies the steps one after the other; the verifier looks at the result of each.
///
/// # Errors
/// The first step that names a loop that does not exist or that is not legal.
pub fn replay(
    kernel: &Kernel,
    schedule: &Schedule,
    sources: &SourceMap,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut kernel = kernel.clone();
    for (k, step) in schedule.steps.iter().enumerate() {
        kernel = advance(&kernel, &step.kind, sources)
            .map_err(|error| vec![explain(&kernel, error, k, step)])?;
    }
    Ok(kernel)
}

/// Takes one step and notes it, once the verifier has looked at the result.
///
/// # Errors
/// As [`take`], and where the verifier finds something.
pub fn advance(kernel: &Kernel, step: &StepKind, sources: &SourceMap) -> Result<Kernel, StepError> {
    let text = step.to_string();
    let rewritten = rewrite::verified(take(kernel, step, sources)?, &text);
    let mut kernel = rewritten.map_err(StepError::Refused)?.kernel;
    kernel.steps.push(text);
    Ok(kernel)
}

/// Takes one step.
///
/// # Errors
/// An unknown loop name, or why the step is not legal.
pub fn take(kernel: &Kernel, step: &StepKind, sources: &SourceMap) -> Result<Rewritten, StepError> {
    let find = |name: &String| {
        let found = kernel.loop_named(name).map(|l| l.id);
        found.ok_or_else(|| StepError::UnknownLoop(name.clone()))
    };
    match step {
        StepKind::Bind { loops, axes, block } => {
            let ids: Result<Vec<_>, _> = loops.iter().map(find).collect();
            let pairs: Vec<_> = ids?.into_iter().zip(axes.iter().copied()).collect();
            Ok(bind::apply(bind::check(kernel, &pairs, *block)?, sources))
        }
        StepKind::Reduce { var, shape } => {
            Ok(reduce::apply(reduce::check(kernel, var, *shape)?, sources))
        }
        StepKind::Accumulate { array } => Ok(accumulate::apply(accumulate::check(kernel, array)?)),
        StepKind::Interchange { outer } => {
            Ok(interchange::apply(interchange::check(kernel, find(outer)?)?))
        }
        StepKind::Rectangle { target } => {
            Ok(rectangle::apply(rectangle::check(kernel, find(target)?)?))
        }
        StepKind::Scatter { target } => Ok(scatter::apply(scatter::check(kernel, find(target)?)?)),
        StepKind::Expand { target } => Ok(expand::apply(expand::check(kernel, find(target)?)?)),
        StepKind::Distribute { target } => {
            Ok(distribute::apply(distribute::check(kernel, find(target)?)?))
        }
        StepKind::FuseLoops { loops: [first, second] } => {
            Ok(fuse_loops::apply(fuse_loops::check(kernel, find(first)?, find(second)?)?))
        }
        StepKind::RegisterTile { target, factor } => {
            Ok(register_tile::apply(register_tile::check(kernel, find(target)?, *factor)?))
        }
        StepKind::Stage { array, strip, layout, asynchronous } => {
            let strip = match strip {
                Some((name, tile)) => Some((find(name)?, *tile)),
                None => None,
            };
            Ok(stage::apply(stage::check(kernel, array, strip, *layout, *asynchronous)?))
        }
        StepKind::Vectorise { target, width } => {
            // The names of loops come first.
            let legal = match find(target) {
                Ok(id) => vectorise::check(kernel, id, *width)?,
                Err(_) => vectorise::check_array(kernel, target, *width)?,
            };
            Ok(vectorise::apply(legal))
        }
        StepKind::Align { target, width } => {
            Ok(align::apply(align::check(kernel, find(target)?, *width)?))
        }
        StepKind::Share { loops, axis, threads } => {
            let ids: Result<Vec<_>, _> = loops.iter().map(find).collect();
            Ok(share::apply(share::check(kernel, &ids?, *axis, *threads)?))
        }
        StepKind::Warp { loops, lanes } => {
            let ids: Result<Vec<_>, _> = loops.iter().map(find).collect();
            let pairs: Vec<_> = ids?.into_iter().zip(lanes.iter().copied()).collect();
            Ok(warp::apply(warp::check(kernel, &pairs)?))
        }
        StepKind::Pipeline { target, stages } => {
            Ok(pipeline::apply(pipeline::check(kernel, find(target)?, *stages)?))
        }
        StepKind::Stream { inner, along } => {
            Ok(stream::apply(stream::check(kernel, find(inner)?, find(along)?)?))
        }
        StepKind::DoubleBuffer { target } => {
            Ok(double_buffer::apply(double_buffer::check(kernel, find(target)?)?))
        }
        StepKind::Privatise { array, block, grid, run } => {
            Ok(privatise::apply(privatise::check(kernel, array, *block, *grid, *run)?, sources))
        }
        StepKind::KeepRows { target, shape } => {
            Ok(keep_rows::apply(keep_rows::check(kernel, find(target)?, *shape)?, sources))
        }
        StepKind::KeepSums { target, shape } => {
            Ok(keep_sums::apply(keep_sums::check(kernel, find(target)?, *shape)?, sources))
        }
        StepKind::Rasterise { target, blocks } => {
            Ok(rasterise::apply(rasterise::check(kernel, find(target)?, *blocks)?))
        }
        StepKind::Stride { target } => Ok(stride::apply(stride::check(kernel, find(target)?)?)),
        StepKind::Unroll { target, factor } => {
            Ok(unroll::apply(unroll::check(kernel, find(target)?, *factor)?))
        }
        StepKind::Split { target, size } => {
            Ok(split::apply(split::check(kernel, find(target)?, *size)?))
        }
        StepKind::SplitK { target, parts } => {
            Ok(split_k::apply(split_k::check(kernel, find(target)?, *parts)?))
        }
        StepKind::Tile { loops: [outer, inner], sizes } => {
            let loops = [find(outer)?, find(inner)?];
            Ok(tile::apply(tile::check(kernel, loops, *sizes)?))
        }
        StepKind::Indexing { target, sparse } => {
            Ok(indexing::apply(indexing::check(kernel, find(target)?, *sparse)?))
        }
        StepKind::Bounds { edges } => Ok(bounds::apply(bounds::check(kernel, *edges)?)),
        StepKind::Pitch { array, unit } => Ok(pitch::apply(pitch::check(kernel, array, *unit)?)),
        StepKind::Constant { array } => Ok(constant::apply(constant::check(kernel, array)?)),
        StepKind::Precision { to } => Ok(precision::apply(precision::check(kernel, *to)?)),
        StepKind::Specialise { facts } => Ok(specialise::apply(specialise::check(kernel, facts)?)),
    }
}

/// Why a step was not taken.
#[derive(Clone, Debug)]
pub enum StepError {
    UnknownLoop(String),
    Refused(Refusal),
}

impl From<Refusal> for StepError {
    fn from(refusal: Refusal) -> StepError {
        StepError::Refused(refusal)
    }
}

fn explain(kernel: &Kernel, error: StepError, at: usize, step: &Step) -> Diagnostic {
    let d = match error {
        StepError::Refused(refusal) => refusal.diagnostic(kernel),
        StepError::UnknownLoop(name) => {
            let d = Diagnostic::error("W231", format!("no loop is called `{name}`"));
            let names: Vec<String> = kernel.loop_names().into_iter().map(|(n, _)| n).collect();
            match names.is_empty() {
                true => d.note("the function has no counted loops"),
                false => d.note(format!("the loops are {}", names.join(", "))),
            }
        }
    };
    let d = match step.span {
        Some(span) => d.label(span, "in this step"),
        None => d,
    };
    d.note(format!("step {}: `{}`", at + 1, step.kind))
}
