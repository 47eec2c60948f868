//! What a result relies on beyond the C standard and was not proved.

use std::fmt;

/// Something taken for granted. What decides on one asks for its kind; people read its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what the sentence names")]
pub enum Assumption {
    /// Iterations of a marked loop are independent by the user's word alone.
    Independent {
        /// The loop, as file and line.
        line: String,
        /// What could not be proved.
        reason: String,
    },
    /// Calls on different streams share an array's copy in constant memory, and do not overlap.
    ConstantCopy { array: String },
    /// The length of a row of an array, rounded up to a multiple, fits its type.
    RoundedRow { array: String, unit: u32 },
    /// The length of a loop, rounded up to a multiple, fits its type.
    RoundedLoop { counter: String, unit: u32 },
    /// The marks are right under a condition on the sizes, which the launcher asks for.
    Sizes { condition: String, why: String },
    /// Array arguments do not overlap.
    NoOverlap,
    /// An array is there; the launcher asks.
    NotNull { array: String },
    /// An array has no more elements than subscripts of 32 bits without a sign reach; the launcher asks.
    FewElements { array: String },
    /// An array begins at a multiple of so many bytes; the launcher asks.
    Aligned { array: String, bytes: u64 },
    /// The number of an array's elements follows from its accesses.
    Extent { array: String, elements: String },
    /// Values that a choice keeps the least or greatest of are numbers.
    NoNan { variable: String },
    /// What coefficients of zero, and products of coefficients that round to zero, multiply is finite: iterations apart are maps that are joined, in which
    /// zero times an infinity is no number.
    FiniteParts { variable: String },
    /// The launcher may wait for the device.
    Synchronises,
    /// The distance between bounds of a loop of `int` that may begin below zero fits the type.
    LoopRange {
        /// The launcher asks.
        asked: bool,
    },
}

/// What happens where the launcher asks and the answer is no.
const ELSE: &str = "the launcher returns cudaErrorInvalidValue and launches nothing";

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::Independent { line, reason } => {
                write!(f, "iterations of the loop at {line} assumed independent: {reason}")
            }
            Assumption::ConstantCopy { array } => write!(
                f,
                "calls of the launcher on different streams do not overlap: they share the copy of `{array}` in constant memory"
            ),
            Assumption::RoundedRow { array, unit } => write!(
                f,
                "the length of a row of `{array}`, rounded up to a multiple of {unit}, fits its type"
            ),
            Assumption::RoundedLoop { counter, unit } => write!(
                f,
                "the length of the loop over `{counter}`, rounded up to a multiple of {unit}, fits its type"
            ),
            Assumption::Sizes { condition, why } => {
                write!(f, "{condition}: {why}; at other sizes {ELSE}")
            }
            Assumption::NoOverlap => f.write_str("array arguments do not overlap"),
            Assumption::NotNull { array } => write!(f, "`{array}` is not null; else {ELSE}"),
            Assumption::FewElements { array } => write!(
                f,
                "`{array}` has at most 2^32 elements, as its subscripts are `unsigned` in C; else {ELSE}"
            ),
            Assumption::Aligned { array, bytes } => write!(
                f,
                "`{array}` begins at a multiple of {bytes} bytes, as memory from cudaMalloc does; elsewhere {ELSE}"
            ),
            Assumption::Extent { array, elements } => {
                let plural = if elements == "1" { "" } else { "s" };
                write!(f, "`{array}` has {elements} element{plural}, from its accesses")
            }
            Assumption::NoNan { variable } => write!(
                f,
                "values that `{variable}` is chosen from are no NaN: C keeps the value after the last one, in its order"
            ),
            Assumption::FiniteParts { variable } => write!(
                f,
                "what `{variable}` was before it is multiplied by zero, or begins anew, is neither infinite nor NaN; nor is it where a product of its \
                 coefficients rounds to zero"
            ),
            Assumption::Synchronises => f.write_str(
                "the launcher may wait: it synchronises the stream wherever the values that the device computes decide how it goes on",
            ),
            Assumption::LoopRange { asked } => {
                f.write_str("parallel loops that begin below zero or at a variable have less than 2^31 iterations")?;
                if *asked { write!(f, "; else {ELSE}") } else { Ok(()) }
            }
        }
    }
}

/// Whether iterations of some loop are independent by the user's word alone: two of them may then write one value to one
/// element.
pub fn trusts_marks(assumptions: &[Assumption]) -> bool {
    assumptions.iter().any(|a| matches!(a, Assumption::Independent { .. }))
}
