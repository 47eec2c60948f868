//! Any bytes as a C file: diagnostics, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsmith_front::cloops::lower_c;
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_ir::SourceMap;

fuzz_target!(|bytes: &[u8]| {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::C);
    let lowered = parse("fuzz.c", bytes, &options, &DiskLoader, &mut sources)
        .and_then(|unit| lower_c(&unit.unit, None));
    if let Err(errors) = lowered {
        assert!(!errors.is_empty());
        errors.iter().for_each(|e| drop(e.render(&sources, false)));
    }
});
