//! Any bytes as a CUDA file: diagnostics, or a module that the verifier accepts and that keeps its text form.

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    crate::read_cuda(bytes);
}
