//! `warpsmith fuse`: from a script of elementary functions to fused, verified kernels.
//!
//! W540: a cover that did not pass verification; W541: a reference that cannot be run; W542: a script that cannot be read,
//! or whose name does not end in `.ws`; W543: an option that asks for what is not there; W544: a device on which no cover is right;
//! W545: a file that holds no times of routines.

mod alone;
pub mod args;
mod benchmark;
mod curves;
mod data;
mod making;
mod measure;
mod model;
mod reference;
mod report;
mod shipped;
mod short;
mod verify;
mod witness;

use std::cell::RefCell;
use std::path::PathBuf;

use warpsmith_fuse::access::Accesses;
use warpsmith_fuse::emit::Heading;
use warpsmith_fuse::library::{Files, Function, Library};
use warpsmith_fuse::plan::{Bounds, Covered, Options, Planner, Unusable};
use warpsmith_fuse::predict::Times;
use warpsmith_fuse::script::{self, syntax};
use warpsmith_ir::{Diagnostic, SourceMap, printable};

use self::args::FuseArgs;
use self::curves::Curves;
use self::making::{Made, Making, SPARE};
use self::model::Model;
use crate::output::Outputs;
use crate::progress::Phase;
use crate::search;
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, color_on_stderr};
use warpsmith_translate::tune::compiled::Usage;
use warpsmith_translate::tune::device::{self, Place};

/// What was made of a script.
pub struct Fused {
    /// What names of the output begin with.
    pub name: String,
    /// Where the files belong.
    pub folder: PathBuf,
    /// Best predicted first; at least one.
    pub covers: Vec<Handed>,
    /// `result.json`.
    pub result: serde_json::Value,
    /// What the terminal shows.
    pub text: String,
    /// Warnings about the script and the library.
    pub warnings: Vec<Diagnostic>,
    /// What the search left out, so that it ends.
    pub bounds: Bounds,
}

/// A cover that passed verification.
pub struct Handed {
    /// The kernels that take the place of the script's calls.
    pub cover: Covered,
    /// Name and text.
    pub files: Vec<(String, String)>,
    /// Numbers of elements at which it was checked.
    pub counts: Vec<usize>,
    /// It was checked with a few iterations of each loop.
    pub short_loops: bool,
    /// Outputs none of whose numbers said anything.
    pub doubted: Vec<String>,
    /// What a compiler says of its kernels, where one was asked.
    pub usage: Option<Usage>,
}

/// The command: writes the files, prints what was done and says how it ended.
pub fn run(args: &FuseArgs) -> Status {
    let json = args.format == Format::Json;
    let mut sources = SourceMap::new();
    if args.benchmark {
        let phase = Phase::new("fuse: measuring routines");
        let done = benchmark(args, &mut sources);
        drop(phase);
        return match done {
            Ok(done) => {
                println!("{}", done.said(json));
                Status::Done
            }
            Err(failure) => failure.report("fuse", json, &sources),
        };
    }
    let phase = Phase::new("fuse");
    let fused = fuse(args, &mut sources);
    drop(phase);
    let fused = match fused {
        Ok(fused) => fused,
        Err(failure) => return failure.report("fuse", json, &sources),
    };
    let written = if args.dry_run { Ok(vec![]) } else { write(&fused) };
    let paths = match written {
        Ok(paths) => paths,
        Err(failure) => return failure.report("fuse", json, &sources),
    };
    for warning in &fused.warnings {
        eprintln!("{}", warning.render(&sources, color_on_stderr()));
    }
    if json {
        println!(
            "{}",
            crate::terminal::inert_json(&report::with_outputs(&fused.result, &paths).to_string())
        );
    } else {
        print!("{}", printable(&report::with_paths(&fused, &paths)));
    }
    Status::Done
}

/// What a benchmark of routines left behind.
struct Benchmarked {
    path: PathBuf,
    device: String,
    functions: usize,
    curves: usize,
}

impl Benchmarked {
    fn said(&self, json: bool) -> String {
        let Benchmarked { path, device, functions, curves } = self;
        let path = path.display().to_string();
        if json {
            let object = serde_json::json!({
                "schema": 1, "command": "fuse", "status": "done", "exit": 0, "complete": true, "findings": [],
                "notes": [], "device": device, "functions": functions, "curves": curves, "outputs": [path],
            });
            return crate::terminal::inert_json(&object.to_string()).to_string();
        }
        let text = format!(
            "{curves} curves of the routines of {functions} functions on {device}\nwrote {path}"
        );
        printable(&text).to_string()
    }
}

/// Measures the routines of a script's functions, or of all that the library has.
///
/// # Errors
/// Wrong script or library, no device.
fn benchmark(args: &FuseArgs, sources: &mut SourceMap) -> Result<Benchmarked, Failure> {
    let mut library = Library::open(library_files(args)?, sources)?;
    let names: Vec<String> = if args.script.as_os_str().is_empty() {
        library.function_names().iter().map(|n| n.to_string()).collect()
    } else {
        let source = read_script(args)?;
        let file = sources.add(args.script.display().to_string(), source.as_str());
        called(&script::parse(&source, file)?.body).iter().map(|n| n.to_string()).collect()
    };
    library.load(names.iter().map(String::as_str), sources)?;
    let Place::Measure(stations) =
        device::measured_on(&args.device, args.arch.as_deref(), args.measure)?
    else {
        return Err(Diagnostic::error("W543", "there is no GPU to measure routines on").into());
    };
    let (gpu, hello) = (stations.arch.gpu(), stations.hello.clone());
    let path = match &args.curves {
        Some(path) => path.clone(),
        None => curves::path(&hello.device, args.store.as_deref())?,
    };
    let known = Curves::read(&path)?;
    let known = known.filter(|c| c.device == hello.device && c.elements == args.elements);
    let mut all = known
        .unwrap_or_else(|| Curves::new(hello.device.clone(), hello.driver.clone(), args.elements));
    let options = search::Options { gives_up: false, ..measure::options(args.jobs, stations) };
    let mut found = 0;
    for name in &names {
        let Some(id) = library.find_function(name) else { continue };
        let new = benchmark::curves_of(id, &library, (gpu, args.elements), &options, sources)?;
        found += new.len();
        all.replace(new);
    }
    if !args.dry_run {
        all.write(&path)?;
    }
    Ok(Benchmarked { path, device: hello.device, functions: names.len(), curves: found })
}

fn library_files(args: &FuseArgs) -> Result<Files, Diagnostic> {
    match &args.library {
        Some(folder) => Files::read(folder),
        None => Ok(shipped::files()),
    }
}

/// Files of all covers, relative to the folder.
pub fn all_files(fused: &Fused) -> Vec<(String, String)> {
    let one = fused.covers.len() == 1;
    let folder = |k: usize| if one { String::new() } else { format!("cover_{:03}/", k + 1) };
    let mut files = vec![];
    for (k, cover) in fused.covers.iter().enumerate() {
        files.extend(
            cover.files.iter().map(|(name, text)| (format!("{}{name}", folder(k)), text.clone())),
        );
    }
    let names = files.iter().map(|(name, _)| name.as_str()).chain(["result.json"]);
    let paths: Vec<PathBuf> = names.map(|name| fused.folder.join(name)).collect();
    let result = report::with_outputs(&fused.result, &paths);
    let result = serde_json::to_string_pretty(&result).unwrap_or_default();
    files.push(("result.json".into(), result + "\n"));
    files
}

fn write(fused: &Fused) -> Result<Vec<PathBuf>, Failure> {
    let mut by_folder: Vec<(PathBuf, Outputs)> = vec![];
    for (name, text) in all_files(fused) {
        let (folder, file) = match name.split_once('/') {
            Some((folder, file)) => (fused.folder.join(folder), file.to_string()),
            None => (fused.folder.clone(), name),
        };
        match by_folder.iter_mut().find(|(f, _)| *f == folder) {
            Some((_, outputs)) => outputs.add(file, text),
            None => {
                let mut outputs = Outputs::default();
                outputs.add(file, text);
                by_folder.push((folder, outputs));
            }
        }
    }
    let mut paths = vec![];
    for (folder, outputs) in by_folder {
        paths.extend(outputs.write(&folder)?);
    }
    Ok(paths)
}

/// Fuses a script.
///
/// # Errors
/// Wrong script, library or options: bad input. No cover that passes verification: the answer "no".
pub fn fuse(args: &FuseArgs, sources: &mut SourceMap) -> Result<Fused, Failure> {
    let name = script_name(args)?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("warpsmith-out").join(&name));
    if !args.dry_run {
        crate::output::check_folder(&folder)?;
    }
    let source = read_script(args)?;
    let file = sources.add(args.script.display().to_string(), source.as_str());
    let script = script::parse(&source, file)?;
    let mut library = Library::open(library_files(args)?, sources)?;
    library.load(called(&script.body), sources)?;
    let mut warnings = vec![];
    let program = script::resolve(&script, &library, &mut warnings)?;
    let (arch, stations) =
        match device::measured_on(&args.device, args.arch.as_deref(), args.measure)? {
            Place::Model { arch, notes } => {
                warnings.extend(notes);
                (arch, None)
            }
            Place::Measure(stations) => (stations.arch, Some(stations)),
        };
    let shared_limit = arch.gpu().architecture().shared_per_block_optin;
    let options = Options { shared_limit, ..options(args, &library, stations.is_some())? };
    let model = Model::new(arch.gpu(), args.elements);
    let device = stations.as_ref().map(|s| s.hello.device.as_str());
    let times = times(args, model, &library, device)?;
    let accesses = RefCell::new(Accesses::default());
    let unusable = RefCell::new(Unusable::new());
    let cell = RefCell::new(std::mem::take(sources));
    let planner = Planner {
        program: &program,
        library: &library,
        options: &options,
        times: &*times,
        accesses: &accesses,
        sources: &cell,
        unusable: &unusable,
    };
    let heading =
        Heading { name: name.clone(), arch: arch.name.to_string(), elements: args.elements };
    let making = Making { args, planner: &planner, heading: &heading };
    let made = match alone::note_wrong_ones(&planner, &heading) {
        Ok(()) => making.make(stations, &mut warnings),
        Err(list) => Err(list.into()),
    };
    *sources = cell.into_inner();
    let Made { covers, bounds, result, text } = made?;
    let left_out = unusable.into_inner().into_values().map(making::warning);
    warnings.extend(left_out.map(|d| d.note("another implementation is taken")));
    Ok(Fused { name, folder, covers, result, text, warnings, bounds })
}

/// Measured times of routines, where there are some for this device or a file of them is named; else the model's.
fn times<'a>(
    args: &FuseArgs,
    model: Model,
    library: &'a Library,
    device: Option<&str>,
) -> Result<Box<dyn Times + 'a>, Failure> {
    let curves = match (&args.curves, device) {
        (Some(path), _) => match Curves::read(path)? {
            Some(curves) => Some(curves),
            None => {
                let what = format!("cannot read `{}`: it is not there", path.display());
                return Err(Diagnostic::error("W545", what).into());
            }
        },
        (None, Some(device)) => {
            let path = curves::path(device, args.store.as_deref())?;
            Curves::read(&path)?.filter(|c| c.device == device)
        }
        (None, None) => None,
    };
    Ok(match curves {
        Some(curves) => {
            Box::new(curves::Measured { curves, library, model, elements: args.elements })
        }
        None => Box::new(model),
    })
}

/// Names of all functions that are called.
fn called(body: &[syntax::Statement]) -> Vec<&str> {
    let mut names = vec![];
    for statement in body {
        match statement {
            syntax::Statement::Call(call) => names.push(call.function.text.as_str()),
            syntax::Statement::For(one) => names.extend(called(&one.body)),
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn options(args: &FuseArgs, library: &Library, measures: bool) -> Result<Options, Failure> {
    let has = |f: &Function, name: &str| f.implementations.iter().any(|i| i.name == name);
    let mut implementations = vec![];
    for text in &args.implementations {
        let wrong = |what: String| {
            Diagnostic::error("W543", what).help(
                "write --implementation NAME=IMPL, such as mmul33=2, or '*=2' for all functions",
            )
        };
        let Some((function, implementation)) = text.split_once('=') else {
            return Err(wrong(format!("`{text}` names no implementation")).into());
        };
        if function != "*" {
            if let Some(id) = library.find_function(function) {
                let all = &library.function(id).implementations;
                if !has(library.function(id), implementation) {
                    let known: Vec<&str> = all.iter().map(|i| i.name.as_str()).collect();
                    return Err(wrong(format!(
                        "`{function}` has no implementation `{implementation}`, but {}",
                        known.join(", ")
                    ))
                    .into());
                }
            } else if !library.function_names().contains(&function) {
                return Err(wrong(format!("the library has no function `{function}`")).into());
            }
        } else if !library.functions().iter().any(|f| has(f, implementation)) {
            let what =
                format!("no function of the script has an implementation `{implementation}`");
            return Err(wrong(what).into());
        }
        implementations.push((function.to_string(), implementation.to_string()));
    }
    Ok(Options {
        keep_loads: args.keep_loads,
        baseline: args.baseline,
        max_fusion: args.max_fusion.into(),
        best: args.covers(measures) + if measures { 0 } else { SPARE },
        implementations,
        ..Options::default()
    })
}

/// The script's file name as a name in C. One that begins otherwise than with a letter gets a word before it.
fn script_name(args: &FuseArgs) -> Result<String, Failure> {
    let path = &args.script;
    if path.extension().is_none_or(|e| e != "ws") {
        let what = format!("`{}` is no script: their names end in `.ws`", path.display());
        let text = std::fs::read(path).unwrap_or_default();
        let failure = Diagnostic::error("W542", what).into();
        return Err(crate::wrong_file::explained(failure, "fuse", path, &text));
    }
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = stem.chars().map(word).collect();
    Ok(match name.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => name,
        _ => format!("script_{}", name.trim_start_matches('_')),
    })
}

fn read_script(args: &FuseArgs) -> Result<String, Failure> {
    let path = args.script.display();
    let bytes = std::fs::read(&args.script).map_err(|e| {
        let d = Diagnostic::error("W542", format!("cannot read `{path}`: {e}"));
        Failure::from(d.help("`warpsmith fuse` takes a script of elementary functions (.ws)"))
    })?;
    if bytes.len() > 1 << 20 {
        return Err(Failure::input("W542", format!("`{path}` is larger than a megabyte")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::input("W542", format!("`{path}` is not text in UTF-8")))
}
