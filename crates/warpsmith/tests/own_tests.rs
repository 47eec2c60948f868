//! The test programs that `tune` writes run under `check`: host code, comparison and launches, with nothing left out.

mod common;

use std::path::{Path, PathBuf};

use warpsmith_testgen::sampled;

/// Examples, and the arguments that their test programs get; without any, `check` finds smaller ones than their own.
const EXAMPLES: [(&str, &str); 8] = [
    ("saxpy", ""),
    ("dot_return", "64"),
    ("row_sums", "8 12"),
    ("softmax", "8 12"),
    ("daxpy_double", "64"),
    ("newton", "32"),
    ("conv5", "8 12"),
    ("nbody", "16"),
];

fn warpsmith(folder: &Path, args: &[&str]) -> (i32, String) {
    let out = common::command(folder, args).output().expect("it runs");
    let text = [&out.stdout[..], &out.stderr[..]].concat();
    (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// The test program that `tune` writes for an example.
fn test_program(example: &str, folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (file, out) = (root.join(format!("{example}.c")), folder.join(example));
    let paths = [file.to_string_lossy(), out.to_string_lossy()];
    let (status, text) = warpsmith(folder, &["tune", &paths[0], "--out", &paths[1]]);
    assert_eq!(status, 0, "{example}:\n{text}");
    let entries = std::fs::read_dir(&out).expect("the folder is written");
    let mut files = entries.map(|e| e.expect("a readable entry").path());
    let is_test = |p: &PathBuf| p.to_string_lossy().ends_with("_test.cu");
    files.find(is_test).expect("a test program is written")
}

#[test]
fn test_programs_of_tune_are_checked_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (example, arguments) in sampled(EXAMPLES.to_vec()) {
        let program = test_program(example, folder.path());
        let mut args = vec!["check".to_string(), program.to_string_lossy().into_owned()];
        if !arguments.is_empty() {
            args.extend(["--host-args".to_string(), arguments.to_string()]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (status, text) = warpsmith(folder.path(), &args);
        assert_eq!(status, 0, "{example}:\n{text}");
        for sign in ["left out", "not run", "not complete", "was not launched"] {
            assert!(!text.contains(sign), "{example}: {sign}:\n{text}");
        }
        assert!(text.contains("launches checked: nothing found"), "{example}:\n{text}");
    }
}
