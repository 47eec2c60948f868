//! Access views of a launch, in full: every access of every thread to global and shared memory, with the addresses
//! that follow from sizes and position.
//!
//! The device model looks at one block and enters each loop once; this walk goes through all of them, with the same
//! addresses, and gives what the emulator counts. Where control flow or an address depends on data, the view says so.

use std::collections::{BTreeMap, HashMap};

use warpsmith_device::{TrafficKind, l1_wavefronts, shared_wavefronts};
use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, ExprKind, ForLoop, FuncId, Function, LoopCondition, Module, Place,
    PlaceKind, Space, Span, Stmt, StmtKind, Type, Value, VarId, VarKind, eval, layout::layout_of,
};
use warpsmith_opt::analysis::access::{Base, base_of};
use warpsmith_opt::walk as tree;

use super::address::{Address, Object};
use super::footprint;
use super::values::{Extents, Thread, Vars};

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(Value),
    /// A byte of an array.
    Pointer {
        array: String,
        offset: i64,
    },
    /// A struct, a null pointer: nothing that addresses are made of.
    Other,
}

/// One access in the source to one array.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub span: Option<Span>,
    pub array: String,
    /// In shared memory; else in global memory.
    pub shared: bool,
    pub kind: TrafficKind,
    /// Bytes a lane.
    pub bytes: u32,
    /// Warp instructions, and their active lanes.
    pub requests: u64,
    pub threads: u64,
    /// Global memory: sectors of 32 bytes.
    pub sectors: u64,
    pub wavefronts: f64,
    /// Shared memory: wavefronts that bank conflicts cost.
    pub conflicts: f64,
    /// The address, or whether the access happens, depends on data: the counts say nothing.
    pub by_data: bool,
}

/// All views of a launch, in order of place in the source, then array; `None` when that takes more steps: a step is a
/// statement or an iteration of a thread.
pub fn views(
    module: &Module,
    kernel: FuncId,
    [grid, block]: [[u32; 3]; 2],
    args: &[Argument],
    max_steps: u64,
) -> Option<Vec<View>> {
    let function = module.function(kernel);
    let mut names = HashMap::new();
    let mut vars = Vars::default();
    for (param, arg) in function.params.iter().zip(args) {
        match arg {
            Argument::Value(value) => vars.set(*param, Some(*value)),
            Argument::Pointer { array, offset } => {
                _ = names.insert(*param, (array.clone(), *offset));
            }
            Argument::Other => {}
        }
    }
    let mut run = Run {
        module,
        function,
        at: Extents { grid, block },
        names,
        lanes: vec![],
        masks: Masks::default(),
        span: None,
        unknown: 0,
        unsure: Unsure::default(),
        found: BTreeMap::new(),
        returned: vec![],
        steps_left: max_steps,
    };
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                run.one_block([x, y, z], &vars);
            }
        }
    }
    (run.steps_left > 0).then(|| run.found.into_values().collect())
}

/// What tells accesses apart: place, array, memory, kind, bytes.
type Key = (Option<Span>, String, bool, u8, u32);

/// Threads by what they are doing.
#[derive(Clone, Debug, Default)]
struct Masks {
    active: Vec<bool>,
    /// Waiting for the end of the innermost loop or `switch`, or of its iteration.
    broke: Vec<bool>,
    continued: Vec<bool>,
    /// Left the kernel.
    gone: Vec<bool>,
}

/// Whether it depends on data which threads come here.
#[derive(Clone, Copy, Debug, Default)]
struct Unsure {
    /// Until the end of the innermost loop.
    in_loop: bool,
    for_good: bool,
}

struct Run<'a> {
    module: &'a Module,
    function: &'a Function,
    at: Extents,
    /// The arrays of pointer parameters, and the byte that they point to.
    names: HashMap<VarId, (String, i64)>,
    lanes: Vec<Thread<Value>>,
    masks: Masks,
    span: Option<Span>,
    /// Branches around, of which it depends on data whether they are taken.
    unknown: u32,
    unsure: Unsure,
    found: BTreeMap<Key, View>,
    /// What threads return from the function that is called.
    returned: Vec<Option<Value>>,
    steps_left: u64,
}

fn none(n: usize) -> Vec<bool> {
    vec![false; n]
}

fn add(a: &mut [bool], b: &[bool]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a |= *b);
}

impl<'a> Run<'a> {
    fn one_block(&mut self, block: [u32; 3], vars: &Vars<Value>) {
        let [x, y, z] = self.at.block;
        let lane = |t: u32| Thread {
            thread: [t % x, t / x % y, t / (x * y)],
            block,
            vars: vars.clone(),
            pointers: HashMap::new(),
        };
        self.lanes = (0..x * y * z).map(lane).collect();
        let n = self.lanes.len();
        self.masks =
            Masks { active: vec![true; n], broke: none(n), continued: none(n), gone: none(n) };
        self.unsure = Unsure::default();
        self.block(&self.function.body);
    }

    fn is_unknown(&self) -> bool {
        self.unknown > 0 || self.unsure.in_loop || self.unsure.for_good
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            if !self.masks.active.contains(&true) || self.steps_left == 0 {
                return;
            }
            self.count();
            self.stmt(stmt);
        }
    }

    /// All threads take a step.
    fn count(&mut self) {
        self.steps_left = self.steps_left.saturating_sub(self.lanes.len() as u64);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.span = stmt.origin.span.or(self.span);
        match &stmt.kind {
            StmtKind::Decl { var, init: Some(e) } => {
                self.reads(e);
                self.assign(*var, e);
            }
            StmtKind::Assign { place, value } => {
                self.reads_of_place(place);
                self.reads(value);
                match &*place.kind {
                    PlaceKind::Var(v) if self.function.var(*v).kind != VarKind::Shared => {
                        self.assign(*v, value);
                    }
                    _ => self.access(place, TrafficKind::Store, place.origin.span),
                }
            }
            StmtKind::If { cond, then, otherwise } => self.condition(cond, then, otherwise),
            StmtKind::For(l) => self.counted(l),
            StmtKind::Loop { condition, body, step, .. } => {
                self.while_loop(condition.as_ref(), body, step);
            }
            StmtKind::Scope(b) => self.block(b),
            StmtKind::Switch { selector, cases } => self.switch(selector, cases),
            StmtKind::Break => self.leave(|m| &mut m.broke),
            StmtKind::Continue => self.leave(|m| &mut m.continued),
            StmtKind::Return(e) => {
                if let Some(e) = e {
                    self.reads(e);
                    self.give_back(e);
                }
                self.leave(|m| &mut m.gone);
            }
            StmtKind::Call { function, args, result } => {
                args.iter().for_each(|e| self.reads(e));
                match result.as_ref().map(|p| (&*p.kind, p.root_var())) {
                    Some((PlaceKind::Var(_), Some(v))) => self.call(*function, args, v),
                    _ => self.operands(stmt),
                }
            }
            StmtKind::Atomic { pointer, .. } => {
                self.operands(stmt);
                let bytes = pointer.ty.pointee().map_or(0, |t| layout_of(self.module, t).size);
                self.through_pointer(pointer, bytes, TrafficKind::Atomic);
            }
            StmtKind::AsyncCopy { destination, source, bytes, .. } => {
                self.operands(stmt);
                let size = self.lanes.iter().zip(&self.masks.active).find_map(|(lane, active)| {
                    active.then(|| lane.eval(self.module, self.at, bytes)).flatten()
                });
                let size = size.map_or(0, |v| v.as_i64() as u64);
                self.through_pointer(destination, size, TrafficKind::AsyncCopy);
                self.through_pointer(source, size, TrafficKind::AsyncCopy);
            }
            _ => self.operands(stmt),
        }
    }

    fn give_back(&mut self, e: &Expr) {
        for ((lane, active), slot) in
            self.lanes.iter().zip(&self.masks.active).zip(&mut self.returned)
        {
            if *active {
                *slot = lane.eval(self.module, self.at, e);
            }
        }
    }

    /// A function of numbers, such as a minimum or an index that is clamped. What others return is data.
    fn call(&mut self, function: FuncId, args: &[Expr], result: VarId) {
        let callee = self.module.function(function);
        if callee.params.iter().any(|p| callee.var(*p).ty.scalar().is_none()) {
            self.forget_var(result);
            return;
        }
        let caller = std::mem::replace(&mut self.function, callee);
        let (masks, unsure, span) = (self.masks.clone(), self.unsure, self.span);
        let mut outside = vec![];
        for lane in &mut self.lanes {
            let mut own = Vars::default();
            for (param, arg) in callee.params.iter().zip(args) {
                own.set(*param, lane.eval(self.module, self.at, arg));
            }
            outside.push(std::mem::replace(&mut lane.vars, own));
        }
        let n = self.lanes.len();
        (self.masks.broke, self.masks.continued, self.masks.gone) = (none(n), none(n), none(n));
        self.returned = vec![None; n];
        self.block(&callee.body);
        // Where it depended on data which way was taken, so does the result.
        let known = !self.is_unknown();
        let returned = std::mem::take(&mut self.returned);
        (self.function, self.masks, self.unsure, self.span) = (caller, masks, unsure, span);
        for (k, vars) in outside.into_iter().enumerate() {
            self.lanes[k].vars = vars;
            if self.masks.active[k] {
                self.lanes[k].vars.set(result, returned[k].filter(|_| known));
            }
        }
    }

    /// What a statement reads; its results are data.
    fn operands(&mut self, stmt: &Stmt) {
        let o = tree::operands(stmt);
        o.reads.iter().for_each(|e| self.reads(e));
        let written = o.writes.and_then(Place::root_var);
        o.results.into_iter().chain(written).for_each(|v| self.forget_var(v));
    }

    fn leave(&mut self, to: impl Fn(&mut Masks) -> &mut Vec<bool>) {
        let active = std::mem::take(&mut self.masks.active);
        add(to(&mut self.masks), &active);
        self.masks.active = none(active.len());
    }

    fn forget_var(&mut self, var: VarId) {
        for lane in &mut self.lanes {
            lane.vars.set(var, None);
            lane.pointers.remove(&var);
        }
    }

    /// What statements assign is data from now on.
    fn forget(&mut self, block: &Block) {
        tree::each_stmt(block, &mut |s| {
            let o = tree::operands(s);
            let written = o.writes.and_then(Place::root_var);
            o.results.into_iter().chain(written).for_each(|v| self.forget_var(v));
        });
    }

    fn assign(&mut self, var: VarId, e: &Expr) {
        let (module, at) = (self.module, self.at);
        let lanes = self.lanes.iter_mut().zip(&self.masks.active).filter(|(_, a)| **a);
        for (lane, _) in lanes {
            if e.ty.is_pointer() {
                match lane.pointer(module, at, e) {
                    Some(p) => _ = lane.pointers.insert(var, p),
                    None => _ = lane.pointers.remove(&var),
                }
                continue;
            }
            lane.vars.set(var, lane.eval(module, at, e));
        }
    }

    /// A number or condition for each thread; `None` where the thread is not active. `Err`: it depends on data.
    fn each(&self, e: &Expr) -> Result<Vec<Option<Value>>, ()> {
        let lanes = self.lanes.iter().zip(&self.masks.active);
        let values = lanes.map(|(lane, active)| match active {
            true => lane.eval(self.module, self.at, e).map(Some).ok_or(()),
            false => Ok(None),
        });
        values.collect()
    }

    /// The active threads for which a condition holds.
    fn truth(&self, e: &Expr) -> Result<Vec<bool>, ()> {
        let values = self.each(e)?;
        Ok(values.into_iter().map(|v| v.is_some_and(Value::is_true)).collect())
    }

    /// Runs something of which it depends on data whether, or how often, it is run.
    fn perhaps(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.masks.clone();
        self.unknown += 1;
        run(self);
        self.unknown -= 1;
        self.masks = before;
    }

    fn condition(&mut self, cond: &Expr, then: &Block, otherwise: &Block) {
        self.reads(cond);
        let Ok(truth) = self.truth(cond) else {
            for block in [then, otherwise] {
                self.perhaps(|run| run.block(block));
            }
            for block in [then, otherwise] {
                self.forget(block);
                self.unsure.for_good |= tree::returns(block).is_some();
                self.unsure.in_loop |=
                    tree::leaves(block).is_some() || tree::continues(block).is_some();
            }
            return;
        };
        let others: Vec<bool> =
            self.masks.active.iter().zip(&truth).map(|(a, t)| *a && !*t).collect();
        self.masks.active = truth;
        self.block(then);
        let after = std::mem::replace(&mut self.masks.active, others);
        self.block(otherwise);
        add(&mut self.masks.active, &after);
    }

    /// Runs a loop: `test` leaves those threads active that make an iteration, or is not able to tell; `advance` comes
    /// after the body.
    fn iterate(
        &mut self,
        body: &Block,
        mut test: impl FnMut(&mut Self) -> Result<(), ()>,
        mut advance: impl FnMut(&mut Self),
    ) {
        let n = self.lanes.len();
        let before = self.masks.clone();
        let unsure = std::mem::replace(&mut self.unsure.in_loop, false);
        (self.masks.broke, self.masks.continued) = (none(n), none(n));
        let mut known = true;
        while known && self.masks.active.contains(&true) && self.steps_left > 0 {
            self.count();
            if test(self).is_err() {
                known = false;
                // Variables have the values of any iteration.
                self.forget(body);
                self.unsure.in_loop = true;
            }
            self.block(body);
            let continued = std::mem::replace(&mut self.masks.continued, none(n));
            add(&mut self.masks.active, &continued);
            known &= !self.is_unknown();
            advance(self);
        }
        if !known {
            self.forget(body);
        }
        let gone = std::mem::take(&mut self.masks.gone);
        self.masks = before;
        self.masks.active.iter_mut().zip(&gone).for_each(|(a, g)| *a &= !*g);
        self.masks.gone = gone;
        self.unsure.in_loop = unsure;
    }

    fn counted(&mut self, l: &ForLoop) {
        [&l.first, &l.limit, &l.step].into_iter().for_each(|e| self.reads(e));
        let bounds = [&l.first, &l.limit, &l.step].map(|e| self.each(e));
        let [Ok(first), Ok(limit), Ok(step)] = bounds else {
            self.forget_var(l.var);
            self.iterate(&l.body, |_| Err(()), |_| {});
            return;
        };
        for (lane, value) in self.lanes.iter_mut().zip(first) {
            if value.is_some() {
                lane.vars.set(l.var, value);
            }
        }
        let (var, compare) = (l.var, l.compare);
        let test = |run: &mut Self| {
            for ((active, lane), limit) in run.masks.active.iter_mut().zip(&run.lanes).zip(&limit) {
                let (Some(value), Some(limit)) = (lane.vars.get(var), limit) else {
                    *active = false;
                    continue;
                };
                *active &= eval::binary(compare, value, *limit).is_true();
            }
            Ok(())
        };
        let advance = |run: &mut Self| {
            let lanes = run.lanes.iter_mut().zip(&run.masks.active).zip(&step);
            for ((lane, _), step) in lanes.filter(|((_, active), _)| **active) {
                if let (Some(value), Some(step)) = (lane.vars.get(var), step) {
                    lane.vars.set(var, Some(eval::binary(BinaryOp::Add, value, *step)));
                }
            }
        };
        self.iterate(&l.body, test, advance);
    }

    fn while_loop(&mut self, condition: Option<&LoopCondition>, body: &Block, step: &Block) {
        let mut first = true;
        let ask = |run: &mut Self, c: &LoopCondition| {
            run.block(&c.before);
            run.reads(&c.expr);
            run.masks.active = run.truth(&c.expr)?;
            Ok(())
        };
        let test = |run: &mut Self| match condition {
            Some(c) if !c.at_end || !first => ask(run, c),
            _ => {
                first = false;
                Ok(())
            }
        };
        self.iterate(body, test, |run| {
            run.block(step);
            if run.is_unknown() {
                run.forget(step);
            }
        });
    }

    fn switch(&mut self, selector: &Expr, cases: &[Case]) {
        self.reads(selector);
        let Ok(values) = self.each(selector) else {
            for case in cases {
                self.perhaps(|run| run.block(&case.body));
                self.forget(&case.body);
                self.unsure.for_good |= tree::returns(&case.body).is_some();
                self.unsure.in_loop |= tree::continues(&case.body).is_some();
            }
            return;
        };
        let n = self.lanes.len();
        let outer = std::mem::replace(&mut self.masks.broke, none(n));
        let matches =
            |v: &Option<Value>, case: &Case| v.is_some_and(|v| case.values.contains(&v.as_i64()));
        let waiting = std::mem::replace(&mut self.masks.active, none(n));
        for case in cases {
            for (k, v) in values.iter().enumerate() {
                let default = case.is_default && !cases.iter().any(|c| matches(v, c));
                self.masks.active[k] |= waiting[k] && (matches(v, case) || default);
            }
            self.block(&case.body);
        }
        // Those that matched nothing, fell out at the end, or broke out.
        for (k, v) in values.iter().enumerate() {
            let nothing = !cases.iter().any(|c| c.is_default || matches(v, c));
            self.masks.active[k] |= waiting[k] && nothing;
        }
        let broke = std::mem::replace(&mut self.masks.broke, outer);
        add(&mut self.masks.active, &broke);
    }

    /// The reads of an expression, by the threads that make them.
    fn reads(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
            ExprKind::Read(p) => {
                self.reads_of_place(p);
                self.access(p, TrafficKind::Load, p.origin.span.or(e.origin.span));
            }
            ExprKind::AddressOf(p) => self.reads_of_place(p),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                self.reads(a);
                let wanted = *op == BinaryOp::LogicalAnd;
                self.reads_where(a, wanted, b);
            }
            ExprKind::Select(c, a, b) => {
                self.reads(c);
                self.reads_where(c, true, a);
                self.reads_where(c, false, b);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Bitcast(a)
            | ExprKind::Member(a, _) => self.reads(a),
            ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
                self.reads(a);
                self.reads(b);
            }
            ExprKind::Call(_, args) | ExprKind::Make(args) => {
                args.iter().for_each(|a| self.reads(a));
            }
        }
    }

    /// The reads of an expression that is evaluated where a condition is so.
    fn reads_where(&mut self, cond: &Expr, is: bool, e: &Expr) {
        if !tree::reads_memory(e) {
            return;
        }
        let Ok(values) = self.each(cond) else {
            self.perhaps(|run| run.reads(e));
            return;
        };
        let those = values.into_iter().map(|v| v.is_some_and(|v| v.is_true() == is)).collect();
        let before = std::mem::replace(&mut self.masks.active, those);
        self.reads(e);
        self.masks.active = before;
    }

    fn reads_of_place(&mut self, place: &Place) {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => {}
            PlaceKind::Deref(e) => self.reads(e),
            PlaceKind::Elem { pointer, index, dims } => {
                self.reads(pointer);
                index.iter().chain(dims).for_each(|e| self.reads(e));
            }
            PlaceKind::Index(p, e) => {
                self.reads_of_place(p);
                self.reads(e);
            }
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => self.reads_of_place(p),
        }
    }

    fn access(&mut self, place: &Place, kind: TrafficKind, span: Option<Span>) {
        if matches!(place.ty, Type::Array(..) | Type::Struct(_)) {
            return;
        }
        let base = match base_of(place) {
            Base::Var(v) => Some(Object::Var(v)),
            Base::Global(g) => Some(Object::Global(g)),
            Base::Anything => None,
        };
        // Most are variables in registers; a pointer is one as well, whatever it points to.
        if let Some(Object::Var(v)) = base {
            let (var, itself) = (self.function.var(v), matches!(&*place.kind, PlaceKind::Var(_)));
            let shared = matches!(var.kind, VarKind::Shared | VarKind::DynamicShared);
            if !shared && (itself || !var.ty.is_pointer()) {
                return;
            }
        }
        let bytes = layout_of(self.module, &place.ty).size;
        let (module, at) = (self.module, self.at);
        self.request(base, bytes, kind, span, |lane| lane.address(module, at, place));
    }

    fn through_pointer(&mut self, pointer: &Expr, bytes: u64, kind: TrafficKind) {
        let (module, at) = (self.module, self.at);
        self.request(None, bytes, kind, None, |lane| lane.pointer(module, at, pointer));
    }

    /// The array of an object, whether it lies in shared memory, and the byte at which the object begins in it; `None`:
    /// neither in global nor in shared memory.
    fn memory(&self, object: Object) -> Option<(String, bool, i64)> {
        match object {
            Object::Var(v) => {
                let var = self.function.var(v);
                match var.kind {
                    VarKind::Shared | VarKind::DynamicShared => Some((var.name.clone(), true, 0)),
                    _ => self.names.get(&v).map(|(name, at)| (name.clone(), false, *at)),
                }
            }
            Object::Global(g) => {
                let global = self.module.globals.get(g.0 as usize)?;
                (global.space == Space::Global).then(|| (global.name.clone(), false, 0))
            }
        }
    }

    fn request(
        &mut self,
        base: Option<Object>,
        bytes: u64,
        kind: TrafficKind,
        span: Option<Span>,
        address: impl Fn(&Thread<Value>) -> Option<Address<Value>>,
    ) {
        let span = span.or(self.span);
        let lanes = self.lanes.iter().zip(&self.masks.active);
        let all: Vec<Option<Option<Address<Value>>>> =
            lanes.map(|(lane, active)| active.then(|| address(lane))).collect();
        let unknown = self.is_unknown() || all.contains(&Some(None));
        let object = all.iter().flatten().flatten().map(|a| a.object).next().or(base);
        let Some((array, shared, start)) = object.and_then(|o| self.memory(o)) else { return };
        let key = (span, array.clone(), shared, kind as u8, bytes as u32);
        let view = self.found.entry(key).or_insert(View {
            span,
            array,
            shared,
            kind,
            bytes: bytes as u32,
            requests: 0,
            threads: 0,
            sectors: 0,
            wavefronts: 0.0,
            conflicts: 0.0,
            by_data: false,
        });
        view.by_data |= unknown;
        if view.by_data {
            return;
        }
        for warp in all.chunks(32) {
            let byte = |a: &Option<Option<Address<Value>>>| {
                a.flatten().map(|a| (a.offset.as_i64() + start) as u64)
            };
            let lanes: Vec<Option<u64>> = warp.iter().map(byte).collect();
            view.add(&lanes);
        }
    }
}

impl View {
    /// One request of a warp.
    fn add(&mut self, lanes: &[Option<u64>]) {
        let active = lanes.iter().flatten().count() as u64;
        if active == 0 {
            return;
        }
        self.requests += 1;
        self.threads += active;
        let bytes = u64::from(self.bytes);
        if self.shared {
            let used = shared_wavefronts(lanes, bytes, self.kind == TrafficKind::Atomic);
            self.wavefronts += f64::from(used.wavefronts);
            self.conflicts += f64::from(used.wavefronts - used.ideal);
        } else {
            let addresses = lanes.iter().flatten().copied();
            let signed = addresses.clone().map(|a| a as i64);
            self.sectors += footprint::sectors(signed, bytes as i64).len() as u64;
            self.wavefronts += l1_wavefronts(addresses, bytes);
        }
    }
}
