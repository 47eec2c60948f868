//! Updates that iterations share, and regions with several loops: the programs of `regions/accepted` end verified, those
//! of `regions/refused` with the message beside them.
//!
//! With `WARPSMITH_EMITTED=DIR` what was emitted is left there for a CUDA compiler; `UPDATE_EXPECT=1` writes the messages
//! anew. A first line `// function: NAME` chooses one of several; a line `// says: TEXT` is part of an assumption.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;

use expect_test::expect_file;

fn programs(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regions").join(kind);
    let entries = std::fs::read_dir(&folder).expect("the folder of programs");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    assert!(!files.is_empty(), "{} holds no programs", folder.display());
    files
}

/// Runs `f` on every program, two at a time.
fn each(kind: &str, f: &(dyn Fn(&Path) + Sync)) {
    let left = Mutex::new(programs(kind));
    let next = || left.lock().ok().and_then(|mut l| l.pop());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(next).for_each(|file| f(&file)));
        }
    });
}

fn tune(file: &Path, folder: &Path) -> Output {
    let name = file.file_name().expect("a file");
    let text = std::fs::read_to_string(file).expect("a program");
    std::fs::write(folder.join(name), &text).expect("a writable folder");
    let mut args = vec!["tune", name.to_str().expect("a plain name"), "--out", "out"];
    if let Some(function) = text.lines().next().and_then(|l| l.strip_prefix("// function: ")) {
        args.extend(["--function", function]);
    }
    common::command(folder, &args).output().expect("the program starts")
}

#[test]
fn programs_whose_updates_commute_are_verified() {
    each("accepted", &|file| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = tune(file, folder.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", file.display());
        let out = folder.path().join("out");
        let json = std::fs::read_to_string(out.join("result.json")).expect("a result");
        let result: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(result["verification"]["level"], "checked", "{}", file.display());
        let text = std::fs::read_to_string(file).expect("a program");
        let assumptions = result["verification"]["assumptions"].to_string();
        for said in text.lines().filter_map(|l| l.strip_prefix("// says: ")) {
            assert!(assumptions.contains(said), "{}: {assumptions}", file.display());
        }
        leave(file, &out);
    });
}

fn leave(file: &Path, out: &Path) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let to = Path::new(&dir).join("regions").join(file.file_stem().expect("a name"));
    std::fs::create_dir_all(&to).expect("a writable folder");
    for entry in std::fs::read_dir(out).expect("a folder of results") {
        let from = entry.expect("an entry").path();
        std::fs::copy(&from, to.join(from.file_name().expect("a name"))).expect("a copy");
    }
}

#[test]
fn programs_that_depend_on_the_order_are_refused_with_the_reason() {
    each("refused", &|file| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = tune(file, folder.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(1 | 2)), "{}: {code:?} {stderr}", file.display());
        assert!(!folder.path().join("out").exists(), "{} left files", file.display());
        expect_file![file.with_extension("txt")].assert_eq(&stderr);
    });
}

/// Where data decide which elements iterations share, the data tell.
#[test]
fn an_update_without_a_pragma_is_a_race() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regions/missing_atomic.c");
    let output = tune(&file, folder.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("`#pragma omp atomic`"), "{stderr}");
}

/// What floating-point sums may differ by stands where the user looks.
#[test]
fn sums_of_reals_say_that_their_order_differs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regions/accepted/scatter_add.c");
    let output = tune(&file, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let header = std::fs::read_to_string(folder.path().join("out/scatter.h")).expect("a header");
    assert!(header.contains("the sums in `y` may be added in another order than in C"), "{header}");
    let integers = file.with_file_name("histogram.c");
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(tune(&integers, folder.path()).status.code(), Some(0));
    let header = std::fs::read_to_string(folder.path().join("out/hist.h")).expect("a header");
    assert!(!header.contains("another order"), "{header}");
}
