//! What tests of the program share; each file uses a part.
#![allow(dead_code)]

use std::path::Path;
use std::process::Command;

/// The program in a folder, with a cache and a store of its own there.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("WARPSMITH_CACHE", folder.join("cache"))
        .env("WARPSMITH_STORE", folder.join("results.sqlite"));
    command
}

/// Copies a program by another process: a file that is still open for writing in a child of ours, begun by another test at
/// the same moment, could not be run.
pub fn copy_program(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-p").args([from, to]).status().expect("cp starts");
    assert!(done.success(), "{} is copied", from.display());
}
