//! Random C nests: interpreter, host compiler and the emulated kernel must agree bit for bit.
//!
//! `WARPSMITH_RANDOM_PROGRAMS=N` looks at N programs instead of CI's few, from the seed `WARPSMITH_RANDOM_SEED`.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith::tune::{Strategy, TuneRequest, tune};
use warpsmith_ir::SourceMap;

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
    let mut failures = vec![];
    let mut with_host = 0;
    for seed in first..first + count {
        let mut bytes = vec![0; 600];
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
        let program = warpsmith_testgen::c_program(&bytes);
        let file = folder.path().join(format!("f{seed}.c"));
        std::fs::write(&file, &program).expect("a writable folder");
        // Schedules that the templates offer must be right for any nest.
        let strategy = if seed % 3 == 0 { Strategy::Model } else { Strategy::Direct };
        let request = TuneRequest::new(file).size("n", [64]).size("m", [48]);
        let request = request.strategy(strategy).verify_steps(STEPS);
        let mut sources = SourceMap::new();
        match tune(&request, &mut sources) {
            Ok(tuned) if tuned.messages.iter().any(|m| m.code == "W329") => {
                let message = &tuned.messages[0];
                failures.push(format!("seed {seed}:\n{message:?}\n{program}"));
            }
            Ok(tuned) => with_host += usize::from(tuned.verified.with_host > 0),
            Err(e) => {
                failures.push(format!("seed {seed}:\n{}\n{program}", e.render(&sources, false)))
            }
        }
    }
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
