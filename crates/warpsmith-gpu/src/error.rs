//! What can go wrong between us and a GPU.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// Why the device did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// A library or the device is not there; how to get it.
    #[error("{what} was not found: {hint}")]
    Absent {
        /// What is missing.
        what: &'static str,
        /// How to get it.
        hint: String,
    },
    /// The driver refused something; the context still works.
    #[error("{0}")]
    Refused(String),
    /// A kernel failed on the device: the process can do no more work there.
    #[error("{0}")]
    Lost(String),
    /// The text does not compile; the compiler's log.
    #[error("{0}")]
    Compile(String),
    /// A request that makes no sense: a bug of the caller.
    #[error("{0}")]
    BadRequest(String),
}

impl From<DriverError> for GpuError {
    fn from(error: DriverError) -> GpuError {
        let name = error.error_name().map(|n| n.to_string_lossy().into_owned());
        let text = error.error_string().map(|n| n.to_string_lossy().into_owned());
        let words = match (name, text) {
            (Ok(name), Ok(text)) => format!("{text} ({name})"),
            _ => format!("driver error {}", error.0 as i32),
        };
        if loses_context(error.0) { GpuError::Lost(words) } else { GpuError::Refused(words) }
    }
}

/// Errors after which a context answers every call with the same error (CUDA driver API, *Error handling*: "leaves the
/// process in an inconsistent state").
fn loses_context(code: CUresult) -> bool {
    use CUresult::*;
    matches!(
        code,
        CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_DEINITIALIZED
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_UNKNOWN
    )
}
