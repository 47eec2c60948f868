//! The witness: the text of the emitted file, parsed again, run by the interpreter (launcher) and the
//! emulator (kernels, with all checks on).
//!
//! It knows the file and the contract of the launcher, nothing of how they were made.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{
    self as emu, Arg as EmuArg, Buffer, BufferId, DeviceMemory, Finding, LaunchConfig,
};
use warpsmith_front::ast::{FunctionName, Item, ItemKind};
use warpsmith_front::parse::{self, FileLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_ir::interp::{self, Arg, InterpError, LaunchRequest, Launcher, Limits, Memory};
use warpsmith_ir::{
    Diagnostic, FuncId, FunctionKind, GlobalId, Module, Scalar, SourceMap, Type, Value, VarId, Way,
    eval::from_bytes, layout,
};

use super::host_c::ArgBytes;
use super::lowered;
use super::part::Part;
use super::profile;
use super::profile::views::{self, Argument, View};
use super::sizes::Point;
use crate::data::{scalar_bytes, scalar_from_bytes};

/// What constant memory holds, in bytes: larger arrays are never copied there.
pub(super) const CONSTANT_MEMORY: usize = 64 << 10;

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
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub counters: Counters,
    /// Wavefronts of shared memory where neighbouring words of unrolled loops are loaded together; `None` where the text is
    /// all that is known.
    pub as_loaded: Option<f64>,
    /// `None`: too many statements to walk through.
    pub views: Option<Vec<View>>,
}

/// Statements of threads that access views walk through at most.
const VIEW_STEPS: u64 = 100_000_000;

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

    /// The same program as a compiler makes it, as far as that changes which elements it touches how often.
    pub fn as_compiled(mut self) -> Witness {
        super::kept::in_registers(&mut self.module);
        self
    }

    /// For each launch at a size its kernel, and the wavefronts of shared memory where neighbouring words are loaded together
    /// as compilers do; `None` where launches depend on more than sizes.
    pub fn wavefronts(&self, point: &Point) -> Option<Vec<(String, f64)>> {
        let launches = profile::profiles(&self.module, self.launcher, point);
        let one = |l: &profile::Launched| {
            let name = self.module.function(l.kernel).name.clone();
            (l.times == 1.0).then_some((name, l.profile.shared.wavefronts))
        };
        launches.iter().map(one).collect()
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

    /// The grids that the launcher asks for; nothing is run.
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn grids(&self, args: &[ArgBytes], result: Option<Scalar>) -> Result<Grids, WitnessError> {
        self.asks_for(args, result, false).map(|asked| asked.grids)
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
        let mut recorder =
            GridRecorder { module: &self.module, asked: Asked::default(), guess: Guess::default() };
        let mut call = self.recorded(args, result, unaligned)?;
        call.memory.take_ways();
        let status = call.made(self, &mut recorder);
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
        let limits = Limits { max_steps: 100_000_000, ..Limits::default() };
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
        let limits = Limits { max_steps: 100_000_000, ..Limits::default() };
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

/// Runs launches of the interpreted launcher in the emulator.
struct EmuLauncher<'a> {
    witness: &'a Witness,
    options: &'a emu::Options,
    device: DeviceMemory,
    findings: Vec<Finding>,
    thread_instructions: u64,
    grids: Grids,
    ways: BTreeSet<Way>,
    launches: Vec<CountedLaunch>,
    limit: Option<&'static str>,
    /// A few blocks are run instead of all.
    part: Option<Part>,
}

impl<'a> EmuLauncher<'a> {
    fn new(
        witness: &'a Witness,
        args: &[ArgBytes],
        workspace: Option<usize>,
        options: &'a emu::Options,
    ) -> EmuLauncher<'a> {
        let function = witness.module.function(witness.launcher);
        let mut device = DeviceMemory::new(&witness.module);
        for (param, arg) in function.params.iter().zip(args) {
            if let ArgBytes::Array(_) = arg {
                device.buffers.push(named_buffer(function.var(*param)));
            }
        }
        // What comes after the C parameters: the result, then the workspace, which holds nothing yet.
        for param in function.params.iter().skip(args.len()) {
            let var = function.var(*param);
            if !var.ty.is_pointer() {
                continue;
            }
            let mut buffer = named_buffer(var);
            if workspace == Some(device.buffers.len()) {
                // Poison is marked byte by byte at the first launch, when the size is known.
                buffer.poison = vec![true];
            }
            device.buffers.push(buffer);
        }
        EmuLauncher {
            witness,
            options,
            device,
            findings: vec![],
            thread_instructions: 0,
            grids: Grids::new(),
            ways: BTreeSet::new(),
            launches: vec![],
            limit: None,
            part: None,
        }
    }

    /// For a function that allocates itself: the first buffers are the host's, of which the device sees nothing.
    fn beside_host(
        witness: &'a Witness,
        on_host: usize,
        options: &'a emu::Options,
    ) -> EmuLauncher<'a> {
        let mut launcher = EmuLauncher::new(witness, &[], None, options);
        launcher.device.buffers = vec![Buffer::default(); on_host];
        launcher
    }

    fn counted(&self, config: &LaunchConfig, counters: Counters) -> CountedLaunch {
        let module = &self.witness.module;
        let kernel = module.function(config.kernel);
        let arg = |(param, arg): (&VarId, &EmuArg)| match arg {
            EmuArg::Bytes(bytes) => {
                let ty = kernel.var(*param).ty.scalar();
                let value = ty.and_then(|ty| from_bytes(ty, bytes));
                value.map_or(Argument::Other, Argument::Value)
            }
            EmuArg::Pointer { buffer, offset } => {
                let array = self.device.buffers.get(buffer.0 as usize);
                let array = array.map_or(String::new(), |b| b.name.clone());
                Argument::Pointer { array, offset: *offset }
            }
            EmuArg::Null => Argument::Other,
        };
        let args: Vec<Argument> = kernel.params.iter().zip(&config.args).map(arg).collect();
        let extents = [config.grid, config.block];
        let views = views::views(module, config.kernel, extents, &args, VIEW_STEPS);
        let [grid, block] = extents;
        let kernel = kernel.name.clone();
        CountedLaunch { kernel, grid, block, counters, as_loaded: None, views }
    }

    fn config(&self, request: &LaunchRequest, on_host: usize) -> Result<LaunchConfig, String> {
        let mut args = vec![];
        for arg in &request.args {
            args.push(match arg {
                Arg::Pointer { buffer, .. } if *buffer < on_host => {
                    return Err("a kernel gets a pointer to memory of the host".into());
                }
                Arg::Value(v) => EmuArg::Bytes(scalar_bytes(*v)),
                Arg::Bytes(b) => EmuArg::Bytes(b.clone()),
                Arg::Null => EmuArg::Null,
                Arg::Pointer { buffer, offset } => {
                    EmuArg::Pointer { buffer: BufferId(*buffer as u32), offset: *offset }
                }
            });
        }
        let shared =
            u32::try_from(request.shared).map_err(|_| "too much shared memory".to_string())?;
        Ok(LaunchConfig {
            kernel: request.kernel,
            grid: request.grid,
            block: request.block,
            dynamic_shared: shared,
            args,
        })
    }
}

fn named_buffer(var: &warpsmith_ir::Var) -> Buffer {
    let element = var.ty.pointee().filter(|t| **t != Type::Void).cloned();
    Buffer { name: var.name.clone(), element, ..Buffer::default() }
}

impl Launcher for EmuLauncher<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        let variable = self.device.globals.get_mut(global.0 as usize);
        let variable = variable.ok_or("a copy to a variable that does not exist")?;
        (variable.bytes, variable.poison) = (bytes, vec![]);
        Ok(())
    }

    fn allocated(&mut self, buffer: usize, bytes: usize) {
        let poison = vec![true; bytes];
        let name = format!("allocation {}", buffer + 1);
        self.device.buffers.resize_with(buffer, Buffer::default);
        self.device.buffers.push(Buffer { name, poison, ..Buffer::default() });
    }

    fn fetch(
        &mut self,
        memory: &Memory,
        buffer: usize,
        offset: i64,
        bytes: u64,
    ) -> Result<Vec<u8>, String> {
        let content = memory.bytes_at(&Arg::Pointer { buffer, offset }, bytes)?;
        let poison = self.device.buffers.get(buffer).map_or(&[][..], |b| &b.poison);
        // Before the first launch a workspace's poison stands in one place for all.
        let untouched = poison.len() == 1 && poison[0];
        let part = poison.iter().skip(offset as usize).take(bytes as usize);
        if untouched || part.into_iter().any(|p| *p) {
            return Err("a copy to the host reads elements that nothing wrote".into());
        }
        Ok(content)
    }

    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        let Some(buffer) = self.device.buffers.get_mut(buffer) else { return };
        if let Some(part) = buffer.poison.get_mut(offset..offset + bytes) {
            part.fill(false);
        }
    }

    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let on_host = memory.on_host;
        let config = self.config(&request, on_host)?;
        let kernel = &self.witness.module.function(request.kernel).name;
        enlarge(&mut self.grids, kernel, config.grid);
        let buffers = self.device.buffers.iter_mut().zip(&mut memory.buffers).skip(on_host);
        for (buffer, bytes) in buffers {
            buffer.bytes = std::mem::take(bytes);
            if buffer.poison.len() == 1 && buffer.bytes.len() != 1 {
                buffer.poison = vec![true; buffer.bytes.len()];
            }
        }
        let mut options = self.options.clone();
        if let Some(part) = &mut self.part {
            options.blocks = part.begin(&config)?;
        }
        let partial = options.blocks.is_some();
        let before: Vec<Vec<u8>> = match partial && self.part.as_ref().is_some_and(|p| p.strict) {
            true => self.device.buffers.iter().map(|b| b.bytes.clone()).collect(),
            false => vec![],
        };
        let outcome = emu::run(&self.witness.module, &config, &mut self.device, &options);
        if let Some(part) = &mut self.part {
            part.end(
                &before,
                &self.device,
                outcome.as_ref().map_or(0, |o| o.stats.thread_instructions),
            );
        }
        let buffers = self.device.buffers.iter_mut().zip(&mut memory.buffers).skip(on_host);
        for (buffer, bytes) in buffers {
            *bytes = std::mem::take(&mut buffer.bytes);
        }
        let outcome = outcome.map_err(|e| match e {
            emu::EmuError::BadArgument { message, .. }
            | emu::EmuError::BadLaunch(message)
            | emu::EmuError::Unsupported { message, .. } => message,
        })?;
        self.thread_instructions += outcome.stats.thread_instructions;
        self.ways.extend(outcome.ways);
        if let Some(counters) = outcome.counters {
            let counted = self.counted(&config, counters);
            self.launches.push(counted);
        }
        let counts = |f: &Finding| !f.rule.is_note() || f.rule == emu::Rule::RaceBenign;
        self.findings.extend(outcome.findings.into_iter().filter(counts));
        if let Some(limit) = outcome.limit {
            self.limit = Some(match limit {
                emu::Limit::TotalSteps => "the limit of thread instructions",
                emu::Limit::Memory => "the memory limit (--max-memory)",
                emu::Limit::Timeout => "the time limit (--timeout)",
                emu::Limit::Interrupted => "an interruption",
            });
            return Err("a limit was reached".to_string());
        }
        Ok(())
    }
}

/// What a launcher gets in place of values of the device where nothing runs: something with which its loops begin, and
/// soon end.
#[derive(Default)]
pub struct Guess {
    asked: usize,
}

impl Guess {
    /// The next answer, of so many bytes.
    ///
    /// # Errors
    /// Where no answer ends the loop.
    pub fn next(&mut self, bytes: u64) -> Result<Vec<u8>, String> {
        self.asked += 1;
        if self.asked > 64 {
            return Err("it depends on data how often a loop of the launcher runs".into());
        }
        let width = bytes as usize;
        let largest = |float: &[u8]| match float.len() == width {
            true => float.to_vec(),
            false => [vec![0xff; width.saturating_sub(1)], vec![0x7f]].concat(),
        };
        let large = |sign: f64| match width {
            8 => largest(&(sign * f64::MAX).to_le_bytes()),
            _ => largest(&(sign as f32 * f32::MAX).to_le_bytes()),
        };
        Ok(match self.asked % 4 {
            1 => large(1.0),
            2 => vec![0; width],
            3 => (0..width).map(|k| u8::from(k == 0)).collect(),
            _ => large(-1.0),
        })
    }
}

/// What a launcher would launch.
#[derive(Debug, Default)]
pub struct Asked {
    pub grids: Grids,
    /// Of all launches together.
    pub threads: u64,
    /// The ways that it takes.
    pub ways: BTreeSet<Way>,
}

/// Takes down what is launched.
struct GridRecorder<'a> {
    module: &'a Module,
    asked: Asked,
    guess: Guess,
}

impl Launcher for GridRecorder<'_> {
    fn copy_to_global(&mut self, _: GlobalId, _: Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    fn fetch(&mut self, _: &Memory, _: usize, _: i64, bytes: u64) -> Result<Vec<u8>, String> {
        self.guess.next(bytes)
    }

    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        enlarge(&mut self.asked.grids, &self.module.function(request.kernel).name, request.grid);
        let threads = request.grid.iter().chain(&request.block).map(|n| u64::from(*n));
        let threads = threads.fold(1, u64::saturating_mul);
        self.asked.threads = self.asked.threads.saturating_add(threads);
        Ok(())
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
pub(super) struct Given<'a>(pub &'a [(String, String)]);

impl FileLoader for Given<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let found = self.0.iter().find(|(n, _)| *n == name);
        found
            .map(|(_, text)| text.clone().into_bytes())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
