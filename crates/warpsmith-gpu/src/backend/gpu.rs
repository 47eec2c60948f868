//! The backend with a real device.

use super::compare::Comparer;
use super::compiler::compile;
use super::memory::{Memory, POISON, buffer};
use super::timing::Clock;
use super::{Backend, Fault, Result, library, limits};
use crate::driver::{Device, Function, Gpu, Module};
use crate::error::GpuError;
use crate::nvrtc::Compiler;
use crate::protocol::{
    Action, Arg, Candidate, Compile, Hello, Invalid, KernelInfo, Launch, Limits, Measured, Policy,
    Problem, Product, Reason, Reference, VERSION,
};

/// An entrant of a race whose runs, checks or rounds, have taken so many milliseconds runs no further: what takes seconds
/// each time is known well enough.
const RACED_MS: f64 = 3000.0;

/// One GPU, its compiler, and the problem in hand.
pub struct GpuBackend {
    gpu: Gpu,
    device: Device,
    compiler: Compiler,
    clock: Clock,
    comparer: Comparer,
    memory: Option<Memory>,
    /// The run whose host waits for values.
    underway: Option<Module>,
}

/// A candidate whose kernels have been found in its binary.
struct Loaded {
    module: Module,
    steps: Vec<Step>,
}

enum Step {
    Launch { function: Function, launch: Launch, args: Vec<Vec<u8>> },
    SetGlobal { symbol: String, bytes: Vec<u8> },
    Fill { buffer: usize, offset: u64, bytes: u64, value: u8 },
    Read { buffer: usize, offset: u64, bytes: usize },
}

impl GpuBackend {
    /// Opens a device.
    ///
    /// # Errors
    /// No driver, device or compiler.
    pub fn open(ordinal: u32, compiler: Compiler) -> std::result::Result<GpuBackend, GpuError> {
        let gpu = Gpu::open(ordinal)?;
        let device = gpu.device()?;
        let clock = Clock::new(&gpu, device.l2)?;
        let comparer = Comparer::new(&gpu, &compiler, &device.arch)?;
        Ok(GpuBackend { gpu, device, compiler, clock, comparer, memory: None, underway: None })
    }

    fn memory(&self) -> std::result::Result<&Memory, GpuError> {
        self.memory.as_ref().ok_or_else(|| GpuError::BadRequest("there is no problem yet".into()))
    }

    fn load(&self, candidate: &Candidate, binary: &[u8]) -> std::result::Result<Loaded, GpuError> {
        self.loaded(self.gpu.load(binary)?, &candidate.actions)
    }

    fn loaded(&self, module: Module, actions: &[Action]) -> std::result::Result<Loaded, GpuError> {
        let memory = self.memory()?;
        let mut steps = vec![];
        for action in actions {
            steps.push(match action {
                Action::Launch(launch) => {
                    let function = module.function(&launch.kernel)?;
                    function.allow_shared(launch.shared)?;
                    let args = launch.args.iter().map(|a| bytes_of(a, memory));
                    let args = args.collect::<std::result::Result<_, _>>()?;
                    Step::Launch { function, launch: launch.clone(), args }
                }
                Action::SetGlobal { symbol, bytes } => {
                    Step::SetGlobal { symbol: symbol.clone(), bytes: bytes.clone() }
                }
                Action::Preset { symbol, bytes } => {
                    module.set_global(symbol, bytes)?;
                    continue;
                }
                Action::Fill { buffer, offset, bytes, value } => {
                    Step::Fill { buffer: *buffer, offset: *offset, bytes: *bytes, value: *value }
                }
                Action::Read { buffer, offset, bytes } => {
                    let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
                    Step::Read { buffer: *buffer, offset: *offset, bytes }
                }
            });
        }
        Ok(Loaded { module, steps })
    }

    /// Gives what is read.
    fn start(&self, loaded: &Loaded) -> std::result::Result<Vec<Vec<u8>>, GpuError> {
        let mut read = vec![];
        for step in &loaded.steps {
            match step {
                Step::Launch { function, launch, args } => {
                    function.launch(launch.grid, launch.block, launch.shared, args)?;
                }
                Step::SetGlobal { symbol, bytes } => loaded.module.set_global(symbol, bytes)?,
                Step::Fill { buffer: at, offset, bytes, value } => {
                    buffer(&self.memory()?.buffers, *at)?.fill(*offset, *bytes, *value)?;
                }
                Step::Read { buffer: at, offset, bytes } => {
                    let from = buffer(&self.memory()?.buffers, *at)?;
                    let within = from.len().min(*bytes as u64) as usize;
                    let mut value = vec![0; within];
                    from.read(*offset, &mut value)?;
                    read.push(value);
                }
            }
        }
        Ok(read)
    }

    /// Runs a candidate on fresh buffers, once with each poison, and compares. The times of the runs, in milliseconds.
    fn check(&self, loaded: &Loaded, problem: &Memory) -> Result<Vec<f64>> {
        let mut times = vec![];
        for poison in POISON {
            times.push(self.once(loaded, problem, poison)?);
            for (output, expected) in &problem.expected {
                let actual = buffer(&problem.buffers, output.buffer).map_err(fault)?;
                let found = self.comparer.difference(output, expected, actual).map_err(fault)?;
                if let Some(d) = found {
                    let what = format!(
                        "buffer {} differs at index {}; {} elements differ in all",
                        output.buffer, d.first, d.count
                    );
                    return Err(Fault::Invalid(Invalid::new(Reason::Correctness, what)));
                }
            }
        }
        Ok(times)
    }

    /// Runs a candidate and looks at the fences beside its buffers. Its time in milliseconds.
    fn once(&self, loaded: &Loaded, memory: &Memory, poison: u8) -> Result<f64> {
        memory.reset(poison).map_err(fault)?;
        self.gpu.synchronize().map_err(fault)?;
        let time = self.clock.time(false, || self.start(loaded).map(drop)).map_err(fault)?;
        self.gpu.synchronize().map_err(fault)?;
        if let Some(k) = memory.broken_fence().map_err(fault)? {
            let what = format!("it wrote beside buffer {k}");
            return Err(Fault::Invalid(Invalid::new(Reason::Runtime, what)));
        }
        Ok(time)
    }

    /// Loads and checks a candidate. Beside it the times of the checked runs, in milliseconds.
    fn ready(&self, candidate: &Candidate, binary: &[u8]) -> Result<(Loaded, Vec<f64>)> {
        let loaded = self.load(candidate, binary).map_err(fault)?;
        let times = self.check(&loaded, self.memory().map_err(fault)?)?;
        Ok((loaded, times))
    }

    /// The runs of a candidate whose outputs have been checked.
    fn samples(&self, loaded: &Loaded, policy: &Policy) -> Result<Vec<f64>> {
        let memory = self.memory().map_err(fault)?;
        let before = || memory.reset(POISON[0]);
        self.clock.samples(policy, before, || self.start(loaded).map(drop)).map_err(fault)
    }
}

/// A value's bytes; buffers become addresses.
fn bytes_of(arg: &Arg, memory: &Memory) -> std::result::Result<Vec<u8>, GpuError> {
    Ok(match arg {
        Arg::Null => 0u64.to_le_bytes().to_vec(),
        Arg::Bytes(bytes) => bytes.clone(),
        Arg::Buffer { buffer: at, offset } => {
            let address = buffer(&memory.buffers, *at)?.address();
            address.wrapping_add_signed(*offset).to_le_bytes().to_vec()
        }
    })
}

/// An error as the fault of the candidate that was running.
fn fault(error: GpuError) -> Fault {
    let lost = matches!(error, GpuError::Lost(_));
    let invalid = Invalid::new(Reason::Runtime, error.to_string());
    if lost { Fault::Lost(invalid) } else { Fault::Invalid(invalid) }
}

impl Backend for GpuBackend {
    fn hello(&mut self) -> std::result::Result<Hello, GpuError> {
        Ok(Hello {
            version: VERSION,
            backend: "gpu".into(),
            device: self.device.name.clone(),
            arch: self.device.arch.clone(),
            driver: self.device.driver.clone(),
            compiler: self.compiler.version().into(),
        })
    }

    fn compile(&mut self, request: &Compile) -> Result<(Vec<KernelInfo>, String, Vec<u8>)> {
        compile(&self.compiler, request)
    }

    fn prepare(&mut self, problem: Problem, blobs: Vec<Vec<u8>>) -> Result<()> {
        // The old problem's memory first: both may not fit.
        self.memory = None;
        self.memory = Some(Memory::new(&self.gpu, &problem, &blobs).map_err(fault)?);
        Ok(())
    }

    fn reference(&mut self, reference: &Reference, binary: &[u8]) -> Result<Vec<Vec<u8>>> {
        let loaded = self.load(&reference.candidate, binary).map_err(fault)?;
        self.once(&loaded, self.memory().map_err(fault)?, POISON[0])?;
        if let Some(memory) = &mut self.memory {
            memory.keep(&self.gpu, &reference.outputs).map_err(fault)?;
        }
        let memory = self.memory().map_err(fault)?;
        let mut sampled = vec![];
        for (output, indices) in reference.outputs.iter().zip(&reference.samples) {
            let from = buffer(&memory.buffers, output.buffer).map_err(fault)?;
            let mut all = vec![];
            for index in indices {
                let mut element = vec![0u8; output.element.size() as usize];
                let at = index.saturating_mul(output.element.size());
                from.read(at, &mut element).map_err(fault)?;
                all.extend(element);
            }
            sampled.push(all);
        }
        Ok(sampled)
    }

    fn advance(&mut self, actions: &[Action], binary: &[u8], first: bool) -> Result<Vec<Vec<u8>>> {
        let module = match self.underway.take().filter(|_| !first) {
            Some(module) => module,
            None => {
                self.memory().and_then(|m| m.reset(POISON[0])).map_err(fault)?;
                self.gpu.load(binary).map_err(fault)?
            }
        };
        let loaded = self.loaded(module, actions).map_err(fault)?;
        let read = self.start(&loaded).map_err(fault)?;
        self.underway = Some(loaded.module);
        Ok(read)
    }

    fn measure(
        &mut self,
        candidate: &Candidate,
        binary: &[u8],
        policy: &Policy,
    ) -> Result<Vec<f64>> {
        let (loaded, _) = self.ready(candidate, binary)?;
        self.samples(&loaded, policy)
    }

    fn race(
        &mut self,
        candidates: &[Candidate],
        binaries: &[Vec<u8>],
        rounds: u32,
        policy: &Policy,
    ) -> Result<Vec<Measured>> {
        let mut entrants = vec![];
        for (candidate, binary) in candidates.iter().zip(binaries) {
            entrants.push(match self.ready(candidate, binary) {
                Ok((loaded, times)) if times.iter().sum::<f64>() < RACED_MS => Ok((loaded, vec![])),
                Ok(slow) => Ok(slow),
                Err(Fault::Invalid(invalid)) => Err(invalid),
                Err(lost) => return Err(lost),
            });
        }
        let one = Policy { min_runs: 1, max_runs: 1, warmup: 0, ..*policy };
        for _ in 0..rounds.max(1) {
            for (loaded, samples) in entrants.iter_mut().flatten() {
                if samples.iter().sum::<f64>() < RACED_MS {
                    samples.extend(self.samples(loaded, &one)?);
                }
            }
        }
        let result = |e| match e {
            Ok((_, samples)) => Measured::Times(samples),
            Err(invalid) => Measured::Invalid(invalid),
        };
        Ok(entrants.into_iter().map(result).collect())
    }

    fn limits(&mut self, bytes: u64) -> Result<Limits> {
        limits::measure(&self.gpu, &self.compiler, &self.clock, bytes).map_err(fault)
    }

    fn product(&mut self, product: &Product) -> Result<f64> {
        library::measure(&self.gpu, &self.clock, product).map_err(fault)
    }

    fn occupancy(
        &mut self,
        binary: &[u8],
        kernel: &str,
        shapes: &[(u32, u32)],
    ) -> Result<Vec<u32>> {
        let function = self.gpu.load(binary).and_then(|m| m.function(kernel)).map_err(fault)?;
        let blocks = |(threads, shared): &(u32, u32)| {
            function.blocks_per_multiprocessor(*threads, *shared).map_err(fault)
        };
        shapes.iter().map(blocks).collect()
    }
}
