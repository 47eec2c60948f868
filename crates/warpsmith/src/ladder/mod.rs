//! `warpsmith ladder`: the versions of a matrix product that a course would teach, each with its schedule, shown as a
//! difference to the one before, with what the device model predicts and what the emulator counts.

pub(crate) mod diff;
mod page;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use warpsmith_ir::SourceMap;
use warpsmith_opt::schedule::ladder::{Rung, rungs};
use warpsmith_opt::{Kernel, lower, schedule};

use crate::check::args::{parse_bytes, parse_duration};
use crate::data::NamedSpec;
use crate::output::{Outputs, check_folder};
use crate::status::{Failure, Status};
use crate::tune::args::{RegisterSource, Strategy, TuneArgs, TuneFormat};
use crate::tune::counted::{CountedLaunch, counted};
use crate::tune::sizes::Point;
use crate::tune::{self, Tuned};

#[derive(Args, Debug, Clone)]
pub struct LadderArgs {
    /// A C file with a loop nest that sums products, such as a matrix product
    #[arg(value_name = "FILE.c")]
    pub file: PathBuf,

    /// The function to translate, when the file has several with marked loops
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,

    /// Sizes to predict times for, one option for each parameter
    #[arg(long = "size", value_name = "NAME=N")]
    pub sizes: Vec<String>,

    /// A scalar argument, or representative data for an array: a number, random, iota, @file.npy
    #[arg(long = "arg", value_name = "NAME=SPEC")]
    pub args: Vec<NamedSpec>,

    /// Architecture to make the kernels for
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    pub arch: String,

    /// Folder for the results [default: ./warpsmith-out/NAME-ladder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Define a macro, as for a compiler
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Search a folder for the project's own headers
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// Seed of the data used for verification
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Worker threads of the emulator (default: one for each core)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub jobs: usize,

    /// Memory the verification may use, then exit status 3
    #[arg(long, value_name = "BYTES[K|M|G]", value_parser = parse_bytes, default_value = "8G")]
    pub max_memory: u64,

    /// Time for everything, then exit status 3
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// Do everything but write files
    #[arg(long)]
    pub dry_run: bool,

    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: TuneFormat,
}

/// One version of the kernel, verified.
#[derive(Debug)]
pub struct Version {
    pub name: String,
    pub idea: String,
    pub tuned: Tuned,
    /// What the emulator counts, launch by launch.
    pub launches: Vec<CountedLaunch>,
    /// The changes of the kernel's file from the version before, in unified form; empty for the first.
    pub changes: String,
}

/// The versions that are legal for this nest, in order, and why others are left out.
#[derive(Debug)]
pub struct Ladder {
    pub versions: Vec<Version>,
    /// Name and reason.
    pub left_out: Vec<(String, String)>,
    pub gpu: &'static str,
    /// The size that was counted at.
    pub point: Point,
    pub folder: PathBuf,
}

/// The command: writes the files, prints the table and says how it ended.
pub fn run(args: &LadderArgs) -> Status {
    let json = args.format == TuneFormat::Json;
    let mut sources = SourceMap::new();
    let ladder = match ladder(args, &mut sources) {
        Ok(ladder) => ladder,
        Err(failure) => return failure.report("ladder", json, &sources),
    };
    let written = if args.dry_run { Ok(vec![]) } else { write(&ladder) };
    match written {
        Ok(paths) => {
            match args.format {
                TuneFormat::Human => print!("{}", page::human(&ladder, &paths)),
                TuneFormat::Json => println!("{}", page::json(&ladder, &paths)),
            }
            Status::Done
        }
        Err(failure) => failure.report("ladder", json, &sources),
    }
}

impl LadderArgs {
    fn tune(&self, strategy: Strategy) -> TuneArgs {
        TuneArgs {
            file: self.file.clone(),
            list_rewrites: false,
            show_steps: false,
            function: self.function.clone(),
            sizes: self.sizes.clone(),
            args: self.args.clone(),
            arch: Some(self.arch.clone()),
            device: "emulator".to_string(),
            replay: None,
            devices: None,
            launchers: vec![],
            schedule: None,
            params: vec![],
            // The predicted times of all versions rest on the same kind of figure.
            registers: RegisterSource::Estimate,
            strategy: Some(strategy),
            budget: None,
            against: None,
            resume: false,
            store: None,
            out: self.out.clone(),
            define: self.define.clone(),
            include: self.include.clone(),
            seed: self.seed,
            jobs: self.jobs,
            max_memory: self.max_memory,
            timeout: self.timeout,
            ends: self.timeout.and_then(|t| std::time::Instant::now().checked_add(t)),
            verify_steps: tune::verify::TOTAL_STEPS,
            dry_run: true,
            format: self.format,
        }
    }
}

/// Makes and verifies all versions; writes nothing.
///
/// # Errors
/// As `tune`; status 1 when no nest is a contraction.
pub fn ladder(args: &LadderArgs, sources: &mut SourceMap) -> Result<Ladder, Failure> {
    let direct = args.tune(Strategy::Direct);
    let kernel = tune::kernel(&direct, sources)?;
    let name = kernel.func().name.clone();
    let folder =
        args.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(name + "-ladder"));
    check_folder(&folder)?;
    let list = rungs(&kernel, sources).map_err(Failure::no)?;
    let mut made = Ladder {
        versions: vec![],
        left_out: vec![],
        gpu: tune::gpu(&args.arch)?.name,
        point: Point::new(),
        folder,
    };
    for rung in list {
        match refused(&kernel, &rung, sources) {
            Some(why) => made.left_out.push((rung.name.to_string(), why)),
            None => match tune::tune_as(&direct, Some(&rung.schedule), sources) {
                Ok(tuned) => made.add(&direct, rung.name, rung.idea, tuned, sources)?,
                // Where the direct translation is right, the schedule is to blame and not the input.
                Err(f) if f.status == Status::No && !made.versions.is_empty() => {
                    let not_run = f.diagnostics.iter().any(|d| d.code == tune::work::NOT_RUN);
                    let why = match not_run {
                        true => "a path of its kernel was run at no size",
                        false => "its kernel failed the verification: a bug in warpsmith",
                    };
                    made.left_out.push((rung.name.to_string(), why.to_string()));
                }
                Err(failure) => return Err(failure),
            },
        }
    }
    let tuned = tune::tune_as(&args.tune(Strategy::Model), None, sources)?;
    made.add(&direct, "chosen", "the schedule that the device model ranks first", tuned, sources)?;
    Ok(made)
}

/// Why a version is not legal for this nest.
fn refused(kernel: &Kernel, rung: &Rung, sources: &SourceMap) -> Option<String> {
    let program = schedule::replay(kernel, &rung.schedule, sources)
        .and_then(|kernel| lower::lower(&kernel, sources));
    program.err().map(|errors| errors.first().map_or(String::new(), |d| d.message.clone()))
}

impl Ladder {
    fn add(
        &mut self,
        args: &TuneArgs,
        name: &str,
        idea: &str,
        tuned: Tuned,
        sources: &mut SourceMap,
    ) -> Result<(), Failure> {
        if self.versions.is_empty() {
            self.point = tuned.sizes.first().map(counting_point).unwrap_or_default();
        }
        let launches = counted(args, &tuned, &self.point, sources)?;
        let changes = match self.versions.last() {
            Some(before) => diff::diff(code(&before.tuned), code(&tuned)),
            None => String::new(),
        };
        let (name, idea) = (name.to_string(), idea.to_string());
        self.versions.push(Version { name, idea, tuned, launches, changes });
        Ok(())
    }
}

/// The emitted file without the comment at its top, which tells of the verification.
fn code(tuned: &Tuned) -> &str {
    let text = tuned.files.first().map_or("", |(_, text)| text.as_str());
    text.find("\n\n").map_or(text, |at| &text[at + 2..])
}

/// A size at which the emulator soon ends and blocks are full: no extent above 128, and less where there are many.
fn counting_point(point: &Point) -> Point {
    let large = point.values().filter(|v| **v > 16).count();
    let most = if large > 3 { 32 } else { 128 };
    point.iter().map(|(name, v)| (name.clone(), (*v).min(most))).collect()
}

/// A folder for each version, and the page about all of them.
fn write(ladder: &Ladder) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = vec![];
    for (k, version) in ladder.versions.iter().enumerate() {
        let mut outputs = Outputs::default();
        for (name, text) in &version.tuned.files {
            outputs.add(name.clone(), text.as_bytes());
        }
        if k > 0 {
            outputs.add("changes.diff", version.changes.as_bytes());
        }
        outputs.write(&ladder.folder.join(version.folder(k)))?;
        paths.push(ladder.folder.join(version.folder(k)));
    }
    let mut outputs = Outputs::default();
    outputs.add("ladder.md", page::markdown(ladder).into_bytes());
    paths.extend(outputs.write(&ladder.folder)?);
    Ok(paths)
}

impl Version {
    /// The folder of the version with this index.
    fn folder(&self, index: usize) -> String {
        format!("{}-{}", index + 1, self.name)
    }
}
