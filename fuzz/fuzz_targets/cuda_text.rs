//! Any bytes as a CUDA file: diagnostics, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_front::sema::{Request, lower_cuda};
use warpsmith_ir::SourceMap;

fuzz_target!(|bytes: &[u8]| {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let lowered = parse("fuzz.cu", bytes, &options, &DiskLoader, &mut sources)
        .and_then(|unit| lower_cuda(&unit.unit, &Request::all_kernels()));
    if let Err(errors) = lowered {
        assert!(!errors.is_empty());
        errors.iter().for_each(|e| drop(e.render(&sources, false)));
    }
});
