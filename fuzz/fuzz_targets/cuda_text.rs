//! Any bytes as a CUDA file: diagnostics, or a module that the verifier accepts and that keeps its text form.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    warpsmith_fuzz::read_cuda(bytes);
});
