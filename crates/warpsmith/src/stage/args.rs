//! The options of `warpsmith stage`.

use std::path::PathBuf;

use clap::Args;

use crate::check::args::{Dim3, SourceArgs, parse_bytes};
use crate::data::NamedSpec;
use crate::terminal::Format;

#[derive(Args, Debug, Clone)]
pub struct StageArgs {
    /// A CUDA file whose kernel marks reads (`__opt__(in[c - 1])`) and copies to shared memory
    #[arg(value_name = "FILE.cu")]
    pub file: PathBuf,

    /// The kernel to stage, with template arguments [default: the one that holds the marks]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The kernel that a sketch with holes (`__choose__(a, b)`) is to compute the same as
    #[arg(long, value_name = "KERNEL")]
    pub reference: Option<String>,

    /// Find the plan, too: tiles, tiles with a halo, tiles that transpose, planes in registers, two time steps a launch, or none
    #[arg(long)]
    pub auto: bool,

    /// The architecture or board that times are predicted for, and plans of --auto ranked [default: sm_90]
    #[arg(long, value_name = "NAME")]
    pub arch: Option<String>,

    /// A size that plans of --auto are ranked for [default: what the file's launch passes, else 256 an axis of a volume, 4096 of a plane]
    #[arg(long = "size", value_name = "NAME=N", requires = "auto")]
    pub sizes: Vec<NamedSpec>,

    /// Blocks in the grid of the launches that are profiled [default: chosen]
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub grid: Option<Dim3>,

    /// Threads in a block, where nothing in the file says it; checked with others, too, if the file allows
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Option<Dim3>,

    /// The value of a whole-number argument [default: chosen]
    #[arg(long = "arg", value_name = "NAME=N")]
    pub args: Vec<NamedSpec>,

    /// Bytes of dynamic shared memory [default: as many as a few tiles of the block need]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub shared: Option<u64>,

    /// Remove barriers that no launch needs
    #[arg(long)]
    pub fix: bool,

    /// Prove nothing, even where a solver (z3) is installed
    #[arg(long)]
    pub no_proof: bool,

    /// Show for each read the candidates that lost, and what they were wrong for
    #[arg(long)]
    pub explain: bool,

    /// Where plans of --auto are measured: auto (the first GPU, if there is one), cuda:N, or emulator: not at all. All else runs in the
    /// emulator: only it sees what is in shared memory
    #[arg(long, value_name = "auto|emulator|cuda:N", default_value = "auto")]
    pub device: String,

    /// Ask for measurements of --auto: without a GPU an error; with --device emulator every plan runs there, and its time is predicted
    /// from what was counted at full size
    #[arg(long, requires = "auto")]
    pub measure: bool,

    /// How the report is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Folder for the result [default: ./warpsmith-out/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub source: SourceArgs,
}
