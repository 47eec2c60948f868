//! Nests that are bound in the tree: loops over blocks, inside them loops over threads, and in these the text of one
//! thread. Nothing here knows which steps made them.

use warpsmith_ir::{
    BinaryOp, BindLevel, Block, Builtin, Collective, Expr, ExprKind, Fill, ForLoop, LaunchBounds,
    LoopKind, Origin, Place, PlaceKind, Scalar, Stmt, StmtKind, Type, VarId, VarKind, visit,
};

use super::scope::Lowered;
use super::{Lowering, host};
use crate::build::arithmetic::product;
use crate::build::stmts::{declare, undefined};
use crate::build::threads::flat_thread;
use crate::build::{counters, trips};
use crate::walk;

/// Threads of which each may have 255 registers, the most there are: a multiprocessor has 65536.
const ANY_REGISTERS: u32 = 257;

/// The machine around a thread's text.
struct Launched {
    /// Extents, of the types that the tree gives them.
    grid: [Expr; 3],
    block: [Expr; 3],
    /// Threads of a block.
    extents: [u32; 3],
    /// Loops over blocks, of which each has to run at all; `None`: they do.
    loops: Option<Vec<ForLoop>>,
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
        let about = self.scope.launches.get(&root.id).cloned();
        let one = || Expr::int(Scalar::U32, 1);
        let (grid, block) = ([(); 3].map(|()| one()), [(); 3].map(|()| one()));
        let loops = about.is_none().then(Vec::new);
        let mut launched = Launched { grid, block, extents: [1; 3], loops, shared: vec![] };
        let mut stmts = vec![];
        self.enter(root, &mut launched, &mut stmts)?;
        let declared = launched.shared.iter().map(|v| undefined(*v));
        let mut body = Block::new(declared.chain(stmts).collect());
        end_threads(&mut body);
        self.move_to_device(&mut body);
        host::own_counters(&mut self.scope.host, &mut body);
        self.carve(&mut body);
        let dynamic = self.dynamic_shared(&mut body);
        let mut stmts = body.stmts;
        let mut launches = self.read_constants(&mut stmts);
        let wanted = match &about {
            Some(about) => about.name.clone(),
            None => self.scope.kernel_name(&stmts, ""),
        };
        let extents = |of: [Expr; 3]| of.map(|e| e.cast(Type::U32));
        let (grid, block) = (extents(launched.grid), extents(launched.block));
        let mut launch = self.launch_of(stmts, &wanted, grid, block);
        self.limit_registers(&launch, launched.extents.iter().product());
        launch.origin = stmt.origin.clone();
        launch.comment.extend(about.and_then(|a| a.comment));
        if let (Some(bytes), StmtKind::Launch(l)) = (dynamic, &mut launch.kind) {
            let comment = "bytes of dynamic shared memory for a block";
            l.shared = self.scope.constant("SHARED_BYTES", bytes, comment).cast(Type::U32);
        }
        launches.push(launch);
        let runs = launched.loops.and_then(|l| trips::all_run(&self.scope.host, &l));
        match runs {
            Some(cond) => {
                let then = Block::new(launches);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                out.push(Stmt::new(kind, stmt.origin.clone()));
            }
            None => out.extend(launches),
        }
        Ok(())
    }

    /// A thread of a large block may not have as many registers as compilers give to one of a block that they know nothing of.
    fn limit_registers(&mut self, launch: &Stmt, threads: u32) {
        if let StmtKind::Launch(launch) = &launch.kind
            && threads > ANY_REGISTERS
        {
            let kernel = &mut self.scope.module.functions[launch.kernel.0 as usize];
            let bounds = LaunchBounds { max_threads: threads, min_blocks: None };
            kernel.launch_bounds = Some(bounds);
        }
    }

    /// The bytes of dynamic shared memory that a thread's text declares. The launch says how many: the declaration does
    /// not any more.
    fn dynamic_shared(&mut self, body: &mut Block) -> Option<u32> {
        struct Retype(VarId, Type);
        impl visit::Rewriter for Retype {
            fn place(&mut self, place: &mut Place) {
                visit::rewrite_place(self, place);
                if *place.kind == PlaceKind::Var(self.0) {
                    place.ty = self.1.clone();
                }
            }
        }
        let dynamic = |v: &VarId| self.scope.host.var(*v).kind == VarKind::DynamicShared;
        let var = walk::declared(body).into_iter().find(dynamic)?;
        let bytes = self.scope.host.var(var).ty.extents().iter().product::<u64>();
        let ty = Type::array(Type::Scalar(Scalar::U8), 0);
        self.scope.host.vars[var.0 as usize].ty = ty.clone();
        visit::Rewriter::block(&mut Retype(var, ty), body);
        (bytes > 0).then(|| u32::try_from(bytes).unwrap_or(u32::MAX))
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
                launched.grid[axis.index()] = match &mut launched.loops {
                    Some(loops) => {
                        loops.push(ForLoop { body: Block::default(), ..l.clone() });
                        trips::count(&self.scope.host, l)
                    }
                    None => l.limit.clone(),
                };
                Builtin::BlockIdx(axis)
            }
            _ => {
                launched.block[axis.index()].clone_from(&l.limit);
                launched.extents[axis.index()] = binding.extent.unwrap_or(1);
                Builtin::ThreadIdx(axis)
            }
        };
        let ty = Type::Scalar(counters::counter_type(&self.scope.host, l));
        if walk::times_mentioned(&l.body, l.var) > 0 {
            let value = counters::counter_of(l, Expr::builtin(number).cast(ty));
            stmts.push(declare(l.var, value));
        }
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
        let threads: Vec<Expr> = launched.block.iter().map(|e| e.clone().cast(Type::I32)).collect();
        let elements: u32 = fill.counters.iter().map(|(_, n)| n).product();
        let number = match fill.counters.as_slice() {
            [(only, _)] => *only,
            _ => self.scope.local("element", Type::I32),
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
            id: self.scope.host.fresh_loop(),
            var: number,
            declares: true,
            first: flat_thread(&launched.block.clone().map(|e| e.cast(Type::I32))),
            compare: BinaryOp::Lt,
            limit: Expr::i32(elements as i32),
            step: product(&threads),
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

/// Where a thread has one iteration only, the end of the iteration is the end of the thread.
fn end_threads(block: &mut Block) {
    for stmt in &mut block.stmts {
        match &mut stmt.kind {
            StmtKind::Continue => stmt.kind = StmtKind::Return(None),
            StmtKind::For(_) | StmtKind::Loop { .. } => {}
            _ => walk::blocks_mut(stmt).into_iter().for_each(end_threads),
        }
    }
}
