//! From a set of calls, with an implementation for each, to a kernel.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use warpsmith_ir::{Diagnostic, SourceMap};

use super::barriers::{Shared, barriers};
use super::home::Draft;
use super::place::numbering;
use super::*;
use crate::access::{Accesses, ArgumentAccess, TouchId};
use crate::library::{Extent, Implementation, Library};
use crate::memory::{Chosen, Item, arrange};
use crate::predict::Times;
use crate::script::{Call, Program};

/// What plans are made from.
pub struct Planner<'a> {
    /// The script.
    pub program: &'a Program,
    /// What it calls.
    pub library: &'a Library,
    /// What the user asked for.
    pub options: &'a Options,
    /// Says how long a kernel takes.
    pub times: &'a dyn Times,
    /// What routines touch, as far as it was asked.
    pub accesses: &'a RefCell<Accesses>,
    /// Texts that diagnostics point to.
    pub sources: &'a RefCell<SourceMap>,
    /// Implementations that cannot be used in a fused kernel, with the reason: they are left out.
    pub unusable: &'a RefCell<Unusable>,
}

/// By function and implementation.
pub type Unusable = BTreeMap<(FunctionId, usize), Diagnostic>;

/// The calls of a set, in the order of the script, and the variables that are needed after it.
pub struct Reading<'a> {
    /// Calls with their numbers in the script.
    pub calls: Vec<(usize, &'a Call)>,
    /// Variables that somebody reads afterwards.
    pub needed_after: Vec<VarId>,
}

/// Order and layout for each set of variables that are in shared memory: the same for many combinations.
pub type Layouts = HashMap<Vec<Item>, Chosen>;

impl Planner<'_> {
    /// Plans a kernel. `implementations` are those of the calls. `None`: there is no such kernel, since block sizes or batches
    /// do not fit, or shared memory is too small.
    ///
    /// # Errors
    /// What is wrong with the library.
    pub fn kernel(
        &self,
        reading: &Reading<'_>,
        implementations: &[usize],
        elements: u32,
        layouts: &mut Layouts,
    ) -> Result<Option<KernelPlan>, Vec<Diagnostic>> {
        let mut calls = vec![];
        let unusable = |((_, call), k): (&(usize, &Call), &usize)| {
            self.unusable.borrow().contains_key(&(call.function, *k))
        };
        if reading.calls.iter().zip(implementations).any(unusable) {
            return Ok(None);
        }
        for ((node, call), implementation) in reading.calls.iter().zip(implementations) {
            let mut sources = self.sources.borrow_mut();
            let mut accesses = self.accesses.borrow_mut();
            let (function, implementation) = (call.function, *implementation);
            let found = accesses.of(self.library, function, implementation, elements, &mut sources);
            let access = match found {
                Ok(Some(access)) => access,
                Ok(None) => return Ok(None),
                Err(list) => match list.as_slice() {
                    [d] if d.code == "W527" => {
                        let key = (function, implementation);
                        self.unusable.borrow_mut().entry(key).or_insert_with(|| d.clone());
                        return Ok(None);
                    }
                    _ => return Err(list),
                },
            };
            calls.push(PlannedCall {
                node: *node,
                function,
                implementation,
                access,
                variables: vec![],
                places: vec![],
            });
        }
        let Some(batch) = self.batch(&calls) else { return Ok(None) };
        let drafts = self.drafts(reading, &mut calls);
        if drafts.iter().any(|d| d.impossible) {
            return Ok(None);
        }
        Ok(self.finish(calls, drafts, elements, batch, layouts))
    }

    /// The batch that all implementations agree on.
    fn batch(&self, calls: &[PlannedCall]) -> Option<u32> {
        let ones = || calls.iter().map(|c| self.implementation(c));
        let fixed = |e: &Extent| matches!(e, Extent::Fixed(_));
        let mut given = ones().filter(|i| fixed(&i.batch)).map(|i| i.batch());
        let first = given.next();
        let batch = first.or_else(|| ones().map(|i| i.batch()).min()).unwrap_or(1);
        given.all(|b| b == batch).then_some(batch)
    }

    /// The implementation that a call was given.
    pub fn implementation(&self, call: &PlannedCall) -> &Implementation {
        &self.library.function(call.function).implementations[call.implementation]
    }

    fn finish(
        &self,
        mut calls: Vec<PlannedCall>,
        drafts: Vec<Draft>,
        elements: u32,
        batch: u32,
        layouts: &mut Layouts,
    ) -> Option<KernelPlan> {
        if drafts.len() > crate::memory::MAX_ITEMS {
            return None;
        }
        let (chosen, items) = arranged(&calls, &drafts, layouts);
        let shared_floats = chosen.size.checked_mul(elements)?;
        if shared_floats.checked_mul(4)? > self.options.shared_limit {
            return None;
        }
        let variables = planned(&drafts, &items, &chosen, elements);
        for call in &mut calls {
            let arguments = call.access.compute.arguments.iter().zip(&call.variables);
            call.places = arguments.map(|(a, v)| place(&variables[*v], a)).collect();
        }
        let calls: Vec<PlannedCall> = chosen.order.iter().map(|c| calls[*c].clone()).collect();
        let new_number = |old: usize| chosen.order.iter().position(|c| *c == old).unwrap_or(0);
        let mut plan = KernelPlan {
            shape: kernel_shape(&calls),
            calls,
            elements,
            batch,
            variables,
            steps: vec![],
            shared_floats,
            layout_is_exact: chosen.exact,
            prediction: Prediction::default(),
            considered: 1,
            next_best: None,
        };
        plan.steps = self.steps(&plan, &drafts, &new_number);
        self.put_barriers(&mut plan);
        plan.prediction = self.predict(&plan);
        Some(plan)
    }

    /// Our own loads, then the calls, each with the library's moves around it, then our own saves.
    fn steps(
        &self,
        plan: &KernelPlan,
        drafts: &[Draft],
        new_number: &dyn Fn(usize) -> usize,
    ) -> Vec<Step> {
        let mover = |m: Mover, variable: usize, plan: &KernelPlan, load: bool| match m {
            Mover::Block | Mover::Columns | Mover::Own => m,
            Mover::Routine { call, load: k, .. } => {
                let call = new_number(call);
                let access = &plan.calls[call].access;
                let routine = if load { &access.loads[k] } else { &access.save };
                let place = place(&plan.variables[variable], &routine.arguments[0]);
                Mover::Routine { call, load: k, place }
            }
        };
        let step = |action| Step { action, barrier: None };
        let mut steps = vec![];
        let mut loaded = vec![false; drafts.len()];
        for (variable, draft) in drafts.iter().enumerate() {
            let Some(by) = draft.load.filter(|m| m.is_ours()) else { continue };
            loaded[variable] = true;
            steps.push(step(Action::Load { variable, by }));
        }
        for (c, call) in plan.calls.iter().enumerate() {
            for variable in call.variables.iter().copied() {
                if let Some(m) = drafts[variable]
                    .load
                    .filter(|_| !std::mem::replace(&mut loaded[variable], true))
                {
                    steps.push(step(Action::Load { variable, by: mover(m, variable, plan, true) }));
                }
            }
            steps.push(step(Action::Call(c)));
            let result = call.variables.last().copied().unwrap_or(0);
            if let Some(m @ Mover::Routine { .. }) = drafts[result].save {
                steps.push(step(Action::Save {
                    variable: result,
                    by: mover(m, result, plan, false),
                }));
            }
        }
        for (variable, draft) in drafts.iter().enumerate() {
            let Some(by) = draft.save.filter(|m| m.is_ours()) else { continue };
            steps.push(step(Action::Save { variable, by }));
        }
        steps
    }

    fn put_barriers(&self, plan: &mut KernelPlan) {
        if self.options.baseline {
            for step in plan.steps.iter_mut().skip(1) {
                step.barrier = Some("the baseline has one after every routine".into());
            }
            if plan.batch > 1
                && let Some(first) = plan.steps.first_mut()
            {
                first.barrier = Some("the baseline has one after every routine".into());
            }
            return;
        }
        let accesses: Vec<Vec<Shared>> =
            plan.steps.iter().map(|s| shared_accesses(plan, &s.action)).collect();
        let causes = barriers(&accesses, plan.batch > 1);
        for (s, cause) in causes.into_iter().enumerate() {
            let Some(cause) = cause else { continue };
            let name = |v: usize| self.variable_name(plan.variables[v].id);
            let (earlier, now) = (
                self.step_name(plan, &plan.steps[cause.from].action),
                self.step_name(plan, &plan.steps[s].action),
            );
            let text = match (cause.reads, cause.earlier == cause.now) {
                (true, _) => format!(
                    "{now} reads what other threads wrote to {} in {earlier}",
                    name(cause.earlier)
                ),
                (false, true) => format!(
                    "{now} writes {}, which other threads touched in {earlier}",
                    name(cause.now)
                ),
                (false, false) => format!(
                    "{now} writes {} where other threads touched {} in {earlier}",
                    name(cause.now),
                    name(cause.earlier)
                ),
            };
            plan.steps[s].barrier = Some(text);
        }
    }

    /// A variable in reports and comments.
    pub fn variable_name(&self, id: VarId) -> String {
        let v = &self.program.variables[id.0];
        if v.version > 1 { format!("{}#{}", v.name, v.version) } else { v.name.clone() }
    }

    /// A step in reports and comments.
    pub fn step_name(&self, plan: &KernelPlan, action: &Action) -> String {
        let of = |v: &usize| self.variable_name(plan.variables[*v].id);
        match action {
            Action::Load { variable, .. } => format!("the load of {}", of(variable)),
            Action::Save { variable, .. } => format!("the save of {}", of(variable)),
            Action::Call(c) => self.library.function(plan.calls[*c].function).name.clone(),
        }
    }
}

/// The variables of a kernel with their homes.
fn planned(
    drafts: &[Draft],
    items: &[usize],
    chosen: &Chosen,
    elements: u32,
) -> Vec<PlannedVariable> {
    let mut variables: Vec<PlannedVariable> = vec![];
    for (d, draft) in drafts.iter().enumerate() {
        let (home, reason) = match &draft.home {
            Ok(r) => (
                Home::Registers { width: r.width, floats: r.floats },
                "each thread touches the same offsets in all routines".to_string(),
            ),
            Err(why) => {
                let item = items.iter().position(|i| *i == d).unwrap_or(0);
                (Home::Shared { offset: chosen.offsets[item] * elements }, why.clone())
            }
        };
        let (input, output) = (draft.producer.is_none(), draft.output);
        variables.push(PlannedVariable {
            id: draft.id,
            size: draft.size,
            home,
            reason,
            input,
            output,
        });
    }
    variables
}

/// Order and layout of those variables that are in shared memory, and which those are.
fn arranged(
    calls: &[PlannedCall],
    drafts: &[Draft],
    layouts: &mut Layouts,
) -> (Chosen, Vec<usize>) {
    let shared: Vec<usize> = (0..drafts.len()).filter(|d| drafts[*d].home.is_err()).collect();
    let item = |d: &usize| {
        let draft = &drafts[*d];
        Item {
            size: draft.size,
            producer: draft.producer,
            readers: draft.readers,
            early: draft.load.is_some_and(|m| m.is_ours()),
            late: draft.save.is_some_and(|m| m.is_ours()),
        }
    };
    let items: Vec<Item> = shared.iter().map(item).collect();
    if let Some(known) = layouts.get(&items) {
        return (known.clone(), shared);
    }
    let mut before = vec![0u32; calls.len()];
    for draft in drafts {
        let Some(producer) = draft.producer else { continue };
        for (c, needs) in before.iter_mut().enumerate() {
            *needs |= (draft.readers >> c & 1) << producer;
        }
    }
    let chosen = arrange(&before, &items);
    layouts.insert(items, chosen.clone());
    (chosen, shared)
}

fn place(variable: &PlannedVariable, access: &ArgumentAccess) -> Place {
    match variable.home {
        Home::Shared { .. } => Place::Shared,
        Home::Registers { .. } => Place::Register(numbering(access)),
    }
}

/// The shape of the implementation with the most threads; of several the one that most calls have.
fn kernel_shape(calls: &[PlannedCall]) -> [u32; 3] {
    let mut shapes: Vec<[u32; 3]> = calls.iter().map(|c| c.access.shape).collect();
    let count = |s: &[u32; 3]| calls.iter().filter(|c| c.access.shape == *s).count();
    shapes.sort_by_key(|s| (s.iter().product::<u32>(), count(s), *s));
    shapes.last().copied().unwrap_or([1, 1, 1])
}

fn shared_accesses(plan: &KernelPlan, action: &Action) -> Vec<Shared> {
    let one = |variable: usize, touch: Option<TouchId>, write: bool| {
        let v = &plan.variables[variable];
        let Home::Shared { offset } = v.home else { return None };
        Some(Shared { variable, offset, length: v.size * plan.elements, touch, write })
    };
    match action {
        Action::Load { variable, by } => {
            let touch = match by {
                Mover::Block | Mover::Columns | Mover::Own => None,
                Mover::Routine { call, load, .. } => {
                    plan.calls[*call].access.loads[*load].arguments[0].touch
                }
            };
            one(*variable, touch, true).into_iter().collect()
        }
        Action::Save { variable, by } => {
            let touch = match by {
                Mover::Block | Mover::Columns | Mover::Own => None,
                Mover::Routine { call, .. } => plan.calls[*call].access.save.arguments[0].touch,
            };
            one(*variable, touch, false).into_iter().collect()
        }
        Action::Call(c) => {
            let call = &plan.calls[*c];
            let last = call.variables.len() - 1;
            let arguments = call.access.compute.arguments.iter().zip(&call.variables).enumerate();
            arguments.filter_map(|(k, (a, v))| one(*v, a.touch, k == last)).collect()
        }
    }
}
