//! What can be done in a nest by itself: which loops can be unrolled or cut into strips, what can be staged, which blocks
//! there are.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{ForLoop, Layout, LoopId, LoopKind, StmtKind, VarId};

use super::StepKind;
use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::analysis::footprint::{Group, groups};
use crate::kernel::Kernel;
use crate::rewrite::{accumulate, bind, stage, unroll};
use crate::walk;

/// Loops with at most this many iterations are unrolled entirely.
const SHORT: i128 = 32;
/// Strips of loops around this many iterations are long.
const LONG_STRIP: i128 = 64;

pub(super) fn serial_loops(kernel: &Kernel, root: LoopId) -> Vec<&ForLoop> {
    let Some(l) = kernel.find_loop(root) else { return vec![] };
    let serial = |l: &&ForLoop| matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_));
    walk::for_loops(&l.body).into_iter().filter(serial).collect()
}

/// `accumulate` for every array that a serial loop adds to.
pub(super) fn accumulated(kernel: &Kernel, root: LoopId) -> Vec<StepKind> {
    let mut names: Vec<String> = vec![];
    let Some(l) = kernel.find_loop(root) else { return vec![] };
    walk::each_stmt(&l.body, &mut |s| {
        if let StmtKind::Assign { place, .. } = &s.kind
            && let Base::Var(v) = crate::analysis::access::base_of(place)
        {
            let name = kernel.name_of(v).to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    });
    names.retain(|name| accumulate::check(kernel, name).is_ok());
    names.into_iter().map(|array| StepKind::Accumulate(accumulate::Args { array })).collect()
}

/// Short loops of constant length, and the loop of a strip, are unrolled.
pub(super) fn unrolled(kernel: &Kernel, root: LoopId, staged: &[StepKind]) -> Vec<StepKind> {
    let strip = staged.iter().find_map(|s| match s {
        StepKind::Stage(stage::Args { strip: Some((name, _)), .. }) => Some(name.clone()),
        _ => None,
    });
    let mut steps = vec![];
    for l in serial_loops(kernel, root) {
        let name = kernel.loop_name(l.id);
        let count = constant_count(kernel, l);
        if strip.as_ref() == Some(&name) || count.is_some_and(|n| n <= SHORT) {
            steps.push(StepKind::Unroll(unroll::Args { target: name, factor: None }));
        }
    }
    steps
}

/// How often a loop runs, where that is a constant.
pub(super) fn constant_count(kernel: &Kernel, l: &ForLoop) -> Option<i128> {
    match Scope::new(&kernel.module, kernel.func(), vec![], l).range(l) {
        (Some(low), Some(high)) => Some(high.sub(&low)?.as_constant()? + 1),
        _ => None,
    }
}

/// Whether a loop may have a strip of so many iterations: of a shorter one only what is left over would run.
pub(super) fn may_have_strip(kernel: &Kernel, id: LoopId, length: u32) -> bool {
    let count = kernel.find_loop(id).and_then(|l| constant_count(kernel, l));
    count.is_none_or(|n| n >= length.into())
}

/// Arrays of which a block can copy all that it reads.
pub(super) fn whole_stages(kernel: &Kernel, root: LoopId) -> Vec<String> {
    let legal = |a: &String| {
        let legal = stage::check(kernel, a, None, Layout::default(), false);
        legal.map(|l| l.names()).unwrap_or_default()
    };
    shared_reads(kernel, root).iter().flat_map(legal).collect()
}

/// The serial loop that most arrays can be staged in strips of, the first of several, and these arrays.
pub(super) fn cut_in_strips(
    kernel: &Kernel,
    root: LoopId,
) -> Option<(String, LoopId, Vec<String>)> {
    let loops = serial_loops(kernel, root);
    let short = loops.iter().copied().filter(|l| !has_long_strips(kernel, l)).collect();
    let found = cut_at(kernel, root, short);
    found.filter(|(_, _, cut)| cut.len() > 1).or_else(|| cut_at(kernel, root, loops))
}

/// Whether even a strip of eight iterations has more elements of an array in a row than a block should keep: sums by groups, as of numbers that
/// have one scale for 64 of them, are cut in strips of the loop over a group.
fn has_long_strips(kernel: &Kernel, l: &ForLoop) -> bool {
    let inside = walk::for_loops(&l.body).into_iter();
    let counts = inside.map(|inner| constant_count(kernel, inner).unwrap_or(1));
    counts.product::<i128>() >= LONG_STRIP
}

/// Of these loops the one that most arrays can be staged in strips of, the first of several.
fn cut_at(
    kernel: &Kernel,
    root: LoopId,
    loops: Vec<&ForLoop>,
) -> Option<(String, LoopId, Vec<String>)> {
    let arrays = shared_reads(kernel, root);
    let mut best: Option<(String, LoopId, Vec<String>)> = None;
    for l in loops {
        let legal = |a: &String| {
            let legal = stage::check(kernel, a, Some((l.id, 8)), Layout::default(), false);
            legal.map(|l| l.names()).unwrap_or_default()
        };
        // What does not move with the loop is read once a thread.
        let moving = arrays.iter().filter(|a| moves_with(kernel, root, a, l.var));
        let cut: Vec<String> = moving.flat_map(legal).collect();
        if cut.len() > best.as_ref().map_or(0, |(_, _, known)| known.len()) {
            best = Some((kernel.loop_name(l.id), l.id, cut));
        }
    }
    best
}

/// Arrays that the nest only reads, of which several threads or several iterations read the same elements: those read
/// with fewer counters than there are loops around, at several places, or with a sum of counters as a subscript.
pub(super) fn shared_reads(kernel: &Kernel, root: LoopId) -> Vec<String> {
    let Some(l) = kernel.find_loop(root) else { return vec![] };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let accesses = scope.accesses();
    let mut arrays: Vec<VarId> = vec![];
    for a in &accesses {
        let Base::Var(v) = a.base else { continue };
        let own = || accesses.iter().filter(|o| o.base == a.base);
        let written = own().any(|o| o.kind != AccessKind::Read);
        let elsewhere = own().any(|o| o.view != a.view);
        // Constant memory gives a warp one word at a time already.
        let constant = kernel.constants.contains(&v);
        if !written && !constant && (elsewhere || is_reused(a)) && !arrays.contains(&v) {
            arrays.push(v);
        }
    }
    arrays.into_iter().map(|v| kernel.name_of(v).to_string()).collect()
}

/// The groups of an array's reads in a nest, or the one that the name says (`A#2`).
pub(super) fn groups_of(kernel: &Kernel, root: LoopId, name: &str) -> Vec<Group> {
    let (Some((array, part)), Some(l)) = (stage::named(kernel, name), kernel.find_loop(root))
    else {
        return vec![];
    };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let groups = groups(&scope, &scope.accesses(), array);
    match part {
        Some(k) => groups.into_iter().skip(k).take(1).collect(),
        None => groups,
    }
}

/// Whether a subscript of the array, or of the group of its reads that the name says, mentions a counter.
pub(super) fn moves_with(kernel: &Kernel, root: LoopId, name: &str, counter: VarId) -> bool {
    groups_of(kernel, root, name).iter().any(|(index, _)| index.iter().any(|p| p.mentions(counter)))
}

/// Whether iterations of the loops around an access touch the same element.
pub(super) fn is_reused(a: &Access<'_>) -> bool {
    let View::Affine { index, .. } = &a.view else { return false };
    let counters = |p: &Poly| a.loops.iter().filter(|l| p.mentions(l.var)).count();
    let used = a.loops.iter().filter(|l| index.iter().any(|p| p.mentions(l.var))).count();
    used < a.loops.len() || index.iter().any(|p| counters(p) > 1)
}

/// The step with blocks of other shapes.
pub(super) fn blocks_only(bind: &StepKind) -> Vec<Vec<StepKind>> {
    let StepKind::Bind(bind::Args { loops, axes, .. }) = bind else { return vec![] };
    let shapes = blocks(loops.len(), false).into_iter();
    let with =
        |block| StepKind::Bind(bind::Args { loops: loops.clone(), axes: axes.clone(), block });
    shapes.map(|block| vec![with(block)]).collect()
}

/// Threads of a block along x, y, z for a nest of so many loops.
pub(super) fn blocks(loops: usize, tiled: bool) -> Vec<[u32; 3]> {
    match (loops, tiled) {
        (1, _) => vec![[64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1]],
        (2, true) => vec![[16, 16, 1], [32, 8, 1], [32, 4, 1], [16, 8, 1], [64, 4, 1], [64, 1, 1]],
        (2, false) => vec![[32, 4, 1], [32, 8, 1], [64, 4, 1], [128, 2, 1], [256, 1, 1]],
        _ => vec![[32, 4, 2], [32, 8, 1], [64, 4, 1], [32, 4, 1], [128, 2, 1]],
    }
}
