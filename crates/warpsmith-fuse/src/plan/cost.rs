//! Predicted time of a kernel: the sums over its moves and over its computations.

use super::*;
use crate::access::RoutineAccess;
use crate::library::Role;
use crate::predict::RoutineUse;

impl Planner<'_> {
    /// What the kernel will take.
    pub(super) fn predict(&self, plan: &KernelPlan) -> Prediction {
        let mut prediction = Prediction::default();
        let total = plan.shared_floats * 4;
        let ours = |s: &&Step| matches!(s.action, Action::Load { by, .. } if by.is_ours());
        let loaded = plan.steps.iter().filter(ours).map(|s| match s.action {
            Action::Load { variable, .. } => plan.variables[variable].size * plan.elements * 4,
            _ => 0,
        });
        let under_way = loaded.sum();
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
                Mover::Block | Mover::Columns | Mover::Own => {
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
                under_way: if routine.is_none() { Some(under_way) } else { None },
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
            under_way: None,
            work,
        })
    }
}
