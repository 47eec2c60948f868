//! Whether a nest can be computed tile by tile.

use warpsmith_ir::{
    Block, ExprKind, ForLoop, LoopId, Origin, PlaceKind, Stmt, StmtKind, Type, visit,
};

use crate::analysis::loops::{self, outer_loops, unit_step};
use crate::kernel::{Kernel, Nest, Order};
use crate::refusal::Refusal;
use crate::rewrite::question::independence;
use crate::walk;

/// The nest in which a loop is bound.
pub(in crate::rewrite) fn bound_nest(
    kernel: &Kernel,
    id: LoopId,
) -> Result<(LoopId, &Nest), Refusal> {
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

/// Where a block uses a structure as a whole, or one that an iteration may have for itself: fields of elements in memory and of
/// parameters are places like others.
fn structure(kernel: &Kernel, body: &Block) -> Option<Origin> {
    let mut found = None;
    visit::for_each_place(body, &mut |place, access| {
        let field = matches!(&*place.kind, PlaceKind::Field(..));
        let own = place.root_var().is_some_and(|v| !kernel.func().params.contains(&v));
        let apart = access != visit::Access::Address && matches!(place.ty, Type::Scalar(_)) && !own;
        let whole = matches!(place.ty.innermost(), Type::Struct(_));
        if found.is_none() && (whole || field && !apart) {
            found = Some(place.origin.clone());
        }
    });
    found
}

/// Whether a nest can be computed tile by tile at all.
pub(in crate::rewrite) fn check_tiles(
    kernel: &Kernel,
    root: LoopId,
    nest: &Nest,
) -> Result<(), Refusal> {
    check_tiles_of(kernel, root, nest, |_| false)
}

/// The same for a step that knows what to do with atomic updates whose results nobody looks at.
pub(in crate::rewrite) fn check_tiles_or_updates(
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
    if let Some(at) = structure(kernel, body) {
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
