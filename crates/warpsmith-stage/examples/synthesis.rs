//! How long the synthesis of an access takes, for every example, beside the published times of other tools.
//!
//! Each is the best of some runs: what else the machine does is not asked for.
//!
//! `cargo run --release -p warpsmith-stage --example synthesis [--once] [NAME | FILE.cu …]`; once is enough for a profiler.

#[path = "../../warpsmith/src/allocator.rs"]
mod allocator;

use std::path::{Path, PathBuf};
use std::time::Duration;

use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged};
use warpsmith_stage::verify::proof::solver;

/// Seconds an access that PSySha needs (2.5 GHz Core i7), by example.
const PUBLISHED: [(&str, f64); 4] =
    [("heat", 4.3), ("heat_sleeve", 1.9), ("himeno", 5.5), ("himeno_sleeve", 5.5)];

/// That of the command: what is timed is what people wait for.
#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stage");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|list| list.flatten().map(|e| e.path()).collect())
        .unwrap_or_default();
    files.sort();
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    let runs = if asked.iter().any(|a| a == "--once") { 1 } else { RUNS };
    asked.retain(|a| a != "--once");
    files.retain(|f| asked.is_empty() || asked.contains(&name_of(f)));
    files.extend(asked.iter().filter(|a| a.ends_with(".cu")).map(PathBuf::from));
    println!(
        "{:22} {:>8} {:>12} {:>12} {:>12} {:>10} {:>8}",
        "example", "accesses", "profile ms", "search ms", "ms an access", "published", "proof"
    );
    let (mut each, mut accesses): (Vec<f64>, Vec<f64>) = Default::default();
    for path in files {
        let name = name_of(&path);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
        let input = Input { settings, text, ..Input::default() };
        match best(&input, runs) {
            Ok(staged) => {
                let access = line(&name, &staged, &proof(&input));
                each.push(access);
                accesses.extend(staged.accesses.iter().map(|_| access));
            }
            Err(refusal) => println!("{name:22} refused: {}", refusal.diagnostics[0].message),
        }
    }
    if asked.is_empty() {
        crowded(&folder);
    }
    let of =
        [("the examples", each), ("their accesses, each with the time of its example", accesses)];
    for (what, mut times) in of {
        times.sort_by(f64::total_cmp);
        if let Some(median) = times.get(times.len() / 2) {
            println!(
                "median of {what}: {median:.1} ms an access, profiles and rounds of counter-examples included"
            );
        }
    }
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The stencil with 25 integers more in scope, half of them made from threads and blocks.
fn crowded(folder: &Path) {
    let Ok(text) = std::fs::read_to_string(folder.join("five_point.cu")) else { return };
    let more: String = (0..25)
        .map(|n| match n % 4 {
            0 => format!("    int q{n} = threadIdx.x * {} + blockIdx.y;\n", n + 2),
            1 => format!("    int q{n} = nx * {n} + 7;\n"),
            2 => format!("    int q{n} = blockIdx.x * {} - threadIdx.y;\n", n + 3),
            _ => format!("    int q{n} = ny + {n};\n"),
        })
        .collect();
    let at = "    int s = threadIdx.x";
    let text = text.replacen(at, &format!("{more}{at}"), 1);
    let settings = Settings { path: "crowded.cu".into(), ..Settings::default() };
    match best(&Input { settings, text, ..Input::default() }, RUNS) {
        Ok(staged) => _ = line("five_point, 25 more", &staged, "-"),
        Err(refusal) => println!("five_point, 25 more: {}", refusal.diagnostics[0].message),
    }
}

/// Runs of each example.
const RUNS: usize = 5;

/// The fastest of some runs.
fn best(input: &Input, runs: usize) -> Result<Staged, Refusal> {
    let mut best = stage::stage(input.clone())?;
    for _ in 1..runs {
        let again = stage::stage(input.clone())?;
        if synthesis(&again) < synthesis(&best) {
            best = again;
        }
    }
    Ok(best)
}

/// Time of profiles, search and rounds of counter-examples.
fn synthesis(staged: &Staged) -> Duration {
    staged.profile_time + staged.accesses.iter().map(|a| a.time).sum::<Duration>()
}

/// The time of proofs an access and block shape, where there is a solver, and how many are proved at all of them.
fn proof(input: &Input) -> String {
    let solver = solver::program();
    let proved = solver.map(|s| stage::stage(Input { solver: Some(s), ..input.clone() }));
    let Some(Ok(staged)) = proved else { return "-".to_string() };
    let (shapes, count) = (staged.blocks.len().max(1), staged.accesses.len().max(1));
    let whole = staged.accesses.iter().filter(|a| a.proved.len() == shapes).count();
    let each = staged.proof_time.as_secs_f64() * 1e3 / (shapes * count) as f64;
    format!("{each:.0} ms ({whole} at {shapes} shapes)")
}

/// One line of the table; gives the time an access.
fn line(name: &str, staged: &Staged, proof: &str) -> f64 {
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let search: f64 = staged.accesses.iter().map(|a| ms(a.time)).sum();
    let count = staged.accesses.len().max(1);
    let access = ms(synthesis(staged)) / count as f64;
    let published = PUBLISHED
        .iter()
        .find(|(n, _)| *n == name)
        .map_or("-".to_string(), |(_, s)| format!("{:.0} ms", s * 1e3));
    println!(
        "{name:22} {count:>8} {:>12.1} {search:>12.1} {access:>12.1} {published:>10} {proof}",
        ms(staged.profile_time)
    );
    access
}
