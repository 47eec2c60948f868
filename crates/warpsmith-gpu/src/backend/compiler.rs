//! A worker that only compiles: it needs no GPU, and there is one on each core.

use super::{Backend, Fault, Result};
use crate::error::GpuError;
use crate::nvrtc::Compiler;
use crate::protocol::{
    Candidate, Compile, Hello, Invalid, KernelInfo, Limits, Measured, Policy, Problem, Reason,
    Reference, VERSION,
};

/// Compiles, and refuses everything else.
pub struct CompilerBackend {
    compiler: Compiler,
}

impl CompilerBackend {
    /// Compiles with this compiler.
    pub fn new(compiler: Compiler) -> CompilerBackend {
        CompilerBackend { compiler }
    }
}

/// Compiles with NVRTC, as all backends with a compiler do.
///
/// # Errors
/// [`Reason::Compile`] with the first lines of the log that say something.
pub fn compile(
    compiler: &Compiler,
    request: &Compile,
) -> Result<(Vec<KernelInfo>, String, Vec<u8>)> {
    match compiler.compile(request) {
        Ok(binary) => Ok((binary.kernels, binary.log, binary.cubin)),
        Err(GpuError::Compile(log)) => {
            Err(Fault::Invalid(Invalid::new(Reason::Compile, first_errors(&log))))
        }
        Err(error) => Err(Fault::Invalid(Invalid::new(Reason::Compile, error.to_string()))),
    }
}

/// The lines of a compiler's log that report errors, or all of it where none says so.
fn first_errors(log: &str) -> String {
    let errors: Vec<&str> = log
        .lines()
        .filter(|l| l.contains("error") && !l.contains("errors detected"))
        .take(3)
        .collect();
    if errors.is_empty() { log.trim().to_string() } else { errors.join("; ") }
}

fn no_device<T>() -> Result<T> {
    Err(Fault::Invalid(Invalid::new(Reason::Runtime, "this worker compiles and has no device")))
}

impl Backend for CompilerBackend {
    fn hello(&mut self) -> std::result::Result<Hello, GpuError> {
        Ok(Hello {
            version: VERSION,
            backend: "compiler".into(),
            device: String::new(),
            arch: String::new(),
            driver: String::new(),
            compiler: self.compiler.version().into(),
        })
    }

    fn compile(&mut self, request: &Compile) -> Result<(Vec<KernelInfo>, String, Vec<u8>)> {
        compile(&self.compiler, request)
    }

    fn prepare(&mut self, _: Problem, _: Vec<Vec<u8>>) -> Result<()> {
        no_device()
    }

    fn reference(&mut self, _: &Reference, _: &[u8]) -> Result<Vec<Vec<u8>>> {
        no_device()
    }

    fn measure(&mut self, _: &Candidate, _: &[u8], _: &Policy) -> Result<Vec<f64>> {
        no_device()
    }

    fn race(
        &mut self,
        _: &[Candidate],
        _: &[Vec<u8>],
        _: u32,
        _: &Policy,
    ) -> Result<Vec<Measured>> {
        no_device()
    }

    fn limits(&mut self, _: u64) -> Result<Limits> {
        no_device()
    }

    fn occupancy(&mut self, _: &[u8], _: &str, _: &[(u32, u32)]) -> Result<Vec<u32>> {
        no_device()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_among_warnings() {
        let log = "a.cu(1): warning #177-D: x\na.cu(4): error: identifier \"y\" is undefined\n1 errors detected";
        assert_eq!(first_errors(log), "a.cu(4): error: identifier \"y\" is undefined");
        assert_eq!(first_errors("nvrtc: no such arch\n"), "nvrtc: no such arch");
    }
}
