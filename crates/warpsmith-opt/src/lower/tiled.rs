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

use super::expansion::Expansion;
use super::team::Sharing;
use super::{Lowered, Lowering, host};
use crate::analysis::footprint::Footprint;
use crate::analysis::loops;
use crate::analysis::swizzle::Swizzle;
use crate::build::arithmetic::offset;
use crate::build::counters;
use crate::build::stmts::declare;
use crate::kernel::Nest;
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
    /// Neighbouring iterations that a thread has together.
    pub width: u32,
    /// Threads whose groups of iterations lie side by side, as a named constant: those of the block along the axis, or
    /// the lanes of a warp.
    pub abreast: Expr,
    /// Threads of the block along the axis, as a named constant.
    pub threads: Expr,
    /// Iterations of a block.
    pub extent: Expr,
    /// The loop's iterations fill all blocks.
    pub filled: bool,
    /// Blocks begin at a multiple of a vector, and the first iteration comes after that.
    pub begin: Option<Begin>,
    /// Of each group of neighbouring iterations at least one exists.
    pub groups: bool,
    /// Variable: the thread's first iteration, counted from the block's; `None`: a block has one thread along the loop.
    pub own: Option<VarId>,
    /// Variable: the first iteration of the block.
    pub block: VarId,
    /// Variable: iterations from there to the end of the loop.
    pub left: VarId,
    /// Variable: the block's number along the loop.
    pub number: VarId,
}

/// Where a loop begins whose blocks begin before it.
#[derive(Clone)]
pub(super) struct Begin {
    pub first: Expr,
    /// Iterations from the start of the first block to the first, if that is known.
    pub past: Option<u32>,
    /// Blocks begin at multiples of it.
    pub width: u32,
}

impl Tile {
    pub(super) fn value(&self, var: VarId) -> Expr {
        Expr::var(var, Type::Scalar(self.ty))
    }

    /// How far a thread's iteration is from its first one, as terms of a sum.
    fn offset(&self, replica: &Replica) -> Vec<Expr> {
        let r = Expr::var(replica.var, Type::I32);
        let times = |a: Expr, b: Expr| match counters::is_const(&b, 1) {
            true => a,
            false => Expr::binary(BinaryOp::Mul, a, b),
        };
        let terms = match replica.at {
            // The variable counts from group to group.
            Some(0) => vec![times(r, self.abreast.clone())],
            Some(at) => vec![times(r, self.abreast.clone()), Expr::i32(at as i32)],
            None if self.width == self.factor => vec![r],
            None if self.width == 1 => vec![times(r, self.abreast.clone())],
            None => {
                let width = || Expr::i32(self.width as i32);
                let group = Expr::binary(BinaryOp::Div, r.clone(), width());
                let groups = Expr::binary(BinaryOp::Mul, width(), self.abreast.clone());
                let inside = Expr::binary(BinaryOp::Rem, r, width());
                vec![Expr::binary(BinaryOp::Mul, group, groups), inside]
            }
        };
        terms.into_iter().map(|t| t.cast(Type::Scalar(self.ty))).collect()
    }

    /// The terms of [`local`].
    fn terms(&self, replica: Option<&Replica>) -> Vec<Expr> {
        let own = self.own.map(|v| self.value(v));
        own.into_iter().chain(replica.into_iter().flat_map(|r| self.offset(r))).collect()
    }

    /// The iteration's number in the block, for one of the thread's iterations.
    pub fn local(&self, replica: Option<&Replica>) -> Expr {
        let sum = self.terms(replica).into_iter().reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
        sum.unwrap_or_else(|| Expr::int(self.ty, 0))
    }

    /// The loop's counter.
    pub fn counter(&self, replica: Option<&Replica>) -> Expr {
        let add = |a, b| Expr::binary(BinaryOp::Add, a, b);
        self.terms(replica).into_iter().fold(self.value(self.block), add)
    }

    /// The iteration exists; of a group, the last iterations may not.
    pub fn inside(&self, replica: Option<&Replica>) -> Expr {
        let ended = Expr::binary(BinaryOp::Lt, self.local(replica), self.value(self.left));
        match &self.begin {
            Some(begin) if replica.is_none_or(|r| r.at.is_none()) => {
                let counter = self.value(self.source.var);
                let begun = Expr::binary(BinaryOp::Ge, counter, begin.first.clone());
                Expr::binary(BinaryOp::LogicalAnd, begun, ended)
            }
            _ => ended,
        }
    }
}

/// One of a thread's iterations of a tiled loop.
#[derive(Clone, Copy)]
pub(super) struct Replica {
    /// Variable: its number among the thread's; or, with `at`, that of the first of its group.
    pub var: VarId,
    /// Its place in the group.
    pub at: Option<u32>,
}

impl Tile {
    /// The ends of rows are treated apart where the iterations of a thread come in groups.
    fn ends_apart(&self) -> bool {
        self.begin.is_some() && self.width > 1
    }

    /// The conditions under which all iterations of a block exist, or one of each group where the ends of rows are
    /// treated apart.
    fn whole_block(&self) -> Vec<Expr> {
        let ty = Type::Scalar(self.ty);
        let (left, extent) = (self.value(self.left), self.extent.clone().cast(ty));
        if self.ends_apart() {
            let before_last = offset(extent, -i64::from(self.width));
            return vec![Expr::binary(BinaryOp::Gt, left, before_last)];
        }
        let begun = self
            .begin
            .as_ref()
            .map(|begin| Expr::binary(BinaryOp::Ge, self.value(self.block), begin.first.clone()));
        let ended = Expr::binary(BinaryOp::Ge, left, extent);
        begun.into_iter().chain([ended]).collect()
    }

    /// The loop in such a block.
    fn in_whole_block(&self) -> Tile {
        match self.ends_apart() {
            true => Tile { groups: true, ..self.clone() },
            false => Tile { filled: true, begin: None, ..self.clone() },
        }
    }
}

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

impl Replica {
    /// The iteration's number among the thread's.
    pub fn number(&self) -> Expr {
        offset(Expr::var(self.var, Type::I32), self.at.unwrap_or(0).into())
    }
}

/// A stage with what it copies and where to.
#[derive(Clone)]
pub(super) struct Copy {
    pub stage: crate::kernel::Stage,
    pub footprint: Footprint,
    /// Variable: the array in shared memory, or a pointer to its first part in dynamic shared memory.
    pub shared: VarId,
    /// The array's type.
    pub ty: Type,
    /// How its columns are permuted, and the number of permutations as a named constant.
    pub swizzle: Option<(Swizzle, Expr)>,
    /// Elements are read more than once.
    pub reused: bool,
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
            loops::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        for l in outer.iter().chain(&loops) {
            self.must_know_bounds(l, stmt)?;
        }
        let tiles = self.tiles(nest, &loops);
        let mut body = self.tiled_kernel(root, stmt, nest, &tiles)?;
        let mut launches = self.read_constants(&mut body);
        let wanted = self.nest_name(root, nest);
        let blocks = tiles.iter().map(|t| {
            let count = counters::count(&self.host, &t.source);
            counters::blocks(&self.host, count, t.extent.clone())
        });
        // Every iteration of the outer loops has blocks of its own.
        let blocks = outer.iter().map(|l| counters::count(&self.host, l)).chain(blocks);
        let wide = tiles.len() + outer.len() > 1 || tiles.iter().any(|t| t.ty.bytes() == 8);
        let ty = if wide { Type::I64 } else { Type::I32 };
        let blocks: Vec<Expr> = blocks.map(|b| b.cast(ty.clone())).collect();
        let all = blocks.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
        let one = || Expr::int(Scalar::U32, 1);
        let grid = [all.unwrap_or_else(one).cast(Type::U32), one(), one()];
        let block = self.block_constants(nest).map(|s| s.cast(Type::U32));
        let mut launch = self.launch_of(body, &wanted, grid, block);
        launch.origin = stmt.origin.by("bind");
        self.ask_for_shared(root, nest, &mut launch);
        launches.push(launch);
        match counters::all_run(&self.host, outer.iter().chain(&loops)) {
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
        let name = self.host.var(l.var).name.clone();
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
        let ty = counters::counter_type(&self.host, l);
        let mut constant = |name: String, ty: Scalar| {
            let var = self.local(&name, Type::Scalar(ty));
            self.host.vars[var.0 as usize].constant = true;
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
            block,
            left,
            number,
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
            n => self.constant(
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
                self.constant(&format!("LANES_{letter}"), lanes, &comment)
            }
        };
        let extent = match factor {
            1 => own.clone(),
            n => {
                let comment = format!("iterations of `{name}` for a block");
                self.constant(&format!("TILE_{letter}"), size * n, &comment)
            }
        };
        (factor_expr, own, abreast, extent)
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
        let mut stmts = self.shared_declarations(&copies, &stmt.origin.by("stage"));
        let outer: Vec<ForLoop> =
            loops::outer_loops(self.source, root.id, nest).into_iter().cloned().collect();
        stmts.extend(self.block_numbers(nest, &outer, tiles));
        for tile in tiles {
            stmts.extend(self.block_start(tile));
        }
        let thread = self.local("thread", Type::I32);
        self.host.vars[thread.0 as usize].constant = true;
        if !copies.is_empty() || nest.lanes.is_some() {
            stmts.push(declare(thread, flat_thread(&threads_of(tiles))));
        }
        stmts.extend(self.thread_starts(nest, tiles, thread));
        let body = tiles.last().map(|t| t.source.body.clone()).unwrap_or_default();
        stmts.extend(self.leave_outside(nest, tiles, &body.stmts));
        let mut whole = self.private_variables(nest, &body);
        whole.extend(body.stmts);
        let sharing = self.sharing(nest, tiles, &mut whole, &mut stmts);
        let peeled = self.peeled(nest, tiles, (&copies, &sharing), thread, &whole);
        let threads = nest.block.iter().product();
        let mut replicas = Expansion::new(self, nest, tiles, copies, thread, threads, &whole);
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
        (copies, sharing): (&[Copy], &Option<Sharing>),
        thread: VarId,
        whole: &[Stmt],
    ) -> Option<(Expr, Block)> {
        let open = tiles.iter().filter(|t| nest.peel && !t.filled && !t.groups);
        let conditions = open.flat_map(Tile::whole_block);
        let cond = conditions.reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b))?;
        let filled: Vec<Tile> = tiles.iter().map(Tile::in_whole_block).collect();
        let before = self.host.vars.clone();
        let threads = nest.block.iter().product();
        let mut replicas =
            Expansion::new(self, nest, &filled, copies.to_vec(), thread, threads, whole);
        replicas.sharing.clone_from(sharing);
        let mut block = Block::new(replicas.kernel(&Block::new(whole.to_vec())));
        visit::renew_loops(&mut self.host, &mut block);
        self.renew_variables(&mut block);
        // What became an array in this copy is a plain variable again for the other one.
        self.host.vars[..before.len()].clone_from_slice(&before);
        Some((cond, block))
    }

    /// Gives a block variables of its own in place of those it declares.
    pub(super) fn renew_variables(&mut self, block: &mut Block) {
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

    /// The first iteration of the block, and how many there are from it on.
    fn block_start(&self, tile: &Tile) -> [Stmt; 2] {
        let ty = Type::Scalar(tile.ty);
        let number = Expr::var(tile.number, Type::U32).cast(ty.clone());
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
        let block = StmtKind::Decl { var: tile.block, init: Some(start) };
        let from = Expr::var(tile.block, ty.clone());
        let mut left = Expr::binary(BinaryOp::Sub, tile.source.limit.clone(), from);
        if tile.source.compare == BinaryOp::Le {
            left = Expr::binary(BinaryOp::Add, left, Expr::int(tile.ty, 1));
        }
        let left = StmtKind::Decl { var: tile.left, init: Some(left) };
        let mut block = Stmt::new(block, Origin::default());
        block.comment.extend(comment);
        [block, Stmt::new(left, Origin::default())]
    }
}

/// The threads of a block along x, y and z.
fn threads_of(tiles: &[Tile]) -> [Expr; 3] {
    Axis::ALL.map(|axis| {
        let along = tiles.iter().find(|t| t.axis == axis);
        along.map_or_else(|| Expr::i32(1), |t| t.threads.clone())
    })
}

/// The thread's number in a block of these threads along x, y and z: x varies fastest.
pub(super) fn flat_thread(block: &[Expr; 3]) -> Expr {
    let used = Axis::ALL.into_iter().zip(block).rev().filter(|(_, n)| !counters::is_const(n, 1));
    let numbers =
        used.map(|(axis, n)| (Expr::builtin(Builtin::ThreadIdx(axis)).cast(Type::I32), n));
    let sum = numbers.fold(None, |sum: Option<Expr>, (thread, width)| match sum {
        None => Some(thread),
        Some(rows) => {
            let rows = Expr::binary(BinaryOp::Mul, rows, width.clone());
            Some(Expr::binary(BinaryOp::Add, rows, thread))
        }
    });
    sum.unwrap_or_else(|| Expr::i32(0))
}
