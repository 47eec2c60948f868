//! Random C nests: interpreter, host compiler and the emulated kernel must agree bit for bit.
//!
//! `WARPSMITH_RANDOM_PROGRAMS=N` looks at N programs instead of CI's few, from the seed `WARPSMITH_RANDOM_SEED`.

use std::path::Path;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith::tune::{Strategy, TuneRequest, tune};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::on_all_cores;

/// Steps of the interpreter a program may take at all sizes together. Programs say more than sizes do.
const STEPS: u64 = 5_000_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_agree_with_the_host_compiler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, first) =
        (number("WARPSMITH_RANDOM_PROGRAMS", 40), number("WARPSMITH_RANDOM_SEED", 1));
    let seeds: Vec<u64> = (first..first + count).collect();
    let results = on_all_cores(&seeds, |seed| compared(folder.path(), *seed));
    let with_host = results.iter().filter(|r| **r == Ok(true)).count();
    let failures: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} programs:\n{}",
        failures.len(),
        failures.join("\n")
    );
    if with_host == 0 {
        println!("not compared with a host compiler: none was found");
    }
}

/// Whether the host's compiler was asked about a program that agrees.
fn compared(folder: &Path, seed: u64) -> Result<bool, String> {
    let mut bytes = vec![0; 600];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    let program = warpsmith_testgen::c_program(&bytes);
    let file = folder.join(format!("f{seed}.c"));
    std::fs::write(&file, &program).expect("a writable folder");
    // Schedules that the templates offer must be right for any nest.
    let strategy = if seed.is_multiple_of(3) { Strategy::Model } else { Strategy::Direct };
    let request = TuneRequest::new(file).size("n", [64]).size("m", [48]);
    let request = request.strategy(strategy).verify_steps(STEPS);
    let mut sources = SourceMap::new();
    let said = match tune(&request, &mut sources) {
        Ok(tuned) if tuned.messages.iter().any(|m| m.code == "W329") => {
            format!("{:?}", tuned.messages[0])
        }
        Ok(tuned) => return Ok(tuned.verified.with_host > 0),
        Err(e) => e.render(&sources, false),
    };
    Err(format!("seed {seed}:\n{said}\n{program}"))
}
