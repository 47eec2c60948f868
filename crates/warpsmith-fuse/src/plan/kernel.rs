//! From a set of calls, with an implementation for each, to a kernel.

use std::cell::RefCell;
use std::collections::HashMap;

use warpsmith_ir::{Diagnostic, SourceMap};

use super::barriers::{Shared, barriers};
use super::place::{Use, in_registers, numbering};
use super::*;
use crate::access::{Accesses, ArgumentAccess, RoutineAccess, TouchId};
use crate::library::{Extent, Implementation, Library, Role};
use crate::memory::{Chosen, Item, arrange};
use crate::predict::{RoutineUse, Times};
use crate::script::{Call, Program};

/// What plans are made from.
pub struct Planner<'a> {
    pub program: &'a Program,
    pub library: &'a Library,
    pub options: &'a Options,
    pub times: &'a dyn Times,
    pub accesses: &'a RefCell<Accesses>,
    pub sources: &'a RefCell<SourceMap>,
}

/// The calls of a set, in the order of the script, and the variables that are needed after it.
pub struct Reading<'a> {
    pub calls: Vec<(usize, &'a Call)>,
    pub needed_after: Vec<VarId>,
}

/// Order and layout for each set of variables that are in shared memory: the same for many combinations.
pub type Layouts = HashMap<Vec<Item>, Chosen>;

/// A variable before its home is known.
struct Draft {
    id: VarId,
    size: u32,
    /// The call that makes it.
    producer: Option<usize>,
    /// Calls that read it, as bits.
    readers: u32,
    output: bool,
    load: Option<Mover>,
    save: Option<Mover>,
    /// In registers, or why not.
    home: Result<super::place::InRegisters, String>,
}

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
        for ((node, call), implementation) in reading.calls.iter().zip(implementations) {
            let mut sources = self.sources.borrow_mut();
            let mut accesses = self.accesses.borrow_mut();
            let access = accesses.of(
                self.library,
                call.function,
                *implementation,
                elements,
                &mut sources,
            )?;
            let Some(access) = access else { return Ok(None) };
            let (function, implementation) = (call.function, *implementation);
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

    fn drafts(&self, reading: &Reading<'_>, calls: &mut [PlannedCall]) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = vec![];
        let mut known: HashMap<VarId, usize> = HashMap::new();
        for (c, (_, call)) in reading.calls.iter().enumerate() {
            for id in call.arguments.iter().chain([&call.result]) {
                let at = *known.entry(*id).or_insert_with(|| {
                    let size = self.library.elements(self.program.variables[id.0].ty);
                    let output = reading.needed_after.contains(id);
                    let home = Err(String::new());
                    drafts.push(Draft {
                        id: *id,
                        size,
                        producer: None,
                        readers: 0,
                        output,
                        load: None,
                        save: None,
                        home,
                    });
                    drafts.len() - 1
                });
                calls[c].variables.push(at);
            }
            for id in &call.arguments {
                drafts[known[id]].readers |= 1 << c;
            }
            drafts[known[&call.result]].producer = Some(c);
        }
        for (d, draft) in drafts.iter_mut().enumerate() {
            self.home(d, draft, calls);
        }
        drafts
    }

    /// Chooses what moves a variable, and whether it can live in registers.
    fn home(&self, number: usize, draft: &mut Draft, calls: &[PlannedCall]) {
        let own_moves = self.options.keep_loads || self.options.baseline;
        if let Some(producer) = draft.producer.filter(|_| draft.output) {
            let plain = calls[producer].access.save.plain_copy && !own_moves;
            let routine = Mover::Routine { call: producer, load: 0, place: Place::Shared };
            draft.save = Some(if plain { Mover::Block } else { routine });
        }
        let mut loads = vec![];
        if draft.producer.is_none() {
            loads = self.loads(number, calls);
            let plain = |l: &(usize, usize)| calls[l.0].access.loads[l.1].plain_copy && !own_moves;
            if loads.iter().any(plain) {
                draft.load = Some(Mover::Block);
            }
        }
        if self.options.baseline {
            draft.home = Err("the baseline keeps everything in shared memory".into());
            let (call, load) = loads.first().copied().unwrap_or_default();
            let routine = Mover::Routine { call, load, place: Place::Shared };
            draft.load = draft.producer.is_none().then_some(routine);
            return;
        }
        if draft.load == Some(Mover::Block) || draft.save == Some(Mover::Block) {
            draft.home = Err("the block moves it as a whole, 16 bytes at a time".into());
            return;
        }
        let touches = &self.accesses.borrow().touches;
        if draft.producer.is_some() {
            draft.home = in_registers(&self.uses(number, draft, calls, None), touches);
            return;
        }
        // Any load of its type would do: the first that lets the variable live in registers, else the first.
        for (call, load) in &loads {
            let home =
                in_registers(&self.uses(number, draft, calls, Some((*call, *load))), touches);
            let routine = Mover::Routine { call: *call, load: *load, place: Place::Shared };
            if draft.load.is_none() || home.is_ok() {
                let done = home.is_ok();
                (draft.load, draft.home) = (Some(routine), home);
                if done {
                    break;
                }
            }
        }
    }

    /// Loads of the library that serve a variable: call, and number of its implementation's load.
    fn loads(&self, variable: usize, calls: &[PlannedCall]) -> Vec<(usize, usize)> {
        let mut all = vec![];
        for (c, call) in calls.iter().enumerate() {
            let one = self.implementation(call);
            for (argument, load) in one.load_of.iter().enumerate() {
                if call.variables[argument] == variable && !all.contains(&(c, *load)) {
                    all.push((c, *load));
                }
            }
        }
        all
    }

    /// The implementation that a call was given.
    pub fn implementation(&self, call: &PlannedCall) -> &Implementation {
        &self.library.function(call.function).implementations[call.implementation]
    }

    /// All uses of a variable by routines.
    fn uses<'c>(
        &'c self,
        variable: usize,
        draft: &Draft,
        calls: &'c [PlannedCall],
        load: Option<(usize, usize)>,
    ) -> Vec<Use<'c>> {
        let mut uses = vec![];
        let used = |call: &'c PlannedCall, name: &'c str, access: &'c ArgumentAccess| Use {
            name,
            threads: call.access.threads(),
            access,
        };
        if let Some((c, k)) = load {
            let name = &self.implementation(&calls[c]).loads[k].name;
            uses.push(used(&calls[c], name, &calls[c].access.loads[k].arguments[0]));
        }
        for call in calls {
            let name = &self.implementation(call).compute.name;
            let arguments = call.access.compute.arguments.iter().zip(&call.variables);
            let own = arguments.filter(|(_, v)| **v == variable);
            uses.extend(own.map(|(access, _)| used(call, name, access)));
        }
        if let (Some(Mover::Routine { .. }), Some(p)) = (draft.save, draft.producer) {
            let name = &self.implementation(&calls[p]).save.name;
            uses.push(used(&calls[p], name, &calls[p].access.save.arguments[0]));
        }
        uses
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
        let mut variables: Vec<PlannedVariable> = vec![];
        for (d, draft) in drafts.iter().enumerate() {
            let (home, reason) = match &draft.home {
                Ok(r) => (
                    Home::Registers { width: r.width },
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
        };
        plan.steps = self.steps(&plan, &drafts, &new_number);
        self.put_barriers(&mut plan);
        plan.prediction = self.predict(&plan);
        Some(plan)
    }

    /// Loads of whole blocks, then the calls, each with the library's own moves around it, then saves of whole blocks.
    fn steps(
        &self,
        plan: &KernelPlan,
        drafts: &[Draft],
        new_number: &dyn Fn(usize) -> usize,
    ) -> Vec<Step> {
        let mover = |m: Mover, variable: usize, plan: &KernelPlan, load: bool| match m {
            Mover::Block => Mover::Block,
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
        let by_block = |m: Option<Mover>| m == Some(Mover::Block);
        let mut loaded = vec![false; drafts.len()];
        for (variable, _) in drafts.iter().enumerate().filter(|(_, d)| by_block(d.load)) {
            loaded[variable] = true;
            steps.push(step(Action::Load { variable, by: Mover::Block }));
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
        for (variable, _) in drafts.iter().enumerate().filter(|(_, d)| by_block(d.save)) {
            steps.push(step(Action::Save { variable, by: Mover::Block }));
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

    fn predict(&self, plan: &KernelPlan) -> Prediction {
        let mut prediction = Prediction::default();
        let total = plan.shared_floats * 4;
        for step in &plan.steps {
            let (variable, by, role) = match step.action {
                Action::Load { variable, by } => (variable, by, Role::Load),
                Action::Save { variable, by } => (variable, by, Role::Save),
                Action::Call(c) => {
                    prediction.computing += self.call_time(plan, &plan.calls[c], total);
                    continue;
                }
            };
            let v = &plan.variables[variable];
            let shared = matches!(v.home, Home::Shared { .. });
            let own = if shared { v.size * plan.elements * 4 } else { 0 };
            let (name, threads, routine): (&str, u32, Option<&RoutineAccess>) = match by {
                Mover::Block => {
                    (if role == Role::Load { "load" } else { "save" }, plan.threads(), None)
                }
                Mover::Routine { call, load, .. } => {
                    let call = &plan.calls[call];
                    let one = self.implementation(call);
                    let text =
                        if role == Role::Load { &one.loads[load].name } else { &one.save.name };
                    let access = if role == Role::Load {
                        &call.access.loads[load]
                    } else {
                        &call.access.save
                    };
                    (text, call.access.threads(), Some(access))
                }
            };
            prediction.moving += self.times.seconds(&RoutineUse {
                name,
                role,
                elements: plan.elements,
                threads,
                additional_shared: total - own.min(total),
                own_shared: own,
                moved: v.size,
                block_copy: routine.is_none(),
                work: routine.map(|r| r.work).unwrap_or_default(),
            });
        }
        prediction
    }

    fn call_time(&self, plan: &KernelPlan, call: &PlannedCall, total: u32) -> f64 {
        let one = self.implementation(call);
        let mut own_variables = call.variables.clone();
        own_variables.sort_unstable();
        own_variables.dedup();
        let shared = |v: &&usize| matches!(plan.variables[**v].home, Home::Shared { .. });
        let own = own_variables
            .iter()
            .filter(shared)
            .map(|v| plan.variables[*v].size * plan.elements * 4);
        let own: u32 = own.sum::<u32>().min(total);
        let mut work = call.access.compute.work;
        // What is in registers is read from there.
        let arguments = call.variables.len().max(1) as f64;
        let in_shared = call.variables.iter().filter(shared).count() as f64;
        work.shared *= in_shared / arguments;
        self.times.seconds(&RoutineUse {
            name: &one.compute.name,
            role: Role::Compute,
            elements: plan.elements,
            threads: call.access.threads(),
            additional_shared: total - own,
            own_shared: own,
            moved: 0,
            block_copy: false,
            work,
        })
    }
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
            early: draft.load == Some(Mover::Block),
            late: draft.save == Some(Mover::Block),
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
                Mover::Block => None,
                Mover::Routine { call, load, .. } => {
                    plan.calls[*call].access.loads[*load].arguments[0].touch
                }
            };
            one(*variable, touch, true).into_iter().collect()
        }
        Action::Save { variable, by } => {
            let touch = match by {
                Mover::Block => None,
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
