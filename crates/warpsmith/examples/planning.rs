//! Times the choice of a schedule, without verification: `cargo run --release -p warpsmith --example planning [FILE.c…]`,
//! all examples of the repository when no file is named; with `--schedules` it prints the choices. Exits with 1 when one takes five seconds or more.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use warpsmith::allocator::Allocator;
use warpsmith::tune::{self, RegisterSource, TuneRequest};
use warpsmith_ir::SourceMap;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Seconds that planning may take.
const MOST: f64 = 5.0;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

fn main() -> ExitCode {
    let (options, named): (Vec<PathBuf>, Vec<PathBuf>) =
        std::env::args_os().skip(1).map(PathBuf::from).partition(|a| *a == *"--schedules");
    let files = if named.is_empty() { examples() } else { named };
    let mut slowest = 0.0f64;
    println!("| file | seconds | legal schedules | predicted |\n|---|---|---|---|");
    for file in files {
        let request = TuneRequest::new(&file).registers(RegisterSource::Estimate);
        let mut sources = SourceMap::new();
        let start = Instant::now();
        let choice = tune::plan(&request, &mut sources);
        let seconds = start.elapsed().as_secs_f64();
        slowest = slowest.max(seconds);
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        match choice {
            Ok(choice) => {
                let predicted = choice.seconds.first().map_or(f64::NAN, |s| s * 1e6);
                print!("| {name} | {seconds:.2} | {} | {predicted:.1} us |", choice.compared);
                let schedule = choice.schedule.print().trim_end().replace('\n', "; ");
                println!(
                    "{}",
                    if options.is_empty() { String::new() } else { format!(" {schedule} |") }
                );
            }
            Err(e) => {
                eprint!("{}", e.render(&sources, false));
                return ExitCode::from(2);
            }
        }
    }
    println!("\nslowest: {slowest:.2} s");
    ExitCode::from(u8::from(slowest >= MOST))
}
