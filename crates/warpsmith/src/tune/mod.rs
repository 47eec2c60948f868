//! `warpsmith tune`: from a C loop nest to a verified CUDA kernel.

pub mod args;

use std::path::{Path, PathBuf};

use warpsmith_ir::{SourceMap, printable};

pub use warpsmith_translate::tune::*;

use self::args::TuneArgs;
use crate::interrupt;
use crate::output::Outputs;
use crate::progress::Phase;
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, color_on_stderr};
use crate::wrong_file;

/// The command: writes the files, prints what was done and says how it ended.
pub fn run(args: &TuneArgs) -> Status {
    if args.list_rewrites {
        print!("{}", warpsmith_opt::schedule::registry::list());
        return Status::Done;
    }
    let json = args.format == Format::Json;
    let mut sources = SourceMap::new();
    let request = match args.request() {
        Ok(request) => request,
        Err(failure) => return failure.report("tune", json, &sources),
    };
    if crate::problem::is_problem(&args.file) {
        return crate::problem::run(&request, args.format);
    }
    let _guard = interrupt::in_words();
    let phase = Phase::new("tune");
    let tuned = tune(&request, &mut sources);
    drop(phase);
    let tuned = match tuned {
        Ok(tuned) => tuned,
        Err(failure) => {
            return explained(failure, &request, &sources).report("tune", json, &sources);
        }
    };
    let written = if args.dry_run { Ok(vec![]) } else { write(&tuned) };
    match written {
        Ok(paths) => {
            for message in &tuned.messages {
                eprintln!("{}", message.render(&sources, color_on_stderr()));
            }
            match args.format {
                Format::Human => print!("{}", printable(&result::human(&tuned, &paths))),
                Format::Json => println!("{}", result::json(&tuned, &paths)),
            }
            match tuned.interrupted {
                true => Status::Interrupted,
                false => Status::Done,
            }
        }
        Err(mut failure) => {
            failure.diagnostics.splice(0..0, tuned.messages);
            failure.report("tune", json, &sources)
        }
    }
}

fn write(tuned: &Tuned) -> Result<Vec<PathBuf>, Failure> {
    let mut outputs = Outputs::default();
    for (name, text) in &tuned.files {
        outputs.add(name.clone(), text.as_bytes());
    }
    outputs.write(&tuned.folder)
}

/// With a hint where the file cannot be read as C because it is one for another command.
pub(crate) fn explained(failure: Failure, request: &TuneRequest, sources: &SourceMap) -> Failure {
    let file = &request.source.file;
    match text_of(file, sources).filter(|_| failure.unread) {
        Some(text) => wrong_file::explained(failure, "tune", file, &text),
        None => failure,
    }
}

/// What was read, or is still there to be read: a pipe gives its text once.
fn text_of(file: &Path, sources: &SourceMap) -> Option<Vec<u8>> {
    let name = file.display().to_string();
    let read =
        sources.files().find(|(_, f)| f.path == name).map(|(_, f)| f.text.as_bytes().to_vec());
    read.or_else(|| std::fs::metadata(file).ok()?.is_file().then(|| std::fs::read(file).ok())?)
}
