//! The steps that a schedule can take, a line each; everything about one is in its file in [`rewrite`](crate::rewrite).

use std::fmt;
use std::sync::LazyLock;

use warpsmith_ir::{Diagnostic, SourceMap, Span};
use winnow::ascii::space1;
use winnow::combinator::{cut_err, fail, preceded};
use winnow::{ModalResult, Parser};

use crate::kernel::Kernel;
use crate::rewrite::step::grammar::wanted;
use crate::rewrite::step::{About, Rewrite, StepError};
use crate::rewrite::{self, Rewritten};

/// Makes the type of all steps, and what depends on which one it is.
macro_rules! registry {
    ($($kind:ident = $module:ident),* $(,)?) => {
        /// One step, with its arguments.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum StepKind {
            $(
                #[doc = concat!("See [`", stringify!($module), "`](crate::rewrite::", stringify!($module), ").")]
                $kind(rewrite::$module::Args),
            )*
        }

        /// All kinds of steps, described.
        pub const STEPS: &[About] = &[$(rewrite::$module::Args::ABOUT),*];

        impl StepKind {
            /// The word that the step starts with.
            pub fn name(&self) -> &'static str {
                match self {
                    $(StepKind::$kind(_) => rewrite::$module::Args::ABOUT.name,)*
                }
            }

            /// Takes the step.
            ///
            /// # Errors
            /// An unknown loop name, or why the step is not legal.
            pub fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
                match self {
                    $(StepKind::$kind(args) => args.take(kernel, sources),)*
                }
            }

            fn args(&self) -> &dyn fmt::Display {
                match self {
                    $(StepKind::$kind(args) => args,)*
                }
            }
        }

        /// Reads a step: its name, and what its file says about the rest.
        pub(super) fn parse(input: &mut &str) -> ModalResult<StepKind> {
            $(
                if begins(input, rewrite::$module::Args::ABOUT.name) {
                    let name = (rewrite::$module::Args::ABOUT.name, space1);
                    let args = cut_err(rewrite::$module::Args::parse);
                    return preceded(name, args).map(StepKind::$kind).parse_next(input);
                }
            )*
            fail.context(wanted(NAMES.as_str())).parse_next(input)
        }
    };
}

// Roughly in the order in which schedules take them.
registry! {
    Precision = precision,
    Bind = bind,
    Reduce = reduce,
    Indexing = indexing,
    Specialise = specialise,
    Interchange = interchange,
    Collapse = collapse,
    Rectangle = rectangle,
    Residue = residue,
    Wrap = wrap,
    Guard = guard,
    Predicate = predicate,
    Sink = sink,
    Scatter = scatter,
    Gather = gather,
    Expand = expand,
    Scalarise = scalarise,
    Normalise = normalise,
    Dp4a = dp4a,
    Distribute = distribute,
    FuseLoops = fuse_loops,
    FuseKernels = fuse_kernels,
    Split = split,
    SplitK = split_k,
    SplitScan = split_scan,
    StreamK = stream_k,
    Privatise = privatise,
    KeepRows = keep_rows,
    KeepSums = keep_sums,
    Scan = scan,
    Tile = tile,
    Accumulate = accumulate,
    Carry = carry,
    Stage = stage,
    Constant = constant,
    RegisterTile = register_tile,
    Vectorise = vectorise,
    Align = align,
    Share = share,
    Warp = warp,
    Pipeline = pipeline,
    Stream = stream,
    DoubleBuffer = double_buffer,
    Rasterise = rasterise,
    Persist = persist,
    Stride = stride,
    Bounds = bounds,
    Pitch = pitch,
    Unroll = unroll,
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.args())
    }
}

/// Whether a text begins with a word and a space.
fn begins(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// The names for a message, `a`, `b` or `c`.
static NAMES: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<String> = STEPS.iter().map(|s| format!("`{}`", s.name)).collect();
    match all.split_last() {
        Some((end, rest)) => format!("a step starts with {} or {end}", rest.join(", ")),
        None => String::new(),
    }
});

/// The message about a line that could not be read: what was wanted where it goes wrong, and an example of the step it starts, or where they
/// all are described.
pub(super) fn unreadable(line: &str, at: Span, wanted: String) -> Diagnostic {
    let word = line.split_whitespace().next();
    let (what, help) = match STEPS.iter().find(|s| Some(s.name) == word) {
        Some(s) => {
            (format!("`{}` is written another way", s.name), format!("for example `{}`", s.example))
        }
        None => (
            "this is not a step of a schedule".into(),
            "`warpsmith tune --list-rewrites` describes the steps".into(),
        ),
    };
    Diagnostic::error("W230", what).label(at, wanted).help(help)
}

/// All kinds of steps as text for a terminal: a paragraph and an example each.
pub fn list() -> String {
    STEPS.iter().map(describe).collect()
}

fn describe(step: &About) -> String {
    let About { example, does, legal, law, .. } = step;
    let indented = |text: &str| -> String {
        let line = |l: &str| if l.is_empty() { "\n".into() } else { format!("        {l}\n") };
        text.lines().map(line).collect()
    };
    let arrow: String = law.steps.lines().map(|l| format!("      ==> {l}\n")).collect();
    let (before, after) = (indented(law.before), indented(law.after));
    format!("{example}\n    {does}\n    legal: {legal}\n\n{before}{arrow}{after}\n")
}
