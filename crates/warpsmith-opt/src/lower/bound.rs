//! Nests that are bound in the tree: loops over blocks, inside them loops over threads, and in these the text of one
//! thread. Nothing here knows which steps made them.

use warpsmith_ir::{
    BinaryOp, BindLevel, Block, Builtin, Collective, Expr, ExprKind, Fill, ForLoop, LoopKind,
    Origin, Place, Scalar, Stmt, StmtKind, Type, VarId,
};

use super::tiled::flat_thread;
use super::{Lowered, Lowering, host};
use crate::build::counters;
use crate::build::stmts::declare;
use crate::walk;

/// Whether a loop is one over the blocks of a grid.
pub(super) fn is_grid(l: &ForLoop) -> bool {
    matches!(&l.kind, LoopKind::Bound(b) if b.level == BindLevel::Grid)
}

/// The machine around a thread's text.
struct Launched {
    /// Extents, of the types that the tree gives them.
    grid: [Expr; 3],
    block: [Expr; 3],
    /// Threads of a block.
    extents: [u32; 3],
    /// Loops over blocks, of which each has to run at all.
    loops: Vec<ForLoop>,
    /// Arrays in shared memory that the threads' text needs besides those of the tree.
    shared: Vec<VarId>,
}

impl Lowering<'_> {
    /// Launches a nest that is bound in the tree.
    pub(super) fn bound_nest(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        out: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        let one = || Expr::i32(1);
        let (grid, block) = ([(); 3].map(|()| one()), [(); 3].map(|()| one()));
        let (extents, loops, shared) = ([1; 3], vec![], vec![]);
        let mut launched = Launched { grid, block, extents, loops, shared };
        let mut stmts = vec![];
        self.enter(root, &mut launched, &mut stmts)?;
        let declared =
            |v: &VarId| Stmt::new(StmtKind::Decl { var: *v, init: None }, Origin::default());
        let mut body = Block::new(launched.shared.iter().map(declared).chain(stmts).collect());
        self.move_to_device(&mut body);
        host::own_counters(&mut self.host, &mut body);
        let mut stmts = body.stmts;
        let mut launches = self.read_constants(&mut stmts);
        let wanted = self.kernel_name(&stmts, "");
        let extents = |of: [Expr; 3]| of.map(|e| e.cast(Type::U32));
        let (grid, block) = (extents(launched.grid), extents(launched.block));
        let mut launch = self.launch_of(stmts, &wanted, grid, block);
        launch.origin = stmt.origin.clone();
        launches.push(launch);
        match counters::all_run(&self.host, &launched.loops) {
            Some(cond) => {
                let then = Block::new(launches);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                out.push(Stmt::new(kind, stmt.origin.clone()));
            }
            None => out.extend(launches),
        }
        Ok(())
    }

    /// A bound loop: its counter is the hardware's number.
    fn enter(
        &mut self,
        l: &ForLoop,
        launched: &mut Launched,
        stmts: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        let LoopKind::Bound(binding) = &l.kind else { return Ok(()) };
        let axis = binding.axis;
        let number = match binding.level {
            BindLevel::Grid => {
                launched.grid[axis.index()] = counters::count(&self.host, l);
                launched.loops.push(ForLoop { body: Block::default(), ..l.clone() });
                Builtin::BlockIdx(axis)
            }
            _ => {
                launched.block[axis.index()].clone_from(&l.limit);
                launched.extents[axis.index()] = binding.extent.unwrap_or(1);
                Builtin::ThreadIdx(axis)
            }
        };
        let ty = Type::Scalar(counters::counter_type(&self.host, l));
        let value = counters::counter_of(l, Expr::builtin(number).cast(ty));
        stmts.push(declare(l.var, value));
        for stmt in &l.body.stmts {
            match &stmt.kind {
                StmtKind::For(inner) if matches!(inner.kind, LoopKind::Bound(_)) => {
                    self.enter(inner, launched, stmts)?;
                }
                StmtKind::Decl { .. } => stmts.push(stmt.clone()),
                _ => {
                    let mut text = Block::new(vec![stmt.clone()]);
                    self.write_out(&mut text, launched, false)?;
                    stmts.extend(text.stmts);
                }
            }
        }
        Ok(())
    }

    /// Puts statements of each thread in place of what all threads do together. `again`: they come to it several times.
    fn write_out(
        &mut self,
        block: &mut Block,
        launched: &mut Launched,
        again: bool,
    ) -> Lowered<()> {
        let mut stmts = vec![];
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &stmt.kind {
                StmtKind::Collective(Collective::Fill(fill)) => {
                    stmt.kind = self.filled(&fill.clone(), launched);
                    stmts.push(stmt);
                }
                StmtKind::Collective(Collective::Combine(combine)) => {
                    let extents = launched.extents;
                    let own = self.combined(combine, extents, again, &mut launched.shared)?;
                    stmts.extend(own);
                }
                _ => {
                    let again =
                        again || matches!(stmt.kind, StmtKind::For(_) | StmtKind::Loop { .. });
                    for inner in walk::blocks_mut(&mut stmt) {
                        self.write_out(inner, launched, again)?;
                    }
                    stmts.push(stmt);
                }
            }
        }
        block.stmts = stmts;
        Ok(())
    }

    /// `for (e = thread; e < elements; e += threads) destination = within ? source : 0;`
    fn filled(&mut self, fill: &Fill, launched: &Launched) -> StmtKind {
        let product = |all: Vec<Expr>| {
            let all = all.into_iter().filter(|e| !counters::is_const(e, 1));
            all.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b)).unwrap_or_else(|| Expr::i32(1))
        };
        let threads = launched.block.iter().map(|e| e.clone().cast(Type::I32)).collect();
        let elements: u32 = fill.counters.iter().map(|(_, n)| n).product();
        let number = match fill.counters.as_slice() {
            [(only, _)] => *only,
            _ => self.local("element", Type::I32),
        };
        let mut body = vec![];
        if fill.counters.len() != 1 {
            let extents: Vec<Expr> =
                fill.counters.iter().map(|(_, n)| Expr::i32(*n as i32)).collect();
            let digits = counters::digits(Expr::var(number, Type::I32), &extents);
            body.extend(fill.counters.iter().zip(digits).map(|((var, _), at)| declare(*var, at)));
        }
        body.push(self.element_set(&fill.destination, fill));
        StmtKind::For(ForLoop {
            id: self.host.fresh_loop(),
            var: number,
            declares: true,
            first: flat_thread(&launched.block.clone().map(|e| e.cast(Type::I32))),
            compare: BinaryOp::Lt,
            limit: Expr::i32(elements as i32),
            step: product(threads),
            kind: LoopKind::Serial,
            body: Block::new(body),
        })
    }

    fn element_set(&self, place: &Place, fill: &Fill) -> Stmt {
        let ty = place.ty.clone();
        let value = match &fill.within {
            None => fill.source.clone(),
            Some(within) => {
                let zero = Expr::int(ty.scalar().unwrap_or(Scalar::I32), 0);
                let kind = ExprKind::Select(within.clone(), fill.source.clone(), zero);
                Expr::new(kind, ty, Origin::default())
            }
        };
        Stmt::new(StmtKind::Assign { place: place.clone(), value }, Origin::default())
    }
}
