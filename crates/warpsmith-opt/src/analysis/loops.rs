//! Questions about counted loops.

use std::collections::BTreeSet;

use warpsmith_ir::visit;
use warpsmith_ir::{BinaryOp, BindLevel, Block, ForLoop, LoopId, LoopKind, StmtKind, Type, VarId};

use super::access::{Base, base_of};
use crate::kernel::{Kernel, Nest};
use crate::walk;

/// Counts `first, first + 1, …` up to a limit.
pub fn unit_step(l: &ForLoop) -> bool {
    let one = l.step.as_const().is_some_and(|s| s.as_i64() == 1);
    one && matches!(l.compare, BinaryOp::Lt | BinaryOp::Le)
}

/// Loops of the nest around the bound ones, outermost first: every block has one iteration of them.
pub fn outer_loops<'k>(kernel: &'k Kernel, root: LoopId, nest: &Nest) -> Vec<&'k ForLoop> {
    let first = nest.axes.first().map_or(root, |(id, _)| *id);
    let around = kernel.loops_around(first);
    around.into_iter().skip_while(|l| l.id != root).collect()
}

/// Whether the bounds of a loop are the same for all iterations of a loop around it.
pub fn bounds_independent(kernel: &Kernel, inner: LoopId, outer: LoopId) -> bool {
    let (Some(i), Some(o)) = (kernel.find_loop(inner), kernel.find_loop(outer)) else {
        return false;
    };
    let mut independent = true;
    for e in [&i.first, &i.limit, &i.step] {
        independent &= !walk::reads_memory(e);
        walk::each_var(e, &mut |v: VarId| {
            independent &= v != o.var && !walk::writes_var(&o.body, v);
        });
    }
    independent
}

/// Whether a loop goes over the blocks of a grid.
pub fn is_grid(l: &ForLoop) -> bool {
    matches!(&l.kind, LoopKind::Bound(b) if b.level == BindLevel::Grid)
}

/// How many loops go over the blocks of grids.
pub fn grids(body: &Block) -> usize {
    let mut found = 0;
    walk::each_stmt(body, &mut |s| {
        found += usize::from(matches!(&s.kind, StmtKind::For(l) if is_grid(l)));
    });
    found
}

/// The compiler knows of every iteration whether its number is even.
pub fn is_even(kind: &LoopKind) -> bool {
    match kind {
        LoopKind::Unrolled(None) => true,
        LoopKind::Unrolled(Some(n)) => n.is_multiple_of(2),
        _ => false,
    }
}

/// Objects in memory that a block stores to, or updates atomically.
pub fn written_bases(block: &Block) -> BTreeSet<Base> {
    let mut written = BTreeSet::new();
    walk::each_stmt(block, &mut |s| {
        written.extend(walk::changed(s).filter(|p| p.root_var().is_none()).map(base_of));
    });
    written
}

/// Objects in memory that a block reads or writes.
pub fn touched_bases(block: &Block) -> BTreeSet<Base> {
    let mut touched = BTreeSet::new();
    visit::for_each_place(block, &mut |p, _| {
        if p.root_var().is_none() {
            touched.insert(base_of(p));
        }
    });
    touched
}

/// Whether a block may access memory through something that has no name.
pub fn has_nameless(body: &Block) -> bool {
    let mut found = false;
    visit::for_each_place(body, &mut |p, access| {
        found |= p.root_var().is_none() && base_of(p) == Base::Anything;
        found |= access == visit::Access::Address;
    });
    walk::each_stmt(body, &mut |s| {
        found |= matches!(&s.kind, StmtKind::Call { args, .. } if args.iter().any(|a| a.ty.is_pointer()));
    });
    found
}

/// The type of the value: the variable's own, or that of what it points to.
pub fn reduced_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Pointer { pointee, .. } => Some(pointee),
        Type::Scalar(_) => Some(ty),
        _ => None,
    }
}
