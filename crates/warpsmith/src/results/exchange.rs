//! Results out of the store and into it, as files of the tuning community.

use std::path::Path;

use serde_json::Value as Json;
use warpsmith_ir::{Diagnostic, FileId, SourceMap};
use warpsmith_tune::exchange::kernel_tuner::{self, Cache};
use warpsmith_tune::exchange::t4::{Dialect, Results};
use warpsmith_tune::exchange::{self, Kind, Object, parameters_of, t1};
use warpsmith_tune::outcome::Record;
use warpsmith_tune::space::Parameter;
use warpsmith_tune::store::{ProblemKey, Store, Summary};

use super::{ResultsArgs, ResultsFormat, filter};
use crate::cli::color_on_stderr;
use crate::output::write_file;
use crate::search::store;
use crate::status::Failure;

/// What a problem's results can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    T4(Dialect),
    KernelTunerCache,
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
}

/// Writes a problem's results; returns what stdout gets.
pub fn export(
    args: &ResultsArgs,
    format: Export,
    store: &Store,
    problem: &Summary,
) -> Result<String, Failure> {
    let records = store.dated_results(problem.id, filter(args))?;
    let space = store.space(problem.id)?;
    let text = match format {
        Export::T4(dialect) => t4(problem, records, dialect),
        Export::KernelTunerCache => cache(problem, records, space.as_deref()),
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
    match &args.out {
        Some(path) => {
            write_file(path, text.as_bytes())?;
            Ok(format!("{}\n", path.display()))
        }
        None => Ok(text),
    }
}

fn t4(problem: &Summary, records: Vec<Record>, dialect: Dialect) -> String {
    t4_text(&problem.key.kernel, &problem.key.device, records, dialect)
}

/// A T4 file of results that we measured, or that somebody else did.
pub fn t4_text(kernel: &str, device: &str, records: Vec<Record>, dialect: Dialect) -> String {
    let mut metadata = Object::new();
    let mut put = |name: &str, value: &str| metadata.insert(name.into(), value.into());
    put("compute_api", "CUDA");
    put("platform", "NVIDIA CUDA");
    put("device", device);
    put("autotuner", "warpsmith");
    put("autotuner_version", env!("CARGO_PKG_VERSION"));
    put("kernel", kernel);
    let earliest = records.iter().filter_map(|r| r.outcome.timestamp.as_deref()).min();
    if let Some(earliest) = earliest {
        put("timestamp", earliest);
    }
    let mut bytes = vec![];
    let results = Results { metadata, records, extra: Object::new() };
    // Writing to memory does not fail.
    let _ = results.write(&mut bytes, dialect);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cache(problem: &Summary, records: Vec<Record>, space: Option<&str>) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("space", space.unwrap_or_default());
    let known = space.and_then(|text| t1::Problem::read(text, file).ok());
    let occurring = parameters_of(records.iter().map(|r| &r.configuration));
    let (parameters, sizes) = match &known {
        Some(t1) => (together(&t1.parameters, occurring), problem_size(t1)),
        None => (occurring, vec![]),
    };
    let key = &problem.key;
    let cache = Cache::new(&key.device, &key.kernel, sizes, parameters, records);
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
    for (file, Imported { key, space, records }) in args.import.iter().zip(all) {
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
        ResultsFormat::Human => text,
        ResultsFormat::Json => {
            serde_json::json!({
                "schema": 1, "command": "results", "status": "done", "exit": 0, "complete": true, "findings": [],
                "notes": [], "outputs": [], "store": path.display().to_string(), "imported": reports,
            })
            .to_string()
                + "\n"
        }
    })
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
    let kernel = recording.kernel.unwrap_or_else(|| stem.clone());
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
    let key = ProblemKey {
        kernel,
        arguments,
        device: recording.device.unwrap_or_else(|| "unknown device".into()),
        ..ProblemKey::default()
    };
    Ok((Imported { key, space: t1.write(), records: recording.records }, warnings))
}
