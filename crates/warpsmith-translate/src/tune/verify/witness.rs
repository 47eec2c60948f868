//! The witness: the text of the emitted file, parsed again, run by the interpreter (launcher) and the
//! emulator (kernels, with all checks on).
//!
//! It knows the file and the contract of the launcher, nothing of how they were made.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{self as emu, Finding};
use warpsmith_front::ast::{FunctionName, Item, ItemKind};
use warpsmith_front::parse::{self, FileLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_ir::interp::{self, Arg, InterpError, Launcher, Limits, Memory};
use warpsmith_ir::{
    Diagnostic, FuncId, FunctionKind, Module, Scalar, SourceMap, Type, Value, Way, layout,
};

use super::asked::{Asked, GridRecorder, Guess};
use super::emulated::EmuLauncher;
use super::host_c::ArgBytes;
use super::lowered;
use super::part::Part;
use crate::data::{scalar_bytes, scalar_from_bytes};
use crate::tune::profile::views::View;

/// What constant memory holds, in bytes: larger arrays are never copied there.
pub(in crate::tune) const CONSTANT_MEMORY: usize = 64 << 10;

/// Statements of a launcher, those of its kernels aside.
const LAUNCHER_STEPS: u64 = 100_000_000;

/// The emitted file as a program.
#[derive(Clone, Debug)]
pub struct Witness {
    module: Module,
    launcher: FuncId,
    workspace_bytes: Option<FuncId>,
    /// The function with the C function's own parameters.
    host_entry: Option<FuncId>,
}

/// For each kernel by name, the most blocks of a launch along x, y and z.
pub type Grids = BTreeMap<String, [u32; 3]>;

/// Takes one more launch into account.
pub fn enlarge(grids: &mut Grids, kernel: &str, grid: [u32; 3]) {
    let most = grids.entry(kernel.to_string()).or_insert([0; 3]);
    for (most, blocks) in most.iter_mut().zip(grid) {
        *most = blocks.max(*most);
    }
}

/// What one run of the witness gave.
#[derive(Debug)]
pub struct WitnessRun {
    /// As given, the arrays changed.
    pub args: Vec<ArgBytes>,
    /// The element behind the result pointer, for functions that return a value.
    pub result: Option<Vec<u8>>,
    /// Errors, and elements to which several threads write the same value.
    pub findings: Vec<Finding>,
    /// Instructions of all threads.
    pub thread_instructions: u64,
    /// The kernels that were launched.
    pub grids: Grids,
    /// The ways that launcher and threads took, when the options ask for them.
    pub ways: BTreeSet<Way>,
    /// Of a run of a few blocks: those that were run, of how many, and the thread instructions that all would take.
    pub whole: (u64, u64, u64),
    /// The launches, when the options ask for counters.
    pub launches: Vec<CountedLaunch>,
}

/// A launch with what the emulator counted, and what the access views of its kernel say.
#[derive(Clone, Debug)]
pub struct CountedLaunch {
    /// The kernel's name in the text.
    pub kernel: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// What the emulator counted.
    pub counters: Counters,
    /// `None`: too many statements to walk through.
    pub views: Option<Vec<View>>,
}

/// Why a run of the witness did not end.
#[derive(Debug)]
pub enum WitnessError {
    /// The launcher or a kernel cannot be run: a fault of what was emitted.
    Failed(String),
    /// A limit of the run.
    Limit(&'static str),
}

impl Witness {
    /// The same program, but wherever its launcher limits the number of blocks, it starts at most so many. What its
    /// threads do in strides then shows at small sizes. `None`: it has no such limit.
    pub fn with_fewer_blocks(&self, most: i64) -> Option<Witness> {
        let module = lowered::with_fewer_blocks(&self.module, self.launcher, most)?;
        Some(Witness { module, ..self.clone() })
    }

    /// The same program, but where its launcher goes another way for sizes beyond some number, `least` or more, it does so for those that are
    /// larger than `most`. `None`: it does not, but about numbers that the C function asks about, too.
    pub fn with_lower_sizes(&self, least: i64, most: i64, asked_in_c: &[i64]) -> Option<Witness> {
        let module = &self.module;
        let module = lowered::with_lower_sizes(module, self.launcher, (least, most), asked_in_c)?;
        Some(Witness { module, ..self.clone() })
    }

    /// Whether the launcher limits the number of blocks along x.
    pub fn limits_along_x(&self) -> bool {
        lowered::limits_along_x(&self.module, self.launcher)
    }

    /// The same program as a compiler makes it, as far as that changes which elements it touches how often.
    pub fn as_compiled(mut self) -> Witness {
        crate::tune::kept::in_registers(&mut self.module);
        self
    }

    /// Whether another text means the same program; comments and layout do not count.
    pub fn same_program(&self, other: &Witness) -> bool {
        self.module == other.module
    }

    /// The names of its kernels.
    pub fn kernels(&self) -> Vec<String> {
        let functions = self.module.functions.iter();
        let kernels = functions.filter(|f| f.kind == FunctionKind::Kernel);
        kernels.map(|f| f.name.clone()).collect()
    }

    /// Parses the emitted file again. `files` are the other files of the output, by name, for its includes.
    ///
    /// # Errors
    /// The front end's messages: the emitter wrote something that we cannot read.
    pub fn parse(
        name: &str,
        text: &str,
        launcher: &str,
        files: &[(String, String)],
        sources: &mut SourceMap,
    ) -> Result<Witness, Vec<Diagnostic>> {
        let options = ParseOptions::new(Language::Cuda);
        let parsed = parse::parse(name, text.as_bytes(), &options, &Given(files), sources)?;
        let stem = launcher.strip_suffix("_launch").unwrap_or(launcher);
        let size_function = format!("{stem}_workspace");
        let mut host_functions = vec![launcher.to_string()];
        let has_workspace = declares(&parsed.unit.items, &size_function);
        if has_workspace {
            host_functions.push(size_function.clone());
        }
        // Where the C function takes structures, the one that gets their fields; where the fields lie, the C compiler
        // is asked.
        let host_function = [format!("{stem}_host_fields"), format!("{stem}_host")]
            .into_iter()
            .find(|name| declares(&parsed.unit.items, name));
        host_functions.extend(host_function.clone());
        let request = Request { kernels: KernelSelection::Named(vec![]), host_functions };
        let lowered = sema::lower_cuda(&parsed.unit, &request)?;
        let find = |name: &str| lowered.module.find_function(name);
        let Some(launcher) = find(launcher) else {
            return Err(vec![Diagnostic::error(
                "W320",
                format!("the emitted file has no `{launcher}`"),
            )]);
        };
        let workspace_bytes = has_workspace.then(|| find(&size_function)).flatten();
        let host_entry = host_function.and_then(|name| find(&name));
        Ok(Witness { module: lowered.module, launcher, workspace_bytes, host_entry })
    }

    /// The program that was read.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The host function that launches the kernels.
    pub fn launcher(&self) -> FuncId {
        self.launcher
    }

    /// Calls the launcher with something that records what it asks for; returns the bytes of workspace it wants. Large
    /// arrays are not there: a launcher does not look into them.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn record(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        recorder: &mut dyn Launcher,
    ) -> Result<u64, WitnessError> {
        let mut call = self.recorded(args, result, false)?;
        call.made(self, recorder).map_err(|e| WitnessError::Failed(e.to_string()))?;
        Ok(call.workspace.map_or(0, |(_, bytes)| bytes as u64))
    }

    /// A call in which nothing is run: large arrays are not there.
    fn recorded(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        unaligned: bool,
    ) -> Result<Call, WitnessError> {
        self.call(args, result, unaligned, |bytes| match bytes {
            Room::Given(given) if given.len() <= CONSTANT_MEMORY => given.to_vec(),
            Room::Given(_) | Room::Empty(_) => vec![],
        })
    }

    /// The grids that the launcher asks for in so many statements of its own; nothing is run.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn grids(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        max_steps: u64,
    ) -> Result<Grids, WitnessError> {
        self.asked_within(args, result, false, max_steps).map(|asked| asked.grids)
    }

    /// What the launcher asks for, and the ways that it takes; nothing is run.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn asks_for(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        unaligned: bool,
    ) -> Result<Asked, WitnessError> {
        self.asked_within(args, result, unaligned, LAUNCHER_STEPS)
    }

    fn asked_within(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        unaligned: bool,
        max_steps: u64,
    ) -> Result<Asked, WitnessError> {
        let mut recorder =
            GridRecorder { module: &self.module, asked: Asked::default(), guess: Guess::default() };
        let mut call = self.recorded(args, result, unaligned)?;
        call.memory.take_ways();
        let status = call.made_within(self, &mut recorder, max_steps);
        let status = status.map_err(|e| WitnessError::Failed(e.to_string()))?;
        if status.is_some_and(|s| s.as_i64() != 0) {
            return Err(WitnessError::Failed("the launcher returns an error".into()));
        }
        Ok(Asked { ways: call.memory.take_ways(), ..recorder.asked })
    }

    /// The arguments of the launcher: those of the C function, the result, the workspace, the stream. `contents` makes a
    /// buffer.
    fn call(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        unaligned: bool,
        contents: impl Fn(Room<'_>) -> Vec<u8>,
    ) -> Result<Call, WitnessError> {
        let function = self.module.function(self.launcher);
        let mut memory = Memory::default();
        let (mut call_args, mut offsets) = (vec![], vec![]);
        for (arg, param) in args.iter().zip(&function.params) {
            call_args.push(match arg {
                ArgBytes::Array(bytes) => {
                    let before = if unaligned { self.element(function.var(*param)) } else { 0 };
                    offsets.push(before);
                    let mut room = contents(Room::Given(bytes));
                    if before > 0 {
                        room.splice(0..0, std::iter::repeat_n(0xa5, before));
                    }
                    let buffer = push_buffer(&mut memory, room);
                    match buffer {
                        Arg::Pointer { buffer, .. } => {
                            Arg::Pointer { buffer, offset: before as i64 }
                        }
                        other => other,
                    }
                }
                ArgBytes::Value(bytes) => value_arg(&function.var(*param).ty, bytes)?,
            });
        }
        let size = self.workspace_bytes.map(|size| self.workspace(size, &call_args)).transpose()?;
        if let Some(ty) = result {
            let room = contents(Room::Empty(ty.bytes() as usize));
            call_args.push(push_buffer(&mut memory, room));
        }
        let workspace = size.map(|bytes| {
            call_args.push(push_buffer(&mut memory, contents(Room::Empty(bytes))));
            (memory.buffers.len() - 1, bytes)
        });
        // The stream comes last.
        call_args.push(Arg::Value(Value::int(Scalar::U64, 0)));
        Ok(Call { args: call_args, memory, workspace, offsets })
    }

    /// Bytes of an array's element.
    fn element(&self, array: &warpsmith_ir::Var) -> usize {
        let element = array.ty.pointee().map(|ty| layout::layout_of(&self.module, ty).size);
        element.map_or(0, |size| size as usize)
    }

    /// Calls the launcher with the arguments of the C function; `result` is the type of its return value.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn run(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        options: &emu::Options,
    ) -> Result<WitnessRun, WitnessError> {
        self.run_as(args, result, options, How::default())
    }

    /// As [`Self::run`], but of each launch some blocks alone, or with arrays that begin at odd addresses.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn run_as(
        &self,
        args: &[ArgBytes],
        result: Option<Scalar>,
        options: &emu::Options,
        how: How,
    ) -> Result<WitnessRun, WitnessError> {
        let mut call = self.call(args, result, how.unaligned, |bytes| match bytes {
            Room::Given(given) => given.to_vec(),
            Room::Empty(bytes) => vec![0xa5; bytes],
        })?;
        let workspace_at = call.workspace.map(|(at, _)| at);
        if options.ways {
            call.memory.take_ways();
        }
        let mut launcher = EmuLauncher::new(self, args, workspace_at, options);
        launcher.part = how.part;
        let outcome = call.made(self, &mut launcher);
        call.align();
        self.finish(outcome, launcher, call.memory, args, result)
    }

    /// Calls the function that stands in place of the C function, with arrays of the host. `None`: there is none.
    ///
    /// # Errors
    /// [`WitnessError`]; also where it keeps memory, or copies what nothing wrote.
    pub fn run_host_entry(
        &self,
        args: &[ArgBytes],
        options: &emu::Options,
    ) -> Result<Option<WitnessRun>, WitnessError> {
        let Some(entry) = self.host_entry else { return Ok(None) };
        let function = self.module.function(entry);
        let mut memory = Memory::default();
        let mut call_args = vec![];
        for (arg, param) in args.iter().zip(&function.params) {
            call_args.push(match arg {
                ArgBytes::Array(bytes) => push_buffer(&mut memory, bytes.clone()),
                ArgBytes::Value(bytes) => value_arg(&function.var(*param).ty, bytes)?,
            });
        }
        memory.on_host = memory.buffers.len();
        let mut launcher = EmuLauncher::beside_host(self, memory.on_host, options);
        let limits = Limits { max_steps: LAUNCHER_STEPS, ..Limits::default() };
        let outcome =
            interp::call(&self.module, entry, &call_args, &mut memory, &limits, &mut launcher);
        if let Some(limit) = launcher.limit {
            return Err(WitnessError::Limit(limit));
        }
        let name = &function.name;
        let failed = |why: String| WitnessError::Failed(format!("`{name}`: {why}"));
        let value = outcome.map_err(|e| failed(e.to_string()))?;
        if !memory.allocated.is_empty() {
            return Err(failed("it keeps memory of the device".into()));
        }
        let mut buffers = memory.buffers.into_iter();
        let after = args.iter().map(|arg| match arg {
            ArgBytes::Array(_) => ArgBytes::Array(buffers.next().unwrap_or_default()),
            value => value.clone(),
        });
        let (args, result) = (after.collect(), value.map(scalar_bytes));
        let EmuLauncher { findings, thread_instructions, grids, launches, .. } = launcher;
        // What is covered is told by the runs of the launcher.
        let (ways, whole) = (BTreeSet::new(), (0, 0, 0));
        Ok(Some(WitnessRun {
            args,
            result,
            findings,
            thread_instructions,
            grids,
            ways,
            whole,
            launches,
        }))
    }

    fn finish(
        &self,
        outcome: Result<Option<Value>, InterpError>,
        launcher: EmuLauncher<'_>,
        mut memory: Memory,
        args: &[ArgBytes],
        result: Option<Scalar>,
    ) -> Result<WitnessRun, WitnessError> {
        if let Some(limit) = launcher.limit {
            return Err(WitnessError::Limit(limit));
        }
        match outcome {
            Ok(Some(status)) if status.as_i64() == 0 => {}
            Ok(status) => {
                let status = status.map_or("nothing".to_string(), |s| s.as_i64().to_string());
                let message = format!("the launcher returns {status} in place of cudaSuccess");
                return Err(WitnessError::Failed(message));
            }
            Err(error) => return Err(WitnessError::Failed(error.to_string())),
        }
        let of_launcher = memory.take_ways();
        let mut buffers = std::mem::take(&mut memory.buffers).into_iter();
        let args = args
            .iter()
            .map(|arg| match arg {
                ArgBytes::Array(_) => ArgBytes::Array(buffers.next().unwrap_or_default()),
                value => value.clone(),
            })
            .collect();
        let result = result.and_then(|_| buffers.next());
        let EmuLauncher { findings, thread_instructions, grids, launches, mut ways, part, .. } =
            launcher;
        let part = part.unwrap_or_default();
        let whole = (part.blocks, part.of, part.whole_instructions);
        ways.extend(of_launcher);
        Ok(WitnessRun { args, result, findings, thread_instructions, grids, ways, launches, whole })
    }

    /// Bytes of workspace at these sizes, by the emitted function.
    fn workspace(&self, size: FuncId, args: &[Arg]) -> Result<usize, WitnessError> {
        let function = self.module.function(size);
        let launcher = self.module.function(self.launcher);
        // The function takes the scalar parameters it needs, by name.
        let mut own = vec![];
        for param in &function.params {
            let name = &function.var(*param).name;
            let at = launcher.params.iter().position(|p| launcher.var(*p).name == *name);
            let arg = at.and_then(|i| args.get(i)).cloned();
            own.push(arg.ok_or_else(|| {
                WitnessError::Failed(format!(
                    "`{}` takes `{name}`, which the launcher has not",
                    function.name
                ))
            })?);
        }
        let mut memory = Memory::default();
        let value = interp::call(
            &self.module,
            size,
            &own,
            &mut memory,
            &Limits::default(),
            &mut interp::NoLaunch,
        )
        .map_err(|e| WitnessError::Failed(e.to_string()))?;
        let bytes = value.map_or(0, Value::as_i64);
        usize::try_from(bytes)
            .ok()
            .filter(|b| *b <= 1 << 32)
            .ok_or_else(|| WitnessError::Failed(format!("the workspace has {bytes} bytes")))
    }
}

/// How a text is run.
#[derive(Debug, Default)]
pub struct How {
    /// Each array begins one element behind an aligned address.
    pub unaligned: bool,
    /// Some blocks of each launch are run instead of all.
    pub part: Option<Part>,
}

/// A buffer that a launcher is called with.
enum Room<'a> {
    /// An array with its contents.
    Given(&'a [u8]),
    /// Bytes that hold nothing yet.
    Empty(usize),
}

/// A call of the launcher.
struct Call {
    args: Vec<Arg>,
    memory: Memory,
    /// Position among the buffers, and bytes.
    workspace: Option<(usize, usize)>,
    /// Bytes before each array in its buffer.
    offsets: Vec<usize>,
}

impl Call {
    /// Takes away what stands before arrays.
    fn align(&mut self) {
        for (bytes, before) in self.memory.buffers.iter_mut().zip(&self.offsets) {
            bytes.drain(..(*before).min(bytes.len()));
        }
    }

    fn made(
        &mut self,
        witness: &Witness,
        launcher: &mut dyn Launcher,
    ) -> Result<Option<Value>, InterpError> {
        self.made_within(witness, launcher, LAUNCHER_STEPS)
    }

    fn made_within(
        &mut self,
        witness: &Witness,
        launcher: &mut dyn Launcher,
        max_steps: u64,
    ) -> Result<Option<Value>, InterpError> {
        let limits = Limits { max_steps, ..Limits::default() };
        let (module, function) = (&witness.module, witness.launcher);
        interp::call(module, function, &self.args, &mut self.memory, &limits, launcher)
    }
}

fn push_buffer(memory: &mut Memory, bytes: Vec<u8>) -> Arg {
    memory.buffers.push(bytes);
    Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 }
}

fn value_arg(ty: &Type, bytes: &[u8]) -> Result<Arg, WitnessError> {
    match ty.scalar() {
        Some(scalar) => Ok(Arg::Value(scalar_from_bytes(scalar, bytes))),
        None if ty.is_aggregate() => Ok(Arg::Bytes(bytes.to_vec())),
        None => Err(WitnessError::Failed("a scalar parameter became something else".to_string())),
    }
}

/// Whether a file defines a function.
fn declares(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| match &item.kind {
        ItemKind::Function(f) => {
            matches!(&f.name, FunctionName::Plain(path) if path.as_name() == Some(name))
        }
        _ => false,
    })
}

/// The emitted files by name; nothing else can be included.
pub(in crate::tune) struct Given<'a>(pub &'a [(String, String)]);

impl FileLoader for Given<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let found = self.0.iter().find(|(n, _)| *n == name);
        found
            .map(|(_, text)| text.clone().into_bytes())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
