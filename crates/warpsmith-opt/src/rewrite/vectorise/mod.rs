//! Moves neighbouring elements together, as `float4`, `double2` and their like.
//!
//! ```text
//!     for tj in 0..8 { j = j_block + threadIdx.x + tj * BX;   acc[tj] += a * B_shared[k][j - j_block] }
//!       ==> vectorise j by 4
//!     for tj in 0..8 step 4 { four = (float4 at) B_shared[k][4 * threadIdx.x + tj * BX]; b[tj] = four.x; … }
//!     for tj in 0..8 { acc[tj] += a * b[tj] }
//! ```
//!
//! Of a register-tiled loop, a thread's iterations come in groups of neighbours, and what the body reads of shared memory
//! or accesses of global arrays along them is one access a group where it is aligned. Of a staged array (`vectorise B by
//! 4`), the copy to shared memory moves so many elements at a time.
//!
//! Groups of a loop are always legal, since iterations are independent; the threads' iterations must be a multiple of
//! the group. An access in global memory becomes a vector only where the array's address, the length of its rows, and the
//! first and last iteration are known to be multiples: `specialise m%4=0, C%16=0` makes a kernel that knows it, and the
//! launcher asks. The copy of a staged array is refused without that.

pub(crate) mod group_ends;
pub(crate) mod row_ends;
pub(crate) mod vectors;

use std::fmt;
use warpsmith_ir::{LoopId, SourceMap};

use super::question::conditions;
use super::question::conditions::{bound_nest, check_tiles};
use super::step::grammar::{counted, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, stage};
use crate::kernel::{Kernel, Nest, Stage};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A loop, or a staged array.
    pub target: String,
    /// Elements of a vector.
    pub width: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.target, self.width)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "vectorise",
        example: "vectorise j by 4",
        does: "lets a thread's iterations come in groups of neighbours whose elements it accesses together, or (`vectorise B by 4`) copies a staged array in vectors",
        legal: "the thread's iterations are a multiple of the group; global arrays need a kernel that knows their alignment, from `specialise m%4=0, C%16=0`",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nspecialise n%4=0, x%16=0\nregister_tile i by 4\nvectorise i by 4",
            after: "\
void scale(int n, float *x) {
    // a kernel that knows these sizes; the general one takes the rest
    if (n % 4 == 0 && (unsigned long long)x % 16 == 0) {
        // a thread computes 4 iterations of `i`
        // 4 neighbours of `i` together
        // threads of the grid along x, 256 a block
        for (int i = 0; i < n; ++i) {
            x[i] = 2.0f * x[i];
        }
    } else {
        // threads of the grid along x, 256 a block
        for (int i = 0; i < n; ++i) {
            x[i] = 2.0f * x[i];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        (name, counted("by", "`by` and the elements of a vector are wanted here"))
            .map(|(target, width)| Args { target, width })
            .parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        // The names of loops come first.
        let legal = match loop_named(kernel, &self.target) {
            Ok(id) => check(kernel, id, self.width)?,
            Err(_) => check_array(kernel, &self.target, self.width)?,
        };
        Ok(apply(legal))
    }
}

/// The verdict on a `vectorise`, which alone allows it.
pub struct LegalVectorise<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    what: What,
    width: u32,
}

enum What {
    Loop(LoopId),
    /// The place of the stage in the nest's list.
    Copy(Vec<usize>),
}

/// Asks whether a thread's iterations of the loop can come in groups of `width` neighbours.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, width: u32) -> Result<LegalVectorise<'_>, Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop("vectorise", target, why));
    if !matches!(width, 2 | 4) {
        return refuse(format!("vectors have 2 or 4 elements, not {width}"));
    }
    if let Some((root, nest)) = kernel.nests.iter().find(|(_, n)| n.shared_loop(target).is_some()) {
        let Some(l) = kernel.find_loop(target) else { return refuse("it is gone".into()) };
        if !nest.multiples.whole_groups(l, width) {
            return refuse(format!(
                "where it begins and ends is not known to be a multiple of {width}: take `specialise` with its bounds first"
            ));
        }
        if walk::continues(&l.body).is_some() {
            return refuse("an iteration may end early".into());
        }
        if nest.staged_at(target).next().is_some() {
            return refuse("threads share its strips, one iteration at a time".into());
        }
        return Ok(LegalVectorise { kernel, root: *root, what: What::Loop(target), width });
    }
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles(kernel, root, nest)?;
    if nest.streams.values().any(|along| *along == target) {
        return refuse(
            "all of a thread's iterations of it are neighbours already, for a stream".into(),
        );
    }
    let factor = nest.tiles.get(&target).copied().unwrap_or(1);
    if !factor.is_multiple_of(width) {
        return refuse(format!(
            "a thread has {factor} of its iterations, no multiple of {width}: take `register_tile` first"
        ));
    }
    if conditions::writes_back(kernel, root, nest) {
        return refuse("what the block writes goes back one element at a time".into());
    }
    Ok(LegalVectorise { kernel, root, what: What::Loop(target), width })
}

/// Asks whether the staged array `name` can be copied `width` elements at a time.
///
/// # Errors
/// The first reason why not.
pub fn check_array<'k>(
    kernel: &'k Kernel,
    name: &str,
    width: u32,
) -> Result<LegalVectorise<'k>, Refusal> {
    let refuse = |why: String| Err(Refusal::CannotVectorise { name: name.into(), why });
    if !matches!(width, 2 | 4) {
        return refuse(format!("vectors have 2 or 4 elements, not {width}"));
    }
    let named = stage::named(kernel, name);
    let called = |s: &Stage| {
        named.is_some_and(|(array, part)| s.array == array && part.is_none_or(|p| p == s.part))
    };
    let at = |n: &Nest| -> Vec<usize> {
        (0..n.stages.len()).filter(|k| called(&n.stages[*k])).collect()
    };
    let found = kernel.nests.iter().map(|(root, nest)| (*root, nest, at(nest)));
    let mut found: Vec<_> = found.filter(|(_, _, at)| !at.is_empty()).collect();
    // Several nests may stage the array: each has its turn.
    found.sort_by_key(|(_, nest, at)| at.iter().all(|k| nest.stages[*k].vector == width));
    let Some((root, nest, at)) = found.into_iter().next() else {
        return refuse("no loop and no staged array has this name: `stage` the array first".into());
    };
    let mut copied = nest.clone();
    at.iter().for_each(|k| copied.stages[*k].vector = width);
    conditions::check(kernel, root, &copied)?;
    Ok(LegalVectorise { kernel, root, what: What::Copy(at), width })
}

/// Notes the groups or the width; the nest is written out when it is lowered.
pub fn apply(legal: LegalVectorise<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let shared = match (&legal.what, kernel.nests.get(&legal.root)) {
        (What::Loop(id), Some(nest)) if nest.shared_loop(*id).is_some() => nest.team.as_ref(),
        _ => None,
    };
    // From here on a thread has more than one group of iterations.
    let turn = shared.map(|team| team.threads * legal.width);
    kernel.numbers.extend(turn);
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        match legal.what {
            What::Loop(id) => _ = nest.vectors.insert(id, legal.width),
            What::Copy(at) => at.iter().for_each(|k| nest.stages[*k].vector = legal.width),
        }
    }
    Rewritten::same_loops(kernel)
}
