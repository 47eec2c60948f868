//! `warpsmith fuse`: from a script of elementary functions to fused, verified kernels.
//!
//! W540: a cover that did not pass verification; W541: a reference that cannot be run; W542: a script that cannot be read, or
//! whose name is no name in C; W543: an option that asks for what is not there.

pub mod args;
mod model;
mod reference;
mod report;
mod shipped;
mod verify;
mod witness;

use std::cell::RefCell;
use std::path::PathBuf;

use warpsmith_fuse::access::Accesses;
use warpsmith_fuse::emit::{self, Heading};
use warpsmith_fuse::library::{Files, Library};
use warpsmith_fuse::plan::{Bounds, Covered, Options, Planner, search};
use warpsmith_fuse::script::{self, syntax};
use warpsmith_ir::{Diagnostic, SourceMap, printable};

use self::args::{FuseArgs, FuseFormat};
use crate::cli::color_on_stderr;
use crate::output::Outputs;
use crate::status::{Failure, Status};

/// What was made of a script.
pub struct Fused {
    /// What names of the output begin with.
    pub name: String,
    pub folder: PathBuf,
    /// Best predicted first; at least one.
    pub covers: Vec<Handed>,
    /// `result.json`.
    pub result: serde_json::Value,
    /// What the terminal shows.
    pub text: String,
    pub warnings: Vec<Diagnostic>,
    pub bounds: Bounds,
}

/// A cover that passed verification.
pub struct Handed {
    pub cover: Covered,
    /// Name and text.
    pub files: Vec<(String, String)>,
    /// Numbers of elements at which it was checked.
    pub counts: Vec<usize>,
}

/// The command: writes the files, prints what was done and says how it ended.
pub fn run(args: &FuseArgs) -> Status {
    let json = args.format == FuseFormat::Json;
    let mut sources = SourceMap::new();
    let fused = match fuse(args, &mut sources) {
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
            crate::cli::inert_json(&report::with_outputs(&fused.result, &paths).to_string())
        );
    } else {
        print!("{}", printable(&report::with_paths(&fused, &paths)));
    }
    Status::Done
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
    let result = serde_json::to_string_pretty(&fused.result).unwrap_or_default();
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
    let gpu = crate::tune::gpu(&args.arch)?;
    supported(args)?;
    let name = script_name(args)?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("warpsmith-out").join(&name));
    if !args.dry_run {
        crate::output::check_folder(&folder)?;
    }
    let source = read_script(args)?;
    let file = sources.add(args.script.display().to_string(), source.as_str());
    let script = script::parse(&source, file)?;
    let files = match &args.library {
        Some(folder) => Files::read(folder)?,
        None => shipped::files(),
    };
    let mut library = Library::open(files, sources)?;
    library.load(called(&script.body), sources)?;
    let mut warnings = vec![];
    let program = script::resolve(&script, &library, &mut warnings)?;
    let options = options(args, &library)?;
    let model = model::Model::new(gpu, args.elements);
    let accesses = RefCell::new(Accesses::default());
    let cell = RefCell::new(std::mem::take(sources));
    let planner = Planner {
        program: &program,
        library: &library,
        options: &options,
        times: &model,
        accesses: &accesses,
        sources: &cell,
    };
    let found = search(&planner);
    let heading = Heading { name: name.clone(), arch: args.arch.clone(), elements: args.elements };
    let handed = found.map_err(Failure::from).and_then(|found| {
        let covers = hand_out(&planner, &heading, found.covers, args.seed, &mut warnings)?;
        Ok((covers, found.bounds, found.candidates))
    });
    let made = handed.map(|(covers, bounds, candidates)| {
        let made = report::Made {
            planner: &planner,
            heading: &heading,
            covers: &covers,
            bounds: &bounds,
            candidates,
        };
        let (result, text) = (made.json(), made.human(args.explain));
        (covers, bounds, result, text)
    });
    *sources = cell.into_inner();
    let (covers, bounds, result, text) = made?;
    Ok(Fused { name, folder, covers, result, text, warnings, bounds })
}

/// Emits covers and runs them; those that pass.
fn hand_out(
    planner: &Planner<'_>,
    heading: &Heading,
    covers: Vec<Covered>,
    seed: u64,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Handed>, Failure> {
    let (program, library) = (planner.program, planner.library);
    let references =
        reference::References::new(program, library, &mut planner.sources.borrow_mut())?;
    let most = covers.iter().flat_map(verify::counts).max().unwrap_or(1);
    let data = verify::Data::new(program, library, &references, most, seed)?;
    let (mut handed, mut refused) = (vec![], vec![]);
    for (k, cover) in covers.into_iter().enumerate() {
        let mut files = emit::files(planner, heading, &cover);
        let counts = verify::counts(&cover);
        debug_assert!(counts.iter().all(|c| *c <= data.count()));
        let checked = verify::verify(
            &heading.name,
            &files,
            program,
            library,
            (&data, &counts),
            &mut planner.sources.borrow_mut(),
        );
        match checked {
            Ok(()) => {
                files.push((
                    format!("{}.dot", heading.name),
                    emit::dot(planner, &heading.name, &cover),
                ));
                handed.push(Handed { cover, files, counts });
            }
            Err(list) => refused.extend(
                list.into_iter().map(|d| d.note(format!("cover {} is not handed out", k + 1))),
            ),
        }
    }
    if handed.is_empty() {
        return Err(Failure::no(refused));
    }
    warnings.extend(
        refused.into_iter().map(|d| Diagnostic { severity: warpsmith_ir::Severity::Warning, ..d }),
    );
    Ok(handed)
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

/// Refuses what needs a GPU.
fn supported(args: &FuseArgs) -> Result<(), Failure> {
    let refused = |what: String| {
        Err(Diagnostic::error("W543", what)
            .note("times are predicted by the device model, and every kernel is checked in the emulator")
            .help("leave the option out, or use --device emulator")
            .into())
    };
    if args.benchmark {
        return refused("routines are not measured on a GPU yet".into());
    }
    match args.device.as_str() {
        "auto" | "emulator" => Ok(()),
        other => refused(format!("fusions are not measured on `{other}` yet")),
    }
}

fn options(args: &FuseArgs, library: &Library) -> Result<Options, Failure> {
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
                if !all.iter().any(|i| i.name == implementation) {
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
        }
        implementations.push((function.to_string(), implementation.to_string()));
    }
    Ok(Options {
        keep_loads: args.keep_loads,
        baseline: args.baseline,
        max_fusion: args.max_fusion.into(),
        best: args.best.into(),
        implementations,
        ..Options::default()
    })
}

/// The script's file name as a name in C.
fn script_name(args: &FuseArgs) -> Result<String, Failure> {
    let path = &args.script;
    let wrong = |what: &str| {
        Failure::from(Diagnostic::error("W542", format!("`{}` {what}", path.display())))
    };
    if path.extension().is_none_or(|e| e != "ws") {
        return Err(wrong("is no script: their names end in `.ws`"));
    }
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = stem.chars().map(word).collect();
    match name.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => Ok(name),
        _ => {
            Err(wrong("has a name that does not begin with a letter: kernels are called after it"))
        }
    }
}

fn read_script(args: &FuseArgs) -> Result<String, Failure> {
    let path = args.script.display();
    let bytes = std::fs::read(&args.script)
        .map_err(|e| Failure::input("W542", format!("cannot read `{path}`: {e}")))?;
    if bytes.len() > 1 << 20 {
        return Err(Failure::input("W542", format!("`{path}` is larger than a megabyte")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::input("W542", format!("`{path}` is not text in UTF-8")))
}
