//! What is asked of [`tune`](super::tune).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use warpsmith_gpu::stop::Stop;
use warpsmith_tune::strategy::StrategyKind;

use super::device::Device;
use super::sizes::SizeSpec;
use super::verify;
use crate::data::{ArgSpec, NamedSpec};
use crate::interrupt;

/// Memory that verification may use where nobody says otherwise, in bytes.
pub const USUAL_MEMORY: u64 = 8 << 30;

/// A function to translate, for which sizes, and how its schedule is chosen.
///
/// ```
/// use warpsmith_translate::ir::SourceMap;
/// use warpsmith_translate::tune::{Strategy, TuneRequest, tune};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("scale.c");
/// std::fs::write(&file, "
///     void scale(int n, float x[n]) {
///         #pragma omp parallel for
///         for (int i = 0; i < n; i++)
///             x[i] = 2.0f * x[i];
///     }")?;
/// let request = TuneRequest::new(file).size("n", [1 << 20]).strategy(Strategy::Model).arch("sm_90");
/// let mut sources = SourceMap::new();
/// let tuned = tune(&request, &mut sources).map_err(|failure| failure.render(&sources, false))?;
/// assert!(tuned.files[0].1.contains("__global__"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TuneRequest {
    /// What is translated.
    pub source: Source,
    /// For which sizes and data.
    pub data: Data,
    /// The architecture or board that the kernel is for, as `sm_90` or `rtx4070`; `None`: that of the GPU, else `sm_90`.
    pub arch: Option<String>,
    /// How a schedule is chosen.
    pub choosing: Choosing,
    /// Where schedules are measured, and for how long.
    pub measuring: Measuring,
    /// What the work may take.
    pub limits: Limits,
    /// Folder for the results; `None`: `warpsmith-out/NAME`. Nothing is written there by [`tune`](super::tune) itself.
    pub out: Option<PathBuf>,
    /// Record what each step of the schedule made of the function.
    pub show_steps: bool,
    /// Leave the store of results as it is.
    pub dry_run: bool,
}

/// A function of a C file.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The C file.
    pub file: PathBuf,
    /// The function's name; `None`: the only one with marked loops.
    pub function: Option<String>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders that are searched for headers.
    pub include_dirs: Vec<PathBuf>,
}

/// What a function is run on.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// Sizes, of which each can have several values; else those of the file.
    pub sizes: Vec<SizeSpec>,
    /// Numbers, and representative data for arrays.
    pub arguments: Vec<NamedSpec>,
    /// Of random data.
    pub seed: u64,
}

/// How a schedule is chosen.
#[derive(Clone, Debug, Default)]
pub struct Choosing {
    /// `None`: by a search where something measures, else by the device model.
    pub strategy: Option<Strategy>,
    /// A file of steps, in place of those that the templates offer.
    pub schedule: Option<PathBuf>,
    /// Values for parameters of that file, `NAME=N`; the others are chosen.
    pub params: Vec<String>,
    /// Where the model gets the registers of kernels from.
    pub registers: RegisterSource,
}

/// Where schedules are measured, and for how long.
#[derive(Clone, Debug, Default)]
pub struct Measuring {
    /// The device, `--device`.
    pub device: Device,
    /// Numbers of the devices that measure at the same time, as `0,1`, or `all`.
    pub devices: Option<String>,
    /// Commands that start workers, such as `srun --ntasks=1`; one for each worker.
    pub launchers: Vec<String>,
    /// When a search ends; `None`: after thirty seconds.
    pub budget: Option<SearchBudget>,
    /// Go on with a search that was stopped.
    pub resume: bool,
    /// The database of results; `None`: that of the user.
    pub store: Option<PathBuf>,
    /// A kernel of the user's with the same launcher, to be measured in the same rounds.
    pub against: Option<PathBuf>,
}

/// What the work may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Threads of the emulator; 0: one for each core.
    pub jobs: usize,
    /// Bytes.
    pub max_memory: u64,
    /// Time for everything.
    pub timeout: Option<Duration>,
    /// When that has passed, once the work has begun.
    pub ends: Option<Instant>,
    /// Ends the work as soon as it is set.
    pub interrupt: Arc<AtomicBool>,
    /// Steps of the reference at all sizes together, after which no further size is looked at.
    pub verify_steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            jobs: 0,
            max_memory: USUAL_MEMORY,
            timeout: None,
            ends: None,
            interrupt: interrupt::flag(),
            verify_steps: verify::TOTAL_STEPS,
        }
    }
}

impl Limits {
    /// As the work begins: the time for everything runs.
    pub fn begun(&self) -> Limits {
        Limits { ends: self.deadline(), ..self.clone() }
    }

    /// When everything must have ended; before the work has begun, counted from now.
    pub fn deadline(&self) -> Option<Instant> {
        self.ends.or_else(|| Instant::now().checked_add(self.timeout?))
    }

    /// What ends waiting and searching.
    pub fn stop(&self) -> Stop {
        Stop { flag: Some(self.interrupt.clone()), deadline: self.deadline() }
    }
}

/// Where the model gets the registers of a kernel from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegisterSource {
    /// NVRTC or nvcc compiles the best candidates, where one is installed.
    #[default]
    Auto,
    /// An estimate, which is the same on every machine.
    Estimate,
}

/// How a schedule is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The device model ranks the schedules that the nest's templates offer.
    Model,
    /// The direct translation.
    Direct,
    /// Schedules are measured.
    Search(StrategyKind),
}

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchBudget {
    /// After this wall-clock time.
    Time(Duration),
    /// Distinct configurations.
    Evaluations(u64),
}

impl TuneRequest {
    /// The only function with marked loops of a C file, at the sizes that the file names itself.
    pub fn new(file: impl Into<PathBuf>) -> TuneRequest {
        TuneRequest {
            source: Source { file: file.into(), ..Source::default() },
            data: Data::default(),
            arch: None,
            choosing: Choosing::default(),
            measuring: Measuring::default(),
            limits: Limits::default(),
            out: None,
            show_steps: false,
            dry_run: false,
        }
    }

    /// The function to translate, where the file has several.
    pub fn function(mut self, name: impl Into<String>) -> TuneRequest {
        self.source.function = Some(name.into());
        self
    }

    /// A size parameter, and the values to tune for.
    pub fn size(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = i64>,
    ) -> TuneRequest {
        let values = values.into_iter().collect();
        self.data.sizes.push(SizeSpec { name: name.into(), values });
        self
    }

    /// A number for a parameter that is no size, or data for an array.
    pub fn argument(mut self, name: &str, spec: ArgSpec) -> TuneRequest {
        self.data.arguments.push(NamedSpec::new(name, spec));
        self
    }

    /// The architecture or board that the kernel is for.
    pub fn arch(mut self, name: impl Into<String>) -> TuneRequest {
        self.arch = Some(name.into());
        self
    }

    /// How a schedule is chosen.
    pub fn strategy(mut self, strategy: Strategy) -> TuneRequest {
        self.choosing.strategy = Some(strategy);
        self
    }

    /// A file of steps, in place of those that the templates offer.
    pub fn schedule(mut self, file: impl Into<PathBuf>) -> TuneRequest {
        self.choosing.schedule = Some(file.into());
        self
    }

    /// Where the model gets the registers of kernels from.
    pub fn registers(mut self, source: RegisterSource) -> TuneRequest {
        self.choosing.registers = source;
        self
    }

    /// Where schedules are measured. Workers are processes of the command: another program names it in `WARPSMITH_WORKER`.
    pub fn device(mut self, device: Device) -> TuneRequest {
        self.measuring.device = device;
        self
    }

    /// When a search ends.
    pub fn budget(mut self, budget: SearchBudget) -> TuneRequest {
        self.measuring.budget = Some(budget);
        self
    }

    /// Threads of the emulator; 0: one for each core.
    pub fn jobs(mut self, jobs: usize) -> TuneRequest {
        self.limits.jobs = jobs;
        self
    }

    /// Bytes that verification may use.
    pub fn max_memory(mut self, bytes: u64) -> TuneRequest {
        self.limits.max_memory = bytes;
        self
    }

    /// Time for everything.
    pub fn timeout(mut self, time: Duration) -> TuneRequest {
        self.limits.timeout = Some(time);
        self
    }

    /// Steps of the reference at all sizes together, after which no further size is looked at.
    pub fn verify_steps(mut self, steps: u64) -> TuneRequest {
        self.limits.verify_steps = steps;
        self
    }

    /// Record what each step of the schedule made of the function.
    pub fn show_steps(mut self, show: bool) -> TuneRequest {
        self.show_steps = show;
        self
    }
}
