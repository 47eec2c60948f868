//! What `fuse` says when it is done: `result.json` and the lines on the terminal.

mod measured;

use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_fuse::emit::Heading;
use warpsmith_fuse::plan::{
    Action, Bounds, Covered, Home, KernelPlan, Mover, Planner, coordinates, kernels,
};

use super::measure::Measured;
use super::{Fused, Handed, all_files};
use crate::search::Told;
use warpsmith_translate::tune::compiled::Used;

/// What there is to report.
pub struct Report<'a> {
    pub planner: &'a Planner<'a>,
    pub heading: &'a Heading,
    pub covers: &'a [Handed],
    pub bounds: &'a Bounds,
    /// Sets of calls that were looked at.
    pub candidates: usize,
    /// Predicted seconds when each call is a kernel of its own.
    pub unfused: f64,
    /// All covers that were found, best predicted first.
    pub found: &'a [Covered],
    pub measured: Option<&'a Measured>,
}

impl Report<'_> {
    pub fn json(&self) -> Value {
        let covers: Vec<Value> = self.covers.iter().map(|c| self.cover(c)).collect();
        let sizes: Vec<usize> = self.covers.first().map(|c| c.counts.clone()).unwrap_or_default();
        let all = self.covers.iter().flat_map(|c| kernels(&c.cover.launches));
        let mut assumptions: Vec<String> = match all.into_iter().any(|k| k.wants_whole_blocks()) {
            true => vec![
                "loads and saves of the library compute offsets in types that are wide enough for all elements".to_string(),
                "arrays on the device have room for whole blocks, as the header says".to_string(),
            ],
            false => vec![],
        };
        if self.covers.iter().any(|c| c.short_loops) {
            assumptions.push(
                "loops were checked with a few iterations each (two to four), not with all".into(),
            );
        }
        assumptions.extend(self.covers.first().and_then(doubted));
        let level = self.measured.map_or("checked", |m| Told::by(&m.hello).level());
        let mut object = json!({
            "schema": 1, "command": "fuse", "status": "done", "exit": 0, "complete": true, "findings": [],
            "notes": [], "outputs": [], "name": self.heading.name, "arch": self.heading.arch, "elements": self.heading.elements,
            "candidates": self.candidates, "unfused_predicted_seconds": self.unfused, "bounded": self.bounds.notes, "covers": covers,
            "verification": {"level": level, "sizes": sizes, "assumptions": assumptions},
        });
        if let Some(measured) = self.measured {
            object[Told::by(&measured.hello).word()] = measured::json(measured, self.found);
        }
        object
    }

    fn cover(&self, handed: &Handed) -> Value {
        let with_usage = |(number, kernel): (usize, &std::rc::Rc<KernelPlan>)| {
            let mut object = self.kernel(kernel);
            if let Some(used) = self.used(handed, number + 1) {
                object["registers"] = used.registers.into();
                object["spilled_bytes"] = used.spill_bytes.into();
            }
            object
        };
        let list = kernels(&handed.cover.launches);
        let kernels: Vec<Value> = list.iter().enumerate().map(with_usage).collect();
        json!({
            "predicted_seconds": handed.cover.seconds, "kernels": kernels, "checked_elements": handed.counts,
        })
    }

    /// What a compiler says of a kernel, by its number from 1 on.
    fn used(&self, handed: &Handed, number: usize) -> Option<Used> {
        handed.usage.as_ref()?.get(&format!("{}_{number}", self.heading.name)).copied()
    }

    fn kernel(&self, kernel: &KernelPlan) -> Value {
        let planner = self.planner;
        let calls: Vec<Value> = kernel
            .calls
            .iter()
            .map(|c| {
                json!({
                    "function": planner.library.function(c.function).name,
                    "implementation": planner.implementation(c).name,
                    "block": c.access.shape,
                })
            })
            .collect();
        let variables: Vec<Value> = kernel
            .variables
            .iter()
            .map(|v| {
                let name = planner.variable_name(v.id);
                match v.home {
                    Home::Shared { offset } => json!({"name": name, "home": "shared", "offset": offset, "reason": v.reason}),
                    Home::Registers { floats, .. } => json!({"name": name, "home": "registers", "registers": floats, "reason": v.reason}),
                }
            })
            .collect();
        let barrier = |s: &warpsmith_fuse::plan::Step| {
            let reason = s.barrier.as_ref()?;
            Some(json!({"before": planner.step_name(kernel, &s.action), "reason": reason}))
        };
        let barriers: Vec<Value> = kernel.steps.iter().filter_map(barrier).collect();
        json!({
            "calls": calls, "block": kernel.shape, "elements_per_block": kernel.elements, "batch": kernel.batch,
            "shared_bytes": kernel.shared_floats * 4, "layout_is_best": kernel.layout_is_exact,
            "variables": variables, "barriers": barriers,
            "predicted": {"moving_seconds": kernel.prediction.moving, "computing_seconds": kernel.prediction.computing, "starting_seconds": kernel.prediction.starting, "launch_seconds": kernel.prediction.launch},
        })
    }

    pub fn human(&self, explain: bool) -> String {
        let mut text = format!("{} for {}\n", self.heading.name, self.heading.arch);
        for (k, handed) in self.covers.iter().enumerate() {
            if self.covers.len() > 1 {
                text += &format!("cover {}:\n", k + 1);
            }
            let list = kernels(&handed.cover.launches);
            for (n, kernel) in list.iter().enumerate() {
                text += &self.kernel_line(n + 1, kernel, self.used(handed, n + 1));
                if explain {
                    text += &self.explained(kernel);
                }
            }
            let counts: Vec<String> = handed.counts.iter().map(usize::to_string).collect();
            let loops = match handed.short_loops {
                true => "; a few iterations of each loop, not all",
                false => "",
            };
            text += &format!(
                "  predicted: {:.1} us for {} elements, {:.1} us with a kernel for each call\n  checked in the emulator with every check on, against the CPU references: {} elements{loops}\n",
                handed.cover.seconds * 1e6,
                self.heading.elements,
                self.unfused * 1e6,
                counts.join(", ")
            );
            if let Some(doubted) = doubted(handed) {
                text += &format!("  {doubted}\n");
            }
        }
        if let Some(measured) = self.measured {
            text += &measured::human(measured, self.found, explain);
        }
        if explain {
            text += &format!("{} fusions were looked at\n", self.candidates);
        }
        for note in &self.bounds.notes {
            text += &format!("bounded: {note}\n");
        }
        text
    }

    fn kernel_line(&self, number: usize, kernel: &KernelPlan, used: Option<Used>) -> String {
        let name = |c: &warpsmith_fuse::plan::PlannedCall| {
            format!(
                "{}_{}",
                self.planner.library.function(c.function).name,
                self.planner.implementation(c).name
            )
        };
        let names: Vec<String> = kernel.calls.iter().map(name).collect();
        let [x, y, z] = kernel.shape;
        let used = used.map_or(String::new(), |used| {
            format!("; {} hardware registers, {} bytes spilled", used.registers, used.spill_bytes)
        });
        format!(
            "  kernel {number}: {} in {x}:{y}:{z} threads, {} elements a block, {} bytes shared, {}, {} of {} variables in registers{used}\n",
            names.join(", "),
            kernel.elements,
            kernel.shared_floats * 4,
            plural(kernel.barriers(), "barrier"),
            kernel.registers(),
            kernel.variables.len()
        )
    }

    /// What moves a variable.
    fn moved_by(&self, kernel: &KernelPlan, by: Mover) -> String {
        match by {
            Mover::Block => "a copy of the whole block, 16 bytes at a time".into(),
            Mover::Columns => {
                "a copy of the whole block, a float of all elements after the other".into()
            }
            Mover::Own => "each thread its own element, in registers".into(),
            Mover::Routine { call, .. } => {
                let call = &kernel.calls[call];
                let function = &self.planner.library.function(call.function).name;
                format!("the routine of {function}_{}", self.planner.implementation(call).name)
            }
        }
    }

    /// Each decision with its reason.
    fn explained(&self, kernel: &KernelPlan) -> String {
        let planner = self.planner;
        let mut text = String::new();
        for v in &kernel.variables {
            let home = match v.home {
                Home::Shared { offset } => format!("shared from float {offset} on"),
                Home::Registers { floats, .. } => {
                    format!("in {}", plural(floats as usize, "register"))
                }
            };
            text += &format!("    {}: {home}: {}\n", planner.variable_name(v.id), v.reason);
        }
        for step in &kernel.steps {
            let name = planner.step_name(kernel, &step.action);
            if let Some(reason) = &step.barrier {
                text += &format!("    barrier before {name}: {reason}\n");
            }
            if let Action::Load { by, .. } | Action::Save { by, .. } = step.action {
                text += &format!("    {name}: {}\n", self.moved_by(kernel, by));
            }
        }
        for call in &kernel.calls {
            let c = coordinates(call.access.shape, kernel.shape);
            if let Some(threads) = c.guard {
                let name = &planner.library.function(call.function).name;
                text +=
                    &format!("    {name}: {threads} of {} threads have work\n", kernel.threads());
            }
        }
        text += &format!(
            "    predicted: {:.1} us of moving, {:.1} us of computing, {:.1} us until all blocks have been started, of which the longest counts; {:.1} us for a launch\n",
            kernel.prediction.moving * 1e6,
            kernel.prediction.computing * 1e6,
            kernel.prediction.starting * 1e6,
            kernel.prediction.launch * 1e6
        );
        text += &format!(
            "    {} combinations of implementations and block sizes were looked at",
            kernel.considered
        );
        text += &match kernel.next_best {
            Some(seconds) => {
                format!("; the next best is predicted to take {:.1} us\n", seconds * 1e6)
            }
            None => "\n".to_string(),
        };
        if !kernel.layout_is_exact {
            text += "    bounded: not all orders and layouts of shared memory were looked at\n";
        }
        text
    }
}

/// What verification could not see.
fn doubted(handed: &Handed) -> Option<String> {
    let names: Vec<String> = handed.doubted.iter().map(|n| format!("`{n}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "not judged: {}: its numbers are infinite, zero or no numbers on random data, or rounding errors may be as large as they are; each function by itself gives what its reference gives",
            names.join(", ")
        )
    })
}

fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The lines for a person, with the files.
pub fn with_paths(fused: &Fused, paths: &[PathBuf]) -> String {
    let mut text = fused.text.clone();
    for path in paths {
        text += &format!("wrote {}\n", path.display());
    }
    if paths.is_empty() {
        for (name, _) in all_files(fused) {
            text += &format!("would write {}\n", fused.folder.join(name).display());
        }
    }
    text
}

/// The object on stdout, with the files.
pub fn with_outputs(result: &Value, paths: &[PathBuf]) -> Value {
    let mut result = result.clone();
    result["outputs"] = paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().into();
    result
}
