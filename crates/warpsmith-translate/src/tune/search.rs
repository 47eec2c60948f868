//! The choice of a schedule by measurement.

mod finals;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use warpsmith_device::Gpu;
use warpsmith_front::cloops::CInput;
use warpsmith_gpu::cache::Cache;
use warpsmith_gpu::protocol::{Hello, Limits, Policy, Reason};
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::{Kernel, Schedule, lower, schedule};
use warpsmith_tune::exchange::t1;
use warpsmith_tune::outcome::{Measurement, Record, Status as Validity};
use warpsmith_tune::space::Configuration;
use warpsmith_tune::store::{ProblemKey, fingerprint};
use warpsmith_tune::strategy::StrategyKind;
use warpsmith_tune::tuner::{Budget, Finished, Options as TunerOptions, Prior};

pub use finals::{FINALISTS, ROUNDS};
use finals::{Finals, confirmed, finals, not_confirmed};

use super::choice::predictions;
use super::device::Stations;
use super::estimates::Estimates;
use super::measure::{Candidates, Model, Nests, Source, spelled};
use super::recompute::Recomputed;
use super::request::{SearchBudget, Strategy, TuneRequest};
use super::sizes::Point;
use super::space;
use super::verify::points;
use crate::data::{ArgSpec, Init, NamedSpec, content_hash};
use crate::interrupt;
use crate::search::outcome::each_task;
use crate::search::store::{self, Custom, Keeper};
use crate::search::{
    Arithmetic, Draft, Engine, Found, Halt, Options, Plan, Progress, SearchError, Told, Workload,
    failures,
};
use crate::status::{Failure, Status};

/// Time for a search where the options name no budget.
pub const USUAL_BUDGET: Duration = Duration::from_secs(30);
/// Time for one candidate on the device, and for its compilation.
const CANDIDATE: Duration = Duration::from_secs(20);
const COMPILATION: Duration = Duration::from_secs(60);

/// A schedule that ran with right results.
pub(in crate::tune) struct Winner {
    pub schedule: Schedule,
    pub configuration: Configuration,
    /// Median milliseconds at each size.
    pub ms: Vec<f64>,
}

/// What a search did, for the report.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The first worker and its device.
    pub hello: Hello,
    /// Devices in use.
    pub devices: usize,
    /// The search strategy.
    pub strategy: StrategyKind,
    /// Configurations of the space.
    pub configurations: u64,
    /// Distinct configurations whose outcome is known.
    pub evaluated: u64,
    /// Of these, known from an earlier run.
    pub recalled: u64,
    /// Of these, the ones that do not compile or run, or give wrong results.
    pub failed: u64,
    /// What is recorded of those that cannot be used: the kind, how many, and a reason.
    pub failures: Vec<(&'static str, usize, String)>,
    /// Wall-clock time of the search.
    pub elapsed: Duration,
    /// Why the search ended.
    pub finished: Finished,
    /// Ctrl-C ended the search or the final comparison.
    pub interrupted: bool,
    /// The chosen configuration: names and values.
    pub chosen: BTreeMap<String, Json>,
    /// Median milliseconds at each size: of the chosen schedule, and of the direct translation.
    pub ms: Vec<f64>,
    /// Median milliseconds of the direct translation at each size; `None`: it did not run in the final comparison.
    pub direct_ms: Option<Vec<f64>>,
    /// The user's own kernel in the same rounds; `None` inside: it fails, or its results are wrong.
    pub against: Option<Option<Vec<f64>>>,
    /// The fastest configuration of each size, with its milliseconds.
    pub best: Vec<Option<(f64, BTreeMap<String, Json>)>>,
    /// What the device reaches at most, measured in the same run; `None`: its worker does not tell.
    pub limits: Option<Limits>,
    /// What is wrong with a time in which the arithmetic cannot be done.
    pub too_fast: Option<String>,
    /// Bytes of all arrays at the first size.
    pub bytes: u64,
    /// What came of computing elements of the outputs on the CPU, at each size.
    pub recomputed: Vec<Recomputed>,
    /// The sizes, for people: `n=1024`.
    pub sizes: Vec<String>,
    /// The file that keeps the results.
    pub store: PathBuf,
    /// Outputs that were not compared at these sizes: rounding errors in the arguments change them beyond recognition.
    pub uncompared: Vec<String>,
    /// What else is to be known, a sentence each, such as devices that were left out.
    pub notes: Vec<String>,
}

impl Measured {
    /// How many times as long as the direct translation a schedule with these milliseconds takes, all sizes together,
    /// where it takes longer.
    pub fn loses_to_direct(&self, ms: &[f64]) -> Option<f64> {
        let direct = self.direct_ms.as_ref().filter(|d| d.len() == ms.len() && !d.is_empty())?;
        let logarithms: f64 = ms.iter().zip(direct).map(|(ms, d)| (ms / d).ln()).sum();
        Some((logarithms / ms.len() as f64).exp()).filter(|times| *times > 1.0)
    }

    /// What the times are.
    pub fn told(&self) -> Told {
        Told::by(&self.hello)
    }

    /// Device and sizes, for a sentence: "measured on … at n=…".
    pub fn on(&self) -> String {
        format!("{} at {}", self.told().on(&self.hello.device), self.sizes.join("; "))
    }
}

/// What is searched.
pub(in crate::tune) struct Asked<'a> {
    pub request: &'a TuneRequest,
    pub input: &'a CInput,
    pub specs: &'a [NamedSpec],
    pub sizes: &'a [Point],
    /// The text of the C file.
    pub text: &'a [u8],
}

/// Measures schedules; the best come first.
///
/// # Errors
/// Bad input, a device that cannot be used, or nothing that ran.
pub(in crate::tune) fn search(
    asked: &Asked<'_>,
    stations: &Stations,
    sources: &mut SourceMap,
) -> Result<(Vec<Winner>, Measured), Failure> {
    let request = asked.request;
    // Before anything else is added to them.
    let content = content(asked, sources);
    let kernel = stations.arch.kernel(asked.input.module.clone(), asked.input.function);
    let stop = request.limits.stop();
    let gpu = stations.arch.gpu();
    let candidates = match &request.choosing.schedule {
        Some(path) => of_file(path, request, sources)?,
        None => Candidates::of_templates(&kernel, gpu, asked.sizes, sources, &stop)?,
    };
    let nests = Arc::new(nests(asked, stations, &candidates)?);
    let rival =
        request.measuring.against.as_ref().map(|path| nests.rival(path, sources)).transpose()?;
    let estimates = Estimates::new(&kernel, gpu, asked.sizes, sources, &stop);
    let model = Model { candidates: &candidates, estimates };
    let workload: Arc<dyn Workload> = nests.clone();
    let mut engine = Engine::start(workload, options(request, stations)).map_err(failure)?;

    let place = store::path(request.measuring.store.as_deref())?;
    let key = key(asked, &content, &candidates, engine.device());
    let custom = Custom { resume: request.measuring.resume, dry_run: request.dry_run };
    let space = described(asked, &candidates).write();
    let mut keeper = Keeper::open(&place, &key, &space, custom)?;
    let recalled = keeper.known(&candidates.space).len() as u64;
    let guard = interrupt::gently();
    let found = searched(request, &model, &mut engine, &mut keeper)?;
    let rivals: Vec<Arc<dyn Draft>> = rival.into_iter().collect();
    let Finals { winners, direct_ms, against } = finals(&mut engine, &candidates, &found, &rivals)?;
    let (winners, recomputed) = match engine.halt() {
        // The user does not wait for what only confirms.
        Some(_) => (winners, not_confirmed(&nests)),
        None => confirmed(&nests, &mut engine, winners)?,
    };
    let limits = engine.limits(nests.bytes());
    drop(guard);
    if engine.halt() == Some(Halt::TimedOut) {
        return Err(timed_out(&found));
    }
    engine.notes.append(&mut keeper.notes);
    let first = winners.first();
    let too_fast = limits.zip(first).and_then(|(limits, winner)| {
        let work = arithmetic(&kernel, &winner.schedule, gpu, asked.sizes.first()?)?;
        work.too_fast(&limits, &engine.device().arch, *winner.ms.first()?)
    });
    let finals = Finals { winners, direct_ms, against };
    let (records, bytes) = (keeper.results()?, nests.bytes());
    let configurations = candidates.space.count();
    let kept = Kept { configurations, records, recalled, store: place };
    let seen = Seen { recomputed, limits, too_fast, bytes };
    Ok(report(asked, &mut engine, found, kept, (finals, seen)))
}

/// What the store keeps.
struct Kept {
    configurations: u64,
    records: Vec<Record>,
    recalled: u64,
    store: PathBuf,
}

/// What was looked at beside the times.
struct Seen {
    recomputed: Vec<Recomputed>,
    limits: Option<Limits>,
    too_fast: Option<String>,
    bytes: u64,
}

fn report(
    asked: &Asked<'_>,
    engine: &mut Engine,
    found: Found,
    kept: Kept,
    (finals, seen): (Finals, Seen),
) -> (Vec<Winner>, Measured) {
    let uncompared = engine.uncompared();
    if !uncompared.is_empty() {
        engine.notes.push(not_compared(&uncompared));
    }
    let Finals { winners, direct_ms, against } = finals;
    let first = winners.first();
    let failures = failures(&kept.records).into_iter();
    let measured = Measured {
        hello: engine.device().clone(),
        devices: engine.count(),
        strategy: strategy(asked.request),
        configurations: kept.configurations,
        evaluated: found.evaluated,
        recalled: kept.recalled,
        failed: found.failed,
        failures: failures.map(|(s, n, why)| (s.name(), n, why)).collect(),
        elapsed: found.elapsed,
        finished: found.finished,
        interrupted: engine.halt() == Some(Halt::Interrupted),
        chosen: first.map_or_else(BTreeMap::new, |w| named(&w.configuration)),
        ms: first.map_or_else(Vec::new, |w| w.ms.clone()),
        direct_ms,
        against,
        best: best_of_each(&kept.records, asked.sizes),
        limits: seen.limits,
        too_fast: seen.too_fast,
        bytes: seen.bytes,
        recomputed: seen.recomputed,
        sizes: asked.sizes.iter().map(points::name).collect(),
        store: kept.store,
        uncompared,
        notes: std::mem::take(&mut engine.notes),
    };
    (winners, measured)
}

/// The schedules that a file leaves open.
fn of_file(
    path: &Path,
    request: &TuneRequest,
    sources: &mut SourceMap,
) -> Result<Candidates, Failure> {
    let text = crate::files::read(path)?;
    let text = String::from_utf8(text)
        .map_err(|_| Failure::input("W301", format!("`{}` is not a text file", path.display())))?;
    let file = sources.add(path.display().to_string(), text);
    let mut space = schedule::space::parse(sources, file)?;
    space::fix(&mut space, &request.choosing.params)?;
    Candidates::of_schedule(space).map_err(Failure::no)
}

fn strategy(request: &TuneRequest) -> StrategyKind {
    match request.choosing.strategy {
        Some(Strategy::Search(kind)) => kind,
        _ => StrategyKind::default(),
    }
}

/// What the stations run.
fn nests(
    asked: &Asked<'_>,
    stations: &Stations,
    candidates: &Candidates,
) -> Result<Nests, Failure> {
    let mut nests = Nests::new(Source {
        request: asked.request.clone(),
        input: asked.input.clone(),
        arch: stations.arch,
        specs: asked.specs.to_vec(),
        sizes: asked.sizes.to_vec(),
        candidates: candidates.clone(),
        changed: None,
    })?;
    if Told::by(&stations.hello) == Told::Emulated {
        nests.expect_what_c_gives();
    }
    Ok(nests)
}

/// Goes through the configurations; at least one of them ran.
fn searched(
    request: &TuneRequest,
    model: &Model<'_>,
    engine: &mut Engine,
    keeper: &mut Keeper,
) -> Result<Found, Failure> {
    let strategy = strategy(request);
    let prior = (strategy == StrategyKind::ModelGuided).then(|| model.prior()).flatten();
    let space = model.candidates.space.clone();
    let options = TunerOptions {
        strategy,
        seed: request.data.seed,
        budget: budget(request),
        prior: prior.clone(),
        known: keeper.known(&space),
        workers: 1,
    };
    let progress = Progress::new(Told::by(engine.device()).doing(), &spelled);
    let found = engine.search(Plan {
        space,
        options,
        record: &mut |record: &Record| keeper.record(&beside(record, prior.as_ref(), model)),
        show: &mut |state| progress.show(state),
    });
    let found = found.map_err(failure)?;
    drop(progress);
    if engine.halt() == Some(Halt::TimedOut) {
        return Err(timed_out(&found));
    }
    if found.ranking.is_empty() {
        return Err(nothing_ran(&found, &keeper.results()?));
    }
    Ok(found)
}

/// Which outputs were not compared, and why.
pub(in crate::tune) fn not_compared(outputs: &[String]) -> String {
    let names: Vec<String> = outputs.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    format!(
        "not compared: {names}; a rounding error in the arguments changes what is there as much as another order of sums does"
    )
}

/// The arithmetic of a schedule at a size.
fn arithmetic(kernel: &Kernel, steps: &Schedule, gpu: &Gpu, point: &Point) -> Option<Arithmetic> {
    let sources = SourceMap::new();
    let kernel = schedule::replay(kernel, steps, &sources).ok()?;
    let program = lower::lower(&kernel, &sources).ok()?;
    let launches = predictions(&program, gpu, point)?;
    let each = launches.iter().map(|l| Arithmetic::of_work(&l.profile.work, l.times));
    each.reduce(Arithmetic::plus)
}

/// The outcome with what the device model had predicted; it is asked where the search has not asked it already.
fn beside(record: &Record, prior: Option<&Prior>, model: &Model<'_>) -> Record {
    let mut record = record.clone();
    let predicted = match prior {
        Some(prior) => Some(prior.predict(&record.configuration)).filter(|s| s.is_finite()),
        None => model.seconds(&record.configuration),
    };
    if let Some(seconds) = predicted {
        record.outcome.measurements.push(Measurement {
            name: "predicted".into(),
            value: json!(seconds * 1e3),
            unit: Some("ms".into()),
            kind: Some("Double".into()),
        });
    }
    record
}

/// The configuration's values by name.
pub(in crate::tune) fn named(configuration: &Configuration) -> BTreeMap<String, Json> {
    configuration.values.iter().map(|(n, v)| (n.clone(), v.to_json())).collect()
}

/// The configuration that is fastest at each size.
fn best_of_each(records: &[Record], sizes: &[Point]) -> Vec<Option<(f64, BTreeMap<String, Json>)>> {
    let at = |size: usize| {
        let times = records.iter().filter_map(|r| {
            r.outcome.cost().is_finite().then_some(())?;
            let ms = each_task(&r.outcome).get(size).copied()?;
            Some((ms, r))
        });
        let best = times.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((best.0, named(&best.1.configuration)))
    };
    (0..sizes.len()).map(at).collect()
}

/// Parameters and constraints, for those who export the results.
fn described(asked: &Asked<'_>, candidates: &Candidates) -> t1::Problem {
    let space = &candidates.space;
    let constraints = space.constraints().iter().map(|c| c.text.clone()).collect();
    let file = asked.request.source.file.display().to_string();
    t1::Problem::new(&asked.input.name, &file, space.parameters().to_vec(), constraints)
}

/// A search that ran into the time limit; the winner is not verified, so nothing is written.
fn timed_out(found: &Found) -> Failure {
    let mut failure = Failure::timed_out("during the search");
    let help = "--resume goes on with it; --budget ends a search earlier, so that time is left for the verification";
    for d in &mut failure.diagnostics {
        d.notes.push(format!("{} configurations are recorded", found.evaluated));
        d.help.push(help.into());
    }
    failure
}

fn nothing_ran(found: &Found, records: &[Record]) -> Failure {
    if found.finished == Finished::Stopped {
        let d = Diagnostic::error("W463", "stopped before any configuration had run");
        return Failure::from(d).with_status(Status::Interrupted);
    }
    if found.evaluated == 0 {
        let d = Diagnostic::error("W463", "the budget ended before any configuration had run");
        return Failure::from(d.help("give more with --budget")).with_status(Status::Limit);
    }
    let message = format!("none of {} configurations can be used", found.evaluated);
    let mut d = Diagnostic::error("W463", message);
    let failed = failures(records);
    for (kind, count, why) in &failed {
        d = d.note(format!("{count} {}: {why}", kind.name()));
    }
    Failure::from(d.help("`warpsmith results` lists them all")).with_status(limit_or_no(&failed))
}

/// Where nothing failed but the time, the answer is not "no".
pub fn limit_or_no(failed: &[(Validity, usize, String)]) -> Status {
    match failed {
        [(Validity::Timeout, ..)] => Status::Limit,
        _ => Status::No,
    }
}

/// In the place of a final comparison.
pub const UNCOMPARED: &str =
    "the times are those of the search: it was ended before the final comparison";

/// Each compiling thread has a process of its own; more of them than this only wait for each other.
fn most_threads(cores: usize) -> usize {
    (4 * cores).min(256)
}

/// How the engine works for these options.
pub fn options(request: &TuneRequest, stations: &Stations) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    Options {
        stations: stations.starts.clone(),
        first: stations.first.clone(),
        compiler: stations.compiler.clone(),
        threads: if request.limits.jobs > 0 {
            request.limits.jobs.min(most_threads(cores))
        } else {
            cores
        },
        cache: Cache::of_user(),
        limit: CANDIDATE,
        compile_limit: COMPILATION,
        policy: Policy::default(),
        gives_up: true,
        stop: request.limits.stop(),
    }
}

/// A search whose end nobody has named leaves half of the time for everything to the verification.
fn budget(request: &TuneRequest) -> Budget {
    let usual = || {
        let left =
            request.limits.deadline().map(|end| end.saturating_duration_since(Instant::now()) / 2);
        left.map_or(USUAL_BUDGET, |left| left.min(USUAL_BUDGET))
    };
    match request.measuring.budget {
        Some(SearchBudget::Evaluations(n)) => Budget { evaluations: Some(n), time: None },
        Some(SearchBudget::Time(t)) => Budget { evaluations: None, time: Some(t) },
        None if matches!(
            request.choosing.strategy,
            Some(Strategy::Search(StrategyKind::BruteForce))
        ) =>
        {
            Budget::default()
        }
        None => Budget { evaluations: None, time: Some(usual()) },
    }
}

/// What the C file, its headers and the files of data hold.
fn content(asked: &Asked<'_>, sources: &SourceMap) -> Json {
    let texts: Vec<&str> = sources.files().map(|(_, file)| &*file.text).collect();
    let data = asked.specs.iter().filter_map(|s| match &s.spec {
        ArgSpec::Init(Init::File(path)) | ArgSpec::Array { init: Init::File(path), .. } => {
            // One that cannot be read has ended the run already, or is never asked for.
            Some(content_hash(&[std::fs::read(path).unwrap_or_default()]))
        }
        _ => None,
    });
    json!([String::from_utf8_lossy(asked.text), texts, data.collect::<Vec<u64>>()])
}

/// Everything that a time depends on.
fn key(asked: &Asked<'_>, content: &Json, candidates: &Candidates, hello: &Hello) -> ProblemKey {
    let request = asked.request;
    let source = json!([content, request.source.defines, request.source.function]);
    let specs: Vec<String> = request.data.arguments.iter().map(|s| format!("{s:?}")).collect();
    let arguments = json!({"sizes": asked.sizes, "args": specs, "seed": request.data.seed});
    ProblemKey {
        kernel: asked.input.name.clone(),
        source_hash: fingerprint(&source.to_string()),
        schedule_hash: fingerprint(&candidates.text()),
        arguments: arguments.to_string(),
        device: hello.device.clone(),
        driver: hello.driver.clone(),
        compiler: hello.compiler.clone(),
    }
}

/// In the user's words.
pub fn failure(error: SearchError) -> Failure {
    match error {
        SearchError::Device(why) => {
            Diagnostic::error("W465", "the device cannot be used").note(why).into()
        }
        SearchError::Reference(why) => {
            let d = Diagnostic::error("W466", "what gives the right results cannot be run");
            let d = d.note(why.to_string());
            match why.reason {
                Reason::Timeout => {
                    let help = "choose smaller sizes, or leave --device and --budget away: the device model runs nothing";
                    Failure::from(d.help(help)).with_status(Status::Limit)
                }
                _ => Failure::from(d).with_status(Status::No),
            }
        }
        SearchError::Halted(Halt::TimedOut) => Failure::timed_out("before the search began"),
        SearchError::Halted(Halt::Interrupted) => Failure::interrupted("before the search began"),
        SearchError::Store(d) | SearchError::Search(d) => (*d).into(),
    }
}

fn words(error: SearchError) -> String {
    let failure = failure(error);
    let parts = failure.diagnostics.iter().map(|d| {
        let notes: Vec<String> = d.notes.iter().map(|n| n.to_string()).collect();
        format!("{} {}", d.message, notes.join("; "))
    });
    parts.collect::<Vec<_>>().join("; ")
}
