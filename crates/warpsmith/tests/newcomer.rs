//! Wrong uses of somebody's first hour: each ends with what was wrong and what to do next.

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::command;
use tempfile::TempDir;

const SCALE: &str = "void scale(int n, float a, float x[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        x[i] = a * x[i];\n}\n";

const KERNEL: &str = "__global__ void twice(float *x, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= 2.0f;\n}\n";

/// What is typed, how it ends, and words that the answer has: the fault, then the way out.
struct Use {
    what: &'static str,
    typed: &'static [&'static str],
    status: i32,
    says: &'static str,
    next: &'static str,
}

const USES: &[Use] = &[
    Use {
        what: "no marks, and nothing that is parallel without one",
        typed: &["tune", "plain.c", "--size", "n=64"],
        status: 2,
        says: "no loop is marked as parallel",
        next: "write `#pragma omp parallel for` before the loops",
    },
    Use {
        what: "a CUDA file for tune",
        typed: &["tune", "twice.cu"],
        status: 2,
        says: "twice.cu",
        next: "`warpsmith check twice.cu` looks for errors in it",
    },
    Use {
        what: "a C file for check",
        typed: &["check", "scale.c"],
        status: 2,
        says: "the file has no kernel",
        next: "`warpsmith tune scale.c` makes CUDA kernels",
    },
    Use {
        what: "a C file for fuse",
        typed: &["fuse", "scale.c"],
        status: 2,
        says: "is no script",
        next: "`warpsmith tune scale.c`",
    },
    Use {
        what: "a C file for stage",
        typed: &["stage", "scale.c"],
        status: 2,
        says: "",
        next: "`warpsmith tune scale.c`",
    },
    Use {
        what: "a text for tune",
        typed: &["tune", "notes.txt"],
        status: 2,
        says: "unexpected `hello`",
        next: "takes a C file (.c) with marked loops",
    },
    Use {
        what: "no such file",
        typed: &["tune", "scael.c", "--size", "n=64"],
        status: 2,
        says: "there is no such file",
        next: "in `.` there are `empty.c`, `plain.c`, `scale.c`",
    },
    Use {
        what: "no sizes",
        typed: &["tune", "scale.c"],
        status: 2,
        says: "parameter `n` has no size",
        next: "add --size n=1024",
    },
    Use {
        what: "a size without a name",
        typed: &["tune", "scale.c", "--size", "64"],
        status: 2,
        says: "has no `=`",
        next: "write --size n=4096",
    },
    Use {
        what: "a forgotten launch",
        typed: &["check", "twice.cu"],
        status: 2,
        says: "says nowhere how to launch",
        next: "give --grid and --block",
    },
    Use {
        what: "a folder for a file",
        typed: &["tune", "."],
        status: 2,
        says: "cannot read `.`",
        next: "name a file in it",
    },
    Use {
        what: "an old GPU",
        typed: &["tune", "scale.c", "--size", "n=64", "--arch", "sm_35"],
        status: 2,
        says: "`sm_35` is too old: the oldest architecture is sm_75",
        next: "known are sm_75",
    },
    Use {
        what: "no GPU",
        typed: &["tune", "scale.c", "--size", "n=64", "--budget", "5"],
        status: 2,
        says: "there is no GPU to measure on",
        next: "use --device emulator",
    },
    Use {
        what: "a huge size",
        typed: &["tune", "scale.c", "--size", "n=99999999999"],
        status: 2,
        says: "overflows the parameter's type",
        next: "at most 2147483647 fits",
    },
    Use {
        what: "nothing to tune",
        typed: &["tune", "scale.c", "--size", "n=0"],
        status: 2,
        says: "size `n=0` leaves nothing to tune",
        next: "give the size at which it is to be fast: --size n=4096",
    },
    Use {
        what: "a negative size",
        typed: &["tune", "scale.c", "--size", "n=-5"],
        status: 2,
        says: "size `n=-5` is negative",
        next: "give the size at which it is to be fast: --size n=4096",
    },
    Use {
        what: "a file that was not saved",
        typed: &["tune", "empty.c", "--size", "n=64"],
        status: 2,
        says: "this file is empty",
        next: "save what belongs there, or name another file",
    },
    Use {
        what: "a store where nothing can be written",
        typed: &[
            "tune",
            "scale.c",
            "--size",
            "n=64",
            "--device",
            "emulator",
            "--budget",
            "2",
            "--store",
            "/proc/no/store",
        ],
        status: 2,
        says: "cannot make the folder of the store",
        next: "name a file elsewhere with --store",
    },
    Use {
        what: "a store that is none",
        typed: &[
            "tune",
            "scale.c",
            "--size",
            "n=64",
            "--device",
            "emulator",
            "--budget",
            "2",
            "--store",
            "notes.txt",
        ],
        status: 2,
        says: "cannot open the store `notes.txt`",
        next: "name another file with --store",
    },
    Use {
        what: "an option that does not exist",
        typed: &["tune", "scale.c", "--sizes", "n=64"],
        status: 2,
        says: "unexpected argument '--sizes'",
        next: "a similar argument exists: '--size'",
    },
    Use {
        what: "results before there are any",
        typed: &["results", "--problem", "scale"],
        status: 2,
        says: "there is no store",
        next: "`warpsmith tune` on a device makes it",
    },
];

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plain = "float decay(int n, const float x[n])
{
    float s = 0.0f;
    for (int i = 0; i < n; i++)
        s = 0.5f * s + x[i];
    return s;
}
";
    let files = [
        ("scale.c", SCALE),
        ("plain.c", plain),
        ("twice.cu", KERNEL),
        ("notes.txt", "hello\n"),
        ("empty.c", ""),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn wrong_uses_end_with_what_to_do_next() {
    let folder = folder();
    for Use { what, typed, status, says, next } in USES {
        let output = command(folder.path(), typed).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(*status), "{what}: {text}");
        assert!(text.contains(says), "{what}: {text}");
        let at = text.find(next).unwrap_or_else(|| panic!("{what}: nothing says `{next}`: {text}"));
        assert!(at >= text.find(says).unwrap_or(0), "{what}: the fault comes first: {text}");
        assert!(!folder.path().join("warpsmith-out").exists(), "{what} left files");
    }
}

/// The same wrong uses for a program that reads JSON: one object, with the message.
#[test]
fn programs_hear_of_wrong_uses_too() {
    let folder = folder();
    for Use { what, typed, status, .. } in USES {
        let output = command(folder.path(), &[typed, &["--format", "json"][..]].concat()).output();
        let output = output.unwrap();
        let object: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{what}: {e}: {}", said(&output)));
        assert_eq!(object["exit"], *status, "{what}: {object}");
        assert_eq!(object["command"], typed[0], "{what}: {object}");
        let findings = object["findings"].as_array().unwrap();
        assert!(findings.iter().any(|f| f["severity"] == "error"), "{what}: {object}");
    }
}

/// Without a C compiler there is a kernel all the same, and word of what is missing.
#[test]
fn a_missing_compiler_is_named_with_what_to_do() {
    let folder = folder();
    let output = command(folder.path(), &["tune", "scale.c", "--size", "n=64"])
        .env("PATH", "/nonexistent")
        .env_remove("CC")
        .output()
        .unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("no C compiler found") && text.contains("install a C compiler"),
        "{text}"
    );
    assert!(folder.path().join("warpsmith-out/scale/scale.cu").is_file());
}

/// Without a folder for temporary files neither.
#[test]
fn a_missing_temporary_folder_is_named_with_what_to_do() {
    let folder = folder();
    let output = command(folder.path(), &["tune", "scale.c", "--size", "n=64"])
        .env("TMPDIR", "/nonexistent")
        .output()
        .unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the C file cannot be compiled here"), "{text}");
    assert!(text.contains("let TMPDIR name a folder"), "{text}");
    assert!(folder.path().join("warpsmith-out/scale/scale.cu").is_file());
}

/// A limit on the length of files stands for a disk that is full: nothing half written stays.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_warpsmith");
    // The limit is in units of 512 or 1,024 bytes; the signal that comes with it is ignored.
    let line =
        format!("trap '' XFSZ; ulimit -f 1; exec {program} tune scale.c --size n=64 --out full");
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot write results to `full`"), "{text}");
    assert!(text.contains("name another folder with --out"), "{text}");
    let left = std::fs::read_dir(folder.path().join("full")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "files are whole or not there");
}

/// Standard output that nobody takes is no bug of ours: a disk that is full, and a reader that has left.
#[test]
fn output_that_cannot_be_written_is_no_bug() {
    let folder = folder();
    let typed = ["tune", "scale.c", "--size", "n=64"];
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(folder.path(), &typed).stdout(full).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot write to stdout") && text.contains("make room"), "{text}");
    assert!(exists(folder.path(), "warpsmith-out/scale/scale.cu"));
    std::fs::write(folder.path().join("k.cu"), "__global__ void f(int *a) { a[threadIdx.x] = 1; }")
        .unwrap();
    for typed in [
        "results",
        "doctor",
        "clean --dry-run",
        "completions bash",
        "check k.cu --grid 1 --block 32 --arg a=int[32]",
    ] {
        let typed: Vec<&str> = typed.split(' ').collect();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(folder.path(), &typed).stdout(full).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{typed:?}: {text}");
        assert!(text.contains("cannot write to stdout"), "{typed:?}: {text}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(folder.path(), &typed).stdout(writer).output().unwrap();
        let text = said(&output);
        assert!(output.status.code() != Some(70) && !text.contains("bug"), "{typed:?}: {text}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(folder.path(), &typed).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
}

#[test]
fn ctrl_c_says_what_became_of_the_work() {
    let folder = folder();
    // Enough to plan for a while.
    let gemm = include_str!("../../../examples/gemm.c");
    std::fs::write(folder.path().join("gemm.c"), gemm).unwrap();
    let child = command(folder.path(), &["tune", "gemm.c"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("interrupted") && text.contains("nothing was written"), "{text}");
    assert!(!exists(folder.path(), "warpsmith-out"));
}

fn exists(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}
