//! Binaries and their kernels.

use std::ffi::{CString, c_void};
use std::rc::Rc;

use cudarc::driver::result::{self, module};
use cudarc::driver::sys::{self, CUfunction_attribute};

use super::{Gpu, Result};
use crate::error::GpuError;

/// A loaded binary, unloaded when the last user drops it.
#[derive(Clone)]
pub struct Module {
    inner: Rc<Loaded>,
}

struct Loaded {
    raw: sys::CUmodule,
    _gpu: Gpu,
}

/// A kernel of a loaded binary.
#[derive(Clone)]
pub struct Function {
    raw: sys::CUfunction,
    module: Module,
    /// Bytes of each parameter: asked for once, not at each launch.
    parameters: Vec<usize>,
}

impl Gpu {
    /// Loads a cubin.
    ///
    /// # Errors
    /// What the driver says of the binary.
    pub fn load(&self, binary: &[u8]) -> Result<Module> {
        // The driver finds the end of the image by its ELF headers; a cut or foreign one must not reach it.
        if crate::cubin::length(binary).is_none_or(|n| n > binary.len() as u64) {
            return Err(GpuError::Refused("the binary is not a whole cubin".into()));
        }
        // SAFETY: the image is complete; unloaded by `Loaded::drop` only.
        let raw = unsafe { module::load_data(binary.as_ptr().cast::<c_void>())? };
        Ok(Module { inner: Rc::new(Loaded { raw, _gpu: self.clone() }) })
    }
}

impl Module {
    /// # Errors
    /// No such kernel.
    pub fn function(&self, symbol: &str) -> Result<Function> {
        let name = c_string(symbol)?;
        // SAFETY: the module is loaded as long as `self` is alive, which the function keeps.
        let raw = unsafe { module::get_function(self.inner.raw, name) }
            .map_err(|e| GpuError::Refused(format!("kernel `{symbol}`: {}", GpuError::from(e))))?;
        Ok(Function { raw, module: self.clone(), parameters: parameters(raw)? })
    }

    /// Sets a variable of the binary on the default stream.
    ///
    /// # Errors
    /// No such variable, or one that is shorter.
    pub fn set_global(&self, symbol: &str, bytes: &[u8]) -> Result<()> {
        let name = c_string(symbol)?;
        // SAFETY: the module is loaded.
        let (to, size) = unsafe { module::get_global(self.inner.raw, name) }.map_err(|e| {
            GpuError::Refused(format!("variable `{symbol}`: {}", GpuError::from(e)))
        })?;
        if bytes.len() > size {
            let n = bytes.len();
            return Err(GpuError::BadRequest(format!(
                "{n} bytes for `{symbol}`, which has {size}"
            )));
        }
        // SAFETY: the range is inside the variable.
        unsafe { result::memcpy_htod_async(to, bytes, std::ptr::null_mut()) }.map_err(Into::into)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: loaded in `load`; nothing of it is used any more.
        let _ = unsafe { module::unload(self.raw) };
    }
}

/// Dynamic shared memory above this must be asked for by attribute.
const PLAIN_SHARED: u32 = 48 << 10;

impl Function {
    /// The binary it is of.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Allows so much dynamic shared memory.
    ///
    /// # Errors
    /// More than the device has.
    pub fn allow_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= PLAIN_SHARED {
            return Ok(());
        }
        let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded.
        unsafe { result::function::set_function_attribute(self.raw, which, bytes.cast_signed()) }
            .map_err(Into::into)
    }

    /// Threads of a block that its registers allow.
    ///
    /// # Errors
    /// The driver's.
    pub fn max_threads(&self) -> Result<u32> {
        let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        // SAFETY: the function is loaded.
        let n = unsafe { result::function::get_function_attribute(self.raw, which)? };
        Ok(n.max(0).cast_unsigned())
    }

    /// Blocks that fit on a multiprocessor at once.
    ///
    /// # Errors
    /// The driver's.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> Result<u32> {
        self.allow_shared(shared)?;
        let mut blocks = 0;
        // SAFETY: the function is loaded; writes one int.
        unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.raw,
                threads.cast_signed(),
                shared as usize,
            )
            .result()?;
        }
        Ok(blocks.max(0).cast_unsigned())
    }

    /// Starts the kernel on the default stream. Each argument is the value's bytes as the kernel's parameter has them.
    /// What the kernel does with pointers is the device's business: it has its own address space, and a fault there ends
    /// the context, not this process.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters, a shape or an amount of shared memory that the device cannot run.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[Vec<u8>],
    ) -> Result<()> {
        let wanted = &self.parameters;
        let given: Vec<usize> = args.iter().map(Vec::len).collect();
        if *wanted != given {
            return Err(GpuError::BadRequest(format!(
                "the kernel's parameters have {wanted:?} bytes, the arguments {given:?}"
            )));
        }
        // The driver reads each value as its type, which wants its alignment.
        let mut values: Vec<Vec<u128>> = args.iter().map(|bytes| aligned(bytes)).collect();
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|v| v.as_mut_ptr().cast::<c_void>()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: as many and as long arguments as parameters; the call copies them.
        unsafe {
            result::launch_kernel(
                self.raw,
                (gx, gy, gz),
                (bx, by, bz),
                shared,
                std::ptr::null_mut(),
                &mut pointers,
            )
        }
        .map_err(Into::into)
    }
}

/// Bytes of each parameter of a loaded function.
fn parameters(function: sys::CUfunction) -> Result<Vec<usize>> {
    let mut sizes = vec![];
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded; writes two numbers. Past the last parameter it refuses.
        let code =
            unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size) };
        match code {
            sys::CUresult::CUDA_SUCCESS => sizes.push(size),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(sizes),
            code => code.result()?,
        }
    }
}

fn aligned(bytes: &[u8]) -> Vec<u128> {
    let mut words = vec![];
    for chunk in bytes.chunks(16) {
        let mut word = [0u8; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        words.push(u128::from_ne_bytes(word));
    }
    words
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| GpuError::BadRequest("a name has a zero byte".into()))
}
