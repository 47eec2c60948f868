//! Copies what a block reads of an array to shared memory first.
//!
//! ```text
//!     for k in K { … A[i][k] … }
//!       ==> stage A at k tile 16
//!     for k_block in K step 16 {
//!         barrier; all threads copy A[i_block …][k_block …] to A_shared; barrier
//!         for k in k_block … min(k_block + 16, end of K) { … A_shared[i - i_block][k - k_block] … }
//!     }
//! ```
//!
//! With a loop (AutoGPU's case) the loop is cut into strips and each strip has its own copy; without one (`stage u`) all
//! that the block reads is copied once. Reads of several threads that overlap (stencils, convolutions) are one copy with
//! a halo. `pad n` adds unused elements to each row, `transposed` swaps the last two dimensions, `turned` puts the first one
//! last (the results among the weights of a convolution), `swizzled` permutes the columns of each row (see [`crate::analysis::swizzle`]). `async` copies past the registers, by `cp.async`, so that a thread has all
//! its elements on their way at once.
//!
//! Reads that differ by more than a constant (`A[i][k] * A[j][k]`) have copies of their own: `stage A` makes one for each
//! such group of reads, `stage A#2` that of the second group in source order.
//!
//! An array that the nest writes (rows of running sums) is written in shared memory, and the block copies it back after each strip; it is filled
//! before, unless all of it is written and nothing read before. What one iteration of a bound loop accesses then lies between its
//! first element and that of the next one, by one group of subscripts in the strip loop.
//!
//! Reads under conditions (windows at the edges of an image) are those of elements all the same: of a box that may reach
//! past the array, what lies in it is copied.
//!
//! Legal where every subscript of every access is a sum of counters with constant
//! factors; the counters are those of the bound loops, of the strip loop, of serial loops around it, or
//! of loops with constant bounds; the loop is run by all threads of the block alike; and the copies fit in
//! the shared memory of a block. What exceeds 48 KB is dynamic shared memory, which the launcher asks for.

pub(crate) mod copied;
pub(crate) mod copies;
pub(crate) mod elements;
pub(crate) mod shared;
pub(crate) mod strips;
pub(crate) mod transfer;

use std::fmt;
use warpsmith_ir::{DimOrder, Layout, LoopId, SourceMap, VarId};

use super::Rewritten;
use super::question::conditions;
use super::question::conditions::{check_tiles, footprint_of};
use super::step::grammar::{name, number, wanted};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use crate::analysis::access::Scope;
use crate::analysis::footprint::groups;
use crate::analysis::footprint::{Dim, Group};
use crate::kernel::{Kernel, Nest, Stage};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{alt, cut_err, opt, preceded};
use winnow::stream::Stream;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The array; `A#2` is the second group of its reads.
    pub array: String,
    /// A serial loop and the iterations of a strip; else all that a block reads.
    pub strip: Option<(String, u32)>,
    /// How rows lie in shared memory.
    pub layout: Layout,
    /// By `cp.async`.
    pub asynchronous: bool,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.array)?;
        if let Some((name, tile)) = &self.strip {
            write!(f, " at {name} tile {tile}")?;
        }
        if self.layout.pad > 0 {
            write!(f, " pad {}", self.layout.pad)?;
        }
        if self.layout.order != DimOrder::Straight {
            write!(f, " {}", self.layout.order.word())?;
        }
        f.write_str(if self.layout.swizzled { " swizzled" } else { "" })?;
        f.write_str(if self.asynchronous { " async" } else { "" })
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "stage",
        example: "stage A at k tile 16 pad 1",
        does: "copies what a block reads of an array to shared memory, in strips of a serial loop or all at once, with padding, `transposed`, `turned` (the first dimension last), or `swizzled` (columns permuted from row to row, against bank conflicts); all at once also `async`, by `cp.async`; reads that differ by more than a constant have copies of their own, of which `stage A#2` makes the second",
        legal: "its subscripts are sums of counters, an array that the nest writes is accessed by blocks that have nothing of it in common and is copied back, and the copies fit in the shared memory that the architecture gives a block; to swizzle, rows have a power of two of elements and no padding",
        law: Law {
            before: "\
void product(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
}
",
            steps: "bind i, j -> y, x block 16x16\nstage A at k tile 16",
            after: "\
void product(int n, const float *A, const float *B, float *C) {
    // `A` goes through shared memory in strips of 16 iterations of `k`
    // threads of the grid along y, 16 a block
    for (int i = 0; i < n; ++i) {
        // threads of the grid along x, 16 a block
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k) {
                sum += A[(size_t)i * n + k] * B[(size_t)k * n + j];
            }
            C[(size_t)i * n + j] = sum;
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let array = name.parse_next(input)?;
        let strip = opt((
            preceded((space1, "at", space1), cut_err(name)),
            cut_err(preceded((space1, "tile", space1), number))
                .context(wanted("`tile` and the iterations of a strip are wanted here")),
        ))
        .parse_next(input)?;
        let mut args = Args { array, strip, layout: Layout::default(), asynchronous: false };
        let mut given = vec![];
        loop {
            let before = input.checkpoint();
            let words = alt(("pad", "transposed", "turned", "swizzled", "async"));
            let Some(word) = opt(preceded(space1, words)).parse_next(input)? else { break };
            let ordered = ["transposed", "turned"].contains(&word);
            if given.contains(&word) || (ordered && args.layout.order != DimOrder::Straight) {
                // Twice the same, or two orders: not understood from here on.
                input.reset(&before);
                break;
            }
            given.push(word);
            match word {
                "pad" => args.layout.pad = cut_err(preceded(space1, number)).parse_next(input)?,
                "transposed" => args.layout.order = DimOrder::Transposed,
                "turned" => args.layout.order = DimOrder::Turned,
                "swizzled" => args.layout.swizzled = true,
                _ => args.asynchronous = true,
            }
        }
        Ok(args)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let strip = match &self.strip {
            Some((name, tile)) => Some((loop_named(kernel, name)?, *tile)),
            None => None,
        };
        Ok(apply(check(kernel, &self.array, strip, self.layout, self.asynchronous)?))
    }
}

/// The verdict on a `stage`, which alone allows it.
pub struct LegalStage<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    /// One for each group of reads.
    stages: Vec<Stage>,
    /// The array has other groups of reads.
    several: bool,
}

impl LegalStage<'_> {
    /// What the copies are called in later steps.
    pub fn names(&self) -> Vec<String> {
        self.stages.iter().map(|s| self.name(s)).collect()
    }

    /// The names of the copies with such rows.
    pub fn names_where(&self, wanted: impl Fn(&Dim) -> bool) -> Vec<String> {
        let Some(nest) = self.kernel.nests.get(&self.root) else { return vec![] };
        let has = |s: &&Stage| {
            let footprint = footprint_of(self.kernel, self.root, nest, s);
            footprint.is_ok_and(|f| f.dims.last().is_some_and(&wanted))
        };
        self.stages.iter().filter(has).map(|s| self.name(s)).collect()
    }

    fn name(&self, s: &Stage) -> String {
        match self.several {
            true => format!("{}#{}", self.kernel.name_of(s.array), s.part + 1),
            false => self.kernel.name_of(s.array).to_string(),
        }
    }
}

/// The array parameter of a name, and the group of its reads where the name says which: `A`, `A#2`.
pub(crate) fn named(kernel: &Kernel, name: &str) -> Option<(VarId, Option<usize>)> {
    let (array, part) = match name.split_once('#') {
        Some((array, part)) => (array, Some(part.parse::<usize>().ok()?.checked_sub(1)?)),
        None => (name, None),
    };
    let function = kernel.func();
    let mut arrays = function.params.iter().filter(|v| function.var(**v).ty.is_pointer());
    let found = arrays.find(|v| function.var(**v).name == array)?;
    Some((*found, part))
}

/// Asks whether the array `name` can be staged; `strip`: the serial loop to cut and the iterations of a strip;
/// `asynchronous`: by `cp.async`.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(
    kernel: &'k Kernel,
    name: &str,
    strip: Option<(LoopId, u32)>,
    layout: Layout,
    asynchronous: bool,
) -> Result<LegalStage<'k>, Refusal> {
    let refuse =
        |why: String| Err(Refusal::CannotStage { name: name.into(), why, at: Box::default() });
    let Some((array, part)) = named(kernel, name) else {
        return refuse("the function has no array parameter of this name".into());
    };
    let Some((root, nest)) = nest_of(kernel, array, strip.map(|s| s.0)) else {
        return refuse("no bound nest reads it there: bind its loops first".into());
    };
    check_tiles(kernel, root, nest)?;
    let element = kernel.func().var(array).ty.pointee().map(warpsmith_ir::Type::innermost);
    if matches!(element, Some(warpsmith_ir::Type::Struct(_))) {
        return refuse("its elements are structures".into());
    }
    let Some(l) = kernel.find_loop(root) else { return refuse("its nest is gone".into()) };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let groups = groups(&scope, &scope.accesses(), array);
    let Some(parts) = parts(kernel, &groups, part, strip) else {
        return match groups.len() {
            1 => refuse("all its reads are alike".into()),
            n => refuse(format!("it has {n} groups of reads that differ by more than a constant")),
        };
    };
    if nest.stages.iter().any(|s| s.array == array && parts.contains(&s.part)) {
        return refuse("it is staged already".into());
    }
    if asynchronous && strip.is_some() {
        return refuse(
            "strips run ahead with `pipeline`: `async` is for copies of all that a block reads"
                .into(),
        );
    }
    // What is copied for the same strips goes the same way.
    let beside = strip.and_then(|(id, _)| nest.staged_at(id).next());
    let (slots, ahead) = beside.map_or((1, false), |s| (s.slots, s.ahead));
    let stage = |part| Stage { array, part, strip, layout, vector: 1, asynchronous, slots, ahead };
    let stages: Vec<Stage> = parts.into_iter().map(stage).collect();
    if let Some(first) = stages.first() {
        conditions::check_strip(kernel, nest, first)?;
    }
    let mut staged = nest.clone();
    staged.stages.extend(stages.iter().cloned());
    conditions::check(kernel, root, &staged)?;
    Ok(LegalStage { kernel, root, stages, several: groups.len() > 1 })
}

/// Notes the copy; it is written out when the nest is lowered.
pub fn apply(legal: LegalStage<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.stages.extend(legal.stages);
    }
    Rewritten::same_loops(kernel)
}

/// The bound nest with the strip loop, or the first that reads the array.
fn nest_of(kernel: &Kernel, array: VarId, strip: Option<LoopId>) -> Option<(LoopId, &Nest)> {
    let reads = |root: LoopId| {
        let mut found = false;
        let body = kernel.find_loop(root).map(|l| &l.body);
        body.inspect(|b| walk::each_var_of_block(b, &mut |v| found |= v == array));
        found
    };
    let within = |root: LoopId| {
        strip.is_none_or(|id| {
            kernel.find_loop(root).is_some_and(|l| walk::find_loop(&l.body, id).is_some())
        })
    };
    let mut nests = kernel.nests.iter().filter(|(_, n)| n.reduce.is_none());
    nests.find(|(root, _)| reads(**root) && within(**root)).map(|(root, nest)| (*root, nest))
}

/// The groups that a step stages: the one it names; all; of several, those that move with the strip.
fn parts(
    kernel: &Kernel,
    groups: &[Group],
    named: Option<usize>,
    strip: Option<(LoopId, u32)>,
) -> Option<Vec<usize>> {
    if let Some(part) = named {
        return (groups.len() > 1 && part < groups.len()).then(|| vec![part]);
    }
    let counter = strip.and_then(|(id, _)| kernel.find_loop(id)).map(|l| l.var);
    let moves = |g: &Group| counter.is_some_and(|v| g.0.iter().any(|p| p.mentions(v)));
    let moving: Vec<usize> = (0..groups.len()).filter(|k| moves(&groups[*k])).collect();
    Some(match moving.is_empty() {
        // Where nothing is read that can be staged, the first footprint says why.
        true => (0..groups.len().max(1)).collect(),
        false => moving,
    })
}
