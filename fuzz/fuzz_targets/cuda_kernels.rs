//! Random race-free kernels: nothing is found in them, and something is without one of their barriers.
//! The comparison with C is the property test `random_kernels` of the command's crate.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use warpsmith::check::args::{LaunchArgs, SourceArgs};
use warpsmith::check::memory::Buffers;
use warpsmith::check::program;
use warpsmith_emu::{Finding, Options, run};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::cuda_kernel;

fuzz_target!(|bytes: &[u8]| {
    let kernel = cuda_kernel(bytes, "reference");
    let found = findings(&kernel.cuda);
    assert!(found.is_empty(), "{found:?}\n{}", kernel.cuda);
    let barriers = kernel.barriers();
    if barriers > 0 {
        let racy = kernel.without_barrier(bytes.len() % barriers);
        assert!(!findings(&racy).is_empty(), "nothing found in\n{racy}");
    }
});

fn findings(text: &str) -> Vec<Finding> {
    let file: PathBuf = std::env::temp_dir().join(format!("ws-fuzz-{}.cu", std::process::id()));
    std::fs::write(&file, text).expect("a writable folder");
    let mut sources = SourceMap::new();
    let loaded = program::load(&file, &LaunchArgs::default(), &SourceArgs::default(), &mut sources)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.render(&sources, false)));
    let step = loaded.steps.first().expect("the file has a launch");
    let launch = step.launches.first().expect("a step has a launch");
    let mut buffers = Buffers::new(&step.module);
    let config = step
        .config(launch, &mut buffers, 0, None, 1 << 30)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.render(&sources, false)));
    let result = run(&step.module, &config, &mut buffers.memory, &Options::default());
    let result = result.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    result.findings.into_iter().filter(|f| !f.rule.is_note()).collect()
}
