//! Loops of the host, faster than one statement at a time.
//!
//! Whole programs fill large arrays and compute what the device should have computed. Their loops are translated to
//! operations on registers. Expressions are pure, so whatever an operation cannot do as planned – an access out of bounds, a
//! variable that holds nothing, a statement that is no arithmetic – stops before its statement has changed anything: the
//! variables go back to where the interpreter has them, it runs that statement, and the operations go on after it. So there is
//! one place that says what a statement means and what is wrong with it, and what comes out is the same either way.
//!
//! Only programs of the host that are tolerated ([`super::host`]) are run like this: the interpreter as the oracle of rewrites
//! stays as simple as it is.

mod code;
mod compile;
mod expr;
mod run;
mod scalar;
mod strips;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use self::code::{Code, Frame, Pc, SiteId, Work};
use self::compile::{Start, compile};
pub(crate) use self::run::Registers;
use self::run::Stop;
use super::bounds::Track;
use super::exec::{self, Flow, Interp, Run, Slot};
use super::memory::{Pointer, Val};
use super::{InterpError, InterpErrorKind};
use crate::module::{FuncId, VarId};
use crate::stmt::{Block, LoopId, Stmt, StmtKind};
use crate::types::Type;
use crate::value::Value;

/// Steps that the way to the interpreter and back counts for.
const STEPS_TO_INTERPRETER: u64 = 8;

/// The loops that were met so far.
pub(crate) type Loops<'m> = HashMap<(FuncId, LoopId), Met<'m>>;

/// A loop, and its translations: one that takes for set what was when it was made, and one that asks.
pub(crate) struct Met<'m> {
    root: &'m Stmt,
    plain: Option<Rc<Code<'m>>>,
    checked: Option<Rc<Code<'m>>>,
}

/// What comes after a statement that the interpreter ran.
enum After {
    At(Pc),
    Leaves(Flow),
    /// Nothing of the loop was run.
    Declined,
}

impl<'m, T: Track> Interp<'m, '_, T> {
    /// Runs the loop; `None`: it has to be interpreted.
    pub fn fast_loop(&mut self, stmt: &Stmt) -> Run<Option<Flow>> {
        let watched = self.memory.ways.is_some() || self.memory.writes.is_some();
        if !T::PLAIN || self.working.is_none() || watched || self.team.is_some() {
            return Ok(None);
        }
        // Registers do not say which variables of the device they were loaded from.
        let beside = || self.launcher.in_flight(None) || self.launches(stmt);
        if !self.managed.is_empty() && beside() {
            return Ok(None);
        }
        let Some(key) = self.frame.function.zip(loop_id(stmt)) else { return Ok(None) };
        let Some((root, mut code)) = self.translated(key, stmt) else { return Ok(None) };
        let mut r = std::mem::take(&mut self.registers);
        let mut result = Ok(None);
        if self.load_registers(&code, &mut r) {
            if !code.needs.iter().all(|reg| r.known[*reg as usize]) {
                code = self.checked(key, root);
            }
            let around = self.in_library;
            result = self.run_code(key, root, code, &mut r);
            self.in_library = around;
        }
        self.registers = r;
        result
    }

    /// The loop's translation, from before where it was met before.
    fn translated(
        &mut self,
        key: (FuncId, LoopId),
        stmt: &Stmt,
    ) -> Option<(&'m Stmt, Rc<Code<'m>>)> {
        if !self.loops.contains_key(&key) {
            let root = find(&self.module.functions.get(key.0.0 as usize)?.body, key.1)?;
            // What has to do with the device goes one statement at a time.
            let plain = match self.launches(root) {
                true => None,
                false => compile(self.module, key.0, root, &self.start(), false).map(Rc::new),
            };
            self.loops.insert(key, Met { root, plain, checked: None });
        }
        let met = self.loops.get(&key)?;
        // A statement that was made anew is not the one that was translated.
        std::ptr::eq(met.root, stmt).then_some(())?;
        Some((met.root, met.plain.clone()?))
    }

    fn checked(&mut self, key: (FuncId, LoopId), root: &'m Stmt) -> Rc<Code<'m>> {
        let start = self.start();
        let module = self.module;
        let made = || compile(module, key.0, root, &start, true).map(Rc::new).unwrap_or_default();
        match self.loops.get_mut(&key) {
            Some(met) => met.checked.get_or_insert_with(made).clone(),
            None => made(),
        }
    }

    fn start(&self) -> Vec<Start> {
        let start = |slot: &Slot<T>| match slot {
            Slot::Unset => Start::Unset,
            Slot::Value(_) => Start::Known,
            Slot::Object(_) => Start::InMemory,
        };
        self.frame.slots.iter().map(start).collect()
    }

    /// Brings variables, constants and addresses into registers; `false` where something does not fit into one.
    fn load_registers(&mut self, code: &Code<'m>, r: &mut Registers) -> bool {
        r.bits.clear();
        r.bits.resize(code.registers as usize, 0);
        r.known.clear();
        r.known.resize(code.registers as usize, false);
        r.buffers.clear();
        for (reg, bits) in &code.constants {
            r.set(*reg, *bits);
        }
        for (reg, of) in &code.addresses {
            let object = match of {
                Ok(var) => match self.slot(*var) {
                    Some(Slot::Object(id)) => Some(*id),
                    _ => None,
                },
                Err(global) => self.global(*global),
            };
            let Some(_) = object else { return false };
            r.set(*reg, Pointer { object, offset: 0 }.to_bits());
        }
        let Some(frame) = code.frames.first() else { return false };
        frame.vars.iter().all(|(var, reg)| match self.slot(*var) {
            Some(slot) => into_register(slot, r, *reg),
            None => false,
        })
    }

    fn run_code(
        &mut self,
        key: (FuncId, LoopId),
        root: &'m Stmt,
        mut code: Rc<Code<'m>>,
        r: &mut Registers,
    ) -> Run<Option<Flow>> {
        let mut pc = 0;
        loop {
            let stop = self.operations(&code, r, pc, &root.origin);
            let after = match stop {
                Ok(Stop::End) => Ok((After::Leaves(Flow::Next), None)),
                Ok(Stop::At(at)) => {
                    let site = code.at[at as usize];
                    self.go_on(&code, root, site, r).map(|after| (after, Some(site)))
                }
                Ok(Stop::NoValue(call)) => {
                    self.without_value(&code, call, r).map(|after| (after, Some(call)))
                }
                Err(error) => Err(error),
            };
            let (after, site) = match after {
                Ok(after) => after,
                Err(error) => {
                    self.store_root(&code, r);
                    return Err(error);
                }
            };
            match after {
                After::Declined => return Ok(None),
                After::Leaves(flow) => {
                    self.store_root(&code, r);
                    return Ok(Some(flow));
                }
                After::At(to) => pc = to,
            }
            let Some(site) = site else { continue };
            let holds = &code.sites[site as usize].known;
            if !holds.iter().all(|reg| r.known[*reg as usize]) {
                self.store_root(&code, r);
                let checked = self.checked(key, root);
                pc = moved(&code, &checked, site, pc);
                code = checked;
            }
        }
    }

    /// Has the interpreter do what an operation could not.
    fn go_on(
        &mut self,
        code: &Code<'m>,
        root: &'m Stmt,
        id: SiteId,
        r: &mut Registers,
    ) -> Run<After> {
        let site = &code.sites[id as usize];
        match site.work {
            Work::Root => Ok(After::Declined),
            Work::Stmt(stmt) => {
                let flow = self.in_frame(code, site.frame, r, |this| this.tolerated(stmt))?;
                match flow {
                    Flow::Next => Ok(After::At(site.next)),
                    Flow::Break => Ok(After::At(site.breaks)),
                    Flow::Continue => Ok(After::At(site.continues)),
                    Flow::Return if site.frame == 0 => Ok(After::Leaves(flow)),
                    Flow::Return => self.returned_from(code, site.frame, r),
                }
            }
            Work::Condition { of, expr, holds, fails } => {
                let outermost = std::ptr::eq(of, root);
                let held = self.in_frame(code, site.frame, r, |this| match this.truth(expr) {
                    Err(error) if !outermost => this.leave_out(of, error).map(|()| false),
                    result => result,
                })?;
                Ok(After::At(if held { holds } else { fails }))
            }
        }
    }

    fn returned_from(&mut self, code: &Code<'m>, frame: usize, r: &mut Registers) -> Run<After> {
        let Frame { result, end, call, .. } = code.frames[frame];
        let value = self.returned.take().map(Slot::<T>::Value);
        match (result, value, call) {
            (Some(reg), Some(slot), _) if into_register(&slot, r, reg) => Ok(After::At(end)),
            (Some(_), _, Some(call)) => {
                self.in_library -= usize::from(code.frames[frame].function.of_library);
                self.without_value(code, call, r)
            }
            _ => Ok(After::At(end)),
        }
    }

    /// The call of a function that left without its value is left out.
    fn without_value(&mut self, code: &Code<'m>, call: SiteId, r: &mut Registers) -> Run<After> {
        let site = &code.sites[call as usize];
        if let Work::Stmt(stmt) = site.work {
            self.in_frame(code, site.frame, r, |this| {
                let what = "the result of a function that returned nothing".into();
                let error = this.error(InterpErrorKind::Uninitialized(what), &stmt.origin);
                this.leave_out(stmt, error)
            })?;
        }
        Ok(After::At(site.next))
    }

    /// Runs something where the variables of a frame are those of the running function.
    fn in_frame<X>(
        &mut self,
        code: &Code<'m>,
        index: usize,
        r: &mut Registers,
        run: impl FnOnce(&mut Self) -> Result<X, Box<InterpError>>,
    ) -> Run<X> {
        let frame = &code.frames[index];
        let result = if index == 0 {
            self.store_root(code, r);
            let result = run(self);
            for (var, reg) in &frame.vars {
                if let Some(slot) = self.slot(*var) {
                    into_register(slot, r, *reg);
                }
            }
            result
        } else {
            let mut slots: Vec<Slot<T>> =
                frame.vars.iter().map(|(var, reg)| from_register(frame, *var, r, *reg)).collect();
            let nested = code.around(index).count() - 1;
            let result = self.with_slots(frame.id, nested, &mut slots, run);
            for ((_, reg), slot) in frame.vars.iter().zip(&slots) {
                into_register(slot, r, *reg);
            }
            result
        };
        // Memory may have come or gone.
        r.buffers.clear();
        self.steps += STEPS_TO_INTERPRETER;
        result
    }

    /// Runs something in a function that is `nested` calls inside the running one, with these variables.
    fn with_slots<X>(
        &mut self,
        function: FuncId,
        nested: usize,
        slots: &mut Vec<Slot<T>>,
        run: impl FnOnce(&mut Self) -> X,
    ) -> X {
        let own = exec::Frame { function: Some(function), slots: std::mem::take(slots) };
        let caller = std::mem::replace(&mut self.frame, own);
        self.depth += nested;
        let result = run(self);
        self.depth -= nested;
        *slots = std::mem::replace(&mut self.frame, caller).slots;
        result
    }

    fn store_root(&mut self, code: &Code<'m>, r: &Registers) {
        for (var, reg) in &code.frames[0].vars {
            let slot = from_register(&code.frames[0], *var, r, *reg);
            self.set_slot(*var, slot);
        }
    }
}

/// The place in another translation of the same loop where the first goes on after a site.
fn moved(from: &Code<'_>, to: &Code<'_>, site: SiteId, pc: Pc) -> Pc {
    let places = |code: &Code<'_>| {
        let site = &code.sites[site as usize];
        let [holds, fails] = match site.work {
            Work::Condition { holds, fails, .. } => [holds, fails],
            _ => [site.next; 2],
        };
        [site.next, holds, fails, site.breaks, site.continues, code.frames[site.frame].end]
    };
    let place = places(from).iter().position(|p| *p == pc);
    place.map_or(0, |i| places(to)[i])
}

fn into_register<T: Track>(slot: &Slot<T>, r: &mut Registers, reg: u32) -> bool {
    match slot {
        Slot::Value((Val::Num(v), _)) => r.set(reg, v.bits),
        Slot::Value((Val::Ptr(p), _)) if Pointer::from_bits(p.to_bits()) == *p => {
            r.set(reg, p.to_bits());
        }
        Slot::Unset => r.known[reg as usize] = false,
        _ => {
            r.known[reg as usize] = false;
            return false;
        }
    }
    true
}

fn from_register<T: Track>(frame: &Frame<'_>, var: VarId, r: &Registers, reg: u32) -> Slot<T> {
    if !r.known[reg as usize] {
        return Slot::Unset;
    }
    let bits = r.bits[reg as usize];
    let value = match frame.function.vars[var.0 as usize].ty {
        Type::Scalar(ty) => Val::Num(Value { ty, bits }),
        _ => Val::Ptr(Pointer::from_bits(bits)),
    };
    Slot::Value((value, T::input(Value::i32(0))))
}

fn loop_id(stmt: &Stmt) -> Option<LoopId> {
    match &stmt.kind {
        StmtKind::For(l) => Some(l.id),
        StmtKind::Loop { id, .. } => Some(*id),
        _ => None,
    }
}

fn find(block: &Block, id: LoopId) -> Option<&Stmt> {
    block.stmts.iter().find_map(|stmt| {
        if loop_id(stmt) == Some(id) {
            return Some(stmt);
        }
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => find(then, id).or_else(|| find(otherwise, id)),
            StmtKind::For(l) => find(&l.body, id),
            StmtKind::Loop { condition, body, step, .. } => {
                let before = condition.as_ref().and_then(|c| find(&c.before, id));
                before.or_else(|| find(body, id)).or_else(|| find(step, id))
            }
            StmtKind::Switch { cases, .. } => cases.iter().find_map(|c| find(&c.body, id)),
            StmtKind::Scope(block) => find(block, id),
            _ => None,
        }
    })
}
