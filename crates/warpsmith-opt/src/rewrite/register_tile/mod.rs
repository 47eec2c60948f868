//! Gives each thread several iterations of a bound loop (AutoGPU's *unrolling of parallel loops*).
//!
//! ```text
//!     i = i_block + threadIdx.y;                    S(i)
//!       ==> register_tile i by 4
//!     for ti in 0..4 { i = i_block + threadIdx.y + ti * BY;    S(i) }
//! ```
//!
//! A block then computes four times as many iterations, which lie a block's width apart, so that neighbouring threads
//! still have neighbouring elements. The loop over `ti` goes around every statement that depends on `i`, inside of the
//! serial loops, and is unrolled; every variable that depends on `i` becomes an array with one element for each `ti`,
//! which the compiler keeps in registers.
//!
//! Legal where the loop is bound with step 1, nothing leaves an iteration early (the iterations are independent, so that
//! their statements may be interleaved), and what the larger block copies still fits in shared memory.

pub(crate) mod excess;
pub(crate) mod expansion;
pub(crate) mod fragments;
pub(crate) mod tile;
pub(crate) mod tiled;
pub(crate) mod together;
pub(crate) mod unset;
pub(crate) mod updates;

use std::fmt;
use warpsmith_ir::{
    Block, ExprKind, ForLoop, LoopId, Origin, PlaceKind, SourceMap, Stmt, StmtKind, Type, visit,
};

use super::grammar::{counted, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, independence, share, stage};
use crate::analysis::loops;
use crate::analysis::loops::{outer_loops, unit_step};
use crate::kernel::{Kernel, Nest, Order};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A bound loop.
    pub target: String,
    /// Iterations of a thread.
    pub factor: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.target, self.factor)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "register_tile",
        example: "register_tile i by 4",
        does: "gives each thread several iterations of a bound loop",
        legal: "the loop counts up by one and nothing leaves an iteration early",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nregister_tile i by 4",
            after: "\
void scale(int n, float *x) {
    // a thread computes 4 iterations of `i`
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        (name, counted("by", "`by` and the iterations of a thread are wanted here"))
            .map(|(target, factor)| Args { target, factor })
            .parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.factor)?))
    }
}

/// More iterations than this a thread cannot keep in registers.
const MOST: u32 = 64;

/// The verdict on a `register_tile`, which alone allows it.
pub struct LegalRegisterTile<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    target: LoopId,
    factor: u32,
}

/// Asks whether each thread can compute `factor` iterations of the loop.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    target: LoopId,
    factor: u32,
) -> Result<LegalRegisterTile<'_>, Refusal> {
    if !(2..=MOST).contains(&factor) {
        return Err(Refusal::TileFactor { loop_id: target, factor, most: MOST });
    }
    let (root, nest) = bound_nest(kernel, target)?;
    check_tiles_or_updates(kernel, root, nest)?;
    let others = nest.tiles.iter().filter(|(id, _)| **id != target);
    let all = others.fold(u64::from(factor), |n, (_, f)| n * u64::from(*f));
    if all > 256 {
        let factor = u32::try_from(all).unwrap_or(u32::MAX);
        return Err(Refusal::TileFactor { loop_id: target, factor, most: 256 });
    }
    if let Some(width) = nest.vectors.get(&target).filter(|w| !factor.is_multiple_of(**w)) {
        let why =
            format!("its iterations come in groups of {width}, of which {factor} is no multiple");
        return Err(Refusal::LoopRefused { verb: "tile", loop_id: target, why });
    }
    let mut tiled = nest.clone();
    tiled.tiles.insert(target, factor);
    stage::check_all(kernel, root, &tiled)?;
    share::check_tile(kernel, target, &tiled)?;
    Ok(LegalRegisterTile { kernel, root, target, factor })
}

/// Notes the tile; the nest is written out when it is lowered.
pub fn apply(legal: LegalRegisterTile<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.tiles.insert(legal.target, legal.factor);
    }
    Rewritten::same_loops(kernel)
}

/// The nest in which a loop is bound.
pub(super) fn bound_nest(kernel: &Kernel, id: LoopId) -> Result<(LoopId, &Nest), Refusal> {
    let found = kernel.nests.iter().find(|(_, n)| n.axes.iter().any(|(l, _)| *l == id));
    match found {
        Some((root, nest)) if nest.reduce.is_none() => Ok((*root, nest)),
        Some((_, nest)) => {
            let var = nest.clauses.reductions.first().map(|r| r.var);
            Err(match var {
                Some(var) => Refusal::HasReduction { loop_id: id, var },
                None => Refusal::NotBound { loop_id: id },
            })
        }
        None => Err(Refusal::NotBound { loop_id: id }),
    }
}

/// Where a block uses a structure, or a field of one.
pub(super) fn structure(body: &Block) -> Option<Origin> {
    let mut found = None;
    visit::for_each_place(body, &mut |place, _| {
        let field = matches!(&*place.kind, PlaceKind::Field(..));
        if found.is_none() && (field || matches!(place.ty.innermost(), Type::Struct(_))) {
            found = Some(place.origin.clone());
        }
    });
    found
}

/// Whether a nest can be computed tile by tile at all.
pub(super) fn check_tiles(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    check_tiles_of(kernel, root, nest, |_| false)
}

/// The same for a step that knows what to do with atomic updates whose results nobody looks at.
pub(super) fn check_tiles_or_updates(
    kernel: &Kernel,
    root: LoopId,
    nest: &Nest,
) -> Result<(), Refusal> {
    check_tiles_of(kernel, root, nest, |s| {
        let plain = matches!(s.kind, StmtKind::Atomic { compare: None, result: None, .. });
        plain && walk::changed(s).is_some_and(|p| p.root_var().is_none())
    })
}

fn check_tiles_of(
    kernel: &Kernel,
    root: LoopId,
    nest: &Nest,
    allowed: impl Fn(&Stmt) -> bool,
) -> Result<(), Refusal> {
    let refuse = |why: &str, at: Option<&Stmt>| {
        let at = at.map(|s| s.origin.clone());
        Err(Refusal::NotTiled { loop_id: root, why: why.into(), at: Box::new(at) })
    };
    if kernel.is_copying(nest) {
        return refuse("an earlier step made it, to copy an array", None);
    }
    if nest.order == Order::Strides {
        return refuse("its threads go through it in strides of the grid", None);
    }
    if !nest.clauses.last_private.is_empty() {
        return refuse("it has a `lastprivate` clause", None);
    }
    let loops: Vec<&ForLoop> =
        nest.axes.iter().filter_map(|(id, _)| kernel.find_loop(*id)).collect();
    check_outer(kernel, root, nest)?;
    if let Some(l) = loops.iter().find(|l| !unit_step(l)) {
        let name = kernel.loop_name(l.id);
        return refuse(&format!("loop `{name}` does not count up by one"), None);
    }
    let Some(body) = loops.last().map(|l| &l.body) else { return Ok(()) };
    if let Some(stmt) = ends_early(body) {
        return refuse("an iteration ends early", Some(stmt));
    }
    if let Some(at) = structure(body) {
        let at = Some(at).filter(|o| o.span.is_some());
        let why = "it works on structures, whose fields are not told apart here".into();
        return Err(Refusal::NotTiled { loop_id: root, why, at: Box::new(at) });
    }
    let mut odd = None;
    walk::each_stmt(body, &mut |s| {
        let mut bad = matches!(
            s.kind,
            StmtKind::Atomic { .. }
                | StmtKind::Warp { .. }
                | StmtKind::Barrier { .. }
                | StmtKind::Printf { .. }
        );
        for e in walk::operands(s).reads {
            walk::each_expr(e, &mut |e| {
                bad |= matches!(&*e.kind, ExprKind::AddressOf(p) if p.root_var().is_some());
            });
        }
        if bad && !allowed(s) && odd.is_none() {
            odd = Some(s);
        }
    });
    match odd {
        Some(stmt) => refuse("a statement works on more than this iteration's values", Some(stmt)),
        None => Ok(()),
    }
}

/// The outer loops can be shared among blocks.
fn check_outer(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    let outer = outer_loops(kernel, root, nest);
    let (group, clauses) = independence::group_of(kernel, root);
    for (k, l) in outer.iter().enumerate() {
        let name = kernel.loop_name(l.id);
        let refuse =
            |why: String| Err(Refusal::NotTiled { loop_id: root, why, at: Box::default() });
        if !unit_step(l) {
            return refuse(format!("loop `{name}` does not count up by one"));
        }
        if !independence::check(kernel, l.id, &group, &clauses)?.proved() {
            return refuse(format!(
                "iterations of its outer loop `{name}` are not proved independent"
            ));
        }
        let inner = outer[k + 1..].iter().map(|l| l.id).chain(nest.axes.iter().map(|(id, _)| *id));
        for inner in inner {
            if !loops::bounds_independent(kernel, inner, l.id) {
                return Err(Refusal::DependentBounds { outer: l.id, inner });
            }
        }
    }
    Ok(())
}

/// A `continue` that ends the iteration, or anything that leaves it.
fn ends_early(body: &warpsmith_ir::Block) -> Option<&Stmt> {
    walk::leaves(body).or_else(|| walk::continues(body))
}
