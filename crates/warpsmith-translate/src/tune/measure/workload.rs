//! A C function's schedules as the workload of a search.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use warpsmith_front::cloops::CInput;
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{
    BufferSpec, Candidate, Compile, Contents, Expected, Invalid, Problem, Reason, Tolerance,
};
use warpsmith_ir::interp::{Arg, Bound, Memory};
use warpsmith_ir::{Diagnostic, Function, Scalar, SourceMap, Type};
use warpsmith_opt::{Kernel, Schedule, lower, schedule};
use warpsmith_tune::space::Configuration;

use super::candidates::Candidates;
use super::device_text::device_text;
use super::plan::recorded;
use super::terms::most_terms;
use crate::data::{self, NamedSpec, scalar_from_bytes};
use crate::elements::element;
use crate::progress::Phase;
use crate::search::{Compared, Device, Draft, NoDevice, Task, Workload, expected};
use crate::status::Failure;
use crate::tune::arch::Arch;
use crate::tune::recompute::{self, Sample};
use crate::tune::request::TuneRequest;
use crate::tune::sizes::Point;
use crate::tune::verified_files::Translation;
use crate::tune::verify::compare::of_a_sum;
use crate::tune::verify::host_c::{ArgBytes, HostReference};
use crate::tune::verify::inputs::{self, NoData, Sources};
use crate::tune::verify::points;
use crate::tune::verify::witness::{CONSTANT_MEMORY, Witness};

/// Most bytes of workspace that every candidate finds, and how many times the largest array it has up to there: the
/// parts of a split sum are as large as its result, each.
const WORKSPACE: u64 = 256 << 20;
const PARTS: u64 = 32;

/// Time for the C function at one size.
const ON_CPU: Duration = Duration::from_secs(10);

/// What a workload is made of.
#[derive(Clone)]
pub struct Source {
    /// What the user asked for: data, limits, compiler options.
    pub request: TuneRequest,
    /// The C function.
    pub input: CInput,
    /// The architecture that texts are compiled for.
    pub arch: Arch,
    /// What arguments hold: `--arg` and the directives of the file.
    pub specs: Vec<NamedSpec>,
    /// Sizes at which every candidate is timed; each is a task.
    pub sizes: Vec<Point>,
    /// The schedules to choose from.
    pub candidates: Candidates,
    /// For tests: changes the emitted text before it is compiled, as a bug that all schedules share would.
    pub changed: Option<fn(&str) -> String>,
}

/// The nests of a C function.
pub struct Nests {
    source: Arc<Source>,
    subjects: Arc<Vec<Subject>>,
    tasks: Vec<Task>,
}

/// What a launcher is called with at one size.
struct Subject {
    /// Large arrays are empty: launchers do not look into them.
    args: Vec<ArgBytes>,
    /// Type of the returned value.
    result: Option<Scalar>,
    /// Bytes that are there for the workspace.
    workspace: u64,
}

/// An emitted file.
struct Emitted {
    key: String,
    request: Compile,
    witness: Witness,
    subjects: Arc<Vec<Subject>>,
}

impl Nests {
    /// Makes the data of every size; the direct translation gives the right outputs.
    ///
    /// # Errors
    /// Data that does not fit, or a direct translation that cannot be made.
    pub fn new(source: Source) -> Result<Nests, Failure> {
        let source = Arc::new(source);
        let (mut subjects, mut bare) = (vec![], vec![]);
        for point in &source.sizes {
            let (subject, task) = source.at(point)?;
            subjects.push(subject);
            bare.push(task);
        }
        let mut nests = Nests { source, subjects: Arc::new(subjects), tasks: vec![] };
        let kernel = nests.source.kernel();
        let direct = schedule::derive(&kernel, &SourceMap::new());
        let direct = direct.map_err(Failure::from)?;
        let reference = nests.emitted("direct".into(), &direct);
        let reference: Arc<dyn Draft> =
            reference.map_err(|invalid| Failure::input("W322", invalid.to_string()))?;
        for (at, task) in bare.iter_mut().enumerate() {
            task.reference = Some(reference.clone());
            // How often a loop runs that waits for values of the device, rounding errors may decide.
            let mut device = NoDevice::default();
            let binary = Binary { cubin: vec![], kernels: vec![], log: String::new() };
            let known = reference.candidate(&binary, at, &mut device);
            if known.is_err() && device.was_asked {
                task.nearby = nests.source.nearby(&task.blobs);
            }
        }
        nests.tasks = bare;
        Ok(nests)
    }

    /// Bytes of all arrays at the first size.
    pub fn bytes(&self) -> u64 {
        let Some(task) = self.tasks.first() else { return 0 };
        let own = task.problem.buffers.iter().filter(|b| b.name != "workspace");
        own.map(|b| b.bytes).sum()
    }

    /// Lets the C function, compiled, say what is right, where there is a compiler: the emulator runs large launches in part
    /// only, and parts of two schedules may have no element in common.
    pub fn expect_what_c_gives(&mut self) {
        let source = self.source.clone();
        let mut options: Vec<String> =
            source.request.source.defines.iter().map(|d| format!("-D{d}")).collect();
        options.extend(
            source.request.source.include_dirs.iter().map(|i| format!("-I{}", i.display())),
        );
        let host = HostReference::build(&source.request.source.file, &source.input, &options);
        let Ok(host) = host else { return };
        let _phase = Phase::new("computing the right outputs on the CPU");
        for (subject, task) in self.subjects.iter().zip(&mut self.tasks) {
            let mut blobs = task.blobs.iter();
            let args = subject.args.iter().map(|arg| match arg {
                ArgBytes::Value(bytes) => ArgBytes::Value(bytes.clone()),
                ArgBytes::Array(_) => ArgBytes::Array(blobs.next().cloned().unwrap_or_default()),
            });
            let mut args: Vec<ArgBytes> = args.collect();
            // What depends on rounding errors the emulated runs have to tell.
            if !task.nearby.is_empty() {
                continue;
            }
            let Ok(result) = host.call(&mut args, ON_CPU) else { continue };
            let arrays = args.into_iter().filter_map(|a| match a {
                ArgBytes::Array(bytes) => Some(bytes),
                ArgBytes::Value(_) => None,
            });
            let right: Vec<Vec<u8>> = arrays.chain([result]).collect();
            for compared in &task.outputs {
                let Some(bytes) = right.get(compared.buffer) else { continue };
                let output = expected(compared, bytes);
                task.problem.expected.push(Expected { output, blob: task.blobs.len() });
                task.blobs.push(bytes.clone());
            }
        }
    }

    /// Elements of the outputs at a size, computed by the interpreter.
    ///
    /// # Errors
    /// A sentence: why that is not possible.
    pub fn recompute(&self, size: usize) -> Result<Vec<Sample>, String> {
        let (Some(subject), Some(task)) = (self.subjects.get(size), self.tasks.get(size)) else {
            return Err("there is no such size".into());
        };
        let bytes: u64 = task.blobs.iter().map(|b| b.len() as u64).sum();
        if bytes.saturating_mul(2) > self.source.request.limits.max_memory {
            return Err("a second copy of the arrays does not fit --max-memory".into());
        }
        let function = self.source.function();
        let mut arrays = 0..;
        let args = subject.args.iter().zip(&function.params).map(|(arg, param)| match arg {
            ArgBytes::Value(bytes) => Some(match function.var(*param).ty.scalar() {
                Some(ty) => Arg::Value(scalar_from_bytes(ty, bytes)),
                None => Arg::Bytes(bytes.clone()),
            }),
            ArgBytes::Array(_) => arrays.next().map(|buffer| Arg::Pointer { buffer, offset: 0 }),
        });
        let args: Option<Vec<Arg>> = args.collect();
        let args = args.ok_or("a parameter is no number")?;
        let mut memory = Memory::new(task.blobs.clone());
        let (module, id) = (&self.source.input.module, self.source.input.function);
        recompute::samples(module, id, &args, &mut memory, self.source.request.data.seed)
    }

    /// The user's own kernel with the same launcher.
    ///
    /// # Errors
    /// The front end's messages about the file; W467 where it has no such launcher.
    pub fn rival(&self, path: &Path, sources: &mut SourceMap) -> Result<Arc<dyn Draft>, Failure> {
        let text = crate::files::read(path)?;
        let name = path.display().to_string();
        let text = String::from_utf8(text)
            .map_err(|_| Failure::input("W301", format!("`{name}` is not a text file")))?;
        let launcher = format!("{}_launch", warpsmith_emit::identifier(&self.source.input.name));
        // Its own header declares nothing else.
        let file = path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let header = (format!("{}.h", self.source.input.name), String::new());
        let files = [(file.clone(), text), header];
        let witness = Witness::parse(&file, &files[0].1, &launcher, &files[1..], sources);
        let witness = witness.map_err(|errors| match errors.iter().any(|d| matches!(d.code, "W050" | "W320")) {
            true => Failure::from(
                Diagnostic::error("W467", format!("`{name}` has no function `{launcher}`"))
                    .help("it takes the parameters of the C function, arrays as device pointers, and a stream"),
            ),
            false => Failure::from(errors),
        })?;
        let key = "against".to_string();
        let rival = self.drafted(key, &files, witness);
        rival.map(|d| d as Arc<dyn Draft>).map_err(|i| Failure::input("W467", i.to_string()))
    }

    fn emitted(&self, key: String, schedule: &Schedule) -> Result<Arc<Emitted>, Invalid> {
        let source = &self.source;
        let mut sources = SourceMap::new();
        let refused = |errors: Vec<Diagnostic>| {
            let why = errors.first().map_or_else(String::new, |d| d.message.clone());
            Invalid::new(Reason::Constraints, why)
        };
        let kernel = schedule::replay(&source.kernel(), schedule, &sources).map_err(refused)?;
        let program = lower::lower(&kernel, &sources).map_err(refused)?;
        if program.precision.is_some() {
            let why = "another precision changes the data, which is measured as it is";
            return Err(Invalid::new(Reason::Constraints, why));
        }
        let work = Translation {
            request: &source.request,
            input: &source.input,
            written: &source.input,
            program: &program,
            arch: source.arch,
            specs: &source.specs,
            sizes: &source.sizes,
            interruptible: false,
        };
        let ours = |why: String| Invalid::new(Reason::Compile, why);
        let files = work.print(&[], &[], &[], &schedule.print());
        let mut files = files.map_err(|f| ours(f.render(&sources, false)))?;
        if let Some(changed) = source.changed {
            files[0].1 = changed(&files[0].1);
        }
        let witness = work.witness(&files, &mut sources);
        let witness = witness.map_err(|f| ours(f.render(&sources, false)))?;
        self.drafted(key, &files, witness)
    }

    /// The first of the files is the one with the kernels.
    fn drafted(
        &self,
        key: String,
        files: &[(String, String)],
        witness: Witness,
    ) -> Result<Arc<Emitted>, Invalid> {
        let (name, text) = &files[0];
        let found =
            device_text(name, text, files, |_| true, &mut SourceMap::new()).map_err(|_| {
                Invalid::new(Reason::Compile, format!("`{name}` cannot be read for the device"))
            })?;
        let request = Compile {
            source: found.text,
            file: name.clone(),
            arch: String::new(),
            options: vec!["--std=c++17".into()],
            kernels: found.kernels,
        };
        let subjects = self.subjects.clone();
        Ok(Arc::new(Emitted { key, request, witness, subjects }))
    }
}

impl Workload for Nests {
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid> {
        let schedule = self.source.candidates.schedule(configuration);
        let schedule = schedule.map_err(|why| Invalid::new(Reason::Constraints, why))?;
        let emitted = self.emitted(configuration.key(), &schedule)?;
        Ok(emitted)
    }

    fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

impl Source {
    fn kernel(&self) -> Kernel {
        self.arch.kernel(self.input.module.clone(), self.input.function)
    }

    fn function(&self) -> &Function {
        self.input.module.function(self.input.function)
    }

    /// The contents of arrays with the last bit of every other real changed.
    fn nearby(&self, blobs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (module, function) = (&self.input.module, self.function());
        let arrays = function.params.iter().filter_map(|p| function.var(*p).ty.pointee());
        let moved = |(blob, element): (&Vec<u8>, &Type)| {
            let mut moved = blob.clone();
            let size = warpsmith_ir::layout::layout_of(module, element).size.max(1) as usize;
            let reals = data::scalars_of(module, element, 0).into_iter();
            for (offset, ty) in reals.filter(|(_, ty)| ty.is_float()) {
                for real in moved.chunks_exact_mut(size).step_by(2) {
                    let bytes = &mut real[offset as usize..];
                    if scalar_from_bytes(ty, bytes).as_f64().is_finite() {
                        bytes[0] ^= 1;
                    }
                }
            }
            moved
        };
        blobs.iter().zip(arrays).map(moved).collect()
    }

    /// Arrays in the order of the parameters, then the result, then room for a workspace.
    fn at(&self, point: &Point) -> Result<(Subject, Task), Failure> {
        let function = self.function();
        let data = Sources {
            module: &self.input.module,
            function,
            specs: &self.specs,
            seed: self.request.data.seed,
            max_memory: self.request.limits.max_memory,
        };
        let mut args = inputs::arguments(&data, point).map_err(NoData::failure)?;
        let terms = most_terms(&self.input.module, self.function(), point);
        let (mut buffers, mut blobs, mut outputs) = (vec![], vec![], vec![]);
        for (arg, param) in args.iter_mut().zip(&function.params) {
            let ArgBytes::Array(bytes) = arg else { continue };
            let var = function.var(*param);
            if let Type::Pointer { pointee, readonly: false, .. } = &var.ty {
                let numbers = data::scalars_of(&self.input.module, pointee, 0);
                let first = numbers.first().map(|(_, ty)| *ty);
                // Arrays of structures are compared as numbers where all of them have one type and there are no gaps.
                let same = numbers.iter().all(|(_, ty)| Some(*ty) == first);
                let size = warpsmith_ir::layout::layout_of(&self.input.module, pointee).size;
                let whole =
                    first.is_some_and(|ty| size == numbers.len() as u64 * u64::from(ty.bytes()));
                outputs.push(compared(buffers.len(), first.filter(|_| same && whole), terms));
            }
            let contents = Contents::Blob(blobs.len());
            buffers.push(BufferSpec {
                name: var.name.clone(),
                bytes: bytes.len() as u64,
                contents,
            });
            let small = bytes.len() <= CONSTANT_MEMORY;
            blobs.push(if small { bytes.clone() } else { std::mem::take(bytes) });
        }
        let result = function.ret.scalar();
        if let Some(ty) = result {
            outputs.push(compared(buffers.len(), Some(ty), terms));
            let bytes = u64::from(ty.bytes());
            buffers.push(BufferSpec { name: "result".into(), bytes, contents: Contents::Poison });
        }
        let largest = buffers.iter().map(|b| b.bytes).max().unwrap_or(0);
        let workspace = largest.saturating_mul(PARTS).clamp(1 << 20, WORKSPACE.max(largest));
        buffers.push(BufferSpec {
            name: "workspace".into(),
            bytes: workspace,
            contents: Contents::Poison,
        });
        let problem = Problem { buffers, expected: vec![] };
        let label = points::name(point);
        let task = Task { label, problem, blobs, nearby: vec![], outputs, reference: None };
        Ok((Subject { args, result, workspace }, task))
    }
}

/// Floating-point outputs may differ by 4·L·u times the largest element: the compiler contracts products, and schedules
/// order sums differently. Everything else must be equal.
fn compared(buffer: usize, ty: Option<Scalar>, terms: u64) -> Compared {
    let element = element(ty.unwrap_or(Scalar::U8));
    let one = Bound { magnitude: 1.0, terms, factors: 1, slack: 0.0 };
    let of_largest = ty.map_or(0.0, |ty| of_a_sum(ty, one));
    Compared { buffer, element, tolerance: Tolerance::default(), of_largest }
}

impl Draft for Emitted {
    fn request(&self) -> Compile {
        self.request.clone()
    }

    fn candidate(
        &self,
        binary: &Binary,
        task: usize,
        device: &mut dyn Device,
    ) -> Result<Candidate, Invalid> {
        let Some(Subject { args, result, workspace }) = self.subjects.get(task) else {
            return Err(Invalid::new(Reason::Runtime, "there is no such size"));
        };
        let (actions, bytes) = recorded(&self.witness, args, *result, &binary.kernels, device)?;
        if bytes > *workspace {
            let detail = format!("its workspace has {bytes} bytes");
            return Err(Invalid::new(Reason::Constraints, detail));
        }
        Ok(Candidate { key: self.key.clone(), actions })
    }
}
