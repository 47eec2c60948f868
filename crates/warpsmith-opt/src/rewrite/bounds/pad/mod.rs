//! Pads arrays with zeros to whole tiles, so that no block asks which of its iterations exist.
//!
//! ```text
//!     for i in 0..n, in blocks of 32 { if (i < n) C[i] = e(A[i]) }
//!       ==> bounds pad
//!     n_padded = (n + 31) / 32 * 32; copy A to A_padded, zeros behind
//!     for i in 0..n_padded, in blocks of 32 { C_padded[i] = e(A_padded[i]) }
//!     copy the first n elements of C_padded to C
//! ```
//!
//! All loops of one length are rounded up to a multiple of all their tiles. The copies live in the workspace; what the
//! kernel does in the additional iterations is thrown away.
//!
//! Legal where the additional iterations can do no harm: every subscript that depends on a rounded loop is its counter
//! plus something else, under no condition, in arrays with extents that the launcher knows at its start; what is written
//! lies behind the end of the array there; no loop inside depends on the counter or on data; and nothing divides
//! integers. The serial loop of a strip is rounded up too where its additional terms are products of zeros that are added
//! to a sum which begins with a number; else it keeps its guards.

mod apply;
mod zeros;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Origin, Scalar, StmtKind, VarId,
};

use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::analysis::loops;
use crate::analysis::loops::unit_step;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use crate::rewrite::edit::copy;
use crate::rewrite::question::conditions;
use crate::rewrite::question::conditions::SHARED_NEST;
use crate::walk;
use apply::apply;
use zeros::adds_zeros;

/// Tiles of one length with a greatest common multiple beyond this are not worth it.
const MOST: u64 = 4096;

/// A loop that is rounded up.
struct Round {
    /// Iterations, before.
    count: Poly,
    /// Behind the last value of the counter, before.
    end: Poly,
    var: VarId,
    /// Whether threads run it.
    bound: bool,
}

/// What is to be done with one nest.
#[derive(Default)]
struct Plan {
    rounds: BTreeMap<LoopId, Round>,
    /// Lengths with the numbers that they become multiples of.
    lengths: Vec<(Poly, u64)>,
    /// Arrays, and for each dimension the length that grows.
    arrays: BTreeMap<VarId, Vec<Option<Poly>>>,
}

/// The kernel with all tiled nests padded.
///
/// # Errors
/// [`Refusal::NothingTiled`], or [`Refusal::CannotPad`] for the first nest that cannot be padded.
pub fn padded(kernel: &Kernel) -> Result<Kernel, Refusal> {
    let tiled = kernel.nests.iter().filter(|(_, n)| n.is_tiled());
    let roots: Vec<LoopId> = tiled.map(|(root, _)| *root).collect();
    if roots.is_empty() {
        return Err(Refusal::NothingTiled);
    }
    let mut result = kernel.clone();
    let mut none = true;
    for root in &roots {
        let Some(nest) = kernel.nests.get(root) else { continue };
        let plan = plan(kernel, *root, nest)?;
        if plan.rounds.is_empty() {
            continue;
        }
        none = false;
        apply(&mut result, *root, &plan);
        if let Some(nest) = result.nests.get(root) {
            conditions::check(&result, *root, nest)?;
        }
    }
    match (none, roots.first()) {
        (true, Some(root)) => refuse(*root, "all its blocks are full already", None),
        _ => Ok(result),
    }
}

fn refuse<T>(loop_id: LoopId, why: impl Into<String>, at: Option<&Origin>) -> Result<T, Refusal> {
    Err(Refusal::CannotPad { loop_id, why: why.into(), at: Box::new(at.cloned()) })
}

/// Iterations of a loop that counts up by one, and the end of its counter.
fn count_of(kernel: &Kernel, l: &ForLoop) -> Option<(Poly, Poly)> {
    if !unit_step(l) || ![&l.first, &l.limit].into_iter().all(|e| kernel.known_at_start(e)) {
        return None;
    }
    let signed = kernel.func().var(l.var).ty.scalar().is_some_and(Scalar::is_signed);
    let from_zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
    if !signed && !from_zero {
        return None;
    }
    let one = i128::from(l.compare == BinaryOp::Le);
    let end = Poly::from_expr(&l.limit)?.add(&Poly::constant(one))?;
    Some((end.sub(&Poly::from_expr(&l.first)?)?, end))
}

fn plan(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<Plan, Refusal> {
    let mut plan = Plan::default();
    if nest.team.is_some() {
        return refuse(root, SHARED_NEST, None);
    }
    if let Some(id) = nest.aligned.keys().next() {
        let why =
            format!("loop `{}` is aligned, and its rows end where they do", kernel.loop_name(*id));
        return refuse(root, why, None);
    }
    for (id, _) in &nest.axes {
        let (Some(l), Some(extent)) = (kernel.find_loop(*id), nest.block_extent(*id)) else {
            continue;
        };
        let Some((count, end)) = count_of(kernel, l) else {
            let name = kernel.loop_name(*id);
            let why = format!("the length of loop `{name}` is not known when the launcher starts");
            return refuse(root, why, None);
        };
        if fills(&count, extent, nest) {
            continue;
        }
        plan.rounds.insert(*id, Round { count, end, var: l.var, bound: true });
    }
    let Some(l) = kernel.find_loop(root) else { return Ok(plan) };
    let innermost = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id));
    let body = innermost.map(|l| &l.body).unwrap_or(&l.body);
    let strips: BTreeSet<(LoopId, u32)> = nest.stages.iter().filter_map(|s| s.strip).collect();
    for (id, length) in &strips {
        let Some(strip) = kernel.find_loop(*id) else { continue };
        let Some((count, end)) = count_of(kernel, strip) else { continue };
        let round = Round { count, end, var: strip.var, bound: false };
        if fills(&round.count, *length, nest) || !adds_zeros(kernel, l, body, strip, &round) {
            continue;
        }
        plan.rounds.insert(*id, round);
    }
    check_statements(root, body, &plan)?;
    lengths(root, nest, &mut plan)?;
    arrays(kernel, l, &mut plan)?;
    Ok(plan)
}

fn fills(count: &Poly, extent: u32, nest: &Nest) -> bool {
    nest.multiples.divide(count, extent.into())
}

/// The multiple that each length is rounded up to.
fn lengths(root: LoopId, nest: &Nest, plan: &mut Plan) -> Result<(), Refusal> {
    let strips = nest.stages.iter().filter_map(|s| s.strip);
    let extents = nest.axes.iter().filter_map(|(id, _)| Some((*id, nest.block_extent(*id)?)));
    for (id, extent) in extents.chain(strips) {
        let Some(round) = plan.rounds.get(&id) else { continue };
        let at = match plan.lengths.iter().position(|(p, _)| *p == round.count) {
            Some(at) => at,
            None => {
                plan.lengths.push((round.count.clone(), 1));
                plan.lengths.len() - 1
            }
        };
        let known = plan.lengths[at].1;
        let multiple = known / gcd(known, extent.into()) * u64::from(extent);
        if multiple > MOST {
            return refuse(
                root,
                format!("its tiles fit together only every {multiple} elements"),
                None,
            );
        }
        plan.lengths[at].1 = multiple;
    }
    Ok(())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What no iteration may do that works on zeros.
fn check_statements(root: LoopId, body: &Block, plan: &Plan) -> Result<(), Refusal> {
    let rounded: Vec<VarId> = plan.rounds.values().map(|r| r.var).collect();
    let counters: Vec<VarId> = walk::for_loops(body).iter().map(|l| l.var).collect();
    let mut bad: Option<(&str, Origin)> = None;
    walk::each_stmt(body, &mut |s| {
        let mut found = |why| bad = bad.take().or(Some((why, s.origin.clone())));
        match &s.kind {
            StmtKind::For(l) => {
                for e in [&l.first, &l.limit, &l.step] {
                    let mut depends = walk::reads_memory(e);
                    walk::each_var(e, &mut |v| {
                        depends |= rounded.contains(&v);
                        depends |= walk::writes_var(body, v) && !counters.contains(&v);
                    });
                    if depends {
                        found("a loop depends on the iteration or on data");
                    }
                }
            }
            StmtKind::Loop { .. } | StmtKind::Switch { .. } => found("a loop depends on data"),
            StmtKind::Call { .. } => found("an iteration calls a function"),
            StmtKind::Assert { .. } | StmtKind::Trap => found("an iteration may stop the kernel"),
            _ => {}
        }
        for e in walk::operands(s).reads {
            walk::each_expr(e, &mut |e| {
                if let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) = &*e.kind
                    && e.ty.is_integer()
                    && by.as_const().is_none_or(|v| v.as_i64() == 0)
                {
                    found("an integer is divided by something that may be zero there");
                }
            });
        }
    });
    match bad {
        Some((why, at)) => refuse(root, why, Some(&at)),
        None => Ok(()),
    }
}

/// Which dimensions of which arrays grow.
fn arrays(kernel: &Kernel, root: &ForLoop, plan: &mut Plan) -> Result<(), Refusal> {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root.id), root);
    let accesses = scope.accesses();
    for a in &accesses {
        let at = Some(&a.origin);
        let var = match a.base {
            Base::Var(v) if kernel.func().var(v).ty.is_pointer() => Some(v),
            // Variables of the thread.
            Base::Var(_) => continue,
            Base::Global(_) => None,
            Base::Anything => return refuse(root.id, "it goes through a computed pointer", at),
        };
        let grown = match grown_dims(&scope, a, plan) {
            Ok(grown) => grown,
            Err(why) => return refuse(root.id, why, at),
        };
        if a.kind != AccessKind::Read {
            written_behind(kernel, root.id, a, plan)?;
        }
        if grown.iter().all(Option::is_none) {
            continue;
        }
        if !a.guards.is_empty() {
            return refuse(root.id, "an array is used under a condition", at);
        }
        let Some(array) = var else {
            return refuse(root.id, "a variable of the module cannot grow", at);
        };
        let name = kernel.name_of(array);
        let shape = kernel.func().var(array).shape.as_deref().unwrap_or_default();
        let whole = a.place.is_some_and(|p| copy::element_of(p, array, shape).is_some());
        if !whole || !shape.iter().all(|e| kernel.known_at_start(e)) {
            let why = format!("the extents of `{name}` are not known when the launcher starts");
            return refuse(root.id, why, at);
        }
        if kernel.constants.contains(&array) {
            return refuse(root.id, format!("`{name}` is read from constant memory"), at);
        }
        let known = plan.arrays.entry(array).or_insert_with(|| vec![None; shape.len()]);
        for (old, new) in known.iter_mut().zip(grown) {
            match (&old, &new) {
                (Some(x), Some(y)) if x != y => {
                    let why =
                        format!("loops of different lengths run over one dimension of `{name}`");
                    return refuse(root.id, why, at);
                }
                _ => *old = old.take().or(new),
            }
        }
    }
    check_uses(kernel, root, plan)
}

/// The arrays are used by their elements, and a copy would hold what they do.
fn check_uses(kernel: &Kernel, root: &ForLoop, plan: &Plan) -> Result<(), Refusal> {
    for array in plan.arrays.keys() {
        let shape = kernel.func().var(*array).shape.as_deref().unwrap_or_default();
        let body = Block::new(
            walk::loop_stmt(&kernel.func().body, root.id).cloned().into_iter().collect(),
        );
        let uses = copy::uses(&body, *array, shape);
        if uses.otherwise {
            let why =
                format!("`{}` is used otherwise than by its elements", kernel.name_of(*array));
            return refuse(root.id, why, None);
        }
        let filled = !uses.writes || set_first(kernel, root.id, *array, shape);
        if kernel.scratch.iter().any(|s| s.var == *array) && !filled {
            let why =
                format!("`{}` holds nothing yet that a copy could have", kernel.name_of(*array));
            return refuse(root.id, why, None);
        }
    }
    Ok(())
}

/// For each subscript, the length of the rounded loop that it depends on.
fn grown_dims(scope: &Scope<'_>, a: &Access<'_>, plan: &Plan) -> Result<Vec<Option<Poly>>, String> {
    let View::Affine { index, .. } = &a.view else {
        return match &a.view {
            View::Unknown(why) => Err(why.clone()),
            View::Affine { .. } => Ok(vec![]),
        };
    };
    let mut grown = vec![];
    for p in index {
        let mut length = None;
        for round in plan.rounds.values().filter(|r| p.mentions(r.var)) {
            let name = &scope.function.var(round.var).name;
            if length.is_some() || offset_of(p, round.var).is_none() {
                return Err(format!("a subscript is not `{name}` plus something that stays"));
            }
            length = Some(round.count.clone());
        }
        grown.push(length);
    }
    Ok(grown)
}

/// `p - counter`, where that does not depend on the counter.
fn offset_of(p: &Poly, counter: VarId) -> Option<Poly> {
    let (factor, rest) = p.split(&Atom::Var(counter))?;
    (factor.as_constant() == Some(1) && !rest.mentions(counter)).then_some(rest)
}

/// What an additional iteration writes lies behind the array, in some dimension.
fn written_behind(
    kernel: &Kernel,
    root: LoopId,
    a: &Access<'_>,
    plan: &Plan,
) -> Result<(), Refusal> {
    let View::Affine { index, .. } = &a.view else { return Ok(()) };
    let shape = match a.base {
        Base::Var(v) => kernel.func().var(v).shape.as_deref().unwrap_or_default(),
        _ => &[],
    };
    for round in plan.rounds.values().filter(|r| r.bound) {
        let behind = index.iter().zip(shape).any(|(p, extent)| lies_behind(p, extent, round));
        if !behind {
            let name = kernel.name_of(round.var);
            let why = format!(
                "an iteration of `{name}` past the end would write an element of the array"
            );
            return refuse(root, why, Some(&a.origin));
        }
    }
    Ok(())
}

/// The subscript is not less than the extent in all iterations past the end.
fn lies_behind(p: &Poly, extent: &Expr, round: &Round) -> bool {
    let distance = || {
        let least = offset_of(p, round.var)?.add(&round.end)?;
        least.sub(&Poly::from_expr(extent)?)?.as_constant()
    };
    distance().is_some_and(|d| d >= 0)
}

/// Every iteration sets its own element before anything reads it, and together the iterations set all elements.
fn set_first(kernel: &Kernel, root: LoopId, array: VarId, shape: &[Expr]) -> bool {
    let Some(nest) = kernel.nests.get(&root) else { return false };
    let Some(l) = kernel.find_loop(root) else { return false };
    let innermost = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id)).unwrap_or(l);
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let accesses = scope.accesses();
    let mut own = accesses.iter().filter(|a| a.base == Base::Var(array));
    let Some(first) = own.next().filter(|a| a.kind == AccessKind::Write) else { return false };
    let Some(place) = first.place else { return false };
    let at_top =
        innermost.body.stmts.iter().any(
            |s| matches!(&s.kind, StmtKind::Assign { place: p, .. } if std::ptr::eq(p, place)),
        );
    let View::Affine { index, .. } = &first.view else { return false };
    let mut counters = vec![];
    let exact = index.len() == shape.len()
        && index.iter().zip(shape).all(|(p, extent)| {
            let Some(Atom::Var(v)) = p.as_atom() else { return false };
            let bound = nest.axes.iter().filter_map(|(id, _)| kernel.find_loop(*id));
            let mut shared = bound.chain(loops::outer_loops(kernel, root, nest));
            let Some(l) = shared.find(|l| l.var == *v) else { return false };
            let from_zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
            let whole = count_of(kernel, l).map(|(n, _)| n) == Poly::from_expr(extent);
            let fresh = !counters.contains(v);
            counters.push(*v);
            from_zero && whole && fresh
        });
    at_top && exact && own.all(|a| a.place == Some(place))
}
