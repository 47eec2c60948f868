//! Binds parallel loops to the threads of a grid.
//!
//! ```text
//!     parallel for i in I { parallel for j in J { S(i, j) } }
//!       ==> bind i, j -> y, x block 32x8
//!     i = blockIdx.y * blockDim.y + threadIdx.y; j = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i in I && j in J) S(i, j)
//! ```
//!
//! Legal when the loops are nested one directly in the other, the first is not inside another parallel loop other than
//! such a nest, their iterations are independent (a mark is believed where analysis can neither prove nor refute it, and
//! that is recorded), no bound depends on the counter of another loop of the list or of the nest around it, nothing leaves them early, and the block has at
//! most 1024 threads, at most 64 along z.

pub(crate) mod counter;
pub(crate) mod plain;

use std::fmt;
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Binding, LoopId, LoopKind, Parallel, SourceMap, StmtKind,
};

use super::Rewritten;
use super::question::independence;
use super::question::independence::Findings;
use super::step::grammar::{axis, by_x, comma, name, number, wanted};
use super::step::{About, Law, Rewrite, StepError, loops_named};
use crate::analysis::loops;
use crate::assumption::Assumption;
use crate::kernel::{Kernel, Nest, is_marked, only_loop};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::{space0, space1};
use winnow::combinator::{opt, preceded, separated};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// Outermost first.
    pub loops: Vec<String>,
    /// As many as loops, all different.
    pub axes: Vec<Axis>,
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<&str> = self.axes.iter().map(|a| a.name()).collect();
        write!(f, "{} -> {} block ", self.loops.join(", "), axes.join(", "))?;
        let used = self.axes.iter().map(|a| a.index() + 1).max().unwrap_or(1);
        write!(f, "{}", by_x(&self.block[..used]))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "bind",
        example: "bind i, j -> y, x block 32x8",
        does: "gives the iterations of parallel loops to the threads of a grid, in blocks of these extents along x, y, z",
        legal: "the loops are nested one directly in the other, their iterations are independent, and a block has at most 1024 threads",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256",
            after: "\
void scale(int n, float *x) {
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let loops: Vec<String> = separated(1..=3, name, comma()).parse_next(input)?;
        (space0, "->", space0)
            .context(wanted("`->` and the axes are wanted here"))
            .parse_next(input)?;
        let mut axes: Vec<Axis> = vec![];
        for k in 0..loops.len() {
            if k > 0 {
                comma().context(wanted("as many axes as loops are wanted")).parse_next(input)?;
            }
            let next = axis
                .verify(|a| !axes.contains(a))
                .context(wanted("another axis is wanted here"))
                .parse_next(input)?;
            axes.push(next);
        }
        let sizes: Vec<u32> =
            preceded((space1, opt(("block", space1))), separated(1..=3, number, 'x'))
                .verify(|sizes: &Vec<u32>| axes.iter().all(|a| a.index() < sizes.len()))
                .context(wanted(threads_wanted(&axes)))
                .parse_next(input)?;
        let mut block = [1u32; 3];
        block.iter_mut().zip(&sizes).for_each(|(b, s)| *b = *s);
        Ok(Args { loops, axes, block })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        let pairs: Vec<_> =
            loops_named(kernel, &self.loops)?.into_iter().zip(self.axes.iter().copied()).collect();
        Ok(apply(check(kernel, &pairs, self.block)?, sources))
    }
}

/// What is wanted behind the axes: a number for each up to the last one.
fn threads_wanted(axes: &[Axis]) -> &'static str {
    match axes.iter().map(|a| a.index()).max() {
        Some(2) => "the threads of a block along x, y and z, as in `block 32x4x1`, are wanted here",
        Some(1) => "the threads of a block along x and y, as in `block 32x4`, are wanted here",
        _ => "the threads of a block, as in `block 128`, are wanted here",
    }
}

/// The verdict on a `bind`, which alone allows it.
pub struct LegalBind<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    nest: Nest,
    /// The list of assumptions and warnings to record.
    findings: Vec<(LoopId, Findings)>,
}

/// Asks whether the loops, outermost first, can be bound to the axes with blocks of `block` (x, y, z) threads.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(
    kernel: &'k Kernel,
    axes: &[(LoopId, Axis)],
    block: [u32; 3],
) -> Result<LegalBind<'k>, Refusal> {
    check_block(block)?;
    let idle = |axis: &Axis| block[axis.index()] > 1 && axes.iter().all(|(_, a)| a != axis);
    if let Some(axis) = Axis::ALL.into_iter().find(idle) {
        return Err(Refusal::IdleThreads { threads: block[axis.index()], axis });
    }
    let loops: Vec<LoopId> = axes.iter().map(|a| a.0).collect();
    check_nested(kernel, &loops)?;
    let root = check_outermost(kernel, loops.first().copied())?;
    let (group, clauses) = independence::group_of(kernel, root);
    if let (Some(r), Some(first)) = (clauses.reductions.first(), loops.first()) {
        return Err(Refusal::HasReduction { loop_id: *first, var: r.var });
    }
    let mut findings = vec![];
    for id in &loops {
        check_step(kernel, *id)?;
        findings.push((*id, check_loop(kernel, *id, &group, &clauses)?));
    }
    check_bounds(kernel, root, &loops)?;
    let nest = Nest::bound(axes.to_vec(), block, clauses);
    Ok(LegalBind { kernel, root, nest, findings })
}

/// Binds the loops.
pub fn apply(legal: LegalBind<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    record(&mut kernel, legal.findings, sources);
    for (id, axis) in &legal.nest.axes {
        let extent = legal.nest.block[axis.index()];
        let binding = Binding { level: BindLevel::Thread, axis: *axis, extent: Some(extent) };
        set_kind(&mut kernel, *id, LoopKind::Bound(binding));
    }
    kernel.nests.insert(legal.root, legal.nest);
    Rewritten::same_loops(kernel)
}

/// Writes down what a check took on trust.
pub(super) fn record(kernel: &mut Kernel, findings: Vec<(LoopId, Findings)>, sources: &SourceMap) {
    for (id, found) in findings {
        let line = independence::line_of(kernel, id, sources);
        for required in found.requires {
            if !kernel.requires.contains(&required) {
                kernel.requires.push(required);
            }
        }
        for reason in found.unproved {
            kernel.assume(Assumption::Independent { line: line.clone(), reason });
        }
        for warning in found.warnings {
            if !kernel.notes.contains(&warning) {
                kernel.notes.push(warning);
            }
        }
    }
}

pub(super) fn set_kind(kernel: &mut Kernel, id: LoopId, kind: LoopKind) {
    walk::with_loop(&mut kernel.func_mut().body, id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.kind = kind.clone();
        }
    });
}

pub(super) fn check_block(block: [u32; 3]) -> Result<(), Refusal> {
    let limits = [1024, 1024, 64];
    for axis in Axis::ALL {
        let size = block[axis.index()];
        if size == 0 || size > limits[axis.index()] {
            return Err(Refusal::BlockTooLarge { threads: size.into(), axis: Some(axis) });
        }
    }
    let threads: u64 = block.iter().map(|b| u64::from(*b)).product();
    match threads > 1024 {
        true => Err(Refusal::BlockTooLarge { threads, axis: None }),
        false => Ok(()),
    }
}

fn check_nested(kernel: &Kernel, loops: &[LoopId]) -> Result<(), Refusal> {
    for pair in loops.windows(2) {
        let [outer, inner] = pair else { continue };
        let inside = kernel.find_loop(*outer).and_then(|l| only_loop(&l.body));
        if inside.is_none_or(|l| l.id != *inner) {
            return Err(Refusal::NotNested { outer: *outer, inner: *inner });
        }
    }
    Ok(())
}

/// The outermost loop of the nest a loop belongs to; refused when it stands inside a parallel loop with other
/// statements beside it, in a nest that is bound, or around one.
pub(super) fn check_outermost(kernel: &Kernel, first: Option<LoopId>) -> Result<LoopId, Refusal> {
    let Some(first) = first else { return Ok(LoopId(u32::MAX)) };
    let bound = |id: LoopId| {
        let l = kernel.find_loop(id);
        l.is_some_and(|l| matches!(l.kind, LoopKind::Bound(_))) || kernel.nests.contains_key(&id)
    };
    if bound(first) {
        return Err(Refusal::AlreadyBound { loop_id: first });
    }
    let around = kernel.loops_around(first);
    if let Some(outer) = around.iter().find(|l| bound(l.id)) {
        return Err(Refusal::AlreadyBound { loop_id: outer.id });
    }
    let inside = |id: &&LoopId| {
        kernel.find_loop(first).is_some_and(|l| walk::find_loop(&l.body, **id).is_some())
    };
    if let Some(inner) = kernel.nests.keys().find(inside) {
        return Err(Refusal::AlreadyBound { loop_id: *inner });
    }
    let root = around.iter().find(|l| is_marked(l)).map_or(first, |l| l.id);
    match root == first || chain(kernel, root).contains(&first) {
        true => Ok(root),
        false => Err(Refusal::NotOutermost { loop_id: first }),
    }
}

/// The loops of the perfect nest from `root` inward, marked or not.
fn chain(kernel: &Kernel, root: LoopId) -> Vec<LoopId> {
    std::iter::successors(kernel.find_loop(root), |l| only_loop(&l.body)).map(|l| l.id).collect()
}

fn check_loop(
    kernel: &Kernel,
    id: LoopId,
    group: &[LoopId],
    clauses: &Parallel,
) -> Result<Findings, Refusal> {
    let Some(l) = kernel.find_loop(id) else { return Ok(Findings::default()) };
    if is_marked(l) {
        return independence::check(kernel, id, group, clauses);
    }
    // Without a mark only a proof will do.
    let findings = match independence::check(kernel, id, group, clauses) {
        Ok(findings) => findings,
        Err(Refusal::Undecided(u)) => {
            return Err(Refusal::NotParallel { loop_id: id, reasons: vec![u.reason] });
        }
        Err(Refusal::Carried(_) | Refusal::SharedVariable { .. }) => {
            let reasons = vec!["two of its iterations touch the same element or variable".into()];
            return Err(Refusal::NotParallel { loop_id: id, reasons });
        }
        Err(other) => return Err(other),
    };
    if findings.proved() {
        return Ok(findings);
    }
    let conditions = findings
        .requires
        .iter()
        .map(|r| format!("its iterations are independent only where {}", r.text(kernel.func())));
    let reasons = findings.unproved.iter().cloned().chain(conditions).collect();
    Err(Refusal::NotParallel { loop_id: id, reasons })
}

pub(super) fn check_step(kernel: &Kernel, id: LoopId) -> Result<(), Refusal> {
    let Some(l) = kernel.find_loop(id) else { return Ok(()) };
    let unknown = l.compare == BinaryOp::Ne && l.step.as_const().is_none();
    if unknown { Err(Refusal::UnknownStep { loop_id: id }) } else { Ok(()) }
}

/// The grid is as large for every iteration of the nest's loops around, those that each thread runs included.
fn check_bounds(kernel: &Kernel, root: LoopId, loops: &[LoopId]) -> Result<(), Refusal> {
    let nested = chain(kernel, root).into_iter();
    let mut around: Vec<LoopId> = nested.take_while(|id| !loops.contains(id)).collect();
    let outside = around.len();
    around.extend(loops);
    for (k, inner) in around.iter().enumerate().skip(outside) {
        for outer in &around[..k] {
            if !loops::bounds_independent(kernel, *inner, *outer) {
                return Err(Refusal::DependentBounds { outer: *outer, inner: *inner });
            }
        }
    }
    Ok(())
}
