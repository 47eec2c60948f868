//! Bound nests whose blocks compute tiles: several iterations a thread, reads through shared memory.
//!
//! A block computes a box of iterations, `threads × iterations a thread` along each bound loop. All threads of a block
//! stay to the end, since they meet at barriers: what excess threads must not do is under a condition of its own. Blocks
//! are counted along x only, where a grid may have 2^31 - 1 of them.

use std::collections::BTreeMap;

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ForLoop, Origin, Scalar, Stmt, StmtKind, Type, VarId,
    visit,
};

use super::copies::plus;
use super::replicas::Replicas;
use super::{Lowered, Lowering, host, index};
use crate::kernel::Nest;
use crate::rewrite::register_tile;
use crate::rewrite::stage::{self, Footprint};
use crate::walk;

/// A bound loop in a tiled nest.
#[derive(Clone)]
pub(super) struct Tile {
    pub source: ForLoop,
    pub axis: Axis,
    pub ty: Scalar,
    /// Iterations of a thread.
    pub factor: u32,
    /// The same as a named constant; 1 where it is one.
    pub factor_expr: Expr,
    /// Threads of the block along the axis, as a named constant.
    pub threads: Expr,
    /// Iterations of a block.
    pub extent: Expr,
    /// The loop's iterations fill all blocks.
    pub filled: bool,
    /// Variable: the first iteration of the block.
    pub block: VarId,
    /// Variable: iterations from there to the end of the loop.
    pub left: VarId,
    /// Variable: the block's number along the loop.
    pub number: VarId,
}

impl Tile {
    fn value(&self, var: VarId) -> Expr {
        Expr::var(var, Type::Scalar(self.ty))
    }

    fn thread(&self) -> Expr {
        Expr::builtin(Builtin::ThreadIdx(self.axis)).cast(Type::Scalar(self.ty))
    }

    /// `e`, moved on to a thread's iteration `replica`.
    fn moved(&self, e: Expr, replica: Option<VarId>) -> Expr {
        let Some(r) = replica else { return e };
        let ty = Type::Scalar(self.ty);
        let threads = self.threads.clone().cast(ty.clone());
        let offset = Expr::binary(BinaryOp::Mul, Expr::var(r, Type::I32).cast(ty), threads);
        Expr::binary(BinaryOp::Add, e, offset)
    }

    /// The iteration's number in the block, for a thread's iteration `replica`.
    pub fn local(&self, replica: Option<VarId>) -> Expr {
        self.moved(self.thread(), replica)
    }

    /// The loop's counter.
    pub fn counter(&self, replica: Option<VarId>) -> Expr {
        let first = Expr::binary(BinaryOp::Add, self.value(self.block), self.thread());
        self.moved(first, replica)
    }

    /// The iteration exists.
    pub fn inside(&self, replica: Option<VarId>) -> Expr {
        Expr::binary(BinaryOp::Lt, self.local(replica), self.value(self.left))
    }
}

/// A stage with what it copies and where to.
#[derive(Clone)]
pub(super) struct Copy {
    pub stage: crate::kernel::Stage,
    pub footprint: Footprint,
    pub shared: VarId,
}

impl Lowering<'_> {
    /// Launches a tiled nest.
    pub(super) fn tiled_nest(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        out: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        let loops = self.bound_loops(nest);
        let outer: Vec<ForLoop> =
            register_tile::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        for l in outer.iter().chain(&loops) {
            self.must_know_bounds(l, stmt)?;
        }
        let tiles = self.tiles(nest, &loops);
        let mut body = self.tiled_kernel(root, stmt, nest, &tiles)?;
        let mut launches = self.read_constants(&mut body);
        let wanted = self.nest_name(root, nest);
        let blocks = tiles.iter().map(|t| {
            let count = index::count(&self.host, &t.source);
            index::blocks(&self.host, count, t.extent.clone())
        });
        // Every iteration of the outer loops has blocks of its own.
        let blocks = outer.iter().map(|l| index::count(&self.host, l)).chain(blocks);
        let wide = tiles.len() + outer.len() > 1 || tiles.iter().any(|t| t.ty.bytes() == 8);
        let ty = if wide { Type::I64 } else { Type::I32 };
        let blocks: Vec<Expr> = blocks.map(|b| b.cast(ty.clone())).collect();
        let all = blocks.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
        let one = || Expr::int(Scalar::U32, 1);
        let grid = [all.unwrap_or_else(one).cast(Type::U32), one(), one()];
        let block = self.block_constants(nest).map(|s| s.cast(Type::U32));
        let mut launch = self.launch_of(body, &wanted, grid, block);
        launch.origin = stmt.origin.by("bind");
        launches.push(launch);
        let runs = outer.iter().chain(&loops).map(|l| index::runs(&self.host, l));
        let runs = runs.reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b));
        match runs {
            Some(cond) => {
                let then = Block::new(launches);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                out.push(Stmt::new(kind, stmt.origin.by("bind")));
            }
            None => out.extend(launches),
        }
        Ok(())
    }

    fn tiles(&mut self, nest: &Nest, loops: &[ForLoop]) -> Vec<Tile> {
        let threads = self.block_constants(nest);
        let mut tiles = vec![];
        for ((id, axis), l) in nest.axes.iter().zip(loops) {
            let name = self.host.var(l.var).name.clone();
            let factor = nest.tiles.get(id).copied().unwrap_or(1);
            let size = nest.block[axis.index()];
            let letter = axis.name().to_uppercase();
            let factor_expr = match factor {
                1 => Expr::i32(1),
                n => self.constant(
                    &format!("T{letter}"),
                    n,
                    &format!("iterations of `{name}` for a thread"),
                ),
            };
            let own = threads[axis.index()].clone();
            let extent = match factor {
                1 => own.clone(),
                n => {
                    let comment = format!("iterations of `{name}` for a block");
                    self.constant(&format!("TILE_{letter}"), size * n, &comment)
                }
            };
            let filled = self.fills_blocks(l, nest, u64::from(size) * u64::from(factor));
            let ty = index::counter_type(&self.host, l);
            let mut constant = |name: String, ty: Scalar| {
                let var = self.local(&name, Type::Scalar(ty));
                self.host.vars[var.0 as usize].constant = true;
                var
            };
            let block = constant(format!("{name}_block"), ty);
            let left = constant(format!("{name}_left"), ty);
            let number = constant(format!("block_{}", axis.name()), Scalar::U32);
            let source = l.clone();
            let axis = *axis;
            tiles.push(Tile {
                source,
                axis,
                ty,
                factor,
                factor_expr,
                threads: own,
                filled,
                extent,
                block,
                left,
                number,
            });
        }
        tiles
    }

    /// What a thread does.
    fn tiled_kernel(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        tiles: &[Tile],
    ) -> Lowered<Vec<Stmt>> {
        let copies = self.copies(root, nest, tiles);
        let mut stmts = vec![];
        for (k, copy) in copies.iter().enumerate() {
            let kind = StmtKind::Decl { var: copy.shared, init: None };
            let mut declare = Stmt::new(kind, stmt.origin.by("stage"));
            if k == 0 {
                declare.comment.push("what the block's threads read several times".into());
            }
            stmts.push(declare);
        }
        let outer: Vec<ForLoop> =
            register_tile::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        stmts.extend(self.block_numbers(&outer, tiles));
        for tile in tiles {
            stmts.extend(self.block_start(tile));
        }
        let thread = self.local("thread", Type::I32);
        self.host.vars[thread.0 as usize].constant = true;
        if !copies.is_empty() {
            let kind = StmtKind::Decl { var: thread, init: Some(flat_thread(tiles)) };
            stmts.push(Stmt::new(kind, Origin::default()));
        }
        let body = tiles.last().map(|t| t.source.body.clone()).unwrap_or_default();
        let mut whole = self.private_variables(nest, &body);
        whole.extend(body.stmts);
        let peeled = self.peeled(nest, tiles, &copies, thread, &whole);
        let threads = nest.block.iter().product();
        let mut replicas = Replicas::new(self, nest, tiles, copies, thread, threads, &whole);
        let guarded = replicas.kernel(&Block::new(whole));
        match peeled {
            Some((cond, then)) => {
                let kind = StmtKind::If { cond, then, otherwise: Block::new(guarded) };
                let choice = Stmt::new(kind, stmt.origin.by("bounds"))
                    .comment("blocks whose iterations all exist need no guards");
                stmts.push(choice);
            }
            None => stmts.extend(guarded),
        }
        let mut body = Block::new(stmts);
        self.move_to_device(&mut body);
        host::own_counters(&mut self.host, &mut body);
        Ok(body.stmts)
    }

    /// The body without guards, and the condition under which a block may run it; `None` where no guards are wanted
    /// apart, or none are left.
    fn peeled(
        &mut self,
        nest: &Nest,
        tiles: &[Tile],
        copies: &[Copy],
        thread: VarId,
        whole: &[Stmt],
    ) -> Option<(Expr, Block)> {
        let open = tiles.iter().filter(|t| nest.peel && !t.filled);
        let cond = open
            .map(|t| {
                let left = Expr::var(t.left, Type::Scalar(t.ty));
                Expr::binary(BinaryOp::Ge, left, t.extent.clone().cast(Type::Scalar(t.ty)))
            })
            .reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b))?;
        let filled: Vec<Tile> = tiles.iter().map(|t| Tile { filled: true, ..t.clone() }).collect();
        let before = self.host.vars.clone();
        let threads = nest.block.iter().product();
        let mut replicas =
            Replicas::new(self, nest, &filled, copies.to_vec(), thread, threads, whole);
        let mut block = Block::new(replicas.kernel(&Block::new(whole.to_vec())));
        visit::renew_loops(&mut self.host, &mut block);
        self.renew_variables(&mut block);
        // What became an array in this copy is a plain variable again for the other one.
        self.host.vars[..before.len()].clone_from_slice(&before);
        Some((cond, block))
    }

    /// Gives a block variables of its own in place of those it declares.
    fn renew_variables(&mut self, block: &mut Block) {
        let mut declared = BTreeMap::new();
        walk::each_stmt(block, &mut |s| {
            let var = match &s.kind {
                StmtKind::Decl { var, .. } => Some(*var),
                StmtKind::For(l) if l.declares => Some(l.var),
                _ => None,
            };
            declared.extend(var.map(|v| (v, v)));
        });
        for (old, new) in &mut declared {
            let own = self.host.var(*old).clone();
            *new = self.host.add_var(own);
        }
        visit::rename_vars(block, &mut |v| declared.get(&v).copied().unwrap_or(v));
    }

    fn copies(&mut self, root: &ForLoop, nest: &Nest, tiles: &[Tile]) -> Vec<Copy> {
        let mut copies = vec![];
        for s in &nest.stages {
            // Later steps may have enlarged the tile since the stage was asked for; the check saw to the rest.
            let Ok(footprint) = stage::footprint(self.source, root.id, nest, s) else { continue };
            let var = self.host.var(s.array);
            let name = self.fresh_name(&format!("{}_shared", var.name));
            let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
            let shape = stage::shared_shape(&footprint, s);
            let ty = shape.iter().rev().fold(element, |ty, n| Type::array(ty, *n));
            let mut shared = warpsmith_ir::Var::new(name, ty, warpsmith_ir::VarKind::Shared);
            shared.origin = var.origin.by("stage");
            let mut extents = self.extents(&footprint, tiles);
            let n = extents.len();
            if s.transposed && n >= 2 {
                extents.swap(n - 1, n - 2);
            }
            if let Some(last) = extents.pop() {
                extents.push(plus(last, s.pad.into()));
            }
            shared.shape = Some(extents);
            let shared = self.host.add_var(shared);
            copies.push(Copy { stage: s.clone(), footprint, shared });
        }
        copies
    }

    /// The number of the block along each loop.
    fn block_numbers(&mut self, outer: &[ForLoop], tiles: &[Tile]) -> Vec<Stmt> {
        let mut stmts = vec![];
        let mut number = Expr::builtin(Builtin::BlockIdx(Axis::X));
        for (k, tile) in tiles.iter().enumerate().rev() {
            let name = self.host.var(tile.source.var).name.clone();
            let value = match k {
                0 if outer.is_empty() => number.clone(),
                _ => {
                    let count = index::count(&self.host, &tile.source);
                    let blocks = index::blocks(&self.host, count, tile.extent.clone());
                    let var = self.local(&format!("{name}_blocks"), Type::U32);
                    self.host.vars[var.0 as usize].constant = true;
                    let kind = StmtKind::Decl { var, init: Some(blocks.cast(Type::U32)) };
                    let mut declare = Stmt::new(kind, Origin::default());
                    if k + 1 == tiles.len() {
                        declare.comment.push(
                            "blocks are numbered along x: a grid has at most 65535 along y".into(),
                        );
                    }
                    stmts.push(declare);
                    let blocks = Expr::var(var, Type::U32);
                    let value = Expr::binary(BinaryOp::Rem, number.clone(), blocks.clone());
                    number = Expr::binary(BinaryOp::Div, number, blocks);
                    value
                }
            };
            let kind = StmtKind::Decl { var: tile.number, init: Some(value) };
            stmts.push(Stmt::new(kind, Origin::default()));
        }
        stmts.extend(self.outer_counters(outer, number));
        stmts
    }

    /// The counters of the loops around the bound ones, from what is left of the block's number.
    fn outer_counters(&mut self, outer: &[ForLoop], mut number: Expr) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (k, l) in outer.iter().enumerate().rev() {
            let ty = Type::Scalar(index::counter_type(&self.host, l));
            let own = match k {
                0 => number.clone(),
                _ => {
                    let count = index::count(&self.host, l).cast(Type::U32);
                    let own = Expr::binary(BinaryOp::Rem, number.clone(), count.clone());
                    number = Expr::binary(BinaryOp::Div, number, count);
                    own
                }
            };
            self.host.vars[l.var.0 as usize].constant = true;
            let value = index::counter_of(l, own.cast(ty));
            stmts.push(Stmt::new(
                StmtKind::Decl { var: l.var, init: Some(value) },
                Origin::default(),
            ));
        }
        stmts
    }

    /// The first iteration of the block, and how many there are from it on.
    fn block_start(&self, tile: &Tile) -> [Stmt; 2] {
        let ty = Type::Scalar(tile.ty);
        let number = Expr::var(tile.number, Type::U32).cast(ty.clone());
        let start = Expr::binary(BinaryOp::Mul, number, tile.extent.clone().cast(ty.clone()));
        let start = match index::is_const(&tile.source.first, 0) {
            true => start,
            false => Expr::binary(BinaryOp::Add, tile.source.first.clone(), start),
        };
        let block = StmtKind::Decl { var: tile.block, init: Some(start) };
        let from = Expr::var(tile.block, ty.clone());
        let mut left = Expr::binary(BinaryOp::Sub, tile.source.limit.clone(), from);
        if tile.source.compare == BinaryOp::Le {
            left = Expr::binary(BinaryOp::Add, left, Expr::int(tile.ty, 1));
        }
        let left = StmtKind::Decl { var: tile.left, init: Some(left) };
        [Stmt::new(block, Origin::default()), Stmt::new(left, Origin::default())]
    }
}

/// The thread's number in its block.
fn flat_thread(tiles: &[Tile]) -> Expr {
    let threads: BTreeMap<usize, Expr> =
        tiles.iter().map(|t| (t.axis.index(), t.threads.clone())).collect();
    let mut sum: Option<Expr> = None;
    for axis in Axis::ALL.into_iter().rev() {
        let Some(width) = threads.get(&axis.index()) else { continue };
        let thread = Expr::builtin(Builtin::ThreadIdx(axis)).cast(Type::I32);
        sum = Some(match sum {
            None => thread,
            Some(s) => {
                let rows = Expr::binary(BinaryOp::Mul, s, width.clone());
                Expr::binary(BinaryOp::Add, rows, thread)
            }
        });
    }
    sum.unwrap_or_else(|| Expr::i32(0))
}
