//! Statements, calls and loops.

mod entry;

use std::cell::RefCell;

use super::bounds::Track;
use super::capture::Captured;
use super::eval::{Item, number};
use super::fast::{Loops, Registers};
use super::memory::{Image, Object, Pointer};
use super::races::Races;
use super::team::Team;
use super::{InterpError, InterpErrorKind, Launcher, Limits, Memory, printf};
use crate::eval;
use crate::expr::{BinaryOp, Expr};
use crate::module::{FuncId, Function, Module, Var, VarId, VarKind};
use crate::span::{Origin, Span};
use crate::stmt::{Block, Case, ForLoop, LoopCondition, LoopKind, Stmt, StmtKind};
use crate::visit::{Access, for_each_place};

/// The result of a step; errors are boxed because steps are many and errors rare.
pub(crate) type Run<X> = Result<X, Box<InterpError>>;

/// Calls nested deeper than this are taken for recursion without end.
const MAX_DEPTH: usize = 200;

pub(crate) struct Interp<'m, 'a, T: Track> {
    pub module: &'m Module,
    pub memory: &'a mut Memory,
    pub limits: &'a Limits,
    pub launcher: &'a mut dyn Launcher,
    /// Global variables first, then the variables of active functions that need an address.
    pub objects: Vec<Object<'m>>,
    pub local_bytes: u64,
    /// Memory for variables, and slots, of calls that ended, for the next ones.
    pub spare_images: Vec<Image>,
    spare_slots: Vec<Vec<Slot<T>>>,
    globals: Vec<u32>,
    /// Objects of variables that the host may use while kernels run, and their numbers in place of a buffer's.
    pub(super) managed: Vec<(u32, usize)>,
    /// For each function, which variables live in memory; computed when it is first called.
    in_memory: Vec<Option<Vec<bool>>>,
    pub(super) frame: Frame<T>,
    pub(super) depth: usize,
    /// Functions of libraries that are open: they stand for what runs on the device, and reach its memory.
    pub in_library: usize,
    /// Where the library was entered.
    pub library_call: Origin,
    pub steps: u64,
    pub(super) returned: Option<Item<T>>,
    /// In a program of the host of which not everything is understood: which functions have to do with the device.
    pub working: Option<super::host::Working>,
    /// The call that comes next is the last thing such a program does with the device.
    last_call: bool,
    /// The step after which a statement of such a program is given up.
    pub patient_until: Option<u64>,
    /// What asynchronous copies will have brought to the host by the next synchronisation.
    pub pending: Vec<(Pointer, Vec<u8>)>,
    /// What is known of streams.
    pub streams: super::streams::Streams,
    /// What was captured from streams.
    pub captured: Captured,
    /// Inside a nest that is bound to the machine: who touched what.
    pub races: Option<RefCell<Races>>,
    /// The threads of the block that runs.
    pub team: Option<Team<T>>,
    /// Collective statements run so far.
    pub collectives: u32,
    pub loops: Loops<'m>,
    pub registers: Registers,
}

/// The variables of the running function.
pub(super) struct Frame<T: Track> {
    pub function: Option<FuncId>,
    pub slots: Vec<Slot<T>>,
}

pub(crate) enum Slot<T: Track> {
    Unset,
    Value(Item<T>),
    Object(u32),
}

impl<T: Track> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        match self {
            Slot::Unset => Slot::Unset,
            Slot::Value(item) => Slot::Value(item.clone()),
            Slot::Object(id) => Slot::Object(*id),
        }
    }
}

/// What a statement does to control.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

impl<'m, 'a, T: Track> Interp<'m, 'a, T> {
    pub fn error(&self, kind: InterpErrorKind, origin: &Origin) -> Box<InterpError> {
        let function = self.frame.function.map_or("?", |f| &self.module.function(f).name);
        Box::new(InterpError { kind, span: origin.span, function: function.into() })
    }

    pub fn unsupported<X>(&self, what: &str, origin: &Origin) -> Run<X> {
        Err(self.error(InterpErrorKind::Unsupported(what.into()), origin))
    }

    pub fn slot(&self, var: VarId) -> Option<&Slot<T>> {
        self.frame.slots.get(var.0 as usize)
    }

    /// The function that runs.
    pub fn function(&self) -> Option<&'m Function> {
        self.frame.function.map(|f| self.module.function(f))
    }

    pub fn var_of(&self, var: VarId) -> Option<&'m Var> {
        self.function().and_then(|f| f.vars.get(var.0 as usize))
    }

    /// A copy of all variables of the running function.
    pub fn frame_slots(&self) -> Vec<Slot<T>> {
        self.frame.slots.clone()
    }

    pub fn exchange_slots(&mut self, slots: &mut Vec<Slot<T>>) {
        std::mem::swap(&mut self.frame.slots, slots);
    }

    pub fn exchange_slot(&mut self, var: VarId, slot: &mut Slot<T>) {
        if let Some(own) = self.frame.slots.get_mut(var.0 as usize) {
            std::mem::swap(own, slot);
        }
    }

    pub fn set_slot(&mut self, var: VarId, value: Slot<T>) {
        if let Some(slot) = self.frame.slots.get_mut(var.0 as usize) {
            *slot = value;
        }
    }

    pub fn globals(&self) -> Vec<u32> {
        self.globals.clone()
    }

    pub fn global(&self, id: u32) -> Option<u32> {
        self.globals.get(id as usize).copied()
    }

    pub fn var_name(&self, var: VarId) -> &str {
        let f = self.frame.function.map(|f| self.module.function(f));
        f.and_then(|f| f.vars.get(var.0 as usize)).map_or("?", |v| &v.name)
    }

    pub fn tick(&mut self, origin: &Origin) -> Run<()> {
        self.ticks(1, origin)
    }

    /// Counts steps that are taken at once: one for each of the things that are about to be made.
    pub fn ticks(&mut self, count: u64, origin: &Origin) -> Run<()> {
        let before = self.steps;
        self.steps = before.saturating_add(count);
        if self.steps > self.limits.max_steps {
            return Err(self.error(InterpErrorKind::StepLimit(self.limits.max_steps), origin));
        }
        if self.patient_until.is_some_and(|end| self.steps > end) {
            return Err(self.error(InterpErrorKind::StepLimit(self.steps), origin));
        }
        if self.steps / CLOCK_STEPS > before / CLOCK_STEPS && self.limits.over() {
            return Err(self.error(InterpErrorKind::StepLimit(self.steps), origin));
        }
        Ok(())
    }

    /// Runs a function with evaluated arguments.
    fn call(&mut self, id: FuncId, args: Vec<Item<T>>, origin: &Origin) -> Run<Option<Item<T>>> {
        let module = self.module;
        let Some(f) = module.functions.get(id.0 as usize) else {
            return self.unsupported("a call of an unknown function", origin);
        };
        if self.depth >= MAX_DEPTH {
            return self.unsupported("recursion this deep", origin);
        }
        let objects = self.objects.len();
        let slots = self.new_slots(id, f, origin)?;
        self.depth += 1;
        let around = self.in_library;
        if f.of_library && around == 0 {
            self.library_call = origin.clone();
        }
        self.in_library += usize::from(f.of_library);
        let caller = std::mem::replace(&mut self.frame, Frame { function: Some(id), slots });
        for (param, item) in f.params.iter().zip(args) {
            self.set_var(*param, item, origin)?;
        }
        self.returned = None;
        let last = std::mem::take(&mut self.last_call) || self.depth == 1;
        let result = match &self.working {
            Some(working) if last => {
                let last = working.of_interest(&f.body).len();
                self.last_stmts(&f.body.stmts, last)
            }
            _ => self.block(&f.body),
        };
        let mut ended = std::mem::replace(&mut self.frame, caller);
        ended.slots.clear();
        self.spare_slots.push(ended.slots);
        self.release(objects);
        self.depth -= 1;
        self.in_library = around;
        result?;
        Ok(self.returned.take())
    }

    fn new_slots(&mut self, id: FuncId, f: &'m Function, origin: &Origin) -> Run<Vec<Slot<T>>> {
        let in_memory = self.in_memory[id.0 as usize].take().unwrap_or_else(|| vars_in_memory(f));
        let mut slots = self.spare_slots.pop().unwrap_or_default();
        slots.reserve(f.vars.len());
        for (var, in_memory) in f.vars.iter().zip(&in_memory) {
            slots.push(match var.kind {
                VarKind::DynamicShared => {
                    return self.unsupported("dynamic shared memory", &var.origin);
                }
                _ if *in_memory => Slot::Object(self.allocate(&var.name, &var.ty, false, origin)?),
                _ => Slot::Unset,
            });
        }
        self.in_memory[id.0 as usize] = Some(in_memory);
        Ok(slots)
    }

    /// Sets a whole variable.
    pub fn set_var(&mut self, var: VarId, item: Item<T>, origin: &Origin) -> Run<()> {
        if let Some(Slot::Object(id)) = self.slot(var) {
            let p = Pointer { object: Some(*id), offset: 0 };
            return self.store(p, item).map_err(|kind| self.error(kind, origin));
        }
        self.set_slot(var, Slot::Value(item));
        Ok(())
    }

    /// Makes a variable poison.
    pub fn unset(&mut self, var: VarId) {
        match self.slot(var) {
            Some(Slot::Object(id)) => {
                let id = *id;
                if let Some(object) = self.object_mut(id) {
                    object.image.known.fill(false);
                    object.image.bounds.clear();
                }
            }
            _ => self.set_slot(var, Slot::Unset),
        }
    }

    pub fn block(&mut self, block: &Block) -> Run<Flow> {
        self.stmts(&block.stmts)
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Run<Flow> {
        for stmt in stmts {
            let flow = match self.working.is_some() {
                true => self.tolerated(stmt)?,
                false => self.stmt(stmt)?,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// The statements of a program up to the last one that has to do with the device; if that is a call, the same holds of
    /// the function.
    fn last_stmts(&mut self, all: &[Stmt], count: usize) -> Run<Flow> {
        let (stmts, behind) = all.split_at(count);
        let Some((last, before)) = stmts.split_last() else { return Ok(Flow::Next) };
        match self.stmts(before)? {
            Flow::Next => {}
            flow => return Ok(flow),
        }
        self.last_call = matches!(last.kind, StmtKind::Call { .. });
        let flow = self.stmts(std::slice::from_ref(last));
        self.last_call = false;
        match flow? {
            Flow::Next => {}
            flow => return Ok(flow),
        }
        // What the host has not waited for it may use too early.
        for stmt in behind {
            if !self.launcher.in_flight(None) {
                break;
            }
            match self.tolerated(stmt)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// A statement of a program of which not everything is understood.
    pub fn tolerated(&mut self, stmt: &Stmt) -> Run<Flow> {
        let limits = self.patient_until.is_none() && !self.launches(stmt);
        if limits {
            self.patient_until = Some(self.patience());
        }
        let result = self.stmt(stmt);
        if limits {
            self.patient_until = None;
        }
        match result {
            Ok(flow) => Ok(flow),
            Err(error) => self.leave_out(stmt, error).map(|()| Flow::Next),
        }
    }

    pub fn stmt(&mut self, stmt: &Stmt) -> Run<Flow> {
        let origin = &stmt.origin;
        self.tick(origin)?;
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                let value = init.as_ref().map(|e| self.eval(e)).transpose()?;
                self.unset(*var);
                if let Some(item) = value {
                    self.set_var(*var, item, origin)?;
                }
            }
            StmtKind::Assign { place, value } => {
                let item = self.eval(value)?;
                self.write(place, item)?;
            }
            StmtKind::If { cond, then, otherwise } => {
                let held = self.truth(cond)?;
                self.memory.note_way(origin.span, held);
                return self.block(if held { then } else { otherwise });
            }
            StmtKind::For(_) | StmtKind::Loop { .. }
                if let Some(flow) = self.fast_loop(stmt)? =>
            {
                return Ok(flow);
            }
            StmtKind::For(l) => return self.for_loop(l, origin),
            StmtKind::Loop { condition, body, step, .. } => {
                return self.any_loop(condition.as_ref(), body, step, origin);
            }
            StmtKind::Switch { selector, cases } => {
                return self.switch(origin.span, selector, cases);
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                self.returned = value.as_ref().map(|e| self.eval(e)).transpose()?;
                return Ok(Flow::Return);
            }
            StmtKind::Scope(block) => return self.block(block),
            _ => self.effect(stmt)?,
        }
        Ok(Flow::Next)
    }

    /// Statements that do not direct control.
    fn effect(&mut self, stmt: &Stmt) -> Run<()> {
        let origin = &stmt.origin;
        match &stmt.kind {
            StmtKind::Call { function, args, result } => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.eval(arg)?);
                }
                let last = self.last_call;
                let value = self.call(*function, values, origin)?;
                match (result, value) {
                    // It was not run to its end, and nothing comes after it.
                    (Some(_), None) if last => Ok(()),
                    (Some(place), Some(item)) => self.write(place, item),
                    (Some(_), None) => {
                        let what = "the result of a function that returned nothing".into();
                        Err(self.error(InterpErrorKind::Uninitialized(what), origin))
                    }
                    (None, _) => Ok(()),
                }
            }
            StmtKind::Atomic { op, pointer, value, compare, result, .. } => {
                let old = self.atomic(*op, pointer, value, compare.as_ref(), origin)?;
                match result {
                    Some(var) => self.set_var(*var, old, origin),
                    None => Ok(()),
                }
            }
            StmtKind::Fence(_) => Ok(()),
            StmtKind::Printf { format, args } => {
                let values = args.iter().map(|a| Ok(self.number(a)?.0)).collect::<Run<Vec<_>>>()?;
                self.memory.printed.push_str(&printf::render(format, &values));
                Ok(())
            }
            StmtKind::Assert { cond, text } if !self.truth(cond)? => {
                Err(self.error(InterpErrorKind::AssertFailed(text.clone()), origin))
            }
            StmtKind::Assume { cond, text } if !self.truth(cond)? => {
                Err(self.error(InterpErrorKind::AssumeFailed(text.clone()), origin))
            }
            StmtKind::Assert { .. } | StmtKind::Assume { .. } => Ok(()),
            StmtKind::Trap => Err(self.error(InterpErrorKind::Trap, origin)),
            StmtKind::Launch(launch) => self.launch(launch, origin),
            StmtKind::CopyToGlobal { destination, source } => {
                self.copy_to_global(destination, source, origin)
            }
            StmtKind::Runtime(call) => self.runtime(call, origin),
            StmtKind::Warp { .. } => self.unsupported("a warp operation", origin),
            StmtKind::Barrier { .. } => self.unsupported("a barrier", origin),
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                self.async_copy([destination, source], bytes, zero_fill.as_ref(), origin)
            }
            _ => self.unsupported("an asynchronous copy", origin),
        }
    }

    fn for_loop(&mut self, l: &ForLoop, origin: &Origin) -> Run<Flow> {
        let mut at = self.decisive(&l.first)?;
        let limit = self.decisive(&l.limit)?;
        let step = self.decisive(&l.step)?;
        let clauses = match &l.kind {
            LoopKind::Bound(binding) => return self.bound_loop(l, binding, origin),
            LoopKind::Vector => return self.vector_loop(l, origin),
            LoopKind::Parallel(p) => Some(p),
            LoopKind::Serial | LoopKind::Unrolled(_) => None,
        };
        let saved = clauses.map_or_else(Vec::new, |p| self.save(p));
        let mut flow = Flow::Next;
        let mut ran = false;
        loop {
            self.set_var(l.var, number::<T>(at), origin)?;
            let goes_on = eval::binary(l.compare, at, limit).is_true();
            self.memory.note_way(origin.span, goes_on);
            if !goes_on {
                break;
            }
            self.tick(origin)?;
            if let Some(p) = clauses {
                self.start_iteration(p, &saved);
            }
            ran = true;
            match self.block(&l.body)? {
                Flow::Break => break,
                Flow::Return => {
                    flow = Flow::Return;
                    break;
                }
                Flow::Next | Flow::Continue => {}
            }
            at = eval::binary(BinaryOp::Add, at, step);
        }
        if let Some(p) = clauses {
            self.restore(p, saved, ran);
        }
        if l.declares {
            self.unset(l.var);
        }
        Ok(flow)
    }

    fn any_loop(
        &mut self,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        origin: &Origin,
    ) -> Run<Flow> {
        loop {
            self.tick(origin)?;
            if let Some(c) = condition.filter(|c| !c.at_end)
                && !self.goes_on(c, origin)?
            {
                return Ok(Flow::Next);
            }
            match self.block(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            match self.block(step)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(c) = condition.filter(|c| c.at_end)
                && !self.goes_on(c, origin)?
            {
                return Ok(Flow::Next);
            }
        }
    }

    fn goes_on(&mut self, c: &LoopCondition, origin: &Origin) -> Run<bool> {
        self.block(&c.before)?;
        let goes_on = self.truth(&c.expr)?;
        self.memory.note_way(origin.span, goes_on);
        Ok(goes_on)
    }

    fn switch(&mut self, span: Option<Span>, selector: &Expr, cases: &[Case]) -> Run<Flow> {
        let value = self.integer(selector)?;
        let entry = cases.iter().position(|c| c.values.contains(&value));
        let Some(entry) = entry.or_else(|| cases.iter().position(|c| c.is_default)) else {
            self.memory.note_case(span);
            return Ok(Flow::Next);
        };
        for case in &cases[entry..] {
            self.memory.note_case(case.span());
            match self.block(&case.body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }
}

/// Steps between two looks at the clock.
const CLOCK_STEPS: u64 = 1 << 14;

/// Variables that need an address: aggregates, shared ones, and those whose address is taken.
pub(crate) fn vars_in_memory(f: &Function) -> Vec<bool> {
    let mut result: Vec<bool> =
        f.vars.iter().map(|v| v.ty.is_aggregate() || v.kind == VarKind::Shared).collect();
    for_each_place(&f.body, &mut |place, access| {
        if access == Access::Address
            && let Some(var) = place.root_var()
            && let Some(slot) = result.get_mut(var.0 as usize)
        {
            *slot = true;
        }
    });
    result
}
