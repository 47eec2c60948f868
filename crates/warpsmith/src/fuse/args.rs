//! The options of `warpsmith fuse`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug, Clone)]
pub struct FuseArgs {
    /// A script of calls of elementary functions (.ws)
    #[arg(value_name = "SCRIPT.ws")]
    pub script: PathBuf,

    /// Folder of the library of elementary functions [default: the one that warpsmith brings]
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,

    /// Architecture to make the kernels for
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    pub arch: String,

    /// How many covers to write, the best predicted first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub best: u16,

    /// The most calls of one kernel
    #[arg(long, value_name = "K", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=12))]
    pub max_fusion: u8,

    /// What measures: auto and emulator measure nothing and verify in the emulator
    #[arg(long, value_name = "auto|emulator", default_value = "auto")]
    pub device: String,

    /// Keep everything in shared memory, with a barrier after every routine and the library's own loads and saves
    #[arg(long)]
    pub baseline: bool,

    /// Keep the library's own loads and saves instead of copies of whole blocks
    #[arg(long)]
    pub keep_loads: bool,

    /// Elements to select for; the emitted code is right for any number
    #[arg(long, value_name = "N", default_value_t = 4_194_304, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub elements: u64,

    /// Take this implementation of a function; `*=2` takes 2 of all that have it
    #[arg(long = "implementation", value_name = "NAME=IMPL")]
    pub implementations: Vec<String>,

    /// Measure the routines of the library on the GPU
    #[arg(long)]
    pub benchmark: bool,

    /// Say why the kernels are as they are
    #[arg(long)]
    pub explain: bool,

    /// Folder for the results [default: ./warpsmith-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Seed of the data used for verification
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Do everything but write files
    #[arg(long)]
    pub dry_run: bool,

    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: FuseFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FuseFormat {
    #[default]
    Human,
    Json,
}

impl FuseArgs {
    /// A script with all options as they are by default.
    pub fn of(script: impl Into<PathBuf>) -> FuseArgs {
        FuseArgs {
            script: script.into(),
            library: None,
            arch: "sm_90".into(),
            best: 1,
            max_fusion: 8,
            device: "emulator".into(),
            baseline: false,
            keep_loads: false,
            elements: 4_194_304,
            implementations: vec![],
            benchmark: false,
            explain: false,
            out: None,
            seed: 0,
            dry_run: true,
            format: FuseFormat::Human,
        }
    }
}
