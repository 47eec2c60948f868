//! What tests have in common.

// Not every file of tests leaves its texts.
#![allow(dead_code)]

use std::path::Path;

use warpsmith_stage::auto::{self, Chosen, Counted};
use warpsmith_stage::program::{Compiler, Settings};
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged, Verdict};
use warpsmith_stage::verify::proof::{self, solver, solver::Solver};

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

/// What becomes of a plan that somebody wrote; a refusal as the user reads it, and whether it says no to the plan.
pub fn planned(text: &str) -> Result<Staged, (bool, String)> {
    planned_with(text, Input::default())
}

/// The same with options of the user.
pub fn planned_with(text: &str, options: Input) -> Result<Staged, (bool, String)> {
    let settings = Settings { path: "plan.cu".to_string(), ..Settings::default() };
    let solver = warpsmith_stage::verify::proof::solver::program();
    let input = Input { settings, text: text.to_string(), solver, ..options };
    stage::stage(input).map_err(|r: Refusal| {
        let text = r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect();
        (r.no, text)
    })
}

/// A solver is there, of the version that these proofs were tried with or later; older ones decide less.
pub fn has_solver() -> bool {
    let program = warpsmith_stage::verify::proof::solver::program();
    let said = program.and_then(|p| std::process::Command::new(p).arg("--version").output().ok());
    let said = said.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let version = said.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    let mut parts = version.unwrap_or("0").split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    (parts.next(), parts.next()) >= (Some(4), Some(13))
}

/// Leaves a text for `.ci/compile-cuda`, where the environment asks for it.
pub fn emitted(name: &str, text: &str) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let dir = Path::new(&dir).join("stage");
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join(format!("{name}.cu")), text).expect("a file");
}

/// A staged text; with a solver all its reads are proved.
pub fn proved(name: &str, text: &str) -> Staged {
    let staged = planned(text).unwrap_or_else(|(_, m)| panic!("{m}"));
    emitted(name, &staged.text);
    for a in staged.accesses.iter().filter(|_| has_solver()) {
        assert_eq!(a.verdict, Verdict::Proved, "{}: {:?}", a.replacement, a.unproved);
    }
    staged
}

/// Whether both marked reads of a kernel are proved at a block shape, `old` being its text without the plan.
pub fn both_proved(kernel: &str, (old, new): (&str, &str), block: [u32; 3]) -> bool {
    let compiler = Compiler::new(Settings { path: "plan.cu".into(), ..Settings::default() });
    let compiled = |text: &str| compiler.compile(text, &[], kernel).expect("it compiles");
    let program = solver::program().expect("a solver");
    let mut solver = Solver::start(&program).expect("it starts");
    let known = proof::Known { bounds: &[], ties: &[], dropped: &[] };
    let proof = proof::prove(&mut solver, &compiled(old), &compiled(new), block, known);
    proof.is_ok_and(|p| p.reads.len() == 2 && p.reads.iter().all(|(_, why)| why.is_none()))
}
