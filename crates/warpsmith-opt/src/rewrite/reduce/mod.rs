//! Reduces to scalars over a whole nest.
//!
//! ```text
//!     parallel for i in I reduction(op: s) { S(i, s) }
//!       ==> reduce s block 256 grid 256
//!     each thread takes every (256 * 256)-th iteration with an s of its own that starts at the identity of op; a block
//!     combines its threads' values in shared memory and leaves one partial result; a last block combines those and
//!     the value s had before the loop
//! ```
//!
//! With extents along several axes the loops of the nest go to the axes instead, the innermost to x:
//!
//! ```text
//!     parallel for i in I { parallel for j in J reduction(op: s) { S(i, j, s) } }
//!       ==> reduce s block 64x4 grid 8x128
//!     each block takes a run of neighbouring i, its threads every fourth of them, and every (8 * 64)-th j: no number is
//!     divided
//! ```
//!
//! Legal when the nest is the outermost parallel one, and its iterations are independent but for the reduced variables
//! (numbers, of a type that has the operation: whoever reads the clause sees to that). The order of the operations changes: floating-point results are compared with a tolerance.

pub(crate) mod axes;
mod few;
pub(crate) mod partial;

use std::fmt;
use warpsmith_ir::{Axis, BindLevel, Binding, LoopId, LoopKind, SourceMap};

use super::Rewritten;
use super::bind::{self, check_outermost, check_step};
use super::question::independence::{self, Findings};
use super::step::grammar::{by_x, extents, name};
use super::step::{About, Law, Rewrite, StepError};
use crate::analysis::loops::{bounds_independent, reduced_type};
use crate::kernel::{Kernel, Nest, Reduce, STATIC_SHARED};
use crate::refusal::Refusal;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{opt, preceded};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A variable of a clause `reduction`.
    pub var: String,
    /// How threads and blocks share the sum.
    pub shape: Reduce,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.shape.dimensions();
        let Reduce { block, grid } = &self.shape;
        write!(f, "{} block {} grid {}", self.var, by_x(&block[..axes]), by_x(&grid[..axes]))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "reduce",
        example: "reduce s block 256 grid 256",
        does: "spreads a nest that reduces to a scalar over the threads of a block and the blocks of a grid; with more than one thread or block along y or z, as in `reduce s block 128x2 grid 4x32x16`, its loops go to the axes, the innermost to x, else all iterations are numbered",
        legal: "the nest is marked with a reduction of the variable and is otherwise parallel; the threads of a block are a power of two; there are as many loops as axes, and at most three",
        law: Law {
            before: "\
float sum(int n, const float x[n]) {
    float s = 0.0f;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}
",
            steps: "reduce s block 256 grid 528",
            after: "\
float sum(int n, const float *x) {
    float s = 0.0f;

    // 528 blocks of 256 threads combine their values
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        s += x[i];
    }
    return s;
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let var = name.parse_next(input)?;
        let block = opt(preceded((space1, "block", space1), extents)).parse_next(input)?;
        let grid = opt(preceded((space1, "grid", space1), extents)).parse_next(input)?;
        let usual = [256, 1, 1];
        let shape = Reduce { block: block.unwrap_or(usual), grid: grid.unwrap_or(usual) };
        Ok(Args { var, shape })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.var, self.shape)?, sources))
    }
}

/// The verdict on a `reduce`, which alone allows it.
pub struct LegalReduce<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    nest: Nest,
    findings: Vec<(LoopId, Findings)>,
}

/// Asks whether the nest that reduces `var` (and with it all other variables it reduces) can be spread over the grid.
/// `from`: only nests at or after this loop in source order count, for variables reduced several times.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, var: &str, shape: Reduce) -> Result<LegalReduce<'k>, Refusal> {
    check_shape(shape)?;
    let Some(root) = find(kernel, var) else {
        return Err(Refusal::NoReduction { name: var.into() });
    };
    check_outermost(kernel, Some(root))?;
    let (group, clauses) = independence::group_of(kernel, root);
    let types = clauses.reductions.iter().map(|r| reduced_type(&kernel.func().var(r.var).ty));
    let bytes: u64 = types.flatten().map(|ty| ty.scalar().map_or(8, |s| s.bytes().into())).sum();
    if shape.threads() * bytes > STATIC_SHARED.into() {
        return Err(Refusal::ReductionShared { bytes: shape.threads() * bytes });
    }
    let mut findings = vec![];
    for id in &group {
        findings.push((*id, independence::check(kernel, *id, &group, &clauses)?));
        check_step(kernel, *id)?;
    }
    let loops = rectangular_prefix(kernel, &group);
    let axes = match shape.dimensions() {
        1 => loops.into_iter().map(|id| (id, Axis::X)).collect(),
        axes if axes > loops.len() || loops.len() > 3 => {
            return Err(Refusal::ReductionAxes { loop_id: root, loops: loops.len(), axes });
        }
        _ => {
            let innermost_first = loops.iter().rev().zip(Axis::ALL);
            let mut axes: Vec<(LoopId, Axis)> = innermost_first.map(|(id, a)| (*id, a)).collect();
            axes.reverse();
            axes
        }
    };
    let nest = Nest { reduce: Some(shape), ..Nest::bound(axes, shape.block, clauses) };
    Ok(LegalReduce { kernel, root, nest, findings })
}

fn check_shape(shape: Reduce) -> Result<(), Refusal> {
    let threads = shape.threads();
    if !threads.is_power_of_two() || !(32..=1024).contains(&threads) {
        return Err(Refusal::BlockNotPowerOfTwo { threads });
    }
    bind::check_block(shape.block)?;
    let blocks = shape.blocks();
    let tall = shape.grid[1..].iter().any(|b| *b > 65_535);
    match blocks == 0 || blocks > 1 << 16 || tall {
        true => Err(Refusal::ReductionGrid { blocks }),
        false => Ok(()),
    }
}

/// Spreads the nest over the grid.
pub fn apply(legal: LegalReduce<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    bind::record(&mut kernel, legal.findings, sources);
    for (id, axis) in &legal.nest.axes {
        let extent = Some(legal.nest.block[axis.index()]);
        let binding = Binding { level: BindLevel::Thread, axis: *axis, extent };
        bind::set_kind(&mut kernel, *id, LoopKind::Bound(binding));
    }
    kernel.nests.insert(legal.root, legal.nest);
    Rewritten::same_loops(kernel)
}

/// The first outermost marked loop, not bound yet, whose nest reduces the variable.
fn find(kernel: &Kernel, var: &str) -> Option<LoopId> {
    kernel.marked_roots().into_iter().find(|root| {
        let (_, clauses) = independence::group_of(kernel, *root);
        clauses.reductions.iter().any(|r| kernel.name_of(r.var) == var)
    })
}

/// The outer loops of a nest up to the first whose bounds depend on another counter.
pub fn rectangular_prefix(kernel: &Kernel, group: &[LoopId]) -> Vec<LoopId> {
    let mut prefix: Vec<LoopId> = vec![];
    for id in group {
        if !prefix.iter().all(|outer| bounds_independent(kernel, *id, *outer)) {
            break;
        }
        prefix.push(*id);
    }
    prefix
}
