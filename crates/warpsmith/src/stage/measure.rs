//! Plans of `--auto` as they run on a device: compiled, compared with the kernel as it is, timed, and the fastest once more in turns.

use std::sync::Arc;
use std::time::Duration;

use warpsmith_gpu::cache::Cache;
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{
    Action, Arg, BufferSpec, Candidate, Compile, Contents, Element, Invalid, Launch, Policy,
    Problem, Reason, Tolerance,
};
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{Diagnostic, Scalar, SourceMap};
use warpsmith_stage::auto::costs::{Argument, Array, Runnable, Times};
use warpsmith_stage::program::{Compiler, Settings};
use warpsmith_tune::outcome::Record;
use warpsmith_tune::space::{Configuration, Parameter, SharedSpace, Space};
use warpsmith_tune::tuner::{self, Options as TunerOptions};
use warpsmith_tune::value::Value;

use super::device_text::device_text;
use crate::interrupt;
use crate::search::{
    Compared, Device, Draft, Engine, Options, Plan, Progress, SearchError, Task, Workload,
};
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::search::{FINALISTS, ROUNDS, failure};

/// Time for one plan on the device, and for its compilation.
const PLAN: Duration = Duration::from_secs(20);
const COMPILATION: Duration = Duration::from_secs(60);
/// Bytes of data that repeat.
const PATTERN: usize = 4 << 20;
/// Sums may be rounded otherwise where the compiler contracts other operations.
const TOLERANCE: Tolerance = Tolerance { absolute: 0.0, relative: 1e-4, own: 0.0 };
const OF_LARGEST: f64 = 1e-5;

/// Seconds of texts that work on the same arrays. Those that compute something else on purpose are timed by themselves.
///
/// # Errors
/// A device that cannot be used.
pub fn seconds(
    stations: &Stations,
    settings: &Settings,
    arrays: &[Array],
    texts: &[Runnable],
) -> Result<Times, String> {
    let mut times: Times = vec![None; texts.len()];
    for differs in [false, true] {
        let some: Vec<usize> = (0..texts.len()).filter(|n| texts[*n].differs == differs).collect();
        if some.is_empty() {
            continue;
        }
        let kept = some.iter().map(|n| texts[*n].clone()).collect();
        let plans = Plans::new(settings, arrays, kept, !differs);
        for (n, time) in some.into_iter().zip(plans.measured(stations).map_err(words)?) {
            times[n] = time;
        }
    }
    Ok(times)
}

fn words(error: SearchError) -> String {
    let failure = failure(error);
    failure.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

/// The parameter whose value is a text's number, from 1 on.
const NUMBER: &str = "plan";

/// Texts as the workload of a search.
struct Plans {
    compiler: Compiler,
    texts: Vec<Runnable>,
    task: [Task; 1],
}

impl Plans {
    fn new(settings: &Settings, arrays: &[Array], texts: Vec<Runnable>, compares: bool) -> Plans {
        let (mut buffers, mut blobs, mut outputs) = (vec![], vec![], vec![]);
        for (k, array) in arrays.iter().enumerate() {
            let contents = Contents::Blob(blobs.len());
            blobs.push(data(array, k as u64));
            buffers.push(BufferSpec { name: array.name.clone(), bytes: array.bytes, contents });
            if let Some(element) = array.element.map(element).filter(|_| compares && array.written)
            {
                let (tolerance, of_largest) = match element {
                    Element::Bits(_) => (Tolerance::default(), 0.0),
                    _ => (TOLERANCE, OF_LARGEST),
                };
                outputs.push(Compared { buffer: k, element, tolerance, of_largest });
            }
        }
        let problem = Problem { buffers, expected: vec![] };
        let label = "plans".to_string();
        let task = [Task { label, problem, blobs, nearby: vec![], outputs, reference: None }];
        Plans { compiler: Compiler::new(settings.clone()), texts, task }
    }

    fn space(&self) -> Result<SharedSpace, Diagnostic> {
        let numbers = (1..=self.texts.len() as i64).map(Value::Int);
        let space = Space::new(vec![Parameter::new(NUMBER, numbers)], &[]);
        space.map(Arc::new).map_err(|e| e.diagnostic(&|_| None))
    }

    /// Seconds of each text; the first is run first, so that the others are compared with it.
    fn measured(self, stations: &Stations) -> Result<Times, SearchError> {
        let count = self.texts.len();
        let names: Vec<String> = self.texts.iter().map(|t| t.name.clone()).collect();
        let space = self.space().map_err(|d| SearchError::Search(Box::new(d)))?;
        let mut engine = Engine::start(Arc::new(self), options(stations))?;
        let _guard = interrupt::gently();
        let words = |c: &Configuration| position(c).map_or(String::new(), |n| names[n].clone());
        let progress = Progress::new("measuring plans", &words);
        let mut times: Times = vec![None; count];
        let mut record = |record: &Record| {
            let place = position(&record.configuration).and_then(|n| times.get_mut(n));
            if let (Some(place), true) = (place, record.outcome.cost().is_finite()) {
                *place = Some(record.outcome.cost() * 1e-3);
            }
            Ok(())
        };
        let options = TunerOptions::every();
        let show = &mut |state: &tuner::Progress| progress.show(state);
        let plan = Plan { space: space.clone(), options, record: &mut record, show };
        let found = engine.search(plan)?;
        let mut first: Vec<Configuration> =
            found.ranking.iter().take(FINALISTS).map(|(id, _)| space.configuration(*id)).collect();
        // What they are compared with runs in the same rounds.
        if let Some(own) = space.id(&[0]).map(|id| space.configuration(id))
            && times[0].is_some()
            && !first.contains(&own)
        {
            first.push(own);
        }
        if let Ok(raced) = engine.race(&first, &[], ROUNDS) {
            for (c, placed) in first.iter().zip(&raced.entrants) {
                if let (Some(n), Some(ms)) = (position(c), placed.ms()) {
                    times[n] = Some(ms * 1e-3);
                }
            }
        }
        Ok(times)
    }
}

fn position(configuration: &Configuration) -> Option<usize> {
    match configuration.get(NUMBER) {
        Some(Value::Int(n)) => usize::try_from(n - 1).ok(),
        _ => None,
    }
}

fn options(stations: &Stations) -> Options {
    Options {
        stations: stations.starts.clone(),
        first: stations.first.clone(),
        compiler: stations.compiler.clone(),
        threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
        cache: Cache::of_user(),
        limit: PLAN,
        compile_limit: COMPILATION,
        policy: Policy::default(),
        gives_up: true,
        stop: Stop { flag: Some(interrupt::flag()), deadline: None },
    }
}

fn element(scalar: Scalar) -> Element {
    match scalar {
        Scalar::F16 => Element::F16,
        Scalar::BF16 => Element::Bf16,
        Scalar::F32 => Element::F32,
        Scalar::F64 => Element::F64,
        other => Element::Bits(other.bytes() as u8),
    }
}

/// Reals between 1 and 2, and small integers: subscripts may be made from them.
fn data(array: &Array, seed: u64) -> Vec<u8> {
    let bytes = usize::try_from(array.bytes).unwrap_or(usize::MAX);
    let scalar = array.element.unwrap_or(Scalar::F32);
    let size = scalar.bytes() as usize;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut pattern = Vec::with_capacity(bytes.min(PATTERN) + size);
    while pattern.len() < bytes.min(PATTERN) {
        let n = number();
        let bits = match scalar {
            Scalar::F64 => 0x3ff0_0000_0000_0000 | n >> 12,
            Scalar::F32 => 0x3f80_0000 | n >> 41,
            Scalar::F16 => 0x3c00 | n >> 54,
            Scalar::BF16 => 0x3f80 | n >> 57,
            Scalar::Bool => n & 1,
            _ => n % 7,
        };
        pattern.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    let mut all = Vec::with_capacity(bytes);
    while all.len() < bytes {
        let n = pattern.len().min(bytes - all.len());
        all.extend_from_slice(&pattern[..n]);
    }
    all
}

impl Workload for Plans {
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid> {
        let none = || Invalid::new(Reason::Constraints, "no number");
        let n = position(configuration).ok_or_else(none)?;
        let made = &self.texts[n];
        let said = |d: Vec<Diagnostic>| {
            let why = d.first().map_or_else(String::new, |d| d.render(&SourceMap::new(), false));
            Invalid::new(Reason::Compile, why)
        };
        let source = device_text(&self.compiler, &made.text).map_err(said)?;
        let settings = self.compiler.settings();
        let defines = settings.defines.iter().map(|(n, v)| format!("-D{n}={v}"));
        let folders = settings.include_dirs.iter().map(|f| format!("-I{}", f.display()));
        let options = std::iter::once("--std=c++17".to_string()).chain(defines).chain(folders);
        let request = Compile {
            source,
            file: settings.path.clone(),
            arch: String::new(),
            options: options.collect(),
            kernels: vec![made.kernel.clone()],
        };
        Ok(Arc::new(Text { key: n.to_string(), request, made: made.clone() }))
    }

    fn tasks(&self) -> &[Task] {
        &self.task
    }
}

/// One text on its way to the compiler.
struct Text {
    key: String,
    request: Compile,
    made: Runnable,
}

impl Draft for Text {
    fn request(&self) -> Compile {
        self.request.clone()
    }

    fn candidate(
        &self,
        binary: &Binary,
        _: usize,
        _: &mut dyn Device,
    ) -> Result<Candidate, Invalid> {
        let made = &self.made;
        let found = binary.kernels.iter().find(|k| k.name == made.kernel);
        let kernel = found.or(binary.kernels.first()).map(|k| k.symbol.clone());
        let none = || Invalid::new(Reason::Compile, "the binary has no kernel");
        let args = made.arguments.iter().map(|a| match a {
            Argument::Array(k) => Arg::Buffer { buffer: *k, offset: 0 },
            Argument::Value(bytes) => Arg::Bytes(bytes.clone()),
        });
        let launch = Launch {
            kernel: kernel.ok_or_else(none)?,
            grid: made.grid,
            block: made.block,
            shared: made.dynamic_shared,
            args: args.collect(),
        };
        Ok(Candidate { key: self.key.clone(), actions: vec![Action::Launch(launch)] })
    }
}
