//! What tests of the program share.

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
