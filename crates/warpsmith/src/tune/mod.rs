//! `warpsmith tune`: from a C loop nest to a verified CUDA kernel.

pub(crate) mod arch;
pub mod args;
mod beyond;
mod by_data;
pub mod choice;
mod choices;
pub(crate) mod compare;
pub mod compiled;
mod condition;
pub mod counted;
mod coverage;
mod culprit;
pub(crate) mod device;
mod estimates;
pub(crate) mod extents;
pub mod faults;
mod given;
pub(crate) mod host_c;
pub(crate) mod inputs;
mod kept;
mod large;
mod lowered;
mod made;
pub mod measure;
mod part;
pub(crate) mod pipeline;
pub(crate) mod points;
pub(crate) mod profile;
mod reach;
pub mod recompute;
pub(crate) mod result;
mod sampled;
pub(crate) mod search;
pub mod sizes;
mod space;
mod steps;
mod suited;
mod variant;
pub mod verify;
pub(crate) mod witness;
pub(crate) mod work;

use std::path::PathBuf;

use warpsmith_ir::{SourceMap, printable};

pub use self::pipeline::{Tuned, kernel, plan, tune, tune_as};
pub use self::search::Measured;

use self::args::{TuneArgs, TuneFormat};
use crate::cli::color_on_stderr;
use crate::interrupt;
use crate::output::Outputs;
use crate::progress::Phase;
use crate::status::{Failure, Status};

/// The GPU that stands for an architecture.
///
/// # Errors
/// W310 with the list of known names.
pub fn gpu(arch: &str) -> Result<&'static warpsmith_device::Gpu, Failure> {
    Ok(arch::find(arch)?.gpu())
}

/// The command: writes the files, prints what was done and says how it ended.
pub fn run(args: &TuneArgs) -> Status {
    if args.list_rewrites {
        print!("{}", warpsmith_opt::schedule::registry::list());
        return Status::Done;
    }
    let args = &args.begun();
    if crate::problem::is_problem(&args.file) {
        return crate::problem::run(args);
    }
    let _guard = interrupt::in_words();
    let json = args.format == TuneFormat::Json;
    let mut sources = SourceMap::new();
    let phase = Phase::new("tune");
    let tuned = tune(args, &mut sources);
    drop(phase);
    let tuned = match tuned {
        Ok(tuned) => tuned,
        Err(failure) => return failure.report("tune", json, &sources),
    };
    let written = if args.dry_run { Ok(vec![]) } else { write(&tuned) };
    match written {
        Ok(paths) => {
            for message in &tuned.messages {
                eprintln!("{}", message.render(&sources, color_on_stderr()));
            }
            match args.format {
                TuneFormat::Human => print!("{}", printable(&result::human(&tuned, &paths))),
                TuneFormat::Json => println!("{}", result::json(&tuned, &paths)),
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
