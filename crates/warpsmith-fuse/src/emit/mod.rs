//! The text of fused kernels: `NAME.cu` with kernels and launchers, `NAME.h` with their declarations, `NAME_test.cu` with the
//! same on the CPU and a `main` that compares both.

mod cpu;
mod dot;
mod host;
mod kernel;
mod names;
mod routines;
mod svg;

use std::fmt::Write;

use crate::library::leftover::defined_macros;
use crate::plan::{Action, Covered, KernelPlan, Launch, Mover, Planner, kernels};
use crate::script::{Layout, VarId};
pub use dot::dot;
pub use names::Names;
pub use svg::svg;

/// What the files are to be called, and what is said in them.
#[derive(Clone, Debug)]
pub struct Heading {
    /// What all names begin with.
    pub name: String,
    /// `sm_90`
    pub arch: String,
    /// Elements that `main` takes when it is not told.
    pub elements: u64,
}

/// Everything that an emitted file is made from.
pub(crate) struct Emitter<'a> {
    pub planner: &'a Planner<'a>,
    pub heading: &'a Heading,
    pub cover: &'a Covered,
    pub names: Names,
    pub kernels: Vec<std::rc::Rc<KernelPlan>>,
    /// Kernels are there to time their only step; bytes of shared memory that they have beyond their own.
    pub timing: Option<u32>,
}

/// The files of a cover: name and text.
pub fn files(planner: &Planner<'_>, heading: &Heading, cover: &Covered) -> Vec<(String, String)> {
    emitted(planner, heading, cover, None)
}

/// The same for a kernel that is there to time its only step, or nothing if it has none: shared memory has contents, and what the
/// step leaves there counts as used. A block has `additional` bytes of shared memory more than the kernel itself needs.
pub fn timing_files(
    planner: &Planner<'_>,
    heading: &Heading,
    kernel: KernelPlan,
    additional: u32,
) -> Vec<(String, String)> {
    let launches = vec![Launch::Kernel(std::rc::Rc::new(kernel))];
    emitted(planner, heading, &Covered { launches, seconds: 0.0 }, Some(additional))
}

fn emitted(
    planner: &Planner<'_>,
    heading: &Heading,
    cover: &Covered,
    timing: Option<u32>,
) -> Vec<(String, String)> {
    let name = &heading.name;
    let kernels = kernels(&cover.launches);
    let reserved = reserved(planner, name, kernels.len());
    let names = Names::new(planner.program, &reserved);
    let emitter = Emitter { planner, heading, cover, names, kernels, timing };
    vec![
        (format!("{name}.cu"), emitter.kernel_file()),
        (format!("{name}.h"), emitter.header()),
        (format!("{name}_test.cu"), emitter.test_file()),
    ]
}

/// Names that the emitted files use: of the computation and its kernels, of types, and of what comes from the library.
fn reserved(planner: &Planner<'_>, name: &str, kernels: usize) -> Vec<String> {
    let own = ["launch", "workspace", "host", "cpu", "run"].map(|w| format!("{name}_{w}"));
    let mut all = vec![name.to_string()];
    all.extend(own);
    all.extend((1..=kernels).flat_map(|k| [format!("{name}_{k}"), format!("{name}_{k}_launch")]));
    all.extend(planner.library.type_names().iter().map(|t| t.to_string()));
    for f in planner.library.functions() {
        // Namespaces are called after functions.
        all.extend([f.name.clone(), format!("{}_reference", f.name), format!("{}_cpu", f.name)]);
        for text in [&f.leftover, &f.reference.source] {
            let whole = text.whole();
            all.extend(defined_macros(&whole).iter().map(|m| m.to_string()));
        }
    }
    all
}

impl Emitter<'_> {
    fn kernel_file(&self) -> String {
        let name = &self.heading.name;
        let mut text = String::new();
        let plural = if self.kernels.len() == 1 { "kernel" } else { "kernels" };
        let calls: usize = self.kernels.iter().map(|k| k.calls.len()).sum();
        let _ = writeln!(
            text,
            "// {name}: {calls} calls of elementary functions in {} {plural}.",
            self.kernels.len()
        );
        let _ = writeln!(text, "// Made for {}.", self.heading.arch);
        let routines = self.routines();
        text.push_str("\n#include <cuda_runtime.h>\n");
        if self.copies_asynchronously() {
            text.push_str("#include <cuda_pipeline.h>\n");
        }
        for include in &routines.includes {
            let _ = writeln!(text, "{include}");
        }
        let _ = writeln!(text, "\n#include \"{name}.h\"\n");
        text.push_str(&routines.types);
        self.copies(&mut text);
        text.push_str(&routines.text);
        for (k, kernel) in self.kernels.iter().enumerate() {
            self.kernel(&mut text, k, kernel);
        }
        self.launchers(&mut text);
        text
    }

    fn movers(&self) -> impl Iterator<Item = (bool, Mover)> {
        self.kernels.iter().flat_map(|k| &k.steps).filter_map(|s| match s.action {
            Action::Load { by, .. } => Some((true, by)),
            Action::Save { by, .. } => Some((false, by)),
            Action::Call(_) => None,
        })
    }

    fn copies_asynchronously(&self) -> bool {
        self.movers().any(|m| matches!(m, (true, Mover::Block | Mover::Columns)))
    }

    /// Our own copies, those that a kernel uses.
    fn copies(&self, text: &mut String) {
        const COPIES: [(bool, Mover, &str); 6] = [
            (true, Mover::Block, include_str!("load_block.cuh")),
            (true, Mover::Columns, include_str!("load_columns.cuh")),
            (true, Mover::Own, include_str!("load_own.cuh")),
            (false, Mover::Block, include_str!("save_block.cuh")),
            (false, Mover::Columns, include_str!("save_columns.cuh")),
            (false, Mover::Own, include_str!("save_own.cuh")),
        ];
        for (load, mover, copy) in COPIES {
            if self.movers().any(|m| m == (load, mover)) {
                text.push_str(copy);
                text.push('\n');
            }
        }
    }

    fn size(&self, id: VarId) -> u32 {
        self.planner.library.elements(self.planner.program.variables[id.0].ty)
    }

    /// The inputs and outputs that are structures of arrays, if there are any.
    fn columns(&self) -> Option<String> {
        let program = self.planner.program;
        let all = program.inputs.iter().chain(&program.outputs);
        let names: Vec<&str> =
            all.filter(|v| self.is_column(**v)).map(|v| self.names.get(*v)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn is_column(&self, id: VarId) -> bool {
        self.planner.program.variables[id.0].layout == Layout::Soa
    }

    /// Elements that arrays must have room for beyond their own, since library routines move whole blocks.
    fn padding(&self) -> u32 {
        let whole = self.kernels.iter().filter(|k| k.wants_whole_blocks());
        whole.map(|k| k.elements).max().unwrap_or(0)
    }

    /// `const float *A, …, float *F`
    fn interface(&self) -> Vec<String> {
        let program = self.planner.program;
        let inputs = program.inputs.iter().map(|v| format!("const float *{}", self.names.get(*v)));
        let outputs = program.outputs.iter().map(|v| format!("float *{}", self.names.get(*v)));
        inputs.chain(outputs).collect()
    }

    /// `A, …, F`
    fn interface_names(&self) -> Vec<String> {
        let program = self.planner.program;
        program
            .inputs
            .iter()
            .chain(&program.outputs)
            .map(|v| self.names.get(*v).to_string())
            .collect()
    }

    /// The head of the function that starts all kernels.
    fn launch_declaration(&self) -> String {
        let last = ["float *workspace".to_string(), "cudaStream_t stream".to_string()];
        let parameters = [&["int count".to_string()][..], &self.interface(), &last].concat();
        declaration(&format!("cudaError_t {}_launch", self.heading.name), &parameters)
    }

    /// The head of the function that takes arrays of the host.
    fn host_declaration(&self) -> String {
        let parameters = [&["int count".to_string()][..], &self.interface()].concat();
        declaration(&format!("cudaError_t {}_host", self.heading.name), &parameters)
    }

    fn header(&self) -> String {
        let name = &self.heading.name;
        let padding = self.padding();
        let mut text = format!(
            "// {name} on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.\n"
        );
        if let Some(columns) = self.columns() {
            let _ = writeln!(
                text,
                "// Structures of arrays, in which float k of element e stands at count * k + e: {columns}."
            );
        }
        text.push_str("#pragma once\n\n#include <cuda_runtime.h>\n\n");
        if padding > 0 {
            let _ = writeln!(
                text,
                "// Arrays on the device must have room for {padding} elements more than `count`, zeros for a start."
            );
        }
        let _ = writeln!(
            text,
            "// Bytes of device memory that {name}_launch needs for what goes from kernel to kernel."
        );
        let _ = writeln!(text, "size_t {name}_workspace(int count);\n");
        text.push_str("// Starts all kernels; arrays and workspace are on the device.\n");
        let _ = writeln!(text, "{};\n", self.launch_declaration());
        text.push_str("// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.\n");
        let _ = writeln!(text, "{};", self.host_declaration());
        text.push_str("\n// Each kernel for itself.\n");
        for k in 0..self.kernels.len() {
            let _ = writeln!(text, "{};", self.launch_head(k));
        }
        text
    }
}

/// `head(a, b, …)`, in as many lines as it takes.
pub(crate) fn declaration(head: &str, parameters: &[String]) -> String {
    let whole = format!("{head}({})", parameters.join(", "));
    if whole.len() <= WIDTH {
        return whole;
    }
    let (mut text, mut line) = (format!("{head}(\n"), "   ".to_string());
    for (k, parameter) in parameters.iter().enumerate() {
        let end = if k + 1 == parameters.len() { ")" } else { "," };
        if line.len() + parameter.len() + 2 > WIDTH {
            text.push_str(&format!("{line}\n"));
            line = "   ".to_string();
        }
        line.push_str(&format!(" {parameter}{end}"));
    }
    text + &line
}

/// Columns of a line of emitted code.
const WIDTH: usize = 110;

/// Launches of a list and all below it in the order of their text, for numbers of kernels.
pub(crate) fn count_kernels(launches: &[Launch]) -> usize {
    kernels(launches).len()
}
