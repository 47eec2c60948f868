//! The walk of one block through a kernel.

mod access;
mod conditions;
mod functions;
mod loops;
mod positions;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_device::Work;
use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, ExprKind, FuncId, Function, MathFn, Module, Place, PlaceKind,
    Scalar, Stmt, StmtKind, Type, Value, VarId, VarKind,
};
use warpsmith_opt::analysis::access::{Base, base_of};
use warpsmith_opt::walk as tree;

use super::address::Address;
use super::ahead::Ahead;
use super::calls;
use super::lanes::{Lanes, first_threads};
use super::pointers::Pointers;
use super::rows::{self, Rows};
use super::together::Together;
use super::values::{Dual, Extents, MAX_LOOPS, Number, Thread, Vars};
pub use loops::trips;
use positions::Positions;

/// Loops around a statement, one bit each.
type Loops = u32;

/// Instructions that a multiprocessor issues while device memory brings it a sector: a clock for 18 bytes, and four instructions.
const SECTOR: f64 = 7.0;

/// Iterations side by side beyond which all of their loads are taken to be different.
const MOST_BESIDE: f64 = 4096.0;

/// An access, all iterations of the block together.
#[derive(Clone, Debug)]
pub struct Site {
    pub base: Base,
    pub shared: bool,
    pub store: bool,
    /// By an asynchronous copy.
    pub copied: bool,
    /// By an atomic operation.
    pub atomic: bool,
    /// Of one lane.
    pub bytes: i64,
    /// Lanes that take part in the requests, summed.
    pub lanes: f64,
    /// Warp instructions of the block.
    pub requests: f64,
    pub sectors: f64,
    pub wavefronts: f64,
    /// Sectors of the first iteration, in order.
    pub first: Vec<i64>,
    /// The first and the last byte of all iterations, where all addresses are known.
    pub hull: Option<(i64, i64)>,
    /// Loops that the address depends on, innermost first: bytes from one iteration to the next, and iterations.
    pub shifts: Vec<(i64, f64)>,
    /// Which loops these are, by the order in which they are entered.
    pub around: Vec<usize>,
}

impl Site {
    fn new(base: Base, shared: bool, store: bool) -> Site {
        Site {
            base,
            atomic: false,
            bytes: 1,
            lanes: 0.0,
            hull: None,
            shared,
            store,
            copied: false,
            requests: 0.0,
            sectors: 0.0,
            wavefronts: 0.0,
            first: vec![],
            shifts: vec![],
            around: vec![],
        }
    }
}

struct Level {
    /// So many loops were entered before.
    number: usize,
    /// On average over the block's warps.
    trips: f64,
    /// The same, as share of what the warp has that has most.
    busy: f64,
    /// Of a warp's lanes those that have not ended, on average.
    lanes: f64,
    unrolled: bool,
    /// What it moves on by one, from where nobody knows.
    counters: Vec<VarId>,
}

pub struct Walk<'a> {
    module: &'a Module,
    kernel: &'a Function,
    at: Extents,
    rows: &'a Rows,
    lanes: Thread<Lanes>,
    /// The first thread once more, with how its values change from iteration to iteration; it goes everywhere.
    first: Thread<Dual>,
    active: Vec<bool>,
    /// Share of the block's warps that come here, where the walk does not know which.
    share: f64,
    loops: Vec<Level>,
    /// Loops entered so far.
    entered: usize,
    /// Unrolled loops whose iterations are guarded one by one: the loads of one come after the stores of the one before.
    apart: Loops,
    /// Unrolled loops of which each iteration asks for itself: what one has loaded, the next loads again.
    guarded: Loops,
    /// By variable: the loops that its value changes with.
    depends: Vec<Loops>,
    /// What the kernel writes, and at how many places.
    written: BTreeMap<Base, usize>,
    /// Reads made already at this depth of loops.
    known: Vec<(Place, usize)>,
    pointers: Pointers,
    positions: Positions,
    /// Whether an asynchronous copy is looked at.
    copying: bool,
    /// Whether an atomic operation is.
    adding: bool,
    pub ahead: Ahead,
    /// Divisions made already at this depth of loops: quotient and remainder come from one.
    divided: Vec<(Expr, Expr, usize)>,
    pub work: Work,
    pub sites: Vec<Site>,
    /// Independent accumulators of a thread.
    pub chains: f64,
    /// Iterations of the longest of the outermost loops that remain loops; 1 without any.
    pub rounds: f64,
    /// How often an element of an array in registers is set, of the array where that happens most.
    pub updates: f64,
    /// Whether data decide how often something runs: the walk guesses.
    pub depends_on_data: bool,
    /// Instructions of the longest stretch of code without a loop.
    pub straight: f64,
    /// Global loads of one iteration of each loop.
    pub together: Together,
    /// Loads of the block, and those that there would be if all warps had as many as the one that has most.
    pub spread: [f64; 2],
    /// Shared loads of one iteration of an unrolled body.
    pub shared_together: f64,
    /// Values loaded once for several iterations side by side.
    pub held: f64,
    /// Registers of the pointers in a loop whose step is known at run time only.
    strided: f64,
}

impl<'a> Walk<'a> {
    /// Walks the first `threads` threads of a block.
    pub fn run(
        module: &'a Module,
        kernel: &'a Function,
        at: Extents,
        args: &Vars<Value>,
        rows: &'a Rows,
        block: [u32; 3],
        threads: u32,
    ) -> Walk<'a> {
        let mut first = Thread { block, ..Thread::default() };
        for param in &kernel.params {
            first.vars.set(*param, args.get(*param).map(Dual::constant));
        }
        let mut written = BTreeMap::new();
        tree::each_stmt(&kernel.body, &mut |s| {
            let place = tree::operands(s).writes;
            if let Some(place) = place.filter(|p| !matches!(&*p.kind, PlaceKind::Var(_))) {
                *written.entry(base_of(place)).or_default() += 1;
            }
        });
        let mut walk = Walk {
            module,
            kernel,
            at,
            rows,
            lanes: first_threads(threads, at.block, block, args),
            first,
            active: vec![true; threads as usize],
            share: 1.0,
            loops: vec![],
            entered: 0,
            apart: 0,
            guarded: 0,
            depends: vec![0; kernel.vars.len()],
            written,
            known: vec![],
            pointers: Pointers::default(),
            positions: Positions::of(kernel),
            copying: false,
            adding: false,
            ahead: Ahead::default(),
            divided: vec![],
            work: Work::default(),
            sites: vec![],
            chains: 0.0,
            straight: 0.0,
            rounds: 1.0,
            updates: 0.0,
            depends_on_data: false,
            together: Together::default(),
            spread: [0.0; 2],
            shared_together: 0.0,
            held: 0.0,
            strided: 0.0,
        };
        walk.block(&kernel.body);
        walk
    }

    /// Warps of the block that take part.
    fn warps(&self) -> f64 {
        let active = self.active.chunks(32).filter(|w| w.iter().any(|a| *a)).count();
        active as f64 * self.share
    }

    /// How often code runs that the compiler keeps inside of the loops in the set only.
    fn times(&self, of: Loops) -> f64 {
        let inside = self.loops.iter().enumerate().filter(|(k, _)| of >> k & 1 == 1);
        inside.map(|(_, l)| l.trips).product()
    }

    /// Share of the block's warps that are as busy as the one that has most iterations.
    fn busy(&self) -> f64 {
        self.loops.iter().map(|l| l.busy).product()
    }

    /// Of a warp's lanes those that still run all loops around, where the ends of rows decide, on average.
    fn lanes_left(&self) -> f64 {
        self.loops.iter().map(|l| l.lanes).product()
    }

    /// How many loads the loops in the set leave: iterations that stand side by side in the code load what they have in
    /// common once.
    fn different(&self, of: Loops, change: Option<&[i64; MAX_LOOPS]>) -> f64 {
        let beside = of & self.side_by_side();
        let all = self.times(beside);
        let Some(change) = change.filter(|_| all > 1.0 && all <= MOST_BESIDE) else {
            return self.times(of);
        };
        let mut offsets = BTreeSet::from([0i64]);
        for (k, l) in self.loops.iter().enumerate().take(MAX_LOOPS) {
            if beside >> k & 1 == 1 {
                let steps = 0..l.trips.ceil() as i64;
                offsets =
                    steps.flat_map(|i| offsets.iter().map(move |o| o + i * change[k])).collect();
            }
        }
        // Of warps that do not all have the last iteration, the mean.
        let part = |l: &Level| l.trips / l.trips.ceil();
        let inside = self.loops.iter().enumerate().filter(|(k, _)| beside >> k & 1 == 1);
        let part: f64 = inside.map(|(_, l)| part(l)).product();
        self.times(of & !beside) * part * offsets.len() as f64
    }

    fn all_loops(&self) -> Loops {
        (1u64 << self.loops.len()).wrapping_sub(1) as Loops
    }

    /// Loops that remain loops.
    fn serial_loops(&self) -> Loops {
        let serial = self.loops.iter().enumerate().filter(|(_, l)| !l.unrolled);
        serial.fold(0, |m, (k, _)| m | 1 << k)
    }

    /// The loops around the innermost one in the set that remains a loop: what it reads anew each time stays in no
    /// register for the next iteration of those.
    fn around_serial(&self, of: Loops) -> Loops {
        let innermost =
            self.loops.iter().enumerate().rev().find(|(k, l)| of >> k & 1 == 1 && !l.unrolled);
        innermost.map_or(0, |(k, _)| (1u64 << k).wrapping_sub(1) as Loops)
    }

    /// Loops inside the innermost one that remains a loop: their iterations stand side by side in the code, and those
    /// of loops further out do not.
    fn side_by_side(&self) -> Loops {
        let serial = self.loops.iter().rposition(|l| !l.unrolled);
        self.all_loops()
            & serial.map_or(Loops::MAX, |k| Loops::MAX.checked_shl(k as u32 + 1).unwrap_or(0))
    }

    fn loops_of(&self, e: &Expr) -> Loops {
        let mut of = 0;
        tree::each_var(e, &mut |v| of |= self.depends[v.0 as usize]);
        of
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Decl { var, init: Some(e) } => {
                self.expr(e);
                self.assign(*var, e);
            }
            StmtKind::Assign { place, value } => {
                self.expr(value);
                match (&*place.kind, place.root_var()) {
                    (PlaceKind::Var(v), _) => self.assign(*v, value),
                    (_, Some(v)) if self.kernel.var(v).kind != VarKind::Shared => {
                        self.in_registers(v, place, value);
                    }
                    _ => {
                        self.access(place, true);
                        self.keep(place);
                        self.note_copy(place, value);
                    }
                }
            }
            StmtKind::If { cond, then, otherwise } => self.condition(cond, then, otherwise),
            StmtKind::For(l) => self.counted(l),
            StmtKind::Loop { id, condition, body, step } => {
                self.conditional(*id, condition.as_ref(), [body, step]);
            }
            StmtKind::Scope(b) => self.block(b),
            StmtKind::Switch { selector, cases } => self.switch(selector, cases),
            StmtKind::Barrier { .. } => {
                self.work.barriers += self.warps() * self.times(self.serial_loops());
            }
            StmtKind::Warp { .. } => {
                self.work.shuffles += self.warps() * self.times(self.all_loops())
            }
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                zero_fill.iter().for_each(|e| self.expr(e));
                self.copies(destination, source, bytes);
            }
            StmtKind::AsyncCommit => self.ahead.commit(),
            StmtKind::AsyncWait(pending) => {
                let times = self.warps() * self.times(self.serial_loops());
                self.work.waits += times;
                self.ahead.wait(*pending, times);
            }
            StmtKind::Atomic { pointer, .. } => {
                tree::operands(stmt).reads.into_iter().for_each(|e| self.expr(e));
                if let ExprKind::AddressOf(p) = &*pointer.kind {
                    self.adding = true;
                    self.access(p, true);
                    self.adding = false;
                }
            }
            StmtKind::Call { function, args, result: Some(place) } => {
                args.iter().for_each(|e| self.expr(e));
                self.call(*function, args, place);
            }
            StmtKind::Return(_) => {}
            _ => tree::operands(stmt).reads.into_iter().for_each(|e| self.expr(e)),
        }
    }

    fn switch(&mut self, selector: &Expr, cases: &[Case]) {
        self.expr(selector);
        self.depends_on_data = true;
        let before = self.share;
        self.share /= cases.len().max(1) as f64;
        cases.iter().for_each(|c| self.block(&c.body));
        self.share = before;
    }

    fn copies(&mut self, destination: &Expr, source: &Expr, bytes: &Expr) {
        let bytes = bytes.as_const().map_or(4, |v| v.as_i64());
        self.copying = true;
        for (pointer, store) in [(source, false), (destination, true)] {
            if let ExprKind::AddressOf(p) = &*pointer.kind {
                self.access_bytes(p, bytes, store);
            }
        }
        self.copying = false;
    }

    /// An element of a register array gets a value.
    fn in_registers(&mut self, array: VarId, place: &Place, value: &Expr) {
        let of = self.loops_of(value);
        self.depends[array.0 as usize] |= of;
        let elements: u64 = self.kernel.var(array).ty.extents().iter().product();
        let each = self.times(self.all_loops()) / elements.max(1) as f64;
        self.updates = self.updates.max(each);
        if self.serial_loops() != 0 {
            let together = self.times(self.side_by_side());
            self.chains = self.chains.max(together.min(elements as f64));
        }
        self.note_element(array, place, value);
    }

    /// Keeps an integer in a register array, as are the ends of rows.
    fn note_element(&mut self, array: VarId, place: &Place, value: &Expr) {
        if !place.ty.is_integer() {
            return;
        }
        if tree::mentions(value, array) {
            self.lanes.forget(array);
            return self.first.forget(array);
        }
        self.lanes.store(self.module, self.at, place, value, |v| v == array);
        self.first.store(self.module, self.at, place, value, |v| v == array);
    }

    /// Remembers what an array in shared memory is a copy of.
    fn note_copy(&mut self, place: &Place, value: &Expr) {
        let Some((to, from)) = rows::copied(self.kernel, place, value) else { return };
        let (module, at) = (self.module, self.at);
        let first = |p: &Place| self.first.address(module, at, p);
        let (Some(array), Some(copy)) = (first(from), first(place)) else { return };
        let offset = array.offset.value.as_i64() - copy.offset.value.as_i64();
        let (object, offset) = (array.object, Value::int(Scalar::I64, offset));
        self.first.pointers.insert(to, Address { object, offset: Dual::constant(offset) });
        self.lanes.pointers.insert(to, Address { object, offset: Lanes::All(offset) });
    }

    fn assign(&mut self, var: VarId, e: &Expr) {
        let of = if tree::mentions(e, var) { self.all_loops() } else { self.loops_of(e) };
        self.depends[var.0 as usize] |= of;
        let (module, at) = (self.module, self.at);
        if e.ty.scalar().is_none_or(|s| s.is_float()) {
            self.chains = self.chains.max(if self.loops.is_empty() { 0.0 } else { 1.0 });
        }
        let Some(scalar) = e.ty.scalar() else { return };
        self.note_position(var, e);
        self.lanes.set(var, self.lanes.eval(module, at, e), &self.active);
        if !scalar.is_float() {
            // How reals change along loops nobody says.
            self.first.vars.set(var, self.first.eval(module, at, e));
        }
    }

    /// Keeps what a call returns to a variable.
    fn call(&mut self, callee: FuncId, args: &[Expr], place: &Place) {
        let Some(var) = calls::variable(place) else { return };
        let of = args.iter().fold(0, |of, e| of | self.loops_of(e));
        self.depends[var.0 as usize] |= of;
        let (module, at) = (self.module, self.at);
        let values = self.lanes.values(module, at, args);
        let returned = |(lane, active): (usize, &bool)| {
            let of = |v: &Option<Lanes>| v.as_ref().and_then(|v| v.of(lane));
            let args: Vec<Option<Value>> = values.iter().map(of).collect();
            let thread = active.then(|| self.lanes.lane(lane))?;
            thread.called_with(module, at, callee, &args)
        };
        let returned = self.active.iter().enumerate().map(returned).collect();
        self.lanes.set(var, Some(Lanes::Each(returned)), &self.active);
        self.first.vars.set(var, self.first.call(module, at, callee, args));
    }

    /// Registers of pointers that the compiler keeps.
    pub fn kept_pointers(&self) -> f64 {
        self.pointers.kept() + self.strided
    }

    /// Counts what computing a value takes.
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
            ExprKind::Read(p)
                if p.root_var().is_none_or(|v| self.kernel.var(v).kind == VarKind::Shared) =>
            {
                self.access(p, false);
            }
            ExprKind::AddressOf(_) => {}
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                let product = |e: &Expr| matches!(&*e.kind, ExprKind::Binary(BinaryOp::Mul, ..));
                // A product is part of the sum around it.
                let fused = *op == BinaryOp::Mul && float(&e.ty);
                let sum = matches!(op, BinaryOp::Add | BinaryOp::Sub) && (product(a) || product(b));
                let cost = match op {
                    _ if fused => 0.5,
                    _ if sum => 0.5,
                    BinaryOp::Div | BinaryOp::Rem if b.as_const().is_some() => 4.0,
                    BinaryOp::Div if float(&a.ty) => self.quotient(a),
                    BinaryOp::Div | BinaryOp::Rem => self.division(a, b),
                    BinaryOp::LogicalAnd | BinaryOp::LogicalOr => 0.0,
                    _ => 1.0,
                };
                self.count(&a.ty, cost, self.loops_of(e));
            }
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Cast(a) => {
                self.expr(a);
                if float(&a.ty) != float(&e.ty) {
                    self.work.sfu +=
                        self.warps() * self.times(self.loops_of(e) | self.serial_loops());
                }
            }
            ExprKind::Make(parts) => parts.iter().for_each(|p| self.expr(p)),
            ExprKind::Member(a, _) => self.expr(a),
            ExprKind::Select(c, a, b) => {
                self.expr(c);
                self.expr(a);
                self.expr(b);
                self.count(&e.ty, 1.0, self.loops_of(e));
            }
            ExprKind::Call(f, args) => {
                args.iter().for_each(|a| self.expr(a));
                self.math(*f, e);
            }
            _ => {}
        }
    }

    /// A call of the math library.
    fn math(&mut self, f: MathFn, e: &Expr) {
        let cost = functions::cost(f, e.ty.innermost().scalar() == Some(Scalar::F64));
        self.work.sfu += self.warps() * self.times(self.all_loops()) * cost.special;
        self.work.int += self.warps() * self.times(self.all_loops()) * cost.int;
        self.straight += (cost.code - cost.own) * self.times(self.beside());
        self.count(&e.ty, cost.own, self.loops_of(e));
    }

    /// A quotient of reals, in the instructions of its type.
    fn quotient(&mut self, of: &Expr) -> f64 {
        let wide = of.ty.innermost().scalar() == Some(Scalar::F64);
        self.work.sfu += self.warps() * self.times(self.all_loops());
        functions::cost(MathFn::Rcp, wide).own + 2.0
    }

    /// Loops whose iterations stand beside each other in the code.
    fn beside(&self) -> Loops {
        self.all_loops() & !self.serial_loops()
    }

    /// Arithmetic on reals is done in every iteration of loops that remain loops, and, as that on integers, once for iterations
    /// side by side that its operands do not change in.
    fn count(&mut self, ty: &Type, instructions: f64, of: Loops) {
        let all = self.warps() * self.times(of | self.serial_loops()) * instructions;
        if ty.innermost().scalar().is_some_and(Scalar::is_float) {
            self.straight += instructions * self.times(self.beside());
        }
        let own = self.warps() * self.times(of) * instructions;
        match ty.innermost().scalar() {
            Some(Scalar::F64) => self.work.fp64 += all,
            Some(Scalar::F32) => self.work.fp32 += all,
            Some(Scalar::F16 | Scalar::BF16) => self.work.fp16 += all,
            _ => self.work.int += own,
        }
    }
}

fn float(ty: &Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

impl Walk<'_> {
    /// What a block has to do, to be compared with that of others: instructions of all kinds of arithmetic, and sectors of device
    /// memory as so many more.
    pub fn effort(&self) -> f64 {
        let Work { fp32, fp64, fp16, int, .. } = self.work;
        let sectors: f64 = self.sites.iter().filter(|s| !s.shared).map(|s| s.sectors).sum();
        fp32 + fp64 + fp16 + int + sectors * SECTOR
    }
}
