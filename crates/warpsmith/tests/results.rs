//! `warpsmith results` and `warpsmith clean`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

const CACHE: &str = r#"{
"device_name": "Some GPU",
"kernel_name": "blur",
"problem_size": [64, 32],
"tune_params_keys": ["x", "mode"],
"tune_params": {"x": [1, 2, 4], "mode": ["row", "column"]},
"objective": "time",
"cache": {
"1,row": {"x": 1, "mode": "row", "time": 3.5, "times": [3.5, 3.4, 3.6], "compile_time": 9.0, "verification_time": 0, "benchmark_time": 1.0, "GFLOP/s": 12.5, "strategy_time": 0, "framework_time": 1.0, "timestamp": "2026-01-01 00:00:00+00:00"},
"2,row": {"x": 2, "mode": "row", "time": 0.0625, "times": [0.0625], "compile_time": 8.0, "verification_time": 0, "benchmark_time": 1.0, "strategy_time": 0, "framework_time": 1.0, "timestamp": "2026-01-01 00:00:01+00:00"},
"4,row": {"x": 4, "mode": "row", "__error__": "CompilationFailedConfig", "compile_time": 8.0, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0, "framework_time": 1.0, "timestamp": "2026-01-01 00:00:02+00:00"}}
}"#;

fn warpsmith(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("WARPSMITH_CACHE", folder.join("cache"))
        .env("WARPSMITH_STORE", folder.join("results.sqlite"))
        .output()
        .expect("the program starts")
}

/// stdout of a command that does its work.
fn said(folder: &Path, args: &[&str]) -> String {
    let output = warpsmith(folder, args);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.replace(&folder.display().to_string(), "DIR")
}

fn refused(folder: &Path, args: &[&str], expected: &str) {
    let output = warpsmith(folder, args);
    let err = String::from_utf8_lossy(&output.stderr).replace(&folder.display().to_string(), "DIR");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
    assert!(err.contains(expected), "{args:?}: {err}");
}

fn imported() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cache.json"), CACHE).unwrap();
    let text = said(folder.path(), &["results", "--import", "cache.json"]);
    assert_eq!(text, "cache.json: 3 results of `blur` on Some GPU, now problem 1\n");
    folder
}

#[test]
fn problems_and_their_results_are_listed() {
    let folder = imported();
    let folder = folder.path();
    expect_test::expect![[r#"
        DIR/results.sqlite
        #  results  failed  best ms  kernel  device    arguments
        1        3       1  0.06250  blur    Some GPU  problem_size=[64,32]
    "#]]
    .assert_eq(&said(folder, &["results"]));
    expect_test::expect![[r#"
        1: blur on Some GPU, problem_size=[64,32]; 3 results, 1 failed
             ms  status   configuration   message
         3.5000  correct  x=1 mode='row'
        0.06250  correct  x=2 mode='row'
              -  compile  x=4 mode='row'
    "#]]
    .assert_eq(&said(folder, &["results", "--problem", "blur"]));
    expect_test::expect![[r#"
        1: blur on Some GPU, problem_size=[64,32]; 3 results, 1 failed
             ms  status   configuration   message
        0.06250  correct  x=2 mode='row'
    "#]]
    .assert_eq(&said(folder, &["results", "--fastest", "1"]));
    let rows =
        said(folder, &["results", "--problem", "1", "--status", "compile", "--format", "json"]);
    let rows: Json = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows["results"].as_array().unwrap().len(), 1);
    assert_eq!(rows["results"][0]["configuration"], json!({"x": 4, "mode": "row"}));
    assert_eq!(rows["problems"][0]["best_ms"], 0.0625);
}

#[test]
fn what_is_exported_can_be_imported_again() {
    let folder = imported();
    let folder = folder.path();
    for (format, file) in [("t4", "r.t4.json"), ("t4=ktt", "ktt.json"), ("kt-cache", "again.json")]
    {
        assert_eq!(
            said(folder, &["results", "--export", format, "--out", file]),
            format!("{file}\n")
        );
        let store = format!("{file}.sqlite");
        said(folder, &["results", "--store", &store, "--import", file]);
        let rows = |store: &str| -> Json {
            let text =
                said(folder, &["results", "--store", store, "--problem", "1", "--format", "json"]);
            serde_json::from_str::<Json>(&text).unwrap()["results"].clone()
        };
        assert_eq!(rows(&store), rows("results.sqlite"), "{format}");
    }
    // The cache keeps values that no configuration has.
    let again: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("again.json")).unwrap()).unwrap();
    assert_eq!(again["tune_params"], json!({"x": [1, 2, 4], "mode": ["row", "column"]}));
    assert_eq!(again["problem_size"], json!([64, 32]));
    let t1: Json = serde_json::from_str(&said(folder, &["results", "--export", "t1"])).unwrap();
    let parameters = &t1["ConfigurationSpace"]["TuningParameters"];
    assert_eq!(parameters[1]["Values"], "['row', 'column']");
    // A second import of the same file adds nothing.
    let text = said(folder, &["results", "--import", "cache.json"]);
    assert_eq!(
        text,
        "cache.json: 0 results of `blur` on Some GPU, now problem 1; 3 were there before\n"
    );
}

#[test]
fn what_is_meant_must_be_clear_and_be_there() {
    let empty = tempfile::tempdir().unwrap();
    let text = said(empty.path(), &["results"]);
    assert_eq!(text, "there are no results yet; they will be in DIR/results.sqlite\n");
    assert!(!empty.path().join("results.sqlite").exists());
    refused(
        empty.path(),
        &["results", "--store", "none.sqlite"],
        "error[W430]: there is no store `none.sqlite`",
    );
    let folder = imported();
    let folder = folder.path();
    refused(
        folder,
        &["results", "--problem", "7"],
        "error[W432]: there is no problem `7` in the store",
    );
    refused(folder, &["results", "--import", "none.json"], "error[W410]: cannot read `none.json`");
    refused(folder, &["results", "--status", "slow"], "`slow` is none of correct, constraints");
    refused(folder, &["results", "--export", "xml"], "`xml` is none of t4, t4=ktt, kt-cache, t1");
    std::fs::write(folder.join("other.json"), CACHE.replace("Some GPU", "Other GPU")).unwrap();
    said(folder, &["results", "--import", "other.json"]);
    refused(
        folder,
        &["results", "--problem", "blur"],
        "error[W432]: several problems have the kernel `blur`",
    );
    refused(folder, &["results", "--export", "t4"], "error[W432]: the store has several problems");
    // A file that is refused leaves the store as it was, also with good ones before it.
    std::fs::write(folder.join("third.json"), CACHE.replace("Some GPU", "Third GPU")).unwrap();
    refused(
        folder,
        &["results", "--import", "third.json", "--import", "results.sqlite"],
        "error[W4",
    );
    assert!(!said(folder, &["results"]).contains("Third GPU"));
}

#[test]
fn cleaning_removes_the_cache_and_only_when_asked_the_results() {
    let folder = imported();
    let folder = folder.path();
    let entry = folder.join("cache/cubin/ab").join("0".repeat(62));
    std::fs::create_dir_all(entry.parent().unwrap()).unwrap();
    std::fs::write(&entry, vec![0; 2048]).unwrap();
    std::fs::write(folder.join("cache/notes.txt"), "mine").unwrap();
    let would = "would remove 1 compiled kernel, 2.0 KiB: DIR/cache/cubin\n";
    assert_eq!(said(folder, &["clean", "--dry-run"]), would);
    assert!(entry.exists());
    assert_eq!(said(folder, &["clean"]), would.replace("would remove", "removed"));
    assert!(!folder.join("cache/cubin").exists() && folder.join("cache/notes.txt").exists());
    assert!(folder.join("results.sqlite").exists());
    let text = said(folder, &["clean", "--results"]);
    assert!(text.starts_with("removed 0 compiled kernels, 0 bytes: DIR/cache/cubin\n"), "{text}");
    assert!(text.contains("removed 3 results of 1 problem, "), "{text}");
    for file in ["results.sqlite", "results.sqlite-wal", "results.sqlite-shm"] {
        assert!(!folder.join(file).exists(), "{file}");
    }
    assert!(folder.join("cache.json").exists());
    assert_eq!(said(folder, &["clean", "--results"]).lines().last(), Some("there are no results"));
    // What is no store of ours is not removed.
    refused(folder, &["clean", "--results", "--store", "cache.json"], "error[W420]");
    assert!(folder.join("cache.json").exists());
}
