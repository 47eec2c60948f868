//! Nests with a reduction: every block leaves one partial result, a last block combines them.

use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, LoopCondition, LoopKind,
    Origin, Place, PlaceKind, ReduceOp, Reduction, Scalar, Stmt, StmtKind, Type, Var, VarId,
    VarKind, visit,
};

use crate::analysis::loops;
use crate::build::operators::{combine, identity};
use crate::build::stmts::declare;
use crate::build::{counters, trips};
use crate::kernel::{Nest, Reduce, STATIC_SHARED};
use crate::legalise::scope::{About, Lowered};
use crate::rewrite::edit::draft::{Draft, Machine};
use crate::rewrite::reduce::axes::{numbered, product, unsigned};
use crate::rewrite::reduce::few;
use crate::walk;

/// More partial results than these are combined by more threads than a block of the nest may have.
const MANY_PARTIALS: u64 = 4096;
const FINISHERS: u32 = 1024;

/// One reduced variable on its way through both kernels.
struct Reduced {
    op: ReduceOp,
    scalar: Scalar,
    name: String,
    /// The thread's own value.
    local: VarId,
    /// The values of the block's threads.
    shared: VarId,
    /// One value for each block, in the workspace.
    partial: VarId,
    /// Where the result goes.
    target: VarId,
    /// The value before the loop, where it is not the identity.
    start: Option<Start>,
}

/// The value a reduction starts from.
enum Start {
    /// The host knows it.
    Known(Expr),
    /// It is where the result goes.
    InTarget,
}

impl Draft<'_> {
    /// A nest whose blocks leave parts of what it comes to, and one block that combines them. What variables begin with
    /// is taken out of the statements that wait.
    pub(crate) fn reduction(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        waiting: &mut Vec<Stmt>,
    ) -> Lowered<Vec<Stmt>> {
        let Some(shape) = nest.reduce else { return Ok(vec![]) };
        let loops = self.bound_loops(nest);
        for l in &loops {
            self.must_know_bounds(l, stmt)?;
        }
        let by_axes = shape.dimensions() > 1;
        let comment = "threads that combine their values";
        let block = self.shape_constants("REDUCE_BLOCK", shape.block, by_axes, comment);
        let threads = product(&block);
        let reductions = &nest.clauses.reductions;
        let reduced: Vec<Reduced> =
            reductions.iter().map(|r| self.reduced(r, shape, &threads, waiting)).collect();
        let most = "most blocks of a reduction, each with one partial result";
        let most = self.shape_constants("REDUCE_GRID", shape.grid, by_axes, most);
        let blocks = self.scope.local("blocks", Type::I32);
        let declared = StmtKind::Decl { var: blocks, init: Some(Expr::i32(0)) };
        let mut out = vec![Stmt::new(declared, stmt.origin.by("reduce"))];
        let one = || Expr::int(Scalar::U32, 1);
        let (mut launch, grid) = match by_axes {
            true => self.grid_by_axes(nest, blocks, &block, &most),
            false => {
                let width = Expr::var(blocks, Type::I32).cast(Type::U32);
                let [most, ..] = most;
                let few = matches!(&loops[..], [only] if few::is_few(self.source, only, shape));
                let most = (!few).then_some(most);
                (self.grid_of(&loops, blocks, &threads, most), [width, one(), one()])
            }
        };
        let text = self.partial_kernel(root, stmt, nest, &loops, &reduced);
        let names: Vec<&str> = reduced.iter().map(|r| r.name.as_str()).collect();
        let stem = self.stem(&names.join("_"));
        let name = format!("{stem}_partial{}", nest.label);
        let machine = Machine { grid, block: block.map(unsigned), threads: shape.block };
        launch.push(self.combining(machine, text, About { name, comment: None }));
        if !loops.is_empty() {
            out.extend(self.where_all_run(&loops, launch, &stmt.origin.by("reduce")));
        }
        let name = format!("{stem}_finish{}", nest.label);
        out.push(self.finishing_nest((shape, threads), reduced, blocks, name, stmt));
        Ok(out)
    }

    /// A nest in the tree that comes from where its text does.
    fn combining(&mut self, machine: Machine, text: Vec<Stmt>, about: About) -> Stmt {
        let origin = text.iter().map(|s| s.origin.clone()).find(|o| o.span.is_some());
        let nest = self.on(machine, text, about);
        Stmt { origin: origin.unwrap_or_default(), ..nest }
    }

    /// The block that combines the partial results.
    fn finishing_nest(
        &mut self,
        (shape, threads): (Reduce, Expr),
        mut reduced: Vec<Reduced>,
        blocks: VarId,
        name: String,
        stmt: &Stmt,
    ) -> Stmt {
        let one = || Expr::int(Scalar::U32, 1);
        let mut finishers = (threads, u32::try_from(shape.threads()).unwrap_or(u32::MAX));
        let bytes: u32 = reduced.iter().map(|r| r.scalar.bytes()).sum();
        let most = FINISHERS.min(1 << (STATIC_SHARED / bytes.max(1)).max(1).ilog2());
        if shape.blocks() > MANY_PARTIALS && shape.threads() < most.into() {
            let comment = "threads that combine the partial results";
            finishers = (self.scope.constant("REDUCE_FINISH", most, comment), most);
            for r in &mut reduced {
                r.shared =
                    self.shared_values(&r.name, Type::Scalar(r.scalar), most.into(), &finishers.0);
            }
        }
        let text = self.finish_kernel(&reduced, blocks, stmt);
        let grid = [one(), one(), one()];
        let block = [finishers.0.cast(Type::U32), one(), one()];
        let comment = "runs for an empty loop too: the result is then the start value";
        let about = About { name, comment: Some(comment.into()) };
        self.combining(Machine { grid, block, threads: [finishers.1, 1, 1] }, text, about)
    }

    /// `FUNCTION_VARIABLE`, without saying the same twice.
    fn stem(&self, variable: &str) -> String {
        let function = &self.scope.host.name;
        if variable == function || function.ends_with(&format!("_{variable}")) {
            function.clone()
        } else {
            format!("{function}_{variable}")
        }
    }

    fn reduced(
        &mut self,
        r: &Reduction,
        shape: Reduce,
        block: &Expr,
        waiting: &mut Vec<Stmt>,
    ) -> Reduced {
        let var = self.scope.host.var(r.var).clone();
        let by_pointer = var.ty.is_pointer();
        let ty = loops::reduced_type(&var.ty).cloned().unwrap_or(Type::F64);
        let scalar = ty.scalar().unwrap_or(Scalar::F64);
        let start = if by_pointer { Some(Start::InTarget) } else { self.start(r, scalar, waiting) };
        let target = if by_pointer { r.var } else { self.scope.pointer_to(r.var) };
        let local = if by_pointer {
            self.scope.local(&format!("{}_value", var.name), ty.clone())
        } else {
            r.var
        };
        let shared = self.shared_values(&var.name, ty.clone(), shape.threads(), block);
        let partial = self.scope.slot(&format!("{}_partial", var.name), ty, shape.blocks());
        // The least and the greatest of numbers do not depend on the order.
        if scalar.is_float() && matches!(r.op, ReduceOp::Add | ReduceOp::Mul) {
            self.scope.reassociated.extend([target, partial]);
        }
        Reduced { op: r.op, scalar, name: var.name, local, shared, partial, target, start }
    }

    /// The values of a block's threads.
    fn shared_values(&mut self, name: &str, ty: Type, threads: u64, shape: &Expr) -> VarId {
        let array = Type::array(ty, threads);
        let mut shared = Var::new(format!("{name}_shared"), array, VarKind::Shared);
        shared.shape = Some(vec![shape.clone()]);
        self.scope.host.add_var(shared)
    }

    /// Takes the assignment of the start value out of what waits, when it is the last word on the variable.
    fn start(&mut self, r: &Reduction, scalar: Scalar, waiting: &mut Vec<Stmt>) -> Option<Start> {
        let about = |s: &Stmt| {
            let whole = Block::new(vec![s.clone()]);
            walk::times_mentioned(&whole, r.var) > 0
        };
        let Some(at) = waiting.iter().rposition(about) else { return Some(Start::InTarget) };
        let value = match &waiting[at].kind {
            StmtKind::Decl { var, init: Some(e) } if *var == r.var => e.clone(),
            StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(r.var) => {
                value.clone()
            }
            _ => return Some(Start::InTarget),
        };
        if !self.scope.host_known(&value) {
            return Some(Start::InTarget);
        }
        waiting.remove(at);
        // Without the assignment an older value would only be stored to be forgotten.
        match value.as_const() {
            Some(v) if v == identity(r.op, scalar) => None,
            _ => Some(Start::Known(value)),
        }
    }

    /// Statements that set `blocks` for a nest that runs.
    fn grid_of(
        &mut self,
        loops: &[ForLoop],
        blocks: VarId,
        size: &Expr,
        most: Option<Expr>,
    ) -> Vec<Stmt> {
        let mut stmts = vec![];
        let count = match loops {
            [only] => trips::count(&self.scope.host, only),
            _ => {
                let counts = loops.iter().map(|l| trips::wide_count(&self.scope.host, l));
                let Some(product) = counts.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b)) else {
                    return stmts;
                };
                let all = self.scope.local("iterations", Type::I64);
                self.scope.host.vars[all.0 as usize].constant = true;
                let kind = StmtKind::Decl { var: all, init: Some(product) };
                stmts.push(Stmt::new(kind, Origin::default()));
                self.scope.value(all)
            }
        };
        let ty = count.ty.clone();
        let needed = trips::blocks(&self.scope.host, count, size.clone());
        let place = || Place::new(PlaceKind::Var(blocks), Type::I32, Origin::default());
        let Some(most) = most else {
            stmts.push(self.store(place(), needed.cast(Type::I32)));
            return stmts;
        };
        if ty == Type::I32 {
            let set = self.store(place(), needed);
            let cond = Expr::binary(BinaryOp::Gt, self.scope.value(blocks), most.clone());
            let then = Block::new(vec![self.store(place(), most)]);
            let kind = StmtKind::If { cond, then, otherwise: Block::default() };
            stmts.extend([set, Stmt::new(kind, Origin::default())]);
            return stmts;
        }
        let (declare, value) = self.at_most("wanted", needed, most);
        stmts.extend([declare, self.store(place(), value)]);
        stmts
    }

    /// The declaration of a number under this name, and the lesser of it and `most`, as an `int`.
    pub(crate) fn at_most(&mut self, name: &str, number: Expr, most: Expr) -> (Stmt, Expr) {
        let ty = number.ty.clone();
        let wanted = self.scope.local(name, ty.clone());
        self.scope.host.vars[wanted.0 as usize].constant = true;
        let declare = StmtKind::Decl { var: wanted, init: Some(number) };
        let enough = Expr::binary(BinaryOp::Lt, self.scope.value(wanted), most.clone().cast(ty));
        let value = ExprKind::Select(enough, self.scope.value(wanted).cast(Type::I32), most);
        let value = Expr::new(value, Type::I32, Origin::default());
        (Stmt::new(declare, Origin::default()), value)
    }

    /// Every thread combines its share of the iterations, every block its threads.
    fn partial_kernel(
        &mut self,
        root: &ForLoop,
        stmt: &Stmt,
        nest: &Nest,
        loops: &[ForLoop],
        reduced: &[Reduced],
    ) -> Vec<Stmt> {
        let mut stmts: Vec<Stmt> =
            reduced.iter().map(|r| self.declare_identity(r, r.local)).collect();
        if let Some(first) = stmts.first_mut() {
            first.comment.push("every thread combines its share of the iterations".into());
        }
        let innermost = loops.last().unwrap_or(root);
        let mut body = innermost.body.clone();
        for (r, clause) in reduced.iter().zip(&nest.clauses.reductions) {
            if self.scope.host.var(clause.var).ty.is_pointer() {
                own_value(&mut body, clause.var, r.local, &Type::Scalar(r.scalar));
            }
        }
        let mut inner = self.private_variables(nest, &body);
        inner.extend(body.stmts);
        let shape = nest.reduce.filter(|shape| shape.dimensions() > 1);
        match loops {
            _ if shape.is_some() => stmts.extend(self.by_axes(loops, nest, inner, stmt)),
            [only] => {
                let strides = self.grid_stride(only, Axis::X, inner);
                let few = nest.reduce.is_some_and(|shape| few::is_few(self.source, only, shape));
                match few {
                    true => stmts.extend(few::once(strides, &self.scope.host)),
                    false => {
                        stmts.push(Stmt::new(StmtKind::For(strides), stmt.origin.by("reduce")));
                    }
                }
            }
            _ => stmts.extend(self.flattened(loops, inner, stmt)),
        }
        let (declare, thread) = match shape {
            Some(shape) => self.numbered_thread(shape.block),
            None => (None, Expr::builtin(Builtin::ThreadIdx(Axis::X))),
        };
        stmts.extend(declare);
        stmts.extend(self.tree(reduced, |r| r.local, &thread));
        let block = match shape {
            Some(shape) => numbered(shape.grid, Builtin::BlockIdx, Builtin::GridDim),
            None => Expr::builtin(Builtin::BlockIdx(Axis::X)),
        };
        let stores = reduced.iter().map(|r| {
            let place = self.element(r.partial, block.clone());
            self.store(place, self.shared_element(r, Expr::int(Scalar::U32, 0)))
        });
        let stores = stores.collect();
        stmts.push(first_thread(&thread, stores).comment("one partial result for each block"));
        stmts
    }

    /// One loop over all iterations of a rectangular nest, numbered row by row.
    fn flattened(&mut self, loops: &[ForLoop], inner: Vec<Stmt>, stmt: &Stmt) -> Vec<Stmt> {
        let counts: Vec<Expr> =
            loops.iter().map(|l| trips::wide_count(&self.scope.host, l)).collect();
        let total = self.scope.local("iterations", Type::I64);
        let number = self.scope.local("iteration", Type::I64);
        self.scope.host.vars[total.0 as usize].constant = true;
        let product = counts.iter().cloned().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
        let mut body = vec![];
        // From the innermost loop out, what is left is divided once for each: a division in 64 bits is slow.
        let mut rest = Expr::var(number, Type::I64);
        for (k, l) in loops.iter().enumerate().rev() {
            let at = match k {
                0 => rest.clone(),
                _ => Expr::binary(BinaryOp::Rem, rest.clone(), counts[k].clone()),
            };
            self.scope.host.vars[l.var.0 as usize].constant = true;
            body.push(declare(l.var, counters::counter_of_wide(&self.scope.host, l, at)));
            rest = Expr::binary(BinaryOp::Div, rest, counts[k].clone());
            if k > 1 {
                let row = self.scope.local("row", Type::I64);
                self.scope.host.vars[row.0 as usize].constant = true;
                body.push(declare(row, rest));
                rest = Expr::var(row, Type::I64);
            }
        }
        body.extend(inner);
        let id = self.scope.host.fresh_loop();
        let all = ForLoop {
            id,
            var: number,
            declares: true,
            first: counters::thread_number(Axis::X, Scalar::I64),
            compare: BinaryOp::Lt,
            limit: Expr::var(total, Type::I64),
            step: counters::grid_width(Axis::X, Scalar::I64),
            kind: LoopKind::Serial,
            body: Block::new(body),
        };
        let declared = StmtKind::Decl { var: total, init: product };
        vec![
            Stmt::new(declared, stmt.origin.by("reduce")),
            Stmt::new(StmtKind::For(all), stmt.origin.by("reduce")),
        ]
    }

    /// One block combines the partial results and the start value.
    fn finish_kernel(&mut self, reduced: &[Reduced], blocks: VarId, stmt: &Stmt) -> Vec<Stmt> {
        let mut stmts = vec![];
        let mut own = vec![];
        let i = self.scope.local("i", Type::I32);
        let mut body = vec![];
        for r in reduced {
            let total = self.scope.local(&format!("{}_total", r.name), Type::Scalar(r.scalar));
            stmts.push(self.declare_identity(r, total));
            let element = Expr::read(self.element(r.partial, Expr::var(i, Type::I32)));
            let value = combine(r.op, r.scalar, self.scope.value(total), element);
            body.push(self.store(Place::var(total, Type::Scalar(r.scalar)), value));
            own.push(total);
        }
        let thread = Expr::builtin(Builtin::ThreadIdx(Axis::X)).cast(Type::I32);
        let width = Expr::builtin(Builtin::BlockDim(Axis::X)).cast(Type::I32);
        let id = self.scope.host.fresh_loop();
        let share = ForLoop {
            id,
            var: i,
            declares: true,
            first: thread,
            compare: BinaryOp::Lt,
            limit: Expr::var(blocks, Type::I32),
            step: width,
            kind: LoopKind::Serial,
            body: Block::new(body),
        };
        stmts.push(Stmt::new(StmtKind::For(share), stmt.origin.by("reduce")));
        let total_of = |r: &Reduced| {
            let at = reduced.iter().position(|x| x.shared == r.shared);
            at.and_then(|k| own.get(k).copied()).unwrap_or(r.local)
        };
        let thread = Expr::builtin(Builtin::ThreadIdx(Axis::X));
        stmts.extend(self.tree(reduced, total_of, &thread));
        let mut stores = vec![];
        for r in reduced {
            let sum = self.shared_element(r, Expr::int(Scalar::U32, 0));
            let target = self.scope.deref(r.target);
            let value = match &r.start {
                None => sum,
                Some(Start::Known(start)) => {
                    combine(r.op, r.scalar, start.clone().cast(Type::Scalar(r.scalar)), sum)
                }
                Some(Start::InTarget) => combine(r.op, r.scalar, Expr::read(target.clone()), sum),
            };
            stores.push(self.store(target, value));
        }
        stmts.push(first_thread(&thread, stores));
        stmts
    }

    /// The threads of a block combine their values in pairs, half as many threads in every round. `thread` is the
    /// number of a thread.
    fn tree(
        &mut self,
        reduced: &[Reduced],
        value: impl Fn(&Reduced) -> VarId,
        thread: &Expr,
    ) -> Vec<Stmt> {
        let thread = || thread.clone();
        let mut stmts = vec![];
        for r in reduced {
            let place = self.shared_place(r, thread());
            stmts.push(self.store(place, self.scope.value(value(r))));
        }
        if let Some(first) = stmts.first_mut() {
            first.comment.push(
                "the block's values are combined in pairs, in half as many threads each round"
                    .into(),
            );
        }
        stmts.push(barrier());
        let half = self.scope.local("offset", Type::U32);
        let read_half = || Expr::var(half, Type::U32);
        let halved = |e: Expr| Expr::binary(BinaryOp::Div, e, Expr::int(Scalar::U32, 2));
        let width = match &*thread().kind {
            ExprKind::Builtin(Builtin::ThreadIdx(axis)) => Expr::builtin(Builtin::BlockDim(*axis)),
            _ => self.threads_of(reduced),
        };
        let init = halved(width);
        stmts.push(Stmt::new(StmtKind::Decl { var: half, init: Some(init) }, Origin::default()));
        let mut pairs = vec![];
        for r in reduced {
            let other = Expr::binary(BinaryOp::Add, thread(), read_half());
            let value = combine(
                r.op,
                r.scalar,
                self.shared_element(r, thread()),
                self.shared_element(r, other),
            );
            pairs.push(self.store(self.shared_place(r, thread()), value));
        }
        let cond = Expr::binary(BinaryOp::Lt, thread(), read_half());
        let kind = StmtKind::If { cond, then: Block::new(pairs), otherwise: Block::default() };
        let body = Block::new(vec![Stmt::new(kind, Origin::default()), barrier()]);
        let goes_on = Expr::binary(BinaryOp::Gt, read_half(), Expr::int(Scalar::U32, 0));
        let condition = LoopCondition { before: Block::default(), expr: goes_on, at_end: false };
        let step = self.store(Place::var(half, Type::U32), halved(read_half()));
        let kind = StmtKind::Loop {
            id: self.scope.host.fresh_loop(),
            condition: Some(condition),
            body,
            step: Block::new(vec![step]),
        };
        stmts.push(Stmt::new(kind, Origin::default()));
        stmts
    }

    /// How many threads combine their values.
    fn threads_of(&self, reduced: &[Reduced]) -> Expr {
        let shape = reduced.first().and_then(|r| self.scope.host.var(r.shared).shape.clone());
        let threads = shape.and_then(|shape| shape.into_iter().next());
        threads.unwrap_or(Expr::i32(1)).cast(Type::U32)
    }

    fn declare_identity(&self, r: &Reduced, var: VarId) -> Stmt {
        let init = Some(Expr::constant(identity(r.op, r.scalar)));
        Stmt::new(StmtKind::Decl { var, init }, Origin::default())
    }

    pub(crate) fn store(&self, place: Place, value: Expr) -> Stmt {
        Stmt::new(StmtKind::Assign { place, value }, Origin::default())
    }

    fn shared_place(&self, r: &Reduced, index: Expr) -> Place {
        let array = Place::var(r.shared, self.scope.host.var(r.shared).ty.clone());
        Place::new(PlaceKind::Index(array, index), Type::Scalar(r.scalar), Origin::default())
    }

    fn shared_element(&self, r: &Reduced, index: Expr) -> Expr {
        Expr::read(self.shared_place(r, index))
    }

    /// `pointer[index]`.
    fn element(&self, pointer: VarId, index: Expr) -> Place {
        let ty = self.scope.host.var(pointer).ty.clone();
        let pointee = ty.pointee().cloned().unwrap_or(Type::Void);
        let pointer = Expr::var(pointer, ty);
        let kind = PlaceKind::Elem { pointer, index: vec![index], dims: vec![] };
        Place::new(kind, pointee, Origin::default())
    }
}

fn barrier() -> Stmt {
    let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
    Stmt::new(kind, Origin::default())
}

fn first_thread(thread: &Expr, stores: Vec<Stmt>) -> Stmt {
    let cond = Expr::binary(BinaryOp::Eq, thread.clone(), Expr::int(Scalar::U32, 0));
    let kind = StmtKind::If { cond, then: Block::new(stores), otherwise: Block::default() };
    Stmt::new(kind, Origin::default())
}

/// Puts a variable in place of `*pointer` and `pointer[0]`.
pub(crate) fn own_value(body: &mut Block, pointer: VarId, local: VarId, ty: &Type) {
    struct Own<'a>(VarId, VarId, &'a Type);
    impl visit::Rewriter for Own<'_> {
        fn place(&mut self, place: &mut Place) {
            visit::rewrite_place(self, place);
            if walk::single_element(place) == Some(self.0) && place.ty == *self.2 {
                *place.kind = PlaceKind::Var(self.1);
            }
        }
    }
    visit::Rewriter::block(&mut Own(pointer, local, ty), body);
}
