//! Running other people's programs: with a time limit, and without trust in what they print.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// What is kept of a program's output; the rest is read and thrown away, so that the program does not block.
const KEPT: usize = 64 * 1024;

/// Why a program gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// It could not be started; the system's words.
    NotStarted(String),
    /// It was still running when its time was up.
    TooSlow(Duration),
    /// It ended with a failure; how.
    Failed(String),
}

/// Runs a program and gives what it printed: stdout, then stderr, as text without control characters.
///
/// # Errors
/// [`NoAnswer`]; a program over its time is ended, with the processes it started.
pub fn ask(program: &Path, args: &[&str], limit: Duration) -> Result<String, NoAnswer> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let mut child = command.spawn().map_err(|e| NoAnswer::NotStarted(e.to_string()))?;
    let deadline = Instant::now() + limit;
    let outputs = [child.stdout.take().map(collect), child.stderr.take().map(collect)];
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() >= deadline => {
                end(&mut child);
                return Err(NoAnswer::TooSlow(limit));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(e) => return Err(NoAnswer::NotStarted(e.to_string())),
        }
    };
    if !status.success() {
        return Err(NoAnswer::Failed(status.to_string()));
    }
    let mut text = String::new();
    for output in outputs.into_iter().flatten() {
        text += &drain(&output, deadline);
    }
    Ok(text)
}

/// Reads a pipe on a thread of its own; it is not waited for, since a child of the program may keep the pipe open.
fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver): (Sender<Vec<u8>>, _) = channel();
    std::thread::spawn(move || {
        let (mut chunk, mut kept) = ([0u8; 4096], 0);
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            if kept < KEPT && sender.send(chunk[..count].to_vec()).is_err() {
                break;
            }
            kept += count;
        }
    });
    receiver
}

/// What has been read, up to the end of the output or the deadline.
fn drain(chunks: &Receiver<Vec<u8>>, deadline: Instant) -> String {
    let mut bytes = vec![];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match chunks.recv_timeout(left) {
            Ok(chunk) => bytes.extend(chunk),
            Err(_) => break,
        }
    }
    printable(&String::from_utf8_lossy(&bytes))
}

/// Text that can be shown on a terminal: lines stay, other control characters go.
fn printable(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

/// Puts the program in a process group of its own, so that all of it can be ended.
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Ends a program and, where the system has groups, what it started. Failures do not matter: it may have ended by itself.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        // The standard library has no call for a group; the shell's command takes a negative number for it.
        let group = format!("-{}", child.id());
        let mut kill = Command::new("/bin/kill");
        kill.args(["-KILL", "--", &group]).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = kill.status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, limit: u64) -> Result<String, NoAnswer> {
        ask(Path::new("/bin/sh"), &["-c", script], Duration::from_millis(limit))
    }

    #[test]
    fn output_of_both_kinds_comes_back_without_control_characters() {
        let text = sh(r"printf 'out\033[31m\a\n'; printf 'err\377\n' >&2", 5000).unwrap();
        assert_eq!(text, "out[31m\nerr\u{fffd}\n");
    }

    #[test]
    fn a_program_that_hangs_is_ended_in_time() {
        let start = Instant::now();
        assert_eq!(sh("sleep 60", 200), Err(NoAnswer::TooSlow(Duration::from_millis(200))));
        assert_eq!(sh("sleep 60 | cat", 200), Err(NoAnswer::TooSlow(Duration::from_millis(200))));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_pipe_that_stays_open_does_not_hold_us_up() {
        let start = Instant::now();
        let text = sh("sleep 30 & echo done", 500).unwrap();
        assert_eq!(text, "done\n");
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn endless_output_is_cut() {
        assert!(matches!(sh("yes", 300), Err(NoAnswer::TooSlow(_))));
        let text = sh("head -c 1000000 /dev/zero | tr '\\0' x", 10_000).unwrap();
        assert!((KEPT..KEPT + 5000).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn failures_are_told() {
        assert_eq!(sh("exit 3", 5000), Err(NoAnswer::Failed("exit status: 3".into())));
        let missing = ask(Path::new("/nonexistent/program"), &[], Duration::from_secs(1));
        assert!(matches!(missing, Err(NoAnswer::NotStarted(_))));
    }
}
