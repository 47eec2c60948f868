//! What tests of `--auto` have in common.

// Not every file of tests leaves its texts.
#![allow(dead_code)]

use std::path::Path;

use warpsmith_stage::auto::{self, Chosen, Counted};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};

/// What is chosen for a file; a refusal as the user reads it, and whether it says no to a plan.
pub fn tried(
    path: &str,
    text: &str,
    cost: fn(&Counted<'_>) -> Option<f64>,
) -> Result<Chosen, (bool, String)> {
    let settings = Settings { path: path.into(), ..Settings::default() };
    let input = Input { settings, text: text.into(), ..Input::default() };
    auto::choose(&input, &cost).map_err(|r: Refusal| {
        (r.no, r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect())
    })
}

/// Leaves a text for `.ci/compile-cuda`, where the environment asks for it.
pub fn emitted(name: &str, text: &str) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let dir = Path::new(&dir).join("stage");
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join(format!("{name}.cu")), text).expect("a file");
}
