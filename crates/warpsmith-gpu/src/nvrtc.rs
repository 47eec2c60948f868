//! The run-time compiler, loaded at run time.

use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::nvrtc::result;
use cudarc::nvrtc::sys;

use crate::cubin;
use crate::error::GpuError;
use crate::places::Places;
use crate::protocol::{Compile, KernelInfo};
use crate::std_headers::HEADERS;

/// A binary and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Machine code for one architecture.
    pub cubin: Vec<u8>,
    /// Its kernels, in the order of the text.
    pub kernels: Vec<KernelInfo>,
    /// Warnings, and the assembler's words about registers.
    pub log: String,
}

/// NVRTC and the folder of CUDA's headers, where there is one.
#[derive(Clone, Debug)]
pub struct Compiler {
    headers: Option<PathBuf>,
    version: String,
}

impl Compiler {
    /// Finds and loads the compiler: the loader's places first, then those of [`Places`].
    ///
    /// # Errors
    /// It is not there.
    pub fn load(places: &Places) -> Result<Compiler, GpuError> {
        static LOADED: OnceLock<bool> = OnceLock::new();
        if !LOADED.get_or_init(|| {
            present() || places.open_together(["libnvrtc-builtins.so", "libnvrtc.so"]) && present()
        }) {
            return Err(GpuError::Absent {
                what: "NVRTC (libnvrtc.so)",
                hint: "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or make its folder known \
                       through CUDA_HOME or LD_LIBRARY_PATH"
                    .into(),
            });
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is loaded; writes two ints.
        unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result().map_err(|e| refused(e.0))?;
        Ok(Compiler { headers: headers(places), version: format!("{major}.{minor}") })
    }

    /// For example `13.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a text to a cubin.
    ///
    /// # Errors
    /// [`GpuError::Compile`] with the log, or a bad request.
    pub fn compile(&self, request: &Compile) -> Result<Binary, GpuError> {
        let source = text(&request.source)?;
        let program = Program::new(&source, &text(&request.file)?)?;
        let names: Vec<CString> =
            request.kernels.iter().map(|n| text(n)).collect::<Result<_, _>>()?;
        for name in &names {
            // SAFETY: the program exists and both strings end in zero.
            unsafe { sys::nvrtcAddNameExpression(program.raw, name.as_ptr()) }
                .result()
                .map_err(|e| refused(e.0))?;
        }
        let options = self.options(request);
        // SAFETY: the program exists.
        let outcome = unsafe { result::compile_program(program.raw, &options) };
        let log = program.log();
        if let Err(error) = outcome {
            let log = if log.trim().is_empty() { refused(error.0).to_string() } else { log };
            return Err(GpuError::Compile(log));
        }
        let cubin = program.cubin()?;
        let kernels = self.describe(&program, &names, &cubin, &log)?;
        Ok(Binary { cubin, kernels, log })
    }

    fn options(&self, request: &Compile) -> Vec<String> {
        let mut options = vec![
            format!("--gpu-architecture={}", request.arch),
            "--ptxas-options=-v".into(),
            "--device-as-default-execution-space".into(),
        ];
        if let Some(headers) = &self.headers {
            options.push(format!("--include-path={}", headers.display()));
            // The C++ standard library for devices; since CUDA 13 in a folder of its own.
            options.push(format!("--include-path={}", headers.join("cccl").display()));
        }
        options.extend(request.options.iter().cloned());
        options
    }

    fn describe(
        &self,
        program: &Program,
        names: &[CString],
        cubin: &[u8],
        log: &str,
    ) -> Result<Vec<KernelInfo>, GpuError> {
        let found = cubin::kernels(cubin)
            .ok_or_else(|| GpuError::Refused("NVRTC's output is not a cubin".into()))?;
        let spills = warpsmith_device::ptxas::parse(log);
        let info = |name: &str, symbol: &str| {
            let kernel = found.iter().find(|k| k.symbol == symbol)?;
            let said = spills.iter().find(|r| r.kernel == symbol);
            Some(KernelInfo {
                name: name.to_string(),
                symbol: symbol.to_string(),
                registers: kernel.registers,
                shared: kernel.shared,
                local: kernel.local,
                spills: said.map_or(0, |r| r.spill_stores + r.spill_loads),
            })
        };
        if names.is_empty() {
            return Ok(found.iter().filter_map(|k| info(&k.symbol, &k.symbol)).collect());
        }
        let mut kernels = vec![];
        for name in names {
            let symbol = program.lowered(name)?;
            let name = name.to_string_lossy();
            let kernel = info(&name, &symbol);
            kernels.push(kernel.ok_or_else(|| {
                GpuError::Refused(format!("`{name}` is not a kernel of the binary"))
            })?);
        }
        Ok(kernels)
    }
}

fn present() -> bool {
    // SAFETY: opens a library and looks at nothing in it.
    unsafe { sys::is_culib_present() }
}

/// The folder with `cuda_fp16.h`.
fn headers(places: &Places) -> Option<PathBuf> {
    let beside = places.libraries.iter().flat_map(|l| {
        let parents = l.ancestors().skip(1).take(3);
        parents.map(|p| p.join("include"))
    });
    beside.into_iter().find(|folder| folder.join("cuda_fp16.h").is_file())
}

fn text(text: &str) -> Result<CString, GpuError> {
    CString::new(text).map_err(|_| GpuError::Compile("the text has a zero byte".into()))
}

fn refused(code: sys::nvrtcResult) -> GpuError {
    // SAFETY: gives a text that lives for ever.
    let words = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(code)) };
    GpuError::Refused(format!("NVRTC: {}", words.to_string_lossy()))
}

struct Program {
    raw: sys::nvrtcProgram,
}

impl Program {
    fn new(source: &CStr, file: &CStr) -> Result<Program, GpuError> {
        let names = HEADERS.map(|(name, _)| name.as_ptr());
        let texts = HEADERS.map(|(_, text)| text.as_ptr());
        let count = HEADERS.len() as i32;
        let mut raw = std::ptr::null_mut();
        // SAFETY: all strings end in zero, and both lists have as many as is said; the compiler keeps copies.
        let made = unsafe {
            let (texts, names) = (texts.as_ptr(), names.as_ptr());
            sys::nvrtcCreateProgram(&mut raw, source.as_ptr(), file.as_ptr(), count, texts, names)
        };
        made.result().map_err(|e| refused(e.0))?;
        Ok(Program { raw })
    }

    fn log(&self) -> String {
        // SAFETY: the program exists.
        let log = unsafe { result::get_program_log(self.raw) }.unwrap_or_default();
        let bytes: Vec<u8> = log.into_iter().map(c_char::cast_unsigned).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_string()
    }

    fn cubin(&self) -> Result<Vec<u8>, GpuError> {
        let mut size = 0;
        // SAFETY: the program was compiled; the buffer is as long as was said.
        unsafe {
            sys::nvrtcGetCUBINSize(self.raw, &mut size).result().map_err(|e| refused(e.0))?;
            let mut bytes = vec![0u8; size];
            sys::nvrtcGetCUBIN(self.raw, bytes.as_mut_ptr().cast::<c_char>())
                .result()
                .map_err(|e| refused(e.0))?;
            Ok(bytes)
        }
    }

    fn lowered(&self, name: &CStr) -> Result<String, GpuError> {
        let mut symbol = std::ptr::null();
        // SAFETY: the program exists; the text belongs to it and is copied.
        unsafe {
            sys::nvrtcGetLoweredName(self.raw, name.as_ptr(), &mut symbol)
                .result()
                .map_err(|e| refused(e.0))?;
            Ok(CStr::from_ptr(symbol).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made in `new`.
        let _ = unsafe { result::destroy_program(self.raw) };
    }
}
