//! Random C functions under random legal schedules: the emitted kernels must compute what the functions do, as the
//! verification of `tune` sees it. A failure is shown with as few steps and nests as still show it.
//!
//! `WARPSMITH_RANDOM_SCHEDULES=N` looks at N of them instead of CI's few, from the seed `WARPSMITH_RANDOM_SEED`.

mod state;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use state::{State, kinds};
use warpsmith::ir::SourceMap;
use warpsmith::status::Status;
use warpsmith::tune::{TuneRequest, tune};
use warpsmith_testgen::{TunableProgram, random_schedule};

/// Functions that CI looks at.
const COUNT: u64 = 90;
/// Bytes that choose the function, and those that choose the steps.
const BYTES: (usize, usize) = (250, 450);
/// Steps of the interpreter at all sizes together.
const STEPS: u64 = 1_000_000;

/// A function with its schedule.
#[derive(Clone)]
struct Case {
    program: TunableProgram,
    steps: Vec<String>,
}

/// What became of a case.
enum Verdict {
    Right,
    /// The schedule as a whole is refused, or there is no size at which something runs.
    Refused(String),
    Wrong(String),
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn case(seed: u64) -> Case {
    let mut bytes = vec![0; BYTES.0 + BYTES.1];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    let program = TunableProgram::new(&bytes[..BYTES.0]);
    let source = program.source();
    let mut state = State::new(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let steps = random_schedule(&bytes[BYTES.0..], &kinds(), &mut state);
    Case { program, steps }
}

/// Files of one worker.
struct Files {
    source: PathBuf,
    schedule: PathBuf,
}

impl Files {
    fn new(folder: &Path, worker: usize) -> Files {
        let file = |suffix: &str| folder.join(format!("f{worker}.{suffix}"));
        Files { source: file("c"), schedule: file("sched") }
    }

    fn judge(&self, case: &Case) -> Verdict {
        std::fs::write(&self.source, case.program.source()).expect("a writable folder");
        std::fs::write(&self.schedule, case.steps.join("\n")).expect("a writable folder");
        let request = TuneRequest::new(&self.source).schedule(&self.schedule).jobs(1);
        let request = request.size("n", [17]).size("m", [9]).size("k", [6]).verify_steps(STEPS);
        let mut sources = SourceMap::new();
        let Err(failure) = tune(&request, &mut sources) else { return Verdict::Right };
        let said = failure.render(&sources, false);
        // A wrong kernel, references that disagree, a malformed translation.
        let wrong = ["W325", "W326", "W299"];
        let wrong = failure.diagnostics.iter().any(|d| wrong.contains(&d.code));
        match wrong || failure.status == Status::Bug {
            true => Verdict::Wrong(said),
            false => Verdict::Refused(said),
        }
    }

    /// The same failure with fewer steps and nests.
    fn shrink(&self, mut case: Case, mut said: String) -> (Case, String) {
        loop {
            let steps = (0..case.steps.len()).rev().map(|k| {
                let mut less = case.clone();
                less.steps.remove(k);
                less
            });
            let nests = (0..case.program.nests()).filter(|_| case.program.nests() > 1);
            let nests = nests.map(|k| Case { program: case.program.without(k), ..case.clone() });
            let smaller = nests.chain(steps).find_map(|less| match self.judge(&less) {
                Verdict::Wrong(said) => Some((less, said)),
                _ => None,
            });
            match smaller {
                Some(less) => (case, said) = less,
                None => return (case, said),
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    right: u64,
    refused: Vec<String>,
    wrong: Vec<String>,
    steps: BTreeMap<String, u64>,
}

impl Tally {
    fn count(&mut self, case: &Case) {
        for step in &case.steps {
            let word = step.split(' ').next().unwrap_or_default().to_string();
            *self.steps.entry(word).or_default() += 1;
        }
    }

    /// Kinds of steps that no schedule has yet.
    fn missing(&self) -> Vec<&'static str> {
        let known = kinds().into_iter().map(|k| k.0);
        known.filter(|k| !RARE.contains(k) && !self.steps.contains_key(*k)).collect()
    }

    /// Whether the case has a step of a kind that none had yet.
    fn is_new(&self, case: &Case) -> bool {
        let missing = self.missing();
        case.steps.iter().any(|s| missing.iter().any(|kind| s.split(' ').next() == Some(kind)))
    }
}

/// Steps that need several others before them, or that none may precede: seldom legal by chance. They have tests of their own beside
/// the rewrites.
const RARE: [&str; 3] = ["split_k", "split_scan", "double_buffer"];

/// For steps that no schedule has yet, so many times as many seeds are tried.
const PATIENCE: u64 = 40;

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().expect("no worker has panicked")
}

#[test]
fn random_schedules_keep_what_functions_mean() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let count = number("WARPSMITH_RANDOM_SCHEDULES", COUNT);
    let first = number("WARPSMITH_RANDOM_SEED", 1);
    let (next, tally) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let worker = |k: usize| {
        let files = Files::new(folder.path(), k);
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let beyond = seed >= first + count;
            if beyond {
                let all = lock(&tally).missing().is_empty();
                if all || count < COUNT || seed >= first + count * PATIENCE {
                    break;
                }
            }
            let case = case(seed);
            if beyond && !lock(&tally).is_new(&case) {
                continue;
            }
            let verdict = files.judge(&case);
            let shown = |case: &Case, said: &str| {
                format!(
                    "seed {seed}:\n{said}\n{}\n{}",
                    case.program.source(),
                    case.steps.join("\n")
                )
            };
            let text = match &verdict {
                Verdict::Right => String::new(),
                Verdict::Refused(said) => shown(&case, said),
                Verdict::Wrong(said) => {
                    let (less, said) = files.shrink(case.clone(), said.clone());
                    shown(&less, &said)
                }
            };
            let mut tally = lock(&tally);
            tally.count(&case);
            match verdict {
                Verdict::Right => tally.right += 1,
                Verdict::Refused(_) => tally.refused.push(text),
                Verdict::Wrong(_) => {
                    eprintln!("{text}");
                    tally.wrong.push(text);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for k in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let worker = &worker;
            scope.spawn(move || worker(k));
        }
    });
    let tally = tally.into_inner().expect("no worker has panicked");
    println!(
        "{} right, {} refused as a whole, {} wrong; steps: {:?}",
        tally.right,
        tally.refused.len(),
        tally.wrong.len(),
        tally.steps
    );
    if std::env::var_os("WARPSMITH_SHOW_REFUSED").is_some() {
        tally.refused.iter().for_each(|r| println!("{r}\n"));
    }
    assert!(tally.wrong.is_empty(), "{} are wrong:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
    assert!(tally.right * 10 >= count * 9, "too few schedules can be verified: {}", tally.right);
    let missing = tally.missing();
    assert!(count < COUNT || missing.is_empty(), "never legal here: {missing:?}");
}
