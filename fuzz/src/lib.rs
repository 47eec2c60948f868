//! What the fuzz targets share: seeds from the repository, the ways through the tool, and what must hold of any outcome.

pub mod targets;

#[path = "../../crates/warpsmith/tests/random_schedules/state.rs"]
mod state;

use std::path::{Path, PathBuf};
use std::time::Duration;

use warpsmith::check::args::{LaunchArgs, SourceArgs};
use warpsmith::check::memory::{Buffers, Tried};
use warpsmith::check::program;
use warpsmith::status::{Failure, Status};
use warpsmith::tune::{TuneRequest, Tuned, tune};
use warpsmith_emu::{Outcome, run};
use warpsmith_front::cloops::{CInput, lower_c};
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_front::sema::{Request, lower_cuda};
use warpsmith_ir::{Diagnostic, Module, SourceMap, text, verify::verify};

/// Memory a run may use for buffers and shadow memory: far below the fuzzer's own limit.
const MAX_MEMORY: u64 = 256 << 20;
/// Thread instructions of a launch, so that a mutant without an end costs a fraction of a second.
const MAX_TOTAL_STEPS: u64 = 2_000_000;
/// Steps of the interpreter for the verification of a translation.
const VERIFY_STEPS: u64 = 500_000;
/// Seconds a call of `tune` may take.
const TUNE_SECONDS: u64 = 8;

/// The texts of the files in a folder of the repository (or of `WARPSMITH_ROOT`) with an extension, by name.
///
/// # Panics
/// When there are none: the target would test nothing.
pub fn texts(folders: &[&str], extension: &str) -> Vec<String> {
    let here = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = std::env::var_os("WARPSMITH_ROOT").map_or_else(here, PathBuf::from);
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flat_map(|entries| entries.flatten().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no {extension} files in {folders:?}");
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// The kernels of `tests/corpus`.
pub fn kernels() -> Vec<String> {
    texts(&["tests/corpus/correct", "tests/corpus/defects"], "cu")
}

/// One of the texts, chosen by two bytes, another one to take pieces from, and the bytes that are left.
pub fn pick<'a>(texts: &'a [String], bytes: &'a [u8]) -> Option<(&'a str, &'a str, &'a [u8])> {
    let [first, second, rest @ ..] = bytes else { return None };
    let at = |byte: u8| texts[usize::from(byte) % texts.len()].as_str();
    Some((at(*first), at(*second), rest))
}

/// What is true of any refusal: at least one message, and each can be shown.
fn must_say_why(errors: &[Diagnostic], sources: &SourceMap) {
    assert!(!errors.is_empty());
    for error in errors {
        let shown = error.render(sources, false);
        assert!(shown.contains(error.code), "{shown}");
    }
}

/// The module of all kernels of a CUDA file. What is lowered obeys the verifier and keeps its text form.
pub fn read_cuda(source: &[u8]) -> Option<Module> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let lowered = parse("fuzz.cu", source, &options, &DiskLoader, &mut sources)
        .and_then(|unit| lower_cuda(&unit.unit, &Request::all_kernels()));
    match lowered {
        Ok(lowered) => {
            is_sound(&lowered.module);
            Some(lowered.module)
        }
        Err(errors) => {
            must_say_why(&errors, &sources);
            None
        }
    }
}

/// Prints a module as CUDA C++, if it has a spelling there, and reads that again.
///
/// # Panics
/// When what was printed cannot be read.
pub fn is_read_again(module: &Module) {
    // A file without kernels lowers to nothing, which is nothing to read.
    if module.functions.is_empty() {
        return;
    }
    let Ok(text) = warpsmith_emit::module_file(module) else { return };
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let lowered = parse("printed.cu", text.as_bytes(), &options, &DiskLoader, &mut sources)
        .and_then(|unit| lower_cuda(&unit.unit, &Request::all_kernels()));
    if let Err(errors) = lowered {
        let said: String = errors.iter().map(|e| e.render(&sources, false)).collect();
        panic!("printed, but not read:\n{text}\n{said}");
    }
}

/// The function of a C file with marked loops, likewise.
pub fn read_c(source: &[u8], sources: &mut SourceMap) -> Option<CInput> {
    let options = ParseOptions::new(Language::C);
    let lowered = parse("fuzz.c", source, &options, &DiskLoader, sources)
        .and_then(|unit| lower_c(&unit.unit, None));
    match lowered {
        Ok(input) => {
            is_sound(&input.module);
            Some(input)
        }
        Err(errors) => {
            must_say_why(&errors, sources);
            None
        }
    }
}

/// The verifier accepts the module, and its text form is read back as it was.
pub fn is_sound(module: &Module) {
    if let Err(violations) = verify(module) {
        panic!("{}\n{}", violations[0], text::print(module));
    }
    let printed = text::print(module);
    let again = text::parse(&printed).unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
    assert_eq!(text::print(&again), printed);
}

/// A file of this process in the temporary folder with this content.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("warpsmith-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a writable folder");
    path
}

/// Runs the launches of a file in order, as `warpsmith check` does, until one is refused; what each launch gave.
///
/// # Errors
/// What is wrong with the file.
pub fn emulate(source: &[u8], options: &warpsmith_emu::Options) -> Result<Vec<Outcome>, Failure> {
    let path = file("kernel.cu", source);
    let mut sources = SourceMap::new();
    let prelude = warpsmith_front::prelude::unit(&mut sources);
    let (launch, source) = (LaunchArgs::default(), SourceArgs::default());
    let loaded = program::load(&path, &launch, &source, &prelude, &mut sources);
    let loaded = loaded.inspect_err(|e| no_bug(e, &sources))?;
    let options = warpsmith_emu::Options {
        max_memory: MAX_MEMORY,
        max_steps: MAX_TOTAL_STEPS / 4,
        max_total_steps: MAX_TOTAL_STEPS,
        ..options.clone()
    };
    let mut outcomes = vec![];
    for step in &loaded.steps {
        let mut buffers = Buffers::new(&step.module);
        for launch in &step.launches {
            let config = step.config(launch, &mut buffers, 0, Tried::default(), MAX_MEMORY);
            let config = config.inspect_err(|e| no_bug(e, &sources))?;
            match run(&step.module, &config, &mut buffers.memory, &options) {
                Ok(outcome) => outcomes.push(outcome),
                Err(_) => return Ok(outcomes),
            }
        }
    }
    Ok(outcomes)
}

/// A failure that blames the tool is one of ours.
fn no_bug(failure: &Failure, sources: &SourceMap) {
    must_say_why(&failure.diagnostics, sources);
    assert!(failure.status != Status::Bug, "{}", failure.render(sources, false));
}

/// Makes `tune` find no host compiler: a call of it would cost more than everything else.
pub fn without_host_compiler() {
    // SAFETY: called before the first input, when the process has one thread.
    unsafe { std::env::set_var("CC", "/nonexistent/cc") };
}

/// Runs `tune` at these sizes. A wrong kernel, or a failure that blames the tool, ends the process.
pub fn tuned(
    source: &[u8],
    schedule: Option<&[u8]>,
    sizes: &[(&str, i64)],
) -> Option<Tuned> {
    let request = TuneRequest::new(file("nest.c", source)).jobs(1).max_memory(MAX_MEMORY);
    let request = request.timeout(Duration::from_secs(TUNE_SECONDS)).verify_steps(VERIFY_STEPS);
    let request = sizes.iter().fold(request, |r, (name, size)| r.size(*name, [*size]));
    let request = match schedule {
        Some(steps) => request.schedule(file("nest.sched", steps)),
        None => request,
    };
    let mut sources = SourceMap::new();
    match tune(&request, &mut sources) {
        Ok(tuned) => {
            let retreat = tuned.messages.iter().find(|m| m.code == "W329");
            let said = || retreat.map(|m| m.render(&sources, false)).unwrap_or_default();
            assert!(retreat.is_none(), "{}\n{}", said(), String::from_utf8_lossy(source));
            for (name, text) in tuned.files.iter().filter(|(name, _)| name.ends_with(".cu")) {
                let long = text.lines().find(|l| l.chars().count() > 100);
                assert!(long.is_none(), "{name}: {}\n{text}", long.unwrap_or_default());
            }
            Some(tuned)
        }
        Err(failure) => {
            no_bug(&failure, &sources);
            let wrong = failure.diagnostics.iter().any(|d| ["W325", "W299"].contains(&d.code));
            let said = || failure.render(&sources, false);
            assert!(!wrong, "{}\n{}", said(), String::from_utf8_lossy(source));
            None
        }
    }
}
