//! What a program's launches and memory are made of: the emulator, with the program's buffers under the same numbers.

mod launch;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use warpsmith_emu::{
    self as emu, Arg as EmuArg, Buffer, DeviceMemory, Emulator, LaunchConfig, Sampled, Stats,
    Touched, VARIABLES,
};
use warpsmith_ir::interp::{Arg, Fault, LaunchRequest, Launcher, Memory, Piece, Skipped, Unknown};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    Diagnostic, FuncId, Module, Origin, Scalar, SourceMap, Space, Span, StreamOrder, Type, Value,
};

use super::super::args::LaunchArgs;
use super::super::confirm::Parts;
use super::super::invent::{has_pointers, invent};
use super::super::memory;
use super::super::runner::Runner;
use super::super::variables;
use super::repeats::Repeats;
use super::streams::{Begun, Done, Streams, Unordered, touched_by};
use super::unfinished::Unfinished;
use super::words::dims;
use super::{Ran, Running, lent, place};
use crate::data::{self, ArgSpec};
use crate::status::Failure;
use warpsmith_front::prelude::LIBRARIES;

/// Launches of which it is kept what they touched, at most.
const MOST_TOUCHED: usize = 64;

/// What a skipped statement says when it only follows from another.
const FOLLOWS: usize = 200;

/// Thread instructions that take as long as one that is issued, whoever it is issued for.
const WORTH_OF_ISSUED: u64 = 128;

/// Runs launches in the emulator.
pub struct HostLauncher<'a, 'r> {
    runner: &'a mut Runner<'r>,
    path: &'a Path,
    module: &'a Module,
    emulator: Emulator<'a>,
    args: &'a LaunchArgs,
    sources: &'a SourceMap,
    device: DeviceMemory,
    /// Bytes of buffers that the host copied there without knowing what they hold.
    invented: HashMap<usize, Unknown>,
    /// The bytes of buffers that got invented values so.
    nobodys: Parts,
    unfinished: Unfinished,
    /// A launch waited for the host.
    waited: bool,
    /// The program's arguments are invented.
    invented_arguments: bool,
    seed: u64,
    ran: Ran,
    seen: HashSet<(Option<Span>, bool)>,
    at: Option<Span>,
    failure: Option<Failure>,
    repeats: Repeats,
    streams: Streams,
    /// What launches touched beside which others may run.
    touched: Vec<(LaunchConfig, Vec<Touched>)>,
    /// Bytes of what was allocated.
    lengths: HashMap<usize, usize>,
    /// Bytes of all of it, at most.
    most_bytes: u64,
    /// The program has variables of the device, which the host may read, or allocates there.
    has_variables: bool,
    /// Kernels allocate memory.
    has_heap: bool,
    /// Findings there were when a run began that is not to go on once something takes too long, unless there are more by then.
    impatient: Option<usize>,
    /// Nor once the time has come to hurry.
    tires: bool,
    /// An assertion that fails before the first launch ends the run.
    asserts: bool,
    /// Findings there were when a run began that ends soon after there are more.
    ends_after: Option<usize>,
    /// Thread instructions that are left since something was found.
    left_after_finding: Option<u64>,
}

impl<'a, 'r> HostLauncher<'a, 'r> {
    pub fn new(
        runner: &'a mut Runner<'r>,
        of: &Running<'a>,
        args: &'a LaunchArgs,
        invented_arguments: bool,
        buffers: usize,
    ) -> HostLauncher<'a, 'r> {
        let Running { path, program, seed, sources, impatient, asserts, .. } = *of;
        let found = found(runner);
        // Sizes that nobody gave are compared by how programs end.
        let ends_after = (of.ends_after_finding && !invented_arguments).then_some(found);
        let mut device = lent::memory(&program.module, of.unit);
        device.buffers = vec![Buffer::default(); buffers];
        let has_heap = emu::allocates(&program.module);
        HostLauncher {
            runner,
            path,
            module: &program.module,
            emulator: Emulator::new(&program.module),
            args,
            sources,
            device,
            invented: HashMap::new(),
            nobodys: Parts::new(),
            unfinished: Unfinished::default(),
            waited: false,
            invented_arguments,
            seed,
            ran: Ran::default(),
            seen: HashSet::new(),
            at: None,
            failure: None,
            repeats: Repeats::default(),
            streams: Streams::default(),
            touched: vec![],
            lengths: HashMap::new(),
            most_bytes: of.most_bytes,
            has_variables: has_heap
                || program.module.globals.iter().any(|g| g.space == Space::Global),
            has_heap,
            impatient: impatient.then_some(found),
            tires: of.tires,
            asserts,
            ends_after,
            left_after_finding: None,
        }
    }

    /// How the run went, and an error that ended it.
    pub fn finish(mut self) -> (Ran, Option<Failure>) {
        for (at, kernel, [a, b, c, x, y, z, _], left_out, all) in self.repeats.left_out() {
            let name = &self.module.functions[kernel as usize].name;
            self.ran.left_out.push(format!(
                "{}: {name}<<<{}, {}>>>: {left_out} of {all} launches with the same arrays; what they write is not known",
                place(at, self.sources, self.path),
                dims([a, b, c]),
                dims([x, y, z]),
            ));
        }
        (self.ran, self.failure)
    }

    /// Values for what the host copied without knowing it.
    fn fill_invented(&mut self, config: &LaunchConfig) {
        for arg in &config.args {
            let EmuArg::Pointer { buffer, .. } = arg else { continue };
            let at = buffer.0 as usize;
            let Some(mask) = self.invented.remove(&at) else { continue };
            let buffer = &mut self.device.buffers[at];
            if mask.is_all() {
                buffer.poison.clear();
            }
            for (at, poison) in buffer.poison.iter_mut().enumerate() {
                *poison &= mask.knows(at..at + 1);
            }
            let element = buffer.element.clone().unwrap_or(Type::Scalar(Scalar::U8));
            let seed = self.seed ^ data::name_hash(&buffer.name);
            buffer.invented |= invent(self.module, &element, &mut buffer.bytes, &mask, seed);
            self.nobodys.insert(at, mask);
        }
    }

    fn gets_unknown_pointers(&self, config: &LaunchConfig) -> bool {
        config.args.iter().any(|arg| {
            let EmuArg::Pointer { buffer, .. } = arg else { return false };
            let at = buffer.0 as usize;
            let element = self.device.buffers.get(at).and_then(|b| b.element.as_ref());
            let (Some(element), Some(mask)) = (element, self.nobodys.get(&at)) else {
                return false;
            };
            has_pointers(self.module, element, mask)
        })
    }

    /// What blocks that were not run would have written is invented, should a later launch read it.
    fn ran_in_part(&mut self, config: &LaunchConfig, part: Sampled, label: &str) {
        self.runner.ran_in_part(config, part, label);
        let buffers = self.repeats.sampled(self.module, config, &mut self.device);
        self.unfinished.left_by(self.module, config.kernel, &buffers);
        for at in buffers {
            let Some(buffer) = self.device.buffers.get(at) else { continue };
            if buffer.poison.contains(&true) {
                self.invented.insert(at, Unknown::from(buffer.poison.clone()));
            }
        }
    }

    /// Takes down what a launch took that came after a finding; in small blocks an instruction is as dear as in larger ones.
    fn spent_after_finding(&mut self, stats: Stats) {
        let steps =
            stats.thread_instructions.max(stats.instructions.saturating_mul(WORTH_OF_ISSUED));
        let most = self.runner.effort.program_after_finding;
        self.left_after_finding = match self.left_after_finding {
            Some(left) => Some(left.saturating_sub(steps)),
            None => self.ends_after.filter(|before| found(self.runner) > *before).map(|_| most),
        };
    }

    /// Others may take the place of this run, which has found nothing.
    fn is_impatient(&self) -> bool {
        self.impatient.is_some_and(|before| found(self.runner) == before)
    }

    /// The launches take too long, and others may take the place of this run: it ends.
    fn is_tired(&mut self) -> bool {
        let tired = self.tires && self.is_impatient() && self.runner.hurries();
        self.ran.slow |= tired;
        tired
    }

    /// What was found is worth no more launches.
    fn ends_here(&mut self, label: &str) -> bool {
        let ends = self.left_after_finding == Some(0);
        if ends {
            self.runner.ended_after_finding(label);
        }
        ends
    }

    /// Nothing has to be kept of which bytes hold a value once all do.
    fn forget_written(&mut self, config: &LaunchConfig) {
        for arg in &config.args {
            if let EmuArg::Pointer { buffer, .. } = arg
                && let Some(b) = self.device.buffers.get_mut(buffer.0 as usize)
                && !b.poison.is_empty()
                && !b.poison.contains(&true)
            {
                b.poison = vec![];
            }
        }
    }

    fn kernel_did(&self, config: &LaunchConfig, touched: Vec<Touched>) -> Done {
        let name = format!("`{}`", self.module.function(config.kernel).name);
        Done { name, at: self.at, touched }
    }

    /// A launch with an outcome that is known touches what the one before has touched.
    fn compare_as_before(&mut self, config: &LaunchConfig, begun: &Begun) {
        let same = self.touched.iter().find(|(of, _)| of == config);
        if let Some(touched) = same.map(|(_, touched)| touched.clone()) {
            let done = self.kernel_did(config, touched);
            self.compare_streams(begun, done);
        }
    }

    /// Accesses of two streams that nothing orders are a race.
    fn compare_streams(&mut self, begun: &Begun, done: Done) {
        let at = done.at;
        let how = format!("by {}, in two streams without an order between them", done.name);
        for found in self.streams.ended(begun, done) {
            self.unordered(found, (at, &how), self.invented_arguments);
        }
    }

    /// Reports two accesses that nothing orders; who did the later one, and where.
    fn unordered(&mut self, found: Unordered, (at, how): (Option<Span>, &str), note: bool) {
        let Unordered { buffer, byte, earlier: (earlier, was), later } = found;
        let (b, element) = match buffer.checked_sub(VARIABLES as usize) {
            None => (self.device.buffers.get(buffer), None),
            Some(i) => {
                (self.device.globals.get(i), self.module.globals.get(i).map(|g| g.ty.innermost()))
            }
        };
        let Some(b) = b else { return };
        let element = element.or(b.element.as_ref());
        let size = element.map_or(1, |t| layout_of(self.module, t).size.max(1));
        let element = match b.name.as_str() {
            "" => "an array".to_string(),
            name => format!("`{name}[{}]`", byte / size),
        };
        let message = format!("{was} of {element} by {} and {later} {how}", earlier.name);
        let label = place(at, self.sources, self.path);
        let places = [(at, later), (earlier.at, was)];
        self.runner.unordered(message, &places, &label, note, self.sources);
    }

    fn label(&self, config: &LaunchConfig) -> String {
        format!(
            "{}: {}<<<{}, {}>>>",
            place(self.at, self.sources, self.path),
            self.module.function(config.kernel).name,
            dims(config.grid),
            dims(config.block)
        )
    }

    /// A launch that the device refuses is a finding about the program.
    fn refused(&mut self, rule: &'static str, message: String, label: &str) {
        let note = self.invented_arguments;
        self.runner.refused(rule, message, self.at, label, note, self.sources);
    }

    /// The value of a number that the options give.
    fn number(&self, name: &str, ty: Scalar) -> Option<Value> {
        match self.args.spec(name)? {
            ArgSpec::Number(text) => data::parse_scalar(text, ty).ok(),
            _ => None,
        }
    }
}

impl Launcher for HostLauncher<'_, '_> {
    fn tolerant(&self) -> bool {
        true
    }

    fn skipped(&mut self, mut skipped: Skipped) {
        // The end of the time makes every statement take too long: that is said once, of the program. But a launch that is
        // left out may be the last thing there was to do.
        if self.runner.is_late() {
            if skipped.launches {
                let label = place(skipped.span, self.sources, self.path);
                self.runner.left_out_late(&label);
            }
            return;
        }
        self.streams.skip();
        // What stands in for libraries is no file of the user's.
        let of_library = |s: &Span| self.sources.get(s.file).is_some_and(|f| f.path == LIBRARIES);
        skipped.span = skipped.span.filter(|s| !of_library(s));
        if !self.seen.insert((skipped.span, skipped.launches)) {
            return;
        }
        if skipped.fault == Some(Fault::OnHost) && skipped.span.is_some() {
            let label = place(skipped.span, self.sources, self.path);
            let message = format!("{}; the statement was left out", skipped.why);
            self.at = skipped.span;
            self.runner.refused("out-of-bounds", message, self.at, &label, true, self.sources);
        }
        let of_device = |fault: &Fault| *fault != Fault::OnHost;
        if let Some(fault) = skipped.fault.filter(of_device) {
            let (rule, why) = match fault {
                Fault::OutOfBounds | Fault::OnHost => ("out-of-bounds", skipped.why),
                Fault::WrongDirection => ("invalid-pointer", skipped.why),
                Fault::Freed(buffer) => {
                    let name = &self.device.buffers[buffer].name;
                    ("dangling", format!("the memory of `{name}` was freed before"))
                }
            };
            let label = place(skipped.span, self.sources, self.path);
            self.at = skipped.span;
            // Other choices of arguments are asked, as for findings of kernels.
            self.runner.refused(rule, why, self.at, &label, false, self.sources);
            return;
        }
        if skipped.slow && self.runner.hurries() {
            let label = place(skipped.span, self.sources, self.path);
            self.runner.left_out_late(&label);
        }
        if skipped.large {
            let label = place(skipped.span, self.sources, self.path);
            self.runner.left_out_large(&label);
        }
        self.ran.slow |= skipped.slow;
        self.ran.asserted |= self.asserts && skipped.asserted && self.ran.launched == 0;
        if skipped.launches {
            self.ran.lost.push((skipped.span, skipped.why));
        } else if self.ran.skipped.len() < FOLLOWS {
            self.ran.skipped.push((skipped.span, skipped.why));
        }
    }

    fn gives_up(&self) -> bool {
        self.ran.asserted || self.ran.slow && self.is_impatient() || self.runner.is_late()
    }

    fn hurries(&self) -> bool {
        self.runner.hurries()
    }

    fn value_of(&mut self, name: &str, ty: Scalar) -> Option<Value> {
        self.number(name, ty)
    }

    fn missing_arg(
        &mut self,
        memory: &mut Memory,
        kernel: FuncId,
        index: usize,
        _: &Origin,
    ) -> Option<Arg> {
        let function = self.module.function(kernel);
        let var = function.params.get(index).map(|p| function.var(*p))?;
        let Type::Pointer { pointee, .. } = &var.ty else {
            let value = var.ty.scalar().and_then(|ty| self.number(&var.name, ty));
            if value.is_none() {
                let missing = (function.name.clone(), var.name.clone());
                if !self.ran.missing.contains(&missing) {
                    self.ran.missing.push(missing);
                }
            }
            return value.map(Arg::Value);
        };
        // An array of which the program does not say how large it is: as for a launch that does not give it.
        let spec = self.args.spec(&var.name);
        let made = memory::array_for(self.module, self.args, &var.name, spec, pointee, self.seed);
        let buffer = match made {
            Ok(buffer) => buffer,
            Err(failure) => {
                self.failure = Some(failure);
                return None;
            }
        };
        if buffer.grows {
            self.runner.assume(format!(
                "{}: array `{}` has no size: its bounds were not checked",
                place(self.at, self.sources, self.path),
                var.name
            ));
        }
        let at = memory.buffers.len();
        memory.buffers.push(buffer.bytes.clone());
        self.device.buffers.resize_with(at, Buffer::default);
        self.device.buffers.push(Buffer { bytes: vec![], ..buffer });
        Some(Arg::Pointer { buffer: at, offset: 0 })
    }

    fn order(&mut self, what: StreamOrder, operands: &[Option<u64>]) -> u64 {
        self.streams.order(what, operands)
    }

    fn managed(&self, global: usize) -> Option<usize> {
        let variable = self.device.globals.get(global)?;
        variable.host_writes.then_some(VARIABLES as usize + global)
    }

    fn in_flight(&self, buffer: Option<usize>) -> bool {
        self.streams.in_flight(buffer)
    }

    fn host_touches(&mut self, piece: Piece, plain: bool, origin: &Origin) {
        if let Some(found) = self.streams.host_touches(piece, plain) {
            let how = "by the host, which has not waited for that";
            // Other choices of arguments nobody gave are asked, as for findings of kernels.
            self.unordered(found, (origin.span, how), false);
        }
    }

    fn moves(&mut self, pieces: &[Piece], waits: bool, origin: &Origin) {
        let mut begun = self.streams.begin();
        if !waits && pieces.iter().any(|p| p.shared) {
            begun.is_visible();
        }
        let name = "a copy or fill";
        let done = Done { name: name.to_string(), at: origin.span, touched: touched_by(pieces) };
        self.compare_streams(&begun, done);
        if waits {
            self.streams.wait_for(&begun);
        }
    }

    fn launching(&mut self, origin: &Origin) {
        self.at = origin.span;
    }

    fn allocated_at(&mut self, buffer: usize, bytes: usize, name: &str, pointee: Option<&Type>) {
        self.repeats.changed();
        self.lengths.insert(buffer, bytes);
        lent::allocated(&mut self.device, buffer, vec![true], name, pointee);
    }

    fn freed(&mut self, buffer: usize, _: &Origin) {
        self.repeats.changed();
        lent::freed(&mut self.device, buffer);
    }

    fn was_freed(&self, buffer: usize) -> bool {
        self.device.buffers.get(buffer).is_some_and(|b| b.freed)
    }

    fn most_bytes(&self) -> Option<u64> {
        Some(self.most_bytes)
    }

    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        self.repeats.changed();
        let length = self.lengths.get(&buffer).copied().unwrap_or(0);
        let whole = length > 0 && offset == 0 && bytes >= length;
        self.repeats.filled(buffer, whole);
        for masks in [&mut self.invented, &mut self.nobodys] {
            if let Some(mask) = masks.get_mut(&buffer) {
                mask.mark(offset..offset + bytes, false);
            }
        }
        if let Some(buffer) = self.device.buffers.get_mut(buffer).filter(|_| !whole) {
            lent::spread(buffer, length);
        }
        lent::written(&mut self.device, buffer, offset, bytes);
    }

    fn unwritten(&self, buffer: usize, offset: usize, bytes: usize) -> Option<Unknown> {
        self.repeats.host_reads();
        if self.repeats.is_stale(buffer) {
            return Some(Unknown::new(bytes));
        }
        lent::unwritten(&self.device, buffer, offset, bytes)
    }

    fn copied(&mut self, memory: &mut Memory, buffer: usize, offset: usize, unknown: &Unknown) {
        if memory.host.reaches(buffer) {
            return;
        }
        self.filled(buffer, offset, unknown.len());
        if unknown.is_none() {
            return;
        }
        let size = memory.buffers[buffer].len();
        if memory.host.guesses {
            let mask = self.invented.entry(buffer).or_insert_with(|| Unknown::none(size));
            mask.put(offset, unknown);
        } else {
            lent::unset(&mut self.device, buffer, (offset, unknown), size);
        }
    }

    fn forgotten(&mut self, buffer: usize, offset: usize, bytes: usize, length: usize) {
        self.filled(buffer, offset, bytes);
        let mask = self.invented.entry(buffer).or_insert_with(|| Unknown::none(length));
        mask.mark(offset..offset + bytes, true);
    }

    fn invents(&mut self, global: usize, bytes: &mut [u8], unknown: &[bool]) -> bool {
        let Some(variable) = self.device.globals.get_mut(global) else { return false };
        let declared = &self.module.globals[global];
        let element = declared.ty.innermost().clone();
        let seed = self.seed ^ data::name_hash(&declared.name);
        variable.invented |= invent(self.module, &element, bytes, &unknown.to_vec().into(), seed);
        true
    }

    fn lend_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let Some(variable) = self.device.globals.get_mut(global) else { return };
        let declared = &self.module.globals[global];
        let given = self.args.spec(&declared.name).filter(|_| declared.space != Space::Local);
        if let Some(spec) = given.filter(|_| self.ran.launched == 0) {
            let none = HashMap::new();
            let result =
                variables::set(self.module, &declared.ty, variable, spec, &none, self.seed);
            if let Err((why, help)) = result {
                let message = format!("variable `{}`: {why}", declared.name);
                self.failure = Some(Diagnostic::error("W306", message).help(help).into());
            }
            bytes.clone_from(&variable.bytes);
            known.fill(true);
            return;
        }
        if variable.bytes != *bytes {
            self.repeats.changed();
        }
        variable.bytes.clone_from(bytes);
        variable.poison = match known.contains(&false) {
            true => known.iter().map(|k| !k).collect(),
            false => vec![],
        };
    }

    fn return_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let Some(variable) = self.device.globals.get(global) else { return };
        bytes.clone_from(&variable.bytes);
        for (i, known) in known.iter_mut().enumerate() {
            *known = !variable.poison.get(i).copied().unwrap_or(false);
        }
    }

    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        self.launch_once(memory, &request)
    }
}

/// Findings of all runs so far that are no notes.
fn found(runner: &Runner<'_>) -> usize {
    runner.items.iter().filter(|i| !i.is_note).count()
}
