//! The edit: loops are rounded up, arrays copied, and the nest works on the copies.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Block, Expr, LoopId, Scalar, StmtKind, Type, VarId};

use super::{Plan, set_first};
use crate::assumption::Assumption;
use crate::kernel::Kernel;
use crate::rewrite::edit::copy;
use crate::rewrite::edit::copy::Side;
use crate::rewrite::pitch;
use crate::walk;

/// Rounds the loops up, makes the copies, and lets the nest work on them.
pub(super) fn apply(kernel: &mut Kernel, root: LoopId, plan: &Plan) {
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, root).cloned() else { return };
    let mut whole = Block::new(vec![stmt]);
    let mut rounded: Vec<(Poly, VarId)> = vec![];
    for (count, multiple) in &plan.lengths {
        rounded.push((count.clone(), add_length(kernel, plan, count, *multiple)));
    }
    round_up(kernel, &mut whole, plan, &rounded);
    let multiples: Vec<(VarId, u32)> = plan
        .lengths
        .iter()
        .zip(&rounded)
        .map(|((_, multiple), (_, var))| (*var, u32::try_from(*multiple).unwrap_or(1)))
        .collect();
    let (mut before, mut after) = (vec![], vec![]);
    for (array, grown) in &plan.arrays {
        let shape = kernel.func().var(*array).shape.clone().unwrap_or_default();
        let uses = copy::uses(&whole, *array, &shape);
        let needed = !set_first(kernel, root, *array, &shape);
        let padded = padded_copy(kernel, *array, grown, &rounded);
        copy::use_copy(kernel, &mut whole, *array, padded);
        let name = kernel.name_of(*array).to_string();
        let large = kernel.func().var(padded).shape.clone().unwrap_or_default();
        let old = Side { array: *array, extents: shape };
        if needed {
            let new = Side { array: padded, extents: large };
            let why = format!("`{name}`, with zeros up to whole tiles");
            let copy = copy::copy_nest(kernel, &new, &old, why);
            // Blocks that the rounded rows fill need no guard.
            if let StmtKind::For(l) = &copy.kind
                && let Some(nest) = kernel.nests.get_mut(&l.id)
            {
                nest.multiples.extend(multiples.iter().copied());
            }
            before.push(copy);
        }
        if uses.writes {
            let part = Side { array: padded, extents: old.extents.clone() };
            after.push(copy::copy_nest(
                kernel,
                &old,
                &part,
                format!("`{name}` without its padding"),
            ));
        }
        if let Some(nest) = kernel.nests.get_mut(&root) {
            nest.stages.iter_mut().filter(|s| s.array == *array).for_each(|s| s.array = padded);
        }
    }
    if let Some(nest) = kernel.nests.get_mut(&root) {
        nest.peel = false;
        nest.multiples.extend(multiples);
    }
    let padded = whole.stmts.remove(0);
    walk::with_loop(&mut kernel.func_mut().body, root, &mut |s| *s = padded.clone());
    copy::put_around(kernel, root, before, after);
}

/// Lets the loops run to the rounded lengths.
fn round_up(kernel: &Kernel, nest: &mut Block, plan: &Plan, rounded: &[(Poly, VarId)]) {
    for (id, round) in &plan.rounds {
        let Some(length) = rounded.iter().find(|(p, _)| *p == round.count).map(|(_, v)| *v) else {
            continue;
        };
        let value = Expr::var(length, kernel.func().var(length).ty.clone());
        walk::with_loop(nest, *id, &mut |s| {
            if let StmtKind::For(l) = &mut s.kind {
                let ty = l.first.ty.clone();
                l.compare = BinaryOp::Lt;
                l.limit = match l.first.as_const().map(|v| v.as_i64()) {
                    Some(0) => value.clone().cast(ty),
                    _ => Expr::binary(BinaryOp::Add, l.first.clone(), value.clone().cast(ty)),
                };
            }
        });
    }
}

/// `n_padded`, with an assumption that it fits its type.
fn add_length(kernel: &mut Kernel, plan: &Plan, count: &Poly, multiple: u64) -> VarId {
    let user = plan.rounds.values().find(|r| r.count == *count);
    let ty = user.and_then(|r| kernel.func().var(r.var).ty.scalar()).unwrap_or(Scalar::I32);
    let function = kernel.func();
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    let name = match count.as_atom() {
        Some(Atom::Var(v)) => kernel.name_of(*v).to_string(),
        _ => user.map_or("length".into(), |r| kernel.name_of(r.var).to_string()),
    };
    let length = count.to_expr(ty, &var_type);
    let unit = u32::try_from(multiple).unwrap_or(1);
    let value = pitch::rounded_up(&length, unit);
    kernel.numbers.push(unit);
    let counter = user.map_or("?", |r| kernel.name_of(r.var)).to_string();
    kernel.assume(Assumption::RoundedLoop { counter, unit });
    kernel.add_length(&format!("{name}_padded"), value, format!("whole tiles of {unit}"))
}

/// The larger copy of an array.
fn padded_copy(
    kernel: &mut Kernel,
    array: VarId,
    grown: &[Option<Poly>],
    rounded: &[(Poly, VarId)],
) -> VarId {
    let var = kernel.func().var(array).clone();
    let shape = var.shape.clone().unwrap_or_default();
    let mut extents = vec![];
    for (extent, length) in shape.iter().zip(grown) {
        let found = length.as_ref().and_then(|p| rounded.iter().find(|(q, _)| q == p));
        let ty = extent.ty.scalar().unwrap_or(Scalar::I32);
        let larger = found.and_then(|(count, new)| {
            let more = Poly::var(*new).sub(count)?;
            let function = kernel.func();
            let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
            Some(Poly::from_expr(extent)?.add(&more)?.to_expr(ty, &var_type))
        });
        extents.push(larger.unwrap_or_else(|| extent.clone()));
    }
    let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
    let comment = format!("`{}` in whole tiles", var.name);
    kernel.add_scratch(&format!("{}_padded", var.name), element, extents, comment)
}
