//! What the iterations of a shared loop combine, each variable by one operation.

use std::collections::BTreeSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, Parallel, Place, PlaceKind, ReduceOp, Stmt, StmtKind,
    Type, VarId,
};

use super::part::begins_at_identity;
use super::refused;
use crate::analysis::access::Base;
use crate::analysis::loops::written_bases;
use crate::analysis::{extremes, scalars};
use crate::kernel::{Kernel, Sum};
use crate::refusal::Refusal;
use crate::rewrite::question::independence;
use crate::walk;

/// The variables that live longer than an iteration, each with the one operation that combines it; nothing uses them before
/// the loop's end.
pub(in crate::rewrite) fn sums_of(kernel: &Kernel, l: &ForLoop) -> Result<Vec<Sum>, Refusal> {
    let sums = accumulated(kernel, l, None)?;
    match seen_before_the_end(&extremes::as_calls(&l.body), &sums) {
        Some(v) => {
            let name = kernel.name_of(v);
            refused(l.id, format!("`{name}` is used with the value that it has so far"))
        }
        None => Ok(sums),
    }
}

/// The same, whatever uses them, where the loop is scanned without the variables that it carries on linearly.
pub(in crate::rewrite) fn accumulated(
    kernel: &Kernel,
    l: &ForLoop,
    carried: Option<&BTreeSet<VarId>>,
) -> Result<Vec<Sum>, Refusal> {
    let mut own: BTreeSet<VarId> = walk::own_variables(&l.body);
    own.extend(carried.into_iter().flatten());
    let mixed = |v: VarId| mixed(kernel, v, carried.is_some());
    let body = extremes::as_calls(&l.body);
    let mut sums: Vec<Sum> = vec![];
    let mut wrong: Option<(VarId, &str)> = None;
    walk::each_stmt(&body, &mut |s| {
        let mut refuse = |v: VarId, why| wrong = wrong.or(Some((v, why)));
        let o = walk::operands(s);
        let target = o.writes.and_then(Place::root_var);
        for v in o.results.iter().copied().chain(target).filter(|v| !own.contains(v)) {
            let op = match &s.kind {
                StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(v) => {
                    scalars::accumulation(value, v)
                }
                _ => None,
            };
            match (op, sums.iter().find(|known| known.var == v)) {
                (Some(op), None) => sums.push(Sum { var: v, op, at: None }),
                (Some(op), Some(known)) if op == known.op => {}
                _ => refuse(v, mixed(v)),
            }
        }
    });
    for counter in own.iter().filter(|v| **v != l.var) {
        if scalars::read_outside_its_loops(&kernel.func().body, *counter)
            && walk::for_loops(&l.body).iter().any(|l| l.var == *counter && !l.declares)
        {
            wrong = wrong.or(Some((*counter, "counts a loop in it, and is read after it")));
        }
    }
    for (var, at, value) in extremes::positions(&l.body) {
        match sums.iter_mut().find(|s| s.var == var) {
            Some(sum) => {
                wrong = wrong.or(not_its_position(kernel, l, (var, at), &value));
                sum.at = Some(at);
            }
            None => wrong = wrong.or(Some((at, "is set together with what the loop declares"))),
        }
    }
    for v in sums.iter().flat_map(Sum::vars) {
        let exchanged =
            kernel.func().var(v).ty.scalar().is_some_and(|s| matches!(s.bytes(), 4 | 8));
        if !exchanged {
            wrong = wrong.or(Some((v, "is no number of four or eight bytes")));
        }
    }
    match wrong {
        Some((v, why)) => refused(l.id, format!("`{}` {why}", kernel.name_of(v))),
        None => Ok(sums),
    }
}

/// Why a variable is no sum, of a loop that is scanned or not.
fn mixed(kernel: &Kernel, v: VarId, scanned: bool) -> &'static str {
    let signed = kernel.func().var(v).ty.scalar().is_some_and(scalars::signed);
    match scanned && signed {
        true => {
            "is changed by more than one operation that combines it: parts of what a signed integer is carried on by, as in `3 * s + x`, \
             could overflow where C's steps do not"
        }
        false => "is changed by more than one operation that combines it",
    }
}

/// What is wrong with the variable that is set together with a least or greatest value, unless it keeps in which iteration
/// the value was found first, and nothing else: threads compare these where they found the same.
fn not_its_position(
    kernel: &Kernel,
    l: &ForLoop,
    (var, at): (VarId, VarId),
    value: &Expr,
) -> Option<(VarId, &'static str)> {
    let once = |v: VarId| {
        let mut set = 0;
        walk::each_stmt(&l.body, &mut |s| set += usize::from(sets(s, v)));
        set == 1
    };
    match (
        is_counter(l, value, &kernel.func().var(l.var).ty),
        once(at) && walk::times_mentioned(&l.body, at) == 1,
        once(var),
    ) {
        (false, ..) => Some((at, "is not set to the loop's counter, by which threads compare")),
        (_, false, _) => Some((at, "is used for more than the place of a least or greatest value")),
        (_, _, false) => Some((var, "is changed in several places, and its place is kept")),
        _ => None,
    }
}

/// Whether a value is a loop's counter, in its own type or in one that orders all its values alike.
fn is_counter(l: &ForLoop, value: &Expr, own: &Type) -> bool {
    let ExprKind::Cast(inner) = &*value.kind else { return scalars::reads(value, l.var) };
    let (Some(from), Some(to)) = (own.scalar(), value.ty.scalar()) else { return false };
    let holds = match (from.is_signed(), to.is_signed()) {
        (false, true) => to.bytes() > from.bytes(),
        (true, false) => to.bytes() >= from.bytes() && never_negative(l),
        _ => to.bytes() >= from.bytes(),
    };
    to.is_integer() && holds && scalars::reads(inner, l.var)
}

fn never_negative(l: &ForLoop) -> bool {
    l.first.as_const().is_some_and(|v| v.as_i64() >= 0)
}

fn sets(stmt: &Stmt, v: VarId) -> bool {
    matches!(&stmt.kind, StmtKind::Assign { place, .. } if *place.kind == PlaceKind::Var(v))
}

/// A sum whose value something else than its own addition looks at.
pub(in crate::rewrite) fn seen_before_the_end(body: &Block, sums: &[Sum]) -> Option<VarId> {
    let mut seen = None;
    walk::each_stmt(body, &mut |s| {
        let target = walk::operands(s).writes.and_then(Place::root_var);
        walk::each_var_of_stmt(s, &mut |v| {
            if Some(v) != target && sums.iter().any(|sum| sum.var == v) {
                seen = seen.or(Some(v));
            }
        });
    });
    seen
}

/// The loop is worth something, and where it stores, no two iterations touch the same.
pub(in crate::rewrite) fn check_iterations(
    kernel: &Kernel,
    l: &ForLoop,
    sums: &[Sum],
) -> Result<(), Refusal> {
    check_others(kernel, l, sums, &BTreeSet::new())
}

/// The same of the arrays that are not known to have elements of their own for each iteration.
pub(in crate::rewrite) fn check_others(
    kernel: &Kernel,
    l: &ForLoop,
    sums: &[Sum],
    apart: &BTreeSet<VarId>,
) -> Result<(), Refusal> {
    let stores = !written_bases(&l.body).is_empty();
    if sums.is_empty() && !stores {
        return refused(l.id, "nothing that it computes is used".into());
    }
    if !stores {
        return Ok(());
    }
    let private = sums.iter().flat_map(Sum::vars).chain(apart.iter().copied()).collect();
    let clauses = Parallel { private, ..Parallel::default() };
    let (scope, report, accesses) = independence::analyse(kernel, l, &clauses);
    if let Some(conflict) = report.conflicts.first() {
        let base = accesses.get(conflict.first).map_or(Base::Anything, |a| a.base);
        let name = scope.base_name(base);
        return refused(l.id, format!("two of its iterations touch the same element of `{name}`"));
    }
    match report.doubt() {
        Some(doubt) => {
            let why = format!("its iterations are not proved independent: {}", doubt.reason);
            refused(l.id, why)
        }
        None => Ok(()),
    }
}

/// `&&` and `||` make 0 or 1 of what a sum begins with, which a loop without iterations would leave alone.
pub(in crate::rewrite) fn check_truth(
    kernel: &Kernel,
    target: LoopId,
    region: LoopId,
    sums: &[Sum],
) -> Result<(), Refusal> {
    for sum in sums {
        let logical = matches!(sum.op, ReduceOp::LogicalAnd | ReduceOp::LogicalOr);
        if logical && !begins_at_identity(kernel, region, *sum) {
            let why =
                format!("`{}` does not begin at what changes nothing", kernel.name_of(sum.var));
            return refused(target, why);
        }
    }
    Ok(())
}

/// The outermost of the serial loops around the target whose iterations only go on adding to the sums.
pub(super) fn region_of(body: &Block, target: LoopId, sums: &[Sum]) -> LoopId {
    let mut region = target;
    // The places of values are compared within one run of the loop.
    if sums.iter().any(|s| s.at.is_some()) {
        return region;
    }
    let Some(own) = walk::loop_stmt(body, target) else { return target };
    let own = Block::new(vec![own.clone()]);
    for l in walk::for_loops(body).into_iter().rev() {
        if l.id == target || walk::find_loop(&l.body, target).is_none() || sums.is_empty() {
            continue;
        }
        let only_here = |v: VarId| {
            walk::times_mentioned(&l.body, v) == walk::times_mentioned(&own, v) && v != l.var
        };
        if !sums.iter().all(|s| only_here(s.var)) {
            break;
        }
        region = l.id;
    }
    region
}
