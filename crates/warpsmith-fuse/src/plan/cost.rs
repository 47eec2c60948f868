//! Predicted time of a kernel: the sums over its moves and over its computations.

use super::*;
use crate::access::{RoutineAccess, Work};
use crate::library::Role;
use crate::predict::RoutineUse;

/// Seconds in which the host asks for more shared memory than every kernel may have: about what a call of the driver takes.
const ASKING: f64 = 1e-6;

impl Planner<'_> {
    /// What the kernel will take.
    pub(super) fn predict(&self, plan: &KernelPlan) -> Prediction {
        let starting = self.times.starting(plan.elements * plan.batch);
        let asks = if plan.dynamic_shared() > 0 { ASKING } else { 0.0 };
        let launch = self.times.launch() + asks;
        let mut prediction = Prediction { starting, launch, ..Prediction::default() };
        for step in &plan.steps {
            let one = self.routine_use(plan, &step.action);
            let seconds = self.times.seconds(&one);
            match one.role {
                Role::Compute => prediction.computing += seconds,
                Role::Load | Role::Save => prediction.moving += seconds,
            }
        }
        prediction
    }

    /// A step of a kernel as it is timed.
    pub fn routine_use<'p>(&'p self, plan: &'p KernelPlan, action: &Action) -> RoutineUse<'p> {
        match *action {
            Action::Load { variable, by } => self.move_use(plan, variable, by, Role::Load),
            Action::Save { variable, by } => self.move_use(plan, variable, by, Role::Save),
            Action::Call(c) => self.call_use(plan, &plan.calls[c]),
        }
    }

    fn move_use<'p>(
        &'p self,
        plan: &'p KernelPlan,
        variable: usize,
        by: Mover,
        role: Role,
    ) -> RoutineUse<'p> {
        let v = &plan.variables[variable];
        let is_shared = matches!(v.home, Home::Shared { .. });
        let own = if is_shared { v.size * plan.elements * 4 } else { 0 };
        let routine: Option<(&str, u32, &RoutineAccess)> = match by {
            Mover::Block | Mover::Columns | Mover::Own => None,
            Mover::Routine { call, load, .. } => {
                let call = &plan.calls[call];
                let (one, threads) = (self.implementation(call), call.access.threads());
                Some(match role {
                    Role::Load => (&one.loads[load].name, threads, &call.access.loads[load]),
                    _ => (&one.save.name, threads, &call.access.save),
                })
            }
        };
        let ours = if role == Role::Load { "load" } else { "save" };
        RoutineUse {
            name: routine.map_or(ours, |(name, ..)| name),
            role,
            elements: plan.elements,
            threads: routine.map_or(plan.threads(), |(_, threads, _)| threads),
            additional_shared: (plan.shared_floats * 4).saturating_sub(own),
            own_shared: own,
            moved: v.size,
            under_way: routine.is_none().then(|| under_way(plan)),
            work: routine.map_or(Work::default(), |(.., access)| access.work),
        }
    }

    fn call_use<'p>(&'p self, plan: &'p KernelPlan, call: &'p PlannedCall) -> RoutineUse<'p> {
        let one = self.implementation(call);
        let mut own_variables = call.variables.clone();
        own_variables.sort_unstable();
        own_variables.dedup();
        let is_shared = |v: &&usize| matches!(plan.variables[**v].home, Home::Shared { .. });
        let bytes = |v: &usize| plan.variables[*v].size * plan.elements * 4;
        let total = plan.shared_floats * 4;
        let own = own_variables.iter().filter(is_shared).map(bytes).sum::<u32>().min(total);
        let mut work = call.access.compute.work;
        // What is in registers is read from there.
        let arguments = call.variables.len().max(1) as f64;
        let in_shared = call.variables.iter().filter(is_shared).count() as f64;
        work.shared *= in_shared / arguments;
        RoutineUse {
            name: &one.compute.name,
            role: Role::Compute,
            elements: plan.elements,
            threads: call.access.threads(),
            additional_shared: total - own,
            own_shared: own,
            moved: 0,
            under_way: None,
            work,
        }
    }
}

/// Bytes that a block's own loads ask for together, or its own saves, where those are more: what a kernel makes of little, or of what
/// routines of the library load, does not wait for itself.
fn under_way(plan: &KernelPlan) -> u32 {
    let bytes = |of_loads: bool| -> u32 {
        let moved = plan.steps.iter().map(|s| match s.action {
            Action::Load { variable, by } if of_loads && by.is_ours() => {
                plan.variables[variable].size
            }
            Action::Save { variable, by } if !of_loads && by.is_ours() => {
                plan.variables[variable].size
            }
            _ => 0,
        });
        moved.sum::<u32>() * plan.elements * 4
    };
    bytes(true).max(bytes(false))
}
