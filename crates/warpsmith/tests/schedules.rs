//! The schedule files in `examples/schedules`: AutoGPU's chain and the lecture's steps. Each makes the kernel that is kept
//! as a golden, verified, and the schedule it writes makes the same bytes again.
//!
//! `WARPSMITH_BLESS=1` writes the goldens anew; `WARPSMITH_EMITTED=DIR` leaves the files for a CUDA compiler.

use std::path::{Path, PathBuf};

use warpsmith::tune::{RegisterSource, TuneRequest, Tuned, tune};
use warpsmith_ir::SourceMap;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a readable entry").path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn run(example: &Path, schedule: &Path) -> Tuned {
    let mut sources = SourceMap::new();
    let request = TuneRequest::new(example).registers(RegisterSource::Estimate);
    let request = request.schedule(schedule).verify_steps(1_000_000);
    tune(&request, &mut sources).unwrap_or_else(|f| panic!("{}", f.render(&sources, false)))
}

fn keep(tuned: &Tuned, version: &str) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let folder = Path::new(&dir).join("schedules").join(&tuned.name).join(version);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (name, text) in &tuned.files {
        std::fs::write(folder.join(name), text).expect("a writable folder");
    }
}

/// The kernel's file without the comment at its top, which tells where it was verified.
fn kernel(tuned: &Tuned) -> &str {
    let text = tuned.files[0].1.as_str();
    let end = text.find("\n\n").expect("a comment at the top");
    &text[end + 2..]
}

#[test]
fn schedule_files_make_the_kernels_that_are_kept() {
    let bless = std::env::var_os("WARPSMITH_BLESS").is_some();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut problems, mut count) = (vec![], 0);
    for of_example in entries(&root().join("examples/schedules")) {
        let example = root().join(format!("examples/{}.c", stem(&of_example)));
        for file in entries(&of_example) {
            let version = stem(&file);
            let tuned = run(&example, &file);
            count += 1;
            keep(&tuned, &version);
            let name = format!("{}-{version}", tuned.name);
            if tuned.verified.sizes.len() < 5 {
                problems.push(format!("{name}: verified at {:?} only", tuned.verified.sizes));
            }
            let golden = root().join(format!("tests/golden/schedules/{name}.cu"));
            if bless {
                std::fs::create_dir_all(golden.parent().expect("a folder")).expect("a folder");
                std::fs::write(&golden, kernel(&tuned)).expect("a writable tree");
            }
            if std::fs::read_to_string(&golden).unwrap_or_default() != kernel(&tuned) {
                problems.push(format!("{name}: WARPSMITH_BLESS=1 accepts the new text"));
            }
            let written = folder.path().join("again.sched");
            std::fs::write(&written, &tuned.schedule).expect("a writable folder");
            if run(&example, &written).files[..3] != tuned.files[..3] {
                problems.push(format!("{name}: the schedule that was written makes other files"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 20, "only {count} schedules");
}

#[test]
fn the_lectures_files_are_the_steps_of_the_ladder() {
    let mut sources = SourceMap::new();
    let example = root().join("examples/gemm.c");
    let kernel = warpsmith::tune::kernel(&TuneRequest::new(example), &mut sources);
    let kernel = kernel.unwrap_or_else(|f| panic!("{}", f.render(&sources, false)));
    let rungs =
        warpsmith::opt::schedule::ladder::lesson(&kernel, &sources).expect("a contraction").rungs;
    let files = entries(&root().join("examples/schedules/gemm"));
    for step in 3..=8 {
        let rung = rungs.iter().rfind(|r| r.lecture == Some(step)).expect("each step is taught");
        let file = files.iter().find(|f| stem(f).starts_with(&format!("lecture-{step}-")));
        let text = std::fs::read_to_string(file.expect("each step has a file")).expect("a text");
        let steps: String =
            text.lines().filter(|l| !l.starts_with('#')).flat_map(|l| [l, "\n"]).collect();
        assert_eq!(steps.trim(), rung.schedule.print().trim(), "{}", rung.name);
    }
}
