//! Bound nests whose blocks compute tiles: several iterations a thread, reads through shared memory.
//!
//! A block computes a box of iterations, `threads × iterations a thread` along each bound loop. All threads of a block
//! stay to the end, since they meet at barriers: what excess threads must not do is under a condition of its own. Blocks
//! are counted along x only, where a grid may have 2^31 - 1 of them.

use std::collections::BTreeMap;

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ForLoop, LoopId, Origin, Scalar, Stmt, StmtKind, Type,
    VarId, visit,
};

use crate::analysis::loops;
use crate::build::conditions::all_of;
use crate::build::stmts::declare;
use crate::build::threads::flat_thread;
use crate::build::{counters, trips};
use crate::kernel::Nest;
use crate::legalise::scope::{About, Lowered};
use crate::rewrite::edit::draft::{Draft, Machine};
use crate::rewrite::persist::strides::TileNumbers;
use crate::rewrite::register_tile::expansion::{BlockThreads, Expansion};
use crate::rewrite::register_tile::tile::{Begin, BlockPlace, Tile};
use crate::rewrite::share::sharing::Sharing;
use crate::rewrite::stage::copied::Copy;
use crate::walk;

/// The loop as its blocks begin, and where its first iteration is if that is later.
fn aligned(l: &ForLoop, nest: &Nest, width: u32) -> (ForLoop, Option<Begin>) {
    let Some(wanted) = nest.aligned.get(&l.id).copied() else { return (l.clone(), None) };
    let unit = if width > 1 { wanted.min(width) } else { wanted };
    let past = nest.multiples.past_multiple(&l.first, unit);
    if past == Some(0) {
        return (l.clone(), None);
    }
    let first = counters::aligned_first(l, unit, &nest.multiples);
    let begin = Begin { first: l.first.clone(), past, width: unit };
    (ForLoop { first, ..l.clone() }, Some(begin))
}

impl Draft<'_> {
    /// A nest whose blocks compute tiles.
    pub(crate) fn tiled_nest(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
    ) -> Lowered<Vec<Stmt>> {
        let loops = self.bound_loops(nest);
        let outer: Vec<ForLoop> =
            loops::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        let around: Vec<ForLoop> = outer.iter().chain(&loops).cloned().collect();
        for l in &around {
            self.must_know_bounds(l, stmt)?;
        }
        let tiles = self.tiles(nest, &loops);
        let strides = nest.resident.map(|_| self.tile_numbers());
        let text = self.tiled_kernel(root, stmt, nest, (&tiles, strides));
        let name = self.scope.kernel_name(&root.body.stmts, &nest.label);
        let blocks = tiles.iter().map(|t| {
            let count = trips::count(&self.scope.host, &t.source);
            trips::blocks(&self.scope.host, count, t.extent.clone())
        });
        // Every iteration of the outer loops has blocks of its own.
        let blocks = outer.iter().map(|l| trips::count(&self.scope.host, l)).chain(blocks);
        let wide = tiles.len() + outer.len() > 1 || tiles.iter().any(|t| t.ty.bytes() == 8);
        let ty = if wide { Type::I64 } else { Type::I32 };
        let blocks: Vec<Expr> = blocks.map(|b| b.cast(ty.clone())).collect();
        let all = blocks.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
        let one = || Expr::int(Scalar::U32, 1);
        let all = all.unwrap_or_else(one);
        let mut launch = vec![];
        let blocks = match strides.zip(nest.resident) {
            Some((strides, most)) => self.at_most_resident(strides, all, most, &mut launch),
            None => all.cast(Type::U32),
        };
        let grid = [blocks, one(), one()];
        let machine = Machine { grid, block: self.block_constants(nest), threads: nest.block };
        let mut bound = self.on(machine, text, About { name, comment: None });
        bound.origin = stmt.origin.by("bind");
        launch.push(bound);
        Ok(self.where_all_run(&around, launch, &stmt.origin.by("bind")))
    }

    fn tiles(&mut self, nest: &Nest, loops: &[ForLoop]) -> Vec<Tile> {
        let threads = self.block_constants(nest);
        let axes = nest.axes.iter().zip(loops);
        axes.map(|(axis, l)| self.tile(nest, *axis, l, &threads)).collect()
    }

    fn tile(
        &mut self,
        nest: &Nest,
        (id, axis): (LoopId, Axis),
        l: &ForLoop,
        threads: &[Expr; 3],
    ) -> Tile {
        let name = self.scope.host.var(l.var).name.clone();
        let width = nest.vectors.get(&id).copied().unwrap_or(1);
        let (source, begin) = aligned(l, nest, width);
        let l = &source;
        let factor = nest.tiles.get(&id).copied().unwrap_or(1);
        let size = nest.block[axis.index()];
        let (factor_expr, own, abreast, extent) =
            self.extents_of(nest, (&name, axis), factor, &threads[axis.index()]);
        let filled = begin.is_none()
            && (size * factor == 1
                || self.fills_blocks(l, nest, u64::from(size) * u64::from(factor)));
        let groups = begin.is_some()
            && width > 1
            && self.fills_groups(l, nest, u64::from(size) * u64::from(factor), width);
        let ty = counters::counter_type(&self.scope.host, l);
        let mut constant = |name: String, ty: Scalar| {
            let var = self.scope.local(&name, Type::Scalar(ty));
            self.scope.host.vars[var.0 as usize].constant = true;
            var
        };
        let thread = (size > 1).then(|| constant(format!("{name}_thread"), ty));
        let block = constant(format!("{name}_block"), ty);
        let left = constant(format!("{name}_left"), ty);
        let number = constant(format!("block_{}", axis.name()), Scalar::U32);
        Tile {
            source,
            axis,
            ty,
            factor,
            factor_expr,
            width,
            abreast,
            threads: own,
            filled,
            begin,
            groups,
            own: thread,
            extent,
            place: BlockPlace { first: block, left, number },
        }
    }

    /// Iterations of a thread, threads of a block, those of them abreast, and iterations of a block.
    fn extents_of(
        &mut self,
        nest: &Nest,
        (name, axis): (&str, Axis),
        factor: u32,
        threads: &Expr,
    ) -> (Expr, Expr, Expr, Expr) {
        let size = nest.block[axis.index()];
        let letter = axis.name().to_uppercase();
        let factor_expr = match factor {
            1 => Expr::i32(1),
            n => self.scope.constant(
                &format!("T{letter}"),
                n,
                &format!("iterations of `{name}` for a thread"),
            ),
        };
        let own = match size {
            1 => Expr::i32(1),
            _ => threads.clone(),
        };
        let abreast = match nest.lanes.map(|l| l[axis.index()]) {
            None => own.clone(),
            Some(1) => Expr::i32(1),
            Some(lanes) => {
                let comment = format!("lanes of a warp along {}", axis.name());
                self.scope.constant(&format!("LANES_{letter}"), lanes, &comment)
            }
        };
        let extent = match factor {
            1 => own.clone(),
            n => {
                let comment = format!("iterations of `{name}` for a block");
                self.scope.constant(&format!("TILE_{letter}"), size * n, &comment)
            }
        };
        (factor_expr, own, abreast, extent)
    }

    /// The threads of a block along x, y and z.
    fn block_threads(&mut self, nest: &Nest, tiles: &[Tile]) -> [Expr; 3] {
        Axis::ALL.map(|axis| {
            if let Some(team) = nest.team.as_ref().filter(|t| t.axis == axis) {
                return self.team_size(team);
            }
            let along = tiles.iter().find(|t| t.axis == axis);
            along.map_or_else(|| Expr::i32(1), |t| t.threads.clone())
        })
    }

    /// What a thread does.
    fn tiled_kernel(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        (tiles, strides): (&[Tile], Option<TileNumbers>),
    ) -> Vec<Stmt> {
        let copies = self.copies(root, nest, tiles);
        let declared = self.shared_declarations(
            self.shared_bytes(root, nest),
            &copies,
            &stmt.origin.by("stage"),
        );
        let outer: Vec<ForLoop> =
            loops::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        let number = strides.map_or_else(
            || Expr::builtin(Builtin::BlockIdx(Axis::X)),
            |s| Expr::var(s.tile, Type::U32),
        );
        let mut stmts = self.block_numbers(nest, &outer, tiles, number);
        for tile in tiles {
            stmts.extend(self.block_start(tile));
        }
        let thread = self.scope.local("thread", Type::I32);
        self.scope.host.vars[thread.0 as usize].constant = true;
        if !copies.is_empty() || nest.lanes.is_some() {
            let threads = self.block_threads(nest, tiles);
            stmts.push(declare(thread, flat_thread(&threads)));
        }
        stmts.extend(self.thread_starts(nest, tiles, thread));
        let body = tiles.last().map(|t| t.source.body.clone()).unwrap_or_default();
        stmts.extend(self.leave_outside(nest, tiles, &body.stmts));
        let mut whole = self.private_variables(nest, &body);
        whole.extend(body.stmts);
        let sharing = self.sharing(nest, tiles, &mut whole, &mut stmts);
        let peeled = self.peeled(nest, tiles, (&copies, &sharing), thread, &whole);
        let threads = BlockThreads { own: thread, count: nest.block.iter().product() };
        let mut replicas = Expansion::new(self, nest, tiles, copies, threads, &whole);
        replicas.sharing = sharing;
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
        match strides {
            Some(strides) => self.over_tiles(strides, declared, stmts),
            None => declared.into_iter().chain(stmts).collect(),
        }
    }

    /// The body without guards, and the condition under which a block may run it; `None` where no guards are wanted
    /// apart, or none are left.
    fn peeled(
        &mut self,
        nest: &Nest,
        tiles: &[Tile],
        (copies, sharing): (&[Copy], &Option<Sharing>),
        thread: VarId,
        whole: &[Stmt],
    ) -> Option<(Expr, Block)> {
        let open = tiles.iter().filter(|t| nest.peel && !t.filled && !t.groups);
        let conditions = open.flat_map(Tile::whole_block);
        let cond = all_of(conditions)?;
        let filled: Vec<Tile> = tiles.iter().map(Tile::in_whole_block).collect();
        let before = self.scope.host.vars.clone();
        let threads = BlockThreads { own: thread, count: nest.block.iter().product() };
        let mut replicas = Expansion::new(self, nest, &filled, copies.to_vec(), threads, whole);
        replicas.sharing.clone_from(sharing);
        let mut block = Block::new(replicas.kernel(&Block::new(whole.to_vec())));
        visit::renew_loops(&mut self.scope.host, &mut block);
        self.renew_variables(&mut block);
        // What became an array in this copy is a plain variable again for the other one.
        self.scope.host.vars[..before.len()].clone_from_slice(&before);
        Some((cond, block))
    }

    /// Gives a block variables of its own in place of those it declares.
    pub(crate) fn renew_variables(&mut self, block: &mut Block) {
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
            let own = self.scope.host.var(*old).clone();
            *new = self.scope.host.add_var(own);
        }
        visit::rename_vars(block, &mut |v| declared.get(&v).copied().unwrap_or(v));
    }

    /// The first iteration of the block, and how many there are from it on.
    fn block_start(&self, tile: &Tile) -> [Stmt; 2] {
        let ty = Type::Scalar(tile.ty);
        let number = Expr::var(tile.place.number, Type::U32).cast(ty.clone());
        let start = match counters::is_const(&tile.extent, 1) {
            true => number,
            false => Expr::binary(BinaryOp::Mul, number, tile.extent.clone().cast(ty.clone())),
        };
        let start = match counters::is_const(&tile.source.first, 0) {
            true => start,
            false => Expr::binary(BinaryOp::Add, tile.source.first.clone(), start),
        };
        let comment = tile.begin.as_ref().map(|begin| {
            let from = match (tile.source.first.as_const(), begin.first.as_const()) {
                (Some(a), Some(b)) => format!("from {} on, not from {}", a.as_i64(), b.as_i64()),
                _ => "from before the first iteration on".to_string(),
            };
            format!("{from}: vectors of {} elements are aligned there", begin.width)
        });
        let block = StmtKind::Decl { var: tile.place.first, init: Some(start) };
        let from = Expr::var(tile.place.first, ty.clone());
        let mut left = Expr::binary(BinaryOp::Sub, tile.source.limit.clone(), from);
        if tile.source.compare == BinaryOp::Le {
            left = Expr::binary(BinaryOp::Add, left, Expr::int(tile.ty, 1));
        }
        let left = StmtKind::Decl { var: tile.place.left, init: Some(left) };
        let mut block = Stmt::new(block, Origin::default());
        block.comment.extend(comment);
        [block, Stmt::new(left, Origin::default())]
    }
}
