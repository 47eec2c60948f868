//! Whether all threads of a block come to a loop alike.

use warpsmith_ir::{Block, Expr, LoopId, Stmt, StmtKind};

use crate::kernel::{Kernel, Nest};
use crate::walk;

/// The loop stands under no condition, in loops whose bounds are the same for all threads; with `own`, its own are, too.
pub(in crate::rewrite) fn reached_by_all(
    kernel: &Kernel,
    body: &Block,
    nest: &Nest,
    id: LoopId,
    own: bool,
) -> bool {
    let uniform = |e: &Expr| {
        let mut same = !walk::reads_memory(e);
        walk::each_var(e, &mut |v| {
            // A block with one iteration of a loop has one value of its counter.
            let several = nest.axes.iter().filter(|(id, _)| nest.block_extent(*id) != Some(1));
            let mut several = several.filter_map(|(id, _)| kernel.find_loop(*id));
            same &= several.all(|l| l.var != v);
            let written = walk::writes_var(body, v);
            let counter = walk::for_loops(body).iter().any(|l| l.var == v);
            same &= !written || counter;
        });
        same
    };
    fn path<'a>(block: &'a Block, id: LoopId, found: &mut Vec<&'a Stmt>) -> bool {
        for stmt in &block.stmts {
            let here = matches!(&stmt.kind, StmtKind::For(l) if l.id == id);
            if here || walk::blocks(stmt).into_iter().any(|b| path(b, id, found)) {
                found.push(stmt);
                return true;
            }
        }
        false
    }
    let mut around = vec![];
    path(body, id, &mut around);
    !around.is_empty()
        && around.iter().skip(usize::from(!own)).all(|s| match &s.kind {
            StmtKind::For(l) => {
                walk::leaves(&l.body).is_none()
                    && (l.id == id || walk::continues(&l.body).is_none())
                    && [&l.first, &l.limit, &l.step].into_iter().all(uniform)
            }
            StmtKind::Scope(_) => true,
            _ => false,
        })
}
