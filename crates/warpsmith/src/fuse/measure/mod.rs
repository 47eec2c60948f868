//! Covers measured on a device: compiled in parallel, compared with each other, timed, the fastest few once more in turns, and
//! elements of the winner's results computed on the CPU.

mod data;
mod texts;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use warpsmith_fuse::library::Library;
use warpsmith_fuse::plan::{Covered, kernels};
use warpsmith_fuse::script::Program;
use warpsmith_gpu::cache::Cache;
use warpsmith_gpu::protocol::{Hello, Policy};
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::Diagnostic;
use warpsmith_tune::exchange::t1;
use warpsmith_tune::outcome::{Measurement, Record};
use warpsmith_tune::space::{Configuration, SharedSpace, Space};
use warpsmith_tune::store::{ProblemKey, fingerprint};
use warpsmith_tune::tuner::{self, Options as TunerOptions};

pub use self::data::Inputs;
pub use self::texts::Texts;
use super::reference::References;
use crate::interrupt;
use crate::search::store::{self, Custom, Keeper};
use crate::search::{Engine, Found, Halt, Options, Plan, Progress, Workload};
use crate::status::{Failure, Status};
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::search::{FINALISTS, ROUNDS, failure};

/// Time for one cover on the device, and for its compilation.
const COVER: Duration = Duration::from_secs(20);
const COMPILATION: Duration = Duration::from_secs(60);

/// What is measured.
pub struct Asked<'a> {
    pub name: &'a str,
    pub program: &'a Program,
    pub library: &'a Library,
    pub references: &'a References,
    /// Best predicted first, each with its files.
    pub covers: &'a [Covered],
    pub files: Vec<Vec<(String, String)>>,
    pub elements: u64,
    pub seed: u64,
    /// Compiling processes; 0: one for each core.
    pub jobs: usize,
    pub store: Option<&'a Path>,
    /// Nothing is recorded.
    pub dry_run: bool,
}

/// A cover as it ran.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Median milliseconds.
    pub ms: f64,
    /// Of the kernel that needs most, in registers a thread and bytes.
    pub registers: u64,
    pub spills: u64,
    pub local: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    pub hello: Hello,
    /// Elements: as many as were asked for, or a few more, so that all blocks are whole.
    pub count: u64,
    /// Bytes of inputs and outputs.
    pub bytes: u64,
    /// For each cover, in the order of prediction; `None`: it does not run, or not in time.
    pub figures: Vec<Option<Figures>>,
    /// Positions, fastest first.
    pub order: Vec<usize>,
    /// A copy of as many bytes, in gigabytes a second.
    pub copy_gb_s: Option<f64>,
    /// Elements whose results the CPU has computed, too.
    pub computed_on_cpu: usize,
    pub notes: Vec<String>,
    pub store: PathBuf,
}

impl Measured {
    /// Share of the speed of a copy that a cover reaches, counting inputs and outputs.
    pub fn share_of_copy(&self, ms: f64) -> Option<f64> {
        Some(self.bytes as f64 / (ms * 1e6) / self.copy_gb_s?)
    }
}

/// Measures covers and ranks them.
///
/// # Errors
/// A device that cannot be used, or no cover that runs and gives what the CPU gives.
pub fn rank(asked: Asked<'_>, stations: Stations) -> Result<Measured, Failure> {
    let count = whole_blocks(asked.covers, asked.elements);
    let program = (asked.program, asked.library);
    let inputs = Inputs::new(program, asked.references, count, asked.seed);
    let arrays = asked.program.inputs.len() + asked.program.outputs.len();
    let name = asked.name.to_string();
    let content = fingerprint(&format!("{:?}", asked.files));
    let mut texts =
        Texts { name, files: asked.files.clone(), task: [inputs.task(0)?], count, arrays };
    let workspace = texts.workspace().map_err(|i| Failure::input("W540", i.to_string()))?;
    if let Some(room) = texts.task[0].problem.buffers.last_mut() {
        room.bytes = workspace.max(16);
    }
    let space = texts.space()?;
    let workload: Arc<dyn Workload> = Arc::new(texts);
    let mut engine = Engine::start(workload, options(asked.jobs, stations)).map_err(failure)?;
    let key = key(&asked, count, content, engine.device());
    let place = store::path(asked.store)?;
    let described = t1::Problem::new(asked.name, asked.name, space.parameters().to_vec(), vec![]);
    let custom = Custom { resume: false, dry_run: asked.dry_run };
    let mut keeper = Keeper::open(&place, &key, &described.write(), custom)?;
    let guard = interrupt::gently();
    let mut keep = |record: &Record| keeper.record(&beside(record, asked.covers));
    let found = all_of(&mut engine, &space, &mut keep)?;
    let records = keeper.results()?;
    if found.ranking.is_empty() {
        return Err(nothing_ran(engine.halt(), reason_of(&records)));
    }
    let mut measured = Measured {
        hello: engine.device().clone(),
        count,
        bytes: inputs.floats() * 4,
        figures: figures(&records, asked.covers.len()),
        order: vec![],
        copy_gb_s: None,
        computed_on_cpu: 0,
        notes: vec![],
        store: place,
    };
    measured.order = finals(&mut engine, &space, &found, &mut measured.figures);
    confirm(&mut engine, &space, &inputs, &mut measured)?;
    measured.copy_gb_s = engine.limits(measured.bytes).map(|l| l.copy_gb_s);
    measured.notes.append(&mut engine.notes);
    drop(guard);
    Ok(measured)
}

/// Measures every configuration of a space.
fn all_of(
    engine: &mut Engine,
    space: &SharedSpace,
    record: &mut dyn FnMut(&Record) -> Result<(), Diagnostic>,
) -> Result<Found, Failure> {
    let progress = Progress::new("measuring covers", &ToString::to_string);
    let options = TunerOptions::every();
    let show = &mut |state: &tuner::Progress| progress.show(state);
    engine.search(Plan { space: space.clone(), options, record, show }).map_err(failure)
}

/// Seconds of each text; `None`: it does not run.
///
/// # Errors
/// A device that cannot be used.
pub fn seconds(texts: Texts, options: &Options) -> Result<Vec<Option<f64>>, Failure> {
    let count = texts.files.len();
    let space = texts.space()?;
    let mut engine = Engine::start(Arc::new(texts), options.clone()).map_err(failure)?;
    let _guard = interrupt::gently();
    let mut records = vec![];
    let mut keep = |record: &Record| {
        records.push(record.clone());
        Ok(())
    };
    all_of(&mut engine, &space, &mut keep)?;
    let seconds: Vec<Option<f64>> =
        figures(&records, count).iter().map(|f| Some(f.as_ref()?.ms * 1e-3)).collect();
    if engine.halt().is_some() || seconds.iter().all(Option::is_none) {
        return Err(nothing_ran(engine.halt(), reason_of(&records)));
    }
    Ok(seconds)
}

/// As many elements as are asked for, or so many more that every kernel whose routines move whole blocks has only whole
/// ones: otherwise some write beyond the end, and others do not.
fn whole_blocks(covers: &[Covered], elements: u64) -> u64 {
    let whole = covers.iter().flat_map(|c| kernels(&c.launches));
    let sizes = whole.filter(|k| k.wants_whole_blocks()).map(|k| u64::from(k.elements * k.batch));
    let both = |a: u64, b: u64| a / gcd(a, b) * b;
    elements.next_multiple_of(sizes.fold(1, both).max(1))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How the engine works.
pub fn options(jobs: usize, stations: Stations) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    Options {
        stations: stations.starts,
        first: stations.first,
        compiler: stations.compiler,
        threads: if jobs > 0 { jobs.min(4 * cores) } else { cores },
        cache: Cache::of_user(),
        limit: COVER,
        compile_limit: COMPILATION,
        policy: Policy::default(),
        gives_up: true,
        stop: Stop { flag: Some(interrupt::flag()), deadline: None },
    }
}

/// Everything that a time depends on.
fn key(asked: &Asked<'_>, count: u64, content: String, hello: &Hello) -> ProblemKey {
    ProblemKey {
        kernel: asked.name.to_string(),
        source_hash: content.clone(),
        schedule_hash: content,
        arguments: json!({"elements": count, "seed": asked.seed}).to_string(),
        device: hello.device.clone(),
        driver: hello.driver.clone(),
        compiler: hello.compiler.clone(),
    }
}

/// The outcome with what was predicted.
fn beside(record: &Record, covers: &[Covered]) -> Record {
    let mut record = record.clone();
    let cover = Texts::position(&record.configuration).and_then(|at| covers.get(at));
    if let Some(cover) = cover {
        record.outcome.measurements.push(Measurement {
            name: "predicted".into(),
            value: json!(cover.seconds * 1e3),
            unit: Some("ms".into()),
            kind: Some("Double".into()),
        });
    }
    record
}

fn figures(records: &[Record], count: usize) -> Vec<Option<Figures>> {
    let mut all = vec![None; count];
    for record in records {
        let place = Texts::position(&record.configuration).and_then(|at| all.get_mut(at));
        let (Some(place), true) = (place, record.outcome.cost().is_finite()) else { continue };
        let number =
            |name: &str| record.outcome.compilation.get(name).and_then(|n| n.as_u64()).unwrap_or(0);
        *place = Some(Figures {
            ms: record.outcome.cost(),
            registers: number("registers"),
            spills: number("spills"),
            local: number("local_memory_size"),
        });
    }
    all
}

/// The fastest few once more, in turns; all positions, fastest first.
fn finals(
    engine: &mut Engine,
    space: &Space,
    found: &Found,
    figures: &mut [Option<Figures>],
) -> Vec<usize> {
    let ranked = found.ranking.iter().map(|(id, _)| space.configuration(*id));
    let ranked: Vec<Configuration> = ranked.collect();
    let first = &ranked[..ranked.len().min(FINALISTS)];
    let mut order: Vec<usize> = ranked.iter().filter_map(Texts::position).collect();
    let Ok(raced) = engine.race(first, &[], ROUNDS) else {
        engine.notes.push("the fastest could not be compared once more".into());
        return order;
    };
    for (at, placed) in order.iter().zip(&raced.entrants) {
        if let (Some(ms), Some(f)) = (placed.ms(), &mut figures[*at]) {
            f.ms = ms;
        }
    }
    let ms = |at: &usize| figures[*at].as_ref().map_or(f64::INFINITY, |f| f.ms);
    order[..first.len()].sort_by(|a, b| ms(a).total_cmp(&ms(b)));
    order
}

/// Looks for the first cover whose results, at full size, are those of the CPU; those before it are left out.
fn confirm(
    engine: &mut Engine,
    space: &Space,
    inputs: &Inputs<'_>,
    measured: &mut Measured,
) -> Result<(), Failure> {
    let samples = inputs.samples();
    let mut wrong = None;
    while let Some(at) = measured.order.first().copied() {
        let Some(id) = space.id(&[at as u16]) else { break };
        let outputs = engine.outputs(&space.configuration(id), 0, inputs.indices(&samples));
        let same = match outputs {
            Ok(outputs) => inputs.same(&samples, &outputs),
            Err(why) => Err(Diagnostic::error("W544", "a cover does not run again").note(why)),
        };
        let Err(error) = same else {
            measured.computed_on_cpu = samples.len();
            return Ok(());
        };
        measured.notes.push(format!("cover {} is left out: {}", at + 1, error.message));
        measured.order.remove(0);
        measured.figures[at] = None;
        wrong = wrong.or(Some(error));
    }
    let none = || Diagnostic::error("W544", "no cover gives what the CPU gives");
    Err(Failure::no(vec![wrong.unwrap_or_else(none)]))
}

fn reason_of(records: &[Record]) -> Option<String> {
    records.iter().find_map(|r| r.outcome.message.clone())
}

fn nothing_ran(halt: Option<Halt>, reason: Option<String>) -> Failure {
    if halt.is_some() {
        return Failure::interrupted("while kernels were measured");
    }
    let d = Diagnostic::error("W544", "no kernel runs on the device");
    let d = reason.into_iter().fold(d, |d, why| d.note(format!("the first says: {why}")));
    Failure::from(d).with_status(Status::No)
}
