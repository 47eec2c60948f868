//! Threads of a launch run side by side, with the values and addresses that follow from sizes and position.
//!
//! Loops are gone through as often as they run, or only at their ends ([`Watch::ENDS`]); where control flow or a value
//! depends on data, both ways are taken and what they assign is not known any more. Who watches gets every access.

mod reads;

use warpsmith_device::TrafficKind;
use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, ForLoop, FuncId, Function, Launch, LoopCondition, Module, Place,
    PlaceKind, Scalar, Span, Stmt, StmtKind, VarId, VarKind, layout::layout_of,
};
use warpsmith_opt::walk as tree;

use super::address::{Address, Object};
use super::values::{Extents, Single, Thread, Vars};

/// Loops of at most so many iterations are gone through whole, where others are at their ends only.
const WHOLE: i128 = 8;

/// One access of the active threads.
pub struct Request<'a, N> {
    pub module: &'a Module,
    pub function: &'a Function,
    /// For each thread: `None` where it is not active, inside where the address depends on data.
    pub lanes: &'a [Option<Option<Address<N>>>],
    /// What is accessed, as far as that is known without an address.
    pub base: Option<Object>,
    /// Bytes a thread.
    pub bytes: u64,
    pub kind: TrafficKind,
    pub span: Option<Span>,
    /// It depends on data whether, or by which threads, the access is made.
    pub unsure: bool,
}

/// Looks on.
pub trait Watch<N: Single> {
    /// Long loops are entered at their first and their last iteration only.
    const ENDS: bool = false;

    fn request(&mut self, request: &Request<'_, N>);

    /// A condition, or whether a loop goes on, for each thread that asks.
    fn decision(&mut self, _values: &[Option<N>], _span: Option<Span>) {}

    /// The host launches a kernel.
    fn launch(&mut self, _module: &Module, _launch: &Launch, _host: &Thread<N>) {}
}

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

pub struct Run<'a, N, W> {
    module: &'a Module,
    function: &'a Function,
    at: Extents,
    pub watch: W,
    lanes: Vec<Thread<N>>,
    masks: Masks,
    span: Option<Span>,
    /// Branches around, of which it depends on data whether they are taken.
    unknown: u32,
    unsure: Unsure,
    /// What threads return from the function that is called.
    returned: Vec<Option<N>>,
    /// Statements and iterations of threads that are still allowed; at 0, everything stops.
    pub steps_left: u64,
}

fn none(n: usize) -> Vec<bool> {
    vec![false; n]
}

fn add(a: &mut [bool], b: &[bool]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a |= *b);
}

impl<'a, N: Single, W: Watch<N>> Run<'a, N, W> {
    pub fn new(
        module: &'a Module,
        function: &'a Function,
        at: Extents,
        watch: W,
        steps: u64,
    ) -> Self {
        Run {
            module,
            function,
            at,
            watch,
            lanes: vec![],
            masks: Masks::default(),
            span: None,
            unknown: 0,
            unsure: Unsure::default(),
            returned: vec![],
            steps_left: steps,
        }
    }

    /// Runs some threads of a block; `vars` holds the parameters.
    pub fn one_block(&mut self, block: [u32; 3], threads: &[[u32; 3]], vars: &Vars<N>) {
        let lane = |thread: &[u32; 3]| Thread::new(block, *thread, vars.clone());
        self.lanes = threads.iter().map(lane).collect();
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
                self.put(place, value);
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
                self.copies(destination, source, bytes);
            }
            StmtKind::Launch(l) => {
                self.operands(stmt);
                let active = self.lanes.iter().zip(&self.masks.active).find(|(_, a)| **a);
                if let Some((lane, _)) = active {
                    self.watch.launch(self.module, l, lane);
                }
            }
            _ => self.operands(stmt),
        }
    }

    fn put(&mut self, place: &Place, value: &Expr) {
        match &*place.kind {
            PlaceKind::Var(v) if self.function.var(*v).kind != VarKind::Shared => {
                self.assign(*v, value);
            }
            _ => {
                self.access(place, TrafficKind::Store, place.origin.span);
                self.store(place, value);
            }
        }
    }

    fn copies(&mut self, destination: &Expr, source: &Expr, bytes: &Expr) {
        let size = self.lanes.iter().zip(&self.masks.active).find_map(|(lane, active)| {
            active.then(|| lane.eval(self.module, self.at, bytes)).flatten()
        });
        let size = size.map_or(0, |v| v.value().as_i64() as u64);
        self.through_pointer(destination, size, TrafficKind::AsyncCopy);
        self.through_pointer(source, size, TrafficKind::AsyncCopy);
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
            let vars = std::mem::replace(&mut lane.vars, own);
            outside.push((
                vars,
                std::mem::take(&mut lane.pointers),
                std::mem::take(&mut lane.cells),
            ));
        }
        let n = self.lanes.len();
        (self.masks.broke, self.masks.continued, self.masks.gone) = (none(n), none(n), none(n));
        let of_caller = std::mem::replace(&mut self.returned, vec![None; n]);
        self.block(&callee.body);
        // Where it depended on data which way was taken, so does the result.
        let known = !self.is_unknown();
        let returned = std::mem::replace(&mut self.returned, of_caller);
        (self.function, self.masks, self.unsure, self.span) = (caller, masks, unsure, span);
        for (k, (vars, pointers, cells)) in outside.into_iter().enumerate() {
            let lane = &mut self.lanes[k];
            (lane.vars, lane.pointers, lane.cells) = (vars, pointers, cells);
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
        self.lanes.iter_mut().for_each(|lane| lane.forget(var));
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
        for (lane, _) in self.lanes.iter_mut().zip(&self.masks.active).filter(|(_, a)| **a) {
            lane.assign(module, at, var, e);
        }
    }

    /// What a thread keeps in arrays of its own.
    fn store(&mut self, place: &Place, e: &Expr) {
        let (module, at, function) = (self.module, self.at, self.function);
        let local = |v: VarId| function.var(v).kind == VarKind::Local;
        for (lane, _) in self.lanes.iter_mut().zip(&self.masks.active).filter(|(_, a)| **a) {
            lane.store(module, at, place, e, local);
        }
    }

    /// A number or condition for each thread; `None` where the thread is not active. `Err`: it depends on data.
    fn each(&self, e: &Expr) -> Result<Vec<Option<N>>, ()> {
        let lanes = self.lanes.iter().zip(&self.masks.active);
        let values = lanes.map(|(lane, active)| match active {
            true => lane.eval(self.module, self.at, e).map(Some).ok_or(()),
            false => Ok(None),
        });
        values.collect()
    }

    /// The active threads for which a condition holds.
    fn truth(&mut self, e: &Expr) -> Result<Vec<bool>, ()> {
        let values = self.each(e)?;
        self.watch.decision(&values, e.origin.span.or(self.span));
        Ok(values.into_iter().map(|v| v.is_some_and(|v| v.value().is_true())).collect())
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
        let mut rounds = 0;
        while known && self.masks.active.contains(&true) && self.steps_left > 0 {
            self.count();
            rounds += 1;
            let by_data = test(self).is_err();
            if by_data || (W::ENDS && rounds > WHOLE) {
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
            if by_data {
                // Nobody knows how often the condition reads what it reads.
                _ = test(self);
            }
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
            // If there is an iteration at all, it is the first one.
            if let ([Ok(first), ..], true) = (bounds, W::ENDS) {
                self.lanes.iter_mut().zip(first).for_each(|(lane, v)| lane.vars.set(l.var, v));
            }
            self.iterate(&l.body, |_| Err(()), |_| {});
            self.forget_var(l.var);
            return;
        };
        if W::ENDS {
            let trips = trips(l.compare, &first, &limit, &step);
            if trips.iter().any(|n| *n > WHOLE) {
                self.ends(l, &trips, [&first, &limit, &step]);
                return;
            }
        }
        for (lane, value) in self.lanes.iter_mut().zip(first) {
            if value.is_some() {
                lane.vars.set(l.var, value);
            }
        }
        let (var, compare) = (l.var, l.compare);
        let test = |run: &mut Self| {
            run.goes_on(var, compare, &limit);
            Ok(())
        };
        let advance = |run: &mut Self| {
            let lanes = run.lanes.iter_mut().zip(&run.masks.active).zip(&step);
            for ((lane, _), step) in lanes.filter(|((_, active), _)| **active) {
                if let (Some(value), Some(step)) = (lane.vars.get(var), step) {
                    lane.vars.set(var, Some(N::binary(BinaryOp::Add, value, *step)));
                }
            }
        };
        self.iterate(&l.body, test, advance);
    }

    /// Leaves those threads active whose counter is inside the bounds of a loop.
    fn goes_on(&mut self, var: VarId, compare: BinaryOp, limit: &[Option<N>]) {
        let asked = self.lanes.iter().zip(&self.masks.active).zip(limit);
        let inside: Vec<Option<N>> = asked
            .map(|((lane, active), limit)| {
                let value = lane.vars.get(var).filter(|_| *active)?;
                Some(N::binary(compare, value, (*limit)?))
            })
            .collect();
        self.watch.decision(&inside, self.span);
        self.masks.active = inside.iter().map(|v| v.is_some_and(|v| v.value().is_true())).collect();
    }

    /// The counter once more, after the last iteration: it must be seen to have left the bounds.
    fn leaves(&mut self, l: &ForLoop, limit: &[Option<N>], step: &[Option<N>]) {
        let lanes = self.lanes.iter().zip(&self.masks.active).zip(limit.iter().zip(step));
        let inside: Vec<Option<N>> = lanes
            .map(|((lane, active), (limit, step))| {
                let value = lane.vars.get(l.var).filter(|_| *active)?;
                let next = N::binary(BinaryOp::Add, value, (*step)?).cast(value.value().ty);
                Some(N::binary(l.compare, next, (*limit)?))
            })
            .collect();
        self.watch.decision(&inside, self.span);
    }

    /// The first and the last iteration of a loop.
    fn ends(&mut self, l: &ForLoop, trips: &[i128], [first, limit, step]: [&[Option<N>]; 3]) {
        let n = self.lanes.len();
        let ty = self.function.var(l.var).ty.scalar().unwrap_or(Scalar::I64);
        let before = self.masks.clone();
        let unsure = std::mem::replace(&mut self.unsure.in_loop, false);
        for last in [false, true] {
            (self.masks.broke, self.masks.continued) = (none(n), none(n));
            for (k, lane) in self.lanes.iter_mut().enumerate() {
                let Some((from, by)) = first[k].zip(step[k]) else { continue };
                let at =
                    from.value().as_i64() as i128 + (trips[k] - 1) * by.value().as_i64() as i128;
                let value = if last { N::int(ty, at as i64) } else { from };
                lane.vars.set(l.var, Some(value));
                let again = !last || trips[k] > 1;
                self.masks.active[k] = before.active[k] && !self.masks.gone[k] && again;
            }
            self.goes_on(l.var, l.compare, limit);
            self.block(&l.body);
            if last {
                self.leaves(l, limit, step);
            }
            // Variables have the values of any iteration.
            self.forget(&l.body);
        }
        let gone = std::mem::take(&mut self.masks.gone);
        self.masks = before;
        self.masks.active.iter_mut().zip(&gone).for_each(|(a, g)| *a &= !*g);
        self.masks.gone = gone;
        self.unsure.in_loop = unsure;
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
        let matches = |v: &Option<N>, case: &Case| {
            v.is_some_and(|v| case.values.contains(&v.value().as_i64()))
        };
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
}

/// How often a loop runs in each thread.
fn trips<N: Single>(
    compare: BinaryOp,
    first: &[Option<N>],
    limit: &[Option<N>],
    step: &[Option<N>],
) -> Vec<i128> {
    let value = |v: &Option<N>| v.map(|v| i128::from(v.value().as_i64()));
    let of = |((first, limit), step): ((&Option<N>, &Option<N>), &Option<N>)| {
        let (first, limit, step) = (value(first)?, value(limit)?, value(step)?);
        let distance = match compare {
            BinaryOp::Le | BinaryOp::Ge => limit - first + step.signum(),
            _ => limit - first,
        };
        let rounded = distance + step - step.signum();
        Some(rounded.checked_div(step)?.max(0))
    };
    first.iter().zip(limit).zip(step).map(|lane| of(lane).unwrap_or(0)).collect()
}
