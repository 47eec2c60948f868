//! Random programs of the loop language: all of them are understood, and print as C++ within the width.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsmith_front::cloops::lower_c;
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::c_program;

fuzz_target!(|bytes: &[u8]| {
    let source = c_program(bytes);
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::C);
    let input = parse("fuzz.c", source.as_bytes(), &options, &DiskLoader, &mut sources)
        .and_then(|unit| lower_c(&unit.unit, None));
    let input = match input {
        Ok(input) => input,
        Err(errors) => {
            let said: String = errors.iter().map(|e| e.render(&sources, false)).collect();
            panic!("{said}\n{source}");
        }
    };
    let text = warpsmith_emit::reference_file(&input.module, input.function);
    let text = text.unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
});
