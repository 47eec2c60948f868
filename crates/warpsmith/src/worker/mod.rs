//! `warpsmith worker`: the process that a tuner starts for a GPU, for the emulator in its place, for recorded results,
//! or for compiling.

mod elements;
mod emulator;
mod memory;
mod recorded;
mod sample;

use std::io::{BufReader, BufWriter};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpsmith_gpu::backend::Backend;
use warpsmith_gpu::backend::compiler::CompilerBackend;
use warpsmith_gpu::backend::gpu::GpuBackend;
use warpsmith_gpu::backend::replay::ReplayBackend;
use warpsmith_gpu::nvrtc::Compiler;
use warpsmith_gpu::places::Places;
use warpsmith_gpu::{GpuError, worker};

pub use emulator::EmulatorBackend;

use crate::status::Status;

#[derive(Args, Debug)]
pub struct WorkerArgs {
    /// What does the work
    #[arg(long, value_enum, default_value_t)]
    pub backend: BackendName,
    /// Number of the GPU among the visible ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub device: u32,
    /// GPU or architecture that the emulator's predicted times are for
    #[arg(long, value_name = "NAME", default_value = "sm_90")]
    pub gpu: String,
    /// Recorded results, for `--backend replay`: a worker's, a Kernel Tuner cache, or T4
    #[arg(long, value_name = "FILE", required_if_eq("backend", "replay"))]
    pub recording: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    #[default]
    Gpu,
    Emulator,
    Replay,
    Compiler,
}

/// Serves until stdin ends. What goes wrong before the first request is said on stderr, which the tuner shows.
pub fn run(args: &WorkerArgs) -> Status {
    let output = match worker::take_stdout() {
        Ok(output) => output,
        Err(error) => return complain(&format!("stdout cannot be used: {error}")),
    };
    let mut backend = match open(args) {
        Ok(backend) => backend,
        Err(error) => return complain(&error.to_string()),
    };
    let mut input = BufReader::new(std::io::stdin().lock());
    match worker::serve(backend.as_mut(), &mut input, &mut BufWriter::new(output)) {
        Ok(0) => Status::Done,
        // The device is lost: nothing of the context may be touched again, also not by destructors.
        Ok(code) => std::process::exit(code),
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(what: &str) -> Status {
    eprintln!("warpsmith worker: {what}");
    Status::BadInput
}

fn open(args: &WorkerArgs) -> Result<Box<dyn Backend>, GpuError> {
    let compiler = || Compiler::load(&Places::of_this_process());
    Ok(match args.backend {
        BackendName::Gpu => Box::new(GpuBackend::open(args.device, compiler()?)?),
        BackendName::Compiler => Box::new(CompilerBackend::new(compiler()?)),
        BackendName::Emulator => Box::new(EmulatorBackend::new(&args.gpu)?),
        BackendName::Replay => {
            let path = args.recording.clone().unwrap_or_default();
            Box::new(ReplayBackend::new(recorded::read(&path)?))
        }
    })
}
