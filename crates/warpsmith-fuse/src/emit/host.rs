//! Host code: a launcher for each kernel, one for the whole computation, and one that takes arrays of the host.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Emitter, count_kernels, declaration};
use crate::plan::{KernelPlan, Launch, PlannedVariable, UNASKED_SHARED};
use crate::script::{Loop, VarId};

/// Where the text stands while launches are written.
struct Writing {
    text: String,
    indent: String,
    /// Kernels written so far.
    kernel: usize,
    loops: usize,
    /// Pointers to variables, as C.
    storage: HashMap<VarId, String>,
}

impl Emitter<'_> {
    /// `cudaError_t NAME_1_launch(int count, const float *A, float *F, cudaStream_t stream)`
    pub(super) fn launch_head(&self, number: usize) -> String {
        let kernel = &self.kernels[number];
        let mut list = vec!["int count".to_string()];
        list.extend(kernel.inputs().map(|v| format!("const float *{}", self.names.get(v.id))));
        list.extend(kernel.outputs().map(|v| format!("float *{}", self.names.get(v.id))));
        list.push("cudaStream_t stream".into());
        declaration(&format!("cudaError_t {}_{}_launch", self.heading.name, number + 1), &list)
    }

    pub(super) fn launchers(&self, text: &mut String) {
        for (k, kernel) in self.kernels.iter().enumerate() {
            self.kernel_launcher(text, k, kernel);
        }
        self.workspace_function(text);
        self.launch_function(text);
        self.host_function(text);
    }

    fn kernel_launcher(&self, text: &mut String, number: usize, kernel: &KernelPlan) {
        let _ = writeln!(text, "{}\n{{", self.launch_head(number));
        text.push_str("    if (count <= 0) return cudaSuccess;\n");
        let each = kernel.elements * kernel.batch;
        let blocks =
            if each == 1 { "count".to_string() } else { format!("(count - 1) / {each} + 1") };
        let [x, y, z] = kernel.shape;
        let _ = writeln!(text, "    const dim3 block({x}, {y}, {z});");
        let variables = kernel.variables.iter().enumerate();
        let read = |(v, variable): (usize, &PlannedVariable)| {
            let name = self.names.get(variable.id);
            match kernel.is_loaded_by_routine(v) {
                true => format!("const_cast<float *>({name})"),
                false => name.to_string(),
            }
        };
        let inputs = variables.filter(|(_, variable)| variable.input).map(read);
        let outputs = kernel.outputs().map(|v| self.names.get(v.id).to_string());
        let list: Vec<String> = inputs.chain(outputs).collect();
        let name = format!("{}_{}", self.heading.name, number + 1);
        let shared = kernel.dynamic_shared() + self.timing.unwrap_or(0);
        if shared > UNASKED_SHARED {
            let attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize";
            let _ = writeln!(
                text,
                "    if (cudaFuncSetAttribute({name}, {attribute}, {shared}) != cudaSuccess) return cudaGetLastError();"
            );
        }
        let _ = writeln!(
            text,
            "    {name}<<<{blocks}, block, {shared}, stream>>>(count, {});",
            list.join(", ")
        );
        text.push_str("    return cudaGetLastError();\n}\n\n");
    }

    /// Variables that live in the workspace: results of kernels that are no outputs, and what a loop carries from iteration to
    /// iteration. `redirected`: variables that a loop around them puts elsewhere.
    fn buffers(&self, launches: &[Launch], redirected: &[VarId], all: &mut Vec<(String, u32)>) {
        let elsewhere =
            |v: &VarId| self.planner.program.outputs.contains(v) || redirected.contains(v);
        for launch in launches {
            match launch {
                Launch::Kernel(kernel) => {
                    for v in kernel.outputs().filter(|v| !elsewhere(&v.id)) {
                        let name = format!("d_{}", self.names.get(v.id));
                        if !all.iter().any(|(n, _)| *n == name) {
                            all.push((name, self.size(v.id)));
                        }
                    }
                }
                Launch::Loop { source, body } => {
                    let lands = |v: VarId| after(source, v).is_some_and(|v| elsewhere(&v));
                    for c in &source.carried {
                        let (name, size) = (self.names.get(c.inside), self.size(c.inside));
                        if lands(c.next) {
                            all.push((format!("d_{name}"), size));
                        } else {
                            all.push((format!("d_{name}_even"), size));
                            all.push((format!("d_{name}_odd"), size));
                        }
                    }
                    let carried = source.carried.iter().map(|c| c.next);
                    let landing = source.results.iter().map(|r| r.0).filter(|v| lands(*v));
                    let redirected: Vec<VarId> = carried.chain(landing).collect();
                    self.buffers(body, &redirected, all);
                }
            }
        }
    }

    fn all_buffers(&self) -> Vec<(String, u32)> {
        let mut all = vec![];
        self.buffers(&self.cover.launches, &[], &mut all);
        all
    }

    /// Elements of an array in the workspace: whole blocks fit, and the next array begins at 16 bytes.
    fn room(&self) -> String {
        match self.padding() {
            0 => "((size_t)count + 3) / 4 * 4".into(),
            padding => format!("((size_t)count + {}) / 4 * 4", padding + 3),
        }
    }

    fn workspace_function(&self, text: &mut String) {
        let floats: u32 = self.all_buffers().iter().map(|(_, size)| size).sum();
        let _ = writeln!(text, "size_t {}_workspace(int count)\n{{", self.heading.name);
        match floats {
            0 => text.push_str("    (void)count;\n    return 0;\n}\n\n"),
            _ => {
                text.push_str("    if (count <= 0) return 0;\n");
                let _ =
                    writeln!(text, "    return {} * {floats} * sizeof(float);\n}}\n", self.room());
            }
        }
    }

    fn launch_function(&self, text: &mut String) {
        let _ = writeln!(text, "{}\n{{", self.launch_declaration());
        text.push_str("    if (count <= 0) return cudaSuccess;\n");
        let buffers = self.all_buffers();
        if buffers.is_empty() {
            text.push_str("    (void)workspace;\n");
        } else if buffers.len() > 1 {
            let _ = writeln!(text, "    const size_t room = {};", self.room());
        }
        let mut before = 0;
        for (buffer, size) in &buffers {
            let start = if before == 0 { String::new() } else { format!(" + room * {before}") };
            let _ = writeln!(text, "    float *{buffer} = workspace{start};");
            before += size;
        }
        let program = self.planner.program;
        let mut storage = HashMap::new();
        for v in program.inputs.iter().chain(&program.outputs) {
            storage.insert(*v, self.names.get(*v).to_string());
        }
        let mut writing =
            Writing { text: String::new(), indent: "    ".into(), kernel: 0, loops: 0, storage };
        writing.text.push_str("    cudaError_t error = cudaSuccess;\n");
        self.launches(&self.cover.launches, &mut writing, &HashMap::new());
        text.push_str(&writing.text);
        text.push_str("    return cudaSuccess;\n}\n\n");
    }

    /// `targets`: variables that kernels are to write elsewhere than to their own buffers.
    fn launches(&self, launches: &[Launch], w: &mut Writing, targets: &HashMap<VarId, String>) {
        for launch in launches {
            match launch {
                Launch::Kernel(kernel) => self.launch_kernel(kernel, w, targets),
                Launch::Loop { source, body } => self.launch_loop(source, body, w, targets),
            }
        }
    }

    fn launch_kernel(
        &self,
        kernel: &KernelPlan,
        w: &mut Writing,
        targets: &HashMap<VarId, String>,
    ) {
        w.kernel += 1;
        for v in kernel.outputs() {
            let own = || match self.planner.program.outputs.contains(&v.id) {
                true => self.names.get(v.id).to_string(),
                false => format!("d_{}", self.names.get(v.id)),
            };
            let place = targets.get(&v.id).cloned().unwrap_or_else(own);
            w.storage.insert(v.id, place);
        }
        let list: Vec<String> = kernel
            .inputs()
            .chain(kernel.outputs())
            .map(|v| w.storage.get(&v.id).cloned().unwrap_or_default())
            .collect();
        let name = format!("{}_{}_launch", self.heading.name, w.kernel);
        let _ = writeln!(
            w.text,
            "{0}error = {name}(count, {1}, stream);\n{0}if (error != cudaSuccess) return error;",
            w.indent,
            list.join(", ")
        );
    }

    /// A loop on the host. What goes from iteration to iteration lies in two buffers in turn; where the last value is wanted
    /// elsewhere, that is one of the two, and the last iteration writes there.
    fn launch_loop(
        &self,
        source: &Loop,
        body: &[Launch],
        w: &mut Writing,
        outer: &HashMap<VarId, String>,
    ) {
        w.loops += 1;
        let counter = format!("i{}", w.loops);
        let place = |v: VarId| match self.planner.program.outputs.contains(&v) {
            true => Some(self.names.get(v).to_string()),
            false => outer.get(&v).cloned(),
        };
        let lands = |v: VarId| after(source, v).and_then(place);
        let mut targets = HashMap::new();
        for (inner, _) in &source.results {
            targets.extend(lands(*inner).map(|place| (*inner, place)));
        }
        for c in &source.carried {
            let name = self.names.get(c.inside);
            let before = w.storage.get(&c.before).cloned().unwrap_or_default();
            let _ = writeln!(w.text, "{}const float *p_{name} = {before};", w.indent);
            w.storage.insert(c.inside, format!("p_{name}"));
            targets.insert(c.next, format!("n_{name}"));
        }
        let trips = source.trips;
        let _ = writeln!(
            w.text,
            "{}for (int {counter} = 0; {counter} < {trips}; {counter}++) {{",
            w.indent
        );
        w.indent.push_str("    ");
        for c in &source.carried {
            let name = self.names.get(c.inside);
            let buffers = match lands(c.next) {
                Some(place) if trips % 2 == 1 => format!("{place} : d_{name}"),
                Some(place) => format!("d_{name} : {place}"),
                None => format!("d_{name}_even : d_{name}_odd"),
            };
            let _ =
                writeln!(w.text, "{}float *n_{name} = {counter} % 2 == 0 ? {buffers};", w.indent);
        }
        self.launches(body, w, &targets);
        for c in &source.carried {
            let name = self.names.get(c.inside);
            let _ = writeln!(w.text, "{}p_{name} = n_{name};", w.indent);
        }
        w.indent.truncate(w.indent.len() - 4);
        let _ = writeln!(w.text, "{}}}", w.indent);
        for (inner, after) in &source.results {
            let carried = source.carried.iter().find(|c| c.next == *inner);
            let last = match carried {
                Some(c) => format!("p_{}", self.names.get(c.inside)),
                None => w.storage.get(inner).cloned().unwrap_or_default(),
            };
            w.storage.insert(*after, lands(*inner).unwrap_or(last));
        }
    }

    fn host_function(&self, text: &mut String) {
        let (name, program) = (&self.heading.name, self.planner.program);
        let _ = writeln!(text, "{}\n{{", self.host_declaration());
        text.push_str("    if (count <= 0) return cudaSuccess;\n");
        let _ = writeln!(text, "    const size_t room = {};", self.room());
        let _ = writeln!(text, "    const size_t bytes = {name}_workspace(count);");
        let all: Vec<VarId> = program.inputs.iter().chain(&program.outputs).copied().collect();
        for v in &all {
            let _ = writeln!(text, "    float *device_{} = nullptr;", self.names.get(*v));
        }
        text.push_str("    float *workspace = nullptr;\n    cudaError_t error = cudaSuccess;\n");
        let mut then = |call: String| {
            let _ = writeln!(text, "    if (error == cudaSuccess) error = {call};");
        };
        for v in &all {
            then(format!(
                "cudaMalloc((void **)&device_{}, room * {} * sizeof(float))",
                self.names.get(*v),
                self.size(*v)
            ));
        }
        then("bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes)".into());
        if self.padding() > 0 {
            for v in &all {
                then(format!(
                    "cudaMemset(device_{}, 0, room * {} * sizeof(float))",
                    self.names.get(*v),
                    self.size(*v)
                ));
            }
            then("bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes)".into());
        }
        for v in &program.inputs {
            let (n, size) = (self.names.get(*v), self.size(*v));
            then(format!(
                "cudaMemcpy(device_{n}, {n}, (size_t)count * {size} * sizeof(float), cudaMemcpyHostToDevice)"
            ));
        }
        let arrays: Vec<String> =
            self.interface_names().iter().map(|n| format!("device_{n}")).collect();
        then(format!("{name}_launch(count, {}, workspace, 0)", arrays.join(", ")));
        for v in &program.outputs {
            let (n, size) = (self.names.get(*v), self.size(*v));
            then(format!(
                "cudaMemcpy({n}, device_{n}, (size_t)count * {size} * sizeof(float), cudaMemcpyDeviceToHost)"
            ));
        }
        for array in &arrays {
            let _ = writeln!(text, "    cudaFree({array});");
        }
        text.push_str("    cudaFree(workspace);\n    return error;\n}\n");
        debug_assert_eq!(count_kernels(&self.cover.launches), self.kernels.len());
    }
}

/// The variable that holds, after a loop, the last value of one inside.
fn after(source: &Loop, inside: VarId) -> Option<VarId> {
    source.results.iter().find(|(inner, _)| *inner == inside).map(|(_, after)| *after)
}
