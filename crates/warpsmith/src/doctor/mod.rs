//! `warpsmith doctor`: what this machine has, what each missing part costs, and how to get it.
//!
//! Nothing is loaded into this process and nothing is compiled: programs are asked for their version, with a time
//! limit, and libraries are looked for by name. Missing parts are no failure: every one of them is optional.

mod parts;
mod report;

use std::time::Duration;

use clap::Args;

pub use self::parts::{Part, State, examine};
pub use self::report::{human, json};
pub use warpsmith_gpu::places::Places;

use crate::progress::Phase;
use crate::status::Status;
use crate::terminal::{Format, say};

/// Options of `doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Seconds a program may take to say its version
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
}

/// The command: prints what was found; always done, since nothing it looks for is required.
pub fn run(args: &DoctorArgs) -> Status {
    let phase = Phase::new("doctor: asking programs for their versions");
    let parts = examine(&Places::of_this_process(), Duration::from_secs(args.timeout));
    drop(phase);
    let text = match args.format {
        Format::Human => human(&parts),
        Format::Json => json(&parts).to_string() + "\n",
    };
    say(&text);
    Status::Done
}
