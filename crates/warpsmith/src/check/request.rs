//! What is asked of the checker, by a program.

use std::path::PathBuf;
use std::time::Duration;

use warpsmith_ir::SourceMap;
use warpsmith_translate::tune::request::USUAL_MEMORY;

use super::args::{CheckArgs, Dim3, HostCode};
use crate::data::{ArgSpec, NamedSpec};
use crate::report::Report;
use crate::status::Failure;

/// CUDA files to run in the emulator with all checks on. Launches are those that this says; else those of the files'
/// directives, else of their host code.
///
/// ```
/// use warpsmith::check::CheckRequest;
/// use warpsmith::ir::SourceMap;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("shift.cu");
/// std::fs::write(&file, "__global__ void shift(float *x) { x[threadIdx.x] = x[threadIdx.x + 1]; }")?;
/// let request = CheckRequest::new(file).kernel("shift").grid([1, 1, 1]).block([64, 1, 1]).argument("x", "float[64]".parse()?);
/// let mut sources = SourceMap::new();
/// let report = request.run(&mut sources).map_err(|failure| failure.render(&sources, false))?;
/// assert!(report.findings.iter().any(|f| f.rule == "race-global"));
/// assert!(report.findings.iter().any(|f| f.rule == "out-of-bounds"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CheckRequest {
    args: CheckArgs,
}

impl CheckRequest {
    /// A CUDA file, or a folder to search for them.
    pub fn new(path: impl Into<PathBuf>) -> CheckRequest {
        let args = CheckArgs {
            paths: vec![path.into()],
            max_memory: USUAL_MEMORY,
            ..CheckArgs::default()
        };
        CheckRequest { args }
    }

    /// One more file or folder.
    pub fn and(mut self, path: impl Into<PathBuf>) -> CheckRequest {
        self.args.paths.push(path.into());
        self
    }

    /// The kernel to run, with template arguments: `f` or `f<float,32>`.
    pub fn kernel(mut self, name: impl Into<String>) -> CheckRequest {
        self.args.launch.kernel = Some(name.into());
        self
    }

    /// Blocks of the grid along x, y, z; each at least 1.
    pub fn grid(mut self, blocks: [u32; 3]) -> CheckRequest {
        self.args.launch.grid = Some(Dim3(blocks));
        self
    }

    /// Threads of a block along x, y, z; each at least 1.
    pub fn block(mut self, threads: [u32; 3]) -> CheckRequest {
        self.args.launch.block = Some(Dim3(threads));
        self
    }

    /// Bytes of dynamic shared memory.
    pub fn shared(mut self, bytes: u32) -> CheckRequest {
        self.args.launch.shared = Some(bytes);
        self
    }

    /// A parameter of the kernel, or a variable of the device.
    pub fn argument(mut self, name: &str, spec: ArgSpec) -> CheckRequest {
        self.args.launch.args.push(NamedSpec::new(name, spec));
        self
    }

    /// A macro, `NAME` or `NAME=VALUE`.
    pub fn define(mut self, text: impl Into<String>) -> CheckRequest {
        self.args.source.define.push(text.into());
        self
    }

    /// A folder to search for headers.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> CheckRequest {
        self.args.source.include.push(folder.into());
        self
    }

    /// Whether host code is run for its launches, where nothing else says any.
    pub fn host_code(mut self, run: bool) -> CheckRequest {
        self.args.host = if run { HostCode::Auto } else { HostCode::None };
        self
    }

    /// A kernel (`old.cu:name`) or a C function (`ref.c:name`) that the kernel is compared with, in place of checking it
    /// at one launch.
    pub fn same_as(mut self, reference: impl Into<String>) -> CheckRequest {
        self.args.same_as = Some(reference.into());
        self
    }

    /// Threads of the emulator; 0: one for each core. The report does not depend on it.
    pub fn jobs(mut self, jobs: usize) -> CheckRequest {
        self.args.jobs = jobs;
        self
    }

    /// Bytes for buffers, shadow memory and block state.
    pub fn max_memory(mut self, bytes: u64) -> CheckRequest {
        self.args.max_memory = bytes;
        self
    }

    /// Time for everything.
    pub fn timeout(mut self, time: Duration) -> CheckRequest {
        self.args.timeout = Some(time);
        self
    }

    /// Runs the checks. Limits that were reached are in the report.
    ///
    /// # Errors
    /// As [`check`](super::check).
    pub fn run(&self, sources: &mut SourceMap) -> Result<Report, Failure> {
        super::check(&self.args, sources)
    }
}
