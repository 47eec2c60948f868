//! Bound nests without a reduction: one kernel each.
//!
//! The loop on x becomes a guard: every thread has one iteration, `first + t * step`. Loops on y and z become
//! grid-stride loops, since a grid has at most 65535 blocks along them, unless so few are all that there ever are. Loops outside of three bound ones, and
//! everything inside, run in the thread.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Axis, BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind,
    Scalar, Stmt, StmtKind, Type, VarId, visit,
};

use crate::analysis::loops;
use crate::analysis::loops::unit_step;
use crate::build::conditions::all_of;
use crate::build::{counters, trips};
use crate::kernel::{Nest, Order, only_loop};
use crate::legalise::scope::{About, Lowered};
use crate::rewrite::edit::draft::{Draft, Machine};
use crate::walk;

/// Most blocks of a grid along y and z.
const MAX_BLOCKS_YZ: u32 = 65535;

impl Draft<'_> {
    /// A nest of which a thread runs one iteration of the loop on x.
    pub(crate) fn plain_nest(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
    ) -> Lowered<Vec<Stmt>> {
        let loops = self.bound_loops(nest);
        for l in &loops {
            self.must_know_bounds(l, stmt)?;
        }
        let text = self.nest_kernel(root, stmt, nest);
        let name = self.scope.kernel_name(&root.body.stmts, &nest.label);
        let block = self.block_constants(nest);
        let mut launch = vec![];
        let grid = self.grid(nest, &loops, &block, &mut launch);
        let machine = Machine { grid, block, threads: nest.block };
        let mut bound = self.on(machine, text, About { name, comment: None });
        bound.origin = stmt.origin.by("bind");
        launch.push(bound);
        Ok(self.where_all_run(&loops, launch, &stmt.origin.by("bind")))
    }

    /// The statements under the condition that all of these loops run at all.
    pub(crate) fn where_all_run(
        &self,
        loops: &[ForLoop],
        stmts: Vec<Stmt>,
        origin: &Origin,
    ) -> Vec<Stmt> {
        match trips::all_run(&self.scope.host, loops) {
            Some(cond) => {
                let then = Block::new(stmts);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                vec![Stmt::new(kind, origin.clone())]
            }
            None => stmts,
        }
    }

    /// Whether the loop's iterations fill blocks of `extent`, by what is known of the sizes.
    pub(crate) fn fills_blocks(&self, l: &ForLoop, nest: &Nest, extent: u64) -> bool {
        let ty = counters::counter_type(&self.scope.host, l);
        if let Some(count) = trips::constant_count(&self.scope.host, l) {
            return count.is_multiple_of(extent);
        }
        unit_step(l) && trips::sum(l, ty).is_some_and(|count| nest.multiples.divide(&count, extent))
    }

    /// Whether the loop's groups of neighbouring iterations fill blocks, if need be with a last group that is not whole.
    pub(crate) fn fills_groups(&self, l: &ForLoop, nest: &Nest, extent: u64, width: u32) -> bool {
        let ty = counters::counter_type(&self.scope.host, l);
        let count = trips::sum(l, ty);
        (0..width).any(|more| {
            let whole = count.as_ref().and_then(|n| n.add(&Poly::constant(more.into())));
            whole.is_some_and(|n| nest.multiples.divide(&n, extent))
        })
    }

    /// The named sizes of the block along x, y, z.
    pub(crate) fn block_constants(&mut self, nest: &Nest) -> [Expr; 3] {
        let names: [&str; 3] = match (nest.axes.len(), self.source.is_copying(nest)) {
            (1, false) if nest.team.is_none() => ["BLOCK"; 3],
            (1, true) => ["COPY_BLOCK"; 3],
            (_, false) => ["BX", "BY", "BZ"],
            (_, true) => ["COPY_X", "COPY_Y", "COPY_Z"],
        };
        Axis::ALL.map(|axis| {
            if let Some(team) = nest.team.as_ref().filter(|t| t.axis == axis) {
                return self.team_size(team);
            }
            if nest.axes.iter().any(|(_, a)| *a == axis) {
                let comment = format!("threads of a block along {}", axis.name());
                let size = nest.block[axis.index()];
                if size == 1 {
                    return Expr::int(warpsmith_ir::Scalar::U32, 1);
                }
                self.scope.constant(names[axis.index()], size, &comment)
            } else {
                Expr::int(warpsmith_ir::Scalar::U32, 1)
            }
        })
    }

    /// The grid; statements that compute its parts go to `before`.
    fn grid(
        &mut self,
        nest: &Nest,
        loops: &[ForLoop],
        sizes: &[Expr; 3],
        before: &mut Vec<Stmt>,
    ) -> [Expr; 3] {
        let mut grid = [(); 3].map(|()| Expr::int(warpsmith_ir::Scalar::U32, 1));
        let strided = nest.order == Order::Strides;
        for ((_, axis), l) in nest.axes.iter().zip(loops) {
            let count = trips::count(&self.scope.host, l);
            let ty = count.ty.clone();
            let blocks = trips::blocks(&self.scope.host, count, sizes[axis.index()].clone());
            if !strided && (*axis == Axis::X || self.fits_grid(l, nest, *axis)) {
                grid[axis.index()] = blocks.cast(Type::U32);
                continue;
            }
            let axes = if strided { "any axis" } else { "y or z" };
            let comment = format!("blocks of a grid along {axes}");
            let limit = self.scope.constant("MAX_BLOCKS", MAX_BLOCKS_YZ, &comment);
            let var = self.scope.local(&format!("blocks_{}", axis.name()), ty.clone());
            let stmts = at_most(var, ty.clone(), blocks, limit.cast(ty.clone()));
            before.extend(stmts);
            grid[axis.index()] = Expr::var(var, ty).cast(Type::U32);
        }
        grid
    }

    /// Whether the blocks of a loop along an axis are as many as the size of nothing decides, and a grid can have them.
    fn fits_grid(&self, l: &ForLoop, nest: &Nest, axis: Axis) -> bool {
        let count = trips::constant_count(&self.scope.host, l);
        let size = u64::from(nest.block[axis.index()]);
        count.is_some_and(|n| n.div_ceil(size) <= u64::from(MAX_BLOCKS_YZ))
    }

    /// What a thread does.
    fn nest_kernel(&mut self, root: &ForLoop, stmt: &Stmt, nest: &Nest) -> Vec<Stmt> {
        let hoisted = self.hoisted_x(root, nest);
        let mut stmts = vec![];
        if let Some(l) = &hoisted {
            let (declare, [outside, _]) = self.thread_counter(l, nest, Axis::X);
            let (wide, own) = declare;
            stmts.extend(wide);
            // The counter itself follows the guard where the guard is computed in 64 bits.
            let first = stmts.is_empty();
            let guard = leave_if(outside, &stmt.origin);
            let filled = self.fills_blocks(l, nest, nest.block[Axis::X.index()].into());
            stmts.extend(match first {
                _ if filled => vec![own],
                true => vec![own, guard],
                false => vec![guard, own],
            });
        }
        stmts.extend(self.nest_levels(root, stmt, nest, hoisted.as_ref().map(|l| l.id)));
        stmts
    }

    /// The loop on x, when its bounds are the same for all iterations of the loops around it in the kernel.
    fn hoisted_x(&self, root: &ForLoop, nest: &Nest) -> Option<ForLoop> {
        if nest.order == Order::Strides {
            return None;
        }
        let (id, _) = nest.axes.iter().find(|(_, axis)| *axis == Axis::X)?;
        let mut at = Some(root);
        while let Some(outer) = at.filter(|l| l.id != *id) {
            if !loops::bounds_independent(self.source, *id, outer.id) {
                return None;
            }
            at = only_loop(&outer.body);
        }
        self.source.find_loop(*id).cloned()
    }

    fn nest_levels(
        &mut self,
        l: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        hoisted: Option<LoopId>,
    ) -> Vec<Stmt> {
        let axis = nest.axes.iter().find(|(id, _)| *id == l.id).map(|(_, axis)| *axis);
        let bound_inside =
            nest.axes.last().is_some_and(|(id, _)| *id != l.id) && only_loop(&l.body).is_some();
        let inner = match only_loop(&l.body) {
            Some(next) if bound_inside => self.nest_levels(&next.clone(), stmt, nest, hoisted),
            _ => self.iteration(&l.body, stmt, nest),
        };
        let origin = stmt.origin.by("bind");
        match axis {
            Some(Axis::X) if hoisted == Some(l.id) => inner,
            Some(axis)
                if nest.order != Order::Strides
                    && (axis == Axis::X || self.fits_grid(l, nest, axis)) =>
            {
                let ((wide, own), [_, cond]) = self.thread_counter(l, nest, axis);
                let mut stmts: Vec<Stmt> = wide.into_iter().chain([own]).collect();
                if self.fills_blocks(l, nest, nest.block[axis.index()].into()) {
                    stmts.extend(inner);
                    return stmts;
                }
                let then = Block::new(inner);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                stmts.push(Stmt::new(kind, origin));
                stmts
            }
            Some(axis) => {
                let stride = self.grid_stride(l, axis, inner);
                let stmt = Stmt::new(StmtKind::For(stride), origin);
                if nest.order == Order::Strides {
                    let comment = format!("in strides of the grid along {}", axis.name());
                    return vec![stmt.comment(comment)];
                }
                vec![stmt.comment(format!(
                    "a grid has at most 65535 blocks along {}: go on in its strides",
                    axis.name()
                ))]
            }
            None => {
                let body = Block::new(inner);
                let serial = ForLoop { body, kind: LoopKind::Serial, declares: true, ..l.clone() };
                vec![Stmt::new(StmtKind::For(serial), origin)]
            }
        }
    }

    /// `for (i = first + t * step; i in range; i += width * step)` with the threads of the grid along an axis.
    ///
    /// Near the greatest number of a 32-bit type the next stride would leave its range: the loop counts in 64 bits.
    pub(crate) fn grid_stride(&mut self, l: &ForLoop, axis: Axis, body: Vec<Stmt>) -> ForLoop {
        let ty = counters::counter_type(&self.scope.host, l);
        let mut body = Block::new(body);
        let (l, ty) = match ty.bytes() {
            8 => (l.clone(), ty),
            _ => (self.widened(l, &mut body), Scalar::I64),
        };
        let compare = match (l.compare, counters::counts_up(&l)) {
            (BinaryOp::Ne, true) => BinaryOp::Lt,
            (BinaryOp::Ne, false) => BinaryOp::Gt,
            (other, _) => other,
        };
        ForLoop {
            first: counters::counter_of(&l, counters::thread_number(axis, ty)),
            step: counters::times(counters::grid_width(axis, ty), &l.step),
            compare,
            declares: true,
            kind: LoopKind::Serial,
            body,
            ..l
        }
    }

    /// The loop with a counter of 64 bits under the same name. The body sees the value in the old type; subscripts,
    /// which are of 64 bits anyway, see the counter itself.
    pub(crate) fn widened(&mut self, l: &ForLoop, body: &mut Block) -> ForLoop {
        let mut var = self.scope.host.var(l.var).clone();
        let narrow = var.ty.clone();
        var.ty = Type::I64;
        var.constant = false;
        let counter = self.scope.host.add_var(var);
        visit::rename_vars(body, &mut |v| if v == l.var { counter } else { v });
        visit::Rewriter::block(&mut Narrow { counter, narrow }, body);
        ForLoop { var: counter, ..counters::wide(l) }
    }

    /// The counter of a loop of which a thread has one iteration: its declaration, after another one where the guard needs 64 bits; and the
    /// conditions that the thread has no iteration, and that it has one.
    fn thread_counter(
        &mut self,
        l: &ForLoop,
        nest: &Nest,
        axis: Axis,
    ) -> ((Option<Stmt>, Stmt), [Expr; 2]) {
        let ty = counters::counter_type(&self.scope.host, l);
        self.scope.host.vars[l.var.0 as usize].constant = true;
        let declare =
            |var, value| Stmt::new(StmtKind::Decl { var, init: Some(value) }, Origin::default());
        let counter = self.counter(l);
        let both = |op, a, b| Expr::binary(op, a, b);
        let (outside, inside) =
            (counters::outside(l, counter.clone()), counters::inside(l, counter.clone()));
        let value = counters::counter_of(l, counters::thread_number(axis, ty));
        match counters::excess(&self.scope.host, l, nest.block[axis.index()]) {
            counters::Excess::InRange => ((None, declare(l.var, value)), [outside, inside]),
            counters::Excess::Wraps => {
                let before = counters::before(l, counter);
                let not_before = match &*before.kind {
                    ExprKind::Binary(BinaryOp::Lt, c, first) => {
                        Expr::binary(BinaryOp::Ge, c.clone(), first.clone())
                    }
                    ExprKind::Binary(_, c, first) => {
                        Expr::binary(BinaryOp::Le, c.clone(), first.clone())
                    }
                    _ => before.clone(),
                };
                let outside = both(BinaryOp::LogicalOr, before, outside);
                let inside = both(BinaryOp::LogicalAnd, not_before, inside);
                ((None, declare(l.var, value)), [outside, inside])
            }
            counters::Excess::Anywhere => {
                let name =
                    self.scope.fresh_name(&format!("{}_wide", self.scope.host.var(l.var).name));
                let exact = self.scope.local(&name, Type::I64);
                self.scope.host.vars[exact.0 as usize].constant = true;
                let wide = counters::wide(l);
                let value = counters::counter_of(&wide, counters::thread_number(axis, Scalar::I64));
                let counter = || Expr::var(exact, Type::I64);
                let conditions =
                    [counters::outside(&wide, counter()), counters::inside(&wide, counter())];
                let own = declare(l.var, counter().cast(Type::Scalar(ty)));
                ((Some(declare(exact, value)), own), conditions)
            }
        }
    }

    pub(crate) fn counter(&self, l: &ForLoop) -> Expr {
        Expr::var(l.var, self.scope.host.var(l.var).ty.clone())
    }

    /// The body of the innermost bound loop, with variables of its own for the clauses.
    fn iteration(&mut self, body: &Block, stmt: &Stmt, nest: &Nest) -> Vec<Stmt> {
        let mut block = body.clone();
        let mut stmts = self.private_variables(nest, &block);
        if !nest.clauses.last_private.is_empty() {
            self.keep_last(nest, stmt, &mut block);
        }
        stmts.extend(block.stmts);
        stmts
    }

    /// Declarations of what each iteration has for itself.
    pub(crate) fn private_variables(&mut self, nest: &Nest, body: &Block) -> Vec<Stmt> {
        let c = &nest.clauses;
        let mut stmts = vec![];
        let mentioned = |v: &VarId| walk::times_mentioned(body, *v) > 0;
        let counters = walk::for_loops(body);
        for v in c.private.iter().chain(&c.last_private).filter(|v| mentioned(v)) {
            // A counter is declared by its own loops where that is all it is.
            let counts = counters.iter().any(|l| l.var == *v);
            let only_counts = !body_assigns(body, *v)
                && !crate::analysis::scalars::read_outside_its_loops(body, *v);
            let last = c.last_private.contains(v);
            if !(counts && only_counts && !last) {
                stmts.push(Stmt::new(StmtKind::Decl { var: *v, init: None }, Origin::default()));
            }
        }
        for v in c.first_private.iter().filter(|v| mentioned(v) && body_assigns(body, **v)) {
            stmts.push(self.first_private(*v));
        }
        stmts
    }

    /// A copy of a variable's value, under its name. What comes in is a parameter of another name.
    fn first_private(&mut self, v: VarId) -> Stmt {
        let var = self.scope.host.var(v).clone();
        let value = match self.scope.device.contains(&v) {
            true => {
                let pointer = self.scope.pointer_to(v);
                Expr::read(self.scope.deref(pointer))
            }
            false => {
                let name = self.scope.fresh_name(&format!("{}_first", var.name));
                let copy = self.scope.local(&name, var.ty.clone());
                self.scope.first_values.insert(copy, v);
                Expr::var(copy, var.ty)
            }
        };
        Stmt::new(StmtKind::Decl { var: v, init: Some(value) }, var.origin)
    }

    /// After the body, the thread with the last iteration stores the variables of `lastprivate`.
    fn keep_last(&mut self, nest: &Nest, stmt: &Stmt, block: &mut Block) {
        let loops = self.bound_loops(nest);
        let last = loops.iter().map(|l| counters::is_last(l, self.counter(l)));
        let last = all_of(last);
        let Some(cond) = last else { return };
        let mut stores = vec![];
        for v in &nest.clauses.last_private {
            let pointer = self.scope.pointer_to(*v);
            let place = self.scope.deref(pointer);
            let value = Expr::var(*v, self.scope.host.var(*v).ty.clone());
            stores.push(Stmt::new(StmtKind::Assign { place, value }, stmt.origin.clone()));
        }
        let kind = StmtKind::If { cond, then: Block::new(stores), otherwise: Block::default() };
        let keep =
            Stmt::new(kind, stmt.origin.by("bind")).comment("what the last iteration leaves");
        // An iteration ends at its `continue`s, too.
        before_continue(block, &keep);
        if !matches!(block.stmts.last().map(|s| &s.kind), Some(StmtKind::Continue)) {
            block.stmts.push(keep);
        }
    }
}

/// Puts the narrow value in place of a counter that was widened.
struct Narrow {
    counter: VarId,
    narrow: Type,
}

impl Narrow {
    fn is_counter(&self, e: &Expr) -> bool {
        matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(self.counter))
    }

    /// A subscript keeps the 64 bits of the counter.
    fn subscript(&mut self, e: &mut Expr) {
        match self.wide(e) {
            Some(wide) => *e = wide,
            None => visit::Rewriter::expr(self, e),
        }
    }

    /// Sums with the counter in 64 bits: where C's `int` does not overflow, the value is the same. `None` where the
    /// counter is no part of the sum, or the type is one that wraps.
    fn wide(&self, e: &Expr) -> Option<Expr> {
        if self.is_counter(e) {
            return Some(Expr::var(self.counter, Type::I64).with_origin(e.origin.clone()));
        }
        let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &*e.kind else {
            return None;
        };
        let term = |e: &Expr| match (self.wide(e), e.as_const()) {
            (Some(wide), _) => Some(wide),
            (None, Some(v)) => Some(Expr::int(Scalar::I64, v.as_i64())),
            _ => None,
        };
        let signed = e.ty.scalar().is_some_and(Scalar::is_signed) && e.ty == self.narrow;
        if !signed || (self.wide(a).is_none() && self.wide(b).is_none()) {
            return None;
        }
        Some(Expr::binary(*op, term(a)?, term(b)?).with_origin(e.origin.clone()))
    }
}

impl visit::Rewriter for Narrow {
    fn expr(&mut self, e: &mut Expr) {
        if self.is_counter(e) {
            let origin = e.origin.clone();
            *e = Expr::var(self.counter, Type::I64).cast(self.narrow.clone()).with_origin(origin);
            return;
        }
        visit::rewrite_expr(self, e);
    }

    fn place(&mut self, place: &mut Place) {
        match &mut *place.kind {
            PlaceKind::Elem { pointer, index, dims } => {
                self.expr(pointer);
                index.iter_mut().for_each(|i| self.subscript(i));
                dims.iter_mut().for_each(|d| self.expr(d));
            }
            PlaceKind::Index(inner, i) => {
                self.place(inner);
                self.subscript(i);
            }
            _ => visit::rewrite_place(self, place),
        }
    }
}

/// `T var = value; if (var > limit) var = limit;`
pub(crate) fn at_most(var: VarId, ty: Type, value: Expr, limit: Expr) -> Vec<Stmt> {
    let origin = Origin::default();
    let place = Place::new(PlaceKind::Var(var), ty.clone(), origin.clone());
    let cond = Expr::binary(BinaryOp::Gt, Expr::var(var, ty), limit.clone());
    let clamp = Stmt::new(StmtKind::Assign { place, value: limit }, origin.clone());
    let then = Block::new(vec![clamp]);
    vec![
        Stmt::new(StmtKind::Decl { var, init: Some(value) }, origin.clone()),
        Stmt::new(StmtKind::If { cond, then, otherwise: Block::default() }, origin),
    ]
}

fn leave_if(cond: Expr, origin: &Origin) -> Stmt {
    let then = Block::new(vec![Stmt::new(StmtKind::Continue, origin.by("bind"))]);
    let kind = StmtKind::If { cond, then, otherwise: Block::default() };
    Stmt::new(kind, origin.by("bind"))
        .comment("the grid is rounded up to whole blocks: threads past the end have no element")
}

fn body_assigns(body: &Block, var: VarId) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        let o = walk::operands(s);
        let counts = matches!(&s.kind, StmtKind::For(l) if l.var == var);
        found |= (o.results.contains(&var) && !counts)
            || o.writes.and_then(|p| p.root_var()) == Some(var);
    });
    found
}

/// Puts a statement before every `continue` that ends the iteration.
fn before_continue(block: &mut Block, keep: &Stmt) {
    let mut at = 0;
    while at < block.stmts.len() {
        match &mut block.stmts[at].kind {
            StmtKind::Continue => {
                block.stmts.insert(at, keep.clone());
                at += 1;
            }
            StmtKind::For(_) | StmtKind::Loop { .. } => {}
            _ => {
                let inner = walk::blocks_mut(&mut block.stmts[at]);
                inner.into_iter().for_each(|b| before_continue(b, keep));
            }
        }
        at += 1;
    }
}
