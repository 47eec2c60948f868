//! A host function that launches kernels in loops, under conditions or through others, run as it stands: its statements in the
//! interpreter, its kernels in the emulator, its pointers the arrays of a comparison.

use std::collections::BTreeSet;

use warpsmith_emu::{self as emu, DeviceMemory, EmuError, Emulator, Outcome};
use warpsmith_ir::interp::{
    self, Arg, BufferSet, Fault, InterpErrorKind, LaunchRequest, Launcher, Limits, Memory, Skipped,
    Unknown,
};
use warpsmith_ir::visit::{self, for_each_stmt};
use warpsmith_ir::{
    CopyWay, Diagnostic, Expr, ExprKind, FuncId, Module, Place, PlaceKind, Runtime, Space, Span,
    StmtKind, Type, Value, VarId,
};

use super::arguments;
use super::calls::{Bind, Given};
use super::launched::{Launched, NoRun, Run, ends};
use super::launching::Shape;
use super::run::{Computed, Data, Inputs, Nothing, REFERENCE_STEPS};
use super::shadow;
use super::side::{Code, Side};
use crate::check::host::lent;
use warpsmith_translate::tune::sizes::Point;

/// Statements and expressions of the host.
const HOST_STEPS: u64 = 5_000_000;
/// Launches that are looked at without running them, and what the host may do meanwhile.
const TRACED: usize = 256;
const TRACE_STEPS: u64 = 200_000;
/// Bytes of an array that grows.
const MOST: u64 = 1 << 28;

/// What its parameters get.
#[derive(Debug)]
pub struct HostFunction {
    pub binds: Vec<Bind>,
    /// Slots of arrays that lie in memory of the host.
    pub on_host: BTreeSet<usize>,
}

impl HostFunction {
    pub fn new(module: &Module, function: FuncId, binds: Vec<Bind>) -> HostFunction {
        let on_host = used_by_host(module, function);
        let params = module.function(function).params.iter().zip(&binds);
        let slots = params.filter(|(p, _)| on_host.contains(p)).flat_map(|(_, b)| match b {
            Bind::Slots(places) => places.as_slice(),
            Bind::Host => &[],
        });
        let on_host = slots.map(|(_, slot)| *slot).collect();
        HostFunction { binds, on_host }
    }
}

/// Pointers through which the host reads or writes itself, or that it copies from or to as memory of its own.
fn used_by_host(module: &Module, function: FuncId) -> BTreeSet<VarId> {
    let f = module.function(function);
    let mut used = BTreeSet::new();
    for_each_stmt(&f.body, &mut |s| {
        if let StmtKind::Runtime(Runtime::Copy { way, destination, source, .. }) = &s.kind {
            match way {
                CopyWay::ToDevice => used.extend(root(source)),
                CopyWay::ToHost => used.extend(root(destination)),
                _ => {}
            }
        }
        if let StmtKind::Assign { place, .. } = &s.kind {
            used.extend(dereferenced(place));
        }
    });
    visit::for_each_expr(&f.body, &mut |e| {
        if let ExprKind::Read(place) = &*e.kind {
            used.extend(dereferenced(place));
        }
    });
    used
}

/// The pointer that an expression starts from.
fn root(e: &Expr) -> Option<VarId> {
    let mut found = None;
    visit::for_each_subexpr(e, &mut |e| {
        if let ExprKind::Read(place) = &*e.kind
            && let PlaceKind::Var(v) = &*place.kind
            && place.ty.is_pointer()
        {
            found.get_or_insert(*v);
        }
    });
    found
}

/// The pointer whose memory a place lies in.
fn dereferenced(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => root(p),
        _ => None,
    }
}

impl Data<'_> {
    /// Runs the host function of a side, up to the first kernel that has a finding or does not end.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn host_function(
        &self,
        of_new: bool,
        inputs: &Inputs,
        lengths: &[Option<u64>],
        options: &emu::Options,
    ) -> Result<Run, NoRun> {
        let side = if of_new { self.new } else { self.reference };
        let Code::Host(function) = &side.code else { return Ok(Run::default()) };
        let mut device = self.device_memory(side, inputs).map_err(Nothing::Failed)?;
        let mut given = self.numbers_of(of_new, inputs);
        let ids = self.add_arrays(of_new, inputs, lengths, &mut given, &mut device);
        let args = self.interp_args(side, side.function, &function.binds, &given, None);
        let buffers = device.buffers.iter_mut().map(|b| std::mem::take(&mut b.bytes));
        let mut memory = Memory::new(buffers.collect());
        memory.host.host = on_host(function, &given);
        let mut launcher = Running {
            module: &side.module,
            emulator: Emulator::new(&side.module),
            device,
            options: options.clone(),
            launches: vec![],
            stopped: None,
            lent: vec![false; side.module.globals.len()],
        };
        let limits =
            Limits { max_steps: HOST_STEPS, deadline: options.deadline, ..Limits::default() };
        let result =
            interp::call(&side.module, side.function, &args, &mut memory, &limits, &mut launcher);
        let Running { launches, stopped, .. } = launcher;
        let complete = match stopped {
            Some(Stop::Refused(no)) => return Err(no),
            Some(Stop::Found) => false,
            None => {
                ended(side, result)?;
                true
            }
        };
        let mut take = |at: usize| std::mem::take(&mut memory.buffers[at]);
        let arrays = ids.into_iter().map(|id| id.map(|id| take(id.0 as usize))).collect();
        Ok(Run { launches, arrays, complete })
    }

    /// The host function of the reference with its kernels in the interpreter, which keeps the bounds of sums.
    ///
    /// # Errors
    /// A sentence: why nothing tells.
    pub fn host_shadow(
        &self,
        inputs: &Inputs,
        after: &[Option<Vec<u8>>],
        limits: &Limits,
    ) -> Result<(Memory, Vec<Option<usize>>), String> {
        let side = self.reference;
        let Code::Host(function) = &side.code else { return Err("it is no host function".into()) };
        if side.module.globals.iter().any(|g| g.space == Space::Global) {
            return Err("its kernels may share variables of the device".to_string());
        }
        let (given, buffers, at) = self.interpreted(inputs, after);
        let args = self.interp_args(side, side.function, &function.binds, &given, None);
        let mut memory = Memory::new(buffers);
        memory.host.host = on_host(function, &given);
        let limits = Limits { max_steps: REFERENCE_STEPS, ..limits.clone() };
        let mut module = side.module.clone();
        let constants = self.device_memory(side, inputs);
        let constants = constants.map_err(|_| "its variables have no values".to_string())?;
        for (g, b) in module.globals.iter_mut().zip(&constants.globals) {
            g.init = Some(b.bytes.clone());
        }
        let mut following = Following { module, limits: limits.clone(), why: None };
        let limits = Limits { track_bounds: true, ..limits };
        let result =
            interp::call(&side.module, side.function, &args, &mut memory, &limits, &mut following);
        match (following.why, result) {
            (Some(why), _) => Err(why),
            (None, Err(e)) => Err(e.to_string()),
            (None, Ok(_)) => Ok((memory, at)),
        }
    }
}

fn on_host(function: &HostFunction, given: &[Option<Given>]) -> BufferSet {
    let buffers = function.on_host.iter().filter_map(|slot| match given[*slot] {
        Some(Given::Buffer(b)) => Some(b as usize),
        _ => None,
    });
    buffers.collect()
}

/// What an error of the interpreter means.
fn ended<T>(side: &Side, result: Result<T, interp::InterpError>) -> Result<(), NoRun> {
    let Err(e) = result else { return Ok(()) };
    Err(NoRun::Nothing(match &e.kind {
        InterpErrorKind::StepLimit(_) => Nothing::TooLarge,
        InterpErrorKind::Trap => {
            Nothing::Undefined(format!("`{}` ends the program here", side.name))
        }
        _ => Nothing::Failed(not_understood(side, e.span, &e.to_string()).into()),
    }))
}

fn not_understood(side: &Side, span: Option<Span>, why: &str) -> Diagnostic {
    let d = Diagnostic::error("W309", format!("`{}` cannot be run: {why}", side.name))
        .help("choose one kernel with --kernel, or name those that run one after the other, `// warpsmith: run first, second`");
    match span {
        Some(span) => d.label(span, "here"),
        None => d,
    }
}

/// Why a run ended early.
enum Stop {
    /// A kernel has a finding, or a limit was reached in it.
    Found,
    Refused(NoRun),
}

/// Runs launches in the emulator.
struct Running<'a> {
    module: &'a Module,
    emulator: Emulator<'a>,
    device: DeviceMemory,
    options: emu::Options,
    launches: Vec<Launched>,
    stopped: Option<Stop>,
    /// Variables of the device that the host has had.
    lent: Vec<bool>,
}

impl Running<'_> {
    fn refuse(&mut self, why: NoRun) {
        self.stopped.get_or_insert(Stop::Refused(why));
    }

    fn took(&mut self, request: &LaunchRequest, outcome: Outcome) -> Result<(), String> {
        let steps = outcome.stats.thread_instructions;
        let ends = ends(&outcome);
        self.launches.push(Launched { kernel: request.kernel, shape: shape(request), outcome });
        self.options.max_total_steps = self.options.max_total_steps.saturating_sub(steps);
        if ends {
            self.stopped.get_or_insert(Stop::Found);
            return Err("stopped".to_string());
        }
        if self.options.max_total_steps == 0 {
            self.refuse(Nothing::TooLarge.into());
            return Err("stopped".to_string());
        }
        Ok(())
    }
}

/// A launch without blocks: the runtime gives an error back, nothing runs, and the program goes on.
fn is_empty(request: &LaunchRequest) -> bool {
    request.grid.contains(&0) || request.block.contains(&0)
}

fn shape(request: &LaunchRequest) -> Shape {
    let shared = u32::try_from(request.shared).unwrap_or(u32::MAX);
    Shape { grid: request.grid, block: request.block, shared }
}

impl Launcher for Running<'_> {
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        if self.stopped.is_some() {
            return Err("stopped".to_string());
        }
        if is_empty(&request) {
            return Ok(());
        }
        if let Some(name) = lent::host_pointer(self.module, memory, &request) {
            let kernel = &self.module.function(request.kernel).name;
            let why = format!("`{kernel}` gets a pointer to memory of the host for `{name}`");
            self.refuse(refused(&request, EmuError::BadLaunch(why)));
            return Err("stopped".to_string());
        }
        lent::lend(&mut self.device, memory);
        let config = lent::config(self.module, &mut self.device, &request);
        let run = self.emulator.run(&config, &mut self.device, &self.options);
        lent::take_back(&mut self.device, memory);
        match run {
            Ok(outcome) => self.took(&request, outcome),
            Err(error) => {
                self.refuse(refused(&request, error));
                Err("stopped".to_string())
            }
        }
    }

    fn tolerant(&self) -> bool {
        true
    }

    fn skipped(&mut self, skipped: Skipped) {
        if self.stopped.is_some() {
            return;
        }
        if skipped.fault == Some(Fault::OutOfBounds) {
            return self.refuse(NoRun::Beyond { message: skipped.why, span: skipped.span });
        }
        // What was left out and is not needed says nothing; what is needed holds nothing known and is met again.
        if skipped.launches || skipped.follows || skipped.fault.is_some() {
            let (why, span) = (skipped.why, skipped.span);
            self.refuse(NoRun::NotUnderstood { why, span });
        }
    }

    fn allocated_at(&mut self, buffer: usize, bytes: usize, name: &str, pointee: Option<&Type>) {
        lent::allocated(&mut self.device, buffer, vec![true; bytes], name, pointee);
    }

    fn freed(&mut self, buffer: usize, _: &warpsmith_ir::Origin) {
        lent::freed(&mut self.device, buffer);
    }

    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        lent::written(&mut self.device, buffer, offset, bytes);
    }

    fn unwritten(&self, buffer: usize, offset: usize, bytes: usize) -> Option<Unknown> {
        lent::unwritten(&self.device, buffer, offset, bytes)
    }

    fn more(&mut self, buffer: usize, length: u64, end: u64) -> Option<Vec<u8>> {
        let grown = self.device.buffers.get(buffer).filter(|b| b.grows && end <= MOST)?;
        let pattern = if grown.pattern.is_empty() { &[0][..] } else { &grown.pattern };
        let all = pattern.iter().copied().cycle();
        Some(all.skip(length as usize).take((end - length) as usize).collect())
    }

    fn lend_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let Some(variable) = self.device.globals.get_mut(global) else { return };
        // Before the first launch the host knows only what it has written.
        let first = !std::mem::replace(&mut self.lent[global], true);
        for (i, byte) in bytes.iter().enumerate() {
            if !first || known[i] {
                variable.bytes[i] = *byte;
            }
        }
    }

    fn return_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let Some(variable) = self.device.globals.get(global) else { return };
        bytes.clone_from(&variable.bytes);
        known.fill(true);
    }
}

fn refused(request: &LaunchRequest, error: EmuError) -> NoRun {
    NoRun::Refused { kernel: request.kernel, shape: shape(request), error }
}

/// Follows launches in the interpreter.
struct Following {
    /// With what its variables hold.
    module: Module,
    limits: Limits,
    why: Option<String>,
}

impl Launcher for Following {
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        if is_empty(&request) {
            return Ok(());
        }
        let (shape, args) = (shape(&request), &request.args);
        let done =
            shadow::of_kernel(&self.module, request.kernel, &shape, args, memory, &self.limits);
        if let Err(why) = &done {
            self.why.get_or_insert(why.clone());
        }
        done
    }

    fn tolerant(&self) -> bool {
        true
    }

    fn skipped(&mut self, skipped: Skipped) {
        if skipped.launches || skipped.follows || skipped.fault.is_some() {
            self.why.get_or_insert(skipped.why);
        }
    }

    fn lend_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let Some(init) = self.module.globals.get_mut(global).and_then(|g| g.init.as_mut()) else {
            return;
        };
        for ((to, from), known) in init.iter_mut().zip(bytes.iter()).zip(known.iter()) {
            if *known {
                *to = *from;
            }
        }
    }
}

/// A launch that was looked at: the shape, and which slot each pointer of the kernel starts in.
pub struct Traced {
    pub kernel: FuncId,
    pub shape: Shape,
    pub arrays: Vec<Option<usize>>,
}

/// The launches of a host function at some sizes, as far as they do not depend on what kernels compute.
pub fn trace(side: &Side, sizes: &Point) -> Vec<Traced> {
    let Code::Host(function) = &side.code else { return vec![] };
    let (mut given, mut slots) = (vec![], vec![]);
    for (at, slot) in side.slots.iter().enumerate() {
        given.push(match slot.ty.scalar() {
            Some(ty) if ty.is_integer() => {
                let value = sizes.get(&slot.name).copied().unwrap_or(1);
                Some(Given::Number(Value::int(ty, value)))
            }
            Some(ty) => Some(Given::Number(Value::float(ty, 1.0))),
            None => {
                slots.push(at);
                Some(Given::Buffer(slots.len() as u32 - 1))
            }
        });
    }
    let mut memory = Memory::new(vec![vec![]; slots.len()]);
    memory.host.host = on_host(function, &given);
    let f = side.module.function(side.function);
    let args: Vec<Arg> = f
        .params
        .iter()
        .zip(&function.binds)
        .map(|(param, bind)| {
            arguments::interp_arg(&side.module, &f.var(*param).ty, bind, &given)
                .unwrap_or(Arg::Null)
        })
        .collect();
    let limits = Limits { max_steps: TRACE_STEPS, ..Limits::default() };
    let mut tracing = Tracing { slots, found: vec![] };
    let _ = interp::call(&side.module, side.function, &args, &mut memory, &limits, &mut tracing);
    tracing.found
}

struct Tracing {
    slots: Vec<usize>,
    found: Vec<Traced>,
}

impl Launcher for Tracing {
    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let slot = |arg: &Arg| match arg {
            Arg::Pointer { buffer, .. } => self.slots.get(*buffer).copied(),
            _ => None,
        };
        let arrays = request.args.iter().map(slot).collect();
        if !is_empty(&request) {
            self.found.push(Traced { kernel: request.kernel, shape: shape(&request), arrays });
        }
        if self.found.len() < TRACED { Ok(()) } else { Err("enough".to_string()) }
    }

    fn tolerant(&self) -> bool {
        true
    }

    fn more(&mut self, _: usize, length: u64, end: u64) -> Option<Vec<u8>> {
        (end <= MOST).then(|| vec![0; (end - length) as usize])
    }
}

impl From<Nothing> for NoRun {
    fn from(nothing: Nothing) -> NoRun {
        NoRun::Nothing(nothing)
    }
}

impl NoRun {
    /// As a point of the reference that says nothing.
    pub fn of_reference(self, side: &Side) -> Nothing {
        match self {
            NoRun::Nothing(nothing) => nothing,
            NoRun::Beyond { message, .. } => Nothing::Undefined(message),
            NoRun::NotUnderstood { why, span } => {
                Nothing::Failed(not_understood(side, span, &why).into())
            }
            NoRun::Refused { error, .. } => super::refused(error),
        }
    }
}

/// What the reference computed, of one that came to its end.
impl From<Run> for Computed {
    fn from(run: Run) -> Computed {
        let steps = run.launches.iter().map(|l| l.outcome.stats.thread_instructions).sum();
        Computed { arrays: run.arrays, steps }
    }
}
