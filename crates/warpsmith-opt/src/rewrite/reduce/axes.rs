//! Reductions whose loops go to axes of the grid: extents, runs of neighbours, and the numbers of threads and blocks.

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind,
    Scalar, Stmt, StmtKind, Type, VarId,
};

use crate::build::arithmetic::times;
use crate::build::conditions::select;
use crate::build::stmts::declare;
use crate::build::{counters, trips};
use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;

impl Draft<'_> {
    /// Statements that set `blocks`, the product of the blocks along the axes, and these.
    pub(crate) fn grid_by_axes(
        &mut self,
        nest: &Nest,
        blocks: VarId,
        block: &[Expr; 3],
        most: &[Expr; 3],
    ) -> (Vec<Stmt>, [Expr; 3]) {
        let mut grid = [0; 3].map(|_| Expr::i32(1));
        let mut stmts = vec![];
        for (l, (_, axis)) in self.bound_loops(nest).iter().zip(&nest.axes).rev() {
            let k = axis.index();
            if counters::is_const(&most[k], 1) {
                continue;
            }
            let needed = trips::count(&self.scope.host, l);
            let needed = trips::blocks(&self.scope.host, needed, block[k].clone());
            let (wanted, value) =
                self.at_most(&format!("wanted_{}", axis.name()), needed, most[k].clone());
            let along = self.scope.local(&format!("blocks_{}", axis.name()), Type::I32);
            self.scope.host.vars[along.0 as usize].constant = true;
            stmts.extend([wanted, declare(along, value)]);
            grid[k] = self.scope.value(along);
        }
        let all = Place::new(PlaceKind::Var(blocks), Type::I32, Origin::default());
        stmts.push(self.store(all, product(&grid)));
        (stmts, grid.map(unsigned))
    }

    /// The loops of a nest along the axes of the grid. Of the outermost one a block has a run of neighbours, so that blocks
    /// that run at the same time touch neighbours too; of the others its threads take every so many.
    pub(crate) fn by_axes(
        &mut self,
        loops: &[ForLoop],
        nest: &Nest,
        inner: Vec<Stmt>,
        stmt: &Stmt,
    ) -> Vec<Stmt> {
        let mut along = loops.iter().zip(&nest.axes);
        let Some((outermost, (_, axis))) = along.next() else { return inner };
        let (mut stmts, mut body) = self.run_of(outermost, *axis, inner, stmt);
        // The run is innermost: the addresses of rows then move together, and none is kept for each array.
        for (l, (_, axis)) in along {
            let stride = self.grid_stride(l, *axis, body);
            body = vec![Stmt::new(StmtKind::For(stride), stmt.origin.by("reduce"))];
        }
        stmts.extend(body);
        stmts
    }

    /// A block's run of neighbouring iterations of a loop: what says where it ends, and the loop.
    pub(crate) fn run_of(
        &mut self,
        l: &ForLoop,
        axis: Axis,
        inner: Vec<Stmt>,
        stmt: &Stmt,
    ) -> (Vec<Stmt>, Vec<Stmt>) {
        let name = self.scope.host.var(l.var).name.clone();
        let long = |b: Builtin| Expr::builtin(b).cast(Type::I64);
        let both = |op, a: Expr, b: Expr| Expr::binary(op, a, b);
        let one = || Expr::int(Scalar::I64, 1);
        let mut constants = vec![];
        let mut constant = |draft: &mut Self, suffix: &str, value: Expr| {
            let var = draft.scope.local(&format!("{name}_{suffix}"), Type::I64);
            draft.scope.host.vars[var.0 as usize].constant = true;
            constants.push(declare(var, value));
            Expr::var(var, Type::I64)
        };
        let count = trips::wide_count(&self.scope.host, l);
        let count = constant(self, "count", count);
        let last = both(BinaryOp::Sub, count.clone(), one());
        let run = both(BinaryOp::Div, last, long(Builtin::GridDim(axis)));
        let run = constant(self, "run", both(BinaryOp::Add, run, one()));
        let first = both(BinaryOp::Mul, long(Builtin::BlockIdx(axis)), run.clone());
        let first = constant(self, "begin", first);
        let end = both(BinaryOp::Add, first.clone(), run);
        let whole = both(BinaryOp::Lt, end.clone(), count.clone());
        let end = select(whole, end, count);
        let end = constant(self, "end", end);
        if let Some(first) = constants.first_mut() {
            first.comment.push(format!("a block has a run of neighbouring `{name}`"));
        }
        let number = self.scope.local(&format!("{name}_number"), Type::I64);
        self.scope.host.vars[l.var.0 as usize].constant = true;
        let number_of = Expr::var(number, Type::I64);
        let value = counters::counter_of_wide(&self.scope.host, l, number_of);
        let counter = StmtKind::Decl { var: l.var, init: Some(value) };
        let mut body = vec![Stmt::new(counter, Origin::default())];
        body.extend(inner);
        let run = ForLoop {
            id: self.scope.host.fresh_loop(),
            var: number,
            declares: true,
            first: both(BinaryOp::Add, first, long(Builtin::ThreadIdx(axis))),
            compare: BinaryOp::Lt,
            limit: end,
            step: long(Builtin::BlockDim(axis)),
            // Copies of the body would want a division for their number, and registers.
            kind: LoopKind::Unrolled(Some(1)),
            body: Block::new(body),
        };
        (constants, vec![Stmt::new(StmtKind::For(run), stmt.origin.by("reduce"))])
    }

    /// The extents along the axes as named constants, those of one thread or block as they are.
    pub(crate) fn shape_constants(
        &mut self,
        name: &str,
        extents: [u32; 3],
        by_axes: bool,
        comment: &str,
    ) -> [Expr; 3] {
        let mut of = |k: usize| match (by_axes, extents[k]) {
            (true, 1) => Expr::i32(1),
            (true, n) => {
                let axis = Axis::ALL[k].name();
                let name = format!("{name}_{}", axis.to_ascii_uppercase());
                self.scope.constant(&name, n, &format!("{comment}, along {axis}"))
            }
            (false, n) if k == 0 => self.scope.constant(name, n, comment),
            (false, _) => Expr::i32(1),
        };
        [of(0), of(1), of(2)]
    }

    /// The number of a thread in its block, and its declaration where it takes more than one word.
    pub(crate) fn numbered_thread(&mut self, block: [u32; 3]) -> (Option<Stmt>, Expr) {
        let number = numbered(block, Builtin::ThreadIdx, Builtin::BlockDim);
        if matches!(&*number.kind, ExprKind::Builtin(_)) {
            return (None, number);
        }
        let thread = self.scope.local("thread", Type::U32);
        self.scope.host.vars[thread.0 as usize].constant = true;
        let kind = StmtKind::Decl { var: thread, init: Some(number) };
        (Some(Stmt::new(kind, Origin::default())), self.scope.value(thread))
    }
}

/// An extent of a launch.
pub(crate) fn unsigned(extent: Expr) -> Expr {
    if counters::is_const(&extent, 1) {
        return Expr::int(Scalar::U32, 1);
    }
    extent.cast(Type::U32)
}

/// The product of numbers, without ones.
pub(crate) fn product(numbers: &[Expr; 3]) -> Expr {
    let [x, y, z] = numbers.clone();
    times(times(x, y), z)
}

/// The number of a thread in its block or of a block in its grid, the axes of more than one counted, x first.
pub(crate) fn numbered(
    extents: [u32; 3],
    at: fn(Axis) -> Builtin,
    width: fn(Axis) -> Builtin,
) -> Expr {
    let axes = Axis::ALL.into_iter().filter(|a| extents[a.index()] > 1).rev();
    let number = axes.fold(None, |outer: Option<Expr>, axis| {
        let own = Expr::builtin(at(axis));
        Some(match outer {
            None => own,
            Some(outer) => {
                let rows = Expr::binary(BinaryOp::Mul, outer, Expr::builtin(width(axis)));
                Expr::binary(BinaryOp::Add, rows, own)
            }
        })
    });
    number.unwrap_or(Expr::builtin(at(Axis::X)))
}
