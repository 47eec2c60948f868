//! `warpsmith doctor` on machines made up of fake programs.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use common::copy_program;

mod common;

/// A folder of shell scripts to stand for programs.
fn programs(scripts: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, script) in scripts {
        program(&folder.path().join(name), format!("#!/bin/sh\n{script}\n").as_bytes());
    }
    folder
}

/// A file that may be run.
fn program(path: &Path, contents: &[u8]) {
    let written = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(written.path(), contents).expect("a writable file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(written.path(), mode).expect("permissions");
    copy_program(written.path(), path);
}

/// Runs the command with nothing on the path but the fakes.
fn doctor(fakes: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .arg("doctor")
        .args(args)
        .current_dir(fakes)
        .env("PATH", fakes)
        .env("NO_COLOR", "1")
        .env_remove("CC")
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .env_remove("VIRTUAL_ENV")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the program starts")
}

fn parts(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!((&object["schema"], &object["command"]), (&Value::from(1), &Value::from("doctor")));
    object["parts"].clone()
}

fn part<'v>(parts: &'v Value, name: &str) -> &'v Value {
    parts.as_array().expect("a list").iter().find(|p| p["name"] == name).expect(name)
}

const NVCC: &str = "echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo 'Cuda compilation tools, release 13.0, V13.0.88'";

#[test]
fn programs_are_found_with_path_and_version() {
    let fakes = programs(&[
        ("nvcc", NVCC),
        ("ptxas", "echo 'Cuda compilation tools, release 12.4, V12.4.131'"),
        ("cc", "echo 'cc (Debian 12.2.0-14) 12.2.0'; echo 'Copyright'"),
        ("z3", "echo 'Z3 version 4.8.12 - 64 bit'"),
        ("nvidia-smi", "echo 'NVIDIA H200, 9.0, 143771 MiB, 580.159.03'"),
    ]);
    let parts = parts(&doctor(fakes.path(), &["--format", "json"]));
    let expected = [
        ("nvcc", "nvcc", "13.0.88"),
        ("ptxas", "ptxas", "12.4.131"),
        ("cc", "cc", "cc (Debian 12.2.0-14) 12.2.0"),
        ("z3", "z3", "4.8.12"),
        (
            "gpu",
            "nvidia-smi",
            "NVIDIA H200 (compute capability 9.0, 143771 MiB, driver 580.159.03)",
        ),
    ];
    for (name, file, version) in expected {
        let part = part(&parts, name);
        assert_eq!(part["state"], "found", "{part}");
        assert_eq!(part["version"], version);
        assert_eq!(part["path"], fakes.path().join(file).display().to_string());
    }
}

#[test]
fn what_is_missing_says_what_it_costs_and_how_to_get_it() {
    let fakes = programs(&[("z3", "echo 'Z3 version 4.8.12 - 64 bit'")]);
    let output = doctor(fakes.path(), &[]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("text");
    let missing = "C compiler       missing\n                 without it: `tune` compares with the original in its own interpreter only: \
                   slower, and without a second opinion\n                 to get it: install gcc or clang, or set CC to a C compiler\n";
    assert!(text.contains(missing), "{text}");
    let found = format!("SMT solver (z3)  4.8.12, {}\n", fakes.path().join("z3").display());
    assert!(text.contains(&found), "{text}");
    assert!(text.ends_with("parts are there; all are optional\n"), "{text}");
}

#[test]
fn programs_that_hang_fail_or_talk_nonsense_are_named_and_do_no_harm() {
    let fakes = programs(&[
        ("nvcc", "exec /bin/sleep 60"),
        ("ptxas", "printf '\\033[2J\\377\\376\\000release V\\n'"),
        ("cc", "while :; do echo garbage; done"),
        ("z3", "kill -SEGV $$"),
        ("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9"),
    ]);
    let start = Instant::now();
    let parts = parts(&doctor(fakes.path(), &["--format", "json", "--timeout", "1"]));
    assert!(start.elapsed() < Duration::from_secs(30), "all wait at the same time");
    let expected = [
        ("nvcc", "it did not answer within 1 s"),
        ("ptxas", "it does not say its version"),
        ("cc", "it did not answer within 1 s"),
        ("gpu", "it ended with exit status: 9"),
    ];
    for (name, why) in expected {
        let part = part(&parts, name);
        assert_eq!((&part["state"], &part["why"]), (&Value::from("unusable"), &Value::from(why)));
    }
    let crashed = part(&parts, "z3")["why"].as_str().expect("a reason").to_string();
    assert!(crashed.starts_with("it ended with signal: 11"), "{crashed}");
}

#[test]
fn a_program_that_is_no_program_is_named() {
    let fakes = programs(&[]);
    program(&fakes.path().join("z3"), b"\x7fELF\x02\x01nonsense");
    let parts = parts(&doctor(fakes.path(), &["--format", "json"]));
    let why = part(&parts, "z3")["why"].as_str().expect("a reason").to_string();
    assert!(why.starts_with("it cannot be started: "), "{why}");
}

#[test]
fn named_homes_and_virtual_environments_are_searched() {
    let fakes = programs(&[]);
    let wheel = fakes.path().join(".venv/lib/python3.11/site-packages/nvidia/cu13");
    for folder in ["bin", "lib"] {
        std::fs::create_dir_all(wheel.join(folder)).expect("a writable folder");
    }
    std::fs::write(wheel.join("lib/libnvrtc.so.13"), "").expect("a writable folder");
    let home = programs(&[]);
    std::fs::create_dir(home.path().join("bin")).expect("a writable folder");
    let script = programs(&[("nvcc", NVCC)]);
    copy_program(&script.path().join("nvcc"), &home.path().join("bin/nvcc"));
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(["doctor", "--format", "json"])
        .current_dir(fakes.path())
        .env("PATH", fakes.path())
        .env("CUDA_HOME", home.path())
        .env_remove("CUDA_PATH")
        .env_remove("VIRTUAL_ENV")
        .output()
        .expect("the program starts");
    let parts = parts(&output);
    let nvcc = home.path().join("bin/nvcc").display().to_string();
    assert_eq!(
        (&part(&parts, "nvcc")["path"], &part(&parts, "nvcc")["version"]),
        (&nvcc.into(), &"13.0.88".into())
    );
    assert_eq!(part(&parts, "nvrtc")["version"], "13");
    assert!(
        part(&parts, "nvrtc")["path"]
            .as_str()
            .expect("a path")
            .ends_with("cu13/lib/libnvrtc.so.13")
    );
}

#[test]
fn bad_options_are_refused() {
    let fakes = programs(&[]);
    for args in [["--format", "xml"], ["--timeout", "0"], ["--timeout", "soon"]] {
        assert_eq!(doctor(fakes.path(), &args).status.code(), Some(2), "{args:?}");
    }
}
