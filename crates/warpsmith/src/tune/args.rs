//! The options of `warpsmith tune`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use warpsmith_tune::strategy::StrategyKind;

use crate::check::args::{parse_bytes, parse_duration};
use crate::data::NamedSpec;
use crate::status::Failure;
use crate::terminal::Format;
use crate::tune::device::Device;
use crate::tune::request::{Choosing, Data, Limits, Measuring, RegisterSource, Source};
use crate::tune::sizes;
use crate::tune::{SearchBudget, Strategy, TuneRequest};

#[derive(Args, Debug, Clone)]
pub struct TuneArgs {
    /// A C file with a loop nest whose independent loops are marked, or a T1 problem (SPACE.json)
    #[arg(
        value_name = "FILE",
        required_unless_present = "list_rewrites",
        default_value = "",
        hide_default_value = true,
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub file: PathBuf,

    /// Print the steps that a schedule can take: what each does, and when it is legal
    #[arg(long, exclusive = true)]
    pub list_rewrites: bool,

    /// Print the function after each step of the schedule, with the lines that it changed
    #[arg(long)]
    pub show_steps: bool,

    /// The function to translate, when the file has several with marked loops
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,

    /// Sizes to tune for, one option for each parameter; comma lists give several points
    #[arg(long = "size", value_name = "NAME=N[,N…]")]
    pub sizes: Vec<String>,

    /// A scalar argument, or representative data for an array: a number, random, iota, @file.npy
    #[arg(long = "arg", value_name = "NAME=SPEC")]
    pub args: Vec<NamedSpec>,

    /// Architecture to make the kernel for [default: that of the GPU, else sm_90]
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,

    /// Where schedules are measured: auto (the first GPU, if there is one), cuda:N, emulator, replay:FILE
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,

    /// Look recorded results up instead of measuring, in a Kernel Tuner cache or T4; the same as --device replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "device")]
    pub replay: Option<PathBuf>,

    /// Numbers of the devices that measure at the same time, or all
    #[arg(long, value_name = "N,…|all")]
    pub devices: Option<String>,

    /// Starts workers by another command, such as 'srun --ntasks=1'; one option for each worker
    #[arg(long = "launcher", value_name = "CMD")]
    pub launchers: Vec<String>,

    /// Apply the steps of a schedule file instead of the default ones
    #[arg(long, value_name = "FILE.sched")]
    pub schedule: Option<PathBuf>,

    /// A value for a parameter of the schedule file; the model chooses the others
    #[arg(long = "param", value_name = "NAME=N", requires = "schedule")]
    pub params: Vec<String>,

    /// Where the model gets the registers of a kernel from
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t)]
    pub registers: Registers,

    /// How the schedule is chosen: model, direct, or the name of a search: model_guided, brute_force, random_sample,
    /// simulated_annealing, genetic_algorithm, … [default: model_guided where a device measures, else model]
    #[arg(long, value_name = "NAME", value_parser = parse_strategy)]
    pub strategy: Option<Strategy>,

    /// Time for the search, or a number of configurations [default: 30s]
    #[arg(long, value_name = "TIME|N", value_parser = parse_budget)]
    pub budget: Option<SearchBudget>,

    /// Go on with a search that was stopped: what was recorded is not measured again
    #[arg(long)]
    pub resume: bool,

    /// Database of results [default: $WARPSMITH_STORE, else warpsmith/results.sqlite among the user's data]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,

    /// Your own kernel, with the same launcher, to be measured in the same rounds
    #[arg(long, value_name = "FILE.cu")]
    pub against: Option<PathBuf>,

    /// Folder for the results [default: ./warpsmith-out/NAME]
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

impl TuneArgs {
    /// What is asked for; the time for everything runs from now on.
    ///
    /// # Errors
    /// W311, W313: a size or a device that is none.
    pub fn request(&self) -> Result<TuneRequest, Failure> {
        let device = match &self.replay {
            Some(file) => Device::Replay(file.clone()),
            None => self.device.parse()?,
        };
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
            choosing: Choosing {
                strategy: self.strategy,
                schedule: self.schedule.clone(),
                params: self.params.clone(),
                registers: self.registers.into(),
            },
            measuring: Measuring {
                device,
                devices: self.devices.clone(),
                launchers: self.launchers.clone(),
                budget: self.budget,
                resume: self.resume,
                store: self.store.clone(),
                against: self.against.clone(),
            },
            limits: Limits {
                jobs: self.jobs,
                max_memory: self.max_memory,
                timeout: self.timeout,
                ..Limits::default()
            }
            .begun(),
            out: self.out.clone(),
            show_steps: self.show_steps,
            dry_run: self.dry_run,
        })
    }
}

/// Where the model gets the registers of a kernel from, as an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Registers {
    /// NVRTC or nvcc compiles the best candidates, where one is installed
    #[default]
    Auto,
    /// An estimate, which is the same on every machine
    Estimate,
}

impl From<Registers> for RegisterSource {
    fn from(option: Registers) -> RegisterSource {
        match option {
            Registers::Auto => RegisterSource::Auto,
            Registers::Estimate => RegisterSource::Estimate,
        }
    }
}

fn parse_strategy(text: &str) -> Result<Strategy, String> {
    match text {
        "model" => Ok(Strategy::Model),
        "direct" => Ok(Strategy::Direct),
        other => StrategyKind::named(other).map(Strategy::Search).ok_or_else(|| {
            let names: Vec<&str> = StrategyKind::ALL.iter().map(|(_, name, _)| *name).collect();
            format!("it is none of model, direct, {}", names.join(", "))
        }),
    }
}

fn parse_budget(text: &str) -> Result<SearchBudget, String> {
    if let Ok(n) = text.parse::<u64>() {
        return match n {
            0 => Err("at least one configuration is needed".into()),
            n => Ok(SearchBudget::Evaluations(n)),
        };
    }
    let time = parse_duration(text).map_err(|_| {
        format!("`{text}` is neither a time such as 60s nor a number of configurations")
    })?;
    if time.is_zero() { Err("no time at all".into()) } else { Ok(SearchBudget::Time(time)) }
}
