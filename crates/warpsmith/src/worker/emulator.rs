//! The emulator in place of a GPU: candidates are executed with all checks, and their times are those the device model
//! predicts from what was counted. Of launches that are too large some blocks are executed ([`Sample`]), and the elements that
//! they wrote are compared.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use warpsmith_device::{Gpu, predict};
use warpsmith_emu::{self as emu, Buffer, DeviceMemory, LaunchConfig};
use warpsmith_front::ast::{Item, ItemKind};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_gpu::GpuError;
use warpsmith_gpu::backend::{Backend, Fault};
use warpsmith_gpu::protocol::{
    Action, Arg, Candidate, Compile, Contents, Expected, Hello, Invalid, KernelInfo, Launch,
    Limits, Measured, Output, Policy, Problem, Reason, Reference, VERSION,
};
use warpsmith_ir::{Diagnostic, FuncId, Module, Scalar, SourceMap};

use crate::search::Arithmetic;
use crate::worker::memory::{emu_arg, range, read_back, set_global};
use crate::worker::sample::{NotRun, Ran, Sample};
use warpsmith_translate::elements::scalar_of;
use warpsmith_translate::launches;
use warpsmith_translate::tune::profile::{executed, shared_bytes};
use warpsmith_translate::tune::verify::compare::first_difference;

pub(super) type Answer<T> = Result<T, Fault>;

/// Registers a thread is said to have: no compiler counts them.
const REGISTERS: u32 = 32;
/// Time for one candidate.
const LIMIT: Duration = Duration::from_secs(60);

/// Executes candidates in the emulator. A "binary" is the request to compile: text, macros and the names of kernels.
pub struct EmulatorBackend {
    gpu: &'static Gpu,
    pub(super) problem: Problem,
    pub(super) blobs: Vec<Vec<u8>>,
    /// For each expected output the elements that are known, where the reference was not run whole.
    pub(super) known: Vec<Option<Vec<bool>>>,
    /// What gave the expected outputs, with its binary.
    pub(super) reference: Option<(Candidate, Vec<u8>)>,
    /// A run whose host waits for values.
    underway: Option<Running>,
}

/// A candidate that is executed.
struct Running {
    lowered: Lowered,
    executed: Executed,
    sample: Sample,
}

/// What a candidate leaves behind.
pub(super) struct Executed {
    pub memory: DeviceMemory,
    pub ms: f64,
    pub arithmetic: Arithmetic,
    /// Buffers of which some blocks were not run that write to them.
    pub partial: BTreeSet<usize>,
}

impl EmulatorBackend {
    /// `gpu` is a board or an architecture.
    ///
    /// # Errors
    /// The device model does not know it.
    pub fn new(gpu: &str) -> Result<EmulatorBackend, GpuError> {
        let found = Gpu::find(gpu);
        let gpu =
            found.ok_or_else(|| GpuError::BadRequest(format!("no GPU is known as `{gpu}`")))?;
        let problem = Problem { buffers: vec![], expected: vec![] };
        Ok(EmulatorBackend {
            gpu,
            problem,
            blobs: vec![],
            known: vec![],
            reference: None,
            underway: None,
        })
    }

    /// The buffers as they are before a candidate; room that it does not use is left away, where all that it does is known.
    fn memory(&self, module: &Module, all: Option<&Candidate>) -> DeviceMemory {
        let mut memory = DeviceMemory::new(module);
        for (k, spec) in self.problem.buffers.iter().enumerate() {
            let is_needed = spec.contents != Contents::Poison || spec.name != "workspace";
            let bytes = match is_needed || all.is_none_or(|candidate| uses(candidate, k)) {
                true => usize::try_from(spec.bytes).unwrap_or(0),
                false => 0,
            };
            let mut buffer = Buffer { name: spec.name.clone(), ..Buffer::default() };
            buffer.bytes = match spec.contents {
                Contents::Blob(k) => self.blobs.get(k).cloned().unwrap_or_default(),
                Contents::Poison | Contents::Zero => vec![0; bytes],
            };
            if spec.contents == Contents::Poison {
                buffer.poison = vec![true; bytes];
            }
            memory.buffers.push(buffer);
        }
        memory
    }

    pub(super) fn execute(
        &self,
        candidate: &Candidate,
        binary: &[u8],
        sample: Sample,
    ) -> Answer<Executed> {
        let mut running = self.begun(binary, Some(candidate), sample)?;
        self.advanced(&mut running, &candidate.actions)?;
        Ok(Executed { partial: running.sample.partial, ..running.executed })
    }

    fn begun(&self, binary: &[u8], all: Option<&Candidate>, sample: Sample) -> Answer<Running> {
        let lowered = read(binary).map_err(|e| invalid(Reason::Compile, e))?;
        let memory = self.memory(&lowered.module, all);
        let (arithmetic, partial) = (Arithmetic::default(), BTreeSet::new());
        Ok(Running { lowered, executed: Executed { memory, ms: 0.0, arithmetic, partial }, sample })
    }

    /// What the actions read.
    fn advanced(&self, running: &mut Running, actions: &[Action]) -> Answer<Vec<Vec<u8>>> {
        let Running { lowered: Lowered { module, kernels, unread }, executed, sample } = running;
        let mut values = vec![];
        for action in actions {
            let memory = &mut executed.memory;
            match action {
                Action::Launch(l) => {
                    let (time, work) = self.launch(module, kernels, l, memory, sample)?;
                    executed.ms += time;
                    executed.arithmetic = executed.arithmetic.plus(work);
                }
                Action::SetGlobal { symbol, bytes } | Action::Preset { symbol, bytes } => {
                    // On a device it exists, too, and its value changes nothing.
                    if !unread.contains(symbol) {
                        set_global(module, memory, symbol, bytes)?;
                    }
                }
                Action::Fill { buffer, offset, bytes, value } => {
                    let all = memory.buffers.get_mut(*buffer);
                    let range = all.and_then(|b| {
                        b.poison.clear();
                        b.bytes.get_mut(range(*offset, *bytes)?)
                    });
                    let range = range
                        .ok_or_else(|| invalid(Reason::Runtime, "a fill leaves its buffer"))?;
                    range.fill(*value);
                }
                Action::Read { buffer, .. } if sample.partial.contains(buffer) => {
                    return Err(invalid(Reason::Timeout, UNKNOWN));
                }
                Action::Read { buffer, offset, bytes } => {
                    let value = read_back(memory, *buffer, range(*offset, *bytes));
                    values.push(value.map_err(|why| invalid(Reason::Runtime, why))?);
                }
            }
        }
        Ok(values)
    }

    fn launch(
        &self,
        module: &Module,
        kernels: &[(String, FuncId)],
        launch: &Launch,
        memory: &mut DeviceMemory,
        sample: &mut Sample,
    ) -> Answer<(f64, Arithmetic)> {
        let found = kernels.iter().find(|(name, _)| *name == launch.kernel);
        let Some((_, kernel)) = found else {
            return Err(invalid(
                Reason::Runtime,
                format!("there is no kernel `{}`", launch.kernel),
            ));
        };
        let config = LaunchConfig {
            kernel: *kernel,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.shared,
            cluster: None,
            args: launch.args.iter().map(emu_arg).collect(),
        };
        let options = emu::Options {
            counters: true,
            deadline: Some(Instant::now() + LIMIT),
            ..emu::Options::default()
        };
        let Ran { outcome, counters } =
            sample.run(module, &config, memory, &options).map_err(|e| match e {
                NotRun::TooLarge(why) => invalid(Reason::Timeout, why),
                NotRun::Emulator(error) => invalid(Reason::Runtime, launches::message(error)),
            })?;
        if let Some(finding) = outcome.findings.iter().find(|f| !f.rule.is_note()) {
            let reason = match finding.rule {
                emu::Rule::InfiniteLoop => Reason::Timeout,
                _ => Reason::Runtime,
            };
            return Err(invalid(reason, format!("{}: {}", finding.rule.name(), finding.message)));
        }
        if outcome.limit.is_some() {
            return Err(invalid(Reason::Timeout, TOO_LONG));
        }
        let Some(counters) = counters else { return Ok((0.0, Arithmetic::default())) };
        let predicted = predict(self.gpu, &executed(module, &config, memory, &counters));
        let predicted = predicted.map_err(|e| invalid(Reason::Runtime, e.to_string()))?;
        Ok((predicted.time_s * 1e3, Arithmetic::counted(&counters)))
    }

    /// What a candidate computes, whatever comes of it; `None` where it does not run.
    pub(crate) fn arithmetic(&self, candidate: &Candidate, binary: &[u8]) -> Option<Arithmetic> {
        Some(self.execute(candidate, binary, Sample::default()).ok()?.arithmetic)
    }

    fn check(&self, executed: &Executed) -> Answer<()> {
        let memory = &executed.memory;
        let (mut judged, mut compared) = (false, false);
        for (k, e) in self.problem.expected.iter().enumerate() {
            let (Some(actual), Some(expected)) =
                (memory.buffers.get(e.output.buffer), self.blobs.get(e.blob))
            else {
                return Err(invalid(Reason::Runtime, "an expected output has no buffer"));
            };
            let width = e.output.element.size() as usize;
            let known = self.known.get(k).and_then(Option::as_ref);
            let partial = executed.partial.contains(&e.output.buffer);
            let written = partial.then(|| self.written(memory, e.output.buffer, width));
            let masked = match (known, &written) {
                (None, None) => None,
                _ => Some(both(known, written.as_deref(), (&actual.bytes, expected), width)),
            };
            judged |= masked.is_some();
            compared |= masked.as_ref().is_none_or(|(_, n)| *n > 0);
            let bytes = masked.as_ref().map_or(&actual.bytes, |(bytes, _)| bytes);
            if !partial && actual.poison.iter().any(|p| *p) {
                let what = format!("`{}` is not written everywhere", actual.name);
                return Err(invalid(Reason::Correctness, what));
            }
            let scalar = scalar_of(e.output.element);
            let allowed = |i: u64| e.output.tolerance.at(magnitude(scalar, expected, i));
            if let Some(d) = first_difference(scalar, expected, bytes, &allowed) {
                let what = format!(
                    "`{}` differs at index {}: {} in place of {}; {} elements differ in all",
                    actual.name, d.index, d.actual, d.expected, d.count
                );
                return Err(invalid(Reason::Correctness, what));
            }
        }
        match judged && !compared {
            true => Err(invalid(Reason::Timeout, UNCOMPARED)),
            false => Ok(()),
        }
    }

    /// The elements of a buffer that differ from what it held before, or were set where nothing was.
    pub(super) fn written(&self, memory: &DeviceMemory, buffer: usize, width: usize) -> Vec<bool> {
        let (Some(now), Some(spec)) =
            (memory.buffers.get(buffer), self.problem.buffers.get(buffer))
        else {
            return vec![];
        };
        let elements = now.bytes.chunks(width);
        match spec.contents {
            Contents::Poison => {
                let set = |i: usize| now.poison.get(i * width).is_none_or(|poison| !poison);
                (0..elements.len()).map(set).collect()
            }
            Contents::Zero => elements.map(|e| e.iter().any(|b| *b != 0)).collect(),
            Contents::Blob(k) => {
                let before = self.blobs.get(k).map(|b| b.chunks(width));
                let before = before.into_iter().flatten();
                elements.zip(before).map(|(a, b)| a != b).collect()
            }
        }
    }
}

const TOO_LONG: &str = "it takes too long to be emulated: choose smaller sizes, or a GPU";
const UNCOMPARED: &str = "it is too large to be emulated whole, and the blocks that were run wrote no element that is known: \
                          choose smaller sizes";

const UNKNOWN: &str = "how its host goes on depends on a value of a launch that is too large to be emulated whole: choose smaller \
                       sizes, or a GPU";

/// Whether a candidate is given a buffer.
fn uses(candidate: &Candidate, buffer: usize) -> bool {
    candidate.actions.iter().any(|action| match action {
        Action::Launch(l) => {
            l.args.iter().any(|a| matches!(a, Arg::Buffer { buffer: b, .. } if *b == buffer))
        }
        Action::Fill { buffer: b, .. } | Action::Read { buffer: b, .. } => *b == buffer,
        Action::SetGlobal { .. } | Action::Preset { .. } => false,
    })
}

/// The bytes to compare, with what is expected where an element is not known or was not written, and how many elements are
/// left.
fn both(
    known: Option<&Vec<bool>>,
    written: Option<&[bool]>,
    (actual, expected): (&[u8], &[u8]),
    width: usize,
) -> (Vec<u8>, usize) {
    let mut bytes = actual.to_vec();
    let mut left = 0;
    for (i, element) in bytes.chunks_mut(width).enumerate() {
        let counts = |mask: Option<&bool>| mask.copied().unwrap_or(false);
        let is_known = known.is_none_or(|mask| counts(mask.get(i)));
        let is_written = written.is_none_or(|mask| counts(mask.get(i)));
        match expected.get(i * width..i * width + element.len()) {
            Some(e) if !is_known || !is_written => element.copy_from_slice(e),
            _ => left += 1,
        }
    }
    (bytes, left)
}

pub(super) fn invalid(reason: Reason, detail: impl Into<String>) -> Fault {
    Fault::Invalid(Invalid::new(reason, detail))
}

fn magnitude(scalar: Scalar, bytes: &[u8], index: u64) -> f64 {
    let width = scalar.bytes() as usize;
    let at = usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(width);
    let element = bytes.get(at..at.saturating_add(width));
    element.map_or(0.0, |e| crate::data::scalar_from_bytes(scalar, e).as_f64().abs())
}

/// What becomes of a text.
pub(super) struct Lowered {
    pub module: Module,
    /// By the names that were asked for; all that are no templates where none was.
    pub kernels: Vec<(String, FuncId)>,
    /// Variables of the device that no kernel uses: they are not in the module.
    pub unread: Vec<String>,
}

/// The kernels of a binary.
pub(super) fn read(binary: &[u8]) -> Result<Lowered, String> {
    let request: Compile = serde_json::from_slice(binary).map_err(|e| e.to_string())?;
    lower(&request)
}

/// The kernels of a text.
fn lower(request: &Compile) -> Result<Lowered, String> {
    let mut sources = SourceMap::default();
    let words = |errors: Vec<Diagnostic>, sources: &SourceMap| {
        errors.first().map_or_else(String::new, |d| d.render(sources, false))
    };
    let mut options = ParseOptions::new(Language::Cuda);
    for option in &request.options {
        if let Some(definition) = option.strip_prefix("-D") {
            let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
            options.defines.push((name.into(), value.into()));
        } else if let Some(folder) = option.strip_prefix("-I") {
            options.include_dirs.push(folder.into());
        }
    }
    let file = if request.file.is_empty() { "candidate.cu" } else { request.file.as_str() };
    let (macros, text) = without_prelude(&request.source);
    options.defines.extend(macros);
    let parsed = parse::parse(file, text.as_bytes(), &options, &DiskLoader, &mut sources);
    let parsed = parsed.map_err(|e| words(e, &sources))?;
    let kernels = match request.kernels.as_slice() {
        [] => KernelSelection::All,
        named => KernelSelection::Named(named.to_vec()),
    };
    let lowered = sema::lower_cuda(&parsed.unit, &Request { kernels, host_functions: vec![] });
    let lowered = lowered.map_err(|e| words(e, &sources))?;
    let kernels = lowered.kernels.iter().map(|k| (k.name.clone(), k.id)).collect();
    let mut unread = device_variables(&parsed.unit.items);
    unread.retain(|name| !lowered.module.globals.iter().any(|g| g.name == *name));
    Ok(Lowered { module: lowered.module, kernels, unread })
}

/// The names of `__constant__` and `__device__` variables.
fn device_variables(items: &[Item]) -> Vec<String> {
    let of = |item: &Item| match &item.kind {
        ItemKind::Vars(v) if v.attrs.constant || v.attrs.device => {
            v.declarators.iter().map(|d| d.name.clone()).collect()
        }
        ItemKind::Namespace { items, .. } => device_variables(items),
        _ => vec![],
    };
    items.iter().flat_map(of).collect()
}

/// Takes the macros that stand before `#line 1` out of a text, so that lines in messages are those of the user's file: the
/// preprocessor counts without `#line`. Constants stay, together on the first line.
fn without_prelude(source: &str) -> (Vec<(String, String)>, String) {
    let plain = || (vec![], source.to_string());
    let Some((head, rest)) = source.split_once("\n#line 1 ") else { return plain() };
    let Some((_, text)) = rest.split_once('\n') else { return plain() };
    let (mut macros, mut constants) = (vec![], String::new());
    for line in head.lines() {
        match line.strip_prefix("#define ") {
            Some(definition) => {
                let (name, value) = definition.split_once(' ').unwrap_or((definition, ""));
                macros.push((name.to_string(), value.to_string()));
            }
            None if line.starts_with("constexpr ") => constants += line,
            None => return plain(),
        }
    }
    if !constants.is_empty() {
        constants.push('\n');
    }
    (macros, constants + text)
}

impl Backend for EmulatorBackend {
    fn hello(&mut self) -> Result<Hello, GpuError> {
        Ok(Hello {
            version: VERSION,
            backend: "emulator".into(),
            device: format!("emulated {}", self.gpu.name),
            arch: self.gpu.arch.into(),
            driver: env!("CARGO_PKG_VERSION").into(),
            compiler: env!("CARGO_PKG_VERSION").into(),
        })
    }

    fn compile(&mut self, request: &Compile) -> Answer<(Vec<KernelInfo>, String, Vec<u8>)> {
        let Lowered { module, kernels, .. } =
            lower(request).map_err(|e| invalid(Reason::Compile, e))?;
        let info = |(name, id): &(String, FuncId)| KernelInfo {
            name: name.clone(),
            symbol: name.clone(),
            registers: REGISTERS,
            shared: shared_bytes(&module, module.function(*id)),
            local: 0,
            spills: 0,
        };
        let binary = serde_json::to_vec(request)
            .map_err(|e| invalid(Reason::Compile, format!("the text cannot be kept: {e}")))?;
        Ok((kernels.iter().map(info).collect(), String::new(), binary))
    }

    fn prepare(&mut self, problem: Problem, blobs: Vec<Vec<u8>>) -> Answer<()> {
        let fits = |k: usize, bytes: u64| blobs.get(k).is_some_and(|b| b.len() as u64 == bytes);
        for spec in &problem.buffers {
            if let Contents::Blob(k) = spec.contents
                && !fits(k, spec.bytes)
            {
                return Err(invalid(Reason::Runtime, format!("`{}` has no contents", spec.name)));
            }
        }
        (self.problem, self.blobs) = (problem, blobs);
        Ok(())
    }

    fn reference(&mut self, reference: &Reference, binary: &[u8]) -> Answer<Vec<Vec<u8>>> {
        let sample = Sample { is_reference: true, ..Sample::default() };
        let executed = self.execute(&reference.candidate, binary, sample)?;
        if reference.whole && !executed.partial.is_empty() {
            return Err(invalid(Reason::Timeout, "it is too large to be emulated whole"));
        }
        let memory = &executed.memory;
        self.reference = Some((reference.candidate.clone(), binary.to_vec()));
        self.problem.expected.clear();
        self.known.clear();
        let mut sampled = vec![];
        for (output, indices) in reference.outputs.iter().zip(&reference.samples) {
            let Output { buffer, element, .. } = output;
            let Some(bytes) = memory.buffers.get(*buffer).map(|b| b.bytes.clone()) else {
                return Err(invalid(Reason::Runtime, "an output has no buffer"));
            };
            let width = element.size() as usize;
            let at = |i: &u64| bytes.chunks(width).nth(usize::try_from(*i).unwrap_or(usize::MAX));
            sampled.push(indices.iter().filter_map(at).flatten().copied().collect());
            let is_partial = executed.partial.contains(buffer);
            self.known.push(is_partial.then(|| self.written(memory, *buffer, width)));
            self.problem.expected.push(Expected { output: output.clone(), blob: self.blobs.len() });
            self.blobs.push(bytes);
        }
        Ok(sampled)
    }

    fn advance(&mut self, actions: &[Action], binary: &[u8], first: bool) -> Answer<Vec<Vec<u8>>> {
        let mut running = match self.underway.take().filter(|_| !first) {
            Some(running) => running,
            None => self.begun(binary, None, Sample::default())?,
        };
        let values = self.advanced(&mut running, actions)?;
        self.underway = Some(running);
        Ok(values)
    }

    fn measure(&mut self, candidate: &Candidate, binary: &[u8], _: &Policy) -> Answer<Vec<f64>> {
        let executed = self.execute(candidate, binary, Sample::default())?;
        self.learn(&executed);
        self.check(&executed)?;
        Ok(vec![executed.ms])
    }

    fn race(
        &mut self,
        candidates: &[Candidate],
        binaries: &[Vec<u8>],
        _: u32,
        policy: &Policy,
    ) -> Answer<Vec<Measured>> {
        let one = |(candidate, binary): (&Candidate, &Vec<u8>)| match self
            .measure(candidate, binary, policy)
        {
            Ok(times) => Ok(Measured::Times(times)),
            Err(Fault::Invalid(invalid)) => Ok(Measured::Invalid(invalid)),
            Err(lost) => Err(lost),
        };
        candidates.iter().zip(binaries).map(one).collect()
    }

    fn limits(&mut self, _: u64) -> Answer<Limits> {
        Err(invalid(Reason::Runtime, "the emulator has no limits to measure"))
    }

    fn occupancy(&mut self, _: &[u8], _: &str, _: &[(u32, u32)]) -> Answer<Vec<u32>> {
        Err(invalid(Reason::Runtime, "the emulator has no driver to ask"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_before_a_text_do_not_move_its_lines() {
        let text = "int x = tile;\n\"\n#line 1 \"\n";
        let (macros, rest) =
            without_prelude(&format!("#define tile 4\n#define odd\n#line 1 \"a.cu\"\n{text}"));
        assert_eq!(macros, [("tile".into(), "4".into()), ("odd".into(), String::new())]);
        assert_eq!(rest, text);
        let (_, rest) = without_prelude(
            "constexpr int a = 1;\nconstexpr int b = 2;\n#line 1 \"a.cu\"\nint x;\n",
        );
        assert_eq!(rest, "constexpr int a = 1;constexpr int b = 2;\nint x;\n");
        for plain in ["int x;\n#line 1 \"a\"\nint y;", "#define a 1\n", "", "#define a 1\n#line 1 "]
        {
            assert_eq!(without_prelude(plain), (vec![], plain.to_string()));
        }
    }
}
