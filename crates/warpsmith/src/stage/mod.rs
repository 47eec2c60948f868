//! `warpsmith stage`: reads of global memory are served from shared memory where the user's plan puts their elements.

pub mod args;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged};
use warpsmith_stage::verify::proof::solver;

use crate::check::files;
use crate::cli::inert_json;
use crate::data::ArgSpec;
use crate::output::{Outputs, check_folder};
use crate::status::{Failure, Status};
use args::{StageArgs, StageFormat};

/// Runs the command.
pub fn run(args: &StageArgs) -> Status {
    let json = args.format == StageFormat::Json;
    let (failure, sources) = match staged(args) {
        Ok((staged, outputs)) => {
            match json {
                true => println!("{}", inert_json(&report::json(&staged, &outputs).to_string())),
                false => print!("{}", report::human(&staged, &outputs, args.explain)),
            }
            return Status::Done;
        }
        Err(failed) => *failed,
    };
    failure.report("stage", json, &sources)
}

type Failed = Box<(Failure, SourceMap)>;

fn staged(args: &StageArgs) -> Result<(Staged, Vec<PathBuf>), Failed> {
    let plain = |f: Failure| Box::new((f, SourceMap::new()));
    let input = input(args).map_err(plain)?;
    let name = args.file.file_stem().map_or("kernel".into(), |n| n.to_string_lossy().into_owned());
    let folder = args.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(&name));
    if !args.dry_run {
        check_folder(&folder).map_err(plain)?;
    }
    let staged = stage::stage(input).map_err(refused)?;
    let mut outputs = vec![];
    if !args.dry_run {
        let mut files = Outputs::default();
        files.add(format!("{name}.cu"), staged.text.clone());
        outputs = files.write(&folder).map_err(plain)?;
    }
    Ok((staged, outputs))
}

fn refused(refusal: Refusal) -> Failed {
    let Refusal { no, diagnostics, sources } = refusal;
    let failure =
        Failure::from(diagnostics).with_status(if no { Status::No } else { Status::BadInput });
    Box::new((failure, sources))
}

/// What is asked for, from the options.
///
/// # Errors
/// W301 for a file that cannot be read, W306 for arguments that are no whole numbers, W730 for what is not there yet.
fn input(args: &StageArgs) -> Result<Input, Failure> {
    if args.auto {
        let error = Diagnostic::error(
            "W730",
            "`--auto` is not there yet: plans are not found by themselves",
        )
        .help("declare a shared array, copy to it, and mark reads: `__opt__(in[c - 1])`");
        return Err(error.into());
    }
    let bytes = files::read(&args.file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::input("W001", format!("`{}` is not UTF-8 text", args.file.display()))
    })?;
    let mut integers = BTreeMap::new();
    for arg in &args.args {
        let number = match &arg.spec {
            ArgSpec::Number(n) => n.parse().ok(),
            _ => None,
        };
        let Some(value) = number else {
            let error = Diagnostic::error("W306", format!("argument `{}` is no whole number", arg.name))
                .note("arrays are as long as the unmodified kernel needs, and hold values that tell elements apart");
            return Err(error.into());
        };
        integers.insert(arg.name.clone(), value);
    }
    let settings = Settings {
        path: args.file.display().to_string(),
        defines: args.source.defines(),
        include_dirs: args.source.include.clone(),
    };
    Ok(Input {
        settings,
        text,
        kernel: args.kernel.clone(),
        grid: args.grid.map(|d| d.0),
        block: args.block.map(|d| d.0),
        integers,
        shared: args.shared.map(|b| b.min(256 << 10) as u32),
        fix: args.fix,
        solver: solver::program().filter(|_| !args.no_proof),
    })
}
