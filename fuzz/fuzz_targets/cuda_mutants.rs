//! A correct kernel with small damage: what still has a meaning prints, and is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_front::sema::{Request, lower_cuda};
use warpsmith_ir::{Module, SourceMap};
use warpsmith_testgen::mutate_source;

const KERNELS: [&str; 3] = [
    include_str!("../../tests/corpus/correct/matmul_tiled.cu"),
    include_str!("../../tests/corpus/correct/reduce_last_block.cu"),
    include_str!("../../tests/corpus/correct/particles_struct.cu"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let source = mutate_source(KERNELS[usize::from(*first) % KERNELS.len()], rest);
    let Some(module) = read(&source) else { return };
    if let Ok(text) = warpsmith_emit::module_file(&module) {
        assert!(read(text.as_bytes()).is_some(), "printed, but not read:\n{text}");
    }
});

fn read(text: &[u8]) -> Option<Module> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let unit = parse("fuzz.cu", text, &options, &DiskLoader, &mut sources).ok()?;
    Some(lower_cuda(&unit.unit, &Request::all_kernels()).ok()?.module)
}
