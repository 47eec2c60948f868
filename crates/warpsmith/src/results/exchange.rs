//! Results out of the store and into it, as files of the tuning community.

use std::path::Path;

use serde_json::{Value as Json, json};
use warpsmith_ir::{Diagnostic, FileId, SourceMap};
use warpsmith_tune::exchange::kernel_tuner::{self, Cache};
use warpsmith_tune::exchange::t4::{Dialect, Results};
use warpsmith_tune::exchange::{self, Kind, Object, Origin, parameters_of, t1};
use warpsmith_tune::outcome::Record;
use warpsmith_tune::space::Parameter;
use warpsmith_tune::store::{ProblemKey, Store, Summary};

use super::{ResultsArgs, filter};
use crate::output::write_file;
use crate::search::store;
use crate::status::Failure;
use crate::terminal::{Format, color_on_stderr};

/// What a problem's results can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// The T4 format of autotuning results, in one of its dialects.
    T4(Dialect),
    /// A cache of Kernel Tuner.
    KernelTunerCache,
    /// The T1 format: the problem itself, with its parameters and constraints.
    T1,
}

impl Export {
    /// By the name after `--export`.
    ///
    /// # Errors
    /// What can be written.
    pub fn named(name: &str) -> Result<Export, String> {
        let (format, dialect) = name.split_once('=').unwrap_or((name, ""));
        let found = match (format, dialect) {
            ("t4", dialect) => Dialect::named(dialect).map(Export::T4),
            ("kt-cache", "") => Some(Export::KernelTunerCache),
            ("t1", "") => Some(Export::T1),
            _ => None,
        };
        found.ok_or_else(|| format!("`{name}` is none of t4, t4=ktt, kt-cache, t1"))
    }

    /// By which [`Export::named`] finds it.
    fn name(self) -> &'static str {
        match self {
            Export::T4(Dialect::Schema) => "t4",
            Export::T4(Dialect::Ktt) => "t4=ktt",
            Export::KernelTunerCache => "kt-cache",
            Export::T1 => "t1",
        }
    }
}

/// Writes a problem's results; returns what stdout gets.
pub fn export(
    args: &ResultsArgs,
    format: Export,
    path: &Path,
    store: &Store,
    problem: &Summary,
) -> Result<String, Failure> {
    let records = store.dated_results(problem.id, filter(args))?;
    let space = store.space(problem.id)?.filter(|text| is_t1(text));
    let origin = Origin { key: problem.key.clone(), space: space.clone() };
    let count = records.len();
    let text = match format {
        Export::T4(dialect) => {
            let key = &problem.key;
            t4_text(&key.kernel, &key.device, records, dialect, Some(&origin))
        }
        Export::KernelTunerCache => cache(&origin, records),
        Export::T1 => match space {
            Some(text) => text,
            None => {
                let note = Diagnostic::warning("W433", "what this problem is made of was not recorded")
                    .note("the file has the values that occur in the results, and neither constraints nor sizes");
                eprintln!("{}", note.render(&SourceMap::new(), color_on_stderr()));
                let parameters = parameters_of(records.iter().map(|r| &r.configuration));
                t1::Problem::new(&problem.key.kernel, "", parameters, vec![]).write()
            }
        },
    };
    let Some(out) = &args.out else { return Ok(text) };
    write_file(out, text.as_bytes())?;
    Ok(match args.format {
        Format::Human => format!("{}\n", out.display()),
        Format::Json => {
            let mut report = super::list::report(path);
            report.insert("outputs".into(), json!([out.display().to_string()]));
            let exported =
                json!({"problem": problem.id.number(), "results": count, "format": format.name()});
            report.insert("exported".into(), exported);
            Json::Object(report).to_string() + "\n"
        }
    })
}

/// Whether a text of the store says what configurations are made of; one that was damaged does not.
fn is_t1(text: &str) -> bool {
    let mut sources = SourceMap::new();
    let file = sources.add("space", text);
    t1::Problem::read(text, file).is_ok()
}

/// A T4 file of results that we measured, or that somebody else did. `origin` is the problem in the store, where there is
/// one.
pub fn t4_text(
    kernel: &str,
    device: &str,
    records: Vec<Record>,
    dialect: Dialect,
    origin: Option<&Origin>,
) -> String {
    let mut metadata = Object::new();
    let mut put = |name: &str, value: &str| metadata.insert(name.into(), value.into());
    put("compute_api", "CUDA");
    put("platform", "NVIDIA CUDA");
    put("device", device);
    put("autotuner", "warpsmith");
    put("autotuner_version", env!("CARGO_PKG_VERSION"));
    put("kernel", kernel);
    let earliest = records.iter().filter_map(|r| r.outcome.timestamp.as_deref()).min();
    // KTT's reader wants one.
    let empty = (dialect == Dialect::Ktt).then_some("");
    if let Some(earliest) = earliest.or(empty) {
        put("timestamp", earliest);
    }
    if let Some(origin) = origin {
        origin.write(&mut metadata);
    }
    let mut bytes = vec![];
    let results = Results { metadata, records, extra: Object::new() };
    // Writing to memory does not fail.
    let _ = results.write(&mut bytes, dialect);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cache(origin: &Origin, records: Vec<Record>) -> String {
    let mut sources = SourceMap::new();
    let space = origin.space.as_deref();
    let file = sources.add("space", space.unwrap_or_default());
    let known = space.and_then(|text| t1::Problem::read(text, file).ok());
    let occurring = parameters_of(records.iter().map(|r| &r.configuration));
    let (parameters, sizes) = match &known {
        Some(t1) => (together(&t1.parameters, occurring), problem_size(t1)),
        None => (occurring, vec![]),
    };
    let key = &origin.key;
    let mut cache = Cache::new(&key.device, &key.kernel, sizes, parameters, records);
    origin.write(&mut cache.header);
    let mut bytes = vec![];
    // Writing to memory does not fail.
    let _ = cache.write(&mut bytes, true);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parameters in the order of the space, with values that occur beside those it lists.
fn together(listed: &[Parameter], occurring: Vec<Parameter>) -> Vec<Parameter> {
    let mut all = listed.to_vec();
    for p in occurring {
        match all.iter_mut().find(|known| known.name == p.name) {
            Some(known) => {
                let new: Vec<_> =
                    p.values.into_iter().filter(|v| !known.values.contains(v)).collect();
                known.values.extend(new);
            }
            None => all.push(p),
        }
    }
    all
}

/// Plain numbers alone: Kernel Tuner's header holds no expressions.
fn problem_size(t1: &t1::Problem) -> Vec<i64> {
    let sizes = t1.kernel.problem_size.iter().map(|size| size.parse().ok());
    sizes.collect::<Option<_>>().unwrap_or_default()
}

/// Takes files into the store; returns what stdout gets.
pub fn import(args: &ResultsArgs, path: &Path, sources: &mut SourceMap) -> Result<String, Failure> {
    // All files are read before the store is touched: a bad one leaves it as it was.
    let mut all = vec![];
    for path in &args.import {
        let file = exchange::open(path, sources)?;
        let (read, warnings) = read(path, file, sources)?;
        for warning in warnings {
            eprintln!("{}", warning.render(sources, color_on_stderr()));
        }
        all.push(read);
    }
    let mut store = store::open(path)?;
    let (mut text, mut reports) = (String::new(), vec![]);
    for (file, Imported { mut key, space, records }) in args.import.iter().zip(all) {
        keep_apart(&store, &mut key, &space)?;
        let problem = store.problem(&key)?;
        let new = store.record_all(problem, &records)?;
        if store.space(problem)?.is_none() {
            store.set_space(problem, &space)?;
        }
        let there = records.len() as u64 - new;
        text += &format!(
            "{}: {new} results of `{}` on {}, now problem {}{}\n",
            file.display(),
            key.kernel,
            key.device,
            problem.number(),
            if there > 0 { format!("; {there} were there before") } else { String::new() }
        );
        reports.push(serde_json::json!({
            "file": file.display().to_string(), "problem": problem.number(), "kernel": key.kernel,
            "device": key.device, "new": new, "known": there,
        }));
    }
    Ok(match args.format {
        Format::Human => text,
        Format::Json => {
            serde_json::json!({
                "schema": 1, "command": "results", "status": "done", "exit": 0, "complete": true, "findings": [],
                "notes": [], "outputs": [], "store": path.display().to_string(), "imported": reports,
            })
            .to_string()
                + "\n"
        }
    })
}

/// Files of one kernel and size may be about other parameters, as when the kernel was rewritten: those are another problem.
fn keep_apart(store: &Store, key: &mut ProblemKey, space: &str) -> Result<(), Diagnostic> {
    let names = |text: &str| -> Option<Vec<String>> {
        let mut sources = SourceMap::new();
        let file = sources.add("space", text);
        let problem = t1::Problem::read(text, file).ok()?;
        Some(problem.parameters.into_iter().map(|p| p.name).collect())
    };
    let Some(known) = store.known_problem(key)? else { return Ok(()) };
    let there = store.space(known)?.as_deref().and_then(names);
    let (Some(mut there), Some(own)) = (there, names(space)) else { return Ok(()) };
    let mut sorted = own.clone();
    there.sort_unstable();
    sorted.sort_unstable();
    if there != sorted {
        key.arguments = format!("{} of {}", key.arguments, own.join(", "));
    }
    Ok(())
}

/// What a file holds, as the store keeps it.
struct Imported {
    key: ProblemKey,
    /// A T1 problem.
    space: String,
    records: Vec<Record>,
}

fn read(
    path: &Path,
    file: FileId,
    sources: &SourceMap,
) -> Result<(Imported, Vec<Diagnostic>), Diagnostic> {
    let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
    let stem = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let (recording, sizes, warnings) = if exchange::kind(&text) == Some(Kind::KernelTunerCache) {
        let (cache, warnings) = kernel_tuner::read(&text, file)?;
        let sizes = cache.header.get("problem_size").cloned();
        (cache.into_recording(), sizes, warnings)
    } else {
        let (recording, warnings) = exchange::read_recording(sources, file)?;
        (recording, None, warnings)
    };
    let device = recording.device.unwrap_or_else(|| "unknown device".into());
    let kernel = recording.kernel.unwrap_or_else(|| stem.clone());
    // Written by us, and not changed to be about something else since.
    if let Some(Origin { key, space }) = recording.origin
        && (&key.kernel, &key.device) == (&kernel, &device)
    {
        let own = || t1::Problem::new(&kernel, "", recording.parameters.clone(), vec![]).write();
        let space = space.filter(|text| is_t1(text)).unwrap_or_else(own);
        return Ok((Imported { key, space, records: recording.records }, warnings));
    }
    let arguments = match &sizes {
        Some(sizes) => format!("problem_size={sizes}"),
        None => format!("from {stem}"),
    };
    let mut t1 = t1::Problem::new(&kernel, "", recording.parameters, vec![]);
    if let (Some(sizes), Some(Json::Object(spec))) =
        (sizes, t1.document.get_mut("KernelSpecification"))
    {
        spec.insert("ProblemSize".into(), sizes);
    }
    let key = ProblemKey { kernel, arguments, device, ..ProblemKey::default() };
    Ok((Imported { key, space: t1.write(), records: recording.records }, warnings))
}
