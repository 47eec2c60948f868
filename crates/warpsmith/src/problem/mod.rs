//! `warpsmith tune SPACE.json`: other people's CUDA kernels, whose parameters are macros, as T1 problems describe them.
//!
//! The kernel's text is not changed: each configuration is compiled with its parameters as macros, run on the problem's
//! data, compared with the right outputs, and timed.

mod arguments;
mod contents;
mod counted;
mod elements;
mod foresight;
mod kernel;
mod reference;
mod report;
mod settings;
mod sizes;
mod source;
mod workload;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use warpsmith_gpu::protocol::{Hello, Limits};
use warpsmith_ir::{Diagnostic, SourceMap, printable};
use warpsmith_tune::outcome::Record;
use warpsmith_tune::space::{Configuration, Space};
use warpsmith_tune::store::{ProblemKey, fingerprint};
use warpsmith_tune::strategy::StrategyKind;
use warpsmith_tune::tuner::{Finished, Options as TunerOptions};

pub use self::reference::Compared;
use self::settings::Settings;
use self::sizes::Shape;
use self::source::Source;
use self::workload::Foreign;
use crate::data::content_hash;
use crate::interrupt;
use crate::output::{Outputs, check_folder};
use crate::progress::{self, Phase};
use crate::search::store::{self, Custom, Keeper};
use crate::search::{
    Arithmetic, Engine, Halt, Plan, Progress, SearchError, Told, Workload, failures,
};
use crate::status::{self, Failure, Status};
use crate::terminal::{Format, Reported, color_on_stderr, inert_json};
use warpsmith_translate::tune::TuneRequest;
use warpsmith_translate::tune::measure::spelled;
use warpsmith_translate::tune::search::{self, FINALISTS, ROUNDS};

/// Whether a file given to `tune` is a problem.
pub fn is_problem(file: &Path) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

/// A problem with its best configuration.
#[derive(Debug)]
pub struct Solved {
    /// The problem's name, with which file names begin.
    pub name: String,
    /// The device that took the times.
    pub hello: Hello,
    /// The search strategy.
    pub strategy: StrategyKind,
    /// Configurations that the constraints allow.
    pub configurations: u64,
    /// Distinct configurations whose outcome is known.
    pub evaluated: u64,
    /// Of these, known from an earlier run.
    pub recalled: u64,
    /// Why the search ended.
    pub finished: Finished,
    /// What ended the search or the final comparison from outside.
    pub halt: Option<Halt>,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
    /// The configuration with the least time.
    pub best: Configuration,
    /// Its time in milliseconds.
    pub best_ms: f64,
    /// The launch of the best configuration.
    pub shape: Shape,
    /// What the device reaches at most, where there is one to measure.
    pub limits: Option<Limits>,
    /// What the emulator counts of the best configuration, where a device took the time.
    pub arithmetic: Option<Arithmetic>,
    /// Bytes of all buffers together.
    pub bytes: u64,
    /// What outputs were compared with.
    pub compared: Compared,
    /// The time of the configuration that outputs were compared with.
    pub reference_ms: Option<f64>,
    /// All results of this problem that the store has.
    pub records: Vec<Record>,
    /// The file that keeps them.
    pub store: PathBuf,
    /// Where the output files belong.
    pub folder: PathBuf,
    /// What else is to be known, a sentence each.
    pub notes: Vec<String>,
    /// Warnings about the problem, for reports.
    pub findings: Vec<serde_json::Value>,
}

/// The command.
pub fn run(request: &TuneRequest, format: Format) -> Status {
    let mut sources = SourceMap::new();
    let phase = Phase::new("tune");
    let solved = solve(request, &mut sources);
    drop(phase);
    let done = solved.and_then(|solved| {
        let paths = if request.dry_run { vec![] } else { write(&solved)? };
        Ok((solved, paths))
    });
    match done {
        Ok((solved, paths)) => {
            match format {
                Format::Human => print!("{}", printable(&report::human(&solved, &paths))),
                Format::Json => {
                    println!("{}", inert_json(&report::json(&solved, &paths).to_string()));
                }
            }
            let status = solved.status();
            if let Some(limit) = solved.limit() {
                eprint!("{}", limit.render(&sources, color_on_stderr()));
            }
            status
        }
        Err(failure) => failure.report("tune", format == Format::Json, &sources),
    }
}

impl Solved {
    /// How the command ends that has found this.
    pub fn status(&self) -> Status {
        match self.halt {
            Some(Halt::Interrupted) => Status::Interrupted,
            Some(Halt::TimedOut) => Status::Limit,
            None => Status::Done,
        }
    }

    /// What the times are.
    pub fn told(&self) -> Told {
        Told::by(&self.hello)
    }

    /// What is said of a limit that ended the search.
    pub fn limit(&self) -> Option<Failure> {
        let ended = self.status() == Status::Limit;
        ended.then(|| Failure::timed_out("before the search had ended"))
    }
}

fn write(solved: &Solved) -> Result<Vec<PathBuf>, Failure> {
    let mut outputs = Outputs::default();
    let name = &solved.name;
    outputs.add(format!("{name}_best.h"), report::header(solved));
    outputs.add(format!("{name}.t4.json"), report::t4(solved));
    outputs.add("result.json", format!("{:#}\n", report::json(solved, &[])));
    outputs.write(&solved.folder)
}

/// Searches a problem.
///
/// # Errors
/// W440 to W449 about the file, those of the device and the store, and W448 where nothing can be used.
pub fn solve(request: &TuneRequest, sources: &mut SourceMap) -> Result<Solved, Failure> {
    settings::check(request)?;
    let source = Source::read(&request.source.file, sources)?;
    let kernel = source.kernel()?;
    let stop = request.limits.stop();
    let due = || stop.is_due();
    let space = source.problem.space_until(&source.text, source.file, &due)?;
    let enumerating = || Failure::timed_out("while the configurations were enumerated");
    let space = Arc::new(space.ok_or_else(enumerating)?);
    if space.count() == 0 {
        let d = Diagnostic::error("W404", "no configuration satisfies the constraints");
        return Err(d.help("relax a constraint, or give a parameter more values").into());
    }
    let mut settings = Settings::new(request, &source, space.count())?;
    let name = file_name(&kernel.name);
    let folder = request.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(&name));
    check_folder(&folder)?;
    let limits = arguments::Allowed { bytes: request.limits.max_memory, stop: &due };
    let arguments =
        arguments::arguments(&source, request.data.seed, kernel.listed_parameters(), &limits);
    let arguments = arguments.map_err(|failure| match due() {
        true => Failure::timed_out("while the arguments were filled"),
        false => failure,
    })?;
    let unread = source.unread();
    let warnings: Vec<&Diagnostic> =
        unread.iter().chain(&arguments.warnings).chain(&settings.warnings).collect();
    for warning in &warnings {
        progress::hide();
        eprintln!("{}", warning.render(sources, color_on_stderr()));
    }
    let mut findings = status::findings(&warnings, sources);
    let mut notes = vec![];
    if !kernel.dropped.is_empty() {
        notes.push(format!("compiler options left out: {}", kernel.dropped.join(" ")));
    }
    let stations = settings::stations(request)?;
    let key = key(&source, &kernel, &arguments, request.data.seed);
    let mut foreign = Arc::new(Foreign::new(source.problem.clone(), kernel, arguments));
    let asked = reference::Asked { request, stations: &stations, space: &space, source: &source };
    let (mut engine, compared) = reference::start(&asked, &mut foreign)?;
    if Told::by(engine.device()) == Told::Emulated {
        settings.within_a_minute();
    }
    let long = foresight::foreseen(&mut engine, &compared, &settings.budget, space.count());
    if let Some(warning) = &long {
        progress::hide();
        eprintln!("{}", warning.render(sources, color_on_stderr()));
    }
    findings.extend(status::findings(&long.iter().collect::<Vec<_>>(), sources));
    notes.extend(reference::unwritten(&mut engine, &foreign, &compared));
    let hello = engine.device().clone();
    let key = ProblemKey {
        device: hello.device.clone(),
        driver: hello.driver.clone(),
        compiler: hello.compiler.clone(),
        ..key
    };
    let path = store::path(request.measuring.store.as_deref())?;
    let custom = Custom { resume: request.measuring.resume, dry_run: request.dry_run };
    let mut keeper = Keeper::open(&path, &key, &source.problem.write(), custom)?;
    let run = Run { engine, settings: &settings, space: &space, seed: request.data.seed };
    let bytes = foreign.tasks()[0].problem.buffers.iter().map(|b| b.bytes).sum();
    let found = run.search(&mut keeper, bytes)?;
    let records = keeper.results()?;
    notes.append(&mut keeper.notes);
    notes.extend(found.notes);
    let counted = |_| counted::arithmetic(&foreign, &found.best, &hello.arch);
    let arithmetic = found.limits.filter(|_| found.halt.is_none()).and_then(counted);
    Ok(Solved {
        name,
        hello,
        strategy: settings.strategy,
        configurations: space.count(),
        evaluated: found.evaluated,
        recalled: found.recalled,
        finished: found.finished,
        halt: found.halt,
        limits: found.limits,
        arithmetic,
        bytes,
        seconds: found.seconds,
        shape: foreign.shape(&found.best).map_err(|e| Failure::input("W448", e.to_string()))?,
        best: found.best,
        best_ms: found.best_ms,
        compared,
        reference_ms: found.reference_ms,
        records,
        store: path,
        folder,
        notes,
        findings,
    })
}

/// A search that is ready to begin.
struct Run<'r> {
    engine: Engine,
    settings: &'r Settings,
    space: &'r Arc<Space>,
    seed: u64,
}

struct Winner {
    best: Configuration,
    best_ms: f64,
    reference_ms: Option<f64>,
    evaluated: u64,
    recalled: u64,
    finished: Finished,
    halt: Option<Halt>,
    limits: Option<Limits>,
    seconds: f64,
    notes: Vec<String>,
}

impl Run<'_> {
    /// `bytes` is what all buffers have together.
    fn search(mut self, keeper: &mut Keeper, bytes: u64) -> Result<Winner, Failure> {
        let known = keeper.known(self.space);
        let recalled = known.len() as u64;
        let told = Told::by(self.engine.device());
        let progress = Progress::new(told.doing(), &spelled);
        let guard = interrupt::gently();
        let plan = Plan {
            space: self.space.clone(),
            options: TunerOptions {
                strategy: self.settings.strategy,
                seed: self.seed,
                budget: self.settings.budget,
                prior: None,
                known,
                workers: 1,
            },
            record: &mut |record: &Record| keeper.record(record),
            show: &mut |state| progress.show(state),
        };
        let found = self.engine.search(plan).map_err(search::failure)?;
        drop(progress);
        if found.ranking.is_empty() {
            let records = keeper.results()?;
            return Err(nothing_ran(self.engine.halt(), found.evaluated, &records));
        }
        let list: Vec<(Configuration, f64)> = found
            .ranking
            .iter()
            .take(if told == Told::Measured { FINALISTS } else { 1 })
            .map(|(id, ms)| (self.space.configuration(*id), *ms))
            .collect();
        let (best, best_ms, reference_ms) = self.finals(list);
        let limits = self.engine.limits(bytes);
        let halt = self.engine.halt();
        drop(guard);
        Ok(Winner {
            best,
            best_ms,
            reference_ms,
            evaluated: found.evaluated,
            recalled,
            finished: found.finished,
            halt,
            limits,
            seconds: found.elapsed.as_secs_f64(),
            notes: std::mem::take(&mut self.engine.notes),
        })
    }

    /// The fastest few once more, in turns; the order of the search stands where that fails. Times that do not vary need it for
    /// the one beside the reference alone.
    fn finals(&mut self, list: Vec<(Configuration, f64)>) -> (Configuration, f64, Option<f64>) {
        let entrants: Vec<Configuration> = list.iter().map(|(c, _)| c.clone()).collect();
        let raced = self.engine.race(&entrants, &[], ROUNDS);
        let (reference, placed) = match raced {
            Ok(raced) => (raced.reference, raced.entrants),
            Err(error) => {
                let note = match error {
                    SearchError::Halted(_) => search::UNCOMPARED,
                    _ => "the final comparison failed: the times are those of the search",
                };
                self.engine.notes.push(note.into());
                (None, vec![])
            }
        };
        let times = placed.iter().map(|p| p.ms()).chain(std::iter::repeat(None));
        let timed = entrants.iter().zip(times).filter_map(|(c, ms)| Some((c, ms?)));
        let fastest = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(c, ms)| (c.clone(), ms));
        let reference_ms = reference.and_then(|r| r.ms());
        match (fastest, list.into_iter().next()) {
            (Some((best, ms)), _) | (None, Some((best, ms))) => (best, ms, reference_ms),
            // The caller's list is never empty.
            (None, None) => (Configuration::default(), f64::INFINITY, reference_ms),
        }
    }
}

fn nothing_ran(halt: Option<Halt>, evaluated: u64, records: &[Record]) -> Failure {
    match halt {
        Some(Halt::Interrupted) => {
            let d = Diagnostic::error("W448", "stopped before any configuration had run");
            return Failure::from(d).with_status(Status::Interrupted);
        }
        Some(Halt::TimedOut) => {
            return Failure::timed_out("before any configuration had run with right results");
        }
        None => {}
    }
    if evaluated == 0 {
        let d = Diagnostic::error("W448", "the budget ended before any configuration had run");
        return Failure::from(d.help("give more with --budget")).with_status(Status::Limit);
    }
    let message = format!("none of {evaluated} configurations can be used");
    let mut d = Diagnostic::error("W448", message);
    let failed = failures(records);
    for (status, count, reason) in &failed {
        d = d.note(format!("{count} {}: {reason}", status.name()));
    }
    let status = search::limit_or_no(&failed);
    if status == Status::Limit {
        d = d.help(
            "choose smaller sizes in the problem's file, or give more time with --budget 10m",
        );
    }
    Failure::from(d.help("`warpsmith results` lists them all")).with_status(status)
}

/// Everything that a time depends on, apart from the device.
fn key(
    source: &Source,
    kernel: &kernel::Kernel,
    arguments: &arguments::Arguments,
    seed: u64,
) -> ProblemKey {
    let specification = source.problem.document.get("KernelSpecification");
    let text = json!([kernel.text, kernel.headers(), kernel.name, kernel.options]);
    ProblemKey {
        kernel: kernel.name.clone(),
        source_hash: fingerprint(&text.to_string()),
        schedule_hash: fingerprint(
            &json!([specification, content_hash(&arguments.blobs), seed]).to_string(),
        ),
        arguments: arguments.summary.clone(),
        ..ProblemKey::default()
    }
}

/// A kernel's name as the name of files.
fn file_name(kernel: &str) -> String {
    let base = kernel.split('<').next().unwrap_or_default();
    let base = base.rsplit("::").next().unwrap_or_default().trim();
    let plain: String =
        base.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.is_empty() { "kernel".into() } else { plain }
}
