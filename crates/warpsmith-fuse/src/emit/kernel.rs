//! One kernel, and the variants of routines that it calls.

use std::fmt::Write;

use super::routines::has_namespace;
use super::{Emitter, declaration};
use crate::access::{Place, specialised};
use crate::library::{Coordinate, FunctionId, Param, Routine};
use crate::plan::{
    Action, Coordinates, Home, KernelPlan, Mover, PlannedCall, Planner, Source, coordinates,
};

/// A routine as it is called in one way.
pub(super) struct Variant {
    pub name: String,
    pub text: String,
}

/// `d_mmul33_2_compute_bx3_by96_bz1_rsr`: shape of the block, and a letter for each argument with a pattern.
fn variant_name(routine: &Routine, shape: [u32; 3], places: &[Place]) -> String {
    let letter = |p: &Place| if *p == Place::Shared { 's' } else { 'r' };
    let letters: String = places.iter().map(letter).collect();
    let [x, y, z] = shape;
    format!("{}_bx{x}_by{y}_bz{z}_{letters}", routine.name)
}

/// The routine behind a move, with its call and the place of its argument.
fn moved_by<'p>(
    planner: &'p Planner<'_>,
    kernel: &'p KernelPlan,
    load: bool,
    by: Mover,
) -> Option<(&'p Routine, &'p PlannedCall, Place)> {
    let Mover::Routine { call, load: number, place } = by else { return None };
    let call = &kernel.calls[call];
    let one = planner.implementation(call);
    Some((if load { &one.loads[number] } else { &one.save }, call, place))
}

/// The variants of a function's routines that a kernel calls, in the order of their calls.
pub(super) fn variants(
    planner: &Planner<'_>,
    kernel: &KernelPlan,
    function: FunctionId,
) -> Vec<Variant> {
    let mut all = vec![];
    for step in &kernel.steps {
        let (routine, call, places) = match step.action {
            Action::Call(c) => {
                let call = &kernel.calls[c];
                (&planner.implementation(call).compute, call, call.places.clone())
            }
            Action::Load { by, .. } | Action::Save { by, .. } => {
                let load = matches!(step.action, Action::Load { .. });
                let Some((routine, call, place)) = moved_by(planner, kernel, load, by) else {
                    continue;
                };
                (routine, call, vec![place])
            }
        };
        if call.function == function {
            let name = variant_name(routine, call.access.shape, &places);
            let text = specialised(routine, &name, call.access.shape, &places);
            all.push(Variant { name, text });
        }
    }
    all
}

impl Emitter<'_> {
    pub(super) fn kernel(&self, text: &mut String, number: usize, kernel: &KernelPlan) {
        let name = format!("{}_{}", self.heading.name, number + 1);
        let names: Vec<&str> = kernel
            .calls
            .iter()
            .map(|c| self.planner.library.function(c.function).name.as_str())
            .collect();
        let _ = writeln!(text, "// {}: {} elements a block.", names.join(", "), kernel.elements);
        let params = self.kernel_params(kernel);
        let head = format!("static __global__ void __launch_bounds__({}) {name}", kernel.threads());
        let _ =
            writeln!(text, "{}", declaration(&head, &[vec!["int count".into()], params].concat()));
        text.push_str("{\n");
        self.homes(text, kernel);
        if self.needs_thread(kernel) {
            let _ = writeln!(text, "    const int thread = {};", flat(kernel.shape));
        }
        let deep = kernel.batch > 1;
        let indent = if deep { "        " } else { "    " };
        let block = if deep {
            let _ = writeln!(text, "    for (int step = 0; step < {}; step++) {{", kernel.batch);
            let _ =
                writeln!(text, "        const int block = blockIdx.x * {} + step;", kernel.batch);
            "block"
        } else {
            "blockIdx.x"
        };
        let elements = kernel.elements;
        if deep {
            // The last blocks of a batch may lie beyond the end altogether.
            let _ = writeln!(text, "{indent}if (block * {elements} >= count) break;");
        }
        if self.has_own_moves(kernel) {
            let _ = writeln!(text, "{indent}const int first = {block} * {elements};");
            let _ = writeln!(text, "{indent}const int here = min(count - first, {elements});");
        }
        text.push('\n');
        if self.timing.is_some() {
            let (floats, threads) = (kernel.shared_floats, kernel.threads());
            let _ = writeln!(
                text,
                "{indent}for (int i = thread; i < {floats}; i += {threads}) shared[i] = 1.0f;\n{indent}__syncthreads();"
            );
        }
        self.steps(text, kernel, indent, block);
        if let (Some(_), Some(output)) = (self.timing, kernel.outputs().next()) {
            // Never so, which the compiler does not know.
            let name = self.names.get(output.id);
            let _ = writeln!(text, "{indent}if (count < 0) {name}[thread] = shared[thread];");
        }
        text.push_str(if deep { "    }\n}\n\n" } else { "}\n\n" });
    }

    /// Parameters of a kernel after `count`: what it reads, what it writes.
    fn kernel_params(&self, kernel: &KernelPlan) -> Vec<String> {
        let mut params = vec![];
        for (v, variable) in kernel.variables.iter().enumerate() {
            let name = self.names.get(variable.id);
            if variable.input {
                // Routines of the library take pointers to what may be written.
                let ty = if !kernel.is_loaded_by_routine(v) {
                    "const float *__restrict__ "
                } else {
                    "float *"
                };
                params.push(format!("{ty}{name}"));
            }
        }
        params.extend(kernel.outputs().map(|v| format!("float *{}", self.names.get(v.id))));
        params
    }

    fn homes(&self, text: &mut String, kernel: &KernelPlan) {
        let floats = kernel.shared_floats;
        if kernel.dynamic_shared() > 0 {
            let _ =
                writeln!(text, "    extern __shared__ __align__(16) float shared[];  // {floats}");
        } else if floats > 0 {
            let _ = writeln!(text, "    __shared__ __align__(16) float shared[{floats}];");
        }
        for variable in &kernel.variables {
            let name = self.names.get(variable.id);
            match variable.home {
                Home::Shared { offset: 0 } => _ = writeln!(text, "    float *s_{name} = shared;"),
                Home::Shared { offset } => {
                    _ = writeln!(text, "    float *s_{name} = shared + {offset};")
                }
                Home::Registers { width, .. } => _ = writeln!(text, "    float r_{name}[{width}];"),
            }
        }
    }

    fn has_own_moves(&self, kernel: &KernelPlan) -> bool {
        kernel.steps.iter().any(|s| match s.action {
            Action::Load { by, .. } | Action::Save { by, .. } => by.is_ours(),
            Action::Call(_) => false,
        })
    }

    fn needs_thread(&self, kernel: &KernelPlan) -> bool {
        let routine = |routine: &Routine, call: &PlannedCall| {
            coordinates(call.access.shape, kernel.shape).need_flat(&taken(routine))
        };
        self.has_own_moves(kernel)
            || self.timing.is_some()
            || kernel.steps.iter().any(|s| match s.action {
                Action::Call(c) => routine(
                    &self.planner.implementation(&kernel.calls[c]).compute,
                    &kernel.calls[c],
                ),
                Action::Load { by, .. } => {
                    moved_by(self.planner, kernel, true, by).is_some_and(|(r, c, _)| routine(r, c))
                }
                Action::Save { by, .. } => {
                    moved_by(self.planner, kernel, false, by).is_some_and(|(r, c, _)| routine(r, c))
                }
            })
    }

    fn steps(&self, text: &mut String, kernel: &KernelPlan, indent: &str, block: &str) {
        let mut arriving = false;
        for step in &kernel.steps {
            let our_load = match step.action {
                Action::Load { by, .. } => Some(by).filter(Mover::is_ours),
                _ => None,
            };
            if arriving && our_load.is_none() {
                let _ = writeln!(
                    text,
                    "{indent}__pipeline_commit();\n{indent}__pipeline_wait_prior(0);"
                );
                arriving = false;
            }
            if let Some(reason) = &step.barrier {
                let _ = writeln!(text, "{indent}__syncthreads();  // {}", one_line(reason));
            }
            arriving |= matches!(our_load, Some(Mover::Block | Mover::Columns));
            let (routine, call, arguments) = match step.action {
                Action::Load { variable, by } | Action::Save { variable, by } => {
                    let load = matches!(step.action, Action::Load { .. });
                    if by.is_ours() {
                        let line = self.own_move(kernel, variable, load, by);
                        let _ = writeln!(text, "{indent}{line}");
                        continue;
                    }
                    let Some((routine, call, place)) = moved_by(self.planner, kernel, load, by)
                    else {
                        continue;
                    };
                    (routine, call, vec![(variable, place)])
                }
                Action::Call(c) => {
                    let call = &kernel.calls[c];
                    let places = call.variables.iter().copied().zip(call.places.iter().copied());
                    (&self.planner.implementation(call).compute, call, places.collect())
                }
            };
            self.call(text, kernel, (routine, call, &arguments), indent, block);
        }
        if arriving {
            let _ =
                writeln!(text, "{indent}__pipeline_commit();\n{indent}__pipeline_wait_prior(0);");
        }
    }

    /// A call of one of our own copies.
    fn own_move(&self, kernel: &KernelPlan, variable: usize, load: bool, by: Mover) -> String {
        let v = &kernel.variables[variable];
        let (name, size, elements) = (self.names.get(v.id), v.size, kernel.elements);
        let verb = if load { "load" } else { "save" };
        // What is written comes first.
        let pair = |inside: String, outside: String| match load {
            true => format!("{inside}, {outside}"),
            false => format!("{outside}, {inside}"),
        };
        let columns = self.is_column(v.id);
        match (v.home, by) {
            (Home::Shared { .. }, Mover::Columns) => {
                let arrays = pair(format!("s_{name}"), format!("{name} + first"));
                let threads = kernel.threads();
                format!(
                    "{verb}_columns<{size}, {elements}, {threads}>({arrays}, count, here, thread);"
                )
            }
            (Home::Shared { offset }, _) => {
                let floats = size * elements;
                let wide = floats.is_multiple_of(4) && offset.is_multiple_of(4);
                let arrays = pair(format!("s_{name}"), format!("{name} + (size_t)first * {size}"));
                let threads = kernel.threads();
                format!(
                    "{verb}_block<{floats}, {threads}, {wide}>({arrays}, here * {size}, thread);"
                )
            }
            (Home::Registers { .. }, _) => {
                // A single float has nothing to be apart from.
                let pitch = if columns { "count" } else { "0" };
                match load {
                    // Threads beyond the end take the last element, which is there.
                    true => format!(
                        "load_own<{size}>(r_{name}, {name} + first + min(thread, here - 1), {pitch});"
                    ),
                    false => format!(
                        "save_own<{size}>({name} + first + thread, r_{name}, {pitch}, thread < here);"
                    ),
                }
            }
        }
    }

    fn call(
        &self,
        text: &mut String,
        kernel: &KernelPlan,
        (routine, call, arguments): (&Routine, &PlannedCall, &[(usize, Place)]),
        indent: &str,
        block: &str,
    ) {
        let places: Vec<Place> = arguments.iter().map(|(_, p)| *p).collect();
        let mut name = variant_name(routine, call.access.shape, &places);
        let function = self.planner.library.function(call.function);
        if has_namespace(function) {
            name = format!("{}::{name}", function.name);
        }
        let coordinates = coordinates(call.access.shape, kernel.shape);
        let axis = self.planner.implementation(call).data_axis();
        let one = |param: &Param| match param {
            Param::Global => self.names.get(kernel.variables[arguments[0].0].id).to_string(),
            Param::Element(k) => {
                let (variable, place) = arguments[*k];
                let letter = if place == Place::Shared { 's' } else { 'r' };
                format!("{letter}_{}", self.names.get(kernel.variables[variable].id))
            }
            Param::Coordinate(Coordinate::Thread(axis)) => coordinate(&coordinates, *axis),
            Param::Coordinate(Coordinate::Block(a)) if *a == axis => block.to_string(),
            Param::Coordinate(Coordinate::Block(_)) => "0".to_string(),
        };
        let list: Vec<String> = routine.params.iter().map(one).collect();
        let guard = coordinates.guard.map_or(String::new(), |g| format!("if (thread < {g}) "));
        let _ = writeln!(text, "{indent}{guard}{name}({});", list.join(", "));
    }
}

/// Thread coordinates that a routine takes.
fn taken(routine: &Routine) -> Vec<usize> {
    let axis = |p: &Param| match p {
        Param::Coordinate(Coordinate::Thread(axis)) => Some(*axis),
        _ => None,
    };
    routine.params.iter().filter_map(axis).collect()
}

fn coordinate(coordinates: &Coordinates, axis: usize) -> String {
    match coordinates.of[axis] {
        Source::Thread => format!("threadIdx.{}", ["x", "y", "z"][axis]),
        Source::Zero => "0".into(),
        Source::Flat { divisor, modulo } => {
            let mut text = "thread".to_string();
            if divisor > 1 {
                text.push_str(&format!(" / {divisor}"));
            }
            if let Some(m) = modulo {
                text.push_str(&format!(" % {m}"));
            }
            text
        }
    }
}

/// The flat index of a thread in a block.
fn flat([x, y, z]: [u32; 3]) -> String {
    let rows = |inner: &str| format!("threadIdx.x + {x} * {inner}");
    match (y, z) {
        (1, 1) => "threadIdx.x".into(),
        (_, 1) => rows("threadIdx.y"),
        _ => rows(&format!("(threadIdx.y + {y} * threadIdx.z)")),
    }
}

/// A reason as a comment: names of a script cannot end it.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\\'], " ")
}
