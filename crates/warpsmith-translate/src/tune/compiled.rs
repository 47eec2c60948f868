//! Registers and spills of emitted kernels as a compiler counts them, where there is one.
//!
//! NVRTC is asked in this process, else `nvcc`; neither needs a GPU. Without them the model goes by an estimate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use warpsmith_device::ptxas;
use warpsmith_emit::{Emit, Workspace, cuda_file, header_file};
use warpsmith_gpu::GpuError;
use warpsmith_gpu::nvrtc;
use warpsmith_gpu::places::{self, Places};
use warpsmith_gpu::protocol::Compile;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::SourceMap;
use warpsmith_opt::Program;

use super::measure::{DeviceText, device_text};
use crate::probe::{self, NoAnswer};

/// Time for one text.
const LIMIT: Duration = Duration::from_secs(60);

/// What turns a text into instructions.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// The run-time compiler NVRTC, a library of the CUDA toolkit.
    RunTime(nvrtc::Compiler),
    /// `nvcc`, by its path.
    Nvcc(PathBuf),
}

/// What a kernel takes, a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Registers as the compiler allocates them.
    pub registers: u32,
    /// Bytes in local memory that are stored and loaded: spilled registers, arrays that are in none.
    pub spill_bytes: u32,
}

/// What the kernels of a program take, by their names.
pub type Usage = BTreeMap<String, Used>;

/// Why that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoUsage {
    /// The compiler refuses the text: what it says.
    Refused(String),
    /// Nobody waits for it, or it does not answer.
    Unknown,
}

impl Compiler {
    /// The one that is installed.
    pub fn find() -> Option<Compiler> {
        let places = Places::of_this_process();
        match nvrtc::Compiler::load(&places) {
            Ok(compiler) => Some(Compiler::RunTime(compiler)),
            Err(_) => places::program(&places.cuda_programs, "nvcc").map(Compiler::Nvcc),
        }
    }

    /// For reports.
    pub fn name(&self) -> String {
        match self {
            Compiler::RunTime(compiler) => format!("NVRTC {}", compiler.version()),
            Compiler::Nvcc(_) => "nvcc".to_string(),
        }
    }

    /// What each of these kernels of a program takes: compiling takes longer than all else that is asked of a candidate.
    ///
    /// # Errors
    /// [`NoUsage`].
    pub fn usage(
        &self,
        program: &Program,
        kernels: impl Fn(&str) -> bool,
        arch: &str,
        stop: &Stop,
    ) -> Result<Usage, NoUsage> {
        if stop.is_due() {
            return Err(NoUsage::Unknown);
        }
        let text = text_of(program, kernels, arch).ok_or(NoUsage::Unknown)?;
        self.usage_of(text, arch, stop)
    }

    /// The same of a text.
    ///
    /// # Errors
    /// [`NoUsage`].
    pub fn usage_of(&self, text: DeviceText, arch: &str, stop: &Stop) -> Result<Usage, NoUsage> {
        if stop.is_due() {
            return Err(NoUsage::Unknown);
        }
        if text.kernels.is_empty() {
            return Ok(Usage::new());
        }
        match self {
            Compiler::RunTime(compiler) => {
                let request = Compile {
                    source: text.text,
                    file: FILE.to_string(),
                    arch: arch.to_string(),
                    options: vec![],
                    kernels: text.kernels,
                };
                let binary = compiler.compile(&request).map_err(|e| match e {
                    GpuError::Compile(log) => NoUsage::Refused(log),
                    _ => NoUsage::Unknown,
                })?;
                let used = |spills: u32, local: u32| spills.max(2 * local);
                let of = |k: warpsmith_gpu::protocol::KernelInfo| {
                    let used =
                        Used { registers: k.registers, spill_bytes: used(k.spills, k.local) };
                    (k.name, used)
                };
                Ok(binary.kernels.into_iter().map(of).collect())
            }
            Compiler::Nvcc(nvcc) => by_nvcc(nvcc, &text, arch, stop.at_most(LIMIT)),
        }
    }
}

const NAME: &str = "candidate";
const FILE: &str = "candidate.cu";

/// These kernels of a program as text.
fn text_of(program: &Program, kernels: impl Fn(&str) -> bool, arch: &str) -> Option<DeviceText> {
    let workspace = program.workspace.as_ref();
    let emit = Emit {
        module: &program.module,
        name: NAME.to_string(),
        launcher: program.launcher,
        description: vec![],
        assumptions: vec![],
        verification: vec![],
        arch: arch.to_string(),
        spellings: vec![],
        result: program.result_param,
        workspace: workspace.map(|w| Workspace { param: w.param, bytes: w.bytes.clone() }),
        host: None,
    };
    let header = (format!("{NAME}.h"), header_file(&emit).ok()?);
    device_text(FILE, &cuda_file(&emit).ok()?, &[header], kernels, &mut SourceMap::new()).ok()
}

fn by_nvcc(nvcc: &Path, text: &DeviceText, arch: &str, limit: Duration) -> Result<Usage, NoUsage> {
    let folder = tempfile::tempdir().map_err(|_| NoUsage::Unknown)?;
    let (source, cubin) = (folder.path().join(FILE), folder.path().join("candidate.cubin"));
    std::fs::write(&source, &text.text).map_err(|_| NoUsage::Unknown)?;
    let names = source.to_str().zip(cubin.to_str());
    let (source, cubin) = names.ok_or(NoUsage::Unknown)?;
    let arch = format!("-arch={arch}");
    let args = ["-cubin", &arch, "-Xptxas", "-v", "-o", cubin, source];
    let log = probe::ask(nvcc, &args, limit).map_err(|why| match why {
        NoAnswer::Failed(status) => NoUsage::Refused(format!("nvcc: {status}")),
        _ => NoUsage::Unknown,
    })?;
    let found = ptxas::parse(&log);
    let of = |name: &String| {
        // The names of functions begin so once they are mangled.
        let start = format!("_Z{}{name}", name.len());
        let kernel = found.iter().find(|k| k.kernel == *name || k.kernel.starts_with(&start))?;
        let spill_bytes = (kernel.spill_stores + kernel.spill_loads).max(2 * kernel.stack);
        Some((name.clone(), Used { registers: kernel.registers, spill_bytes }))
    };
    text.kernels.iter().map(of).collect::<Option<Usage>>().ok_or(NoUsage::Unknown)
}
