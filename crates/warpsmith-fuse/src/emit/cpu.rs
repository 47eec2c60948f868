//! The test program: the computation on the CPU, element by element with the library's references, and a `main` that compares.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Emitter;
use super::routines::{has_namespace, hoisted};
use crate::library::leftover::{defined_macros, definitions_in};
use crate::library::{Function, FunctionId};
use crate::script::{Node, Region, VarId};

impl Emitter<'_> {
    pub(super) fn test_file(&self) -> String {
        let name = &self.heading.name;
        let mut text = format!(
            "// Compares {name} on the GPU with the same on the CPU: nvcc {name}_test.cu && ./a.out [count]\n\n"
        );
        let mut includes: Vec<String> = ["cmath", "cstdio", "cstdlib", "cstring"]
            .iter()
            .map(|name| format!("#include <{name}>"))
            .collect();
        let references = self.references(&mut includes);
        for include in includes {
            let _ = writeln!(text, "{include}");
        }
        let _ = writeln!(text, "\n#include \"{name}.cu\"\n");
        text.push_str(&references);
        self.cpu_version(&mut text);
        self.throughput(&mut text);
        self.main_function(&mut text);
        text
    }

    /// The references, each with the helpers and macros of its file. Helpers may be called as those of another file, so that
    /// they stand in a namespace.
    fn references(&self, includes: &mut Vec<String>) -> String {
        let mut used = BTreeSet::new();
        functions(&self.planner.program.body, &mut used);
        let mut known: Vec<&str> = self.headers().iter().map(|(name, _)| name.as_str()).collect();
        let mut text = String::new();
        for f in used.into_iter().map(FunctionId) {
            let function = self.planner.library.function(f);
            let reference = &function.reference;
            for (name, header) in &reference.source.headers {
                if !known.contains(&name.as_str()) {
                    known.push(name);
                    let _ = writeln!(text, "{}", hoisted(header, includes));
                }
            }
            let inner = hoisted(&reference.beside_kernels, includes);
            match reference_namespace(function) {
                Some(space) => {
                    _ = writeln!(text, "namespace {space} {{\n\n{}\n\n}}\n", inner.trim())
                }
                None => _ = writeln!(text, "{}\n", inner.trim()),
            }
            for name in defined_macros(&reference.beside_kernels) {
                let _ = writeln!(text, "#undef {name}");
            }
        }
        text
    }

    fn cpu_version(&self, text: &mut String) {
        let program = self.planner.program;
        let _ = writeln!(
            text,
            "static void {}_cpu(int count, {})\n{{",
            self.heading.name,
            self.interface().join(", ")
        );
        text.push_str("    for (int e = 0; e < count; e++) {\n");
        let mut locals = vec![];
        written(&program.body, &mut locals);
        let columns = program.inputs.iter().filter(|v| self.is_column(**v));
        for v in columns.clone().chain(&locals) {
            let _ = writeln!(text, "        float c_{}[{}];", self.names.get(*v), self.size(*v));
        }
        for v in columns {
            let (n, size) = (self.names.get(*v), self.size(*v));
            let _ = writeln!(
                text,
                "        for (int k = 0; k < {size}; k++) c_{n}[k] = {n}[(size_t)k * count + e];"
            );
        }
        let inputs: BTreeSet<VarId> =
            program.inputs.iter().copied().filter(|v| !self.is_column(*v)).collect();
        self.cpu_region(text, &program.body, &inputs, "        ", &mut 0);
        for v in &program.outputs {
            let (n, size) = (self.names.get(*v), self.size(*v));
            let _ = match self.is_column(*v) {
                true => writeln!(
                    text,
                    "        for (int k = 0; k < {size}; k++) {n}[(size_t)k * count + e] = c_{n}[k];"
                ),
                false => {
                    writeln!(text, "        memcpy({n} + (size_t)e * {size}, c_{n}, sizeof c_{n});")
                }
            };
        }
        text.push_str("    }\n}\n\n");
    }

    fn cpu_region(
        &self,
        text: &mut String,
        region: &Region,
        inputs: &BTreeSet<VarId>,
        indent: &str,
        loops: &mut u32,
    ) {
        let element = |v: &VarId| match inputs.contains(v) {
            true => format!("{} + (size_t)e * {}", self.names.get(*v), self.size(*v)),
            false => format!("c_{}", self.names.get(*v)),
        };
        for node in &region.nodes {
            match node {
                Node::Call(call) => {
                    let f = self.planner.library.function(call.function);
                    let list: Vec<String> =
                        call.arguments.iter().chain([&call.result]).map(element).collect();
                    let space = reference_namespace(f).map_or(String::new(), |s| s + "::");
                    let _ = writeln!(text, "{indent}{space}{}_cpu({});", f.name, list.join(", "));
                }
                Node::Loop(l) => {
                    *loops += 1;
                    let counter = format!("i{loops}");
                    let copy = |text: &mut String, indent: &str, to: VarId, from: &VarId| {
                        let to = format!("c_{}", self.names.get(to));
                        let _ =
                            writeln!(text, "{indent}memcpy({to}, {}, sizeof {to});", element(from));
                    };
                    for c in &l.carried {
                        copy(text, indent, c.inside, &c.before);
                    }
                    let _ = writeln!(
                        text,
                        "{indent}for (int {counter} = 0; {counter} < {}; {counter}++) {{",
                        l.trips
                    );
                    let inner = format!("{indent}    ");
                    self.cpu_region(text, &l.body, inputs, &inner, loops);
                    for c in &l.carried {
                        copy(text, &inner, c.inside, &c.next);
                    }
                    let _ = writeln!(text, "{indent}}}");
                    for (last, after) in &l.results {
                        copy(text, indent, *after, last);
                    }
                }
            }
        }
    }

    /// Elements a second of the launches alone, arrays being on the device.
    fn throughput(&self, text: &mut String) {
        let (name, program) = (&self.heading.name, self.planner.program);
        text.push_str("// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.\n");
        let _ = writeln!(
            text,
            "static cudaError_t {name}_run(int count, {}, double *per_second)\n{{",
            self.interface().join(", ")
        );
        let _ = writeln!(
            text,
            "    cudaError_t error = {name}_host(count, {});",
            self.interface_names().join(", ")
        );
        text.push_str("    if (error != cudaSuccess) return error;\n");
        let _ = writeln!(text, "    const size_t room = {};", self.room_for_tests());
        for v in program.inputs.iter().chain(&program.outputs) {
            let (n, size) = (self.names.get(*v), self.size(*v));
            let _ = writeln!(
                text,
                "    float *device_{n} = nullptr;\n    cudaMalloc((void **)&device_{n}, room * {size} * sizeof(float));"
            );
            let _ = writeln!(text, "    cudaMemset(device_{n}, 0, room * {size} * sizeof(float));");
        }
        for v in &program.inputs {
            let (n, size) = (self.names.get(*v), self.size(*v));
            let _ = writeln!(
                text,
                "    cudaMemcpy(device_{n}, {n}, (size_t)count * {size} * sizeof(float), cudaMemcpyHostToDevice);"
            );
        }
        let _ = writeln!(
            text,
            "    float *workspace = nullptr;\n    const size_t bytes = {name}_workspace(count);"
        );
        text.push_str("    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }\n");
        text.push_str("    cudaEvent_t begin, end;\n    cudaEventCreate(&begin);\n    cudaEventCreate(&end);\n");
        let arrays: Vec<String> =
            self.interface_names().iter().map(|n| format!("device_{n}")).collect();
        let list = arrays.join(", ");
        text.push_str("    float best = 0.0f;\n    for (int round = 0; round < 10; round++) {\n");
        text.push_str("        cudaEventRecord(begin);\n");
        let _ = writeln!(text, "        {name}_launch(count, {list}, workspace, 0);");
        text.push_str("        cudaEventRecord(end);\n        cudaEventSynchronize(end);\n        float ms = 0.0f;\n");
        text.push_str("        cudaEventElapsedTime(&ms, begin, end);\n        if (round == 0 || ms < best) best = ms;\n    }\n");
        text.push_str("    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;\n");
        for array in &arrays {
            let _ = writeln!(text, "    cudaFree({array});");
        }
        text.push_str("    cudaFree(workspace);\n    cudaEventDestroy(begin);\n    cudaEventDestroy(end);\n    return cudaGetLastError();\n}\n\n");
    }

    fn room_for_tests(&self) -> String {
        format!("(size_t)count + {}", self.padding() + 4)
    }

    /// What is expected, and how far results go apart when the last bits of inputs change.
    fn expectations(&self, text: &mut String) {
        let (name, program) = (&self.heading.name, self.planner.program);
        let size = |v: &VarId| self.size(*v);
        let arguments = |kind: &str| {
            let inputs = program.inputs.iter().map(|v| self.names.get(*v).to_string());
            let results = program.outputs.iter().map(|v| format!("{}{kind}", self.names.get(*v)));
            inputs.chain(results).collect::<Vec<String>>().join(", ")
        };
        let _ = writeln!(text, "    {name}_cpu(count, {});", arguments("_expected"));
        text.push_str("    for (unsigned round = 0; round < 4; round++) {\n");
        for v in &program.inputs {
            let n = self.names.get(*v);
            let _ = writeln!(text, "        nudge({n}, (size_t)count * {}, round);", size(v));
        }
        let _ = writeln!(text, "        {name}_cpu(count, {});", arguments("_nudged"));
        for v in &program.outputs {
            let n = self.names.get(*v);
            let _ = writeln!(
                text,
                "        widen({n}_spread, {n}_nudged, {n}_expected, (size_t)count * {});",
                size(v)
            );
        }
        text.push_str("    }\n");
    }

    /// Arrays of the host: inputs with numbers in them, and for each output what the GPU gives and what is expected.
    fn allocations(&self, text: &mut String) {
        let program = self.planner.program;
        let size = |v: &VarId| self.size(*v);
        for v in &program.inputs {
            let n = self.names.get(*v);
            let _ = writeln!(
                text,
                "    float *{n} = (float *)malloc((size_t)count * {} * sizeof(float));\n    fill({n}, (size_t)count * {});",
                size(v),
                size(v)
            );
        }
        for v in &program.outputs {
            let n = self.names.get(*v);
            for kind in ["", "_expected", "_nudged"] {
                let _ = writeln!(
                    text,
                    "    float *{n}{kind} = (float *)malloc((size_t)count * {} * sizeof(float));",
                    size(v)
                );
            }
            let _ = writeln!(
                text,
                "    float *{n}_spread = (float *)calloc((size_t)count * {}, sizeof(float));",
                size(v)
            );
        }
    }

    fn main_function(&self, text: &mut String) {
        let (name, program) = (&self.heading.name, self.planner.program);
        text.push_str(include_str!("compare.h"));
        text.push('\n');
        let _ = writeln!(
            text,
            "int main(int argc, char **argv)\n{{\n    const int count = argc > 1 ? atoi(argv[1]) : {};",
            self.heading.elements.min(1 << 30)
        );
        text.push_str("    if (count <= 0) return 0;\n");
        let size = |v: &VarId| self.size(*v);
        self.allocations(text);
        text.push_str("    double per_second = 0.0;\n");
        let _ = writeln!(
            text,
            "    const cudaError_t error = {name}_run(count, {}, &per_second);",
            self.interface_names().join(", ")
        );
        text.push_str("    if (error != cudaSuccess) {\n        printf(\"%s\\n\", cudaGetErrorString(error));\n        return 2;\n    }\n");
        self.expectations(text);
        text.push_str("    int differ = 0;\n");
        for v in &program.outputs {
            let n = self.names.get(*v);
            // Floats of an element stand beside each other, or `count` apart.
            let layout = if self.is_column(*v) { "1, count" } else { &format!("{}, 1", size(v)) };
            let _ = writeln!(
                text,
                "    differ += compare(\"{n}\", {n}, {n}_expected, {n}_spread, (size_t)count, {}, {layout});",
                size(v)
            );
        }
        let moved: u32 = program.inputs.iter().chain(&program.outputs).map(size).sum::<u32>() * 4;
        let _ = writeln!(
            text,
            "    printf(\"{name}: %.1f million elements a second, %.1f GB/s of inputs and outputs\\n\", per_second * 1e-6, per_second * {moved} * 1e-9);"
        );
        text.push_str("    printf(differ == 0 ? \"equal\\n\" : \"different\\n\");\n");
        for v in &program.inputs {
            let _ = writeln!(text, "    free({});", self.names.get(*v));
        }
        for v in &program.outputs {
            let n = self.names.get(*v);
            let _ = writeln!(
                text,
                "    free({n});\n    free({n}_expected);\n    free({n}_nudged);\n    free({n}_spread);"
            );
        }
        text.push_str("    return differ == 0 ? 0 : 1;\n}\n");
    }
}

/// Where a reference stands. One in the file of the kernels may use what the device uses, too.
fn reference_namespace(function: &Function) -> Option<String> {
    if function.reference.beside_implementations && has_namespace(function) {
        return Some(function.name.clone());
    }
    let helpers = definitions_in(&function.reference.beside_kernels) > 1;
    helpers.then(|| format!("{}_reference", function.name))
}

fn functions(region: &Region, all: &mut BTreeSet<usize>) {
    for node in &region.nodes {
        match node {
            Node::Call(call) => _ = all.insert(call.function.0),
            Node::Loop(l) => functions(&l.body, all),
        }
    }
}

/// Variables that get values in a region.
fn written(region: &Region, all: &mut Vec<VarId>) {
    for node in &region.nodes {
        match node {
            Node::Call(call) => all.push(call.result),
            Node::Loop(l) => {
                all.extend(l.carried.iter().map(|c| c.inside));
                written(&l.body, all);
                all.extend(l.results.iter().map(|(_, after)| *after));
            }
        }
    }
}
