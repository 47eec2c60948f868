//! What `tune --list-rewrites` shows is handed out: the example of each step is translated and verified as it stands there.

use std::path::PathBuf;

use warpsmith::ir::SourceMap;
use warpsmith::opt::schedule::registry::STEPS;
use warpsmith::tune::{RegisterSource, TuneRequest, pipeline, tune};
use warpsmith_testgen::sampled;

/// What keeps an example from being handed out, with every size the same.
fn refused(name: &str, before: &str, steps: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, schedule) = (folder.path().join("source.c"), folder.path().join("steps.sched"));
    std::fs::write(&file, before).expect("a writable folder");
    std::fs::write(&schedule, steps).expect("a writable folder");
    let mut sources = SourceMap::new();
    let request: TuneRequest = TuneRequest::new(PathBuf::from(&file));
    let mut request = request.registers(RegisterSource::Estimate).schedule(schedule);
    let kernel = pipeline::kernel(&request, &mut sources);
    let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {}", e.render(&sources, false)));
    let function = kernel.func();
    for var in function.params.iter().map(|p| function.var(*p)).filter(|v| v.ty.is_integer()) {
        request = request.size(var.name.clone(), [200]);
    }
    let said = tune(&request, &mut sources).err()?;
    Some(format!("{name}: {}", said.render(&sources, false)))
}

#[test]
fn examples_of_all_steps_are_handed_out() {
    let said: Vec<String> = sampled(STEPS.to_vec())
        .into_iter()
        .filter_map(|step| refused(step.name, step.law.before, step.law.steps))
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
}
