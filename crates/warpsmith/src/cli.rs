//! The command line: what can be asked, and what happens around every command.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use clap::{CommandFactory, Parser, Subcommand};
use warpsmith_ir::{Diagnostic, SourceMap};

use crate::interrupt::{self, Answer};
use crate::status::{Failure, Status};
use crate::terminal::{color_on_stderr, inert_json, report_bug, say};
use crate::{check, clean, doctor, fuse, ladder, progress, results, stage, tune, worker};

/// Turns C loop nests and CUDA kernels into fast, readable, verified CUDA C.
#[derive(Parser, Debug)]
#[command(name = "warpsmith", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs CUDA kernels in the emulator and reports races, bounds errors and the like
    Check(check::args::CheckArgs),
    /// Serves marked reads of a CUDA kernel from shared memory, by the user's plan, and verifies the result
    Stage(stage::args::StageArgs),
    /// Turns a C loop nest into a verified CUDA kernel
    Tune(tune::args::TuneArgs),
    /// Fuses a script of elementary functions into verified CUDA kernels
    Fuse(fuse::args::FuseArgs),
    /// Writes the versions of a matrix product that a course would teach, step by step
    Ladder(ladder::LadderArgs),
    /// Lists the results that tuning has recorded, and exchanges them with other tuners
    Results(results::ResultsArgs),
    /// Removes the cache of compiled kernels and, where asked, the results
    Clean(clean::CleanArgs),
    /// Says what this machine has, what each missing part costs, and how to get it
    Doctor(doctor::DoctorArgs),
    /// Writes a completion script for a shell to stdout
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Serves a tuner over stdin and stdout; started by warpsmith itself
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
}

/// Parses the arguments, runs the command and says how it ended. Never panics.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Status {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &args),
    };
    listen();
    progress::show();
    guarded(|| match &cli.command {
        Command::Check(args) => check::run(args),
        Command::Stage(args) => stage::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Fuse(args) => fuse::run(args),
        Command::Ladder(args) => ladder::run(args),
        Command::Results(args) => results::run(args),
        Command::Clean(args) => clean::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions { shell } => completions(*shell),
        Command::Worker(args) => worker::run(args),
    })
}

/// Takes Ctrl-C over from the system, once for the program.
fn listen() {
    let handled = ctrlc::set_handler(|| {
        progress::hide();
        let first = !interrupt::flag().swap(true, Ordering::SeqCst);
        match interrupt::answer() {
            Answer::Ends if first => {
                eprintln!("warpsmith: interrupted (again to end at once)");
                return;
            }
            Answer::Shows if first => {
                eprintln!(
                    "warpsmith: interrupted; here is what was done so far (again to end at once)"
                );
                return;
            }
            _ => {}
        }
        warpsmith_gpu::client::end_all();
        eprintln!("warpsmith: interrupted; files were written whole or not at all");
        std::process::exit(Status::Interrupted.code());
    });
    if let Err(error) = handled {
        eprintln!("warpsmith: Ctrl-C will end the program without a message: {error}");
    }
}

/// Everything that can be asked, as the parser has it: for manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

fn completions(shell: clap_complete::Shell) -> Status {
    let mut text = vec![];
    clap_complete::generate(shell, &mut command(), "warpsmith", &mut text);
    say(&String::from_utf8_lossy(&text));
    Status::Done
}

/// A command line that is not understood; or one that asks for help, which is no error.
fn usage(error: &clap::Error, args: &[OsString]) -> Status {
    // clap sends help and version to stdout, everything else to stderr.
    let _ = error.print();
    if !error.use_stderr() {
        return Status::Done;
    }
    let words: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    if asks_for_json(&words) {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ");
        let rest = lines.fold(Diagnostic::error("W300", message), |d, line| d.note(line));
        let known = command();
        let mut after = words.iter().skip(1);
        let name = after.find(|w| known.find_subcommand(w).is_some());
        let object =
            Failure::from(rest).json(name.map_or("warpsmith", String::as_str), &SourceMap::new());
        println!("{}", inert_json(&object.to_string()));
    }
    Status::BadInput
}

/// Whether a machine reads the answer, as far as that can be told of a wrong command line.
fn asks_for_json(words: &[String]) -> bool {
    words.iter().any(|w| w == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Runs a command; a panic becomes status 70 with a dump of what was asked and where it broke.
fn guarded(command: impl FnOnce() -> Status) -> Status {
    let place = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let seen = place.clone();
    std::panic::set_hook(Box::new(move |info| {
        let trace = std::backtrace::Backtrace::force_capture();
        if let Ok(mut text) = seen.lock() {
            *text = format!("{info}\n{trace}");
        }
    }));
    let result = catch_unwind(AssertUnwindSafe(command));
    let _ = std::panic::take_hook();
    result.unwrap_or_else(|panic| {
        if let Some(status) = unwritable(&*panic) {
            return status;
        }
        let text = place.lock().map(|t| t.clone()).unwrap_or_default();
        report_bug(&text);
        Status::Bug
    })
}

/// Printing panics where nobody takes what is printed, which is no bug: the reader has left, or the disk is full. What a command
/// writes to files it has written before.
fn unwritable(panic: &(dyn std::any::Any + Send)) -> Option<Status> {
    use std::io::Write;
    let said = panic.downcast_ref::<String>()?.strip_prefix("failed printing to ")?;
    let (stream, why) = said.split_once(": ")?;
    if why.contains("Broken pipe") {
        return Some(Status::Done);
    }
    let d = Diagnostic::error("W302", format!("cannot write to {stream}")).note(why);
    let d = d.help("make room, or send it somewhere else; files of --out were written before");
    let text = Failure::from(d).render(&SourceMap::new(), color_on_stderr());
    let _ = std::io::stderr().write_all(text.as_bytes());
    Some(Status::BadInput)
}
