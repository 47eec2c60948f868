//! Kernels that move whole vectors, and others for where vectors do not lie at multiples of their length.

use warpsmith_ir::{
    BinaryOp, Block, Expr, Origin, Place, PlaceKind, Scalar, Stmt, StmtKind, Type, VarId,
};

use super::super::LegalFuseKernels;
use super::super::launch::Grid;
use super::super::text::{self, Nests};
use super::{Ring, finish};
use crate::build::arithmetic::offset;
use crate::build::conditions::all_of;
use crate::kernel::Kernel;

/// The kernel, or both of which the launcher chooses one.
pub(in crate::rewrite::fuse_kernels) fn chosen(
    kernel: &mut Kernel,
    legal: &LegalFuseKernels<'_>,
    nests: Nests,
    grid: &Grid,
) -> Stmt {
    let condition = legal.ring.as_ref().and_then(|r| aligned(kernel, (legal, r), &nests, grid));
    let Some(cond) = condition else { return text::fused(kernel, legal, nests, grid, true) };
    let whole = text::fused(kernel, legal, nests.clone(), grid, true);
    let parts = text::fused(kernel, legal, nests, grid, false);
    let (then, otherwise) = (Block::new(vec![whole]), Block::new(vec![parts]));
    Stmt::new(StmtKind::If { cond, then, otherwise }, Origin::default())
        .comment("vectors lie at multiples of their length")
}

/// Whether all vectors lie at multiples of their length; `None`: there are none, or they do.
fn aligned(
    kernel: &Kernel,
    (legal, ring): (&LegalFuseKernels<'_>, &Ring),
    nests: &Nests,
    grid: &Grid,
) -> Option<Expr> {
    let width = legal.shape.each(0);
    if width == 1 {
        return None;
    }
    let divides = |e: Expr, by: u32| {
        let ty = e.ty.scalar().unwrap_or(Scalar::I64);
        let past = Expr::binary(BinaryOp::Rem, e, Expr::int(ty, by.into()));
        Expr::binary(BinaryOp::Eq, past, Expr::int(ty, 0))
    };
    let array = ring.array_of(nests);
    let var = kernel.func().var(array);
    let mut arrays = vec![(Expr::var(array, var.ty.clone()), rows_of(kernel, array))];
    let stored = finish::stored_last(legal, &nests.second).map(|(place, _)| place);
    arrays.extend(stored.and_then(|place: Place| match &*place.kind {
        PlaceKind::Elem { pointer, dims, .. } => Some((pointer.clone(), dims.last().cloned())),
        _ => None,
    }));
    let mut conditions: Vec<Expr> = vec![];
    for (pointer, rows) in arrays {
        let element = pointer.ty.pointee().and_then(|ty| ty.scalar()).unwrap_or(Scalar::F32);
        conditions.push(divides(pointer.cast(Type::U64), element.bytes() * width));
        let open = |n: &Expr| n.as_const().is_none_or(|n| n.as_i64() % i64::from(width) != 0);
        let rows = rows.filter(open).map(|rows| divides(rows, width));
        conditions.extend(rows.filter(|cond| !conditions.contains(cond)));
    }
    // Tiles begin at a multiple where the loop begins at a constant.
    let first = grid.first.last().filter(|e| e.as_const().is_none());
    let begin = first.map(|e| offset(e.clone(), legal.border(0).low));
    conditions.extend(begin.map(|e| divides(e, width)));
    all_of(conditions)
}

fn rows_of(kernel: &Kernel, array: VarId) -> Option<Expr> {
    kernel.func().var(array).shape.as_ref().and_then(|s| s.last().cloned())
}
