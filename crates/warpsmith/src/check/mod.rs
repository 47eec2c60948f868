//! `warpsmith check`: runs CUDA kernels in the emulator and reports what is wrong with them.

pub mod args;
mod baseline;
mod confirm;
mod directive;
mod expect;
pub(crate) mod files;
mod finish;
mod folder;
mod functions;
mod host;
mod invent;
mod linked;
mod list;
pub mod memory;
mod parts;
pub mod plan;
pub mod program;
mod request;
mod runner;
mod same;
mod variables;

use std::path::{Path, PathBuf};

use warpsmith_ir::{Diagnostic, SourceMap};

pub use self::files::read as read_file;
pub use self::request::CheckRequest;

use self::args::{CheckArgs, ReportFormat};
use self::runner::Runner;
use crate::interrupt;
use crate::progress::Progress;
use crate::report::{self, Report};
use crate::status::{Failure, Status};
use crate::terminal::{color_on_stderr, color_on_stdout, inert_json, say};
use crate::wrong_file;

/// The command: prints the report to stdout and says how it ended.
pub fn run(args: &CheckArgs) -> Status {
    let mut sources = SourceMap::new();
    let gently = interrupt::gently();
    let result = check(args, &mut sources);
    drop(gently);
    match result {
        Ok(report) => {
            print_report(args.format, &report, &sources);
            report.status
        }
        Err(failure) => {
            eprint!("{}", failure.render(&sources, color_on_stderr()));
            match args.format {
                ReportFormat::Json => {
                    println!("{}", inert_json(&failure.json("check", &sources).to_string()))
                }
                ReportFormat::Sarif => println!("{}", report::failed_sarif(&failure, &sources)),
                ReportFormat::Human => {}
            }
            failure.status
        }
    }
}

/// Checks all files and folders of the arguments.
///
/// # Errors
/// Bad input: a missing, empty or binary file (W301), errors in the source, a file without kernels (W303), a kernel or launch
/// that is not there (W304), a malformed directive (W305), arguments that do not fit (W306), what the emulator does not execute
/// (W308), a device without `--same-as` (W309), a baseline that is no report (W319). W307 with status 3 for arrays beyond
/// `--max-memory`. In a folder a bad file is listed and does not keep the others from being checked.
pub fn check(args: &CheckArgs, sources: &mut SourceMap) -> Result<Report, Failure> {
    if args.device.is_some() && args.same_as.is_none() {
        return Err(Diagnostic::error("W309", "`check` runs nothing on a GPU")
            .help("leave --device out, or compare with a reference: --same-as REF runs both there, too")
            .into());
    }
    if let Some(reference) = &args.same_as {
        return same::check(args, reference, sources);
    }
    let mut runner = Runner::new(args);
    let mut files: Vec<(PathBuf, bool)> = vec![];
    for path in &args.paths {
        if path.is_dir() {
            files.extend(files::cuda_files(path)?.into_iter().map(|f| (f, true)));
        } else {
            files.push((path.clone(), false));
        }
    }
    if folder::independent(&runner, &files) {
        folder::check(&mut runner, &files, sources);
        files.clear();
    }
    let mut progress = Progress::new("checking", files.len());
    for (file, in_folder) in &files {
        progress.step(&shown(file));
        match runner.file(file, *in_folder, sources) {
            // One file does not keep a folder from being checked.
            Err(failure) if *in_folder => runner.unreadable(file, failure),
            result => result.map_err(|f| with_hint(f, file))?,
        }
    }
    runner.order_items(sources);
    if let Some(path) = &args.baseline {
        runner.allow_known(&baseline::read(path)?);
    }
    Ok(runner.finish(sources))
}

fn print_report(format: ReportFormat, report: &Report, sources: &SourceMap) {
    let text = match format {
        ReportFormat::Human => {
            report.printed.clone() + &report::human(report, sources, color_on_stdout())
        }
        ReportFormat::Json => report::json(report, sources).to_string() + "\n",
        ReportFormat::Sarif => report::sarif(report, sources).to_string() + "\n",
    };
    say(&text);
}

/// What to do with a file of another kind than is checked.
fn with_hint(failure: Failure, file: &Path) -> Failure {
    match std::fs::read(file) {
        Ok(text) => wrong_file::explained(failure, "check", file, &text),
        Err(_) => failure,
    }
}

/// The path as messages show it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
