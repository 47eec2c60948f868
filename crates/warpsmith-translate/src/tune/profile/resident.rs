//! Blocks that go over several tiles in strides of the grid: what they do is counted as if each tile had a block of its own.

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, Function, Module, PlaceKind, StmtKind,
    Value, visit,
};
use warpsmith_opt::walk as tree;

use super::values::{Extents, Thread, Vars};

/// A kernel for one tile, and the launch with a block for each.
pub struct OneEach {
    pub kernel: Function,
    pub at: Extents,
    /// Blocks that really run.
    pub blocks: u64,
}

/// The launch as it would be without `for (tile = blockIdx.x; tile < tiles; tile += gridDim.x)` around all that threads do;
/// `None` where there is no such loop, or it is not known how many tiles there are.
pub fn a_block_each(
    module: &Module,
    kernel: &Function,
    at: Extents,
    args: &Vars<Value>,
) -> Option<OneEach> {
    let (last, before) = kernel.body.stmts.split_last()?;
    let StmtKind::For(l) = &last.kind else { return None };
    if !strides(l) || at.grid[1..] != [1, 1] {
        return None;
    }
    let thread = Thread { vars: args.clone(), ..Thread::default() };
    let tiles = thread.eval(module, at, &l.limit)?.as_i64();
    let tiles = u32::try_from(tiles).ok().filter(|n| *n >= at.grid[0])?;
    let mut body = l.body.clone();
    end_threads(&mut body);
    visit::map_exprs(&mut body, &mut |e| {
        let number = matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(l.var));
        if number {
            *e = l.first.clone();
        }
    });
    let stmts = before.iter().cloned().chain(body.stmts).collect();
    Some(OneEach {
        kernel: Function { body: Block::new(stmts), ..kernel.clone() },
        at: Extents { grid: [tiles, 1, 1], ..at },
        blocks: at.grid[0].into(),
    })
}

/// Whether a loop has the blocks of the grid along x for its strides.
fn strides(l: &ForLoop) -> bool {
    let is =
        |e: &Expr, wanted| matches!(&*e.without_casts().kind, ExprKind::Builtin(b) if *b == wanted);
    l.compare == BinaryOp::Lt
        && is(&l.first, Builtin::BlockIdx(Axis::X))
        && is(&l.step, Builtin::GridDim(Axis::X))
}

/// The end of a tile is the end of the thread.
fn end_threads(block: &mut Block) {
    for stmt in &mut block.stmts {
        match &mut stmt.kind {
            StmtKind::Continue => stmt.kind = StmtKind::Return(None),
            StmtKind::For(_) | StmtKind::Loop { .. } => {}
            _ => tree::blocks_mut(stmt).into_iter().for_each(end_threads),
        }
    }
}
