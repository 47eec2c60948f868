//! The options of `warpsmith fuse`.

use crate::terminal::Format;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Covers that are measured when nobody says how many.
const MEASURED: u16 = 24;

#[derive(Args, Debug, Clone)]
pub struct FuseArgs {
    /// A script of calls of elementary functions (.ws)
    #[arg(
        value_name = "SCRIPT.ws",
        required_unless_present = "benchmark",
        default_value = "",
        hide_default_value = true,
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub script: PathBuf,

    /// Folder of the library of elementary functions [default: the one that warpsmith brings]
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,

    /// Architecture to make the kernels for [default: that of the GPU, else sm_90]
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,

    /// How many covers are looked at, the best predicted first. On a GPU they are measured and the fastest is written
    /// [default: 24], else all are written [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub best: Option<u16>,

    /// The most calls of one kernel
    #[arg(long, value_name = "K", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=12))]
    pub max_fusion: u8,

    /// Where covers are measured: auto (the first GPU, if there is one), cuda:N, or emulator: not at all
    #[arg(long, value_name = "auto|emulator|cuda:N", default_value = "auto")]
    pub device: String,

    /// The database that keeps measurements [default: $WARPSMITH_STORE, else one in the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,

    /// Compilations at a time on a GPU; 0: as many as there are cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub jobs: usize,

    /// Do not ask NVRTC or nvcc, where there is one, for registers and spills of what is handed out unmeasured
    #[arg(long)]
    pub no_compiler: bool,

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

    /// Measure the routines of the library, or of the functions that a script calls, and keep their times for predictions
    #[arg(long)]
    pub benchmark: bool,

    /// Times of routines, as --benchmark writes them [default on a GPU: a file beside the store]
    #[arg(long, value_name = "FILE.json")]
    pub curves: Option<PathBuf>,

    /// Say why the kernels are as they are
    #[arg(long)]
    pub explain: bool,

    /// Folder for the results [default: ./warpsmith-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Seed of the data used for verification
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Ask for measurements: without a GPU an error; with --device emulator every cover runs there and its time is predicted
    /// from what was counted
    #[arg(long)]
    pub measure: bool,

    /// Do everything but write files
    #[arg(long)]
    pub dry_run: bool,

    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl FuseArgs {
    /// Covers to look at.
    pub fn covers(&self, measures: bool) -> usize {
        usize::from(self.best.unwrap_or(if measures { MEASURED } else { 1 }))
    }

    /// A script with all options as they are by default, but without anything that the machine may have or not.
    pub fn of(script: impl Into<PathBuf>) -> FuseArgs {
        FuseArgs {
            script: script.into(),
            library: None,
            arch: None,
            best: None,
            max_fusion: 8,
            device: "emulator".into(),
            store: None,
            jobs: 0,
            no_compiler: true,
            baseline: false,
            keep_loads: false,
            elements: 4_194_304,
            implementations: vec![],
            benchmark: false,
            curves: None,
            explain: false,
            out: None,
            seed: 0,
            measure: false,
            dry_run: true,
            format: Format::Human,
        }
    }
}
