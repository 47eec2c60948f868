//! `tune` over the examples: all are verified, their text reads well, and ten are kept as goldens.
//!
//! `WARPSMITH_BLESS=1` writes the goldens anew.

use std::path::{Path, PathBuf};

use warpsmith::tune::{RegisterSource, Strategy, TuneRequest, Tuned, tune};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::sampled;

/// The examples whose emitted kernels are kept.
const GOLDEN: [&str; 10] = [
    "gemm",
    "gemm_tt",
    "gemv",
    "conv2d",
    "jacobi5",
    "himeno",
    "total",
    "triangular",
    "blur",
    "nbody",
];

/// Steps that the model must choose for an example: what its nest gains from.
const GAINS: [(&str, &[&str]); 4] = [
    (
        "gemm",
        &[
            "accumulate C",
            "register_tile i by",
            "register_tile j by",
            "stage A at l",
            "stage B at l",
        ],
    ),
    ("gemm_tt", &["register_tile", "stage"]),
    ("jacobi5", &["register_tile"]),
    ("nbody", &["bind i -> y", "share j -> x"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .expect("the examples are part of the repository")
        .map(|e| e.expect("a readable entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    files
}

fn run(request: &TuneRequest) -> Result<Tuned, String> {
    let mut sources = SourceMap::new();
    tune(request, &mut sources).map_err(|f| f.render(&sources, false))
}

/// With the same choice on every machine.
fn request(file: &Path) -> TuneRequest {
    TuneRequest::new(file).registers(RegisterSource::Estimate)
}

fn file<'a>(tuned: &'a Tuned, suffix: &str) -> &'a str {
    let found = tuned.files.iter().find(|(n, _)| n.ends_with(suffix));
    found.map(|(_, text)| text.as_str()).unwrap_or_else(|| panic!("no {suffix}"))
}

/// With `WARPSMITH_EMITTED=DIR` the files are left there for a CUDA compiler as well.
fn keep(tuned: &Tuned) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let folder = Path::new(&dir).join(&tuned.name);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (name, text) in &tuned.files {
        std::fs::write(folder.join(name), text).expect("a writable folder");
    }
}

#[test]
fn every_example_is_tuned_and_reads_well() {
    let mut problems = vec![];
    assert!(examples().len() >= 18);
    for example in sampled(examples()) {
        let tuned = match run(&request(&example)) {
            Ok(tuned) => tuned,
            Err(text) => {
                problems.push(text);
                continue;
            }
        };
        keep(&tuned);
        for (name, text) in
            tuned.files.iter().filter(|(n, _)| n.ends_with(".cu") || n.ends_with(".h"))
        {
            for (i, line) in text.lines().enumerate() {
                if line.chars().count() > 100 {
                    problems.push(format!("{name}:{}: {} columns", i + 1, line.chars().count()));
                }
                if line.ends_with(' ') || line.contains('\t') {
                    problems.push(format!("{name}:{}: blanks", i + 1));
                }
            }
        }
        for (_, steps) in GAINS.iter().filter(|(name, _)| *name == tuned.name) {
            for step in steps.iter().filter(|s| !tuned.schedule.contains(**s)) {
                problems.push(format!("{}: no `{step}` in\n{}", tuned.name, tuned.schedule));
            }
        }
        let planned = tuned.planned.as_ref().map(|p| (&p.choice.seconds, &p.choice.direct));
        if planned.is_none_or(|(chosen, direct)| chosen.is_empty() || chosen[0] > direct[0]) {
            problems.push(format!("{}: no prediction, or a worse one: {planned:?}", tuned.name));
        }
        if tuned.messages.iter().any(|m| m.code == "W329") {
            problems.push(format!("{}: the chosen schedule is wrong", tuned.name));
        }
        if tuned.verified.sizes.len() < 5 {
            problems.push(format!("{}: verified at {:?} only", tuned.name, tuned.verified.sizes));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn goldens() {
    let bless = std::env::var_os("WARPSMITH_BLESS").is_some();
    for name in GOLDEN {
        let example = root().join(format!("examples/{name}.c"));
        let direct = request(&example).strategy(Strategy::Direct);
        let tuned = run(&direct).unwrap_or_else(|e| panic!("{e}"));
        let path = root().join(format!("tests/golden/{name}.cu"));
        if bless {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable tree");
            std::fs::write(&path, file(&tuned, &format!("{name}.cu"))).expect("a writable tree");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            file(&tuned, &format!("{name}.cu")),
            golden,
            "{name}: WARPSMITH_BLESS=1 accepts the new text"
        );
    }
}

#[test]
fn replaying_the_schedule_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["jacobi5", "blur", "total"] {
        let example = root().join(format!("examples/{name}.c"));
        let first = run(&request(&example)).unwrap_or_else(|e| panic!("{e}"));
        let sched = folder.path().join(format!("{name}.sched"));
        std::fs::write(&sched, file(&first, ".sched")).expect("a writable folder");
        let second = run(&request(&example).schedule(&sched)).unwrap_or_else(|e| panic!("{e}"));
        // The result tells how the schedule came about.
        let kernels = |tuned: &Tuned| -> Vec<(String, String)> {
            tuned.files.iter().filter(|(n, _)| n != "result.json").cloned().collect()
        };
        assert_eq!(kernels(&first), kernels(&second));
    }
}
