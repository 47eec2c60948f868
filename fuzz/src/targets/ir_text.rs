//! The text form of a lowered kernel with small damage, or any bytes: refused, or a module that keeps its text form
//! and that the verifier, the emitter and the interpreter survive.

use std::sync::LazyLock;

use crate::{is_sound, kernels, pick, read_c, read_cuda, texts};
use warpsmith_ir::interp::{self, Limits, Memory, NoLaunch};
use warpsmith_ir::{FuncId, SourceMap, text, verify::verify};
use warpsmith_testgen::mutate_source;

static MODULES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cuda = kernels().into_iter().filter_map(|k| read_cuda(k.as_bytes()));
    let c = texts(&["examples"], "c").into_iter();
    let c = c.filter_map(|c| Some(read_c(c.as_bytes(), &mut SourceMap::new())?.module));
    cuda.chain(c).map(|module| text::print(&module)).collect()
});

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let Some((module, donor, rest)) = pick(&MODULES, bytes) else { return };
    let damaged = mutate_source(module, donor, rest);
    for candidate in [&damaged, bytes] {
        let Ok(source) = str::from_utf8(candidate) else { continue };
        let Ok(module) = text::parse(source) else { continue };
        if verify(&module).is_err() {
            continue;
        }
        is_sound(&module);
        drop(warpsmith_emit::module_file(&module));
        let limits = Limits {
            max_steps: 20_000,
            max_local_bytes: 1 << 20,
            track_bounds: true,
            ..Limits::default()
        };
        for f in 0..module.functions.len() {
            let mut memory = Memory::new(vec![]);
            let id = FuncId(f as u32);
            drop(interp::call(&module, id, &[], &mut memory, &limits, &mut NoLaunch));
        }
    }
}
