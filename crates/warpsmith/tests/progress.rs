//! What a terminal shows while a command works, and that a pipe gets none of it.

mod common;

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use common::command;

/// A machine that runs other tests at the same time is slow; what is drawn says itself how late it is.
const PATIENCE: Duration = Duration::from_secs(60);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a terminal of a kind gets from a command until it has shown a text, or the command has ended.
fn shown(folder: &Path, line: &str, term: &str, until: &str) -> String {
    let program = env!("CARGO_BIN_EXE_warpsmith");
    // `script` runs a command with a terminal of its own.
    let mut child = Command::new("script")
        .args(["-qec", &format!("exec {program} {line}"), "/dev/null"])
        .current_dir(folder)
        .env("TERM", term)
        .env("WARPSMITH_STORE", folder.join("results.sqlite"))
        .env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux gives commands a terminal");
    let mut terminal = child.stdout.take().unwrap();
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n) = terminal.read(&mut bytes) {
            if n == 0 || send.send(String::from_utf8_lossy(&bytes[..n]).into_owned()).is_err() {
                break;
            }
        }
    });
    let (mut text, start) = (String::new(), Instant::now());
    while !text.contains(until) && start.elapsed() < PATIENCE {
        match receive.recv_timeout(Duration::from_millis(200)) {
            Ok(more) => text += &more,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    text
}

const SLOW: &str = "// warpsmith: grid=64 block=256 arg x=float[16384]=zeros\n__global__ void slow(float *x)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    for (int k = 0; k < 200000; k++) x[i] += 1.0f;\n}\n";

/// A folder with a kernel that takes long, and a compiler that takes long to say its version.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("slow.cu"), SLOW).unwrap();
    let compiler = folder.path().join("nvcc");
    std::fs::write(&compiler, "#!/bin/sh\nsleep 2\n").unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn every_command_shows_what_it_does() {
    let folder = folder();
    let examples = root().join("examples");
    let examples = examples.display();
    let commands = [
        (
            format!("tune {examples}/gemm.c --registers estimate"),
            "tune: predicting times of schedules",
        ),
        (
            format!(
                "tune {examples}/gemm.c --schedule {examples}/schedules/gemm/lecture-4-square-tiles.sched"
            ),
            "verifying",
        ),
        (
            format!(
                "tune {examples}/jacobi5.c --size n=256 --size m=256 --device emulator --budget 400"
            ),
            "emulating",
        ),
        (format!("ladder {examples}/gemm.c"), "ladder: version 1/"),
        ("check slow.cu".to_string(), "checking 1/1 slow.cu: "),
        (format!("stage {examples}/stage/himeno.cu"), "stage: step"),
        (format!("stage {examples}/../bench/stage/plain/heat.cu --auto"), "stage: plan "),
        ("doctor".to_string(), "doctor: asking programs"),
    ];
    for (line, phase) in commands {
        let text = shown(folder.path(), &line, "xterm", phase);
        assert!(text.contains(phase), "{line}: nothing says `{phase}`: {text:?}");
        let first = text.find("\u{1b}[2K").expect("a line that can be taken back");
        let soon = ["[ 0 s]", "[ 1 s]"].iter().any(|t| text[first..].contains(t));
        assert!(soon, "{line}: it began too late: {text:?}");
    }
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let folder = folder();
    let text = shown(folder.path(), "check slow.cu", "dumb", "slow<<<");
    assert!(text.contains("] checking 1/1 slow.cu: "), "{text:?}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let text = shown(folder.path(), "check none.cu", "dumb", "\n\n\n");
    assert!(text.contains("error[W301]") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_pipe_gets_no_progress() {
    let folder = folder();
    let output = command(folder.path(), &["check", "slow.cu", "--timeout", "2s"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("checking"), "{text}");
}
