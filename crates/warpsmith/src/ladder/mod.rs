//! `warpsmith ladder`: the versions of a matrix product that a course would teach, each with its schedule, shown as a
//! difference to the one before, with what the device model predicts and what the emulator counts.

mod cpu;
pub(crate) mod html;
mod measure;
mod page;
mod why;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use warpsmith_ir::SourceMap;
use warpsmith_opt::schedule::ladder::{Rung, beyond, lesson};
use warpsmith_opt::schedule::orders::Orders;
use warpsmith_opt::{Kernel, Program, Schedule, lower, schedule};

use crate::check::args::{parse_bytes, parse_duration};
use crate::data::NamedSpec;
use crate::diff;
use crate::interrupt;
use crate::output::{Outputs, check_folder};
use crate::progress::{self, Phase, Progress};
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, color_on_stderr};
use warpsmith_translate::tune::arch::Arch;
use warpsmith_translate::tune::choice::{Predicted, predictions};
use warpsmith_translate::tune::counters::{CountedLaunch, counted};
use warpsmith_translate::tune::device::{self, Device, Place, Wanted};
use warpsmith_translate::tune::request::{
    Choosing, Data, Limits, Measuring, RegisterSource, Source,
};
use warpsmith_translate::tune::sizes::{self, Point};
use warpsmith_translate::tune::verify::inputs;
use warpsmith_translate::tune::{self, Strategy, TuneRequest, Tuned};

pub use self::cpu::OnCpu;
pub use self::measure::OnDevice;

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

    /// Architecture to make the kernels for, or a board: rtx4070 [default: that of the GPU, else sm_90]
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,

    /// Where versions are timed: auto (the first GPU, if there is one), cuda:N, or emulator (nowhere: times are predicted)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,

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
    pub format: Format,
}

/// One version of the kernel, verified.
#[derive(Debug)]
pub struct Version {
    /// A word for tables and file names.
    pub name: String,
    /// The step of the lecture that it is.
    pub lecture: Option<u32>,
    /// What this version does that the one before does not, in a phrase.
    pub idea: String,
    /// Steps of the schedule before that this one does not take: what it gives up.
    pub given_up: Vec<String>,
    /// Its schedule, files and verification.
    pub tuned: Tuned,
    /// What the device model says of each launch.
    pub predicted: Vec<Predicted>,
    /// Why the prediction is worse than that of the version before, where it is.
    pub slower: Option<String>,
    /// What its counters say that its idea does not.
    pub remarks: Vec<String>,
    /// Milliseconds on the device, where there is one and it runs there.
    pub ms: Option<f64>,
    /// What the emulator counts, launch by launch.
    pub launches: Vec<CountedLaunch>,
    /// Wavefronts of shared memory where loads of neighbouring words are one, as compilers make them: predicted for the
    /// size that was counted at.
    pub compiled_wavefronts: Option<f64>,
    /// The changes of the kernel's file from the version before, in unified form; empty for the first.
    pub changes: String,
}

/// The versions that are legal for this nest, in order, and why others are left out.
#[derive(Debug)]
pub struct Ladder {
    /// Simplest first.
    pub versions: Vec<Version>,
    /// Name and reason.
    pub left_out: Vec<(String, String)>,
    /// The GPU that predictions are for.
    pub gpu: &'static str,
    /// Where the versions were timed.
    pub on: Option<OnDevice>,
    /// The source's loops in all orders on the CPU, or why there are no times of them.
    pub on_cpu: Result<OnCpu, String>,
    /// The size that was counted at.
    pub point: Point,
    /// Where the files belong.
    pub folder: PathBuf,
}

/// The command: writes the files, prints the table and says how it ended.
pub fn run(args: &LadderArgs) -> Status {
    let _guard = interrupt::in_words();
    let json = args.format == Format::Json;
    let mut sources = SourceMap::new();
    let ladder = match ladder(args, &mut sources) {
        Ok(ladder) => ladder,
        Err(failure) => return not_resumed(failure).report("ladder", json, &sources),
    };
    let written = if args.dry_run { Ok(vec![]) } else { write(&ladder) };
    match written {
        Ok(paths) => {
            match args.format {
                Format::Human => print!("{}", page::human(&ladder, &paths)),
                Format::Json => println!("{}", page::json(&ladder, &paths)),
            }
            Status::Done
        }
        Err(failure) => failure.report("ladder", json, &sources),
    }
}

/// Only a search goes on where it was interrupted.
fn not_resumed(mut failure: Failure) -> Failure {
    if failure.status == Status::Interrupted {
        let help = "nothing was written; smaller sizes (--size) take less time";
        failure.diagnostics.iter_mut().for_each(|d| d.help = vec![help.into()]);
    }
    failure
}

impl LadderArgs {
    fn request(&self) -> Result<TuneRequest, Failure> {
        let sizes: Result<_, Failure> = self.sizes.iter().map(|s| sizes::parse(s)).collect();
        Ok(TuneRequest {
            source: Source {
                file: self.file.clone(),
                function: self.function.clone(),
                defines: self.define.clone(),
                include_dirs: self.include.clone(),
            },
            data: Data { sizes: sizes?, arguments: self.args.clone(), seed: self.seed },
            arch: self.arch.clone(),
            // The predicted times of all versions rest on the same kind of figure.
            choosing: Choosing { registers: RegisterSource::Estimate, ..Choosing::default() },
            measuring: Measuring { device: Device::Emulator, ..Measuring::default() },
            limits: Limits {
                jobs: self.jobs,
                max_memory: self.max_memory,
                timeout: self.timeout,
                ..Limits::default()
            }
            .begun(),
            out: self.out.clone(),
            show_steps: false,
            dry_run: true,
        })
    }
}

/// Makes and verifies all versions; writes nothing.
///
/// # Errors
/// As `tune`; status 1 when no nest is a contraction.
pub fn ladder(args: &LadderArgs, sources: &mut SourceMap) -> Result<Ladder, Failure> {
    let _phase = Phase::new("ladder");
    let mut request = args.request()?;
    let kernel = tune::kernel(&request, sources);
    let kernel = kernel.map_err(|f| crate::tune::explained(f, &request, sources))?;
    let name = kernel.func().name.clone();
    let folder =
        args.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(name + "-ladder"));
    check_folder(&folder)?;
    let stop = request.limits.stop();
    let wanted = Wanted {
        device: args.device.parse()?,
        arch: args.arch.as_deref(),
        devices: None,
        launchers: &[],
        stop,
    };
    let place = device::usual(&wanted)?;
    let (arch, stations) = match place {
        Place::Model { arch, notes } => {
            for note in notes {
                progress::hide();
                eprintln!("{}", note.render(sources, color_on_stderr()));
            }
            (arch, None)
        }
        Place::Measure(stations) => (stations.arch, Some(stations)),
    };
    // Predictions are for the board that times are taken on.
    let board =
        args.arch.clone().unwrap_or_else(|| arch.board.map_or(arch.name, |b| b.name).into());
    request.arch = Some(board);
    let direct = request.clone().strategy(Strategy::Direct);
    let kernel = arch.kernel(kernel.module, kernel.function);
    let lesson = lesson(&kernel, sources).map_err(Failure::no)?;
    let mut list = lesson.rungs;
    let mut progress = Progress::new("version", list.len() + 2);
    progress.step("choosing the schedule of least predicted time");
    let chosen = tune::plan(&request.strategy(Strategy::Model), sources)?;
    list.extend(beyond(&chosen.schedule));
    progress.total(list.len() + 2);
    let mut made = Ladder {
        versions: vec![],
        left_out: vec![],
        gpu: arch.gpu().name,
        on: None,
        on_cpu: Err("the nest is more than two parallel loops around one sum".into()),
        point: Point::new(),
        folder,
    };
    let maker = Maker { direct, kernel, arch };
    let mut schedules = vec![];
    for rung in list {
        progress.step(&format!("{}: verifying and counting", rung.name));
        let schedule = rung.schedule.clone();
        maker.add(&mut made, rung, sources)?;
        if made.versions.len() > schedules.len() {
            schedules.push(schedule);
        }
    }
    if let Some(orders) = &lesson.orders {
        progress.step("the loops in all orders on the CPU");
        made.on_cpu = maker.on_cpu(orders, &made, sources)?;
    }
    if let Some(stations) = stations {
        let product = lesson.product.as_ref();
        made.on = Some(measure::measure(&maker.direct, &stations, &mut made, schedules, product)?);
    }
    why::explain(&mut made);
    Ok(made)
}

/// Makes versions of one function.
struct Maker {
    direct: TuneRequest,
    kernel: Kernel,
    arch: Arch,
}

impl Maker {
    /// Adds a version, or says why it is left out.
    fn add(&self, ladder: &mut Ladder, rung: Rung, sources: &mut SourceMap) -> Result<(), Failure> {
        let program = match self.program(&rung.schedule, sources) {
            Ok(program) => program,
            Err(why) => {
                ladder.left_out.push((rung.name.to_string(), why));
                return Ok(());
            }
        };
        match tune::tune_as(&self.direct, Some(&rung.schedule), sources) {
            Ok(tuned) => self.made(ladder, rung, tuned, &program, sources),
            // Where the first version is right, the schedule is to blame and not the input.
            Err(f) if f.status == Status::No && !ladder.versions.is_empty() => {
                let not_run = f.diagnostics.iter().any(|d| d.code == tune::verified_files::NOT_RUN);
                let why = match not_run {
                    true => "a path of its kernel was run at no size",
                    false => "its kernel failed the verification: a bug in warpsmith",
                };
                ladder.left_out.push((rung.name.to_string(), why.to_string()));
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// The times of all orders of the loops on the CPU, with the data that the kernels are verified with.
    fn on_cpu(
        &self,
        orders: &Orders,
        ladder: &Ladder,
        sources: &mut SourceMap,
    ) -> Result<Result<OnCpu, String>, Failure> {
        let Some(sizes) = ladder.versions.first().and_then(|v| v.tuned.sizes.first()) else {
            return Ok(Err("there is no size".to_string()));
        };
        let input = tune::pipeline::read(&self.direct, sources)?;
        let specs = tune::pipeline::argument_specs(&self.direct, &input)?;
        let function = input.module.function(input.function);
        let data = inputs::Sources {
            module: &input.module,
            function,
            specs: &specs,
            seed: self.direct.data.seed,
            max_memory: self.direct.limits.max_memory,
        };
        let point = cpu::point(sizes);
        Ok(match inputs::arguments(&data, &point) {
            Ok(args) => cpu::time(orders, function, &args, point),
            Err(_) => Err("there is no data for them".to_string()),
        })
    }

    /// The program of a schedule, or why it is not legal for this nest.
    fn program(&self, steps: &Schedule, sources: &SourceMap) -> Result<Program, String> {
        let program = schedule::replay(&self.kernel, steps, sources)
            .and_then(|kernel| lower::lower(&kernel, sources));
        program.map_err(|errors| errors.first().map_or(String::new(), |d| d.message.clone()))
    }

    fn made(
        &self,
        ladder: &mut Ladder,
        rung: Rung,
        tuned: Tuned,
        program: &Program,
        sources: &mut SourceMap,
    ) -> Result<(), Failure> {
        if ladder.versions.is_empty() {
            ladder.point = tuned.sizes.first().map(counting_point).unwrap_or_default();
        }
        let launches = counted(&self.direct, &tuned, &ladder.point, sources)?;
        let predicted =
            tuned.sizes.first().and_then(|at| predictions(program, self.arch.gpu(), at));
        let counted = predictions(program, self.arch.gpu(), &ladder.point);
        let wavefronts = |list: Vec<Predicted>| {
            list.iter().map(|p| p.times * p.profile.shared.wavefronts).sum::<f64>()
        };
        let mut version = Version {
            name: rung.name.to_string(),
            lecture: rung.lecture,
            idea: rung.idea,
            given_up: vec![],
            tuned,
            predicted: predicted.unwrap_or_default(),
            slower: None,
            remarks: vec![],
            ms: None,
            launches,
            compiled_wavefronts: counted.map(wavefronts),
            changes: String::new(),
        };
        if let Some(before) = ladder.versions.last() {
            version.changes = diff::diff(code(&before.tuned), code(&version.tuned));
            version.given_up = why::given_up(&before.tuned.schedule, &version.tuned.schedule);
        }
        ladder.versions.push(version);
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
    outputs.add("ladder.html", html::page(ladder).into_bytes());
    paths.extend(outputs.write(&ladder.folder)?);
    Ok(paths)
}

impl Version {
    /// The folder of the version with this index.
    fn folder(&self, index: usize) -> String {
        format!("{}-{}", index + 1, self.name)
    }
}
